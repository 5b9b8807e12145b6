/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The register values that make a CPU use these tables (Arm ARM D19.2). */
#include "../../lib/call.h"
#include "configure.h"
#include "registers.h"

extern const struct pgt_backend pgt_arm64_backend;

/* The granule has one code in TG0 and another in TG1. */
static uint64_t granule_code(const struct pgt *t, bool upper)
{
	switch (t->granule_bits) {
	case 12: return upper ? 2 : 0;
	case 14: return upper ? 1 : 2;
	default: return upper ? 3 : 1;
	}
}

static bool usable(const struct pgt *t, bool upper)
{
	return !t || (t->backend == &pgt_arm64_backend && !(t->features & PGT_FEAT_UPPER) == !upper);
}

/* Whether two halves agree in what one register holds for both. */
static bool agree(const struct pgt *a, const struct pgt *b)
{
	const uint64_t walker = PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY;

	return a->output_bits == b->output_bits && arm64(a)->config.mair == arm64(b)->config.mair &&
	       !((a->features ^ b->features) & walker);
}

static uint64_t make_tcr(const struct pgt *lower, const struct pgt *upper)
{
	const struct pgt *low = lower ? lower : upper, *high = upper ? upper : lower;
	uint64_t tcr = TCR_CACHED0 | TCR_CACHED1;

	/* A half that is off takes the other's geometry, which is legal. */
	tcr |= (uint64_t)(64 - low->input_bits) << TCR_T0SZ_SHIFT;
	tcr |= (uint64_t)(64 - high->input_bits) << TCR_T1SZ_SHIFT;
	tcr |= granule_code(low, false) << TCR_TG0_SHIFT;
	tcr |= granule_code(high, true) << TCR_TG1_SHIFT;
	tcr |= lower ? 0 : TCR_EPD0;
	tcr |= upper ? 0 : TCR_EPD1;
	tcr |= (uint64_t)arm64_size_code(low->output_bits) << TCR_IPS_SHIFT;
	tcr |= low->features & PGT_FEAT_HW_YOUNG ? TCR_HA : 0;
	tcr |= low->features & PGT_FEAT_HW_DIRTY ? TCR_HD : 0;
	return tcr;
}

int pgt_arm64_regs(const struct pgt *lower, const struct pgt *upper, struct pgt_arm64_regs *regs)
{
	const uint64_t shown = PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_UPPER;
	const struct pgt *any = lower ? lower : upper;
	const unsigned char *from;
	struct pgt_arm64_regs made;
	uint32_t size;

	if (!any || !regs || regs->size < sizeof regs->size || !usable(lower, false) || !usable(upper, true))
		return PGT_EINVAL;
	if (lower && upper && !agree(lower, upper))
		return PGT_EINVAL;
	size = regs->size < sizeof made ? regs->size : (uint32_t)sizeof made;
	made = (struct pgt_arm64_regs){
		.size = size,
		.regime = PGT_ARM64_EL1,
		.ttbr0 = lower ? lower->root_pa : 0,
		.ttbr1 = upper ? upper->root_pa : 0,
		.tcr = make_tcr(lower, upper),
		.mair = arm64(any)->config.mair,
		.sctlr = SCTLR_M | SCTLR_C,
		.features = any->features & ~shown,
	};
	from = (const void *)&made;
	for (uint32_t i = 0; i < size; i++)
		((unsigned char *)regs)[i] = from[i];
	return PGT_OK;
}
