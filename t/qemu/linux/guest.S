/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "guest.h"

	.text
	.global spin
	.type spin, %function
spin:
	yield
	b	spin

	/* Exception vectors are aligned to 2 KiB, a page at offset 0 of which they are. */
	.balign 4096
	.global guest_start, guest_spin, guest_end
guest_start:
	adr	x9, guest_vectors
	msr	vbar_el1, x9
	cbz	x4, 1f
	msr	ttbr0_el1, x0
	msr	ttbr1_el1, x1
	msr	tcr_el1, x2
	msr	mair_el1, x3
	tlbi	vmalle1
	dsb	nsh
	isb
	msr	sctlr_el1, x4
1:	isb

next:	cbz	x6, done
	ldp	x8, x9, [x5], #GUEST_ACCESS_BYTES
	sub	x6, x6, #1
	cmp	x9, #GUEST_STORE
	b.eq	store
	b.hi	call
	ldr	x10, [x8]
	b	next
store:	str	x8, [x8]
	b	next
call:	blr	x8
	b	next

done:	str	xzr, [x7]
guest_spin:
	yield
	b	guest_spin

	.balign 2048
guest_vectors:
	.rept	16
	.balign 128
	b	fault
	.endr
fault:	mrs	x1, esr_el1
	str	x1, [x7, #8]
	b	fault
guest_end:
