/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of what a table's owner sees: fill, written, publish, link;
 * invalidate, sync, free; break before make.  The callbacks look at the raw
 * tables while the library is at work, as a walker beside it would.
 */
#include <string.h>
#include "embed.h"
#include "format.h"
#include "tap.h"

#define BUFFER (UINT64_C(64) << 20)
#define RW (PGT_READ | PGT_WRITE)
#define PA (UINT64_C(1) << (format->output - 8))

static struct embed e;
static struct pgt *t;
static struct ref ref;
static const struct format *format;
static unsigned g;               /* granule bits */
static uint64_t far;             /* half of the input range */
static uint64_t page, block, run; /* bytes: a leaf at 3, at 2, a run at 3 */
static const char *name;

static bool read_raw(void *ctx, uint64_t pa, uint64_t *value)
{
	const unsigned char *at = embed_live(ctx, pa, 8);

	if (!at)
		return false;
	*value = 0;
	for (unsigned i = 8; i-- > 0;)
		*value = *value << 8 | at[i];
	return true;
}

static void walk(uint64_t va, struct ref_answer *a)
{
	format->translate(&ref, va, a);
}

/* ---- What the callbacks see ------------------------------------------------- */

/* At an invalidate or a sync: what stands at the probed address. */
struct moment {
	enum embed_kind kind;
	struct pgt_tlb_range range;
	struct ref_answer raw;
	struct pgt_mapping query;
	int status;
	uint64_t frees;
};

static uint64_t probe;
static struct moment moments[32];
static unsigned moment_count;

/* New tables, until they are reachable. */
struct fresh {
	uint64_t pa, bytes;
	bool published; /* with all its entries announced */
	unsigned char *copy;
};

static struct fresh fresh[64];
static unsigned fresh_count, linked_count;
static const char *wrong;        /* what a callback didn't like */

static void dislike(const char *what)
{
	if (!wrong)
		wrong = what;
}

static uint64_t next_table(uint64_t entry, int level)
{
	if (!entry_is_table(format, entry, level) || !entry_is_valid(format, entry, level))
		return 0;
	return entry_address(format, entry);
}

static bool reaches(uint64_t from, uint64_t bytes, int level, uint64_t target)
{
	if (from == target)
		return true;
	for (uint64_t i = 0; i < bytes; i += 8) {
		uint64_t entry, next;

		if (!read_raw(&e, from + i, &entry)) {
			dislike("a table that isn't live is linked");
			return false;
		}
		next = next_table(entry, level);
		if (next && reaches(next, page, level + 1, target))
			return true;
	}
	return false;
}

static bool reachable(uint64_t pa)
{
	int start = ref_start(&ref);
	uint64_t bytes = UINT64_C(8) << (ref.input_bits - ref_shift(g, start));

	return reaches(ref.root, bytes, start, pa);
}

/* A walker that doesn't snoop sees the shadow. */
static bool announced(const struct fresh *f)
{
	uint64_t offset = f->pa - e.pa;

	return !e.shadow || !memcmp(e.buffer + offset, e.shadow + offset, f->bytes);
}

static void look_at_fresh(enum embed_kind kind)
{
	for (unsigned i = 0; i < fresh_count; i++) {
		struct fresh *f = &fresh[i];
		const unsigned char *now = e.buffer + (f->pa - e.pa);

		if (!reachable(f->pa)) {
			if (kind == EMBED_PUBLISH_EV) {
				f->published = announced(f);
				memcpy(f->copy, now, f->bytes);
			}
			continue;
		}
		if (!f->published)
			dislike("a table is linked that was not published, or with unannounced entries");
		else if (memcmp(f->copy, now, f->bytes))
			dislike("a table is linked that was written after it was published");
		free(f->copy);
		*f = fresh[--fresh_count];
		linked_count++;
		i--;
	}
}

/* What is linked was announced before anyone is told about it. */
static void look_at_shadow(void)
{
	for (uint64_t i = 0; e.shadow && i < e.live; i++) {
		uint64_t offset = e.tables[i].pa - e.pa;
		bool is_fresh = false;

		for (unsigned k = 0; k < fresh_count; k++)
			is_fresh |= fresh[k].pa == e.tables[i].pa;
		if (!is_fresh && memcmp(e.buffer + offset, e.shadow + offset, e.tables[i].bytes))
			dislike("a write wasn't announced in time");
	}
}

static void look_at_probe(const struct embed_event *ev)
{
	struct moment *m = &moments[moment_count];

	if (moment_count == sizeof(moments) / sizeof(*moments))
		return;
	moment_count++;
	m->kind = ev->kind;
	m->range = ev->range;
	m->frees = e.count[EMBED_FREE];
	walk(probe, &m->raw);
	m->status = pgt_query(t, probe, &m->query);
}

static void watch(struct embed *embed, const struct embed_event *ev)
{
	bool shows = e.mode & EMBED_PUBLISH;

	(void)embed;
	switch (ev->kind) {
	case EMBED_ALLOC:
		if (shows && fresh_count < 64) {
			fresh[fresh_count] = (struct fresh){ ev->pa, ev->bytes, false,
							     malloc(ev->bytes) };
			if (!fresh[fresh_count].copy)
				abort();
			fresh_count++;
		}
		break;
	case EMBED_FREE:
		for (unsigned i = 0; i < fresh_count; i++)
			if (fresh[i].pa == ev->pa) {
				free(fresh[i].copy);
				fresh[i] = fresh[--fresh_count];
			}
		if (reachable(ev->pa))
			dislike("a table is freed that is still linked");
		break;
	case EMBED_INVALIDATE:
	case EMBED_SYNC:
		look_at_probe(ev);
		look_at_shadow();
		look_at_fresh(ev->kind);
		break;
	case EMBED_PUBLISH_EV:
		look_at_shadow();
		look_at_fresh(ev->kind);
		break;
	case EMBED_WRITTEN_EV:
		look_at_fresh(ev->kind);
		break;
	default:
		break;
	}
}

static void forget(void)
{
	embed_log_clear(&e);
	moment_count = linked_count = 0;
	wrong = NULL;
}

/* After a call: what the callbacks missed, and what they disliked. */
#define calm(what) calm_at(__LINE__, what)

static void calm_at(int line, const char *what)
{
	look_at_fresh(EMBED_KINDS);
	if (embed_unwritten(&e))
		dislike("a write wasn't announced");
	if (!ok(!wrong, "%s: %s: nothing is linked, used or freed too early", name, what)) {
		note("line %d: %s", line, wrong);
		embed_log_print(&e);
	}
}

/* ---- Fixture ------------------------------------------------------------------- */

static bool window;

static void open_table(uint64_t features, unsigned mode)
{
	struct pgt_config c = embed_config(&e, format->name, g, format->input, format->output, features,
					   mode | (window ? EMBED_WINDOW : 0));
	int r;

	e.hook = NULL;
	fresh_count = 0;
	r = pgt_create(&c, &t);
	if (r != PGT_OK) {
		printf("Bail out! pgt_create: %s\n", pgt_strerror(r));
		exit(EXIT_FAILURE);
	}
	ref = format_walker(format, g, format->input, format->output, features);
	ref.read = read_raw;
	ref.ctx = &e;
	ref.root = pgt_root(t);
	probe = 0;
	forget();
	e.hook = watch;
}

static void close_table(void)
{
	e.hook = NULL;
	pgt_destroy(t);
	if (e.live) {
		ok(false, "%s: pgt_destroy leaves no table", name);
		embed_fini(&e);
		embed_init(&e, BUFFER, EMBED_PA);
	}
}

static void map(uint64_t va, uint64_t pa, uint64_t len, unsigned flags, struct pgt_gather *ga)
{
	int r = pgt_map(t, va, pa, len, RW, flags, ga);

	if (r != PGT_OK)
		ok(false, "%s: map %#" PRIx64 ": %s", name, va, pgt_strerror(r));
}

static void unmap(uint64_t va, uint64_t len, unsigned flags, struct pgt_gather *ga)
{
	int r = pgt_unmap(t, va, len, flags, ga);

	if (r != PGT_OK)
		ok(false, "%s: unmap %#" PRIx64 ": %s", name, va, pgt_strerror(r));
}

/* An event by its place, or one of no kind where there is none. */
static const struct embed_event *at(int i)
{
	static const struct embed_event none = { .kind = EMBED_KINDS };

	return i < 0 || i >= (int)e.events ? &none : &e.log[i];
}

static int last(enum embed_kind kind)
{
	for (unsigned i = e.events; i-- > 0;)
		if (e.log[i].kind == kind)
			return (int)i;
	return -1;
}

/* invalidate, then sync, then free: of each kind at least so many. */
static bool in_order(unsigned frees)
{
	int inv = embed_find(&e, EMBED_INVALIDATE, 0), sync = last(EMBED_SYNC);
	int first_free = embed_find(&e, EMBED_FREE, 0);
	bool good = inv >= 0 && sync > last(EMBED_INVALIDATE) && e.count[EMBED_FREE] == frees &&
		    (!frees || first_free > sync);

	if (!good)
		embed_log_print(&e);
	return good;
}

/* Exactly one invalidate, and what it says. */
static bool one_range(uint64_t va, uint64_t len, unsigned stride, int level, unsigned flags)
{
	int i = embed_find(&e, EMBED_INVALIDATE, 0);
	const struct pgt_tlb_range *r = i < 0 ? NULL : &e.log[i].range;
	bool good = r && e.count[EMBED_INVALIDATE] == 1 && r->va == va && r->len == len &&
		    r->stride_bits == stride && r->level == level && r->flags == flags;

	if (!good) {
		note("want one: va %#" PRIx64 " len %#" PRIx64 " stride %u level %d flags %u", va,
		     len, stride, level, flags);
		embed_log_print(&e);
	}
	return good;
}

/* ---- Building --------------------------------------------------------------------- */

static void test_build(unsigned mode)
{
	struct pgt_gather ga;
	struct pgt_mapping m;
	uint64_t end = 7 * block + 2 * run + page; /* of a large range */
	int levels = 3 - format_start(format, g, format->input);

	open_table(PGT_FEAT_CONTIG, mode | EMBED_PUBLISH);
	map(page, PA, page, 0, NULL);
	calm("map into an empty table");
	is_u64(linked_count, levels, "%s: ... which linked all levels", name);
	ok(last(EMBED_PUBLISH_EV) == (int)e.events - 1 &&
	   last(EMBED_PUBLISH_EV) > last(EMBED_WRITTEN_EV),
	   "%s: ... and published last", name);
	ok(!e.count[EMBED_INVALIDATE] && !e.count[EMBED_SYNC],
	   "%s: ... and invalidated nothing", name);

	forget();
	map(2 * page, PA, 2 * page, 0, NULL);
	calm("map into a table that is there");
	is_u64(e.count[EMBED_PUBLISH_EV], 1, "%s: ... published once", name);
	ok(e.count[EMBED_ALLOC] == 0 && at((int)e.events - 1)->kind == EMBED_PUBLISH_EV,
	   "%s: ... at the end", name);

	forget();
	ok(pgt_map(t, 2 * page, PA, page, RW, 0, NULL) == PGT_EEXIST && !e.events,
	   "%s: a map that fails is silent", name);
	map(2 * page, PA, 2 * page, PGT_REPLACE, NULL);
	ok(!e.events, "%s: so is a replacement by the same", name);

	/* A large range: many tables, blocks and runs. */
	forget();
	map(3 * block - run, PA + 3 * block - run, end - (3 * block - run), 0, NULL);
	calm("map a large range");

	/* With a gather: once at its end, linked tables aside. */
	forget();
	pgt_gather_begin(&ga, t);
	map(end, PA, page, 0, &ga);
	map(end + page, PA, page, 0, &ga);
	map(end + 2 * page, PA, page, 0, &ga);
	is_u64(e.count[EMBED_PUBLISH_EV], 0, "%s: in a gather maps don't publish", name);
	pgt_gather_end(&ga);
	is_u64(e.count[EMBED_PUBLISH_EV], 1, "%s: its end does, once", name);
	forget();
	pgt_gather_begin(&ga, t);
	map(far, PA, page, 0, &ga);
	calm("map into an empty place, in a gather");
	pgt_gather_end(&ga);
	ok(last(EMBED_PUBLISH_EV) == (int)e.events - 1, "%s: ... whose end publishes last", name);
	forget();
	pgt_gather_begin(&ga, t);
	pgt_gather_end(&ga);
	ok(!e.events, "%s: an empty gather is silent", name);

	/* Splitting builds tables too. */
	forget();
	unmap(4 * block + page, page, 0, NULL);
	calm("unmap a page of a block");
	ok(linked_count >= 1 && pgt_query(t, 4 * block, &m) == PGT_OK && m.state == PGT_LEAF,
	   "%s: ... which was split", name);
	close_table();
}

/* ---- Taking away -------------------------------------------------------------------- */

static void test_unmap(void)
{
	int levels = 3 - format_start(format, g, format->input);
	uint64_t span;

	open_table(PGT_FEAT_CONTIG, EMBED_ALL);
	map(0, PA, 9 * page, PGT_MAX_LEAF(g), NULL);
	map(far, PA + page, page, 0, NULL); /* not congruent: a page alone in its tables */

	forget();
	probe = 3 * page;
	unmap(3 * page, page, 0, NULL);
	calm("unmap a page");
	ok(one_range(3 * page, page, g, 3, 0), "%s: unmap a page: its range, level 3", name);
	ok(in_order(0) && e.count[EMBED_SYNC] == 1, "%s: ... one sync after it", name);
	ok(moment_count && moments[0].raw.fault == REF_TRANSLATION,
	   "%s: ... the entry was gone before", name);
	ok(last(EMBED_PUBLISH_EV) < 0, "%s: ... and no publish", name);

	forget();
	unmap(page, 6 * page, 0, NULL);
	ok(one_range(page, 6 * page, g, 3, 0), "%s: a hole inside is part of the one range", name);

	forget();
	unmap(10 * page, 4 * page, 0, NULL);
	ok(!e.events, "%s: unmap of a hole is silent", name);

	forget();
	unmap(9 * page - page, 100 * page, PGT_KEEP_TABLES, NULL);
	ok(one_range(8 * page, page, g, 3, 0), "%s: only what changed is in the range", name);

	/* The only page of its tables: all of them go. */
	forget();
	probe = far;
	unmap(far, page, 0, NULL);
	calm("unmap the last page of its tables");
	span = UINT64_C(1) << ref_shift(g, format_start(format, g, format->input));
	ok(one_range(far & ~(span - 1), span, g, PGT_LEVEL_UNKNOWN, PGT_TLB_WALK),
	   "%s: the last page of its tables: their whole span, walk-cache form", name);
	ok(in_order((unsigned)levels), "%s: ... invalidate, sync, then %d tables freed", name,
	   levels);
	for (unsigned i = 0; i < moment_count; i++)
		if (moments[i].frees)
			dislike("freed early");
	ok(!wrong, "%s: ... none of them before the sync", name);

	/* One call over far-apart places is one range. */
	map(far, PA, page, 0, NULL);
	map(far + 2 * page, PA, page, 0, NULL);
	map(2 * page, PA, page, 0, NULL);
	forget();
	unmap(2 * page, far - page, PGT_KEEP_TABLES, NULL);
	ok(one_range(2 * page, far - page, g, 3, 0), "%s: one call's changes are one range", name);
	close_table();
}

static void test_sizes(void)
{
	uint64_t global;
	open_table(PGT_FEAT_CONTIG, EMBED_ALL);
	map(0, PA + page, page, 0, NULL); /* keeps the tables */
	map(run, PA + run, run, 0, NULL);
	map(2 * block, PA + 2 * block, block, 0, NULL);
	map(3 * block, PA + 3 * block, block, 0, NULL);

	forget();
	unmap(run, run, 0, NULL);
	ok(one_range(run, run, g, 3, 0), "%s: a run: its span, stride a page, level 3", name);
	forget();
	unmap(3 * block, block, 0, NULL);
	ok(one_range(3 * block, block, format_log2(block), 2, 0), "%s: a block: its span, level 2",
	   name);
	forget();
	unmap(2 * block + 5 * page % block, page, PGT_WHOLE, NULL);
	ok(one_range(2 * block, block, format_log2(block), 2, 0),
	   "%s: a page of a block, WHOLE: the block", name);
	ok(!e.count[EMBED_ALLOC], "%s: ... without memory", name);
	map(run, PA + run, run, 0, NULL);
	forget();
	unmap(run + page, page, PGT_WHOLE, NULL);
	ok(one_range(run, run, g, 3, 0), "%s: a page of a run, WHOLE: the run", name);

	/* Leaves of two levels in one call. */
	map(block - page, PA + 5 * page, page, 0, NULL);
	map(block, PA + block, block, 0, NULL);
	forget();
	unmap(block - page, block + page, 0, NULL);
	ok(one_range(block - page, block + page, g, PGT_LEVEL_UNKNOWN, 0),
	   "%s: a page and a block: no level, the smaller stride", name);

	/* Global leaves. */
	global = format_attr(format, g, RW | PGT_GLOBAL);
	ok(pgt_map(t, 3 * page, PA, page, global, 0, NULL) == PGT_OK,
	   "%s: map a global page", name);
	forget();
	unmap(3 * page, page, 0, NULL);
	ok(one_range(3 * page, page, g, 3, global & PGT_GLOBAL ? PGT_TLB_GLOBAL : 0),
	   "%s: ... unmapped: GLOBAL", name);
	close_table();

	/* Near the top of the space. */
	open_table(format->upper ? PGT_FEAT_UPPER : 0, EMBED_ALL);
	uint64_t end = format->upper ? 0 : 2 * far;

	map(end - 3 * page, PA, 3 * page, 0, NULL);
	forget();
	unmap(end - page, page, 0, NULL);
	ok(one_range(end - page, page, g, 3, 0), "%s: the last page", name);
	close_table();
}

static void test_keep_and_trim(void)
{
	unsigned levels = (unsigned)(3 - format_start(format, g, format->input));
	uint64_t span = UINT64_C(1) << ref_shift(g, format_start(format, g, format->input));

	open_table(0, EMBED_ALL);
	map(7 * page, PA, page, 0, NULL);
	forget();
	unmap(7 * page, page, PGT_KEEP_TABLES, NULL);
	ok(one_range(7 * page, page, g, 3, 0) && !e.count[EMBED_FREE],
	   "%s: tables that are kept are not invalidated", name);
	forget();
	ok(pgt_trim(t, 7 * page, page, NULL) == PGT_OK && in_order(levels), "%s: trim frees them", name);
	ok(one_range(0, span, g, PGT_LEVEL_UNKNOWN, PGT_TLB_WALK),
	   "%s: ... after their whole span, walk-cache form", name);
	calm("trim");
	forget();
	ok(pgt_trim(t, 7 * page, page, NULL) == PGT_OK && !e.events, "%s: trim of nothing is silent",
	   name);

	forget();
	e.hook = NULL;
	map(0, PA, page, 0, NULL);
	forget();
	pgt_destroy(t);
	int inv = embed_find(&e, EMBED_INVALIDATE, 0);
	ok(at(inv)->range.flags & PGT_TLB_ALL && !at(inv)->range.va && !at(inv)->range.len, "%s: destroy invalidates all", name);
	ok(in_order(levels + 1) && !e.live, "%s: ... syncs and frees every table", name);
}

static void test_nobody_caches(void)
{
	open_table(PGT_FEAT_CONTIG, 0);
	map(0, PA, 2 * block, 0, NULL);
	unmap(page, page, 0, NULL);
	map(block, 2 * PA, block, PGT_REPLACE, NULL);
	unmap(0, 2 * block, 0, NULL);
	ok(!e.count[EMBED_INVALIDATE] && !e.count[EMBED_SYNC] && e.live == 1,
	   "%s: without callbacks nothing is invalidated, and tables are freed", name);
	map(0, PA, block, 0, NULL);
	ok(pgt_unmap(t, page, page, PGT_NO_BREAK, NULL) == PGT_OK,
	   "%s: ... and nothing has to be broken", name);
	close_table();
}

/* ---- Gathers ---------------------------------------------------------------------------- */

static void test_gather(void)
{
	unsigned levels = (unsigned)(3 - format_start(format, g, format->input));
	struct embed_snapshot before = { 0 };
	struct pgt_gather ga;
	struct pgt_mapping m;

	open_table(PGT_FEAT_CONTIG, EMBED_ALL);
	map(0, PA + page, page, 0, NULL);
	map(far, PA + page, page, 0, NULL);
	map(far + 2 * block, PA + 2 * block, block, 0, NULL);
	forget();
	pgt_gather_begin(&ga, t);
	unmap(far, page, 0, &ga);
	is_u64(e.count[EMBED_FREE], 0, "%s: in a gather, an emptied table isn't freed yet", name);
	unmap(far + 2 * block, block, 0, &ga);
	is_u64(e.count[EMBED_FREE], 0, "%s: nor are those above it", name);
	ok(pgt_query(t, far, &m) == PGT_OK && m.state == PGT_EMPTY, "%s: they map nothing", name);
	embed_snapshot(&e, &before);
	forget();
	pgt_gather_end(&ga);
	calm("the end of a gather");
	ok(in_order(levels), "%s: its end: invalidate, sync, then %u tables freed", name, levels);
	embed_snapshot_free(&before);

	/* Waiting tables are not written. */
	map(far, PA + page, page, 0, NULL);
	forget();
	pgt_gather_begin(&ga, t);
	unmap(far, page, 0, &ga);
	embed_snapshot(&e, &before);
	map(2 * page, PA, page, 0, &ga); /* into a table that is there */
	uint64_t offset = 0, written = 0;
	for (uint64_t i = 0; i < before.n; i++) {
		const unsigned char *now = embed_live(&e, before.tables[i].pa, 8);

		if (!now)
			dislike("a table is gone");
		else if (!reachable(before.tables[i].pa) &&
			 memcmp(now, before.content + offset, before.tables[i].bytes))
			written++;
		offset += before.tables[i].bytes;
	}
	ok(!wrong && !written, "%s: tables that wait are left alone", name);
	pgt_gather_end(&ga);
	embed_snapshot_free(&before);

	/* A place whose invalidation is pending. */
	forget();
	pgt_gather_begin(&ga, t);
	unmap(2 * page, page, 0, &ga);
	forget();
	probe = 2 * page;
	map(2 * page, PA + 7 * page, page, 0, &ga);
	ok(moment_count >= 2 && moments[0].kind == EMBED_INVALIDATE &&
	   moments[0].range.va <= probe && probe - moments[0].range.va < moments[0].range.len &&
	   moments[0].raw.fault == REF_TRANSLATION &&
	   moments[moment_count - 1].kind == EMBED_SYNC &&
	   moments[moment_count - 1].raw.fault == REF_TRANSLATION,
	   "%s: a map where an invalidation is pending drains it first", name);
	ok(pgt_query(t, probe, &m) == PGT_OK && m.pa == PA + 7 * page, "%s: ... and maps", name);
	pgt_gather_end(&ga);

	/* The same where the tables went too. */
	map(far, PA + page, page, 0, NULL);
	pgt_gather_begin(&ga, t);
	unmap(far, page, 0, &ga);
	forget();
	probe = far + page;
	map(far + page, PA, page, 0, &ga);
	ok(moment_count >= 2 && moments[0].kind == EMBED_INVALIDATE &&
	   moments[0].range.flags & PGT_TLB_WALK &&
	   moments[moment_count - 1].raw.fault == REF_TRANSLATION &&
	   moments[moment_count - 1].kind == EMBED_SYNC,
	   "%s: so does one below a table that waits", name);
	calm("map below a table that waits");
	pgt_gather_end(&ga);
	close_table();
}

/* Whether a range that isn't ALL covers this byte. */
static bool invalidated(uint64_t va)
{
	for (unsigned i = 0; i < e.events; i++) {
		const struct pgt_tlb_range *r = &e.log[i].range;

		if (e.log[i].kind == EMBED_INVALIDATE && va - r->va < r->len)
			return true;
	}
	return false;
}

static void test_far_apart(void)
{
	uint64_t step = far / (2 * block) > 256 ? 2 * block : 2 * page;
	unsigned places = far / step > 256 ? 200 : (unsigned)(far / step) - 5;
	struct pgt_gather ga;
	bool all = false;

	open_table(PGT_FEAT_CONTIG, EMBED_ALL);
	map(0, PA, 9 * page, PGT_MAX_LEAF(g), NULL);
	map(far, PA, 9 * page, PGT_MAX_LEAF(g), NULL);
	pgt_gather_begin(&ga, t);
	forget();
	unmap(page, page, 0, &ga);
	unmap(far + page, page, 0, &ga);
	pgt_gather_end(&ga);
	for (unsigned i = 0; i < e.events; i++)
		all |= e.log[i].kind == EMBED_INVALIDATE && e.log[i].range.flags & PGT_TLB_ALL;
	ok(all || (invalidated(page) && invalidated(far + page)),
	   "%s: far-apart calls of one gather are invalidated", name);
	ok(!invalidated(far / 2) && !invalidated(3 * page), "%s: ... and not joined", name);
	ok(in_order(0), "%s: ... with a sync after them", name);

	/* More of them than any fixed room holds. */
	e.hook = NULL;
	for (unsigned i = 0; i < places; i++)
		map(far + step * (5 + i), PA + page, 2 * page, 0, NULL);
	pgt_gather_begin(&ga, t);
	forget();
	for (unsigned i = 0; i < places; i++)
		unmap(far + step * (5 + i), page, 0, &ga);
	pgt_gather_end(&ga);
	all = false;
	unsigned covered = 0;
	for (unsigned i = 0; i < e.events; i++)
		all |= e.log[i].kind == EMBED_INVALIDATE && e.log[i].range.flags & PGT_TLB_ALL;
	for (unsigned i = 0; i < places; i++)
		covered += all || invalidated(far + step * (5 + i));
	is_u64(covered, places, "%s: %u places in one gather, none forgotten", name, places);
	ok(last(EMBED_SYNC) > last(EMBED_INVALIDATE), "%s: ... and a sync at the end", name);
	close_table();
}

/* ---- Break before make ---------------------------------------------------------------- */

/* In the call's first invalidation and its sync: the entry is invalid but no
 * hole, and readers see the old leaf. */
static void is_broken(const char *what, uint64_t old_pa)
{
	const struct moment *inv = &moments[0], *sync = NULL;
	bool covered = false, faults, holds, seen;

	for (unsigned i = 0; i < moment_count && !sync; i++)
		sync = moments[i].kind == EMBED_SYNC ? &moments[i] : NULL;
	for (unsigned i = 0; i < moment_count && &moments[i] < sync; i++)
		covered |= probe - moments[i].range.va < moments[i].range.len;
	if (!sync || inv->kind != EMBED_INVALIDATE) {
		ok(false, "%s: %s: invalidates and syncs", name, what);
		embed_log_print(&e);
		return;
	}
	ok(covered, "%s: %s: invalidates the leaf", name, what);
	faults = inv->raw.fault == REF_TRANSLATION && sync->raw.fault == REF_TRANSLATION;
	holds = inv->raw.raw != 0 && sync->raw.raw != 0;
	seen = inv->status == PGT_OK && inv->query.state == PGT_LEAF &&
	       inv->query.pa + (probe - inv->query.va) == old_pa && inv->query.attr ==
	       (RW | PGT_YOUNG | PGT_DIRTY) && sync->status == PGT_OK &&
	       sync->query.state == PGT_LEAF &&
	       sync->query.pa + (probe - sync->query.va) == old_pa;
	ok(faults, "%s: %s: the old entry is invalid until the sync", name, what);
	ok(holds, "%s: %s: ... but never empty", name, what);
	if (!ok(seen, "%s: %s: ... and a reader sees the old leaf", name, what))
		note("state %d pa %#" PRIx64 " attr %#" PRIx64 ", at the sync %d %#" PRIx64,
		     inv->query.state, inv->query.pa, inv->query.attr, sync->query.state,
		     sync->query.pa);
}

static bool maps(uint64_t va, uint64_t pa)
{
	struct ref_answer a;
	struct pgt_mapping m;

	walk(va, &a);
	return a.fault == REF_NONE && a.pa == pa && pgt_query(t, va, &m) == PGT_OK &&
	       m.state == PGT_LEAF && m.pa + (va - m.va) == pa;
}

static void test_break(void)
{
	struct ref_answer a;

	open_table(PGT_FEAT_CONTIG, EMBED_ALL);
	map(0, PA + page, page, 0, NULL);

	/* A page out of a block. */
	map(2 * block, PA + 2 * block, block, 0, NULL);
	forget();
	probe = 2 * block;
	unmap(2 * block + 5 * page % block, page, 0, NULL);
	is_broken("a page out of a block", PA + 2 * block);
	ok(at(embed_find(&e, EMBED_INVALIDATE, 0))->range.va == 2 * block &&
	   at(embed_find(&e, EMBED_INVALIDATE, 0))->range.len == block &&
	   at(embed_find(&e, EMBED_INVALIDATE, 0))->range.level == 2,
	   "%s: ... over the whole block, level 2", name);
	ok(last(EMBED_ALLOC) < embed_find(&e, EMBED_INVALIDATE, 0),
	   "%s: ... with all memory taken before", name);
	calm("a page out of a block");
	ok(maps(2 * block, PA + 2 * block) && maps(3 * block - page, PA + 3 * block - page),
	   "%s: ... the rest stays", name);

	/* A page out of a run. */
	map(2 * run, PA + 2 * run, run, 0, NULL);
	forget();
	probe = 2 * run;
	unmap(3 * run - page, page, 0, NULL);
	is_broken("a page out of a run", PA + 2 * run);
	ok(at(embed_find(&e, EMBED_INVALIDATE, 0))->range.va == 2 * run &&
	   at(embed_find(&e, EMBED_INVALIDATE, 0))->range.len == run &&
	   at(embed_find(&e, EMBED_INVALIDATE, 0))->range.level == 3,
	   "%s: ... over the whole run, level 3", name);
	walk(2 * run, &a);
	ok(maps(2 * run, PA + 2 * run) && a.run_bits == g, "%s: ... the rest is no run", name);
	calm("a page out of a run");

	/* Another output address: a page, a run, a block. */
	map(5 * page, PA + page, page, 0, NULL);
	forget();
	probe = 5 * page;
	map(5 * page, PA + 9 * page, page, PGT_REPLACE, NULL);
	is_broken("replace a page", PA + page);
	ok(maps(5 * page, PA + 9 * page), "%s: ... by the new one", name);
	calm("replace a page");
	map(3 * run, PA + 4 * run, run, 0, NULL);
	forget();
	probe = 3 * run + page;
	map(3 * run, PA + 5 * run, run, PGT_REPLACE, NULL);
	is_broken("replace a run", PA + 4 * run + page);
	walk(3 * run, &a);
	ok(maps(3 * run, PA + 5 * run) && a.run_bits == format_log2(run), "%s: ... by a run", name);
	calm("replace a run");
	map(4 * block, PA + 4 * block, block, 0, NULL);
	forget();
	probe = 4 * block + page;
	map(4 * block, PA + 5 * block, block, PGT_REPLACE, NULL);
	is_broken("replace a block", PA + 4 * block + page);
	ok(maps(4 * block, PA + 5 * block), "%s: ... by a block", name);
	calm("replace a block");

	/* One page of a block by another page. */
	forget();
	probe = 4 * block + page;
	map(4 * block, PA, page, PGT_REPLACE, NULL);
	is_broken("replace a page of a block", PA + 5 * block + page);
	ok(maps(4 * block, PA) && maps(4 * block + page, PA + 5 * block + page),
	   "%s: ... and only it", name);
	calm("replace a page of a block");

	/* A table by a block: the table goes after the sync. */
	forget();
	probe = 4 * block + page;
	map(4 * block, PA + 6 * block, block, PGT_REPLACE, NULL);
	is_broken("replace a table by a block", PA + 5 * block + page);
	int i = embed_find(&e, EMBED_INVALIDATE, 0);
	bool walks = false;
	for (; i >= 0; i = embed_find(&e, EMBED_INVALIDATE, (unsigned)i + 1))
		walks |= e.log[i].range.flags & PGT_TLB_WALK && e.log[i].range.va <= 4 * block &&
			 e.log[i].range.len >= block;
	ok(walks, "%s: ... walk-cache form, the table's span", name);
	ok(in_order(1), "%s: ... freed after the sync", name);
	ok(maps(4 * block + page, PA + 6 * block + page), "%s: ... by the block", name);
	calm("replace a table by a block");

	/* Permissions alone need no break, but the TLB must forget them. */
	forget();
	probe = 5 * page;
	ok(pgt_map(t, 5 * page, PA + 9 * page, page, PGT_READ, PGT_REPLACE, NULL) == PGT_OK &&
	   in_order(0) && invalidated(5 * page), "%s: replace permissions: invalidated", name);

	/* Refusing to break. */
	forget();
	ok(pgt_map(t, 5 * page, PA, page, RW, PGT_REPLACE | PGT_NO_BREAK, NULL) == PGT_EBREAK &&
	   !e.events, "%s: NO_BREAK: another address is refused, silently", name);
	ok(pgt_unmap(t, 4 * block, page, PGT_NO_BREAK, NULL) == PGT_EBREAK && !e.events,
	   "%s: NO_BREAK: a page out of a block is refused, silently", name);
	ok(pgt_unmap(t, 3 * run, page, PGT_NO_BREAK, NULL) == PGT_EBREAK && !e.events,
	   "%s: NO_BREAK: a page out of a run is refused, silently", name);
	ok(pgt_unmap(t, 5 * page, page, PGT_NO_BREAK, NULL) == PGT_OK,
	   "%s: NO_BREAK: a whole page goes", name);
	close_table();
}

/* In a gather a break drains what was held before. */
static void test_break_in_gather(void)
{
	struct pgt_gather ga;

	open_table(PGT_FEAT_CONTIG, EMBED_ALL);
	map(0, PA + page, 9 * page, 0, NULL);
	map(4 * block, PA + 4 * block, block, 0, NULL);
	pgt_gather_begin(&ga, t);
	unmap(3 * page, page, 0, &ga);
	forget();
	probe = 4 * block;
	unmap(4 * block + page, page, 0, &ga);
	is_broken("a page out of a block in a gather", PA + 4 * block);
	ok(last(EMBED_SYNC) > last(EMBED_INVALIDATE),
	   "%s: ... no invalidation is left without its sync", name);
	pgt_gather_end(&ga);
	calm("a gather with a break");
	close_table();
}

static int count_removed(void *ctx, const struct pgt_mapping *m)
{
	*(uint64_t *)ctx += m->len;
	return 0;
}

/* A run of blocks that is cut inside one of its blocks: run and block are broken. */
static void test_run_of_blocks(void)
{
	uint64_t n = format->run_entries(g, 2);
	uint64_t start = n * block, len = n * block, cuts[3][2], bytes;
	struct pgt_gather ga;
	struct pgt_mapping m;
	struct ref_answer a;

	cuts[0][0] = start, cuts[0][1] = len - page; /* the end is cut */
	cuts[1][0] = start + page, cuts[1][1] = len - page; /* the start */
	cuts[2][0] = start + page, cuts[2][1] = len - 2 * page; /* both */
	for (unsigned i = 0; i < 3; i++) {
		open_table(PGT_FEAT_CONTIG, EMBED_ALL);
		map(start, PA, len, 0, NULL);
		walk(start, &a);
		ok(a.leaf_bits == format_log2(block) && a.run_bits == format_log2(n * block),
		   "%s: a run of blocks", name);
		pgt_gather_begin(&ga, t);
		bytes = 0;
		ga.removed = count_removed;
		ga.removed_ctx = &bytes;
		unmap(cuts[i][0], cuts[i][1], 0, &ga);
		is_u64(bytes, cuts[i][1], "%s: ... all but an edge of it is removed", name);
		is_u64(ga.tally.unmapped, cuts[i][1], "%s: ... and counted", name);
		pgt_gather_end(&ga);
		ok(pgt_query(t, start + 2 * page, &m) == PGT_OK && m.state == PGT_EMPTY &&
		   pgt_query(t, start + len - 2 * page, &m) == PGT_OK && m.state == PGT_EMPTY,
		   "%s: ... the inside is gone", name);
		if (cuts[i][0] != start)
			ok(maps(start, PA), "%s: ... the first page stays", name);
		if (cuts[i][0] + cuts[i][1] != start + len)
			ok(maps(start + len - page, PA + len - page), "%s: ... the last page stays",
			   name);
		calm("cut a run of blocks");
		close_table();
	}
}

static void test_all(void)
{
	static char text[80];

	page = UINT64_C(1) << g;
	block = UINT64_C(1) << ref_shift(g, 2);
	run = page * format->run_entries(g, 3);
	far = UINT64_C(1) << (format->input - 1);
	if (g < 10)
		snprintf(text, sizeof(text), "%s by %s", format->name, window ? "window" : "to_virt");
	else
		snprintf(text, sizeof(text), "%s %uK by %s", format->name, 1u << (g - 10),
			 window ? "window" : "to_virt");
	name = text;
	test_build(EMBED_TLB | EMBED_WRITTEN);
	test_build(0);
	test_unmap();
	test_sizes();
	test_keep_and_trim();
	test_nobody_caches();
	test_gather();
	test_far_apart();
	test_break();
	test_break_in_gather();
	test_run_of_blocks();
}

int main(void)
{
	if (!formats[0])
		return tap_skip_all("no format of these was built");
	embed_init(&e, BUFFER, EMBED_PA);
	for (const struct format *const *f = formats; *f; f++)
		for (unsigned i = 0; (*f)->granules[i]; i++)
			for (unsigned way = 0; way < 2; way++) {
				format = *f;
				g = format->granules[i];
				window = way;
				test_all();
			}
	embed_fini(&e);
	return tap_done();
}
