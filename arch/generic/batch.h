/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inherited hooks: changing leaves.  The plain way goes entry by entry, each
 * read gathering its whole run where it carries the hint, each changed through
 * an inaccessible entry; a run is unfolded at its first changed member and
 * folded at its last.
 */
#ifndef PGT_GENERIC_BATCH_H
#define PGT_GENERIC_BATCH_H

#include "dirty.h"
#include "entry.h"

#ifndef arch_batch_length
/* How many entries are changed as one with the leaf raw while they keep the hint.
 * The plain way: one; a run is unfolded first and folded after. */
PGT_INLINE unsigned arch_batch_length(const struct pgt *t, uint64_t raw, int level)
{
	(void)t, (void)raw, (void)level;
	return 1;
}
#endif

#ifndef arch_gather
/*
 * The state of a run of so many members, or of one leaf: what any member has
 * counts for all.  Adds to *reads.  A member that carries no hint (any more) is
 * none: readers meet runs that are being unfolded.
 */
PGT_INLINE uint64_t arch_gather(const struct pgt *t, const struct pgt_entry *e, unsigned members, int level,
				uint64_t *reads)
{
	uint64_t state = 0;

	for (unsigned i = 0; i < members; i++) {
		uint64_t raw = entry_load(e + i);

		if (arch_kind(t, raw, level) == KIND_LEAF && (members == 1 || arch_run(raw)))
			state |= arch_state(raw);
	}
	*reads += members;
	return state;
}
#endif

#ifndef arch_take
/* Empties n entries, a run or one leaf or token, and says which state they had,
 * were they leaves: what the exchange returned is final. Adds to *rmws. */
PGT_INLINE uint64_t arch_take(const struct pgt *t, struct pgt_entry *e, unsigned n, uint64_t *rmws)
{
	uint64_t state = 0;

	(void)t;
	for (unsigned i = 0; i < n; i++)
		state |= arch_state(entry_exchange(e + i, 0));
	*rmws += n;
	return state;
}
#endif

#ifndef arch_fix_access
/*
 * After a fault: each member that lacks some of the state gets it, compared raw as
 * it stands, for a walker that sets nothing itself needs each; by compare-and-swap,
 * so that none is ever inaccessible.  How many were written; -1 where a leaf is
 * gone that was there.  Adds to *rmws.
 */
static inline int arch_fix_access(const struct pgt *t, struct pgt_entry *e, unsigned members, int level,
				  uint64_t state, uint64_t *rmws)
{
	int written = 0;

	for (unsigned i = 0; i < members; i++) {
		uint64_t raw = entry_load(e + i), new;

		for (;;) {
			if (arch_kind(t, raw, level) != KIND_LEAF)
				return -1;
			new = arch_add_state(raw, state);
			if (new == raw)
				break;
			++*rmws;
			if (entry_compare_swap(e + i, &raw, new)) {
				written++;
				break;
			}
		}
	}
	return written;
}
#endif

#ifndef arch_change
/*
 * Changes the leaf raw that stands in e to *new, which is raw after the change
 * m and with state added.  Hardware may write it meanwhile: what the exchange
 * returns is the truth.  Returns the leaf as it was, with *new what it is now,
 * and adds to *rmws.
 */
PGT_INLINE uint64_t arch_change(const struct pgt *t, struct pgt_entry *e, uint64_t raw, int level,
				const struct modify *m, uint64_t state, uint64_t *new, uint64_t *rmws)
{
	if (arch_valid(raw)) {
		uint64_t was = entry_exchange(e, arch_break(raw));

		++*rmws;
		if (was != raw)
			*new = arch_add_state(arch_modify(t, was, level, m), state);
		raw = was;
	}
	entry_store(e, *new);
	return raw;
}
#endif

#ifndef arch_change_batch
/*
 * Changes leading leaves of n entries in one loop, as far as they are valid,
 * carry the hint or not as hinted says, and do change; how many.  The plain way
 * leaves runs and blocks to the slower one.
 */
PGT_INLINE unsigned arch_change_batch(const struct pgt *t, struct pgt_entry *e, unsigned n, int level, bool hinted,
				      const struct modify *modify, struct batch_change *out)
{
	const struct modify m = *modify; /* nothing that is stored to may change this */
	uint64_t differ = 0;
	bool global = false;
	unsigned i;

	for (i = 0; i < n && !hinted && level == PGT_LAST_LEVEL; i++) {
		uint64_t raw = entry_load(e + i), new, was;

		if (!arch_valid(raw) || arch_kind(t, raw, level) != KIND_LEAF || arch_run(raw))
			break;
		new = arch_modify(t, raw, level, &m);
		if (new == raw)
			break;
		was = entry_exchange(e + i, arch_break(raw));
		if (was != raw)
			new = arch_modify(t, was, level, &m);
		if ((m.set & PGT_WRITE) && arch_write_state() && !arch_writable(was))
			new = arch_add_state(new, arch_write_state());
		entry_store(e + i, new);
		differ |= was ^ new;
		global |= arch_global(t, was) || arch_global(t, new);
	}
	out->differ = differ;
	out->global = global;
	out->rmws = i;
	return i;
}

#endif

#endif
