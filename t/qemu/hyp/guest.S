/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guest, at EL1: waits by HVC for what it is to do.  It is copied to
 * GUEST_IPA and knows no other address of itself.
 */
#include "hyp.h"

	.section .guest, "a"
	mov	x0, #0
next:
	hvc	#0
	cmp	x0, #DO_MMU
	b.eq	mmu
	cmp	x0, #DO_STORE
	b.eq	store
	ldr	x0, [x1]                 /* DO_LOAD */
	b	next

/* The first word of each page whose bit is set in x1 becomes its number, from x2 on. */
store:
	mov	x0, #0
1:	tbz	x1, #0, 2f
	str	x0, [x2]
2:	add	x0, x0, #1
	add	x2, x2, #4096
	lsr	x1, x1, #1
	cbnz	x1, 1b
	b	next

/*
 * A stage 1 of blocks of 1 GiB, 39 bits: GUEST_IPA as it is, and at GUEST_ALIAS.
 * Normal memory, inner shareable, accessed: 0x701.
 */
mmu:
	ldr	x3, =GUEST_TABLE
	ldr	x4, =(GUEST_IPA | 0x701)
	str	x4, [x3, #(GUEST_IPA >> 30) * 8]
	ldr	x5, =(GUEST_ALIAS >> 30) * 8
	str	x4, [x3, x5]
	msr	ttbr0_el1, x3
	mov	x3, #0xff
	msr	mair_el1, x3
	ldr	x3, =(25 | 1 << 8 | 1 << 10 | 3 << 12 | 1 << 23 | 2 << 32)
	msr	tcr_el1, x3
	dsb	ish
	isb
	mrs	x3, sctlr_el1
	orr	x3, x3, #1
	msr	sctlr_el1, x3
	isb
	mrs	x0, sctlr_el1
	b	next
	.ltorg
