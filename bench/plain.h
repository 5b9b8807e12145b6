/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What somebody writes who has no library: loops over the entries of a table,
 * here an array of arm64 descriptors.
 */
#ifndef PLAIN_H
#define PLAIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct plain {
	_Atomic uint64_t *entry;
	uint64_t n;
};

/* Load, exchange for an invalid entry, store: safe whatever hardware does. */
void plain_exchange(struct plain *p, bool writable);
/* Load, compare-and-swap: the least that is safe where hardware may write. */
void plain_cas(struct plain *p, bool writable);
/* Load, store: the least that is safe where hardware has nothing left to set. */
void plain_store(struct plain *p, bool writable);
/* Load, store 0, store elsewhere. */
void plain_move(struct plain *from, struct plain *to);

/* n entries, zero. */
void plain_make(struct plain *p, uint64_t n);
void plain_free(struct plain *p);

#endif
