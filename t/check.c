/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_check: every kind of broken table is planted, and named at its address
 * and level; tables of every shape that the library made are clean; readers
 * and check survive all of it, loops too.
 */
#include "contract.h"

static struct world w;

#define MAX_FOUND 64
static struct pgt_problem found[MAX_FOUND];
static unsigned n_found;

static int find(void *ctx, const struct pgt_problem *p)
{
	(void)ctx;
	if (n_found < MAX_FOUND)
		found[n_found] = *p;
	n_found++;
	return 0;
}

static int ignore(void *ctx, const struct pgt_mapping *m)
{
	(void)ctx;
	(void)m;
	return 0;
}

static int ignore_text(void *ctx, const char *text, uint64_t bytes)
{
	(void)ctx;
	(void)text;
	(void)bytes;
	return 0;
}

static uint64_t pa_of(const void *p)
{
	return w.e.pa + (uint64_t)((const unsigned char *)p - w.e.buffer);
}

/* Whatever they answer, readers come back. */
static void readers_live(uint64_t va)
{
	uint64_t len = w.l1 < GIB(1) ? w.l1 : GIB(1), from = va & ~(len - 1);
	struct pgt_translation tr;
	struct pgt_mapping m;
	struct pgt_stat s;

	(void)pgt_query(w.t, va, &m);
	(void)pgt_translate(w.t, va, PGT_READ, &tr);
	(void)pgt_translate(w.t, va, PGT_WRITE | PGT_USER, &tr);
	(void)pgt_visit(w.t, from, len, PGT_MERGE | PGT_HOLES, ignore, NULL);
	(void)pgt_visit(w.t, from, len, 0, ignore, NULL);
	(void)pgt_stat(w.t, from, len, &s);
	(void)pgt_dump(w.t, from, len, ignore_text, NULL);
}

/* The one problem is at the entry of va at the level. */
static void want_problem(const char *what, uint64_t va, unsigned level)
{
	uint64_t span = geo_span(&w.geo, level);
	bool there = false;

	where("%s, granule %u, va %#" PRIx64 ", level %u", what, w.geo.g, va, level);
	n_found = 0;
	want_status(pgt_check(w.t, find, NULL), PGT_ECORRUPT);
	if (!want(n_found > 0))
		return;
	for (unsigned i = 0; i < n_found && i < MAX_FOUND; i++) {
		const struct pgt_problem *p = &found[i];

		want(p->what && *p->what);
		if (p->va != (va & ~(span - 1)) || p->level != (int)level)
			continue;
		there = true;
		want_u64(p->entry_pa, pa_of(raw_at(&w, va, level)));
		want_u64(p->entry, raw_entry(&w, va, level));
	}
	if (!want(there))
		note("found: va %#" PRIx64 " level %d: %s", found[0].va, found[0].level,
		     found[0].what);
	readers_live(va);
}

/* Puts a word where another stands, looks, and puts it back. */
static void plant(const char *what, uint64_t va, unsigned level, uint64_t word)
{
	uint64_t was = raw_entry(&w, va, level);

	if (!want(raw_poke(&w, va, level, word)))
		return;
	want_problem(what, va, level);
	raw_poke(&w, va, level, was);
	n_found = 0;
	want_status(pgt_check(w.t, find, NULL), PGT_OK);
	want_u64(n_found, 0);
}

/* Three pages at the start; a fourth has a place in their table. */
static bool open_planted(const char *format, unsigned g, unsigned output)
{
	if (world_open_as(&w, format, g, 48, output, PGT_FEAT_CONTIG, EMBED_TLB) != PGT_OK) {
		want(false);
		return false;
	}
	want_status(pgt_map(w.t, 0, w.page, w.page * 3, RW, 0, NULL), PGT_OK);
	return true;
}

/* ---- Entries ----------------------------------------------------------------- */

static void test_types(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), leaf;

		if (!open_planted(format, granule, 48))
			continue;
		leaf = raw_entry(&w, 0, 3);
		if (w.arm64) {
			plant("type 01 at level 3", page * 3, 3, (leaf & ~UINT64_C(3)) | 1);
			for (unsigned l = w.geo.start; l < w.geo.top_block; l++)
				plant("a block at a level that has none", geo_span(&w.geo, l), l,
				      raw_leaf(&w, 0, l));
		} else {
			plant("a table at level 3", page * 3, 3, raw_table(&w, WORLD_PA));
			plant("an empty entry that isn't zero", page * 3, 3, BIT(40));
			plant("an empty entry that isn't zero", page * 3, 3, BIT(2));
			for (unsigned l = w.geo.start; l < w.geo.top_block; l++)
				plant("a leaf at a level that has none", geo_span(&w.geo, l), l,
				      raw_leaf(&w, 0, l));
		}
		world_close(&w);
	}
	ok(fine, "%s: wrong types at a level", format);
}

static void test_addresses(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), leaf;
		unsigned output, high;

		if (!open_planted(format, granule, 40))
			continue;
		leaf = raw_entry(&w, 0, 3);
		output = w.c.output_bits;
		high = (output + w.f->output) / 2;
		for (unsigned bit = output; bit < w.f->output; bit++)
			plant("a page beyond the output size", page * 3, 3, leaf | raw_of(&w, BIT(bit)));
		for (unsigned l = w.geo.start; l < 3; l++) {
			plant("a table beyond the output size", 0, l, raw_table(&w, BIT(high)));
			plant("a table in unknown memory", 0, l, raw_table(&w, GIB(3)));
		}
		for (unsigned l = w.geo.top_block; l < 3; l++) {
			uint64_t block = (leaf & ~UINT64_C(3)) | w.f->entry.block;
			uint64_t va = geo_span(&w.geo, l) * 3;

			block &= ~w.f->entry.address;
			for (unsigned bit = w.geo.g; bit < geo_bits(&w.geo, l); bit++)
				if (!w.arm64 || bit > 16) /* 16 is nT for the architecture */
					plant("a misaligned block", va, l, block | raw_of(&w, BIT(bit)));
			if (geo_bits(&w.geo, l) <= high)
				plant("a block beyond the output size", va, l, block | raw_of(&w, BIT(high)));
		}
		world_close(&w);
	}
	ok(fine, "%s: addresses that are misaligned, too large or unknown", format);
}

static void test_table_bits(const char *format)
{
	begin();
	for_granules(format, granule) {
		if (!open_planted(format, granule, 48))
			continue;
		for (unsigned l = w.geo.start; l < 3; l++) {
			uint64_t e = raw_entry(&w, 0, l);

			if (w.arm64) {
				plant("PXNTable", 0, l, e | BIT(59));
				plant("UXNTable", 0, l, e | BIT(60));
				plant("APTable", 0, l, e | BIT(61));
				plant("APTable", 0, l, e | BIT(62));
			} else {
				plant("permissions in a table entry", 0, l, e | (w.f->entry.plain & ~w.f->entry.young));
				plant("young in a table entry", 0, l, e | w.f->entry.young);
				plant("software bits in a table entry", 0, l, e | entry_lowest(w.f->entry.software));
				plant("contiguous in a table entry", 0, l, e | raw_contig(&w));
			}
		}
		world_close(&w);
	}
	ok(fine, "%s: permission bits in table entries", format);
}

static void test_leaf_bits(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), leaf, va = page * 3, lowest;

		if (!open_planted(format, granule, 48))
			continue;
		leaf = raw_entry(&w, 0, 3);
		lowest = entry_lowest(w.f->entry.memory);
		if (w.arm64) {
			/* Writable, dirty by software, and not by hardware. */
			plant("a forbidden state", va, 3, (leaf & ~w.f->entry.dirty) | w.f->entry.clean | BIT(51) | BIT(55));
			plant("shareability 01", va, 3, (leaf & ~BIT(9)) | BIT(8));
		} else {
			plant("shareability 3", va, 3, leaf | w.f->entry.sh);
			for (uint64_t mem = 5; !(mem * lowest & ~w.f->entry.memory); mem++)
				plant("a reserved memory type", va, 3, leaf | mem * lowest);
		}
		for (uint64_t left = w.f->entry.reserved; left; left &= left - 1)
			plant("a reserved bit", va, 3, leaf | entry_lowest(left));
		world_close(&w);
	}
	ok(fine, "%s: reserved values and forbidden states in leaves", format);
}

/* ---- Runs --------------------------------------------------------------------- */

/* The first problem lies in the run. */
static void want_run_problem(const char *what, uint64_t run_va, uint64_t run, unsigned level)
{
	bool there = false;

	where("%s, granule %u, level %u", what, w.geo.g, level);
	n_found = 0;
	want_status(pgt_check(w.t, find, NULL), PGT_ECORRUPT);
	want(n_found > 0);
	for (unsigned i = 0; i < n_found && i < MAX_FOUND; i++) {
		want(found[i].va - run_va < run);
		there |= found[i].level == (int)level;
	}
	want(there);
	readers_live(run_va);
}

static void plant_in_run(const char *what, uint64_t run_va, uint64_t run, unsigned level,
			 uint64_t member, uint64_t flip)
{
	uint64_t va = run_va + member * geo_span(&w.geo, level), was = raw_entry(&w, va, level);

	raw_poke(&w, va, level, flip ? was ^ flip : 0);
	want_run_problem(what, run_va, run, level);
	raw_poke(&w, va, level, was);
	want_status(pgt_check(w.t, find, NULL), PGT_OK);
}

static void test_runs(const char *format)
{
	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_TLB))
			continue;
		for (unsigned l = w.geo.top_block; l <= 3; l++) {
			uint64_t span = geo_span(&w.geo, l), run = BIT(geo_run_bits(&w.geo, l));
			uint64_t va = run * 2, members = run / span;
			const uint64_t at[] = { 0, 1, members / 2, members - 1 };
			uint64_t state = w.f->entry.young;

			if (members == 1 || run > w.bytes / 4)
				continue;
			want_status(pgt_map(w.t, va, run, run, world_attr(&w, RW | PGT_GLOBAL), 0, NULL),
				    PGT_OK);
			for (unsigned i = 0; i < 4; i++) {
				plant_in_run("a member without the hint", va, run, l, at[i],
					     raw_contig(&w));
				plant_in_run("a hole", va, run, l, at[i], 0);
				plant_in_run("another address", va, run, l, at[i],
					     raw_of(&w, span * members));
				plant_in_run("another attribute", va, run, l, at[i],
					     w.f->entry.user_exec);
				plant_in_run("another software bit", va, run, l, at[i],
					     2 * entry_lowest(w.f->entry.software));
			}
			/* Young and dirty may differ: hardware sets them one by one. */
			where("one member old, granule %u, level %u", granule, l);
			raw_poke(&w, va + span, l, raw_entry(&w, va + span, l) & ~state);
			want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
			want_status(pgt_unmap(w.t, va, run, 0, NULL), PGT_OK);

			/* All members carry it, from an address that isn't aligned. */
			want_status(pgt_map(w.t, va, run + span, run, RW, 0, NULL), PGT_OK);
			for (uint64_t i = 0; i < members; i++)
				raw_poke(&w, va + i * span, l, raw_entry(&w, va + i * span, l) |
					 raw_contig(&w));
			want_run_problem("a misaligned run", va, run, l);
			for (uint64_t i = 0; i < members; i++)
				raw_poke(&w, va + i * span, l, raw_entry(&w, va + i * span, l) &
					 ~raw_contig(&w));
			want_status(pgt_unmap(w.t, va, run, 0, NULL), PGT_OK);
			want_u64(w.e.live, 1);
		}
		world_close(&w);
	}
	ok(fine, "%s: broken runs of every level", format);
}

/* ---- Tables ------------------------------------------------------------------- */

static void test_loops(const char *format)
{
	begin();
	for_granules(format, granule) {
		if (!open_planted(format, granule, 48))
			continue;
		for (unsigned l = w.geo.start; l < 3; l++) {
			/* Entry 1 of the table at this level leads to each table above it. */
			for (unsigned up = w.geo.start; up <= l; up++) {
				uint64_t target = pgt_root(w.t), va = geo_span(&w.geo, l);

				if (up > w.geo.start)
					target = raw_address(&w, raw_entry(&w, 0, up - 1));
				if (up == w.geo.start && geo_root_bytes(&w.geo) < BIT(w.geo.g))
					continue; /* less than a table */
				if (va >= w.bytes)
					continue;
				raw_poke(&w, va, l, raw_table(&w, target));
				want_problem("a loop", va, l);
				raw_poke(&w, va, l, 0);
			}
		}
		want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
		world_close(&w);
	}
	ok(fine, "%s: loops are found and end", format);
}

/* All entries of all tables lead back up: exponential for a walker that doesn't notice. */
static void test_all_loops(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t tables[3];

		if (!open_planted(format, granule, 48))
			continue;
		for (unsigned l = w.geo.start; l < 3; l++)
			tables[l] = raw_address(&w, raw_entry(&w, 0, l));
		for (unsigned l = w.geo.start; l < 3; l++) {
			uint64_t n = UINT64_C(1) << (l == w.geo.start ? w.geo.root_bits : w.geo.b);
			uint64_t at = l == w.geo.start ? pgt_root(w.t) : tables[l - 1];

			for (uint64_t i = 0; i < n; i++)
				raw_put(embed_memory_at(&w.e, at + i * 8, 8), raw_table(&w, tables[l]));
		}
		where("granule %u", granule);
		n_found = 0;
		want_status(pgt_check(w.t, find, NULL), PGT_ECORRUPT);
		want(n_found > 0);
		/* Back to one of each, so that it can be torn down. */
		for (unsigned l = w.geo.start; l < 3; l++) {
			uint64_t n = UINT64_C(1) << (l == w.geo.start ? w.geo.root_bits : w.geo.b);
			uint64_t at = l == w.geo.start ? pgt_root(w.t) : tables[l - 1];

			for (uint64_t i = 1; i < n; i++)
				raw_put(embed_memory_at(&w.e, at + i * 8, 8), 0);
		}
		want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
		world_close(&w);
	}
	ok(fine, "%s: tables reached by every entry end as quickly", format);
}

static void test_twice(const char *format)
{
	begin();
	for_granules(format, granule) {
		struct pgt_config c;
		struct pgt *a = NULL;

		if (!open_planted(format, granule, 48))
			continue;
		for (unsigned l = w.geo.start; l < 3; l++) {
			uint64_t va = geo_span(&w.geo, l);

			where("granule %u, level %u", granule, l);
			raw_poke(&w, va, l, raw_entry(&w, 0, l));
			want_problem("a table reached twice", va, l);
			/* In somebody else's tables it is no fault. */
			c = w.c;
			c.memory.alloc = NULL;
			c.memory.free = NULL;
			want_status(pgt_attach(&c, pgt_root(w.t), &a), PGT_OK);
			want_status(pgt_check(a, no_problem, NULL), PGT_OK);
			pgt_destroy(a);
			raw_poke(&w, va, l, 0);
		}
		world_close(&w);
	}
	ok(fine, "%s: tables reached twice, in tables of our own only", format);
}

/* ---- Attached tables ------------------------------------------------------------ */

static void test_attached(void)
{
	struct pgt_config c;
	struct pgt *a = NULL;
	uint64_t leaf;

	if (lacks_arm64("what only arm64's entries hold"))
		return;
	begin();
	if (!open_planted("arm64", 12, 48))
		return;
	leaf = raw_entry(&w, 0, 3);
	c = w.c;
	c.memory.alloc = NULL;
	c.memory.free = NULL;
	want_status(pgt_attach(&c, pgt_root(w.t), &a), PGT_OK);

	where("permission bits in a table entry");
	raw_poke(&w, 0, 0, raw_entry(&w, 0, 0) | BIT(59) | BIT(60));
	want_status(pgt_check(a, no_problem, NULL), PGT_OK);
	raw_poke(&w, 0, 0, raw_entry(&w, 0, 0) & ~(BIT(59) | BIT(60)));
	where("a state that only we forbid");
	raw_poke(&w, 0, 3, (leaf & ~w.f->entry.dirty) | w.f->entry.clean | BIT(51) | BIT(55));
	want_status(pgt_check(a, no_problem, NULL), PGT_OK);
	where("type 01 at level 3");
	raw_poke(&w, 0, 3, (leaf & ~UINT64_C(3)) | 1);
	want_status(pgt_check(a, find, NULL), PGT_ECORRUPT);
	raw_poke(&w, 0, 3, leaf);
	where("a loop");
	raw_poke(&w, GIB(1), 1, raw_table(&w, pgt_root(w.t)));
	want_status(pgt_check(a, find, NULL), PGT_ECORRUPT);
	raw_poke(&w, GIB(1), 1, 0);
	want_status(pgt_check(a, no_problem, NULL), PGT_OK);
	pgt_destroy(a);
	world_close(&w);
	ok(fine, "arm64: in attached tables, what the architecture forbids, and loops");
}

/* ---- The call -------------------------------------------------------------------- */

static int stop(void *ctx, const struct pgt_problem *p)
{
	(void)p;
	++*(unsigned *)ctx;
	return 17;
}

static void test_stop(const char *format)
{
	uint64_t first;
	unsigned calls = 0;

	begin();
	if (!open_planted(format, 12, 48))
		return;
	/* Four empty places of one table. */
	first = 8 * w.page;
	want_status(pgt_map(w.t, first, 0, w.page, RW, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, first, w.page, PGT_KEEP_TABLES, NULL), PGT_OK);
	for (unsigned i = 0; i < 4; i++)
		raw_poke(&w, first + i * w.page, 3,
			 w.arm64 ? 0xf01 : entry_lowest(w.f->entry.reserved) | w.f->entry.page);
	want_status(pgt_check(w.t, stop, &calls), 17);
	want_u64(calls, 1);
	n_found = 0;
	want_status(pgt_check(w.t, find, NULL), PGT_ECORRUPT);
	want_u64(n_found, 4);
	for (unsigned i = 0; i < 4 && i < n_found; i++) {
		want_u64(found[i].va, first + i * w.page);
		want_u64(found[i].level, 3);
	}
	for (unsigned i = 0; i < 4; i++)
		raw_poke(&w, first + i * w.page, 3, 0);
	world_close(&w);
	ok(fine, "%s: every broken entry is reported, in order, until the callback says stop",
	   format);
}

/* Addresses in the upper half are reported as they are used. */
static void test_upper(const char *format)
{
	begin();
	for (unsigned input = 25; input <= 48; input++) {
		uint64_t top, wrong;

		if (!world_open(&w, format, 12, input, PGT_FEAT_UPPER, EMBED_TLB))
			continue;
		where("input %u", input);
		top = 0 - w.page;
		wrong = w.arm64 ? 0xf01 : raw_table(&w, WORLD_PA);
		want_status(pgt_map(w.t, top, 0, w.page, RW, 0, NULL), PGT_OK);
		plant("a type that level 3 doesn't have", top, 3, wrong);
		plant("a type that level 3 doesn't have", top - w.page, 3, wrong);
		world_close(&w);
	}
	ok(fine, "%s: problems in the upper half have its addresses", format);
}

/* ---- Clean tables ----------------------------------------------------------------- */

static void test_clean(const char *format)
{
	struct embed_rng r;

	embed_seed(&r, 3);
	begin();
	for_granules(format, granule)
		for (unsigned input = 25; input <= 48; input++) {
			uint64_t page = BIT(granule), pages;

			if (!world_open(&w, format, granule, input,
					PGT_FEAT_CONTIG | (input & 1 ? PGT_FEAT_TRACK_DIRTY : 0),
					EMBED_TLB))
				continue;
			pages = w.bytes / page;
			for (unsigned i = 0; i < 40; i++) {
				uint64_t n = 1 + embed_below(&r, 600), at = embed_below(&r, pages);
				static const uint64_t attrs[] = {
					RW, PGT_READ | PGT_EXEC, RW | PGT_NOACCESS,
					RW | PGT_MEM_DEVICE | PGT_SH_OUTER | PGT_GLOBAL,
					PGT_READ | PGT_USER | PGT_UEXEC | PGT_GUARDED | PGT_SW1,
				};

				if (embed_once_in(&r, 2))
					at &= ~UINT64_C(127);
				if (n > pages - at)
					n = pages - at;
				where("granule %u, input %u, step %u", granule, input, i);
				if (embed_once_in(&r, 3))
					want_status(pgt_unmap(w.t, at * page, n * page,
							      embed_once_in(&r, 2) ?
							      PGT_KEEP_TABLES : 0, NULL), PGT_OK);
				else
					want_status(pgt_map(w.t, at * page, at % (BIT(30) / page) *
							    page, n * page,
							    world_attr(&w, attrs[embed_below(&r, 5)]),
							    PGT_REPLACE, NULL), PGT_OK);
				if (i % 5 == 4)
					want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
			}
			sound(&w);
			world_close(&w);
		}
	ok(fine, "%s: tables of every shape are clean all through a random life", format);
}

int main(void)
{
	if (!formats[0])
		return tap_skip_all("no format of these was built");
	for_formats(format) {
		test_types(format);
		test_addresses(format);
		test_table_bits(format);
		test_leaf_bits(format);
		test_runs(format);
		test_loops(format);
		test_all_loops(format);
		test_twice(format);
		test_stop(format);
		if (has_upper(format))
			test_upper(format);
		test_clean(format);
	}
	test_attached();
	return tap_done();
}
