/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What an access meets: permissions, the access flag and the dirty state (D8.4, D8.5). */
#ifndef PGT_ARM64_ACCESS_H
#define PGT_ARM64_ACCESS_H

#include "entry.h"

/* The permission bits that a table entry lays over all below it; a broken one
 * has others in their place. */
#define arch_inherit arch_inherit
PGT_INLINE uint64_t arch_inherit(const struct pgt *t, uint64_t raw)
{
	return raw & DESC_VALID ? raw & arm64(t)->inherited : 0;
}

/* What an access through this leaf meets: a PGT_FAULT_, or 0. */
static inline int arch_fault(const struct pgt *t, uint64_t raw, uint64_t attr, uint64_t access)
{
	bool clean = (raw & DESC_DBM) && desc_rdonly(raw);

	/* DBM means something where hardware manages the dirty state. */
	if (clean && !(t->features & PGT_FEAT_HW_DIRTY))
		attr &= ~PGT_WRITE;
	if (!arch_valid(raw))
		return PGT_FAULT_TRANSLATION;
	if (!(raw & DESC_AF) && !(t->features & PGT_FEAT_HW_YOUNG))
		return PGT_FAULT_ACCESS_FLAG;
	return permitted(t, attr, access) ? 0 : PGT_FAULT_PERMISSION;
}

/* What a walk meets at an entry that no legal table holds: a reserved type, or
 * an address beyond the configured size (D8.2.9). */
static inline int arch_corrupt_fault(const struct pgt *t, uint64_t raw, int level)
{
	bool reserved = !(raw & DESC_TABLE) && (level == PGT_LAST_LEVEL || !level_has_leaves(t, level));

	return !arch_valid(raw) || reserved ? PGT_FAULT_TRANSLATION : PGT_FAULT_ADDRESS_SIZE;
}

/* What hardware makes of the leaf at an access that doesn't fault. */
static inline uint64_t arch_touch(uint64_t raw, uint64_t access)
{
	raw |= DESC_AF;
	if ((access & PGT_WRITE) && (raw & DESC_DBM))
		raw = desc_rdonly_form(desc_rdonly_form(raw) & ~DESC_RDONLY);
	return raw;
}

#endif
