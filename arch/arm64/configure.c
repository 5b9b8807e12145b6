/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the architecture has what is configured, and what follows from it. */
#include "configure.h"
#include "arm64.h"

/* Write-back, non-cacheable, write-through, nGnRE, nGnRnE. */
#define MAIR_DEFAULT UINT64_C(0x0000000004bb44ff)

#define FEATURES_ANY                                                                           \
	(PGT_FEAT_CONTIG | PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG |      \
	 PGT_FEAT_TRACK_DIRTY | PGT_FEAT_BBM1 | PGT_FEAT_BBM2 | PGT_FEAT_ST |                  \
	 PGT_FEAT_TLBI_RANGE | PGT_FEAT_TTL | PGT_FEAT_PARALLEL | PGT_FEAT_NO_BLOCKS |         \
	 PGT_FEAT_EXEC_BBM)

/* The formats, told apart by what follows "arm64-". */
static int find_regime(const char *format)
{
	const char *suffix = format + 5;

	if (suffix[0] && suffix[1] == 'e')
		return PGT_ARM64_EL2;
	return suffix[0] && suffix[1] == 's' ? PGT_ARM64_S2 : PGT_ARM64_EL1;
}

static uint64_t known_features(const struct pgt *t, int regime)
{
	uint64_t known = FEATURES_ANY | (t->granule_bits == 16 ? PGT_FEAT_LPA | PGT_FEAT_LVA : PGT_FEAT_LPA2);

	if (regime == PGT_ARM64_S2)
		return known | PGT_FEAT_XNX | PGT_FEAT_FWB;
	return regime == PGT_ARM64_EL1 ? known | PGT_FEAT_UPPER : known;
}

/* Which levels have leaves and runs, by granule (D8.3.1, D8.7.1). */
static void set_leaves(struct pgt *t)
{
	bool larger = t->features & (PGT_FEAT_LPA | PGT_FEAT_LPA2);

	t->leaf_levels = 1 << (2 + 1) | 1 << (3 + 1);
	switch (t->granule_bits) {
	case 12:
		t->leaf_levels |= (uint8_t)(1 << (1 + 1) | (larger ? 1 << (0 + 1) : 0));
		t->run_bits[1 + 1] = t->run_bits[2 + 1] = t->run_bits[3 + 1] = 4;
		break;
	case 14:
		t->leaf_levels |= (uint8_t)(larger ? 1 << (1 + 1) : 0);
		t->run_bits[2 + 1] = 5;
		t->run_bits[3 + 1] = 7;
		break;
	default:
		t->leaf_levels |= (uint8_t)(larger ? 1 << (1 + 1) : 0);
		t->run_bits[2 + 1] = t->run_bits[3 + 1] = 5;
	}
}

/* Where addresses stand in descriptors (D8.3.1). */
static void set_addresses(struct pgt *t, struct arm64 *a)
{
	a->address = ADDRESS_48;
	if (t->features & PGT_FEAT_LPA) {
		a->address = ADDRESS_LPA;
		a->split = SPLIT_LPA;
		a->split_shift = SPLIT_LPA_SHIFT;
	} else if (t->features & PGT_FEAT_LPA2) {
		a->address = ADDRESS_LPA2;
		a->split = SPLIT_LPA2;
		a->split_shift = SPLIT_LPA2_SHIFT;
	}
	a->beyond = desc_of_address(t, beyond_output(t));
}

static unsigned most_input_bits(const struct pgt *t, int regime)
{
	uint64_t larger = regime == PGT_ARM64_S2 ? PGT_FEAT_LPA : PGT_FEAT_LVA;
	unsigned most = t->features & (PGT_FEAT_LPA2 | larger) ? 52 : 48;

	/* An intermediate address is an output address of stage 1 (D8.2.3). */
	return regime == PGT_ARM64_S2 && t->output_bits < most ? t->output_bits : most;
}

static bool sizes_exist(const struct pgt *t, int regime)
{
	unsigned smallest = t->granule_bits == 16 ? 17 : 16;
	unsigned most_output = t->features & (PGT_FEAT_LPA | PGT_FEAT_LPA2) ? 52 : 48;

	if (!(t->features & PGT_FEAT_ST))
		smallest = 25;
	return t->input_bits >= smallest && t->input_bits <= most_input_bits(t, regime) &&
	       arm64_size_code(t->output_bits) >= 0 && t->output_bits <= most_output;
}

/* Whether stage 2 can start with so many levels of tables (D8.2.2, VTCR_EL2.SL0). */
static bool start_exists(const struct pgt *t, unsigned levels)
{
	int start = PGT_LAST_LEVEL + 1 - (int)levels;
	bool lpa2 = t->features & PGT_FEAT_LPA2;

	if (!arm64_levels_fit(t->granule_bits, t->input_bits, levels))
		return false;
	switch (t->granule_bits) {
	case 12:
		if (start == PGT_LAST_LEVEL)
			return t->features & PGT_FEAT_ST;
		return start > 0 || (start == 0 ? t->output_bits >= 44 : lpa2);
	case 14:
		return start > 1 || (start == 1 ? t->output_bits >= 42 :
						 start == 0 && lpa2 && t->output_bits == 52);
	default:
		return start > 1 || (start == 1 && t->output_bits >= 44);
	}
}

/* The fewest levels that can be, or those asked for; 0: none can. */
static unsigned find_levels(const struct pgt *t, unsigned asked)
{
	for (unsigned levels = 1; levels <= PGT_LEVELS; levels++)
		if ((!asked || levels == asked) && start_exists(t, levels))
			return levels;
	return 0;
}

static int check_own(const struct pgt_arm64_config *own, int regime)
{
	bool stage2 = regime == PGT_ARM64_S2;

	if (!own)
		return PGT_OK;
	if (own->size < sizeof *own || (own->controls & ~(PGT_ARM64_WXN | PGT_ARM64_HPD)))
		return PGT_EINVAL;
	return stage2 ? (own->mair || own->controls ? PGT_ENOTSUP : PGT_OK) :
			(own->levels ? PGT_ENOTSUP : PGT_OK);
}

static void set_regime(struct pgt *t, struct arm64 *a, const struct pgt_arm64_config *own, int regime)
{
	a->regime = (uint8_t)regime;
	a->config = (struct pgt_arm64_config){ .size = sizeof a->config };
	t->format_config = &a->config;
	if (regime == PGT_ARM64_S2) {
		a->config.levels = t->levels;
		t->backend = &pgt_arm64_s2_backend;
		return;
	}
	a->config.controls = own ? own->controls : 0;
	a->config.mair = own && own->mair ? own->mair : MAIR_DEFAULT;
	if (!(a->config.controls & PGT_ARM64_HPD))
		a->inherited = regime == PGT_ARM64_EL2 ?
				       DESC_UXN_TABLE | DESC_AP1_TABLE :
				       DESC_PXN_TABLE | DESC_UXN_TABLE | DESC_AP0_TABLE | DESC_AP1_TABLE;
	a->not_global = regime == PGT_ARM64_EL1 ? DESC_NG : 0;
}

int pgt_arm64_configure(struct pgt *t, const struct pgt_config *config)
{
	const struct pgt_arm64_config *own = config->format_config;
	struct arm64 *a = (struct arm64 *)t->arch;
	int regime = find_regime(t->format), status = check_own(own, regime);

	if (status != PGT_OK)
		return status;
	if ((t->granule_bits != 12 && t->granule_bits != 14 && t->granule_bits != 16) ||
	    (t->features & ~known_features(t, regime)) || !sizes_exist(t, regime))
		return PGT_ENOTSUP;
	if (regime == PGT_ARM64_S2) {
		t->levels = (uint8_t)find_levels(t, own ? own->levels : 0);
		if (!t->levels)
			return PGT_ENOTSUP;
	}
	set_leaves(t);
	set_addresses(t, a);
	set_regime(t, a, own, regime);
	return PGT_OK;
}
