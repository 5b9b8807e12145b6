/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Visiting once a stretch: neighbours with the same attributes are joined. */
#include "call.h"

struct merge {
	pgt_visit_fn *fn;
	void *ctx;
	uint64_t first, last; /* VAs: what is reported is clipped to them */
	bool any;
	struct pgt_mapping stretch;
};

static int merge_flush(struct merge *m)
{
	if (!m->any)
		return 0;
	m->any = false;
	m->stretch.run_bytes = m->stretch.len;
	return m->fn(m->ctx, &m->stretch);
}

static void clip(const struct merge *m, struct pgt_mapping *mapping)
{
	uint64_t last = mapping->va + (mapping->len - 1);

	if (last > m->last)
		mapping->len -= last - m->last;
	if (mapping->va < m->first) {
		uint64_t head = m->first - mapping->va;

		mapping->va += head;
		mapping->len -= head;
		if (mapping->state == PGT_LEAF)
			mapping->pa += head;
	}
}

static bool joins(const struct pgt_mapping *a, const struct pgt_mapping *b)
{
	if (a->state != b->state || a->va + a->len != b->va)
		return false;
	if (a->state == PGT_LEAF)
		return a->attr == b->attr && a->pa + a->len == b->pa;
	return a->state == PGT_EMPTY || (a->state == VISIT_AGAIN && a->pa == b->pa);
}

static int merge_one(void *ctx, const struct pgt_mapping *mapping)
{
	struct pgt_mapping next = *mapping;
	struct merge *m = ctx;
	int status = 0;

	clip(m, &next);
	if (m->any && joins(&m->stretch, &next)) {
		m->stretch.len += next.len;
		if (m->stretch.level != next.level)
			m->stretch.level = PGT_LEVEL_UNKNOWN;
		return 0;
	}
	status = merge_flush(m);
	m->stretch = next;
	m->any = true;
	return status;
}

int pgt_visit_merged(const struct pgt *t, uint64_t first, uint64_t last, unsigned flags,
		     pgt_visit_fn *fn, void *ctx)
{
	struct merge m = { .fn = fn, .ctx = ctx, .first = t->base + first, .last = t->base + last };
	int status = t->backend->visit(t, first, last, flags, merge_one, &m);

	return status == PGT_OK ? merge_flush(&m) : status;
}
