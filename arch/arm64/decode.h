/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What register values say about the tables that they lead to. */
#ifndef PGT_ARM64_DECODE_H
#define PGT_ARM64_DECODE_H

#include <pgtable/arm64.h>

/* One half of a regime. */
struct decoded {
	struct pgt_config config; /* memory and format_config are the caller's to fill in */
	struct pgt_arm64_config own;
	uint64_t root_pa;
	uint64_t sh;      /* the shareability of leaves that have none of their own (DS) */
	bool top_byte;    /* bits 63:56 of an address count for nothing ... */
	bool top_fetched; /* ... for instruction fetches too */
	bool no_user;     /* unprivileged accesses fault (FEAT_E0PD) */
};

/* Whether the values can be a CPU's at all: PGT_EINVAL; PGT_ENOTSUP for what changes
 * the tables' meaning and is not understood here. */
int pgt_arm64_regs_check(const struct pgt_arm64_regs *regs);

/* Whether stage 1 of EL1&0 is off and stage 2 on, whatever else says (HCR_EL2.DC). */
bool pgt_arm64_defaults(uint64_t hcr);

/* Whether the regime translates. */
bool pgt_arm64_regs_on(const struct pgt_arm64_regs *regs);

/*
 * Decodes one half of a regime; what isn't sizes and addresses, in any case but the
 * first.  PGT_EINVAL: no such half; PGT_ENOTSUP:
 * reserved values; PGT_ENOENT: the half is disabled; PGT_EFAULT: sizes that hardware
 * answers with a translation fault at level 0, whatever the address.
 */
int pgt_arm64_decode(const struct pgt_arm64_regs *regs, int half, struct decoded *d);

#endif
