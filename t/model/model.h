/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flat reference model: for each granule of a bounded window of input
 * addresses what pgt_query should say about it.  No trees, no leaf sizes.
 */
#ifndef PGT_T_MODEL_H
#define PGT_T_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <pgtable/pgtable.h>

#define MODEL_EMPTY ~UINT64_C(0)                /* attr of a page that maps nothing */
#define MODEL_TOKEN (~UINT64_C(0) - 1)          /* ... and of one that holds a token, which is in pa */
#define MODEL_STATE (PGT_YOUNG | PGT_DIRTY)     /* what hardware and defaults add */
#define MODEL_SOFTWARE (PGT_SW0 | PGT_SW1 | PGT_SW2)

struct model_page {
	uint64_t pa, attr;
};

struct model {
	uint64_t va, pages;   /* the window; it may end at the top of the space */
	unsigned granule_bits;
	uint64_t start_state; /* of MODEL_STATE what every new mapping has */
	uint64_t mapped;      /* pages */
	struct model_page *page;
};

void model_init(struct model *m, unsigned granule_bits, uint64_t va, uint64_t pages,
		uint64_t start_state);
void model_fini(struct model *m);

/* Whether the window has this byte, and its page. */
bool model_has(const struct model *m, uint64_t va);
uint64_t model_index(const struct model *m, uint64_t va);
uint64_t model_va(const struct model *m, uint64_t index);

/* Whether a mapping of this attribute stands there already: young and dirty aside. */
bool model_same(const struct model_page *p, uint64_t pa, uint64_t attr);

/* As pgt_map, with PGT_REPLACE or 0 in flags: PGT_OK, or PGT_EEXIST and no change. */
int model_map(struct model *m, uint64_t va, uint64_t pa, uint64_t len, uint64_t attr,
	      unsigned flags);
/* As pgt_unmap: the pages that were mapped. */
uint64_t model_unmap(struct model *m, uint64_t va, uint64_t len);
/* As pgt_store: the pages' tokens are token, and step more for each that follows. */
int model_store(struct model *m, uint64_t va, uint64_t len, uint64_t token, uint64_t step,
		unsigned flags);
/* As pgt_protect, of one page; PGT_WRITE comes only where `writable`. Whether anything changes. */
bool model_protect(struct model_page *p, uint64_t set, uint64_t clear, bool writable);
/* As pgt_move, from one window to another or the same; the ranges don't overlap. */
int model_move(struct model *from, uint64_t va, struct model *to, uint64_t to_va, uint64_t len);
/* An access that hardware records: state for a leaf or run. */
void model_touch(struct model *m, uint64_t va, uint64_t len, uint64_t state);

static inline bool model_is_leaf(const struct model_page *p)
{
	return p->attr < MODEL_TOKEN;
}

/* The stretches that pgt_visit with PGT_MERGE makes of it. */
uint64_t model_stretches(const struct model *m);

#endif
