/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Young and dirty, and what stands in a leaf's place while it is broken: the
 * same at both stages, but that bit 7 says the opposite.
 *
 * Dirty state.  DBM is 'writable', whether or not hardware manages dirty
 * state.  A writable leaf is dirty by RDONLY clear (hardware's form) or by the
 * software bit; one that is not writable keeps the software bit alone.  Never
 * writable, software-dirty and RDONLY together: hardware would fault for ever
 * on what software calls dirty.
 */
#ifndef PGT_ARM64_STATE_H
#define PGT_ARM64_STATE_H

#include "configure.h"

/* A leaf whose bit 7 is RDONLY, and back: stage 2 has WRITE there. */
PGT_INLINE uint64_t desc_rdonly_form(uint64_t raw)
{
	return STAGE == 2 ? raw ^ DESC_WRITE : raw;
}

PGT_INLINE bool desc_rdonly(uint64_t raw)
{
	return desc_rdonly_form(raw) & DESC_RDONLY;
}

PGT_INLINE bool arch_broken(uint64_t raw)
{
	return !(raw & DESC_VALID) && (raw & INVALID_KIND) == INVALID_BROKEN;
}

/* Foreign tables may be writable without DBM; nobody then records a write. */
PGT_INLINE bool desc_dirty(uint64_t raw)
{
	return (raw & DESC_DIRTY) || !desc_rdonly(raw);
}

#define arch_writable desc_writable
PGT_INLINE bool desc_writable(uint64_t raw)
{
	return (raw & DESC_DBM) || !desc_rdonly(raw);
}

/* The young and dirty state of a leaf, as attributes, and a leaf with more of it. */
PGT_INLINE uint64_t arch_state(uint64_t raw)
{
	return (raw & DESC_AF ? PGT_YOUNG : 0) | (desc_dirty(raw) ? PGT_DIRTY : 0);
}

PGT_INLINE uint64_t arch_add_state(uint64_t raw, uint64_t state)
{
	if (state & PGT_YOUNG)
		raw |= DESC_AF;
	if (state & PGT_DIRTY) {
		raw |= DESC_DIRTY;
		if (raw & DESC_DBM)
			raw = desc_rdonly_form(desc_rdonly_form(raw) & ~DESC_RDONLY);
	}
	return raw;
}

/* State and software bits of a leaf with these attributes, in both stages alike. */
static inline uint64_t desc_of_state(uint64_t attr)
{
	uint64_t raw = attr & PGT_YOUNG ? DESC_AF : 0;

	raw |= attr & PGT_NOACCESS ? INVALID_NOACCESS : DESC_VALID;
	raw |= attr & PGT_DIRTY ? DESC_DIRTY : 0;
	raw |= attr & PGT_WRITE ? DESC_DBM : 0;
	raw |= (attr & PGT_WRITE) && (attr & PGT_DIRTY) ? 0 : DESC_RDONLY;
	return desc_rdonly_form(raw) | (attr / PGT_SW0 & 7) << DESC_SW_SHIFT;
}

static inline uint64_t desc_state_attr(uint64_t raw)
{
	uint64_t attr = arch_state(raw) | (raw >> DESC_SW_SHIFT & 7) * PGT_SW0;

	attr |= raw & DESC_VALID || arch_broken(raw) ? 0 : PGT_NOACCESS;
	return attr | (desc_writable(raw) ? PGT_WRITE : 0);
}

/* Shareability, where descriptors have it: with TCR.DS it is TCR's. */
static inline uint64_t desc_of_sh(const struct pgt *t, uint64_t attr)
{
	uint64_t sh = attr & PGT_SH_MASK;

	if (arm64_no_sh(t))
		return 0;
	return sh == PGT_SH_INNER ? DESC_SH_INNER : sh == PGT_SH_OUTER ? DESC_SH_OUTER : DESC_SH_NONE;
}

static inline uint64_t desc_sh_attr(const struct pgt *t, uint64_t raw)
{
	uint64_t sh = raw & DESC_SH;

	if (arm64_no_sh(t))
		return PGT_SH_INNER;
	return sh == DESC_SH_INNER ? PGT_SH_INNER : sh == DESC_SH_OUTER ? PGT_SH_OUTER : PGT_SH_NONE;
}

#endif
