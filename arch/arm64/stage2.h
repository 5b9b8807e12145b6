/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory types and permissions to and from descriptors: stage 2. */
#ifndef PGT_ARM64_STAGE2_H
#define PGT_ARM64_STAGE2_H

#include "../../lib/modify.h"

#define STAGE 2
#define DESC_MEM DESC_MEMATTR /* where the memory type stands */

#include "state.h"

/* MemAttr of each memory type, without and with FEAT_FWB, where 6 is write-back
 * whatever stage 1 says (D8.5.5, D8.5.6). */
static inline uint64_t memattr_of(const struct pgt *t, uint64_t type)
{
	bool forced = t->features & PGT_FEAT_FWB;

	switch (type) {
	case PGT_MEM_NORMAL: return forced ? 6 : 15;
	case PGT_MEM_NOCACHE: return 5;
	case PGT_MEM_WRITETHROUGH: return 10;
	case PGT_MEM_DEVICE: return 1;
	default: return 0;
	}
}

/* The memory type of a MemAttr; for one that is none of ours, the nearest. */
static inline uint64_t memattr_type(const struct pgt *t, uint64_t memattr)
{
	if (t->features & PGT_FEAT_FWB) {
		if (memattr & 4)
			return memattr & 2 ? PGT_MEM_NORMAL : PGT_MEM_NOCACHE;
	} else if (memattr >> 2) {
		uint64_t outer = memattr >> 2;

		return outer == 3 ? PGT_MEM_NORMAL : outer == 2 ? PGT_MEM_WRITETHROUGH : PGT_MEM_NOCACHE;
	}
	return memattr & 3 ? PGT_MEM_DEVICE : PGT_MEM_DEVICE_STRICT;
}

static inline uint64_t desc_of_memory(const struct pgt *t, uint64_t attr)
{
	return memattr_of(t, attr & PGT_MEM_MASK) << DESC_MEMATTR_SHIFT;
}

static inline int arch_attr_check(const struct pgt *t, uint64_t attr)
{
	uint64_t type = attr & PGT_MEM_MASK;

	if (attr & (PGT_USER | PGT_GLOBAL | PGT_GUARDED))
		return PGT_ENOTSUP;
	if (!(attr & PGT_EXEC) != !(attr & PGT_UEXEC) && !(t->features & PGT_FEAT_XNX))
		return PGT_ENOTSUP;
	if (arm64_no_sh(t) && (attr & PGT_SH_MASK) != PGT_SH_INNER)
		return PGT_ENOTSUP;
	return (t->features & PGT_FEAT_FWB) && type == PGT_MEM_WRITETHROUGH ? PGT_ENOTSUP : PGT_OK;
}

/* XN: 0 both, 1 EL0 alone, 2 neither, 3 EL1 alone (D8.4.2). */
static inline uint64_t desc_of_execution(uint64_t attr)
{
	bool el1 = attr & PGT_EXEC, el0 = attr & PGT_UEXEC;

	return (el1 != el0 ? BIT(DESC_XN_SHIFT) : 0) | (el0 ? 0 : DESC_XN_ALL);
}

static inline uint64_t execution_attr(uint64_t raw)
{
	bool el0 = !(raw & DESC_XN_ALL), el1 = raw & BIT(DESC_XN_SHIFT) ? !el0 : el0;

	return (el1 ? PGT_EXEC : 0) | (el0 ? PGT_UEXEC : 0);
}

/* A leaf with these attributes, to be placed. */
static inline uint64_t arch_leaf(const struct pgt *t, uint64_t attr)
{
	return desc_of_state(attr) | desc_of_memory(t, attr) | desc_of_sh(t, attr) |
	       (attr & PGT_READ ? DESC_READ : 0) | desc_of_execution(attr);
}

static inline uint64_t arch_attr(const struct pgt *t, uint64_t raw)
{
	return desc_state_attr(raw) | desc_sh_attr(t, raw) |
	       memattr_type(t, (raw & DESC_MEMATTR) >> DESC_MEMATTR_SHIFT) |
	       (raw & DESC_READ ? PGT_READ : 0) | execution_attr(raw);
}

/* There are no ASIDs: a VMID's translations are all its own. */
PGT_INLINE bool arch_global(const struct pgt *t, uint64_t raw)
{
	(void)t, (void)raw;
	return false;
}

static inline bool permitted(const struct pgt *t, uint64_t attr, uint64_t access)
{
	(void)t;
	if (access & PGT_EXEC)
		return attr & (access & PGT_USER ? PGT_UEXEC : PGT_EXEC);
	return attr & (access & PGT_WRITE ? PGT_WRITE : PGT_READ);
}

/* Bits of a leaf that are zero. */
static inline uint64_t stage_reserved(const struct pgt *t)
{
	uint64_t xnx = t->features & PGT_FEAT_XNX ? 0 : BIT(DESC_XN_SHIFT);

	/* Others may have FEAT_XS, whose bit 11 is. */
	return t->attached ? xnx : xnx | DESC_NG | DESC_GP;
}

/* What else is wrong with a leaf: MemAttrs that are reserved (D8.5.5, D8.5.6). */
static inline const char *stage_problem(const struct pgt *t, uint64_t raw)
{
	uint64_t memattr = (raw & DESC_MEMATTR) >> DESC_MEMATTR_SHIFT;

	if (t->features & PGT_FEAT_FWB ? memattr == 4 || memattr > 7 : memattr > 3 && !(memattr & 3))
		return "a leaf with a reserved memory type";
	return NULL;
}

/* Bits of a table entry that are zero: stage 2 inherits no permissions. */
static inline uint64_t stage_table_reserved(void)
{
	return UINT64_C(31) << 59;
}

/* ---- Changes ----------------------------------------------------------- */

/* Attributes that any leaf may gain or lose here. */
static inline uint64_t stage_harmless(const struct pgt *t)
{
	(void)t;
	return MODIFY_HARMLESS | PGT_READ | PGT_WRITE;
}

PGT_INLINE bool stage_may_write(uint64_t raw)
{
	(void)raw;
	return true;
}

/* The bits of a leaf that this stage's attributes are, one to one. */
struct plain_bit {
	uint64_t attr, bit;
	bool inverted;
};

static inline const struct plain_bit *stage_bits(const struct pgt *t)
{
	/* Without FEAT_XNX EL1's and EL0's execution are one. */
	static const struct plain_bit bits[] = {
		{ PGT_READ, DESC_READ, false }, { PGT_UEXEC, DESC_XN_ALL, true }, { 0, 0, false },
	};

	(void)t;
	return bits;
}

/* Whether the change of some attribute depends on another: XN says of EL1 only
 * whether it differs from EL0. */
static inline bool stage_entangled(const struct pgt *t, const struct modify *m)
{
	return (t->features & PGT_FEAT_XNX) && ((m->set | m->clear) & (PGT_EXEC | PGT_UEXEC));
}

/* Whether what a valid leaf becomes keeps something out that it let in. */
static inline bool stage_denies(const struct pgt *t, uint64_t old, uint64_t new)
{
	const uint64_t grant = DESC_AF | DESC_READ | DESC_DBM, deny = DESC_RDONLY;
	uint64_t differ = old ^ new;

	(void)t;
	return (differ & ~(grant | deny | DESC_XN)) || (differ & old & grant) || (differ & new & deny) ||
	       (execution_attr(old) & ~execution_attr(new));
}

static inline bool stage_takes_execution(uint64_t old, uint64_t new)
{
	return execution_attr(old) & ~execution_attr(new);
}

#endif
