/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making leaves: how a stretch and the tables above it are filled.  A table is
 * filled, written, published and only then linked, so that walkers and readers
 * never meet one that is half full.
 */
#ifndef PGT_BUILD_H
#define PGT_BUILD_H

#include "leaves.h"

/* n leaves of addresses from pa on. */
PGT_INLINE void fill_leaves(const struct build *b, struct pgt_entry *e, int level, unsigned n, uint64_t pa, bool run)
{
	const struct pgt *t = b->c->t;
	unsigned shift = level_shift(t, level), k;

	do {
		uint64_t more = (arch_stride_last(t, pa) - pa) >> shift;

		k = n - 1 <= more ? n : (unsigned)more + 1;
		entry_fill(e, k, arch_place(t, b->leaf, level, pa, run), arch_step(t, level));
		e += k;
		n -= k;
		pa += (uint64_t)k << shift;
	} while (n);
}

/* n leaves, or tokens, of addresses from at on. */
PGT_INLINE void fill_entries(const struct build *b, struct pgt_entry *e, int level, unsigned n, uint64_t at, bool run)
{
	uint64_t steps = (at - b->first) >> b->c->t->granule_bits;

	if (b->token)
		entry_fill(e, n, b->leaf + steps * b->token_step, b->token_step);
	else
		fill_leaves(b, e, level, n, build_pa(b, at), run);
}

/* Fills n entries of the table in hand, with the hint where a whole run is. */
static inline void build_fill(struct build *b, const struct pgt_walk *w, unsigned n)
{
	const struct pgt *t = b->c->t;
	unsigned run = 1u << t->run_bits[w->level + 1], head, whole;
	uint64_t run_mask = (UINT64_C(1) << run_shift(t, w->level)) - 1;
	uint64_t misfit = build_pa(b, w->next) ^ w->next;
	struct pgt_entry *e = walk_entry(w);
	unsigned shift = level_shift(t, w->level);

	head = whole = 0;
	if (run > 1 && (t->features & PGT_FEAT_CONTIG) && !b->token &&
	    arch_valid(b->leaf) && run_shift(t, w->level) <= b->max_shift &&
	    (misfit & run_mask) == 0) {
		head = (0u - walk_index(w)) & (run - 1);
		if (head < n)
			whole = (n - head) & ~(run - 1);
		else
			head = 0;
	}
	if (head)
		fill_entries(b, e, w->level, head, w->next, false);
	if (whole)
		fill_entries(b, e + head, w->level, whole, w->next + ((uint64_t)head << shift), true);
	head += whole;
	if (head < n)
		fill_entries(b, e + head, w->level, n - head, w->next + ((uint64_t)head << shift), false);
	if (b->reach[w->level + 1] == REACH_LINKED)
		gather_wrote(b->c, e, n);
	tally(b->c)->changed += n;
}

static inline void table_written(struct call *c, void *table)
{
	if (c->t->memory.written)
		c->t->memory.written(c->t->memory.ctx, table, granule(c->t));
}

static inline void call_publish(struct call *c)
{
	if (c->t->tlb.publish)
		c->t->tlb.publish(c->t->tlb.ctx);
}

/* Down into a table that is there; false where its memory is unknown. */
static inline bool build_down(struct build *b, struct pgt_walk *w, uint64_t raw)
{
	bool linked = b->reach[w->level + 1] == REACH_LINKED;

	if (!walk_enter(w, raw))
		return false;
	b->reach[w->level + 1] = linked ? REACH_LINKED : REACH_INNER;
	return true;
}

static inline void build_enter(struct build *b, struct pgt_walk *w, struct pgt_entry *table, uint64_t pa)
{
	walk_down(w, table, 0);
	b->reach[w->level + 1] = REACH_NEW;
	b->table_pa[w->level + 1] = pa;
}

/*
 * Several writers may need a table here at once: it is linked empty, and who
 * comes second uses the first's (PGT_FEAT_PARALLEL).
 */
static inline bool build_share(struct build *b, struct pgt_walk *w, struct pgt_entry *table, uint64_t pa)
{
	const struct pgt *t = b->c->t;
	struct pgt_entry *e = walk_entry(w);
	uint64_t is = 0, raw = arch_table(t, pa);

	table_written(b->c, table);
	call_publish(b->c);
	if (entry_compare_swap(e, &is, raw)) {
		gather_wrote(b->c, e, 1);
		return build_down(b, w, raw);
	}
	pgt_table_push(b->c, table, pa);
	return arch_kind(t, is, w->level) == KIND_TABLE && build_down(b, w, is);
}

/* Down into a table of those taken, to be linked when the walk leaves it; false
 * where none is left. */
static inline bool build_down_new(struct build *b, struct pgt_walk *w)
{
	bool shared = (b->c->t->features & PGT_FEAT_PARALLEL) && b->reach[w->level + 1] == REACH_LINKED;
	uint64_t pa;
	struct pgt_entry *table = pgt_table_pop(b->c, &pa);

	if (!table)
		return false;
	if (shared && !entry_load(walk_entry(w)))
		return build_share(b, w, table, pa);
	build_enter(b, w, table, pa);
	return true;
}

/* The tables are not as they were counted: this entry stays as it is. */
static inline void build_give_up(struct build *b, struct pgt_walk *w)
{
	b->c->corrupt = true;
	walk_past(w, 1);
}

/* After walk_up: the table just left is complete. */
static inline void build_left(struct build *b, struct pgt_walk *w)
{
	const struct pgt *t = b->c->t;
	int child = w->level + 1;
	struct pgt_entry *e = walk_left(w);

	if (b->reach[child + 1] == REACH_LINKED)
		return;
	table_written(b->c, w->table[child + 1]);
	if (b->reach[child + 1] == REACH_INNER)
		return;
	if (b->reach[w->level + 1] == REACH_LINKED)
		call_publish(b->c);
	entry_store(e, arch_table(t, b->table_pa[child + 1]));
	if (b->reach[w->level + 1] == REACH_LINKED)
		gather_wrote(b->c, e, 1);
}

/* Up from the tables that are used up. */
static inline void build_up(struct build *b, struct pgt_walk *w)
{
	while (walk_used(w) && walk_up(w))
		build_left(b, w);
}

/* Goes on at a later address; nothing is made in between. */
static inline void build_seek(struct build *b, struct pgt_walk *w, uint64_t at)
{
	w->next = at;
	build_up(b, w);
}

/* Makes leaves up to an address, in a range that has no leaves and, where a
 * leaf can stand, no tables. */
static inline void build_to(struct build *b, struct pgt_walk *w, uint64_t stop)
{
	const struct pgt *t = b->c->t;

	b->last = stop;
	for (build_up(b, w); !w->done && w->next <= stop; build_up(b, w)) {
		unsigned n = build_leaves_here(b, w);
		uint64_t raw;

		if (n) {
			build_fill(b, w, n);
			walk_past(w, n);
			continue;
		}
		raw = entry_load(walk_entry(w));
		if (w->level == PGT_LAST_LEVEL || (arch_kind(t, raw, w->level) == KIND_TABLE ?
						   !build_down(b, w, raw) : !build_down_new(b, w)))
			build_give_up(b, w);
	}
}

/* Links what is still to be linked. */
static inline void build_finish(struct build *b, struct pgt_walk *w)
{
	while (walk_up(w))
		build_left(b, w);
}

/* Builds all of the range below the walk's top, a table that nobody else sees. */
static inline void build_fresh(struct build *b, struct pgt_walk *w)
{
	b->reach[w->top + 1] = REACH_INNER;
	build_to(b, w, w->last);
	build_finish(b, w);
}

#endif
