/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_move.  Whole tables are relinked where both addresses allow it; leaves
 * and tokens are taken out and built anew at the other place, a stretch of
 * alike ones at a time.  The source of each is cleared before its destination
 * is set.
 */
#ifndef PGT_MOVE_H
#define PGT_MOVE_H

#include "edge.h"
#include "unmap.h"

/* Leaves taken out of the source that go to consecutive addresses as they are. */
struct batch {
	bool any, token;
	uint64_t leaf, pa;    /* not placed; the PA of the first */
	uint64_t first, last; /* where they go */
	int level;
};

struct move {
	struct call *c;
	uint64_t delta;       /* from source to destination, modulo 2^64 */
	struct need need;
	struct build to;
	struct pgt_walk at;   /* in the destination */
	struct batch batch;
};

/* Whether the table below the entry that the walk stands before moves as it is. */
static inline bool move_relinks(const struct move *m, const struct pgt_walk *w)
{
	const struct pgt *t = m->c->t;

	return w->level >= arch_relink_top(t) && !(m->delta & level_mask(t, w->level)) && walk_covers(w);
}

/* ---- Looking ---- */

static int move_scan_leaf(struct move *m, const struct pgt_walk *w, uint64_t raw)
{
	struct call *c = m->c;
	const struct pgt *t = c->t;
	uint64_t end = w->next | level_mask(t, w->level), mask = level_mask(t, w->level);
	struct build b = { .c = c, .max_shift = run_shift(t, w->level) };

	b.token = arch_kind(t, raw, w->level) == KIND_TOKEN;
	b.first = w->next + m->delta;
	b.last = (end < c->last ? end : c->last) + m->delta;
	if (b.token)
		b.max_shift = 63;
	b.pa = b.token ? b.first : arch_pa(t, raw, w->level) + (w->next & mask);
	if ((c->flags & PGT_NO_SPLIT) && (m->delta & mask))
		return PGT_EBLOCK;
	tally(c)->leaves++;
	need_range(&m->need, &b, t->start_level, b.first, b.last);
	return PGT_OK;
}

static int move_scan(struct move *m)
{
	struct call *c = m->c;
	const struct pgt *t = c->t;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	while (walk_on(&w)) {
		unsigned n = walk_empty(&w);
		int status = PGT_OK;
		uint64_t raw;

		if (n) {
			tally(c)->reads += n;
			walk_past(&w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		tally(c)->reads++;
		switch (arch_kind(t, raw, w.level)) {
		case KIND_TABLE:
			if (arch_inherit(c->t, raw))
				return PGT_ENOTSUP;
			if (move_relinks(m, &w)) {
				need_path(&m->need, t, w.level, w.next + m->delta, w.next + m->delta);
				break;
			}
			if (!walk_enter(&w, raw))
				return PGT_ECORRUPT;
			continue;
		case KIND_CORRUPT:
			return PGT_ECORRUPT;
		default:
			status = move_scan_leaf(m, &w, raw);
		}
		if (status != PGT_OK)
			return status;
		walk_past(&w, 1);
	}
	return PGT_OK;
}

/* Whether [first, last] of a table has no leaves and no tokens. */
static int place_is_empty(struct call *c, const struct pgt *t, uint64_t first, uint64_t last)
{
	struct pgt_walk w;

	walk_start(&w, t, first, last);
	while (walk_on(&w)) {
		unsigned n = walk_empty(&w);
		uint64_t raw;

		if (n) {
			tally(c)->reads += n;
			walk_past(&w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		tally(c)->reads++;
		switch (arch_kind(t, raw, w.level)) {
		case KIND_TABLE:
			if (arch_inherit(c->t, raw))
				return PGT_ENOTSUP;
			if (!walk_enter(&w, raw))
				return PGT_ECORRUPT;
			break;
		case KIND_CORRUPT:
			return PGT_ECORRUPT;
		default:
			return PGT_EEXIST;
		}
	}
	return PGT_OK;
}

/* ---- Moving ---- */

/* Makes room: empty tables wholly within [first, last] go. */
static void place_clear(struct call *c, uint64_t first, uint64_t last)
{
	struct pgt_walk w;
	bool any = false;

	walk_start(&w, c->t, first, last);
	while (walk_on(&w)) {
		unsigned n = walk_empty(&w);
		uint64_t raw;

		if (n) {
			walk_past(&w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		if (!walk_covers(&w) && walk_enter(&w, raw))
			continue;
		gather_table(c, walk_entry(&w), raw, w.level, w.next, w.next | level_mask(c->t, w.level), false);
		any = true;
		walk_past(&w, 1);
	}
	if (any)
		gather_drain(c);
}

/* The batch goes to where it belongs. */
static void batch_put(struct move *m)
{
	struct batch *k = &m->batch;

	if (!k->any)
		return;
	k->any = false;
	m->to.leaf = k->leaf;
	m->to.token = k->token;
	m->to.first = k->first;
	m->to.pa = k->token ? k->first : k->pa;
	m->to.max_shift = k->token ? 63 : run_shift(m->c->t, k->level);
	build_seek(&m->to, &m->at, k->first);
	build_to(&m->to, &m->at, k->last);
}

/* Whether [at, at + bytes) goes on what the batch has: leaves of one kind, level
 * and unit of memory, so that no run crosses one; or one token. */
static bool batch_joins(const struct move *m, uint64_t leaf, uint64_t pa, bool token, int level, uint64_t at,
			uint64_t bytes)
{
	const struct pgt_pages *pages = &m->c->t->pages;
	const struct batch *k = &m->batch;

	if (!k->any || k->token != token || k->leaf != leaf || k->last + 1 != at)
		return false;
	if (token)
		return true;
	bytes += at - k->first;
	return k->level == level && k->pa + (at - k->first) == pa &&
	       (!pages->unit || pages->unit(pages->ctx, k->pa, bytes) >= bytes);
}

/* Adds [at, at + bytes), or puts what is there and begins anew. */
static void batch_add(struct move *m, uint64_t leaf, uint64_t pa, bool token, int level, uint64_t at, uint64_t bytes)
{
	struct batch *k = &m->batch;

	if (batch_joins(m, leaf, pa, token, level, at, bytes)) {
		k->last += bytes;
		if (level < k->level)
			k->level = level;
		return;
	}
	batch_put(m);
	*k = (struct batch){ true, token, leaf, pa, at, at + (bytes - 1), level };
}

/* Takes out a run, a leaf or a token; how many entries that is. */
static unsigned move_take(struct move *m, const struct pgt_walk *w, uint64_t raw)
{
	struct call *c = m->c;
	const struct pgt *t = c->t;
	bool leaf = arch_kind(t, raw, w->level) == KIND_LEAF;
	unsigned members = leaf ? run_entries(t, raw, w->level) : 1;
	struct pgt_entry *e = walk_entry(w);
	uint64_t bytes, state;

	if (members > walk_count(w) || walk_index(w) % members)
		members = 1;
	state = arch_take(t, e, members, &tally(c)->rmws);
	bytes = (uint64_t)members << level_shift(t, w->level);
	if (arch_valid(raw))
		gather_leaves(c, w->next, w->next + (bytes - 1), w->level, arch_global(c->t, raw));
	batch_add(m, leaf ? arch_add_state(arch_place(t, raw, w->level, 0, false), state) : raw,
		  leaf ? arch_pa(t, raw, w->level) : 0, !leaf, w->level, w->next + m->delta, bytes);
	return members;
}

/* Moves the table below the entry raw. */
static void move_table(struct move *m, const struct pgt_walk *w)
{
	struct call *c = m->c;
	uint64_t raw = arch_unlink(walk_entry(w), &tally(c)->rmws), to = w->next + m->delta;
	struct build *b = &m->to;

	batch_put(m);
	gather_wrote(c, walk_entry(w), 1);
	gather_walk(c, w->next, w->next | level_mask(c->t, w->level), c->t->held_global);
	build_seek(b, &m->at, to);
	while (m->at.level < w->level) {
		uint64_t is = entry_load(walk_entry(&m->at));

		if (arch_kind(c->t, is, m->at.level) == KIND_TABLE ? !build_down(b, &m->at, is) :
								      !build_down_new(b, &m->at)) {
			c->corrupt = true;
			return;
		}
	}
	entry_store(walk_entry(&m->at), raw);
	if (b->reach[m->at.level + 1] == REACH_LINKED)
		gather_wrote(c, walk_entry(&m->at), 1);
	walk_past(&m->at, 1);
	tally(c)->tables_relinked++;
}

static void move_range(struct move *m)
{
	struct call *c = m->c;
	const struct pgt *t = c->t;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	walk_start(&m->at, t, c->first + m->delta, c->last + m->delta);
	m->to.reach[m->at.level + 1] = REACH_LINKED;
	while (walk_on(&w)) {
		uint64_t raw = entry_load(walk_entry(&w));
		unsigned n;

		tally(c)->reads++;
		if (!raw) {
			n = walk_empty(&w);
			walk_past(&w, n ? n : 1);
		} else if (arch_kind(t, raw, w.level) == KIND_TABLE) {
			if (move_relinks(m, &w)) {
				move_table(m, &w);
				walk_past(&w, 1);
			} else if (!walk_enter(&w, raw)) {
				walk_past(&w, 1);
			}
		} else {
			n = move_take(m, &w, raw);
			gather_wrote(c, walk_entry(&w), n);
			tally(c)->changed += n;
			walk_past(&w, n);
		}
	}
	batch_put(m);
	build_finish(&m->to, &m->at);
}

/* Whether a destination is in the table that the source is in. */
static inline bool move_is_near(const struct call *c, uint64_t to)
{
	return to - c->at.begin[c->at.level + 1] <= table_mask(c->t, c->at.level);
}

/* The entry for a destination, if tables lead to it and it is empty; else NULL. */
static struct pgt_entry *move_place(struct call *c, uint64_t to, int level)
{
	struct pgt_entry *near;
	struct pgt_walk w;

	if (move_is_near(c, to)) {
		near = c->at.table[level + 1] + ((to - c->at.begin[level + 1]) >> level_shift(c->t, level));
		tally(c)->reads++;
		return entry_load(near) ? NULL : near;
	}
	walk_start(&w, c->t, to, to);
	while (w.level < level) {
		uint64_t raw = entry_load(walk_entry(&w));

		tally(c)->reads++;
		if (arch_kind(c->t, raw, w.level) != KIND_TABLE || arch_inherit(c->t, raw) || !walk_enter(&w, raw))
			return NULL;
	}
	tally(c)->reads++;
	return entry_load(walk_entry(&w)) ? NULL : walk_entry(&w);
}

/*
 * The range is all that one entry spans, and below it is a table: the common
 * case of a large move.  False: it is something else.
 */
static bool move_one_table(struct call *c, uint64_t to)
{
	const struct pgt *t = c->t;
	const struct pgt_walk *w = &c->at;
	uint64_t mask = level_mask(t, w->level), raw;
	struct pgt_entry *from = walk_entry(w), *place;

	if ((c->first & mask) || (c->first | mask) != c->last || (to & mask) || w->level < arch_relink_top(t))
		return false;
	raw = entry_load(from);
	tally(c)->reads++;
	if (arch_kind(t, raw, w->level) != KIND_TABLE || arch_inherit(c->t, raw))
		return false;
	place = move_place(c, to, w->level);
	if (!place)
		return false;
	gather_settle(c, to, to | mask);
	raw = arch_unlink(from, &tally(c)->rmws);
	gather_wrote(c, from, 1);
	entry_store(place, raw);
	gather_wrote(c, place, 1);
	gather_walk(c, c->first, c->last, t->held_global);
	tally(c)->tables_relinked++;
	return true;
}

/* Nothing is left in the source: its tables go, whole ones by one store. */
static void move_clear(struct call *c)
{
	bool asked = c->asked;

	c->asked = false;
	unmap_range(c);
	c->asked = asked;
}

/* After a move: the table that the source stood in may be empty. */
static void move_trim(struct call *c)
{
	if (!(c->flags & PGT_KEEP_TABLES) && !(c->t->features & PGT_FEAT_PARALLEL) &&
	    c->at.level > c->t->start_level &&
	    table_is_empty(c, c->at.table[c->at.level + 1], c->at.level, c->at.begin[c->at.level + 1]))
		move_clear(c);
}

static int move(struct call *c, uint64_t to)
{
	uint64_t to_last = to + (c->last - c->first);
	struct need cuts = { 0 };
	struct cut cut[2];
	struct move m;
	int status;

	call_start(c);
	if (move_one_table(c, to)) {
		if (!move_is_near(c, to))
			move_trim(c);
		gather_drain(c);
		return call_finish(c, PGT_OK);
	}
	m = (struct move){ .c = c, .delta = to - c->first, .to = { .c = c } };
	m.need.spare = true;
	m.need.clear_first = to;
	m.need.clear_last = to_last;
	status = move_scan(&m);
	if (status == PGT_OK)
		status = place_is_empty(c, c->t, to, to_last);
	if (status == PGT_OK)
		status = edges_find(c, cut);
	if (status == PGT_OK)
		status = edges_check(c, cut, &cuts);
	if (status == PGT_OK)
		status = pgt_tables_take(c, m.need.tables + cuts.tables);
	if (status != PGT_OK)
		return call_finish(c, status);
	gather_settle(c, to, to_last);
	edges_cut(c, cut, true);
	place_clear(c, to, to_last);
	move_range(&m);
	if (!(c->flags & PGT_KEEP_TABLES) && !(c->t->features & PGT_FEAT_PARALLEL))
		move_clear(c);
	/* Nothing else is made at either place before the source is forgotten. */
	gather_drain(c);
	return call_finish(c, status);
}

#endif
