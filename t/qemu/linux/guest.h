/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The code of guest.S. */
#ifndef PGT_T_QEMU_LINUX_GUEST_H
#define PGT_T_QEMU_LINUX_GUEST_H

#ifdef __ASSEMBLER__
#define GUEST_LOAD  0
#define GUEST_STORE 1
#define GUEST_CALL  2
#define GUEST_ACCESS_BYTES 16
#else
#include <stdint.h>

enum { GUEST_LOAD, GUEST_STORE, GUEST_CALL };

/* One access of the KVM guest: what its list consists of. */
struct guest_access {
	uint64_t address, kind;
};

/* Where every process of these tests ends: a loop. */
void spin(void) __attribute__((__noreturn__));

/*
 * The KVM guest, position independent, at most a page, to be put at a page's
 * start: x0 TTBR0, x1 TTBR1, x2 TCR, x3 MAIR, x4 SCTLR or 0 (stage 1 stays off),
 * x5 the list, x6 how many, x7 where a store leaves the guest: at x7 when the
 * list is done, at x7 + 8 with ESR_EL1 after an exception. It then loops at
 * guest_spin.
 */
extern const char guest_start[], guest_spin[], guest_end[];
#endif

#endif
