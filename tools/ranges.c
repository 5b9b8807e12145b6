/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "ranges.h"
#include "message.h"
#include "progress.h"
#include <inttypes.h>
#include <stdlib.h>

#define STOP 1 /* the visitor's own return: the end of what is asked for */

struct reading {
	const struct section *s;
	const struct filter *filter;
	range_fn *fn;
	void *ctx;
	uint64_t first, last;  /* addresses asked for */
	uint64_t next;         /* the first byte that was not looked at */
	bool any;
	struct range range;    /* being made */
};

bool range_device(const struct range *range)
{
	uint64_t type = range->attr & PGT_MEM_MASK;

	return type == PGT_MEM_DEVICE || type == PGT_MEM_DEVICE_STRICT;
}

/* What unprivileged code may write, privileged code never executes. */
bool range_wx(const struct range *range)
{
	uint64_t attr = range->attr;

	return (attr & PGT_WRITE) &&
	       ((attr & PGT_UEXEC) || ((attr & PGT_EXEC) && !(attr & PGT_USER)));
}

static void flush(struct reading *r)
{
	if (r->any)
		r->fn(r->ctx, &r->range);
	r->any = false;
}

static bool consecutive(const struct range *a, const struct range *b)
{
	return a->state != RANGE_LEAF || a->pa_next == b->pa;
}

static bool joins(const struct reading *r, const struct range *b)
{
	const struct range *a = &r->range;
	enum merge merge = r->filter->merge;

	if (!r->any || a->state != b->state || a->va + (a->len - 1) + 1 != b->va || merge == MERGE_NONE)
		return false;
	if (a->state == RANGE_HOLE)
		return true;
	if (a->state == RANGE_TOKEN)
		return merge == MERGE_ATTR;
	if (a->state == RANGE_DAMAGED)
		return a->what == b->what && a->level == b->level && a->where == b->where;
	if (a->attr != b->attr || a->leaf != b->leaf || a->run != b->run)
		return false;
	return merge == MERGE_ATTR || consecutive(a, b);
}

static void put(struct reading *r, const struct range *next)
{
	struct range *range = &r->range;

	if (!joins(r, next)) {
		flush(r);
		*range = *next;
		r->any = true;
		return;
	}
	if (!consecutive(range, next))
		range->pieces++;
	range->len += next->len;
	range->pa_next = next->pa_next;
	range->entries++;
}

/* Cuts to what is asked for; false: nothing is left. */
static bool cut(const struct reading *r, struct range *range)
{
	const struct filter *f = r->filter;
	uint64_t last = range->va + (range->len - 1), head = 0, tail = 0, pa_last;

	if (range->va < r->first)
		head = r->first - range->va;
	if (last > r->last)
		tail = last - r->last;
	if (f->pa) {
		if (range->state != RANGE_LEAF)
			return false;
		pa_last = range->pa + (range->len - 1);
		if (range->pa > f->pa_last || pa_last < f->pa_first)
			return false;
		if (f->pa_first > range->pa && f->pa_first - range->pa > head)
			head = f->pa_first - range->pa;
		if (pa_last > f->pa_last && pa_last - f->pa_last > tail)
			tail = pa_last - f->pa_last;
	}
	if (head >= range->len || tail >= range->len - head)
		return false;
	range->va += head;
	range->pa += range->state == RANGE_LEAF ? head : 0;
	range->len -= head + tail;
	range->pa_next = range->pa + range->len;
	return true;
}

static bool wanted(const struct filter *f, const struct range *range)
{
	bool chosen = f->wx || f->user || f->device;

	if (range->state == RANGE_DAMAGED)
		return true;
	if (range->state == RANGE_HOLE)
		return f->holes && !chosen;
	if (range->state == RANGE_TOKEN)
		return !chosen;
	return (!f->wx || range_wx(range)) &&
	       (!f->user || (range->attr & (PGT_USER | PGT_UEXEC))) &&
	       (!f->device || range_device(range));
}

static int visited(void *ctx, const struct pgt_mapping *m)
{
	struct reading *r = ctx;
	struct range range = {
		.va = m->va,
		.len = m->len,
		.pa = m->pa,
		.pieces = 1,
		.attr = m->attr,
		.entry = m->entry,
		.entries = 1,
		.leaf = m->len,
		.run = m->run_bytes > m->len ? m->run_bytes : 0,
		.level = m->level,
		.second = r->s->second,
		.state = m->state == PGT_LEAF ? RANGE_LEAF : m->state == PGT_TOKEN ? RANGE_TOKEN : RANGE_HOLE,
	};

	r->next = m->va + m->len;
	progress_at(m->va);
	if (cut(r, &range) && wanted(r->filter, &range))
		put(r, &range);
	return m->va + (m->len - 1) >= r->last ? STOP : 0;
}

/* The entry at r->next is one that the library can't read past: what it is, and
 * how much of the address space goes with it. */
static uint64_t damaged(struct reading *r)
{
	struct pgt_translation to;
	struct range range = { .va = r->next, .pieces = 1, .entries = 1, .state = RANGE_DAMAGED };
	const struct section *s = r->s;

	range.what = "an entry that no legal table has";
	if (pgt_translate(s->t, r->next, PGT_READ, &to) != PGT_EFAULT) {
		range.level = 3;
	} else if (to.fault == PGT_FAULT_EXTERNAL) {
		range.level = to.level - 1;
		range.what = s->tables->second ? "an entry that leads to what stage 2 doesn't map, or outside the image" :
						 "an entry that leads outside the image";
		range.has_where = true;
		range.where = s->tables->missed_pa;
	} else {
		range.level = to.level;
		if (to.fault == PGT_FAULT_ADDRESS_SIZE)
			range.what = "an entry whose address is larger than the registers allow";
	}
	range.len = UINT64_C(1) << (s->granule_bits + (unsigned)(3 - range.level) * (s->granule_bits - 3));
	range.leaf = range.len;
	if (cut(r, &range))
		put(r, &range);
	return range.va + range.len;
}

static unsigned flags(const struct filter *f)
{
	return PGT_HOLES | (f->state ? 0 : PGT_NO_STATE);
}

/* Whether there is more behind what stopped the last visit. */
static bool go_on(struct reading *r, int status, bool *sound)
{
	uint64_t next;

	if (status == PGT_OK || status == STOP)
		return false;
	if (r->s->tables->exhausted) {
		*sound = false;
		return false;
	}
	if (status != PGT_ECORRUPT)
		fail("%s: can't be read at 0x%" PRIx64 ": %s", r->s->name, r->next, pgt_strerror(status));
	next = damaged(r);
	/* At the top of the address space it wraps. */
	if (next <= r->next || next > r->last)
		return false;
	r->next = next;
	return true;
}

bool ranges_read(const struct section *s, const struct filter *filter, range_fn *fn, void *ctx,
		 uint64_t *stopped)
{
	struct reading r = { .s = s, .filter = filter, .fn = fn, .ctx = ctx, .first = s->first, .last = s->last };
	uint64_t mask = (UINT64_C(1) << s->granule_bits) - 1;
	bool sound = true;
	int status;

	if (filter->va && (filter->va_last < s->first || filter->va_first > s->last))
		return true;
	if (filter->va) {
		r.first = filter->va_first > s->first ? filter->va_first : s->first;
		r.last = filter->va_last < s->last ? filter->va_last : s->last;
	}
	tables_restart(s->tables);
	progress_start(s->name, r.first, r.last);
	r.next = r.first & ~mask;
	do {
		status = pgt_visit(s->t, r.next, (r.last | mask) - r.next + 1, flags(filter), visited, &r);
	} while (go_on(&r, status, &sound));
	flush(&r);
	progress_clear();
	*stopped = r.next;
	return sound;
}

void warn_circles(const struct section *s, uint64_t stopped)
{
	warn("%s: the tables lead to one another, or to themselves, over and over: far more of them were "
	     "read than there are. Gave up at 0x%" PRIx64 "; try --va=RANGE, or 'pgtable check'",
	     s->name, stopped);
}

void ranges_add(void *ctx, const struct range *range)
{
	struct ranges *ranges = ctx;

	ranges->list = grow(ranges->list, ranges->count, &ranges->room, sizeof *ranges->list);
	ranges->list[ranges->count++] = *range;
}

bool ranges_collect(const struct section *s, const struct filter *filter, struct ranges *ranges,
		    uint64_t *stopped)
{
	return ranges_read(s, filter, ranges_add, ranges, stopped);
}

void ranges_free(struct ranges *ranges)
{
	free(ranges->list);
	*ranges = (struct ranges){ 0 };
}
