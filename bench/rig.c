/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define TABLES_BYTES (16 * MIB)
#define TABLES_PA    (64 * GIB)
#define FIRST_PA     (128 * GIB)

void rig_must(int status, const char *call)
{
	if (status == PGT_OK)
		return;
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", call, pgt_strerror(status));
	exit(1);
}

/* The TLB is not there: what invalidation costs is modelled where it matters. */
static void invalidate(void *ctx, const struct pgt_tlb_range *range)
{
	struct rig *r = ctx;

	(void)range;
	r->invalidates++;
}

static void sync(void *ctx)
{
	(void)ctx;
}

static uint64_t unit(void *ctx, uint64_t pa, uint64_t len)
{
	const struct rig *r = ctx;
	uint64_t rest = r->unit - (pa & (r->unit - 1));

	return len < rest ? len : rest;
}

void rig_make(struct rig *r, const char *format, enum layout layout, enum state state)
{
	static const uint64_t unit_of[] = { 2 * MIB, 64 * KIB, 4 * KIB, 2 * MIB };
	struct pgt_config config = {
		.size = sizeof(config),
		.format = format,
		.features = PGT_FEAT_CONTIG | PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY |
			    (state == UNSETTLED ? PGT_FEAT_TRACK_DIRTY : 0),
		.tlb = { .invalidate = invalidate, .sync = sync, .ctx = r },
		.pages = { .unit = unit, .ctx = r },
	};

	*r = (struct rig){ .unit = unit_of[layout], .layout = layout };
	r->memory = aligned_alloc(2 * MIB, TABLES_BYTES);
	if (!r->memory) {
		fprintf(stderr, "no memory for page tables\n");
		exit(1);
	}
	memset(r->memory, 0, TABLES_BYTES);
	rig_must(pgt_arena_init(&r->arena, r->memory, TABLES_BYTES, TABLES_PA), "pgt_arena_init");
	config.memory = pgt_arena_memory(&r->arena);
	rig_must(pgt_create(&config, &r->t), "pgt_create");
}

void rig_free(struct rig *r)
{
	pgt_destroy(r->t);
	free(r->memory);
}

/* The unit at va, of n: neighbours lie far apart. n is a power of two. */
static uint64_t scattered(uint64_t i, uint64_t n)
{
	return (i * 0x9e3779b1) & (n - 1);
}

void rig_map(struct rig *r, uint64_t va, uint64_t len)
{
	const uint64_t attr = PGT_READ | PGT_WRITE | PGT_USER, n = len / r->unit;
	const bool blocks = r->layout == SPLIT_BLOCKS || r->layout == BLOCKS;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t to = blocks ? i : scattered(i, n);

		rig_must(pgt_map(r->t, va + i * r->unit, FIRST_PA + to * r->unit, r->unit, attr, 0, NULL),
			 "pgt_map");
	}
	if (r->layout == SPLIT_BLOCKS)
		rig_must(pgt_split(r->t, va, len, 16, 0, NULL), "pgt_split");
}

void rig_protect(struct rig *r, uint64_t va, uint64_t len, bool writable, struct pgt_gather *g)
{
	rig_must(pgt_protect(r->t, va, len, writable ? PGT_WRITE : 0, writable ? 0 : PGT_WRITE, 0, g),
		 "pgt_protect");
}

void rig_move(struct rig *r, uint64_t from, uint64_t to, uint64_t len, struct pgt_gather *g)
{
	rig_must(pgt_move(r->t, from, to, len, 0, g), "pgt_move");
}

void rig_count(struct rig *r, struct pgt_gather *g)
{
	rig_must(pgt_gather_begin(g, r->t), "pgt_gather_begin");
}

struct pgt_tally rig_counted(struct pgt_gather *g)
{
	rig_must(pgt_gather_end(g), "pgt_gather_end");
	return g->tally;
}

static int take_entry(void *ctx, const struct pgt_mapping *mapping)
{
	_Atomic uint64_t **next = ctx;

	*(*next)++ = mapping->entry;
	return 0;
}

void rig_entries(const struct rig *r, uint64_t va, uint64_t len, _Atomic uint64_t *entries)
{
	rig_must(pgt_visit(r->t, va, len, PGT_NO_STATE, take_entry, &entries), "pgt_visit");
}
