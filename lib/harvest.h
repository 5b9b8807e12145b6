/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_harvest: which units are young or dirty, and that they no longer are.
 * What the compare-and-swap returns is reported, so that no state that
 * hardware sets is lost, whenever it does.
 */
#ifndef PGT_HARVEST_H
#define PGT_HARVEST_H

#include "change.h"

struct harvest {
	struct call *c;
	uint64_t what;             /* PGT_YOUNG, PGT_DIRTY */
	struct modify m;
	struct pgt_bitmap *bitmap; /* or NULL */
	uint64_t all_first, all_last; /* the call's range; with PGT_SELECTED, c's is a part of it */
};

/* The bit of the unit that an offset lies in. */
static inline uint64_t harvest_bit(const struct harvest *h, uint64_t at)
{
	return (h->c->t->base + at - h->bitmap->va) >> h->bitmap->unit_bits;
}

static inline bool harvest_selected(const struct harvest *h, uint64_t bit)
{
	return h->bitmap->words[bit / 64] >> (bit % 64) & 1;
}

/* The next part of the range whose units are selected; all of it without PGT_SELECTED. */
static bool harvest_next(struct harvest *h, uint64_t *at)
{
	struct call *c = h->c;
	uint64_t unit, bit;

	if (*at > h->all_last)
		return false;
	if (!(c->flags & PGT_SELECTED)) {
		c->first = h->all_first;
		c->last = h->all_last;
		*at = h->all_last + 1;
		return true;
	}
	unit = UINT64_C(1) << h->bitmap->unit_bits;
	for (bit = harvest_bit(h, *at); !harvest_selected(h, bit); bit++) {
		uint64_t begin = h->bitmap->va + (bit << h->bitmap->unit_bits) - c->t->base;

		if (begin + (unit - 1) >= h->all_last)
			return false;
		*at = begin + unit;
	}
	c->first = *at;
	for (;;) {
		uint64_t last = h->bitmap->va + (bit << h->bitmap->unit_bits) - c->t->base + (unit - 1);

		if (last >= h->all_last) {
			c->last = h->all_last;
			*at = h->all_last + 1;
			return true;
		}
		c->last = last;
		*at = last + 1;
		if (!harvest_selected(h, ++bit))
			return true;
	}
}

/* [first, last] has the state: tells the bitmap and the tally. */
static void harvest_report(struct harvest *h, uint64_t first, uint64_t last, unsigned leaves, uint64_t state)
{
	struct call *c = h->c;

	tally(c)->young += state & PGT_YOUNG ? leaves : 0;
	tally(c)->dirty += state & PGT_DIRTY ? leaves : 0;
	if (!(state & h->what) || !h->bitmap || (c->flags & PGT_SELECTED))
		return;
	if (first < c->first)
		first = c->first;
	if (last > c->last)
		last = c->last;
	for (uint64_t bit = harvest_bit(h, first), end = harvest_bit(h, last); bit <= end; bit++)
		h->bitmap->words[bit / 64] |= UINT64_C(1) << (bit % 64);
}

/* What stands at an end and would lose dirty state outside the range is cut. */
static int harvest_edges(struct harvest *h, struct cut cut[2], struct need *need)
{
	struct call *c = h->c;
	int status = edges_find(c, cut);

	for (unsigned i = 0; i < 2 && status == PGT_OK; i++) {
		bool leaf = cut_any(&cut[i]) && arch_kind(c->t, cut[i].raw, cut[i].level) == KIND_LEAF;
		uint64_t state = leaf ? change_gather(c, cut[i].e, cut[i].members, cut[i].level) : 0;

		if (!(state & h->what & PGT_DIRTY) || (c->flags & (PGT_PEEK | PGT_NO_SPLIT)))
			cut[i].leaf = cut[i].run = false;
	}
	return status == PGT_OK ? edges_check(c, cut, need) : status;
}

/* Clears the members of a run, or a leaf, and says what they had. */
static uint64_t harvest_clear(struct harvest *h, const struct pgt_walk *w, struct cut *cut, uint64_t what)
{
	struct call *c = h->c;
	const struct pgt *t = c->t;
	struct modify m = h->m;
	uint64_t state = 0;
	bool valid = false;
	unsigned written = 0;

	m.clear = what;
	if (what != h->what)
		arch_modify_prepare(t, &m);
	for (unsigned i = 0; i < cut->members; i++) {
		uint64_t raw = entry_load(cut->e + i), new;

		if (what && (arch_state(raw) & what)) {
			new = arch_modify(t, raw, w->level, &m);
			raw = arch_change(t, cut->e + i, raw, w->level, &m, 0, &new, &tally(c)->rmws);
			valid |= arch_valid(raw);
			written++;
		}
		state |= arch_state(raw);
	}
	tally(c)->reads += cut->members;
	tally(c)->leaves += cut->members;
	tally(c)->changed += written;
	if (!written)
		return state;
	gather_wrote(c, cut->e, cut->members);
	/* A translation that is held goes on being used: the next access is not seen. */
	if (valid && !((c->flags & PGT_LAZY) && !(state & what & PGT_DIRTY)))
		gather_leaves(c, cut->begin, cut->end, w->level, arch_global(c->t, cut->raw));
	return state;
}

/* The unit of leaves that the walk stands before; how many entries it has in the range. */
static unsigned harvest_unit(struct harvest *h, const struct pgt_walk *w, uint64_t raw)
{
	struct call *c = h->c;
	uint64_t what = c->flags & PGT_PEEK ? 0 : h->what, state, n;
	struct cut cut;

	cut_find(&cut, c, w, raw);
	/* Covered in part, and not cut: its dirty state stays (PGT_NO_SPLIT). */
	if (cut_any(&cut))
		what &= ~PGT_DIRTY;
	state = harvest_clear(h, w, &cut, what);
	n = ((cut.end < c->last ? cut.end : c->last) - w->next) >> level_shift(c->t, w->level);
	harvest_report(h, cut.begin, cut.end, (unsigned)n + 1, state);
	return (unsigned)n + 1;
}

/* Reports and clears in all of c's range. */
static void harvest_range(struct harvest *h)
{
	struct call *c = h->c;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	while (walk_on(&w)) {
		unsigned n = walk_empty(&w);
		uint64_t raw;

		if (n) {
			tally(c)->reads += n;
			walk_past(&w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		tally(c)->reads++;
		if (arch_kind(c->t, raw, w.level) == KIND_TABLE && walk_enter(&w, raw))
			continue;
		walk_past(&w, arch_kind(c->t, raw, w.level) == KIND_LEAF ? harvest_unit(h, &w, raw) : 1);
	}
}

static int harvest(struct call *c, uint64_t what, struct pgt_bitmap *bitmap)
{
	struct harvest h = { .c = c, .what = what, .bitmap = bitmap, .m = { .clear = what },
			     .all_first = c->first, .all_last = c->last };
	struct need need = { 0 };
	int status = PGT_OK;
	struct cut cut[2];
	uint64_t at;

	call_start(c);
	arch_modify_prepare(c->t, &h.m);
	for (at = h.all_first; status == PGT_OK && harvest_next(&h, &at);) {
		status = edges_look(c);
		if (status == PGT_OK)
			status = harvest_edges(&h, cut, &need);
	}
	if (status == PGT_OK)
		status = pgt_tables_take(c, need.tables);
	for (at = h.all_first; status == PGT_OK && harvest_next(&h, &at);) {
		struct need again = { 0 };

		/* What became dirty since it was looked at has no table: it is reported, and stays dirty. */
		if (harvest_edges(&h, cut, &again) == PGT_OK && again.tables <= pgt_tables_left(c))
			edges_cut(c, cut, true);
		harvest_range(&h);
	}
	return call_finish(c, status);
}

#endif
