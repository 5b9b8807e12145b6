/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many pages a machine that is short of memory writes to its swap device:
 * once where making a page writable makes it dirty, and once where a clean page
 * stays clean until it is written to.  The load is the same.
 *
 *	swap [--accesses N] [--pages N] [--frames N] [--writes PERCENT] ...
 *
 * This file reads the options and prints; load.c makes the accesses, machine.c
 * is the CPU, and pager.c the operating system.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"

/* The stated costs of the model, in nanoseconds. */
struct costs {
	uint64_t access, read, write;
};

static const char usage[] =
	"usage: swap [OPTION]...\n"
	"  --accesses N       memory accesses (1000000)\n"
	"  --pages N          the working set, in pages of 4 KiB (8192)\n"
	"  --frames N         memory, in pages (4096)\n"
	"  --writes PERCENT   the share of accesses that are writes (2)\n"
	"  --zipf S           how unevenly pages are used: the n-th as often as 1 / n^S (0.9)\n"
	"  --seed N           another load of the same kind (1)\n"
	"  --software         an MMU that sets neither access flag nor dirty state\n"
	"  --format NAME      the page tables' format (arm64)\n"
	"Costs of the model of throughput, in nanoseconds:\n"
	"  --access-ns N      one access, whatever the program does for it included (1000)\n"
	"  --read-ns N        one page read from the device (10000)\n"
	"  --write-ns N       one page written to the device (10000)\n";

static void fail(const char *what, const char *value)
{
	fprintf(stderr, "swap: %s: %s\n%s", what, value, usage);
	exit(2);
}

static uint64_t number(const char *name, const char *text, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value < least || value > most) {
		fprintf(stderr, "swap: --%s takes a number from %" PRIu64 " to %" PRIu64 ", not '%s'\n",
			name, least, most, text);
		exit(2);
	}
	return value;
}

static double real(const char *name, const char *text, double most)
{
	char *end;
	const double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= most)) {
		fprintf(stderr, "swap: --%s takes a number from 0 to %g, not '%s'\n", name, most, text);
		exit(2);
	}
	return value;
}

static void options_read(int argc, char **argv, struct swap_options *o, struct costs *costs)
{
	static const struct option known[] = {
		{ "accesses", required_argument, NULL, 'a' }, { "pages", required_argument, NULL, 'p' },
		{ "frames", required_argument, NULL, 'f' },   { "writes", required_argument, NULL, 'w' },
		{ "zipf", required_argument, NULL, 'z' },     { "seed", required_argument, NULL, 's' },
		{ "software", no_argument, NULL, 'S' },       { "format", required_argument, NULL, 'F' },
		{ "access-ns", required_argument, NULL, 'A' }, { "read-ns", required_argument, NULL, 'R' },
		{ "write-ns", required_argument, NULL, 'W' }, { "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c, index = 0;

	while ((c = getopt_long(argc, argv, "h", known, &index)) != -1) {
		const char *name = known[index].name;

		switch (c) {
		case 'a': o->accesses = number(name, optarg, 1, UINT64_C(1) << 40); break;
		case 'p': o->pages = number(name, optarg, 512, 1 << 24); break;
		case 'f': o->frames = number(name, optarg, 256, 1 << 24); break;
		case 'w': o->writes = real(name, optarg, 100) / 100; break;
		case 'z': o->zipf = real(name, optarg, 10); break;
		case 's': o->seed = number(name, optarg, 0, UINT64_MAX >> 1); break;
		case 'S': o->software = true; break;
		case 'F': o->format = optarg; break;
		case 'A': costs->access = number(name, optarg, 1, 1000000000); break;
		case 'R': costs->read = number(name, optarg, 0, 1000000000); break;
		case 'W': costs->write = number(name, optarg, 0, 1000000000); break;
		case 'h': fputs(usage, stdout); exit(0);
		default: fputs(usage, stderr); exit(2);
		}
	}
	if (optind < argc)
		fail("no such argument", argv[optind]);
}

static double per_second(const struct swap_options *o, const struct swap_result *r,
			 const struct costs *costs)
{
	const uint64_t ns = o->accesses * costs->access + r->swap_ins * costs->read +
			    r->written * costs->write;

	return (double)o->accesses * 1e9 / (double)ns;
}

static void row(const char *what, uint64_t before, uint64_t after)
{
	printf("%-36s %14" PRIu64 " %14" PRIu64 "\n", what, before, after);
}

int main(int argc, char **argv)
{
	struct swap_options o = {
		.pages = 8192, .frames = 4096, .accesses = 1000000, .seed = 1, .zipf = 0.9, .writes = 0.02,
	};
	struct costs costs = { 1000, 10000, 10000 };
	struct swap_result before, after;
	double slow, fast;

	options_read(argc, argv, &o, &costs);
	printf("%" PRIu64 " MiB of memory for %" PRIu64 " MiB of pages, %" PRIu64
	       " accesses, %g %% of them writes\n\n",
	       o.frames * PAGE_BYTES >> 20, o.pages * PAGE_BYTES >> 20, o.accesses, o.writes * 100);
	o.always_dirty = true;
	swap_run(&o, &before);
	o.always_dirty = false;
	swap_run(&o, &after);

	printf("%-36s %14s %14s\n", "", "always dirty", "dirty-aware");
	row("page faults", before.faults, after.faults);
	row("pages swapped in", before.swap_ins, after.swap_ins);
	row("pages swapped out", before.swap_outs, after.swap_outs);
	row("  of them written to the device", before.written, after.written);
	row("  which no write had changed", before.needless, after.needless);
	row("wrong contents", before.wrong, after.wrong);
	slow = per_second(&o, &before, &costs);
	fast = per_second(&o, &after, &costs);
	printf("%-36s %14.0f %14.0f  (%+.1f %%)\n", "accesses a second, modelled", slow, fast,
	       (fast / slow - 1) * 100);
	printf("\nModelled with %" PRIu64 " ns an access, %" PRIu64 " ns a page read and %" PRIu64
	       " ns a page written.\n",
	       costs.access, costs.read, costs.write);
	if (after.needless)
		printf("Pages were written out that no write had changed.\n");
	if (before.wrong || after.wrong)
		printf("Contents were lost.\n");
	return after.needless || before.wrong || after.wrong;
}
