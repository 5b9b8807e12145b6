/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgt_stat: what a range touches, counted. */
#ifndef PGT_STAT_H
#define PGT_STAT_H

#include "walk.h"

static int stat_range(const struct pgt *t, uint64_t first, uint64_t last, struct pgt_stat *stat)
{
	struct pgt_walk w;

	*stat = (struct pgt_stat){ .table_bytes = t->root_bytes };
	stat->tables[t->start_level + 1] = 1;
	walk_start(&w, t, first, last);
	while (walk_on(&w)) {
		unsigned n = walk_empty(&w);
		uint64_t raw, end;

		if (n) {
			walk_past(&w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		end = w.next | level_mask(t, w.level);
		switch (arch_kind(t, raw, w.level)) {
		case KIND_TABLE:
			if (!walk_enter(&w, raw))
				return PGT_ECORRUPT;
			stat->tables[w.level + 1]++;
			stat->table_bytes += granule(t);
			continue;
		case KIND_LEAF:
			stat->leaves[w.level + 1]++;
			if (arch_run(raw) && t->run_bits[w.level + 1] &&
			    (w.next == first || !(w.next & ((UINT64_C(1) << run_shift(t, w.level)) - 1))))
				stat->runs[w.level + 1]++;
			stat->mapped_bytes += (end < last ? end : last) - w.next + 1;
			break;
		case KIND_TOKEN:
			stat->tokens++;
			break;
		case KIND_CORRUPT:
			return PGT_ECORRUPT;
		default:
			break;
		}
		walk_past(&w, 1);
	}
	return PGT_OK;
}

#endif
