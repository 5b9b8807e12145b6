/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An image as the library reaches it: pgt_memory's to_virt.  It remembers each
 * table that was asked for, so that tables which lead to themselves, or to each
 * other over and over, end as an error and not in a walk without end.
 */
#ifndef PGT_TOOL_TABLES_H
#define PGT_TOOL_TABLES_H

#include "image.h"
#include <pgtable/pgtable.h>

struct tables {
	const struct image *image;
	const struct pgt *second;   /* the stage 2 that addresses go through, or NULL */
	void *seen;                 /* a tree, by address and size */
	uint64_t distinct, fetched; /* bytes of tables: of all seen, and asked for since restart */
	bool exhausted;             /* far more was asked for than there is */
	bool missed;                /* the last one that was asked for was not there */
	uint64_t missed_pa;
};

struct pgt_memory tables_memory(struct tables *tables);

/* Before each call that may read all tables once. */
void tables_restart(struct tables *tables);
void tables_free(struct tables *tables);

#endif
