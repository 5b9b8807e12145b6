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
static inline void modify_bits(struct modify *m, const struct plain_bit *bits)
{
	uint64_t touched = m->set | m->clear;

	for (; bits->attr; bits++) {
		if (touched & bits->attr)
			m->keep &= ~bits->bit;
		if ((touched & bits->attr) && !(m->set & bits->attr) == bits->inverted)
			m->put |= bits->bit;
	}
}

static inline void arch_modify_prepare(const struct pgt *t, struct modify *m)
{
	static const struct plain_bit state[] = {
		{ PGT_YOUNG, DESC_AF, false }, { PGT_DIRTY, DESC_DIRTY, false }, { PGT_WRITE, DESC_DBM, false },
		{ 0, 0, false },
	};
	uint64_t touched = m->set | m->clear, cleared = m->clear & ~m->set;

	m->keep = ~((touched / PGT_SW0 & 7) << DESC_SW_SHIFT);
	m->put = (m->set / PGT_SW0 & 7) << DESC_SW_SHIFT;
	modify_bits(m, state);
	modify_bits(m, stage_bits(t));
	m->simple = !(touched & ~stage_harmless(t));
	m->entangled = stage_entangled(t, m);
	if (m->clear & PGT_MEM_MASK) {
		m->keep &= ~DESC_MEM;
		m->put |= desc_of_memory(t, m->set) & DESC_MEM;
	}
	if ((m->clear & PGT_SH_MASK) && !arm64_no_sh(t)) {
		m->keep &= ~DESC_SH;
		m->put |= desc_of_sh(t, m->set);
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

/* The bits of a valid leaf after the change, without a branch: as the rules of
 * pgt_arm64_pte_wrprotect() and the others have it. */
PGT_INLINE uint64_t modify_valid(uint64_t raw, uint64_t keep, uint64_t put, uint64_t save)
{
	uint64_t old = desc_rdonly_form(raw), new = (old & keep) | put;

	/* In the place of the software bit: dirty in hardware's form. */
	new |= (old << 4 & ~old << 48) & save;
	/* Writable and dirty is never read-only to hardware. */
	new &= ~((new >> 48 & new >> 44) & DESC_RDONLY);
	return desc_rdonly_form(new);
}

/* The same by way of attributes. */
static inline uint64_t modify_entangled(const struct pgt *t, uint64_t raw, int level, const struct modify *m)
{
	uint64_t attr = (arch_attr(t, raw) & ~m->clear) | m->set;

	return arch_place(t, arch_leaf(t, attr), level, arch_pa(t, raw, level), raw & DESC_CONTIG);
}

/* The leaf after the change, mended where it was broken; an inaccessible leaf
 * has no hint. */
PGT_INLINE uint64_t arch_modify(const struct pgt *t, uint64_t raw, int level, const struct modify *m)
{
	uint64_t new = m->entangled ? modify_entangled(t, raw, level, m) :
				      modify_valid(raw, m->keep, m->put, m->save);

	if (!(raw & DESC_VALID) || (m->set & PGT_NOACCESS))
		new = modify_access(raw, new, m);
	return new;
}

#define arch_modify_check arch_modify_check
/* Whether no leaf can end with attributes that a mapping can't have. */
static inline bool arch_modify_safe(const struct pgt *t, const struct modify *m)
{
	(void)t;
	return m->simple && (STAGE == 2 || !(m->set & PGT_WRITE));
}

/* The status of map for the attributes that the leaf raw would end with. */
PGT_INLINE int arch_modify_check(const struct pgt *t, uint64_t raw, const struct modify *m)
{
	uint64_t attr;

	if (m->simple)
		return !(m->set & PGT_WRITE) || stage_may_write(raw) ? PGT_OK : PGT_ENOTSUP;
	attr = (arch_attr(t, raw) & ~m->clear) | m->set;
	return attr_is_sound(attr) ? arch_attr_check(t, attr) : PGT_EINVAL;
}

#define arch_accepts arch_accepts
/* How many leading leaves of n entries can surely undergo the change. */
PGT_INLINE unsigned arch_accepts(const struct pgt *t, const struct pgt_entry *e, unsigned n, int level,
				 const struct modify *m)
{
	const uint64_t mask = DESC_TYPE | arm64(t)->beyond, leaf = DESC_VALID | DESC_TABLE;
	unsigned i;

	if (!m->simple || level != PGT_LAST_LEVEL)
		return 0;
	for (i = 0; i < n; i++) {
		uint64_t raw = entry_load(e + i);

		if ((raw & mask) != leaf || ((m->set & PGT_WRITE) && !stage_may_write(raw)))
			break;
	}
	return i;
}

#define arch_tlb_effect arch_tlb_effect
/* What the change of a leaf from old to new means to TLBs (D8.16.1). */
PGT_INLINE enum tlb_effect arch_tlb_effect(const struct pgt *t, uint64_t old, uint64_t new)
{
	const uint64_t place = DESC_MEM | DESC_SH | arm64(t)->address | arm64(t)->split;
	uint64_t differ = (old ^ new) & ~(DESC_SW | DESC_DIRTY);

	if (!(old & DESC_VALID) || !differ)
		return TLB_NONE;
	if (!(new & DESC_VALID))
		return TLB_CHANGED;
	if ((differ & place) || (differ & old & arm64(t)->not_global))
		return TLB_BREAK;
	if ((t->features & PGT_FEAT_EXEC_BBM) && stage_takes_execution(old, new))
		return TLB_BREAK;
	old = desc_rdonly_form(old) & ~(DESC_SW | DESC_DIRTY);
	new = desc_rdonly_form(new) & ~(DESC_SW | DESC_DIRTY);
	return stage_denies(t, old, new) ? TLB_CHANGED : TLB_RELAXED;
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
	bool clean = (raw & DESC_DBM) && desc_rdonly(raw);

	return !(t->features & PGT_FEAT_HW_YOUNG) || ((raw & DESC_AF) && !clean);
}

#ifndef PGT_PLAIN_HOOKS

#define arch_batch_length arch_batch_length
/* A run is changed as it stands: the hint stays. */
PGT_INLINE unsigned arch_batch_length(const struct pgt *t, uint64_t raw, int level)
{
	return arch_run(raw) ? 1u << t->run_bits[level + 1] : 1;
}

#define arch_gather arch_gather
/* The state of a run, or of one leaf; no more is read than it takes to know it. */
PGT_INLINE uint64_t arch_gather(const struct pgt *t, const struct pgt_entry *e, unsigned members, int level,
				uint64_t *reads)
{
	uint64_t state = 0;
	unsigned i;

	for (i = 0; i < members && state != (PGT_YOUNG | PGT_DIRTY); i++) {
		uint64_t raw = entry_load(e + i);

		if (arch_kind(t, raw, level) == KIND_LEAF && (members == 1 || arch_run(raw)))
			state |= arch_state(raw);
	}
	*reads += i;
	return state;
}

#define arch_take arch_take
/* Empties n entries, a run or one leaf or token, and says which state they had,
 * were they leaves.  Hardware can't write what is settled or invalid. */
PGT_INLINE uint64_t arch_take(const struct pgt *t, struct pgt_entry *e, unsigned n, uint64_t *rmws)
{
	uint64_t state = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t raw = entry_load(e + i);

		if (!arch_valid(raw) || arch_settled(t, raw)) {
			entry_store(e + i, 0);
		} else {
			raw = entry_exchange(e + i, 0);
			++*rmws;
		}
		state |= arch_state(raw);
	}
	return state;
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

/* A change of a stretch of leaves, in this format's terms. */
struct arm64_change {
	uint64_t mask, leaf; /* the leaves concerned: the bits that tell, and how */
	uint64_t keep, put, save;
	bool hardware;       /* writes leaves */
};

PGT_INLINE enum entry_verdict arm64_change_one(uint64_t raw, uint64_t *new, const void *how)
{
	const struct arm64_change *h = how;
	const uint64_t clean = DESC_DBM | DESC_RDONLY;

	*new = modify_valid(raw, h->keep, h->put, h->save);
	if ((raw & h->mask) != h->leaf || *new == raw)
		return ENTRY_STOP;
	if (!h->hardware || ((raw & DESC_AF) && (desc_rdonly_form(raw) & clean) != clean))
		return ENTRY_STORE;
	return ENTRY_SWAP;
}

#define arch_change_batch arch_change_batch
/*
 * Changes leading leaves of n entries in one tight loop, as far as they are
 * valid, carry the hint or not as hinted says, and do change; how many.
 */
PGT_INLINE unsigned arch_change_batch(const struct pgt *t, struct pgt_entry *e, unsigned n, int level, bool hinted,
				      const struct modify *m, struct batch_change *out)
{
	const uint64_t state = DESC_AF | DESC_RDONLY | DESC_DIRTY;
	const struct arm64_change how = {
		.mask = DESC_TYPE | DESC_CONTIG | arm64(t)->beyond,
		.leaf = DESC_VALID | (level == PGT_LAST_LEVEL ? DESC_TABLE : 0) | (hinted ? DESC_CONTIG : 0),
		.keep = m->keep, .put = m->put, .save = m->save,
		.hardware = t->features & PGT_FEAT_HW_YOUNG,
	};
	struct entry_changes changes;
	unsigned done;

	if ((m->set & PGT_NOACCESS) || m->entangled || !level_has_leaves(t, level))
		return 0;
	done = entry_change(e, n, arm64_change_one, &how, &changes);
	out->one_state = !((changes.any ^ changes.all) & state);
	out->differ = changes.differ;
	out->global = done && (~(changes.had & changes.all) & arm64(t)->not_global);
	out->rmws = changes.rmws;
	return done;
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
