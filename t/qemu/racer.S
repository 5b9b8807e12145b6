/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The racing guest's instructions, and its exception vectors: EL1, MMU on. */
#include "racer.h"

	.text
	.global	race_enter
race_enter:
	ldr	x0, =race_vectors
	msr	vbar_el1, x0
	ldr	x0, =STACK_TOP
	msr	sp_el1, x0
	ldr	x0, =race_loop
	msr	elr_el3, x0
	mov	x0, #0x3c5               /* EL1h, all interrupts masked */
	msr	spsr_el3, x0
	isb
	eret
	.ltorg

	.global	race_at_read, race_at_write
race_at_read:
	at	s1e1r, x0
	b	1f
race_at_write:
	at	s1e1w, x0
1:	isb
	mrs	x0, par_el1
	and	x0, x0, #1
	ret

	.global	race_load, race_store
race_load:
	mov	x2, #0
	ldr	x1, [x0]
	mov	x0, x2
	ret
race_store:
	mov	x2, #0
	str	x1, [x0]
	mov	x0, x2
	ret
race_access_end:

	.global	race_invalidate, race_invalidate_all, race_sync
race_invalidate:
	ubfx	x0, x0, #12, #44
	tlbi	vae1is, x0
	ret
race_invalidate_all:
	tlbi	vmalle1is
	ret
race_sync:
	dsb	ish
	isb
	ret

	.macro	race_vector target
	.balign	0x80
	b	\target
	.endm

	.balign	0x800
race_vectors:
	.rept	4
	race_vector race_panic
	.endr
	race_vector race_fault
	.rept	11
	race_vector race_panic
	.endr
	.balign	0x80

/* A load or store that faults is passed over, with x2 holding ESR_EL1. */
race_fault:
	mrs	x9, elr_el1
	ldr	x10, =race_load
	cmp	x9, x10
	b.lo	race_panic
	ldr	x10, =race_access_end
	cmp	x9, x10
	b.hs	race_panic
	mrs	x2, esr_el1
	add	x9, x9, #4
	msr	elr_el1, x9
	eret

race_panic:
	mrs	x0, esr_el1
	mrs	x1, elr_el1
	b	server_panic
	.ltorg
