/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases that users of page-table code have met, moving and copying: each as it
 * was met, and its whole kind.  The numbers are those of t/cases.tsv.
 */
#include "contract.h"

#define TRACK (PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY)

static struct world w;
static struct pgt *other;
static struct embed_snapshot before;

/* What is mapped at an address is pa with these attributes. */
static bool is(const struct pgt *t, uint64_t va, uint64_t pa, uint64_t attr)
{
	struct pgt_mapping m = query(t, va);

	return want_u64(m.state, PGT_LEAF) && want_u64(m.pa + (va - m.va), pa) && want_u64(m.attr, attr);
}

/* A whole range is, looked at in many places. */
static void all_is(const struct pgt *t, uint64_t va, uint64_t pa, uint64_t len, uint64_t attr)
{
	uint64_t page = BIT(w.geo.g), step = len / page > 2048 ? len / page / 1024 * page : page;

	for (uint64_t at = 0; at < len; at += step)
		if (!is(t, va + at + 7, pa + at + 7, attr))
			return;
	is(t, va + len - 1, pa + len - 1, attr);
}

static void all_empty(uint64_t va, uint64_t len)
{
	uint64_t page = BIT(w.geo.g), step = len / page > 2048 ? len / page / 1024 * page : page;

	for (uint64_t at = 0; at < len; at += step)
		if (!want(is_empty(w.t, va + at)))
			return;
	want(is_empty(w.t, va + len - 1));
}

/* What was left is trimmed: there is nothing. */
static void no_empty_tables(uint64_t va, uint64_t len)
{
	uint64_t live = w.e.live;

	want_status(pgt_trim(w.t, va, len, NULL), PGT_OK);
	want_u64(w.e.live, live);
}

/* ---- Arguments ------------------------------------------------------------ */

static void refuse(uint64_t from, uint64_t to, uint64_t len, int status)
{
	where("granule %u, move %#" PRIx64 " to %#" PRIx64 "+%#" PRIx64, w.geo.g, from, to, len);
	want_status(pgt_move(w.t, from, to, len, 0, NULL), status);
	want_status(pgt_move(w.t, from, to, len, PGT_NO_SPLIT | PGT_KEEP_TABLES | PGT_NO_BREAK, NULL), status);
}

static void case_3(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned input = 25; input <= 48; input++) {
			uint64_t page = BIT(granule);

			if (!world_open(&w, format, granule, input, 0, EMBED_TLB))
				continue;
			want_status(pgt_create(&w.c, &other), PGT_OK);
			want_status(pgt_map(w.t, 0, 0, page, RW, 0, NULL), PGT_OK);
			embed_snapshot(&w.e, &before);
			for (unsigned b = w.c.input_bits; b < 64; b++) {
				refuse(BIT(b), 0, page, PGT_ERANGE);
				refuse(0, BIT(b), page, PGT_ERANGE);
				refuse(0, 0 - BIT(b), page, PGT_ERANGE);
				refuse(0 - BIT(b), 0, page, PGT_ERANGE);
				want_status(pgt_copy(other, w.t, BIT(b), page, 0, NULL), PGT_ERANGE);
				want_status(pgt_copy(other, w.t, 0 - BIT(b), page, PGT_COW, NULL), PGT_ERANGE);
			}
			want(!embed_compare(&w.e, &before));
			want_u64(w.e.refused_addresses, 0);
			pgt_destroy(other);
			world_close(&w);
		}
	ok(fine, "case 3: Look-up outside the input range crashes although map() rejects it: %s, move and copy", format);
}

static void case_19(const char *format)
{
	begin();
	for (unsigned upper = 0; upper <= has_upper(format); upper++)
		for_granules(format, granule) {
			uint64_t page = BIT(granule), low_last, high, mine;

			if (!world_open(&w, format, granule, 48, upper ? PGT_FEAT_UPPER : 0, EMBED_TLB))
				continue;
			want_status(pgt_create(&w.c, &other), PGT_OK);
			low_last = w.bytes - page;
			high = 0 - w.bytes;
			mine = w.base + page * 64;
			want_status(pgt_map(w.t, mine, 0, page, RW, 0, NULL), PGT_OK);
			embed_snapshot(&w.e, &before);
			refuse(low_last, mine, 2 * page, PGT_ERANGE);
			refuse(mine, low_last, 2 * page, PGT_ERANGE);
			refuse(high - page, mine, 2 * page, PGT_ERANGE);
			refuse(mine, high - page, 2 * page, PGT_ERANGE);
			/* From one half to the other. */
			refuse(mine, upper ? page : high, page, PGT_ERANGE);
			refuse(upper ? page : high, mine, page, PGT_ERANGE);
			want_status(pgt_copy(other, w.t, low_last, 2 * page, 0, NULL), PGT_ERANGE);
			want_status(pgt_copy(other, w.t, low_last, high - low_last + page, 0, NULL), PGT_ERANGE);
			want(!embed_compare(&w.e, &before));
			pgt_destroy(other);
			world_close(&w);
		}
	ok(fine, "case 19: Range that begins low and ends high is accepted because both ends are valid: %s, move and "
	   "copy", format);
}

static void one_29(const char *format, unsigned g, unsigned input, bool upper)
{
	uint64_t page = BIT(g), last, home, block;

	where("granule %u, input %u, upper %d", g, input, upper);
	if (!world_open(&w, format, g, input, TRACK | PGT_FEAT_CONTIG | (upper ? PGT_FEAT_UPPER : 0), EMBED_ALL))
		return;
	want_status(pgt_create(&w.c, &other), PGT_OK);
	last = world_last(&w) - (page - 1);
	home = w.base + page;
	want_status(pgt_map(w.t, last - page, 0x80000000, page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, last, 0x90000000, page, RWD, 0, NULL), PGT_OK);
	want_status(pgt_copy(other, w.t, last, page, 0, NULL), PGT_OK);
	is(other, world_last(&w), 0x90000000 + page - 1, RW);
	want(is_empty(other, last - 1));
	want_status(pgt_move(w.t, last, home, page, 0, NULL), PGT_OK);
	is(w.t, home, 0x90000000, RWD);
	want(is_empty(w.t, last));
	is(w.t, last - page, 0x80000000, RW);
	want_status(pgt_move(w.t, home, last, page, 0, NULL), PGT_OK);
	is(w.t, world_last(&w), 0x90000000 + page - 1, RWD);
	want(is_empty(w.t, home));
	sound(&w);
	want_status(pgt_unmap(w.t, last - page, 2 * page, 0, NULL), PGT_OK);
	/* The last block, and all of the upper half of the range. */
	block = geo_span(&w.geo, 2);
	want_status(pgt_map(w.t, world_last(&w) - (block - 1), 0, block, RWD, 0, NULL), PGT_OK);
	want_status(pgt_move(w.t, w.base + w.bytes / 2, w.base, w.bytes / 2, 0, NULL), PGT_OK);
	all_is(w.t, w.base + w.bytes / 2 - block, 0, block, RWD);
	want_status(pgt_move(w.t, w.base, w.base + w.bytes / 2, w.bytes / 2, 0, NULL), PGT_OK);
	all_is(w.t, world_last(&w) - (block - 1), 0, block, RWD);
	want(is_empty(w.t, w.base + w.bytes / 2 - block));
	sound(&w);
	pgt_destroy(other);
	world_close(&w);
}

static void case_29(const char *format)
{
	static const unsigned inputs[] = { 32, 39, 48 };
	begin();
	for (unsigned upper = 0; upper <= has_upper(format); upper++)
		for_granules(format, granule)
			for (unsigned i = 0; i < 3; i++)
				one_29(format, granule, inputs[i], upper);
	ok(fine, "case 29: Region that ends at the top of the address type confuses \"end of list\" or \"end of "
	   "range\": %s, move and copy", format);
}

static void case_30(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned input = 32; input <= 48; input += 8) {
			uint64_t page = BIT(granule);

			if (!world_open(&w, format, granule, input, 0, EMBED_TLB))
				continue;
			if (w.bytes < page * 32) { /* no room for it */
				world_close(&w);
				continue;
			}
			want_status(pgt_map(w.t, page * 16, 0, page * 4, RW, 0, NULL), PGT_OK);
			embed_snapshot(&w.e, &before);
			/* At the destination only, at the source only, and at both. */
			refuse(page * 16, w.bytes - page, page * 2, PGT_ERANGE);
			refuse(page * 16, 0 - page, page * 2, PGT_ERANGE);
			refuse(page * 16, 0 - page * 2, page * 4, PGT_ERANGE);
			refuse(page * 16, w.bytes - page * 3, page * 4, PGT_ERANGE);
			refuse(w.bytes - page, page * 16, page * 2, PGT_ERANGE);
			refuse(0 - page, page * 8, page * 2, PGT_ERANGE);
			refuse(w.bytes - page, 0 - page, page * 2, PGT_ERANGE);
			refuse(page * 2, page, 0 - page, PGT_EINVAL);
			refuse(0, w.bytes / 2, w.bytes / 2 + page, PGT_EINVAL);
			want(!embed_compare(&w.e, &before));
			world_close(&w);
		}
	ok(fine, "case 30: base + size wraps: %s, move, at the source, the destination and both", format);
}

static void case_31(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		if (!world_open(&w, format, granule, 48, TRACK, EMBED_ALL))
			continue;
		want_status(pgt_create(&w.c, &other), PGT_OK);
		want_status(pgt_map(w.t, 0, 0, page, RWD, 0, NULL), PGT_OK);
		embed_snapshot(&w.e, &before);
		refuse(0, page * 8, 0, PGT_EINVAL);
		refuse(page * 8, 0, 0, PGT_EINVAL);
		refuse(0, 0, 0, PGT_EINVAL);
		refuse(w.bytes - page, page, 0, PGT_EINVAL);
		refuse(w.bytes, w.bytes, 0, PGT_EINVAL);
		refuse(0, 0, page, PGT_EINVAL);
		want_status(pgt_copy(other, w.t, 0, 0, 0, NULL), PGT_EINVAL);
		want(!embed_compare(&w.e, &before));
		/* Page 0 and PA 0 are like any other, as source and as destination. */
		want_status(pgt_move(w.t, 0, page * 8, page, 0, NULL), PGT_OK);
		is(w.t, page * 8, 0, RWD);
		want(is_empty(w.t, 0));
		want_status(pgt_move(w.t, page * 8, 0, page, 0, NULL), PGT_OK);
		is(w.t, 0, 0, RWD);
		want_status(pgt_copy(other, w.t, 0, page, 0, NULL), PGT_OK);
		is(other, 0, 0, RW);
		want_status(pgt_store(w.t, 0, page, 0, PGT_REPLACE, NULL), PGT_OK);
		want_status(pgt_move(w.t, 0, page * 9, page, 0, NULL), PGT_OK);
		want_u64(query(w.t, page * 9).state, PGT_TOKEN);
		want_u64(query(w.t, page * 9).token, 0);
		want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
		pgt_destroy(other);
		world_close(&w);
	}
	ok(fine, "case 31: Zero-length and address-zero requests: %s, move and copy", format);
}

static void case_36(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), block;

		if (!world_open(&w, format, granule, 48, 0, EMBED_ALL))
			continue;
		block = geo_span(&w.geo, 2);
		want_status(pgt_map(w.t, block, 0, block * 2, RW, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, block * 4 + page, 0, page, RW, 0, NULL), PGT_OK);
		embed_snapshot(&w.e, &before);
		/* A block is to be split: at its edges, or because the destination doesn't suit it. */
		where("granule %u", granule);
		want_status(pgt_move(w.t, block + page, block * 8, page, PGT_NO_SPLIT, NULL), PGT_EBLOCK);
		want_status(pgt_move(w.t, block, block * 8 + page, block, PGT_NO_SPLIT, NULL), PGT_EBLOCK);
		want_status(pgt_move(w.t, block + page, block * 8, page, PGT_NO_BREAK, NULL), PGT_EBREAK);
		/* Something stands at the destination: a block, or a page in a table. */
		want_status(pgt_move(w.t, block * 4 + page, block, page, 0, NULL), PGT_EEXIST);
		want_status(pgt_move(w.t, block, block * 4, block, 0, NULL), PGT_EEXIST);
		want(!embed_compare(&w.e, &before));
		/* Nothing to be moved is no error. */
		want_status(pgt_move(w.t, block * 16, block * 24, block, 0, NULL), PGT_OK);
		want(!embed_compare(&w.e, &before));
		world_close(&w);
	}
	ok(fine, "case 36: Error does not say which way the size mismatch goes: %s, move", format);
}

/* ---- 7, 38: one leaf of each size --------------------------------------------- */

static void one_whole(unsigned level, unsigned bits)
{
	uint64_t size = BIT(bits), va = size * 4, to = size * 8, allocated;
	struct pgt_gather g;

	where("granule %u, level %u, 2^%u", w.geo.g, level, bits);
	want_status(pgt_map(w.t, va, size * 3, size, RWD | PGT_SW2, PGT_MAX_LEAF(bits), NULL), PGT_OK);
	/* The tables above the destination are there. */
	want_status(pgt_map(w.t, to, 0, size, RW, PGT_MAX_LEAF(bits), NULL), PGT_OK);
	want_status(pgt_unmap(w.t, to, size, PGT_KEEP_TABLES, NULL), PGT_OK);
	allocated = w.e.allocated;
	embed_fail(&w.e, 1, true);
	want_status(pgt_gather_begin(&g, w.t), PGT_OK);
	want_status(pgt_move(w.t, va, to, size, PGT_NO_SPLIT | PGT_NO_BREAK | PGT_KEEP_TABLES, &g), PGT_OK);
	want_status(pgt_gather_end(&g), PGT_OK);
	embed_fail(&w.e, 0, false);
	want_u64(w.e.allocated, allocated);
	want_u64(g.tally.blocks_split + g.tally.runs_unfolded, 0);
	want_u64(query(w.t, to).level, level);
	want_u64(query(w.t, to).run_bytes, size);
	want(raw_is_leaf(&w, raw_entry(&w, to, level), level));
	all_is(w.t, to, size * 3, size, RWD | PGT_SW2);
	all_empty(va, size);
	sound(&w);
	/* Where it doesn't fit: in pages, or what fits. */
	if (level < 3 && size >> w.geo.g <= BIT(14)) {
		uint64_t page = BIT(w.geo.g);

		want_status(pgt_move(w.t, to, va + page, size, 0, NULL), PGT_OK);
		no_empty_tables(to, size);
		all_is(w.t, va + page, size * 3, size, RWD | PGT_SW2);
		want(raw_is_leaf(&w, raw_entry(&w, va + page, 3), 3));
		all_empty(to, size);
		want_u64(query(w.t, va).state, PGT_EMPTY);
		sound(&w);
	}
	want_status(pgt_unmap(w.t, 0, size * 16, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
}

static void case_7_38(const char *format, unsigned number)
{
	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, TRACK | (number == 7 ? PGT_FEAT_CONTIG : 0), EMBED_ALL))
			continue;
		for (unsigned l = w.geo.top_block; l <= 3; l++) {
			one_whole(l, geo_bits(&w.geo, l));
			if (w.geo.run_log[l] && BIT(geo_run_bits(&w.geo, l)) <= w.bytes / 16)
				one_whole(l, geo_run_bits(&w.geo, l));
		}
		world_close(&w);
	}
	if (number == 7)
		ok(fine, "case 7: Page entries written with the block encoding at L3: %s, after move", format);
	else
		ok(fine, "case 38: Request exactly as large as one entry goes one level too deep: %s, move", format);
}

/* ---- 46 ------------------------------------------------------------------------ */

static uint64_t run_va, run_len;
static unsigned run_level, run_told;
static bool run_broken;

/* When the TLB is first told of the run, none of its members is valid. */
static void watch_run(struct embed *e, const struct embed_event *ev)
{
	uint64_t span = geo_span(&w.geo, run_level);

	(void)e;
	if (ev->kind != EMBED_INVALIDATE || ev->range.va > run_va ||
	    ev->range.va + (ev->range.len - 1) < run_va + (run_len - 1) || run_told++)
		return;
	for (uint64_t at = 0; at < run_len; at += span) {
		uint64_t raw = raw_entry(&w, run_va + at, run_level);

		run_broken &= !raw_is_valid(&w, raw, run_level);
	}
}

static void member(unsigned level, uint64_t n, uint64_t i)
{
	uint64_t span = geo_span(&w.geo, level), run = span * n, va = run * 3, to = run * 8 + span;
	struct pgt_stat s;

	where("granule %u, level %u, member %u", w.geo.g, level, (unsigned)i);
	want_status(pgt_map(w.t, va, run * 5, run, RWD, 0, NULL), PGT_OK);
	want_u64(query(w.t, va).run_bytes, run);
	embed_snapshot(&w.e, &before);
	want_status(pgt_move(w.t, va + i * span, to, span, PGT_NO_SPLIT, NULL), PGT_EBLOCK);
	want_status(pgt_move(w.t, va + i * span, to, span, PGT_NO_BREAK, NULL), PGT_EBREAK);
	want(!embed_compare(&w.e, &before));
	run_va = va;
	run_len = run;
	run_level = level;
	run_told = 0;
	run_broken = true;
	w.e.hook = watch_run;
	want_status(pgt_move(w.t, va + i * span, to, span, 0, NULL), PGT_OK);
	w.e.hook = NULL;
	want(run_told && run_broken);
	want_status(pgt_stat(w.t, va, run, &s), PGT_OK);
	want_u64(s.runs[level + 1], 0);
	want_u64(s.leaves[level + 1], n - 1);
	for (uint64_t k = 0; k < n; k++) {
		struct pgt_mapping m = query(w.t, va + k * span);

		if (k == i) {
			want_u64(m.state, PGT_EMPTY);
			continue;
		}
		want_u64(m.entry & raw_contig(&w), 0);
		is(w.t, va + k * span, run * 5 + k * span, RWD);
	}
	is(w.t, to, run * 5 + i * span, RWD);
	want_u64(query(w.t, to).entry & raw_contig(&w), 0);
	sound(&w);
	want_status(pgt_unmap(w.t, va, run * 8, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
}

static void case_46(const char *format)
{
	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG | TRACK, EMBED_ALL))
			continue;
		for (unsigned l = w.geo.top_block; l <= 3; l++) {
			uint64_t n = BIT(w.geo.run_log[l]);

			if (n == 1 || BIT(geo_run_bits(&w.geo, l)) > w.bytes / 16)
				continue;
			for (uint64_t i = 0; i < n; i += i + 2 < n ? (n > 32 ? 21 : 5) : 1)
				member(l, n, i);
		}
		world_close(&w);
	}
	ok(fine, "case 46: Changing one member of a hinted group: %s, move, every run", format);
}

/* ---- 47 ------------------------------------------------------------------------ */

static void case_47(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG | TRACK, EMBED_ALL))
			continue;
		for (unsigned bits = granule + 1; bits < 43; bits++) {
			uint64_t size = BIT(bits), va = size * 4;

			if (!(pgt_leaf_sizes(w.t) & size) || size > w.bytes / 16)
				continue;
			for (unsigned op = size / page > BIT(14) ? 3 : 0; op < 4; op++) {
				/* Aligned alike, a page off, across several leaves, one page. */
				const uint64_t to[] = { size * 9 + page, size * 9 + 2 * page, size * 9, size * 9 };
				const uint64_t len[] = { size, page * 3, size * 2, page };
				uint64_t k = 0, digest;
				int status = PGT_ENOMEM;

				want_status(pgt_map(w.t, va, size, size * 3, RWD, 0, NULL), PGT_OK);
				digest = embed_digest(w.t);
				while (status == PGT_ENOMEM && ++k < 600) {
					where("granule %u, leaf 2^%u, op %u, k %u", granule, bits, op,
					      (unsigned)k);
					embed_snapshot(&w.e, &before);
					embed_fail(&w.e, k, k & 1);
					status = pgt_move(w.t, va + page, to[op], len[op], 0, NULL);
					if (status != PGT_ENOMEM)
						break;
					want(!embed_compare(&w.e, &before));
					want_u64(embed_digest(w.t), digest);
				}
				embed_fail(&w.e, 0, false);
				want_status(status, PGT_OK);
				all_is(w.t, to[op], size + page, len[op], RWD);
				all_empty(va + page, len[op]);
				sound(&w);
				want_status(pgt_unmap(w.t, 0, size * 16, 0, NULL), PGT_OK);
				want_u64(w.e.live, 1);
			}
		}
		world_close(&w);
	}
	ok(fine, "case 47: Split fails for lack of memory and leaves a wrong mapping: %s, move, every allocation "
	   "failing", format);
}

/* ---- 71 ------------------------------------------------------------------------- */

/* Blocks onto a place that an old table spans, by `off` beside where they fit. */
static void one_71(unsigned level, uint64_t off, unsigned kind, unsigned flags)
{
	bool small = w.geo.b < 3; /* a table has less than eight entries */
	uint64_t span = geo_span(&w.geo, level), page = BIT(w.geo.g), n = off && level < 2 ? 1 : small ? 4 : 5;
	uint64_t from = span * (small ? 9 : 8), to = (span << w.geo.b) + off, len = n * span;
	bool fits = !(off & (span - 1));

	where("granule %u, level %u, %#" PRIx64 " off, old table %u, flags %#x", w.geo.g, level, off, kind, flags);
	want_status(pgt_map(w.t, from, span * 3, len, RWD | PGT_SW0, 0, NULL), PGT_OK);
	if (kind) {
		/* Left by one page, or by all of them, kept or gone. */
		uint64_t old = kind == 1 ? page : span;

		want_status(pgt_map(w.t, to, 0, old, RW, PGT_MAX_LEAF(w.geo.g), NULL), PGT_OK);
		want_status(pgt_unmap(w.t, to, old, kind == 3 ? 0 : PGT_KEEP_TABLES, NULL), PGT_OK);
	}
	if (!fits) {
		embed_snapshot(&w.e, &before);
		want_status(pgt_move(w.t, from, to, len, PGT_NO_SPLIT, NULL), PGT_EBLOCK);
		want(!embed_compare(&w.e, &before));
	}
	want_status(pgt_move(w.t, from, to, len, flags, NULL), PGT_OK);
	if (!flags)
		no_empty_tables(from, len);
	all_is(w.t, to, span * 3, len, RWD | PGT_SW0);
	all_empty(from, len);
	if (fits) {
		for (uint64_t i = 0; i < n; i++)
			want_u64(query(w.t, to + i * span).level, level);
	}
	sound(&w);
	/* And back: blocks that were split stay what they are, and nothing is lost. */
	want_status(pgt_move(w.t, to, from, len, 0, NULL), PGT_OK);
	no_empty_tables(to, len);
	all_is(w.t, from, span * 3, len, RWD | PGT_SW0);
	sound(&w);
	want_status(pgt_unmap(w.t, from, len, 0, NULL), PGT_OK);
	want_status(pgt_trim(w.t, 0, w.bytes, NULL), PGT_OK);
	want_u64(w.e.live, 1);
}

static void case_71(const char *format)
{
	begin();
	if (world_open(&w, format, 12, 48, 0, EMBED_ALL)) {
		uint64_t n = BIT(w.geo.b) > 5 ? 5 : 3;

		want_status(pgt_map(w.t, w.l1, 0, n * w.l2, RW, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, 2 * w.l1, 0, w.page, RW, 0, NULL), PGT_OK);
		want_status(pgt_unmap(w.t, 2 * w.l1, w.page, 0, NULL), PGT_OK);
		want_status(pgt_move(w.t, w.l1, 2 * w.l1, n * w.l2, 0, NULL), PGT_OK);
		for (uint64_t i = 0; i < n; i++) {
			want_u64(query(w.t, 2 * w.l1 + i * w.l2).level, 2);
			is(w.t, 2 * w.l1 + i * w.l2, i * w.l2, RWD);
		}
		want_u64(w.e.live, 3);
		sound(&w);
		world_close(&w);
	}
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		for (unsigned contig = 0; contig < 2; contig++) {
			if (!world_open(&w, format, granule, 48, TRACK | (contig ? PGT_FEAT_CONTIG : 0), EMBED_ALL))
				continue;
			for (unsigned l = w.geo.top_block; l < 3; l++)
				for (unsigned kind = 0; kind < 4; kind++) {
					if (geo_span(&w.geo, l) > BIT(36) || (l < 2 && kind == 2))
						continue;
					one_71(l, 0, kind, 0);
					one_71(l, 0, kind, PGT_KEEP_TABLES);
					if (geo_span(&w.geo, l) / page > BIT(14))
						continue;
					one_71(l, page, kind, 0);
					one_71(l, geo_span(&w.geo, l) - page, kind, PGT_KEEP_TABLES);
				}
			world_close(&w);
		}
		/* Destroyed with the tables as the move left them. */
		if (!world_open(&w, format, granule, 48, 0, EMBED_ALL))
			continue;
		want_status(pgt_map(w.t, geo_span(&w.geo, 2) * 4, 0, geo_span(&w.geo, 2) * 5, RW, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, geo_span(&w.geo, 2) * 16, 0, page, RW, 0, NULL), PGT_OK);
		want_status(pgt_unmap(w.t, geo_span(&w.geo, 2) * 16, page, PGT_KEEP_TABLES, NULL), PGT_OK);
		want_status(pgt_move(w.t, geo_span(&w.geo, 2) * 4, geo_span(&w.geo, 2) * 16 + page,
				     geo_span(&w.geo, 2) * 5, PGT_KEEP_TABLES, NULL), PGT_OK);
		world_close(&w);
	}
	ok(fine, "case 71: Moving a block onto a slot with an old table: %s, blocks of every level, old tables of every "
	   "kind, aligned and not", format);
}

int main(void)
{
	if (!formats[0])
		return tap_skip_all("no format of these was built");
	for_formats(format) {
		case_3(format);
		case_7_38(format, 7);
		case_19(format);
		case_29(format);
		case_30(format);
		case_31(format);
		case_36(format);
		case_7_38(format, 38);
		case_46(format);
		case_47(format);
		case_71(format);
	}
	embed_snapshot_free(&before);
	return tap_done();
}
