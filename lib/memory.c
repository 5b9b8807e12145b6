/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables from the embedder: what a call needs is taken before it changes the
 * first entry, from those set aside and then from the allocator.  Tables that
 * wait for use are a list through their first entries.
 */
#include "call.h"

/* Memory that can't be used is given back. */
int pgt_table_alloc(struct pgt *t, uint64_t bytes, uint64_t *pa, struct pgt_entry **table)
{
	const struct pgt_memory *m = &t->memory;

	if (m->alloc(m->ctx, bytes, pa) != 0)
		return PGT_ENOMEM;
	*table = NULL;
	if (!(*pa & (bytes - 1)) && !(*pa & beyond_output(t)))
		*table = table_at(t, *pa, bytes);
	if (*table)
		return PGT_OK;
	m->free(m->ctx, *pa, bytes);
	return PGT_EINVAL;
}

void pgt_table_free(struct pgt *t, uint64_t pa, uint64_t bytes)
{
	t->memory.free(t->memory.ctx, pa, bytes);
}

static void list_push(struct pgt_entry *table, uint64_t pa, uint64_t *head, uint64_t *count)
{
	entry_store(table, *head);
	*head = pa;
	++*count;
}

static struct pgt_entry *list_pop(const struct pgt *t, uint64_t *head, uint64_t *count, uint64_t *pa)
{
	struct pgt_entry *table = table_at(t, *head, granule(t));

	*pa = *head;
	--*count;
	if (!table)
		return NULL;
	*head = entry_load(table);
	entry_store(table, 0);
	return table;
}

static int list_grow(struct pgt *t, uint64_t *head, uint64_t *count)
{
	struct pgt_entry *table;
	uint64_t pa;
	int status = pgt_table_alloc(t, granule(t), &pa, &table);

	if (status == PGT_OK)
		list_push(table, pa, head, count);
	return status;
}

static void list_shrink(struct pgt *t, uint64_t *head, uint64_t *count)
{
	uint64_t pa;

	list_pop(t, head, count, &pa);
	pgt_table_free(t, pa, granule(t));
}

/* Whether the tables set aside are this call's to use. Several writers at once
 * leave them alone: the list has no lock. */
static bool reserve_is_ours(const struct pgt *t)
{
	return !(t->features & PGT_FEAT_PARALLEL);
}

/* How many tables can be popped. */
uint64_t pgt_tables_left(const struct call *c)
{
	return c->pool_count + (reserve_is_ours(c->t) ? c->t->reserve_count : 0);
}

/* Makes sure that so many tables can be popped. */
int pgt_tables_take(struct call *c, uint64_t count)
{
	while (pgt_tables_left(c) < count) {
		int status = list_grow(c->t, &c->pool_pa, &c->pool_count);

		if (status != PGT_OK) {
			pgt_tables_return(c);
			return status;
		}
	}
	return PGT_OK;
}

/* An empty table, of those taken; NULL if more are asked for than were counted. */
struct pgt_entry *pgt_table_pop(struct call *c, uint64_t *pa)
{
	struct pgt *t = c->t;
	bool reserved = reserve_is_ours(t) && t->reserve_count;

	if (!reserved && !c->pool_count)
		return NULL;
	c->gather->tally.tables_allocated++;
	if (reserved)
		return list_pop(t, &t->reserve_pa, &t->reserve_count, pa);
	return list_pop(t, &c->pool_pa, &c->pool_count, pa);
}

/* A table that was popped and, still empty, is not needed. */
void pgt_table_push(struct call *c, struct pgt_entry *table, uint64_t pa)
{
	c->gather->tally.tables_allocated--;
	list_push(table, pa, &c->pool_pa, &c->pool_count);
}

/* Gives back what the call took and didn't use. */
void pgt_tables_return(struct call *c)
{
	while (c->pool_count)
		list_shrink(c->t, &c->pool_pa, &c->pool_count);
}

int pgt_reserve(struct pgt *t, uint64_t tables)
{
	uint64_t before;
	int status = PGT_OK;

	if (!t)
		return PGT_EINVAL;
	if (t->busy)
		return PGT_EBUSY;
	if (t->read_only)
		return PGT_ENOTSUP;
	t->busy = true;
	before = t->reserve_count;
	while (status == PGT_OK && t->reserve_count < tables)
		status = list_grow(t, &t->reserve_pa, &t->reserve_count);
	while (t->reserve_count > (status == PGT_OK ? tables : before))
		list_shrink(t, &t->reserve_pa, &t->reserve_count);
	t->busy = false;
	return status;
}
