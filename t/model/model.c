/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include "model.h"

void model_init(struct model *m, unsigned granule_bits, uint64_t va, uint64_t pages,
		uint64_t start_state)
{
	m->va = va;
	m->pages = pages;
	m->granule_bits = granule_bits;
	m->start_state = start_state;
	m->mapped = 0;
	m->page = malloc(pages * sizeof(*m->page));
	if (!m->page)
		abort();
	for (uint64_t i = 0; i < pages; i++)
		m->page[i] = (struct model_page){ 0, MODEL_EMPTY };
}

void model_fini(struct model *m)
{
	free(m->page);
	m->page = NULL;
}

bool model_has(const struct model *m, uint64_t va)
{
	return (va - m->va) >> m->granule_bits < m->pages;
}

uint64_t model_index(const struct model *m, uint64_t va)
{
	return (va - m->va) >> m->granule_bits;
}

uint64_t model_va(const struct model *m, uint64_t index)
{
	return m->va + (index << m->granule_bits);
}

bool model_same(const struct model_page *p, uint64_t pa, uint64_t attr)
{
	return model_is_leaf(p) && p->pa == pa &&
	       ((p->attr ^ attr) & ~MODEL_STATE) == 0;
}

int model_map(struct model *m, uint64_t va, uint64_t pa, uint64_t len, uint64_t attr,
	      unsigned flags)
{
	uint64_t first = model_index(m, va), n = len >> m->granule_bits;

	for (uint64_t i = first; !(flags & PGT_REPLACE) && i < first + n; i++)
		if (m->page[i].attr != MODEL_EMPTY)
			return PGT_EEXIST;
	for (uint64_t i = 0; i < n; i++) {
		struct model_page *p = &m->page[first + i];
		uint64_t at = pa + (i << m->granule_bits);

		if (model_same(p, at, attr))
			continue;
		m->mapped += !model_is_leaf(p);
		*p = (struct model_page){ at, attr | m->start_state };
	}
	return PGT_OK;
}

uint64_t model_unmap(struct model *m, uint64_t va, uint64_t len)
{
	uint64_t first = model_index(m, va), n = len >> m->granule_bits, removed = 0;

	for (uint64_t i = first; i < first + n; i++) {
		removed += model_is_leaf(&m->page[i]);
		m->page[i] = (struct model_page){ 0, MODEL_EMPTY };
	}
	m->mapped -= removed;
	return removed;
}

static bool model_is_empty(const struct model *m, uint64_t va, uint64_t n)
{
	uint64_t first = model_index(m, va);

	for (uint64_t i = first; i < first + n; i++)
		if (m->page[i].attr != MODEL_EMPTY)
			return false;
	return true;
}

int model_store(struct model *m, uint64_t va, uint64_t len, uint64_t token, uint64_t step,
		unsigned flags)
{
	uint64_t n = len >> m->granule_bits;
	struct model_page *p = &m->page[model_index(m, va)];

	if (!(flags & PGT_REPLACE) && !model_is_empty(m, va, n))
		return PGT_EEXIST;
	for (uint64_t i = 0; i < n; i++) {
		m->mapped -= model_is_leaf(&p[i]);
		p[i] = (struct model_page){ token + i * step, MODEL_TOKEN };
	}
	return PGT_OK;
}

bool model_protect(struct model_page *p, uint64_t set, uint64_t clear, bool writable)
{
	uint64_t attr = p->attr;

	if (!model_is_leaf(p))
		return false;
	if (!writable)
		set &= ~PGT_WRITE;
	p->attr = (attr & ~clear) | set;
	return p->attr != attr;
}

int model_move(struct model *from, uint64_t va, struct model *to, uint64_t to_va, uint64_t len)
{
	uint64_t n = len >> from->granule_bits;
	struct model_page *p = &from->page[model_index(from, va)];
	struct model_page *q = &to->page[model_index(to, to_va)];

	if (!model_is_empty(to, to_va, n))
		return PGT_EEXIST;
	for (uint64_t i = 0; i < n; i++) {
		from->mapped -= model_is_leaf(&p[i]);
		to->mapped += model_is_leaf(&p[i]);
		q[i] = p[i];
		p[i] = (struct model_page){ 0, MODEL_EMPTY };
	}
	return PGT_OK;
}

void model_touch(struct model *m, uint64_t va, uint64_t len, uint64_t state)
{
	for (uint64_t i = 0; i < len >> m->granule_bits; i++)
		m->page[model_index(m, va) + i].attr |= state;
}

uint64_t model_stretches(const struct model *m)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < m->pages; i++) {
		const struct model_page *p = &m->page[i];

		if (!model_is_leaf(p))
			continue;
		n += !i || p[-1].attr != p->attr ||
		     p[-1].pa + (UINT64_C(1) << m->granule_bits) != p->pa;
	}
	return n;
}
