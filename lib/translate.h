/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgt_translate and the cursor: what hardware would answer. */
#ifndef PGT_TRANSLATE_H
#define PGT_TRANSLATE_H

#include "read.h"

static inline int translate_fault(struct pgt_translation *out, int fault, int level)
{
	out->fault = fault;
	out->level = level;
	return PGT_EFAULT;
}

/* Sets what hardware sets; false where the entry has changed meanwhile. */
static inline bool translate_update(struct pgt_entry *e, uint64_t raw, uint64_t access)
{
	uint64_t touched = arch_touch(raw, access);

	return touched == raw || entry_compare_swap(e, &raw, touched);
}

/* The answer of the entry raw, which is no valid table. */
static inline int translate_entry(const struct pgt *t, uint64_t raw, int level, uint64_t inherited,
				  uint64_t at, uint64_t access, struct pgt_translation *out)
{
	uint64_t mask = level_mask(t, level);
	int fault;

	switch (arch_kind(t, raw, level)) {
	case KIND_LEAF:
		break;
	case KIND_CORRUPT:
		return translate_fault(out, arch_corrupt_fault(t, raw, level), level);
	default:
		return translate_fault(out, PGT_FAULT_TRANSLATION, level);
	}
	out->attr = arch_effective(arch_attr(t, raw), inherited);
	out->leaf_bits = level_shift(t, level);
	out->run_bits = arch_run(raw) ? run_shift(t, level) : out->leaf_bits;
	out->level = level;
	fault = arch_fault(t, raw, out->attr, access);
	if (fault)
		return translate_fault(out, fault, level);
	out->pa = arch_pa(t, raw, level) | (at & mask);
	return PGT_OK;
}

static inline bool translate_leads_on(const struct pgt *t, uint64_t raw, int level)
{
	return arch_valid(raw) && arch_kind(t, raw, level) == KIND_TABLE;
}

/* Leaves the cursor, if there is one, with the table in which the answer stood. */
static inline void cursor_keep(struct pgt_cursor *cursor, const struct pgt_walk *w)
{
	cursor->inside[CURSOR_TABLE] = (uintptr_t)w->table[w->level + 1];
	cursor->inside[CURSOR_FIRST] = w->begin[w->level + 1];
	cursor->inside[CURSOR_LEVEL] = (uint64_t)(w->level + 1);
	cursor->inside[CURSOR_INHERITED] = read_inherited(w);
}

static int translate_walk(const struct pgt *t, uint64_t at, uint64_t access, struct pgt_translation *out,
			  struct pgt_cursor *cursor)
{
	for (unsigned tries = 1;; tries++) {
		struct pgt_walk w;
		uint64_t raw;
		int status;

		walk_start(&w, t, at, at);
		*out = (struct pgt_translation){ .stage = 1 };
		while (raw = entry_load(walk_entry(&w)), translate_leads_on(t, raw, w.level))
			if (!walk_enter(&w, raw))
				return translate_fault(out, PGT_FAULT_EXTERNAL, w.level + 1);
		status = translate_entry(t, raw, w.level, read_inherited(&w), at, access, out);
		if (tries < READ_TRIES && !walk_intact(&w))
			continue;
		if (status == PGT_OK && (access & PGT_UPDATE) &&
		    !translate_update(walk_entry(&w), raw, access) && tries < READ_TRIES)
			continue;
		if (cursor)
			cursor_keep(cursor, &w);
		return status;
	}
}

static int translate(const struct pgt *t, uint64_t at, uint64_t access, struct pgt_translation *out)
{
	return translate_walk(t, at, access, out, NULL);
}

static int cursor_translate(struct pgt_cursor *cursor, uint64_t at, uint64_t access, struct pgt_translation *out)
{
	const struct pgt *t = cursor->t;
	struct pgt_entry *e = (void *)(uintptr_t)cursor->inside[CURSOR_TABLE];
	int level = (int)cursor->inside[CURSOR_LEVEL] - 1;
	uint64_t within = at - cursor->inside[CURSOR_FIRST], raw;
	int status;

	if (e && within <= table_mask(t, level)) {
		e += within >> level_shift(t, level);
		raw = entry_load(e);
		if (!translate_leads_on(t, raw, level)) {
			*out = (struct pgt_translation){ .stage = 1 };
			status = translate_entry(t, raw, level, cursor->inside[CURSOR_INHERITED], at, access, out);
			if (status != PGT_OK || !(access & PGT_UPDATE) ||
			    translate_update(e, raw, access))
				return status;
		}
	}
	return translate_walk(t, at, access, out, cursor);
}

#endif
