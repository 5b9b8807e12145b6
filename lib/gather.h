/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What TLBs must forget, and the tables that can go once they have.  The
 * changes of one call are one range; those of different calls are joined only
 * where they touch.  Compiled once a backend.
 */
#ifndef PGT_GATHER_H
#define PGT_GATHER_H

#include "call.h"
#include "walk.h"

static inline struct pgt_tally *tally(struct call *c)
{
	return &c->gather->tally;
}

/* At the start of every changing call: down to where all of its range lies. */
static inline void call_start(struct call *c)
{
	walk_start(&c->at, c->t, c->first, c->last);
	tally(c)->reads += walk_narrow(&c->at);
}

/* A range of one page whose table is there: the common case, which needs no loop
 * and no look at what could lie across its ends but the entry itself. */
static inline bool call_is_one_page(const struct call *c)
{
	return c->at.level == PGT_LAST_LEVEL && c->last - c->first == level_mask(c->t, PGT_LAST_LEVEL);
}

/* n entries from e on were written. */
static inline void gather_wrote(struct call *c, struct pgt_entry *e, unsigned n)
{
	c->g->wrote = true;
	if (c->t->memory.written)
		c->t->memory.written(c->t->memory.ctx, e, (uint64_t)n * sizeof *e);
}

static inline void pending_join(struct pending *p, const struct pending *more)
{
	if (more->first < p->first)
		p->first = more->first;
	if (more->last > p->last)
		p->last = more->last;
	if (more->stride_bits < p->stride_bits)
		p->stride_bits = more->stride_bits;
	if (more->level != p->level)
		p->level = PGT_LEVEL_UNKNOWN;
	/* What another CPU needs as well is not local. */
	p->flags = (uint16_t)(((p->flags | more->flags) & ~PGT_TLB_LOCAL) |
			      (p->flags & more->flags & PGT_TLB_LOCAL));
}

static inline void gather_pending(struct call *c, const struct pending *p)
{
	if (!c->live)
		return;
	if (c->g->open) {
		pending_join(&c->g->call, p);
	} else {
		c->g->call = *p;
		c->g->open = true;
	}
}

/* Leaves of this level in [first, last] changed that a TLB may hold. */
static inline void gather_leaves(struct call *c, uint64_t first, uint64_t last, int level, bool global)
{
	struct pending p = { first, last, (uint8_t)level_shift(c->t, level), (int8_t)level,
			     global ? PGT_TLB_GLOBAL : 0 };

	gather_pending(c, &p);
}

/*
 * A table entry that spans [first, last] changed.  Never a level hint: leaves
 * of any level below it go, and the walk caches' copies of the entry.
 */
static inline void gather_walk(struct call *c, uint64_t first, uint64_t last, bool global)
{
	struct pending p = { first, last, c->t->granule_bits, PGT_LEVEL_UNKNOWN,
			     (uint16_t)(PGT_TLB_WALK | (global ? PGT_TLB_GLOBAL : 0)) };

	gather_pending(c, &p);
}

/* Frees a table and all tables below it. Nobody else can reach them any more. */
static void free_subtree(struct call *c, uint64_t pa, int level)
{
	struct pgt *t = c->t;
	const struct pgt_entry *table = level < PGT_LAST_LEVEL ? table_at(t, pa, granule(t)) : NULL;
	unsigned entries = table ? table_entries(t, level) : 0;

	for (unsigned i = 0; i < entries; i++) {
		uint64_t raw = entry_load(table + i);

		if (arch_kind(t, raw, level) == KIND_TABLE)
			free_subtree(c, arch_next(t, raw), level + 1);
	}
	tally(c)->tables_freed++;
	pgt_table_free(t, pa, granule(t));
}

static void gather_invalidate(struct call *c, const struct pending *p)
{
	struct pgt *t = c->t;
	struct pgt_tlb_range range = {
		.va = t->base + p->first,
		.len = p->last - p->first + 1,
		.stride_bits = p->stride_bits,
		.level = p->flags & PGT_TLB_WALK ? PGT_LEVEL_UNKNOWN : p->level,
		.flags = p->flags,
	};

	tally(c)->invalidates++;
	tally(c)->invalidated_bytes += range.len;
	t->tlb.invalidate(t->tlb.ctx, &range);
}

/* Frees the tables that were left broken in their places. TLBs have forgotten them. */
static void gather_free_left(struct call *c)
{
	const struct pgt *t = c->t;
	struct pgt_walk w;

	c->left = false;
	walk_start(&w, t, c->left_first, c->left_last);
	while (walk_on(&w)) {
		unsigned n = walk_empty(&w);
		uint64_t raw;

		if (n) {
			walk_past(&w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		if (arch_kind(t, raw, w.level) == KIND_TABLE) {
			if (arch_broken(raw) && walk_covers(&w)) {
				entry_store(walk_entry(&w), 0);
				gather_wrote(c, walk_entry(&w), 1);
				free_subtree(c, arch_next(t, raw), w.level + 1);
			} else if (walk_enter(&w, raw)) {
				continue;
			}
		}
		walk_past(&w, 1);
	}
}

/* Invalidates all that is pending, waits for it, and frees the tables behind it. */
static void gather_drain(struct call *c)
{
	struct gather *g = c->g;
	unsigned tables = g->tables;

	if (g->ranges || g->open) {
		for (unsigned i = 0; i < g->ranges; i++)
			gather_invalidate(c, &g->range[i]);
		if (g->open)
			gather_invalidate(c, &g->call);
		g->ranges = 0;
		g->open = g->wrote = false;
		tally(c)->syncs++;
		c->t->tlb.sync(c->t->tlb.ctx);
	}
	g->tables = 0;
	for (unsigned i = 0; i < tables; i++) {
		uint64_t pa = g->table[i] & TABLE_PA, more = g->table[i] >> TABLE_MORE;
		int level = (int)(g->table[i] & TABLE_LEVEL) - 1;

		for (uint64_t k = 0; k <= more; k++)
			free_subtree(c, pa + k * granule(c->t), level);
	}
	if (c->left)
		gather_free_left(c);
}

/* Whether a table is a neighbour of those that a word has, and joins them. */
static inline bool table_joins(const struct pgt *t, uint64_t *word, uint64_t pa, int level)
{
	uint64_t first = *word & TABLE_PA, more = *word >> TABLE_MORE;

	if ((*word & TABLE_LEVEL) != (uint64_t)(level + 1) || more == UINT64_MAX >> TABLE_MORE)
		return false;
	if (pa == first + (more + 1) * granule(t))
		*word += UINT64_C(1) << TABLE_MORE;
	else if (first >= granule(t) && pa == first - granule(t))
		*word += (UINT64_C(1) << TABLE_MORE) - granule(t);
	else
		return false;
	return true;
}

/* A table that the gather has no word for stays broken in its place until then. */
static void gather_leave(struct call *c, struct pgt_entry *e, uint64_t raw, uint64_t first, uint64_t last)
{
	entry_store(e, arch_break(raw));
	gather_wrote(c, e, 1);
	if (!c->left || first < c->left_first)
		c->left_first = first;
	if (!c->left || last > c->left_last)
		c->left_last = last;
	c->left = true;
}

/* Unlinks the table below the entry e, raw, which spans [first, last], with all
 * below it. It is freed once TLBs have forgotten it. */
static void gather_table(struct call *c, struct pgt_entry *e, uint64_t raw, int level, uint64_t first,
			 uint64_t last, bool global)
{
	uint64_t pa = arch_next(c->t, raw);
	struct gather *g = c->g;
	bool joins;

	gather_walk(c, first, last, global);
	joins = g->tables && table_joins(c->t, &g->table[g->tables - 1], pa, level + 1);
	if (c->live && !joins && g->tables == GATHER_TABLES) {
		gather_leave(c, e, raw, first, last);
		return;
	}
	entry_store(e, 0);
	gather_wrote(c, e, 1);
	if (!c->live)
		free_subtree(c, pa, level + 1);
	else if (!joins)
		g->table[g->tables++] = pa | (uint64_t)(level + 2);
}

/* Before anything is made in [first, last]: what was there is forgotten. */
static inline void gather_settle(struct call *c, uint64_t first, uint64_t last)
{
	const struct gather *g = c->g;

	for (unsigned i = 0; i < g->ranges; i++)
		if (g->range[i].first <= last && g->range[i].last >= first) {
			gather_drain(c);
			return;
		}
}

/* Whether two ranges overlap or touch. */
static inline bool pending_touch(const struct pending *a, const struct pending *b)
{
	const struct pending *low = a->first < b->first ? a : b;
	const struct pending *high = low == a ? b : a;

	return high->first <= low->last || high->first - low->last == 1;
}

/* The call is over: its range stands beside those of the calls before it. */
static void gather_close(struct call *c)
{
	struct gather *g = c->g;

	if (!g->open)
		return;
	for (unsigned i = 0; i < g->ranges; i++)
		if (pending_touch(&g->range[i], &g->call)) {
			pending_join(&g->range[i], &g->call);
			g->open = false;
			return;
		}
	if (g->ranges == GATHER_RANGES) {
		gather_drain(c);
		return;
	}
	g->range[g->ranges++] = g->call;
	g->open = false;
}

/* Makes what was written and needs no invalidation visible. */
static inline void gather_publish(struct call *c)
{
	if (c->g->wrote && c->t->tlb.publish)
		c->t->tlb.publish(c->t->tlb.ctx);
	c->g->wrote = false;
}

static void gather_end(struct call *c)
{
	gather_drain(c);
	gather_publish(c);
}

/* At the end of every changing call. */
static int call_finish(struct call *c, int status)
{
	pgt_tables_return(c);
	if (c->left)
		gather_drain(c);
	if (c->asked)
		gather_close(c);
	else
		gather_end(c);
	return status == PGT_OK && c->corrupt ? PGT_ECORRUPT : status;
}

#endif
