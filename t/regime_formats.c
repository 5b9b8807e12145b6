/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other regimes of arm64, and 52-bit addresses, as the random sequences know
 * them; and, for programs that know levels from 0 on alone, the regimes without.
 */
#include <stddef.h>
#include <pgtable/config.h>
#include "format.h"

#define BIT(n) (UINT64_C(1) << (n))

#if PGT_HAVE_ARM64
#ifdef REGIMES_OF_4K /* for what takes long */
static const unsigned granules[] = { 12, 0 };
#else
static const unsigned granules[] = { 12, 14, 16, 0 };
#endif

/* What all of them share; stage 2 has DIRTY where stage 1 has its opposite. */
#define SHARED                                                                                       \
	.arm64 = true, .defaults = true, .granules = granules, .least_input = 25, .least_output = 32, \
	.share = 20, .translate = ref_translate, .access = ref_access, .validate = ref_validate,      \
	.run_entries = ref_run_entries, .leaf_level = ref_leaf_level
#define ENTRY                                                                                        \
	.table = 3, .block = 1, .page = 3, .address = UINT64_C(0x0000fffffffff000), .hint = BIT(52),  \
	.young = BIT(10), .writable = BIT(51), .dirty_too = BIT(55), .software = UINT64_C(7) << 56,   \
	.sh = UINT64_C(3) << 8, .user_exec = BIT(54)
#define STAGE1 .entry = { ENTRY, .clean = BIT(7), .memory = UINT64_C(7) << 2, .plain = 0x740, \
		  .reserved = BIT(48) | BIT(49) | BIT(11) | BIT(53) }
#define STAGE2 .entry = { ENTRY, .dirty = BIT(7), .memory = UINT64_C(15) << 2, .plain = 0x77c, \
		  .reserved = BIT(48) | BIT(49) | BIT(11) | BIT(50) }
#define PLAIN  .input = 48, .output = 48
#define LARGE  .input = 52, .output = 52, .large = true

static const struct format el2 = { .name = "arm64-el2", .regime = REF_EL2, SHARED, STAGE1, PLAIN };
static const struct format s2 = { .name = "arm64-s2", .regime = REF_S2, SHARED, STAGE2, PLAIN };
static const struct format s2_features = {
	.name = "arm64-s2", .regime = REF_S2, SHARED, STAGE2, PLAIN, .what = " XNX FWB",
	.features = PGT_FEAT_XNX | PGT_FEAT_FWB,
};
#ifndef REGIMES_OF_48_BITS
static const struct format large = {
	.name = "arm64", .regime = REF_EL1, .upper = true, SHARED, STAGE1, LARGE, .what = " 52 bits",
};
static const struct format el2_large = {
	.name = "arm64-el2", .regime = REF_EL2, SHARED, STAGE1, LARGE, .what = " 52 bits",
};
static const struct format s2_large = {
	.name = "arm64-s2", .regime = REF_S2, SHARED, STAGE2, LARGE, .what = " 52 bits XNX",
	.features = PGT_FEAT_XNX,
};
/* Input of 16 to 24 bits is of arm64 alone. */
static const struct format s2_small = {
	.name = "arm64-s2", .regime = REF_S2, SHARED, STAGE2, PLAIN, .what = " small tables",
	.features = PGT_FEAT_ST,
};
/* One level more than is needed: stage 2 at level -1. */
static const unsigned small_granule[] = { 12, 0 };
static const struct format s2_deep = {
	.name = "arm64-s2", .arm64 = true, .regime = REF_S2, .granules = small_granule, .least_input = 49,
	.input = 52, .least_output = 52, .output = 52, .large = true, .levels = 5, .share = 16,
	.translate = ref_translate, .access = ref_access, .validate = ref_validate,
	.run_entries = ref_run_entries, .leaf_level = ref_leaf_level, STAGE2,
	.what = " 52 bits, five levels",
};
#endif
#endif

const struct format *const formats[] = {
#if PGT_HAVE_ARM64
	&el2, &s2, &s2_features,
#ifndef REGIMES_OF_48_BITS
	&large, &el2_large, &s2_large, &s2_small, &s2_deep,
#endif
#endif
	NULL
};
