/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases that users of page-table code have met, mapping: each as it was met,
 * and its whole kind.  The numbers are those of t/cases.tsv.
 */
#include "contract.h"

static struct world w;
static struct embed_snapshot before;

/* Every page of a mapped range goes where it should, in the leaf that it should. */
static void as_asked(const struct request *q)
{
	uint64_t at = q->va, end = q->va + (q->len - 1);

	for (;;) {
		unsigned run, level = leaf_level(&w.geo, q, at, &run);
		uint64_t span = geo_span(&w.geo, level), last = at | (span - 1);
		struct pgt_mapping m = query(w.t, at);

		if (!want_u64(m.state, PGT_LEAF) || !want_u64(m.level, level) ||
		    !want_u64(m.len, span) || !want_u64(m.run_bytes, BIT(run)) ||
		    !want_u64(reads(w.t, last), q->pa + (last - q->va)))
			return;
		if (last >= end)
			return;
		at = last + 1;
	}
}

/* ---- 22 -------------------------------------------------------------------- */

static unsigned hinted(uint64_t va, uint64_t n)
{
	unsigned count = 0;

	for (uint64_t i = 0; i < n; i++) {
		const void *p = raw_at(&w, va + i * w.page, 3);

		count += p && raw_get(p) & raw_contig(&w);
	}
	return count;
}

static void case_22(const char *format)
{
	uint64_t run, n, off;

	begin();
	if (world_open(&w, format, 12, 48, PGT_FEAT_CONTIG, EMBED_TLB)) {
		run = BIT(geo_run_bits(&w.geo, 3));
		n = run / w.page;
		off = run / 4 < w.page ? w.page : run / 4;
		want_status(pgt_map(w.t, w.l1 + run, 2 * w.l1 + run + off, run, RW, 0, NULL), PGT_OK);
		want_u64(hinted(w.l1, 4 * n), 0);
		want_status(pgt_unmap(w.t, w.l1 + run, run, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, w.l1 + run + off, 2 * w.l1 + run + off, run, RW, 0, NULL),
			    PGT_OK);
		want_u64(hinted(w.l1, 4 * n), 0);
		want_status(pgt_unmap(w.t, w.l1 + run + off, run, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, w.l1 + run / 2, 2 * w.l1 + run / 2, 2 * run, RW, 0, NULL),
			    PGT_OK);
		want_u64(hinted(w.l1, 4 * n), n);
		want_u64(hinted(w.l1 + run, n), n);
		sound(&w);
		world_close(&w);
	}
	if (world_open(&w, format, 14, 48, PGT_FEAT_CONTIG, EMBED_TLB)) {
		run = BIT(geo_run_bits(&w.geo, 3));
		want_status(pgt_map(w.t, run, run + w.page, run, RW, 0, NULL), PGT_OK);
		want_u64(hinted(run, run / w.page), 0);
		world_close(&w);
	}
	ok(fine, "case 22: Hint set on a group that is not aligned on both sides: %s, as met",
	   format);

	/* Around the border of a run of every level, VA and PA off by one and together. */
	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_TLB))
			continue;
		for (unsigned l = w.geo.top_block; l <= 3; l++) {
			uint64_t span = geo_span(&w.geo, l);

			run = BIT(geo_run_bits(&w.geo, l));
			if (run == span || run * 8 > w.bytes)
				continue;
			for (unsigned i = 0; i < 27; i++) {
				struct request q = {
					run * 2 + ((uint64_t)(i % 3) - 1) * span,
					run * 4 + ((uint64_t)(i / 3 % 3) - 1) * span,
					run * 2 + ((uint64_t)(i / 9) - 1) * span, 63,
				};

				where("granule %u, level %u: va %#" PRIx64 " pa %#" PRIx64
				      " len %#" PRIx64, granule, l, q.va, q.pa, q.len);
				want_status(pgt_map(w.t, q.va, q.pa, q.len, RW, 0, NULL), PGT_OK);
				as_asked(&q);
				sound(&w);
				want_status(pgt_unmap(w.t, q.va, q.len, 0, NULL), PGT_OK);
				want_u64(w.e.live, 1);
			}
		}
		world_close(&w);
	}
	ok(fine, "case 22: Hint set on a group that is not aligned on both sides: %s, every run "
	   "size, borders", format);
}

/* No runs where a root has fewer entries than one. */
static void case_22_root(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned input = 25; input <= 48; input++) {
			struct request q = { 0, 0, 0, 63 };

			if (!world_open(&w, format, granule, input, PGT_FEAT_CONTIG,
					EMBED_TLB))
				continue;
			where("granule %u, input %u", granule, input);
			q.len = w.bytes < GIB(64) || w.geo.start >= w.geo.top_block ? w.bytes : GIB(64);
			if (tables_for(&w.geo, &q) < 3000) {
				want_status(pgt_map(w.t, 0, 0, q.len, RW, 0, NULL), PGT_OK);
				want_u64(w.e.live, 1 + tables_for(&w.geo, &q));
				as_asked(&q);
				sound(&w);
			}
			world_close(&w);
		}
	ok(fine, "case 22: Hint set on a group that is not aligned on both sides: %s, whole input "
	   "ranges of every size", format);
}

/* ---- 23 -------------------------------------------------------------------- */

static void case_23(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), run, va, pa;
		uint64_t n, member;

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		run = BIT(geo_run_bits(&w.geo, 3));
		va = run * 6;
		pa = run * 9;
		n = run / page;
		member = n > 2 ? 2 * page : page;
		for (unsigned variant = 0; variant < 2; variant++) {
			where("granule %u, variant %u", granule, variant);
			want_status(pgt_map(w.t, va, pa, run - page, RW, 0, NULL), PGT_OK);
			sound(&w);
			want_u64(hinted(va, n), 0);
			want_status(pgt_map(w.t, va + run - page, pa + run - page, page,
					    variant ? PGT_READ : RW, 0, NULL), PGT_OK);
			/* All or none, and never all where one differs. */
			sound(&w);
			want(hinted(va, n) == 0 || (!variant && hinted(va, n) == n));
			want_status(pgt_unmap(w.t, va + member, page, 0, NULL), PGT_OK);
			sound(&w);
			want_u64(hinted(va, n), 0);
			want_status(pgt_map(w.t, va + member, pa + member, page, RW, 0, NULL),
				    PGT_OK);
			sound(&w);
			for (uint64_t i = 0; i < n; i++)
				want_u64(reads(w.t, va + i * page), pa + i * page);
			want_status(pgt_unmap(w.t, va, run, 0, NULL), PGT_OK);
		}
		world_close(&w);
	}
	ok(fine, "case 23: Group completed by several calls: %s", format);
}

/* ---- 25 -------------------------------------------------------------------- */

static void case_25(const char *format)
{
	struct pgt_stat s;

	begin();
	if (world_open(&w, format, 12, 48, 0, EMBED_TLB)) {
		want_status(pgt_map(w.t, 0, 0, 2 * w.l1 - w.l2 / 2, RW, 0, NULL), PGT_OK);
		want_status(pgt_stat(w.t, 0, w.bytes, &s), PGT_OK);
		want_u64(s.leaves[2], 1);
		want_u64(s.leaves[3], BIT(w.geo.b) - 1);
		want_u64(s.leaves[4], BIT(w.geo.b) / 2);
		want_u64(w.e.live, 4);
		world_close(&w);
	}
	for_granules(format, granule) {
		for (unsigned contig = 0; contig < 2; contig++) {
			uint64_t page = BIT(granule);

			if (!world_open(&w, format, granule, 48,
					contig ? PGT_FEAT_CONTIG : 0, EMBED_TLB))
				continue;
			for (unsigned bits = granule + 1; bits < 44; bits++) {
				if (!(pgt_leaf_sizes(w.t) & BIT(bits)))
					continue;
				for (unsigned k = 0; k < 3; k++) {
					struct request q = { BIT(bits) * 2, BIT(bits),
							     BIT(bits) + ((uint64_t)k - 1) * page, 63 };

					where("granule %u, block 2^%u and %d pages", granule,
					      bits, (int)k - 1);
					want_status(pgt_map(w.t, q.va, q.pa, q.len, RW, 0, NULL),
						    PGT_OK);
					want_u64(w.e.live, 1 + tables_for(&w.geo, &q));
					as_asked(&q);
					want_status(pgt_unmap(w.t, q.va, q.len, 0, NULL), PGT_OK);
					want_u64(w.e.live, 1);
				}
			}
			world_close(&w);
		}
	}
	ok(fine, "case 25: One odd megabyte forces the whole range to smallest pages: %s, and "
	   "every size less one page and one more", format);
}

/* PGT_MAX_LEAF bounds leaves and runs, rounded down to a size that exists. */
static void case_25_max(const char *format)
{
	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_TLB))
			continue;
		for (unsigned max = granule; max < 40; max++) {
			struct request q = { geo_span(&w.geo, 2) * 32, 0,
					     geo_span(&w.geo, 2) * 32, max };

			if (q.len / geo_span(&w.geo, 3) > 100000)
				q.len = geo_span(&w.geo, 2) * 2;
			where("granule %u, max %u", granule, max);
			want_status(pgt_map(w.t, q.va, q.pa, q.len, RW, PGT_MAX_LEAF(max), NULL),
				    PGT_OK);
			want_u64(w.e.live, 1 + tables_for(&w.geo, &q));
			as_asked(&q);
			want_status(pgt_unmap(w.t, q.va, q.len, 0, NULL), PGT_OK);
		}
		world_close(&w);
	}
	ok(fine, "case 25: One odd megabyte forces the whole range to smallest pages: %s, "
	   "PGT_MAX_LEAF of every number", format);
}

/* ---- 29 -------------------------------------------------------------------- */

static int count_one(void *ctx, const struct pgt_mapping *m)
{
	(void)m;
	++*(uint64_t *)ctx;
	return 0;
}

/* Every range call on [va, va + len), which ends with the input range. */
static void at_the_end(uint64_t va, uint64_t pa, uint64_t len, uint64_t leaves)
{
	uint64_t n = 0, most;
	struct pgt_stat s;

	where("granule %u, va %#" PRIx64 " len %#" PRIx64, w.geo.g, va, len);
	want_status(pgt_tables_needed(w.t, va, pa, len, RW, 0, &most), PGT_OK);
	want_status(pgt_map(w.t, va, pa, len, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, va, pa, len, RW, 0, NULL), PGT_EEXIST);
	want_u64(w.e.live, 1 + most);
	want_u64(reads(w.t, va), pa);
	want_u64(reads(w.t, va + (len - 1)), pa + (len - 1));
	if (va != w.base)
		want_u64(reads(w.t, va - 1), NOWHERE);
	want_status(pgt_visit(w.t, va, len, 0, count_one, &n), PGT_OK);
	want_u64(n, leaves);
	n = 0;
	want_status(pgt_visit(w.t, w.base, w.bytes, 0, count_one, &n), PGT_OK);
	want_u64(n, leaves);
	want_status(pgt_stat(w.t, va, len, &s), PGT_OK);
	want_u64(s.mapped_bytes, len);
	sound(&w);
	want_status(pgt_map(w.t, va, 0, len, PGT_READ, PGT_REPLACE, NULL), PGT_OK);
	want_u64(reads(w.t, va + (len - 1)), len - 1);
	want_status(pgt_unmap(w.t, va, len, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
	want(is_empty(w.t, va + (len - 1)));
	want_status(pgt_map(w.t, va, pa, len, RW, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, w.base, w.bytes, PGT_KEEP_TABLES, NULL), PGT_OK);
	want_status(pgt_trim(w.t, va, len, NULL), PGT_OK);
	want_u64(w.e.live, 1);
}

static void case_29_half(const char *format, unsigned input, uint64_t features)
{
	for_granules(format, granule) {
		uint64_t page = BIT(granule), top;

		if (!world_open(&w, format, granule, input, features, EMBED_ALL))
			continue;
		top = world_last(&w);
		at_the_end(top - (page - 1), page * 5, page, 1);
		if (page * 3 <= w.bytes)
			at_the_end(top - (page * 3 - 1), page * 5, page * 3, 3);
		for (unsigned l = w.geo.top_block; l < 3; l++) {
			uint64_t span = geo_span(&w.geo, l);

			if (span <= w.bytes)
				at_the_end(top - (span - 1), 0, span, 1);
		}
		if (w.geo.start >= w.geo.top_block)
			at_the_end(w.base, 0, w.bytes, UINT64_C(1) << w.geo.root_bits);
		/* The first page, too. */
		want_status(pgt_map(w.t, w.base, 0, page, RW, 0, NULL), PGT_OK);
		want_u64(reads(w.t, w.base + page - 1), page - 1);
		world_close(&w);
	}
}

static void case_29(const char *format)
{
	static const unsigned inputs[] = { 25, 30, 32, 36, 39, 42, 47, 48 };

	begin();
	if (world_open(&w, format, 12, 32, 0, EMBED_TLB)) {
		/* 4K: the last of 4 GiB. */
		uint64_t span = geo_span(&w.geo, w.geo.start);

		at_the_end(w.bytes - span, w.bytes - span, span, 1);
		world_close(&w);
	}
	for (unsigned i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
		case_29_half(format, inputs[i], 0);
	ok(fine, "case 29: Region that ends at the top of the address type confuses \"end of "
	   "list\" or \"end of range\": %s, lower ranges", format);

	if (!has_upper(format))
		return;
	begin();
	if (world_open(&w, format, 12, 48, PGT_FEAT_UPPER, EMBED_TLB)) {
		at_the_end(0 - w.page, 2 * w.l1, w.page, 1);
		want_status(pgt_map(w.t, 0 - w.page, 2 * w.l1, w.page, RW, 0, NULL), PGT_OK);
		want_u64(reads(w.t, UINT64_MAX), 2 * w.l1 + w.page - 1);
		world_close(&w);
	}
	for (unsigned i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
		case_29_half(format, inputs[i], PGT_FEAT_UPPER);
	ok(fine, "case 29: Region that ends at the top of the address type confuses \"end of "
	   "list\" or \"end of range\": %s, the upper half, whose end is 2^64", format);
}

/* ---- 30 -------------------------------------------------------------------- */

static void refuse(uint64_t va, uint64_t pa, uint64_t len)
{
	where("va %#" PRIx64 " pa %#" PRIx64 " len %#" PRIx64, va, pa, len);
	embed_snapshot(&w.e, &before);
	want_status(pgt_map(w.t, va, pa, len, RW, 0, NULL), PGT_ERANGE);
	want_status(pgt_map(w.t, va, pa, len, RW, PGT_REPLACE, NULL), PGT_ERANGE);
	want(!embed_compare(&w.e, &before));
}

static void case_30(const char *format)
{
	struct embed_rng r;

	begin();
	if (world_open(&w, format, 12, 48, 0, EMBED_TLB)) {
		refuse(w.page, w.page, 0 - w.page);
		refuse(w.page, 0 - w.page, 2 * w.page);
		refuse(w.page, BIT(w.c.output_bits) - w.page, 2 * w.page);
		world_close(&w);
	}
	if (world_open(&w, format, 12, 32, 0, EMBED_TLB)) {
		refuse(w.bytes - w.page, 0, w.bytes / 4);
		world_close(&w);
	}
	if (world_open_as(&w, format, 12, 48, 44, 0, EMBED_TLB) == PGT_OK) {
		uint64_t last = BIT(w.c.output_bits) - w.page;

		refuse(w.page, last, 2 * w.page);
		want_status(pgt_map(w.t, w.page, last, w.page, RW, 0, NULL), PGT_OK);
		world_close(&w);
	}
	ok(fine, "case 30: base + size wraps: %s, as met", format);

	/* Against arithmetic that can't wrap. */
	begin();
	embed_seed(&r, 30);
	for (unsigned upper = 0; upper < (has_upper(format) ? 2u : 1u); upper++) {
		if (!world_open(&w, format, 12, 36, upper ? PGT_FEAT_UPPER : 0, EMBED_TLB))
			continue;
		for (unsigned i = 0; i < 20000; i++) {
			uint64_t a[3], off, n, top = BIT(w.c.output_bits);
			uint64_t near = w.bytes < MIB(8) ? w.bytes / 2 : MIB(4);
			int code = PGT_OK, status;

			for (unsigned k = 0; k < 3; k++) {
				uint64_t v = embed_random(&r) >> embed_below(&r, 64);

				if (embed_once_in(&r, 2))
					v = 0 - v;
				if (embed_once_in(&r, 3))
					v = (k == 0 ? w.base + w.bytes : top) - v % near;
				a[k] = v & ~(w.page - 1);
			}
			off = a[0] - w.base;
			if (!a[2])
				code = PGT_EINVAL;
			else if (off >= w.bytes || a[2] > w.bytes - off || a[1] >= top ||
				 a[2] > top - a[1])
				code = PGT_ERANGE;
			where("va %#" PRIx64 " pa %#" PRIx64 " len %#" PRIx64, a[0], a[1], a[2]);
			status = pgt_tables_needed(w.t, a[0], a[1], a[2], RW, 0, &n);
			want_status(status, code);
			if (code == PGT_OK && n > 2000)
				continue;
			status = pgt_map(w.t, a[0], a[1], a[2], RW, 0, NULL);
			want_status(status, code);
			if (status == PGT_OK) {
				want_u64(reads(w.t, a[0] + (a[2] - 1)), a[1] + (a[2] - 1));
				want_status(pgt_unmap(w.t, a[0], a[2], 0, NULL), PGT_OK);
			}
			want_u64(w.e.live, 1);
		}
		world_close(&w);
	}
	ok(fine, "case 30: base + size wraps: %s, random ranges against arithmetic that doesn't",
	   format);
}

/* ---- 31 -------------------------------------------------------------------- */

static void case_31(const char *format)
{
	static const uint64_t flags[] = { 0, PGT_REPLACE, PGT_KEEP_TABLES };

	begin();
	for (unsigned upper = 0; upper < (has_upper(format) ? 2u : 1u); upper++) {
		uint64_t at[5];

		if (!world_open(&w, format, 12, 48, upper ? PGT_FEAT_UPPER : 0, EMBED_TLB))
			continue;
		want_status(pgt_map(w.t, w.base, 0, w.page, RW, 0, NULL), PGT_OK);
		want_u64(reads(w.t, w.base), 0);
		want_u64(reads(w.t, w.base + w.page - 1), w.page - 1);
		at[0] = w.base;
		at[1] = w.base + w.page;
		at[2] = world_last(&w) - (w.page - 1);
		at[3] = w.base + w.bytes;
		at[4] = w.base + 1;
		embed_snapshot(&w.e, &before);
		for (unsigned i = 0; i < 5; i++) {
			struct pgt_stat s;
			uint64_t n;

			where("va %#" PRIx64, at[i]);
			for (unsigned k = 0; k < 3; k++)
				want_status(pgt_map(w.t, at[i], 0, 0, RW, (unsigned)flags[k], NULL),
					    PGT_EINVAL);
			want_status(pgt_unmap(w.t, at[i], 0, 0, NULL), PGT_EINVAL);
			want_status(pgt_unmap(w.t, at[i], 0, PGT_WHOLE, NULL), PGT_EINVAL);
			want_status(pgt_trim(w.t, at[i], 0, NULL), PGT_EINVAL);
			want_status(pgt_visit(w.t, at[i], 0, 0, count_one, &n), PGT_EINVAL);
			want_status(pgt_stat(w.t, at[i], 0, &s), PGT_EINVAL);
			want_status(pgt_tables_needed(w.t, at[i], 0, 0, RW, 0, &n), PGT_EINVAL);
		}
		want(!embed_compare(&w.e, &before));
		world_close(&w);
	}
	ok(fine, "case 31: Zero-length and address-zero requests: %s", format);
}

/* ---- 32 -------------------------------------------------------------------- */

static void case_32(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned input = 25; input <= 48; input++) {
			uint64_t page = BIT(granule);

			if (!world_open(&w, format, granule, input, 0, EMBED_TLB))
				continue;
			refuse(w.bytes, 0, page);
			refuse(w.bytes - page, 0, 2 * page);
			refuse(0, 0, w.bytes + page);
			refuse(w.bytes * 2 - page, 0, page);
			refuse(w.bytes / 2, 0, w.bytes / 2 + page);
			want_u64(w.e.allocated, 1);
			want(is_empty(w.t, w.bytes - 1));
			want(is_empty(w.t, 0));
			world_close(&w);
		}
	ok(fine, "case 32: Address just past the supported width is indexed anyway: %s, every "
	   "width", format);
}

/* ---- 34 -------------------------------------------------------------------- */

static void case_34(const char *format)
{
	static const uint64_t attrs[] = { RW, PGT_READ, RW | PGT_SW0 };

	begin();
	for (unsigned i = 0; i < 3; i++) {
		where("middle with attr %#" PRIx64, attrs[i]);
		if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		want_status(pgt_map(w.t, w.l1 + w.l2, 2 * w.l1 + w.l2, w.l2, attrs[i], 0, NULL),
			    PGT_OK);
		want_status(pgt_map(w.t, w.l1 + 4 * w.l2, 3 * w.l1, w.page, PGT_READ, 0, NULL),
			    PGT_OK);
		embed_snapshot(&w.e, &before);
		want_status(pgt_map(w.t, w.l1, 2 * w.l1, 4 * w.l2, RW, 0, NULL),
			    PGT_EEXIST);
		want(!embed_compare(&w.e, &before));
		want_status(pgt_map(w.t, w.l1, 2 * w.l1, 4 * w.l2, RW, PGT_REPLACE, NULL),
			    PGT_OK);
		for (uint64_t at = 0; at < 4 * w.l2; at += w.page)
			want_u64(reads(w.t, w.l1 + at), 2 * w.l1 + at);
		want_u64(query(w.t, w.l1 + w.l2).attr, RWD);
		want_u64(reads(w.t, w.l1 + 4 * w.l2), 3 * w.l1);
		want_u64(query(w.t, w.l1 + 4 * w.l2).attr & RW, PGT_READ);
		want_u64(reads(w.t, w.l1 + 4 * w.l2 + w.page), NOWHERE);
		sound(&w);
		world_close(&w);
	}
	ok(fine, "case 34: Part of the range already mapped: %s, as met", format);
}

/* One page in the way, at each kind of place, of each kind of request. */
static void case_34_anywhere(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), block, len;

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		block = geo_span(&w.geo, 2);
		len = 2 * block + 3 * page;
		for (unsigned i = 0; i < 7; i++) {
			const uint64_t places[] = { 0, page, block - page, block, block + page,
						    2 * block, len - page };
			uint64_t va = 4 * block - page;

			where("granule %u, page %u in the way", granule, i);
			want_status(pgt_map(w.t, va + places[i], page * 99, page, PGT_READ, 0, NULL),
				    PGT_OK);
			embed_snapshot(&w.e, &before);
			want_status(pgt_map(w.t, va, 0, len, RW, 0, NULL), PGT_EEXIST);
			want(!embed_compare(&w.e, &before));
			want_u64(reads(w.t, va + places[i]), page * 99);
			want_status(pgt_unmap(w.t, va, len, 0, NULL), PGT_OK);
			want_u64(w.e.live, 1);
		}
		world_close(&w);
	}
	ok(fine, "case 34: Part of the range already mapped: %s, anywhere in the range, every "
	   "granule", format);
}

/* ---- 36 -------------------------------------------------------------------- */

static void case_36(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	want_status(pgt_map(w.t, w.l2, 0, w.l2, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, 2 * w.l2 + w.page, 0, w.page, RW, 0, NULL), PGT_OK);
	embed_snapshot(&w.e, &before);
	/* A page inside a block: the block is in the way. */
	want_status(pgt_unmap(w.t, w.l2 + w.page, w.page, PGT_NO_SPLIT, NULL), PGT_EBLOCK);
	want_status(pgt_map(w.t, w.l2 + w.page, 0, w.page, RW, PGT_REPLACE | PGT_NO_SPLIT,
			    NULL), PGT_EBLOCK);
	/* A block where pages hang: they are in the way. */
	want_status(pgt_map(w.t, 2 * w.l2, 0, w.l2, RW, PGT_NO_SPLIT, NULL), PGT_EEXIST);
	want(!embed_compare(&w.e, &before));
	/* Nothing there: no error for unmap, empty for query. */
	want_status(pgt_unmap(w.t, 4 * w.l2, w.page, PGT_NO_SPLIT, NULL), PGT_OK);
	want(is_empty(w.t, 4 * w.l2));
	want_u64(query(w.t, w.l2).level, 2);
	want_u64(query(w.t, 2 * w.l2 + w.page).level, 3);
	world_close(&w);
	ok(fine, "case 36: Error does not say which way the size mismatch goes: %s, map and unmap",
	   format);
}

/* ---- 38, map --------------------------------------------------------------- */

static void case_38(const char *format)
{
	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, 0, EMBED_TLB))
			continue;
		for (unsigned l = w.geo.top_block; l <= 3; l++) {
			uint64_t span = geo_span(&w.geo, l), allocated;

			where("granule %u, level %u", granule, l);
			allocated = w.e.allocated;
			want_status(pgt_map(w.t, span, span, span, RW, 0, NULL), PGT_OK);
			want_u64(w.e.allocated - allocated, l - w.geo.start);
			want_u64(query(w.t, span).level, l);
			want(!raw_at(&w, span, 3) == (l < 3));
			/* Exactly the same range: nothing to split, nothing to allocate. */
			allocated = w.e.allocated;
			embed_fail(&w.e, 1, true);
			want_status(pgt_map(w.t, span, 0, span, RW, PGT_REPLACE | PGT_NO_SPLIT,
					    NULL), PGT_OK);
			want_u64(query(w.t, span).level, l);
			want_status(pgt_unmap(w.t, span, span, PGT_NO_SPLIT, NULL), PGT_OK);
			embed_fail(&w.e, 0, false);
			want_u64(w.e.allocated, allocated);
			want_u64(w.e.live, 1);
		}
		world_close(&w);
	}
	ok(fine, "case 38: Request exactly as large as one entry goes one level too deep: %s, map, "
	   "replacement and unmap, every leaf", format);
}

/* ---- 41 -------------------------------------------------------------------- */

static void case_41(const char *format)
{
	uint64_t off;

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	off = w.l2 / 32 < w.page ? w.page : w.l2 / 32;
	want_status(pgt_map(w.t, 2 * w.l1, 2 * w.l1, w.l2, RW, 0, NULL), PGT_OK);
	embed_snapshot(&w.e, &before);
	want_status(pgt_map(w.t, 2 * w.l1 + off, 2 * w.l1 + off, w.page, RW | PGT_MEM_DEVICE, 0, NULL),
		    PGT_EEXIST);
	want(!embed_compare(&w.e, &before));
	want_status(pgt_map(w.t, 2 * w.l1 + off, 2 * w.l1 + off, w.page, RW | PGT_MEM_DEVICE,
			    PGT_REPLACE, NULL), PGT_OK);
	want_u64(w.e.refused_addresses, 0);
	for (uint64_t at = 0; at < w.l2; at += w.page) {
		struct pgt_mapping m = query(w.t, 2 * w.l1 + at);

		want_u64(m.level, 3);
		want_u64(m.pa, 2 * w.l1 + at);
		want_u64(m.attr, RWD | (at == off ? PGT_MEM_DEVICE : 0));
	}
	sound(&w);
	world_close(&w);
	ok(fine, "case 41: Overlapping map follows a block as if it were a table: %s, as met",
	   format);

	/* A page over the first, a middle and the last page of every leaf and run. */
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		for (unsigned bits = granule + 1; bits < 43; bits++) {
			uint64_t size = BIT(bits), at[3] = { 0, size / 2 + page, size - page };

			if (!(pgt_leaf_sizes(w.t) & size))
				continue;
			if (at[1] == size)
				at[1] = size / 2;
			for (unsigned i = 0; i < 3; i++) {
				where("granule %u, leaf 2^%u, place %u", granule, bits, i);
				want_status(pgt_map(w.t, size, 0, size, RW, 0, NULL), PGT_OK);
				want_status(pgt_map(w.t, size + at[i], size, page, PGT_READ, 0, NULL),
					    PGT_EEXIST);
				want_status(pgt_map(w.t, size + at[i], size, page, PGT_READ,
						    PGT_REPLACE, NULL), PGT_OK);
				want_u64(reads(w.t, size + at[i] + 3), size + 3);
				want_u64(query(w.t, size + at[i]).attr & RW, PGT_READ);
				if (at[i])
					want_u64(reads(w.t, size + at[i] - 1), at[i] - 1);
				if (at[i] + page < size)
					want_u64(reads(w.t, size + at[i] + page), at[i] + page);
				want_u64(reads(w.t, size), at[i] ? 0 : size);
				want_u64(w.e.refused_addresses, 0);
				sound(&w);
				want_status(pgt_unmap(w.t, size, size, 0, NULL), PGT_OK);
				want_u64(w.e.live, 1);
			}
		}
		world_close(&w);
	}
	ok(fine, "case 41: Overlapping map follows a block as if it were a table: %s, every leaf "
	   "and run", format);
}

/* ---- 49 -------------------------------------------------------------------- */

static void case_49(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		for (unsigned keep = 0; keep < 2; keep++) {
			if (!world_open(&w, format, granule, 48, 0, EMBED_ALL))
				continue;
			for (unsigned l = w.geo.top_block; l < 3; l++) {
				uint64_t span = geo_span(&w.geo, l);

				where("granule %u, level %u, keep %u", granule, l, keep);
				want_status(pgt_map(w.t, span, 0, page, RW, 0, NULL), PGT_OK);
				want_status(pgt_map(w.t, span * 2 - page, 0, page, RW, 0, NULL),
					    PGT_OK);
				want_status(pgt_unmap(w.t, span, page, keep ? PGT_KEEP_TABLES : 0,
						      NULL), PGT_OK);
				want_status(pgt_unmap(w.t, span * 2 - page, page,
						      keep ? PGT_KEEP_TABLES : 0, NULL), PGT_OK);
				want(keep ? w.e.live > 1 : w.e.live == 1);
				embed_log_clear(&w.e);
				want_status(pgt_map(w.t, span, 0, span, RW, 0, NULL), PGT_OK);
				want_u64(query(w.t, span).len, span);
				want_u64(w.e.live, 1 + l - w.geo.start);
				if (keep) {
					/* Not before the TLB has let go of the walk. */
					int freed = embed_find(&w.e, EMBED_FREE, 0);
					int told = embed_find(&w.e, EMBED_INVALIDATE, 0);
					int synced = embed_find(&w.e, EMBED_SYNC, 0);

					want(told >= 0 && told < synced && synced < freed);
					want(w.e.log[told].range.flags & PGT_TLB_WALK);
				}
				sound(&w);
				want_status(pgt_unmap(w.t, span, span, 0, NULL), PGT_OK);
				want_u64(w.e.live, 1);
			}
			world_close(&w);
		}
	}
	ok(fine, "case 49: Empty leftover table blocks later use of a block: %s, every level",
	   format);
}

/* ---- 51, replacement ------------------------------------------------------- */

static void case_51(const char *format)
{
	struct pgt_translation tr;
	uint64_t all;

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	all = world_attr(&w, RW | PGT_EXEC);
	want_status(pgt_map(w.t, w.l1, 2 * w.l1, w.l1, PGT_READ, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.l1 + 5 * w.page, 2 * w.l1 + 5 * w.page, w.page, all, PGT_REPLACE, NULL), PGT_OK);
	/* sound() refuses any other bit in a table entry. */
	sound(&w);
	for (uint64_t at = 0; at < 2 * w.l2; at += w.page) {
		bool there = at == 5 * w.page;

		where("page %#" PRIx64, at);
		want_status(pgt_translate(w.t, w.l1 + at, PGT_WRITE, &tr),
			    there ? PGT_OK : PGT_EFAULT);
		want_status(pgt_translate(w.t, w.l1 + at, PGT_EXEC, &tr),
			    there ? PGT_OK : PGT_EFAULT);
		want_status(pgt_translate(w.t, w.l1 + at, PGT_READ, &tr), PGT_OK);
	}
	world_close(&w);
	ok(fine, "case 51: Restrictive bits left in a parent entry: %s, replacement inside a block",
	   format);
}

int main(void)
{
	if (!formats[0])
		return tap_skip_all("no format of these was built");
	for_formats(format) {
		case_22(format);
		case_22_root(format);
		case_23(format);
		case_25(format);
		case_25_max(format);
		case_29(format);
		case_30(format);
		case_31(format);
		case_32(format);
		case_34(format);
		case_34_anywhere(format);
		case_36(format);
		case_38(format);
		case_41(format);
		case_49(format);
		case_51(format);
	}
	embed_snapshot_free(&before);
	return tap_done();
}
