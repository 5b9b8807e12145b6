/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgt_split: no leaf and no run of the range stays larger than asked. */
#ifndef PGT_SPLIT_H
#define PGT_SPLIT_H

#include "cut.h"

enum split_what { SPLIT_NOTHING, SPLIT_RUN, SPLIT_LEAF };

/* What is to happen to the entry that the walk stands before; fills in cut. */
static enum split_what split_find(struct call *c, const struct pgt_walk *w, uint64_t raw, unsigned leaf_bits,
				  struct cut *cut)
{
	const struct pgt *t = c->t;

	if (arch_kind(t, raw, w->level) != KIND_LEAF)
		return SPLIT_NOTHING;
	cut_find(cut, c, w, raw);
	if (level_shift(t, w->level) > leaf_bits)
		return SPLIT_LEAF;
	return cut->members > 1 && run_shift(t, w->level) > leaf_bits ? SPLIT_RUN : SPLIT_NOTHING;
}

/* The tables that the leaf's part inside the range needs. */
static void split_need(struct call *c, const struct cut *cut, unsigned leaf_bits, struct need *need)
{
	const struct pgt *t = c->t;
	struct build b = { .c = c, .max_shift = leaf_bits };

	b.first = cut->leaf_begin > c->first ? cut->leaf_begin : c->first;
	b.last = cut->leaf_end < c->last ? cut->leaf_end : c->last;
	b.pa = arch_pa(t, cut->raw, cut->level) + (b.first - cut->leaf_begin);
	need_range(need, &b, cut->level, b.first, b.last);
}

static int split_scan(struct call *c, unsigned leaf_bits, struct need *need)
{
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	while (walk_on(&w)) {
		uint64_t raw = entry_load(walk_entry(&w));
		enum split_what what;
		struct cut cut;
		int status;

		tally(c)->reads++;
		switch (arch_kind(c->t, raw, w.level)) {
		case KIND_TABLE:
			if (arch_inherit(c->t, raw))
				return PGT_ENOTSUP;
			if (!walk_enter(&w, raw))
				return PGT_ECORRUPT;
			continue;
		case KIND_CORRUPT:
			return PGT_ECORRUPT;
		default:
			break;
		}
		what = split_find(c, &w, raw, leaf_bits, &cut);
		status = what == SPLIT_NOTHING ? PGT_OK : cut_allowed(c, &cut);
		if (status != PGT_OK)
			return status;
		if (what == SPLIT_LEAF)
			split_need(c, &cut, leaf_bits, need);
		walk_past(&w, 1);
	}
	return PGT_OK;
}

/* Breaks, or unfolds in place, what is to be split. */
static void split_break(struct call *c, unsigned leaf_bits)
{
	bool broken = false;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	while (walk_on(&w)) {
		uint64_t raw = entry_load(walk_entry(&w));
		struct cut cut;

		if (arch_kind(c->t, raw, w.level) == KIND_TABLE && walk_enter(&w, raw))
			continue;
		if (split_find(c, &w, raw, leaf_bits, &cut) != SPLIT_NOTHING && !arch_broken(raw)) {
			if (!cut_in_place(c)) {
				cut_break(c, &cut);
				broken |= cut.valid;
			} else if (cut.members > 1) {
				cut_unfold_in_place(c, &cut);
			}
		}
		walk_past(&w, 1);
	}
	if (broken)
		gather_drain(c);
}

static void split_build(struct call *c, unsigned leaf_bits)
{
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	while (walk_on(&w)) {
		uint64_t raw = entry_load(walk_entry(&w));
		enum split_what what;
		struct cut cut;

		if (arch_kind(c->t, raw, w.level) == KIND_TABLE && walk_enter(&w, raw))
			continue;
		what = split_find(c, &w, raw, leaf_bits, &cut);
		/* The first member inside the range unfolds the run: what isn't split itself is mapped again. */
		if (what != SPLIT_NOTHING && arch_broken(raw) && cut.members > 1 && (w.next == c->first || w.next == cut.begin))
			cut_unfold(c, &cut, what == SPLIT_RUN);
		if (what == SPLIT_LEAF)
			cut_link(c, &cut, leaf_bits);
		walk_past(&w, 1);
	}
}

static int split(struct call *c, unsigned leaf_bits)
{
	struct need need = { 0 };
	int status;

	call_start(c);
	status = split_scan(c, leaf_bits, &need);
	if (status == PGT_OK)
		status = pgt_tables_take(c, need.tables);
	if (status == PGT_OK) {
		split_break(c, leaf_bits);
		split_build(c, leaf_bits);
	}
	return call_finish(c, status);
}

#endif
