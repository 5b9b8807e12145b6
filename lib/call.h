/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* One changing call at work, and the operations that each backend compiles. */
#ifndef PGT_CALL_H
#define PGT_CALL_H

#include "pgt.h"

#define GATHER_RANGES 8
#define GATHER_TABLES 32
/* A word for waiting tables: the PA of the first, its level + 1, and how many
 * more of that level follow it in memory. */
#define TABLE_LEVEL   UINT64_C(7)
#define TABLE_PA      UINT64_C(0x000ffffffffffff8)
#define TABLE_MORE    52

/* A range whose invalidation is due. */
struct pending {
	uint64_t first, last;
	uint8_t stride_bits;
	int8_t level;
	uint16_t flags;
};

/* What struct pgt_gather holds inside. */
struct PGT_INSIDE gather {
	struct pgt *t;         /* set between begin and end */
	uint8_t ranges;
	uint8_t tables;
	bool open;             /* the call at work has something in 'call' */
	bool wrote;            /* entries that no invalidation has made visible yet */
	struct pending call;
	struct pending range[GATHER_RANGES];
	/* Unlinked tables, each with all that hangs below it. They stay as they
	 * were: a walker may be in them. */
	uint64_t table[GATHER_TABLES];
};

_Static_assert(sizeof(struct gather) <= sizeof(((struct pgt_gather *)0)->inside),
	       "a gather fits inside");

/* The words inside a cursor. */
enum { CURSOR_TABLE, CURSOR_FIRST, CURSOR_LEVEL, CURSOR_INHERITED };

struct call {
	struct pgt *t;
	struct pgt_gather *gather; /* the embedder's, or the call's own */
	struct gather *g;          /* its inside */
	bool asked;                /* the embedder's: what is removed is told */
	bool live;                 /* somebody may cache these translations */
	bool corrupt;              /* the tables changed under the call, which only a fault or a guest does */
	unsigned flags;
	bool left;                 /* tables stand broken in their places for want of room: [left_first, left_last] */
	uint64_t left_first, left_last;
	uint64_t first, last;      /* offsets */
	struct pgt_walk at;        /* the last table that has all of the range */
	uint64_t pool_pa;          /* tables taken for this call, a list ... */
	uint64_t pool_count;       /* ... and how many */
};

/* A call with its arguments checked; the range is in offsets. */
struct pgt_backend {
	const char *const *formats; /* NULL at the end */
	int (*configure)(struct pgt *t, const struct pgt_config *config);
	int (*attr_check)(const struct pgt *t, uint64_t attr);

	int (*map)(struct call *c, uint64_t pa, uint64_t attr, unsigned max_bits);
	int (*unmap)(struct call *c);
	int (*protect)(struct call *c, uint64_t set, uint64_t clear);
	int (*move)(struct call *c, uint64_t to);
	int (*copy)(struct call *c, struct call *to);
	int (*split)(struct call *c, unsigned leaf_bits);
	int (*collapse)(struct call *c, unsigned leaf_bits);
	int (*harvest)(struct call *c, uint64_t what, struct pgt_bitmap *bitmap);
	int (*fault)(struct call *c, uint64_t access);
	int (*store)(struct call *c, uint64_t token, unsigned max_bits);
	int (*trim)(struct call *c);
	void (*drain)(struct call *c);
	void (*free_tables)(struct call *c);
	uint64_t (*tables_needed)(const struct pgt *t, uint64_t first, uint64_t last, uint64_t pa,
				  unsigned max_bits);

	int (*query)(const struct pgt *t, uint64_t at, struct pgt_mapping *mapping);
	int (*visit)(const struct pgt *t, uint64_t first, uint64_t last, unsigned flags,
		     pgt_visit_fn *fn, void *ctx);
	int (*translate)(const struct pgt *t, uint64_t at, uint64_t access,
			 struct pgt_translation *translation);
	int (*cursor_translate)(struct pgt_cursor *cursor, uint64_t at, uint64_t access,
				struct pgt_translation *translation);
	int (*check)(const struct pgt *t, pgt_problem_fn *fn, void *ctx);
	int (*stat)(const struct pgt *t, uint64_t first, uint64_t last, struct pgt_stat *stat);
};

/* The backends of this build in the configured order, NULL at the end. */
extern const struct pgt_backend *const pgt_backends[];

/* memory.c: tables from the embedder. */
int pgt_table_alloc(struct pgt *t, uint64_t bytes, uint64_t *pa, struct pgt_entry **table);
void pgt_table_free(struct pgt *t, uint64_t pa, uint64_t bytes);
int pgt_tables_take(struct call *c, uint64_t count);
uint64_t pgt_tables_left(const struct call *c);
struct pgt_entry *pgt_table_pop(struct call *c, uint64_t *pa);
void pgt_table_push(struct call *c, struct pgt_entry *table, uint64_t pa);
void pgt_tables_return(struct call *c);

/* setup.c: nothing is allocated. */
int pgt_setup(struct pgt *t, const struct pgt_config *config, bool attach);

/* init.c */
int pgt_adopt(struct pgt *t, uint64_t root_pa);
int pgt_make_root(struct pgt *t);

/* api.c: pgt_visit, for pgt_dump. With VISIT_ONCE a table that was reached from elsewhere
 * lately is not gone into: it is one mapping in state VISIT_AGAIN, its pa the VA
 * where the same table was found. */
#define VISIT_ONCE  (1u << 31)
#define VISIT_AGAIN 3
int pgt_visit_any(const struct pgt *t, uint64_t va, uint64_t len, unsigned flags, pgt_visit_fn *fn, void *ctx);

/* merge.c: pgt_visit with PGT_MERGE. */
int pgt_visit_merged(const struct pgt *t, uint64_t first, uint64_t last, unsigned flags,
		     pgt_visit_fn *fn, void *ctx);

/* hosted.c, in hosted builds: the C library's allocator. */
extern const struct pgt_memory pgt_hosted_memory;

#endif
