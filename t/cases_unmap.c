/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases that users of page-table code have met, unmapping, splitting and the
 * lifetime of tables: each as it was met, and its whole kind.  The numbers are
 * those of t/cases.tsv.
 */
#include "contract.h"

static struct world w;
static struct embed_snapshot before;

/* Where a byte is mapped to, whatever its access flag says. */
static uint64_t target(uint64_t va)
{
	struct pgt_mapping m = query(w.t, va);

	return m.state == PGT_LEAF ? m.pa + (va - m.va) : NOWHERE;
}

/* [va, va + len) is mapped to pa but for a hole of it, in pages of one attribute set. */
static void with_hole(uint64_t va, uint64_t pa, uint64_t len, uint64_t hole, uint64_t hole_len,
		      uint64_t attr)
{
	uint64_t page = BIT(w.geo.g), step = len / page > 4096 ? len / page / 2048 * page : page;

	for (uint64_t at = 0; at < len; at += step) {
		bool gone = at - hole < hole_len;

		if (!want_u64(target(va + at + 9), gone ? NOWHERE : pa + at + 9))
			return;
		if (!gone && !want_u64(query(w.t, va + at).attr, attr))
			return;
	}
	want_u64(target(va + hole), NOWHERE);
	want_u64(target(va + hole + hole_len - 1), NOWHERE);
	if (hole)
		want_u64(target(va + hole - 1), pa + hole - 1);
	if (hole + hole_len < len)
		want_u64(target(va + hole + hole_len), pa + hole + hole_len);
}

/* ---- 37, by unmap ---------------------------------------------------------- */

static void case_37(const char *format)
{
	struct pgt_stat s;

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	want_status(pgt_map(w.t, w.l1, 2 * w.l1, w.l1, RW, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, w.l1 + w.l2 + w.page, w.page, 0, NULL), PGT_OK);
	want_u64(reads(w.t, w.l1 + w.l1 / 2 - w.l2 + 9), 2 * w.l1 + w.l1 / 2 - w.l2 + 9);
	want_status(pgt_stat(w.t, 0, w.bytes, &s), PGT_OK);
	want_u64(s.leaves[2], 0);
	want_u64(s.leaves[3], BIT(w.geo.b) - 1);
	want_u64(s.leaves[4], BIT(w.geo.b) - 1);
	want_u64(w.e.live, 4);
	with_hole(w.l1, 2 * w.l1, w.l1, w.l2 + w.page, w.page, RWD);
	sound(&w);
	world_close(&w);
	ok(fine, "case 37: Split of a big block advances children by the smallest page size: %s, "
	   "by unmap", format);
}

/* ---- 38, 39 ---------------------------------------------------------------- */

static void case_38(const char *format)
{
	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		for (unsigned l = w.geo.top_block; l <= 3; l++) {
			uint64_t span = geo_span(&w.geo, l), allocated;

			/* Two, of which one goes: its neighbour is no part of it. */
			where("granule %u, level %u", granule, l);
			want_status(pgt_map(w.t, span * 2, span * 5, span * 2, RW, 0, NULL), PGT_OK);
			allocated = w.e.allocated;
			embed_fail(&w.e, 1, true);
			embed_log_clear(&w.e);
			want_status(pgt_unmap(w.t, span * 2, span, PGT_NO_SPLIT | PGT_NO_BREAK,
					      NULL), PGT_OK);
			want_u64(w.e.allocated, allocated);
			want_u64(w.e.count[EMBED_INVALIDATE], 1);
			want_u64(w.e.count[EMBED_SYNC], 1);
			want_u64(query(w.t, span * 3).level, l);
			want_u64(reads(w.t, span * 3 - 1), NOWHERE);
			want_u64(reads(w.t, span * 3), span * 6);
			want_status(pgt_unmap(w.t, span * 3, span, PGT_NO_SPLIT, NULL), PGT_OK);
			embed_fail(&w.e, 0, false);
			want_u64(w.e.live, 1);
		}
		world_close(&w);
	}
	ok(fine, "case 38: Request exactly as large as one entry goes one level too deep: %s, one "
	   "of two", format);
}

static void case_39(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG, EMBED_ALL))
		return;
	want_status(pgt_map(w.t, w.l1, 2 * w.l1, 2 * w.l2, RW, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, w.l1 + w.page, w.page, 0, NULL), PGT_OK);
	with_hole(w.l1, 2 * w.l1, 2 * w.l2, w.page, w.page, RWD);
	want_u64(query(w.t, w.l1 + w.l2).level, 2);
	/* Asked for, the whole block goes, and nothing beyond it. */
	embed_fail(&w.e, 1, true);
	want_status(pgt_unmap(w.t, w.l1 + w.l2 + w.page, w.page, PGT_WHOLE, NULL), PGT_OK);
	embed_fail(&w.e, 0, false);
	want_u64(reads(w.t, w.l1 + w.l2), NOWHERE);
	want_u64(reads(w.t, w.l1 + 2 * w.l2 - 1), NOWHERE);
	want_u64(reads(w.t, w.l1 + w.l2 - 1), 2 * w.l1 + w.l2 - 1);
	sound(&w);
	world_close(&w);
	ok(fine, "case 39: Range silently widened to block borders: %s, unmap", format);
}

/* PGT_WHOLE for every leaf and run: it goes whole, without memory. */
static void case_39_whole(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		for (unsigned bits = granule + 1; bits < 43; bits++) {
			uint64_t size = BIT(bits);

			if (!(pgt_leaf_sizes(w.t) & size))
				continue;
			where("granule %u, leaf 2^%u", granule, bits);
			want_status(pgt_map(w.t, size, 0, size, RW, 0, NULL), PGT_OK);
			want_status(pgt_map(w.t, size - page, 0, page, RW, 0, NULL), PGT_OK);
			want_status(pgt_map(w.t, size * 2, 0, page, RW, 0, NULL), PGT_OK);
			embed_fail(&w.e, 1, true);
			want_status(pgt_unmap(w.t, size + size / 2, page, PGT_WHOLE, NULL), PGT_OK);
			embed_fail(&w.e, 0, false);
			want_u64(reads(w.t, size), NOWHERE);
			want_u64(reads(w.t, size * 2 - 1), NOWHERE);
			want_u64(reads(w.t, size - 1), page - 1);
			want_u64(reads(w.t, size * 2), 0);
			sound(&w);
			want_status(pgt_unmap(w.t, 0, size * 4, 0, NULL), PGT_OK);
			want_u64(w.e.live, 1);
		}
		world_close(&w);
	}
	ok(fine, "case 39: Range silently widened to block borders: %s, PGT_WHOLE takes exactly "
	   "the leaf or run", format);
}

/* ---- 43 -------------------------------------------------------------------- */

static void one_43(uint64_t size, uint64_t hole, uint64_t len)
{
	uint64_t va = size * 2, pa = size * 3;

	where("granule %u, leaf %#" PRIx64 ", hole %#" PRIx64 "+%#" PRIx64, w.geo.g, size, hole,
	      len);
	want_status(pgt_map(w.t, va, pa, size, RW | PGT_SW1, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, va + hole, len, 0, NULL), PGT_OK);
	with_hole(va, pa, size, hole, len, RWD | PGT_SW1);
	sound(&w);
	if (hole)
		want_status(pgt_unmap(w.t, va, hole, 0, NULL), PGT_OK);
	if (hole + len < size)
		want_status(pgt_unmap(w.t, va + hole + len, size - hole - len, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
}

static void case_43(const char *format)
{
	uint64_t hole, len;

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	hole = w.l2 / 4;
	len = w.l2 / 32 < w.page ? w.page : w.l2 / 32;
	want_status(pgt_map(w.t, w.l1, 2 * w.l1, w.l2, RW, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, w.l1 + hole, len, 0, NULL), PGT_OK);
	with_hole(w.l1, 2 * w.l1, w.l2, hole, len, RWD);
	want_status(pgt_unmap(w.t, w.l1, hole, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, w.l1 + hole + len, w.l2 - hole - len, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
	world_close(&w);
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		for (unsigned bits = granule + 1; bits < 43; bits++) {
			uint64_t size = BIT(bits);

			if (!(pgt_leaf_sizes(w.t) & size))
				continue;
			one_43(size, 0, page);
			one_43(size, size / 2, page);
			one_43(size, size - page, page);
			one_43(size, page, size - page);
			one_43(size, 0, size - page);
			if (size / 4 >= page)
				one_43(size, size / 4, size / 2);
			one_43(size, 0, size / 2);
			one_43(size, size / 2, size / 2);
		}
		world_close(&w);
	}
	ok(fine, "case 43: Partial unmap of a block refused after a bookkeeping change: %s, head, "
	   "middle, tail, one page, all but one, of every leaf and run", format);
}

/* ---- 46 -------------------------------------------------------------------- */

static uint64_t run_va, run_len;
static unsigned run_level, run_told;
static bool run_broken;

/* When the TLB is told of the run, none of its members is valid. */
static void watch_run(struct embed *e, const struct embed_event *ev)
{
	uint64_t span = geo_span(&w.geo, run_level);

	(void)e;
	if (ev->kind != EMBED_INVALIDATE || ev->range.va > run_va ||
	    ev->range.va + (ev->range.len - 1) < run_va + (run_len - 1))
		return;
	run_told++;
	if (run_told > 1)
		return;
	for (uint64_t at = 0; at < run_len; at += span)
		run_broken &= !raw_is_valid(&w, raw_entry(&w, run_va + at, run_level), run_level);
}

static void case_46(const char *format)
{
	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		for (unsigned l = w.geo.top_block; l <= 3; l++) {
			uint64_t span = geo_span(&w.geo, l), run = BIT(geo_run_bits(&w.geo, l));
			uint64_t n = run / span;

			if (n == 1 || run > w.bytes / 8)
				continue;
			for (uint64_t i = 0; i < n; i += i + 2 < n ? (n > 32 ? 21 : 5) : 1) {
				uint64_t va = run * 3;
				struct pgt_stat s;

				where("granule %u, level %u, member %u", granule, l,
				      (unsigned)i);
				want_status(pgt_map(w.t, va, run * 5, run, world_attr(&w, RW | PGT_GLOBAL), 0, NULL),
					    PGT_OK);
				want_u64(query(w.t, va).run_bytes, run);
				/* One member's state is the run's, and stays with the rest. */
				embed_snapshot(&w.e, &before);
				want_status(pgt_unmap(w.t, va + i * span, span, PGT_NO_SPLIT, NULL),
					    PGT_EBLOCK);
				want_status(pgt_unmap(w.t, va + i * span, span, PGT_NO_BREAK, NULL),
					    PGT_EBREAK);
				want(!embed_compare(&w.e, &before));
				embed_log_clear(&w.e);
				run_va = va;
				run_len = run;
				run_level = l;
				run_told = 0;
				run_broken = true;
				w.e.hook = watch_run;
				want_status(pgt_unmap(w.t, va + i * span, span, 0, NULL), PGT_OK);
				w.e.hook = NULL;
				want(run_told && run_broken);
				want(w.e.count[EMBED_SYNC] >= 1);
				sound(&w);
				want_status(pgt_stat(w.t, va, run, &s), PGT_OK);
				want_u64(s.leaves[l + 1], n - 1);
				want_u64(s.runs[l + 1], 0);
				for (uint64_t k = 0; k < n; k++) {
					uint64_t at = va + k * span;

					want_u64(raw_entry(&w, at, l) & raw_contig(&w), 0);
					if (k != i)
						want_u64(query(w.t, at).attr, world_attr(&w, RWD | PGT_GLOBAL));
					want_u64(reads(w.t, at), k == i ? NOWHERE :
						 run * 5 + k * span);
				}
				want_status(pgt_unmap(w.t, va, run, 0, NULL), PGT_OK);
				want_u64(w.e.live, 1);
			}
		}
		world_close(&w);
	}
	ok(fine, "case 46: Changing one member of a hinted group: %s, unmap, every run", format);
}

/* A part of a member: both the run and the block come apart, and the rest of the run
 * keeps its state. */
static void case_46_state(const char *format)
{
	static const uint64_t states[] = { 0, PGT_YOUNG, PGT_DIRTY, PGT_YOUNG | PGT_DIRTY };
	uint64_t run;

	begin();
	for (unsigned i = 0; i < 4; i++) {
		where("state %#" PRIx64, states[i]);
		if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG | PGT_FEAT_TRACK_YOUNG |
				PGT_FEAT_TRACK_DIRTY, EMBED_ALL))
			continue;
		run = BIT(geo_run_bits(&w.geo, 2));
		want_status(pgt_map(w.t, run, 2 * run, run, RW | states[i], 0, NULL),
			    PGT_OK);
		want_u64(query(w.t, run).run_bytes, run);
		want_status(pgt_unmap(w.t, run + run / 4 + w.page, w.page, 0, NULL), PGT_OK);
		with_hole(run, 2 * run, run, run / 4 + w.page, w.page, RW | states[i]);
		sound(&w);
		world_close(&w);
	}
	ok(fine, "case 46: Changing one member of a hinted group: %s, young and dirty state of "
	   "the rest", format);
}

/* ---- 47 -------------------------------------------------------------------- */

static void case_47(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		for (unsigned bits = granule + 1; bits < 43; bits++) {
			uint64_t size = BIT(bits), va = size * 4;

			if (!(pgt_leaf_sizes(w.t) & size))
				continue;
			want_status(pgt_map(w.t, va, size, size * 3, RW, 0, NULL), PGT_OK);
			for (unsigned op = 0; op < 3; op++) {
				uint64_t k = 0, digest = embed_digest(w.t);
				int status = PGT_ENOMEM;
				struct request q = { va + page, 0, 2 * size, 63 };

				if (op == 2 && tables_for(&w.geo, &q) > 3000)
					continue;
				/* The k-th allocation fails, until there are enough. */
				while (status == PGT_ENOMEM && ++k < 30) {
					where("granule %u, leaf 2^%u, op %u, k %u", granule,
					      bits, op, (unsigned)k);
					embed_snapshot(&w.e, &before);
					embed_fail(&w.e, k < 20 ? k : 0, k & 1);
					if (op == 0)
						status = pgt_unmap(w.t, va + page, page, 0, NULL);
					else if (op == 1)
						status = pgt_unmap(w.t, va + page, 2 * size, 0,
								   NULL);
					else
						status = pgt_map(w.t, va + page, 0, 2 * size,
								 PGT_READ, PGT_REPLACE, NULL);
					if (status != PGT_ENOMEM)
						break;
					want(!embed_compare(&w.e, &before));
					want_u64(embed_digest(w.t), digest);
				}
				embed_fail(&w.e, 0, false);
				want_status(status, PGT_OK);
				sound(&w);
				want_status(pgt_unmap(w.t, 0, size * 8, 0, NULL), PGT_OK);
				want_u64(w.e.live, 1);
				want_status(pgt_map(w.t, va, size, size * 3, RW, 0, NULL), PGT_OK);
			}
			want_status(pgt_unmap(w.t, va, size * 3, 0, NULL), PGT_OK);
		}
		world_close(&w);
	}
	ok(fine, "case 47: Split fails for lack of memory and leaves a wrong mapping: %s, unmap and "
	   "replacement, every allocation failing", format);
}

/* ---- 49, unmap ------------------------------------------------------------- */

static void case_49(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	want_status(pgt_map(w.t, w.l1, 9 * w.l1, w.page, RW, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, w.l1, w.page, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
	want_status(pgt_map(w.t, w.l1, 9 * w.l1, w.l2, RW, 0, NULL), PGT_OK);
	want_u64(query(w.t, w.l1).level, 2);
	want_u64(w.e.live, 3);
	world_close(&w);

	/* Kept tables are there for the next map, and trim takes them. */
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	want_status(pgt_map(w.t, w.l1, 0, 2 * w.l2, RW, PGT_MAX_LEAF(w.geo.g), NULL), PGT_OK);
	want_u64(w.e.live, 5);
	want_status(pgt_unmap(w.t, w.l1, 2 * w.l2, PGT_KEEP_TABLES, NULL), PGT_OK);
	want_u64(w.e.live, 5);
	embed_fail(&w.e, 1, true);
	want_status(pgt_map(w.t, w.l1, 0, 2 * w.l2, RW, PGT_MAX_LEAF(w.geo.g), NULL), PGT_OK);
	embed_fail(&w.e, 0, false);
	want_status(pgt_unmap(w.t, w.l1, 2 * w.l2, PGT_KEEP_TABLES, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.l1 + w.l2, 0, w.page, RW, 0, NULL), PGT_OK);
	embed_log_clear(&w.e);
	want_status(pgt_trim(w.t, 0, 4 * w.l1, NULL), PGT_OK);
	want_u64(w.e.live, 4);
	want_u64(w.e.count[EMBED_FREE], 1);
	want(w.e.count[EMBED_INVALIDATE] >= 1 && w.e.count[EMBED_SYNC] >= 1);
	want_u64(reads(w.t, w.l1 + w.l2), 0);
	embed_log_clear(&w.e);
	want_status(pgt_trim(w.t, 0, w.bytes, NULL), PGT_OK);
	want_u64(w.e.events, 0);
	world_close(&w);
	ok(fine, "case 49: Empty leftover table blocks later use of a block: %s, tables freed at "
	   "unmap, kept when asked, trimmed", format);
}

/* ---- 52, by unmap ---------------------------------------------------------- */

static void case_52(const char *format)
{
	static const uint64_t attrs[] = {
		RW, RW | PGT_YOUNG, RW | PGT_DIRTY, RWD, PGT_READ, PGT_READ | PGT_DIRTY,
		PGT_READ | PGT_YOUNG | PGT_SW0 | PGT_SW2,
	};

	begin();
	for (unsigned i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		where("attr %#" PRIx64, attrs[i]);
		if (!world_open(&w, format, 12, 48, PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY,
				EMBED_ALL))
			continue;
		want_status(pgt_map(w.t, w.l1, 2 * w.l1, w.l1, attrs[i], 0, NULL), PGT_OK);
		want_status(pgt_unmap(w.t, w.l1 + 3 * w.l2 + w.page, w.page, 0, NULL), PGT_OK);
		with_hole(w.l1, 2 * w.l1, w.l1, 3 * w.l2 + w.page, w.page, attrs[i]);
		for (uint64_t at = 3 * w.l2; at < 4 * w.l2; at += w.page)
			if (at != 3 * w.l2 + w.page)
				want_u64(query(w.t, w.l1 + at).attr, attrs[i]);
		/* Writable stays writable where hardware finds it (bit 51). */
		if (w.arm64 && attrs[i] & PGT_WRITE)
			want_u64(raw_entry(&w, w.l1 + 3 * w.l2, 3) >> 51 & 1, 1);
		sound(&w);
		world_close(&w);
	}
	ok(fine, "case 52: Dirty/young state at a split: %s, by unmap", format);
}

/* ---- 55 -------------------------------------------------------------------- */

static void case_55(const char *format)
{
	struct embed_rng r;
	uint64_t left, rest; /* the page that stays; how many follow it */

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	left = BIT(w.geo.b) > 12 ? BIT(w.geo.b) - 12 : 2;
	rest = BIT(w.geo.b) - left - 1;
	want_status(pgt_map(w.t, w.l2, 0, w.l2, RW, 0, NULL), PGT_OK);
	/* All but one page: the first cut splits the block. */
	want_status(pgt_unmap(w.t, w.l2, left * w.page, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, w.l2 + (left + 1) * w.page, rest * w.page, 0, NULL), PGT_OK);
	want_u64(reads(w.t, w.l2 + left * w.page), left * w.page);
	want_u64(w.e.live, 4);
	sound(&w);
	want_status(pgt_unmap(w.t, w.l2, w.l2, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
	world_close(&w);

	/* Cuts at random, recounted each time. */
	embed_seed(&r, 55);
	for_granules(format, granule) {
		uint64_t page = BIT(granule), n, size, va;
		static bool gone[8192 * 2];

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		size = geo_span(&w.geo, 2) * 2;
		va = size * 3;
		n = size / page;
		for (unsigned round = 0; round < 3; round++) {
			uint64_t still = n;

			memset(gone, 0, sizeof(gone));
			want_status(pgt_map(w.t, va, 0, size, RW, 0, NULL), PGT_OK);
			for (unsigned cut = 0; still && cut < 60; cut++) {
				uint64_t first = embed_below(&r, n), count = 1 + embed_below(&r, 9);
				struct pgt_stat s;

				if (embed_once_in(&r, 8))
					count = n / 4;
				if (count > n - first)
					count = n - first;
				where("granule %u, cut %u of %u at %u", granule, cut,
				      (unsigned)count, (unsigned)first);
				want_status(pgt_unmap(w.t, va + first * page, count * page, 0,
						      NULL), PGT_OK);
				for (uint64_t k = first; k < first + count; k++) {
					still -= !gone[k];
					gone[k] = true;
				}
				want_status(pgt_stat(w.t, va, size, &s), PGT_OK);
				want_u64(s.mapped_bytes, still * page);
				want_u64(reads(w.t, va + first * page), NOWHERE);
			}
			for (uint64_t k = 0; k < n; k++)
				if (!want_u64(reads(w.t, va + k * page), gone[k] ? NOWHERE : k * page))
					break;
			sound(&w);
			want_status(pgt_unmap(w.t, va, size, 0, NULL), PGT_OK);
			want_u64(w.e.live, 1);
		}
		world_close(&w);
	}
	ok(fine, "case 55: Counter not raised on split makes a later full unmap stop early: %s",
	   format);
}

/* ---- 57 -------------------------------------------------------------------- */

static void case_57(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	want_status(pgt_map(w.t, w.l1, 0, w.page, RW, 0, NULL), PGT_OK);
	want_u64(w.e.live, 4);
	embed_log_clear(&w.e);
	want_status(pgt_unmap(w.t, w.l1, w.page, 0, NULL), PGT_OK);
	want_u64(w.e.count[EMBED_FREE], 3);
	want_u64(w.e.live, 1);
	want_status(pgt_map(w.t, w.l1, 0, w.page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.l1 + w.l2, 0, w.page, RW, 0, NULL), PGT_OK);
	embed_log_clear(&w.e);
	want_status(pgt_unmap(w.t, w.l1 + w.l2, w.page, 0, NULL), PGT_OK);
	want_u64(w.e.count[EMBED_FREE], 1);
	want_u64(reads(w.t, w.l1), 0);
	world_close(&w);

	/* Two pages whose paths part at each level: exactly what is below it goes. */
	for_granules(format, granule)
		for (unsigned input = 25; input <= 48; input++) {
			uint64_t page = BIT(granule);

			if (!world_open(&w, format, granule, input, 0, EMBED_ALL))
				continue;
			for (unsigned l = w.geo.start; l <= 3; l++) {
				uint64_t other = geo_span(&w.geo, l);

				where("granule %u, input %u, level %u", granule, input, l);
				want_status(pgt_map(w.t, 0, 0, page, RW, 0, NULL), PGT_OK);
				want_status(pgt_map(w.t, other, 0, page, RW, 0, NULL), PGT_OK);
				want_u64(w.e.live, 1 + 3 - w.geo.start + 3 - l);
				embed_log_clear(&w.e);
				want_status(pgt_unmap(w.t, other, page, 0, NULL), PGT_OK);
				want_u64(w.e.count[EMBED_FREE], 3 - l);
				want_status(pgt_unmap(w.t, 0, page, 0, NULL), PGT_OK);
				want_u64(w.e.live, 1);
				/* Both by one call. */
				want_status(pgt_map(w.t, 0, 0, page, RW, 0, NULL), PGT_OK);
				want_status(pgt_map(w.t, other, 0, page, RW, 0, NULL), PGT_OK);
				want_status(pgt_unmap(w.t, 0, other + page, 0, NULL), PGT_OK);
				want_u64(w.e.live, 1);
			}
			world_close(&w);
		}
	ok(fine, "case 57: One level missing in the clean-up chain: %s, every level of every shape",
	   format);
}

/* ---- 58 -------------------------------------------------------------------- */

static void case_58(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), block, va;

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		where("granule %u", granule);
		block = geo_span(&w.geo, 2);
		va = block * 5;
		want_status(pgt_map(w.t, va, 0, block, RW, 0, NULL), PGT_OK);
		want_status(pgt_unmap(w.t, va, page, 0, NULL), PGT_OK);
		want_status(pgt_unmap(w.t, va + page, block - page, 0, NULL), PGT_OK);
		want_u64(w.e.live, 1);
		for (uint64_t at = 0; at < block; at += page)
			want_status(pgt_map(w.t, va + at, at, page, RW, 0, NULL), PGT_OK);
		for (uint64_t i = 0; i < 10 && i * 7 < BIT(w.geo.b); i++)
			want_status(pgt_map(w.t, va + i * 7 * page, block * 9, page, PGT_READ,
					    PGT_REPLACE, NULL), PGT_OK);
		sound(&w);
		want_status(pgt_unmap(w.t, va, block, 0, NULL), PGT_OK);
		want_u64(w.e.live, 1);
		want_status(pgt_map(w.t, va, 0, page, RW, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, va, 0, page, RW, PGT_REPLACE, NULL), PGT_OK);
		want_status(pgt_map(w.t, va, page, page, RW, PGT_REPLACE, NULL), PGT_OK);
		want_status(pgt_unmap(w.t, va, page, 0, NULL), PGT_OK);
		want_u64(w.e.live, 1);
		want_status(pgt_unmap(w.t, va, page, 0, NULL), PGT_OK);
		want_u64(w.e.live, 1);
		/* Pages replaced by a block, and the block by pages again. */
		want_status(pgt_map(w.t, va, 0, block, RW, PGT_MAX_LEAF(granule), NULL),
			    PGT_OK);
		want_status(pgt_map(w.t, va, block, block, RW, PGT_REPLACE, NULL), PGT_OK);
		want_u64(query(w.t, va).level, 2);
		want_u64(w.e.live, 1 + 2 - w.geo.start);
		want_status(pgt_map(w.t, va, 0, block, PGT_READ, PGT_REPLACE |
				    PGT_MAX_LEAF(granule), NULL), PGT_OK);
		want_u64(query(w.t, va).level, 3);
		want_u64(w.e.live, 1 + 3 - w.geo.start);
		sound(&w);
		want_status(pgt_unmap(w.t, va, block, 0, NULL), PGT_OK);
		want_u64(w.e.live, 1);
		world_close(&w);
	}
	ok(fine, "case 58: Reference counts across split and partial unmap: %s", format);
}

/* ---- 59 -------------------------------------------------------------------- */

static void case_59(const char *format)
{
	struct embed_rng r;

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	want_status(pgt_map(w.t, 0, 0, w.page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, geo_span(&w.geo, 0), 0, w.page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.bytes / 2, 0, w.page, RW, 0, NULL), PGT_OK);
	want_u64(w.e.live, 10);
	world_close(&w);
	embed_seed(&r, 59);
	for_granules(format, granule)
		for (unsigned input = 25; input <= 48; input++)
			for (unsigned upper = 0; upper < 2; upper++) {
				uint64_t page = BIT(granule);

				if (upper && !has_upper(format))
					continue;
				where("granule %u, input %u", granule, input);
				if (!world_open(&w, format, granule, input, PGT_FEAT_CONTIG |
						(upper ? PGT_FEAT_UPPER : 0), EMBED_ALL))
					continue;
				for (unsigned i = 0; i < 12; i++) {
					uint64_t at = embed_below(&r, w.bytes / page) * page;
					uint64_t n = 1 + embed_below(&r, 40);

					if (n * page > w.bytes - at)
						n = 1;
					want_status(pgt_map(w.t, w.base + at, at & (BIT(40) - 1),
							    n * page, RW, PGT_REPLACE, NULL),
						    PGT_OK);
					if (embed_once_in(&r, 4))
						want_status(pgt_unmap(w.t, w.base + at, page,
								      PGT_KEEP_TABLES, NULL),
							    PGT_OK);
				}
				embed_log_clear(&w.e);
				w.e.hook = NULL;
				world_close(&w);
			}
	ok(fine, "case 59: Tear-down recursion at a wrong level: %s, tables of every shape and "
	   "half", format);
}

/* Destroy tells the TLB before it frees. */
static void case_59_order(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	want_status(pgt_map(w.t, 3 * w.l1, 0, w.page, RW, 0, NULL), PGT_OK);
	want_status(pgt_reserve(w.t, 3), PGT_OK);
	embed_log_clear(&w.e);
	pgt_destroy(w.t);
	want_u64(w.e.live, 0);
	want_u64(w.e.count[EMBED_FREE], 7);
	want_u64(w.e.count[EMBED_INVALIDATE], 1);
	want_u64(w.e.count[EMBED_SYNC], 1);
	want_u64(w.e.log[0].kind, EMBED_INVALIDATE);
	want_u64(w.e.log[0].range.flags & PGT_TLB_ALL, PGT_TLB_ALL);
	want_u64(w.e.log[0].range.va | w.e.log[0].range.len, 0);
	want_u64(w.e.log[1].kind, EMBED_SYNC);
	embed_fini(&w.e);
	ok(fine, "case 59: Tear-down recursion at a wrong level: %s, invalidated and synced before "
	   "the first table is freed", format);
}

/* ---- 63 -------------------------------------------------------------------- */

static void one_63(uint64_t at, uint64_t p, uint64_t q, uint64_t page)
{
	where("granule %u, at %#" PRIx64, w.geo.g, at);
	want_status(pgt_map(w.t, at, p, page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, at + page, q, 2 * page, RW, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, at + page, page, 0, NULL), PGT_OK);
	want_u64(reads(w.t, at), p);
	want_u64(reads(w.t, at + page), NOWHERE);
	want_u64(reads(w.t, at + 2 * page), q + page);
	want_status(pgt_unmap(w.t, at, 3 * page, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
}

static void case_63(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_TLB))
		return;
	one_63(w.l2 / 16 / w.page * w.page, w.l1, 2 * w.l1, w.page);
	one_63(w.l2 - w.page, w.l1, 2 * w.l1, w.page);
	one_63(w.l2 - 2 * w.page, w.l1, 2 * w.l1, w.page);
	world_close(&w);
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_TLB))
			continue;
		for (unsigned l = w.geo.start; l < 3; l++) {
			uint64_t border = geo_span(&w.geo, l);

			one_63(border - page, page * 9, page * 77, page);
			one_63(border - 2 * page, page * 9, page * 77, page);
			one_63(border, page * 9, page * 10, page);
		}
		world_close(&w);
	}
	ok(fine, "case 63: First page of a region cannot be removed when another region ends "
	   "there: %s, and across every table's border", format);
}

/* ---- 67 -------------------------------------------------------------------- */

static uint64_t removed_bytes, removed_calls;

static int count_removed(void *ctx, const struct pgt_mapping *m)
{
	(void)ctx;
	removed_calls++;
	removed_bytes += m->len;
	return 0;
}

/* Nothing is freed but after an invalidate of it and a sync. */
static bool frees_after_sync(void)
{
	int told = -1, synced = -1;
	bool good = true;

	for (unsigned i = 0; i < w.e.events; i++) {
		if (w.e.log[i].kind == EMBED_INVALIDATE)
			told = (int)i;
		if (w.e.log[i].kind == EMBED_SYNC)
			synced = (int)i;
		if (w.e.log[i].kind == EMBED_FREE)
			good &= told >= 0 && synced > told;
	}
	return good;
}

static uint64_t new_pa;
static bool made_early;

/* Until the sync, the new page isn't there. */
static void watch_replace(struct embed *e, const struct embed_event *ev)
{
	(void)e;
	if (ev->kind == EMBED_INVALIDATE || ev->kind == EMBED_SYNC)
		made_early |= raw_is_leaf(&w, raw_entry(&w, w.l1, 3), 3) &&
			      raw_address(&w, raw_entry(&w, w.l1, 3)) == new_pa;
}

static void case_67(const char *format)
{
	struct pgt_gather g;
	uint64_t n; /* pages */

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	n = w.bytes / w.page > 4096 ? 1000 : 100;
	for (unsigned deferred = 0; deferred < 2; deferred++) {
		where("deferred %u", deferred);
		want_status(pgt_map(w.t, w.l1, 2 * w.l1 + w.page, n * w.page, RW, 0, NULL), PGT_OK);
		removed_bytes = removed_calls = 0;
		want_status(pgt_gather_begin(&g, w.t), PGT_OK);
		g.removed = count_removed;
		embed_log_clear(&w.e);
		want_status(pgt_unmap(w.t, w.l1, n * w.page, 0, &g), PGT_OK);
		/* Reported, and not yet let go of: nothing of it may be used again. */
		want_u64(removed_calls, n);
		want_u64(removed_bytes, n * w.page);
		want_u64(w.e.count[EMBED_FREE], 0);
		if (deferred) {
			want_status(pgt_map(w.t, 9 * w.l1, 0, w.page, RW, 0, &g), PGT_OK);
			want_status(pgt_unmap(w.t, 9 * w.l1, w.page, 0, &g), PGT_OK);
		}
		want_status(pgt_gather_end(&g), PGT_OK);
		want(frees_after_sync());
		want_u64(w.e.live, 1);
		want(w.e.count[EMBED_SYNC] >= 1);
	}

	/* What is replaced is an unmap: told, synced, then the new page. */
	want_status(pgt_map(w.t, w.l1, 2 * w.l1, w.page, RW, 0, NULL), PGT_OK);
	for (unsigned i = 0; i < 2; i++) {
		where("replacement, gather %u", i);
		removed_bytes = 0;
		want_status(pgt_gather_begin(&g, w.t), PGT_OK);
		g.removed = count_removed;
		embed_log_clear(&w.e);
		new_pa = (3 + i) * w.l1;
		made_early = false;
		w.e.hook = watch_replace;
		want_status(pgt_map(w.t, w.l1, new_pa, w.page, RW, PGT_REPLACE, &g), PGT_OK);
		want_u64(removed_bytes, w.page);
		want(w.e.count[EMBED_INVALIDATE] >= 1 && w.e.count[EMBED_SYNC] >= 1);
		w.e.hook = NULL;
		want(!made_early);
		want_u64(g.tally.unmapped, w.page);
		want_u64(g.tally.mapped, w.page);
		want_status(pgt_gather_end(&g), PGT_OK);
		want_u64(reads(w.t, w.l1), new_pa);
	}

	/* An address that the gather still holds is not made anew before it drained. */
	want_status(pgt_gather_begin(&g, w.t), PGT_OK);
	want_status(pgt_unmap(w.t, w.l1, w.page, PGT_KEEP_TABLES, &g), PGT_OK);
	embed_log_clear(&w.e);
	made_early = false;
	new_pa = 8 * w.l1;
	w.e.hook = watch_replace;
	want_status(pgt_map(w.t, w.l1, new_pa, w.page, RW, 0, &g), PGT_OK);
	w.e.hook = NULL;
	want(w.e.count[EMBED_INVALIDATE] >= 1 && w.e.count[EMBED_SYNC] >= 1);
	want(!made_early);
	want_status(pgt_gather_end(&g), PGT_OK);
	world_close(&w);
	ok(fine, "case 67: Page given back before the flush: %s", format);
}

int main(void)
{
	if (!formats[0])
		return tap_skip_all("no format of these was built");
	for_formats(format) {
		case_37(format);
		case_38(format);
		case_39(format);
		case_39_whole(format);
		case_43(format);
		case_46(format);
		case_46_state(format);
		case_47(format);
		case_49(format);
		case_52(format);
		case_55(format);
		case_57(format);
		case_58(format);
		case_59(format);
		case_59_order(format);
		case_63(format);
		case_67(format);
	}
	embed_snapshot_free(&before);
	return tap_done();
}
