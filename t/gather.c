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
	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG, EMBED_ALL))
		return;

	where("a new gather");
	gather();
	want(!g.removed);
	end();
	want_u64(g.tally.leaves | g.tally.changed | g.tally.reads | g.tally.rmws, 0);
	want_u64(g.tally.mapped | g.tally.unmapped | g.tally.young | g.tally.dirty, 0);
	want_u64(w.e.events, 0);

	where("one page");
	gather();
	want_status(pgt_map(w.t, GIB(1), 0, KIB(4), RW, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.changed, 1);
	want_u64(g.tally.mapped, KIB(4));
	want_u64(g.tally.unmapped | g.tally.invalidates | g.tally.syncs, 0);
	want_u64(g.tally.tables_allocated, 3);
	want(g.tally.reads >= 1 && g.tally.reads < 600);
	gather();
	want_status(pgt_unmap(w.t, GIB(1), KIB(4), 0, &g), PGT_OK);
	end();
	want_u64(g.tally.leaves, 1);
	want_u64(g.tally.changed, 1);
	want_u64(g.tally.unmapped, KIB(4));
	want_u64(g.tally.mapped, 0);
	want_u64(g.tally.young, 1);
	want_u64(g.tally.dirty, 1);
	want_u64(g.tally.tables_freed, 3);
	want_u64(g.tally.invalidates, 1);
	want_u64(g.tally.syncs, 1);

	where("a run");
	gather();
	want_status(pgt_map(w.t, GIB(1), 0, KIB(64), RW, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.changed, 16);
	want_u64(g.tally.mapped, KIB(64));
	gather();
	want_status(pgt_unmap(w.t, GIB(1) + KIB(4), KIB(4), 0, &g), PGT_OK);
	end();
	want_u64(g.tally.runs_unfolded, 1);
	want_u64(g.tally.blocks_split, 0);
	want_u64(g.tally.unmapped, KIB(4));
	want(g.tally.changed == 16);
	gather();
	want_status(pgt_unmap(w.t, GIB(1), KIB(64), 0, &g), PGT_OK);
	end();
	want_u64(g.tally.unmapped, KIB(60));
	want_u64(g.tally.changed, 15);
	want_u64(g.tally.young, 15);
	want_u64(g.tally.runs_unfolded, 0);

	where("blocks");
	gather();
	want_status(pgt_map(w.t, GIB(1), 0, GIB(1), RW, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.changed, 1);
	want_u64(g.tally.mapped, GIB(1));
	gather();
	want_status(pgt_unmap(w.t, GIB(1) + MIB(2), KIB(4), 0, &g), PGT_OK);
	end();
	/* The block that was there, and perhaps the one that came of it. */
	want(g.tally.blocks_split == 1 || g.tally.blocks_split == 2);
	want_u64(g.tally.tables_allocated, 2);
	want_u64(g.tally.unmapped, KIB(4));
	gather();
	want_status(pgt_unmap(w.t, GIB(1), GIB(1), 0, &g), PGT_OK);
	end();
	want_u64(g.tally.unmapped, GIB(1) - KIB(4));
	want_u64(g.tally.blocks_split, 0);

	where("replacement");
	gather();
	want_status(pgt_map(w.t, GIB(1), 0, MIB(4), RW, 0, &g), PGT_OK);
	end();
	want_u64(g.tally.changed, 2);
	gather();
	want_status(pgt_map(w.t, GIB(1), MIB(64), MIB(2), PGT_READ, PGT_REPLACE, &g), PGT_OK);
	end();
	want_u64(g.tally.mapped, MIB(2));
	want_u64(g.tally.unmapped, MIB(2));
	gather();
	want_status(pgt_map(w.t, GIB(1), MIB(64), MIB(2), PGT_READ, PGT_REPLACE, &g), PGT_OK);
	end();
	where("the same again");
	want_u64(g.tally.changed | g.tally.mapped | g.tally.unmapped | g.tally.invalidates |
		 g.tally.rmws, 0);
	want_u64(w.e.events, 0);

	where("failed calls");
	gather();
	want_status(pgt_map(w.t, GIB(1), 0, MIB(2), RW, 0, &g), PGT_EEXIST);
	want_status(pgt_map(w.t, GIB(1), 1, MIB(2), RW, 0, &g), PGT_EALIGN);
	want_status(pgt_unmap(w.t, GIB(1), KIB(4), PGT_NO_SPLIT, &g), PGT_EBLOCK);
	embed_fail(&w.e, 1, true);
	want_status(pgt_unmap(w.t, GIB(1), KIB(4), 0, &g), PGT_ENOMEM);
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

	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG | PGT_FEAT_TRACK_YOUNG |
			PGT_FEAT_TRACK_DIRTY, EMBED_TLB))
		return;
	for (unsigned i = 0; i < 4; i++) {
		bool young = states[i] & PGT_YOUNG, dirty = states[i] & PGT_DIRTY;

		where("state %#" PRIx64, states[i]);
		want_status(pgt_map(w.t, GIB(1), 0, KIB(64) + KIB(12), RW | states[i], 0, NULL),
			    PGT_OK);
		want_status(pgt_map(w.t, GIB(2), 0, MIB(6), RW | states[i], 0, NULL), PGT_OK);
		gather();
		want_status(pgt_unmap(w.t, GIB(1), GIB(2), 0, &g), PGT_OK);
		end();
		want_u64(g.tally.young, young ? 16 + 3 + 3 : 0);
		want_u64(g.tally.dirty, dirty ? 16 + 3 + 3 : 0);
		want_u64(g.tally.leaves, 16 + 3 + 3);
		want_u64(g.tally.changed, 16 + 3 + 3);
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
	want_status(pgt_map(w.t, GIB(1), 0, MIB(64), RW, 0, &g), PGT_OK);
	want_status(pgt_unmap(w.t, GIB(1) + KIB(4), KIB(4), PGT_NO_BREAK, &g), PGT_OK);
	want_status(pgt_map(w.t, GIB(1) + MIB(2), 0, MIB(2), PGT_READ, PGT_REPLACE, &g), PGT_OK);
	want_status(pgt_unmap(w.t, GIB(1), MIB(64), 0, &g), PGT_OK);
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
		uint64_t page = BIT(granule), block, run;

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG |
				PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY, EMBED_TLB))
			continue;
		block = geo_span(&w.geo, 2);
		run = BIT(geo_run_bits(&w.geo, 3));
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
			want_status(pgt_unmap(w.t, va + 2 * page, page, 0, &g), PGT_OK);
			want_removed(va + 2 * page, run + 2 * page, page, attr);
			want_u64(gone_bytes(), page);
			end();
			gather_removed();
			want_status(pgt_unmap(w.t, va, run, 0, &g), PGT_OK);
			want_removed(va, run, 2 * page, attr);
			want_removed(va + 3 * page, run + 3 * page, run - 3 * page, attr);
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
	uint64_t set;

	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG | PGT_FEAT_TRACK_YOUNG |
			PGT_FEAT_TRACK_DIRTY | PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY, EMBED_TLB))
		return;
	for (unsigned i = 0; i < 16; i++) {
		uint64_t va = GIB(1) + KIB(4) * i;

		where("member %u", i);
		want_status(pgt_map(w.t, GIB(1), 0, KIB(64), RW, 0, NULL), PGT_OK);
		set = raw_entry(&w, va, 3);
		set = w.arm64 ? (set | BIT(10)) & ~BIT(7) : set | PGT_GENERIC_YOUNG |
		      PGT_GENERIC_DIRTY;
		raw_poke(&w, va, 3, set);
		gather_removed();
		want_status(pgt_unmap(w.t, GIB(1) + KIB(32), KIB(4), 0, &g), PGT_OK);
		want_removed(GIB(1) + KIB(32), KIB(32), KIB(4), RWD);
		end();
		want_u64(query(w.t, GIB(1)).attr, RWD);
		want_u64(query(w.t, GIB(1) + KIB(60)).attr, RWD);
		gather_removed();
		want_status(pgt_unmap(w.t, GIB(1), KIB(64), 0, &g), PGT_OK);
		want_removed(GIB(1), 0, KIB(32), RWD);
		end();

		where("member %u, the run at once", i);
		want_status(pgt_map(w.t, GIB(1), 0, KIB(64), RW, 0, NULL), PGT_OK);
		raw_poke(&w, va, 3, set);
		gather_removed();
		want_status(pgt_unmap(w.t, GIB(1), KIB(64), 0, &g), PGT_OK);
		want_removed(GIB(1), 0, KIB(64), RWD);
		want_u64(g.tally.young, 16);
		want_u64(g.tally.dirty, 16);
		end();
	}
	world_close(&w);
	ok(fine, "%s: the state of one member is the run's, in what is removed and what stays",
	   format);
}

static void test_removed_token(void)
{
	if (!have_format("generic")) {
		tap_skip("generic was not built");
		return;
	}
	begin();
	if (!world_open(&w, "generic", 12, 48, 0, EMBED_TLB))
		return;
	want_status(pgt_map(w.t, 0, 0, KIB(4), RW, 0, NULL), PGT_OK);
	raw_poke(&w, KIB(4), 3, UINT64_C(77) << 2 | PGT_GENERIC_TOKEN);
	gather_removed();
	want_status(pgt_unmap(w.t, KIB(4), KIB(4), 0, &g), PGT_OK);
	want_u64(n_gone, 1);
	want_u64(gone[0].state, PGT_TOKEN);
	want_u64(gone[0].token, 77);
	want_u64(gone[0].va, KIB(4));
	want_u64(gone[0].len, KIB(4));
	end();
	world_close(&w);
	ok(fine, "generic: removed reports tokens");
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
	uint64_t b;

	if (!world_open(&w, format, 12, 48, features | PGT_FEAT_CONTIG, EMBED_TLB))
		return;
	b = w.base + GIB(1);

	where("a page");
	want_status(pgt_map(w.t, b, 0, KIB(12), RW, 0, NULL), PGT_OK);
	unmap(b + KIB(4), KIB(4), 0);
	want_u64(w.e.count[EMBED_INVALIDATE], 1);
	want_u64(w.e.count[EMBED_SYNC], 1);
	want_range(0, b + KIB(4), KIB(4), 12, 3, 0);
	where("two pages with a hole between them");
	unmap(b, KIB(64), PGT_KEEP_TABLES);
	want_u64(w.e.count[EMBED_INVALIDATE], 1);
	want_range(0, b, KIB(12), 12, 3, 0);

	where("a global page");
	want_status(pgt_map(w.t, b, 0, KIB(4), RW | PGT_GLOBAL, 0, NULL), PGT_OK);
	unmap(b, KIB(4), PGT_KEEP_TABLES);
	want_range(0, b, KIB(4), 12, 3, PGT_TLB_GLOBAL);

	where("nothing");
	unmap(b, KIB(64), PGT_KEEP_TABLES);
	want_u64(w.e.events, 0);

	where("an old page");
	world_close(&w);
	if (!world_open(&w, format, 12, 48, features | PGT_FEAT_CONTIG | PGT_FEAT_TRACK_YOUNG,
			EMBED_TLB))
		return;
	want_status(pgt_map(w.t, b, 0, KIB(4), RW, 0, NULL), PGT_OK);
	unmap(b, KIB(4), PGT_KEEP_TABLES);
	/* A clear access flag is no proof that no TLB holds it. */
	want_range(0, b, KIB(4), 12, 3, 0);

	where("its tables too");
	want_status(pgt_map(w.t, b, 0, KIB(4), RW, 0, NULL), PGT_OK);
	unmap(b, KIB(4), 0);
	want_u64(w.e.count[EMBED_INVALIDATE], 1);
	want_u64(nth_range(0)->level, PGT_LEVEL_UNKNOWN);
	want_u64(nth_range(0)->flags, PGT_TLB_WALK);
	/* The whole span of the highest table that went: an L1's. */
	want_u64(nth_range(0)->va, w.base);
	want_u64(nth_range(0)->len, GIB(512));

	where("a run");
	want_status(pgt_map(w.t, b, 0, KIB(64), RW, 0, NULL), PGT_OK);
	unmap(b, KIB(64), PGT_KEEP_TABLES);
	want_range(0, b, KIB(64), 12, 3, 0);

	where("a block");
	want_status(pgt_map(w.t, b + GIB(2), 0, MIB(4), RW, 0, NULL), PGT_OK);
	unmap(b + GIB(2), MIB(2), PGT_KEEP_TABLES);
	want_range(0, b + GIB(2), MIB(2), 21, 2, 0);

	where("a block, whole, by a page of it");
	unmap(b + GIB(2) + MIB(2) + KIB(4), KIB(4), PGT_WHOLE | PGT_KEEP_TABLES);
	want_range(0, b + GIB(2) + MIB(2), MIB(2), 21, 2, 0);

	where("a page and a block");
	want_status(pgt_map(w.t, b + GIB(2), 0, KIB(4), RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, b + GIB(2) + MIB(2), 0, MIB(2), RW, 0, NULL), PGT_OK);
	unmap(b + GIB(2), MIB(4), PGT_KEEP_TABLES);
	want_u64(w.e.count[EMBED_INVALIDATE], 1);
	want_range(0, b + GIB(2), MIB(4), 12, PGT_LEVEL_UNKNOWN, 0);
	world_close(&w);
}

static void test_ranges(const char *format)
{
	begin();
	one_half_ranges(format, 0);
	if (!strcmp(format, "arm64"))
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
	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_TLB))
		return;
	want_status(pgt_map(w.t, GIB(1), 0, MIB(2), RW, PGT_MAX_LEAF(12), NULL), PGT_OK);
	want_status(pgt_map(w.t, GIB(64), 0, MIB(2), RW, PGT_MAX_LEAF(12), NULL), PGT_OK);

	where("far apart, one call");
	want_status(pgt_unmap(w.t, GIB(1), MIB(1), PGT_KEEP_TABLES, NULL), PGT_OK);
	gather();
	want_status(pgt_unmap(w.t, GIB(1) + MIB(2) - KIB(4), GIB(63) - MIB(2) + KIB(8),
			      PGT_KEEP_TABLES, &g), PGT_OK);
	want_u64(w.e.count[EMBED_INVALIDATE], 0);
	end();
	want_u64(w.e.count[EMBED_INVALIDATE], 1);
	want_range(0, GIB(1) + MIB(2) - KIB(4), GIB(63) - MIB(2) + KIB(8), 12, 3, 0);

	where("far apart, two calls");
	gather();
	want_status(pgt_unmap(w.t, GIB(1) + MIB(1), KIB(4), PGT_KEEP_TABLES, &g), PGT_OK);
	want_status(pgt_unmap(w.t, GIB(64) + MIB(1), KIB(4), PGT_KEEP_TABLES, &g), PGT_OK);
	want_u64(w.e.count[EMBED_INVALIDATE] + w.e.count[EMBED_SYNC], 0);
	end();
	want_u64(w.e.count[EMBED_INVALIDATE], 2);
	want_u64(w.e.count[EMBED_SYNC], 1);
	want(covered(GIB(1) + MIB(1)) && covered(GIB(64) + MIB(1)));
	want_u64(g.tally.invalidated_bytes, KIB(8));

	where("neighbours, two calls");
	gather();
	want_status(pgt_unmap(w.t, GIB(64) + KIB(64), KIB(4), PGT_KEEP_TABLES, &g), PGT_OK);
	want_status(pgt_unmap(w.t, GIB(64) + KIB(68), KIB(4), PGT_KEEP_TABLES, &g), PGT_OK);
	end();
	want(w.e.count[EMBED_INVALIDATE] == 1 || w.e.count[EMBED_INVALIDATE] == 2);
	want_u64(g.tally.invalidated_bytes, KIB(8));

	where("a reading call and a map elsewhere drain nothing");
	gather();
	want_status(pgt_unmap(w.t, GIB(64) + KIB(80), KIB(4), PGT_KEEP_TABLES, &g), PGT_OK);
	want(is_empty(w.t, GIB(64) + KIB(80)));
	want_status(pgt_map(w.t, GIB(3), 0, KIB(4), RW, 0, &g), PGT_OK);
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
		int told = -1, synced = -1;

		if (!world_open(&w, format, 12, 48, 0, EMBED_TLB))
			continue;
		for (uint64_t i = 0; i < 600; i++)
			want_status(pgt_map(w.t, GIB(2) * i, MIB(2) * i, KIB(4), RW, 0, NULL),
				    PGT_OK);
		gather();
		for (uint64_t i = 0; i < 600; i++)
			want_status(pgt_unmap(w.t, GIB(2) * i, KIB(4), (unsigned)flags, &g),
				    PGT_OK);
		end();
		where("tables %u", tables);
		want(!w.e.overflow);
		want_u64(g.tally.unmapped, 600 * KIB(4));
		for (uint64_t i = 0; i < 600; i++)
			want(covered(GIB(2) * i));
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
		linked_early |= raw_entry(&w, GIB(1), w.geo.start) != 0;
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
		want_status(pgt_map(w.t, GIB(1), 0, MIB(4) + KIB(4), RW, 0, NULL), PGT_OK);
		w.e.hook = NULL;
		want(publishes >= 1 && !linked_early && !unwritten);
		want_u64(embed_unwritten(&w.e), 0);
		want(embed_find(&w.e, EMBED_WRITTEN_EV, 0) <
		     embed_find(&w.e, EMBED_PUBLISH_EV, 0));
		want_u64(w.e.log[w.e.events - 1].kind, EMBED_PUBLISH_EV);

		where("mode %u, into tables that are there", mode);
		embed_log_clear(&w.e);
		want_status(pgt_map(w.t, GIB(1) + MIB(4) + KIB(8), 0, KIB(4), RW, 0, NULL), PGT_OK);
		want_u64(w.e.count[EMBED_PUBLISH_EV], 1);
		want_u64(w.e.count[EMBED_WRITTEN_EV], 1);
		want_u64(w.e.log[w.e.events - 1].kind, EMBED_PUBLISH_EV);
		want_u64(w.e.log[0].bytes, 8);

		where("mode %u, a gather publishes once, at its end", mode);
		gather();
		for (uint64_t i = 4; i < 8; i++)
			want_status(pgt_map(w.t, GIB(1) + MIB(4) + KIB(4) * i, 0, KIB(4), RW, 0,
					    &g), PGT_OK);
		want_u64(w.e.count[EMBED_PUBLISH_EV], 0);
		want_u64(embed_unwritten(&w.e), 0);
		end();
		want_u64(w.e.count[EMBED_PUBLISH_EV], 1);

		where("mode %u, nothing written, nothing published", mode);
		embed_log_clear(&w.e);
		want_status(pgt_map(w.t, GIB(1), 0, KIB(4), RW, 0, NULL), PGT_EEXIST);
		want_status(pgt_unmap(w.t, GIB(9), GIB(1), 0, NULL), PGT_OK);
		want_u64(w.e.events, 0);

		where("mode %u, written before the TLB is told", mode);
		embed_log_clear(&w.e);
		want_status(pgt_unmap(w.t, GIB(1) + MIB(4), KIB(4), 0, NULL), PGT_OK);
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
	for_formats(format) {
		test_tally(format);
		test_tally_state(format);
		test_no_tlb(format);
		test_removed(format);
		test_removed_run_state(format);
		test_ranges(format);
		test_joining(format);
		test_overflow(format);
		test_publish(format);
	}
	test_removed_token();
	return tap_done();
}
