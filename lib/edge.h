/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two ends of a range: what it covers there in part is cut, so that the
 * ends are ends of leaves.  All that can fail comes first.
 */
#ifndef PGT_EDGE_H
#define PGT_EDGE_H

#include "cut.h"

/*
 * What stands at an end of the range and lies across its border: looked for as
 * far down as a leaf or a run can.
 */
static int edge_find(struct call *c, uint64_t at, uint64_t border, struct cut *cut)
{
	struct pgt *t = c->t;
	struct pgt_walk w;

	*cut = (struct cut){ 0 };
	walk_start(&w, t, at, at);
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

/* May it be cut, and how many tables does it need? */
static int edge_check(struct call *c, const struct cut *cut, struct need *need)
{
	uint64_t first = cut->leaf_begin > c->first ? cut->leaf_begin : c->first;
	uint64_t last = cut->leaf_end < c->last ? cut->leaf_end : c->last;

	if (!cut_any(cut))
		return PGT_OK;
	if (c->flags & PGT_NO_SPLIT)
		return PGT_EBLOCK;
	if (c->live && cut->valid && (c->flags & PGT_NO_BREAK) && !(c->t->features & PGT_FEAT_BBM2))
		return PGT_EBREAK;
	if (cut->leaf)
		need_edges(need, c->t, cut->level, first, last);
	return PGT_OK;
}

static void edge_split(struct call *c, struct cut *cut)
{
	uint64_t first = cut->leaf_begin > c->first ? cut->leaf_begin : c->first;
	uint64_t last = cut->leaf_end < c->last ? cut->leaf_end : c->last;
	uint64_t pa;
	struct pgt_entry *table = pgt_table_pop(c, &pa);

	if (!table) {
		c->corrupt = true;
		return;
	}
	cut->raw = entry_load(cut->leaf_e);
	cut_link(c, cut, table, pa);
	tally(c)->leaves++;
	tally(c)->changed++;
	if (c->asked)
		tell_removed(c, cut->raw, cut->level, cut->leaf_begin, first, last);
}

/* Unfolds the runs at the ends, breaking before making where that is needed. */
static void edges_unfold(struct call *c, struct cut *cut)
{
	/* Level 2 lets size and hint of a valid leaf change; nor need what nobody caches be broken. */
	bool in_place = !c->live || (c->t->features & PGT_FEAT_BBM2);
	bool broken = false;

	for (unsigned i = 0; i < 2 && !in_place; i++)
		if (cut_any(&cut[i])) {
			cut_break(c, &cut[i]);
			broken |= cut[i].valid;
		}
	if (broken)
		gather_drain(c);
	for (unsigned i = 0; i < 2; i++) {
		if (!cut[i].run)
			continue;
		if (in_place)
			cut_unfold_in_place(c, &cut[i]);
		else
			cut_unfold(c, &cut[i]);
	}
}

/* The range grows to the ends of what it covers in part. */
static void edges_widen(struct call *c, const struct cut *cut)
{
	for (unsigned i = 0; i < 2; i++) {
		if (!cut_any(&cut[i]))
			continue;
		if (cut[i].begin < c->first)
			c->first = cut[i].begin;
		if (cut[i].end > c->last)
			c->last = cut[i].end;
	}
}

/* Cuts what the range covers in part, so that its ends are ends of leaves. */
static int edges_cut(struct call *c)
{
	struct need need = { 0 };
	struct cut cut[2];
	int status = edge_find(c, c->first, c->first, &cut[0]);

	if (status == PGT_OK)
		status = edge_find(c, c->last, c->last + 1, &cut[1]);
	if (status == PGT_OK && (c->flags & PGT_WHOLE)) {
		edges_widen(c, cut);
		return PGT_OK;
	}
	/* Both ends may lie in one leaf, or in one run. */
	if (cut[0].leaf_e == cut[1].leaf_e)
		cut[1].leaf = false;
	if (cut[0].e == cut[1].e)
		cut[1].run = false;
	for (unsigned i = 0; i < 2 && status == PGT_OK; i++)
		status = edge_check(c, &cut[i], &need);
	if (status == PGT_OK)
		status = pgt_tables_take(c, need.tables);
	if (status != PGT_OK)
		return status;
	edges_unfold(c, cut);
	for (unsigned i = 0; i < 2; i++)
		if (cut[i].leaf)
			edge_split(c, &cut[i]);
	return PGT_OK;
}

#endif
