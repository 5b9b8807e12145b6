/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* A page table of either backend to be measured, filled as the seeds describe. */
#ifndef RIG_H
#define RIG_H

#include <stdbool.h>
#include <stdint.h>

#include <pgtable/pgtable.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

#define BEFORE "arm64-before"
#define AFTER  "arm64"

enum layout {
	SPLIT_BLOCKS, /* blocks that were split into pages, which carry the hint */
	RUNS,         /* runs of 64 KiB, scattered */
	PAGES,        /* pages of 4 KiB, scattered */
	BLOCKS,       /* blocks of 2 MiB */
};

/*
 * Whether hardware has anything left to set.  Settled entries are young and
 * dirty.  The others are young and clean, and hardware may dirty them while
 * they are writable.
 */
enum state { SETTLED, UNSETTLED };

struct rig {
	struct pgt *t;
	struct pgt_arena arena;
	void *memory;          /* of the tables */
	uint64_t unit;         /* bytes: what the unit callback answers with */
	uint64_t invalidates;  /* callbacks */
	enum layout layout;
};

void rig_make(struct rig *r, const char *format, enum layout layout, enum state state);
void rig_map(struct rig *r, uint64_t va, uint64_t len);
void rig_free(struct rig *r);

/* Read-only, or writable again. */
void rig_protect(struct rig *r, uint64_t va, uint64_t len, bool writable, struct pgt_gather *g);
void rig_move(struct rig *r, uint64_t from, uint64_t to, uint64_t len, struct pgt_gather *g);

/* Between the two, calls with the gather are counted; the end gives the counts. */
void rig_count(struct rig *r, struct pgt_gather *g);
struct pgt_tally rig_counted(struct pgt_gather *g);

/* The entries of pages as they stand, into an array. */
void rig_entries(const struct rig *r, uint64_t va, uint64_t len, _Atomic uint64_t *entries);

/* Ends the program where a call failed. */
void rig_must(int status, const char *call);

#endif
