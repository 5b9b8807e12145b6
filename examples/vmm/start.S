/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guest's first instructions, its exception vectors, and the code that a
 * probe runs.  The virtual machine monitor starts the CPU at KERNEL_PA: EL1, MMU off.
 */
#include "guest.h"

	.section .text.start, "ax"
	.global _start
_start:
	b	start
	.long	GUEST_MAGIC              /* struct guest_image */
	.quad	image_base
	.quad	image_user               /* offsets */
	.quad	image_rodata
	.quad	image_data
	.quad	image_end

/*
 * Still at the physical address.  The page that holds this code is also mapped
 * where it lies (its "identity page"), so the instruction after the one that
 * turns the MMU on can be fetched.
 */
start:
	msr	daifset, #15
	msr	spsel, #1
	msr	tpidr_el1, xzr           /* no probe is running */
	adr	x0, vectors
	msr	vbar_el1, x0
	isb

	ldr	x1, =MAILBOX_PA
	ldr	x2, [x1, #BOOT_TTBR0]
	msr	ttbr0_el1, x2
	ldr	x2, [x1, #BOOT_TTBR1]
	msr	ttbr1_el1, x2
	ldr	x2, [x1, #BOOT_TCR]
	msr	tcr_el1, x2
	ldr	x2, [x1, #BOOT_MAIR]
	msr	mair_el1, x2
	isb
	tlbi	vmalle1
	dsb	nsh
	isb

	/* What the tables need, and what every kernel sets: RES1 bits, caches. */
	ldr	x2, [x1, #BOOT_SCTLR]
	ldr	x3, =0x30d00800 | (1 << 12) | (1 << 2)
	orr	x2, x2, x3
	ldr	x3, =vectors             /* from here on the upper half's */
	ldr	x4, =upper_half
	msr	vbar_el1, x3
	msr	sctlr_el1, x2
	isb
	br	x4

upper_half:
	ldr	x0, =STACK_VA + STACK_BYTES
	mov	sp, x0
	b	guest_main

	.ltorg

/*
 * An exception while a probe runs is its answer; any other is a panic.
 */
	.macro	vector target
	.balign	0x80
	b	\target
	.endm

	.balign	0x800
vectors:
	vector	panic                    /* this level, SP_EL0 */
	vector	panic
	vector	panic
	vector	panic
	vector	sync                     /* this level, SP_EL1 */
	vector	panic
	vector	panic
	vector	panic
	vector	sync                     /* EL0 */
	vector	panic
	vector	panic
	vector	panic
	vector	panic                    /* EL0, 32 bits */
	vector	panic
	vector	panic
	vector	panic
	.balign	0x80

sync:
	mrs	x9, tpidr_el1
	cbnz	x9, probe_back
panic:
	mrs	x9, sctlr_el1
	ldr	x10, =MAILBOX_PA
	tbz	x9, #0, 1f
	ldr	x10, =MAILBOX_VA
1:	mrs	x11, esr_el1
	mrs	x12, elr_el1
	mrs	x13, far_el1
	mov	x9, #1
	stp	x12, x13, [x10, #PANIC + 16]
	str	x11, [x10, #PANIC + 8]
	add	x10, x10, #PANIC
	stlr	x9, [x10]
2:	wfi
	b	2b

/*
 * void probe_run(uint64_t pc, uint64_t pstate, uint64_t x0, uint64_t x1, struct answer *)
 *
 * Enters pc at the exception level in pstate, and returns when the next
 * exception comes, which every probe ends with.  Probes don't touch the stack,
 * so at that exception SP_EL1 is what it was here.
 */
	.global	probe_run
probe_run:
	stp	x29, x30, [sp, #-112]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	str	x4, [sp, #96]
	msr	elr_el1, x0
	msr	spsr_el1, x1
	mov	x9, #1
	msr	tpidr_el1, x9
	mov	x0, x2
	mov	x1, x3
	eret

probe_back:
	msr	tpidr_el1, xzr
	ldr	x4, [sp, #96]
	mrs	x9, esr_el1
	mrs	x10, far_el1
	lsr	x11, x9, #26
	cmp	x11, #0x15               /* svc: x0 is the value; else: the fault's address */
	csel	x0, x0, x10, eq
	stp	x9, x0, [x4]             /* struct answer */
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #112
	ret

/* What probes run: x0 is the address, x1 the value to store. */
	.global	probe_load, probe_store, probe_user_load, probe_user_store
probe_load:
	ldr	x0, [x0]
	svc	#SVC_DONE
probe_store:
	str	x1, [x0]
	svc	#SVC_DONE
probe_user_load:
	ldtr	x0, [x0]
	svc	#SVC_DONE
probe_user_store:
	sttr	x1, [x0]
	svc	#SVC_DONE

/* The same for EL0, in a page of its own. A fetch probe enters its target at once. */
	.section .user, "ax"
	.global	user_start, user_load, user_store
user_start:
user_load:
	ldr	x0, [x0]
	svc	#SVC_DONE
user_store:
	str	x1, [x0]
	svc	#SVC_DONE
	.balign	4096
