/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The server's start, its exception vectors, and what it lets lower levels do. */
#include "server.h"

#define SCR 0x531 /* NS, RES1, HCE, RW: EL2 is there, and AArch64 */

	.section .text.start, "ax"
	.global	_start
_start:
	msr	daifset, #15
	msr	spsel, #1
	ldr	x0, =vectors
	msr	vbar_el3, x0
	mov	x0, #SCR
	msr	scr_el3, x0
	isb
	ldr	x0, =STACK_TOP
	mov	sp, x0
	bl	serve
	.ltorg

/* QEMU ends: semihosting, SYS_EXIT, ADP_Stopped_ApplicationExit with status 0. */
	.global	power_off
power_off:
	mov	x0, #0x18
	ldr	x1, =1f
	hlt	#0xf000
	b	power_off
	.balign	8
1:	.quad	0x20026, 0
	.ltorg

/*
 * void at_*(uint64_t va, uint64_t answer[2]): PAR_EL1, and the syndrome of the
 * exception that AT raised, if any: the handler returns to the instruction
 * after it, with x2 holding ESR_EL3.
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

at_begin:
	at_call	read s1e1r
	at_call	write s1e1w
	at_call	user_read s1e0r
	at_call	user_write s1e0w
	at_call	el2_read s1e2r
	at_call	el2_write s1e2w
	at_call	both_read s12e1r
	at_call	both_write s12e1w
	at_call	both_user_read s12e0r
	at_call	both_user_write s12e0w
at_end:

/*
 * void go_down(uint64_t pc, uint64_t spsr, uint64_t x0, uint64_t answer[2]):
 * lets a lower level run from pc until it comes back by SMC.  Answers with the
 * syndrome that EL1 or EL2 took before, and with which of the two it was.
 */
	.global	go_down
go_down:
	msr	elr_el3, x0
	msr	spsr_el3, x1
	mov	x0, x2
	isb
	eret

back_up:
	mrs	x9, esr_el3
	lsr	x9, x9, #26
	cmp	x9, #0x17                /* SMC */
	b.ne	panic
	mrs	x9, spsr_el3
	ubfx	x10, x9, #2, #2
	mrs	x9, esr_el1
	mrs	x11, esr_el2
	cmp	x10, #2
	csel	x9, x11, x9, eq
	stp	x9, x10, [x3]
	ret

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
	.rept	3
	vector	panic
	.endr
	vector	back_up
	.rept	7
	vector	panic
	.endr
	.balign	0x80

sync:
	mrs	x9, elr_el3
	ldr	x10, =at_begin
	cmp	x9, x10
	b.lo	panic
	ldr	x10, =at_end
	cmp	x9, x10
	b.hs	panic
	mrs	x2, esr_el3
	add	x9, x9, #4
	msr	elr_el3, x9
	eret

panic:
	mrs	x0, esr_el3
	mrs	x1, elr_el3
	b	server_panic
	.ltorg

/* For lower levels, wherever the tables under test put it. */
	.section .stubs, "ax"
	.rept	16
	.balign	0x80
	smc	#0
	.endr
	.balign	0x80
	ldrb	w1, [x0]                 /* STUB_LOAD */
	svc	#0
	strb	w1, [x0]                 /* STUB_STORE */
	svc	#0
	.balign	0x10000
