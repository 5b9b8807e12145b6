/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The smallest backend, and the example of how to write one: four entries a
 * table, pages of 32 bytes, up to 13 input bits.  Small enough to try every
 * range of an address space, and unlike the others in where it puts things, so
 * that what the operations take for granted of a format comes out.
 *
 *	63:32  bits 36:5 of the address of the memory or of the next table
 *	31:30  zero
 *	29:4   a leaf's attributes: bit n stands for bit n of pgtable.h's numbers
 *	3      broken    2  the run hint
 *	1:0    0 empty (all of the entry is zero), 1 leaf, 2 table, 3 token
 *
 * Table: only 63:32, 3 and 1:0 are used, the rest is zero.  Token: its value is
 * in 63:4, and 3:2 are zero.  Leaves at levels 1 to 3; runs of two, naturally
 * aligned, that differ only in young and dirty and map two consecutive leaves
 * from an aligned address.  For walkers a broken entry and a NOACCESS leaf are
 * translation faults.  Then comes the access flag (not young), then permission:
 * an access needs the bit of its kind, with USER as well if it is unprivileged;
 * an unprivileged fetch needs UEXEC alone, a write a dirty leaf.  Walkers that
 * set young or dirty by themselves don't fault for it.
 */
#include "../../lib/pgt.h"

#define TYPE       UINT64_C(3)
#define TYPE_LEAF  UINT64_C(1)
#define TYPE_TABLE UINT64_C(2)
#define TYPE_TOKEN UINT64_C(3)
#define HINT       (UINT64_C(1) << 2)
#define BROKEN     (UINT64_C(1) << 3)
#define ATTR_SHIFT 4
#define ATTR_MASK  (UINT64_C(0x3ffffff) << ATTR_SHIFT)
#define KNOWN      ((PGT_SW2 * 2 - 1) | PGT_MEM_MASK | PGT_SH_MASK)
#define LEAF_ZERO  (UINT64_C(3) << 30)
#define PAGE_SHIFT 5
#define PAGE_FIELD 32 /* where the address begins */

#define FEATURES                                                                               \
	(PGT_FEAT_CONTIG | PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG |      \
	 PGT_FEAT_TRACK_DIRTY | PGT_FEAT_BBM1 | PGT_FEAT_BBM2 | PGT_FEAT_UPPER |               \
	 PGT_FEAT_PARALLEL | PGT_FEAT_NO_BLOCKS)

static int arch_configure(struct pgt *t, const struct pgt_config *config)
{
	if (config->format_config)
		return PGT_EINVAL;
	if (t->granule_bits != PAGE_SHIFT || t->input_bits < 6 || t->input_bits > 13 ||
	    t->output_bits < 6 || t->output_bits > 37 || (t->features & ~FEATURES))
		return PGT_ENOTSUP;
	for (int level = 1; level <= PGT_LAST_LEVEL; level++) {
		t->leaf_levels |= (uint8_t)(1 << (level + 1));
		t->run_bits[level + 1] = 1;
	}
	return PGT_OK;
}

static int arch_attr_check(const struct pgt *t, uint64_t attr)
{
	(void)t, (void)attr;
	return PGT_OK;
}

static uint64_t address(uint64_t raw)
{
	return raw >> PAGE_FIELD << PAGE_SHIFT;
}

static enum pgt_kind arch_kind(const struct pgt *t, uint64_t raw, int level)
{
	bool beyond = address(raw) & beyond_output(t);

	switch (raw & TYPE) {
	case TYPE_LEAF:
		return level_has_leaves(t, level) && !beyond ? KIND_LEAF : KIND_CORRUPT;
	case TYPE_TABLE:
		return level < PGT_LAST_LEVEL && !beyond ? KIND_TABLE : KIND_CORRUPT;
	case TYPE_TOKEN:
		return KIND_TOKEN;
	default:
		return raw ? KIND_CORRUPT : KIND_EMPTY;
	}
}

static bool arch_valid(uint64_t raw)
{
	bool leaf_or_table = (raw & TYPE) == TYPE_LEAF || (raw & TYPE) == TYPE_TABLE;

	return leaf_or_table && !(raw & (BROKEN | PGT_NOACCESS << ATTR_SHIFT));
}

static uint64_t arch_next(const struct pgt *t, uint64_t raw)
{
	(void)t;
	return address(raw);
}

static uint64_t arch_table(const struct pgt *t, uint64_t pa)
{
	(void)t;
	return pa >> PAGE_SHIFT << PAGE_FIELD | TYPE_TABLE;
}

static uint64_t arch_pa(const struct pgt *t, uint64_t raw, int level)
{
	return address(raw) & ~level_mask(t, level);
}

static uint64_t arch_leaf(const struct pgt *t, uint64_t attr)
{
	(void)t;
	return TYPE_LEAF | attr << ATTR_SHIFT;
}

static uint64_t arch_place(const struct pgt *t, uint64_t raw, int level, uint64_t pa, bool run)
{
	(void)t, (void)level;
	raw &= TYPE | ATTR_MASK;
	return raw | pa >> PAGE_SHIFT << PAGE_FIELD | (run ? HINT : 0);
}

#define arch_step arch_step
static uint64_t arch_step(const struct pgt *t, int level)
{
	return (level_mask(t, level) + 1) >> PAGE_SHIFT << PAGE_FIELD;
}

static uint64_t arch_attr(const struct pgt *t, uint64_t raw)
{
	(void)t;
	return (raw & ATTR_MASK) >> ATTR_SHIFT;
}

static bool arch_global(const struct pgt *t, uint64_t raw)
{
	(void)t;
	return raw & PGT_GLOBAL << ATTR_SHIFT;
}

static bool arch_run(uint64_t raw)
{
	return raw & HINT;
}

static uint64_t arch_state(uint64_t raw)
{
	return raw >> ATTR_SHIFT & (PGT_YOUNG | PGT_DIRTY);
}

static uint64_t arch_add_state(uint64_t raw, uint64_t state)
{
	return raw | state << ATTR_SHIFT;
}

static uint64_t arch_break(uint64_t raw)
{
	return raw | BROKEN;
}

static bool arch_broken(uint64_t raw)
{
	return (raw & TYPE) != TYPE_TOKEN && (raw & BROKEN);
}

static uint64_t arch_token(uint64_t raw)
{
	return raw >> ATTR_SHIFT;
}

#define arch_token_bits 60
static uint64_t arch_make_token(uint64_t token)
{
	return token << ATTR_SHIFT | TYPE_TOKEN;
}

#define arch_write_state arch_write_state
static uint64_t arch_write_state(void)
{
	return 0;
}

static int arch_fault(const struct pgt *t, uint64_t raw, uint64_t attr, uint64_t access)
{
	uint64_t needs = access & (PGT_READ | PGT_WRITE | PGT_EXEC | PGT_USER);

	if (!arch_valid(raw))
		return PGT_FAULT_TRANSLATION;
	if (!(attr & PGT_YOUNG) && !(t->features & PGT_FEAT_HW_YOUNG))
		return PGT_FAULT_ACCESS_FLAG;
	if ((access & PGT_EXEC) && (access & PGT_USER))
		needs = PGT_UEXEC;
	if ((attr & needs) != needs)
		return PGT_FAULT_PERMISSION;
	if ((access & PGT_WRITE) && !(attr & PGT_DIRTY) && !(t->features & PGT_FEAT_HW_DIRTY))
		return PGT_FAULT_PERMISSION;
	return 0;
}

static int arch_corrupt_fault(const struct pgt *t, uint64_t raw, int level)
{
	bool leads = (raw & TYPE) == TYPE_LEAF ? level_has_leaves(t, level) :
						 (raw & TYPE) == TYPE_TABLE && level < PGT_LAST_LEVEL;

	return leads ? PGT_FAULT_ADDRESS_SIZE : PGT_FAULT_TRANSLATION;
}

static uint64_t arch_touch(uint64_t raw, uint64_t access)
{
	return arch_add_state(raw, PGT_YOUNG | (access & PGT_WRITE ? PGT_DIRTY : 0));
}

static const char *leaf_problem(const struct pgt *t, uint64_t raw, int level)
{
	uint64_t attr = arch_attr(t, raw);

	if (address(raw) & level_mask(t, level))
		return "a leaf that is not aligned to its size";
	if ((raw & LEAF_ZERO) || (attr & ~KNOWN))
		return "reserved bits";
	if ((attr & PGT_MEM_MASK) > PGT_MEM_DEVICE_STRICT || (attr & PGT_SH_MASK) > PGT_SH_NONE)
		return "a memory type or shareability that doesn't exist";
	return NULL;
}

static const char *arch_problem(const struct pgt *t, uint64_t raw, int level)
{
	switch (arch_kind(t, raw, level)) {
	case KIND_CORRUPT:
		return "an entry that no table holds";
	case KIND_TABLE:
		return (uint32_t)raw & ~(BROKEN | TYPE) ? "bits that a table entry doesn't have" : NULL;
	case KIND_LEAF:
		return leaf_problem(t, raw, level);
	default:
		return NULL;
	}
}

#include "../../arch/generic/hooks.h"

extern const struct pgt_backend pgt_tiny_backend;
#define BACKEND pgt_tiny_backend
#define FORMATS "tiny"
#include "../../lib/operations.h"
