/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Invalidations as TLBI operations and operands (Arm ARM D8.17, C5.5). */
#include "arm64.h"
#include "configure.h"

/* Every operation has a form for this CPU, and one for all CPUs ("IS") after it. */
#define PAIRS(X)                                                                               \
	X(VAE1) X(VALE1) X(VAAE1) X(VAALE1) X(RVAE1) X(RVALE1) X(RVAAE1) X(RVAALE1)            \
	X(ASIDE1) X(VMALLE1) X(VAE2) X(VALE2) X(RVAE2) X(RVALE2) X(ALLE2)                      \
	X(IPAS2E1) X(IPAS2LE1) X(RIPAS2E1) X(RIPAS2LE1) X(VMALLS12E1)

#define PAIRED(op)                                                                             \
	_Static_assert(PGT_ARM64_TLBI_##op##IS == PGT_ARM64_TLBI_##op + 1, "the shareable form is next");
#define NAMES(op) [PGT_ARM64_TLBI_##op] = #op, [PGT_ARM64_TLBI_##op##IS] = #op "IS",

PAIRS(PAIRED)

const char *pgt_arm64_tlbi_name(uint32_t op)
{
	static const char *const names[] = { PAIRS(NAMES)[PGT_ARM64_DSB_ISH] = "DSB ISH" };

	return op < sizeof names / sizeof *names ? names[op] : NULL;
}

/* Whose translations go. */
enum whose { ONE_ASID, EVERY_ASID, EL2, STAGE2 };

/* The operations for each, by [leaves alone] where a table entry may stay cached. */
static const struct forms {
	uint8_t plain[2], range[2], all;
} forms[] = {
	[ONE_ASID] = { { PGT_ARM64_TLBI_VAE1, PGT_ARM64_TLBI_VALE1 },
		       { PGT_ARM64_TLBI_RVAE1, PGT_ARM64_TLBI_RVALE1 },
		       PGT_ARM64_TLBI_ASIDE1 },
	[EVERY_ASID] = { { PGT_ARM64_TLBI_VAAE1, PGT_ARM64_TLBI_VAALE1 },
			 { PGT_ARM64_TLBI_RVAAE1, PGT_ARM64_TLBI_RVAALE1 },
			 PGT_ARM64_TLBI_VMALLE1 },
	[EL2] = { { PGT_ARM64_TLBI_VAE2, PGT_ARM64_TLBI_VALE2 },
		  { PGT_ARM64_TLBI_RVAE2, PGT_ARM64_TLBI_RVALE2 },
		  PGT_ARM64_TLBI_ALLE2 },
	[STAGE2] = { { PGT_ARM64_TLBI_IPAS2E1, PGT_ARM64_TLBI_IPAS2LE1 },
		     { PGT_ARM64_TLBI_RIPAS2E1, PGT_ARM64_TLBI_RIPAS2LE1 },
		     PGT_ARM64_TLBI_VMALLS12E1 },
};

/* Both operands. */
#define TLBI_ASID_SHIFT 48
/* By address. */
#define PLAIN_TTL_SHIFT 44 /* granule and level */
#define PLAIN_ADDRESS   ((UINT64_C(1) << 44) - 1) /* VA[55:12], whatever the granule */
#define PLAIN_UNIT_BITS 12
/* A range, of (NUM + 1) << (5 * SCALE + 1) granules. */
#define RANGE_TG_SHIFT    46
#define RANGE_SCALE_SHIFT 44
#define RANGE_NUM_SHIFT   39
#define RANGE_TTL_SHIFT   37 /* level; 0: unknown */
#define RANGE_ADDRESS     ((UINT64_C(1) << 37) - 1)
#define RANGE_UNIT_BITS   16 /* of the address under TCR.DS, where it isn't the granule's */
#define RANGE_MOST_SCALE  3
#define RANGE_MOST_PAGES  (UINT64_C(1) << 21)

/* What stage 2 needs after the operations by IPA: a barrier, and stage 1's. */
#define STAGE2_CLOSING 2

/* A range on its way to a list of operations. */
struct job {
	struct pgt_arm64_tlbi *ops;
	unsigned n, room;
	uint64_t va, pages;    /* what is left, in granules */
	uint64_t stride_pages; /* of the smallest leaf */
	uint8_t granule_bits;
	uint8_t unit_bits;     /* of the address of a range */
	uint32_t plain, range; /* the operations, and what all operands of each have in common */
	uint64_t plain_fields, range_fields;
};

PGT_INLINE bool put(struct job *j, uint32_t op, uint64_t operand)
{
	if (j->n == j->room)
		return false;
	j->ops[j->n++] = (struct pgt_arm64_tlbi){ op, operand };
	return true;
}

PGT_INLINE void advance(struct job *j, uint64_t pages)
{
	j->va += pages << j->granule_bits;
	j->pages -= pages;
}

/* One leaf, or what would be the smallest. */
PGT_INLINE bool put_plain(struct job *j)
{
	uint64_t operand = j->plain_fields | (j->va >> PLAIN_UNIT_BITS & PLAIN_ADDRESS);

	advance(j, j->stride_pages);
	return put(j, j->plain, operand);
}

/* As much as one operation of this scale can say, if anything. */
static bool put_range(struct job *j, unsigned scale)
{
	unsigned unit_shift = 5 * scale + 1;
	uint64_t units = j->pages >> unit_shift, operand;

	if (!units)
		return true;
	operand = j->range_fields | (uint64_t)scale << RANGE_SCALE_SHIFT |
		  (units - 1) << RANGE_NUM_SHIFT | (j->va >> j->unit_bits & RANGE_ADDRESS);
	advance(j, units << unit_shift);
	return put(j, j->range, operand);
}

static bool put_plains(struct job *j)
{
	while (j->pages)
		if (!put_plain(j))
			return false;
	return true;
}

/*
 * From the largest scale down, so that each is needed once: what it leaves is
 * less than 32 units of the next, and of the last at most one page.  A range
 * begins where its address can say: single leaves come before.
 */
static bool put_ranges(struct job *j)
{
	const uint64_t unit_mask = (UINT64_C(1) << j->unit_bits) - 1;

	while (j->pages && (j->va & unit_mask))
		if (!put_plain(j))
			return false;
	for (unsigned scale = RANGE_MOST_SCALE + 1; scale-- && j->pages != j->stride_pages;)
		if (!put_range(j, scale))
			return false;
	return !j->pages || put_plain(j);
}

/* The level of all changed leaves, where the table can have some there. */
static int leaf_level(const struct pgt *t, const struct pgt_tlb_range *range)
{
	int level = range->level;

	if ((range->flags & PGT_TLB_WALK) || level < 0 || level > PGT_LAST_LEVEL || !level_has_leaves(t, level))
		return PGT_LEVEL_UNKNOWN;
	return level;
}

/* log2 of the smallest leaf concerned: a size that exists, and none above the level's. */
static unsigned stride_bits(const struct pgt *t, const struct pgt_tlb_range *range, int known)
{
	int level = PGT_LAST_LEVEL;

	while (level != known && level_has_leaves(t, level - 1) &&
	       level_shift(t, level - 1) <= range->stride_bits)
		level--;
	return level_shift(t, level);
}

/* The operations, and the fields that are not the address's. */
static void choose_forms(struct job *j, const struct pgt *t, const struct pgt_tlb_range *range,
			 enum whose whose, uint16_t asid, int level)
{
	const struct forms *f = &forms[whose];
	bool leaves_alone = !(range->flags & PGT_TLB_WALK), all_cpus = !(range->flags & PGT_TLB_LOCAL);
	uint64_t granule_code = (t->granule_bits - 10u) / 2;

	j->plain = f->plain[leaves_alone] + all_cpus;
	j->range = f->range[leaves_alone] + all_cpus;
	j->plain_fields = whose == ONE_ASID ? (uint64_t)asid << TLBI_ASID_SHIFT : 0;
	j->range_fields = j->plain_fields | granule_code << RANGE_TG_SHIFT;
	if (level == PGT_LEVEL_UNKNOWN || !(t->features & PGT_FEAT_TTL))
		return;
	j->plain_fields |= (granule_code << 2 | (uint64_t)level) << PLAIN_TTL_SHIFT;
	j->range_fields |= (uint64_t)level << RANGE_TTL_SHIFT;
}

/* Lists what covers the range, leaves whole; false: that is too much. */
static bool put_all_of(struct job *j, const struct pgt *t, const struct pgt_tlb_range *range,
		       enum whose whose, uint16_t asid)
{
	int level = leaf_level(t, range);
	unsigned stride = stride_bits(t, range, level), stride_shift = stride - t->granule_bits;
	uint64_t mask = (UINT64_C(1) << stride) - 1, last = (range->va + (range->len - 1)) | mask;
	uint64_t entries = granule(t) / sizeof(struct pgt_entry);

	j->va = range->va & ~mask;
	j->pages = ((last - j->va) >> t->granule_bits) + 1;
	j->stride_pages = UINT64_C(1) << stride_shift;
	j->granule_bits = t->granule_bits;
	j->unit_bits = t->features & PGT_FEAT_LPA2 ? RANGE_UNIT_BITS : t->granule_bits;
	choose_forms(j, t, range, whose, asid, level);
	if (t->features & PGT_FEAT_TLBI_RANGE)
		return j->pages <= RANGE_MOST_PAGES && put_ranges(j);
	return j->pages >> stride_shift <= entries && put_plains(j);
}

/* What a TLB made of both stages together goes only with stage 1's. */
static void close_stage2(struct job *j, bool local)
{
	j->room += STAGE2_CLOSING;
	put(j, PGT_ARM64_DSB_ISH, 0);
	put(j, local ? PGT_ARM64_TLBI_VMALLE1 : PGT_ARM64_TLBI_VMALLE1IS, 0);
}

/* The one operation for the whole address space. */
static void put_everything(struct job *j, const struct pgt *t, enum whose whose, bool local, uint16_t asid)
{
	/* No ASID's operation forgets a global leaf. */
	if (whose == ONE_ASID && t->held_global)
		whose = EVERY_ASID;
	j->n = 0;
	put(j, forms[whose].all + !local, whose == ONE_ASID ? (uint64_t)asid << TLBI_ASID_SHIFT : 0);
}

static enum whose whose_translations(const struct pgt *t, const struct pgt_tlb_range *range)
{
	switch (arm64(t)->regime) {
	case PGT_ARM64_S2:
		return STAGE2;
	case PGT_ARM64_EL2:
		return EL2;
	default:
		return (t->features & PGT_FEAT_UPPER) || (range->flags & PGT_TLB_GLOBAL) ? EVERY_ASID : ONE_ASID;
	}
}

static bool is_ours(const struct pgt *t)
{
	return t->backend == &pgt_arm64_backend || t->backend == &pgt_arm64_s2_backend;
}

static bool is_sound(const struct pgt *t, const struct pgt_tlb_range *range)
{
	uint64_t offset = range->va - t->base;

	if (range->flags & ~(PGT_TLB_WALK | PGT_TLB_ALL | PGT_TLB_LOCAL | PGT_TLB_GLOBAL))
		return false;
	if (range->flags & PGT_TLB_ALL)
		return true;
	/* A length of 0 is longer than any table. */
	return !((range->va | range->len) & (granule(t) - 1)) && offset <= t->last &&
	       range->len - 1 <= t->last - offset;
}

int pgt_arm64_tlbi(const struct pgt *t, const struct pgt_tlb_range *range, uint16_t asid,
		   struct pgt_arm64_tlbi *ops, unsigned max, unsigned *n)
{
	struct job j = { .ops = ops, .room = max };
	enum whose whose;
	bool local;

	if (!t || !range || !ops || !n || max < 4 || !is_ours(t) || !is_sound(t, range))
		return PGT_EINVAL;
	local = range->flags & PGT_TLB_LOCAL;
	whose = whose_translations(t, range);
	if (whose == STAGE2)
		j.room -= STAGE2_CLOSING;
	if ((range->flags & PGT_TLB_ALL) || !put_all_of(&j, t, range, whose, asid))
		put_everything(&j, t, whose, local, asid);
	else if (whose == STAGE2)
		close_stage2(&j, local);
	*n = j.n;
	return PGT_OK;
}
