/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Translations from register values alone, through one stage or two. */
#include "../../lib/pgt.h"
#include <pgtable/arm64.h>

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
