/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The register values that make a CPU use these tables (Arm ARM D19.2). */
#include "../../lib/call.h"
#include "configure.h"
#include "layout.h"

#define TCR_T0SZ_SHIFT 0
#define TCR_EPD0       BIT(7)
#define TCR_CACHED0    (UINT64_C(1) << 8 | UINT64_C(1) << 10 | UINT64_C(3) << 12) /* IRGN, ORGN, SH */
#define TCR_TG0_SHIFT  14
#define TCR_T1SZ_SHIFT 16
#define TCR_EPD1       BIT(23)
#define TCR_CACHED1    (UINT64_C(1) << 24 | UINT64_C(1) << 26 | UINT64_C(3) << 28)
#define TCR_TG1_SHIFT  30
#define TCR_IPS_SHIFT  32
#define TCR_HA         BIT(39)
#define TCR_HD         BIT(40)

#define SCTLR_M BIT(0)
#define SCTLR_C BIT(2)

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
