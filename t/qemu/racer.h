/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the host and the racing guest share, at RACE_PA.  The guest runs at EL1
 * through two tables: the lower half maps its own code and this struct, the
 * upper half is the table that the host changes meanwhile.  It takes a cell at
 * random and reads it, writes it, or asks the MMU for either by address
 * translation instructions, and leaves a trace of each write.
 */
#ifndef PGT_T_QEMU_RACER_H
#define PGT_T_QEMU_RACER_H

#include "server.h"

#define RACE_CELLS  256
#define RACE_RANGES 32

#ifndef __ASSEMBLER__
/* A page, or a part of a block, that is mapped at one of two addresses. */
struct race_cell {
	uint64_t va[2];
};

struct race {
	uint64_t run, running;  /* the host sets run, the guest follows */
	uint64_t asked, done;   /* invalidations: the guest carries out the ranges, and sets done */
	uint64_t ranges;
	struct {
		uint64_t va, len, stride;
	} range[RACE_RANGES];
	uint64_t cells;         /* of cell[] and trace[] that there are */
	struct race_cell cell[RACE_CELLS];
	/* A write by instruction AT changes no memory: it is counted here after it. */
	uint64_t trace[RACE_CELLS];
	uint64_t hot;           /* 0, or one more than the cell whose entry is being changed */
	uint64_t turns;         /* that the guest made; changes all the time */
	uint64_t at, stores, loads, faults; /* of them */
};

/* All return 0, or non-zero where the access faulted. */
uint64_t race_at_read(uint64_t va);
uint64_t race_at_write(uint64_t va);
uint64_t race_load(uint64_t va);
uint64_t race_store(uint64_t va, uint64_t value);
void race_invalidate(uint64_t va);
void race_invalidate_all(void);
void race_sync(void);

/* To EL1, into race_loop(), for good. */
void race_enter(void);
void race_loop(void);
#endif
#endif
