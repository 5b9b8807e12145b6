/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * move: sizes and alignments of source and destination in all combinations that
 * have ever mattered, with what each must come to; what stays as it is, page by
 * page; which tables are relinked; what lies below, beside and in the way.
 */
#include "contract.h"

#define STATE (PGT_YOUNG | PGT_DIRTY)
#define FEATURES (PGT_FEAT_CONTIG | PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG | \
		  PGT_FEAT_TRACK_DIRTY)

static struct world w;
static struct embed_snapshot before;
static uint64_t page, half, l2, l1; /* half of what an entry of level 2 spans; levels 2 and 1 */
static uint64_t src, mid, dst;      /* where there is room, aligned to level 1 */

static bool open_world(const char *format, unsigned g, uint64_t features, unsigned mode)
{
	if (!world_open(&w, format, g, 48, FEATURES | features, mode))
		return false;
	page = BIT(g);
	l2 = geo_span(&w.geo, 2);
	l1 = geo_span(&w.geo, 1);
	half = l2 / 2;
	/* Some of them close together where the input has few of level 1. */
	src = w.base + (w.bytes / l1 > 32 ? 8 : 2) * l1;
	mid = w.base + (w.bytes / l1 > 32 ? 12 : 6) * l1;
	dst = w.base + (w.bytes / l1 > 32 ? 16 : 10) * l1;
	return true;
}

/* ---- What the source holds: a function of the offset -------------------------------- */

struct want {
	int state;
	uint64_t pa, attr, token;
};

static uint64_t fill_len; /* of what fill() filled */

/*
 * Where pages stand: the beginning, the middle and the end of a large source.
 * The next such offset at or after this one, or fill_len.
 */
static uint64_t next_populated(uint64_t offset)
{
	uint64_t middle = fill_len / 2 / l2 * l2, end = fill_len > l2 ? fill_len - l2 : 0;

	if (offset < l2 + half || offset >= end)
		return offset < fill_len ? offset : fill_len;
	if (offset < middle)
		return middle < end ? middle : end;
	return offset < middle + 3 * page ? offset : end;
}

static bool populated(uint64_t offset)
{
	return next_populated(offset) == offset;
}

static struct want content(uint64_t offset)
{
	uint64_t i = offset / page;
	struct want x = { .state = PGT_LEAF, .pa = world_pa(&w, 8) + (i ^ 1) * page };

	if (!populated(offset) || i % 16 == 7)
		return (struct want){ .state = PGT_EMPTY };
	if (i % 16 == 9)
		return (struct want){ .state = PGT_TOKEN, .token = 1000 + i };
	x.attr = PGT_READ | (i & 1 ? PGT_WRITE : 0) | PGT_SW0 * (i % 8) | (i & 8 ? PGT_YOUNG : 0) |
		 (i % 3 ? PGT_DIRTY : 0) | (i % 16 == 11 ? PGT_NOACCESS : 0);
	return x;
}

static int found_one(void *ctx, const struct pgt_mapping *m)
{
	(void)m;
	++*(unsigned *)ctx;
	return 0;
}

static void want_empty(uint64_t va, uint64_t len)
{
	unsigned found = 0;

	want_status(pgt_visit(w.t, va, len, 0, found_one, &found), PGT_OK);
	want_u64(found, 0);
}

/* Pages of every kind at a source. */
static void fill(uint64_t va, uint64_t len)
{
	fill_len = len;
	for (uint64_t at = 0; at < len; at = next_populated(at + page)) {
		struct want x = content(at);

		if (x.state == PGT_LEAF)
			want_status(pgt_map(w.t, va + at, x.pa, page, x.attr, 0, NULL), PGT_OK);
		else if (x.state == PGT_TOKEN)
			want_status(pgt_store(w.t, va + at, page, x.token, 0, NULL), PGT_OK);
	}
}

/* Of what fill() put at va, or what was moved there, [from, to). */
static void want_content(uint64_t va, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < to && complaints < 8;) {
		uint64_t next = next_populated(at);
		struct want x = content(at);
		struct pgt_mapping m;

		where("offset %#" PRIx64, at);
		if (next != at) { /* a large hole */
			next = next < to ? next : to;
			want_empty(va + at, next - at);
			at = next;
			continue;
		}
		m = query(w.t, va + at);
		want_u64((uint64_t)m.state, (uint64_t)x.state);
		if (m.state == PGT_LEAF && x.state == PGT_LEAF) {
			want_u64(m.pa + (va + at - m.va), x.pa);
			want_u64(m.attr, x.attr);
		}
		if (m.state == PGT_TOKEN && x.state == PGT_TOKEN)
			want_u64(m.token, x.token);
		at += page;
	}
}

static struct pgt_tally counted(uint64_t from, uint64_t to, uint64_t len, unsigned flags, int status)
{
	struct pgt_gather g;

	embed_log_clear(&w.e);
	want_status(pgt_gather_begin(&g, w.t), PGT_OK);
	want_status(pgt_move(w.t, from, to, len, flags, &g), status);
	want_status(pgt_gather_end(&g), PGT_OK);
	return g.tally;
}

/* ---- The table of moves ----------------------------------------------------------------- */

enum align { QUARTER, PAGE, HALF, L2, L1 };

/* An address that is aligned to exactly that, and no more; quarters of a page are not at all. */
static uint64_t aligned(uint64_t base, enum align align)
{
	switch (align) {
	case QUARTER: return base + page / 4;
	case PAGE: return base + page;
	case HALF: return base + half;
	case L2: return base + l2;
	default: return base + l1;
	}
}

#define ALL_BELOW UINT64_MAX /* of relinked: one for each level-3 table that moves whole */

static const struct row {
	unsigned pages, halves, l1s; /* the size */
	enum align from, to;
	int status;
	uint64_t relinked;
	bool preamble;
} rows[] = {
	{ 1, 0, 0, PAGE, QUARTER, PGT_EALIGN, 0, false },
	{ 1, 0, 0, QUARTER, PAGE, PGT_EALIGN, 0, false },
	{ 2, 0, 0, PAGE, PAGE, PGT_OK, 0, false },
	{ 0, 2, 0, HALF, PAGE, PGT_OK, 0, false },
	{ 0, 2, 0, HALF, HALF, PGT_OK, 0, false },
	{ 0, 4, 0, L2, PAGE, PGT_OK, 0, false },
	{ 0, 4, 0, L2, HALF, PGT_OK, 0, false },
	{ 0, 4, 0, L2, L2, PGT_OK, 2, false },
	{ 0, 0, 2, L1, PAGE, PGT_OK, 0, false },
	{ 0, 0, 2, L1, HALF, PGT_OK, 0, false },
	{ 0, 0, 2, L1, L2, PGT_OK, ALL_BELOW, false },
	{ 0, 0, 2, L1, L1, PGT_OK, 2, false },
	{ 0, 5, 0, HALF, HALF, PGT_OK, 2, false },
	{ 0, 5, 0, HALF, HALF, PGT_OK, 2, true },
	/* More of the same: the edges at lower levels. */
	{ 0, 3, 0, L2, L2, PGT_OK, 1, true },
	{ 1, 4, 0, L2, L2, PGT_OK, 2, true },
	{ 3, 4, 0, PAGE, PAGE, PGT_OK, 1, true },
	{ 0, 0, 1, L1, L1, PGT_OK, 1, true },
	{ 1, 0, 1, L1, L1, PGT_OK, 1, true },
	{ 0, 1, 1, L2, L2, PGT_OK, ALL_BELOW, false },
	{ 0, 0, 1, PAGE, PAGE, PGT_OK, ALL_BELOW, false },
};

#define PREAMBLE 40 /* halves, below the destination */

static void put_preamble(uint64_t to)
{
	uint64_t begin = (to - PREAMBLE * half) & ~(l2 - 1), end = to & ~(l2 - 1);

	want_status(pgt_map(w.t, begin, world_pa(&w, 16) + (begin & (l1 - 1)), end - begin, RW | PGT_SW2,
			    PGT_MAX_LEAF(geo_run_bits(&w.geo, 2)), NULL),
		    PGT_OK);
	if (to > end)
		want_status(pgt_map(w.t, end, world_pa(&w, 24), to - end, PGT_READ | PGT_SW1, 0, NULL), PGT_OK);
}

static void want_preamble(uint64_t to)
{
	uint64_t begin = (to - PREAMBLE * half) & ~(l2 - 1), end = to & ~(l2 - 1);

	for (uint64_t at = begin; at < end; at += l2) {
		struct pgt_mapping m = query(w.t, at);

		where("preamble %#" PRIx64, at);
		want_u64(m.pa, world_pa(&w, 16) + (begin & (l1 - 1)) + (at - begin));
		want_u64(m.attr, RW | PGT_SW2);
		want_u64(m.len, l2);
	}
	for (uint64_t at = end; at < to; at += page) {
		struct pgt_mapping m = query(w.t, at);

		where("preamble %#" PRIx64, at);
		want_u64(m.pa + (at - m.va), world_pa(&w, 24) + (at - end));
		want_u64(m.attr, PGT_READ | PGT_SW1);
	}
}

/* How many of the whole tables of the source hold something. */
static uint64_t whole_tables(uint64_t from, uint64_t len)
{
	uint64_t n = 0;

	for (uint64_t at = (from + l2 - 1) & ~(l2 - 1); at + l2 <= from + len; at += l2)
		n += next_populated(at - from) < at - from + l2;
	return n;
}

/* The generic hooks may take a large table apart into those of level 3. */
static void want_relinked(const struct pgt_tally *y, uint64_t expected)
{
	if (w.arm64)
		want_u64(y->tables_relinked, expected);
	else
		want(expected ? y->tables_relinked >= expected : y->tables_relinked == 0);
}

static void one_row(const struct row *r, unsigned number)
{
	uint64_t from = aligned(src, r->from), to = aligned(dst, r->to);
	uint64_t len = r->pages * page + r->halves * half + r->l1s * l1, live, relinked = r->relinked;
	struct pgt_tally y;

	where("row %u", number);
	if (r->status == PGT_OK)
		fill(from, len);
	else
		want_status(pgt_map(w.t, from & ~(page - 1), world_pa(&w, 8), page, RW, 0, NULL), PGT_OK);
	if (r->preamble)
		put_preamble(to);
	embed_snapshot(&w.e, &before);
	live = w.e.live;
	y = counted(from, to, len, 0, r->status);
	where("row %u", number);
	if (r->status != PGT_OK) {
		want(!embed_compare(&w.e, &before));
		return;
	}
	want_relinked(&y, relinked == ALL_BELOW ? whole_tables(from, len) : relinked);
	want_u64(y.tables_allocated - y.tables_freed, w.e.live - live);
	want_empty(from, len);
	want_content(to, 0, len);
	if (r->preamble)
		want_preamble(to);
	want(sound(&w));
	/* And back. */
	where("row %u, back", number);
	want_status(pgt_move(w.t, to, from, len, 0, NULL), PGT_OK);
	want_content(from, 0, len);
	want_empty(to, len);
	where("row %u, back", number);
	want_u64(w.e.live, live);
	if (r->preamble)
		want_preamble(to);
}

static void test_rows(const char *format, unsigned g, uint64_t features)
{
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		static const char *const names[] = { "a quarter page", "a page", "half of level 2",
						     "level 2", "level 1" };
		const struct row *r = &rows[i];

		if (!open_world(format, g, features, EMBED_TLB))
			return;
		begin();
		one_row(r, i);
		world_close(&w);
		ok(fine, "%s, granule 2^%u%s: %u pages, %u halves of level 2 and %u of level 1, "
		   "from %s to %s%s: %s", format, g, features & PGT_FEAT_UPPER ? ", upper half" : "",
		   r->pages, r->halves, r->l1s, names[r->from], names[r->to],
		   r->preamble ? " above a preamble" : "", pgt_strerror(r->status));
	}
}

/* Overlap is malformed; touching is not. */
static void test_overlap(const char *format, unsigned g)
{
	uint64_t at, len;

	begin();
	if (!open_world(format, g, 0, EMBED_TLB))
		return;
	at = src + l2;
	len = 8 * page;
	fill(at, len);
	embed_snapshot(&w.e, &before);
	want_status(pgt_move(w.t, at, at, len, 0, NULL), PGT_EINVAL);
	want_status(pgt_move(w.t, at, at + page, len, 0, NULL), PGT_EINVAL);
	want_status(pgt_move(w.t, at, at + len - page, len, 0, NULL), PGT_EINVAL);
	want_status(pgt_move(w.t, at, at - page, len, 0, NULL), PGT_EINVAL);
	want_status(pgt_move(w.t, at, at - len + page, len, 0, NULL), PGT_EINVAL);
	want(!embed_compare(&w.e, &before));
	want_status(pgt_move(w.t, at, at + len, len, 0, NULL), PGT_OK);
	want_content(at + len, 0, len);
	want_status(pgt_move(w.t, at + len, at, len, 0, NULL), PGT_OK);
	want_content(at, 0, len);
	want_empty(at + len, len);
	world_close(&w);
	ok(fine, "%s, granule 2^%u: overlapping is malformed, touching is fine", format, g);
}

/* ---- Neighbours ------------------------------------------------------------------------------- */

/* Halves of what one table spans: the other half stays as it is. */
static void test_neighbours(const char *format, unsigned g)
{
	uint64_t s, d, odd;

	begin();
	if (!open_world(format, g, 0, EMBED_TLB))
		return;
	s = src + 4 * l2;
	d = s - l2;
	fill(s, l2);
	want_status(pgt_map(w.t, d, world_pa(&w, 4), half, PGT_READ, 0, NULL), PGT_OK);
	want_status(pgt_move(w.t, s + half, d + half, half, 0, NULL), PGT_OK);
	want_content(s, 0, half);
	want_empty(s + half, half);
	want_content(d, half, l2);
	where("below the destination");
	want_u64(reads(w.t, d), world_pa(&w, 4));
	want_u64(reads(w.t, d + half - 1), world_pa(&w, 4) + half - 1);
	want(sound(&w));
	world_close(&w);

	/* From the middle of mappings that begin at odd addresses. */
	if (!open_world(format, g, 0, EMBED_TLB))
		return;
	odd = half + (half / 4 > page ? half / 4 : page);
	s = src + odd;
	d = dst + odd;
	fill(s, 3 * l2);
	want_status(pgt_move(w.t, s + half, d + half, half, 0, NULL), PGT_OK);
	want_content(s, 0, half);
	want_empty(s + half, half);
	want_content(s, l2, 3 * l2);
	want_content(d, half, l2);
	want_empty(d, half);
	want(sound(&w));
	world_close(&w);
	ok(fine, "%s, granule 2^%u: what lies beside source and destination stays", format, g);
}

/* Pieces with gaps: the gaps move as well. */
static void test_gaps(const char *format, unsigned g)
{
	static const char map[] = "xx.xxx..x.x"; /* eleven pages */
	uint64_t at, to;

	begin();
	if (!open_world(format, g, 0, EMBED_TLB))
		return;
	at = src + l2 - 5 * page; /* across a table's border */
	to = src + l1 + 3 * page;
	for (unsigned i = 0; i < 11; i++)
		if (map[i] == 'x')
			want_status(pgt_map(w.t, at + i * page, world_pa(&w, 2) + 2 * i * page, page, RW, 0, NULL), PGT_OK);
	/* The middle first, then all that is left at its sides. */
	want_status(pgt_move(w.t, at + 2 * page, to + 2 * page, 7 * page, 0, NULL), PGT_OK);
	for (unsigned i = 0; i < 11; i++) {
		bool moved = i >= 2 && i < 9;

		where("page %u", i);
		want_u64(reads(w.t, at + i * page), map[i] == 'x' && !moved ? world_pa(&w, 2) + 2 * i * page : NOWHERE);
		want_u64(reads(w.t, to + i * page), map[i] == 'x' && moved ? world_pa(&w, 2) + 2 * i * page : NOWHERE);
	}
	want_status(pgt_move(w.t, at, to, 2 * page, 0, NULL), PGT_OK);
	want_status(pgt_move(w.t, at + 9 * page, to + 9 * page, 2 * page, 0, NULL), PGT_OK);
	for (unsigned i = 0; i < 11; i++) {
		where("page %u", i);
		want_u64(reads(w.t, to + i * page), map[i] == 'x' ? world_pa(&w, 2) + 2 * i * page : NOWHERE);
	}
	want_empty(at, 11 * page);
	/* A source of nothing. */
	embed_snapshot(&w.e, &before);
	embed_log_clear(&w.e);
	want_status(pgt_move(w.t, w.base, w.base + 2 * l1, l1 + page, 0, NULL), PGT_OK);
	want(!embed_compare(&w.e, &before));
	want_u64(w.e.count[EMBED_INVALIDATE], 0);
	world_close(&w);
	ok(fine, "%s, granule 2^%u: gaps are kept", format, g);
}

/* ---- Blocks and runs ------------------------------------------------------------------------------ */

static void want_linear(uint64_t va, uint64_t len, uint64_t pa, uint64_t attr, uint64_t leaf)
{
	for (uint64_t at = 0; at < len; at += page) {
		struct pgt_mapping m = query(w.t, va + at);

		where("va %#" PRIx64, va + at);
		want_u64(m.pa + (va + at - m.va), pa + at);
		want_u64(m.attr, attr);
		if (leaf)
			want_u64(m.run_bytes, leaf);
	}
}

/* Leaves of that size, in runs or not. */
static void want_leaves(uint64_t va, uint64_t len, uint64_t bytes)
{
	for (uint64_t at = va; at < va + len; at += bytes) {
		where("va %#" PRIx64, at);
		want_u64(query(w.t, at).len, bytes);
	}
}

static void test_blocks(const char *format, unsigned g, bool old_table)
{
	uint64_t from, to, attr = RW | PGT_SW1 | PGT_YOUNG;
	struct pgt_tally y;

	begin();
	if (!open_world(format, g, 0, EMBED_TLB))
		return;
	from = src;
	to = mid;
	want_status(pgt_map(w.t, from, world_pa(&w, 8), 5 * l2, attr, PGT_MAX_LEAF(geo_bits(&w.geo, 2)), NULL), PGT_OK);
	if (old_table) {
		want_status(pgt_map(w.t, to, 0, page, RW, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, to + 3 * l2 + page, 0, page, RW, 0, NULL), PGT_OK);
		want_status(pgt_unmap(w.t, to, 5 * l2, PGT_KEEP_TABLES, NULL), PGT_OK);
	}
	where("blocks onto %s", old_table ? "empty tables" : "nothing");
	y = counted(from, to, 5 * l2, PGT_NO_SPLIT, PGT_OK);
	want_u64(y.blocks_split, 0);
	want_empty(from, 5 * l2);
	/* Five of them are no run, or some with another. */
	want_linear(to, 5 * l2, world_pa(&w, 8), attr, w.geo.run_log[2] > 2 ? l2 : 0);
	want_leaves(to, 5 * l2, l2);
	want(sound(&w));
	/* A page off: they are split, or that is refused. */
	embed_snapshot(&w.e, &before);
	where("a page off");
	want_status(pgt_move(w.t, to, from + page, 5 * l2, PGT_NO_SPLIT, NULL), PGT_EBLOCK);
	want_status(pgt_move(w.t, to + page, from + page, l2, PGT_NO_SPLIT, NULL), PGT_EBLOCK);
	want(!embed_compare(&w.e, &before));
	want_status(pgt_move(w.t, to, from + page, 5 * l2, 0, NULL), PGT_OK);
	want_linear(from + page, 5 * l2, world_pa(&w, 8), attr, 0);
	want(leaf_at(w.t, from + page + l2) == 3);
	want(sound(&w));
	/* Part of a block. */
	want_status(pgt_unmap(w.t, from, 6 * l2, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, from, world_pa(&w, 8), l2, attr, 0, NULL), PGT_OK);
	embed_snapshot(&w.e, &before);
	where("part of a block");
	want_status(pgt_move(w.t, from + page, to + page, half, PGT_NO_BREAK, NULL), PGT_EBREAK);
	want(!embed_compare(&w.e, &before));
	want_status(pgt_move(w.t, from + page, to + page, half, 0, NULL), PGT_OK);
	want_linear(from, page, world_pa(&w, 8), attr, 0);
	want_linear(from + page + half, half - page, world_pa(&w, 8) + page + half, attr, 0);
	want_linear(to + page, half, world_pa(&w, 8) + page, attr, 0);
	want_empty(from + page, half);
	want(sound(&w));
	world_close(&w);
	ok(fine, "%s, granule 2^%u: blocks stay blocks where they can, onto %s", format, g,
	   old_table ? "empty tables too" : "empty places");
}

static void test_runs(const char *format, unsigned g)
{
	uint64_t from, to, run, some, attr = RW;
	struct pgt_translation tr;

	begin();
	if (!open_world(format, g, 0, EMBED_TLB))
		return;
	run = BIT(geo_run_bits(&w.geo, 3));
	from = src + l2;
	to = mid + 7 * run;
	some = run > 4 * page ? 2 * page : page;
	want_status(pgt_map(w.t, from, world_pa(&w, 8), 4 * run, attr, PGT_MAX_LEAF(geo_run_bits(&w.geo, 3)), NULL),
		    PGT_OK);
	/* Hardware writes to one member. */
	want_status(pgt_translate(w.t, from + run + 3 * page % run, PGT_WRITE | PGT_UPDATE, &tr), PGT_OK);
	want_status(pgt_move(w.t, from, to, 4 * run, PGT_NO_SPLIT, NULL), PGT_OK);
	want_linear(to, run, world_pa(&w, 8), attr, run);
	want_linear(to + run, run, world_pa(&w, 8) + run, attr | STATE, run);
	want_linear(to + 2 * run, 2 * run, world_pa(&w, 8) + 2 * run, attr, run);
	/* A page off, and on again. */
	want_status(pgt_move(w.t, to, from + page, 4 * run, 0, NULL), PGT_OK);
	want_linear(from + page, run, world_pa(&w, 8), attr, page);
	want_linear(from + page + run, run, world_pa(&w, 8) + run, attr | STATE, page);
	want_status(pgt_move(w.t, from + page, to + 4 * run, 4 * run, 0, NULL), PGT_OK);
	want_linear(to + 5 * run, run, world_pa(&w, 8) + run, attr | STATE, 0);
	/* Part of a run: what stays and what goes keep the run's state. */
	want_status(pgt_move(w.t, to + 5 * run + page, from + page, some, 0, NULL), PGT_OK);
	want_linear(from + page, some, world_pa(&w, 8) + run + page, attr | STATE, page);
	want_linear(to + 5 * run, page, world_pa(&w, 8) + run, attr | STATE, page);
	want_linear(to + 5 * run + page + some, run - page - some, world_pa(&w, 8) + run + page + some, attr | STATE,
		    page);
	want(sound(&w));
	world_close(&w);
	ok(fine, "%s, granule 2^%u: runs are kept or unfolded by alignment, with their state", format, g);
}

/* ---- The destination ------------------------------------------------------------------------------- */

static void test_exists(const char *format, unsigned g)
{
	uint64_t from, to, len;

	begin();
	if (!open_world(format, g, 0, EMBED_TLB | EMBED_PUBLISH))
		return;
	from = src;
	to = mid;
	len = 2 * l2 + 3 * page;
	fill(from, len);
	for (unsigned i = 0; i < 6; i++) {
		static const char *const what[] = { "page", "token", "inaccessible page" };
		uint64_t at = to + (i < 2 ? 0 : i < 4 ? l2 + 5 * page : len - page);

		if (i % 3 == 0)
			want_status(pgt_map(w.t, at, 0, page, RW, 0, NULL), PGT_OK);
		else if (i % 3 == 1)
			want_status(pgt_store(w.t, at, page, 0, 0, NULL), PGT_OK);
		else
			want_status(pgt_map(w.t, at, 0, page, RW | PGT_NOACCESS, 0, NULL), PGT_OK);
		embed_snapshot(&w.e, &before);
		embed_log_clear(&w.e);
		where("a %s at %#" PRIx64, what[i % 3], at);
		want_status(pgt_move(w.t, from, to, len, 0, NULL), PGT_EEXIST);
		want_status(pgt_move(w.t, from, to, len, PGT_KEEP_TABLES, NULL), PGT_EEXIST);
		want(!embed_compare(&w.e, &before));
		want_u64(w.e.events, 0);
		want_status(pgt_unmap(w.t, at, page, 0, NULL), PGT_OK);
	}
	/* Just outside, it is in nobody's way. */
	want_status(pgt_map(w.t, to + len, 0, page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, to - page, page, page, RW, 0, NULL), PGT_OK);
	want_status(pgt_move(w.t, from, to, len, 0, NULL), PGT_OK);
	want_content(to, 0, len);
	want_u64(reads(w.t, to + len), 0);
	want_u64(reads(w.t, to - page), page);
	want(sound(&w));
	world_close(&w);
	ok(fine, "%s, granule 2^%u: a leaf or token in the way refuses, anywhere", format, g);
}

/* Empty tables in the way go, at every level. */
static void test_empty_tables(const char *format, unsigned g)
{
	begin();
	for (unsigned level = 1; level <= 2; level++) {
		uint64_t from, to, span;
		struct pgt_tally y;

		if (!open_world(format, g, 0, EMBED_TLB))
			return;
		span = geo_span(&w.geo, level);
		from = src;
		to = dst + (level == 2 ? 3 * l2 : 0);
		fill(from, span);
		want_status(pgt_map(w.t, to, 0, page, RW, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, to + span - page, 0, page, RW, 0, NULL), PGT_OK);
		want_status(pgt_unmap(w.t, to, span, PGT_KEEP_TABLES, NULL), PGT_OK);
		y = counted(from, to, span, 0, PGT_OK);
		where("level %u", level);
		want_relinked(&y, 1);
		want_content(to, 0, span);
		want_empty(from, span);
		want(sound(&w));
		want_status(pgt_unmap(w.t, to, span, 0, NULL), PGT_OK);
		want_u64(w.e.live, 1);
		world_close(&w);
	}
	ok(fine, "%s, granule 2^%u: empty tables at the destination are replaced", format, g);
}

/* What an entry of the root spans, or of the level below. */
static void test_largest(const char *format, unsigned g, uint64_t features)
{
	begin();
	for (unsigned level = 0; level <= 1; level++) {
		uint64_t from, to, span;
		struct pgt_tally y;

		if (!open_world(format, g, features, EMBED_TLB))
			return;
		if (level >= w.geo.start) {
			span = geo_span(&w.geo, level);
			from = w.base;
			to = w.base + w.bytes - span; /* the last of all */
			fill(from, span);
			y = counted(from, to, span, 0, PGT_OK);
			where("level %u", level);
			want_relinked(&y, 1);
			want(y.changed <= 2);
			want_content(to, 0, span);
			want_empty(from, span);
			if (want(w.e.count[EMBED_INVALIDATE] == 1)) {
				const struct embed_event *ev =
					&w.e.log[embed_find(&w.e, EMBED_INVALIDATE, 0)];

				/* With the table that it leaves empty. */
				want(ev->range.flags & PGT_TLB_WALK);
				want(ev->range.va <= from);
				want(ev->range.va + (ev->range.len - 1) >= from + (span - 1));
				want_u64((uint64_t)ev->range.level, PGT_LEVEL_UNKNOWN);
			}
			want(sound(&w));
		}
		world_close(&w);
	}
	ok(fine, "%s, granule 2^%u%s: the largest tables move by one entry, to the very end", format, g,
	   features & PGT_FEAT_UPPER ? ", upper half" : "");
}

static void test_last_page(const char *format, unsigned g, uint64_t features)
{
	uint64_t last, at;

	begin();
	if (!open_world(format, g, features, EMBED_TLB))
		return;
	last = w.base + (w.bytes - page);
	at = w.base + l2 + 3 * page;
	fill(at, 4 * page);
	want_status(pgt_move(w.t, at, last, page, 0, NULL), PGT_OK);
	want_content(last, 0, page);
	want_status(pgt_move(w.t, last, w.base, page, 0, NULL), PGT_OK);
	want_content(w.base, 0, page);
	want_empty(last, page);
	want_status(pgt_move(w.t, w.base, at, page, 0, NULL), PGT_OK);
	want_status(pgt_move(w.t, at, last - 3 * page, 4 * page, 0, NULL), PGT_OK);
	want_content(last - 3 * page, 0, 4 * page);
	embed_snapshot(&w.e, &before);
	want_status(pgt_move(w.t, last - 3 * page, last - 2 * page, 4 * page, 0, NULL), PGT_EINVAL);
	want_status(pgt_move(w.t, at, last, 2 * page, 0, NULL), PGT_ERANGE);
	want_status(pgt_move(w.t, last, at, 2 * page, 0, NULL), PGT_ERANGE);
	want(!embed_compare(&w.e, &before));
	want(sound(&w));
	world_close(&w);
	ok(fine, "%s, granule 2^%u%s: the first page and the last", format, g,
	   features & PGT_FEAT_UPPER ? ", upper half" : "");
}

/* ---- Memory and TLBs -------------------------------------------------------------------------------- */

static void test_memory(const char *format, unsigned g)
{
	uint64_t from, to, len;
	unsigned refused = 0;

	begin();
	if (!open_world(format, g, 0, EMBED_TLB))
		return;
	from = src + half;
	to = mid + l2 - 2 * page;
	len = 3 * l2;
	want_status(pgt_map(w.t, from - half, world_pa(&w, 8), l2, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, from + half, world_pa(&w, 8) + page, l2, PGT_READ, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, from + half + 2 * l2, world_pa(&w, 8), l2, RW, 0, NULL), PGT_OK);
	embed_snapshot(&w.e, &before);
	for (unsigned k = 1; k < 20; k++) {
		int status;

		embed_fail(&w.e, k, true);
		status = pgt_move(w.t, from, to, len, 0, NULL);
		embed_fail(&w.e, 0, false);
		if (status == PGT_OK)
			break;
		where("allocation %u refused", k);
		want_status(status, PGT_ENOMEM);
		want(!embed_compare(&w.e, &before));
		refused++;
	}
	want(refused >= 3);
	want_linear(to, half, world_pa(&w, 8) + half, RW, 0);
	want_linear(to + half, l2, world_pa(&w, 8) + page, PGT_READ, 0);
	want_empty(from, len);
	want(sound(&w));
	world_close(&w);
	ok(fine, "%s, granule 2^%u: no memory at any allocation, and nothing has moved", format, g);
}

/* All of the source is forgotten before the call returns; the range is not more than it. */
static void test_forgotten(const char *format, unsigned g)
{
	uint64_t from, to, len, covered = 0;
	int last_sync = -1, last_invalidate = -1;

	begin();
	if (!open_world(format, g, 0, EMBED_TLB))
		return;
	from = src + half;
	to = mid + half;
	len = 5 * half;
	for (uint64_t at = 0; at < len; at += page)
		want_status(pgt_map(w.t, from + at, world_pa(&w, 8) + 2 * at, page, RW, 0, NULL), PGT_OK);
	/* So that the tables at the edges stay. */
	want_status(pgt_map(w.t, from - page, 0, page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, from + len, 0, page, RW, 0, NULL), PGT_OK);
	embed_log_clear(&w.e);
	want_status(pgt_move(w.t, from, to, len, 0, NULL), PGT_OK);
	for (unsigned i = 0; i < w.e.events; i++) {
		const struct pgt_tlb_range *r = &w.e.log[i].range;

		if (w.e.log[i].kind == EMBED_SYNC)
			last_sync = (int)i;
		if (w.e.log[i].kind != EMBED_INVALIDATE)
			continue;
		last_invalidate = (int)i;
		covered += r->len;
		want(r->va >= from && r->va + r->len <= from + len);
	}
	want(covered >= len);
	want(last_sync > last_invalidate && last_invalidate >= 0);
	world_close(&w);
	ok(fine, "%s, granule 2^%u: the source is forgotten, exactly", format, g);
}

int main(void)
{
	if (!formats[0])
		return tap_skip_all("no format of these was built");
	for_formats(format)
		for_granules(format, g) {
			bool upper = has_upper(format);

			test_rows(format, g, 0);
			if (upper)
				test_rows(format, g, PGT_FEAT_UPPER);
			test_overlap(format, g);
			test_neighbours(format, g);
			test_gaps(format, g);
			test_blocks(format, g, false);
			test_blocks(format, g, true);
			test_runs(format, g);
			test_exists(format, g);
			test_empty_tables(format, g);
			for (unsigned half_of = 0; half_of <= (upper ? 1u : 0u); half_of++) {
				test_largest(format, g, half_of ? PGT_FEAT_UPPER : 0);
				test_last_page(format, g, half_of ? PGT_FEAT_UPPER : 0);
			}
			test_memory(format, g);
			test_forgotten(format, g);
		}
	embed_snapshot_free(&before);
	return tap_done();
}
