/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A walker of arm64 tables, both stages, that was written apart from the library
 * and includes nothing of it: it reads raw descriptors through a callback and
 * goes by the architecture alone.  generic.h is its brother for
 * the generic format and uses the same types.
 */
#ifndef PGT_T_REF_H
#define PGT_T_REF_H

#include <stdbool.h>
#include <stdint.h>

/* One entry as a number; false: there is no such memory. */
typedef bool ref_read_fn(void *ctx, uint64_t pa, uint64_t *value);

enum ref_regime {
	REF_EL1, /* stage 1 of EL1&0 */
	REF_EL2, /* stage 1 of a regime with one privilege level */
	REF_S2   /* stage 2 */
};

struct ref {
	ref_read_fn *read;
	void *ctx;
	uint64_t root;
	unsigned granule_bits, input_bits, output_bits;
	bool upper;    /* the table covers the top of the 64-bit space */
	bool hw_young; /* the walker sets the access flag */
	bool hw_dirty; /* the walker sets the dirty state: writable-clean leaves are writable */

	/* arm64 alone; all zero: EL1&0 with addresses of 48 bits. */
	enum ref_regime regime;
	bool lpa;      /* 64K: PA[51:48] in bits 15:12 */
	bool lpa2;     /* 4K and 16K: PA[51:50] in bits 9:8, and no shareability */
	bool small;    /* input of fewer than 25 bits exists */
	bool xnx, fwb; /* stage 2 */
	int levels;    /* stage 2: of tables; 0: the fewest */
};

enum ref_fault {
	REF_NONE,
	REF_TRANSLATION,
	REF_ACCESS_FLAG,
	REF_PERMISSION,
	REF_ADDRESS_SIZE,
	REF_EXTERNAL, /* a table in memory that doesn't exist */
	REF_RANGE     /* the address isn't the table's */
};

/* Levels are -1 to 3; sizes are logarithms. [0] is privileged, [1] unprivileged. */
struct ref_answer {
	enum ref_fault fault;
	int level;
	uint64_t pa;       /* of the byte */
	unsigned leaf_bits, run_bits;
	uint64_t raw, entry_pa;
	bool read[2], write[2], exec[2];
	unsigned memory;   /* arm64: AttrIndx or MemAttr; generic: the type's number */
	unsigned sh;       /* as it stands in the entry; 3 where entries have none */
	unsigned software; /* bits 58:56 on arm64 */
	bool global, young, writable, dirty, guarded, noaccess;
};

/* The translation of a byte, whatever the access flag and the permissions say. */
void ref_translate(const struct ref *r, uint64_t va, struct ref_answer *a);

/* Whether this access faults, given the answer: 'r', 'w' or 'x'. */
enum ref_fault ref_access(const struct ref *r, const struct ref_answer *a, char what,
			  bool unprivileged);

/* What ref_validate tolerates among entries that the MMU takes for invalid. */
#define REF_TOKENS   1u
#define REF_NOACCESS 2u
#define REF_BROKEN   4u

struct ref_report {
	const char *what; /* NULL: nothing is wrong */
	uint64_t va, entry_pa, raw;
	int level;
	/* Counts, by level + 1. */
	uint64_t tables[5], leaves[5], runs[5];
	uint64_t all_tables, empty_tables; /* the root is counted in the first only */
	uint64_t tokens, noaccess, broken;
	uint64_t mapped;                   /* bytes, NOACCESS leaves aside on arm64 */
};

/* Everything reachable keeps every rule. */
bool ref_validate(const struct ref *r, unsigned tolerate, struct ref_report *report);

/* Geometry, for the tests as well. */
int ref_start_level(unsigned granule_bits, unsigned input_bits);
unsigned ref_shift(unsigned granule_bits, int level);
/* Entries of a run at this level, 0 where there are none. */
unsigned ref_run_entries(unsigned granule_bits, int level);
bool ref_leaf_level(unsigned granule_bits, int level);
/* What a walker's tables start with, and where its leaves are. */
int ref_start(const struct ref *r);
bool ref_has_leaves(const struct ref *r, int level);

/* The tables seen so far, for walks that must not see one twice. */
struct ref_seen {
	uint64_t *pa;
	uint64_t room, used;
};

bool ref_seen_add(struct ref_seen *s, uint64_t pa); /* false: it was there */
void ref_seen_free(struct ref_seen *s);

#endif
