/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Register values to the configuration of the tables that they lead to. */
#include "../../lib/pgt.h"
#include <pgtable/arm64.h>

int pgt_arm64_attach(const struct pgt_arm64_regs *regs, const struct pgt_memory *memory, int half, struct pgt **t)
{
	(void)regs, (void)memory, (void)half, (void)t;
	return PGT_ENOTSUP;
}
