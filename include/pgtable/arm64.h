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

/*
 * Entry helpers, stage 1.  An entry's dirty state has two forms: hardware's
 * (DBM set, RDONLY clear) and the software bit.  DBM is 'writable'.  None of
 * these leaves an entry writable, software-dirty and RDONLY together.
 */
typedef struct {
	uint64_t value;
} pgt_arm64_pte;

#define PGT_ARM64_PTE_VALID  (UINT64_C(1) << 0)
#define PGT_ARM64_PTE_INDEX  (UINT64_C(7) << 2)
#define PGT_ARM64_PTE_USER   (UINT64_C(1) << 6)
#define PGT_ARM64_PTE_RDONLY (UINT64_C(1) << 7)
#define PGT_ARM64_PTE_AF     (UINT64_C(1) << 10)
#define PGT_ARM64_PTE_GP     (UINT64_C(1) << 50)
#define PGT_ARM64_PTE_DBM    (UINT64_C(1) << 51)
#define PGT_ARM64_PTE_PXN    (UINT64_C(1) << 53)
#define PGT_ARM64_PTE_UXN    (UINT64_C(1) << 54)
#define PGT_ARM64_PTE_DIRTY  (UINT64_C(1) << 55)

static inline bool pgt_arm64_pte_valid(pgt_arm64_pte p)
{
	return p.value & PGT_ARM64_PTE_VALID;
}

static inline bool pgt_arm64_pte_young(pgt_arm64_pte p)
{
	return p.value & PGT_ARM64_PTE_AF;
}

static inline bool pgt_arm64_pte_write(pgt_arm64_pte p)
{
	return p.value & PGT_ARM64_PTE_DBM;
}

static inline bool pgt_arm64_pte_hw_dirty(pgt_arm64_pte p)
{
	return (p.value & PGT_ARM64_PTE_DBM) && !(p.value & PGT_ARM64_PTE_RDONLY);
}

static inline bool pgt_arm64_pte_dirty(pgt_arm64_pte p)
{
	return (p.value & PGT_ARM64_PTE_DIRTY) || pgt_arm64_pte_hw_dirty(p);
}

static inline pgt_arm64_pte pgt_arm64_pte_mkyoung(pgt_arm64_pte p)
{
	p.value |= PGT_ARM64_PTE_AF;
	return p;
}

static inline pgt_arm64_pte pgt_arm64_pte_mkold(pgt_arm64_pte p)
{
	p.value &= ~PGT_ARM64_PTE_AF;
	return p;
}

/* A clean entry becomes writable and stays clean. */
static inline pgt_arm64_pte pgt_arm64_pte_mkwrite(pgt_arm64_pte p)
{
	p.value |= PGT_ARM64_PTE_DBM;
	if (p.value & PGT_ARM64_PTE_DIRTY)
		p.value &= ~PGT_ARM64_PTE_RDONLY;
	return p;
}

/* Hardware's dirty form is saved before the entry loses it. */
static inline pgt_arm64_pte pgt_arm64_pte_wrprotect(pgt_arm64_pte p)
{
	if (pgt_arm64_pte_hw_dirty(p))
		p.value |= PGT_ARM64_PTE_DIRTY;
	p.value &= ~PGT_ARM64_PTE_DBM;
	p.value |= PGT_ARM64_PTE_RDONLY;
	return p;
}

static inline pgt_arm64_pte pgt_arm64_pte_mkdirty(pgt_arm64_pte p)
{
	p.value |= PGT_ARM64_PTE_DIRTY;
	if (p.value & PGT_ARM64_PTE_DBM)
		p.value &= ~PGT_ARM64_PTE_RDONLY;
	return p;
}

static inline pgt_arm64_pte pgt_arm64_pte_mkclean(pgt_arm64_pte p)
{
	p.value &= ~PGT_ARM64_PTE_DIRTY;
	p.value |= PGT_ARM64_PTE_RDONLY;
	return p;
}

/*
 * Takes validity, AttrIndx, USER, RDONLY, GP, DBM, PXN and UXN from prot and
 * keeps all else: address, shareability, access flag, hint, software bits and
 * dirty state.
 */
static inline pgt_arm64_pte pgt_arm64_pte_modify(pgt_arm64_pte p, uint64_t prot)
{
	const uint64_t taken = PGT_ARM64_PTE_VALID | PGT_ARM64_PTE_INDEX | PGT_ARM64_PTE_USER |
			       PGT_ARM64_PTE_RDONLY | PGT_ARM64_PTE_GP | PGT_ARM64_PTE_DBM |
			       PGT_ARM64_PTE_PXN | PGT_ARM64_PTE_UXN;

	if (pgt_arm64_pte_hw_dirty(p))
		p.value |= PGT_ARM64_PTE_DIRTY;
	p.value = (p.value & ~taken) | (prot & taken);
	return p.value & PGT_ARM64_PTE_DIRTY ? pgt_arm64_pte_mkdirty(p) : p;
}

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
