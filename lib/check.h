/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_check.  One pass looks at every entry.  That no table is reached twice
 * is found in a fixed room: passes over the table entries alone, each for a
 * batch of tables in order of address.  A table that many entries lead to is
 * gone into once.
 */
#ifndef PGT_CHECK_H
#define PGT_CHECK_H

#include "lowest.h"
#include "read.h"
#include "recent.h"

struct check {
	const struct pgt *t;
	pgt_problem_fn *fn;
	void *ctx;
	struct recent recent;
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

/* The table that an entry leads to, or NULL: not one to be gone into. */
static struct pgt_entry *check_next(struct check *check, const struct pgt_walk *w, uint64_t raw, bool report)
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

/* Down into that table, or past the entry. */
static void check_on(struct check *check, struct pgt_walk *w, struct pgt_entry *table, uint64_t raw)
{
	const struct pgt *t = check->t;

	if (table && !recent_seen(&check->recent, t, w->level + 1, arch_next(t, raw), walk_begin(w)))
		walk_down(w, table, raw);
	else
		walk_past(w, 1);
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
			table = check_next(check, &w, raw, true);
		check_on(check, &w, table, raw);
	}
}

/* Tables are looked for in groups of 64 that are side by side. */
#define CHECK_GROUP 6

/* Whether the table at pa is in a group of now and was seen before; else its group is for later. */
static bool check_seen(const struct pgt *t, uint64_t pa, const struct lowest *now, uint64_t *seen,
		       struct lowest *next)
{
	uint64_t number = pa >> t->granule_bits, group = number >> CHECK_GROUP;
	uint64_t bit = UINT64_C(1) << (number % (1u << CHECK_GROUP));
	unsigned i = lowest_find(now, group);
	bool before;

	if (i == now->n) {
		if (!now->n || group > now->at[now->n - 1])
			lowest_offer(next, group);
		return false;
	}
	before = seen[i] & bit;
	seen[i] |= bit;
	return before;
}

/* Reports those tables of the groups now that are reached twice, and finds the next in order. */
static void check_tables(struct check *check, const struct lowest *now, struct lowest *next)
{
	const struct pgt *t = check->t;
	uint64_t seen[LOWEST_ROOM] = { 0 };
	struct pgt_walk w;

	check->recent = (struct recent){ 0 };
	walk_start(&w, t, 0, t->last);
	while (!check->stop && walk_on(&w)) {
		uint64_t raw = entry_load(walk_entry(&w));
		struct pgt_entry *table = NULL;

		if (w.level < PGT_LAST_LEVEL && arch_kind(t, raw, w.level) == KIND_TABLE)
			table = check_next(check, &w, raw, false);
		if (!table) {
			walk_past(&w, 1);
			continue;
		}
		if (check_seen(t, arch_next(t, raw), now, seen, next))
			check_report(check, &w, walk_index(&w), walk_begin(&w), raw, "a table that is reached twice");
		/* Tables of the last level lead no further. */
		check_on(check, &w, w.level + 1 < PGT_LAST_LEVEL ? table : NULL, raw);
	}
}

static void check_twice(struct check *check)
{
	struct lowest now = { .n = 0 }, next;

	do {
		next.n = 0;
		next.last = 0;
		check_tables(check, &now, &next);
		lowest_sort(&next);
		now = next;
	} while (!check->stop && now.n);
}

static int check(const struct pgt *t, pgt_problem_fn *fn, void *ctx)
{
	struct check check = { .t = t, .fn = fn, .ctx = ctx };

	check_entries(&check);
	if (!t->attached)
		check_twice(&check);
	return check.status;
}

#endif
