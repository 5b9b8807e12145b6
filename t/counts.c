/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What calls cost, counted: of the arm64 backend ('after'), and of the same
 * format with the generic hooks ('before'), which the benchmark measures
 * against.  Before reads an entry once (one with the hint: its whole run),
 * exchanges it once and stores it once; it unfolds a run at its first changed
 * member and folds it at its last, invalidates each block, moves table entries
 * one by one, and makes dirty what it makes writable.
 */
#include "../bench/rig.h"
#include "../examples/swap/machine.h"
#include "tap.h"

#define VA      (4 * GIB)
#define TO      (16 * GIB)
#define LEN     (64 * MIB)
#define PAGE    (4 * KIB)
#define PAGES_N (LEN / PAGE)
#define RUN     16
#define RUNS_N  (PAGES_N / RUN)
#define TABLES  (2 + LEN / (2 * MIB)) /* entries that lead to the pages */

static const char *const format[] = { BEFORE, AFTER };
static const char *const side[] = { "before", "after" };

enum { IS_BEFORE, IS_AFTER };

static struct pgt_tally protect(struct rig *r, uint64_t va, uint64_t len, bool writable)
{
	struct pgt_gather g;

	rig_count(r, &g);
	rig_protect(r, va, len, writable, &g);
	return rig_counted(&g);
}

static struct pgt_tally move(struct rig *r, uint64_t from, uint64_t to, uint64_t len)
{
	struct pgt_gather g;

	rig_count(r, &g);
	rig_move(r, from, to, len, &g);
	return rig_counted(&g);
}

static bool between(uint64_t got, uint64_t least, uint64_t most, const char *what)
{
	if (got >= least && got <= most)
		return true;
	note("%s: %llu, not %llu to %llu", what, (unsigned long long)got, (unsigned long long)least,
	     (unsigned long long)most);
	return false;
}

static bool equal(uint64_t got, uint64_t want, const char *what)
{
	return between(got, want, want, what);
}

/* ---- Pages and runs --------------------------------------------------------- */

static void one_range(const struct pgt_tally *t, const char *name)
{
	ok(equal(t->changed, PAGES_N, "changed") && equal(t->invalidates, 1, "invalidates") &&
	   equal(t->invalidated_bytes, LEN, "bytes") && equal(t->syncs, 1, "syncs"),
	   "%s: every page is changed, and one range invalidated", name);
}

static void pages_before(const struct pgt_tally *t, const char *name)
{
	one_range(t, name);
	ok(between(t->reads, PAGES_N, PAGES_N + 2 * TABLES, "reads"), "%s: an entry is read once", name);
	ok(equal(t->rmws, PAGES_N, "atomics"), "%s: and exchanged once", name);
}

static void runs_before(const struct pgt_tally *t, const char *name)
{
	/* First the whole run; then, unfolded, its members; and all to fold it. */
	ok(between(t->reads, PAGES_N, 4 * PAGES_N + 2 * TABLES, "reads"),
	   "%s: the run is read as one, its members once more, and to fold it", name);
	ok(equal(t->rmws, 3 * PAGES_N, "atomics"), "%s: exchanges to unfold, to change, to fold", name);
	ok(equal(t->runs_unfolded, RUNS_N, "unfolded") && equal(t->runs_folded, RUNS_N, "folded") &&
	   equal(t->invalidates, 2 * RUNS_N + 1, "invalidates"),
	   "%s: each run is unfolded and folded, each with its invalidation", name);
}

static void after(const struct pgt_tally *t, const char *name, bool settled)
{
	one_range(t, name);
	ok(between(t->reads, PAGES_N, PAGES_N + 2 * TABLES, "reads"), "%s: an entry is read once", name);
	ok(equal(t->rmws, settled ? 0 : PAGES_N, "atomics"),
	   settled ? "%s: settled entries need no atomic operation" : "%s: one atomic operation an entry",
	   name);
	ok(equal(t->runs_unfolded + t->runs_folded, 0, "unfolded and folded"),
	   "%s: runs are changed in place", name);
}

static void pages_and_runs(enum layout layout, enum state state)
{
	static const char *const layouts[] = { "split blocks", "runs", "pages" };

	for (unsigned i = 0; i < 2; i++) {
		struct pgt_tally t;
		struct rig r;
		char name[80];

		rig_make(&r, format[i], layout, state);
		rig_map(&r, VA, LEN);
		t = protect(&r, VA, LEN, false);
		snprintf(name, sizeof(name), "%s, %s, %s", side[i], layouts[layout],
			 state == SETTLED ? "settled" : "unsettled");
		if (i == IS_AFTER)
			after(&t, name, state == SETTLED);
		else if (layout == PAGES)
			pages_before(&t, name);
		else
			runs_before(&t, name);

		t = protect(&r, VA, LEN, false);
		ok(equal(t.changed, 0, "changed") && equal(t.rmws, 0, "atomics") &&
		   equal(t.invalidates, 0, "invalidates"),
		   "%s: what complies is left alone", name);
		rig_free(&r);
	}
}

static void single_pages(enum state state)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t reads = 0, rmws = 0, invalidates = 0, n = 512;
		struct rig r;

		rig_make(&r, format[i], PAGES, state);
		rig_map(&r, VA, LEN);
		for (uint64_t page = 0; page < n; page++) {
			const struct pgt_tally t = protect(&r, VA + page * PAGE, PAGE, false);

			reads += t.reads;
			rmws += t.rmws;
			invalidates += t.invalidates;
		}
		/* Three entries lead to it: for either end of the range, and to change it. */
		ok(between(reads, n, 3 * 4 * n, "reads") && equal(invalidates, n, "invalidates") &&
		   equal(rmws, i == IS_AFTER && state == SETTLED ? 0 : n, "atomics"),
		   "%s, %s, a call a page: one entry is read, changed and invalidated", side[i],
		   state == SETTLED ? "settled" : "unsettled");
		rig_free(&r);
	}
}

/* ---- Blocks ------------------------------------------------------------------ */

static void blocks(uint64_t mib)
{
	const uint64_t n = mib / 2, len = mib * MIB;
	struct pgt_tally t[2];

	for (unsigned i = 0; i < 2; i++) {
		struct rig r;

		rig_make(&r, format[i], BLOCKS, SETTLED);
		rig_map(&r, VA, len);
		t[i] = protect(&r, VA, len, false);
		ok(equal(t[i].changed, n, "changed") && equal(t[i].blocks_split, 0, "split") &&
		   equal(t[i].invalidates, i == IS_BEFORE ? n + 1 : 1, "invalidates") &&
		   equal(t[i].syncs, t[i].invalidates, "syncs") && equal(r.invalidates, t[i].invalidates, "callbacks"),
		   "%s, %u MiB of blocks: %s", side[i], (unsigned)mib,
		   i == IS_BEFORE ? "an invalidation a block, and one at the end" : "one invalidation");
		rig_free(&r);
	}
	ok(equal(t[0].invalidated_bytes, 2 * len, "before") && equal(t[1].invalidated_bytes, len, "after"),
	   "%u MiB of blocks: half the bytes invalidated", (unsigned)mib);
}

/* ---- Moves -------------------------------------------------------------------- */

static void moves(void)
{
	const uint64_t tables = GIB / (2 * MIB);
	struct pgt_tally t;
	struct rig r;

	rig_make(&r, BEFORE, BLOCKS, SETTLED);
	rig_map(&r, VA, GIB);
	rig_must(pgt_split(r.t, VA, GIB, 12, 0, NULL), "pgt_split");
	t = move(&r, VA, TO, GIB);
	ok(equal(t.tables_relinked, tables, "relinked") && equal(t.rmws, tables, "atomics") &&
	   equal(t.changed, 0, "leaves changed") && equal(t.invalidates, 1, "invalidates"),
	   "before, 1 GiB moves: each entry of the table below is exchanged");
	rig_free(&r);

	rig_make(&r, AFTER, BLOCKS, SETTLED);
	rig_map(&r, VA, GIB);
	rig_must(pgt_split(r.t, VA, GIB, 12, 0, NULL), "pgt_split");
	t = move(&r, VA, TO, GIB);
	ok(equal(t.tables_relinked, 1, "relinked") && between(t.rmws, 0, 1, "atomics") &&
	   equal(t.changed, 0, "leaves changed") && equal(t.invalidates, 1, "invalidates") &&
	   equal(t.tables_allocated, 0, "allocated") && between(t.reads, 2, 32, "reads"),
	   "after, 1 GiB moves: one entry is relinked, no table is made, none is read through");

	t = move(&r, TO + 2 * MIB, VA + 4 * MIB, 64 * MIB);
	ok(equal(t.tables_relinked, 32, "relinked") && equal(t.changed, 0, "leaves changed") &&
	   equal(t.invalidates, 1, "invalidates"),
	   "after, 64 MiB move by 2 MiB: a table each 2 MiB is relinked");
	rig_free(&r);
}

/* The highest table below the root: 512 GiB. */
static void moves_of_all(void)
{
	struct pgt_tally t;
	struct rig r;

	rig_make(&r, AFTER, BLOCKS, SETTLED);
	rig_map(&r, VA, 64 * MIB);
	t = move(&r, 0, 512 * GIB, 512 * GIB);
	ok(equal(t.tables_relinked, 1, "relinked") && equal(t.changed, 0, "leaves changed") &&
	   equal(t.invalidates, 1, "invalidates"),
	   "after, 512 GiB move: one entry of the root is relinked");
	rig_free(&r);
}

/* ---- Dirty state ---------------------------------------------------------------- */

static uint64_t attr_at(const struct rig *r, uint64_t va)
{
	struct pgt_mapping m;

	rig_must(pgt_query(r->t, va, &m), "pgt_query");
	return m.attr;
}

static void mkwrite(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct rig r;

		rig_make(&r, format[i], PAGES, UNSETTLED);
		rig_map(&r, VA, 2 * MIB);
		rig_protect(&r, VA, 2 * MIB, false, NULL);
		ok(!(attr_at(&r, VA) & (PGT_DIRTY | PGT_WRITE)), "%s: read-only and clean", side[i]);
		rig_protect(&r, VA, 2 * MIB, true, NULL);
		ok((attr_at(&r, VA) & PGT_WRITE) && !(attr_at(&r, VA) & PGT_DIRTY) == (i == IS_AFTER),
		   "%s: made writable, a clean page %s", side[i],
		   i == IS_AFTER ? "stays clean" : "is dirty");
		rig_free(&r);
	}
}

static void swap(void)
{
	struct swap_options o = {
		.pages = 2048, .frames = 1024, .accesses = 50000, .seed = 7, .zipf = 0.9, .writes = 0.02,
	};
	struct swap_result before, aware, always;

	o.format = BEFORE;
	swap_run(&o, &before);
	o.format = AFTER;
	swap_run(&o, &aware);
	o.always_dirty = true;
	swap_run(&o, &always);
	ok(!before.wrong && !aware.wrong && !always.wrong && aware.swap_ins > 1000,
	   "swapping: pages come back as they were");
	ok(equal(aware.needless, 0, "needless") && equal(aware.never, 0, "never"),
	   "after, swapping: no page is written out that was not written to");
	ok(before.written > 2 * aware.written && before.needless,
	   "before, swapping: most pages are written out for nothing");
	ok(equal(always.written, before.written, "written") &&
	   equal(always.swap_outs, before.swap_outs, "swap-outs"),
	   "before costs what setting PGT_DIRTY with PGT_WRITE costs after");
}

int main(void)
{
	for (enum state state = SETTLED; state <= UNSETTLED; state++) {
		pages_and_runs(SPLIT_BLOCKS, state);
		pages_and_runs(RUNS, state);
		pages_and_runs(PAGES, state);
		single_pages(state);
	}
	blocks(64);
	blocks(512);
	moves();
	moves_of_all();
	mkwrite();
	swap();
	return tap_done();
}
