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

#include "entry.h"

#ifndef arch_runs_in_place
/* Whether all members of a run can be changed while they keep the hint. */
PGT_INLINE bool arch_runs_in_place(void)
{
	return false;
}
#endif

#ifndef arch_change
/*
 * Changes the leaf raw that stands in e, which hardware may write meanwhile:
 * what the exchange returns is the truth.  Returns the leaf as it was, with
 * *new what it is now, and adds to *rmws.
 */
PGT_INLINE uint64_t arch_change(const struct pgt *t, struct pgt_entry *e, uint64_t raw, int level,
				   const struct modify *m, uint64_t state, uint64_t *new, uint64_t *rmws)
{
	if (arch_valid(raw)) {
		raw = entry_exchange(e, arch_break(raw));
		++*rmws;
	}
	*new = arch_add_state(arch_modify(t, raw, level, m), state);
	entry_store(e, *new);
	return raw;
}
#endif

#endif
