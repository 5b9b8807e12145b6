/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Inherited hooks: one entry. */
#ifndef PGT_GENERIC_ENTRY_H
#define PGT_GENERIC_ENTRY_H

#include "../../lib/modify.h"

#ifndef arch_step
/* What is added to a placed leaf to make that of the next address. */
PGT_INLINE uint64_t arch_step(const struct pgt *t, int level)
{
	return level_mask(t, level) + 1;
}
#endif

#ifndef arch_stride_last
/* The last PA up to which neighbouring leaves are a step apart. */
PGT_INLINE uint64_t arch_stride_last(const struct pgt *t, uint64_t pa)
{
	(void)t, (void)pa;
	return UINT64_MAX;
}
#endif

#ifndef arch_inherit
/* The permission bits that a table entry lays over all below it. */
PGT_INLINE uint64_t arch_inherit(const struct pgt *t, uint64_t raw)
{
	(void)t, (void)raw;
	return 0;
}
#endif

#ifndef arch_effective
/* Attributes under the permission bits of the tables on the way. */
static inline uint64_t arch_effective(const struct pgt *t, uint64_t attr, uint64_t inherited)
{
	(void)t, (void)inherited;
	return attr;
}
#endif

#ifndef arch_modify
static inline void arch_modify_prepare(const struct pgt *t, struct modify *m)
{
	(void)t, (void)m;
}

/* The leaf after the change, mended where it was broken. An inaccessible leaf has no hint. */
PGT_INLINE uint64_t arch_modify(const struct pgt *t, uint64_t raw, int level, const struct modify *m)
{
	uint64_t attr = (arch_attr(t, raw) & ~m->clear) | m->set;

	return arch_place(t, arch_leaf(t, attr), level, arch_pa(t, raw, level),
			  arch_run(raw) && !(attr & PGT_NOACCESS));
}
#endif

#ifndef arch_modify_check
/* Whether no leaf can end with attributes that a mapping can't have. */
static inline bool arch_modify_safe(const struct pgt *t, const struct modify *m)
{
	(void)t;
	return !(m->set & ~MODIFY_HARMLESS) && !(m->clear & ~(MODIFY_HARMLESS | PGT_WRITE));
}

/* The status of map for the attributes that the leaf raw would end with. */
PGT_INLINE int arch_modify_check(const struct pgt *t, uint64_t raw, const struct modify *m)
{
	uint64_t attr = (arch_attr(t, raw) & ~m->clear) | m->set;

	return attr_is_sound(attr) ? arch_attr_check(t, attr) : PGT_EINVAL;
}
#endif

#ifndef arch_tlb_effect
/* What the change of a leaf from old to new means to TLBs. */
PGT_INLINE enum tlb_effect arch_tlb_effect(const struct pgt *t, uint64_t old, uint64_t new)
{
	const uint64_t permissions = PGT_READ | PGT_WRITE | PGT_EXEC | PGT_UEXEC | PGT_USER |
				     PGT_YOUNG | PGT_DIRTY;
	const uint64_t software = PGT_SW0 | PGT_SW1 | PGT_SW2;
	uint64_t from = arch_attr(t, old), to = arch_attr(t, new), differ = (from ^ to) & ~software;

	if (!arch_valid(old) || !differ)
		return TLB_NONE;
	if (!arch_valid(new))
		return TLB_CHANGED;
	if ((differ & (PGT_MEM_MASK | PGT_SH_MASK)) || (differ & to & PGT_GLOBAL))
		return TLB_BREAK;
	return (differ & ~permissions) || (differ & from) ? TLB_CHANGED : TLB_RELAXED;
}
#endif

#ifndef arch_accepts
/* How many leading leaves of n entries can surely undergo the change; others
 * are looked at one by one. */
static inline unsigned arch_accepts(const struct pgt *t, const struct pgt_entry *e, unsigned n, int level,
				    const struct modify *m)
{
	(void)t, (void)e, (void)n, (void)level, (void)m;
	return 0;
}
#endif

#ifndef arch_writable
/* Whether a leaf has PGT_WRITE. */
static inline bool arch_writable(uint64_t raw)
{
	return arch_attr(NULL, raw) & PGT_WRITE;
}
#endif

#ifndef arch_tlb_differs
/* Whether a TLB may hold the old leaf, and it is not the new one. */
PGT_INLINE bool arch_tlb_differs(const struct pgt *t, uint64_t old, uint64_t new)
{
	return arch_tlb_effect(t, old, new) != TLB_NONE;
}
#endif

#ifndef arch_tlb_bits
/* Whether bits of a leaf that changed matter to a TLB. */
PGT_INLINE bool arch_tlb_bits(uint64_t differ)
{
	return differ;
}
#endif

#ifndef arch_settled
/* Whether hardware has nothing left to set in a valid leaf, so that a plain
 * store to it loses nothing. */
PGT_INLINE bool arch_settled(const struct pgt *t, uint64_t raw)
{
	return !(t->features & PGT_FEAT_HW_YOUNG) || arch_state(raw) == (PGT_YOUNG | PGT_DIRTY);
}
#endif

#endif
