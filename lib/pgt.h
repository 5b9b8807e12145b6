/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What all of lib/ and arch/ share: the address space and its geometry. */
#ifndef PGT_PGT_H
#define PGT_PGT_H

#ifdef __GNUC__
#define PGT_API extern __attribute__((__visibility__("default")))
/* Structures that live in a public structure's 'inside' words. */
#define PGT_INSIDE __attribute__((__may_alias__))
#else
#define PGT_INSIDE
#endif
#include <pgtable/pgtable.h>
#include <stddef.h>
#include "entry.h"

/* Levels are -1 to 3; arrays are indexed by level + 1. */
#define PGT_LEVELS 5
#define PGT_LAST_LEVEL 3

/* What an entry is. Its own level decides, so every reader passes it. */
enum pgt_kind {
	KIND_EMPTY,   /* nothing: the entry is zero */
	KIND_LEAF,    /* maps memory; NOACCESS and broken leaves too */
	KIND_TABLE,   /* leads on; a broken table too */
	KIND_TOKEN,   /* maps nothing, and holds the embedder's value */
	KIND_CORRUPT, /* no legal table holds this */
};

struct pgt_backend;

/*
 * One address space.  Inside the library an address is an offset from the
 * start of the range that the table covers, so that the top of the upper half
 * is an ordinary place; only api.c and what reports to the embedder add base.
 */
struct pgt {
	const struct pgt_backend *backend;
	const char *format;
	struct pgt_memory memory;
	struct pgt_tlb tlb;
	struct pgt_pages pages;
	uint64_t features;
	uint64_t base;         /* VA of offset 0 */
	uint64_t last;         /* the last offset */
	uint64_t root_pa;
	uint64_t root_bytes;   /* as allocated */
	struct pgt_entry *root;
	uint64_t reserve_pa;   /* tables set aside, a list through their first entries */
	uint64_t reserve_count;
	uint64_t arch[10];     /* the backend's own */
	const void *format_config; /* NULL, or the configuration in force, in these words */
	void (*release)(struct pgt *t); /* gives the storage back, where it is ours */
	uint8_t granule_bits, input_bits, output_bits;
	int8_t start_level;
	uint8_t levels;               /* of tables, where the backend decides; 0: one root table, the fewest */
	uint8_t shift[PGT_LEVELS];    /* address bits below an entry */
	uint8_t run_bits[PGT_LEVELS]; /* log2 of the entries of a run; 0: no runs here */
	uint8_t leaf_levels;          /* bit level + 1 */
	bool attached;                /* tables are someone else's ... */
	bool read_only;               /* ... and only read */
	bool busy;                    /* a changing call is at work */
	bool held_global;             /* a global leaf may have been in these tables */
};

PGT_INLINE unsigned level_shift(const struct pgt *t, int level)
{
	return t->shift[level + 1];
}

/* The offsets below an entry of this level, as a mask. */
PGT_INLINE uint64_t level_mask(const struct pgt *t, int level)
{
	return (UINT64_C(1) << level_shift(t, level)) - 1;
}

/* The offsets below a table of this level, as a mask; the root's are all there are. */
PGT_INLINE uint64_t table_mask(const struct pgt *t, int level)
{
	return level == t->start_level ? t->last : level_mask(t, level - 1);
}

PGT_INLINE unsigned table_entries(const struct pgt *t, int level)
{
	return (unsigned)(table_mask(t, level) >> level_shift(t, level)) + 1;
}

PGT_INLINE bool level_has_leaves(const struct pgt *t, int level)
{
	return t->leaf_levels >> (level + 1) & 1;
}

/* log2 of the bytes of a run, or of a leaf where there are no runs. */
PGT_INLINE unsigned run_shift(const struct pgt *t, int level)
{
	return level_shift(t, level) + t->run_bits[level + 1];
}

PGT_INLINE uint64_t granule(const struct pgt *t)
{
	return UINT64_C(1) << t->granule_bits;
}

/* No PA of ours has these bits. */
PGT_INLINE uint64_t beyond_output(const struct pgt *t)
{
	return ~UINT64_C(0) << t->output_bits;
}

/* The table at pa, or NULL where the embedder knows no such memory. */
PGT_INLINE struct pgt_entry *table_at(const struct pgt *t, uint64_t pa, uint64_t bytes)
{
	const struct pgt_memory *m = &t->memory;
	uint64_t offset = pa - m->window_pa;

	if (m->to_virt)
		return m->to_virt(m->ctx, pa, bytes);
	if (offset > m->window_bytes || bytes > m->window_bytes - offset)
		return NULL;
	return (void *)((uintptr_t)m->window + (uintptr_t)offset);
}

/* Where a walk over a range stands; walk.h moves it. */
struct pgt_walk {
	const struct pgt *t;
	uint64_t next;                       /* the first byte not yet gone past ... */
	uint64_t last;                       /* ... up to here */
	bool done;                           /* nothing is left of the range */
	int8_t level;                        /* of the table in hand */
	int8_t top;                          /* of the table it started in */
	uint64_t begin[PGT_LEVELS];          /* the first byte of the table of each level */
	struct pgt_entry *table[PGT_LEVELS]; /* the tables from the top down ... */
	uint64_t raw[PGT_LEVELS];            /* ... and the entries that led to them */
};

#endif
