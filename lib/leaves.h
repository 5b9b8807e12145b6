/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which leaves are to be made: the largest that address, PA, length, the
 * embedder's units of memory and the call's bound allow; and how many tables
 * they need.
 */
#ifndef PGT_LEAVES_H
#define PGT_LEAVES_H

#include "gather.h"
#include "walk.h"

/* How the table in hand is reached. */
enum reach {
	REACH_LINKED, /* from the root */
	REACH_NEW,    /* it is to be linked when it is left */
	REACH_INNER,  /* from a table that is not linked itself */
};

struct build {
	struct call *c;
	uint64_t leaf;            /* a leaf to be placed, not broken; or a token, the same everywhere */
	bool token;
	uint64_t token_step;      /* between tokens of neighbouring pages */
	uint64_t first, last, pa; /* offsets, and the PA of the first */
	unsigned max_shift;       /* no leaf or run is larger */
	bool units;               /* leaves stay within the embedder's units of memory ... */
	uint64_t piece_first;     /* ... of which [piece_first, piece_last] is one */
	uint64_t piece_last;
	uint8_t reach[PGT_LEVELS];
	uint64_t table_pa[PGT_LEVELS];
};

PGT_INLINE uint64_t build_pa(const struct build *b, uint64_t at)
{
	return b->pa + (at - b->first);
}

/* The last offset that can share a leaf with this one. */
PGT_INLINE uint64_t build_piece_last(struct build *b, uint64_t at)
{
	const struct pgt *t = b->c->t;
	uint64_t left, bytes;

	if (!b->units)
		return b->last;
	if (at >= b->piece_first && at <= b->piece_last)
		return b->piece_last;
	left = b->last - at + 1;
	bytes = t->pages.unit(t->pages.ctx, build_pa(b, at), left) & ~(granule(t) - 1);
	if (bytes == 0)
		bytes = granule(t);
	b->piece_first = at;
	b->piece_last = at + (bytes < left ? bytes : left) - 1;
	return b->piece_last;
}

/* How many leaves of the table in hand can be made from the walk's next byte on. */
PGT_INLINE unsigned build_leaves_here(struct build *b, const struct pgt_walk *w)
{
	const struct pgt *t = b->c->t;
	unsigned shift = level_shift(t, w->level);
	uint64_t mask = level_mask(t, w->level), stop, piece_last;
	uint64_t misfit = w->next | (b->token ? 0 : build_pa(b, w->next));

	if (!level_has_leaves(t, w->level) || shift > b->max_shift || (misfit & mask))
		return 0;
	piece_last = build_piece_last(b, w->next);
	stop = walk_stretch_last(w);
	if (stop > piece_last)
		stop = piece_last;
	stop -= w->next;
	return (unsigned)((stop >> shift) + ((stop & mask) == mask));
}

/* ---- How many tables are needed ---- */

struct need {
	uint64_t tables;
	/* The last entry of each level that was counted, plus one, so that
	 * two stretches that share an entry count its table once. */
	uint64_t counted[PGT_LEVELS];
	/* Count no table that is there already, but those wholly within
	 * [clear_first, clear_last], which go first. */
	bool spare;
	uint64_t clear_first, clear_last;
};

/* Whether the entry of this level for an address leads to a table that stays. */
static inline bool need_has_table(const struct need *need, const struct pgt *t, int level, uint64_t at)
{
	uint64_t begin = at & ~level_mask(t, level), end = at | level_mask(t, level), raw;
	struct pgt_walk w;

	if (begin >= need->clear_first && end <= need->clear_last)
		return false;
	walk_start(&w, t, at, at);
	for (;;) {
		raw = entry_load(walk_entry(&w));
		if (arch_kind(t, raw, w.level) != KIND_TABLE)
			return false;
		if (w.level == level)
			return true;
		if (!walk_enter(&w, raw))
			return false;
	}
}

static inline void need_entries(struct need *need, const struct pgt *t, int level, uint64_t first, uint64_t last)
{
	unsigned shift = level_shift(t, level);
	uint64_t low = first >> shift, high = last >> shift;
	uint64_t *counted = &need->counted[level + 1];

	if (*counted == low + 1)
		low++;
	*counted = high + 1;
	need->tables += high + 1 - low;
	for (; need->spare && low <= high; low++)
		need->tables -= need_has_table(need, t, level, low << shift);
}

/* The tables on the way to an entry of this level. */
static inline void need_path(struct need *need, const struct pgt *t, int level, uint64_t first, uint64_t last)
{
	for (int above = t->start_level; above < level; above++)
		need_entries(need, t, above, first, last);
}

/* The tables below entries of [first, last] that no leaf can cover whole. */
static inline void need_edges(struct need *need, const struct pgt *t, int level, uint64_t first, uint64_t last)
{
	for (; level < PGT_LAST_LEVEL; level++) {
		uint64_t mask = level_mask(t, level);

		if (first & mask)
			need_entries(need, t, level, first, first);
		if ((last & mask) != mask && ((first & mask) == 0 || (first | mask) < last))
			need_entries(need, t, level, last, last);
	}
}

/* The tables below empty entries of this level for the range, a piece at a time. */
static inline void need_range(struct need *need, struct build *b, int level, uint64_t first, uint64_t last)
{
	const struct pgt *t = b->c->t;

	for (;;) {
		uint64_t piece_last = build_piece_last(b, first);
		uint64_t misfit = b->token ? 0 : build_pa(b, first) ^ first;
		int top = level;

		if (piece_last > last)
			piece_last = last;
		while (top < PGT_LAST_LEVEL &&
		       (!level_has_leaves(t, top) || level_shift(t, top) > b->max_shift ||
			(misfit & level_mask(t, top)))) {
			need_entries(need, t, top, first, piece_last);
			top++;
		}
		need_edges(need, t, top, first, piece_last);
		if (piece_last == last)
			return;
		first = piece_last + 1;
	}
}

/* The same for n entries from the walk's next byte on. */
static inline void need_tables(struct need *need, struct build *b, const struct pgt_walk *w, unsigned n)
{
	uint64_t mask = level_mask(w->t, w->level);
	uint64_t last = (walk_begin(w) + ((uint64_t)(n - 1) << level_shift(w->t, w->level))) | mask;

	need_range(need, b, w->level, w->next, last < w->last ? last : w->last);
}

#endif
