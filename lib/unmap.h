/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_unmap.  Only what the range covers in part at its two ends can make it
 * fail, so only these are looked at first.  Then the ends are cut, and all
 * between goes: whole tables by one store where nobody asked what was in them.
 */
#ifndef PGT_UNMAP_H
#define PGT_UNMAP_H

#include "edge.h"

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
	gather_table(c, e, entry_load(e), w->level, begin, end, false);
}

/* The table entry raw: down into it, or away with it. */
static void unmap_table(struct call *c, struct pgt_walk *w, uint64_t raw)
{
	struct pgt *t = c->t;
	bool look = c->asked || (c->flags & PGT_KEEP_TABLES) || !walk_covers(w);

	if (look && walk_enter(w, raw))
		return;
	gather_table(c, walk_entry(w), raw, w->level, w->next, w->next | level_mask(t, w->level),
		     t->held_global);
	walk_past(w, 1);
}

static void unmap_range(struct call *c)
{
	struct pgt *t = c->t;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	for (;;) {
		unsigned n;
		uint64_t raw;

		while (walk_used(&w)) {
			if (!walk_up(&w))
				return;
			unmap_left(c, &w);
		}
		n = walk_empty(&w);
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

/* The range grows to the ends of what it covers in part. */
static void unmap_widen(struct call *c, const struct cut cut[2])
{
	for (unsigned i = 0; i < 2; i++) {
		if (cut[i].leaf_e && cut[i].begin < c->first)
			c->first = cut[i].begin;
		if (cut[i].leaf_e && cut[i].end > c->last)
			c->last = cut[i].end;
	}
}

/* What was cut away with its leaf. */
static void unmap_tell(struct call *c, const struct cut *cut)
{
	uint64_t first = cut->leaf_begin > c->first ? cut->leaf_begin : c->first;
	uint64_t last = cut->leaf_end < c->last ? cut->leaf_end : c->last;

	if (cut->leaf && c->asked)
		tell_removed(c, cut->raw, cut->level, cut->leaf_begin, first, last);
}

static int unmap_edges(struct call *c)
{
	struct need need = { 0 };
	struct cut cut[2];
	int status = edges_find(c, cut);

	if (status == PGT_OK && (c->flags & PGT_WHOLE)) {
		unmap_widen(c, cut);
		return PGT_OK;
	}
	if (status == PGT_OK)
		status = edges_check(c, cut, &need);
	if (status == PGT_OK)
		status = pgt_tables_take(c, need.tables);
	if (status != PGT_OK)
		return status;
	edges_cut(c, cut, false);
	unmap_tell(c, &cut[0]);
	unmap_tell(c, &cut[1]);
	return PGT_OK;
}

/* Whether the range is one page, and nothing lies across its ends. */
static inline bool unmap_is_simple(const struct call *c)
{
	uint64_t raw;

	if (!call_is_one_page(c))
		return false;
	raw = entry_load(walk_entry(&c->at));
	switch (arch_kind(c->t, raw, PGT_LAST_LEVEL)) {
	case KIND_LEAF:
		return !arch_run(raw);
	case KIND_CORRUPT:
		return false;
	default:
		return true;
	}
}

static int unmap(struct call *c)
{
	int status;

	call_start(c);
	if (unmap_is_simple(c)) {
		unmap_range(c);
		return call_finish(c, PGT_OK);
	}
	status = edges_look(c);
	if (status == PGT_OK)
		status = unmap_edges(c);
	if (status == PGT_OK)
		unmap_range(c);
	return call_finish(c, status);
}

#endif
