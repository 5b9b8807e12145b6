/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_map.  Three passes over the range, of which the first alone can fail:
 *
 *	scan   what stands there (plan.h), and how many tables the rest needs
 *	break  only where something is replaced (replace.h)
 *	build  fills stretches with leaves (build.h), in tables that are linked
 *	       once they are full
 */
#ifndef PGT_MAP_H
#define PGT_MAP_H

#include "replace.h"

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
	if (arch_inherit(w->t, raw))
		return PGT_ENOTSUP;
	if (build_leaves_here(&m->build, w))
		m->careful = true;
	return walk_enter(w, raw) ? PGT_OK : PGT_ECORRUPT;
}

static int map_scan(struct map *m)
{
	struct call *c = m->c;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	while (walk_on(&w)) {
		unsigned n = walk_empty(&w);
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
	cut_fill(m->c, &cut, table, 0);
	tally(m->c)->blocks_split += kind == KIND_LEAF;
	build_enter(&m->build, w, table, pa);
	return true;
}

static void map_build(struct map *m)
{
	struct call *c = m->c;
	struct build *b = &m->build;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
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
			map_fill(m, &w, n);
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

static int map_run(struct map *m)
{
	struct call *c = m->c;
	int status;

	call_start(c);
	if (call_is_one_page(c) && !entry_load(walk_entry(&c->at))) {
		gather_settle(c, c->first, c->last);
		map_fill(m, &c->at, 1);
		return PGT_OK;
	}
	status = map_scan(m);
	if (status == PGT_OK)
		status = pgt_tables_take(c, m->need.tables);
	if (status == PGT_OK) {
		gather_settle(c, c->first, c->last);
		if (m->careful)
			map_break(m);
		map_build(m);
	}
	return status;
}

/* The state that a new mapping starts with, unless its attributes say otherwise. */
static inline uint64_t initial_state(const struct pgt *t)
{
	return (t->features & PGT_FEAT_TRACK_YOUNG ? 0 : PGT_YOUNG) |
	       (t->features & PGT_FEAT_TRACK_DIRTY ? 0 : PGT_DIRTY);
}

static int map(struct call *c, uint64_t pa, uint64_t attr, unsigned max_bits)
{
	struct map m;
	int status;

	map_init(&m, c, pa, max_bits);
	m.attr = attr & ~(PGT_YOUNG | PGT_DIRTY);
	m.build.leaf = arch_leaf(c->t, attr | initial_state(c->t));
	status = map_run(&m);
	if (status == PGT_OK) {
		if (attr & PGT_GLOBAL)
			c->t->held_global = true;
	}
	return call_finish(c, status);
}

/* pgt_store: tokens are mapped like memory, in entries that map none. */
static int store(struct call *c, uint64_t token, unsigned max_bits)
{
	bool sequence = c->flags & PGT_SEQUENCE;
	uint64_t more = sequence ? (c->last - c->first) >> c->t->granule_bits : 0;
	const uint64_t widest = (UINT64_C(1) << arch_token_bits) - 1;
	struct map m;

	if (token > widest || more > widest - token)
		return call_finish(c, PGT_ERANGE);
	map_init(&m, c, 0, sequence ? c->t->granule_bits : max_bits);
	m.build.token = true;
	m.build.units = false;
	m.build.leaf = arch_make_token(token);
	m.build.token_step = sequence ? arch_make_token(1) - arch_make_token(0) : 0;
	return call_finish(c, map_run(&m));
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
