/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls: arguments are checked here, in the order PGT_EINVAL, PGT_EBUSY,
 * PGT_ENOTSUP, PGT_EALIGN, PGT_ERANGE, and addresses become offsets; then one
 * dispatch to the backend.
 */
#include "call.h"

#define ATTR_KNOWN                                                                             \
	(PGT_READ | PGT_WRITE | PGT_EXEC | PGT_UEXEC | PGT_USER | PGT_GLOBAL | PGT_NOACCESS |  \
	 PGT_GUARDED | PGT_YOUNG | PGT_DIRTY | PGT_SW0 | PGT_SW1 | PGT_SW2 | PGT_MEM_MASK |    \
	 PGT_SH_MASK)

#define MAX_LEAF_FLAGS PGT_MAX_LEAF(63)

static unsigned max_leaf_bits(unsigned flags)
{
	return flags / PGT_MAX_LEAF(1) & 63;
}

/* ---- Checks ---- */

static bool attr_is_sound(uint64_t attr)
{
	uint64_t type = attr & PGT_MEM_MASK;

	if ((attr & ~ATTR_KNOWN) || type > PGT_MEM_DEVICE_STRICT || (attr & PGT_SH_MASK) > PGT_SH_NONE)
		return false;
	return type < PGT_MEM_DEVICE || !(attr & (PGT_EXEC | PGT_UEXEC));
}

static bool access_is_sound(uint64_t access)
{
	uint64_t kind = access & (PGT_READ | PGT_WRITE | PGT_EXEC);

	return (kind == PGT_READ || kind == PGT_WRITE || kind == PGT_EXEC) &&
	       !(access & ~(kind | PGT_USER | PGT_UPDATE));
}

/* [va, va+len) as the offsets *first and *last. */
static int check_range(const struct pgt *t, uint64_t va, uint64_t len, uint64_t *first, uint64_t *last)
{
	uint64_t at = va - t->base;

	if ((va | len) & (granule(t) - 1))
		return PGT_EALIGN;
	if (at > t->last || len - 1 > t->last - at)
		return PGT_ERANGE;
	*first = at;
	*last = at + (len - 1);
	return PGT_OK;
}

static int check_output(const struct pgt *t, uint64_t pa, uint64_t len)
{
	uint64_t last = pa + (len - 1);

	return last < pa || (last & beyond_output(t)) ? PGT_ERANGE : PGT_OK;
}

/* ---- Changing calls ---- */

/* What every changing call checks first; gather may be NULL. */
static int change_check(const struct pgt *t, const struct pgt_gather *gather, unsigned flags, unsigned known)
{
	if (!t || (flags & ~known) || (gather && ((const struct gather *)gather->inside)->t != t))
		return PGT_EINVAL;
	if (t->busy)
		return PGT_EBUSY;
	return t->read_only ? PGT_ENOTSUP : PGT_OK;
}

/* own serves where the embedder gave no gather. */
static void change_begin(struct call *c, struct pgt *t, struct pgt_gather *gather, struct pgt_gather *own,
			 unsigned flags)
{
	c->t = t;
	c->asked = gather != NULL;
	c->gather = gather ? gather : own;
	c->g = (struct gather *)c->gather->inside;
	c->live = t->tlb.invalidate != NULL;
	c->corrupt = false;
	c->flags = flags;
	c->pool_pa = c->pool_count = 0;
	if (!gather) {
		own->tally = (struct pgt_tally){ 0 };
		own->removed = NULL;
		c->g->ranges = c->g->tables = 0;
		c->g->open = c->g->wrote = false;
	}
	if (!(t->features & PGT_FEAT_PARALLEL))
		t->busy = true;
}

static int change_end(struct pgt *t, int status)
{
	if (!(t->features & PGT_FEAT_PARALLEL))
		t->busy = false;
	return status;
}

static int map_check(const struct pgt *t, uint64_t va, uint64_t pa, uint64_t len, uint64_t attr, unsigned flags,
		     uint64_t *first, uint64_t *last)
{
	unsigned bits = max_leaf_bits(flags);
	int status = t->backend->attr_check(t, attr);

	if (status == PGT_OK && bits && bits < t->granule_bits)
		status = PGT_ENOTSUP;
	if (status == PGT_OK && (pa & (granule(t) - 1)))
		status = PGT_EALIGN;
	if (status == PGT_OK)
		status = check_range(t, va, len, first, last);
	return status == PGT_OK ? check_output(t, pa, len) : status;
}

#define MAP_FLAGS (PGT_REPLACE | PGT_KEEP_TABLES | PGT_NO_SPLIT | PGT_NO_BREAK | MAX_LEAF_FLAGS)

int pgt_map(struct pgt *t, uint64_t va, uint64_t pa, uint64_t len, uint64_t attr, unsigned flags,
	    struct pgt_gather *gather)
{
	struct pgt_gather own;
	struct call c;
	int status = len && attr_is_sound(attr) ? PGT_OK : PGT_EINVAL;

	if (status == PGT_OK)
		status = change_check(t, gather, flags, MAP_FLAGS);
	if (status == PGT_OK)
		status = map_check(t, va, pa, len, attr, flags, &c.first, &c.last);
	if (status != PGT_OK)
		return status;
	change_begin(&c, t, gather, &own, flags);
	return change_end(t, t->backend->map(&c, pa, attr, max_leaf_bits(flags)));
}

int pgt_unmap(struct pgt *t, uint64_t va, uint64_t len, unsigned flags, struct pgt_gather *gather)
{
	const unsigned known = PGT_KEEP_TABLES | PGT_NO_SPLIT | PGT_NO_BREAK | PGT_WHOLE;
	struct pgt_gather own;
	struct call c;
	int status = len ? change_check(t, gather, flags, known) : PGT_EINVAL;

	if (status == PGT_OK)
		status = check_range(t, va, len, &c.first, &c.last);
	if (status != PGT_OK)
		return status;
	change_begin(&c, t, gather, &own, flags);
	return change_end(t, t->backend->unmap(&c));
}

int pgt_trim(struct pgt *t, uint64_t va, uint64_t len, struct pgt_gather *gather)
{
	struct pgt_gather own;
	struct call c;
	int status = len ? change_check(t, gather, 0, 0) : PGT_EINVAL;

	if (status == PGT_OK)
		status = check_range(t, va, len, &c.first, &c.last);
	if (status != PGT_OK)
		return status;
	change_begin(&c, t, gather, &own, 0);
	return change_end(t, t->backend->trim(&c));
}

int pgt_gather_begin(struct pgt_gather *gather, struct pgt *t)
{
	int status = gather ? change_check(t, NULL, 0, 0) : PGT_EINVAL;

	if (status == PGT_OK) {
		*gather = (struct pgt_gather){ 0 };
		((struct gather *)gather->inside)->t = t;
	}
	return status;
}

int pgt_gather_end(struct pgt_gather *gather)
{
	struct pgt *t = gather ? ((struct gather *)gather->inside)->t : NULL;
	int status = change_check(t, NULL, 0, 0);
	struct call c;

	if (status != PGT_OK)
		return status;
	change_begin(&c, t, gather, NULL, 0);
	t->backend->drain(&c);
	c.g->t = NULL;
	return change_end(t, PGT_OK);
}

int pgt_tables_needed(const struct pgt *t, uint64_t va, uint64_t pa, uint64_t len, uint64_t attr, unsigned flags,
		      uint64_t *most)
{
	uint64_t first, last;
	int status;

	if (!t || !most || !len || !attr_is_sound(attr) || (flags & ~MAP_FLAGS))
		return PGT_EINVAL;
	status = map_check(t, va, pa, len, attr, flags, &first, &last);
	if (status == PGT_OK)
		*most = t->backend->tables_needed(t, first, last, pa, max_leaf_bits(flags));
	return status;
}

/* ---- Reading calls ---- */

int pgt_query(const struct pgt *t, uint64_t va, struct pgt_mapping *mapping)
{
	if (!t || !mapping)
		return PGT_EINVAL;
	if (va - t->base > t->last)
		return PGT_ERANGE;
	return t->backend->query(t, va - t->base, mapping);
}

int pgt_visit(const struct pgt *t, uint64_t va, uint64_t len, unsigned flags, pgt_visit_fn *fn, void *ctx)
{
	uint64_t first, last;
	int status;

	if (!t || !fn || !len || (flags & ~(PGT_HOLES | PGT_MERGE | PGT_NO_STATE)))
		return PGT_EINVAL;
	status = check_range(t, va, len, &first, &last);
	if (status != PGT_OK)
		return status;
	if (flags & PGT_MERGE)
		return pgt_visit_merged(t, first, last, flags & ~PGT_MERGE, fn, ctx);
	return t->backend->visit(t, first, last, flags, fn, ctx);
}

int pgt_translate(const struct pgt *t, uint64_t va, uint64_t access, struct pgt_translation *translation)
{
	if (!t || !translation || !access_is_sound(access))
		return PGT_EINVAL;
	if (va - t->base > t->last)
		return PGT_ERANGE;
	return t->backend->translate(t, va - t->base, access, translation);
}

void pgt_cursor_init(struct pgt_cursor *cursor, const struct pgt *t)
{
	if (cursor)
		*cursor = (struct pgt_cursor){ .t = t };
}

int pgt_cursor_translate(struct pgt_cursor *cursor, uint64_t va, uint64_t access,
			 struct pgt_translation *translation)
{
	const struct pgt *t = cursor ? cursor->t : NULL;

	if (!t || !translation || !access_is_sound(access))
		return PGT_EINVAL;
	if (va - t->base > t->last)
		return PGT_ERANGE;
	return t->backend->cursor_translate(cursor, va - t->base, access, translation);
}

int pgt_check(const struct pgt *t, pgt_problem_fn *fn, void *ctx)
{
	return t && fn ? t->backend->check(t, fn, ctx) : PGT_EINVAL;
}

int pgt_stat(const struct pgt *t, uint64_t va, uint64_t len, struct pgt_stat *stat)
{
	uint64_t first, last;
	int status;

	if (!t || !stat || !len)
		return PGT_EINVAL;
	status = check_range(t, va, len, &first, &last);
	return status == PGT_OK ? t->backend->stat(t, first, last, stat) : status;
}
