/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Register values put together from the architecture's description, apart from
 * the library; and tables made by hand in a piece of memory.
 */
#ifndef PGT_T_REGISTERS_H
#define PGT_T_REGISTERS_H

#include "contract.h"

static TAP_UNUSED const unsigned granules[] = { 12, 14, 16 };

#define EL1 PGT_ARM64_EL1
#define EL2 PGT_ARM64_EL2
#define S2  PGT_ARM64_S2

/* ---- Registers ------------------------------------------------------------------ */

static TAP_UNUSED uint64_t size_code(unsigned output)
{
	static const unsigned sizes[] = { 32, 36, 40, 42, 44, 48, 52 };

	for (unsigned i = 0; i < 7; i++)
		if (sizes[i] == output)
			return i;
	return 7;
}

static TAP_UNUSED uint64_t granule_code(unsigned g, bool upper)
{
	if (upper)
		return g == 12 ? 2 : g == 14 ? 1 : 3;
	return g == 12 ? 0 : g == 14 ? 2 : 1;
}

/* A root's address as TTBRs hold it. */
static TAP_UNUSED uint64_t ttbr_of(uint64_t root, unsigned output)
{
	return output == 52 ? (root & ~(UINT64_C(15) << 48)) | (root >> 48 & 15) << 2 : root;
}

struct shape {
	uint32_t regime;
	unsigned g, input, output;
	uint64_t features;
	unsigned start; /* level + 1; stage 2 */
	uint64_t root, mair;
};

/* All of MAIR that the library's tables use. */
#define MAIR UINT64_C(0x0000000004bb44ff)

static TAP_UNUSED uint64_t vtcr_start(const struct shape *s)
{
	int start = (int)s->start - 1;

	if (s->g == 12)
		return start == -1 ? BIT(33) : (uint64_t)(start == 3 ? 3 : 2 - start) << 6;
	return (uint64_t)(3 - start) << 6;
}

static TAP_UNUSED struct pgt_arm64_regs regs_of(const struct shape *s)
{
	struct pgt_arm64_regs r = { .size = sizeof(r), .regime = s->regime, .mair = s->mair };
	bool upper = s->features & PGT_FEAT_UPPER, lpa2 = s->features & PGT_FEAT_LPA2;
	bool ha = s->features & PGT_FEAT_HW_YOUNG, hd = s->features & PGT_FEAT_HW_DIRTY;
	uint64_t size = 64 - s->input, ps = size_code(s->output);
	uint64_t root = ttbr_of(s->root, s->output);

	if (s->regime == EL1) {
		r.tcr = upper ? size << 16 | granule_code(s->g, true) << 30 | BIT(7) | 25 :
				size | granule_code(s->g, false) << 14 | BIT(23) | 25 << 16 | BIT(31);
		r.tcr |= ps << 32 | (ha ? BIT(39) : 0) | (hd ? BIT(40) : 0) | (lpa2 ? BIT(59) : 0);
		r.ttbr0 = upper ? 0 : root;
		r.ttbr1 = upper ? root : 0;
		r.sctlr = 1;
	} else if (s->regime == EL2) {
		r.tcr = size | granule_code(s->g, false) << 14 | ps << 16 | BIT(23) | BIT(31);
		r.tcr |= (ha ? BIT(21) : 0) | (hd ? BIT(22) : 0) | (lpa2 ? BIT(32) : 0);
		r.ttbr0 = root;
		r.sctlr = 1;
	} else {
		r.vtcr = size | vtcr_start(s) | granule_code(s->g, false) << 14 | ps << 16 | BIT(31);
		r.vtcr |= (ha ? BIT(21) : 0) | (hd ? BIT(22) : 0) | (lpa2 ? BIT(32) : 0);
		r.vttbr = root;
		r.hcr = 1 | (s->features & PGT_FEAT_FWB ? BIT(46) : 0);
		r.features = s->features & PGT_FEAT_XNX;
	}
	return r;
}

/* ---- Tables by hand --------------------------------------------------------------- */

#define RAM_PA    UINT64_C(0x80000000)
#define RAM_BYTES KIB(512)

/* What a table leads to: RAM_BYTES at RAM_PA, or less. */
static TAP_UNUSED uint64_t ram[RAM_BYTES / 8];

static TAP_UNUSED struct pgt_memory ram_memory(uint64_t bytes)
{
	return (struct pgt_memory){ .window = ram, .window_pa = RAM_PA, .window_bytes = bytes };
}

static TAP_UNUSED void ram_put(uint64_t pa, uint64_t entry)
{
	raw_put((unsigned char *)ram + (pa - RAM_PA), entry);
}

static TAP_UNUSED uint64_t ram_get(uint64_t pa)
{
	return raw_get((unsigned char *)ram + (pa - RAM_PA));
}

/* log2 of what an entry of a level spans. */
static TAP_UNUSED unsigned level_bits(unsigned g, int level)
{
	return g + (g - 3) * (unsigned)(3 - level);
}

/* Where the entry of a level stands in the chain of tables that are side by side
 * from the root on; indices wrap at a whole table. */
static TAP_UNUSED uint64_t chain_at(const struct shape *s, uint64_t va, int level)
{
	uint64_t index = (va & (BIT(s->input) - 1)) >> level_bits(s->g, level);
	int start = (int)s->start - 1;

	if (level > start)
		index &= BIT(s->g - 3) - 1;
	return s->root + ((uint64_t)(level - start) << s->g) + index * 8;
}

/* Links the chain down to a level, with more bits in the table entries, and puts an entry there. */
static TAP_UNUSED void chain_put(const struct shape *s, uint64_t va, int level, uint64_t entry, uint64_t more)
{
	for (int l = (int)s->start - 1; l < level; l++)
		ram_put(chain_at(s, va, l), (chain_at(s, 0, l + 1) & ~(BIT(s->g) - 1)) | 3 | more);
	ram_put(chain_at(s, va, level), entry);
}

static TAP_UNUSED const uint64_t accesses[] = {
	PGT_READ, PGT_WRITE, PGT_EXEC, PGT_READ | PGT_USER, PGT_WRITE | PGT_USER, PGT_EXEC | PGT_USER,
};

#define N_ACCESSES (sizeof(accesses) / sizeof(*accesses))

/* One walk, and what it is to answer: PGT_OK and the PA, or a fault and its level. */
#define want_pa(r, m, va, access, ought) \
	want_answer((r), (m), (va), (access), (ought), 0, 0, __LINE__)
#define want_fault(r, m, va, access, fault, level) \
	want_answer((r), (m), (va), (access), 0, (fault), (level), __LINE__)

static TAP_UNUSED bool want_answer(const struct pgt_arm64_regs *r, const struct pgt_memory *m, uint64_t va,
				   uint64_t access, uint64_t pa, int fault, int level, int line)
{
	struct pgt_translation is = { .pa = 0 };
	int status = pgt_arm64_walk(r, m, va, access, &is);
	bool good = status == (fault ? PGT_EFAULT : PGT_OK);

	if (good && !fault)
		good = is.pa == pa;
	else if (good)
		good = is.fault == fault && is.level == level;
	if (!good && complaints < 8)
		note("line %d: va %#" PRIx64 ", access %#" PRIx64 ": status %d, fault %d, level %d, pa %#" PRIx64
		     "; not fault %d, level %d, pa %#" PRIx64, line, va, access, status, is.fault, is.level, is.pa,
		     fault, level, pa);
	return want(good);
}

#endif
