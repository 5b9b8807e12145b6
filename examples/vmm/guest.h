/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the virtual machine monitor and its guest agree on: where things lie,
 * and the mailbox through which the one asks and the other answers.  Read by
 * the host's compiler, the guest's compiler and the guest's assembler.
 */
#ifndef GUEST_H
#define GUEST_H

/* Guest-physical addresses, those of QEMU's "virt" machine. */
#define UART_PA    0x09000000
#define RAM_PA     0x40000000
#define RAM_BYTES  0x04000000 /* 64 MiB; QEMU puts its device tree into the first one */
#define KERNEL_PA  0x40200000 /* the guest's program: text, user text, rodata, data */
#define MAILBOX_PA 0x40400000 /* one 2 MiB block */
#define STACK_PA   0x40600000
#define TABLES_PA  0x40800000 /* the page tables; the guest itself never maps them */
#define MARKED_PA  0x41000000 /* every 64-bit word from here on holds its own address */

#define KERNEL_BYTES  0x00010000
#define MAILBOX_BYTES 0x00200000
#define STACK_BYTES   0x00010000
#define TABLES_BYTES  0x00800000
#define MARKED_BYTES  (RAM_PA + RAM_BYTES - MARKED_PA)

/* Guest-virtual addresses: the kernel in the upper half, its user in the lower. */
#define KERNEL_VA  0xffff800000000000 /* guest.ld links the program to it */
#define STACK_VA   0xffff800000800000
#define MAILBOX_VA 0xffff800001000000
#define UART_VA    0xffff800002000000
#define USER_VA    0x0000000000400000

#define GUEST_MAGIC 0x54534547 /* "GEST" */

/* The last 8 bytes of each marked page are two of these: svc #page. */
#define SVC_INSN(page) (0xd4000001 | ((page) << 5))
#define SVC_DONE 0xffff /* how a probe's own code ends */

/* Offsets in struct mailbox for start.S. */
#define BOOT_TTBR0 0
#define BOOT_TTBR1 8
#define BOOT_TCR   16
#define BOOT_MAIR  24
#define BOOT_SCTLR 32
#define PANIC      40

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* The first bytes of the program; offsets from its start, multiples of a page. */
struct guest_image {
	uint32_t branch, magic;
	uint64_t base; /* KERNEL_VA */
	uint64_t user, rodata, data, end;
};

enum probe_kind {
	/* Address translation instructions: the answer is PAR_EL1. */
	AT_READ, AT_WRITE, AT_USER_READ, AT_USER_WRITE,
	/* The real thing, at EL1. */
	LOAD, STORE, FETCH,
	/* LDTR and STTR: EL1, with EL0's permissions. */
	USER_LOAD, USER_STORE,
	/* By code that runs at EL0. */
	EL0_LOAD, EL0_STORE, EL0_FETCH,
	PROBE_KINDS
};

struct probe {
	uint64_t va;
	uint32_t kind;
	uint32_t value; /* what STORE writes */
};

struct answer {
	uint64_t status; /* AT_: PAR_EL1; else ESR_EL1 of the exception that ended the probe */
	uint64_t value;  /* what was loaded, or the fault's address */
};

enum job { JOB_BOOT, JOB_PROBE, JOB_TLBI, JOB_PRINT, JOB_STOP };

#define MAX_PROBES 16384

struct mailbox {
	struct {
		uint64_t ttbr0, ttbr1, tcr, mair, sctlr;
	} boot; /* registers, as pgt_arm64_regs() gives them */
	struct {
		uint64_t happened, esr, elr, far;
	} panic;
	/* The host fills in a job and counts `asked` up; the guest does the job
	 * and sets `done` to it. */
	uint64_t asked, done;
	uint64_t job, count;
	struct {
		uint64_t va, len, stride, all;
	} tlbi;
	char text[128];
	struct probe probe[MAX_PROBES];
	struct answer answer[MAX_PROBES];
};

_Static_assert(offsetof(struct mailbox, boot.ttbr0) == BOOT_TTBR0, "start.S");
_Static_assert(offsetof(struct mailbox, boot.ttbr1) == BOOT_TTBR1, "start.S");
_Static_assert(offsetof(struct mailbox, boot.tcr) == BOOT_TCR, "start.S");
_Static_assert(offsetof(struct mailbox, boot.mair) == BOOT_MAIR, "start.S");
_Static_assert(offsetof(struct mailbox, boot.sctlr) == BOOT_SCTLR, "start.S");
_Static_assert(offsetof(struct mailbox, panic) == PANIC, "start.S");
_Static_assert(sizeof(struct mailbox) <= MAILBOX_BYTES, "the mailbox fits its block");
#endif
#endif
