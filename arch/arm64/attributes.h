/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory types and attributes to and from descriptors: stage 1 of the EL1&0
 * regime.
 *
 * Dirty state.  DBM is 'writable', whether or not hardware manages dirty
 * state.  A writable leaf is dirty by RDONLY clear (hardware's form) or by the
 * software bit; one that is not writable keeps the software bit alone.  Never
 * writable, software-dirty and RDONLY together: hardware would fault for ever
 * on what software calls dirty.
 */
#ifndef PGT_ARM64_ATTRIBUTES_H
#define PGT_ARM64_ATTRIBUTES_H

#include "configure.h"
#include "layout.h"

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

PGT_INLINE bool arch_broken(uint64_t raw)
{
	return !(raw & DESC_VALID) && (raw & INVALID_KIND) == INVALID_BROKEN;
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
	return mair_index(t, attr & PGT_MEM_MASK) < 0 ? PGT_ENOTSUP : PGT_OK;
}

/* A leaf with these attributes, to be placed. */
static inline uint64_t arch_leaf(const struct pgt *t, uint64_t attr)
{
	uint64_t raw = (uint64_t)mair_index(t, attr & PGT_MEM_MASK) << DESC_INDEX_SHIFT;
	uint64_t sh = attr & PGT_SH_MASK;

	raw |= sh == PGT_SH_INNER ? DESC_SH_INNER : sh == PGT_SH_OUTER ? DESC_SH_OUTER : DESC_SH_NONE;
	raw |= attr & PGT_NOACCESS ? INVALID_NOACCESS : DESC_VALID;
	raw |= attr & PGT_USER ? DESC_USER : 0;
	raw |= attr & PGT_EXEC ? 0 : DESC_PXN;
	raw |= attr & PGT_UEXEC ? 0 : DESC_UXN;
	raw |= attr & PGT_GLOBAL ? 0 : DESC_NG;
	raw |= attr & PGT_GUARDED ? DESC_GP : 0;
	raw |= attr & PGT_YOUNG ? DESC_AF : 0;
	raw |= attr & PGT_DIRTY ? DESC_DIRTY : 0;
	raw |= attr & PGT_WRITE ? DESC_DBM : 0;
	raw |= (attr & PGT_WRITE) && (attr & PGT_DIRTY) ? 0 : DESC_RDONLY;
	return raw | (attr / PGT_SW0 & 7) << DESC_SW_SHIFT;
}

/* Foreign tables may be writable without DBM; nobody then records a write. */
PGT_INLINE bool desc_dirty(uint64_t raw)
{
	return (raw & DESC_DIRTY) || !(raw & DESC_RDONLY);
}

#define arch_writable desc_writable
PGT_INLINE bool desc_writable(uint64_t raw)
{
	return (raw & DESC_DBM) || !(raw & DESC_RDONLY);
}

static inline uint64_t arch_attr(const struct pgt *t, uint64_t raw)
{
	uint64_t attr = mair_type((unsigned)(arm64(t)->config.mair >>
					     ((raw & DESC_INDEX) >> DESC_INDEX_SHIFT) * 8) & 0xff);
	uint64_t sh = raw & DESC_SH;
	bool execute_only = !(raw & DESC_USER) && !(raw & DESC_UXN);

	attr |= sh == DESC_SH_INNER ? PGT_SH_INNER : sh == DESC_SH_OUTER ? PGT_SH_OUTER : PGT_SH_NONE;
	attr |= raw & DESC_VALID || arch_broken(raw) ? 0 : PGT_NOACCESS;
	attr |= execute_only ? 0 : PGT_READ;
	attr |= desc_writable(raw) ? PGT_WRITE : 0;
	attr |= raw & DESC_USER ? PGT_USER : 0;
	attr |= raw & DESC_PXN ? 0 : PGT_EXEC;
	attr |= raw & DESC_UXN ? 0 : PGT_UEXEC;
	attr |= raw & DESC_NG ? 0 : PGT_GLOBAL;
	attr |= raw & DESC_GP ? PGT_GUARDED : 0;
	attr |= raw & DESC_AF ? PGT_YOUNG : 0;
	attr |= desc_dirty(raw) ? PGT_DIRTY : 0;
	return attr | (raw >> DESC_SW_SHIFT & 7) * PGT_SW0;
}

#endif
