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
	ch->global |= arch_global(c->t, old) || arch_global(c->t, new);
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
	(void)t;
	if (!arch_write_state() || !(m->set & PGT_WRITE) || arch_writable(raw))
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
		gather_leaves(c, begin, begin | level_mask(t, w->level), w->level, arch_global(c->t, raw));
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
	uint64_t new = arch_modify(t, raw, level, m), state;

	if (new == raw)
		return;
	state = change_state(t, raw, m);
	new = arch_add_state(new, state);
	if (level < PGT_LAST_LEVEL && !arch_blocks_in_place() && c->live)
		raw = change_block(c, w, i, raw, m, &new);
	else
		raw = arch_change(t, e + i, raw, level, m, state, &new, &ch->rmws);
	ch->written++;
	changed_add(c, ch, i, raw, new);
}

/* As many leaves from entry i on as the backend changes in one loop. */
PGT_INLINE unsigned change_batch(struct call *c, struct pgt_entry *e, int level, unsigned i, unsigned n, bool hinted,
				 const struct modify *m, struct changed *ch, bool *one_state)
{
	struct batch_change batch = { 0 };
	unsigned done;

	if (c->flags & PGT_LAZY)
		return 0;
	done = arch_change_batch(c->t, e + i, n - i, level, hinted, m, &batch);
	*one_state = batch.one_state;
	ch->rmws += batch.rmws;
	if (!done)
		return 0;
	ch->written += done;
	if (ch->low == UINT32_MAX)
		ch->low = i;
	ch->high = i + done - 1;
	if (arch_tlb_bits(batch.differ)) {
		if (ch->tlb_low == UINT32_MAX)
			ch->tlb_low = i;
		ch->tlb_high = i + done - 1;
		ch->global |= batch.global;
	}
	return done;
}

/* Changes leaves without hint from entry i of the stretch on; where they end. */
PGT_INLINE unsigned change_leaves(struct call *c, const struct pgt_walk *w, int level, unsigned i, unsigned n,
				  const struct modify *m, struct changed *ch)
{
	struct pgt_entry *e = walk_entry(w);

	for (;;) {
		bool one_state;
		uint64_t raw;

		i += change_batch(c, e, level, i, n, false, m, ch, &one_state);
		if (i == n)
			return i;
		raw = entry_load(e + i);
		if (arch_kind(c->t, raw, level) != KIND_LEAF || arch_run(raw))
			return i;
		change_leaf(c, w, e, level, i, raw, m, ch);
		if (++i == n)
			return i;
	}
}

/* The state of a run: any member's counts for all. */
PGT_INLINE uint64_t change_gather(struct call *c, const struct pgt_entry *e, unsigned members, int level)
{
	return arch_gather(c->t, e, members, level, &tally(c)->reads);
}

/* Changes a whole run, which keeps the hint. Its members end with one state. */
static void change_run(struct call *c, const struct pgt_walk *w, unsigned i, unsigned members,
		       const struct modify *m, struct changed *ch)
{
	const struct pgt *t = c->t;
	struct pgt_entry *e = walk_entry(w) + i;
	uint64_t state = 0, differs = 0;

	for (unsigned k = 0; k < members; k++) {
		uint64_t raw = entry_load(e + k);

		state |= arch_state(raw);
		differs |= arch_modify(t, raw, w->level, m) ^ raw;
	}
	tally(c)->reads += members - 1;
	if (!differs)
		return;
	state &= ~(m->clear & ~m->set);
	for (unsigned k = 0; k < members; k++) {
		uint64_t raw = entry_load(e + k), more = state | change_state(t, raw, m);
		uint64_t new = arch_add_state(arch_modify(t, raw, w->level, m), more);

		raw = arch_change(t, e + k, raw, w->level, m, more, &new, &ch->rmws);
		changed_add(c, ch, i + k, raw, new);
	}
	ch->written += members;
}

/* Gives the members of a run, each of which was changed as it stood, one state. */
static void change_join(struct call *c, struct pgt_entry *e, unsigned members, int level, struct changed *ch)
{
	uint64_t state = change_gather(c, e, members, level);

	for (unsigned k = 0; k < members; k++) {
		uint64_t raw = entry_load(e + k);

		while (arch_state(raw) != state && (++ch->rmws, !entry_compare_swap(e + k, &raw, arch_add_state(raw, state))))
			;
	}
}

/* Changes whole runs from entry i of the stretch on, at least one; where they end. */
PGT_INLINE unsigned change_runs(struct call *c, const struct pgt_walk *w, int level, unsigned i, unsigned n,
				unsigned members, const struct modify *m, struct changed *ch)
{
	unsigned end = i + ((n - i) & ~(members - 1)), done;
	struct pgt_entry *e = walk_entry(w);
	bool one_state;

	done = change_batch(c, e, level, i, end, true, m, ch, &one_state) & ~(members - 1);
	for (unsigned k = 0; k < done && !one_state; k += members)
		change_join(c, e + i + k, members, level, ch);
	if (done)
		return i + done;
	change_run(c, w, i, members, m, ch);
	return i + members;
}

/* The run made of n leaves again, if they still are one (the plain way). */
static void change_fold(struct call *c, struct pgt_entry *e, unsigned members, int level, uint64_t begin)
{
	const struct pgt *t = c->t;
	uint64_t size = level_mask(t, level) + 1, state = change_gather(c, e, members, level), first = entry_load(e);

	if (!arch_valid(first))
		return;
	for (unsigned k = 0; k < members; k++)
		entry_store(e + k, arch_break(entry_exchange(e + k, arch_break(entry_load(e + k)))));
	tally(c)->rmws += members;
	gather_leaves(c, begin, begin + (members * size - 1), level, arch_global(c->t, first));
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
			raw = arch_add_state(raw, change_gather(c, e, members, w->level));
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

/* Changes the unit that begins with the leaf raw, and more alike where that is quicker; where they end. */
PGT_INLINE unsigned change_units(struct call *c, const struct pgt_walk *w, int level, unsigned i, unsigned n,
				 unsigned members, uint64_t raw, const struct modify *m, struct changed *ch)
{
	if (members > 1 && arch_batch_length(c->t, raw, level) == members)
		return change_runs(c, w, level, i, n, members, m, ch);
	/* A run that was broken to change it is made again as it will be, at once. */
	if (members > 1 && arch_broken(raw))
		change_run(c, w, i, members, m, ch);
	else if (members > 1)
		change_run_plain(c, w, i, members, m, ch);
	else
		change_leaf(c, w, walk_entry(w), level, i, raw, m, ch);
	return i + members;
}

#endif
