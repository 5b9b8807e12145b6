/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changing leaves where they stand: the units of a stretch, each a leaf or a
 * whole run, undergo one change of attributes.  What a change was and what it
 * means to TLBs is collected, and told once a stretch.
 */
#ifndef PGT_CHANGE_H
#define PGT_CHANGE_H

#include "edge.h"
#include "modify.h"

/* What changed in a stretch of one table. */
struct changed {
	unsigned low, high;   /* entries written, of those of the stretch; none: high < low */
	unsigned tlb_low, tlb_high; /* those that a TLB may hold otherwise */
	bool global;
	uint64_t written, rmws;
};

#define CHANGED_NONE { .low = UINT32_MAX, .tlb_low = UINT32_MAX }

PGT_INLINE void changed_add(struct call *c, struct changed *ch, unsigned i, uint64_t old, uint64_t new)
{
	if (ch->low == UINT32_MAX)
		ch->low = i;
	ch->high = i;
	if (!arch_tlb_differs(c->t, old, new) ||
	    ((c->flags & PGT_LAZY) && arch_tlb_effect(c->t, old, new) == TLB_RELAXED))
		return;
	if (ch->tlb_low == UINT32_MAX)
		ch->tlb_low = i;
	ch->tlb_high = i;
	ch->global |= arch_global(old) || arch_global(new);
}

/* Tells what changed in the stretch that begins at the walk's next byte. */
PGT_INLINE void changed_tell(struct call *c, const struct changed *ch, const struct pgt_walk *w)
{
	unsigned shift = level_shift(c->t, w->level);
	uint64_t begin = walk_begin(w);

	tally(c)->changed += ch->written;
	tally(c)->rmws += ch->rmws;
	if (ch->low != UINT32_MAX)
		gather_wrote(c, walk_entry(w) + ch->low, ch->high - ch->low + 1);
	if (ch->tlb_low != UINT32_MAX)
		gather_leaves(c, begin + ((uint64_t)ch->tlb_low << shift),
			      (begin + ((uint64_t)ch->tlb_high << shift)) | level_mask(c->t, w->level),
			      w->level, ch->global);
}

/* The state that a leaf takes on when the change makes it writable. */
PGT_INLINE uint64_t change_state(const struct pgt *t, uint64_t raw, const struct modify *m)
{
	if (!arch_write_state() || !(m->set & PGT_WRITE) || (arch_attr(t, raw) & PGT_WRITE))
		return 0;
	return arch_write_state();
}

/* A block, the plain way: broken, told at once, and made again. */
static inline uint64_t change_block(struct call *c, const struct pgt_walk *w, unsigned i, uint64_t raw,
				    const struct modify *m, uint64_t *new)
{
	const struct pgt *t = c->t;
	struct pgt_entry *e = walk_entry(w) + i;
	uint64_t begin = walk_begin(w) + ((uint64_t)i << level_shift(t, w->level));

	if (arch_valid(raw)) {
		raw = entry_exchange(e, arch_break(raw));
		tally(c)->rmws++;
		gather_leaves(c, begin, begin | level_mask(t, w->level), w->level, arch_global(raw));
		gather_drain(c);
	}
	*new = arch_add_state(arch_modify(t, raw, w->level, m), change_state(t, raw, m));
	entry_store(e, *new);
	return raw;
}

/* Changes the leaf raw, entry i of the stretch, unless it complies. */
PGT_INLINE void change_leaf(struct call *c, const struct pgt_walk *w, struct pgt_entry *e, int level, unsigned i,
			    uint64_t raw, const struct modify *m, struct changed *ch)
{
	const struct pgt *t = c->t;
	uint64_t new;

	if (arch_modify(t, raw, level, m) == raw)
		return;
	if (level < PGT_LAST_LEVEL && !arch_blocks_in_place() && c->live)
		raw = change_block(c, w, i, raw, m, &new);
	else
		raw = arch_change(t, e + i, raw, level, m, change_state(t, raw, m), &new, &ch->rmws);
	ch->written++;
	changed_add(c, ch, i, raw, new);
}

/* Changes leaves of the stretch from entry i on, as they stand; where they end. With
 * hinted, of whole runs whose members have one state; else only such without hint. */
PGT_INLINE unsigned change_leaves(struct call *c, const struct pgt_walk *w, int level, unsigned i, unsigned n,
				  bool hinted, const struct modify *modify, struct changed *ch)
{
	const struct modify m = *modify; /* nothing that is stored to may change these */
	struct changed local = *ch;
	struct pgt_entry *e = walk_entry(w);

	for (; i < n; i++) {
		uint64_t raw = entry_load(e + i);

		if (arch_kind(c->t, raw, level) != KIND_LEAF || arch_run(raw) != hinted)
			break;
		change_leaf(c, w, e, level, i, raw, &m, &local);
	}
	*ch = local;
	return i;
}

/* The state of a run: any member's counts for all. */
PGT_INLINE uint64_t change_gather(struct call *c, const struct pgt_entry *e, unsigned members)
{
	uint64_t state = 0;

	for (unsigned i = 0; i < members; i++)
		state |= arch_state(entry_load(e + i));
	tally(c)->reads += members;
	return state;
}

/* Changes a whole run, which keeps the hint. Its members end with one state. */
PGT_INLINE void change_run(struct call *c, const struct pgt_walk *w, int level, unsigned i, unsigned members,
			   const struct modify *m, struct changed *ch)
{
	const struct pgt *t = c->t;
	struct pgt_entry *e = walk_entry(w) + i;
	uint64_t state = 0, same = PGT_YOUNG | PGT_DIRTY, differs = 0;

	for (unsigned k = 0; k < members; k++) {
		uint64_t raw = entry_load(e + k), has = arch_state(raw);

		state |= has;
		same &= has;
		differs |= arch_modify(t, raw, level, m) ^ raw;
	}
	tally(c)->reads += members - 1;
	if (!differs)
		return;
	if (same == state) {
		change_leaves(c, w, level, i, i + members, true, m, ch);
		return;
	}
	state &= ~(m->clear & ~m->set);
	for (unsigned k = 0; k < members; k++) {
		uint64_t raw = entry_load(e + k), new;

		raw = arch_change(t, e + k, raw, level, m, state | change_state(t, raw, m), &new, &ch->rmws);
		changed_add(c, ch, i + k, raw, new);
	}
	ch->written += members;
}

/* The run made of n leaves again, if they still are one (the plain way). */
static void change_fold(struct call *c, struct pgt_entry *e, unsigned members, int level, uint64_t begin)
{
	const struct pgt *t = c->t;
	uint64_t size = level_mask(t, level) + 1, state = change_gather(c, e, members), first = entry_load(e);

	if (!arch_valid(first))
		return;
	for (unsigned k = 0; k < members; k++)
		entry_store(e + k, arch_break(entry_exchange(e + k, arch_break(entry_load(e + k)))));
	tally(c)->rmws += members;
	gather_leaves(c, begin, begin + (members * size - 1), level, arch_global(first));
	if (c->live)
		gather_drain(c);
	for (unsigned k = 0; k < members; k++) {
		uint64_t raw = entry_load(e + k);

		entry_store(e + k, arch_add_state(arch_place(t, raw, level, arch_pa(t, raw, level), true), state));
	}
	tally(c)->runs_folded++;
}

/* Changes a whole run the plain way: unfolded at its first changed member, folded at its last. */
static void change_run_plain(struct call *c, const struct pgt_walk *w, unsigned i, unsigned members,
			     const struct modify *m, struct changed *ch)
{
	const struct pgt *t = c->t;
	struct pgt_walk at = *w;
	struct pgt_entry *e;
	bool unfolded = false;
	struct cut cut;

	at.next = walk_begin(w) + ((uint64_t)i << level_shift(t, w->level));
	e = walk_entry(&at);
	for (unsigned k = 0; k < members; k++) {
		uint64_t raw = entry_load(e + k);

		if (!unfolded)
			change_gather(c, e, members);
		if (!unfolded && arch_modify(t, raw, w->level, m) != raw) {
			cut_find(&cut, c, &at, entry_load(e));
			cut_break(c, &cut);
			if (c->live && cut.valid)
				gather_drain(c);
			cut_unfold(c, &cut, true);
			unfolded = true;
			raw = entry_load(e + k);
		}
		change_leaf(c, w, walk_entry(w), w->level, i + k, raw, m, ch);
	}
	if (unfolded)
		change_fold(c, e, members, w->level, at.next);
}

/* The entries of the run that the leaf raw, entry i of the stretch, begins; or 1. */
PGT_INLINE unsigned change_unit(const struct pgt *t, const struct pgt_walk *w, unsigned i, unsigned n, uint64_t raw)
{
	unsigned members = run_entries(t, raw, w->level);

	return members <= n - i && (walk_index(w) + i) % members == 0 ? members : 1;
}

PGT_INLINE void change_one_unit(struct call *c, const struct pgt_walk *w, int level, unsigned i, unsigned members,
				   uint64_t raw, const struct modify *m, struct changed *ch)
{
	if (members == 1)
		change_leaf(c, w, walk_entry(w), level, i, raw, m, ch);
	else if (arch_runs_in_place())
		change_run(c, w, level, i, members, m, ch);
	else
		change_run_plain(c, w, i, members, m, ch);
}

#endif
