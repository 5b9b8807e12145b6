/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many entries the calls load, counted at the one door to table memory:
 * holes cost nothing but the table that has them, and neighbours are looked at
 * once.
 */
#include "embed.h"
#include "format.h"
#include "seam.h"
#include "tap.h"
#include <pgtable/pgtable.h>

static struct embed e;
static uint64_t all;                  /* bytes of input */
static uint64_t page, entries;        /* bytes of a page; entries of a table */
static uint64_t root_entries, levels; /* of the root; tables on the way to a page below it */
static uint64_t place;                /* where a table of pages begins */

static int count(void *ctx, const struct pgt_mapping *mapping)
{
	(void)mapping;
	++*(unsigned *)ctx;
	return 0;
}

static struct pgt *table(const struct format *f)
{
	unsigned g = f->granules[0];
	struct pgt_config config = embed_config(&e, f->name, g, f->input, f->output, 0, 0);
	int start = ref_start_level(g, f->input);
	struct pgt *t = NULL;

	all = UINT64_C(1) << f->input;
	page = UINT64_C(1) << g;
	entries = page / 8;
	root_entries = UINT64_C(1) << format_index_bits(f, g, f->input, start);
	levels = (uint64_t)(3 - start);
	place = UINT64_C(1) << ref_shift(g, 1);
	if (pgt_create(&config, &t) != PGT_OK) {
		printf("Bail out! no %s table\n", f->name);
		exit(EXIT_FAILURE);
	}
	return t;
}

static uint64_t loads_since(uint64_t before)
{
	return seam_counts.loads - before;
}

static void empty(const struct format *f)
{
	struct pgt *t = table(f);
	struct pgt_gather gather;
	uint64_t before = seam_counts.loads, loads;
	unsigned visited = 0;
	int status;

	status = pgt_visit(t, 0, all, 0, count, &visited);
	loads = loads_since(before);
	ok(status == PGT_OK && visited == 0 && loads <= root_entries,
	   "%s: visit of an empty range loads the root's entries at most (%llu)", f->name,
	   (unsigned long long)loads);
	pgt_gather_begin(&gather, t);
	before = seam_counts.loads;
	status = pgt_unmap(t, 0, all, 0, &gather);
	loads = loads_since(before);
	ok(status == PGT_OK && loads <= root_entries, "%s: so does unmap (%llu)", f->name, (unsigned long long)loads);
	ok(gather.tally.reads == loads, "%s: and says so (%llu)", f->name,
	   (unsigned long long)gather.tally.reads);
	pgt_gather_end(&gather);
	pgt_destroy(t);
}

static void sparse(const struct format *f)
{
	struct pgt *t = table(f);
	unsigned visited = 0;
	uint64_t before, loads;

	for (unsigned i = 0; i < 8; i++)
		pgt_map(t, i * (all / 8), page, page, PGT_READ, 0, NULL);
	before = seam_counts.loads;
	pgt_visit(t, 0, all, 0, count, &visited);
	loads = loads_since(before);
	/* The root, the tables of a page, and the way checked at each. */
	ok(visited == 8 && loads < root_entries + 8 * (levels * entries + 16),
	   "%s: eight pages far apart cost their tables alone (%llu)", f->name, (unsigned long long)loads);
	pgt_destroy(t);
}

static void cursor(const struct format *f)
{
	struct pgt_translation tr;
	struct pgt *t = table(f);
	struct pgt_cursor c;
	uint64_t before, loads;
	bool good = true;

	pgt_map(t, place, 2 * place, entries * page, PGT_READ, PGT_MAX_LEAF(f->granules[0]), NULL);
	pgt_cursor_init(&c, t);
	pgt_cursor_translate(&c, place, PGT_READ, &tr);
	before = seam_counts.loads;
	for (uint64_t i = 0; i < entries; i++)
		good &= pgt_cursor_translate(&c, place + i * page + 5, PGT_READ, &tr) == PGT_OK &&
			tr.pa == 2 * place + i * page + 5;
	loads = loads_since(before);
	ok(good && loads == entries, "%s: a cursor loads one entry a neighbour (%llu)", f->name,
	   (unsigned long long)loads);
	pgt_destroy(t);
}

static void one_by_one(const struct format *f)
{
	struct pgt *t = table(f);
	uint64_t n = entries < 64 ? 64 : entries, before, map, unmap, down;

	before = seam_counts.loads;
	for (uint64_t i = 0; i < n; i++)
		pgt_map(t, place + i * page, i * 2 * page, page, PGT_READ, 0, NULL);
	map = loads_since(before);
	before = seam_counts.loads;
	for (uint64_t i = 0; i < n - 1; i++)
		pgt_unmap(t, place + i * page, page, 0, NULL);
	unmap = loads_since(before);
	ok(map < n * 16, "%s: mapping page by page loads a few entries a page (%llu)", f->name,
	   (unsigned long long)(map / n));
	ok(unmap < n * 24, "%s: so does unmapping in ascending order (%llu)", f->name,
	   (unsigned long long)(unmap / (n - 1)));
	for (uint64_t i = 0; i < n - 1; i++)
		pgt_map(t, place + i * page, i * 2 * page, page, PGT_READ, 0, NULL);
	before = seam_counts.loads;
	for (uint64_t i = n - 1; i > 0; i--)
		pgt_unmap(t, place + i * page, page, 0, NULL);
	down = loads_since(before);
	ok(down < n * 24, "%s: and in descending order (%llu)", f->name, (unsigned long long)(down / (n - 1)));
	pgt_destroy(t);
}

int main(void)
{
	embed_init(&e, UINT64_C(16) << 20, EMBED_PA);
	for (const struct format *const *f = formats; *f; f++) {
		empty(*f);
		sparse(*f);
		cursor(*f);
		one_by_one(*f);
	}
	embed_fini(&e);
	return tap_done();
}
