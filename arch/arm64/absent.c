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
