/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What the machine's MMU is asked about: tables of one or two stages, and the registers. */
#ifndef PGT_T_QEMU_SUBJECT_H
#define PGT_T_QEMU_SUBJECT_H

#include "machine.h"
#include "tables.h"

#define ONE_BYTES (UINT64_C(44) << 20) /* for the tables of stage 1, the rest is stage 2's */
#define ONE_ALIGN (UINT64_C(64) << 20)

/* What is walked. */
enum kind { LOWER, UPPER, EL2, S2, BOTH, KINDS };

extern const char *const kind_name[KINDS];

struct subject {
	enum kind kind;
	const struct table *lower, *upper; /* stage 1; of EL2: lower */
	const struct table *second;        /* stage 2 */
	struct pgt_arm64_regs first_regs, second_regs;
	bool damaged;
	bool perturbed;                    /* the registers aren't what the tables were made for */
};

/* For the tables of stage 1, of stage 2, and for whoever walks both. */
extern struct region one, two, all;

/* Both empty; those of stage 1 lie at one_pa for who walks them. */
void empty_regions(uint64_t one_pa);

/* Both to a copy of TABLES_BYTES, and back. */
void save(uint8_t *copy);
void restore(const uint8_t *copy);

uint64_t word(const uint8_t *table, uint64_t at);

/* How many descriptors differ in two copies; those that differ from what stands there are told. */
uint64_t compare_tables(const uint8_t *before, const uint8_t *after, uint64_t *wrong);

/* Those that pgt_arm64_regs gives. */
bool give_registers(const struct table *lower, const struct table *upper, struct pgt_arm64_regs *regs);

/* Puts them into the next job. */
void load_registers(const struct subject *s);

/* Has the server do the job, or ends the test. */
void ask_machine(void);

/* The status code of a fault. */
unsigned fault_status(const struct pgt_translation *tr);

#endif
