/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is configured: the regime, features and sizes, which levels have leaves
 * and runs, and where addresses stand in descriptors.
 */
#ifndef PGT_ARM64_CONFIGURE_H
#define PGT_ARM64_CONFIGURE_H

#include "../../lib/pgt.h"
#include <pgtable/arm64.h>
#include "layout.h"

/* The backend's own words in struct pgt. */
struct PGT_INSIDE arm64 {
	struct pgt_arm64_config config; /* in force */
	uint64_t address;    /* descriptor bits that are address bits of the same number, ... */
	uint64_t split;      /* ... and those whose address bits are split_shift higher */
	uint64_t beyond;     /* what of them no output address has */
	uint64_t inherited;  /* permission bits of a table entry that count */
	uint64_t not_global; /* DESC_NG, where leaves can be global */
	uint8_t split_shift;
	uint8_t regime;      /* PGT_ARM64_EL1, _EL2 or _S2 */
};

_Static_assert(sizeof(struct arm64) <= sizeof(((struct pgt *)0)->arch), "the backend's words fit");

PGT_INLINE const struct arm64 *arm64(const struct pgt *t)
{
	return (const struct arm64 *)t->arch;
}

/* The address in a descriptor, not masked to its level; and such an address as descriptor bits. */
PGT_INLINE uint64_t desc_address(const struct pgt *t, uint64_t raw)
{
	return (raw & arm64(t)->address) | (raw & arm64(t)->split) << arm64(t)->split_shift;
}

PGT_INLINE uint64_t desc_of_address(const struct pgt *t, uint64_t pa)
{
	return (pa & arm64(t)->address) | (pa >> arm64(t)->split_shift & arm64(t)->split);
}

/* Whether PA[51:50] stand in place of the shareability (TCR.DS). */
PGT_INLINE bool arm64_no_sh(const struct pgt *t)
{
	return t->features & PGT_FEAT_LPA2;
}

/* At stage 2 up to 16 tables stand side by side as the root. */
#define ROOT_TABLES_BITS 4

/* Whether so many levels of tables go with an input size at stage 2 (D8.2.2). */
static inline bool arm64_levels_fit(unsigned granule_bits, unsigned input_bits, unsigned levels)
{
	unsigned index_bits = granule_bits - 3, below = granule_bits + (levels - 1) * index_bits;

	return input_bits > below && input_bits <= below + index_bits + ROOT_TABLES_BITS;
}

/* The code of an output size in TCR.IPS and the like, or -1: only these exist. */
static inline int arm64_size_code(unsigned output_bits)
{
	static const uint8_t sizes[] = { 32, 36, 40, 42, 44, 48, 52 };

	for (unsigned i = 0; i < sizeof sizes; i++)
		if (sizes[i] == output_bits)
			return (int)i;
	return -1;
}

#endif
