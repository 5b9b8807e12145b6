/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading: query on holes, visit in all its forms, stat, dump and the cursor.
 */
#include "contract.h"

static struct world w;

#define STATE (PGT_YOUNG | PGT_DIRTY)

/* ---- What visit reported --------------------------------------------------- */

#define MAX_SEEN 60000
static struct pgt_mapping seen[MAX_SEEN];
static unsigned n_seen;

static int see(void *ctx, const struct pgt_mapping *m)
{
	(void)ctx;
	if (n_seen < MAX_SEEN)
		seen[n_seen++] = *m;
	return 0;
}

static int visit_all(uint64_t va, uint64_t len, unsigned flags)
{
	n_seen = 0;
	return pgt_visit(w.t, va, len, flags, see, NULL);
}

/* What was seen follows one after the other and, with holes, covers the range. */
static void tiles(uint64_t va, uint64_t len, bool holes, bool clipped)
{
	uint64_t next = va, last = va + (len - 1);

	for (unsigned i = 0; i < n_seen; i++) {
		const struct pgt_mapping *m = &seen[i];

		if (i == 0 && !clipped) {
			/* The first may begin before the range. */
			want(m->va <= va || !holes);
			want(m->va + (m->len - 1) >= va);
		} else if (holes) {
			want_u64(m->va, next);
		} else {
			want(m->va >= next);
		}
		if (clipped)
			want(m->va >= va && m->va + (m->len - 1) <= last);
		next = m->va + m->len;
	}
	if (holes && n_seen)
		want(next - 1 >= last);
}

/* ---- A table with a bit of everything -------------------------------------- */

/* The pages of one table, but not all of them. */
static uint64_t many(void)
{
	return BIT(w.geo.b) > 300 ? 300 : BIT(w.geo.b) - 1;
}

static void fill(void)
{
	uint64_t page = BIT(w.geo.g), block = geo_span(&w.geo, 2);

	want_status(pgt_map(w.t, w.base, 0, page * 3, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.base + page * 5, page * 5, page, PGT_READ, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.base + block * 2, block * 7, block * 3, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.base + block * 5, block * 10, page * many(), RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, world_last(&w) - (page - 1), 0, page, world_attr(&w, PGT_READ | PGT_EXEC), 0,
			    NULL), PGT_OK);
}

/* ---- Query on holes --------------------------------------------------------- */

static void test_query_holes(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_TLB))
			continue;
		want_status(pgt_map(w.t, 0, 0, page, RW, 0, NULL), PGT_OK);
		for (unsigned l = w.geo.start; l <= 3; l++) {
			uint64_t span = geo_span(&w.geo, l);
			struct pgt_mapping m = query(w.t, span + span / 2 + 1);

			where("granule %u, level %u", granule, l);
			want_u64(m.state, PGT_EMPTY);
			want_u64(m.level, l);
			want_u64(m.va, span);
			want_u64(m.len, span);
			want_u64(m.entry, 0);
			want_u64(m.attr | m.token, 0);
		}
		world_close(&w);
	}
	ok(fine, "%s: query tells which hole an empty address lies in", format);
}

/* ---- Visit ------------------------------------------------------------------ */

static void test_visit_plain(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned input = 42; input <= 48; input += 2)
			for (unsigned upper = 0; upper < 2; upper++) {
				uint64_t page = BIT(granule), block;
				struct pgt_mapping q;

				if (upper && !has_upper(format))
					continue;
				where("granule %u, input %u, upper %u", granule, input, upper);
				if (!world_open(&w, format, granule, input,
						upper ? PGT_FEAT_UPPER : 0, EMBED_TLB))
					continue;
				fill();
				block = geo_span(&w.geo, 2);
				want_status(visit_all(w.base, w.bytes, 0), PGT_OK);
				tiles(w.base, w.bytes, false, false);
				want_u64(n_seen, 3 + 1 + 3 + many() + 1);
				for (unsigned i = 0; i < n_seen; i++) {
					q = query(w.t, seen[i].va);
					want_u64(q.va, seen[i].va);
					want_u64(q.pa, seen[i].pa);
					want_u64(q.len, seen[i].len);
					want_u64(q.run_bytes, seen[i].run_bytes);
					want_u64(q.attr, seen[i].attr);
					want_u64(q.entry, seen[i].entry);
					want_u64(q.level, seen[i].level);
					want_u64(q.state, PGT_LEAF);
					want_u64(seen[i].state, PGT_LEAF);
				}
				/* Leaves whole, where the range has only a part of them. */
				want_status(visit_all(w.base + block * 2 + page, page, 0), PGT_OK);
				want_u64(n_seen, 1);
				want_u64(seen[0].va, w.base + block * 2);
				want_u64(seen[0].len, block);
				want_u64(seen[0].pa, block * 7);
				want_status(visit_all(w.base + block * 3 - page, 2 * page, 0),
					    PGT_OK);
				want_u64(n_seen, 2);
				want_status(visit_all(w.base + page * 3, page * 2, 0), PGT_OK);
				want_u64(n_seen, 0);
				world_close(&w);
			}
	ok(fine, "%s: visit reports every leaf once, in order, whole, as query does", format);
}

static void test_visit_holes(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), block, holes = 0;

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_TLB))
			continue;
		where("granule %u", granule);
		fill();
		block = geo_span(&w.geo, 2);
		want_status(visit_all(w.base, w.bytes, PGT_HOLES), PGT_OK);
		tiles(w.base, w.bytes, true, false);
		for (unsigned i = 0; i < n_seen; i++) {
			if (seen[i].state != PGT_EMPTY)
				continue;
			holes++;
			want_u64(seen[i].len, geo_span(&w.geo, (unsigned)seen[i].level));
			want_u64(seen[i].va & (seen[i].len - 1), 0);
			want_u64(query(w.t, seen[i].va + seen[i].len / 2).len, seen[i].len);
		}
		want(holes > 3);

		want_status(visit_all(w.base, w.bytes, PGT_HOLES | PGT_MERGE), PGT_OK);
		tiles(w.base, w.bytes, true, true);
		/* Three pages, hole, page, hole, blocks and pages as one, hole, page. */
		want_u64(n_seen, 7);
		want_u64(seen[0].len, 3 * page);
		want_u64(seen[1].state, PGT_EMPTY);
		want_u64(seen[1].len, 2 * page);
		want_u64(seen[3].state, PGT_EMPTY);
		want_u64(seen[4].va, block * 2);
		want_u64(seen[4].len, block * 3 + page * many());
		want_u64(seen[4].pa, block * 7);
		want_u64(seen[5].state, PGT_EMPTY);
		want_u64(seen[6].len, page);

		want_status(visit_all(w.base, w.bytes, PGT_MERGE), PGT_OK);
		want_u64(n_seen, 4);
		/* Clipped on both sides. */
		want_status(visit_all(block * 3 + page, block, PGT_MERGE), PGT_OK);
		want_u64(n_seen, 1);
		want_u64(seen[0].va, block * 3 + page);
		want_u64(seen[0].len, block);
		want_u64(seen[0].pa, block * 8 + page);
		want_status(visit_all(page * 3, page, PGT_MERGE | PGT_HOLES), PGT_OK);
		want_u64(n_seen, 1);
		want_u64(seen[0].va, page * 3);
		want_u64(seen[0].len, page);
		world_close(&w);
	}
	ok(fine, "%s: visit with PGT_HOLES and PGT_MERGE covers the range without gap or overlap",
	   format);
}

/* What keeps stretches apart. */
static void test_visit_merge(const char *format)
{
	static const uint64_t attrs[] = {
		RW, PGT_READ, RW | PGT_EXEC, RW | PGT_USER, RW | PGT_GLOBAL, RW | PGT_SW2,
		RW | PGT_MEM_NOCACHE, RW | PGT_SH_OUTER, RW | PGT_NOACCESS, RW | PGT_GUARDED,
		RW | PGT_YOUNG, RW | PGT_DIRTY,
	};
	const unsigned n = sizeof(attrs) / sizeof(attrs[0]);
	uint64_t own[sizeof(attrs) / sizeof(attrs[0])];

	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY,
			EMBED_TLB))
		return;
	/* Software bits stand in for what the format doesn't have. */
	for (unsigned i = 0; i < n; i++) {
		own[i] = world_attr(&w, attrs[i]);
		if (i && own[i] == RW)
			own[i] |= PGT_SW0 * ((2 * i - 1) % 8);
		want_status(pgt_map(w.t, w.page * i, w.page * i, w.page, own[i], 0, NULL), PGT_OK);
	}
	want_status(visit_all(0, w.l1, PGT_MERGE), PGT_OK);
	want_u64(n_seen, n);
	for (unsigned i = 0; i < n_seen; i++)
		want_u64(seen[i].attr, own[i]);
	/* Young and dirty apart, the last two are one stretch. */
	want_status(visit_all(w.page * (n - 2), 2 * w.page, PGT_MERGE | PGT_NO_STATE), PGT_OK);
	want_u64(n_seen, 1);
	want_u64(seen[0].attr & ~STATE, RW);
	want_status(visit_all(w.page * (n - 2), 2 * w.page, PGT_NO_STATE), PGT_OK);
	want_u64(n_seen, 2);
	want_u64(seen[0].attr & ~STATE, RW);
	want_status(pgt_unmap(w.t, 0, w.l1, 0, NULL), PGT_OK);

	/* PA that doesn't follow, by a page either way and by nothing at all. */
	want_status(pgt_map(w.t, 0, 4 * w.l2, w.page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.page, 4 * w.l2 + 2 * w.page, w.page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, 2 * w.page, 4 * w.l2 + w.page, w.page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, 3 * w.page, 4 * w.l2 + w.page, w.page, RW, 0, NULL), PGT_OK);
	want_status(visit_all(0, w.l1, PGT_MERGE), PGT_OK);
	want_u64(n_seen, 4);

	/* Pages, blocks and both sizes of table border in one stretch. */
	want_status(pgt_map(w.t, w.l1 - 2 * w.page, 3 * w.l1 - 2 * w.page,
			    w.l1 + w.l2 + 3 * w.page, RW, 0, NULL), PGT_OK);
	want_status(visit_all(w.l1 - w.l2, 3 * w.l1, PGT_MERGE), PGT_OK);
	want_u64(n_seen, 1);
	want_u64(seen[0].va, w.l1 - 2 * w.page);
	want_u64(seen[0].len, w.l1 + w.l2 + 3 * w.page);
	want_u64(seen[0].pa, 3 * w.l1 - 2 * w.page);
	world_close(&w);
	ok(fine, "%s: PGT_MERGE joins equal attributes and consecutive PA, and nothing else",
	   format);
}

static int stop_at(void *ctx, const struct pgt_mapping *m)
{
	uint64_t *left = ctx;

	(void)m;
	return --*left ? 0 : -77;
}

static void test_visit_stops(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_TLB))
		return;
	fill();
	for (unsigned i = 0; i < 8; i++) {
		static const unsigned flags[] = { 0, PGT_HOLES, PGT_MERGE, PGT_MERGE | PGT_HOLES,
						  PGT_NO_STATE, PGT_NO_STATE | PGT_HOLES,
						  PGT_NO_STATE | PGT_MERGE,
						  PGT_NO_STATE | PGT_MERGE | PGT_HOLES };

		for (uint64_t after = 1; after < 5; after++) {
			uint64_t left = after;

			where("flags %#x, after %u", flags[i], (unsigned)after);
			want_status(pgt_visit(w.t, w.base, w.bytes, flags[i], stop_at, &left), -77);
			want_u64(left, 0);
		}
	}
	world_close(&w);
	ok(fine, "%s: a non-zero return stops visit and is its value", format);
}

/* ---- Changing calls from a visit callback ----------------------------------- */

static int unmap_seen(void *ctx, const struct pgt_mapping *m)
{
	(void)ctx;
	n_seen++;
	want_status(pgt_unmap(w.t, m->va, m->len, 0, NULL), PGT_OK);
	return 0;
}

static int map_behind(void *ctx, const struct pgt_mapping *m)
{
	(void)ctx;
	if (n_seen < MAX_SEEN)
		seen[n_seen++] = *m;
	/* Before it: not seen any more. After it: seen. */
	if (m->len == w.page && m->va >= 4 * w.l1 && m->va < 4 * w.l1 + 10 * w.page) {
		want_status(pgt_map(w.t, m->va - w.l1, 0, w.page, RW, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, m->va + w.page, 0, w.page, RW, 0, NULL), PGT_OK);
	}
	return 0;
}

static int replace_seen(void *ctx, const struct pgt_mapping *m)
{
	(void)ctx;
	if (n_seen < MAX_SEEN)
		seen[n_seen++] = *m;
	if (m->level < 3)
		want_status(pgt_map(w.t, m->va, m->pa, m->len, PGT_READ, PGT_REPLACE |
				    PGT_MAX_LEAF(w.geo.g), NULL), PGT_OK);
	return 0;
}

static void test_visit_changes(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG, EMBED_ALL))
		return;
	for (unsigned flags = 0; flags < 2; flags++) {
		fill();
		n_seen = 0;
		want_status(pgt_visit(w.t, w.base, w.bytes, flags ? PGT_NO_STATE : 0, unmap_seen,
				      NULL), PGT_OK);
		want_u64(n_seen, 3 + 1 + 3 + many() + 1);
		want_u64(w.e.live, 1);
	}
	want_status(pgt_map(w.t, 4 * w.l1, 0, w.page, RW, 0, NULL), PGT_OK);
	n_seen = 0;
	want_status(pgt_visit(w.t, 0, w.bytes, 0, map_behind, NULL), PGT_OK);
	want_u64(n_seen, 11);
	for (unsigned i = 0; i < n_seen; i++)
		want_u64(seen[i].va, 4 * w.l1 + w.page * i);
	want_status(pgt_unmap(w.t, 0, w.bytes, 0, NULL), PGT_OK);
	/* A block that the callback replaces by pages was reported; its pages are not. */
	want_status(pgt_map(w.t, w.l2, 0, 2 * w.l2, RW, 0, NULL), PGT_OK);
	n_seen = 0;
	want_status(pgt_visit(w.t, 0, w.bytes, 0, replace_seen, NULL), PGT_OK);
	want_u64(n_seen, 2);
	want_u64(query(w.t, w.l2).level, 3);
	sound(&w);
	world_close(&w);
	ok(fine, "%s: a visit callback may unmap, map and replace; visit goes on after the leaf "
	   "last reported", format);
}

/* ---- Tokens ------------------------------------------------------------------ */

/* Where the format says what a token's entry looks like. */
static void test_tokens(const char *format)
{
	struct pgt_stat s;
	struct pgt_mapping m;
	struct pgt_translation tr;

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_TLB))
		return;
	want_status(pgt_map(w.t, 0, 0, w.page, RW, 0, NULL), PGT_OK);
	raw_poke(&w, 2 * w.page, 3, UINT64_C(0x123456789abc) << w.f->entry.token_shift | 3);
	raw_poke(&w, 2 * w.l2, 2, 3);
	m = query(w.t, 2 * w.page + 7);
	want_u64(m.state, PGT_TOKEN);
	want_u64(m.token, UINT64_C(0x123456789abc));
	want_u64(m.va, 2 * w.page);
	want_u64(m.len, w.page);
	m = query(w.t, 2 * w.l2 + w.l2 / 2);
	want_u64(m.state, PGT_TOKEN);
	want_u64(m.token, 0);
	want_u64(m.len, w.l2);
	want_status(pgt_translate(w.t, 2 * w.page, PGT_READ, &tr), PGT_EFAULT);
	want_u64(tr.fault, PGT_FAULT_TRANSLATION);
	want_status(pgt_map(w.t, 2 * w.page, 0, w.page, RW, 0, NULL), PGT_EEXIST);
	want_status(pgt_map(w.t, w.page, 0, 3 * w.page, RW, 0, NULL), PGT_EEXIST);
	want_status(pgt_map(w.t, 2 * w.l2 + w.page, 0, w.page, RW, 0, NULL), PGT_EEXIST);
	want_status(visit_all(0, 4 * w.l2, 0), PGT_OK);
	want_u64(n_seen, 3);
	want_status(pgt_stat(w.t, 0, 4 * w.l2, &s), PGT_OK);
	want_u64(s.tokens, 2);
	want_u64(s.mapped_bytes, w.page);
	/* It keeps its table; unmap takes a part of it, map replaces it. */
	want_status(pgt_unmap(w.t, 0, w.page, 0, NULL), PGT_OK);
	want_u64(w.e.live, 4);
	want_status(pgt_unmap(w.t, 2 * w.l2 + w.page, w.page, 0, NULL), PGT_OK);
	want_u64(query(w.t, 2 * w.l2).state, PGT_TOKEN);
	want_u64(query(w.t, 2 * w.l2 + w.page).state, PGT_EMPTY);
	want_u64(query(w.t, 2 * w.l2 + 2 * w.page).state, PGT_TOKEN);
	want_status(pgt_map(w.t, 2 * w.page, w.l1, w.page, RW, PGT_REPLACE, NULL), PGT_OK);
	want_u64(reads(w.t, 2 * w.page), w.l1);
	want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, 0, w.l1, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
	world_close(&w);
	ok(fine, "%s: tokens are seen, are in the way, are split, replaced and unmapped", format);
}

/* ---- Stat -------------------------------------------------------------------- */

static void test_stat(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), bytes = 0, tables = 0, block, root;
		struct pgt_stat s, none;

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_TLB))
			continue;
		where("granule %u, empty", granule);
		memset(&none, 0, sizeof(none));
		memset(&s, 0x5a, sizeof(s));
		want_status(pgt_stat(w.t, 0, w.bytes, &s), PGT_OK);
		root = geo_root_bytes(&w.geo);
		none.tables[w.geo.start + 1] = 1;
		none.table_bytes = root;
		want(!memcmp(&s, &none, sizeof(s)));

		where("granule %u, filled", granule);
		fill();
		block = geo_span(&w.geo, 2);
		want_status(pgt_stat(w.t, 0, w.bytes, &s), PGT_OK);
		want_status(visit_all(0, w.bytes, 0), PGT_OK);
		for (unsigned l = 0; l <= 3; l++) {
			uint64_t leaves = 0, runs = 0;

			for (unsigned i = 0; i < n_seen; i++)
				if (seen[i].level == (int)l) {
					leaves++;
					bytes += seen[i].len;
					runs += seen[i].run_bytes > seen[i].len &&
						!(seen[i].va & (seen[i].run_bytes - 1));
				}
			want_u64(s.leaves[l + 1], leaves);
			want_u64(s.runs[l + 1], runs);
			tables += s.tables[l + 1];
		}
		want_u64(s.tables[0] | s.leaves[0] | s.runs[0] | s.tokens, 0);
		want_u64(s.mapped_bytes, bytes);
		want_u64(tables, w.e.live);
		want_u64(s.table_bytes, root + (w.e.live - 1) * page);
		/* Bytes inside the range only; what it touches counts whole. */
		want_status(pgt_stat(w.t, block * 2 + page, block, &s), PGT_OK);
		want_u64(s.mapped_bytes, block);
		want_u64(s.leaves[3], 2);
		want_u64(s.leaves[4], 0);
		world_close(&w);
	}
	ok(fine, "%s: stat counts tables, leaves, runs and bytes as visit sees them", format);
}

/* ---- Dump -------------------------------------------------------------------- */

static char text[1 << 16];
static uint64_t text_bytes;

static int collect(void *ctx, const char *part, uint64_t bytes)
{
	(void)ctx;
	if (text_bytes + bytes < sizeof(text)) {
		memcpy(text + text_bytes, part, bytes);
		text_bytes += bytes;
	}
	return 0;
}

static int stop_text(void *ctx, const char *part, uint64_t bytes)
{
	(void)part;
	(void)bytes;
	++*(unsigned *)ctx;
	return 55;
}

static unsigned lines(void)
{
	unsigned n = 0;

	for (uint64_t i = 0; i < text_bytes; i++)
		n += text[i] == '\n';
	return n;
}

static void test_dump(const char *format)
{
	unsigned calls = 0;
	bool printable = true;
	char number[20];

	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG, EMBED_TLB))
		return;
	text_bytes = 0;
	want_status(pgt_dump(w.t, 0, w.bytes, collect, NULL), PGT_OK);
	want(lines() <= 1);
	fill();
	text_bytes = 0;
	want_status(pgt_dump(w.t, 0, w.bytes, collect, NULL), PGT_OK);
	text[text_bytes] = 0;
	for (uint64_t i = 0; i < text_bytes; i++)
		printable &= text[i] == '\n' || (text[i] >= 32 && text[i] < 127);
	want(printable);
	want(text_bytes && text[text_bytes - 1] == '\n');
	/* A line a merged stretch, and the addresses of each are in it. */
	want(lines() >= 4 && lines() <= 8);
	snprintf(number, sizeof(number), "%" PRIx64, 2 * w.l2); /* the first block's VA */
	want(strstr(text, number));
	snprintf(number, sizeof(number), "%" PRIx64, 7 * w.l2); /* and its PA */
	want(strstr(text, number));
	want_status(pgt_dump(w.t, 0, w.bytes, stop_text, &calls), 55);
	want_u64(calls, 1);
	world_close(&w);
	ok(fine, "%s: dump writes a line a stretch, and stops when told", format);
}

/* ---- The cursor --------------------------------------------------------------- */

static uint64_t virt_calls;
static void *(*real_virt)(void *, uint64_t, uint64_t);

static void *count_virt(void *ctx, uint64_t pa, uint64_t bytes)
{
	virt_calls++;
	return real_virt(ctx, pa, bytes);
}

static bool open_counted(const char *format, unsigned g, uint64_t features)
{
	if (!world_open(&w, format, g, 48, features, EMBED_TLB))
		return false;
	pgt_destroy(w.t);
	real_virt = w.c.memory.to_virt;
	w.c.memory.to_virt = count_virt;
	return want_status(pgt_create(&w.c, &w.t), PGT_OK);
}

static void same_translation(const struct pgt_translation *a, const struct pgt_translation *b)
{
	want_u64(a->pa, b->pa);
	want_u64(a->attr, b->attr);
	want_u64(a->leaf_bits, b->leaf_bits);
	want_u64(a->run_bits, b->run_bits);
	want_u64(a->level, b->level);
	want_u64(a->fault, b->fault);
}

static void test_cursor(const char *format)
{
	struct embed_rng r;

	embed_seed(&r, 9);
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), block, va = 0;
		struct pgt_cursor cursor;

		if (!open_counted(format, granule, PGT_FEAT_CONTIG))
			continue;
		fill();
		block = geo_span(&w.geo, 2);
		pgt_cursor_init(&cursor, w.t);
		for (unsigned i = 0; i < 20000; i++) {
			static const uint64_t accesses[] = { PGT_READ, PGT_WRITE, PGT_EXEC,
							     PGT_READ | PGT_USER };
			struct pgt_translation a, b;
			uint64_t access = accesses[embed_below(&r, 4)];
			int sa, sb;

			if (embed_once_in(&r, 8))
				va = embed_below(&r, block * 8);
			else if (embed_once_in(&r, 50))
				va = w.bytes - 1 - embed_below(&r, page * 3);
			else
				va += embed_below(&r, 3 * page) - page;
			where("granule %u, va %#" PRIx64, granule, va);
			memset(&a, 0, sizeof(a));
			memset(&b, 0, sizeof(b));
			sa = pgt_cursor_translate(&cursor, va, access, &a);
			sb = pgt_translate(w.t, va, access, &b);
			want_status(sa, sb);
			if (sa == PGT_OK || sa == PGT_EFAULT)
				same_translation(&a, &b);
		}
		/* Neighbours in one table cost one read. */
		pgt_cursor_init(&cursor, w.t);
		for (uint64_t i = 0; i < many(); i++) {
			struct pgt_translation tr;

			where("granule %u, page %u", granule, (unsigned)i);
			virt_calls = 0;
			want_status(pgt_cursor_translate(&cursor, block * 5 + i * page, PGT_READ,
							 &tr), PGT_OK);
			want_u64(tr.pa, block * 10 + i * page);
			want(virt_calls <= (i ? 1 : 4));
		}
		world_close(&w);
	}
	ok(fine, "%s: the cursor translates as translate does, and neighbours without a walk",
	   format);
}

/* An empty table is one table to look at. */
static void test_empty(const char *format)
{
	struct pgt_stat s;

	begin();
	if (!open_counted(format, 12, 0))
		return;
	virt_calls = 0;
	want_status(visit_all(0, w.bytes, 0), PGT_OK);
	want(virt_calls <= BIT(w.geo.root_bits));
	want_u64(n_seen, 0);
	virt_calls = 0;
	want_status(pgt_stat(w.t, 0, w.bytes, &s), PGT_OK);
	want(virt_calls <= BIT(w.geo.root_bits));
	want_status(visit_all(0, w.bytes, PGT_HOLES), PGT_OK);
	want_u64(n_seen, BIT(w.geo.root_bits));
	want_status(visit_all(0, w.bytes, PGT_HOLES | PGT_MERGE), PGT_OK);
	want_u64(n_seen, 1);
	want_u64(seen[0].len, w.bytes);
	world_close(&w);
	ok(fine, "%s: nothing below the root of an empty table is looked for", format);
}

int main(void)
{
	if (!formats[0])
		return tap_skip_all("no format of these was built");
	for_formats(format) {
		test_query_holes(format);
		test_visit_plain(format);
		test_visit_holes(format);
		test_visit_merge(format);
		test_visit_stops(format);
		test_visit_changes(format);
		test_stat(format);
		test_dump(format);
		test_cursor(format);
		test_empty(format);
		if (format_named(format)->entry.token_shift)
			test_tokens(format);
	}
	return tap_done();
}
