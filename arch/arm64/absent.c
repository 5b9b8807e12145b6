/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The arm64-only calls of a build without that backend: the same names, one answer. */
#include "../../lib/pgt.h"
#include <pgtable/arm64.h>

int pgt_arm64_regs(const struct pgt *lower, const struct pgt *upper, struct pgt_arm64_regs *regs)
{
	(void)lower, (void)upper, (void)regs;
	return PGT_ENOTSUP;
}

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

int pgt_arm64_attach(const struct pgt_arm64_regs *regs, const struct pgt_memory *memory, int half, struct pgt **t)
{
	(void)regs, (void)memory, (void)half, (void)t;
	return PGT_ENOTSUP;
}

int pgt_arm64_walk(const struct pgt_arm64_regs *regs, const struct pgt_memory *memory, uint64_t va,
		   uint64_t access, struct pgt_translation *translation)
{
	(void)regs, (void)memory, (void)va, (void)access, (void)translation;
	return PGT_ENOTSUP;
}

int pgt_arm64_walk2(const struct pgt_arm64_regs *s1, const struct pgt_arm64_regs *s2,
		    const struct pgt_memory *memory, uint64_t va, uint64_t access,
		    struct pgt_translation *translation)
{
	(void)s1, (void)s2, (void)memory, (void)va, (void)access, (void)translation;
	return PGT_ENOTSUP;
}
