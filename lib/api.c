/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls: arguments are checked here, in the order PGT_EINVAL, PGT_EBUSY,
 * PGT_ENOTSUP, PGT_EALIGN, PGT_ERANGE, and addresses become offsets; then one
 * dispatch to the backend.
 */
#include "call.h"
#include "modify.h"

#define MAX_LEAF_FLAGS PGT_MAX_LEAF(63)
#define MAP_FLAGS (PGT_REPLACE | PGT_KEEP_TABLES | PGT_NO_SPLIT | PGT_NO_BREAK | MAX_LEAF_FLAGS)

static unsigned max_leaf_bits(unsigned flags)
{
	return flags / PGT_MAX_LEAF(1) & 63;
}

/* ---- Checks ---- */

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

/* A field is changed as a whole, or not at all. */
static bool field_is_whole(uint64_t set, uint64_t clear, uint64_t mask)
{
	return (clear & mask) == mask || !((set | clear) & mask);
}

static bool change_is_sound(uint64_t set, uint64_t clear)
{
	return !((set | clear) & ~ATTR_KNOWN) && field_is_whole(set, clear, PGT_MEM_MASK) &&
	       field_is_whole(set, clear, PGT_SH_MASK) && (set & PGT_MEM_MASK) <= PGT_MEM_DEVICE_STRICT &&
	       (set & PGT_SH_MASK) <= PGT_SH_NONE;
}

/* State that nothing sets again is not cleared. */
static int check_state(const struct pgt *t, uint64_t cleared)
{
	const uint64_t young = PGT_FEAT_HW_YOUNG | PGT_FEAT_TRACK_YOUNG;
	const uint64_t dirty = PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_DIRTY;

	if (((cleared & PGT_YOUNG) && !(t->features & young)) ||
	    ((cleared & PGT_DIRTY) && !(t->features & dirty)))
		return PGT_ENOTSUP;
	return PGT_OK;
}

static int check_leaf_bits(const struct pgt *t, unsigned leaf_bits)
{
	return leaf_bits < 64 && (pgt_leaf_sizes(t) >> leaf_bits & 1) ? PGT_OK : PGT_ENOTSUP;
}

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
	c->corrupt = c->left = false;
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

int pgt_protect(struct pgt *t, uint64_t va, uint64_t len, uint64_t set, uint64_t clear, unsigned flags,
		struct pgt_gather *gather)
{
	const unsigned known = PGT_STRICT | PGT_LAZY | PGT_NO_SPLIT | PGT_NO_BREAK;
	struct pgt_gather own;
	struct call c;
	int status = len && change_is_sound(set, clear) ? change_check(t, gather, flags, known) : PGT_EINVAL;

	if (status == PGT_OK)
		status = check_state(t, clear & ~set);
	if (status == PGT_OK)
		status = check_range(t, va, len, &c.first, &c.last);
	if (status != PGT_OK)
		return status;
	change_begin(&c, t, gather, &own, flags);
	return change_end(t, t->backend->protect(&c, set, clear));
}

int pgt_move(struct pgt *t, uint64_t from, uint64_t to, uint64_t len, unsigned flags, struct pgt_gather *gather)
{
	const unsigned known = PGT_KEEP_TABLES | PGT_NO_SPLIT | PGT_NO_BREAK;
	uint64_t to_first, to_last;
	struct pgt_gather own;
	struct call c;
	int status = len && (from - to >= len || from == to) && to - from >= len ?
			     change_check(t, gather, flags, known) : PGT_EINVAL;

	if (status == PGT_OK)
		status = check_range(t, from, len, &c.first, &c.last);
	if (status == PGT_OK || status == PGT_ERANGE) {
		int there = check_range(t, to, len, &to_first, &to_last);

		status = there == PGT_EALIGN || status == PGT_OK ? there : status;
	}
	if (status != PGT_OK)
		return status;
	change_begin(&c, t, gather, &own, flags);
	return change_end(t, t->backend->move(&c, to_first));
}

/* Whether leaves of one table can stand in the other as they are. */
static bool same_shape(const struct pgt *a, const struct pgt *b)
{
	return a->format == b->format && a->granule_bits == b->granule_bits && a->base == b->base &&
	       a->input_bits == b->input_bits && a->output_bits == b->output_bits &&
	       a->leaf_levels == b->leaf_levels;
}

int pgt_copy(struct pgt *to, struct pgt *from, uint64_t va, uint64_t len, unsigned flags, struct pgt_gather *gather)
{
	const unsigned known = PGT_COW | PGT_NO_SPLIT | PGT_NO_BREAK;
	struct pgt_gather own, theirs;
	struct call c, t;
	bool sound = len && to && from && to != from && same_shape(to, from);
	int status = sound ? change_check(from, gather, flags, known) : PGT_EINVAL;

	if (status == PGT_OK || status == PGT_ENOTSUP) {
		int there = change_check(to, NULL, 0, 0);

		status = there == PGT_EBUSY || status == PGT_OK ? there : status;
	}
	if (status == PGT_OK)
		status = check_range(from, va, len, &c.first, &c.last);
	if (status != PGT_OK)
		return status;
	t.first = c.first;
	t.last = c.last;
	change_begin(&c, from, gather, &own, flags);
	change_begin(&t, to, NULL, &theirs, flags);
	status = from->backend->copy(&c, &t);
	change_end(to, PGT_OK);
	return change_end(from, status);
}

int pgt_split(struct pgt *t, uint64_t va, uint64_t len, unsigned leaf_bits, unsigned flags,
	      struct pgt_gather *gather)
{
	struct pgt_gather own;
	struct call c;
	int status = len ? change_check(t, gather, flags, PGT_NO_SPLIT | PGT_NO_BREAK) : PGT_EINVAL;

	if (status == PGT_OK)
		status = check_leaf_bits(t, leaf_bits);
	if (status == PGT_OK)
		status = check_range(t, va, len, &c.first, &c.last);
	if (status != PGT_OK)
		return status;
	change_begin(&c, t, gather, &own, flags);
	return change_end(t, t->backend->split(&c, leaf_bits));
}

int pgt_collapse(struct pgt *t, uint64_t va, uint64_t len, unsigned leaf_bits, unsigned flags,
		 struct pgt_gather *gather)
{
	struct pgt_gather own;
	struct call c;
	int status = len ? change_check(t, gather, flags, PGT_NO_SPLIT | PGT_NO_BREAK) : PGT_EINVAL;

	if (status == PGT_OK)
		status = check_leaf_bits(t, leaf_bits);
	if (status == PGT_OK)
		status = check_range(t, va, len, &c.first, &c.last);
	if (status != PGT_OK)
		return status;
	change_begin(&c, t, gather, &own, flags);
	return change_end(t, t->backend->collapse(&c, leaf_bits));
}

/* Whether [va, va+len) lies in the bitmap. */
static int check_bitmap(const struct pgt_bitmap *b, uint64_t va, uint64_t len)
{
	uint64_t skip = va - b->va, last = skip + (len - 1);

	return va < b->va || last < skip || last >> b->unit_bits >= b->units ? PGT_ERANGE : PGT_OK;
}

int pgt_harvest(struct pgt *t, uint64_t va, uint64_t len, uint64_t what, unsigned flags,
		struct pgt_bitmap *bitmap, struct pgt_gather *gather)
{
	const unsigned known = PGT_PEEK | PGT_SELECTED | PGT_LAZY | PGT_NO_SPLIT | PGT_NO_BREAK;
	struct pgt_gather own;
	struct call c;
	bool sound = len && what && !(what & ~(PGT_YOUNG | PGT_DIRTY)) && (bitmap || !(flags & PGT_SELECTED)) &&
		     (!bitmap || (bitmap->words && bitmap->unit_bits < 64));
	int status = sound ? change_check(t, gather, flags, known) : PGT_EINVAL;

	if (status == PGT_OK && !(flags & PGT_PEEK))
		status = check_state(t, what);
	if (status == PGT_OK && bitmap && bitmap->unit_bits < t->granule_bits)
		status = PGT_ENOTSUP;
	if (status == PGT_OK && bitmap && (bitmap->va & (granule(t) - 1)))
		status = PGT_EALIGN;
	if (status == PGT_OK)
		status = check_range(t, va, len, &c.first, &c.last);
	if (status == PGT_OK && bitmap)
		status = check_bitmap(bitmap, va, len);
	if (status != PGT_OK)
		return status;
	change_begin(&c, t, gather, &own, flags);
	return change_end(t, t->backend->harvest(&c, what, bitmap));
}

int pgt_fault(struct pgt *t, uint64_t va, uint64_t access, struct pgt_gather *gather)
{
	struct pgt_gather own;
	struct call c;
	int status = access_is_sound(access) && !(access & PGT_UPDATE) ? change_check(t, gather, 0, 0) : PGT_EINVAL;

	if (status == PGT_OK && va - t->base > t->last)
		status = PGT_ERANGE;
	if (status != PGT_OK)
		return status;
	c.first = c.last = va - t->base;
	change_begin(&c, t, gather, &own, 0);
	return change_end(t, t->backend->fault(&c, access));
}

int pgt_store(struct pgt *t, uint64_t va, uint64_t len, uint64_t token, unsigned flags, struct pgt_gather *gather)
{
	unsigned bits = max_leaf_bits(flags);
	struct pgt_gather own;
	struct call c;
	int status = len ? change_check(t, gather, flags, MAP_FLAGS | PGT_SEQUENCE) : PGT_EINVAL;

	if (status == PGT_OK && bits && bits < t->granule_bits)
		status = PGT_ENOTSUP;
	if (status == PGT_OK)
		status = check_range(t, va, len, &c.first, &c.last);
	if (status != PGT_OK)
		return status;
	change_begin(&c, t, gather, &own, flags);
	return change_end(t, t->backend->store(&c, token, bits));
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

int pgt_visit_any(const struct pgt *t, uint64_t va, uint64_t len, unsigned flags, pgt_visit_fn *fn, void *ctx)
{
	uint64_t first, last;
	int status;

	if (!t || !fn || !len)
		return PGT_EINVAL;
	status = check_range(t, va, len, &first, &last);
	if (status != PGT_OK)
		return status;
	if (flags & PGT_MERGE)
		return pgt_visit_merged(t, first, last, flags & ~PGT_MERGE, fn, ctx);
	return t->backend->visit(t, first, last, flags, fn, ctx);
}

int pgt_visit(const struct pgt *t, uint64_t va, uint64_t len, unsigned flags, pgt_visit_fn *fn, void *ctx)
{
	if (flags & ~(PGT_HOLES | PGT_MERGE | PGT_NO_STATE))
		return PGT_EINVAL;
	return pgt_visit_any(t, va, len, flags, fn, ctx);
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
