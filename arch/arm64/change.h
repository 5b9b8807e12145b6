/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How leaves change here.  Hardware only ever sets the access flag, and clears
 * RDONLY where DBM is set.  So a leaf that has the one and is not
 * writable-clean is settled: hardware won't write it, and a plain store loses
 * nothing.  All others are changed by compare-and-swap, in place: permissions
 * need no break-before-make (D8.16.1), the hint stays, and no reader ever finds
 * the leaf inaccessible.
 */
#ifndef PGT_ARM64_CHANGE_H
#define PGT_ARM64_CHANGE_H

#include "../../lib/modify.h"
#include "entry.h"

#define arch_modify arch_modify
/* The bits of a leaf that attributes are, one to one. */
static inline void modify_plain(struct modify *m)
{
	static const struct {
		uint64_t attr, bit;
		bool inverted;
	} plain[] = {
		{ PGT_USER, DESC_USER, false },	  { PGT_GUARDED, DESC_GP, false },
		{ PGT_EXEC, DESC_PXN, true },	  { PGT_UEXEC, DESC_UXN, true },
		{ PGT_GLOBAL, DESC_NG, true },	  { PGT_YOUNG, DESC_AF, false },
		{ PGT_DIRTY, DESC_DIRTY, false }, { PGT_WRITE, DESC_DBM, false },
	};
	uint64_t touched = m->set | m->clear;

	m->keep = ~((touched / PGT_SW0 & 7) << DESC_SW_SHIFT);
	m->put = (m->set / PGT_SW0 & 7) << DESC_SW_SHIFT;
	for (unsigned i = 0; i < sizeof plain / sizeof *plain; i++) {
		if (touched & plain[i].attr)
			m->keep &= ~plain[i].bit;
		if ((touched & plain[i].attr) && !(m->set & plain[i].attr) == plain[i].inverted)
			m->put |= plain[i].bit;
	}
}

static inline void arch_modify_prepare(const struct pgt *t, struct modify *m)
{
	const uint64_t harmless = MODIFY_HARMLESS | PGT_GLOBAL | PGT_GUARDED | PGT_WRITE;
	uint64_t cleared = m->clear & ~m->set;

	modify_plain(m);
	m->simple = !((m->set | m->clear) & ~harmless);
	if (m->clear & PGT_MEM_MASK) {
		m->keep &= ~DESC_INDEX;
		m->put |= arch_leaf(t, m->set & PGT_MEM_MASK) & DESC_INDEX;
	}
	if (m->clear & PGT_SH_MASK) {
		m->keep &= ~DESC_SH;
		m->put |= arch_leaf(t, m->set & PGT_SH_MASK) & DESC_SH;
	}
	/* What isn't writable, or is clean, is read-only to hardware. */
	if (cleared & (PGT_WRITE | PGT_DIRTY))
		m->put |= DESC_RDONLY;
	/* Hardware's form of dirty goes with WRITE: it is saved first. */
	m->save = (cleared & PGT_WRITE) && !(cleared & PGT_DIRTY) ? DESC_DIRTY : 0;
}

/* An inaccessible leaf: mended where it was broken; NOACCESS where that is asked. */
static inline uint64_t modify_access(uint64_t raw, uint64_t new, const struct modify *m)
{
	if (m->set & PGT_NOACCESS)
		return (new & ~(DESC_VALID | DESC_CONTIG | INVALID_KIND)) | INVALID_NOACCESS;
	if (!(raw & DESC_VALID) && (arch_broken(raw) || (m->clear & PGT_NOACCESS)))
		return (new & ~INVALID_KIND) | DESC_VALID;
	return new;
}

/*
 * The leaf after the change, mended where it was broken; an inaccessible leaf
 * has no hint.  The rules are those of pgt_arm64_pte_wrprotect() and the
 * others, without a branch for the common case.
 */
PGT_INLINE uint64_t arch_modify(const struct pgt *t, uint64_t raw, int level, const struct modify *m)
{
	/* In the place of the software bit: dirty in hardware's form. */
	uint64_t hw_dirty = (raw << 4 & ~raw << 48) & DESC_DIRTY;
	uint64_t new = (raw & m->keep) | m->put | (hw_dirty & m->save);

	(void)t, (void)level;
	/* Writable and dirty is never read-only to hardware. */
	new &= ~((new >> 48 & new >> 44) & DESC_RDONLY);
	if (!(raw & DESC_VALID) || (m->set & PGT_NOACCESS))
		new = modify_access(raw, new, m);
	return new;
}

#define arch_modify_check arch_modify_check
/* Whether no leaf can end with attributes that a mapping can't have. */
static inline bool arch_modify_safe(const struct modify *m)
{
	return !(m->set & ~(MODIFY_HARMLESS | PGT_GLOBAL | PGT_GUARDED)) &&
	       !(m->clear & ~(MODIFY_HARMLESS | PGT_GLOBAL | PGT_GUARDED | PGT_WRITE));
}

/* The status of map for the attributes that the leaf raw would end with. */
PGT_INLINE int arch_modify_check(const struct pgt *t, uint64_t raw, const struct modify *m)
{
	uint64_t attr;

	/* Only what is execute-only can't become writable. */
	if (m->simple)
		return !(m->set & PGT_WRITE) || (raw & (DESC_USER | DESC_UXN)) ? PGT_OK : PGT_ENOTSUP;
	attr = (arch_attr(t, raw) & ~m->clear) | m->set;
	return attr_is_sound(attr) ? arch_attr_check(t, attr) : PGT_EINVAL;
}

#define arch_accepts arch_accepts
/* How many leading leaves of n entries can surely undergo the change. */
PGT_INLINE unsigned arch_accepts(const struct pgt *t, const struct pgt_entry *e, unsigned n, int level,
				 const struct modify *m)
{
	const uint64_t mask = DESC_TYPE | (beyond_output(t) & DESC_ADDRESS), leaf = DESC_VALID | DESC_TABLE;
	unsigned i;

	if (!m->simple || level != PGT_LAST_LEVEL)
		return 0;
	for (i = 0; i < n; i++) {
		uint64_t raw = entry_load(e + i);

		if ((raw & mask) != leaf || ((m->set & PGT_WRITE) && !(raw & (DESC_USER | DESC_UXN))))
			break;
	}
	return i;
}

#define arch_tlb_effect arch_tlb_effect
/* What the change of a leaf from old to new means to TLBs (D8.16.1). */
PGT_INLINE enum tlb_effect arch_tlb_effect(const struct pgt *t, uint64_t old, uint64_t new)
{
	const uint64_t grant = DESC_AF | DESC_USER | DESC_DBM; /* setting these allows more, ... */
	const uint64_t deny = DESC_RDONLY | DESC_PXN | DESC_UXN; /* ... and clearing these */
	uint64_t differ = (old ^ new) & ~(DESC_SW | DESC_DIRTY);

	if (!(old & DESC_VALID) || !differ)
		return TLB_NONE;
	if (!(new & DESC_VALID))
		return TLB_CHANGED;
	if ((differ & (DESC_INDEX | DESC_SH | DESC_ADDRESS)) || (differ & old & DESC_NG))
		return TLB_BREAK;
	if ((t->features & PGT_FEAT_EXEC_BBM) && (differ & new & (DESC_PXN | DESC_UXN)))
		return TLB_BREAK;
	/* What EL0 may write EL1 no longer executes. */
	if (!(old & DESC_PXN) && (new & DESC_USER) && (new & DESC_DBM))
		return TLB_CHANGED;
	if ((differ & ~(grant | deny)) || (differ & old & grant) || (differ & new & deny))
		return TLB_CHANGED;
	return TLB_RELAXED;
}

#define arch_tlb_differs arch_tlb_differs
/* Whether a TLB may hold the old leaf, and it is not the new one. */
PGT_INLINE bool arch_tlb_differs(const struct pgt *t, uint64_t old, uint64_t new)
{
	(void)t;
	return (old & DESC_VALID) && ((old ^ new) & ~(DESC_SW | DESC_DIRTY));
}

#define arch_tlb_bits arch_tlb_bits
/* Whether bits of a leaf that changed matter to a TLB. */
PGT_INLINE bool arch_tlb_bits(uint64_t differ)
{
	return differ & ~(DESC_SW | DESC_DIRTY);
}

#define arch_settled arch_settled
PGT_INLINE bool arch_settled(const struct pgt *t, uint64_t raw)
{
	bool clean = (raw & DESC_DBM) && (raw & DESC_RDONLY);

	return !(t->features & PGT_FEAT_HW_YOUNG) || ((raw & DESC_AF) && !clean);
}

#ifndef PGT_PLAIN_HOOKS

#define arch_runs_in_place arch_runs_in_place
PGT_INLINE bool arch_runs_in_place(void)
{
	return true;
}

#define arch_blocks_in_place arch_blocks_in_place
PGT_INLINE bool arch_blocks_in_place(void)
{
	return true;
}

#define arch_change arch_change
/*
 * Changes the leaf raw that stands in e to *new, which is raw after the change
 * m and with state added.  Hardware may write it meanwhile.  Returns the leaf
 * as it was, with *new what it is now, and adds to *rmws.
 */
PGT_INLINE uint64_t arch_change(const struct pgt *t, struct pgt_entry *e, uint64_t raw, int level,
				const struct modify *m, uint64_t state, uint64_t *new, uint64_t *rmws)
{
	if (!arch_valid(raw) || arch_settled(t, raw)) {
		entry_store(e, *new);
		return raw;
	}
	while (++*rmws, !entry_compare_swap(e, &raw, *new))
		*new = arch_add_state(arch_modify(t, raw, level, m), state);
	return raw;
}

#define arch_change_batch arch_change_batch
/*
 * Changes leading leaves of n entries in one tight loop, as far as they are
 * valid, carry the hint or not as hinted says, and do change; how many.  A
 * compare-and-swap that fails ends it: hardware has just been there.
 */
PGT_INLINE unsigned arch_change_batch(const struct pgt *t, struct pgt_entry *e, unsigned n, int level, bool hinted,
				      const struct modify *m, struct batch_change *out)
{
	const uint64_t mask = DESC_TYPE | DESC_CONTIG | (beyond_output(t) & DESC_ADDRESS);
	const uint64_t leaf = DESC_VALID | (level == PGT_LAST_LEVEL ? DESC_TABLE : 0) | (hinted ? DESC_CONTIG : 0);
	const uint64_t keep = m->keep, put = m->put, save = m->save;
	const bool hardware = t->features & PGT_FEAT_HW_YOUNG;
	const uint64_t state = DESC_AF | DESC_RDONLY | DESC_DIRTY;
	uint64_t differ = 0, all_ng = DESC_NG, rmws = 0, any = 0, all = ~UINT64_C(0);
	unsigned i;

	if ((m->set & PGT_NOACCESS) || !level_has_leaves(t, level))
		return 0;
	for (i = 0; i < n; i++) {
		uint64_t raw = entry_load(e + i), new = (raw & keep) | put;

		/* As arch_modify() has it. */
		new |= (raw << 4 & ~raw << 48) & save;
		new &= ~((new >> 48 & new >> 44) & DESC_RDONLY);
		if ((raw & mask) != leaf || new == raw)
			break;
		if (!hardware || ((raw & DESC_AF) && (raw & (DESC_DBM | DESC_RDONLY)) != (DESC_DBM | DESC_RDONLY))) {
			entry_store(e + i, new);
		} else {
			uint64_t is = raw;

			rmws++;
			if (!entry_compare_swap(e + i, &is, new))
				break;
		}
		differ |= raw ^ new;
		all_ng &= raw & new;
		any |= new;
		all &= new;
	}
	out->one_state = !((any ^ all) & state);
	out->differ = differ;
	out->global = i && !all_ng;
	out->rmws = rmws;
	return i;
}

#define arch_relink_top arch_relink_top
/* Any table below the root. */
static inline int arch_relink_top(const struct pgt *t)
{
	return t->start_level;
}

/* Hardware writes no table entry. */
static inline uint64_t arch_unlink(struct pgt_entry *e, uint64_t *rmws)
{
	uint64_t raw = entry_load(e);

	(void)rmws;
	entry_store(e, 0);
	return raw;
}

#define arch_write_state arch_write_state
PGT_INLINE uint64_t arch_write_state(void)
{
	return 0;
}

#endif
#endif
