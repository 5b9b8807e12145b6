/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_copy.  With PGT_COW the original loses write permission first, so that no
 * write to it can be taken for one to the copy; then stretches of alike leaves
 * are built in the other table.
 */
#ifndef PGT_COPY_H
#define PGT_COPY_H

#include "map.h"
#include "move.h"
#include "protect.h"

struct copy {
	struct call *c;    /* of the original */
	struct call *to;   /* of the copy */
	struct modify m;   /* of a leaf on its way */
	struct need need;
	struct move put;   /* only what builds at the destination */
};

/* The leaf as the copy has it, not placed. */
static uint64_t copy_leaf(const struct copy *k, uint64_t raw, int level)
{
	uint64_t leaf = arch_modify(k->c->t, raw, level, &k->m);

	return arch_place(k->c->t, arch_add_state(leaf, initial_state(k->to->t)), level, 0, false);
}

/* Goes over the original: counts what the copy needs, or builds it. */
static int copy_range(struct copy *k, bool build)
{
	struct call *c = k->c;
	const struct pgt *t = c->t;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	while (walk_on(&w)) {
		unsigned n = walk_empty(&w);
		uint64_t raw, end, within;
		struct build b = { .c = k->to };

		if (n) {
			tally(c)->reads += n;
			walk_past(&w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		tally(c)->reads++;
		end = w.next | level_mask(t, w.level);
		if (end > c->last)
			end = c->last;
		within = w.next & level_mask(t, w.level);
		b.first = w.next;
		b.last = end;
		b.max_shift = run_shift(t, w.level);
		switch (arch_kind(t, raw, w.level)) {
		case KIND_TABLE:
			if (arch_inherit(c->t, raw))
				return PGT_ENOTSUP;
			if (!walk_enter(&w, raw))
				return PGT_ECORRUPT;
			continue;
		case KIND_CORRUPT:
			return PGT_ECORRUPT;
		case KIND_LEAF:
			b.pa = arch_pa(t, raw, w.level) + within;
			break;
		default:
			b.token = true;
			b.max_shift = 63;
			b.pa = b.first;
			break;
		}
		if (!build)
			need_range(&k->need, &b, t->start_level, b.first, b.last);
		else if (b.token)
			batch_add(&k->put, raw, 0, true, w.level, w.next, end - w.next + 1);
		else
			batch_add(&k->put, copy_leaf(k, raw, w.level), b.pa, false, w.level, w.next, end - w.next + 1);
		walk_past(&w, 1);
	}
	return PGT_OK;
}

/* The original's ends, which PGT_COW cuts where they lose write permission. */
static int copy_edges(struct protect *p, struct cut cut[2], struct need *need)
{
	struct call *c = p->c;
	int status = edges_find(c, cut);

	for (unsigned i = 0; i < 2 && status == PGT_OK; i++)
		if (!(c->flags & PGT_COW) || !protect_changes(p, &cut[i]))
			cut[i].leaf = cut[i].run = false;
	return status == PGT_OK ? edges_check(c, cut, need) : status;
}

static int copy_both(struct copy *k, struct protect *p)
{
	struct need cuts = { 0 };
	struct call *c = k->c, *to = k->to;
	struct cut cut[2];
	int status = place_is_empty(c, to->t, c->first, c->last);

	if (status == PGT_OK)
		status = copy_range(k, false);
	if (status == PGT_OK)
		status = copy_edges(p, cut, &cuts);
	if (status == PGT_OK)
		status = pgt_tables_take(c, cuts.tables);
	if (status == PGT_OK)
		status = pgt_tables_take(to, k->need.tables);
	if (status != PGT_OK)
		return status;
	if (c->flags & PGT_COW) {
		edges_cut(c, cut, true);
		protect_range(p);
	}
	place_clear(to, to->first, to->last);
	walk_start(&k->put.at, to->t, to->first, to->last);
	k->put.to.reach[k->put.at.level + 1] = REACH_LINKED;
	copy_range(k, true);
	batch_put(&k->put);
	build_finish(&k->put.to, &k->put.at);
	if (c->t->held_global)
		to->t->held_global = true;
	return PGT_OK;
}

/* to is a call without a gather of its own; its tally is the original's. */
static int copy(struct call *c, struct call *to)
{
	struct protect p = { .c = c, .m = { .clear = PGT_WRITE } };
	struct copy k = { .c = c, .to = to, .put = { .c = to, .to = { .c = to } } };
	int status;

	call_start(c);
	k.m.clear = PGT_YOUNG | PGT_DIRTY | (c->flags & PGT_COW ? PGT_WRITE : 0);
	k.need.spare = true;
	k.need.clear_first = c->first;
	k.need.clear_last = c->last;
	arch_modify_prepare(c->t, &k.m);
	arch_modify_prepare(c->t, &p.m);
	status = copy_both(&k, &p);
	tally(c)->tables_allocated += tally(to)->tables_allocated;
	tally(c)->mapped += tally(to)->mapped;
	call_finish(to, status);
	return call_finish(c, status);
}

#endif
