/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables in the machine's RAM with random things mapped, and random damage done to them. */
#ifndef PGT_T_QEMU_TABLES_H
#define PGT_T_QEMU_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include <pgtable/arm64.h>
#include <pgtable/pgtable.h>

/* RAM that tables are taken from; what is freed is not used again. */
struct region {
	uint8_t *memory;
	uint64_t pa;    /* of its first byte, as who walks the tables in it sees it */
	uint64_t bytes, used;
	unsigned live;  /* tables */
};

struct shape {
	uint32_t regime;       /* PGT_ARM64_EL1, _EL2 or _S2 */
	uint8_t granule, input, output;
	uint16_t levels;       /* stage 2; 0: the fewest */
	uint64_t features;
	uint64_t mair;         /* 0: the library's own */
};

struct place {
	uint64_t va, len;
};

struct table {
	struct pgt *t;
	struct shape shape;
	struct pgt_config config;
	struct pgt_arm64_config own;
	struct region *region;
	const struct table *behind; /* the stage 2 that its output goes through, or NULL */
	unsigned levels;
	uint64_t first, last;       /* the input range, last byte included */
	struct place place[32];     /* where things are mapped, or were */
	unsigned places;
};

/* Calls of the library that failed and should not have. */
extern uint64_t failed_calls;

/* The memory of a region, for a configuration or for a walk. */
struct pgt_memory region_memory(struct region *region);

bool table_make(struct table *t, const struct shape *shape, struct region *region);
void table_destroy(struct table *t);

/* Maps, replaces and unmaps things at random. */
void table_fill(struct table *t);

/* The rules that QEMU doesn't look at: whole runs, reserved bits. */
void table_check(const struct table *t);

/* The same tables attached, only to be read. */
bool table_attach(struct table *attached, const struct table *t);

/* Changes bits of descriptors at random, those that QEMU doesn't ignore. */
void table_damage(struct table *t);

/* The descriptor on the walk for va at that level, or the last before; its level. */
uint64_t *table_entry(const struct table *t, uint64_t va, int deepest, int *level);

/* An address in or near what is mapped, or at or over the ends of the range. */
uint64_t table_address(const struct table *t);

/* A MAIR with the five memory types in some order. */
uint64_t random_mair(void);

extern const uint8_t mair_bytes[5];

#endif
