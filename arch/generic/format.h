/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The generic format: the entry that <pgtable/generic.h> documents bit by bit.
 * It expresses every attribute, and belongs to no hardware.
 */
#ifndef PGT_GENERIC_FORMAT_H
#define PGT_GENERIC_FORMAT_H

#include "../../lib/modify.h"
#include <pgtable/generic.h>

#define RUN_BITS 4 /* runs of 16 entries at every level that has leaves */

/* Attributes that stand two bits, and one bit, further up in the entry. */
#define ATTR_BY_TWO (PGT_READ | PGT_WRITE | PGT_EXEC | PGT_UEXEC | PGT_USER | PGT_GLOBAL)
#define ATTR_BY_ONE (PGT_GUARDED | PGT_YOUNG | PGT_DIRTY)
#define ATTR_SW     (PGT_SW0 | PGT_SW1 | PGT_SW2)

#define GENERIC_FEATURES                                                                       \
	(PGT_FEAT_CONTIG | PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG |      \
	 PGT_FEAT_TRACK_DIRTY | PGT_FEAT_BBM1 | PGT_FEAT_BBM2 | PGT_FEAT_PARALLEL |            \
	 PGT_FEAT_NO_BLOCKS)

static inline int arch_configure(struct pgt *t, const struct pgt_config *config)
{
	bool known = t->granule_bits == 12 || t->granule_bits == 14 || t->granule_bits == 16;

	if (config->format_config)
		return PGT_EINVAL;
	if (!known || t->input_bits < 25 || t->input_bits > 48 || t->output_bits < 32 ||
	    t->output_bits > 52 || (t->features & ~GENERIC_FEATURES))
		return PGT_ENOTSUP;
	for (int level = 1; level <= PGT_LAST_LEVEL; level++) {
		t->leaf_levels |= (uint8_t)(1 << (level + 1));
		t->run_bits[level + 1] = RUN_BITS;
	}
	return PGT_OK;
}

/* Whether a mapping can have these attributes. */
static inline int arch_attr_check(const struct pgt *t, uint64_t attr)
{
	(void)t, (void)attr;
	return PGT_OK;
}

PGT_INLINE enum pgt_kind arch_kind(const struct pgt *t, uint64_t raw, int level)
{
	bool beyond = raw & PGT_GENERIC_ADDRESS & beyond_output(t);

	switch (raw & PGT_GENERIC_TYPE) {
	case PGT_GENERIC_LEAF:
		return level_has_leaves(t, level) && !beyond ? KIND_LEAF : KIND_CORRUPT;
	case PGT_GENERIC_TABLE:
		return level < PGT_LAST_LEVEL && !beyond ? KIND_TABLE : KIND_CORRUPT;
	case PGT_GENERIC_TOKEN:
		return KIND_TOKEN;
	default:
		return raw ? KIND_CORRUPT : KIND_EMPTY;
	}
}

/* Whether a walker may use the entry, and so a TLB may hold it. */
PGT_INLINE bool arch_valid(uint64_t raw)
{
	uint64_t type = raw & PGT_GENERIC_TYPE;

	return (type == PGT_GENERIC_LEAF || type == PGT_GENERIC_TABLE) &&
	       !(raw & (PGT_GENERIC_BROKEN | PGT_GENERIC_NOACCESS));
}

PGT_INLINE uint64_t arch_next(const struct pgt *t, uint64_t raw)
{
	(void)t;
	return raw & PGT_GENERIC_ADDRESS;
}

PGT_INLINE uint64_t arch_table(const struct pgt *t, uint64_t pa)
{
	(void)t;
	return pa | PGT_GENERIC_TABLE;
}

PGT_INLINE uint64_t arch_pa(const struct pgt *t, uint64_t raw, int level)
{
	return raw & PGT_GENERIC_ADDRESS & ~level_mask(t, level);
}

/* A leaf with these attributes, to be placed. */
static inline uint64_t arch_leaf(const struct pgt *t, uint64_t attr)
{
	(void)t;
	return PGT_GENERIC_LEAF | (attr & ATTR_BY_TWO) << 2 | (attr & ATTR_BY_ONE) << 1 |
	       (attr & ATTR_SW) << 48 | (attr << 36 & PGT_GENERIC_MEM) | (attr & PGT_SH_MASK) << 32 |
	       (attr & PGT_NOACCESS ? PGT_GENERIC_NOACCESS : 0);
}

/* The same leaf, not broken, at a level and PA, with or without the hint. */
PGT_INLINE uint64_t arch_place(const struct pgt *t, uint64_t raw, int level, uint64_t pa, bool run)
{
	(void)t, (void)level;
	raw &= ~(PGT_GENERIC_ADDRESS | PGT_GENERIC_CONTIG | PGT_GENERIC_BROKEN);
	return raw | pa | (run ? PGT_GENERIC_CONTIG : 0);
}

static inline uint64_t arch_attr(const struct pgt *t, uint64_t raw)
{
	(void)t;
	return (raw >> 2 & ATTR_BY_TWO) | (raw >> 1 & ATTR_BY_ONE) | (raw >> 48 & ATTR_SW) |
	       (raw & PGT_GENERIC_MEM) >> 36 | (raw & PGT_GENERIC_SH) >> 32 |
	       (raw & PGT_GENERIC_NOACCESS ? PGT_NOACCESS : 0);
}

/* Whether a leaf is global. */
PGT_INLINE bool arch_global(const struct pgt *t, uint64_t raw)
{
	(void)t;
	return raw & PGT_GENERIC_GLOBAL;
}

/* Whether the leaf carries the hint. */
PGT_INLINE bool arch_run(uint64_t raw)
{
	return raw & PGT_GENERIC_CONTIG;
}

/* The young and dirty state of a leaf, as attributes, and a leaf with more of it. */
PGT_INLINE uint64_t arch_state(uint64_t raw)
{
	return raw >> 1 & (PGT_YOUNG | PGT_DIRTY);
}

PGT_INLINE uint64_t arch_add_state(uint64_t raw, uint64_t state)
{
	return raw | state << 1;
}

/* The inaccessible entry that stands in a leaf's or table's place while it is
 * broken: everything but access is kept. */
PGT_INLINE uint64_t arch_break(uint64_t raw)
{
	return raw | PGT_GENERIC_BROKEN;
}

PGT_INLINE bool arch_broken(uint64_t raw)
{
	return (raw & PGT_GENERIC_TYPE) != PGT_GENERIC_TOKEN && (raw & PGT_GENERIC_BROKEN);
}

PGT_INLINE uint64_t arch_token(uint64_t raw)
{
	return raw >> 2;
}

#define arch_token_bits 62
static inline uint64_t arch_make_token(uint64_t token)
{
	return token << 2 | PGT_GENERIC_TOKEN;
}

/* Writable and dirty are bits of their own. */
#define arch_write_state arch_write_state
PGT_INLINE uint64_t arch_write_state(void)
{
	return 0;
}

/* What an access through this leaf meets: a PGT_FAULT_, or 0. */
static inline int arch_fault(const struct pgt *t, uint64_t raw, uint64_t attr, uint64_t access)
{
	uint64_t needs;

	if (!arch_valid(raw))
		return PGT_FAULT_TRANSLATION;
	if (!(attr & PGT_YOUNG) && !(t->features & PGT_FEAT_HW_YOUNG))
		return PGT_FAULT_ACCESS_FLAG;
	if (access & PGT_EXEC)
		needs = access & PGT_USER ? PGT_UEXEC : PGT_EXEC;
	else
		needs = access & (PGT_READ | PGT_WRITE | PGT_USER);
	if ((attr & needs) != needs)
		return PGT_FAULT_PERMISSION;
	if ((access & PGT_WRITE) && !(attr & PGT_DIRTY) && !(t->features & PGT_FEAT_HW_DIRTY))
		return PGT_FAULT_PERMISSION;
	return 0;
}

/* What a walk meets at an entry that no legal table holds. */
static inline int arch_corrupt_fault(const struct pgt *t, uint64_t raw, int level)
{
	uint64_t type = raw & PGT_GENERIC_TYPE;
	bool leads = type == PGT_GENERIC_LEAF ? level_has_leaves(t, level) :
						type == PGT_GENERIC_TABLE && level < PGT_LAST_LEVEL;

	return leads ? PGT_FAULT_ADDRESS_SIZE : PGT_FAULT_TRANSLATION;
}

/* What hardware makes of the leaf at an access that doesn't fault. */
static inline uint64_t arch_touch(uint64_t raw, uint64_t access)
{
	return raw | PGT_GENERIC_YOUNG | (access & PGT_WRITE ? PGT_GENERIC_DIRTY : 0);
}

#define arch_modify arch_modify
/* Attributes are bits of the leaf one to one. */
static inline void arch_modify_prepare(const struct pgt *t, struct modify *m)
{
	m->keep = ~(arch_leaf(t, m->set | m->clear) & ~PGT_GENERIC_TYPE);
	m->put = arch_leaf(t, m->set);
}

/* The leaf after the change, mended where it was broken. An inaccessible leaf has no hint. */
PGT_INLINE uint64_t arch_modify(const struct pgt *t, uint64_t raw, int level, const struct modify *m)
{
	(void)t, (void)level;
	raw = (raw & m->keep & ~PGT_GENERIC_BROKEN) | m->put;
	return raw & PGT_GENERIC_NOACCESS ? raw & ~PGT_GENERIC_CONTIG : raw;
}

#define arch_tlb_bits arch_tlb_bits
/* Whether bits of a leaf that changed matter to a TLB. */
PGT_INLINE bool arch_tlb_bits(uint64_t differ)
{
	return differ & ~PGT_GENERIC_SW;
}

#define arch_writable arch_writable
PGT_INLINE bool arch_writable(uint64_t raw)
{
	return raw & PGT_GENERIC_WRITE;
}

#define arch_tlb_effect arch_tlb_effect
/* What the change of a leaf from old to new means to TLBs. */
PGT_INLINE enum tlb_effect arch_tlb_effect(const struct pgt *t, uint64_t old, uint64_t new)
{
	const uint64_t grant = (ATTR_BY_TWO & ~PGT_GLOBAL) << 2 | (PGT_YOUNG | PGT_DIRTY) << 1;
	uint64_t differ = (old ^ new) & ~PGT_GENERIC_SW;

	(void)t;
	if (!arch_valid(old) || !differ)
		return TLB_NONE;
	if (!arch_valid(new))
		return TLB_CHANGED;
	if ((differ & (PGT_GENERIC_MEM | PGT_GENERIC_SH)) || (differ & new & PGT_GENERIC_GLOBAL))
		return TLB_BREAK;
	return (differ & ~grant) || (differ & old) ? TLB_CHANGED : TLB_RELAXED;
}

#define arch_relink_top arch_relink_top
/* Any table below the root moves as it is: no walker writes its entry. */
static inline int arch_relink_top(const struct pgt *t)
{
	return t->start_level;
}

static inline uint64_t arch_unlink(struct pgt_entry *e, uint64_t *rmws)
{
	uint64_t raw = entry_load(e);

	(void)rmws;
	entry_store(e, 0);
	return raw;
}

/* What is wrong with an entry by itself, in words; NULL: nothing. */
static inline const char *arch_problem(const struct pgt *t, uint64_t raw, int level)
{
	uint64_t table_bits = PGT_GENERIC_ADDRESS | PGT_GENERIC_BROKEN | PGT_GENERIC_TYPE;

	switch (raw & PGT_GENERIC_TYPE) {
	case PGT_GENERIC_TOKEN:
		return NULL;
	case PGT_GENERIC_EMPTY:
		return raw ? "an empty entry that is not zero" : NULL;
	}
	if (raw & PGT_GENERIC_ADDRESS & beyond_output(t))
		return "an address beyond the output range";
	if ((raw & PGT_GENERIC_ADDRESS) & (granule(t) - 1))
		return "an address that is not aligned to the granule";
	if ((raw & PGT_GENERIC_TYPE) == PGT_GENERIC_TABLE) {
		if (level == PGT_LAST_LEVEL)
			return "a table at the page level";
		return raw & ~table_bits ? "a table entry with reserved bits set" : NULL;
	}
	if (!level_has_leaves(t, level))
		return "a block at a level that has none";
	if (raw & PGT_GENERIC_ADDRESS & level_mask(t, level))
		return "a block that is not aligned to its size";
	if (raw >> 11 & 1)
		return "a leaf with reserved bits set";
	if ((raw & PGT_GENERIC_MEM) >> PGT_GENERIC_MEM_SHIFT > 4 ||
	    (raw & PGT_GENERIC_SH) == PGT_GENERIC_SH)
		return "a leaf with a reserved memory type or shareability";
	return NULL;
}

#endif
