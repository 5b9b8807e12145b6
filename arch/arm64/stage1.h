/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory types and permissions to and from descriptors: stage 1. */
#ifndef PGT_ARM64_STAGE1_H
#define PGT_ARM64_STAGE1_H

#include "../../lib/modify.h"

#define STAGE 1
#define DESC_MEM DESC_INDEX /* where the memory type stands */

#include "state.h"

/* Whether there is one privilege level, no EL0 and no ASID. */
PGT_INLINE bool arm64_one_level(const struct pgt *t)
{
	return arm64(t)->regime == PGT_ARM64_EL2;
}

/* The MAIR byte of a memory type (D19.2.100, MAIR_EL1). */
static inline int mair_byte(uint64_t type)
{
	switch (type) {
	case PGT_MEM_NORMAL: return 0xff;
	case PGT_MEM_NOCACHE: return 0x44;
	case PGT_MEM_WRITETHROUGH: return 0xbb;
	case PGT_MEM_DEVICE: return 0x04;
	case PGT_MEM_DEVICE_STRICT: return 0x00;
	default: return -1;
	}
}

/* The AttrIndx of a memory type in this table's MAIR, or -1. */
static inline int mair_index(const struct pgt *t, uint64_t type)
{
	for (int i = 0; i < 8; i++)
		if ((int)(arm64(t)->config.mair >> (8 * i) & 0xff) == mair_byte(type))
			return i;
	return -1;
}

/* The memory type of a MAIR byte; for one that is none of ours, the nearest. */
static inline uint64_t mair_type(unsigned byte)
{
	unsigned outer = byte >> 4;

	if (outer == 0)
		return byte & 0x0c ? PGT_MEM_DEVICE : PGT_MEM_DEVICE_STRICT;
	if (outer == 4)
		return PGT_MEM_NOCACHE;
	return outer & 4 ? PGT_MEM_NORMAL : PGT_MEM_WRITETHROUGH;
}

static inline uint64_t desc_of_memory(const struct pgt *t, uint64_t attr)
{
	return (uint64_t)mair_index(t, attr & PGT_MEM_MASK) << DESC_INDEX_SHIFT;
}

/*
 * EL1 may read whatever is mapped.  Unprivileged execution without USER is
 * execute-only, and is written without READ so that there is one way to say it.
 */
static inline int arch_attr_check(const struct pgt *t, uint64_t attr)
{
	bool execute_only = (attr & PGT_UEXEC) && !(attr & PGT_USER);

	if (execute_only ? (attr & (PGT_READ | PGT_WRITE)) != 0 : !(attr & PGT_READ))
		return PGT_ENOTSUP;
	if (arm64_one_level(t) && (attr & (PGT_USER | PGT_UEXEC | PGT_GLOBAL)))
		return PGT_ENOTSUP;
	if (arm64_no_sh(t) && (attr & PGT_SH_MASK) != PGT_SH_INNER)
		return PGT_ENOTSUP;
	return mair_index(t, attr & PGT_MEM_MASK) < 0 ? PGT_ENOTSUP : PGT_OK;
}

/* A leaf with these attributes, to be placed. */
static inline uint64_t arch_leaf(const struct pgt *t, uint64_t attr)
{
	uint64_t raw = desc_of_state(attr) | desc_of_memory(t, attr) | desc_of_sh(t, attr);

	raw |= attr & PGT_GUARDED ? DESC_GP : 0;
	if (arm64_one_level(t)) /* AP[1] is one, and there is one XN (D8.4.1) */
		return raw | DESC_USER | (attr & PGT_EXEC ? 0 : DESC_UXN);
	raw |= attr & PGT_USER ? DESC_USER : 0;
	raw |= attr & PGT_EXEC ? 0 : DESC_PXN;
	raw |= attr & PGT_UEXEC ? 0 : DESC_UXN;
	return raw | (attr & PGT_GLOBAL ? 0 : DESC_NG);
}

static inline uint64_t arch_attr(const struct pgt *t, uint64_t raw)
{
	uint64_t index = (raw & DESC_INDEX) >> DESC_INDEX_SHIFT;
	uint64_t attr = desc_state_attr(raw) | desc_sh_attr(t, raw);
	bool execute_only = !(raw & DESC_USER) && !(raw & DESC_UXN);

	attr |= mair_type((unsigned)(arm64(t)->config.mair >> index * 8) & 0xff);
	attr |= raw & DESC_GP ? PGT_GUARDED : 0;
	if (arm64_one_level(t))
		return attr | PGT_READ | (raw & DESC_UXN ? 0 : PGT_EXEC);
	attr |= execute_only ? 0 : PGT_READ;
	attr |= raw & DESC_USER ? PGT_USER : 0;
	attr |= raw & DESC_PXN ? 0 : PGT_EXEC;
	attr |= raw & DESC_UXN ? 0 : PGT_UEXEC;
	return attr | (raw & DESC_NG ? 0 : PGT_GLOBAL);
}

/* Whether a leaf is global. */
PGT_INLINE bool arch_global(const struct pgt *t, uint64_t raw)
{
	return !(raw & DESC_NG) && arm64(t)->not_global;
}

/* Attributes under the permission bits of the tables on the way (D8.4.3). */
#define arch_effective arch_effective
static inline uint64_t arch_effective(const struct pgt *t, uint64_t attr, uint64_t inherited)
{
	if (inherited & DESC_PXN_TABLE)
		attr &= ~PGT_EXEC;
	if (inherited & DESC_UXN_TABLE)
		attr &= arm64_one_level(t) ? ~PGT_EXEC : ~PGT_UEXEC;
	if (inherited & DESC_AP0_TABLE)
		attr &= ~PGT_USER;
	if (inherited & DESC_AP1_TABLE)
		attr &= ~PGT_WRITE;
	return attr;
}

static inline bool executable(const struct pgt *t, uint64_t attr, bool user)
{
	bool wxn = arm64(t)->config.controls & PGT_ARM64_WXN, write = attr & PGT_WRITE;

	if (user)
		return (attr & PGT_UEXEC) && !(wxn && write && (attr & PGT_USER));
	/* What EL0 may write, EL1 never executes (D8.4.1). */
	return (attr & PGT_EXEC) && !(write && ((attr & PGT_USER) || wxn));
}

static inline bool permitted(const struct pgt *t, uint64_t attr, uint64_t access)
{
	bool user = access & PGT_USER;

	if (access & PGT_EXEC)
		return executable(t, attr, user);
	if (user && !(attr & PGT_USER))
		return false;
	return !(access & PGT_WRITE) || (attr & PGT_WRITE);
}

/* Bits of a leaf that are zero. */
static inline uint64_t stage_reserved(const struct pgt *t)
{
	return arm64_one_level(t) ? DESC_NG | DESC_PXN : 0;
}

/* What else is wrong with a leaf. */
static inline const char *stage_problem(const struct pgt *t, uint64_t raw)
{
	if (arm64_one_level(t) && !(raw & DESC_USER))
		return "a leaf whose AP[1] is zero where there is no EL0";
	return NULL;
}

/* Bits of a table entry that are zero, permissions apart. */
static inline uint64_t stage_table_reserved(void)
{
	return 0;
}

/* ---- Changes ----------------------------------------------------------- */

/* Attributes that any leaf may gain or lose here, but for what is execute-only. */
static inline uint64_t stage_harmless(const struct pgt *t)
{
	return MODIFY_HARMLESS | PGT_GUARDED | PGT_WRITE | (arm64_one_level(t) ? 0 : PGT_GLOBAL);
}

/* Whether a leaf may become writable: not what is execute-only. */
PGT_INLINE bool stage_may_write(uint64_t raw)
{
	return raw & (DESC_USER | DESC_UXN);
}

/* The bits of a leaf that this stage's attributes are, one to one. */
struct plain_bit {
	uint64_t attr, bit;
	bool inverted;
};

static inline const struct plain_bit *stage_bits(const struct pgt *t)
{
	static const struct plain_bit two_levels[] = {
		{ PGT_USER, DESC_USER, false }, { PGT_GUARDED, DESC_GP, false }, { PGT_EXEC, DESC_PXN, true },
		{ PGT_UEXEC, DESC_UXN, true },	{ PGT_GLOBAL, DESC_NG, true },	 { 0, 0, false },
	};
	static const struct plain_bit one_level[] = {
		{ PGT_GUARDED, DESC_GP, false }, { PGT_EXEC, DESC_UXN, true }, { 0, 0, false },
	};

	return arm64_one_level(t) ? one_level : two_levels;
}

/* Whether the change of some attribute depends on another. */
static inline bool stage_entangled(const struct pgt *t, const struct modify *m)
{
	(void)t, (void)m;
	return false;
}

/* What a valid leaf's change to another valid one does: it lets something in that
 * was kept out, or keeps something out. RDONLY has stage 1's sense. */
static inline bool stage_denies(const struct pgt *t, uint64_t old, uint64_t new)
{
	const uint64_t grant = DESC_AF | DESC_USER | DESC_DBM, deny = DESC_RDONLY | DESC_PXN | DESC_UXN;
	uint64_t differ = old ^ new;

	/* What EL0 may write EL1 no longer executes. */
	if (!arm64_one_level(t) && !(old & DESC_PXN) && (new & DESC_USER) && (new & DESC_DBM))
		return true;
	return (differ & ~(grant | deny)) || (differ & old & grant) || (differ & new & deny);
}

static inline bool stage_takes_execution(uint64_t old, uint64_t new)
{
	return (old ^ new) & new & (DESC_PXN | DESC_UXN);
}

#endif
