/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The guest that accesses memory while the host changes its table. */
#include <stdbool.h>

#include "racer.h"

void power_off(void);

static struct job *const job = (struct job *)JOB_PA;
static struct race *const race = (struct race *)RACE_PA;
static uint64_t stored[RACE_CELLS];

static uint64_t random(void)
{
	static uint64_t state = 0x853c49e6748fea9b;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void invalidate_range(uint64_t va, uint64_t len, uint64_t stride)
{
	if (len / stride > 32)
		race_invalidate_all();
	else
		for (uint64_t at = 0; at < len; at += stride)
			race_invalidate(va + at);
}

/* Exactly what the host asked to forget, so that what it forgot to ask for is found. */
static void invalidate(uint64_t asked)
{
	for (uint64_t i = 0; i < race->ranges; i++)
		invalidate_range(race->range[i].va, race->range[i].len, race->range[i].stride);
	race_sync();
	__atomic_store_n(&race->done, asked, __ATOMIC_RELEASE);
}

/* What leaves no trace in memory leaves it here. */
static void at_write(uint64_t cell, uint64_t va)
{
	race->at++;
	if (race_at_write(va))
		race->faults++;
	else
		__atomic_store_n(&race->trace[cell], race->trace[cell] + 1, __ATOMIC_RELEASE);
}

static void store(uint64_t cell, uint64_t va)
{
	race->stores++;
	race->faults += race_store(va, ++stored[cell]) != 0;
}

static void turn(void)
{
	uint64_t hot = __atomic_load_n(&race->hot, __ATOMIC_RELAXED);
	uint64_t r = random() >> 8, cell = (r & 0xffff) % race->cells, va;
	bool elsewhere = (r >> 32 & 31) == 0; /* where it was, or will be */

	if (hot && (r >> 24 & 1))
		cell = hot - 1;
	va = __atomic_load_n(&race->cell[cell].va[elsewhere], __ATOMIC_RELAXED);

	switch (r >> 20 & 15) {
	default:
		at_write(cell, va);
		break;
	case 0: case 1: case 2: case 3:
		race->at++;
		race->faults += race_at_read(va);
		break;
	case 4: case 5:
		race_invalidate(va); /* so that it has to walk */
		race_sync();
		store(cell, va);
		break;
	case 6: case 7:
		store(cell, va);
		break;
	case 8:
		race_invalidate(va);
		race_sync();
		/* fall through */
	case 9:
		race->loads++;
		race->faults += race_load(va) != 0;
		break;
	}
	__atomic_store_n(&race->turns, race->turns + 1, __ATOMIC_RELAXED);
}

void race_loop(void)
{
	for (;;) {
		uint64_t asked = __atomic_load_n(&race->asked, __ATOMIC_ACQUIRE);
		uint64_t run = __atomic_load_n(&race->run, __ATOMIC_ACQUIRE);

		if (asked != race->done)
			invalidate(asked);
		if (race->running != run)
			__atomic_store_n(&race->running, run, __ATOMIC_RELEASE);
		if (run)
			turn();
		else if (__atomic_load_n(&job->stop, __ATOMIC_ACQUIRE))
			power_off();
	}
}
