/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Times, taken in turn so that what the machine does beside us meets all alike. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

#define WARM_UP 2

/* Of this thread alone: what else runs on the machine is not to be measured. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct spread spread_of(double *taken, unsigned n)
{
	qsort(taken, n, sizeof(*taken), compare);
	return (struct spread){
		.median = n % 2 ? taken[n / 2] : (taken[n / 2 - 1] + taken[n / 2]) / 2,
		.min = taken[0],
		.max = taken[n - 1],
	};
}

static double take(const struct subject *s)
{
	double start;

	if (s->prepare)
		s->prepare(s->ctx);
	start = now();
	s->run(s->ctx);
	return now() - start;
}

void measure(const struct bench *b, struct subject *subject, unsigned n, double per)
{
	double *taken = calloc((size_t)n * b->reps, sizeof(*taken));

	if (!taken) {
		fprintf(stderr, "no memory for %u repetitions\n", b->reps);
		exit(1);
	}
	for (unsigned rep = 0; rep < WARM_UP + b->reps; rep++)
		for (unsigned k = 0; k < n; k++) {
			const unsigned i = (rep + k) % n;
			const double ns = take(&subject[i]) / per;

			if (rep >= WARM_UP)
				taken[i * b->reps + rep - WARM_UP] = ns;
		}
	for (unsigned i = 0; i < n; i++)
		subject[i].ns = spread_of(taken + i * b->reps, b->reps);
	free(taken);
}

struct spread exactly(double value)
{
	return (struct spread){ value, value, value };
}
