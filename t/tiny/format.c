/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The tiny format, as the suite's tests know it. */
#include <stddef.h>
#include "../format.h"
#include "ref.h"

#define BIT(n)       (UINT64_C(1) << (n))
#define ATTRIBUTE(n) BIT((n) + 4)

static const unsigned granules[] = { 5, 0 };

static uint64_t page_entry(uint64_t pa, uint64_t attr)
{
	return pa / 32 << 32 | attr << 4 | 1;
}

static const struct format tiny = {
	.name = "tiny",
	.upper = true,
	.granules = granules,
	.least_input = 6,
	.input = 13,
	.least_output = 32,
	.output = 37,
	.most_output = 37,
	.entry = {
		.table = 2,
		.block = 1,
		.page = 1,
		.address = UINT64_C(0xffffffff) << 32,
		.address_shift = 27,
		.hint = BIT(2),
		.young = ATTRIBUTE(8),
		.writable = ATTRIBUTE(1),
		.dirty = ATTRIBUTE(9),
		.global = ATTRIBUTE(5),
		.memory = UINT64_C(31) << 20,
		.sh = UINT64_C(3) << 28,
		.user_exec = ATTRIBUTE(3),
		.software = UINT64_C(7) << 14,
		.plain = ATTRIBUTE(0) | ATTRIBUTE(8),
		.reserved = UINT64_C(3) << 30 | UINT64_C(7) << 25 | UINT64_C(7) << 17,
		.token_shift = 4,
		.broken = BIT(3),
		.noaccess = ATTRIBUTE(6),
	},
	.page_entry = page_entry,
	.translate = ref_tiny_translate,
	.access = ref_tiny_access,
	.validate = ref_tiny_validate,
	.run_entries = ref_tiny_run_entries,
	.leaf_level = ref_tiny_leaf_level,
};

const struct format *const formats[] = { &tiny, NULL };
