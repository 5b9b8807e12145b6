/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt-bench: the arm64 format with the generic hooks ('before') against the
 * arm64 backend ('after'), in one process and side by side.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const struct seed {
	const char *name, *subject;
	void (*run)(struct bench *b);
} seeds[] = {
	{ "seed-a", "batched protect", seed_a },
	{ "seed-b", "one entry is the common case", seed_b },
	{ "seed-c", "moving by relinking", seed_c },
	{ "seed-d", "atomic block change", seed_d },
	{ "seed-e", "dirty-aware mkwrite", seed_e },
};

#define SEEDS (sizeof(seeds) / sizeof(seeds[0]))

static struct bench bench = { .reps = 15, .invalidate_ns = 1000, .write_ns = 10000 };

static void usage(FILE *out)
{
	fprintf(out,
		"usage: pgt-bench [OPTION]... [NAME]...\n"
		"Measures the arm64 format with the generic hooks (before) against the arm64\n"
		"backend (after). NAME, all if none is given:\n");
	for (unsigned i = 0; i < SEEDS; i++)
		fprintf(out, "  %-20s %s\n", seeds[i].name, seeds[i].subject);
	fprintf(out,
		"Options:\n"
		"  --quick              less of everything: under ten seconds\n"
		"  --tsv                a line a figure: name, before, after, ratio, unit\n"
		"  --plot FILE          a chart of the times, as SVG\n"
		"  --reps N             repetitions, 15 or more (15)\n"
		"  --invalidate-ns N    seed-d: the modelled cost of one invalidation (1000)\n"
		"  --write-ns N         seed-e: the modelled cost of one page written (10000)\n"
		"  --check              exit with 1 where a floor is not reached\n"
		"  --help\n");
}

static uint64_t number(const char *name, const char *text, uint64_t least, uint64_t most)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value < least || value > most) {
		fprintf(stderr, "pgt-bench: --%s takes a number from %llu to %llu, not '%s'\n", name,
			(unsigned long long)least, (unsigned long long)most, text);
		exit(2);
	}
	return value;
}

static void options(struct bench *b, int argc, char **argv)
{
	static const struct option known[] = {
		{ "quick", no_argument, NULL, 'q' },
		{ "tsv", no_argument, NULL, 't' },
		{ "plot", required_argument, NULL, 'p' },
		{ "reps", required_argument, NULL, 'r' },
		{ "invalidate-ns", required_argument, NULL, 'i' },
		{ "write-ns", required_argument, NULL, 'w' },
		{ "check", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c, index = 0;

	while ((c = getopt_long(argc, argv, "h", known, &index)) != -1)
		switch (c) {
		case 'q': b->quick = true; break;
		case 't': b->tsv = true; break;
		case 'p': b->plot = optarg; break;
		case 'r': b->reps = (unsigned)number("reps", optarg, 15, 10000); break;
		case 'i': b->invalidate_ns = number("invalidate-ns", optarg, 0, 1000000000); break;
		case 'w': b->write_ns = number("write-ns", optarg, 0, 1000000000); break;
		case 'c': b->check = true; break;
		case 'h': usage(stdout); exit(0);
		default: usage(stderr); exit(2);
		}
}

static const struct seed *find(const char *name)
{
	for (unsigned i = 0; i < SEEDS; i++)
		if (strcmp(seeds[i].name, name) == 0)
			return &seeds[i];
	return NULL;
}

/* Before anything is measured. */
static void check_names(int argc, char **argv)
{
	for (int i = optind; i < argc; i++)
		if (!find(argv[i])) {
			fprintf(stderr, "pgt-bench: there is no '%s'\n", argv[i]);
			usage(stderr);
			exit(2);
		}
}

int main(int argc, char **argv)
{
	struct bench *b = &bench;

	options(b, argc, argv);
	check_names(argc, argv);
	if (!b->tsv)
		printf("libpgtable %s: before is the arm64 format with the generic hooks, after the arm64"
		       " backend.\nMedian of %u repetitions. ratio: before/after. plain: a loop written"
		       " by hand (load, exchange,\nstore; moves: load, store, store). loop: the least"
		       " that is safe. Counts are before : after.\n",
		       pgt_version(), b->reps);
	for (unsigned i = 0; i < SEEDS && optind == argc; i++)
		seeds[i].run(b);
	for (int i = optind; i < argc; i++)
		find(argv[i])->run(b);
	report_end(b);
	if (b->plot && !plot_write(b)) {
		fprintf(stderr, "pgt-bench: %s: %s\n", b->plot, strerror(errno));
		return 1;
	}
	return b->check && b->missed;
}
