/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgt_trim: frees the empty tables of a range. */
#ifndef PGT_TRIM_H
#define PGT_TRIM_H

#include "remove.h"

/* Frees the empty tables that [c->first, c->last] touches. */
static void trim_range(struct call *c)
{
	struct pgt *t = c->t;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	for (;;) {
		uint64_t raw;

		while (walk_used(&w)) {
			struct pgt_entry *e;
			uint64_t begin;

			if (!walk_up(&w))
				return;
			e = walk_left(&w);
			begin = walk_left_begin(&w);
			if (table_is_empty(c, w.table[w.level + 2], w.level + 1, begin))
				gather_table(c, e, entry_load(e), w.level, begin,
					     begin | level_mask(t, w.level), false);
		}
		raw = entry_load(walk_entry(&w));
		tally(c)->reads++;
		if (arch_kind(t, raw, w.level) != KIND_TABLE || !walk_enter(&w, raw))
			walk_past(&w, 1);
	}
}

static int trim(struct call *c)
{
	call_start(c);
	trim_range(c);
	return call_finish(c, PGT_OK);
}

#endif
