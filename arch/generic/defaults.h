/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hooks that a backend need not write.  A backend includes its own hooks
 * first and defines a macro of the hook's name for each one that it has.
 */
#ifndef PGT_GENERIC_DEFAULTS_H
#define PGT_GENERIC_DEFAULTS_H

#include "../../lib/pgt.h"

#ifndef arch_step
/* What is added to a placed leaf to make that of the next address. */
static inline uint64_t arch_step(const struct pgt *t, int level)
{
	return level_mask(t, level) + 1;
}
#endif

#ifndef arch_inherit
/* The permission bits that a table entry lays over all below it. */
static inline uint64_t arch_inherit(uint64_t raw)
{
	(void)raw;
	return 0;
}
#endif

#ifndef arch_effective
/* Attributes under the permission bits of the tables on the way. */
static inline uint64_t arch_effective(uint64_t attr, uint64_t inherited)
{
	(void)inherited;
	return attr;
}
#endif

#endif
