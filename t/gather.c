/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gather: what its tally counts, what it reports as removed, which ranges
 * it makes of what changed, and in which order all of it happens.
 */
#include "contract.h"

static struct world w;
static struct pgt_gather g;

#define STATE (PGT_YOUNG | PGT_DIRTY)

static void gather(void)
{
	memset(&g, 0xa5, sizeof(g));
	want_status(pgt_gather_begin(&g, w.t), PGT_OK);
	embed_log_clear(&w.e);
}

/* What the callbacks saw is what the tally says. */
static void end(void)
{
	uint64_t bytes = 0;

	want_status(pgt_gather_end(&g), PGT_OK);
	want_u64(g.tally.invalidates, w.e.count[EMBED_INVALIDATE]);
	want_u64(g.tally.syncs, w.e.count[EMBED_SYNC]);
	want_u64(g.tally.tables_allocated, w.e.count[EMBED_ALLOC]);
	want_u64(g.tally.tables_freed, w.e.count[EMBED_FREE]);
	for (unsigned i = 0; i < w.e.events; i++)
		if (w.e.log[i].kind == EMBED_INVALIDATE &&
		    !(w.e.log[i].range.flags & PGT_TLB_ALL))
			bytes += w.e.log[i].range.len;
	if (!w.e.overflow)
		want_u64(g.tally.invalidated_bytes, bytes);
	want_u64(g.tally.reserved[0] | g.tally.reserved[1] | g.tally.reserved[2] |
		 g.tally.reserved[3], 0);
	want_u64(g.tally.tables_relinked | g.tally.blocks_made | g.tally.runs_folded, 0);
}

/* ---- The tally -------------------------------------------------------------- */

static void test_tally(const char *format)
{
	uint64_t run, n;

	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG, EMBED_ALL))
		return;
	run = BIT(geo_run_bits(&w.geo, 3));
	n = run / w.page;

	where("a new gather");
	gather();
	want(!g.removed);
	end();
	want_u64(g.tally.leaves | g.tally.changed | g.tally.reads | g.tally.rmws, 0);
	want_u64(g.tally.mapped | g.tally.unmapped | g.tally.young | g.tally.dirty, 0);
	want_u64(w.e.events, 0);

	where("one page");
	gather();
	want_status(pgt_map(w.t, w.l1, 0, w.page, RW, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.changed, 1);
	want_u64(g.tally.mapped, w.page);
	want_u64(g.tally.unmapped | g.tally.invalidates | g.tally.syncs, 0);
	want_u64(g.tally.tables_allocated, 3);
	want(g.tally.reads >= 1 && g.tally.reads < 600);
	gather();
	want_status(pgt_unmap(w.t, w.l1, w.page, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.leaves, 1);
	want_u64(g.tally.changed, 1);
	want_u64(g.tally.unmapped, w.page);
	want_u64(g.tally.mapped, 0);
	want_u64(g.tally.young, 1);
	want_u64(g.tally.dirty, 1);
	want_u64(g.tally.tables_freed, 3);
	want_u64(g.tally.invalidates, 1);
	want_u64(g.tally.syncs, 1);

	where("a run");
	gather();
	want_status(pgt_map(w.t, w.l1, 0, run, RW, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.changed, n);
	want_u64(g.tally.mapped, run);
	gather();
	want_status(pgt_unmap(w.t, w.l1 + w.page, w.page, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.runs_unfolded, 1);
	want_u64(g.tally.blocks_split, 0);
	want_u64(g.tally.unmapped, w.page);
	want(g.tally.changed == n);
	gather();
	want_status(pgt_unmap(w.t, w.l1, run, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.unmapped, run - w.page);
	want_u64(g.tally.changed, n - 1);
	want_u64(g.tally.young, n - 1);
	want_u64(g.tally.runs_unfolded, 0);

	where("blocks");
	gather();
	want_status(pgt_map(w.t, w.l1, 0, w.l1, RW, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.changed, 1);
	want_u64(g.tally.mapped, w.l1);
	gather();
	want_status(pgt_unmap(w.t, w.l1 + w.l2, w.page, 0, &g), PGT_OK);
	end();
	/* The block that was there, and perhaps the one that came of it. */
	want(g.tally.blocks_split == 1 || g.tally.blocks_split == 2);
	want_u64(g.tally.tables_allocated, 2);
	want_u64(g.tally.unmapped, w.page);
	gather();
	want_status(pgt_unmap(w.t, w.l1, w.l1, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.unmapped, w.l1 - w.page);
	want_u64(g.tally.blocks_split, 0);

	where("replacement");
	gather();
	want_status(pgt_map(w.t, w.l1, 0, 2 * w.l2, RW, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.changed, 2);
	gather();
	want_status(pgt_map(w.t, w.l1, 32 * w.l2, w.l2, PGT_READ, PGT_REPLACE, &g), PGT_OK);
	end();
	want_u64(g.tally.mapped, w.l2);
	want_u64(g.tally.unmapped, w.l2);
	gather();
	want_status(pgt_map(w.t, w.l1, 32 * w.l2, w.l2, PGT_READ, PGT_REPLACE, &g), PGT_OK);
	end();
	where("the same again");
	want_u64(g.tally.changed | g.tally.mapped | g.tally.unmapped | g.tally.invalidates |
		 g.tally.rmws, 0);
	want_u64(w.e.events, 0);

	where("failed calls");
	gather();
	want_status(pgt_map(w.t, w.l1, 0, w.l2, RW, 0, &g), PGT_EEXIST);
	want_status(pgt_map(w.t, w.l1, 1, w.l2, RW, 0, &g), PGT_EALIGN);
	want_status(pgt_unmap(w.t, w.l1, w.page, PGT_NO_SPLIT, &g), PGT_EBLOCK);
	embed_fail(&w.e, 1, true);
	want_status(pgt_unmap(w.t, w.l1, w.page, 0, &g), PGT_ENOMEM);
	embed_fail(&w.e, 0, false);
	end();
	want_u64(g.tally.changed | g.tally.mapped | g.tally.unmapped | g.tally.rmws |
		 g.tally.tables_allocated | g.tally.tables_freed | g.tally.blocks_split |
		 g.tally.young | g.tally.dirty | g.tally.invalidates, 0);
	world_close(&w);
	ok(fine, "%s: the tally of small calls", format);
}

/* Young and dirty are counted as they were found. */
static void test_tally_state(const char *format)
{
	static const uint64_t states[] = { 0, PGT_YOUNG, PGT_DIRTY, STATE };
	uint64_t run, n;

	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG | PGT_FEAT_TRACK_YOUNG |
			PGT_FEAT_TRACK_DIRTY, EMBED_TLB))
		return;
	run = BIT(geo_run_bits(&w.geo, 3));
	n = run / w.page;
	for (unsigned i = 0; i < 4; i++) {
		bool young = states[i] & PGT_YOUNG, dirty = states[i] & PGT_DIRTY;

		where("state %#" PRIx64, states[i]);
		want_status(pgt_map(w.t, w.l1, 0, run + 3 * w.page, RW | states[i],
				    PGT_MAX_LEAF(geo_run_bits(&w.geo, 3)), NULL),
			    PGT_OK);
		want_status(pgt_map(w.t, 2 * w.l1, 0, 3 * w.l2, RW | states[i], 0, NULL), PGT_OK);
		gather();
		want_status(pgt_unmap(w.t, w.l1, 2 * w.l1, 0, &g), PGT_OK);
		end();
		want_u64(g.tally.young, young ? n + 3 + 3 : 0);
		want_u64(g.tally.dirty, dirty ? n + 3 + 3 : 0);
		want_u64(g.tally.leaves, n + 3 + 3);
		want_u64(g.tally.changed, n + 3 + 3);
	}
	world_close(&w);
	ok(fine, "%s: the tally counts young and dirty leaves as they were found", format);
}

/* Nobody caches this table: nothing is invalidated, synced or broken. */
static void test_no_tlb(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG, 0))
		return;
	gather();
	want_status(pgt_map(w.t, w.l1, 0, 32 * w.l2, RW, 0, &g), PGT_OK);
	want_status(pgt_unmap(w.t, w.l1 + w.page, w.page, PGT_NO_BREAK, &g), PGT_OK);
	want_status(pgt_map(w.t, w.l1 + w.l2, 0, w.l2, PGT_READ, PGT_REPLACE, &g), PGT_OK);
	want_status(pgt_unmap(w.t, w.l1, 32 * w.l2, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.invalidates | g.tally.syncs | g.tally.invalidated_bytes, 0);
	want_u64(w.e.live, 1);
	world_close(&w);
	ok(fine, "%s: without TLB callbacks nothing is broken or invalidated", format);
}

/* ---- removed ----------------------------------------------------------------- */

#define MAX_GONE 20000
static struct pgt_mapping gone[MAX_GONE];
static unsigned n_gone;

static int take(void *ctx, const struct pgt_mapping *m)
{
	want(ctx == &n_gone);
	if (n_gone < MAX_GONE)
		gone[n_gone++] = *m;
	return 5; /* ignored */
}

static void gather_removed(void)
{
	gather();
	n_gone = 0;
	g.removed = take;
	g.removed_ctx = &n_gone;
}

/* [va, va + len) to pa with attr was reported, every byte once. */
static void want_removed(uint64_t va, uint64_t pa, uint64_t len, uint64_t attr)
{
	static unsigned char taken[20000];
	uint64_t bytes = 0, page = BIT(w.geo.g);

	memset(taken, 0, sizeof(taken));
	for (unsigned i = 0; i < n_gone; i++) {
		const struct pgt_mapping *m = &gone[i];

		if (m->va < va || m->va - va >= len)
			continue;
		want(m->len <= len - (m->va - va));
		want_u64(m->pa, pa + (m->va - va));
		want_u64(m->attr, attr);
		want_u64(m->state, PGT_LEAF);
		bytes += m->len;
		for (uint64_t at = m->va - va; at < m->va - va + m->len; at += page)
			if (want(at / page < sizeof(taken)))
				want(!taken[at / page]++);
	}
	want_u64(bytes, len);
}

static uint64_t gone_bytes(void)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < n_gone; i++)
		bytes += gone[i].len;
	return bytes;
}

static void test_removed(const char *format)
{
	static const uint64_t states[] = { 0, PGT_YOUNG, PGT_DIRTY, STATE };

	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), block, run, cut;

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG |
				PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY, EMBED_TLB))
			continue;
		block = geo_span(&w.geo, 2);
		run = BIT(geo_run_bits(&w.geo, 3));
		cut = run > 2 * page ? 2 * page : page; /* where a run is cut */
		for (unsigned i = 0; i < 4; i++) {
			uint64_t attr = RW | PGT_SW1 | states[i], va = block * 8;

			where("granule %u, state %#" PRIx64 ", pages", granule, states[i]);
			want_status(pgt_map(w.t, va + page, page * 3, 3 * page, attr, 0, NULL),
				    PGT_OK);
			gather_removed();
			want_status(pgt_unmap(w.t, va, block, 0, &g), PGT_OK);
			want_u64(n_gone, 3);
			want_removed(va + page, page * 3, 3 * page, attr);
			end();

			where("granule %u, state %#" PRIx64 ", a run", granule, states[i]);
			want_status(pgt_map(w.t, va, run, run, attr, 0, NULL), PGT_OK);
			gather_removed();
			want_status(pgt_unmap(w.t, va + cut, page, 0, &g), PGT_OK);
			want_removed(va + cut, run + cut, page, attr);
			want_u64(gone_bytes(), page);
			end();
			gather_removed();
			want_status(pgt_unmap(w.t, va, run, 0, &g), PGT_OK);
			want_removed(va, run, cut, attr);
			want_removed(va + cut + page, run + cut + page, run - cut - page, attr);
			want_u64(gone_bytes(), run - page);
			end();

			where("granule %u, state %#" PRIx64 ", a cut block", granule,
			      states[i]);
			want_status(pgt_map(w.t, va, block, 2 * block, attr, 0, NULL), PGT_OK);
			gather_removed();
			want_status(pgt_unmap(w.t, va + block - page, 3 * page, 0, &g), PGT_OK);
			want_removed(va + block - page, 2 * block - page, 3 * page, attr);
			want_u64(gone_bytes(), 3 * page);
			end();

			where("granule %u, state %#" PRIx64 ", replaced", granule, states[i]);
			gather_removed();
			want_status(pgt_map(w.t, va, 0, block - page, PGT_READ, PGT_REPLACE, &g),
				    PGT_OK);
			want_removed(va, block, block - page, attr);
			want_u64(gone_bytes(), block - page);
			end();
			gather_removed();
			want_status(pgt_map(w.t, va, 0, block - page, PGT_READ, PGT_REPLACE, &g),
				    PGT_OK);
			want_u64(n_gone, 0);
			end();

			where("granule %u, state %#" PRIx64 ", whole", granule, states[i]);
			want_status(pgt_unmap(w.t, 0, block * 64, 0, NULL), PGT_OK);
			want_status(pgt_map(w.t, va, block, block, attr, 0, NULL), PGT_OK);
			gather_removed();
			want_status(pgt_unmap(w.t, va + page, page, PGT_WHOLE, &g), PGT_OK);
			want_removed(va, block, block, attr);
			want_u64(g.tally.unmapped, block);
			end();
			want_u64(w.e.live, 1);
		}
		world_close(&w);
	}
	ok(fine, "%s: removed reports pages, runs, cut and replaced blocks, with their state",
	   format);
}

/* One member's state, set by hardware, is that of all that shared its TLB entry. */
static void test_removed_run_state(const char *format)
{
	uint64_t set, run, n;

	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG | PGT_FEAT_TRACK_YOUNG |
			PGT_FEAT_TRACK_DIRTY | PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY, EMBED_TLB))
		return;
	run = BIT(geo_run_bits(&w.geo, 3));
	n = run / w.page;
	for (unsigned i = 0; i < n; i++) {
		uint64_t va = w.l1 + w.page * i;

		where("member %u", i);
		want_status(pgt_map(w.t, w.l1, 0, run, RW, 0, NULL), PGT_OK);
		set = raw_entry(&w, va, 3);
		set = entry_touched(w.f, set, true);
		raw_poke(&w, va, 3, set);
		gather_removed();
		want_status(pgt_unmap(w.t, w.l1 + run / 2, w.page, 0, &g), PGT_OK);
		want_removed(w.l1 + run / 2, run / 2, w.page, RWD);
		end();
		want_u64(query(w.t, w.l1).attr, RWD);
		if (n > 2) /* else it was the last that went */
			want_u64(query(w.t, w.l1 + run - w.page).attr, RWD);
		gather_removed();
		want_status(pgt_unmap(w.t, w.l1, run, 0, &g), PGT_OK);
		want_removed(w.l1, 0, run / 2, RWD);
		end();

		where("member %u, the run at once", i);
		want_status(pgt_map(w.t, w.l1, 0, run, RW, 0, NULL), PGT_OK);
		raw_poke(&w, va, 3, set);
		gather_removed();
		want_status(pgt_unmap(w.t, w.l1, run, 0, &g), PGT_OK);
		want_removed(w.l1, 0, run, RWD);
		want_u64(g.tally.young, n);
		want_u64(g.tally.dirty, n);
		end();
	}
	world_close(&w);
	ok(fine, "%s: the state of one member is the run's, in what is removed and what stays",
	   format);
}

static void test_removed_token(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_TLB))
		return;
	want_status(pgt_map(w.t, 0, 0, w.page, RW, 0, NULL), PGT_OK);
	raw_poke(&w, w.page, 3, UINT64_C(77) << w.f->entry.token_shift | 3);
	gather_removed();
	want_status(pgt_unmap(w.t, w.page, w.page, 0, &g), PGT_OK);
	want_u64(n_gone, 1);
	want_u64(gone[0].state, PGT_TOKEN);
	want_u64(gone[0].token, 77);
	want_u64(gone[0].va, w.page);
	want_u64(gone[0].len, w.page);
	end();
	world_close(&w);
	ok(fine, "%s: removed reports tokens", format);
}

/* ---- Ranges ------------------------------------------------------------------- */

static const struct pgt_tlb_range *nth_range(unsigned n)
{
	static const struct pgt_tlb_range none;

	for (unsigned i = 0; i < w.e.events; i++)
		if (w.e.log[i].kind == EMBED_INVALIDATE && !n--)
			return &w.e.log[i].range;
	return &none;
}

static void want_range(unsigned n, uint64_t va, uint64_t len, unsigned stride, int level,
		       unsigned flags)
{
	const struct pgt_tlb_range *r = nth_range(n);

	want_u64(r->va, va);
	want_u64(r->len, len);
	want_u64(r->stride_bits, stride);
	want_u64(r->level, level);
	want_u64(r->flags, flags);
}

/* One call, no gather: unmap of [va, va + len). */
static void unmap(uint64_t va, uint64_t len, unsigned flags)
{
	embed_log_clear(&w.e);
	want_status(pgt_unmap(w.t, va, len, flags, NULL), PGT_OK);
}

static void one_half_ranges(const char *format, uint64_t features)
{
	uint64_t b, run;
	unsigned bits, block; /* logarithms, of a page and a block */

	if (!world_open(&w, format, 12, 48, features | PGT_FEAT_CONTIG, EMBED_TLB))
		return;
	b = w.base + w.l1;
	bits = w.geo.g;
	block = geo_bits(&w.geo, 2);
	run = BIT(geo_run_bits(&w.geo, 3));

	where("a page");
	want_status(pgt_map(w.t, b, 0, 3 * w.page, RW, PGT_MAX_LEAF(bits), NULL), PGT_OK);
	unmap(b + w.page, w.page, 0);
	want_u64(w.e.count[EMBED_INVALIDATE], 1);
	want_u64(w.e.count[EMBED_SYNC], 1);
	want_range(0, b + w.page, w.page, bits, 3, 0);
	where("two pages with a hole between them");
	unmap(b, 16 * w.page, PGT_KEEP_TABLES);
	want_u64(w.e.count[EMBED_INVALIDATE], 1);
	want_range(0, b, 3 * w.page, bits, 3, 0);

	where("a global page");
	want_status(pgt_map(w.t, b, 0, w.page, world_attr(&w, RW | PGT_GLOBAL), 0, NULL), PGT_OK);
	unmap(b, w.page, PGT_KEEP_TABLES);
	want_range(0, b, w.page, bits, 3, world_attr(&w, PGT_GLOBAL) & PGT_GLOBAL ? PGT_TLB_GLOBAL : 0);

	where("nothing");
	unmap(b, 16 * w.page, PGT_KEEP_TABLES);
	want_u64(w.e.events, 0);

	where("an old page");
	world_close(&w);
	if (!world_open(&w, format, 12, 48, features | PGT_FEAT_CONTIG | PGT_FEAT_TRACK_YOUNG,
			EMBED_TLB))
		return;
	want_status(pgt_map(w.t, b, 0, w.page, RW, 0, NULL), PGT_OK);
	unmap(b, w.page, PGT_KEEP_TABLES);
	/* A clear access flag is no proof that no TLB holds it. */
	want_range(0, b, w.page, bits, 3, 0);

	where("its tables too");
	want_status(pgt_map(w.t, b, 0, w.page, RW, 0, NULL), PGT_OK);
	unmap(b, w.page, 0);
	want_u64(w.e.count[EMBED_INVALIDATE], 1);
	want_u64(nth_range(0)->level, PGT_LEVEL_UNKNOWN);
	want_u64(nth_range(0)->flags, PGT_TLB_WALK);
	/* The whole span of the highest table that went: an L1's. */
	want_u64(nth_range(0)->va, w.base);
	want_u64(nth_range(0)->len, geo_span(&w.geo, 0));

	where("a run");
	want_status(pgt_map(w.t, b, 0, run, RW, 0, NULL), PGT_OK);
	unmap(b, run, PGT_KEEP_TABLES);
	want_range(0, b, run, bits, 3, 0);

	where("a block");
	want_status(pgt_map(w.t, b + 2 * w.l1, 0, 2 * w.l2, RW, PGT_MAX_LEAF(block), NULL), PGT_OK);
	unmap(b + 2 * w.l1, w.l2, PGT_KEEP_TABLES);
	want_range(0, b + 2 * w.l1, w.l2, block, 2, 0);

	where("a block, whole, by a page of it");
	unmap(b + 2 * w.l1 + w.l2 + w.page, w.page, PGT_WHOLE | PGT_KEEP_TABLES);
	want_range(0, b + 2 * w.l1 + w.l2, w.l2, block, 2, 0);

	where("a page and a block");
	want_status(pgt_map(w.t, b + 2 * w.l1, 0, w.page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, b + 2 * w.l1 + w.l2, 0, w.l2, RW, 0, NULL), PGT_OK);
	unmap(b + 2 * w.l1, 2 * w.l2, PGT_KEEP_TABLES);
	want_u64(w.e.count[EMBED_INVALIDATE], 1);
	want_range(0, b + 2 * w.l1, 2 * w.l2, bits, PGT_LEVEL_UNKNOWN, 0);
	world_close(&w);
}

static void test_ranges(const char *format)
{
	begin();
	one_half_ranges(format, 0);
	if (has_upper(format))
		one_half_ranges(format, PGT_FEAT_UPPER);
	ok(fine, "%s: one call, one range: rounded out, with level and stride where known", format);
}

static bool covered(uint64_t va)
{
	for (unsigned i = 0; i < w.e.events; i++) {
		const struct pgt_tlb_range *r = &w.e.log[i].range;

		if (w.e.log[i].kind == EMBED_INVALIDATE &&
		    (r->flags & PGT_TLB_ALL || (va >= r->va && va - r->va < r->len)))
			return true;
	}
	return false;
}

static void test_joining(const char *format)
{
	uint64_t far, len, first; /* first: the last page of the first */

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_TLB))
		return;
	far = w.bytes / 2;
	len = w.l2 > 16 * w.page ? w.l2 : w.l1;
	first = w.l1 + len - w.page;
	want_status(pgt_map(w.t, w.l1, 0, len, RW, PGT_MAX_LEAF(w.geo.g), NULL), PGT_OK);
	want_status(pgt_map(w.t, far, 0, len, RW, PGT_MAX_LEAF(w.geo.g), NULL), PGT_OK);

	where("far apart, one call");
	want_status(pgt_unmap(w.t, w.l1, len / 2, PGT_KEEP_TABLES, NULL), PGT_OK);
	gather();
	want_status(pgt_unmap(w.t, first, far + w.page - first,
			      PGT_KEEP_TABLES, &g), PGT_OK);
	want_u64(w.e.count[EMBED_INVALIDATE], 0);
	end();
	want_u64(w.e.count[EMBED_INVALIDATE], 1);
	want_range(0, first, far + w.page - first, w.geo.g, 3, 0);

	where("far apart, two calls");
	gather();
	want_status(pgt_unmap(w.t, w.l1 + len / 2, w.page, PGT_KEEP_TABLES, &g), PGT_OK);
	want_status(pgt_unmap(w.t, far + len / 2, w.page, PGT_KEEP_TABLES, &g), PGT_OK);
	want_u64(w.e.count[EMBED_INVALIDATE] + w.e.count[EMBED_SYNC], 0);
	end();
	want_u64(w.e.count[EMBED_INVALIDATE], 2);
	want_u64(w.e.count[EMBED_SYNC], 1);
	want(covered(w.l1 + len / 2) && covered(far + len / 2));
	want_u64(g.tally.invalidated_bytes, 2 * w.page);

	where("neighbours, two calls");
	gather();
	want_status(pgt_unmap(w.t, far + 4 * w.page, w.page, PGT_KEEP_TABLES, &g), PGT_OK);
	want_status(pgt_unmap(w.t, far + 5 * w.page, w.page, PGT_KEEP_TABLES, &g), PGT_OK);
	end();
	want(w.e.count[EMBED_INVALIDATE] == 1 || w.e.count[EMBED_INVALIDATE] == 2);
	want_u64(g.tally.invalidated_bytes, 2 * w.page);

	where("a reading call and a map elsewhere drain nothing");
	gather();
	want_status(pgt_unmap(w.t, far + 10 * w.page, w.page, PGT_KEEP_TABLES, &g), PGT_OK);
	want(is_empty(w.t, far + 10 * w.page));
	want_status(pgt_map(w.t, 3 * w.l1, 0, w.page, RW, 0, &g), PGT_OK);
	want_u64(w.e.count[EMBED_INVALIDATE] + w.e.count[EMBED_SYNC], 0);
	end();
	want_u64(w.e.count[EMBED_INVALIDATE], 1);
	world_close(&w);
	ok(fine, "%s: one call's changes are one range, those of far-apart calls are not joined",
	   format);
}

/* More ranges than the gather has room for: it drains, and loses none. */
static void test_overflow(const char *format)
{
	begin();
	for (unsigned tables = 0; tables < 2; tables++) {
		uint64_t flags = tables ? 0 : PGT_KEEP_TABLES;
		uint64_t step, n = 600;
		int told = -1, synced = -1;

		if (!world_open(&w, format, 12, 48, 0, EMBED_TLB))
			continue;
		step = 2 * w.l1;
		if (w.bytes / step < n) { /* every second page */
			step = 2 * w.page;
			n = w.bytes / step;
		}
		for (uint64_t i = 0; i < n; i++)
			want_status(pgt_map(w.t, step * i, w.l2 * i, w.page, RW, 0, NULL),
				    PGT_OK);
		gather();
		for (uint64_t i = 0; i < n; i++)
			want_status(pgt_unmap(w.t, step * i, w.page, (unsigned)flags, &g),
				    PGT_OK);
		end();
		where("tables %u", tables);
		want(!w.e.overflow);
		want_u64(g.tally.unmapped, n * w.page);
		for (uint64_t i = 0; i < n; i++)
			want(covered(step * i));
		for (unsigned i = 0; i < w.e.events; i++) {
			if (w.e.log[i].kind == EMBED_INVALIDATE)
				told = (int)i;
			if (w.e.log[i].kind == EMBED_SYNC)
				synced = (int)i;
			if (w.e.log[i].kind == EMBED_FREE)
				want(told >= 0 && synced > told);
		}
		want(synced > told);
		if (tables)
			want_u64(w.e.live, 1);
		world_close(&w);
	}
	ok(fine, "%s: a gather that overflows drains, and every address is invalidated", format);
}

/* A call that gives up more tables than the gather has words for, none beside
 * another in memory: still one invalidation and one sync, and all are freed. */
static void test_many_tables(const char *format)
{
	enum { UNMAP, MOVE, TRIM, CALLS };

	begin();
	for (unsigned call = 0; call < CALLS; call++)
		for (unsigned open = 0; open < 2; open++) {
			uint64_t n, first, far, freed, live;

			if (!world_open(&w, format, 12, 48, 0, EMBED_TLB))
				continue;
			n = w.l1 / w.l2 < 110 ? w.l1 / w.l2 - 2 : 100;
			first = w.l1 + w.l2;
			far = 3 * w.l1 < w.bytes ? 3 * w.l1 : 2 * w.l1;
			want_status(pgt_map(w.t, w.l1, 0, w.page, RW, 0, NULL), PGT_OK);
			for (uint64_t i = 0; i < n; i++) {
				want_status(pgt_map(w.t, first + i * w.l2, i * w.page, w.page, RW, 0, NULL), PGT_OK);
				if (call != MOVE)
					want_status(pgt_map(w.t, far + i * w.l2, 0, w.page, RW, 0, NULL), PGT_OK);
			}
			if (call == TRIM)
				want_status(pgt_unmap(w.t, first, n * w.l2, PGT_KEEP_TABLES, NULL), PGT_OK);
			live = w.e.live;
			gather();
			where("call %u, %s", call, open ? "a gather" : "none");
			if (call == UNMAP)
				want_status(pgt_unmap(w.t, first, n * w.l2, 0, open ? &g : NULL), PGT_OK);
			else if (call == MOVE)
				want_status(pgt_move(w.t, first, far + w.page, n * w.l2, 0, open ? &g : NULL), PGT_OK);
			else
				want_status(pgt_trim(w.t, first, n * w.l2, open ? &g : NULL), PGT_OK);
			for (uint64_t i = 0; i < n; i++)
				want(is_empty(w.t, first + i * w.l2));
			want_status(pgt_gather_end(&g), PGT_OK);
			want_u64(w.e.count[EMBED_INVALIDATE], 1);
			want_u64(w.e.count[EMBED_SYNC], 1);
			freed = w.e.count[EMBED_FREE];
			want_u64(w.e.live, live + w.e.count[EMBED_ALLOC] - freed);
			want(freed >= (call == MOVE ? n - 1 : n));
			want(covered(first) && covered(first + (n - 1) * w.l2));
			want(!is_empty(w.t, w.l1));
			want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
			world_close(&w);
		}
	ok(fine, "%s: a call that frees many tables far from one another invalidates once", format);
}

/* ---- written and publish ------------------------------------------------------- */

static unsigned publishes;
static bool linked_early, unwritten;

/* The tables that are about to be linked are announced, and not linked yet. */
static void watch_publish(struct embed *e, const struct embed_event *ev)
{
	if (ev->kind != EMBED_PUBLISH_EV)
		return;
	unwritten |= embed_unwritten(e) != 0;
	if (!publishes++)
		linked_early |= raw_entry(&w, w.l1, w.geo.start) != 0;
}

static void test_publish(const char *format)
{
	begin();
	for (unsigned mode = 0; mode < 2; mode++) {
		if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG,
				EMBED_ALL | (mode ? EMBED_WINDOW : 0)))
			continue;
		where("mode %u, into new tables", mode);
		embed_log_clear(&w.e);
		publishes = 0;
		linked_early = unwritten = false;
		w.e.hook = watch_publish;
		want_status(pgt_map(w.t, w.l1, 0, 2 * w.l2 + w.page, RW, 0, NULL), PGT_OK);
		w.e.hook = NULL;
		want(publishes >= 1 && !linked_early && !unwritten);
		want_u64(embed_unwritten(&w.e), 0);
		want(embed_find(&w.e, EMBED_WRITTEN_EV, 0) <
		     embed_find(&w.e, EMBED_PUBLISH_EV, 0));
		want_u64(w.e.log[w.e.events - 1].kind, EMBED_PUBLISH_EV);

		where("mode %u, into tables that are there", mode);
		embed_log_clear(&w.e);
		want_status(pgt_map(w.t, w.l1 + 2 * w.l2 + 2 * w.page, 0, w.page, RW, 0, NULL), PGT_OK);
		want_u64(w.e.count[EMBED_PUBLISH_EV], 1);
		want_u64(w.e.count[EMBED_WRITTEN_EV], 1);
		want_u64(w.e.log[w.e.events - 1].kind, EMBED_PUBLISH_EV);
		want_u64(w.e.log[0].bytes, 8);

		where("mode %u, a gather publishes once, at its end", mode);
		gather();
		for (uint64_t i = 1; i < 4; i += 2)
			want_status(pgt_map(w.t, w.l1 + 2 * w.l2 + w.page * i, 0, w.page, RW, 0,
					    &g), PGT_OK);
		want_u64(w.e.count[EMBED_PUBLISH_EV], 0);
		want_u64(embed_unwritten(&w.e), 0);
		end();
		want_u64(w.e.count[EMBED_PUBLISH_EV], 1);

		where("mode %u, nothing written, nothing published", mode);
		embed_log_clear(&w.e);
		want_status(pgt_map(w.t, w.l1, 0, w.page, RW, 0, NULL), PGT_EEXIST);
		want_status(pgt_unmap(w.t, 9 * w.l1, w.l1, 0, NULL), PGT_OK);
		want_u64(w.e.events, 0);

		where("mode %u, written before the TLB is told", mode);
		embed_log_clear(&w.e);
		want_status(pgt_unmap(w.t, w.l1 + 2 * w.l2, w.page, 0, NULL), PGT_OK);
		want(embed_find(&w.e, EMBED_WRITTEN_EV, 0) <
		     embed_find(&w.e, EMBED_INVALIDATE, 0));
		sound(&w);
		world_close(&w);
	}
	ok(fine, "%s: filled, written, published, linked; and written before the TLB is told",
	   format);
}

int main(void)
{
	if (!formats[0])
		return tap_skip_all("no format of these was built");
	for_formats(format) {
		test_tally(format);
		test_tally_state(format);
		test_no_tlb(format);
		test_removed(format);
		test_removed_run_state(format);
		test_ranges(format);
		test_joining(format);
		test_overflow(format);
		test_many_tables(format);
		test_publish(format);
		if (format_named(format)->entry.token_shift)
			test_removed_token(format);
	}
	return tap_done();
}
