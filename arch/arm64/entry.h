/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What a descriptor is, and descriptors made of others: levels, addresses, runs. */
#ifndef PGT_ARM64_ENTRY_H
#define PGT_ARM64_ENTRY_H

#include "configure.h"

/* Whether an invalid entry keeps the fields of a leaf or a table of this level. */
static inline bool desc_keeps(const struct pgt *t, uint64_t raw, int level)
{
	uint64_t kind = raw & INVALID_KIND;

	if ((kind != INVALID_NOACCESS && kind != INVALID_BROKEN) ||
	    (raw & arm64(t)->beyond))
		return false;
	if (raw & DESC_TABLE)
		return level == PGT_LAST_LEVEL || kind == INVALID_BROKEN;
	return level != PGT_LAST_LEVEL && level_has_leaves(t, level);
}

PGT_INLINE enum pgt_kind arch_kind(const struct pgt *t, uint64_t raw, int level)
{
	if (!(raw & DESC_VALID)) {
		if (!raw)
			return KIND_EMPTY;
		if (!desc_keeps(t, raw, level))
			return KIND_TOKEN;
	}
	if (raw & arm64(t)->beyond)
		return KIND_CORRUPT;
	if (level == PGT_LAST_LEVEL)
		return raw & DESC_TABLE ? KIND_LEAF : KIND_CORRUPT;
	if (raw & DESC_TABLE)
		return KIND_TABLE;
	return level_has_leaves(t, level) ? KIND_LEAF : KIND_CORRUPT;
}

/* Whether a walker may use the entry, and so a TLB may hold it. */
PGT_INLINE bool arch_valid(uint64_t raw)
{
	return raw & DESC_VALID;
}

PGT_INLINE uint64_t arch_next(const struct pgt *t, uint64_t raw)
{
	return desc_address(t, raw) & ~(granule(t) - 1);
}

PGT_INLINE uint64_t arch_table(const struct pgt *t, uint64_t pa)
{
	return desc_of_address(t, pa) | DESC_TYPE;
}

PGT_INLINE uint64_t arch_pa(const struct pgt *t, uint64_t raw, int level)
{
	return desc_address(t, raw) & ~level_mask(t, level);
}

/* A broken entry made valid again. NOACCESS leaves are never broken. */
PGT_INLINE uint64_t desc_mend(uint64_t raw)
{
	return arch_broken(raw) ? (raw & ~INVALID_KIND) | DESC_VALID : raw;
}

/* The same leaf, not broken, at a level and PA, with or without the hint. */
PGT_INLINE uint64_t arch_place(const struct pgt *t, uint64_t raw, int level, uint64_t pa, bool run)
{
	const uint64_t address = arm64(t)->address | arm64(t)->split;

	raw = desc_mend(raw) & ~(address | DESC_CONTIG | DESC_TABLE);
	return raw | desc_of_address(t, pa) | (level == PGT_LAST_LEVEL ? DESC_TABLE : 0) | (run ? DESC_CONTIG : 0);
}

#define arch_stride_last arch_stride_last
/* Up to this PA neighbouring leaves are a step apart; there the address carries
 * into bits that stand elsewhere. */
PGT_INLINE uint64_t arch_stride_last(const struct pgt *t, uint64_t pa)
{
	return pa | arm64(t)->address | (granule(t) - 1);
}

/* Whether the leaf carries the hint. */
PGT_INLINE bool arch_run(uint64_t raw)
{
	return raw & DESC_CONTIG;
}

/* The inaccessible entry that stands in a leaf's or table's place while it is
 * broken: everything but access is kept. */
PGT_INLINE uint64_t arch_break(uint64_t raw)
{
	if (!(raw & DESC_VALID))
		return raw;
	return (raw & ~(DESC_VALID | INVALID_KIND)) | INVALID_BROKEN;
}

PGT_INLINE uint64_t arch_token(uint64_t raw)
{
	return (raw & TOKEN_MASK) >> TOKEN_SHIFT;
}

#define arch_token_bits 59
static inline uint64_t arch_make_token(uint64_t token)
{
	return token << TOKEN_SHIFT | INVALID_TOKEN;
}

#endif
