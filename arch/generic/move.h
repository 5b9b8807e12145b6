/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Inherited hooks: moving tables. */
#ifndef PGT_GENERIC_MOVE_H
#define PGT_GENERIC_MOVE_H

#include "../../lib/pgt.h"

#ifndef arch_relink_top
/* The highest level whose table entries move as they are. The plain way moves
 * the tables of the last level alone, by exchange. */
static inline int arch_relink_top(const struct pgt *t)
{
	(void)t;
	return PGT_LAST_LEVEL - 1;
}

/* Takes a table entry out, and adds to *rmws. */
static inline uint64_t arch_unlink(struct pgt_entry *e, uint64_t *rmws)
{
	++*rmws;
	return entry_exchange(e, 0);
}
#endif

#endif
