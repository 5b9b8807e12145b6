/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the hypervisor and its guest have in common. */
#ifndef PGT_T_QEMU_HYP_H
#define PGT_T_QEMU_HYP_H

/* Where the guest's memory begins for the guest, and where it is. */
#define GUEST_IPA   0x80000000
#define GUEST_PA    0x44000000
#define GUEST_BYTES 0x02000000
#define GUEST_CODE_BYTES 0x4000
#define GUEST_TABLE (GUEST_IPA + 0x100000) /* of the guest's own stage 1 */
#define GUEST_STACK (GUEST_IPA + 0x200000)
#define GUEST_DATA  (GUEST_IPA + 0x400000) /* what the guest works on */

/* The guest's stage 1: its memory once more, at another address. */
#define GUEST_ALIAS 0x4080000000
#define ALIAS(ipa)  ((ipa) - GUEST_IPA + GUEST_ALIAS)

/* What the guest does when it is asked to, by x0; x1 and x2 are arguments. */
#define DO_MMU   1 /* turns its stage 1 on; returns SCTLR_EL1 */
#define DO_STORE 2 /* stores x1's page number to the first word of each page in a mask, from x2 on */
#define DO_LOAD  3 /* returns the word at x1 */

#ifndef __ASSEMBLER__
#include <stdint.h>

/* A guest that doesn't run. */
struct guest {
	uint64_t x[31], pc, pstate;
	uint64_t esr, far, hpfar; /* why it stopped */
};

/* Lets it run until something takes it to EL2. */
void guest_run(struct guest *guest);

/* The end of QEMU, with this exit status. */
void machine_exit(uint64_t status) __attribute__((__noreturn__));
void machine_write(const char *text);
#endif
#endif
