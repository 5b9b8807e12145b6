/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases that users of page-table code have met, reading tables: each as it was
 * met, and its whole kind.  The numbers are those of t/cases.tsv.
 */
#include "contract.h"

static struct world w;

/* ---- 1 --------------------------------------------------------------------- */

static void case_1(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, 0, 0))
		return;
	want_status(pgt_map(w.t, w.l1, 2 * w.l1, w.page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.l1 + 2 * w.page, 2 * w.l1 + 2 * w.page, w.page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.l1 + 3 * w.page, 0, w.page, RW, 0, NULL), PGT_OK);
	for (uint64_t at = 0; at < w.page; at += 8) {
		struct pgt_translation tr;

		want_status(pgt_translate(w.t, w.l1 + w.page + at, PGT_READ, &tr), PGT_EFAULT);
		want_u64(tr.fault, PGT_FAULT_TRANSLATION);
		want_u64(tr.level, 3);
		want_status(pgt_translate(w.t, w.l1 + 3 * w.page + at, PGT_READ, &tr), PGT_OK);
		want_u64(tr.pa, at);
	}
	want(is_empty(w.t, w.l1 + w.page));
	want_u64(query(w.t, w.l1 + w.page).len, w.page);
	world_close(&w);
	ok(fine, "case 1: Last-level entry not checked for validity: %s", format);
}

/* What is at no level an entry: bits 1:0 of 01 at level 3, of 01 where no block is. */
static void case_1_reserved(void)
{
	if (lacks_arm64("case 1: Last-level entry not checked for validity"))
		return;
	begin();
	for_granules("arm64", granule) {
		uint64_t page = BIT(granule);
		struct pgt_translation tr;
		struct pgt_mapping m;

		where("granule %u", granule);
		if (!world_open(&w, "arm64", granule, 48, 0, EMBED_TLB))
			continue;
		want_status(pgt_map(w.t, 0, 0, page, RW, 0, NULL), PGT_OK);
		raw_poke(&w, page, 3, GIB(2) | 0xf01);
		want_status(pgt_translate(w.t, page + 8, PGT_READ, &tr), PGT_EFAULT);
		want_u64(tr.fault, PGT_FAULT_TRANSLATION);
		want_u64(tr.level, 3);
		want_status(pgt_query(w.t, page, &m), PGT_ECORRUPT);
		want_status(pgt_unmap(w.t, page, page, 0, NULL), PGT_ECORRUPT);
		want_u64(raw_entry(&w, page, 3), GIB(2) | 0xf01);
		want_u64(reads(w.t, 1), 1);
		raw_poke(&w, page, 3, 0);
		world_close(&w);
	}
	ok(fine, "case 1: Last-level entry not checked for validity: type 01 at level 3");
}

/* ---- 2 --------------------------------------------------------------------- */

static void case_2(const char *format)
{
	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, 0))
			continue;
		for (unsigned bits = granule; bits < 47; bits++) {
			uint64_t va = BIT(bits), pa = BIT(w.c.output_bits - 1) - BIT(bits), size = BIT(bits);
			uint64_t at[] = { 0, 1, size / 2 - 1, size / 3 | 1, (size / 16 * 7 + 0x6bc) % size,
					  size - 2, size - 1 };

			if (!(pgt_leaf_sizes(w.t) & size))
				continue;
			where("granule %u, leaf 2^%u", granule, bits);
			want_status(pgt_map(w.t, va, pa, size, RW, 0, NULL), PGT_OK);
			for (unsigned i = 0; i < 7; i++) {
				struct pgt_translation tr;

				want_status(pgt_translate(w.t, va + at[i], PGT_READ, &tr), PGT_OK);
				want_u64(tr.pa, pa + at[i]);
				want_u64(tr.run_bits, bits);
			}
			want_u64(reads(w.t, va - 1), NOWHERE);
			want_u64(reads(w.t, va + size), NOWHERE);
			want_status(pgt_unmap(w.t, va, size, 0, NULL), PGT_OK);
		}
		world_close(&w);
	}
	where("as it was met");
	if (world_open(&w, format, 12, 48, 0, 0)) {
		uint64_t block = 0x12345f % w.l2, page = 0xabc % w.page; /* inside one */

		want_status(pgt_map(w.t, w.l1, 2 * w.l1, w.l2, RW, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, w.l1 + w.l1 / 4 + w.page, 2 * w.l1 + w.l1 / 4 + 7 * w.page, w.page,
				    RW, 0, NULL), PGT_OK);
		want_u64(reads(w.t, w.l1 + block), 2 * w.l1 + block);
		want_u64(reads(w.t, w.l1 + w.l1 / 4 + w.page + page),
			 2 * w.l1 + w.l1 / 4 + 7 * w.page + page);
		world_close(&w);
	}
	if (world_open(&w, format, 14, 48, 0, 0)) {
		want_status(pgt_map(w.t, w.l2, 3 * w.l2, w.l2, RW, 0, NULL), PGT_OK);
		want_u64(reads(w.t, 2 * w.l2 - 1), 4 * w.l2 - 1);
		world_close(&w);
	}
	if (world_open(&w, format, 12, 48, PGT_FEAT_CONTIG, 0)) {
		uint64_t run = BIT(geo_run_bits(&w.geo, 3)), at = 0x6789 % run;

		want_status(pgt_map(w.t, w.l1 + run, 2 * w.l1 + 2 * run, run, RW, 0, NULL), PGT_OK);
		want_u64(query(w.t, w.l1 + run + at).run_bytes, run);
		want_u64(reads(w.t, w.l1 + run + at), 2 * w.l1 + 2 * run + at);
		world_close(&w);
	}
	ok(fine, "case 2: Offset inside the leaf lost or inverted: %s, first, odd and last byte of "
	   "every leaf size", format);
}

/* ---- 3 --------------------------------------------------------------------- */

static int never(void *ctx, const struct pgt_mapping *m)
{
	(void)ctx;
	(void)m;
	return 99;
}

static int never_text(void *ctx, const char *text, uint64_t bytes)
{
	(void)ctx;
	(void)text;
	(void)bytes;
	return 99;
}

static void outside(uint64_t va)
{
	uint64_t page = BIT(w.geo.g), at = va & ~(page - 1), n;
	struct pgt_translation tr;
	struct pgt_mapping m;
	struct pgt_cursor cursor;
	struct pgt_stat s;

	where("va %#" PRIx64, va);
	want_status(pgt_translate(w.t, va, PGT_READ, &tr), PGT_ERANGE);
	pgt_cursor_init(&cursor, w.t);
	want_status(pgt_cursor_translate(&cursor, va, PGT_READ, &tr), PGT_ERANGE);
	want_status(pgt_query(w.t, va, &m), PGT_ERANGE);
	want_status(pgt_visit(w.t, at, page, PGT_HOLES, never, NULL), PGT_ERANGE);
	want_status(pgt_dump(w.t, at, page, never_text, NULL), PGT_ERANGE);
	want_status(pgt_stat(w.t, at, page, &s), PGT_ERANGE);
	want_status(pgt_map(w.t, at, 0, page, RW, 0, NULL), PGT_ERANGE);
	want_status(pgt_unmap(w.t, at, page, 0, NULL), PGT_ERANGE);
	want_status(pgt_trim(w.t, at, page, NULL), PGT_ERANGE);
	want_status(pgt_tables_needed(w.t, at, 0, page, RW, 0, &n), PGT_ERANGE);
}

static void case_3(const char *format)
{
	struct embed_snapshot before = { 0 };

	begin();
	for_granules(format, granule) {
		for (unsigned input = 25; input <= 48; input++) {
			if (!world_open(&w, format, granule, input, 0, EMBED_TLB))
				continue;
			/* All that an index taken from too high an address could hit. */
			want_status(pgt_map(w.t, 0, 0, w.bytes < GIB(1) ? w.bytes : GIB(1), RW, 0, NULL),
				    PGT_OK);
			embed_snapshot(&w.e, &before);
			outside(w.bytes);
			outside(w.bytes + w.bytes / 16 * 7);
			outside(UINT64_MAX);
			for (unsigned b = w.c.input_bits; b < 64; b++) {
				outside(BIT(b));
				outside(0 - BIT(b));
			}
			want(!embed_compare(&w.e, &before));
			want_u64(w.e.refused_addresses, 0);
			world_close(&w);
		}
	}
	embed_snapshot_free(&before);
	ok(fine, "case 3: Look-up outside the input range crashes although map() rejects it: %s",
	   format);
}

/* ---- 4 --------------------------------------------------------------------- */

/* A leaf by hand at each level of each granule, whatever may be there. */
static void hand_made(const char *format, unsigned g, unsigned level)
{
	struct pgt_translation tr;
	struct pgt_mapping m;
	uint64_t span, va, pa;
	bool legal = level >= w.geo.top_block;

	span = geo_span(&w.geo, level);
	va = span;
	pa = 3 * span;
	if (va >= w.bytes || pa >= BIT(w.c.output_bits))
		return;
	where("%s, granule %u, level %u", format, g, level);
	/* A page makes the tables down to its level. */
	want_status(pgt_map(w.t, 0, 0, BIT(g), RW, 0, NULL), PGT_OK);
	if (!raw_poke(&w, va, level, raw_leaf(&w, pa, level)))
		return;
	if (legal) {
		want_status(pgt_translate(w.t, va + span / 7, PGT_READ, &tr), PGT_OK);
		want_u64(tr.pa, pa + span / 7);
		want_u64(tr.level, level);
		want_u64(tr.leaf_bits, geo_bits(&w.geo, level));
		m = query(w.t, va + span - 1);
		want_u64(m.len, span);
		want_u64(m.pa, pa);
	} else {
		want_status(pgt_translate(w.t, va + span / 7, PGT_READ, &tr), PGT_EFAULT);
		want_u64(tr.fault, PGT_FAULT_TRANSLATION);
		want_u64(tr.level, level);
		want_status(pgt_query(w.t, va, &m), PGT_ECORRUPT);
	}
	want_u64(w.e.refused_addresses, 0);
	raw_poke(&w, va, level, 0);
	want_status(pgt_unmap(w.t, 0, BIT(g), 0, NULL), PGT_OK);
}

static void case_4(const char *format)
{
	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, 0, EMBED_TLB))
			continue;
		for (unsigned level = w.geo.start; level <= 3; level++)
			hand_made(format, granule, level);
		world_close(&w);
	}
	where("as it was met");
	if (world_open(&w, format, 16, 48, 0, EMBED_TLB)) {
		uint64_t at = 0xabcdef0 % w.l2;

		want_status(pgt_map(w.t, 0, 0, w.page, RW, 0, NULL), PGT_OK);
		raw_poke(&w, w.l2, 2, raw_leaf(&w, 3 * w.l2, 2));
		want_u64(reads(w.t, w.l2 + at), 3 * w.l2 + at);
		world_close(&w);
	}
	ok(fine, "case 4: Block leaves accepted at the wrong set of levels for the granule: %s, "
	   "every granule and level", format);
}

/* ---- 6 --------------------------------------------------------------------- */

static void case_6(const char *format)
{
	uint64_t span;

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_TLB))
		return;
	span = geo_span(&w.geo, 0); /* 4K: 512 GiB */
	want_status(pgt_map(w.t, span, span, span, RW, 0, NULL), PGT_OK);
	want_u64(w.e.live, 2);
	want(raw_is_table(&w, raw_entry(&w, span, 0), 0));
	for (uint64_t i = 0; i < BIT(w.geo.b); i++)
		want(raw_is_leaf(&w, raw_entry(&w, span + i * w.l1, 1), 1));
	want_u64(reads(w.t, span), span);
	want_u64(reads(w.t, 2 * span - 1), 2 * span - 1);
	sound(&w);
	world_close(&w);

	/* Whatever the span of an entry at a level without blocks. */
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, 0, EMBED_TLB))
			continue;
		for (unsigned l = w.geo.start; l < w.geo.top_block; l++) {
			struct request q = { geo_span(&w.geo, l), 0, geo_span(&w.geo, l), 63 };

			/* The 128 TiB of a 16K entry are a test of patience only. */
			if (tables_for(&w.geo, &q) > 2000 || q.len >= w.bytes / 2)
				continue;
			where("granule %u, level %u", granule, l);
			want_status(pgt_map(w.t, q.va, q.pa, q.len, RW, 0, NULL), PGT_OK);
			want_u64(w.e.live, 1 + tables_for(&w.geo, &q));
			want(raw_is_table(&w, raw_entry(&w, q.va, l), l));
			want_u64(reads(w.t, q.va + (q.len - 1)), q.len - 1);
			want_status(pgt_unmap(w.t, q.va, q.len, 0, NULL), PGT_OK);
			want_u64(w.e.live, 1);
		}
		world_close(&w);
	}
	ok(fine, "case 6: Mapping exactly 512G writes a top-level block: %s", format);
}

/* ---- 7 --------------------------------------------------------------------- */

static void case_7(const char *format)
{
	begin();
	for_granules(format, granule) {
		for (unsigned contig = 0; contig < 2; contig++) {
			uint64_t page = BIT(granule), block;

			if (!world_open(&w, format, granule, 48,
					contig ? PGT_FEAT_CONTIG : 0, EMBED_ALL))
				continue;
			block = geo_span(&w.geo, 2);
			where("granule %u, contig %u", granule, contig);
			want_status(pgt_map(w.t, block * 3, 0, page, RW, 0, NULL), PGT_OK);
			want(raw_is_leaf(&w, raw_entry(&w, block * 3, 3), 3));
			want_status(pgt_map(w.t, block * 2, 0, block, RW, 0, NULL), PGT_OK);
			want(raw_is_leaf(&w, raw_entry(&w, block * 2, 2), 2));
			/* The same bits that were right for the block aren't for pages. */
			want_status(pgt_unmap(w.t, block * 2, page, 0, NULL), PGT_OK);
			want(raw_is_table(&w, raw_entry(&w, block * 2, 2), 2));
			for (uint64_t i = 1; i < BIT(w.geo.b); i++)
				if (!want(raw_is_leaf(&w, raw_entry(&w, block * 2 + i * page, 3),
						      3)))
					break;
			sound(&w);
			want_status(pgt_map(w.t, block * 2, block * 7, block, PGT_READ,
					    PGT_REPLACE, NULL), PGT_OK);
			want(raw_is_leaf(&w, raw_entry(&w, block * 2, 2), 2));
			sound(&w);
			world_close(&w);
		}
	}
	ok(fine, "case 7: Page entries written with the block encoding at L3: %s, after map, "
	   "split and replacement", format);
}

/* ---- 12 -------------------------------------------------------------------- */

static void case_12(const char *format)
{
	static const unsigned rows[][4] = {
		{ 12, 25, 2, 16 }, { 12, 30, 2, 512 }, { 12, 36, 1, 64 }, { 12, 39, 1, 512 },
		{ 12, 42, 0, 8 }, { 12, 48, 0, 512 }, { 14, 36, 2, 2048 }, { 14, 47, 1, 2048 },
		{ 14, 48, 0, 2 }, { 16, 42, 2, 8192 }, { 16, 48, 1, 64 },
		/* Four entries a table. */
		{ 5, 6, 3, 2 }, { 5, 7, 3, 4 }, { 5, 8, 2, 2 }, { 5, 11, 1, 4 }, { 5, 12, 0, 2 },
		{ 5, 13, 0, 4 },
	};

	begin();
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned g = rows[i][0], input = rows[i][1], start = rows[i][2];
		uint64_t bytes = rows[i][3] * 8 < 64 ? 64 : rows[i][3] * 8, last;
		struct pgt_mapping m;

		if (usual_granule(format_named(format), g) != g)
			continue;
		where("granule %u, input %u", g, input);
		want_status(world_open_exact(&w, format, g, input, format_named(format)->output, 0, EMBED_TLB),
			    PGT_OK);
		want_u64(w.e.log[0].kind, EMBED_ALLOC);
		want_u64(w.e.log[0].bytes, bytes);
		want_u64(w.e.log[0].pa & (bytes - 1), 0);
		/* The hole that one root entry spans tells the start level. */
		m = query(w.t, w.bytes - 1);
		want_u64(m.state, PGT_EMPTY);
		want_u64(m.level, start);
		want_u64(m.len, w.bytes / rows[i][3]);
		last = w.bytes - BIT(g);
		want_status(pgt_map(w.t, last, 0, BIT(g), RW, 0, NULL), PGT_OK);
		want_u64(w.e.live, 4 - start);
		want_u64(reads(w.t, w.bytes - 1), BIT(g) - 1);
		want_status(pgt_unmap(w.t, last, BIT(g), 0, NULL), PGT_OK);
		want_u64(w.e.live, 1);
		world_close(&w);
	}
	ok(fine, "case 12: Start level fixed instead of derived from the width: %s, the table of "
	   "widths", format);

	begin();
	for_granules(format, granule)
		for (unsigned input = 25; input <= 48; input++) {
			where("granule %u, input %u", granule, input);
			if (!world_open(&w, format, granule, input, 0, EMBED_TLB))
				continue;
			want_u64(query(w.t, 0).level, w.geo.start);
			want_u64(query(w.t, 0).len, geo_span(&w.geo, w.geo.start));
			want_u64(w.e.tables[0].bytes, geo_root_bytes(&w.geo));
			world_close(&w);
		}
	ok(fine, "case 12: Start level fixed instead of derived from the width: %s, every width",
	   format);
}

/* ---- 18 -------------------------------------------------------------------- */

static void poked(uint64_t va, unsigned level, uint64_t word)
{
	struct pgt_translation tr;
	struct pgt_mapping m;
	uint64_t was = raw_entry(&w, va, level), refused;

	raw_poke(&w, va, level, word);
	refused = w.e.refused_addresses;
	want_status(pgt_translate(w.t, va, PGT_READ, &tr), PGT_EFAULT);
	want_u64(tr.fault, PGT_FAULT_ADDRESS_SIZE);
	want_u64(tr.level, level);
	want_status(pgt_query(w.t, va, &m), PGT_ECORRUPT);
	want_status(pgt_unmap(w.t, va, BIT(w.geo.g), PGT_WHOLE, NULL), PGT_ECORRUPT);
	want_u64(raw_entry(&w, va, level), word);
	want_u64(w.e.refused_addresses, refused);
	raw_poke(&w, va, level, was);
}

static void case_18(const char *format)
{
	static const unsigned outputs[] = { 32, 36, 40, 42, 44 };

	begin();
	for_granules(format, granule) {
		for (unsigned i = 0; i < 5; i++) {
			if (world_open_as(&w, format, granule, 48, outputs[i], 0, EMBED_TLB) !=
			    PGT_OK) {
				want(false);
				continue;
			}
			want_status(pgt_map(w.t, 0, 0, BIT(granule), RW, 0, NULL), PGT_OK);
			for (unsigned bit = w.c.output_bits; bit < w.f->output; bit++) {
				for (unsigned l = w.geo.start; l <= 3; l++) {
					where("%s, granule %u, output %u, PA bit %u, level %u",
					      format, granule, outputs[i], bit, l);
					if (l < 3)
						poked(0, l, raw_table(&w, BIT(bit)));
					if (l >= w.geo.top_block && bit >= geo_bits(&w.geo, l))
						poked(0, l, raw_leaf(&w, BIT(bit), l));
				}
			}
			world_close(&w);
		}
	}
	ok(fine, "case 18: Walker does not check the output address against the configured size: "
	   "%s, leaves and tables at every level", format);

	/* In range, but no memory that we know. */
	begin();
	if (world_open(&w, format, 12, 48, 0, EMBED_TLB)) {
		want_status(pgt_map(w.t, 0, 0, w.page, RW, 0, NULL), PGT_OK);
		for (unsigned l = 0; l < 3; l++) {
			struct pgt_translation tr;
			struct pgt_mapping m;
			uint64_t was = raw_entry(&w, 0, l);

			where("level %u", l);
			raw_poke(&w, 0, l, raw_table(&w, GIB(7)));
			want_status(pgt_translate(w.t, 0, PGT_READ, &tr), PGT_EFAULT);
			want_u64(tr.fault, PGT_FAULT_EXTERNAL);
			want_status(pgt_query(w.t, 0, &m), PGT_ECORRUPT);
			want_status(pgt_unmap(w.t, 0, w.page, 0, NULL), PGT_ECORRUPT);
			want_status(pgt_map(w.t, w.page, 0, w.page, RW, 0, NULL), PGT_ECORRUPT);
			raw_poke(&w, 0, l, was);
		}
		world_close(&w);
	}
	ok(fine, "case 18: Walker does not check the output address against the configured size: "
	   "%s, a table in memory that nobody knows", format);
}

/* ---- 19 -------------------------------------------------------------------- */

static void across(uint64_t va, uint64_t len)
{
	struct embed_snapshot before = { 0 };
	struct pgt_stat s;
	uint64_t n;

	embed_snapshot(&w.e, &before);
	where("va %#" PRIx64 " len %#" PRIx64, va, len);
	want_status(pgt_map(w.t, va, 0, len, RW, 0, NULL), PGT_ERANGE);
	want_status(pgt_map(w.t, va, 0, len, RW, PGT_REPLACE, NULL), PGT_ERANGE);
	want_status(pgt_unmap(w.t, va, len, 0, NULL), PGT_ERANGE);
	want_status(pgt_trim(w.t, va, len, NULL), PGT_ERANGE);
	want_status(pgt_visit(w.t, va, len, PGT_HOLES, never, NULL), PGT_ERANGE);
	want_status(pgt_stat(w.t, va, len, &s), PGT_ERANGE);
	want_status(pgt_dump(w.t, va, len, never_text, NULL), PGT_ERANGE);
	want_status(pgt_tables_needed(w.t, va, 0, len, RW, 0, &n), PGT_ERANGE);
	want(!embed_compare(&w.e, &before));
	embed_snapshot_free(&before);
}

static void case_19(const char *format)
{
	begin();
	for (unsigned upper = 0; upper < 2; upper++) {
		for_granules(format, granule) {
			uint64_t page = BIT(granule), low_last;

			if (!world_open(&w, format, granule, 48, upper ? PGT_FEAT_UPPER : 0,
					EMBED_TLB))
				continue;
			low_last = w.bytes - page;
			want_status(pgt_map(w.t, w.base, 0, page, RW, 0, NULL), PGT_OK);
			want_status(pgt_map(w.t, world_last(&w) - (page - 1), 0, page, RW, 0, NULL),
				    PGT_OK);
			across(low_last, 2 * page);
			/* From the last page of the lower half into the first of the upper. */
			across(low_last, 0 - w.bytes - low_last + page);
			across(0 - w.bytes - page, 2 * page);
			across(0, UINT64_C(0) - page);
			across(page, UINT64_C(0) - page);
			across(w.base, UINT64_C(0) - page);
			/* From the upper half over the top into the lower one. */
			across(UINT64_C(0) - page, 2 * page);
			across(upper ? 0 : UINT64_C(0) - page, page);
			across(upper ? low_last : 0 - w.bytes, page);
			world_close(&w);
		}
	}
	ok(fine, "case 19: Range that begins low and ends high is accepted because both ends are "
	   "valid: %s", format);
}

int main(void)
{
	for_formats(format) {
		case_1(format);
		case_2(format);
		case_3(format);
		case_4(format);
		case_6(format);
		case_7(format);
		case_12(format);
		case_18(format);
		if (has_upper(format))
			case_19(format);
	}
	case_1_reserved();
	return tap_done();
}
