/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_check.  One pass looks at every entry.  That no table is reached twice
 * is found in a fixed room: passes over the table entries alone, each with a
 * bit for every table in one window of addresses.
 */
#ifndef PGT_CHECK_H
#define PGT_CHECK_H

#include "read.h"

#define CHECK_WINDOW 4096 /* tables */

struct check {
	const struct pgt *t;
	pgt_problem_fn *fn;
	void *ctx;
	int status; /* what fn returned, or PGT_ECORRUPT once something was found */
	bool stop;
};

/* The entry i of the table in hand, whose first byte is at begin. */
static void check_report(struct check *check, const struct pgt_walk *w, unsigned i, uint64_t begin,
			 uint64_t raw, const char *what)
{
	const struct pgt *t = check->t;
	uint64_t table = w->level == t->start_level ? t->root_pa : arch_next(t, w->raw[w->level + 1]);
	struct pgt_problem problem = {
		.va = t->base + begin,
		.entry_pa = table + (uint64_t)i * sizeof(struct pgt_entry),
		.entry = raw,
		.level = w->level,
		.what = what,
	};
	int status;

	if (check->stop)
		return;
	check->status = PGT_ECORRUPT;
	status = check->fn(check->ctx, &problem);
	if (status != 0) {
		check->status = status;
		check->stop = true;
	}
}

/* A leaf with all state set, so that two can be compared without it. */
static inline uint64_t check_plain(uint64_t raw)
{
	return arch_add_state(raw, PGT_YOUNG | PGT_DIRTY);
}

/* The group of entries that would be one run, from the walk's next byte on: all
 * of it is one, or nothing of it. */
static void check_run(struct check *check, const struct pgt_walk *w)
{
	const struct pgt *t = check->t;
	unsigned members = 1u << t->run_bits[w->level + 1], shift = level_shift(t, w->level);
	const struct pgt_entry *e = walk_entry(w);
	uint64_t raw = 0, base, begin = w->next;
	unsigned i;

	for (i = 0; i < members; i++) {
		raw = entry_load(e + i);
		if (arch_kind(t, raw, w->level) == KIND_LEAF && arch_run(raw))
			break;
	}
	if (i == members)
		return;
	base = arch_pa(t, raw, w->level) - ((uint64_t)i << shift);
	if (base & ((UINT64_C(1) << run_shift(t, w->level)) - 1))
		check_report(check, w, walk_index(w) + i, begin + ((uint64_t)i << shift), raw,
			     "a run whose address is not aligned to its size");
	for (i = 0; i < members; i++) {
		uint64_t want = arch_place(t, raw, w->level, base + ((uint64_t)i << shift), true);
		uint64_t is = entry_load(e + i);

		if (arch_kind(t, is, w->level) != KIND_LEAF || check_plain(is) != check_plain(want))
			check_report(check, w, walk_index(w) + i, begin + ((uint64_t)i << shift), is,
				     "a member that differs from its run");
	}
}

static const char *check_entry(const struct pgt *t, uint64_t raw, int level)
{
	enum pgt_kind kind = arch_kind(t, raw, level);
	bool lasting = kind == KIND_LEAF || kind == KIND_TABLE;
	const char *what = arch_problem(t, raw, level);

	if (!what && lasting && !t->attached && arch_broken(raw))
		what = "an entry that was broken and never made again";
	if (!what && kind == KIND_LEAF && arch_run(raw) && !t->run_bits[level + 1])
		what = "the hint where no run fits";
	if (!what && kind == KIND_LEAF && arch_run(raw) && !arch_valid(raw) && !t->attached)
		what = "the hint in an inaccessible leaf";
	return what;
}

/* Whether the next table is one of those on the way to it. */
static bool check_loop(const struct pgt *t, const struct pgt_walk *w, uint64_t pa)
{
	if (pa == t->root_pa)
		return true;
	for (int level = w->top + 1; level <= w->level; level++)
		if (arch_next(t, w->raw[level + 1]) == pa)
			return true;
	return false;
}

/* The table to go down into, or NULL; repeated entries are gone into once. */
static struct pgt_entry *check_down(struct check *check, const struct pgt_walk *w, uint64_t raw, bool report)
{
	const struct pgt *t = check->t;
	uint64_t pa = arch_next(t, raw);
	bool again = walk_index(w) > 0 && entry_load(walk_entry(w) - 1) == raw;
	struct pgt_entry *table = NULL;
	const char *what = NULL;

	if (check_loop(t, w, pa)) {
		what = "a table that leads to itself";
	} else if (again) {
		what = t->attached ? NULL : "a table that is reached twice";
	} else {
		table = table_at(t, pa, granule(t));
		what = table ? NULL : "a table in memory that nobody knows";
	}
	if (what && report)
		check_report(check, w, walk_index(w), walk_begin(w), raw, what);
	return table;
}

static void check_entries(struct check *check)
{
	const struct pgt *t = check->t;
	struct pgt_walk w;

	walk_start(&w, t, 0, t->last);
	while (!check->stop && walk_on(&w)) {
		uint64_t raw = entry_load(walk_entry(&w));
		unsigned members = 1u << t->run_bits[w.level + 1];
		const char *what = check_entry(t, raw, w.level);
		struct pgt_entry *table = NULL;

		if (members > 1 && walk_index(&w) % members == 0)
			check_run(check, &w);
		if (what)
			check_report(check, &w, walk_index(&w), walk_begin(&w), raw, what);
		if (arch_kind(t, raw, w.level) == KIND_TABLE)
			table = check_down(check, &w, raw, true);
		if (table)
			walk_down(&w, table, raw);
		else
			walk_past(&w, 1);
	}
}

/* Reports tables in the window from low on that are reached twice; the lowest beyond it. */
static uint64_t check_window(struct check *check, uint64_t low)
{
	const struct pgt *t = check->t;
	uint64_t seen[CHECK_WINDOW / 64] = { 0 }, beyond = UINT64_MAX;
	struct pgt_walk w;

	walk_start(&w, t, 0, t->last);
	while (!check->stop && walk_on(&w)) {
		uint64_t raw = entry_load(walk_entry(&w)), pa = arch_next(t, raw), slot;
		struct pgt_entry *table;

		if (w.level == PGT_LAST_LEVEL || arch_kind(t, raw, w.level) != KIND_TABLE) {
			walk_past(&w, 1);
			continue;
		}
		table = check_down(check, &w, raw, false);
		slot = (pa - low) >> t->granule_bits;
		if (table && pa >= low && slot < CHECK_WINDOW) {
			if (seen[slot / 64] >> (slot % 64) & 1)
				check_report(check, &w, walk_index(&w), walk_begin(&w), raw,
					     "a table that is reached twice");
			seen[slot / 64] |= UINT64_C(1) << (slot % 64);
		} else if (table && pa >= low && pa < beyond) {
			beyond = pa;
		}
		if (table && w.level + 1 < PGT_LAST_LEVEL)
			walk_down(&w, table, raw);
		else
			walk_past(&w, 1);
	}
	return beyond;
}

static int check(const struct pgt *t, pgt_problem_fn *fn, void *ctx)
{
	struct check check = { .t = t, .fn = fn, .ctx = ctx };
	uint64_t low = 0;

	check_entries(&check);
	while (!t->attached && !check.stop && low != UINT64_MAX)
		low = check_window(&check, low);
	return check.status;
}

#endif
