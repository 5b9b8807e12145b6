/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests and the server share.  The server runs in QEMU at EL3, its own
 * MMU off, so the tables under test need not map it.  It answers questions to
 * the MMUs of EL1&0 and EL2 and to stage 2, by address translation
 * instructions, or by what happens to a real access at a lower exception level.
 */
#ifndef PGT_T_QEMU_SERVER_H
#define PGT_T_QEMU_SERVER_H

#define RAM_PA    0x40000000
#define RAM_BYTES 0x08000000
#define SERVER_PA 0x40200000 /* below lies QEMU's device tree */
#define STUBS_PA  0x40210000 /* alone in 64 KiB: exception vectors and the accesses, see start.S */
#define STACK_TOP 0x40300000
#define JOB_PA    0x40400000
#define RACE_PA   0x40800000
#define CALLS_PA  0x40c00000 /* 2 MiB of SVC instructions, where fetches may lead */
#define CALLS_BYTES 0x200000
#define TABLES_PA 0x41000000
#define TABLES_BYTES (RAM_PA + RAM_BYTES - TABLES_PA) /* a few 64K tables are megabytes */

#define STUB_LOAD  0x800 /* loads the byte at x0, then SVC */
#define STUB_STORE 0x808

/* What is asked: bits of op. */
#define ASK_WRITE 1
#define ASK_USER  2
#define ASK_EL2   4 /* the EL2 regime */
#define ASK_BOTH  8 /* both stages of EL1&0 */
#define ASK_KINDS 16
#define ASK_REAL  16 /* by a load, or with ASK_WRITE by a store */
#define ASK_FETCH 32 /* by a branch there */
#define ASK_SET   64 /* no question: the register of that number becomes va */

#ifndef __ASSEMBLER__
#include <stdint.h>

enum {
	SCTLR_EL1, TCR_EL1, TTBR0_EL1, TTBR1_EL1, MAIR_EL1, VBAR_EL1,
	SCTLR_EL2, TCR_EL2, TTBR0_EL2, MAIR_EL2, VBAR_EL2,
	VTCR_EL2, VTTBR_EL2, HCR_EL2,
	REGISTERS
};

struct question {
	uint64_t va, op;
};

#define MAX_QUESTIONS 8192

struct job {
	uint64_t asked, done; /* the host counts asked up, the server sets done to it */
	uint64_t panic, esr, elr;
	uint64_t stop;
	uint64_t race;        /* go to EL1 and race with the host, see racer.h; until stop */
	uint64_t reg[REGISTERS]; /* without the bits that are always one, and HCR_EL2.RW */
	uint64_t stub;        /* where the table under test maps STUBS_PA */
	uint64_t count;
	struct question question[MAX_QUESTIONS];
	struct {
		/* AT: PAR_EL1; 0, or ESR_EL3 where AT raised an exception.
		 * Real: ESR of the level that took the exception that ended it,
		 * an SVC if it did no harm; which level that was. */
		uint64_t par, exception;
	} answer[MAX_QUESTIONS];
};
#endif
#endif
