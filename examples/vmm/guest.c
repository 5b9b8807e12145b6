/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guest: it runs at EL1 from the upper half, waits for jobs in the mailbox
 * and does them.  It knows nothing of how its page tables are made.
 */
#include "guest.h"

#define PSTATE_EL1 0x3c5 /* EL1, its own stack pointer, interrupts masked */
#define PSTATE_EL0 0x3c0

#define AT(op, va) __asm__ volatile("at " op ", %0\n\tisb" : : "r"(va) : "memory")

void guest_main(void);
void probe_run(uint64_t pc, uint64_t pstate, uint64_t x0, uint64_t x1, struct answer *answer);
void probe_load(void), probe_store(void), probe_user_load(void), probe_user_store(void);
extern char user_start[], user_load[], user_store[];

static struct mailbox *const mailbox = (struct mailbox *)MAILBOX_VA;
static uint64_t asked; /* the job last seen */

static uint64_t par(void)
{
	uint64_t value;

	__asm__ volatile("mrs %0, par_el1" : "=r"(value));
	return value;
}

static uint64_t at_el1(void (*code)(void))
{
	return (uint64_t)(uintptr_t)code;
}

/* Where the user's page shows the code. */
static uint64_t at_el0(const char *code)
{
	return USER_VA + (uint64_t)(code - user_start);
}

static void probe(const struct probe *p, struct answer *a)
{
	const uint64_t va = p->va, value = p->value;

	switch (p->kind) {
	case AT_READ:
		AT("s1e1r", va);
		a->status = par();
		break;
	case AT_WRITE:
		AT("s1e1w", va);
		a->status = par();
		break;
	case AT_USER_READ:
		AT("s1e0r", va);
		a->status = par();
		break;
	case AT_USER_WRITE:
		AT("s1e0w", va);
		a->status = par();
		break;
	case LOAD:
		probe_run(at_el1(probe_load), PSTATE_EL1, va, 0, a);
		break;
	case STORE:
		probe_run(at_el1(probe_store), PSTATE_EL1, va, value, a);
		break;
	case FETCH:
		probe_run(va, PSTATE_EL1, 0, 0, a);
		break;
	case USER_LOAD:
		probe_run(at_el1(probe_user_load), PSTATE_EL1, va, 0, a);
		break;
	case USER_STORE:
		probe_run(at_el1(probe_user_store), PSTATE_EL1, va, value, a);
		break;
	case EL0_LOAD:
		probe_run(at_el0(user_load), PSTATE_EL0, va, 0, a);
		break;
	case EL0_STORE:
		probe_run(at_el0(user_store), PSTATE_EL0, va, value, a);
		break;
	case EL0_FETCH:
		probe_run(va, PSTATE_EL0, 0, 0, a);
		break;
	default:
		break;
	}
}

/* What the library's invalidate and sync callbacks ask for. */
static void tlb_invalidate(uint64_t va, uint64_t len, uint64_t stride, uint64_t all)
{
	__asm__ volatile("dsb ishst" : : : "memory");
	if (all || len / stride > 512)
		__asm__ volatile("tlbi vmalle1is");
	else
		for (uint64_t done = 0; done < len; done += stride)
			__asm__ volatile("tlbi vaae1is, %0"
					 : : "r"((va + done) << 8 >> 20)); /* VA[55:12], TTL 0 */
	__asm__ volatile("dsb ish\n\tisb" : : : "memory");
}

/* A PL011 is always ready enough for a line, in QEMU. */
static void print(const char *text)
{
	volatile uint32_t *data = (volatile uint32_t *)UART_VA;

	while (*text)
		*data = (uint32_t)*text++;
}

static void psci_system_off(void)
{
	register uint64_t x0 __asm__("x0") = 0x84000008;

	__asm__ volatile("hvc #0" : "+r"(x0) : : "memory");
}

static void work(void)
{
	switch (mailbox->job) {
	case JOB_PROBE:
		for (uint64_t i = 0; i < mailbox->count && i < MAX_PROBES; i++)
			probe(&mailbox->probe[i], &mailbox->answer[i]);
		break;
	case JOB_TLBI:
		tlb_invalidate(mailbox->tlbi.va, mailbox->tlbi.len, mailbox->tlbi.stride,
			       mailbox->tlbi.all);
		break;
	case JOB_PRINT:
		print(mailbox->text);
		break;
	case JOB_STOP:
		psci_system_off();
		break;
	default:
		break;
	}
}

void guest_main(void)
{
	for (;;) {
		while (__atomic_load_n(&mailbox->asked, __ATOMIC_ACQUIRE) == asked)
			__asm__ volatile("yield");
		asked = __atomic_load_n(&mailbox->asked, __ATOMIC_ACQUIRE);
		work();
		__atomic_store_n(&mailbox->done, asked, __ATOMIC_RELEASE);
	}
}
