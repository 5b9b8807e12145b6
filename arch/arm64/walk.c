/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translations from register values alone, through one stage or two.
 *
 * Stage 1 is walked here, a descriptor at a time, since behind a stage 2 each
 * of them lies wherever stage 2 puts it: with another granule there not even one
 * table is one piece.  Stage 2 is walked by its own backend.
 */
#include "arm64.h"
#include "stage1.h"
#include "access.h"
#include "entry.h"
#include "decode.h"
#include "registers.h"
#include "../../lib/answer.h"

/* Without stage 1 an address is 52 bits wide at most (D8.2.10). */
#define FLAT_BITS 52

#define MEMATTR_TAGGED UINT64_C(0xf0) /* write-back, with allocation tags */
#define MEMATTR_WB     UINT64_C(0xff)
#define MEMATTR_WT     UINT64_C(0xee)
#define MEMATTR_NC     UINT64_C(0x44)
#define MEMATTR_STRICT UINT64_C(0x00)

#define SH_OUTER UINT64_C(2)
#define SH_INNER UINT64_C(3)

#define ANY_PERMISSION (PGT_READ | PGT_WRITE | PGT_EXEC | PGT_UEXEC)

/* One stage, as its registers show it. */
struct stage {
	const struct pgt_arm64_regs *regs; /* NULL: there is none */
	bool on;
	int status; /* PGT_OK, or PGT_EFAULT: no address is translated */
	struct decoded d;
	struct pgt t;
};

struct walker {
	struct pgt_memory memory;
	uint64_t va, access;
	bool alone; /* stage 2 without a stage 1 before it */
	struct stage one, two;
};

/* ---- Registers ----------------------------------------------------------- */

/* In which half of stage 1 an address lies: bit 55 tells (D8.2.6). */
static int find_half(const struct pgt_arm64_regs *regs, uint64_t va)
{
	return regs->regime == PGT_ARM64_EL1 && (va >> 55 & 1) ? PGT_ARM64_UPPER : PGT_ARM64_LOWER;
}

/* What of the features a walk depends on: it reads blocks whoever makes none. */
static uint64_t walked_features(uint64_t features)
{
	return features & (PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_LPA | PGT_FEAT_LPA2 | PGT_FEAT_LVA |
			   PGT_FEAT_ST | PGT_FEAT_UPPER | PGT_FEAT_XNX | PGT_FEAT_FWB);
}

/* A disabled half and illegal sizes leave a stage that translates nothing. */
static int stage_prepare(struct stage *s, const struct pgt_arm64_regs *regs, const struct pgt_memory *memory,
			 int half)
{
	int status;

	s->regs = regs;
	s->on = pgt_arm64_regs_on(regs);
	s->status = PGT_OK;
	status = pgt_arm64_decode(regs, half, &s->d);
	if (!s->on)
		return PGT_OK;
	s->d.config.memory = *memory;
	s->d.config.format_config = &s->d.own;
	s->d.config.features = walked_features(s->d.config.features);
	if (status == PGT_OK) {
		status = pgt_setup(&s->t, &s->d.config, true);
		/* What is left for it to refuse is a start level that PS rules out. */
		status = status == PGT_ENOTSUP ? PGT_EFAULT : status;
	}
	if (status == PGT_ENOENT || status == PGT_EFAULT) {
		s->status = PGT_EFAULT;
		return PGT_OK;
	}
	s->t.root_pa = s->d.root_pa & ~(s->t.root_bytes - 1);
	((struct arm64 *)s->t.arch)->config.mair = s->d.own.mair;
	return status;
}

/* The registers of both stages put in force; either may be NULL. */
static int walker_prepare(struct walker *w, const struct pgt_arm64_regs *s1, const struct pgt_arm64_regs *s2,
			  const struct pgt_memory *memory)
{
	int status = PGT_OK;

	w->memory = *memory;
	/* What a walker updates it sees: it is coherent. */
	w->memory.written = NULL;
	w->one.regs = w->two.regs = NULL;
	w->one.on = w->two.on = false;
	if (s2)
		status = stage_prepare(&w->two, s2, &w->memory, PGT_ARM64_LOWER);
	if (status == PGT_OK && s1)
		status = stage_prepare(&w->one, s1, &w->memory, find_half(s1, w->va));
	/* HCR_EL2 is one register, whichever of the two shows it. */
	if (s2 && pgt_arm64_defaults(s2->hcr))
		w->one.on = false;
	if (status == PGT_OK && w->two.on && w->two.status == PGT_OK)
		w->two.t.root = table_at(&w->two.t, w->two.t.root_pa, w->two.t.root_bytes);
	return status;
}

/* ---- Stage 2 ------------------------------------------------------------- */

static int fault_of(struct pgt_translation *out, int stage, int fault, int level)
{
	*out = (struct pgt_translation){ .stage = stage };
	return translate_fault(out, fault, level);
}

/* An intermediate address through stage 2. */
static int stage2_translate(struct walker *w, uint64_t ipa, uint64_t access, struct pgt_translation *out)
{
	struct pgt *t = &w->two.t;
	int status;

	if (w->two.status != PGT_OK || ipa > t->last)
		status = fault_of(out, 2, PGT_FAULT_TRANSLATION, 0);
	else if (t->root_pa & beyond_output(t))
		status = fault_of(out, 2, PGT_FAULT_ADDRESS_SIZE, 0);
	else if (!t->root)
		status = fault_of(out, 2, PGT_FAULT_EXTERNAL, t->start_level);
	else
		status = t->backend->translate(t, ipa, access, out);
	out->stage = 2;
	out->ipa = ipa;
	return status;
}

/* ---- Where a descriptor of stage 1 is ------------------------------------- */

/* Whether stage 2 keeps walks out of memory that is a device's (HCR_EL2.PTW). */
static bool protects_devices(const struct walker *w, uint64_t attr)
{
	uint64_t type = attr & PGT_MEM_MASK;

	return (w->two.regs->hcr & HCR_PTW) && (type == PGT_MEM_DEVICE || type == PGT_MEM_DEVICE_STRICT);
}

/*
 * The descriptor at an address that stage 1 calls physical, to be read or
 * written as hardware does it.
 */
static int find_descriptor(struct walker *w, uint64_t at, uint64_t access, int level, struct pgt_entry **e,
			   struct pgt_translation *out)
{
	const struct pgt *t = &w->one.t;
	int status;

	if (w->two.on) {
		status = stage2_translate(w, at, access, out);
		if (status == PGT_OK && protects_devices(w, out->attr))
			status = translate_fault(out, PGT_FAULT_PERMISSION, out->level);
		out->during_walk = true;
		if (status != PGT_OK)
			return status;
		at = out->pa;
		t = &w->two.t;
	}
	*e = table_at(t, at, sizeof **e);
	return *e ? PGT_OK : fault_of(out, 1, PGT_FAULT_EXTERNAL, level);
}

/* ---- Stage 1 ------------------------------------------------------------- */

/* The descriptors on the way down, to see that they are still the same. */
struct trail {
	int level;
	uint64_t at; /* of the last */
	struct pgt_entry *e[PGT_LEVELS];
	uint64_t raw[PGT_LEVELS];
	uint64_t inherited;
};

static int trail_down(struct trail *trail, struct walker *w, uint64_t at, struct pgt_translation *out)
{
	const struct pgt *t = &w->one.t;
	uint64_t access = PGT_READ | (w->access & PGT_UPDATE), table = t->root_pa;
	int level, status;

	trail->inherited = 0;
	for (level = t->start_level;; level++) {
		uint64_t index = (at & table_mask(t, level)) >> level_shift(t, level), raw;

		trail->level = level;
		trail->at = table + index * sizeof(struct pgt_entry);
		status = find_descriptor(w, trail->at, access, level, &trail->e[level + 1], out);
		if (status != PGT_OK)
			return status;
		raw = trail->raw[level + 1] = entry_load(trail->e[level + 1]);
		if (!translate_leads_on(t, raw, level))
			return PGT_OK;
		trail->inherited |= arch_inherit(t, raw);
		table = arch_next(t, raw);
	}
}

static bool trail_intact(const struct trail *trail, const struct pgt *t)
{
	for (int level = t->start_level; level < trail->level; level++)
		if (entry_load(trail->e[level + 1]) != trail->raw[level + 1])
			return false;
	return true;
}

/*
 * What hardware sets in the leaf, which needs the right to write there from
 * stage 2 (D8.5.3); PGT_ENOENT where the leaf has changed meanwhile.
 */
static int trail_update(const struct trail *trail, struct walker *w, struct pgt_translation *out)
{
	uint64_t raw = trail->raw[trail->level + 1], update = w->access & PGT_UPDATE;
	struct pgt_translation write;
	struct pgt_entry *e;
	int status;

	if (arch_touch(raw, w->access) == raw)
		return PGT_OK;
	status = find_descriptor(w, trail->at, PGT_WRITE | update, trail->level, &e, &write);
	if (status != PGT_OK)
		*out = write;
	else if (update && !translate_update(e, raw, w->access))
		status = PGT_ENOENT;
	return status;
}

/* The shareability of a leaf, or with DS that of the walk. */
static uint64_t leaf_sh(const struct stage *s, uint64_t raw)
{
	return arm64_no_sh(&s->t) ? s->d.sh : (raw & DESC_SH) >> DESC_SH_SHIFT;
}

static void stage1_memory(const struct walker *w, uint64_t raw, struct pgt_translation *out)
{
	uint64_t index = (raw & DESC_INDEX) >> DESC_INDEX_SHIFT;

	out->memattr = w->one.d.own.mair >> index * 8 & 0xff;
	out->sh = leaf_sh(&w->one, raw);
}

/* The address without the byte that counts for nothing (TBI), which bit 55 fills. */
static uint64_t find_address(const struct walker *w)
{
	const struct decoded *d = &w->one.d;
	uint64_t top = UINT64_C(0xff) << 56;

	if (!w->one.regs || !d->top_byte || (!d->top_fetched && (w->access & PGT_EXEC)))
		return w->va;
	return w->va >> 55 & 1 ? w->va | top : w->va & ~top;
}

static int stage1_walk(struct walker *w, struct pgt_translation *out)
{
	const struct pgt *t = &w->one.t;
	uint64_t at = find_address(w) - t->base;
	struct trail trail = { 0 };

	if (w->one.status != PGT_OK || at > t->last || (w->one.d.no_user && (w->access & PGT_USER)))
		return fault_of(out, 1, PGT_FAULT_TRANSLATION, 0);
	if (t->root_pa & beyond_output(t))
		return fault_of(out, 1, PGT_FAULT_ADDRESS_SIZE, 0);
	for (unsigned tries = 1;; tries++) {
		int status = trail_down(&trail, w, at, out);
		uint64_t raw = trail.raw[trail.level + 1];

		if (status == PGT_OK) {
			*out = (struct pgt_translation){ .stage = 1 };
			status = translate_entry(t, raw, trail.level, trail.inherited, at, w->access, out);
		}
		if (tries < READ_TRIES && !trail_intact(&trail, t))
			continue;
		if (status == PGT_OK)
			status = trail_update(&trail, w, out);
		if (status == PGT_ENOENT && tries < READ_TRIES)
			continue;
		if (status == PGT_OK)
			stage1_memory(w, raw, out);
		return status == PGT_ENOENT ? PGT_OK : status;
	}
}

/* What an address that stage 1 doesn't translate is taken for (D8.2.10). */
static void flat_memory(const struct walker *w, struct pgt_translation *out)
{
	uint64_t hcr = (w->one.regs ? w->one.regs->hcr : 0) | (w->two.regs ? w->two.regs->hcr : 0);
	bool el2 = w->one.regs && w->one.regs->regime == PGT_ARM64_EL2;

	out->sh = SH_OUTER;
	if (w->alone || (!el2 && pgt_arm64_defaults(hcr))) {
		out->memattr = MEMATTR_WB;
		out->sh = 0;
	} else if (w->access & PGT_EXEC) {
		out->memattr = w->one.regs && (w->one.regs->sctlr & SCTLR_I) ? MEMATTR_WT : MEMATTR_NC;
	} else {
		out->memattr = MEMATTR_STRICT;
	}
}

static uint64_t attr_of_memory(uint64_t memattr, uint64_t sh)
{
	uint64_t attr = sh == SH_INNER ? PGT_SH_INNER : sh == SH_OUTER ? PGT_SH_OUTER : PGT_SH_NONE;

	return attr | mair_type((unsigned)memattr);
}

/* Stage 1 off: the same address, and no permission is lacking. */
static int stage1_flat(const struct walker *w, struct pgt_translation *out)
{
	uint64_t va = find_address(w);

	if (!w->alone && va >> FLAT_BITS)
		return fault_of(out, 1, PGT_FAULT_ADDRESS_SIZE, 0);
	*out = (struct pgt_translation){ .pa = va, .stage = 1, .leaf_bits = FLAT_BITS, .run_bits = FLAT_BITS };
	flat_memory(w, out);
	out->attr = ANY_PERMISSION | PGT_USER | PGT_YOUNG | PGT_DIRTY | attr_of_memory(out->memattr, out->sh);
	return PGT_OK;
}

/* ---- Both ---------------------------------------------------------------- */

/* One nibble of a MAIR byte and two bits of a MemAttr: the less cacheable wins;
 * allocation hints are stage 1's (D8.6.5). */
static uint64_t combine_nibble(uint64_t one, uint64_t two)
{
	if (one == 4 || two <= 1)
		return 4;
	if (!(one & 4)) /* write-through already */
		return one;
	return two == 2 ? 8 | (one & 3) : one;
}

/* Types of device memory are ordered: the one that allows less wins. */
static uint64_t combine_device(uint64_t one, uint64_t two)
{
	return one < two ? one : two;
}

static uint64_t combine_plain(uint64_t one, uint64_t two)
{
	if (two < 4) /* MAIR has these as 0, 4, 8, 12 */
		return one >> 4 ? two << 2 : combine_device(one, two << 2);
	if (!(one >> 4))
		return one;
	return combine_nibble(one >> 4, two >> 2) << 4 | combine_nibble(one & 15, two & 3);
}

/* Cacheable as write-back, with what hints stage 1 has. */
static uint64_t force_nibble(uint64_t one)
{
	return one == 0 || one == 4 ? 15 : one | 4;
}

/* Without what MAIR's special forms say beside the type: FEAT_XS, tags. */
static uint64_t plain_memattr(uint64_t memattr)
{
	return memattr == 0x40 ? MEMATTR_NC : memattr == 0xa0 ? 0xaa : memattr == MEMATTR_TAGGED ? MEMATTR_WB : memattr;
}

/* With FEAT_FWB stage 2 decides, or leaves it to stage 1 (D8.6.6). */
static uint64_t combine_forced(uint64_t one, uint64_t two)
{
	bool device = !(one >> 4);

	switch (two) {
	case 7:
		return one;
	case 6:
		return device ? MEMATTR_WB : force_nibble(one >> 4) << 4 | force_nibble(one & 15);
	case 5:
		return device ? one : MEMATTR_NC;
	default:
		return two < 4 ? two << 2 : MEMATTR_STRICT;
	}
}

/* The type and shareability of both stages, the stronger of the two. */
static void combine_memory(const struct walker *w, uint64_t raw, struct pgt_translation *out)
{
	bool uncached = w->two.regs->hcr & (w->access & PGT_EXEC ? HCR_ID : HCR_CD);
	uint64_t two = (raw & DESC_MEMATTR) >> DESC_MEMATTR_SHIFT, sh = leaf_sh(&w->two, raw);
	uint64_t one = out->memattr, both = plain_memattr(one);

	if (w->two.t.features & PGT_FEAT_FWB)
		both = combine_forced(both, two);
	else
		both = combine_plain(both, two >= 4 && uncached ? 5 : two);
	/* What stage 2 takes nothing from stays as it was. */
	out->memattr = both == plain_memattr(one) ? one : both;
	/* Outer is stronger than inner, and both are than none. */
	if (out->sh != SH_OUTER && sh > 1)
		out->sh = sh;
}

/* Device memory, and what no cache holds, is outer shareable whatever is said (D8.6.2). */
static uint64_t effective_sh(uint64_t memattr, uint64_t sh)
{
	bool device = !(memattr >> 4);

	return device || memattr == MEMATTR_NC ? SH_OUTER : sh;
}

/* The attributes that both stages allow. */
static uint64_t combine_attr(const struct walker *w, uint64_t one, uint64_t two, const struct pgt_translation *out)
{
	const uint64_t memory = PGT_MEM_MASK | PGT_SH_MASK, state = PGT_YOUNG | PGT_DIRTY;

	if (w->alone)
		return two;
	if (!w->one.on)
		one = (one & ~state) | (two & state);
	one &= ~memory & ~(ANY_PERMISSION & ~two);
	return one | attr_of_memory(out->memattr, effective_sh(out->memattr, out->sh));
}

/* One answer of two, as far as one entry of each reaches. */
static void combine(const struct walker *w, uint64_t raw, const struct pgt_translation *two,
		    struct pgt_translation *out)
{
	combine_memory(w, raw, out);
	out->attr = combine_attr(w, out->attr, two->attr, out);
	if (!w->one.on) {
		out->level = two->level;
		out->stage = 2;
	}
	out->leaf_bits = two->leaf_bits < out->leaf_bits ? two->leaf_bits : out->leaf_bits;
	out->run_bits = two->run_bits < out->run_bits ? two->run_bits : out->run_bits;
	out->pa = two->pa;
}

/* The answer of stage 1, an intermediate address, through stage 2. */
static int stage2_finish(struct walker *w, struct pgt_translation *out)
{
	const struct pgt *t = &w->two.t;
	struct pgt_translation two;
	struct pgt_mapping leaf;

	for (unsigned tries = 1;; tries++) {
		int status = stage2_translate(w, out->pa, w->access, &two);

		if (status != PGT_OK) {
			*out = two;
			return status;
		}
		/* The leaf itself, for its memory type; gone, if somebody is changing it. */
		status = t->backend->query(t, out->pa, &leaf);
		if ((status == PGT_OK && leaf.state == PGT_LEAF) || tries == READ_TRIES)
			break;
	}
	combine(w, leaf.entry, &two, out);
	return PGT_OK;
}

static int walk(struct walker *w, struct pgt_translation *out)
{
	int status = w->one.on ? stage1_walk(w, out) : stage1_flat(w, out);

	if (status == PGT_OK && w->two.regs)
		out->ipa = out->pa;
	if (status == PGT_OK && w->two.on)
		status = stage2_finish(w, out);
	if (status == PGT_OK)
		out->sh = effective_sh(out->memattr, out->sh);
	return status;
}

/* ---- Calls --------------------------------------------------------------- */

static bool access_is_sound(uint64_t access)
{
	uint64_t kind = access & (PGT_READ | PGT_WRITE | PGT_EXEC);

	return (kind == PGT_READ || kind == PGT_WRITE || kind == PGT_EXEC) &&
	       !(access & ~(kind | PGT_USER | PGT_UPDATE));
}

static int start(struct walker *w, const struct pgt_arm64_regs *s1, const struct pgt_arm64_regs *s2,
		 const struct pgt_memory *memory, uint64_t va, uint64_t access, struct pgt_translation *out)
{
	int status = s1 ? pgt_arm64_regs_check(s1) : PGT_OK;

	if (status != PGT_EINVAL && s2) {
		int second = pgt_arm64_regs_check(s2);

		status = second == PGT_EINVAL || status == PGT_OK ? second : status;
	}
	if (status == PGT_EINVAL || !memory || !out || !access_is_sound(access))
		return PGT_EINVAL;
	w->va = va;
	w->access = access;
	w->alone = !s1;
	if (status == PGT_OK)
		status = walker_prepare(w, s1, s2, memory);
	return status == PGT_OK ? walk(w, out) : status;
}

static bool is_stage2(const struct pgt_arm64_regs *regs)
{
	return regs->size >= sizeof *regs && regs->regime == PGT_ARM64_S2;
}

int pgt_arm64_walk(const struct pgt_arm64_regs *regs, const struct pgt_memory *memory, uint64_t va,
		   uint64_t access, struct pgt_translation *translation)
{
	struct walker w;

	if (!regs)
		return PGT_EINVAL;
	if (is_stage2(regs))
		return start(&w, NULL, regs, memory, va, access, translation);
	return start(&w, regs, NULL, memory, va, access, translation);
}

int pgt_arm64_walk2(const struct pgt_arm64_regs *s1, const struct pgt_arm64_regs *s2,
		    const struct pgt_memory *memory, uint64_t va, uint64_t access,
		    struct pgt_translation *translation)
{
	/* Without registers: those of a stage 1 that is off. */
	const struct pgt_arm64_regs off = { .size = sizeof off, .regime = PGT_ARM64_EL1 };
	struct walker w;

	if (!s2 || !is_stage2(s2) || (s1 && (s1->size < sizeof *s1 || s1->regime != PGT_ARM64_EL1)))
		return PGT_EINVAL;
	return start(&w, s1 ? s1 : &off, s2, memory, va, access, translation);
}
