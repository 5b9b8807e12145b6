/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "seam.h"
#include "../lib/entry.h"

struct seam_counts seam_counts;

static uint64_t count_load(const struct pgt_entry *e)
{
	seam_counts.loads++;
	return memory_load(e);
}

static void count_store(struct pgt_entry *e, uint64_t raw)
{
	seam_counts.stores++;
	memory_store(e, raw);
}

static uint64_t count_exchange(struct pgt_entry *e, uint64_t raw)
{
	seam_counts.exchanges++;
	return memory_exchange(e, raw);
}

static bool count_swap(struct pgt_entry *e, uint64_t *expected, uint64_t raw)
{
	seam_counts.swaps++;
	return memory_compare_swap(e, expected, raw);
}

static const struct pgt_seam counting = { count_load, count_store, count_exchange, count_swap };

const struct pgt_seam *pgt_seam = &counting;
