/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one iterator.  It carries an operation over a range in address order and
 * holds all of the range arithmetic: last bytes and differences only, so that
 * nothing wraps at the top.
 *
 * At any time it stands before a stretch: the entries of one table, from the
 * next byte on, that the range touches.  The operation looks at the stretch
 * and either goes past some of its entries or down into the table of the first
 * one.  When a table's stretch is used up, it goes up, and the operation may
 * look at what it has left.
 *
 *	walk_start(&w, t, first, last);
 *	while (walk_on(&w)) {
 *		... walk_entry(&w), walk_count(&w) ...
 *		walk_past(&w, n);  or  walk_enter(&w, raw);
 *	}
 *
 * An operation that must see each table it leaves replaces walk_on by walk_used
 * and walk_up.
 */
#ifndef PGT_WALK_H
#define PGT_WALK_H

#include "pgt.h"

/* From a table that is not the root: one being built, or part of a range. */
PGT_INLINE void walk_start_at(struct pgt_walk *w, const struct pgt *t, int level,
				 struct pgt_entry *table, uint64_t first, uint64_t last)
{
	w->t = t;
	w->next = first;
	w->last = last;
	w->done = false;
	w->level = w->top = (int8_t)level;
	w->begin[level + 1] = first & ~table_mask(t, level);
	w->table[level + 1] = table;
	w->raw[level + 1] = 0;
}

PGT_INLINE void walk_start(struct pgt_walk *w, const struct pgt *t, uint64_t first, uint64_t last)
{
	walk_start_at(w, t, t->start_level, t->root, first, last);
}

/* From where another walk stands, over a part of its range below the same entries. */
PGT_INLINE void walk_from(struct pgt_walk *w, const struct pgt_walk *at, uint64_t first, uint64_t last)
{
	*w = *at;
	w->next = first;
	w->last = last;
	w->done = false;
}

PGT_INLINE unsigned walk_index(const struct pgt_walk *w)
{
	return (unsigned)((w->next & table_mask(w->t, w->level)) >> level_shift(w->t, w->level));
}

/* The entry that covers the next byte. */
PGT_INLINE struct pgt_entry *walk_entry(const struct pgt_walk *w)
{
	return w->table[w->level + 1] + walk_index(w);
}

/* The last byte of the range in this table. */
PGT_INLINE uint64_t walk_stretch_last(const struct pgt_walk *w)
{
	uint64_t table_last = w->next | table_mask(w->t, w->level);

	return w->last < table_last ? w->last : table_last;
}

/* The entries of the stretch, of which the first and the last may be covered in part. */
PGT_INLINE unsigned walk_count(const struct pgt_walk *w)
{
	unsigned shift = level_shift(w->t, w->level);

	return (unsigned)((walk_stretch_last(w) >> shift) - (w->next >> shift)) + 1;
}

/* The first byte of the entry that covers the next byte. */
PGT_INLINE uint64_t walk_begin(const struct pgt_walk *w)
{
	return w->next & ~level_mask(w->t, w->level);
}

/* Whether the range covers that entry whole. */
PGT_INLINE bool walk_covers(const struct pgt_walk *w)
{
	uint64_t mask = level_mask(w->t, w->level);

	return (w->next & mask) == 0 && (w->next | mask) <= w->last;
}

/* How many entries from the next byte on the range covers whole. */
PGT_INLINE unsigned walk_covered(const struct pgt_walk *w)
{
	unsigned shift = level_shift(w->t, w->level);
	uint64_t bytes = walk_stretch_last(w) - w->next; /* less one */

	if (w->next & level_mask(w->t, w->level))
		return 0;
	return (unsigned)((bytes >> shift) +
			  ((bytes & level_mask(w->t, w->level)) == level_mask(w->t, w->level)));
}

/* Goes past n entries; the first may have been entered in the middle. */
PGT_INLINE void walk_past(struct pgt_walk *w, unsigned n)
{
	unsigned shift = level_shift(w->t, w->level);
	uint64_t passed = (((w->next >> shift) + (n - 1)) << shift) | level_mask(w->t, w->level);

	if (passed >= w->last)
		w->done = true;
	else
		w->next = passed + 1;
}

/* Into the table that the first entry of the stretch, raw, leads to. */
PGT_INLINE void walk_down(struct pgt_walk *w, struct pgt_entry *table, uint64_t raw)
{
	uint64_t begin = walk_begin(w);

	w->level++;
	w->begin[w->level + 1] = begin;
	w->table[w->level + 1] = table;
	w->raw[w->level + 1] = raw;
}

/* The same, by the table's address; false where the embedder knows no such memory. */
PGT_INLINE bool walk_enter(struct pgt_walk *w, uint64_t raw)
{
	struct pgt_entry *table = table_at(w->t, arch_next(w->t, raw), granule(w->t));

	if (table)
		walk_down(w, table, raw);
	return table != NULL;
}

/* Down to the last table that has the whole range, for all passes of a call to
 * start from; not below permission bits. How many entries were loaded. */
PGT_INLINE unsigned walk_narrow(struct pgt_walk *w)
{
	unsigned loads = 0;

	while (w->level < PGT_LAST_LEVEL && (w->next ^ w->last) <= level_mask(w->t, w->level) &&
	       !walk_covers(w)) {
		uint64_t raw = entry_load(walk_entry(w));

		loads++;
		if (arch_kind(w->t, raw, w->level) != KIND_TABLE || arch_inherit(w->t, raw) || !walk_enter(w, raw))
			break;
	}
	return loads;
}

/* How many entries of the stretch are empty before the first that is not. */
PGT_INLINE unsigned walk_empty(const struct pgt_walk *w)
{
	return entry_match(walk_entry(w), walk_count(w), ~UINT64_C(0), 0, 0);
}

/* Whether nothing is left of the table in hand. */
PGT_INLINE bool walk_used(const struct pgt_walk *w)
{
	return w->done ||
	       w->next - w->begin[w->level + 1] > table_mask(w->t, w->level);
}

/* Leaves a used-up table; false at the top. */
PGT_INLINE bool walk_up(struct pgt_walk *w)
{
	if (w->level == w->top)
		return false;
	w->level--;
	return true;
}

/* After walk_up: the first byte of the table just left. */
PGT_INLINE uint64_t walk_left_begin(const struct pgt_walk *w)
{
	return w->begin[w->level + 2];
}

/* After walk_up: the entry that leads to the table just left. */
PGT_INLINE struct pgt_entry *walk_left(const struct pgt_walk *w)
{
	uint64_t within = walk_left_begin(w) - w->begin[w->level + 1];

	return w->table[w->level + 1] + (within >> level_shift(w->t, w->level));
}

/* Goes up as far as needed; false at the end of the range. */
PGT_INLINE bool walk_on(struct pgt_walk *w)
{
	while (walk_used(w))
		if (!walk_up(w))
			return false;
	return true;
}

/* Whether every table entry on the way down still stands as it was read. A
 * reader beside a writer that finds it otherwise starts the address again. */
PGT_INLINE bool walk_intact(const struct pgt_walk *w)
{
	for (int level = w->top; level < w->level; level++) {
		uint64_t within = w->begin[level + 2] - w->begin[level + 1];
		const struct pgt_entry *e = w->table[level + 1] + (within >> level_shift(w->t, level));

		if (entry_load(e) != w->raw[level + 2])
			return false;
	}
	return true;
}

#endif
