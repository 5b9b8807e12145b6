/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers questions to the MMU; the registers are the job's, as they come. */
#include "server.h"
#include "racer.h"

#define SCTLR_EL1_RES1 UINT64_C(0x30d00800)
#define SCTLR_EL2_RES1 UINT64_C(0x30c50830)
#define HCR_RW (UINT64_C(1) << 31)

#define WRITE_SYSTEM(name, value) \
	__asm__ volatile("msr " #name ", %0" : : "r"((uint64_t)(value)) : "memory")

typedef void at_fn(uint64_t va, uint64_t *answer);

void serve(void);
void server_panic(uint64_t esr, uint64_t elr);
void power_off(void);
at_fn at_read, at_write, at_user_read, at_user_write, at_el2_read, at_el2_write;
at_fn at_both_read, at_both_write, at_both_user_read, at_both_user_write;
void go_down(uint64_t pc, uint64_t spsr, uint64_t x0, uint64_t *answer);

static struct job *const job = (struct job *)JOB_PA;

void server_panic(uint64_t esr, uint64_t elr)
{
	job->esr = esr;
	job->elr = elr;
	__atomic_store_n(&job->panic, 1, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("wfi");
}

static void set_register(unsigned number, uint64_t value)
{
	switch (number) {
	case SCTLR_EL1: WRITE_SYSTEM(sctlr_el1, SCTLR_EL1_RES1 | value); break;
	case TCR_EL1: WRITE_SYSTEM(tcr_el1, value); break;
	case TTBR0_EL1: WRITE_SYSTEM(ttbr0_el1, value); break;
	case TTBR1_EL1: WRITE_SYSTEM(ttbr1_el1, value); break;
	case MAIR_EL1: WRITE_SYSTEM(mair_el1, value); break;
	case VBAR_EL1: WRITE_SYSTEM(vbar_el1, value); break;
	case SCTLR_EL2: WRITE_SYSTEM(sctlr_el2, SCTLR_EL2_RES1 | value); break;
	case TCR_EL2: WRITE_SYSTEM(tcr_el2, value); break;
	case TTBR0_EL2: WRITE_SYSTEM(ttbr0_el2, value); break;
	case MAIR_EL2: WRITE_SYSTEM(mair_el2, value); break;
	case VBAR_EL2: WRITE_SYSTEM(vbar_el2, value); break;
	case VTCR_EL2: WRITE_SYSTEM(vtcr_el2, value); break;
	case VTTBR_EL2: WRITE_SYSTEM(vttbr_el2, value); break;
	case HCR_EL2: WRITE_SYSTEM(hcr_el2, HCR_RW | value); break;
	}
}

static void invalidate_all(void)
{
	__asm__ volatile("isb\n\ttlbi alle1\n\ttlbi alle2\n\tdsb sy\n\tisb" : : : "memory");
}

static void set_registers(void)
{
	for (unsigned i = 0; i < REGISTERS; i++)
		set_register(i, job->reg[i]);
	invalidate_all();
}

/* PSTATE of the level that makes a real access: its stack pointer, no interrupts. */
static uint64_t level_of(uint64_t op)
{
	return 0x3c0 | (op & ASK_USER ? 0 : op & ASK_EL2 ? 9 : 5);
}

static void try(const struct question *q, uint64_t *answer)
{
	const uint64_t stub = job->stub + (q->op & ASK_WRITE ? STUB_STORE : STUB_LOAD);

	go_down(q->op & ASK_FETCH ? q->va : stub, level_of(q->op), q->va, answer);
}

static void ask(const struct question *q, uint64_t *answer)
{
	static at_fn *const at[ASK_KINDS] = {
		at_read, at_write, at_user_read, at_user_write, at_el2_read, at_el2_write, 0, 0,
		at_both_read, at_both_write, at_both_user_read, at_both_user_write,
	};

	if (q->op >= ASK_SET) {
		set_register((unsigned)(q->op - ASK_SET), q->va);
		invalidate_all();
	} else if (q->op >= ASK_KINDS) {
		try(q, answer);
	} else {
		at[q->op](q->va, answer);
	}
}

static void work(void)
{
	set_registers();
	for (uint64_t i = 0; i < job->count && i < MAX_QUESTIONS; i++)
		ask(&job->question[i], &job->answer[i].par);
}

void serve(void)
{
	uint64_t asked = 0;

	for (;;) {
		while (__atomic_load_n(&job->asked, __ATOMIC_ACQUIRE) == asked)
			__asm__ volatile("yield");
		asked = __atomic_load_n(&job->asked, __ATOMIC_ACQUIRE);
		if (job->stop)
			power_off();
		if (job->race) {
			set_registers();
			__atomic_store_n(&job->done, asked, __ATOMIC_RELEASE);
			race_enter();
		}
		work();
		__atomic_store_n(&job->done, asked, __ATOMIC_RELEASE);
	}
}
