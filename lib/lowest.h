/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lowest of many numbers, in a fixed room: so that all can be gone through
 * in order, a batch in each pass, however far apart they are.
 */
#ifndef PGT_LOWEST_H
#define PGT_LOWEST_H

#include "pgt.h"

#define LOWEST_ROOM 128

/* While numbers are offered a heap, the largest first; then in order. */
struct lowest {
	uint64_t at[LOWEST_ROOM];
	uint64_t last; /* offered, and one: neighbours are often the same */
	unsigned n;
};

static inline void lowest_sink(struct lowest *l, unsigned n, unsigned i)
{
	for (;;) {
		unsigned child = 2 * i + 1;
		uint64_t at = l->at[i];

		if (child + 1 < n && l->at[child + 1] > l->at[child])
			child++;
		if (child >= n || l->at[child] <= at)
			return;
		l->at[i] = l->at[child];
		l->at[child] = at;
		i = child;
	}
}

static inline void lowest_heap(struct lowest *l)
{
	for (unsigned i = l->n / 2; i-- > 0;)
		lowest_sink(l, l->n, i);
}

static inline void lowest_offer(struct lowest *l, uint64_t at)
{
	if (l->last == at + 1)
		return;
	l->last = at + 1;
	if (l->n < LOWEST_ROOM) {
		l->at[l->n++] = at;
		if (l->n == LOWEST_ROOM)
			lowest_heap(l);
	} else if (at < l->at[0]) {
		l->at[0] = at;
		lowest_sink(l, l->n, 0);
	}
}

/* In order, each once. */
static inline void lowest_sort(struct lowest *l)
{
	unsigned n = 0;

	lowest_heap(l);
	for (unsigned end = l->n; end-- > 1;) {
		uint64_t largest = l->at[0];

		l->at[0] = l->at[end];
		l->at[end] = largest;
		lowest_sink(l, end, 0);
	}
	for (unsigned i = 0; i < l->n; i++)
		if (!n || l->at[n - 1] != l->at[i])
			l->at[n++] = l->at[i];
	l->n = n;
}

/* Where a number is in the order; l->n: it isn't. */
static inline unsigned lowest_find(const struct lowest *l, uint64_t at)
{
	unsigned low = 0, high = l->n;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (l->at[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < l->n && l->at[low] == at ? low : l->n;
}

#endif
