/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The load: reads and some writes, a few pages used often and most of them
 * seldom (Zipf's law: the n-th is used as often as 1 / n^s).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

struct load {
	uint64_t random;  /* xorshift */
	uint64_t pages;
	double *below;    /* by rank: the share of accesses that go to this rank or one before it */
	uint32_t *page;   /* by rank; the pages of one neighbourhood are not used alike */
};

static uint64_t next(struct load *l)
{
	l->random ^= l->random << 13;
	l->random ^= l->random >> 7;
	l->random ^= l->random << 17;
	return l->random;
}

/* 0 to 1, without 1. */
static double share(struct load *l)
{
	return (double)(next(l) >> 11) * 0x1p-53;
}

static void load_make(struct load *l, const struct swap_options *o)
{
	double sum = 0;

	l->random = o->seed * 2 + 1;
	l->pages = o->pages;
	l->below = calloc((size_t)o->pages, sizeof(*l->below));
	l->page = calloc((size_t)o->pages, sizeof(*l->page));
	if (!l->below || !l->page) {
		fprintf(stderr, "no memory for the load\n");
		exit(1);
	}
	for (uint64_t i = 0; i < o->pages; i++) {
		l->below[i] = sum += pow((double)(i + 1), -o->zipf);
		l->page[i] = (uint32_t)i;
	}
	for (uint64_t i = 0; i < o->pages; i++)
		l->below[i] /= sum;
	for (uint64_t i = o->pages - 1; i > 0; i--) {
		const uint64_t j = next(l) % (i + 1);
		const uint32_t page = l->page[i];

		l->page[i] = l->page[j];
		l->page[j] = page;
	}
}

static uint64_t pick(struct load *l)
{
	const double x = share(l);
	uint64_t low = 0, high = l->pages - 1;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (l->below[middle] > x)
			high = middle;
		else
			low = middle + 1;
	}
	return l->page[low];
}

void swap_run(const struct swap_options *options, struct swap_result *result)
{
	struct machine machine, *m = &machine;
	struct load load;

	machine_make(m, options);
	load_make(&load, options);
	for (uint64_t i = 0; i < options->accesses; i++) {
		const uint64_t page = pick(&load);
		const unsigned word = (unsigned)(next(&load) % PAGE_WORDS);

		if (share(&load) < options->writes) {
			const uint64_t value = next(&load);

			machine_write(m, page, word, value);
			m->right[page].word[word] = value;
		} else if (machine_read(m, page, word) != m->right[page].word[word]) {
			m->result.wrong++;
		}
	}
	*result = m->result;
	free(load.below);
	free(load.page);
	machine_free(m);
}
