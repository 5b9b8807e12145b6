/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_map.  Three passes over the range, of which the first alone can fail:
 *
 *	scan   what stands there, and how many tables the rest needs
 *	break  only where something valid is replaced: leaves and tables give
 *	       way to inaccessible entries that still tell readers what was
 *	       there, and are invalidated
 *	build  fills stretches with leaves (build.h), in tables that are linked
 *	       once they are full
 */
#ifndef PGT_MAP_H
#define PGT_MAP_H

#include "build.h"
#include "cut.h"
#include "remove.h"

struct map {
	struct call *c;
	struct build build;
	uint64_t attr;       /* without state: what complies has it, and the PA */
	bool careful;        /* not all of the range is empty: plan each entry */
	bool breaks;         /* hardware may use what is replaced: break it first */
	struct cut cut[2];   /* runs that the range covers in part, to be unfolded */
	unsigned cuts;
	struct need need;
};

/* Whether a leaf at the walk's next byte is what the call asks for. */
static inline bool map_complies(const struct map *m, const struct pgt_walk *w, uint64_t raw)
{
	const struct pgt *t = m->c->t;
	uint64_t within = w->next & level_mask(t, w->level);

	return !arch_broken(raw) && arch_pa(t, raw, w->level) + within == build_pa(&m->build, w->next) &&
	       (arch_attr(t, raw) & ~(PGT_YOUNG | PGT_DIRTY)) == m->attr;
}

enum below { BELOW_EMPTY, BELOW_COMPLIES, BELOW_DIFFERS, BELOW_CORRUPT };

/* What the table entry raw, which the walk stands before, has below it. */
static enum below map_below(struct map *m, const struct pgt_walk *at, uint64_t raw)
{
	struct call *c = m->c;
	struct pgt_entry *table = table_at(c->t, arch_next(c->t, raw), granule(c->t));
	bool empty = false, complies = false;
	struct pgt_walk w;

	if (!table)
		return BELOW_CORRUPT;
	walk_start_at(&w, c->t, at->level + 1, table, at->next, at->next | level_mask(c->t, at->level));
	while (walk_on(&w)) {
		unsigned n = entry_match(walk_entry(&w), walk_count(&w), ~UINT64_C(0), 0, 0);

		tally(c)->reads += n + 1;
		if (n) {
			empty = true;
			walk_past(&w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		switch (arch_kind(c->t, raw, w.level)) {
		case KIND_TABLE:
			table = table_at(c->t, arch_next(c->t, raw), granule(c->t));
			if (!table)
				return BELOW_CORRUPT;
			walk_down(&w, table, raw);
			continue;
		case KIND_LEAF:
			tally(c)->leaves++;
			if (map_complies(m, &w, raw))
				break;
			return BELOW_DIFFERS;
		case KIND_CORRUPT:
			return BELOW_CORRUPT;
		default:
			return BELOW_DIFFERS;
		}
		complies = true;
		walk_past(&w, 1);
	}
	return !complies ? BELOW_EMPTY : empty ? BELOW_DIFFERS : BELOW_COMPLIES;
}

/* What to do with the entry that the walk stands before. */
enum plan {
	PLAN_SKIP,    /* it is what the call asks for */
	PLAN_BUILD,   /* build here, as if it were empty */
	PLAN_DOWN,    /* go on in its table */
	PLAN_CORRUPT,
};

/* A block takes the place of a table that is empty, or that REPLACE gives up. */
static enum plan map_plan_table(struct map *m, const struct pgt_walk *w, uint64_t raw)
{
	unsigned flags = m->c->flags;

	if (arch_broken(raw))
		return PLAN_BUILD;
	if (!build_leaves_here(&m->build, w) || (flags & PGT_KEEP_TABLES) ||
	    (m->c->live && (flags & PGT_NO_BREAK)))
		return PLAN_DOWN;
	switch (map_below(m, w, raw)) {
	case BELOW_EMPTY:
		return PLAN_BUILD;
	case BELOW_COMPLIES:
		return flags & PGT_REPLACE ? PLAN_SKIP : PLAN_DOWN;
	case BELOW_DIFFERS:
		return flags & PGT_REPLACE ? PLAN_BUILD : PLAN_DOWN;
	default:
		return PLAN_CORRUPT;
	}
}

static enum plan map_plan(struct map *m, const struct pgt_walk *w, uint64_t raw)
{
	switch (arch_kind(m->c->t, raw, w->level)) {
	case KIND_TABLE:
		return map_plan_table(m, w, raw);
	case KIND_LEAF:
		return map_complies(m, w, raw) ? PLAN_SKIP : PLAN_BUILD;
	case KIND_CORRUPT:
		return PLAN_CORRUPT;
	default:
		return PLAN_BUILD;
	}
}

/* ---- scan ---- */

/* The entry that is in the way, raw, is to be replaced: may it be? */
static int scan_replaced(struct map *m, const struct pgt_walk *w, uint64_t raw)
{
	struct call *c = m->c;
	enum pgt_kind kind = arch_kind(c->t, raw, w->level);
	struct cut cut;

	m->careful = true;
	if (kind != KIND_TABLE) {
		if (!(c->flags & PGT_REPLACE))
			return PGT_EEXIST;
		tally(c)->leaves++;
		cut_find(&cut, c, w, raw);
		if (cut_any(&cut) && (c->flags & PGT_NO_SPLIT))
			return PGT_EBLOCK;
	}
	if (!arch_valid(raw))
		return PGT_OK;
	m->breaks = true;
	return c->live && (c->flags & PGT_NO_BREAK) ? PGT_EBREAK : PGT_OK;
}

static int scan_down(struct map *m, struct pgt_walk *w, uint64_t raw)
{
	const struct pgt *t = m->c->t;
	struct pgt_entry *table = table_at(t, arch_next(t, raw), granule(t));

	if (!table)
		return PGT_ECORRUPT;
	if (arch_inherit(raw))
		return PGT_ENOTSUP;
	if (build_leaves_here(&m->build, w))
		m->careful = true;
	walk_down(w, table, raw);
	return PGT_OK;
}

static int map_scan(struct map *m)
{
	struct call *c = m->c;
	struct pgt_walk w;

	walk_start(&w, c->t, c->first, c->last);
	while (walk_on(&w)) {
		unsigned n = entry_match(walk_entry(&w), walk_count(&w), ~UINT64_C(0), 0, 0);
		uint64_t raw;
		int status = PGT_OK;

		if (n) {
			tally(c)->reads += n;
			need_tables(&m->need, &m->build, &w, n);
			walk_past(&w, n);
			continue;
		}
		tally(c)->reads++;
		raw = entry_load(walk_entry(&w));
		switch (map_plan(m, &w, raw)) {
		case PLAN_SKIP:
			if (!(c->flags & PGT_REPLACE))
				return PGT_EEXIST;
			m->careful = true;
			tally(c)->leaves++;
			walk_past(&w, 1);
			break;
		case PLAN_BUILD:
			status = scan_replaced(m, &w, raw);
			need_tables(&m->need, &m->build, &w, 1);
			walk_past(&w, 1);
			break;
		case PLAN_DOWN:
			status = scan_down(m, &w, raw);
			break;
		case PLAN_CORRUPT:
			return PGT_ECORRUPT;
		}
		if (status != PGT_OK)
			return status;
	}
	return PGT_OK;
}

/* ---- break ---- */

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

	walk_start(&w, c->t, c->first, c->last);
	while (walk_on(&w)) {
		unsigned n = entry_match(walk_entry(&w), walk_count(&w), ~UINT64_C(0), 0, 0);
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
		cut_unfold(c, &m->cut[i]);
}

/* ---- build ---- */

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

		if (kind == KIND_TABLE && (table = table_at(t, arch_next(t, below), granule(t)))) {
			walk_down(&w, table, below);
			continue;
		}
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
		build_fill(&m->build, w, k);
		walk_past(w, k);
		/* Nothing leads to the broken tables any more. */
		for (unsigned i = 0; i < k; i++, begin += level_mask(t, w->level) + 1)
			if (w->level < PGT_LAST_LEVEL && arch_kind(t, old[i], w->level) == KIND_TABLE)
				build_over_table(m, old[i], w->level, begin);
	}
}

/* Down into a new table, which keeps what of a larger leaf stays. */
static bool build_below(struct map *m, struct pgt_walk *w, uint64_t raw)
{
	enum pgt_kind kind = arch_kind(m->c->t, raw, w->level);
	struct pgt_entry *table;
	struct cut cut;
	uint64_t pa;

	if (kind != KIND_LEAF && kind != KIND_TOKEN)
		return build_down_new(&m->build, w);
	table = pgt_table_pop(m->c, &pa);
	if (!table)
		return false;
	cut_find(&cut, m->c, w, raw);
	cut_fill(m->c, &cut, table);
	tally(m->c)->blocks_split += kind == KIND_LEAF;
	build_enter(&m->build, w, table, pa);
	return true;
}

static void map_build(struct map *m)
{
	struct call *c = m->c;
	struct build *b = &m->build;
	struct pgt_walk w;

	walk_start(&w, c->t, c->first, c->last);
	b->reach[w.level + 1] = REACH_LINKED;
	for (;;) {
		unsigned n;
		uint64_t raw;

		while (walk_used(&w)) {
			if (!walk_up(&w))
				return;
			build_left(b, &w);
		}
		n = build_leaves_here(b, &w);
		if (n && !m->careful) {
			build_fill(b, &w, n);
			walk_past(&w, n);
			continue;
		}
		n = build_count(m, &w, n);
		if (n) {
			build_over(m, &w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		switch (raw ? map_plan(m, &w, raw) : PLAN_BUILD) {
		case PLAN_DOWN:
			if (!build_down(b, &w, raw))
				build_give_up(b, &w);
			break;
		case PLAN_BUILD:
			if (w.level == PGT_LAST_LEVEL || !build_below(m, &w, raw))
				build_give_up(b, &w);
			break;
		default:
			walk_past(&w, 1);
		}
	}
}

static void map_init(struct map *m, struct call *c, uint64_t pa, unsigned max_bits)
{
	*m = (struct map){ .c = c };
	m->build.c = c;
	m->build.first = c->first;
	m->build.last = c->last;
	m->build.pa = pa;
	m->build.max_shift = max_bits ? max_bits : 63;
	m->build.units = c->t->pages.unit != NULL;
	m->build.piece_first = 1; /* no piece yet */
}

static int map(struct call *c, uint64_t pa, uint64_t attr, unsigned max_bits)
{
	uint64_t state = 0;
	struct map m;
	int status;

	if (!(c->t->features & PGT_FEAT_TRACK_YOUNG))
		state |= PGT_YOUNG;
	if (!(c->t->features & PGT_FEAT_TRACK_DIRTY))
		state |= PGT_DIRTY;
	map_init(&m, c, pa, max_bits);
	m.attr = attr & ~(PGT_YOUNG | PGT_DIRTY);
	m.build.leaf = arch_leaf(c->t, attr | state);
	status = map_scan(&m);
	if (status == PGT_OK)
		status = pgt_tables_take(c, m.need.tables);
	if (status == PGT_OK) {
		gather_settle(c);
		if (attr & PGT_GLOBAL)
			c->t->held_global = true;
		if (m.careful)
			map_break(&m);
		map_build(&m);
		tally(c)->mapped += c->last - c->first + 1;
	}
	return call_finish(c, status);
}

/* The most tables that a map can need: all but the root, were it empty. */
static uint64_t tables_needed(const struct pgt *t, uint64_t first, uint64_t last, uint64_t pa, unsigned max_bits)
{
	struct call c = { .t = (struct pgt *)(uintptr_t)t, .first = first, .last = last };
	struct map m;

	map_init(&m, &c, pa, max_bits);
	need_range(&m.need, &m.build, t->start_level, first, last);
	return m.need.tables;
}

#endif
