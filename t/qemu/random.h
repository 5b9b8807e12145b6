/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The same random numbers every time. */
#ifndef PGT_T_QEMU_RANDOM_H
#define PGT_T_QEMU_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

static uint64_t random_state = 0x853c49e6748fea9b;

static inline uint64_t bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static inline uint64_t below(uint64_t n)
{
	return (bits() >> 11) % n;
}

static inline bool chance(unsigned one_in)
{
	return below(one_in) == 0;
}

#endif
