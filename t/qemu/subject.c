/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "subject.h"

const char *const kind_name[KINDS] = {
	"arm64, lower half", "arm64, upper half", "arm64-el2", "arm64-s2, stage 1 off", "arm64-s2 behind arm64",
};

struct region one, two, all;

static uint8_t *tables(void)
{
	return machine_ram() + (TABLES_PA - RAM_PA);
}

void empty_regions(uint64_t one_pa)
{
	one = (struct region){ .memory = tables(), .pa = one_pa, .bytes = ONE_BYTES };
	two = (struct region){ .memory = tables() + ONE_BYTES, .pa = TABLES_PA + ONE_BYTES,
			       .bytes = TABLES_BYTES - ONE_BYTES };
	all = (struct region){ .memory = tables(), .pa = TABLES_PA, .bytes = TABLES_BYTES };
}

void save(uint8_t *copy)
{
	memcpy(copy, one.memory, one.used);
	memcpy(copy + ONE_BYTES, two.memory, two.used);
}

void restore(const uint8_t *copy)
{
	memcpy(one.memory, copy, one.used);
	memcpy(two.memory, copy + ONE_BYTES, two.used);
}

uint64_t word(const uint8_t *table, uint64_t at)
{
	uint64_t value;

	memcpy(&value, table + at, sizeof(value));
	return value;
}

static uint64_t compare_region(const uint8_t *before, const uint8_t *after, const struct region *r, uint64_t *wrong)
{
	const uint64_t offset = (uint64_t)(r->memory - tables());
	uint64_t updated = 0;

	for (uint64_t at = 0; at < r->used; at += 8) {
		const uint64_t old = word(before + offset, at), mmu = word(after + offset, at);
		const uint64_t own = word(r->memory, at);

		updated += old != mmu;
		if (own != mmu && (*wrong)++ < 10)
			note("descriptor 0x%" PRIx64 ": the MMU left 0x%" PRIx64 ", the library 0x%" PRIx64,
			     old, mmu, own);
	}
	return updated;
}

uint64_t compare_tables(const uint8_t *before, const uint8_t *after, uint64_t *wrong)
{
	return compare_region(before, after, &one, wrong) + compare_region(before, after, &two, wrong);
}

bool give_registers(const struct table *lower, const struct table *upper, struct pgt_arm64_regs *regs)
{
	*regs = (struct pgt_arm64_regs){ .size = sizeof(*regs) };
	if (pgt_arm64_regs(lower ? lower->t : NULL, upper ? upper->t : NULL, regs) == PGT_OK)
		return true;
	failed_calls++;
	return false;
}

void load_registers(const struct subject *s)
{
	const struct pgt_arm64_regs *first = &s->first_regs, *second = &s->second_regs;
	uint64_t *reg = machine_job()->reg;

	memset(reg, 0, sizeof(machine_job()->reg));
	if (s->kind == EL2) {
		reg[SCTLR_EL2] = first->sctlr;
		reg[TCR_EL2] = first->tcr;
		reg[TTBR0_EL2] = first->ttbr0;
		reg[MAIR_EL2] = first->mair;
	} else if (s->kind != S2) {
		reg[SCTLR_EL1] = first->sctlr;
		reg[TCR_EL1] = first->tcr;
		reg[TTBR0_EL1] = first->ttbr0;
		reg[TTBR1_EL1] = first->ttbr1;
		reg[MAIR_EL1] = first->mair;
	}
	reg[VTCR_EL2] = second->vtcr;
	reg[VTTBR_EL2] = second->vttbr;
	reg[HCR_EL2] = second->hcr;
}

void ask_machine(void)
{
	const char *wrong = machine_do();

	if (wrong) {
		printf("Bail out! %s\n", wrong);
		exit(1);
	}
}

/* By kind: of level 0, and of level -1. */
unsigned fault_status(const struct pgt_translation *tr)
{
	static const uint8_t base[6] = { 0, 0x04, 0x08, 0x0c, 0x00, 0x14 };
	static const uint8_t minus_one[6] = { 0, 0x2b, 0, 0, 0x29, 0x13 };

	return tr->level < 0 ? minus_one[tr->fault] : base[tr->fault] + (unsigned)tr->level;
}
