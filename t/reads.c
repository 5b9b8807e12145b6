/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many entries the calls load, counted at the one door to table memory:
 * holes cost nothing but the table that has them, and neighbours are looked at
 * once.
 */
#include "seam.h"
#include "tap.h"
#include <pgtable/pgtable.h>

#define ALL (UINT64_C(1) << 48)

static int count(void *ctx, const struct pgt_mapping *mapping)
{
	(void)mapping;
	++*(unsigned *)ctx;
	return 0;
}

static struct pgt *table(const char *format)
{
	struct pgt_config config = { .size = sizeof config, .format = format };
	struct pgt *t = NULL;

	if (pgt_create(&config, &t) != PGT_OK) {
		printf("Bail out! no %s table\n", format);
		exit(EXIT_FAILURE);
	}
	return t;
}

static uint64_t loads_since(uint64_t before)
{
	return seam_counts.loads - before;
}

static void empty(const char *format)
{
	struct pgt *t = table(format);
	struct pgt_gather gather;
	uint64_t before = seam_counts.loads, loads;
	unsigned visited = 0;
	int status;

	status = pgt_visit(t, 0, ALL, 0, count, &visited);
	loads = loads_since(before);
	ok(status == PGT_OK && visited == 0 && loads <= 512,
	   "%s: visit of an empty 2^48 loads the root's entries at most (%llu)", format,
	   (unsigned long long)loads);
	pgt_gather_begin(&gather, t);
	before = seam_counts.loads;
	status = pgt_unmap(t, 0, ALL, 0, &gather);
	loads = loads_since(before);
	ok(status == PGT_OK && loads <= 512, "%s: so does unmap (%llu)", format, (unsigned long long)loads);
	ok(gather.tally.reads == loads, "%s: and says so (%llu)", format,
	   (unsigned long long)gather.tally.reads);
	pgt_gather_end(&gather);
	pgt_destroy(t);
}

static void sparse(const char *format)
{
	struct pgt *t = table(format);
	unsigned visited = 0;
	uint64_t before, loads;

	for (unsigned i = 0; i < 8; i++)
		pgt_map(t, i * (ALL / 8), 0x1000, 0x1000, PGT_READ, 0, NULL);
	before = seam_counts.loads;
	pgt_visit(t, 0, ALL, 0, count, &visited);
	loads = loads_since(before);
	/* The root, three tables a page, and the way checked at each. */
	ok(visited == 8 && loads < 512 + 8 * (3 * 512 + 16),
	   "%s: eight pages far apart cost their tables alone (%llu)", format, (unsigned long long)loads);
	pgt_destroy(t);
}

static void cursor(const char *format)
{
	struct pgt_translation tr;
	struct pgt *t = table(format);
	struct pgt_cursor c;
	uint64_t before, loads;
	bool good = true;

	pgt_map(t, 0x40000000, 0x80000000, 0x200000, PGT_READ, PGT_MAX_LEAF(12), NULL);
	pgt_cursor_init(&c, t);
	pgt_cursor_translate(&c, 0x40000000, PGT_READ, &tr);
	before = seam_counts.loads;
	for (uint64_t i = 0; i < 512; i++)
		good &= pgt_cursor_translate(&c, 0x40000000 + i * 0x1000 + 5, PGT_READ, &tr) == PGT_OK &&
			tr.pa == 0x80000000 + i * 0x1000 + 5;
	loads = loads_since(before);
	ok(good && loads == 512, "%s: a cursor loads one entry a neighbour (%llu)", format,
	   (unsigned long long)loads);
	pgt_destroy(t);
}

static void one_by_one(const char *format)
{
	struct pgt *t = table(format);
	uint64_t before, map, unmap, down;

	before = seam_counts.loads;
	for (uint64_t i = 0; i < 512; i++)
		pgt_map(t, 0x40000000 + i * 0x1000, i * 0x2000, 0x1000, PGT_READ, 0, NULL);
	map = loads_since(before);
	before = seam_counts.loads;
	for (uint64_t i = 0; i < 511; i++)
		pgt_unmap(t, 0x40000000 + i * 0x1000, 0x1000, 0, NULL);
	unmap = loads_since(before);
	ok(map < 512 * 16, "%s: mapping page by page loads a few entries a page (%llu)", format,
	   (unsigned long long)(map / 512));
	ok(unmap < 512 * 24, "%s: so does unmapping in ascending order (%llu)", format,
	   (unsigned long long)(unmap / 511));
	for (uint64_t i = 0; i < 511; i++)
		pgt_map(t, 0x40000000 + i * 0x1000, i * 0x2000, 0x1000, PGT_READ, 0, NULL);
	before = seam_counts.loads;
	for (uint64_t i = 511; i > 0; i--)
		pgt_unmap(t, 0x40000000 + i * 0x1000, 0x1000, 0, NULL);
	down = loads_since(before);
	ok(down < 512 * 24, "%s: and in descending order (%llu)", format, (unsigned long long)(down / 511));
	pgt_destroy(t);
}

int main(void)
{
	for (const char *const *format = pgt_formats(); *format; format++) {
		empty(*format);
		sparse(*format);
		cursor(*format);
		one_by_one(*format);
	}
	return tap_done();
}
