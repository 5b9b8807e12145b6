/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a range covers a leaf or a run in part: the run is unfolded, the leaf
 * split, and what lies outside the range keeps its mapping.
 *
 * Break-before-make: all members give way to inaccessible entries by exchange,
 * so that no access flag or dirty state that hardware sets meanwhile is lost;
 * the caller drains; then what stays is made again.
 */
#ifndef PGT_CUT_H
#define PGT_CUT_H

#include "build.h"
#include "remove.h"

/* The leaf at an edge of a call's range, and its run. */
struct cut {
	bool leaf;             /* the leaf goes beyond the range */
	bool run;              /* its run does */
	bool valid;            /* hardware may use it */
	int level;
	uint64_t raw;
	struct pgt_entry *e;   /* the first member, or the leaf */
	unsigned members;
	uint64_t begin, end;   /* what they cover */
	uint64_t leaf_begin, leaf_end;
	struct pgt_entry *leaf_e;
};

static inline bool cut_any(const struct cut *cut)
{
	return cut->leaf || cut->run;
}

/* The leaf or token raw that the walk stands before, against the call's range. */
static inline void cut_find(struct cut *cut, const struct call *c, const struct pgt_walk *w, uint64_t raw)
{
	const struct pgt *t = c->t;
	bool leaf = arch_kind(t, raw, w->level) == KIND_LEAF;
	uint64_t run_mask;

	cut->level = w->level;
	cut->raw = raw;
	cut->valid = arch_valid(raw);
	cut->leaf_e = walk_entry(w);
	cut->leaf_begin = walk_begin(w);
	cut->leaf_end = cut->leaf_begin | level_mask(t, w->level);
	cut->members = leaf ? run_entries(t, raw, w->level) : 1;
	run_mask = ((uint64_t)cut->members << level_shift(t, w->level)) - 1;
	cut->begin = cut->leaf_begin & ~run_mask;
	cut->end = cut->begin | run_mask;
	cut->e = cut->leaf_e - ((cut->leaf_begin - cut->begin) >> level_shift(t, w->level));
	cut->leaf = cut->leaf_begin < c->first || cut->leaf_end > c->last;
	cut->run = cut->members > 1 && (cut->begin < c->first || cut->end > c->last);
}

/* Breaks what hardware may use of the members. Each then holds the state of all of them. */
static void cut_break(struct call *c, struct cut *cut)
{
	uint64_t state = 0;

	for (unsigned i = 0; i < cut->members && cut->valid; i++) {
		uint64_t raw = entry_load(cut->e + i);

		if (arch_valid(raw))
			raw = entry_exchange(cut->e + i, arch_break(raw));
		state |= arch_state(raw);
		entry_store(cut->e + i, arch_break(raw));
	}
	for (unsigned i = 0; i < cut->members && cut->members > 1; i++)
		entry_store(cut->e + i, arch_add_state(entry_load(cut->e + i), state));
	cut->raw = entry_load(cut->leaf_e);
	if (!cut->valid)
		return;
	tally(c)->rmws += cut->members;
	tally(c)->reads += cut->members;
	gather_wrote(c, cut->e, cut->members);
	gather_leaves(c, cut->begin, cut->end, cut->level, arch_global(c->t, cut->raw));
}

/* Members are mapped again, without the hint: those outside the range, and with
 * keep those inside it too; one that lies across its border is for cut_link(). */
static void cut_unfold(struct call *c, const struct cut *cut, bool keep)
{
	const struct pgt *t = c->t;
	uint64_t size = level_mask(t, cut->level) + 1, begin = cut->begin;

	for (unsigned i = 0; i < cut->members; i++, begin += size) {
		uint64_t raw = entry_load(cut->e + i), end = begin + (size - 1);
		bool outside = begin > c->last || end < c->first;
		bool inside = begin >= c->first && end <= c->last;

		raw = arch_place(t, raw, cut->level, arch_pa(t, raw, cut->level), false);
		if (cut->valid && !outside && !(keep && inside))
			raw = arch_break(raw); /* it goes, or is split: as a leaf of its own */
		entry_store(cut->e + i, raw);
		tally(c)->changed += outside;
	}
	gather_wrote(c, cut->e, cut->members);
	tally(c)->runs_unfolded++;
}

/* The members lose the hint while they stay valid; a state that hardware sets
 * in one meanwhile becomes that of all. */
static void cut_unfold_in_place(struct call *c, const struct cut *cut)
{
	const struct pgt *t = c->t;
	uint64_t state = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < cut->members; i++) {
			uint64_t raw = entry_load(cut->e + i), plain;

			do {
				state |= arch_state(raw);
				plain = arch_place(t, raw, cut->level, arch_pa(t, raw, cut->level), false);
				plain = arch_add_state(plain, state);
				tally(c)->rmws++;
			} while (!entry_compare_swap(cut->e + i, &raw, plain));
		}
	gather_wrote(c, cut->e, cut->members);
	gather_leaves(c, cut->begin, cut->end, cut->level, arch_global(c->t, cut->raw));
	for (unsigned i = 0; i < cut->members; i++) {
		uint64_t begin = cut->begin + ((uint64_t)i << level_shift(t, cut->level));

		tally(c)->changed += begin > c->last || (begin | level_mask(t, cut->level)) < c->first;
	}
	tally(c)->runs_unfolded++;
}

/* [first, last] of the leaf as it is, in leaves and runs of at most 2^max_shift bytes. */
static void cut_build(struct call *c, const struct cut *cut, struct pgt_entry *table, uint64_t first,
		      uint64_t last, unsigned max_shift)
{
	const struct pgt *t = c->t;
	bool token = arch_kind(t, cut->raw, cut->level) == KIND_TOKEN;
	struct build b = { .c = c, .token = token, .first = first, .last = last, .max_shift = max_shift };
	struct pgt_walk w;

	b.leaf = cut->raw;
	if (!token) {
		b.pa = arch_pa(t, cut->raw, cut->level) + (first - cut->leaf_begin);
		b.leaf = arch_place(t, cut->raw, cut->level, 0, false);
	}
	walk_start_at(&w, t, cut->level + 1, table, first, last);
	build_fresh(&b, &w);
}

/* Fills a table that nobody sees with what of the leaf lies outside the range,
 * and with what lies inside it in leaves of at most 2^inside_shift bytes; 0: none. */
static void cut_fill(struct call *c, const struct cut *cut, struct pgt_entry *table, unsigned inside_shift)
{
	uint64_t first = cut->leaf_begin > c->first ? cut->leaf_begin : c->first;
	uint64_t last = cut->leaf_end < c->last ? cut->leaf_end : c->last;

	if (cut->leaf_begin < c->first)
		cut_build(c, cut, table, cut->leaf_begin, c->first - 1, 63);
	if (inside_shift)
		cut_build(c, cut, table, first, last, inside_shift);
	if (cut->leaf_end > c->last)
		cut_build(c, cut, table, c->last + 1, cut->leaf_end, 63);
	table_written(c, table);
}

/* Puts the table in the place of the leaf, which is broken, or stays valid to
 * the last: then what hardware sets in it meanwhile is filled in once more. */
static void cut_link(struct call *c, struct cut *cut, unsigned inside_shift)
{
	uint64_t pa;
	struct pgt_entry *table = pgt_table_pop(c, &pa);

	if (!table) {
		c->corrupt = true;
		return;
	}
	cut->raw = entry_load(cut->leaf_e);
	do {
		cut_fill(c, cut, table, inside_shift);
		call_publish(c);
		tally(c)->rmws++;
	} while (!entry_compare_swap(cut->leaf_e, &cut->raw, arch_table(c->t, pa)));
	gather_wrote(c, cut->leaf_e, 1);
	if (arch_valid(cut->raw))
		gather_leaves(c, cut->leaf_begin, cut->leaf_end, cut->level, arch_global(c->t, cut->raw));
	tally(c)->blocks_split++;
	tally(c)->leaves++;
	tally(c)->changed++;
}

/* Whether what is valid may be cut as it stands: break-before-make level 2 lets
 * size and hint change, and what nobody caches need not be broken. */
static inline bool cut_in_place(const struct call *c)
{
	return !c->live || (c->t->features & PGT_FEAT_BBM2);
}

/* Whether the call's flags let the leaf or run be cut. */
static inline int cut_allowed(const struct call *c, const struct cut *cut)
{
	if (c->flags & PGT_NO_SPLIT)
		return PGT_EBLOCK;
	return cut->valid && (c->flags & PGT_NO_BREAK) && !cut_in_place(c) ? PGT_EBREAK : PGT_OK;
}

#endif
