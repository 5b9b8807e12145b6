/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_stat: what a range touches, counted.  What lies below a table that was
 * counted lately is not counted again, but added: tables that lead to one table
 * with every entry take no longer than others.
 */
#ifndef PGT_STAT_H
#define PGT_STAT_H

#include "walk.h"

#define STAT_KNOWN 2 /* tables a level */

struct stat_known {
	uint64_t pa;          /* and one */
	struct pgt_stat sum;
};

/* Everything by level + 1 of the table. */
struct stat_walk {
	struct pgt_walk w;
	uint64_t first;                     /* of the range */
	struct pgt_stat sum;
	struct pgt_stat before[PGT_LEVELS]; /* as the table was entered */
	bool whole[PGT_LEVELS];             /* the range covers it */
	struct stat_known known[PGT_LEVELS][STAT_KNOWN];
	uint8_t turn[PGT_LEVELS];           /* which of them is forgotten next */
};

/* Adds a less b, where there is b, to sum. */
static void stat_add(struct pgt_stat *sum, const struct pgt_stat *a, const struct pgt_stat *b)
{
	const struct pgt_stat none = { .tokens = 0 };

	b = b ? b : &none;
	for (unsigned i = 0; i < PGT_LEVELS; i++) {
		sum->tables[i] += a->tables[i] - b->tables[i];
		sum->leaves[i] += a->leaves[i] - b->leaves[i];
		sum->runs[i] += a->runs[i] - b->runs[i];
	}
	sum->tokens += a->tokens - b->tokens;
	sum->mapped_bytes += a->mapped_bytes - b->mapped_bytes;
	sum->table_bytes += a->table_bytes - b->table_bytes;
}

/* Remembers what the table that is about to be left holds, itself included. */
static void stat_leave(struct stat_walk *s)
{
	int i = s->w.level + 1;
	struct stat_known *known = &s->known[i][s->turn[i]];

	if (s->w.level == s->w.top || !s->whole[i])
		return;
	known->pa = arch_next(s->w.t, s->w.raw[i]) + 1;
	known->sum = (struct pgt_stat){ .tokens = 0 };
	stat_add(&known->sum, &s->sum, &s->before[i]);
	s->turn[i] = (uint8_t)((s->turn[i] + 1) % STAT_KNOWN);
}

/* As walk_on(), and remembers the tables that it leaves. */
static bool stat_on(struct stat_walk *s)
{
	while (walk_used(&s->w)) {
		stat_leave(s);
		if (!walk_up(&s->w))
			return false;
	}
	return true;
}

/* Into the table that raw leads to, or past it if what it holds is known; false: there is no such memory. */
static bool stat_table(struct stat_walk *s, uint64_t raw)
{
	const struct pgt *t = s->w.t;
	int i = s->w.level + 2;
	bool whole = walk_covers(&s->w);

	for (unsigned k = 0; whole && k < STAT_KNOWN; k++)
		if (s->known[i][k].pa == arch_next(t, raw) + 1) {
			stat_add(&s->sum, &s->known[i][k].sum, NULL);
			walk_past(&s->w, 1);
			return true;
		}
	if (!walk_enter(&s->w, raw))
		return false;
	s->before[i] = s->sum;
	s->whole[i] = whole;
	s->sum.tables[i]++;
	s->sum.table_bytes += granule(t);
	return true;
}

static void stat_leaf(struct stat_walk *s, uint64_t raw)
{
	const struct pgt_walk *w = &s->w;
	const struct pgt *t = w->t;
	uint64_t end = w->next | level_mask(t, w->level), run = (UINT64_C(1) << run_shift(t, w->level)) - 1;

	s->sum.leaves[w->level + 1]++;
	if (arch_run(raw) && t->run_bits[w->level + 1] && (w->next == s->first || !(w->next & run)))
		s->sum.runs[w->level + 1]++;
	s->sum.mapped_bytes += (end < w->last ? end : w->last) - w->next + 1;
}

static int stat_range(const struct pgt *t, uint64_t first, uint64_t last, struct pgt_stat *stat)
{
	struct stat_walk s = { .first = first, .sum.table_bytes = t->root_bytes };
	struct pgt_walk *w = &s.w;
	int status = PGT_OK;

	s.sum.tables[t->start_level + 1] = 1;
	walk_start(w, t, first, last);
	while (status == PGT_OK && stat_on(&s)) {
		unsigned n = walk_empty(w);
		uint64_t raw;

		if (n) {
			walk_past(w, n);
			continue;
		}
		raw = entry_load(walk_entry(w));
		switch (arch_kind(t, raw, w->level)) {
		case KIND_TABLE:
			if (!stat_table(&s, raw))
				status = PGT_ECORRUPT;
			continue;
		case KIND_LEAF:
			stat_leaf(&s, raw);
			break;
		case KIND_TOKEN:
			s.sum.tokens++;
			break;
		case KIND_CORRUPT:
			status = PGT_ECORRUPT;
			break;
		default:
			break;
		}
		walk_past(w, 1);
	}
	*stat = s.sum;
	return status;
}

#endif
