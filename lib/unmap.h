/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_unmap.  Only what the range covers in part at its two ends can make it
 * fail, so only these are looked at first.  Then the ends are cut, and all
 * between goes: whole tables by one store where nobody asked what was in them.
 */
#ifndef PGT_UNMAP_H
#define PGT_UNMAP_H

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
		struct pgt_entry *table;

		tally(c)->reads++;
		if (kind == KIND_LEAF || kind == KIND_TOKEN)
			cut_find(cut, c, &w, raw);
		if (kind != KIND_TABLE || w.level == PGT_LAST_LEVEL)
			break;
		table = table_at(t, arch_next(t, raw), granule(t));
		if (!table)
			return PGT_ECORRUPT;
		walk_down(&w, table, raw);
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
static void unmap_unfold(struct call *c, struct cut *cut)
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
static void unmap_widen(struct call *c, const struct cut *cut)
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
static int unmap_edges(struct call *c)
{
	struct need need = { 0 };
	struct cut cut[2];
	int status = edge_find(c, c->first, c->first, &cut[0]);

	if (status == PGT_OK)
		status = edge_find(c, c->last, c->last + 1, &cut[1]);
	if (status == PGT_OK && (c->flags & PGT_WHOLE)) {
		unmap_widen(c, cut);
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
	unmap_unfold(c, cut);
	for (unsigned i = 0; i < 2; i++)
		if (cut[i].leaf)
			edge_split(c, &cut[i]);
	return PGT_OK;
}

/* Tables below an entry with permission bits are not ours to change. */
static int unmap_permitted(struct call *c)
{
	struct pgt *t = c->t;
	struct pgt_walk w;

	walk_start(&w, t, c->first, c->last);
	while (walk_on(&w)) {
		uint64_t raw = entry_load(walk_entry(&w));
		struct pgt_entry *table;

		if (arch_kind(t, raw, w.level) != KIND_TABLE) {
			walk_past(&w, 1);
			continue;
		}
		if (arch_inherit(raw))
			return PGT_ENOTSUP;
		table = table_at(t, arch_next(t, raw), granule(t));
		if (!table)
			return PGT_ECORRUPT;
		walk_down(&w, table, raw);
	}
	return PGT_OK;
}

/* After walk_up: the table just left may have become empty. */
static void unmap_left(struct call *c, const struct pgt_walk *w)
{
	struct pgt *t = c->t;
	uint64_t begin = walk_left_begin(w), end = begin | level_mask(t, w->level);
	uint64_t parent = w->begin[w->level + 1], parent_end = parent + table_mask(t, w->level);
	struct pgt_entry *e = walk_left(w);

	if (c->flags & PGT_KEEP_TABLES)
		return;
	if (begin >= c->first && end <= c->last) {
		/* It goes with its parent, if that goes as a whole. */
		if (w->level > t->start_level && parent >= c->first && parent_end <= c->last)
			return;
	} else if ((t->features & PGT_FEAT_PARALLEL) ||
		   !table_is_empty(c, w->table[w->level + 2], w->level + 1, begin)) {
		return;
	}
	unlink_table(c, e, entry_load(e), w->level, begin, end, false);
}

/* The table entry raw: down into it, or away with it. */
static void unmap_table(struct call *c, struct pgt_walk *w, uint64_t raw)
{
	struct pgt *t = c->t;
	struct pgt_entry *table = table_at(t, arch_next(t, raw), granule(t));
	bool look = c->asked || (c->flags & PGT_KEEP_TABLES) || !walk_covers(w);

	if (table && look) {
		walk_down(w, table, raw);
		return;
	}
	unlink_table(c, walk_entry(w), raw, w->level, w->next, w->next | level_mask(t, w->level),
		     t->held_global);
	walk_past(w, 1);
}

static void unmap_range(struct call *c)
{
	struct pgt *t = c->t;
	struct pgt_walk w;

	walk_start(&w, t, c->first, c->last);
	for (;;) {
		unsigned n;
		uint64_t raw;

		while (walk_used(&w)) {
			if (!walk_up(&w))
				return;
			unmap_left(c, &w);
		}
		n = entry_match(walk_entry(&w), walk_count(&w), ~UINT64_C(0), 0, 0);
		if (n) {
			tally(c)->reads += n;
			walk_past(&w, n);
			continue;
		}
		tally(c)->reads++;
		raw = entry_load(walk_entry(&w));
		switch (arch_kind(t, raw, w.level)) {
		case KIND_TABLE:
			unmap_table(c, &w, raw);
			break;
		case KIND_CORRUPT:
			clear_unseen(c, &w, 1);
			gather_walk(c, walk_begin(&w), walk_begin(&w) | level_mask(t, w.level), true);
			walk_past(&w, 1);
			break;
		default:
			walk_past(&w, remove_leaves(c, &w, walk_count(&w), raw));
		}
	}
}

static int unmap(struct call *c)
{
	int status = c->t->attached ? unmap_permitted(c) : PGT_OK;

	if (status == PGT_OK)
		status = unmap_edges(c);
	if (status == PGT_OK)
		unmap_range(c);
	return call_finish(c, status);
}

/* ---- pgt_trim ---- */

static int trim(struct call *c)
{
	struct pgt *t = c->t;
	struct pgt_walk w;

	walk_start(&w, t, c->first, c->last);
	for (;;) {
		struct pgt_entry *table = NULL;
		uint64_t raw;

		while (walk_used(&w)) {
			struct pgt_entry *e;
			uint64_t begin;

			if (!walk_up(&w))
				return call_finish(c, PGT_OK);
			e = walk_left(&w);
			begin = walk_left_begin(&w);
			if (table_is_empty(c, w.table[w.level + 2], w.level + 1, begin))
				unlink_table(c, e, entry_load(e), w.level, begin,
					     begin | level_mask(t, w.level), false);
		}
		raw = entry_load(walk_entry(&w));
		tally(c)->reads++;
		if (arch_kind(t, raw, w.level) == KIND_TABLE)
			table = table_at(t, arch_next(t, raw), granule(t));
		if (table)
			walk_down(&w, table, raw);
		else
			walk_past(&w, 1);
	}
}

#endif
