/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What pgt_map is to do with each entry that its range touches.  All its passes
 * ask here, so that they agree.
 */
#ifndef PGT_PLAN_H
#define PGT_PLAN_H

#include "build.h"
#include "cut.h"

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

enum below {
	BELOW_EMPTY,
	BELOW_COMPLIES, /* nothing but what the call asks for */
	BELOW_DIFFERS,  /* nothing of it */
	BELOW_MIXED,
	BELOW_CORRUPT,
};

/* What the table entry raw, which the walk stands before, has below it. */
static enum below map_below(struct map *m, const struct pgt_walk *at, uint64_t raw)
{
	struct call *c = m->c;
	bool complies = false, leaf = false, hole = false;
	struct pgt_walk w = *at;

	/* No further than this entry. */
	w.top = w.level + 1;
	w.last = at->next | level_mask(c->t, at->level);
	if (!walk_enter(&w, raw))
		return BELOW_CORRUPT;
	while (walk_on(&w)) {
		unsigned n = walk_empty(&w);

		tally(c)->reads += n + 1;
		if (n) {
			hole = true;
			walk_past(&w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		switch (arch_kind(c->t, raw, w.level)) {
		case KIND_TABLE:
			if (!walk_enter(&w, raw))
				return BELOW_CORRUPT;
			continue;
		case KIND_CORRUPT:
			return BELOW_CORRUPT;
		case KIND_LEAF:
			tally(c)->leaves++;
			if (map_complies(m, &w, raw))
				complies = true;
			else
				leaf = true;
			break;
		default:
			leaf = true;
		}
		if (complies && (leaf || hole))
			return BELOW_MIXED;
		walk_past(&w, 1);
	}
	if (complies)
		return hole ? BELOW_MIXED : BELOW_COMPLIES;
	return leaf ? BELOW_DIFFERS : BELOW_EMPTY;
}

/* What to do with the entry that the walk stands before. */
enum plan {
	PLAN_SKIP,    /* it is what the call asks for */
	PLAN_BUILD,   /* build here, as if it were empty */
	PLAN_DOWN,    /* go on in its table */
	PLAN_CORRUPT,
};

/* A block takes the place of a table that is empty, or of which REPLACE keeps nothing. */
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
	case BELOW_MIXED: /* what complies stays, so the table does */
		return PLAN_DOWN;
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

#endif
