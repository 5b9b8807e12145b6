/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What pgt_map replaces: broken first, made anew after.  Leaves and tables give
 * way to inaccessible entries that still tell readers what was there.
 */
#ifndef PGT_REPLACE_H
#define PGT_REPLACE_H

#include "plan.h"
#include "remove.h"

static void break_leaf(struct map *m, struct pgt_walk *w, uint64_t raw)
{
	struct call *c = m->c;
	const struct pgt *t = c->t;
	uint64_t begin, first, last;
	struct cut cut;
	unsigned n;

	cut_find(&cut, c, w, raw);
	cut_break(c, &cut);
	if (cut.run && m->cuts < 2)
		m->cut[m->cuts++] = cut;
	/* Of the run, what the range touches goes. */
	n = (unsigned)((cut.end - cut.leaf_begin) >> level_shift(t, w->level)) + 1;
	if (n > walk_count(w))
		n = walk_count(w);
	for (unsigned i = 0; i < n && c->asked; i++) {
		raw = entry_load(cut.leaf_e + i);
		begin = cut.leaf_begin + ((uint64_t)i << level_shift(t, w->level));
		first = begin > c->first ? begin : c->first;
		last = begin | level_mask(t, w->level);
		tell_removed(c, raw, w->level, begin, first, last < c->last ? last : c->last);
	}
	walk_past(w, n);
}

static void break_table(struct map *m, struct pgt_walk *w, uint64_t raw)
{
	struct call *c = m->c;

	entry_store(walk_entry(w), arch_break(raw));
	gather_wrote(c, walk_entry(w), 1);
	gather_walk(c, w->next, w->next | level_mask(c->t, w->level), c->t->held_global);
	walk_past(w, 1);
}

/* Gives what is replaced to inaccessible entries, and lets TLBs forget it. */
static void map_break(struct map *m)
{
	struct call *c = m->c;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	while (walk_on(&w)) {
		unsigned n = walk_empty(&w);
		uint64_t raw;

		if (n) {
			walk_past(&w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		switch (map_plan(m, &w, raw)) {
		case PLAN_DOWN:
			if (!build_down(&m->build, &w, raw))
				build_give_up(&m->build, &w);
			break;
		case PLAN_BUILD:
			if (arch_kind(c->t, raw, w.level) == KIND_TABLE)
				break_table(m, &w, raw);
			else
				break_leaf(m, &w, raw);
			break;
		default:
			walk_past(&w, 1);
		}
	}
	if (m->breaks && c->live)
		gather_drain(c);
	for (unsigned i = 0; i < m->cuts; i++)
		cut_unfold(c, &m->cut[i], false);
}

/* Tells of all below a table that a block replaces, and frees it: it is invalidated already. */
static void build_over_table(struct map *m, uint64_t raw, int level, uint64_t begin)
{
	struct call *c = m->c;
	struct pgt *t = c->t;
	struct pgt_entry *table = table_at(t, arch_next(t, raw), granule(t));
	struct pgt_walk w;

	walk_start_at(&w, t, level + 1, table, begin, begin | level_mask(t, level));
	while (c->asked && table && walk_on(&w)) {
		uint64_t at = w.next, below = entry_load(walk_entry(&w));
		enum pgt_kind kind = arch_kind(t, below, w.level);

		if (kind == KIND_TABLE && walk_enter(&w, below))
			continue;
		if (kind == KIND_LEAF || kind == KIND_TOKEN)
			tell_removed(c, below, w.level, at, at, at | level_mask(t, w.level));
		walk_past(&w, 1);
	}
	free_subtree(c, arch_next(t, raw), level + 1);
}

/* How many of the n entries from the walk's next on are to be built now. */
static unsigned build_count(struct map *m, const struct pgt_walk *at, unsigned n)
{
	struct pgt_walk w = *at;
	unsigned i;

	for (i = 0; i < n; i++) {
		uint64_t raw = entry_load(walk_entry(&w));

		if (raw && map_plan(m, &w, raw) != PLAN_BUILD)
			break;
		w.next += level_mask(w.t, w.level) + 1;
	}
	return i;
}

static inline void map_fill(struct map *m, const struct pgt_walk *w, unsigned n)
{
	build_fill(&m->build, w, n);
	if (!m->build.token)
		tally(m->c)->mapped += (uint64_t)n << level_shift(w->t, w->level);
}

/* Runs of blocks are no longer than this. */
#define BLOCKS_AT_ONCE 32

/* Fills n entries, of which some may hold broken tables. */
static void build_over(struct map *m, struct pgt_walk *w, unsigned n)
{
	uint64_t old[BLOCKS_AT_ONCE], begin = w->next;
	const struct pgt *t = m->c->t;

	for (unsigned k = n; n; n -= k) {
		unsigned room = BLOCKS_AT_ONCE - walk_index(w) % BLOCKS_AT_ONCE;

		if (w->level < PGT_LAST_LEVEL && k > room)
			k = room;
		if (k > n)
			k = n;
		for (unsigned i = 0; i < k && w->level < PGT_LAST_LEVEL; i++)
			old[i] = entry_load(walk_entry(w) + i);
		map_fill(m, w, k);
		walk_past(w, k);
		/* Nothing leads to the broken tables any more. */
		for (unsigned i = 0; i < k; i++, begin += level_mask(t, w->level) + 1)
			if (w->level < PGT_LAST_LEVEL && arch_kind(t, old[i], w->level) == KIND_TABLE)
				build_over_table(m, old[i], w->level, begin);
	}
}

#endif
