/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two ends of a range: what it covers there in part is cut, so that the
 * ends are ends of leaves.  Finding and checking comes first, and changes
 * nothing; an operation that need not cut what it found says so in between.
 */
#ifndef PGT_EDGE_H
#define PGT_EDGE_H

#include "cut.h"

/*
 * Looks for what no call may change: entries that no legal table holds, and
 * tables below an entry with permission bits.  Tables of ours that the range
 * covers whole are not looked into.
 */
static int edges_look(struct call *c)
{
	const struct pgt *t = c->t;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	if (!t->attached && c->first == 0 && c->last == t->last)
		return PGT_OK;
	while (walk_on(&w)) {
		unsigned n = walk_empty(&w);
		uint64_t raw;

		tally(c)->reads += n;
		if (n) {
			walk_past(&w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		tally(c)->reads++;
		switch (arch_kind(t, raw, w.level)) {
		case KIND_TABLE:
			if (arch_inherit(c->t, raw) && t->attached)
				return PGT_ENOTSUP;
			if (walk_covers(&w) && !t->attached)
				break;
			if (!walk_enter(&w, raw))
				return PGT_ECORRUPT;
			continue;
		case KIND_CORRUPT:
			return PGT_ECORRUPT;
		default:
			break;
		}
		walk_past(&w, 1);
	}
	return PGT_OK;
}

/*
 * What stands at an end of the range and lies across its border: looked for as
 * far down as a leaf or a run can.
 */
static int edge_find(struct call *c, uint64_t at, uint64_t border, struct cut *cut)
{
	struct pgt *t = c->t;
	struct pgt_walk w;

	*cut = (struct cut){ 0 };
	walk_from(&w, &c->at, at, at);
	while (border & ((UINT64_C(1) << run_shift(t, w.level)) - 1)) {
		uint64_t raw = entry_load(walk_entry(&w));
		enum pgt_kind kind = arch_kind(t, raw, w.level);

		tally(c)->reads++;
		if (kind == KIND_LEAF || kind == KIND_TOKEN)
			cut_find(cut, c, &w, raw);
		if (kind != KIND_TABLE || w.level == PGT_LAST_LEVEL)
			break;
		if (!walk_enter(&w, raw))
			return PGT_ECORRUPT;
	}
	return PGT_OK;
}

/* Both ends; what is the same at both is cut once. */
static int edges_find(struct call *c, struct cut cut[2])
{
	int status;

	/* Nothing below where the range begins is larger than this. */
	if (!((c->first | (c->last + 1)) & ((UINT64_C(1) << run_shift(c->t, c->at.level)) - 1))) {
		cut[0] = cut[1] = (struct cut){ 0 };
		return PGT_OK;
	}
	status = edge_find(c, c->first, c->first, &cut[0]);
	if (status == PGT_OK)
		status = edge_find(c, c->last, c->last + 1, &cut[1]);
	if (cut[0].leaf && cut[0].leaf_e == cut[1].leaf_e)
		cut[1].leaf = false;
	if (cut[0].run && cut[0].e == cut[1].e)
		cut[1].run = false;
	return status;
}

/* May they be cut, and how many tables does that need? */
static int edges_check(struct call *c, const struct cut cut[2], struct need *need)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t first = cut[i].leaf_begin > c->first ? cut[i].leaf_begin : c->first;
		uint64_t last = cut[i].leaf_end < c->last ? cut[i].leaf_end : c->last;
		int status = cut_any(&cut[i]) ? cut_allowed(c, &cut[i]) : PGT_OK;

		if (status != PGT_OK)
			return status;
		if (cut[i].leaf)
			need_edges(need, c->t, cut[i].level, first, last);
	}
	return PGT_OK;
}

/* Unfolds the runs at the ends, breaking before making where that is needed. */
static void edges_unfold(struct call *c, struct cut cut[2], bool keep)
{
	bool broken = false;

	for (unsigned i = 0; i < 2 && !cut_in_place(c); i++)
		if (cut_any(&cut[i])) {
			cut_break(c, &cut[i]);
			broken |= cut[i].valid;
		}
	if (broken)
		gather_drain(c);
	for (unsigned i = 0; i < 2; i++) {
		if (!cut[i].run)
			continue;
		if (cut_in_place(c))
			cut_unfold_in_place(c, &cut[i]);
		else
			cut_unfold(c, &cut[i], keep);
	}
}

/* Cuts what was found; with keep, what lies inside the range stays mapped. */
static void edges_cut(struct call *c, struct cut cut[2], bool keep)
{
	edges_unfold(c, cut, keep);
	for (unsigned i = 0; i < 2; i++)
		if (cut[i].leaf)
			cut_link(c, &cut[i], keep ? 63 : 0);
}

#endif
