/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The server's start, and its exception vectors: EL2, MMU off. */
#include "server.h"

	.section .text.start, "ax"
	.global	_start
_start:
	msr	daifset, #15
	msr	spsel, #1
	ldr	x0, =vectors
	msr	vbar_el2, x0
	mov	x0, #(1 << 31)           /* HCR_EL2.RW: EL1 is AArch64; no stage 2 */
	msr	hcr_el2, x0
	isb
	ldr	x0, =STACK_TOP
	mov	sp, x0
	bl	serve
1:	wfi
	b	1b
	.ltorg

/*
 * void at_*(uint64_t va, uint64_t answer[2]): PAR_EL1, and the syndrome of the
 * exception that AT raised, if any: the handler returns to the instruction
 * after it, with x2 holding ESR_EL2.
 */
	.macro	at_call name op
	.global	at_\name
at_\name:
	mov	x2, #0
	at	\op, x0
	isb
	mrs	x3, par_el1
	stp	x3, x2, [x1]
	ret
	.endm

	at_call	read s1e1r
	at_call	write s1e1w
	at_call	user_read s1e0r
	at_call	user_write s1e0w
at_end:

	.macro	vector target
	.balign	0x80
	b	\target
	.endm

	.balign	0x800
vectors:
	.rept	4
	vector	panic
	.endr
	vector	sync
	.rept	11
	vector	panic
	.endr
	.balign	0x80

sync:
	mrs	x9, elr_el2
	ldr	x10, =at_read
	cmp	x9, x10
	b.lo	panic
	ldr	x10, =at_end
	cmp	x9, x10
	b.hs	panic
	mrs	x2, esr_el2
	add	x9, x9, #4
	msr	elr_el2, x9
	eret

panic:
	mrs	x0, esr_el2
	mrs	x1, elr_el2
	b	server_panic
	.ltorg
