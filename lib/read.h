/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What an entry means to a reader; pgt_query and pgt_visit. */
#ifndef PGT_READ_H
#define PGT_READ_H

#include "answer.h"
#include "recent.h"
#include "walk.h"

/* The permission bits of the table entries on the way. */
static inline uint64_t read_inherited(const struct pgt_walk *w)
{
	uint64_t inherited = 0;

	for (int level = w->top + 1; level <= w->level; level++)
		inherited |= arch_inherit(w->t, w->raw[level + 1]);
	return inherited;
}

/* Young and dirty of a leaf: any member of its run counts. */
static inline uint64_t read_state(const struct pgt_walk *w, uint64_t raw)
{
	unsigned members = 1u << w->t->run_bits[w->level + 1];
	uint64_t reads = 0;

	return arch_state(raw) |
	       arch_gather(w->t, walk_entry(w) - walk_index(w) % members, members, w->level, &reads);
}

/* The entry raw, which the walk stands before; not a table. */
static inline void read_mapping(const struct pgt_walk *w, uint64_t raw, enum pgt_kind kind,
				bool state, struct pgt_mapping *mapping)
{
	const struct pgt *t = w->t;
	bool run = kind == KIND_LEAF && arch_run(raw) && t->run_bits[w->level + 1];

	*mapping = (struct pgt_mapping){
		.va = t->base + walk_begin(w),
		.len = level_mask(t, w->level) + 1,
		.entry = raw,
		.level = w->level,
		.state = kind == KIND_LEAF ? PGT_LEAF : kind == KIND_TOKEN ? PGT_TOKEN :
			 kind == KIND_TABLE ? VISIT_AGAIN : PGT_EMPTY,
	};
	mapping->run_bytes = run ? UINT64_C(1) << run_shift(t, w->level) : mapping->len;
	if (kind == KIND_TOKEN)
		mapping->token = arch_token(raw);
	if (kind != KIND_LEAF)
		return;
	mapping->pa = arch_pa(t, raw, w->level);
	mapping->attr = arch_effective(t, arch_attr(t, raw), read_inherited(w));
	if (!state)
		mapping->attr &= ~(PGT_YOUNG | PGT_DIRTY);
	else if (run)
		mapping->attr |= read_state(w, raw);
}

/* Down to the entry, not a table, that covers the walk's next byte; but to no table
 * that recent, where it is given, says was reached before. */
PGT_INLINE int read_down(struct pgt_walk *w, uint64_t *raw, enum pgt_kind *kind, struct recent *recent)
{
	const struct pgt *t = w->t;

	for (;;) {
		*raw = entry_load(walk_entry(w));
		*kind = arch_kind(t, *raw, w->level);
		if (*kind == KIND_CORRUPT)
			return PGT_ECORRUPT;
		if (*kind != KIND_TABLE)
			return PGT_OK;
		if (recent && recent_seen(recent, t, w->level + 1, arch_next(t, *raw), walk_begin(w)))
			return PGT_OK;
		if (!walk_enter(w, *raw))
			return PGT_ECORRUPT;
	}
}

static int query(const struct pgt *t, uint64_t at, struct pgt_mapping *mapping)
{
	for (unsigned tries = 1;; tries++) {
		enum pgt_kind kind;
		struct pgt_walk w;
		uint64_t raw;
		int status;

		walk_start(&w, t, at, at);
		status = read_down(&w, &raw, &kind, NULL);
		if (status == PGT_OK)
			read_mapping(&w, raw, kind, true, mapping);
		if (tries == READ_TRIES || walk_intact(&w))
			return status;
	}
}

/* ---- visit ---- */

/* Where the next thing to report is; PGT_ENOENT at the end of the range. */
static int visit_next(struct pgt_walk *w, bool holes, uint64_t *raw, enum pgt_kind *kind, struct recent *recent)
{
	while (walk_on(w)) {
		int status;

		if (!holes) {
			unsigned n = walk_empty(w);

			if (n) {
				walk_past(w, n);
				continue;
			}
		}
		status = read_down(w, raw, kind, recent);
		if (status != PGT_OK || *kind != KIND_EMPTY || holes)
			return status;
	}
	return PGT_ENOENT;
}

static int visit(const struct pgt *t, uint64_t first, uint64_t last, unsigned flags, pgt_visit_fn *fn, void *ctx)
{
	bool once = flags & VISIT_ONCE;
	struct recent recent;
	struct pgt_walk w;
	unsigned tries = 0;

	if (once)
		recent = (struct recent){ 0 };
	walk_start(&w, t, first, last);
	for (;;) {
		struct pgt_mapping mapping;
		enum pgt_kind kind;
		uint64_t raw;
		int status = visit_next(&w, flags & PGT_HOLES, &raw, &kind, once ? &recent : NULL);

		if (status == PGT_ENOENT)
			return PGT_OK;
		if (status == PGT_OK)
			read_mapping(&w, raw, kind, !(flags & PGT_NO_STATE), &mapping);
		if (status == PGT_OK && kind == KIND_TABLE)
			mapping.pa = t->base + recent.found;
		if (!walk_intact(&w) && ++tries < READ_TRIES) {
			walk_start(&w, t, w.next, last);
			continue;
		}
		if (status != PGT_OK)
			return status;
		tries = 0;
		walk_past(&w, 1);
		status = fn(ctx, &mapping);
		if (status != 0 || w.done)
			return status;
		/* fn may have changed what the walk stands in. */
		if (!walk_intact(&w))
			walk_start(&w, t, w.next, last);
	}
}

#endif
