/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "tables.h"
#include "message.h"
#include <search.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tables may be shared and read more than once, but a walk that asks for so
 * many times what there is goes round in circles, or will take for ever.
 */
#define TIMES 16
#define FLOOR (UINT64_C(64) << 20)

struct seen {
	uint64_t pa, bytes;
	const unsigned char *host;
	unsigned char *copy; /* what host points to, where it could not stay in the file */
};

static int by_place(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->pa != y->pa)
		return x->pa < y->pa ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Where pa is for the image, and how many bytes behind it are there together. */
static bool place(const struct tables *tables, uint64_t pa, uint64_t *at, uint64_t *together)
{
	struct pgt_mapping m;

	*at = pa;
	*together = UINT64_MAX;
	if (!tables->second)
		return true;
	if (pgt_query(tables->second, pa, &m) != PGT_OK || m.state != PGT_LEAF || (m.attr & PGT_NOACCESS))
		return false;
	*at = m.pa + (pa - m.va);
	*together = m.len - (pa - m.va);
	return true;
}

/* Piece by piece, from wherever stage 2 has put them. */
static bool gather(const struct tables *tables, uint64_t pa, uint64_t bytes, unsigned char *to)
{
	while (bytes) {
		const unsigned char *from;
		uint64_t at, piece;

		if (!place(tables, pa, &at, &piece))
			return false;
		piece = piece < bytes ? piece : bytes;
		from = image_at(tables->image, at, piece);
		if (!from)
			return false;
		memcpy(to, from, (size_t)piece);
		to += piece;
		pa += piece;
		bytes -= piece;
	}
	return true;
}

/* In the file, if it stands there in one piece and entries are aligned. */
static const unsigned char *direct(const struct tables *tables, uint64_t pa, uint64_t bytes)
{
	const unsigned char *host;
	uint64_t at, together;

	if (!place(tables, pa, &at, &together) || together < bytes)
		return NULL;
	host = image_at(tables->image, at, bytes);
	return host && (uintptr_t)host % sizeof(uint64_t) == 0 ? host : NULL;
}

static bool find(const struct tables *tables, struct seen *s)
{
	s->host = direct(tables, s->pa, s->bytes);
	if (s->host)
		return true;
	s->copy = need(malloc((size_t)s->bytes));
	s->host = s->copy;
	if (gather(tables, s->pa, s->bytes, s->copy))
		return true;
	free(s->copy);
	return false;
}

static const struct seen *remember(struct tables *tables, uint64_t pa, uint64_t bytes)
{
	struct seen key = { .pa = pa, .bytes = bytes }, **slot = tfind(&key, &tables->seen, by_place), *s;

	if (slot)
		return *slot;
	if (!find(tables, &key))
		return NULL;
	s = need(malloc(sizeof *s));
	*s = key;
	need(tsearch(s, &tables->seen, by_place));
	tables->distinct += bytes;
	return s;
}

static void *to_virt(void *ctx, uint64_t pa, uint64_t bytes)
{
	struct tables *tables = ctx;
	const struct seen *s;

	tables->fetched += bytes;
	if (tables->fetched > FLOOR && (tables->fetched - FLOOR) / TIMES > tables->distinct)
		tables->exhausted = true;
	if (tables->exhausted)
		return NULL;
	s = remember(tables, pa, bytes);
	tables->missed = !s;
	if (!s) {
		tables->missed_pa = pa;
		return NULL;
	}
	/* No call that this command makes writes to tables. */
	return (void *)(uintptr_t)s->host;
}

struct pgt_memory tables_memory(struct tables *tables)
{
	return (struct pgt_memory){ .to_virt = to_virt, .ctx = tables };
}

void tables_restart(struct tables *tables)
{
	tables->fetched = 0;
	tables->exhausted = false;
	tables->missed = false;
}

void tables_free(struct tables *tables)
{
	while (tables->seen) {
		struct seen *s = *(struct seen **)tables->seen;

		tdelete(s, &tables->seen, by_place);
		free(s->copy);
		free(s);
	}
}
