/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Invalidations as TLBI operations and operands (Arm ARM D8.14, C5.5). */
#include "../../lib/pgt.h"
#include <pgtable/arm64.h>

const char *pgt_arm64_tlbi_name(uint32_t op)
{
	(void)op;
	return NULL;
}

int pgt_arm64_tlbi(const struct pgt *t, const struct pgt_tlb_range *range, uint16_t asid,
		   struct pgt_arm64_tlbi *ops, unsigned max, unsigned *n)
{
	(void)t, (void)range, (void)asid, (void)ops, (void)max, (void)n;
	return PGT_ENOTSUP;
}
