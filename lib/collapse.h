/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_collapse: leaves or runs of one size out of smaller leaves.  Pieces that
 * suit are broken all together, drained once, and made again as one: by then
 * no walker can set state in the old leaves, so what they hold is final.
 */
#ifndef PGT_COLLAPSE_H
#define PGT_COLLAPSE_H

#include "change.h"

struct collapse {
	struct call *c;
	int level;        /* of the leaves that are made, or of the run's members */
	bool run;
	unsigned bits;    /* log2 of the size */
	uint64_t first, last; /* whole pieces of that size inside the range */
};

/* One piece: what its leaves have in common. */
struct piece {
	bool any;
	uint64_t pa, attr;  /* of its first byte; without state */
	uint64_t state;     /* of all */
	uint64_t leaf;
	bool valid;
};

/* Whether the leaf raw, whose first byte is at, continues the piece from begin on. */
static bool piece_add(const struct pgt *t, struct piece *p, uint64_t begin, uint64_t at, uint64_t raw, int level)
{
	uint64_t attr = arch_attr(t, raw), pa = arch_pa(t, raw, level);

	if (!p->any) {
		p->any = true;
		p->pa = pa - (at - begin);
		p->attr = attr & ~(PGT_YOUNG | PGT_DIRTY);
		p->leaf = arch_place(t, raw, level, 0, false);
		p->valid = arch_valid(raw) || arch_broken(raw);
	}
	p->state |= arch_state(raw);
	return (attr & ~(PGT_YOUNG | PGT_DIRTY)) == p->attr && pa == p->pa + (at - begin);
}

/* Whether [w->next, last], below one entry or the members of one run, can be one. */
static bool piece_read(struct collapse *k, struct piece *p, const struct pgt_walk *at, uint64_t last)
{
	const struct pgt *t = k->c->t;
	struct pgt_walk w = *at;
	uint64_t begin = at->next;

	*p = (struct piece){ 0 };
	w.top = w.level;
	w.last = last;
	w.done = false;
	while (walk_on(&w)) {
		uint64_t raw = entry_load(walk_entry(&w));

		tally(k->c)->reads++;
		switch (arch_kind(t, raw, w.level)) {
		case KIND_TABLE:
			if (arch_inherit(t, raw) || !walk_enter(&w, raw))
				return false;
			continue;
		case KIND_LEAF:
			tally(k->c)->leaves++;
			if (!piece_add(t, p, begin, w.next, raw, w.level))
				return false;
			break;
		default:
			return false;
		}
		walk_past(&w, 1);
	}
	return !(p->pa & (last - begin)) && !(k->run && (p->attr & PGT_NOACCESS));
}

/* Whether the piece lies in one unit of the embedder's memory. */
static bool piece_is_one_unit(const struct collapse *k, const struct piece *p)
{
	const struct pgt *t = k->c->t;
	uint64_t size = UINT64_C(1) << k->bits;

	return !t->pages.unit || t->pages.unit(t->pages.ctx, p->pa, size) >= size;
}

/* Whether the piece that the walk stands before is to be made one. */
static bool collapse_suits(struct collapse *k, const struct pgt_walk *w, struct piece *p)
{
	const struct pgt *t = k->c->t;
	uint64_t raw = entry_load(walk_entry(w)), last = w->next | ((UINT64_C(1) << k->bits) - 1);
	enum pgt_kind kind = arch_kind(t, raw, w->level);

	if (kind == KIND_LEAF ? !k->run || arch_run(raw) : kind != KIND_TABLE)
		return false;
	return piece_read(k, p, w, last) && piece_is_one_unit(k, p);
}

/* From piece to piece: down to the level where they are made. */
static bool collapse_on(struct collapse *k, struct pgt_walk *w)
{
	while (walk_on(w)) {
		uint64_t raw;

		if (w->level == k->level)
			return true;
		raw = entry_load(walk_entry(w));
		if (arch_kind(k->c->t, raw, w->level) != KIND_TABLE || arch_inherit(k->c->t, raw) || !walk_enter(w, raw))
			walk_past(w, 1);
	}
	return false;
}

static unsigned piece_entries(const struct collapse *k)
{
	return 1u << (k->bits - level_shift(k->c->t, k->level));
}

/* Gives the entries of a piece to inaccessible ones. */
static void piece_break(struct collapse *k, struct pgt_walk *w)
{
	struct call *c = k->c;
	struct pgt_entry *e = walk_entry(w);
	uint64_t last = w->next | ((UINT64_C(1) << k->bits) - 1), raw = entry_load(e);
	bool tables = false;

	for (unsigned i = 0; i < piece_entries(k); i++) {
		tables |= arch_kind(c->t, entry_load(e + i), k->level) == KIND_TABLE;
		entry_store(e + i, arch_break(entry_exchange(e + i, arch_break(entry_load(e + i)))));
	}
	tally(c)->rmws += piece_entries(k);
	gather_wrote(c, e, piece_entries(k));
	if (tables)
		gather_walk(c, w->next, last, c->t->held_global);
	else
		gather_leaves(c, w->next, last, w->level, arch_global(c->t, raw));
}

/* An entry that led to a table is a leaf now. */
static void piece_free(struct collapse *k, uint64_t old)
{
	if (arch_kind(k->c->t, old, k->level) != KIND_TABLE)
		return;
	tally(k->c)->blocks_made++;
	free_subtree(k->c, arch_next(k->c->t, old), k->level + 1);
}

static void piece_make(struct collapse *k, const struct pgt_walk *w, const struct piece *p)
{
	struct call *c = k->c;
	const struct pgt *t = c->t;
	struct pgt_entry *e = walk_entry(w);
	uint64_t size = level_mask(t, k->level) + 1, leaf = arch_add_state(p->leaf, p->state);

	for (unsigned i = 0; i < piece_entries(k); i++) {
		uint64_t old = entry_load(e + i);

		entry_store(e + i, arch_place(t, leaf, k->level, p->pa + i * size, k->run));
		piece_free(k, old);
	}
	gather_wrote(c, e, piece_entries(k));
	tally(c)->changed += piece_entries(k);
	tally(c)->runs_folded += k->run;
}

/* A leaf in the place of the table that old leads to: what is set below it up to
 * the invalidation is set in the leaf after it. */
static void block_swap(struct collapse *k, struct pgt_entry *e, uint64_t first, const struct piece *p, uint64_t pa)
{
	struct call *c = k->c;
	const struct pgt *t = c->t;
	uint64_t last = first | level_mask(t, k->level), old = entry_load(e), raw;
	struct pgt_entry *table = table_at(t, arch_next(t, old), granule(t));
	struct piece late = { 0 };
	struct pgt_walk below;

	raw = arch_place(t, arch_add_state(p->leaf, p->state), k->level, pa, false);
	entry_store(e, raw);
	gather_wrote(c, e, 1);
	gather_walk(c, first, last, t->held_global);
	if (c->live)
		gather_drain(c);
	if (table) {
		walk_start_at(&below, t, k->level + 1, table, first, last);
		piece_read(k, &late, &below, last);
	}
	while (arch_valid(raw) && !entry_compare_swap(e, &raw, arch_add_state(raw, late.state)))
		;
	piece_free(k, old);
}

/* A piece while its leaves stay valid (level 2): tables become leaves, and these
 * a run, with what is set in any of them meanwhile. */
static void piece_swap(struct collapse *k, const struct pgt_walk *w, struct piece *p)
{
	struct call *c = k->c;
	const struct pgt *t = c->t;
	struct pgt_entry *e = walk_entry(w);
	uint64_t size = level_mask(t, k->level) + 1, raw, new;

	tally(c)->changed += piece_entries(k);
	for (unsigned i = 0; i < piece_entries(k); i++)
		if (arch_kind(t, entry_load(e + i), k->level) == KIND_TABLE)
			block_swap(k, e + i, w->next + i * size, p, p->pa + i * size);
	if (!k->run)
		return;
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < piece_entries(k); i++) {
			raw = entry_load(e + i);
			do {
				p->state |= arch_state(raw);
				new = arch_add_state(arch_place(t, raw, k->level, p->pa + i * size, true), p->state);
				tally(c)->rmws++;
			} while (!entry_compare_swap(e + i, &raw, new));
		}
	gather_wrote(c, e, piece_entries(k));
	gather_leaves(c, w->next, w->next | ((UINT64_C(1) << k->bits) - 1), w->level, arch_global(c->t, p->leaf));
	tally(c)->runs_folded++;
}

static int collapse_look(struct collapse *k, bool *any)
{
	struct call *c = k->c;
	struct pgt_walk w;
	struct piece p;

	walk_from(&w, &c->at, k->first, k->last);
	while (collapse_on(k, &w)) {
		if (collapse_suits(k, &w, &p)) {
			*any = true;
			if (p.valid && c->live && (c->flags & PGT_NO_BREAK) && !(c->t->features & PGT_FEAT_BBM2))
				return PGT_EBREAK;
		}
		walk_past(&w, piece_entries(k));
	}
	return PGT_OK;
}

static void collapse_pieces(struct collapse *k)
{
	struct call *c = k->c;
	bool in_place = !c->live || (c->t->features & PGT_FEAT_BBM2);
	struct pgt_walk w;
	struct piece p;

	walk_from(&w, &c->at, k->first, k->last);
	while (collapse_on(k, &w)) {
		if (collapse_suits(k, &w, &p)) {
			if (in_place)
				piece_swap(k, &w, &p);
			else
				piece_break(k, &w);
		}
		walk_past(&w, piece_entries(k));
	}
	if (in_place)
		return;
	gather_drain(c);
	walk_from(&w, &c->at, k->first, k->last);
	while (collapse_on(k, &w)) {
		uint64_t raw = entry_load(walk_entry(&w));

		if (arch_broken(raw) && piece_read(k, &p, &w, w.next | ((UINT64_C(1) << k->bits) - 1)))
			piece_make(k, &w, &p);
		walk_past(&w, piece_entries(k));
	}
}

/* The level and kind of a size; PGT_ENOTSUP where leaves of it don't exist. */
static int collapse_size(struct collapse *k, unsigned leaf_bits)
{
	const struct pgt *t = k->c->t;

	k->bits = leaf_bits;
	for (k->level = t->start_level; k->level <= PGT_LAST_LEVEL; k->level++) {
		if (!level_has_leaves(t, k->level))
			continue;
		k->run = level_shift(t, k->level) != leaf_bits;
		if (!k->run || ((t->features & PGT_FEAT_CONTIG) && run_shift(t, k->level) == leaf_bits))
			return PGT_OK;
	}
	return PGT_ENOTSUP;
}

static int collapse(struct call *c, unsigned leaf_bits)
{
	struct collapse k = { .c = c };
	uint64_t mask;
	bool any = false;
	int status;

	call_start(c);
	status = collapse_size(&k, leaf_bits);
	if (status == PGT_OK) {
		mask = (UINT64_C(1) << leaf_bits) - 1;
		k.first = (c->first + mask) & ~mask;
		k.last = ((c->last + 1) & ~mask) - 1;
		/* Pages are never smaller than themselves. */
		if (k.level == PGT_LAST_LEVEL && !k.run)
			return call_finish(c, PGT_OK);
		if (c->last >= mask && k.first <= k.last && k.last <= c->last)
			status = collapse_look(&k, &any);
	}
	if (status == PGT_OK && any)
		collapse_pieces(&k);
	return call_finish(c, status);
}

#endif
