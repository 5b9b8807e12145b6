/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What is configured: features, sizes, and which levels have leaves and runs. */
#ifndef PGT_ARM64_CONFIGURE_H
#define PGT_ARM64_CONFIGURE_H

#include "../../lib/pgt.h"
#include <pgtable/arm64.h>

/* The backend's own words in struct pgt. */
struct PGT_INSIDE arm64 {
	struct pgt_arm64_config config; /* in force */
	uint8_t regime;                 /* PGT_ARM64_EL1, _EL2 or _S2 */
};

_Static_assert(sizeof(struct arm64) <= sizeof(((struct pgt *)0)->arch), "it fits");

static inline const struct arm64 *arm64(const struct pgt *t)
{
	return (const struct arm64 *)t->arch;
}

/* Write-back, non-cacheable, write-through, nGnRE, nGnRnE. */
#define MAIR_DEFAULT UINT64_C(0x0000000004bb44ff)

#define ARM64_FEATURES                                                                         \
	(PGT_FEAT_CONTIG | PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG |      \
	 PGT_FEAT_TRACK_DIRTY | PGT_FEAT_BBM1 | PGT_FEAT_BBM2 | PGT_FEAT_UPPER |               \
	 PGT_FEAT_TLBI_RANGE | PGT_FEAT_TTL | PGT_FEAT_PARALLEL | PGT_FEAT_NO_BLOCKS |         \
	 PGT_FEAT_EXEC_BBM)

/* The code of an output size in TCR.IPS, or -1: only these exist. */
static inline int arm64_size_code(unsigned output_bits)
{
	static const uint8_t sizes[] = { 32, 36, 40, 42, 44, 48 };

	for (unsigned i = 0; i < sizeof sizes; i++)
		if (sizes[i] == output_bits)
			return (int)i;
	return -1;
}

/* Which levels have leaves and runs, by granule (D8.3.1, table D8-98 and on). */
static inline int arm64_geometry(struct pgt *t)
{
	switch (t->granule_bits) {
	case 12:
		t->leaf_levels = 1 << (1 + 1) | 1 << (2 + 1) | 1 << (3 + 1);
		t->run_bits[1 + 1] = t->run_bits[2 + 1] = t->run_bits[3 + 1] = 4;
		return PGT_OK;
	case 14:
		t->leaf_levels = 1 << (2 + 1) | 1 << (3 + 1);
		t->run_bits[2 + 1] = 5;
		t->run_bits[3 + 1] = 7;
		return PGT_OK;
	case 16:
		t->leaf_levels = 1 << (2 + 1) | 1 << (3 + 1);
		t->run_bits[2 + 1] = t->run_bits[3 + 1] = 5;
		return PGT_OK;
	default:
		return PGT_ENOTSUP;
	}
}

static inline int arch_configure(struct pgt *t, const struct pgt_config *config)
{
	const struct pgt_arm64_config *own = config->format_config;
	struct arm64 *a = (struct arm64 *)t->arch;

	if (own && own->size < sizeof *own)
		return PGT_EINVAL;
	if ((t->features & ~ARM64_FEATURES) || t->input_bits < 25 || t->input_bits > 48 ||
	    arm64_size_code(t->output_bits) < 0)
		return PGT_ENOTSUP;
	a->regime = PGT_ARM64_EL1;
	a->config = (struct pgt_arm64_config){ .size = sizeof a->config };
	a->config.mair = own && own->mair ? own->mair : MAIR_DEFAULT;
	t->format_config = &a->config;
	return arm64_geometry(t);
}

#endif
