/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The register values that make a CPU use these tables (Arm ARM D19.2). */
#include "arm64.h"
#include "configure.h"
#include "registers.h"

/* Of pgt_arm64_regs.features: what the registers themselves don't say. */
#define SHOWN                                                                                  \
	(PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_UPPER | PGT_FEAT_LPA2 | PGT_FEAT_FWB)

/* The granule has one code in TG0 and another in TG1. */
static uint64_t granule_code(const struct pgt *t, bool upper)
{
	switch (t->granule_bits) {
	case 12: return upper ? 2 : 0;
	case 14: return upper ? 1 : 2;
	default: return upper ? 3 : 1;
	}
}

static uint64_t output_code(const struct pgt *t)
{
	return (uint64_t)arm64_size_code(t->output_bits);
}

/* A root's address as TTBRn and VTTBR have it (D24.2.193). */
static uint64_t root_bits(const struct pgt *t)
{
	uint64_t pa = t->root_pa;

	return (pa & ~(UINT64_MAX << 48)) | (pa >> TTBR_HIGH_UP & TTBR_HIGH);
}

static uint64_t if_feature(const struct pgt *t, uint64_t feature, uint64_t bits)
{
	return t->features & feature ? bits : 0;
}

/* ---- EL1&0 ------------------------------------------------------------- */

/* Whether two halves agree in what one register holds for both. */
static bool agree(const struct pgt *a, const struct pgt *b)
{
	const uint64_t shared = PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_LPA2;
	const struct pgt_arm64_config *one = &arm64(a)->config, *other = &arm64(b)->config;

	return a->output_bits == b->output_bits && one->mair == other->mair &&
	       !((one->controls ^ other->controls) & PGT_ARM64_WXN) && !((a->features ^ b->features) & shared);
}

static uint64_t controls(const struct pgt *t)
{
	return t ? arm64(t)->config.controls : 0;
}

static void make_el1(const struct pgt *lower, const struct pgt *upper, struct pgt_arm64_regs *regs)
{
	/* A half that is off takes the other's geometry, which is legal. */
	const struct pgt *low = lower ? lower : upper, *high = upper ? upper : lower;

	regs->ttbr0 = lower ? root_bits(lower) : 0;
	regs->ttbr1 = upper ? root_bits(upper) : 0;
	regs->tcr = TCR_CACHED0 | TCR_CACHED1 | (uint64_t)(64 - low->input_bits) << TCR_T0SZ_SHIFT |
		    (uint64_t)(64 - high->input_bits) << TCR_T1SZ_SHIFT |
		    granule_code(low, false) << TCR_TG0_SHIFT | granule_code(high, true) << TCR_TG1_SHIFT |
		    (lower ? 0 : TCR_EPD0) | (upper ? 0 : TCR_EPD1) | output_code(low) << TCR_IPS_SHIFT |
		    if_feature(low, PGT_FEAT_HW_YOUNG, TCR_HA) | if_feature(low, PGT_FEAT_HW_DIRTY, TCR_HD) |
		    if_feature(low, PGT_FEAT_LPA2, TCR_DS) |
		    (controls(lower) & PGT_ARM64_HPD ? TCR_HPD0 : 0) |
		    (controls(upper) & PGT_ARM64_HPD ? TCR_HPD1 : 0);
}

/* ---- EL2 --------------------------------------------------------------- */

static void make_el2(const struct pgt *t, struct pgt_arm64_regs *regs)
{
	regs->ttbr0 = root_bits(t);
	regs->tcr = TCR_EL2_RES1 | TCR_CACHED0 | (uint64_t)(64 - t->input_bits) << TCR_T0SZ_SHIFT |
		    granule_code(t, false) << TCR_TG0_SHIFT | output_code(t) << TCR_EL2_PS_SHIFT |
		    if_feature(t, PGT_FEAT_HW_YOUNG, TCR_EL2_HA) | if_feature(t, PGT_FEAT_HW_DIRTY, TCR_EL2_HD) |
		    if_feature(t, PGT_FEAT_LPA2, TCR_EL2_DS) | (controls(t) & PGT_ARM64_HPD ? TCR_EL2_HPD : 0);
}

/* ---- Stage 2 ----------------------------------------------------------- */

/* SL0, and SL2 for level -1 (D24.2.202). */
static uint64_t start_code(const struct pgt *t)
{
	int start = t->start_level;

	if (start < 0)
		return VTCR_SL2;
	if (t->granule_bits == 12)
		return (uint64_t)(start == PGT_LAST_LEVEL ? 3 : 2 - start) << VTCR_SL0_SHIFT;
	return (uint64_t)(PGT_LAST_LEVEL - start) << VTCR_SL0_SHIFT;
}

static void make_s2(const struct pgt *t, struct pgt_arm64_regs *regs)
{
	regs->vttbr = root_bits(t);
	regs->vtcr = VTCR_RES1 | TCR_CACHED0 | (uint64_t)(64 - t->input_bits) << TCR_T0SZ_SHIFT | start_code(t) |
		     granule_code(t, false) << TCR_TG0_SHIFT | output_code(t) << VTCR_PS_SHIFT |
		     if_feature(t, PGT_FEAT_HW_YOUNG, VTCR_HA) | if_feature(t, PGT_FEAT_HW_DIRTY, VTCR_HD) |
		     if_feature(t, PGT_FEAT_LPA2, VTCR_DS);
	regs->hcr = HCR_VM | HCR_RW | if_feature(t, PGT_FEAT_FWB, HCR_FWB);
}

/* ---- All --------------------------------------------------------------- */

static bool usable(const struct pgt *t, bool upper)
{
	bool ours = !t || t->backend == &pgt_arm64_backend || t->backend == &pgt_arm64_s2_backend;

	return ours && (!t || !(t->features & PGT_FEAT_UPPER) == !upper);
}

static void copy_out(struct pgt_arm64_regs *regs, struct pgt_arm64_regs *made)
{
	uint32_t size = regs->size < sizeof *made ? regs->size : (uint32_t)sizeof *made;
	const unsigned char *from = (const void *)made;

	made->size = size;
	for (uint32_t i = 0; i < size; i++)
		((unsigned char *)regs)[i] = from[i];
}

int pgt_arm64_regs(const struct pgt *lower, const struct pgt *upper, struct pgt_arm64_regs *regs)
{
	const struct pgt *any = lower ? lower : upper;
	struct pgt_arm64_regs made = { 0 };

	if (!any || !regs || regs->size < sizeof regs->size || !usable(lower, false) || !usable(upper, true))
		return PGT_EINVAL;
	made.regime = arm64(any)->regime;
	if (lower && upper && (made.regime != PGT_ARM64_EL1 || !agree(lower, upper)))
		return PGT_EINVAL;
	made.features = ((lower ? lower->features : 0) | (upper ? upper->features : 0)) & ~SHOWN;
	if (made.regime == PGT_ARM64_S2) {
		make_s2(any, &made);
	} else {
		made.mair = arm64(any)->config.mair;
		made.sctlr = SCTLR_M | SCTLR_C | (controls(any) & PGT_ARM64_WXN ? SCTLR_WXN : 0);
		if (made.regime == PGT_ARM64_EL2)
			make_el2(any, &made);
		else
			make_el1(lower, upper, &made);
	}
	copy_out(regs, &made);
	return PGT_OK;
}
