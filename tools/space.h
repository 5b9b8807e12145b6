/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The address space that registers and an image make: one section for each
 * half that has tables. */
#ifndef PGT_TOOL_SPACE_H
#define PGT_TOOL_SPACE_H

#include "registers.h"
#include "tables.h"

struct section {
	struct pgt *t;
	struct tables *tables;   /* what t reads */
	const char *name;        /* of the register that leads to it */
	uint64_t first, last;    /* the addresses that it covers */
	uint64_t root;
	const char *format;
	bool second;             /* a stage 2 */
	unsigned granule_bits, input_bits, output_bits;
};

struct space {
	struct image image;
	struct stages stages;
	struct tables physical;      /* the image by physical address */
	struct tables intermediate;  /* the same through stage 2 */
	struct pgt *second;          /* where stage 1 lies behind a stage 2 */
	struct section sections[2];
	unsigned count;
};

/* half: PGT_ARM64_LOWER or PGT_ARM64_UPPER alone, or -1. What is wrong ends the command. */
void space_open(struct space *space, const struct registers *r, char *const *images, size_t count, int half);

/* Without tables attached: for walks from the registers alone. */
void space_open_image(struct space *space, const struct registers *r, char *const *images, size_t count);

/* The stage 2 that stage 1 lies behind, as a section. */
struct section space_second(struct space *space);

/* A walk from the registers was refused: why, and the end of the command. */
_Noreturn void space_refuse(const struct space *space, int status);

void space_close(struct space *space);

#endif
