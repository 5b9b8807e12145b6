/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A race against hardware: QEMU's arm64 MMU sets access flags and dirty state,
 * for stores, loads and address translation instructions of a guest at EL1,
 * while the library protects, harvests, moves, splits and collapses in the same
 * memory.  Every invalidation is carried out by the guest, as asked and nothing
 * more.
 *
 * Each write leaves a trace in memory: the stored value, or a count after the
 * instruction.  A page's trace is kept when a harvest has reported it.  If it
 * has changed since, the page was written after it was clean, so that it is
 * dirty now: else a dirty page was missed.
 *
 * The seam counts the compare-and-swaps that the MMU wins, and lets the guest
 * make turns before some, at that very page as often as not.  With a load and a store in its place dirty pages are
 * missed, so that this test would find it.
 *
 * PGT_RACE_SECONDS bounds the race; on a machine that is busy with other things
 * it may end before the million.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pgtable/arm64.h>
#include <pgtable/pgtable.h>

#include "../../lib/entry.h"
#include "../tap.h"
#include "machine.h"
#include "racer.h"

#define SECONDS 15
#define SECONDS_IN_CI 150 /* where a test that doesn't get there is a failure */
#define ENOUGH_UPDATES UINT64_C(1000000)
#define ENOUGH_COLLISIONS 10000

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)
#define PAGE KIB(4)
#define BASE (UINT64_C(0xffff000000000000) + MIB(1024))
#define SPAN MIB(32)
#define DATA_PA (TABLES_PA + MIB(16))
#define ARENA_BYTES MIB(4)

#define VALID  (UINT64_C(1) << 0)
#define RDONLY (UINT64_C(1) << 7)
#define AF     (UINT64_C(1) << 10)
#define ADDRESS UINT64_C(0x0000fffffffff000)

/* ---- Random numbers, time --------------------------------------------- */

static uint64_t random_state = 0x2545f4914f6cdd1d;

static uint64_t below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % n;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- The machine ------------------------------------------------------- */

static bool machine_runs;

static struct race *race(void)
{
	return (struct race *)(void *)(machine_ram() + (RACE_PA - RAM_PA));
}

/* Until the guest has answered; it may have stopped instead. */
static void wait_for(const uint64_t *word, uint64_t value)
{
	const struct timespec pause = { 0, 20000 };

	for (unsigned turn = 1; __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; turn++) {
		if (turn % 4096 == 0)
			nanosleep(&pause, NULL);
		if (__atomic_load_n(&machine_job()->panic, __ATOMIC_ACQUIRE)) {
			printf("Bail out! the guest stopped: ESR 0x%" PRIx64 " at 0x%" PRIx64 "\n",
			       machine_job()->esr, machine_job()->elr);
			exit(EXIT_FAILURE);
		}
	}
}

static void let_run(bool run)
{
	__atomic_store_n(&race()->run, run, __ATOMIC_RELEASE);
	wait_for(&race()->running, run);
}

/* ---- What is mapped ----------------------------------------------------- */

/* Memory that is moved between two places as one. */
struct region {
	const char *name;
	uint64_t at[2];  /* offsets from BASE */
	uint64_t len;    /* of what is mapped */
	uint64_t table;  /* the span of its tables, which hold nothing else */
	uint64_t pa, pa_step; /* of a page and the next */
	unsigned bits;   /* log2 of its leaves or runs */
	unsigned cells;
	uint64_t cell_step;
	unsigned place;
};

static struct region regions[] = {
	{ "pages", { 0, MIB(1) + KIB(12) }, KIB(256), 0, DATA_PA, 2 * PAGE, 12, 64, PAGE, 0 },
	{ "runs", { MIB(2), MIB(4) }, KIB(256), MIB(2), DATA_PA + MIB(1), PAGE, 16, 64, PAGE, 0 },
	{ "blocks", { MIB(8), MIB(16) }, MIB(6), 0, DATA_PA + MIB(2), PAGE, 21, 24, KIB(256), 0 },
};

#define REGIONS (sizeof(regions) / sizeof(regions[0]))

/* The cell of the page at pa, or one of the block's. */
static uint64_t cell_of(uint64_t pa)
{
	uint64_t n = 0;

	for (const struct region *r = regions; r < regions + REGIONS; n += r++->cells) {
		uint64_t cell = (pa - r->pa) / r->pa_step * PAGE / r->cell_step;

		if (pa >= r->pa && cell < r->cells)
			return n + cell;
	}
	return 0;
}

/* ---- The seam ----------------------------------------------------------- */

static struct {
	uint64_t swaps, collisions; /* compare-and-swaps, and those that the MMU won */
	uint64_t updates;           /* bits that the MMU has set, as they were met */
	uint64_t unseen;            /* ... that a plain store has overwritten */
	uint64_t strange;           /* changes that no MMU makes */
} met;

static bool planted;
static uint64_t written[ARENA_BYTES / 8]; /* by the library, last */
static uint64_t known[ARENA_BYTES / 8];   /* to the library, what the MMU did included */

static uint64_t number(const struct pgt_entry *e)
{
	return (uint64_t)((const uint8_t *)e - (machine_ram() + (TABLES_PA - RAM_PA))) / 8;
}

/* old stood in the entry, and new takes its place. */
static void replaced(struct pgt_entry *e, uint64_t old, uint64_t new)
{
	uint64_t *was = &written[number(e)], set = *was ^ old;

	if (set & ~(AF | RDONLY) || (set & AF & *was) || (set & RDONLY & old) || (set && !(old & VALID)))
		met.strange++;
	else
		met.updates += (set & AF ? 1u : 0u) + (set & RDONLY ? 1u : 0u);
	*was = known[number(e)] = new;
}

/*
 * Now and then the guest makes a turn, and is told which cell's entry raw is
 * about to change.  If it waits for a processor, it may have ours for a while.
 */
static void let_in(uint64_t raw)
{
	const struct timespec pause = { 0, 1000 };
	struct race *r = race();
	uint64_t turns = __atomic_load_n(&r->turns, __ATOMIC_RELAXED);

	if (!r->run || met.swaps % 2)
		return;
	__atomic_store_n(&r->hot, cell_of(raw & ADDRESS) + 1, __ATOMIC_RELAXED);
	for (unsigned i = 1; __atomic_load_n(&r->turns, __ATOMIC_RELAXED) - turns < 2 && i < 40000; i++)
		if (i % 20000 == 0)
			nanosleep(&pause, NULL);
	__atomic_store_n(&r->hot, 0, __ATOMIC_RELAXED);
}

static uint64_t seam_load(const struct pgt_entry *e)
{
	return known[number(e)] = memory_load(e);
}

static void seam_store(struct pgt_entry *e, uint64_t raw)
{
	uint64_t had = known[number(e)], old = memory_exchange(e, raw);

	met.unseen += old != had && (old & VALID);
	replaced(e, old, raw);
}

static uint64_t seam_exchange(struct pgt_entry *e, uint64_t raw)
{
	uint64_t old;

	let_in(known[number(e)]);
	old = memory_exchange(e, raw);
	replaced(e, old, raw);
	return old;
}

/* What the library must not do. */
static bool plain_swap(struct pgt_entry *e, uint64_t *expected, uint64_t raw)
{
	uint64_t seen = memory_load(e);

	if (seen != *expected) {
		*expected = seen;
		return false;
	}
	let_in(seen);
	memory_store(e, raw);
	replaced(e, seen, raw);
	return true;
}

static bool seam_swap(struct pgt_entry *e, uint64_t *expected, uint64_t raw)
{
	uint64_t old = *expected;

	met.swaps++;
	if (planted)
		return plain_swap(e, expected, raw);
	let_in(old);
	if (memory_compare_swap(e, expected, raw)) {
		replaced(e, old, raw);
		return true;
	}
	known[number(e)] = *expected;
	met.collisions++;
	return false;
}

static const struct pgt_seam racing = { seam_load, seam_store, seam_exchange, seam_swap };

const struct pgt_seam *pgt_seam = &racing;

/* ---- Tables ------------------------------------------------------------- */

static struct pgt_arena arena;
static struct pgt_memory inner;
static struct pgt *lower, *t;

static int table_alloc(void *ctx, uint64_t bytes, uint64_t *pa)
{
	int status = inner.alloc(inner.ctx, bytes, pa);

	(void)ctx;
	if (status == 0) {
		memset(&written[(*pa - TABLES_PA) / 8], 0, bytes);
		memset(&known[(*pa - TABLES_PA) / 8], 0, bytes);
	}
	return status;
}

static void table_free(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx;
	inner.free(inner.ctx, pa, bytes);
}

static void *table_at(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx;
	return inner.to_virt ? inner.to_virt(inner.ctx, pa, bytes) :
	       pa - inner.window_pa < inner.window_bytes && bytes <= inner.window_bytes - (pa - inner.window_pa) ?
	       (uint8_t *)inner.window + (pa - inner.window_pa) : NULL;
}

static void sync_guest(void *ctx)
{
	struct race *r = race();

	(void)ctx;
	if (!machine_runs)
		return;
	__atomic_store_n(&r->asked, r->asked + 1, __ATOMIC_RELEASE);
	wait_for(&r->done, r->asked);
	r->ranges = 0;
}

static void invalidate(void *ctx, const struct pgt_tlb_range *range)
{
	struct race *r = race();

	if (!machine_runs)
		return;
	if (r->ranges == RACE_RANGES)
		sync_guest(ctx);
	r->range[r->ranges].va = range->flags & PGT_TLB_ALL ? BASE : range->va;
	r->range[r->ranges].len = range->flags & PGT_TLB_ALL ? SPAN : range->len;
	r->range[r->ranges++].stride = UINT64_C(1) << range->stride_bits;
}

static bool make_tables(void)
{
	struct pgt_config c = { .size = sizeof(c), .format = "arm64" };
	uint8_t *memory = machine_ram() + (TABLES_PA - RAM_PA);

	if (pgt_arena_init(&arena, memory, ARENA_BYTES, TABLES_PA) != PGT_OK)
		return false;
	inner = pgt_arena_memory(&arena);
	c.memory.alloc = table_alloc;
	c.memory.free = table_free;
	c.memory.to_virt = table_at;
	c.features = PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY;
	if (pgt_create(&c, &lower) != PGT_OK ||
	    pgt_map(lower, RAM_PA, RAM_PA, TABLES_PA - RAM_PA, PGT_READ | PGT_WRITE | PGT_EXEC | PGT_GLOBAL, 0,
		    NULL) != PGT_OK)
		return false;
	c.features |= PGT_FEAT_UPPER | PGT_FEAT_CONTIG | PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY;
	c.tlb.invalidate = invalidate;
	c.tlb.sync = sync_guest;
	return pgt_create(&c, &t) == PGT_OK;
}

/* ---- Cells and their traces ---------------------------------------------- */

/* What a cell was found to hold when it was last reported dirty. */
struct trace {
	uint64_t stored, counted;
};

static uint64_t cell_pa[RACE_CELLS];
static struct trace kept[RACE_CELLS];
static uint64_t words[SPAN / PAGE / 64];
static struct pgt_bitmap bitmap = { words, BASE, SPAN / PAGE, 12 };
static uint64_t failed, missed, rounds, moves, harvests, protects, resized;

static bool good(int status)
{
	if (status != PGT_OK && failed++ < 5)
		note("a call failed: %s", pgt_strerror(status));
	return status == PGT_OK;
}

static struct trace trace(uint64_t cell)
{
	const void *data = machine_ram() + (cell_pa[cell] - RAM_PA);
	struct trace tr;

	tr.stored = __atomic_load_n((const uint64_t *)data, __ATOMIC_ACQUIRE);
	tr.counted = __atomic_load_n(&race()->trace[cell], __ATOMIC_ACQUIRE);
	return tr;
}

static bool same(struct trace a, struct trace b)
{
	return a.stored == b.stored && a.counted == b.counted;
}

/* Where cell c of a region is mapped, the other address being wrong. */
static void tell_guest(const struct region *r, uint64_t first_cell)
{
	for (uint64_t c = 0; c < r->cells; c++)
		for (unsigned i = 0; i < 2; i++)
			__atomic_store_n(&race()->cell[first_cell + c].va[i],
					 BASE + r->at[i ^ r->place] + c * r->cell_step, __ATOMIC_RELAXED);
}

static uint64_t first_cell(const struct region *r)
{
	uint64_t n = 0;

	for (const struct region *before = regions; before < r; before++)
		n += before->cells;
	return n;
}

static void map_regions(void)
{
	uint64_t cell = 0;

	good(pgt_unmap(t, BASE, SPAN, 0, NULL));
	for (struct region *r = regions; r < regions + REGIONS; r++) {
		uint64_t step = r->pa_step == PAGE ? r->len : PAGE;

		r->place = 0;
		for (uint64_t at = 0; at < r->len; at += step)
			good(pgt_map(t, BASE + r->at[0] + at, r->pa + at / PAGE * r->pa_step, step,
				     PGT_READ | PGT_WRITE, 0, NULL));
		tell_guest(r, cell);
		for (uint64_t c = 0; c < r->cells; c++, cell++) {
			cell_pa[cell] = r->pa + c * r->cell_step / PAGE * r->pa_step;
			kept[cell] = trace(cell);
		}
	}
	race()->cells = cell;
}

/* ---- Changing, and looking ---------------------------------------------- */

static bool reported(uint64_t cell)
{
	const struct region *r = regions;
	uint64_t bit;

	while (cell >= first_cell(r) + r->cells)
		r++;
	bit = (r->at[r->place] + (cell - first_cell(r)) * r->cell_step) / PAGE;
	return words[bit / 64] >> (bit % 64) & 1;
}

/* Whatever was written since it was last reported is dirty. */
static void look(void)
{
	struct trace seen[RACE_CELLS];

	for (uint64_t c = 0; c < race()->cells; c++)
		seen[c] = trace(c);
	memset(words, 0, sizeof(words));
	good(pgt_harvest(t, BASE, SPAN, PGT_DIRTY, PGT_PEEK, &bitmap, NULL));
	for (uint64_t c = 0; c < race()->cells; c++) {
		if (same(seen[c], kept[c]) || reported(c))
			continue;
		if (missed++ < 3 && !planted)
			note("cell %" PRIu64 " was written (%" PRIu64 ", %" PRIu64 "; known %" PRIu64 ", %" PRIu64
			     ") and is clean", c, seen[c].stored, seen[c].counted, kept[c].stored, kept[c].counted);
		kept[c] = seen[c];
	}
}

/* The part of BASE that the next call is about: a region, a part of it, or all. */
static struct region *choose(uint64_t *va, uint64_t *len)
{
	struct region *r = &regions[below(REGIONS)];

	*va = BASE + r->at[r->place];
	*len = r->len;
	if (below(4) == 0) {
		uint64_t first = below(r->len / PAGE), n = 1 + below(r->len / PAGE - first);

		*va += first * PAGE;
		*len = (n > 24 ? 24 : n) * PAGE;
	} else if (below(2) == 0) {
		*va = BASE;
		*len = SPAN;
	}
	return r;
}

static void harvest(void)
{
	static const uint64_t what[] = { PGT_YOUNG | PGT_DIRTY, PGT_YOUNG | PGT_DIRTY, PGT_YOUNG | PGT_DIRTY,
					PGT_DIRTY, PGT_YOUNG };
	uint64_t va, len, w = what[below(5)];

	choose(&va, &len);
	memset(words, 0, sizeof(words));
	good(pgt_harvest(t, va, len, w, 0, &bitmap, NULL));
	for (uint64_t c = 0; c < race()->cells && w & PGT_DIRTY; c++)
		if (reported(c))
			kept[c] = trace(c);
	harvests++;
}

/* Read-only, and writable again: what was dirty is dirty, and what was clean is clean. */
static void protect(void)
{
	uint64_t va, len;

	choose(&va, &len);
	good(pgt_protect(t, va, len, 0, PGT_WRITE, 0, NULL));
	look();
	if (below(3) == 0)
		harvest();
	good(pgt_protect(t, va, len, PGT_WRITE, 0, 0, NULL));
	protects++;
}

static void move(void)
{
	struct region *r = &regions[below(REGIONS)];
	uint64_t len = r->table && below(2) ? r->table : r->len;

	good(pgt_move(t, BASE + r->at[r->place], BASE + r->at[!r->place], len, 0, NULL));
	r->place = !r->place;
	tell_guest(r, first_cell(r));
	moves++;
}

/* Runs and blocks come apart, and together again. */
static void resize(void)
{
	struct region *r = &regions[1 + below(REGIONS - 1)];

	good(pgt_split(t, BASE + r->at[r->place], r->len, below(2) && r->bits > 16 ? 16 : 12, 0, NULL));
	look();
	if (below(2))
		harvest();
	good(pgt_collapse(t, BASE + r->at[r->place], r->len, r->bits, 0, NULL));
	resized++;
}

static void one_round(void)
{
	uint64_t n = below(40);

	if (n == 0)
		resize();
	else if (n < 3)
		move();
	else if (n < 7)
		protect();
	else
		harvest();
	look();
	rounds++;
}

/* ---- Races --------------------------------------------------------------- */

static double allowed(void)
{
	const char *given = getenv("PGT_RACE_SECONDS"), *ci = getenv("CI");
	double seconds = given ? atof(given) : 0;

	if (seconds > 0)
		return seconds;
	return ci && !strcmp(ci, "true") ? SECONDS_IN_CI : SECONDS;
}

static bool enough(void)
{
	return met.updates >= ENOUGH_UPDATES && met.collisions >= ENOUGH_COLLISIONS;
}

static int problem(void *ctx, const struct pgt_problem *p)
{
	(void)ctx;
	note("pgt_check: 0x%" PRIx64 ": %s", p->va, p->what);
	return 0;
}

static void race_the_library(void)
{
	double start = now(), end = start + allowed();

	map_regions();
	let_run(true);
	while (!missed && !failed && !enough() && now() < end)
		one_round();
	let_run(false);
	look();
	note("%.1f s, %" PRIu64 " rounds: %" PRIu64 " harvests, %" PRIu64 " protects, %" PRIu64 " moves, %" PRIu64
	     " splits and collapses", now() - start, rounds, harvests, protects, moves, resized);
	note("the guest: %" PRIu64 " by instruction, %" PRIu64 " stores, %" PRIu64 " loads, %" PRIu64 " faults",
	     race()->at, race()->stores, race()->loads, race()->faults);
	note("%" PRIu64 " compare-and-swaps", met.swaps);
	ok(missed == 0, "no dirty page is missed over %" PRIu64 " updates by the MMU, with %" PRIu64
	   " compare-and-swaps lost to it", met.updates, met.collisions);
	ok(met.unseen == 0, "no plain store overwrites what the MMU has set");
	ok(met.strange == 0, "the MMU sets access flags and dirty state, and nothing else");
	ok(failed == 0 && pgt_check(t, problem, NULL) == PGT_OK, "no call fails, and pgt_check finds nothing wrong");
	if (enough())
		ok(true, "a million updates, and %d collisions", ENOUGH_COLLISIONS);
	else
		tap_skip("too few updates or collisions in %.0f s: the machine is busy (PGT_RACE_SECONDS)",
			 allowed());
}

static void race_what_is_planted(void)
{
	double start = now(), end = start + 2 * allowed();

	missed = 0;
	map_regions();
	planted = true;
	let_run(true);
	while (!missed && now() < end)
		one_round();
	let_run(false);
	planted = false;
	ok(missed > 0, "with a load and a store in the compare-and-swap's place one is missed (after %.2f s)",
	   now() - start);
}

static const char *start_guest(void)
{
	struct pgt_arm64_regs regs = { .size = sizeof(regs) };
	struct job *job = machine_job();

	if (!make_tables() || pgt_arm64_regs(lower, t, &regs) != PGT_OK)
		return "no tables";
	job->reg[TTBR0_EL1] = regs.ttbr0;
	job->reg[TTBR1_EL1] = regs.ttbr1;
	job->reg[TCR_EL1] = regs.tcr;
	job->reg[MAIR_EL1] = regs.mair;
	job->reg[SCTLR_EL1] = regs.sctlr;
	job->race = 1;
	race()->cells = 1;
	return machine_do();
}

static int run(void)
{
	const char *wrong = machine_start();

	if (!wrong)
		wrong = start_guest();
	if (!ok(!wrong, "QEMU runs the guest%s%s", wrong ? ": " : "", wrong ? wrong : ""))
		return tap_done();
	machine_runs = true;
	race_the_library();
	race_what_is_planted();
	wrong = machine_stop();
	machine_runs = false;
	ok(!wrong, "QEMU ends%s%s", wrong ? ": " : "", wrong ? wrong : "");
	pgt_destroy(t);
	pgt_destroy(lower);
	return tap_done();
}

int main(void)
{
	const char *missing = machine_missing();
	const char *ci = getenv("CI");

	if (!PGT_HAVE_ARM64)
		return tap_skip_all("arm64 is not built");
	if (!missing)
		return run();
	if (!ci || strcmp(ci, "true") != 0)
		return tap_skip_all("%s", missing);
	ok(false, "%s, and in CI nothing is skipped", missing);
	return tap_done();
}
