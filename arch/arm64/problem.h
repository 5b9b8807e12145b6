/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong with a descriptor by itself. */
#ifndef PGT_ARM64_PROBLEM_H
#define PGT_ARM64_PROBLEM_H

#include "access.h"

static inline const char *table_problem(const struct pgt *t, uint64_t raw)
{
	if (desc_address(t, raw) & (granule(t) - 1))
		return "a next-table address that is not aligned to the granule";
	if (raw & stage_table_reserved())
		return "a table entry with reserved bits set";
	if (!t->attached && (raw & DESC_PERMISSIONS_TABLE))
		return "permission bits in a table entry";
	return NULL;
}

static inline const char *leaf_problem(const struct pgt *t, uint64_t raw, int level)
{
	uint64_t reserved = (BIT(48) | BIT(49)) & ~arm64(t)->address;

	if (desc_address(t, raw) & level_mask(t, level))
		return "a leaf whose address is not aligned to its size";
	if (raw & (reserved | stage_reserved(t)))
		return "a leaf with reserved bits set";
	if (!arm64_no_sh(t) && (raw & DESC_SH) == UINT64_C(1) << DESC_SH_SHIFT)
		return "a leaf with the reserved shareability";
	if (stage_problem(t, raw))
		return stage_problem(t, raw);
	if (t->attached)
		return NULL;
	if ((raw & DESC_DBM) && (raw & DESC_DIRTY) && desc_rdonly(raw))
		return "a leaf that is writable and dirty, yet read-only to hardware";
	if (!(raw & DESC_DBM) && !desc_rdonly(raw))
		return "a leaf that hardware may write and software calls read-only";
	return NULL;
}

/* In words; NULL: nothing. In attached tables only what the architecture forbids. */
static inline const char *arch_problem(const struct pgt *t, uint64_t raw, int level)
{
	bool page_or_table = raw & DESC_TABLE;

	if (!(raw & DESC_VALID) && !arch_broken(raw) && (raw & INVALID_KIND) != INVALID_NOACCESS)
		return NULL;
	if (arch_kind(t, raw, level) == KIND_TOKEN)
		return NULL;
	if (raw & arm64(t)->beyond)
		return "an address beyond the output range";
	if (level == PGT_LAST_LEVEL)
		return page_or_table ? leaf_problem(t, raw, level) : "the reserved type at the page level";
	if (page_or_table)
		return table_problem(t, raw);
	return level_has_leaves(t, level) ? leaf_problem(t, raw, level) :
					    "a block at a level that has none";
}

#endif
