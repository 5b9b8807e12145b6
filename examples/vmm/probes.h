/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions to the guest's MMU, and what the library says to each. */
#ifndef PROBES_H
#define PROBES_H

#include "machine.h"
#include "space.h"

/* Marks the memory that loads, stores and fetches are tried on. */
void probes_mark_memory(const struct machine *m);

/*
 * Asks the guest `by_at` questions by address translation instructions and
 * `real` by loads, stores and fetches, at random addresses in and around what
 * is mapped, and compares each answer with pgt_translate's.  Any difference
 * ends the program.
 */
void probes_compare(struct machine *m, const struct space *space, unsigned by_at, unsigned real);

/* How many of each kind were asked in all; each must have met both outcomes. */
void probes_report(void);

/* One load: true, and its value; or false: it faulted. */
bool probe_one_load(struct machine *m, uint64_t va, uint64_t *value);

/* What AT S1E1R says: true, and the physical address; or false. */
bool probe_one_at(struct machine *m, uint64_t va, uint64_t *pa);

/* The content that a marked word was given. */
uint64_t probes_mark_of(uint64_t pa);

#endif
