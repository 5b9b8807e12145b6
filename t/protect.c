/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * protect: what it writes and asks TLBs to forget, and when it breaks before it
 * makes; what it refuses; what it asks the embedder; and what readers find at
 * every moment at which the library calls back.
 */
#include "contract.h"

#define STATE (PGT_YOUNG | PGT_DIRTY)
#define HW (PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY)
#define TRACK (PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY)

static struct world w;
static struct embed_snapshot before;

/*
 * Something of each kind: a block, four runs, five pages by themselves, a
 * token, a hole, one more page.
 */
struct place {
	uint64_t va, len;
	uint64_t block, runs, pages, token, last;
	uint64_t block_len, run_len, page;
};

static struct place k;

static bool open_place(const char *format, unsigned g, uint64_t features, unsigned mode, uint64_t attr)
{
	unsigned run_bits;

	if (!world_open(&w, format, g, 48, features | PGT_FEAT_CONTIG, mode))
		return false;
	attr = world_attr(&w, attr);
	run_bits = geo_run_bits(&w.geo, 3);
	k.page = BIT(g);
	k.block_len = geo_span(&w.geo, 2);
	k.run_len = BIT(run_bits);
	k.va = k.block = w.base + w.bytes / 4;
	k.runs = k.block + k.block_len;
	k.pages = k.runs + 4 * k.run_len;
	k.token = k.pages + 5 * k.page;
	k.last = k.token + 2 * k.page;
	k.len = k.last + k.page - k.va;
	want_status(pgt_map(w.t, k.block, world_pa(&w, 1), k.block_len, attr, PGT_MAX_LEAF(geo_bits(&w.geo, 2)),
			    NULL), PGT_OK);
	want_status(pgt_map(w.t, k.runs, world_pa(&w, 2), 4 * k.run_len, attr, PGT_MAX_LEAF(run_bits), NULL),
		    PGT_OK);
	for (unsigned i = 0; i < 5; i++)
		want_status(pgt_map(w.t, k.pages + i * k.page, world_pa(&w, 3) + 3 * i * k.page, k.page, attr, 0,
				    NULL), PGT_OK);
	want_status(pgt_store(w.t, k.token, k.page, 77, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, k.last, world_pa(&w, 3), k.page, attr, 0, NULL), PGT_OK);
	want_u64(query(w.t, k.block).len, k.block_len);
	want_u64(query(w.t, k.runs).run_bytes, k.run_len);
	embed_log_clear(&w.e);
	return true;
}

/* A call by itself, counted. */
static struct pgt_tally protect(uint64_t va, uint64_t len, uint64_t set, uint64_t clear, unsigned flags)
{
	struct pgt_gather g;

	embed_log_clear(&w.e);
	want_status(pgt_gather_begin(&g, w.t), PGT_OK);
	want_status(pgt_protect(w.t, va, len, set, clear, flags, &g), PGT_OK);
	want_status(pgt_gather_end(&g), PGT_OK);
	want_u64(g.tally.invalidates, w.e.count[EMBED_INVALIDATE]);
	want_u64(g.tally.syncs, w.e.count[EMBED_SYNC]);
	return g.tally;
}

static uint64_t attr_at(uint64_t va)
{
	return query(w.t, va).attr;
}

/* ---- Nothing to do --------------------------------------------------------------- */

static void test_nothing(const char *format, unsigned g)
{
	static const struct {
		uint64_t set, clear;
	} idle[] = {
		{ 0, 0 }, { PGT_WRITE, 0 }, { PGT_READ | PGT_WRITE | PGT_USER, 0 }, { 0, PGT_GLOBAL },
		{ 0, PGT_NOACCESS | PGT_SW0 }, { PGT_SW1, PGT_SW0 | PGT_SW1 }, { PGT_YOUNG, 0 },
		{ PGT_MEM_NORMAL, PGT_MEM_MASK }, { PGT_SH_INNER, PGT_SH_MASK }, { PGT_WRITE, PGT_WRITE },
	};

	begin();
	if (!open_place(format, g, 0, EMBED_ALL, RW | PGT_USER | PGT_SW1))
		return;
	embed_snapshot(&w.e, &before);
	for (unsigned i = 0; i < sizeof(idle) / sizeof(*idle); i++)
		for (unsigned part = 0; part < 3; part++) {
			uint64_t va = k.va + part * k.page, len = k.len - 2 * part * k.page;
			uint64_t set = idle[i].set, clear = idle[i].clear;
			struct pgt_tally y;

			world_change(&w, &set, &clear);
			set &= attr_at(k.block) | PGT_MEM_MASK | PGT_SH_MASK;
			where("set %#" PRIx64 " clear %#" PRIx64 " part %u", set, clear, part);
			y = protect(va, len, set, clear, 0);
			want(!embed_compare(&w.e, &before));
			want_u64(w.e.events, 0);
			want_u64(y.changed, 0);
			want_u64(y.rmws, 0);
			want_u64(y.blocks_split + y.runs_unfolded + y.tables_allocated, 0);
			embed_log_clear(&w.e);
			want_status(pgt_protect(w.t, va, len, set, clear,
						PGT_NO_SPLIT | PGT_NO_BREAK, NULL), PGT_OK);
			want_u64(w.e.events, 0);
		}
	world_close(&w);
	ok(fine, "%s, granule 2^%u: what complies is neither written nor split nor invalidated", format, g);
}

/* ---- How many invalidations ---------------------------------------------------------- */

/* The last range that was asked for, and whether all lie in [va, va + len). */
static void want_ranges(uint64_t va, uint64_t len)
{
	for (unsigned i = 0; i < w.e.events; i++) {
		const struct embed_event *ev = &w.e.log[i];

		if (ev->kind != EMBED_INVALIDATE)
			continue;
		want(ev->range.va >= va && ev->range.va + (ev->range.len - 1) <= va + (len - 1));
		want(!(ev->range.flags & PGT_TLB_ALL));
	}
}

/* Each change over all of the place, with whole leaves and runs. */
static void test_merged(const char *format, unsigned g, uint64_t features)
{
	static const struct {
		uint64_t set, clear;
		unsigned flags;
		uint64_t invalidates;
		bool maybe_more; /* it breaks before it makes */
	} changes[] = {
		{ 0, PGT_WRITE, 0, 1, false },
		{ PGT_WRITE, 0, 0, 1, false },
		{ 0, PGT_WRITE, PGT_LAZY, 1, false },
		{ PGT_WRITE, 0, PGT_LAZY, 0, false },
		{ PGT_USER, 0, PGT_LAZY, 0, false },
		{ 0, PGT_USER, PGT_LAZY, 1, false },
		{ 0, PGT_READ, PGT_LAZY, 1, false },
		{ PGT_READ, 0, PGT_LAZY, 0, false },
		{ PGT_SW0, 0, 0, 0, false },
		{ PGT_SW1, PGT_SW0, 0, 0, false },
		{ PGT_EXEC, 0, PGT_LAZY, 0, false },
		{ PGT_SW2, PGT_EXEC, 0, 1, false },
		{ PGT_GLOBAL, 0, 0, 1, true },
		{ 0, PGT_GLOBAL, 0, 1, false },
		{ PGT_MEM_NOCACHE, PGT_MEM_MASK, 0, 1, true },
		{ PGT_SH_OUTER, PGT_SH_MASK, 0, 1, true },
		{ 0, PGT_YOUNG | PGT_DIRTY, 0, 1, false },
		{ PGT_YOUNG | PGT_DIRTY, 0, PGT_LAZY, 0, false },
		{ PGT_NOACCESS, 0, 0, 1, false },
		{ PGT_WRITE, 0, 0, 0, false }, /* inaccessible, so nothing that a TLB holds */
		{ 0, PGT_NOACCESS, 0, 0, false },
	};

	begin();
	if (!open_place(format, g, features | TRACK | HW, EMBED_TLB, RW | STATE))
		return;
	for (unsigned i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		uint64_t attr = attr_at(k.pages), n, expected, set = changes[i].set, clear = changes[i].clear;

		if (!world_change(&w, &set, &clear))
			continue;
		expected = (attr & ~clear) | set;
		where("change %u: set %#" PRIx64 " clear %#" PRIx64, i, set, clear);
		protect(k.va, k.len, set, clear, changes[i].flags);
		n = w.e.count[EMBED_INVALIDATE];
		/* Blocks and runs may take more with the generic hooks. */
		if (changes[i].maybe_more || !w.arm64)
			want(n >= changes[i].invalidates);
		else
			want_u64(n, changes[i].invalidates);
		if (w.arm64)
			want(w.e.count[EMBED_SYNC] <= n);
		want_ranges(k.va, k.len);
		for (uint64_t at = k.va; at < k.va + k.len; at += k.page)
			if (at < k.token || at == k.last)
				want_u64(attr_at(at), expected);
		if (!want(sound(&w)))
			break;
	}
	want_u64(query(w.t, k.token).token, 77);
	want(is_empty(w.t, k.token + k.page));
	world_close(&w);
	ok(fine, "%s%s, granule 2^%u: one merged invalidation a call, and none where nothing that a TLB "
	   "holds changes, or lazily only widens", format, features & PGT_FEAT_BBM2 ? " level 2" : "", g);
}

/* The same range exactly, from the first changed leaf to the last. */
static void test_extent(const char *format, unsigned g)
{
	const struct embed_event *ev;
	int at;

	begin();
	if (!open_place(format, g, TRACK | HW, EMBED_TLB, RW | STATE))
		return;
	/* Only the second run and the third page change. */
	protect(k.runs + k.run_len, k.run_len, 0, PGT_WRITE, 0);
	at = embed_find(&w.e, EMBED_INVALIDATE, 0);
	ev = at < 0 ? NULL : &w.e.log[at];
	if (want(ev)) {
		want_u64(ev->range.va, k.runs + k.run_len);
		want_u64(ev->range.len, k.run_len);
		want_u64(ev->range.stride_bits, g);
		want_u64((uint64_t)ev->range.level, 3);
		want_u64(ev->range.flags, 0);
	}
	/* What complies at both ends is left out. */
	protect(k.pages + 2 * k.page, k.page, 0, PGT_WRITE, 0);
	protect(k.va, k.len, PGT_WRITE, 0, 0);
	at = embed_find(&w.e, EMBED_INVALIDATE, 0);
	ev = at < 0 ? NULL : &w.e.log[at];
	if (want(ev)) {
		want_u64(w.e.count[EMBED_INVALIDATE], 1);
		want(ev->range.va >= k.va && ev->range.va <= k.runs + k.run_len);
		want(ev->range.va + ev->range.len >= k.pages + 3 * k.page);
	}
	/* A block: of its level. */
	protect(k.block, k.block_len, 0, PGT_WRITE, 0);
	at = embed_find(&w.e, EMBED_INVALIDATE, 0);
	ev = at < 0 ? NULL : &w.e.log[at];
	if (want(ev)) {
		want_u64(ev->range.va, k.block);
		want_u64(ev->range.len, k.block_len);
		want_u64((uint64_t)ev->range.level, 2);
		want_u64(ev->range.stride_bits, geo_bits(&w.geo, 2));
	}
	world_close(&w);
	ok(fine, "%s, granule 2^%u: the range is that of what changed", format, g);
}

/* A range that cuts a block and a run: one more for each, or none at level 2. */
static void test_cuts(const char *format, unsigned g, bool level2, bool live)
{
	uint64_t features = TRACK | HW | (level2 ? PGT_FEAT_BBM2 : 0);
	uint64_t more = level2 ? 0 : 1;
	struct pgt_tally y;

	begin();
	if (!open_place(format, g, features, live ? EMBED_TLB : 0, RW | STATE))
		return;
	where("the block at its end");
	y = protect(k.block, k.block_len - k.page, 0, PGT_WRITE, 0);
	want_u64(y.blocks_split, 1);
	if (w.arm64)
		want_u64(w.e.count[EMBED_INVALIDATE], live ? 1 + more : 0);
	where("a run at its beginning");
	y = protect(k.runs + k.page, k.run_len - k.page, 0, PGT_WRITE, 0);
	want_u64(y.runs_unfolded, 1);
	if (w.arm64)
		want_u64(w.e.count[EMBED_INVALIDATE], live ? 1 + more : 0);
	where("two runs");
	y = protect(k.runs + k.run_len + k.page, 2 * k.run_len, 0, PGT_WRITE, 0);
	if (w.arm64) {
		want_u64(y.runs_unfolded, 2);
		/* Both cuts may share one. */
		want(w.e.count[EMBED_INVALIDATE] >= (live ? 1 + more : 0));
		want(w.e.count[EMBED_INVALIDATE] <= (live ? 1 + 2 * more : 0));
	}
	if (!live)
		want_u64(w.e.count[EMBED_INVALIDATE] + w.e.count[EMBED_SYNC], 0);
	/* Exactly the range, page by page; all stay dirty and young. */
	for (uint64_t at = k.block; at < k.pages; at += k.page) {
		bool out = at == k.block + k.block_len - k.page || at == k.runs ||
			   at == k.runs + k.run_len || at > k.runs + 3 * k.run_len;

		where("page %#" PRIx64, at);
		want_u64(attr_at(at), (out ? RW : PGT_READ) | STATE);
	}
	want(sound(&w));
	where("lazily widened in part");
	y = protect(k.runs + 3 * k.run_len + 2 * k.page, k.page, PGT_USER & ~format_never(w.f), 0, PGT_LAZY);
	if (w.arm64)
		want(w.e.count[EMBED_INVALIDATE] <= (live ? 1 : 0));
	world_close(&w);
	ok(fine, "%s%s%s, granule 2^%u: a cut takes one invalidation more, and changes nothing outside "
	   "the range", format, level2 ? " level 2" : "", live ? "" : ", nobody caches", g);
}

/* ---- Break before make ------------------------------------------------------------------ */

static uint64_t old_attr, new_attr;   /* what readers may see, young and dirty aside */
static uint64_t watched_va, watched_len, watched_pa;
static bool watching, found_invalid, found_valid;

/* Whether hardware may use the raw entry of an address. */
static bool raw_valid(uint64_t va)
{
	for (unsigned l = w.geo.start; l <= 3; l++) {
		uint64_t e = raw_entry(&w, va, l);

		if (raw_is_table(&w, e, l) && raw_is_valid(&w, e, l))
			continue;
		return raw_is_leaf(&w, e, l) && raw_is_valid(&w, e, l);
	}
	return false;
}

static int seen_bytes(void *ctx, const struct pgt_mapping *m)
{
	uint64_t from = m->va > watched_va ? m->va : watched_va;
	uint64_t to = m->va + m->len < watched_va + watched_len ? m->va + m->len :
								   watched_va + watched_len;

	if (m->state == PGT_LEAF)
		*(uint64_t *)ctx += to - from;
	return 0;
}

/* A reader: all is mapped, as it was or as it will be. */
static void watch(struct embed *e, const struct embed_event *ev)
{
	uint64_t bytes = 0;

	(void)e;
	if (!watching)
		return;
	watching = false;
	where("in %s", embed_kind_name(ev->kind));
	for (uint64_t at = 0; at < watched_len; at += k.page) {
		struct pgt_mapping m = query(w.t, watched_va + at);
		uint64_t attr = m.attr & ~STATE;

		want_u64((uint64_t)m.state, PGT_LEAF);
		want_u64(m.pa + (watched_va + at - m.va), watched_pa + at);
		want(attr == old_attr || attr == new_attr);
	}
	want_status(pgt_visit(w.t, watched_va, watched_len, 0, seen_bytes, &bytes), PGT_OK);
	want_u64(bytes, watched_len);
	if (ev->kind == EMBED_INVALIDATE)
		*(raw_valid(watched_va + watched_len / 2) ? &found_valid : &found_invalid) = true;
	watching = true;
}

static void begin_watch(uint64_t va, uint64_t len, uint64_t pa, uint64_t from, uint64_t to)
{
	watched_va = va;
	watched_len = len;
	watched_pa = pa;
	old_attr = from & ~STATE;
	new_attr = to & ~STATE;
	found_invalid = found_valid = false;
	embed_log_clear(&w.e);
	watching = true;
	w.e.hook = watch;
}

static void end_watch(void)
{
	watching = false;
	w.e.hook = NULL;
}

/* Of one change: whether what is valid had to be broken. */
static void one_order(uint64_t va, uint64_t len, uint64_t pa, uint64_t set, uint64_t clear, bool breaks)
{
	uint64_t attr = attr_at(va), to = (attr & ~clear) | set;
	int status;

	embed_snapshot(&w.e, &before);
	status = pgt_protect(w.t, va, len, set, clear, PGT_NO_BREAK, NULL);
	if (breaks) {
		want_status(status, PGT_EBREAK);
		want(!embed_compare(&w.e, &before));
	} else if (w.arm64) {
		want_status(status, PGT_OK);
	}
	if (status == PGT_OK)
		want_status(pgt_protect(w.t, va, len, attr & ~to, to & ~attr, 0, NULL), PGT_OK);
	begin_watch(va, len, pa, attr, to);
	want_status(pgt_protect(w.t, va, len, set, clear, 0, NULL), PGT_OK);
	end_watch();
	where("va %#" PRIx64 " set %#" PRIx64 " clear %#" PRIx64, va, set, clear);
	if (breaks)
		want(found_invalid);
	else if (w.arm64)
		want(!found_invalid);
	want(raw_valid(va) && raw_valid(va + len - 1));
	for (uint64_t at = 0; at < len; at += k.page)
		want_u64(attr_at(va + at), to);
}

static void test_order(const char *format, unsigned g, uint64_t features)
{
	const struct {
		uint64_t set, clear;
		bool breaks;
	} changes[] = {
		{ PGT_MEM_NOCACHE, PGT_MEM_MASK, true },
		{ PGT_MEM_WRITETHROUGH, PGT_MEM_MASK, true },
		{ PGT_SH_OUTER, PGT_SH_MASK, true },
		{ PGT_GLOBAL, 0, true },
		{ 0, PGT_GLOBAL, false },
		{ 0, PGT_WRITE, false },
		{ PGT_WRITE | PGT_EXEC | PGT_USER | PGT_UEXEC, 0, false },
		{ 0, PGT_EXEC, (features & PGT_FEAT_EXEC_BBM) != 0 },
		{ PGT_SW2, PGT_UEXEC | PGT_USER, (features & PGT_FEAT_EXEC_BBM) != 0 },
		{ 0, PGT_WRITE, false },
		{ PGT_GUARDED | PGT_SW0, 0, false },
	};

	begin();
	if (!open_place(format, g, features | TRACK | HW, EMBED_ALL & ~EMBED_WRITTEN, RW | STATE))
		return;
	for (unsigned i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		uint64_t set = changes[i].set, clear = changes[i].clear, exec = PGT_EXEC | PGT_UEXEC;
		bool breaks = changes[i].breaks;

		if (!world_change(&w, &set, &clear))
			continue;
		/* Unprivileged execution that there never was, or that went with the other. */
		if (changes[i].clear & exec && !(attr_at(k.block) & clear & exec))
			breaks = false;
		one_order(k.block, k.block_len, world_pa(&w, 1), set, clear, breaks);
		one_order(k.runs, 4 * k.run_len, world_pa(&w, 2), set, clear, breaks);
		one_order(k.pages + k.page, k.page, world_pa(&w, 3) + 3 * k.page, set, clear, breaks);
		want(sound(&w));
	}
	want_u64(query(w.t, k.block).len, k.block_len);
	want_u64(query(w.t, k.runs).run_bytes, k.run_len);
	world_close(&w);
	ok(fine, "%s%s, granule 2^%u: memory type, shareability and global are broken before they are made"
	   ", permissions are not", format, features & PGT_FEAT_EXEC_BBM ? " (execute too)" : "", g);
}

/* Readers while leaves are cut, put together, replaced and harvested in part. */
static void test_readers(const char *format, unsigned g, uint64_t features)
{
	uint64_t mid, some;

	begin();
	if (!open_place(format, g, features | TRACK | HW, EMBED_ALL & ~EMBED_WRITTEN, RW | STATE))
		return;
	mid = k.block + k.block_len / 2;
	some = k.block_len / 2 > 4 * k.page ? 3 * k.page : k.page;
	begin_watch(k.block, k.block_len, world_pa(&w, 1), RW, PGT_READ);
	want_status(pgt_protect(w.t, mid + k.page, some, 0, PGT_WRITE, 0, NULL), PGT_OK);
	want_status(pgt_protect(w.t, mid + k.page, some, PGT_WRITE, 0, 0, NULL), PGT_OK);
	want_status(pgt_collapse(w.t, k.block, k.block_len, geo_bits(&w.geo, 2), 0, NULL), PGT_OK);
	want_u64(query(w.t, k.block).len, k.block_len);
	want_status(pgt_harvest(w.t, mid, k.page, STATE, 0, NULL, NULL), PGT_OK);
	want_status(pgt_split(w.t, k.block, k.block_len, g, 0, NULL), PGT_OK);
	want_status(pgt_collapse(w.t, k.block, k.block_len, geo_run_bits(&w.geo, 3), 0, NULL), PGT_OK);
	want_status(pgt_fault(w.t, mid, PGT_WRITE, NULL), PGT_OK);
	want_status(pgt_map(w.t, mid - 2 * k.page, world_pa(&w, 1) + k.block_len / 2 - 2 * k.page, 4 * k.page,
			    PGT_READ, PGT_REPLACE, NULL), PGT_OK);
	end_watch();
	begin_watch(k.runs, 4 * k.run_len, world_pa(&w, 2), RW, PGT_READ);
	want_status(pgt_protect(w.t, k.runs + k.page, 2 * k.run_len, 0, PGT_WRITE, 0, NULL), PGT_OK);
	want_status(pgt_protect(w.t, k.runs, 4 * k.run_len, PGT_WRITE, 0, 0, NULL), PGT_OK);
	want_status(pgt_collapse(w.t, k.runs, 4 * k.run_len, geo_run_bits(&w.geo, 3), 0, NULL), PGT_OK);
	want_u64(query(w.t, k.runs).run_bytes, k.run_len);
	want_status(pgt_harvest(w.t, k.runs + k.page, k.run_len, PGT_DIRTY, 0, NULL, NULL), PGT_OK);
	end_watch();
	where("afterwards");
	want(sound(&w));
	world_close(&w);
	ok(fine, "%s%s, granule 2^%u: readers in the callbacks find the old leaf or the new one", format,
	   features & PGT_FEAT_BBM2 ? " level 2" : "", g);
}

/* ---- Refusals ------------------------------------------------------------------------------ */

static void refused(uint64_t va, uint64_t len, uint64_t set, uint64_t clear, unsigned flags, int code)
{
	where("va %#" PRIx64 " len %#" PRIx64 " set %#" PRIx64 " clear %#" PRIx64, va, len, set, clear);
	embed_log_clear(&w.e);
	want_status(pgt_protect(w.t, va, len, set, clear, flags, NULL), code);
	want(!embed_compare(&w.e, &before));
	want_u64(w.e.events, 0);
}

static void test_refused(const char *format, unsigned g)
{
	begin();
	if (!open_place(format, g, TRACK | HW, EMBED_ALL & ~EMBED_WRITTEN, RW | PGT_EXEC | STATE))
		return;
	want_status(pgt_protect(w.t, k.va, k.last - k.va, 0, PGT_EXEC | PGT_UEXEC, 0, NULL), PGT_OK);
	embed_snapshot(&w.e, &before);
	where("the last page alone is executable");
	refused(k.va, k.len, PGT_MEM_DEVICE, PGT_MEM_MASK, 0, PGT_EINVAL);
	refused(k.block + k.page, k.len - k.page, PGT_MEM_DEVICE_STRICT, PGT_MEM_MASK, 0, PGT_EINVAL);
	refused(k.last, k.page, PGT_MEM_DEVICE, PGT_MEM_MASK, 0, PGT_EINVAL);
	refused(k.block, k.block_len, PGT_EXEC | PGT_MEM_DEVICE, PGT_MEM_MASK, 0, PGT_EINVAL);
	if (format_reads_all(w.f)) {
		refused(k.va, k.len, 0, PGT_READ, 0, PGT_ENOTSUP);
		refused(k.pages, k.page, 0, PGT_READ | PGT_WRITE, 0, PGT_ENOTSUP);
	}
	if (w.arm64 && !(w.f->features & PGT_FEAT_XNX)) {
		refused(k.pages, k.page, PGT_UEXEC, 0, 0, PGT_ENOTSUP);
		refused(k.runs + k.page, k.page, PGT_UEXEC | PGT_NOACCESS, 0, 0, PGT_ENOTSUP);
	}
	/* Holes. */
	refused(k.va, k.len, 0, PGT_WRITE, PGT_STRICT, PGT_ENOENT);
	refused(k.pages, k.len - (k.pages - k.va), 0, PGT_WRITE, PGT_STRICT, PGT_ENOENT);
	refused(k.token + k.page, k.page, 0, PGT_WRITE, PGT_STRICT, PGT_ENOENT);
	refused(k.last, 2 * k.page, 0, PGT_WRITE, PGT_STRICT, PGT_ENOENT);
	refused(k.va - k.page, 2 * k.page, 0, PGT_WRITE, PGT_STRICT, PGT_ENOENT);
	refused(w.base, k.page, 0, PGT_WRITE, PGT_STRICT, PGT_ENOENT);
	refused(k.va, k.len, 0, 0, PGT_STRICT, PGT_ENOENT);
	/* What would be split, or broken. */
	refused(k.block + k.page, k.page, 0, PGT_WRITE, PGT_NO_SPLIT, PGT_EBLOCK);
	refused(k.runs, k.page, 0, PGT_WRITE, PGT_NO_SPLIT, PGT_EBLOCK);
	refused(k.block + k.page, k.page, 0, PGT_WRITE, PGT_NO_BREAK, PGT_EBREAK);
	refused(k.runs, k.page, 0, PGT_WRITE, PGT_NO_BREAK, PGT_EBREAK);
	refused(k.runs, k.pages - k.runs, PGT_MEM_NOCACHE, PGT_MEM_MASK, PGT_NO_BREAK, PGT_EBREAK);
	if (!(format_never(w.f) & PGT_GLOBAL))
		refused(k.runs, k.pages - k.runs, PGT_GLOBAL, 0, PGT_NO_BREAK, PGT_EBREAK);
	/* Tokens are no holes. */
	where("a token");
	want_status(pgt_protect(w.t, k.pages, k.token + k.page - k.pages, 0, PGT_WRITE, PGT_STRICT, NULL),
		    PGT_OK);
	want_status(pgt_protect(w.t, k.token, k.page, 0, PGT_WRITE, PGT_STRICT, NULL), PGT_OK);
	want_u64(query(w.t, k.token).token, 77);
	world_close(&w);
	ok(fine, "%s, granule 2^%u: what is refused changes nothing, and PGT_STRICT refuses holes alone",
	   format, g);
}

/* Out of memory for a split: nothing changed. */
static void test_memory(const char *format, unsigned g)
{
	uint64_t mid;

	begin();
	if (!open_place(format, g, TRACK | HW, EMBED_TLB, RW | STATE))
		return;
	mid = k.block + k.block_len / 2 + k.page;
	embed_snapshot(&w.e, &before);
	embed_fail(&w.e, 1, true);
	where("no memory");
	want_status(pgt_protect(w.t, mid, k.page, 0, PGT_WRITE, 0, NULL), PGT_ENOMEM);
	want_status(pgt_protect(w.t, mid, k.len - (mid - k.va), 0, PGT_WRITE, 0, NULL), PGT_ENOMEM);
	want(!embed_compare(&w.e, &before));
	embed_fail(&w.e, 0, false);
	want_status(pgt_protect(w.t, mid, k.page, 0, PGT_WRITE, 0, NULL), PGT_OK);
	want_u64(attr_at(mid), PGT_READ | STATE);
	want_u64(attr_at(mid - k.page), RW | STATE);
	want_u64(attr_at(mid + k.page), RW | STATE);
	world_close(&w);
	ok(fine, "%s, granule 2^%u: a split without memory is refused", format, g);
}

/* ---- Dirty state ------------------------------------------------------------------------------ */

static void test_dirty(const char *format, unsigned g)
{
	struct pgt_translation tr;
	bool pair; /* a run has no third member */

	begin();
	if (!open_place(format, g, TRACK | HW, EMBED_TLB, PGT_READ))
		return;
	pair = k.run_len == 2 * k.page;
	protect(k.va, k.len, PGT_WRITE, 0, 0);
	for (uint64_t at = k.va; at < k.token; at += k.page) {
		where("%#" PRIx64 ": made writable, and clean", at);
		want_u64(attr_at(at), RW);
	}
	/* Hardware writes to some of it. */
	want_status(pgt_translate(w.t, k.block, PGT_WRITE | PGT_UPDATE, &tr), PGT_OK);
	want_status(pgt_translate(w.t, k.runs + (pair ? 1 : 2) * k.page, PGT_WRITE | PGT_UPDATE, &tr), PGT_OK);
	want_status(pgt_translate(w.t, k.pages, PGT_WRITE | PGT_UPDATE, &tr), PGT_OK);
	for (unsigned i = 0; i < 2; i++) {
		protect(k.va, k.len, i ? PGT_WRITE : 0, i ? 0 : PGT_WRITE, 0);
		where("%s", i ? "writable again" : "read-only");
		want_u64(attr_at(k.block + k.page), PGT_READ | STATE | (i ? PGT_WRITE : 0));
		want_u64(attr_at(k.runs), PGT_READ | STATE | (i ? PGT_WRITE : 0));
		want_u64(attr_at(k.runs + k.run_len), PGT_READ | (i ? PGT_WRITE : 0));
		want_u64(attr_at(k.pages), PGT_READ | STATE | (i ? PGT_WRITE : 0));
		want_u64(attr_at(k.pages + k.page), PGT_READ | (i ? PGT_WRITE : 0));
		want(sound(&w));
	}
	/* Part of the run: every member has what the run had. */
	protect(k.runs + k.page, k.page, 0, PGT_WRITE, 0);
	where("a member");
	want_u64(attr_at(k.runs), RW | STATE);
	want_u64(attr_at(k.runs + k.page), PGT_READ | STATE);
	want_u64(attr_at(k.runs + k.run_len - k.page), (pair ? PGT_READ : RW) | STATE);
	world_close(&w);
	ok(fine, "%s, granule 2^%u: what is made writable stays clean, what loses it stays dirty", format, g);
}

/* ---- The embedder is asked -------------------------------------------------------------------- */

struct asked {
	uint64_t va, pa, len, answered, attr;
	bool yes;
};

static struct asked asked[600];
static unsigned n_asked;
static uint64_t answer_bits; /* the answer changes every 2^n bytes of memory; 0: never */
static bool answer_zero;     /* ... which 0 says */

static bool may_write(uint64_t pa)
{
	return !answer_bits || !(pa >> answer_bits & 1);
}

static uint64_t writable(void *ctx, uint64_t va, uint64_t pa, uint64_t len, uint64_t attr, bool *yes)
{
	uint64_t answer = len;

	(void)ctx;
	if (answer_bits && BIT(answer_bits) - (pa & (BIT(answer_bits) - 1)) < len)
		answer = BIT(answer_bits) - (pa & (BIT(answer_bits) - 1));
	*yes = may_write(pa);
	if (n_asked < 600)
		asked[n_asked++] = (struct asked){ va, pa, len, answer, attr, *yes };
	return answer_zero ? 0 : answer;
}

static bool open_asked(const char *format, unsigned g, uint64_t attr)
{
	if (!open_place(format, g, TRACK | HW, EMBED_TLB, attr))
		return false;
	/* The same, made anew with the callback. */
	world_close(&w);
	if (!world_open(&w, format, g, 48, TRACK | HW | PGT_FEAT_CONTIG, EMBED_TLB))
		return false;
	pgt_destroy(w.t);
	w.c.pages.writable = writable;
	want_status(pgt_create(&w.c, &w.t), PGT_OK);
	want_status(pgt_map(w.t, k.block, world_pa(&w, 1), k.block_len, attr, PGT_MAX_LEAF(geo_bits(&w.geo, 2)),
			    NULL), PGT_OK);
	want_status(pgt_map(w.t, k.runs, world_pa(&w, 2), 4 * k.run_len, attr,
			    PGT_MAX_LEAF(geo_run_bits(&w.geo, 3)), NULL), PGT_OK);
	for (unsigned i = 0; i < 5; i++)
		want_status(pgt_map(w.t, k.pages + i * k.page, world_pa(&w, 3) + 3 * i * k.page, k.page, attr, 0,
				    NULL), PGT_OK);
	n_asked = 0;
	return true;
}

/* In address order, none twice, about what is there and not writable, inside the range. */
static void want_tiled(uint64_t va, uint64_t len, uint64_t attr)
{
	uint64_t next = va;

	for (unsigned i = 0; i < n_asked; i++) {
		const struct asked *a = &asked[i];

		where("question %u: va %#" PRIx64 " len %#" PRIx64, i, a->va, a->len);
		want(a->va >= next && a->va + a->len <= va + len && a->len);
		want_u64(a->len % k.page, 0);
		want_u64(a->attr & ~STATE, attr);
		next = a->va + (answer_zero ? k.page : a->answered);
	}
}

static void test_asked(const char *format, unsigned g)
{
	uint64_t all = k.token;

	/* One answer for everything: a question a stretch, which tile what is mapped. */
	for (unsigned yes = 0; yes < 2; yes++) {
		uint64_t bytes = 0;

		begin();
		if (!open_asked(format, g, PGT_READ))
			return;
		all = k.token - k.va;
		answer_bits = yes ? 0 : 36; /* bit 36 of all PAs of ours: */
		answer_zero = false;
		n_asked = 0;
		protect(k.va, all, PGT_WRITE | PGT_SW0, 0, 0);
		want_tiled(k.va, all, PGT_READ);
		for (unsigned i = 0; i < n_asked; i++)
			bytes += asked[i].answered;
		where("all");
		want_u64(bytes, all);
		want(n_asked <= 1 + 4 + 5 + 1);
		for (uint64_t at = k.va; at < k.token; at += k.page) {
			struct pgt_mapping m = query(w.t, at);

			want_u64(m.attr, PGT_READ | PGT_SW0 |
						 (may_write(m.pa + (at - m.va)) ? PGT_WRITE : 0));
		}
		/* What is writable already isn't asked about. */
		if (yes) {
			n_asked = 0;
			protect(k.va, all, PGT_WRITE, PGT_SW0, 0);
			want_u64(n_asked, 0);
		}
		want_u64(query(w.t, k.block).len, k.block_len);
		want_u64(query(w.t, k.runs).run_bytes, k.run_len);
		world_close(&w);
		ok(fine, "%s, granule 2^%u: asked once a stretch, %s", format, g, yes ? "yes" : "by memory");
	}
}

static void test_partial_answers(const char *format, unsigned g)
{
	begin();
	/* Half a run: no for the run. Blocks too. Pages each by its own. */
	if (!open_asked(format, g, PGT_READ))
		return;
	answer_bits = geo_run_bits(&w.geo, 3) - 1;
	answer_zero = false;
	protect(k.va, k.token - k.va, PGT_WRITE | PGT_SW0, 0, 0);
	for (uint64_t at = k.block; at < k.pages; at += k.page) {
		where("%#" PRIx64, at);
		want_u64(attr_at(at), PGT_READ | PGT_SW0);
	}
	for (unsigned i = 0; i < 5; i++)
		want_u64(attr_at(k.pages + i * k.page), PGT_READ | PGT_SW0 |
			 (may_write(world_pa(&w, 3) + 3 * i * k.page) ? PGT_WRITE : 0));
	world_close(&w);
	ok(fine, "%s, granule 2^%u: an answer for part of a run or block is no for it", format, g);

	begin();
	if (!open_asked(format, g, PGT_READ))
		return;
	answer_bits = geo_run_bits(&w.geo, 3); /* every second run */
	protect(k.runs, 4 * k.run_len, PGT_WRITE, 0, 0);
	want_tiled(k.runs, 4 * k.run_len, PGT_READ);
	for (unsigned i = 0; i < 4; i++) {
		where("run %u", i);
		want_u64(attr_at(k.runs + i * k.run_len), i & 1 ? PGT_READ : RW);
		want_u64(query(w.t, k.runs + i * k.run_len).run_bytes, k.run_len);
	}
	/* 0 means one granule. */
	answer_zero = true;
	answer_bits = 0;
	n_asked = 0;
	protect(k.pages, 5 * k.page, PGT_WRITE, 0, 0);
	want_tiled(k.pages, 5 * k.page, PGT_READ);
	want_u64(n_asked, 5);
	for (unsigned i = 0; i < 5; i++)
		want_u64(attr_at(k.pages + i * k.page), RW);
	n_asked = 0;
	protect(k.runs + k.run_len, k.run_len, PGT_WRITE, 0, 0);
	where("a run, of which 0 answers a page");
	want_u64(attr_at(k.runs + k.run_len), PGT_READ);
	world_close(&w);
	ok(fine, "%s, granule 2^%u: answers are taken run by run, and 0 is for one page", format, g);
}

/* ---- Units of memory ------------------------------------------------------------------------- */

static unsigned unit_bits;

static uint64_t unit(void *ctx, uint64_t pa, uint64_t len)
{
	uint64_t rest = BIT(unit_bits) - (pa & (BIT(unit_bits) - 1));

	(void)ctx;
	return rest < len ? rest : len;
}

static int unit_leaf(void *ctx, const struct pgt_mapping *m)
{
	uint64_t *largest = ctx;
	uint64_t pa = m->pa & ~(m->run_bytes - 1);

	where("leaf %#" PRIx64 "+%#" PRIx64 " run %#" PRIx64, m->va, m->len, m->run_bytes);
	want_u64(pa >> unit_bits, (pa + m->run_bytes - 1) >> unit_bits);
	if (m->run_bytes > *largest)
		*largest = m->run_bytes;
	return 0;
}

/* No leaf or run crosses a unit; the largest there is. */
static uint64_t largest_leaf(const struct pgt *t, uint64_t va, uint64_t len)
{
	uint64_t largest = 0;

	want_status(pgt_visit(t, va, len, 0, unit_leaf, &largest), PGT_OK);
	return largest;
}

static void test_units(const char *format, unsigned g)
{
	struct world other;
	uint64_t at, len, sizes;

	begin();
	for (unit_bits = g; unit_bits <= 36; unit_bits++) {
		uint64_t fitting = 0;

		if (!world_open(&w, format, g, 48, PGT_FEAT_CONTIG, EMBED_TLB) ||
		    !world_open(&other, format, g, 48, PGT_FEAT_CONTIG, EMBED_TLB))
			return;
		pgt_destroy(w.t);
		pgt_destroy(other.t);
		w.c.pages.unit = unit;
		other.c.pages.unit = unit;
		want_status(pgt_create(&w.c, &w.t), PGT_OK);
		want_status(pgt_create(&other.c, &other.t), PGT_OK);
		sizes = geo_sizes(&w.geo);
		len = 2 * geo_span(&w.geo, 2);
		for (unsigned bits = g; bits <= unit_bits && BIT(bits) <= len; bits++)
			fitting = sizes >> bits & 1 ? BIT(bits) : fitting;
		at = w.base + w.bytes / 4;
		where("units of 2^%u", unit_bits);
		want_status(pgt_map(w.t, at, world_pa(&w, 1), len, RW, 0, NULL), PGT_OK);
		want_u64(largest_leaf(w.t, at, len), fitting);
		want_status(pgt_split(w.t, at, len, g, 0, NULL), PGT_OK);
		want_u64(largest_leaf(w.t, at, len), BIT(g));
		/* Collapse to each size: made only where it fits a unit. */
		for (unsigned bits = g; BIT(bits) <= len; bits++) {
			uint64_t expected = 0;

			if (!(sizes >> bits & 1))
				continue;
			want_status(pgt_collapse(w.t, at, len, bits, 0, NULL), PGT_OK);
			for (unsigned b = g; b <= bits && b <= unit_bits; b++)
				expected = sizes >> b & 1 ? BIT(b) : expected;
			want_u64(largest_leaf(w.t, at, len), expected);
		}
		/* Pages that meet again by a move or a copy. */
		want_status(pgt_split(w.t, at, len, g, 0, NULL), PGT_OK);
		want_status(pgt_copy(other.t, w.t, at, len, 0, NULL), PGT_OK);
		largest_leaf(other.t, at, len);
		want_status(pgt_move(w.t, at, at + w.bytes / 4 + 3 * BIT(g), len, 0, NULL), PGT_OK);
		largest_leaf(w.t, at + w.bytes / 4, len + w.l2);
		want_status(pgt_move(w.t, at + w.bytes / 4 + 3 * BIT(g), at, len, 0, NULL), PGT_OK);
		largest_leaf(w.t, at, len);
		want(sound(&w) && sound(&other));
		world_close(&w);
		world_close(&other);
		if (!fine)
			break;
	}
	ok(fine, "%s, granule 2^%u: no leaf and no run crosses a unit of memory, made by whatever call",
	   format, g);
}

int main(void)
{
	if (!formats[0])
		return tap_skip_all("no format of these was built");
	for_formats(format) {
		uint64_t exec = format_named(format)->arm64 ? PGT_FEAT_EXEC_BBM : 0;

		for_granules(format, g) {
			test_nothing(format, g);
			test_merged(format, g, 0);
			test_merged(format, g, PGT_FEAT_BBM2);
			if (exec)
				test_extent(format, g);
			test_cuts(format, g, false, true);
			test_cuts(format, g, true, true);
			test_cuts(format, g, false, false);
			test_order(format, g, 0);
			if (exec)
				test_order(format, g, exec);
			test_readers(format, g, 0);
			test_readers(format, g, PGT_FEAT_BBM2);
			test_refused(format, g);
			test_memory(format, g);
			test_dirty(format, g);
			test_asked(format, g);
			test_partial_answers(format, g);
			test_units(format, g);
		}
	}
	embed_snapshot_free(&before);
	return tap_done();
}
