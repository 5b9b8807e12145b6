/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers questions to the MMU; the registers are the job's, as they come. */
#include "server.h"
#include "racer.h"

#define SCTLR_RES1 UINT64_C(0x30d00800)

#define WRITE_SYSTEM(name, value) \
	__asm__ volatile("msr " #name ", %0" : : "r"((uint64_t)(value)) : "memory")

void serve(void);
void server_panic(uint64_t esr, uint64_t elr);
void power_off(void);
void at_read(uint64_t va, uint64_t *answer), at_write(uint64_t va, uint64_t *answer);
void at_user_read(uint64_t va, uint64_t *answer), at_user_write(uint64_t va, uint64_t *answer);

static struct job *const job = (struct job *)JOB_PA;

void server_panic(uint64_t esr, uint64_t elr)
{
	job->esr = esr;
	job->elr = elr;
	__atomic_store_n(&job->panic, 1, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("wfi");
}

static void ask(const struct question *q, uint64_t *answer)
{
	switch (q->op) {
	case 0:
		at_read(q->va, answer);
		break;
	case 1:
		at_write(q->va, answer);
		break;
	case 2:
		at_user_read(q->va, answer);
		break;
	default:
		at_user_write(q->va, answer);
		break;
	}
}

static void set_registers(void)
{
	WRITE_SYSTEM(sctlr_el1, SCTLR_RES1);
	WRITE_SYSTEM(mair_el1, job->mair);
	WRITE_SYSTEM(tcr_el1, job->tcr);
	WRITE_SYSTEM(ttbr0_el1, job->ttbr0);
	WRITE_SYSTEM(ttbr1_el1, job->ttbr1);
	WRITE_SYSTEM(sctlr_el1, SCTLR_RES1 | job->sctlr);
	__asm__ volatile("isb\n\ttlbi alle1\n\tdsb sy\n\tisb" : : : "memory");
}

static void work(void)
{
	set_registers();
	for (uint64_t i = 0; i < job->count && i < MAX_QUESTIONS; i++)
		ask(&job->question[i], &job->answer[i].par);
}

/* PSCI SYSTEM_OFF; QEMU listens to smc, at EL1 too. */
void power_off(void)
{
	register uint64_t x0 __asm__("x0") = 0x84000008;

	__asm__ volatile("smc #0" : "+r"(x0) : : "memory");
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
