/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Register values from the command line and from files. */
#ifndef PGT_TOOL_REGISTERS_H
#define PGT_TOOL_REGISTERS_H

#include <pgtable/arm64.h>
#include <stdbool.h>
#include <stddef.h>

enum { TTBR0, TTBR1, TCR, MAIR, SCTLR, VTTBR, VTCR, HCR, TCR2, PIR, PIRE0, POR, REGISTERS };

/* Values of one exception level; those of EL2 alone have names that end in _el2. */
struct bank {
	uint64_t value[REGISTERS];
	bool given[REGISTERS];
};

struct registers {
	struct bank plain, el2;
	char regime[4];    /* "el1", "el2", "s2" or empty */
	int stage;         /* 1 or 2: that one alone; 3: both; 0: as the registers say */
	uint64_t features;
	char **ram;        /* FILE or FILE@ADDRESS, from 'ram' lines */
	size_t ram_count, ram_room;
	uint64_t base;     /* where raw images begin */
	bool base_given;
};

/* One name and its value, as an option or a line has them; false: no such name. */
bool registers_set(struct registers *r, const char *what, const char *name, const char *value);

/* All lines of a file.  What is wrong with it ends the command. */
void registers_read(struct registers *r, const char *file);

/* Which stages there are, and the values that each of them has; contradictions
 * between what was given end the command. */
struct stages {
	bool first, second;
	bool half[2]; /* whether a register that leads to it was given */
	struct pgt_arm64_regs s1, s2;
};
struct stages registers_stages(const struct registers *r);

/* "TTBR0_EL1": which register leads to this half. */
const char *registers_root_name(const struct pgt_arm64_regs *regs, int half);

/* What the control register says, for messages: "TCR 0x... (T0SZ 16: 48 bits, ...)". */
#define REGISTERS_TEXT 200
const char *registers_geometry(const struct pgt_arm64_regs *regs, char text[REGISTERS_TEXT]);

void registers_free(struct registers *r);

#endif
