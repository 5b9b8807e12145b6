/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The guest's address space: two page tables, which stand in the guest's RAM. */
#ifndef SPACE_H
#define SPACE_H

#include <stddef.h>
#include <stdint.h>

#include <pgtable/arm64.h>
#include <pgtable/pgtable.h>

#include "machine.h"

/* A place that something was mapped at, perhaps no longer: probes look around it. */
struct region {
	const char *name;
	uint64_t va, len;
};

struct space {
	struct pgt_arena arena;     /* the guest RAM from which the tables are made */
	struct pgt *lower, *upper;  /* what TTBR0_EL1 and TTBR1_EL1 will point to */
	struct region region[32];
	size_t regions;
};

#define READ_ONLY  (PGT_READ)
#define READ_WRITE (PGT_READ | PGT_WRITE)
#define READ_EXEC  (PGT_READ | PGT_EXEC)
#define USER_READ_ONLY  (PGT_READ | PGT_USER)
#define USER_READ_WRITE (PGT_READ | PGT_WRITE | PGT_USER)
#define USER_READ_EXEC  (PGT_READ | PGT_UEXEC | PGT_USER)

/* Makes the tables, empty. */
void space_make(struct space *space, const struct machine *m, const struct pgt_tlb *tlb);

/* Maps all that the guest starts with. */
void space_fill(struct space *space, const struct machine *m);

/* pgt_map in the half that va is in; ends the program if it fails. */
void space_map(struct space *space, const char *name, uint64_t va, uint64_t pa, uint64_t len,
	       uint64_t attr, unsigned flags);

static inline struct pgt *space_half(const struct space *space, uint64_t va)
{
	return va >> 63 ? space->upper : space->lower;
}

/* Draws what the tables hold. */
void space_draw(const struct space *space);

#endif
