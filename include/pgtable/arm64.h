/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only the arm64 backend has (VMSAv8-64).  Format: "arm64", stage 1 of
 * the EL1&0 regime.  The calls exist in every build; without the backend
 * they are PGT_ENOTSUP.
 */
#ifndef PGTABLE_ARM64_H
#define PGTABLE_ARM64_H

#include <pgtable/pgtable.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For pgt_config.format_config. */
struct pgt_arm64_config {
	uint32_t size; /* sizeof(struct pgt_arm64_config) */
	/*
	 * MAIR_ELx, the memory types that AttrIndx selects.  0: the library's
	 * own, 0x0000000004bb44ff: write-back, non-cacheable,
	 * write-through, nGnRE, nGnRnE.  A type that it lacks is PGT_ENOTSUP
	 * when it is asked for.
	 */
	uint64_t mair;
};

#define PGT_ARM64_EL1 1
#define PGT_ARM64_EL2 2
#define PGT_ARM64_S2  3

/* Register values as the CPU holds them. */
struct pgt_arm64_regs {
	uint32_t size;   /* sizeof(struct pgt_arm64_regs), set by the caller */
	uint32_t regime; /* PGT_ARM64_EL1, _EL2 or _S2 */
	uint64_t ttbr0, ttbr1, tcr, mair;
	uint64_t sctlr;  /* the bits that a walk depends on */
	uint64_t vttbr, vtcr;
	uint64_t hcr;    /* the bits that a walk depends on */
	uint64_t tcr2, pir, pire0, por;
	uint64_t features; /* PGT_FEAT_* that no register shows */
};

/*
 * The values that make a CPU use these tables: lower for TTBR0, upper (with
 * PGT_FEAT_UPPER) for TTBR1.  Either may be NULL; its half is then disabled.
 * ASID 0; walks are inner shareable and write-back cacheable.  Writes at most
 * regs->size bytes, which the caller sets.  Errors: PGT_EINVAL, also where a
 * table is not of this format or the halves differ in what one register holds.
 */
PGT_API int pgt_arm64_regs(const struct pgt *lower, const struct pgt *upper,
			   struct pgt_arm64_regs *regs);

#ifdef __cplusplus
}
#endif
#endif
