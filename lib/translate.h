/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgt_translate and the cursor: what hardware would answer. */
#ifndef PGT_TRANSLATE_H
#define PGT_TRANSLATE_H

#include "answer.h"
#include "walk.h"

/* The way down to the entry that answers. */
struct way {
	int level;
	struct pgt_entry *table[PGT_LEVELS]; /* by level + 1 */
	struct pgt_entry *e[PGT_LEVELS];     /* the entry gone through, and as it was */
	uint64_t raw[PGT_LEVELS];
};

/* Down as far as tables lead; false where one is in unknown memory. */
PGT_INLINE bool way_down(struct way *way, const struct pgt *t, uint64_t at)
{
	struct pgt_entry *table = t->root;
	int level = t->start_level;

	for (;; level++) {
		struct pgt_entry *e = table + ((at & table_mask(t, level)) >> level_shift(t, level));
		uint64_t raw = entry_load(e);

		way->table[level + 1] = table;
		way->e[level + 1] = e;
		way->raw[level + 1] = raw;
		way->level = level;
		if (!translate_leads_on(t, raw, level))
			return true;
		table = table_at(t, arch_next(t, raw), granule(t));
		if (!table)
			return false;
	}
}

/* Whether the tables on the way are still linked: else the answer is of another address. */
PGT_INLINE bool way_intact(const struct way *way, const struct pgt *t)
{
	for (int level = t->start_level; level < way->level; level++)
		if (entry_load(way->e[level + 1]) != way->raw[level + 1])
			return false;
	return true;
}

PGT_INLINE uint64_t way_inherited(const struct way *way, const struct pgt *t)
{
	uint64_t inherited = 0;

	for (int level = t->start_level; level < way->level; level++)
		inherited |= arch_inherit(t, way->raw[level + 1]);
	return inherited;
}

/* Leaves the cursor with the table in which the answer stood. */
static inline void cursor_keep(struct pgt_cursor *cursor, const struct way *way, uint64_t at)
{
	const struct pgt *t = cursor->t;

	cursor->inside[CURSOR_TABLE] = (uintptr_t)way->table[way->level + 1];
	cursor->inside[CURSOR_FIRST] = at & ~table_mask(t, way->level);
	cursor->inside[CURSOR_LEVEL] = (uint64_t)(way->level + 1);
	cursor->inside[CURSOR_INHERITED] = way_inherited(way, t);
}

PGT_INLINE int translate_walk(const struct pgt *t, uint64_t at, uint64_t access, struct pgt_translation *out,
			      struct pgt_cursor *cursor)
{
	for (unsigned tries = 1;; tries++) {
		struct way way;
		uint64_t raw;
		int status;

		*out = (struct pgt_translation){ .stage = 1 };
		if (!way_down(&way, t, at))
			return translate_fault(out, PGT_FAULT_EXTERNAL, way.level + 1);
		raw = way.raw[way.level + 1];
		status = translate_entry(t, raw, way.level, way_inherited(&way, t), at, access, out);
		if (tries < READ_TRIES && !way_intact(&way, t))
			continue;
		if (status == PGT_OK && (access & PGT_UPDATE) &&
		    !translate_update(way.e[way.level + 1], raw, access) && tries < READ_TRIES)
			continue;
		if (cursor)
			cursor_keep(cursor, &way, at);
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
