/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The library's formats, as their tests know them. */
#include <stddef.h>
#include <pgtable/config.h>
#include <pgtable/generic.h>
#include "format.h"
#include "ref/generic.h"

#define BIT(n) (UINT64_C(1) << (n))

static const unsigned granules[] = { 12, 14, 16, 0 };

#if PGT_HAVE_GENERIC
static unsigned generic_run_entries(unsigned granule_bits, int level)
{
	(void)granule_bits;
	return ref_generic_run_entries(level);
}

static bool generic_leaf_level(unsigned granule_bits, int level)
{
	(void)granule_bits;
	return ref_generic_leaf_level(level);
}

/* From the description, bit by bit. */
static uint64_t generic_page_entry(uint64_t pa, uint64_t attr)
{
	uint64_t d = pa | PGT_GENERIC_LEAF;

	d |= attr & PGT_READ ? PGT_GENERIC_READ : 0;
	d |= attr & PGT_WRITE ? PGT_GENERIC_WRITE : 0;
	d |= attr & PGT_EXEC ? PGT_GENERIC_EXEC : 0;
	d |= attr & PGT_UEXEC ? PGT_GENERIC_UEXEC : 0;
	d |= attr & PGT_USER ? PGT_GENERIC_USER : 0;
	d |= attr & PGT_GLOBAL ? PGT_GENERIC_GLOBAL : 0;
	d |= attr & PGT_GUARDED ? PGT_GENERIC_GUARDED : 0;
	d |= attr & PGT_YOUNG ? PGT_GENERIC_YOUNG : 0;
	d |= attr & PGT_DIRTY ? PGT_GENERIC_DIRTY : 0;
	d |= attr & PGT_NOACCESS ? PGT_GENERIC_NOACCESS : 0;
	d |= (attr & PGT_MEM_MASK) >> 16 << PGT_GENERIC_MEM_SHIFT;
	d |= (attr & PGT_SH_MASK) >> 24 << PGT_GENERIC_SH_SHIFT;
	d |= attr & PGT_SW0 ? BIT(PGT_GENERIC_SW_SHIFT) : 0;
	d |= attr & PGT_SW1 ? BIT(PGT_GENERIC_SW_SHIFT + 1) : 0;
	d |= attr & PGT_SW2 ? BIT(PGT_GENERIC_SW_SHIFT + 2) : 0;
	return d;
}

static const struct format generic = {
	.name = "generic",
	.defaults = true,
	.granules = granules,
	.least_input = 25,
	.input = 48,
	.least_output = 32,
	.output = 48,
	.most_output = 52,
	.entry = {
		.table = PGT_GENERIC_TABLE,
		.block = PGT_GENERIC_LEAF,
		.page = PGT_GENERIC_LEAF,
		.address = PGT_GENERIC_ADDRESS,
		.hint = PGT_GENERIC_CONTIG,
		.young = PGT_GENERIC_YOUNG,
		.writable = PGT_GENERIC_WRITE,
		.dirty = PGT_GENERIC_DIRTY,
		.global = PGT_GENERIC_GLOBAL,
		.memory = PGT_GENERIC_MEM,
		.sh = PGT_GENERIC_SH,
		.user_exec = PGT_GENERIC_UEXEC,
		.software = PGT_GENERIC_SW,
		.plain = PGT_GENERIC_READ | PGT_GENERIC_YOUNG,
		.reserved = BIT(11),
		.token_shift = 2,
		.broken = PGT_GENERIC_BROKEN,
		.noaccess = PGT_GENERIC_NOACCESS,
	},
	.page_entry = generic_page_entry,
	.translate = ref_generic_translate,
	.access = ref_generic_access,
	.validate = ref_generic_validate,
	.run_entries = generic_run_entries,
	.leaf_level = generic_leaf_level,
};
#endif

#if PGT_HAVE_ARM64
static const struct format arm64 = {
	.name = "arm64",
	.arm64 = true,
	.upper = true,
	.defaults = true,
	.granules = granules,
	.least_input = 25,
	.input = 48,
	.least_output = 32,
	.output = 48,
	.most_output = 48,
	.entry = {
		.table = 3,
		.block = 1,
		.page = 3,
		.address = UINT64_C(0x0000fffffffff000),
		.hint = BIT(52),
		.young = BIT(10),      /* AF */
		.writable = BIT(51),   /* DBM */
		.clean = BIT(7),       /* AP[2] */
		.dirty_too = BIT(55),
		.not_global = BIT(11), /* nG */
		.memory = UINT64_C(7) << 2,
		.sh = UINT64_C(3) << 8,
		.user_exec = BIT(54),  /* UXN, inverted */
		.software = UINT64_C(7) << 56,
		.plain = 0xf00, /* nG, AF, inner shareable */
		.reserved = BIT(48) | BIT(49),
	},
	.translate = ref_translate,
	.access = ref_access,
	.validate = ref_validate,
	.run_entries = ref_run_entries,
	.leaf_level = ref_leaf_level,
};
#endif

const struct format *const formats[] = {
#if PGT_HAVE_GENERIC
	&generic,
#endif
#if PGT_HAVE_ARM64
	&arm64,
#endif
	NULL
};
