/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One call over a range comes to the same as calls for its leaves and runs, a
 * few at a time or one by one, and as a call for each page: protect, harvest,
 * fault and unmap, over pages, runs and blocks in every state.
 *
 * With pieces that end where leaves and runs end, entries are the same bit for
 * bit, but for the state of a run's members, which is one.  Page by page, leaves
 * are split and runs unfolded; all else is the same.
 */
#include "contract.h"

#define STATE (PGT_YOUNG | PGT_DIRTY)
#define FEATURES (PGT_FEAT_CONTIG | PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG | \
		  PGT_FEAT_TRACK_DIRTY)

enum way { WHOLE, PIECES, UNITS, PAGES, WAYS };

static const char *const ways[] = { "one call", "pieces", "leaf by leaf", "page by page" };

static struct world w[WAYS];
static struct embed_rng rng;
static uint64_t begin_va, bytes, page;

#define MAX_UNITS 4096
static uint64_t ends[MAX_UNITS]; /* where leaves and runs end */
static unsigned n_ends;

/* ---- The same in each world ------------------------------------------------------ */

static void map_all(uint64_t va, uint64_t pa, uint64_t len, uint64_t attr, unsigned max_bits)
{
	for (unsigned i = 0; i < WAYS; i++)
		want_status(pgt_map(w[i].t, va, pa, len, attr, PGT_MAX_LEAF(max_bits), NULL), PGT_OK);
}

static uint64_t some_attr(void)
{
	static const uint64_t attrs[] = {
		RW, RW, PGT_READ, PGT_READ | PGT_EXEC, RW | PGT_USER, PGT_READ | PGT_USER | PGT_UEXEC,
		RW | PGT_GLOBAL, RW | PGT_SW0, PGT_READ | PGT_MEM_NOCACHE, RW | PGT_SH_OUTER | PGT_SW2,
	};

	return world_attr(&w[0], attrs[embed_below(&rng, sizeof(attrs) / sizeof(*attrs))]) |
	       (embed_random(&rng) & STATE) | (embed_once_in(&rng, 10) ? PGT_NOACCESS : 0);
}

/* Two blocks, eight runs, pages of all kinds with holes and tokens between, one run. */
static void build_all(void)
{
	const struct geo *geo = &w[0].geo;
	uint64_t block = geo_span(geo, 2), run = BIT(geo_run_bits(geo, 3)), at;
	unsigned bits = geo_bits(geo, 2);

	begin_va = w[0].base + w[0].bytes / 4;
	at = begin_va;
	for (unsigned i = 0; i < 2; i++, at += block)
		map_all(at, world_pa(&w[0], 1) + at - begin_va, block, some_attr() & ~PGT_NOACCESS, bits);
	for (unsigned i = 0; i < 8; i++, at += run)
		map_all(at, world_pa(&w[0], 2) + at - begin_va, run, some_attr() & ~PGT_NOACCESS,
			geo_run_bits(geo, 3));
	for (unsigned i = 0; i < 60; i++, at += page) {
		if (i % 9 == 4)
			continue;
		if (i % 13 != 5)
			map_all(at, world_pa(&w[0], 3) + 2 * i * page, page, some_attr(), 0);
		else
			for (unsigned k = 0; k < WAYS; k++)
				want_status(pgt_store(w[k].t, at, page, i, 0, NULL), PGT_OK);
	}
	at = (at + run - 1) & ~(run - 1);
	map_all(at, world_pa(&w[0], 4) + at - begin_va, run, some_attr() & ~PGT_NOACCESS, geo_run_bits(geo, 3));
	bytes = at + run - begin_va;
}

static int add_end(void *ctx, const struct pgt_mapping *m)
{
	uint64_t unit = m->state == PGT_LEAF ? m->run_bytes : m->len;
	uint64_t end = (m->va & ~(unit - 1)) + unit;

	(void)ctx;
	if (end > begin_va + bytes)
		end = begin_va + bytes;
	if (n_ends < MAX_UNITS && (!n_ends || ends[n_ends - 1] != end))
		ends[n_ends++] = end;
	return 0;
}

/* Hardware marks the same pages in each. */
static void touch_all(void)
{
	struct pgt_translation tr;

	for (unsigned i = 0; i < 60; i++) {
		uint64_t at = begin_va + embed_below(&rng, bytes);
		uint64_t access = (embed_once_in(&rng, 2) ? PGT_WRITE : PGT_READ) | PGT_UPDATE;

		for (unsigned k = 0; k < WAYS; k++)
			pgt_translate(w[k].t, at, access, &tr);
	}
}

static bool open_all(const char *format, unsigned g, uint64_t features, unsigned mode)
{
	for (unsigned i = 0; i < WAYS; i++)
		if (!world_open(&w[i], format, g, 48, FEATURES | features, mode))
			return false;
	page = BIT(g);
	build_all();
	touch_all();
	n_ends = 0;
	want_status(pgt_visit(w[WHOLE].t, begin_va, bytes, PGT_HOLES, add_end, NULL), PGT_OK);
	want(n_ends < MAX_UNITS);
	return true;
}

static void close_all(void)
{
	for (unsigned i = 0; i < WAYS; i++) {
		where("%s", ways[i]);
		want(sound(&w[i]));
		world_close(&w[i]);
	}
}

/* ---- A change, the four ways ---------------------------------------------------------- */

enum what { PROTECT, HARVEST, FAULT, UNMAP };

struct change {
	enum what what;
	uint64_t set, clear; /* of harvest: set is what */
	unsigned flags;
};

static uint64_t words[WAYS][MAX_UNITS * 2];

static int make(enum way way, const struct change *c, uint64_t va, uint64_t len, struct pgt_gather *g)
{
	struct pgt_bitmap bitmap = { words[way], begin_va, bytes / page, (uint8_t)w[way].geo.g };
	struct pgt *t = w[way].t;

	switch (c->what) {
	case PROTECT:
		/* What no leaf of the format has is nothing that a leaf can gain. */
		return pgt_protect(t, va, len, c->set & ~format_never(w[way].f), c->clear, c->flags, g);
	case HARVEST: return pgt_harvest(t, va, len, c->set, c->flags, &bitmap, g);
	case FAULT: return pgt_fault(t, va, c->set, g);
	default: return pgt_unmap(t, va, len, c->flags, g);
	}
}

/* Up to where the next call goes. A fault is one of each leaf or run, or of each page. */
static uint64_t next_end(enum way way, const struct change *c, unsigned *unit)
{
	if (c->what == FAULT)
		way = UNITS;
	if (way == PIECES)
		*unit += (unsigned)embed_below(&rng, 6);
	if (way == WHOLE || *unit >= n_ends)
		*unit = n_ends - 1;
	return ends[(*unit)++];
}

static void change(enum way way, const struct change *c, bool gathered)
{
	struct pgt_gather g, *gather = gathered ? &g : NULL;
	unsigned unit = 0;
	uint64_t at = begin_va, end;

	if (gathered)
		want_status(pgt_gather_begin(&g, w[way].t), PGT_OK);
	for (; at < begin_va + bytes; at = end) {
		int status;

		end = way == PAGES ? at + page : next_end(way, c, &unit);
		where("%s: %#" PRIx64 " to %#" PRIx64, ways[way], at, end);
		if (c->what == FAULT && way == PIECES) /* at any byte of it */
			at += embed_below(&rng, end - at);
		status = make(way, c, at, end - at, gather);
		if (c->what == FAULT)
			want(status == PGT_OK || status == PGT_ENOENT || status == PGT_EACCES);
		else
			want_status(status, PGT_OK);
	}
	if (gathered)
		want_status(pgt_gather_end(&g), PGT_OK);
}

/* ---- Comparing -------------------------------------------------------------------------- */

/* What of a raw entry depends neither on where it maps nor on its size. */
static uint64_t plain(uint64_t raw)
{
	uint64_t geometry = w[0].f->entry.address | raw_contig(&w[0]);

	return raw & ~(geometry | raw_state_bits(&w[0]) | (w[0].arm64 ? 2 : 0));
}

static void compare_page(enum way way, uint64_t at)
{
	struct pgt_mapping a = query(w[WHOLE].t, at), b = query(w[way].t, at);
	bool same_shape = way != PAGES;

	where("%s: %#" PRIx64, ways[way], at);
	want_u64((uint64_t)b.state, (uint64_t)a.state);
	want_u64(b.attr, a.attr);
	want_u64(b.token, a.token);
	if (a.state == PGT_LEAF)
		want_u64(b.pa + (at - b.va), a.pa + (at - a.va));
	if (same_shape) {
		want_u64(b.len, a.len);
		want_u64(b.run_bytes, a.run_bytes);
	}
	if (a.state != PGT_LEAF)
		return;
	want_u64(plain(b.entry), plain(a.entry));
	/* State and all, where a leaf is by itself in both. */
	if (a.run_bytes == a.len && b.run_bytes == b.len && a.len == b.len)
		want_u64(b.entry, a.entry);
	else if (same_shape)
		want_u64(b.entry & ~raw_state_bits(&w[0]), a.entry & ~raw_state_bits(&w[0]));
}

static void compare_all(void)
{
	for (enum way way = PIECES; way < WAYS; way++)
		for (uint64_t at = begin_va; at < begin_va + bytes && complaints < 8; at += page)
			compare_page(way, at);
}

static bool reported(enum way way, uint64_t at)
{
	uint64_t i = (at - begin_va) / page;

	return words[way][i / 64] >> (i % 64) & 1;
}

/* A leaf or run is reported as one. Page by page, its young state goes with the first. */
static void compare_reports(const struct change *c)
{
	for (unsigned i = 0; i < n_ends && complaints < 8; i++) {
		uint64_t first = i ? ends[i - 1] : begin_va;

		where("unit %#" PRIx64, first);
		for (uint64_t at = first; at < ends[i]; at += page) {
			want_u64(reported(PIECES, at), reported(WHOLE, at));
			want_u64(reported(UNITS, at), reported(WHOLE, at));
			want_u64(reported(WHOLE, at), reported(WHOLE, first));
			if (c->set == PGT_DIRTY || (c->flags & PGT_PEEK))
				want_u64(reported(PAGES, at), reported(WHOLE, at));
		}
		want_u64(reported(PAGES, first), reported(WHOLE, first));
	}
}

static const struct change changes[] = {
	{ PROTECT, 0, PGT_WRITE, 0 },
	{ PROTECT, PGT_WRITE, 0, PGT_LAZY },
	{ PROTECT, PGT_USER | PGT_SW1, PGT_SW0, 0 },
	{ PROTECT, 0, PGT_EXEC | PGT_UEXEC | PGT_USER, 0 },
	{ PROTECT, PGT_MEM_NOCACHE, PGT_MEM_MASK, 0 },
	{ PROTECT, PGT_SH_OUTER, PGT_SH_MASK | PGT_GLOBAL, 0 },
	{ PROTECT, PGT_GLOBAL | PGT_GUARDED, 0, 0 },
	{ PROTECT, PGT_NOACCESS, 0, 0 },
	{ PROTECT, PGT_WRITE, PGT_NOACCESS, 0 },
	{ PROTECT, 0, PGT_DIRTY, 0 },
	{ PROTECT, PGT_YOUNG | PGT_DIRTY, 0, 0 },
	{ PROTECT, PGT_DIRTY, PGT_WRITE, 0 },
	{ HARVEST, PGT_DIRTY, 0, 0 },
	{ HARVEST, PGT_YOUNG, 0, 0 },
	{ HARVEST, PGT_YOUNG, 0, PGT_LAZY },
	{ HARVEST, PGT_YOUNG | PGT_DIRTY, 0, PGT_PEEK },
	{ FAULT, PGT_READ, 0, 0 },
	{ FAULT, PGT_WRITE, 0, 0 },
	{ FAULT, PGT_EXEC | PGT_USER, 0, 0 },
	{ UNMAP, 0, 0, 0 },
	{ UNMAP, 0, 0, PGT_WHOLE },
	{ UNMAP, 0, 0, PGT_KEEP_TABLES },
};

static void test_change(const char *format, unsigned g, const struct change *c, uint64_t features,
			unsigned mode)
{
	if (!open_all(format, g, features, mode))
		return;
	memset(words, 0, sizeof(words));
	for (enum way way = WHOLE; way < WAYS; way++)
		change(way, c, embed_once_in(&rng, 2));
	compare_all();
	if (c->what == HARVEST)
		compare_reports(c);
	if (c->what == UNMAP && !(c->flags & PGT_KEEP_TABLES))
		for (unsigned i = 0; i < WAYS; i++)
			want_u64(w[i].e.live, 1);
	close_all();
}

/* All changes one after the other: what one left is what the next finds. */
static void test_all(const char *format, unsigned g, uint64_t features, unsigned mode)
{
	if (!open_all(format, g, features, mode))
		return;
	for (unsigned i = 0; i < 15; i++) {
		const struct change *c = &changes[embed_below(&rng, 12)];

		for (enum way way = WHOLE; way <= UNITS; way++)
			change(way, c, embed_once_in(&rng, 2));
		for (enum way way = PIECES; way <= UNITS; way++)
			for (uint64_t at = begin_va; at < begin_va + bytes && complaints < 8; at += page)
				compare_page(way, at);
		if (!fine)
			note("after change %u", (unsigned)(c - changes));
	}
	close_all();
}

int main(void)
{
	static const struct {
		uint64_t features;
		unsigned mode;
		const char *name;
	} variants[] = {
		{ 0, EMBED_TLB, "" },
		{ PGT_FEAT_BBM2, EMBED_TLB, " level 2" },
		{ 0, EMBED_WINDOW, " nobody caches" },
	};

	if (!formats[0])
		return tap_skip_all("no format of these was built");
	embed_seed(&rng, 3);
	for_formats(format)
		for_granules(format, granule)
			for (unsigned v = 0; v < 3; v++) {
				begin();
				/* Large granules take a share of the changes each. */
				for (unsigned k = 0; k < sizeof(changes) / sizeof(*changes) && fine; k++)
					if (granule <= 12 || k % 3 == v)
						test_change(format, granule, &changes[k],
							    variants[v].features, variants[v].mode);
				ok(fine, "%s, granule 2^%u%s: one call, pieces and pages come to the same",
				   format, granule, variants[v].name);
				begin();
				test_all(format, granule, variants[v].features, variants[v].mode);
				ok(fine, "%s, granule 2^%u%s: one change after the other, in one call or "
				   "many", format, granule, variants[v].name);
			}
	return tap_done();
}
