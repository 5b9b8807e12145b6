/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include <pgtable/arm64.h>

#include "plain.h"

#define VALID UINT64_C(1)

static uint64_t changed(uint64_t raw, bool writable)
{
	const pgt_arm64_pte pte = { raw };

	return (writable ? pgt_arm64_pte_mkwrite(pte) : pgt_arm64_pte_wrprotect(pte)).value;
}

void plain_exchange(struct plain *p, bool writable)
{
	for (uint64_t i = 0; i < p->n; i++) {
		uint64_t raw = atomic_load_explicit(p->entry + i, memory_order_acquire);

		if (!(raw & VALID))
			continue;
		raw = atomic_exchange_explicit(p->entry + i, raw & ~VALID, memory_order_acq_rel);
		atomic_store_explicit(p->entry + i, changed(raw, writable), memory_order_release);
	}
}

void plain_cas(struct plain *p, bool writable)
{
	for (uint64_t i = 0; i < p->n; i++) {
		uint64_t raw = atomic_load_explicit(p->entry + i, memory_order_acquire);

		if (!(raw & VALID))
			continue;
		while (!atomic_compare_exchange_strong_explicit(p->entry + i, &raw,
								changed(raw, writable),
								memory_order_acq_rel,
								memory_order_acquire))
			;
	}
}

void plain_store(struct plain *p, bool writable)
{
	for (uint64_t i = 0; i < p->n; i++) {
		const uint64_t raw = atomic_load_explicit(p->entry + i, memory_order_acquire);

		if (raw & VALID)
			atomic_store_explicit(p->entry + i, changed(raw, writable), memory_order_release);
	}
}

void plain_move(struct plain *from, struct plain *to)
{
	for (uint64_t i = 0; i < from->n; i++) {
		const uint64_t raw = atomic_load_explicit(from->entry + i, memory_order_acquire);

		atomic_store_explicit(from->entry + i, 0, memory_order_release);
		atomic_store_explicit(to->entry + i, raw, memory_order_release);
	}
}

void plain_make(struct plain *p, uint64_t n)
{
	p->n = n;
	p->entry = calloc((size_t)n, sizeof(*p->entry));
	if (!p->entry) {
		fprintf(stderr, "no memory for %llu entries\n", (unsigned long long)n);
		exit(1);
	}
}

void plain_free(struct plain *p)
{
	free(p->entry);
}
