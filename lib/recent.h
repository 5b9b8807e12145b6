/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables that a walk has been in lately.  Where many entries lead to one table
 * (a shadow of zeroes, tables that lead to themselves, garbage), it is gone into
 * once: else a few tables would be read as often as there are pages in the
 * address space.
 */
#ifndef PGT_RECENT_H
#define PGT_RECENT_H

#include "pgt.h"

#define RECENT_SLOTS 16

struct recent {
	uint64_t pa[PGT_LEVELS][RECENT_SLOTS];    /* by level + 1; the address and one */
	uint64_t begin[PGT_LEVELS][RECENT_SLOTS]; /* the first byte that it was found to span */
	uint64_t found;                           /* that of the table last asked for */
};

/* Whether the table at pa was found elsewhere before; else it is remembered. */
static inline bool recent_seen(struct recent *r, const struct pgt *t, int level, uint64_t pa, uint64_t begin)
{
	unsigned slot = (unsigned)(pa >> t->granule_bits) % RECENT_SLOTS;
	bool known = r->pa[level + 1][slot] == pa + 1;

	if (!known) {
		r->pa[level + 1][slot] = pa + 1;
		r->begin[level + 1][slot] = begin;
	}
	r->found = r->begin[level + 1][slot];
	return known && r->found != begin;
}

#endif
