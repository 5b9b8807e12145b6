/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The hypervisor's start at EL2, and its way into a guest and back. */
#include "hyp.h"

#define PC    248 /* in struct guest */
#define CAUSE 264

	.section .text.start, "ax"
	.global	_start
_start:
	msr	daifset, #15
	msr	spsel, #1
	ldr	x0, =stack_top
	mov	sp, x0
	ldr	x0, =vectors
	msr	vbar_el2, x0
	mov	x0, #(1 << 31)           /* HCR_EL2.RW */
	msr	hcr_el2, x0
	mov	x0, #0x33ff              /* no traps of the guest's own registers */
	msr	cptr_el2, x0
	isb
	bl	hypervisor
	b	machine_exit
	.ltorg

/* Semihosting: SYS_WRITE0. */
	.global	machine_write
machine_write:
	mov	x1, x0
	mov	x0, #4
	hlt	#0xf000
	ret

/* SYS_EXIT: ADP_Stopped_ApplicationExit, and the status. */
	.global	machine_exit
machine_exit:
	mov	x1, #0x26
	movk	x1, #2, lsl #16
	stp	x1, x0, [sp, #-16]!
	mov	x1, sp
	mov	x0, #0x18
	hlt	#0xf000
	b	.

/* x2 to x29 from or to the struct at x0. */
	.macro	each_pair op
	\op	x2, x3, [x0, #16]
	\op	x4, x5, [x0, #32]
	\op	x6, x7, [x0, #48]
	\op	x8, x9, [x0, #64]
	\op	x10, x11, [x0, #80]
	\op	x12, x13, [x0, #96]
	\op	x14, x15, [x0, #112]
	\op	x16, x17, [x0, #128]
	\op	x18, x19, [x0, #144]
	\op	x20, x21, [x0, #160]
	\op	x22, x23, [x0, #176]
	\op	x24, x25, [x0, #192]
	\op	x26, x27, [x0, #208]
	\op	x28, x29, [x0, #224]
	.endm

/* The guest's registers are in the struct whose address TPIDR_EL2 keeps. */
	.global	guest_run
guest_run:
	stp	x29, x30, [sp, #-96]!
	stp	x27, x28, [sp, #16]
	stp	x25, x26, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x21, x22, [sp, #64]
	stp	x19, x20, [sp, #80]
	msr	tpidr_el2, x0
	ldp	x1, x2, [x0, #PC]
	msr	elr_el2, x1
	msr	spsr_el2, x2
	each_pair ldp
	ldr	x30, [x0, #240]
	ldp	x0, x1, [x0]
	eret

guest_exit:
	stp	x0, x1, [sp, #-16]!
	mrs	x0, tpidr_el2
	each_pair stp
	str	x30, [x0, #240]
	ldp	x1, x2, [sp], #16
	stp	x1, x2, [x0]
	mrs	x1, elr_el2
	mrs	x2, spsr_el2
	stp	x1, x2, [x0, #PC]
	mrs	x1, esr_el2
	mrs	x2, far_el2
	stp	x1, x2, [x0, #CAUSE]
	mrs	x1, hpfar_el2
	str	x1, [x0, #(CAUSE + 16)]
	ldp	x19, x20, [sp, #80]
	ldp	x21, x22, [sp, #64]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #32]
	ldp	x27, x28, [sp, #16]
	ldp	x29, x30, [sp], #96
	ret

own_fault:
	mrs	x0, esr_el2
	mrs	x1, elr_el2
	mrs	x2, far_el2
	b	hypervisor_fault

	.macro	vector target
	.balign	0x80
	b	\target
	.endm

	.balign	0x800
vectors:
	.rept	8
	vector	own_fault
	.endr
	vector	guest_exit
	.rept	7
	vector	own_fault
	.endr
	.balign	0x80
