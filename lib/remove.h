/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking leaves, tokens and tables away. */
#ifndef PGT_REMOVE_H
#define PGT_REMOVE_H

#include "gather.h"
#include "walk.h"

/* The entries of the run that a leaf is part of, or 1. */
PGT_INLINE unsigned run_entries(const struct pgt *t, uint64_t raw, int level)
{
	return arch_run(raw) ? 1u << t->run_bits[level + 1] : 1;
}

/*
 * Tells the embedder that [first, last] of the leaf or token raw, which begins
 * at begin, is gone.
 */
static void tell_removed(struct call *c, uint64_t raw, int level, uint64_t begin, uint64_t first, uint64_t last)
{
	const struct pgt *t = c->t;
	bool leaf = arch_kind(t, raw, level) == KIND_LEAF;
	struct pgt_mapping mapping = {
		.va = t->base + first,
		.len = last - first + 1,
		.entry = raw,
		.level = level,
		.state = leaf ? PGT_LEAF : PGT_TOKEN,
	};

	if (leaf) {
		uint64_t state = arch_state(raw);

		mapping.pa = arch_pa(t, raw, level) + (first - begin);
		mapping.attr = arch_attr(t, raw);
		tally(c)->young += (state & PGT_YOUNG) != 0;
		tally(c)->dirty += (state & PGT_DIRTY) != 0;
		tally(c)->unmapped += mapping.len;
	} else {
		mapping.token = arch_token(raw);
	}
	mapping.run_bytes = mapping.len;
	if (leaf && arch_run(raw) && mapping.len == level_mask(t, level) + 1)
		mapping.run_bytes = UINT64_C(1) << run_shift(t, level);
	if (c->gather->removed)
		c->gather->removed(c->gather->removed_ctx, &mapping);
}

/* Clears n entries from the walk's next byte on whose state nobody asked for. */
static void clear_unseen(struct call *c, const struct pgt_walk *w, unsigned n)
{
	struct pgt_entry *e = walk_entry(w);

	entry_fill(e, n, 0, 0);
	gather_wrote(c, e, n);
}

/* Clears the n members of a run, or one leaf or token, of which any member's
 * state counts for all. */
static void clear_told(struct call *c, const struct pgt_walk *w, unsigned n, uint64_t raw)
{
	const struct pgt *t = c->t;
	struct pgt_entry *e = walk_entry(w);
	uint64_t size = level_mask(t, w->level) + 1, begin = w->next, state;
	uint64_t pa = arch_pa(t, raw, w->level);
	bool leaf = arch_kind(t, raw, w->level) == KIND_LEAF;

	state = arch_take(t, e, n, &tally(c)->rmws);
	gather_wrote(c, e, n);
	for (unsigned i = 0; i < n; i++, begin += size) {
		uint64_t member = raw;

		if (leaf)
			member = arch_add_state(arch_place(t, raw, w->level, pa + size * i, n > 1), state);
		tell_removed(c, member, w->level, begin, begin, begin + (size - 1));
	}
}

/* Removes leaves and tokens from the walk's next byte on, of which raw is the
 * first; how many of the n entries are then gone. */
static unsigned remove_leaves(struct call *c, const struct pgt_walk *w, unsigned n, uint64_t raw)
{
	const struct pgt *t = c->t;
	const struct pgt_entry *e = walk_entry(w);
	unsigned members = run_entries(t, raw, w->level), gone = 0;
	bool valid = false, global = false;
	uint64_t span;

	if (!c->asked) {
		while (gone < n) {
			enum pgt_kind kind = arch_kind(t, raw, w->level);

			if (kind != KIND_LEAF && kind != KIND_TOKEN)
				break;
			valid |= arch_valid(raw);
			global |= arch_valid(raw) && arch_global(c->t, raw);
			if (++gone < n)
				raw = entry_load(e + gone);
		}
		clear_unseen(c, w, gone);
	} else {
		bool leaf = arch_kind(t, raw, w->level) == KIND_LEAF;

		gone = leaf && members <= n && walk_index(w) % members == 0 ? members : 1;
		valid = arch_valid(raw);
		global = valid && arch_global(c->t, raw);
		clear_told(c, w, gone, raw);
		tally(c)->reads += gone - 1;
	}
	span = (uint64_t)gone << level_shift(t, w->level);
	if (valid)
		gather_leaves(c, walk_begin(w), walk_begin(w) + (span - 1), w->level, global);
	tally(c)->leaves += gone;
	tally(c)->changed += gone;
	return gone;
}

/* Whether n entries are empty, or hold tables that the call has given up. */
static bool entries_are_left(const struct call *c, const struct pgt_entry *e, unsigned n, int level)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		uint64_t raw = entry_load(e + i);

		if (raw && !(arch_kind(c->t, raw, level) == KIND_TABLE && arch_broken(raw)))
			break;
	}
	return i == n;
}

/* Whether a table is empty. What the call's range covers of it is most likely so. */
static bool table_is_empty(struct call *c, const struct pgt_entry *table, int level, uint64_t begin)
{
	const struct pgt *t = c->t;
	unsigned shift = level_shift(t, level), entries = table_entries(t, level);
	uint64_t end = begin + table_mask(t, level);
	unsigned low = c->first > begin ? (unsigned)((c->first - begin) >> shift) : 0;
	unsigned high = c->last < end ? (unsigned)((c->last - begin) >> shift) : entries - 1;
	unsigned above, below;

	if (c->left) {
		tally(c)->reads += entries;
		return entries_are_left(c, table, entries, level);
	}
	/* The neighbours first: pages that go one by one cost a look each. */
	if (low > 0 && entry_load(table + low - 1))
		return false;
	above = entry_match(table + high, entries - high, ~UINT64_C(0), 0, 0);
	tally(c)->reads += above + 1;
	if (above < entries - high)
		return false;
	below = entry_match(table, high, ~UINT64_C(0), 0, 0);
	tally(c)->reads += below + 1;
	return below == high;
}

#endif
