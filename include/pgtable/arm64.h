/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only the arm64 backend has (VMSAv8-64).  Formats: "arm64", stage 1 of
 * the EL1&0 regime (and of EL2 with HCR_EL2.E2H); "arm64-el2", stage 1 of a
 * regime with one range and one privilege level; "arm64-s2", stage 2.  The
 * calls exist in every build; without the backend they are PGT_ENOTSUP.
 */
#ifndef PGTABLE_ARM64_H
#define PGTABLE_ARM64_H

#include <pgtable/pgtable.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Controls of a walk that only registers show; they matter to readers. */
#define PGT_ARM64_WXN (1u << 0) /* SCTLR_ELx.WXN: what is writable is not executable */
#define PGT_ARM64_HPD (1u << 1) /* TCR_ELx.HPDn: permission bits in table entries count for nothing */

/* For pgt_config.format_config. */
struct pgt_arm64_config {
	uint32_t size; /* sizeof(struct pgt_arm64_config) */
	/* Stage 2: how many levels of tables; 0: as few as 16 concatenated root
	 * tables allow.  PGT_ENOTSUP where the architecture has no such start. */
	uint16_t levels;
	uint16_t controls; /* PGT_ARM64_WXN, PGT_ARM64_HPD; stage 1 */
	/*
	 * Stage 1: MAIR_ELx, the memory types that AttrIndx selects.  0: the
	 * library's own, 0x0000000004bb44ff: write-back, non-cacheable,
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

/*
 * Entry helpers, stage 2.  The same rules with bit 7 the other way round: it is
 * S2AP[1], which hardware sets when it makes a writable (DBM) entry dirty.  None
 * of these leaves an entry writable and software-dirty without it.
 */
#define PGT_ARM64_S2_PTE_MEMATTR (UINT64_C(15) << 2)
#define PGT_ARM64_S2_PTE_READ    (UINT64_C(1) << 6)
#define PGT_ARM64_S2_PTE_WRITE   (UINT64_C(1) << 7)
#define PGT_ARM64_S2_PTE_XN      (UINT64_C(3) << 53)

static inline bool pgt_arm64_s2_pte_valid(pgt_arm64_pte p)
{
	return p.value & PGT_ARM64_PTE_VALID;
}

static inline bool pgt_arm64_s2_pte_young(pgt_arm64_pte p)
{
	return p.value & PGT_ARM64_PTE_AF;
}

static inline bool pgt_arm64_s2_pte_write(pgt_arm64_pte p)
{
	return p.value & PGT_ARM64_PTE_DBM;
}

static inline bool pgt_arm64_s2_pte_hw_dirty(pgt_arm64_pte p)
{
	return (p.value & PGT_ARM64_PTE_DBM) && (p.value & PGT_ARM64_S2_PTE_WRITE);
}

static inline bool pgt_arm64_s2_pte_dirty(pgt_arm64_pte p)
{
	return (p.value & PGT_ARM64_PTE_DIRTY) || pgt_arm64_s2_pte_hw_dirty(p);
}

static inline pgt_arm64_pte pgt_arm64_s2_pte_mkyoung(pgt_arm64_pte p)
{
	p.value |= PGT_ARM64_PTE_AF;
	return p;
}

static inline pgt_arm64_pte pgt_arm64_s2_pte_mkold(pgt_arm64_pte p)
{
	p.value &= ~PGT_ARM64_PTE_AF;
	return p;
}

/* A clean entry becomes writable and stays clean. */
static inline pgt_arm64_pte pgt_arm64_s2_pte_mkwrite(pgt_arm64_pte p)
{
	p.value |= PGT_ARM64_PTE_DBM;
	if (p.value & PGT_ARM64_PTE_DIRTY)
		p.value |= PGT_ARM64_S2_PTE_WRITE;
	return p;
}

/* Hardware's dirty form is saved before the entry loses it. */
static inline pgt_arm64_pte pgt_arm64_s2_pte_wrprotect(pgt_arm64_pte p)
{
	if (pgt_arm64_s2_pte_hw_dirty(p))
		p.value |= PGT_ARM64_PTE_DIRTY;
	p.value &= ~(PGT_ARM64_PTE_DBM | PGT_ARM64_S2_PTE_WRITE);
	return p;
}

static inline pgt_arm64_pte pgt_arm64_s2_pte_mkdirty(pgt_arm64_pte p)
{
	p.value |= PGT_ARM64_PTE_DIRTY;
	if (p.value & PGT_ARM64_PTE_DBM)
		p.value |= PGT_ARM64_S2_PTE_WRITE;
	return p;
}

static inline pgt_arm64_pte pgt_arm64_s2_pte_mkclean(pgt_arm64_pte p)
{
	p.value &= ~(PGT_ARM64_PTE_DIRTY | PGT_ARM64_S2_PTE_WRITE);
	return p;
}

/*
 * Takes validity, MemAttr, S2AP, XN and DBM from prot and keeps all else:
 * address, shareability, access flag, hint, software bits and dirty state.
 */
static inline pgt_arm64_pte pgt_arm64_s2_pte_modify(pgt_arm64_pte p, uint64_t prot)
{
	const uint64_t taken = PGT_ARM64_PTE_VALID | PGT_ARM64_S2_PTE_MEMATTR |
			       PGT_ARM64_S2_PTE_READ | PGT_ARM64_S2_PTE_WRITE |
			       PGT_ARM64_S2_PTE_XN | PGT_ARM64_PTE_DBM;

	if (pgt_arm64_s2_pte_hw_dirty(p))
		p.value |= PGT_ARM64_PTE_DIRTY;
	p.value = (p.value & ~taken) | (prot & taken);
	return p.value & PGT_ARM64_PTE_DIRTY ? pgt_arm64_s2_pte_mkdirty(p) : p;
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
 * A table of "arm64-el2" or "arm64-s2" is given as lower alone.  ASID and VMID
 * 0; walks are inner shareable and write-back cacheable.  hcr has the bits that
 * stage 2 needs (VM, RW, FWB), sctlr those of stage 1 (M, C).  Writes at most
 * regs->size bytes, which the caller sets.  Errors: PGT_EINVAL, also where a
 * table is not of this backend or the halves differ in what one register holds.
 */
PGT_API int pgt_arm64_regs(const struct pgt *lower, const struct pgt *upper,
			   struct pgt_arm64_regs *regs);

/* ---- Invalidating ------------------------------------------------------ */

/* Operations are Arm's mnemonics: TLBI VAE1IS is PGT_ARM64_TLBI_VAE1IS. */
enum {
	/* Stage 1 of EL1&0: by address, leaves alone, all ASIDs, both; a whole
	 * ASID, and all. */
	PGT_ARM64_TLBI_VAE1 = 1, PGT_ARM64_TLBI_VAE1IS,
	PGT_ARM64_TLBI_VALE1, PGT_ARM64_TLBI_VALE1IS,
	PGT_ARM64_TLBI_VAAE1, PGT_ARM64_TLBI_VAAE1IS,
	PGT_ARM64_TLBI_VAALE1, PGT_ARM64_TLBI_VAALE1IS,
	PGT_ARM64_TLBI_RVAE1, PGT_ARM64_TLBI_RVAE1IS,
	PGT_ARM64_TLBI_RVALE1, PGT_ARM64_TLBI_RVALE1IS,
	PGT_ARM64_TLBI_RVAAE1, PGT_ARM64_TLBI_RVAAE1IS,
	PGT_ARM64_TLBI_RVAALE1, PGT_ARM64_TLBI_RVAALE1IS,
	PGT_ARM64_TLBI_ASIDE1, PGT_ARM64_TLBI_ASIDE1IS,
	PGT_ARM64_TLBI_VMALLE1, PGT_ARM64_TLBI_VMALLE1IS,
	/* EL2. */
	PGT_ARM64_TLBI_VAE2, PGT_ARM64_TLBI_VAE2IS,
	PGT_ARM64_TLBI_VALE2, PGT_ARM64_TLBI_VALE2IS,
	PGT_ARM64_TLBI_RVAE2, PGT_ARM64_TLBI_RVAE2IS,
	PGT_ARM64_TLBI_RVALE2, PGT_ARM64_TLBI_RVALE2IS,
	PGT_ARM64_TLBI_ALLE2, PGT_ARM64_TLBI_ALLE2IS,
	/* Stage 2. */
	PGT_ARM64_TLBI_IPAS2E1, PGT_ARM64_TLBI_IPAS2E1IS,
	PGT_ARM64_TLBI_IPAS2LE1, PGT_ARM64_TLBI_IPAS2LE1IS,
	PGT_ARM64_TLBI_RIPAS2E1, PGT_ARM64_TLBI_RIPAS2E1IS,
	PGT_ARM64_TLBI_RIPAS2LE1, PGT_ARM64_TLBI_RIPAS2LE1IS,
	PGT_ARM64_TLBI_VMALLS12E1, PGT_ARM64_TLBI_VMALLS12E1IS,
	/* A barrier between two of them; its operand means nothing. */
	PGT_ARM64_DSB_ISH,
};

struct pgt_arm64_tlbi {
	uint32_t op;
	uint64_t operand; /* what the register argument holds; 0 where the operation has none */
};

/* The mnemonic of an operation, "VAE1IS"; of PGT_ARM64_DSB_ISH "DSB ISH"; NULL for none. */
PGT_API const char *pgt_arm64_tlbi_name(uint32_t op);

/*
 * The operations that carry out one invalidation of this table, in the order in
 * which they are to be issued; DSB ISHST comes before them and DSB ISH, ISB
 * after (the embedder's invalidate and sync).  The range goes out to whole
 * leaves of its stride.  Range operations where PGT_FEAT_TLBI_RANGE says so,
 * level hints where PGT_FEAT_TTL does and all changed leaves are of one level.
 * A range with PGT_TLB_GLOBAL, and any of a table with PGT_FEAT_UPPER, is
 * forgotten for every ASID; else for asid, which EL2 and stage 2 don't have.
 * Stage 2's list goes on with a barrier and with stage 1's own translations.
 * PGT_TLB_LOCAL gives the forms for this CPU alone.  At most max (at least 4)
 * are written, *n says how many.  PGT_TLB_ALL, and what needs more than max,
 * more than a table's entries of strides, or with range operations more than
 * 2^21 granules, becomes the one operation for the whole address space: for asid
 * alone where neither this table nor the range ever held a global leaf.
 * Changes nothing; may run beside anything.  Errors: PGT_EINVAL (also max below
 * 4, a range not inside the table or not of granules, a table that is not of
 * this backend).
 */
PGT_API int pgt_arm64_tlbi(const struct pgt *t, const struct pgt_tlb_range *range, uint16_t asid,
			   struct pgt_arm64_tlbi *ops, unsigned max, unsigned *n);

/* ---- Tables that someone else wrote ------------------------------------ */

#define PGT_ARM64_LOWER 0 /* what TTBR0 or VTTBR leads to */
#define PGT_ARM64_UPPER 1 /* what TTBR1 leads to */

/*
 * Adopts the tables that a CPU with these registers walks, one half of them, as
 * pgt_attach does: geometry, memory types and controls are the registers'.
 * Hosted builds only.  Errors: PGT_EINVAL (malformed; registers that contradict
 * each other or the regime), PGT_ENOENT (that half is disabled, or translation
 * is off), PGT_ENOTSUP (big-endian tables, or what the architecture reserves),
 * and those of pgt_attach.
 */
PGT_API int pgt_arm64_attach(const struct pgt_arm64_regs *regs, const struct pgt_memory *memory,
			     int half, struct pgt **t);

/*
 * The translation that a CPU with these registers would make.  access as for
 * pgt_translate; with PGT_UPDATE, TCR's HA and HD decide.  The top byte of an
 * address counts where TBI says.  A VA that no table covers is a translation
 * fault at level 0.  With SCTLR.M clear VA and PA are the same.  Needs no memory
 * and changes nothing (but for PGT_UPDATE).  Errors: PGT_EINVAL, PGT_ENOTSUP (as
 * pgt_arm64_attach), PGT_EFAULT.
 */
PGT_API int pgt_arm64_walk(const struct pgt_arm64_regs *regs, const struct pgt_memory *memory,
			   uint64_t va, uint64_t access, struct pgt_translation *translation);

/*
 * The same through both stages: s1 leads to an IPA, s2 to the PA that memory is
 * addressed by; tables of stage 1 lie at IPAs.  s1 NULL, or with SCTLR.M clear:
 * stage 1 is off.  translation->stage says whose fault it is, during_walk whether
 * stage 2 refused a table of stage 1; ipa is filled in for faults of stage 2, and
 * with success; memattr (as MAIR has it) and sh are those of both combined.
 */
PGT_API int pgt_arm64_walk2(const struct pgt_arm64_regs *s1, const struct pgt_arm64_regs *s2,
			    const struct pgt_memory *memory, uint64_t va, uint64_t access,
			    struct pgt_translation *translation);

#ifdef __cplusplus
}
#endif
#endif
