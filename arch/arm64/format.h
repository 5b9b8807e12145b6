/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stage 1 of the EL1&0 regime: what is configured, and descriptors to and from
 * attributes.
 *
 * Dirty state.  DBM is 'writable', whether or not hardware manages dirty
 * state.  A writable leaf is dirty by RDONLY clear (hardware's form) or by the
 * software bit; one that is not writable keeps the software bit alone.  Never
 * writable, software-dirty and RDONLY together: hardware would fault for ever
 * on what software calls dirty.
 */
#ifndef PGT_ARM64_FORMAT_H
#define PGT_ARM64_FORMAT_H

#include "../../lib/pgt.h"
#include "layout.h"
#include <pgtable/arm64.h>

/* The backend's own words in struct pgt hold the configuration in force. */
static inline const struct pgt_arm64_config *arm64_config(const struct pgt *t)
{
	return (const void *)t->arch;
}

/* Write-back, non-cacheable, write-through, nGnRE, nGnRnE. */
#define MAIR_DEFAULT UINT64_C(0x0000000004bb44ff)

#define ARM64_FEATURES                                                                         \
	(PGT_FEAT_CONTIG | PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG |      \
	 PGT_FEAT_TRACK_DIRTY | PGT_FEAT_BBM1 | PGT_FEAT_BBM2 | PGT_FEAT_UPPER |               \
	 PGT_FEAT_TLBI_RANGE | PGT_FEAT_TTL | PGT_FEAT_PARALLEL | PGT_FEAT_NO_BLOCKS |         \
	 PGT_FEAT_EXEC_BBM)

/* The code of an output size in TCR.IPS, or -1: only these exist. */
static inline int arm64_size_code(unsigned output_bits)
{
	static const uint8_t sizes[] = { 32, 36, 40, 42, 44, 48 };

	for (unsigned i = 0; i < sizeof sizes; i++)
		if (sizes[i] == output_bits)
			return (int)i;
	return -1;
}

/* Which levels have leaves and runs, by granule (D8.3.1, table D8-98 and on). */
static inline int arm64_geometry(struct pgt *t)
{
	switch (t->granule_bits) {
	case 12:
		t->leaf_levels = 1 << (1 + 1) | 1 << (2 + 1) | 1 << (3 + 1);
		t->run_bits[1 + 1] = t->run_bits[2 + 1] = t->run_bits[3 + 1] = 4;
		return PGT_OK;
	case 14:
		t->leaf_levels = 1 << (2 + 1) | 1 << (3 + 1);
		t->run_bits[2 + 1] = 5;
		t->run_bits[3 + 1] = 7;
		return PGT_OK;
	case 16:
		t->leaf_levels = 1 << (2 + 1) | 1 << (3 + 1);
		t->run_bits[2 + 1] = t->run_bits[3 + 1] = 5;
		return PGT_OK;
	default:
		return PGT_ENOTSUP;
	}
}

static inline int arch_configure(struct pgt *t, const struct pgt_config *config)
{
	const struct pgt_arm64_config *own = config->format_config;
	struct pgt_arm64_config *in_force;

	if (own && own->size < sizeof *own)
		return PGT_EINVAL;
	if ((t->features & ~ARM64_FEATURES) || t->input_bits < 25 || t->input_bits > 48 ||
	    arm64_size_code(t->output_bits) < 0)
		return PGT_ENOTSUP;
	in_force = (void *)t->arch;
	in_force->size = sizeof *in_force;
	in_force->mair = own && own->mair ? own->mair : MAIR_DEFAULT;
	t->format_config = in_force;
	return arm64_geometry(t);
}

/* ---- Memory types ---- */

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
		if ((int)(arm64_config(t)->mair >> (8 * i) & 0xff) == mair_byte(type))
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

/* ---- Attributes ---- */

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
static inline bool desc_dirty(uint64_t raw)
{
	return (raw & DESC_DIRTY) || !(raw & DESC_RDONLY);
}

static inline bool desc_writable(uint64_t raw)
{
	return (raw & DESC_DBM) || !(raw & DESC_RDONLY);
}

static inline bool arch_broken(uint64_t raw)
{
	return !(raw & DESC_VALID) && (raw & INVALID_KIND) == INVALID_BROKEN;
}

static inline uint64_t arch_attr(const struct pgt *t, uint64_t raw)
{
	uint64_t attr = mair_type((unsigned)(arm64_config(t)->mair >>
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

/* ---- Entries ---- */

/* Whether an invalid entry keeps the fields of a leaf or a table of this level. */
static inline bool desc_keeps(const struct pgt *t, uint64_t raw, int level)
{
	uint64_t kind = raw & INVALID_KIND;

	if ((kind != INVALID_NOACCESS && kind != INVALID_BROKEN) ||
	    (raw & DESC_ADDRESS & beyond_output(t)))
		return false;
	if (raw & DESC_TABLE)
		return level == PGT_LAST_LEVEL || kind == INVALID_BROKEN;
	return level != PGT_LAST_LEVEL && level_has_leaves(t, level);
}

static inline enum pgt_kind arch_kind(const struct pgt *t, uint64_t raw, int level)
{
	bool page_or_table = raw & DESC_TABLE;

	if (!raw)
		return KIND_EMPTY;
	if (!(raw & DESC_VALID) && !desc_keeps(t, raw, level))
		return KIND_TOKEN;
	if (raw & DESC_ADDRESS & beyond_output(t))
		return KIND_CORRUPT;
	if (level == PGT_LAST_LEVEL)
		return page_or_table ? KIND_LEAF : KIND_CORRUPT;
	if (page_or_table)
		return KIND_TABLE;
	return level_has_leaves(t, level) ? KIND_LEAF : KIND_CORRUPT;
}

/* Whether a walker may use the entry, and so a TLB may hold it. */
static inline bool arch_valid(uint64_t raw)
{
	return raw & DESC_VALID;
}

static inline uint64_t arch_next(const struct pgt *t, uint64_t raw)
{
	return raw & DESC_ADDRESS & ~(granule(t) - 1);
}

static inline uint64_t arch_table(const struct pgt *t, uint64_t pa)
{
	(void)t;
	return pa | DESC_TYPE;
}

static inline uint64_t arch_pa(const struct pgt *t, uint64_t raw, int level)
{
	return raw & DESC_ADDRESS & ~level_mask(t, level);
}

/* A broken entry made valid again. NOACCESS leaves are never broken. */
static inline uint64_t desc_mend(uint64_t raw)
{
	return arch_broken(raw) ? (raw & ~INVALID_KIND) | DESC_VALID : raw;
}

/* The same leaf, not broken, at a level and PA, with or without the hint. */
static inline uint64_t arch_place(const struct pgt *t, uint64_t raw, int level, uint64_t pa, bool run)
{
	(void)t;
	raw = desc_mend(raw) & ~(DESC_ADDRESS | DESC_CONTIG | DESC_TABLE);
	return raw | pa | (level == PGT_LAST_LEVEL ? DESC_TABLE : 0) | (run ? DESC_CONTIG : 0);
}

/* Whether a leaf is global. */
static inline bool arch_global(uint64_t raw)
{
	return !(raw & DESC_NG);
}

/* Whether the leaf carries the hint. */
static inline bool arch_run(uint64_t raw)
{
	return raw & DESC_CONTIG;
}

/* The young and dirty state of a leaf, as attributes, and a leaf with more of it. */
static inline uint64_t arch_state(uint64_t raw)
{
	return (raw & DESC_AF ? PGT_YOUNG : 0) | (desc_dirty(raw) ? PGT_DIRTY : 0);
}

static inline uint64_t arch_add_state(uint64_t raw, uint64_t state)
{
	if (state & PGT_YOUNG)
		raw |= DESC_AF;
	if (state & PGT_DIRTY) {
		raw |= DESC_DIRTY;
		if (raw & DESC_DBM)
			raw &= ~DESC_RDONLY;
	}
	return raw;
}

/* The inaccessible entry that stands in a leaf's or table's place while it is
 * broken: everything but access is kept. */
static inline uint64_t arch_break(uint64_t raw)
{
	if (!(raw & DESC_VALID))
		return raw;
	return (raw & ~(DESC_VALID | INVALID_KIND)) | INVALID_BROKEN;
}

static inline uint64_t arch_token(uint64_t raw)
{
	return (raw & TOKEN_MASK) >> TOKEN_SHIFT;
}

#endif
