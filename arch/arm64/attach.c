/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Register values to the configuration of the tables that they lead to. */
#include "configure.h"
#include "decode.h"
#include "registers.h"

#define FEATURES_KNOWN (2 * PGT_FEAT_EXEC_BBM - 1)

/* Where the control register of a half has what a walk depends on: shifts, and
 * masks that are zero for what the regime hasn't. */
struct fields {
	uint8_t size, share, granule, output;
	uint64_t disable, top_byte, top_data, no_user, hpd, ha, hd, ds;
};

static const struct fields el1_lower = {
	.size = TCR_T0SZ_SHIFT, .share = TCR_SH0_SHIFT, .granule = TCR_TG0_SHIFT, .output = TCR_IPS_SHIFT,
	.disable = TCR_EPD0, .top_byte = TCR_TBI0, .top_data = TCR_TBID0, .no_user = TCR_E0PD0,
	.hpd = TCR_HPD0, .ha = TCR_HA, .hd = TCR_HD, .ds = TCR_DS,
};

static const struct fields el1_upper = {
	.size = TCR_T1SZ_SHIFT, .share = TCR_SH1_SHIFT, .granule = TCR_TG1_SHIFT, .output = TCR_IPS_SHIFT,
	.disable = TCR_EPD1, .top_byte = TCR_TBI1, .top_data = TCR_TBID1, .no_user = TCR_E0PD1,
	.hpd = TCR_HPD1, .ha = TCR_HA, .hd = TCR_HD, .ds = TCR_DS,
};

static const struct fields el2 = {
	.size = TCR_T0SZ_SHIFT, .share = TCR_SH0_SHIFT, .granule = TCR_TG0_SHIFT, .output = TCR_EL2_PS_SHIFT,
	.top_byte = TCR_EL2_TBI, .top_data = TCR_EL2_TBID,
	.hpd = TCR_EL2_HPD, .ha = TCR_EL2_HA, .hd = TCR_EL2_HD, .ds = TCR_EL2_DS,
};

static const struct fields stage2 = {
	.size = TCR_T0SZ_SHIFT, .share = TCR_SH0_SHIFT, .granule = TCR_TG0_SHIFT, .output = VTCR_PS_SHIFT,
	.ha = VTCR_HA, .hd = VTCR_HD, .ds = VTCR_DS,
};

static const struct fields *find_fields(uint32_t regime, int half)
{
	if (half == PGT_ARM64_UPPER)
		return regime == PGT_ARM64_EL1 ? &el1_upper : NULL;
	if (half != PGT_ARM64_LOWER)
		return NULL;
	return regime == PGT_ARM64_EL1 ? &el1_lower : regime == PGT_ARM64_EL2 ? &el2 : &stage2;
}

/* Values of a later release may be more, if the rest is zero. */
static int check_size(const struct pgt_arm64_regs *regs)
{
	const unsigned char *bytes = (const void *)regs;

	if (regs->size < sizeof *regs)
		return PGT_EINVAL;
	for (uint32_t i = sizeof *regs; i < regs->size; i++)
		if (bytes[i])
			return PGT_ENOTSUP;
	return PGT_OK;
}

int pgt_arm64_regs_check(const struct pgt_arm64_regs *regs)
{
	int status = regs ? check_size(regs) : PGT_EINVAL;

	if (status == PGT_EINVAL || regs->regime < PGT_ARM64_EL1 || regs->regime > PGT_ARM64_S2)
		return PGT_EINVAL;
	/* With E2H TCR_EL2 is laid out as TCR_EL1: that is regime PGT_ARM64_EL1. */
	if (regs->regime == PGT_ARM64_EL2 && (regs->hcr & HCR_E2H))
		return PGT_EINVAL;
	/* EE: tables are big-endian (SCTLR_EL1; SCTLR_EL2's is for EL2 and stage 2). */
	if ((regs->sctlr & SCTLR_EE) || (regs->tcr2 & TCR2_UNKNOWN) || (regs->features & ~FEATURES_KNOWN))
		return PGT_ENOTSUP;
	return status;
}

/* Whether EL2 is a host's, for whose EL0 HCR_EL2's other bits do nothing. */
static bool is_host(uint64_t hcr)
{
	return (hcr & HCR_E2H) && (hcr & HCR_TGE);
}

bool pgt_arm64_defaults(uint64_t hcr)
{
	return (hcr & HCR_DC) && !is_host(hcr);
}

/* SCTLR.M, and what overrides it for EL1&0 (D8.2.10). */
bool pgt_arm64_regs_on(const struct pgt_arm64_regs *regs)
{
	bool defaults = pgt_arm64_defaults(regs->hcr);

	if (regs->regime == PGT_ARM64_S2)
		return defaults || (regs->hcr & HCR_VM);
	if (regs->regime == PGT_ARM64_EL1 && (defaults || ((regs->hcr & HCR_TGE) && !is_host(regs->hcr))))
		return false;
	return regs->sctlr & SCTLR_M;
}

/* TG0 and TG1 have other codes for the same granule; 0: reserved. */
static uint8_t granule_bits(uint64_t code, bool upper)
{
	static const uint8_t low[] = { 12, 16, 14, 0 }, high[] = { 0, 14, 12, 16 };

	return upper ? high[code] : low[code];
}

/* IPS or PS; 0: reserved. 52 bits are had with 64K or with DS, else it is 48 (D8.1.8). */
static uint8_t output_bits(uint64_t code, bool wide)
{
	static const uint8_t bits[] = { 32, 36, 40, 42, 44, 48, 52, 0 };

	return code == 6 && !wide ? 48 : bits[code];
}

/* TxSZ within its limits (D8.2.4); which features the CPU then has is plain. */
static bool size_is_legal(const struct decoded *d, unsigned size)
{
	bool wide = d->config.granule_bits == 16 || (d->config.features & PGT_FEAT_LPA2);

	return size >= (wide ? 12 : 16) && size <= (d->config.granule_bits == 16 ? 47 : 48);
}

/* The level that SL0 and SL2 stand for, by granule (VTCR_EL2), or PGT_LEVEL_UNKNOWN. */
static int start_level(uint64_t vtcr, unsigned granule, bool lpa2)
{
	static const int8_t four[] = { 2, 1, 0, 3 };
	unsigned sl0 = (unsigned)(vtcr >> VTCR_SL0_SHIFT & VTCR_SL0);

	if (granule == 12) {
		if (!lpa2 || !(vtcr & VTCR_SL2))
			return four[sl0];
		return sl0 == 0 ? -1 : PGT_LEVEL_UNKNOWN;
	}
	return sl0 == 3 && !(granule == 14 && lpa2) ? PGT_LEVEL_UNKNOWN : 3 - (int)sl0;
}

/* Stage 2: how many levels; false where T0SZ doesn't go with them (D8.2.2). */
static bool decode_start(struct decoded *d, uint64_t vtcr)
{
	unsigned granule = d->config.granule_bits, levels;
	int start = start_level(vtcr, granule, d->config.features & PGT_FEAT_LPA2);

	if (start == PGT_LEVEL_UNKNOWN)
		return false;
	levels = (unsigned)(PGT_LAST_LEVEL + 1 - start);
	d->own.levels = (uint16_t)levels;
	if (granule == 12 && levels == 1)
		d->config.features |= PGT_FEAT_ST;
	/* An intermediate address is an output address of stage 1's (D8.2.3). */
	return arm64_levels_fit(granule, d->config.input_bits, levels) &&
	       d->config.input_bits <= d->config.output_bits;
}

static uint64_t find_root(uint64_t ttbr, unsigned output)
{
	uint64_t low = ttbr & TTBR_BADDR;

	return output > 48 ? (low & ~(TTBR_HIGH | 2)) | (ttbr & TTBR_HIGH) << TTBR_HIGH_UP : low;
}

/* What the registers show, and what they imply that the CPU has. */
static uint64_t find_features(const struct pgt_arm64_regs *regs, const struct fields *f, uint64_t tcr)
{
	const uint64_t shown = PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_UPPER |
			       PGT_FEAT_LPA2 | PGT_FEAT_LVA | PGT_FEAT_ST | PGT_FEAT_FWB;
	uint64_t features = regs->features & ~shown;

	if (regs->regime != PGT_ARM64_S2)
		features &= ~PGT_FEAT_XNX;
	else if (regs->hcr & HCR_FWB)
		features |= PGT_FEAT_FWB;
	features |= tcr & f->ha ? PGT_FEAT_HW_YOUNG : 0;
	features |= (tcr & f->ha) && (tcr & f->hd) ? PGT_FEAT_HW_DIRTY : 0;
	return features | (f == &el1_upper ? PGT_FEAT_UPPER : 0);
}

static const char *find_format(uint32_t regime)
{
	return regime == PGT_ARM64_EL1 ? "arm64" : regime == PGT_ARM64_EL2 ? "arm64-el2" : "arm64-s2";
}

static void decode_controls(const struct pgt_arm64_regs *regs, const struct fields *f, struct decoded *d)
{
	bool second = regs->regime == PGT_ARM64_S2;
	uint64_t tcr = second ? regs->vtcr : regs->tcr;

	d->own.size = sizeof d->own;
	d->own.mair = second ? 0 : regs->mair;
	d->own.controls = (uint16_t)((tcr & f->hpd ? PGT_ARM64_HPD : 0) |
				     (!second && (regs->sctlr & SCTLR_WXN) ? PGT_ARM64_WXN : 0));
	d->sh = tcr >> f->share & TCR_SHARE;
	d->top_byte = tcr & f->top_byte;
	d->top_fetched = !(tcr & f->top_data);
	d->no_user = tcr & f->no_user;
}

int pgt_arm64_decode(const struct pgt_arm64_regs *regs, int half, struct decoded *d)
{
	const struct fields *f = find_fields(regs->regime, half);
	bool second = regs->regime == PGT_ARM64_S2, large;
	uint64_t tcr = second ? regs->vtcr : regs->tcr;
	struct pgt_config *c = &d->config;
	unsigned size;

	*d = (struct decoded){ .config = { .size = sizeof d->config, .format = find_format(regs->regime) } };
	if (!f)
		return PGT_EINVAL;
	decode_controls(regs, f, d);
	if (tcr & f->disable)
		return PGT_ENOENT;
	c->granule_bits = granule_bits(tcr >> f->granule & TCR_GRANULE, f == &el1_upper);
	large = c->granule_bits == 16;
	c->output_bits = output_bits(tcr >> f->output & TCR_OUTPUT, large || (tcr & f->ds));
	if (!c->granule_bits || !c->output_bits)
		return PGT_ENOTSUP;
	c->features = find_features(regs, f, tcr);
	c->features |= !large && (tcr & f->ds) ? PGT_FEAT_LPA2 : 0;
	/* Blocks at level 1 go with FEAT_LPA, whatever PS says. */
	c->features = large ? c->features | (c->output_bits == 52 ? PGT_FEAT_LPA : 0) : c->features & ~PGT_FEAT_LPA;
	size = (unsigned)(tcr >> f->size & TCR_SIZE);
	if (!size_is_legal(d, size))
		return PGT_EFAULT;
	c->input_bits = (uint8_t)(64 - size);
	c->features |= large && !second && size < 16 ? PGT_FEAT_LVA : 0;
	c->features |= size > 39 ? PGT_FEAT_ST : 0;
	d->root_pa = find_root(second ? regs->vttbr : f == &el1_upper ? regs->ttbr1 : regs->ttbr0, c->output_bits);
	return second && !decode_start(d, tcr) ? PGT_EFAULT : PGT_OK;
}

#if PGT_HAVE_HOSTED
int pgt_arm64_attach(const struct pgt_arm64_regs *regs, const struct pgt_memory *memory, int half, struct pgt **t)
{
	struct decoded d;
	int status = memory && t ? pgt_arm64_regs_check(regs) : PGT_EINVAL;

	if (status == PGT_OK && !find_fields(regs->regime, half))
		status = PGT_EINVAL;
	if (status == PGT_OK && !pgt_arm64_regs_on(regs))
		status = PGT_ENOENT;
	if (status == PGT_OK)
		status = pgt_arm64_decode(regs, half, &d);
	if (status != PGT_OK)
		return status == PGT_EFAULT ? PGT_EINVAL : status;
	d.config.memory = *memory;
	d.config.format_config = &d.own;
	status = pgt_attach(&d.config, d.root_pa, t);
	/* A configuration has 0 for the library's own MAIR; a register means it. */
	if (status == PGT_OK)
		((struct arm64 *)(*t)->arch)->config.mair = d.own.mair;
	return status;
}
#else
int pgt_arm64_attach(const struct pgt_arm64_regs *regs, const struct pgt_memory *memory, int half, struct pgt **t)
{
	(void)regs, (void)memory, (void)half, (void)t;
	return PGT_ENOTSUP;
}
#endif
