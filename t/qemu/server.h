/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the test and the server share.  The server runs in QEMU at EL2, its own
 * MMU off, so the tables under test need not map it; it answers questions to
 * the EL1&0 MMU by address translation instructions.
 */
#ifndef PGT_T_QEMU_SERVER_H
#define PGT_T_QEMU_SERVER_H

#define RAM_PA    0x40000000
#define RAM_BYTES 0x08000000
#define SERVER_PA 0x40200000 /* below lies QEMU's device tree */
#define STACK_TOP 0x40300000
#define JOB_PA    0x40400000
#define RACE_PA   0x40800000
#define TABLES_PA 0x41000000
#define TABLES_BYTES (RAM_PA + RAM_BYTES - TABLES_PA) /* a few 64K tables are megabytes */

#ifndef __ASSEMBLER__
#include <stdint.h>

/* op: bit 0 for a write, bit 1 for an unprivileged access. */
struct question {
	uint64_t va, op;
};

#define MAX_QUESTIONS 8192

struct job {
	uint64_t asked, done; /* the host counts asked up, the server sets done to it */
	uint64_t panic, esr, elr;
	uint64_t stop;
	uint64_t race;        /* go to EL1 and race with the host, see racer.h; until stop */
	uint64_t ttbr0, ttbr1, tcr, mair, sctlr;
	uint64_t count;
	struct question question[MAX_QUESTIONS];
	struct {
		uint64_t par, exception; /* exception: 0, or ESR_EL2 where AT raised one */
	} answer[MAX_QUESTIONS];
};
#endif
#endif
