/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every call with every kind of bad argument: the documented code, in the
 * documented order of precedence, with nothing changed and no callback made;
 * and every call with addresses and lengths that have nothing to do with it.
 */
#include "contract.h"

static struct world w;

/* Where something is mapped: 256 MiB, or what is as far in where there is less. */
static uint64_t home(void)
{
	return w.bytes > GIB(1) ? MIB(256) : w.bytes / 4;
}

/* Where nothing is. */
static uint64_t spot(void)
{
	return w.bytes > GIB(16) ? GIB(8) : w.bytes / 4 * 3;
}

/* ---- Bad arguments, alone and together ----------------------------------- */

struct args {
	struct pgt *t;
	uint64_t va, pa, len, attr, access, set, clear, to, what, token;
	unsigned flags, bits;
	struct pgt *other; /* where a copy goes */
	struct pgt_bitmap *bitmap;
	struct pgt_gather *gather;
	bool no_result; /* NULL where the answer or the callback goes */
};

/* The order in which the checks come: the first of these that applies wins. */
static const int precedence[] = {
	PGT_EINVAL, PGT_EBUSY, PGT_ENOTSUP, PGT_EALIGN, PGT_ERANGE,
};

static unsigned rank(int code)
{
	unsigned i = 0;

	while (i < 5 && precedence[i] != code)
		i++;
	return i;
}

static int visit_nothing(void *ctx, const struct pgt_mapping *m)
{
	(void)ctx;
	(void)m;
	return 0;
}

static int text_nothing(void *ctx, const char *text, uint64_t bytes)
{
	(void)ctx;
	(void)text;
	(void)bytes;
	return 0;
}

static int call_map(const struct args *a)
{
	return pgt_map(a->t, a->va, a->pa, a->len, a->attr, a->flags, a->gather);
}

static int call_unmap(const struct args *a)
{
	return pgt_unmap(a->t, a->va, a->len, a->flags, a->gather);
}

static int call_protect(const struct args *a)
{
	return pgt_protect(a->t, a->va, a->len, a->set, a->clear, a->flags, a->gather);
}

static int call_move(const struct args *a)
{
	return pgt_move(a->t, a->va, a->to, a->len, a->flags, a->gather);
}

static int call_copy(const struct args *a)
{
	return pgt_copy(a->other, a->t, a->va, a->len, a->flags, a->gather);
}

static int call_split(const struct args *a)
{
	return pgt_split(a->t, a->va, a->len, a->bits, a->flags, a->gather);
}

static int call_collapse(const struct args *a)
{
	return pgt_collapse(a->t, a->va, a->len, a->bits, a->flags, a->gather);
}

static int call_harvest(const struct args *a)
{
	return pgt_harvest(a->t, a->va, a->len, a->what, a->flags, a->bitmap, a->gather);
}

static int call_fault(const struct args *a)
{
	return pgt_fault(a->t, a->va, a->access, a->gather);
}

static int call_store(const struct args *a)
{
	return pgt_store(a->t, a->va, a->len, a->token, a->flags, a->gather);
}

static int call_trim(const struct args *a)
{
	return pgt_trim(a->t, a->va, a->len, a->gather);
}

static int call_needed(const struct args *a)
{
	uint64_t n;

	return pgt_tables_needed(a->t, a->va, a->pa, a->len, a->attr, a->flags,
				 a->no_result ? NULL : &n);
}

static int call_query(const struct args *a)
{
	struct pgt_mapping m;

	return pgt_query(a->t, a->va, a->no_result ? NULL : &m);
}

static int call_translate(const struct args *a)
{
	struct pgt_translation tr;

	return pgt_translate(a->t, a->va, a->access, a->no_result ? NULL : &tr);
}

static int call_cursor(const struct args *a)
{
	struct pgt_translation tr;
	struct pgt_cursor cursor;

	pgt_cursor_init(&cursor, a->t);
	return pgt_cursor_translate(&cursor, a->va, a->access, a->no_result ? NULL : &tr);
}

static int call_visit(const struct args *a)
{
	return pgt_visit(a->t, a->va, a->len, a->flags, a->no_result ? NULL : visit_nothing,
			 NULL);
}

static int call_dump(const struct args *a)
{
	return pgt_dump(a->t, a->va, a->len, a->no_result ? NULL : text_nothing, NULL);
}

static int call_stat(const struct args *a)
{
	struct pgt_stat s;

	return pgt_stat(a->t, a->va, a->len, a->no_result ? NULL : &s);
}

static int call_check(const struct args *a)
{
	return pgt_check(a->t, a->no_result ? NULL : no_problem, NULL);
}

static int call_reserve(const struct args *a)
{
	return pgt_reserve(a->t, 0);
}

static int call_begin(const struct args *a)
{
	struct pgt_gather g;

	return pgt_gather_begin(a->no_result ? NULL : &g, a->t);
}

/* What a call takes. */
#define HAS_RANGE   1u
#define HAS_PA      2u
#define HAS_VA      4u
#define HAS_GATHER  8u
#define HAS_RESULT  16u
#define HAS_ACCESS  32u
#define HAS_MAX     64u
#define CHANGES     128u
#define HAS_SET     256u
#define HAS_TO      512u
#define HAS_OTHER   1024u
#define HAS_BITS    2048u
#define HAS_BITMAP  4096u
#define HAS_TOKEN   8192u

struct call {
	const char *name;
	int (*make)(const struct args *);
	unsigned has, flags; /* flags: those that the call knows, MAX_LEAF apart */
};

static const struct call calls[] = {
	{ "pgt_map", call_map, HAS_RANGE | HAS_PA | HAS_VA | HAS_GATHER | HAS_MAX | CHANGES,
	  PGT_REPLACE | PGT_KEEP_TABLES | PGT_NO_SPLIT | PGT_NO_BREAK },
	{ "pgt_unmap", call_unmap, HAS_RANGE | HAS_VA | HAS_GATHER | CHANGES,
	  PGT_KEEP_TABLES | PGT_NO_SPLIT | PGT_NO_BREAK | PGT_WHOLE },
	{ "pgt_protect", call_protect, HAS_RANGE | HAS_VA | HAS_GATHER | HAS_SET | CHANGES,
	  PGT_STRICT | PGT_LAZY | PGT_NO_SPLIT | PGT_NO_BREAK },
	{ "pgt_move", call_move, HAS_RANGE | HAS_VA | HAS_GATHER | HAS_TO | CHANGES,
	  PGT_KEEP_TABLES | PGT_NO_SPLIT | PGT_NO_BREAK },
	{ "pgt_copy", call_copy, HAS_RANGE | HAS_VA | HAS_GATHER | HAS_OTHER | CHANGES,
	  PGT_COW | PGT_NO_SPLIT | PGT_NO_BREAK },
	{ "pgt_split", call_split, HAS_RANGE | HAS_VA | HAS_GATHER | HAS_BITS | CHANGES,
	  PGT_NO_SPLIT | PGT_NO_BREAK },
	{ "pgt_collapse", call_collapse, HAS_RANGE | HAS_VA | HAS_GATHER | HAS_BITS | CHANGES,
	  PGT_NO_SPLIT | PGT_NO_BREAK },
	{ "pgt_harvest", call_harvest, HAS_RANGE | HAS_VA | HAS_GATHER | HAS_BITMAP | CHANGES,
	  PGT_PEEK | PGT_SELECTED | PGT_LAZY | PGT_NO_SPLIT | PGT_NO_BREAK },
	{ "pgt_fault", call_fault, HAS_VA | HAS_GATHER | HAS_ACCESS | CHANGES, 0 },
	{ "pgt_store", call_store, HAS_RANGE | HAS_VA | HAS_GATHER | HAS_MAX | HAS_TOKEN | CHANGES,
	  PGT_REPLACE | PGT_KEEP_TABLES | PGT_NO_SPLIT | PGT_NO_BREAK | PGT_SEQUENCE },
	{ "pgt_trim", call_trim, HAS_RANGE | HAS_VA | HAS_GATHER | CHANGES, 0 },
	{ "pgt_tables_needed", call_needed, HAS_RANGE | HAS_PA | HAS_VA | HAS_RESULT | HAS_MAX,
	  PGT_REPLACE | PGT_KEEP_TABLES | PGT_NO_SPLIT | PGT_NO_BREAK },
	{ "pgt_query", call_query, HAS_VA | HAS_RESULT, 0 },
	{ "pgt_translate", call_translate, HAS_VA | HAS_RESULT | HAS_ACCESS, 0 },
	{ "pgt_cursor_translate", call_cursor, HAS_VA | HAS_RESULT | HAS_ACCESS, 0 },
	{ "pgt_visit", call_visit, HAS_RANGE | HAS_VA | HAS_RESULT,
	  PGT_HOLES | PGT_MERGE | PGT_NO_STATE },
	{ "pgt_dump", call_dump, HAS_RANGE | HAS_VA | HAS_RESULT, 0 },
	{ "pgt_stat", call_stat, HAS_RANGE | HAS_VA | HAS_RESULT, 0 },
	{ "pgt_check", call_check, HAS_RESULT, 0 },
	{ "pgt_reserve", call_reserve, CHANGES, 0 },
	{ "pgt_gather_begin", call_begin, HAS_RESULT | CHANGES, 0 },
};

#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

/* One fault of one argument. */
struct fault {
	const char *name;
	int code;
	unsigned needs;   /* what the call must have for it */
	unsigned touches; /* one bit an argument */
	uint64_t value;
};

enum { T = 1, VA = 2, PA = 4, LEN = 8, ATTR = 16, FLAGS = 32, GATHER = 64, RESULT = 128,
       ACCESS = 256, SET = 512, TO = 1024, OTHER = 2048, BITS = 4096, WHAT = 8192, BITMAP = 16384,
       TOKEN = 32768 };

#define MAX_FAULTS 320
static struct fault faults[MAX_FAULTS];
static unsigned n_faults;

static void fault(const char *name, int code, unsigned needs, unsigned touches, uint64_t value)
{
	if (n_faults == MAX_FAULTS) {
		printf("Bail out! too many faults\n");
		exit(1);
	}
	faults[n_faults++] = (struct fault){ name, code, needs, touches, value };
}

static struct pgt_gather foreign, unborn, ended;

#define ATTR_KNOWN (PGT_READ | PGT_WRITE | PGT_EXEC | PGT_UEXEC | PGT_USER | PGT_GLOBAL | \
		    PGT_NOACCESS | PGT_GUARDED | PGT_YOUNG | PGT_DIRTY | PGT_SW0 | PGT_SW1 | \
		    PGT_SW2 | PGT_MEM_MASK | PGT_SH_MASK)

static struct world copies;

/* Faults of the arguments that only one or two calls have. */
static void list_own_faults(const struct call *call)
{
	uint64_t page = BIT(w.geo.g), beyond = w.base + w.bytes;
	static const uint64_t no_size[] = { 0, 1, 11, 13, 17, 22, 27, 31, 40, 47, 48, 63, 64, 65, 255, 256 };

	for (unsigned i = 0; i < 64; i++)
		if (!(ATTR_KNOWN & BIT(i)))
			fault("unknown attribute to set", PGT_EINVAL, HAS_SET, SET, BIT(i));
	fault("a memory type without its mask", PGT_EINVAL, HAS_SET, SET, PGT_MEM_DEVICE);
	fault("a shareability without its mask", PGT_EINVAL, HAS_SET, SET, PGT_SH_NONE);
	fault("reading for tracking", PGT_EINVAL, HAS_ACCESS | HAS_GATHER, ACCESS, PGT_READ | PGT_UPDATE);
	fault("onto itself", PGT_EINVAL, HAS_TO, TO | VA | LEN, 0);
	fault("not aligned destination", PGT_EALIGN, HAS_TO, TO, w.base + 2 * home() + 8);
	fault("neither aligned nor in range", PGT_EALIGN, HAS_TO, TO, beyond + GIB(1) + page / 2);
	fault("destination after the range", PGT_ERANGE, HAS_TO, TO, beyond + GIB(1));
	fault("destination before the range", PGT_ERANGE, HAS_TO, TO, w.base - GIB(1));
	fault("destination in the hole", PGT_ERANGE, HAS_TO, TO, BIT(55) + GIB(1));
	fault("no table for the copies", PGT_EINVAL, HAS_OTHER, OTHER, 0);
	fault("a copy to itself", PGT_EINVAL, HAS_OTHER, OTHER | T, 1);
	for (unsigned i = 0; i < sizeof(no_size) / sizeof(*no_size); i++)
		if (no_size[i] > 63 || !(pgt_leaf_sizes(w.t) >> no_size[i] & 1))
			fault("a size that doesn't exist", PGT_ENOTSUP, HAS_BITS, BITS, no_size[i]);
	fault("harvest of nothing", PGT_EINVAL, HAS_BITMAP, WHAT, 0);
	fault("harvest of WRITE", PGT_EINVAL, HAS_BITMAP, WHAT, PGT_DIRTY | PGT_WRITE);
	fault("harvest of UPDATE", PGT_EINVAL, HAS_BITMAP, WHAT, PGT_YOUNG | PGT_UPDATE);
	fault("a selection without bitmap", PGT_EINVAL, HAS_BITMAP, BITMAP | FLAGS, PGT_SELECTED);
	fault("too wide a token", PGT_ERANGE, HAS_TOKEN, TOKEN, UINT64_MAX);
	fault("too wide a token", PGT_ERANGE, HAS_TOKEN, TOKEN, BIT(63));
	/* Where the range lies before, or goes beyond, the bitmap of one page. */
	fault("a range before the bitmap", PGT_ERANGE, HAS_BITMAP, VA, w.base + home() - page);
	fault("a range after the bitmap", PGT_ERANGE, HAS_BITMAP, VA, w.base + home() + page);
	fault("a range longer than the bitmap", PGT_ERANGE, HAS_BITMAP, LEN, 2 * page);
	(void)call;
}

static void list_faults(const struct call *call)
{
	uint64_t page = BIT(w.geo.g), top = BIT(w.c.output_bits), beyond = w.base + w.bytes;
	static const uint64_t bad_access[] = {
		0, PGT_USER, PGT_UPDATE, PGT_READ | PGT_WRITE, PGT_READ | PGT_EXEC,
		PGT_WRITE | PGT_EXEC, PGT_READ | PGT_WRITE | PGT_EXEC, PGT_UEXEC,
		PGT_READ | PGT_UEXEC, PGT_READ | PGT_GLOBAL, PGT_READ | PGT_YOUNG,
		PGT_WRITE | PGT_DIRTY, PGT_READ | BIT(63), PGT_READ | BIT(33), PGT_READ | BIT(31),
		PGT_READ | PGT_MEM_DEVICE,
	};

	n_faults = 0;
	fault("NULL table", PGT_EINVAL, 0, T, 0);
	fault("NULL result", PGT_EINVAL, HAS_RESULT, RESULT, 0);
	fault("zero length", PGT_EINVAL, HAS_RANGE, LEN, 0);
	if (call->flags || call->has & HAS_RANGE)
		for (unsigned i = 0; i < 24; i++)
			if (!(call->flags & 1u << i))
				fault("unknown flag", PGT_EINVAL, 0, FLAGS, 1u << i);
	if (!(call->has & HAS_MAX))
		for (unsigned i = 24; i < 32; i++)
			fault("PGT_MAX_LEAF", PGT_EINVAL, 0, FLAGS, 1u << i);
	for (unsigned i = 0; i < 64; i++)
		if (!(ATTR_KNOWN & BIT(i)))
			fault("unknown attribute", PGT_EINVAL, HAS_PA, ATTR, PGT_READ | BIT(i));
	fault("executable device", PGT_EINVAL, HAS_PA, ATTR,
	      PGT_READ | PGT_EXEC | PGT_MEM_DEVICE);
	fault("user-executable device", PGT_EINVAL, HAS_PA, ATTR,
	      PGT_READ | PGT_USER | PGT_UEXEC | PGT_MEM_DEVICE_STRICT);
	fault("another table's gather", PGT_EINVAL, HAS_GATHER, GATHER,
	      (uint64_t)(uintptr_t)&foreign);
	fault("a gather never begun", PGT_EINVAL, HAS_GATHER, GATHER,
	      (uint64_t)(uintptr_t)&unborn);
	fault("a gather that has ended", PGT_EINVAL, HAS_GATHER, GATHER,
	      (uint64_t)(uintptr_t)&ended);
	for (unsigned i = 0; i < sizeof(bad_access) / sizeof(bad_access[0]); i++)
		fault("bad access", PGT_EINVAL, HAS_ACCESS, ACCESS, bad_access[i]);

	if (w.arm64) {
		fault("write without read", PGT_ENOTSUP, HAS_PA, ATTR, PGT_WRITE);
		fault("nothing allowed", PGT_ENOTSUP, HAS_PA, ATTR, 0);
		fault("inaccessible and nothing else", PGT_ENOTSUP, HAS_PA, ATTR, PGT_NOACCESS);
		fault("UEXEC beside READ without USER", PGT_ENOTSUP, HAS_PA, ATTR,
		      PGT_READ | PGT_UEXEC);
	}
	fault("leaves below the granule", PGT_ENOTSUP, HAS_MAX, FLAGS,
	      PGT_MAX_LEAF(w.geo.g - 1));
	fault("leaves of 2 bytes", PGT_ENOTSUP, HAS_MAX, FLAGS, PGT_MAX_LEAF(1));

	fault("VA not aligned", PGT_EALIGN, HAS_RANGE, VA, w.base + home() + page / 2);
	fault("VA not aligned", PGT_EALIGN, HAS_RANGE, VA, w.base + home() + 1);
	fault("VA neither aligned nor in range", PGT_EALIGN, HAS_RANGE, VA, beyond + 8);
	fault("VA -1", PGT_EALIGN, HAS_RANGE, VA, UINT64_MAX);
	fault("length not aligned", PGT_EALIGN, HAS_RANGE, LEN, page / 2);
	fault("length 1", PGT_EALIGN, HAS_RANGE, LEN, 1);
	fault("length -1", PGT_EALIGN, HAS_RANGE, LEN, UINT64_MAX);
	fault("PA not aligned", PGT_EALIGN, HAS_PA, PA, page - 1);
	fault("PA neither aligned nor in range", PGT_EALIGN, HAS_PA, PA, top + page / 2);

	fault("length wraps", PGT_ERANGE, HAS_RANGE, LEN, 0 - page);
	fault("length beyond the input range", PGT_ERANGE, HAS_RANGE, LEN, w.bytes + page);
	fault("length beyond the input range", PGT_ERANGE, HAS_RANGE, LEN, BIT(63));
	fault("VA after the range", PGT_ERANGE, HAS_VA, VA, beyond);
	fault("VA before the range", PGT_ERANGE, HAS_VA, VA, w.base - page);
	fault("VA in the hole", PGT_ERANGE, HAS_VA, VA, BIT(63));
	fault("VA in the hole", PGT_ERANGE, HAS_VA, VA, BIT(55));
	fault("VA of the other half", PGT_ERANGE, HAS_VA, VA,
	      w.base ? home() : home() - w.bytes);
	fault("the last page and one more", PGT_ERANGE, HAS_RANGE, VA | LEN, 0);
	fault("PA beyond the output range", PGT_ERANGE, HAS_PA, PA, top);
	fault("PA at the very top", PGT_ERANGE, HAS_PA, PA, 0 - page);
	fault("PA range ends beyond", PGT_ERANGE, HAS_PA, PA | LEN, 0);
	list_own_faults(call);
}

/* One that applies to the call as it is. */
static bool applies(const struct call *call, const struct fault *f)
{
	if ((f->needs & call->has) != f->needs)
		return false;
	if (f->touches == FLAGS && !(call->flags || call->has & HAS_MAX))
		return false; /* it takes no flags */
	/* Source and destination overlap, if that means anything where they wrap. */
	if (call->has & HAS_TO && f->touches == LEN && f->value > w.bytes / 2)
		return false;
	return true;
}

static void spoil(struct args *a, const struct fault *f)
{
	uint64_t page = BIT(w.geo.g);

	switch (f->touches) {
	case T: a->t = NULL; break;
	case VA: a->va = f->value; break;
	case PA: a->pa = f->value; break;
	case LEN: a->len = f->value; break;
	case ATTR: a->attr = f->value; break;
	case FLAGS: a->flags |= (unsigned)f->value; break;
	case GATHER: a->gather = (struct pgt_gather *)(uintptr_t)f->value; break;
	case RESULT: a->no_result = true; break;
	case ACCESS: a->access = f->value; break;
	case SET: a->set = f->value; break;
	case TO: a->to = f->value; break;
	case TO | VA | LEN: a->to = a->va; break;
	case OTHER: a->other = NULL; break;
	case OTHER | T: a->other = a->t; break;
	case BITS: a->bits = (unsigned)f->value; break;
	case WHAT: a->what = f->value; break;
	case BITMAP | FLAGS: a->bitmap = NULL; a->flags |= (unsigned)f->value; break;
	case TOKEN: a->token = f->value; break;
	case VA | LEN: a->va = world_last(&w) - (page - 1); a->len = 2 * page; break;
	case PA | LEN: a->pa = BIT(w.c.output_bits) - page; a->len = 2 * page; break;
	default: break;
	}
}

/* Good arguments over a page that is mapped already: map's state error is PGT_EEXIST. */
static struct args good_args(const struct call *call)
{
	static uint64_t words[2];
	static struct pgt_bitmap bitmap;
	struct args a = { .t = w.t, .va = w.base + home(), .pa = GIB(1), .len = BIT(w.geo.g),
			  .attr = PGT_READ, .access = PGT_READ, .set = PGT_SW0, .to = w.base + 2 * home(),
			  .bits = w.geo.g, .other = copies.t, .bitmap = &bitmap, .what = PGT_YOUNG,
			  .token = 5 };

	bitmap = (struct pgt_bitmap){ words, a.va, 1, (uint8_t)w.geo.g };

	if (call->make == call_unmap)
		a.flags = PGT_NO_SPLIT; /* inside a block: PGT_EBLOCK */
	return a;
}

static struct embed_snapshot before;

/* What one failed call may not do. */
static void unchanged(uint64_t allocated, uint64_t freed)
{
	const char *what = embed_compare(&w.e, &before);

	if (what)
		note("%s", what);
	want(!what);
	want_u64(w.e.allocated, allocated);
	want_u64(w.e.freed, freed);
	want_u64(w.e.events, 0);
}

static void one_bad_call(const struct call *call, const struct fault *f1,
			 const struct fault *f2)
{
	struct args a = good_args(call);
	int code = f1->code;

	if (f2 && rank(f2->code) < rank(code))
		code = f2->code;
	spoil(&a, f1);
	if (f2)
		spoil(&a, f2);
	where("%s: %s%s%s (%#" PRIx64 ", %#" PRIx64 ")", call->name, f1->name,
	      f2 ? " and " : "", f2 ? f2->name : "", f1->value, f2 ? f2->value : 0);
	want_status(call->make(&a), code);
	unchanged(w.e.allocated, w.e.freed);
}

static void bad_calls(const struct call *call)
{
	list_faults(call);
	embed_snapshot(&w.e, &before);
	embed_log_clear(&w.e);
	for (unsigned i = 0; i < n_faults; i++) {
		const struct fault *f = &faults[i];

		if (!applies(call, f))
			continue;
		one_bad_call(call, f, NULL);
		for (unsigned k = 0; k < i; k++)
			if (applies(call, &faults[k]) && !(faults[k].touches & f->touches))
				one_bad_call(call, &faults[k], f);
	}
}

static void open_for_bad_calls(const char *format, unsigned g, uint64_t features, unsigned mode)
{
	if (!world_open(&w, format, g, 48, features, mode | EMBED_ALL))
		return;
	/* A block at 0 and, where it doesn't reach, one at home. */
	want_status(pgt_map(w.t, w.base, 0, w.l2, PGT_READ, 0, NULL), PGT_OK);
	if (w.l2 <= home())
		want_status(pgt_map(w.t, w.base + home(), 0, w.l2, PGT_READ, 0, NULL), PGT_OK);
}

static void test_bad_arguments(const char *format)
{
	for_granules(format, granule) {
		for (unsigned upper = 0; upper < 2; upper++) {
			struct world other;
			uint64_t features = upper ? PGT_FEAT_UPPER : 0;

			if (upper && !has_upper(format))
				continue;
			begin();
			memset(&unborn, 0, sizeof(unborn));
			if (!world_open(&other, format, 12, 39, 0, 0))
				return;
			features |= PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY;
			if (!world_open(&copies, format, granule, 48, features, 0))
				return;
			want_status(pgt_gather_begin(&foreign, other.t), PGT_OK);
			open_for_bad_calls(format, granule, features, 0);
			want_status(pgt_gather_begin(&ended, w.t), PGT_OK);
			want_status(pgt_gather_end(&ended), PGT_OK);
			for (unsigned i = 0; i < N_CALLS; i++)
				bad_calls(&calls[i]);
			want_status(pgt_gather_end(&foreign), PGT_OK);
			want_u64(copies.e.allocated, 1);
			world_close(&w);
			world_close(&other);
			world_close(&copies);
			ok(fine, "%s, granule 2^%u, %s half: bad arguments alone and in pairs "
			   "give the documented code and change nothing", format, granule,
			   upper ? "upper" : "lower");
		}
	}
}

/* Arguments that are all right meet the table last. */
static void test_state_last(const char *format)
{
	struct pgt_gather g;

	begin();
	open_for_bad_calls(format, 12, 0, 0);
	embed_snapshot(&w.e, &before);
	embed_log_clear(&w.e);
	want_status(pgt_map(w.t, home(), GIB(1), w.page, PGT_READ, 0, NULL), PGT_EEXIST);
	unchanged(w.e.allocated, w.e.freed);
	want_status(pgt_map(w.t, home(), GIB(1), w.page, PGT_READ,
			    PGT_REPLACE | PGT_NO_SPLIT, NULL), PGT_EBLOCK);
	unchanged(w.e.allocated, w.e.freed);
	want_status(pgt_unmap(w.t, home(), w.page, PGT_NO_SPLIT, NULL), PGT_EBLOCK);
	unchanged(w.e.allocated, w.e.freed);
	want_status(pgt_unmap(w.t, home(), w.page, PGT_NO_BREAK, NULL), PGT_EBREAK);
	unchanged(w.e.allocated, w.e.freed);

	/* A failed call under a gather leaves it open, with what it held. */
	want_status(pgt_gather_begin(&g, w.t), PGT_OK);
	want_status(pgt_unmap(w.t, 0, w.l2, 0, &g), PGT_OK);
	want_status(pgt_map(w.t, home(), GIB(1), w.page, PGT_READ, 0, &g), PGT_EEXIST);
	want_status(pgt_map(w.t, home(), GIB(1), w.page / 4 * 3, PGT_READ, 0, &g), PGT_EALIGN);
	want_status(pgt_map(w.t, home(), GIB(1), 0, PGT_READ, 0, &g), PGT_EINVAL);
	want_u64(w.e.count[EMBED_SYNC], 0);
	want_u64(g.tally.unmapped, w.l2);
	want_status(pgt_gather_end(&g), PGT_OK);
	want_u64(w.e.count[EMBED_SYNC], 1);
	world_close(&w);
	ok(fine, "%s: the table's state comes after the arguments, and a failed call leaves "
	   "its gather open", format);
}

/* A field is changed whole or not at all. */
static void test_fields(const char *format)
{
	static const uint64_t masks[] = { PGT_MEM_MASK, PGT_SH_MASK };
	const unsigned shift[] = { 16, 24 }, values[] = { 5, 3 };
	uint64_t at;

	begin();
	open_for_bad_calls(format, 12, 0, 0);
	at = home();
	embed_snapshot(&w.e, &before);
	embed_log_clear(&w.e);
	for (unsigned f = 0; f < 2; f++)
		for (uint64_t part = 0; part <= masks[f] >> shift[f]; part++)
			for (uint64_t set = 0; set <= masks[f] >> shift[f]; set++) {
				uint64_t clear = part << shift[f];
				bool good = clear == masks[f] ? set < values[f] : !part && !set;

				if (good)
					continue;
				where("clear %#" PRIx64 " set %#" PRIx64, clear, set << shift[f]);
				want_status(pgt_protect(w.t, at, w.page, set << shift[f], clear, 0, NULL),
					    PGT_EINVAL);
				want_status(pgt_protect(w.t, at, w.page, PGT_SW0 | set << shift[f],
							PGT_WRITE | clear, 0, NULL), PGT_EINVAL);
			}
	unchanged(w.e.allocated, w.e.freed);
	where("nothing to do");
	want_status(pgt_protect(w.t, at, w.page, 0, 0, 0, NULL), PGT_OK);
	want_status(pgt_protect(w.t, at, w.page, PGT_MEM_NORMAL | PGT_SH_INNER,
				PGT_MEM_MASK | PGT_SH_MASK, 0, NULL), PGT_OK);
	unchanged(w.e.allocated, w.e.freed);
	world_close(&w);
	ok(fine, "%s: part of a field, or a field's bits alone, are PGT_EINVAL", format);
}

/* State that neither hardware nor faults set again isn't cleared. */
static void test_untracked(const char *format)
{
	static const struct {
		uint64_t feature, state;
	} tracks[] = {
		{ 0, 0 },
		{ PGT_FEAT_TRACK_YOUNG, PGT_YOUNG },
		{ PGT_FEAT_TRACK_DIRTY, PGT_DIRTY },
		{ PGT_FEAT_HW_YOUNG, PGT_YOUNG },
		{ PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY, PGT_YOUNG | PGT_DIRTY },
	};

	begin();
	for (unsigned i = 0; i < 5; i++)
		for (uint64_t state = PGT_YOUNG; state <= (PGT_YOUNG | PGT_DIRTY); state += PGT_YOUNG) {
			int code = state & ~tracks[i].state ? PGT_ENOTSUP : PGT_OK;

			if (!world_open(&w, format, 12, 48, tracks[i].feature, EMBED_TLB))
				return;
			where("features %#" PRIx64 " state %#" PRIx64, tracks[i].feature, state);
			want_status(pgt_map(w.t, home(), w.l2, w.l2, RWD, 0, NULL), PGT_OK);
			want_status(pgt_harvest(w.t, home(), w.l2, state, PGT_PEEK, NULL, NULL), PGT_OK);
			embed_snapshot(&w.e, &before);
			want_status(pgt_harvest(w.t, home(), w.l2, state, 0, NULL, NULL), code);
			want_u64(embed_compare(&w.e, &before) == NULL, code != PGT_OK);
			want_status(pgt_protect(w.t, home(), w.l2, 0, state, 0, NULL), code);
			want_u64(query(w.t, home()).attr, code == PGT_OK ? RWD & ~state : RWD);
			/* ... and put back. */
			want_status(pgt_protect(w.t, home(), w.l2, state, 0, 0, NULL), PGT_OK);
			want_u64(query(w.t, home()).attr, RWD);
			world_close(&w);
		}
	ok(fine, "%s: clearing state that nothing sets again is PGT_ENOTSUP, peeking isn't", format);
}

/* A copy goes to a table of the same shape. */
static void test_shapes(const char *format)
{
	static const struct {
		unsigned g, input, output;
		uint64_t features;
	} shapes[] = {
		{ 14, 48, 48, 0 }, { 12, 39, 48, 0 }, { 12, 48, 40, 0 }, { 12, 48, 48, PGT_FEAT_UPPER },
	};
	struct world other;

	begin();
	open_for_bad_calls(format, 12, 0, 0);
	embed_snapshot(&w.e, &before);
	for (unsigned i = 0; i < 4; i++) {
		int status;

		if (world_open_as(&other, format, shapes[i].g, shapes[i].input, shapes[i].output,
				  shapes[i].features, 0) != PGT_OK) {
			embed_fini(&other.e);
			continue;
		}
		where("shape %u", i);
		if (other.geo.g == w.geo.g && other.bytes == w.bytes && other.base == w.base &&
		    other.c.output_bits == w.c.output_bits) { /* the only granule there is */
			world_close(&other);
			continue;
		}
		status = pgt_copy(other.t, w.t, home(), w.page, 0, NULL);
		want(status == PGT_EINVAL || status == PGT_ENOTSUP);
		want_u64(other.e.live, 1);
		world_close(&other);
	}
	want(!embed_compare(&w.e, &before));
	world_close(&w);
	ok(fine, "%s: a copy to a table of another shape is refused", format);
}

/* Tables that are only read. */
static void test_read_only(const char *format)
{
	struct pgt_bitmap bitmap;
	struct pgt_config c;
	struct pgt *t = NULL;
	uint64_t word = 0;

	begin();
	open_for_bad_calls(format, 12, PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY, 0);
	c = w.c;
	c.memory.alloc = NULL;
	c.memory.free = NULL;
	want_status(pgt_attach(&c, pgt_root(w.t), &t), PGT_OK);
	if (t) {
		embed_snapshot(&w.e, &before);
		embed_log_clear(&w.e);
		bitmap = (struct pgt_bitmap){ &word, home(), 1, (uint8_t)w.geo.g };
		want_status(pgt_protect(t, home(), w.page, PGT_SW0, 0, 0, NULL), PGT_ENOTSUP);
		want_status(pgt_move(t, home(), 3 * home(), w.page, 0, NULL), PGT_ENOTSUP);
		want_status(pgt_copy(t, w.t, 3 * home(), w.page, 0, NULL), PGT_ENOTSUP);
		want_status(pgt_copy(w.t, t, 3 * home(), w.page, 0, NULL), PGT_ENOTSUP);
		want_status(pgt_split(t, home(), w.page, w.geo.g, 0, NULL), PGT_ENOTSUP);
		want_status(pgt_collapse(t, home(), w.page, w.geo.g, 0, NULL), PGT_ENOTSUP);
		want_status(pgt_harvest(t, home(), w.page, PGT_YOUNG, 0, &bitmap, NULL), PGT_ENOTSUP);
		want_status(pgt_fault(t, home(), PGT_READ, NULL), PGT_ENOTSUP);
		want_status(pgt_store(t, 3 * home(), w.page, 1, 0, NULL), PGT_ENOTSUP);
		/* Malformed comes first, addresses last. */
		want_status(pgt_protect(t, home(), w.page, BIT(63), 0, 0, NULL), PGT_EINVAL);
		want_status(pgt_move(t, home(), home(), w.page, 0, NULL), PGT_EINVAL);
		want_status(pgt_copy(t, t, home(), w.page, 0, NULL), PGT_EINVAL);
		want_status(pgt_move(t, 1, 2, 1, 0, NULL), PGT_ENOTSUP);
		want_status(pgt_fault(t, BIT(60), PGT_READ, NULL), PGT_ENOTSUP);
		want_u64(word, 0);
		unchanged(w.e.allocated, w.e.freed);
		pgt_destroy(t);
	}
	world_close(&w);
	ok(fine, "%s: tables that are only read refuse all changing calls", format);
}

/* What is not a range call. */
static void test_other_calls(const char *format)
{
	struct pgt_config c, none;
	struct pgt_cursor cursor;
	struct pgt_translation tr;
	struct pgt_gather g;
	struct pgt *t = NULL;
	uint64_t pa;

	begin();
	open_for_bad_calls(format, 12, 0, 0);
	embed_snapshot(&w.e, &before);
	embed_log_clear(&w.e);
	memset(&g, 0, sizeof(g));
	want_status(pgt_gather_begin(NULL, NULL), PGT_EINVAL);
	want_status(pgt_gather_end(NULL), PGT_EINVAL);
	want_status(pgt_gather_end(&g), PGT_EINVAL);
	want_status(pgt_gather_begin(&g, w.t), PGT_OK);
	want_status(pgt_gather_end(&g), PGT_OK);
	want_status(pgt_gather_end(&g), PGT_EINVAL);

	memset(&c, 0, sizeof(c));
	c.size = sizeof(c);
	want_status(pgt_describe(NULL, &c), PGT_EINVAL);
	want_status(pgt_describe(w.t, NULL), PGT_EINVAL);

	pgt_destroy(NULL);
	pgt_cursor_init(&cursor, w.t);
	want_status(pgt_cursor_translate(NULL, home(), PGT_READ, &tr), PGT_EINVAL);
	want_status(pgt_cursor_translate(&cursor, home(), PGT_READ, NULL), PGT_EINVAL);
	want_status(pgt_cursor_translate(&cursor, home(), PGT_READ, &tr), PGT_OK);
	memset(&cursor, 0, sizeof(cursor));
	want_status(pgt_cursor_translate(&cursor, home(), PGT_READ, &tr), PGT_EINVAL);

	c = w.c;
	want_status(pgt_create(NULL, &t), PGT_EINVAL);
	want_status(pgt_create(&c, NULL), PGT_EINVAL);
	want_status(pgt_init(NULL, 4096, &c, &t), PGT_EINVAL);
	want_status(pgt_attach(NULL, GIB(1), &t), PGT_EINVAL);
	want_status(pgt_attach(&c, GIB(1), NULL), PGT_EINVAL);
	want_u64(pgt_storage(NULL), 0);
	memset(&none, 0, sizeof(none));
	want_status(pgt_create(&none, &t), PGT_EINVAL);
	want_status(pgt_attach(&none, GIB(1), &t), PGT_EINVAL);
	want_u64(pgt_storage(&none), 0);
	pa = pgt_root(w.t);
	want(embed_live(&w.e, pa, geo_root_bytes(&w.geo)));
	want(!t);
	unchanged(w.e.allocated, w.e.freed);
	want_status(pgt_reserve(NULL, 1), PGT_EINVAL);
	embed_fail(&w.e, 3, true);
	want_status(pgt_reserve(w.t, UINT64_MAX), PGT_ENOMEM);
	embed_fail(&w.e, 1, true);
	want_status(pgt_reserve(w.t, BIT(63)), PGT_ENOMEM);
	embed_fail(&w.e, 0, false);
	want(!embed_compare(&w.e, &before));
	world_close(&w);
	ok(fine, "%s: NULL, zeroed and ended arguments of the calls that take no range", format);
}

/* ---- Addresses and lengths that have nothing to do with the table -------- */

#define MAX_NASTY 200
static uint64_t nasty[MAX_NASTY];
static unsigned n_nasty;

static void add_nasty(uint64_t v)
{
	for (unsigned i = 0; i < n_nasty; i++)
		if (nasty[i] == v)
			return;
	if (n_nasty < MAX_NASTY)
		nasty[n_nasty++] = v;
}

static void list_nasty(void)
{
	uint64_t page = BIT(w.geo.g);
	const unsigned bits[] = { w.geo.g, 21, 30, 32, 39, 47, 48, 52, 55, 63 };

	n_nasty = 0;
	add_nasty(0);
	add_nasty(1);
	add_nasty(UINT64_MAX);
	add_nasty(0 - page);
	add_nasty(w.base);
	add_nasty(w.base + w.bytes - page);
	add_nasty(w.base + w.bytes);
	add_nasty(w.base - page);
	add_nasty(w.base + w.bytes / 2);
	add_nasty(w.base + w.bytes - 1);
	add_nasty(w.base + home());
	for (unsigned i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		add_nasty(BIT(bits[i]));
		add_nasty(BIT(bits[i]) - page);
		add_nasty(0 - BIT(bits[i]));
		add_nasty(w.base + BIT(bits[i]) + page);
	}
	/* Where all of it is smaller. */
	for (unsigned level = w.geo.start; w.geo.g < 12 && level < 3; level++) {
		add_nasty(w.base + geo_span(&w.geo, level));
		add_nasty(w.base + geo_span(&w.geo, level) - page);
		add_nasty(w.base + geo_span(&w.geo, level) + page);
	}
	add_nasty(UINT64_C(0x5555555555555555));
	add_nasty(UINT64_C(0xdead000000000000));
	add_nasty(UINT64_C(0xffff000000000fff));
}

/* 128-bit arithmetic, by hand: does [at, at + len) lie in [base, base + bytes)? */
static bool inside(uint64_t at, uint64_t len, uint64_t base, uint64_t bytes)
{
	uint64_t offset = at - base;

	return at >= base && offset < bytes && len <= bytes - offset;
}

/* What a range's arguments come to, without the table. */
static int range_code(uint64_t va, uint64_t len)
{
	uint64_t mask = BIT(w.geo.g) - 1;

	if (!len)
		return PGT_EINVAL;
	if ((va | len) & mask)
		return PGT_EALIGN;
	return inside(va, len, w.base, w.bytes) ? PGT_OK : PGT_ERANGE;
}

static int map_code(uint64_t va, uint64_t pa, uint64_t len)
{
	int code = range_code(va, len);

	if (code == PGT_EINVAL)
		return code;
	if (pa & (BIT(w.geo.g) - 1))
		return PGT_EALIGN;
	if (code == PGT_OK && !inside(pa, len, 0, BIT(w.c.output_bits)))
		return PGT_ERANGE;
	return code;
}

/* A call that got as far as the table. */
static bool past_arguments(int status)
{
	return status == PGT_OK || status == PGT_EEXIST || status == PGT_ENOMEM ||
	       status == PGT_EBLOCK || status == PGT_EBREAK;
}

static void want_range(int status, int code)
{
	if (code == PGT_OK)
		want(past_arguments(status));
	else
		want_status(status, code);
}

static void sweep_readers(uint64_t va)
{
	struct pgt_translation tr;
	struct pgt_mapping m;
	struct pgt_cursor cursor;
	bool in = inside(va, 1, w.base, w.bytes);
	int status;

	where("va %#" PRIx64, va);
	want_status(pgt_query(w.t, va, &m), in ? PGT_OK : PGT_ERANGE);
	if (in) {
		want(va - m.va < m.len);
		want(inside(m.va, m.len, w.base, w.bytes));
	}
	for (unsigned i = 0; i < 3; i++) {
		status = pgt_translate(w.t, va, PGT_READ << i, &tr);
		want(in ? status == PGT_OK || status == PGT_EFAULT : status == PGT_ERANGE);
		pgt_cursor_init(&cursor, w.t);
		want_status(pgt_cursor_translate(&cursor, va, PGT_READ << i, &tr), status);
	}
}

static void sweep_ranges(uint64_t va, uint64_t len)
{
	int code = range_code(va, len);
	struct pgt_stat s;

	where("va %#" PRIx64 " len %#" PRIx64, va, len);
	want_status(pgt_visit(w.t, va, len, 0, visit_nothing, NULL), code);
	want_status(pgt_visit(w.t, va, len, PGT_MERGE | PGT_HOLES, visit_nothing, NULL), code);
	want_status(pgt_stat(w.t, va, len, &s), code);
	want_status(pgt_dump(w.t, va, len, text_nothing, NULL), code);
	if (code != PGT_OK) {
		want_status(pgt_unmap(w.t, va, len, PGT_WHOLE, NULL), code);
		want_status(pgt_trim(w.t, va, len, NULL), code);
		want_status(pgt_protect(w.t, va, len, PGT_SW0, 0, 0, NULL), code);
		want_status(pgt_split(w.t, va, len, w.geo.g, 0, NULL), code);
		want_status(pgt_collapse(w.t, va, len, w.geo.g, 0, NULL), code);
		want_status(pgt_harvest(w.t, va, len, PGT_YOUNG, PGT_PEEK, NULL, NULL), code);
		want_status(pgt_store(w.t, va, len, 1, PGT_REPLACE, NULL), code);
		want(pgt_move(w.t, va, w.base, len, 0, NULL) < 0);
		want(pgt_move(w.t, w.base, va, len, 0, NULL) < 0);
	}
	for (unsigned i = 0; i < n_nasty; i++) {
		uint64_t pa = nasty[i], n;
		int mapped = map_code(va, pa, len);

		where("va %#" PRIx64 " pa %#" PRIx64 " len %#" PRIx64, va, pa, len);
		want_status(pgt_tables_needed(w.t, va, pa, len, PGT_READ, 0, &n), mapped);
		if (mapped != PGT_OK)
			want_status(pgt_map(w.t, va, pa, len, PGT_READ, PGT_REPLACE, NULL),
				    mapped);
	}
}

/* Those that are in order are made too, in a table that may have no memory. */
static void sweep_good(uint64_t va, uint64_t len)
{
	uint64_t pa = (va - w.base) & (BIT(w.c.output_bits - 1) - 1);
	int status;

	if (range_code(va, len) != PGT_OK)
		return;
	where("va %#" PRIx64 " len %#" PRIx64, va, len);
	embed_fail(&w.e, 40, true);
	status = pgt_map(w.t, va, pa, len, PGT_READ, 0, NULL);
	want_range(status, map_code(va, pa, len));
	if (status == PGT_OK) {
		want_u64(reads(w.t, va), pa);
		want_u64(reads(w.t, va + (len - 1)), pa + (len - 1));
		want_status(pgt_unmap(w.t, va, len, 0, NULL), PGT_OK);
	} else {
		want_range(pgt_unmap(w.t, va, len, PGT_WHOLE | PGT_KEEP_TABLES, NULL), PGT_OK);
		want_status(pgt_trim(w.t, va, len, NULL), PGT_OK);
	}
	embed_fail(&w.e, 0, false);
	want_u64(w.e.live, 1);
}

static void sweep(const char *format, unsigned g, unsigned input, uint64_t features)
{
	uint64_t page = BIT(g);

	if (!world_open(&w, format, g, input, features | PGT_FEAT_CONTIG, EMBED_ALL))
		return;
	list_nasty();
	for (unsigned i = 0; i < n_nasty; i++)
		for (unsigned k = 0; k < n_nasty; k++)
			sweep_good(nasty[i], nasty[k]);
	/* Something to be in the way. */
	want_status(pgt_map(w.t, w.base, 0, page, PGT_READ, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, world_last(&w) - (page - 1), 0, page, PGT_READ, 0, NULL), PGT_OK);
	embed_snapshot(&w.e, &before);
	for (unsigned i = 0; i < n_nasty; i++) {
		sweep_readers(nasty[i]);
		for (unsigned k = 0; k < n_nasty; k++)
			sweep_ranges(nasty[i], nasty[k]);
	}
	want(!embed_compare(&w.e, &before));
	world_close(&w);
}

static void test_sweep(const char *format)
{
	static const unsigned inputs[] = { 25, 32, 39, 48 };

	for_granules(format, granule) {
		begin();
		for (unsigned i = 0; i < 4; i++) {
			sweep(format, granule, inputs[i], 0);
			if (has_upper(format))
				sweep(format, granule, inputs[i], PGT_FEAT_UPPER);
		}
		ok(fine, "%s, granule 2^%u: no call minds any address or length", format,
		   granule);
	}
}

/* A leaf size of any number of bits is a bound or an error, never a crash. */
static void test_max_leaf(const char *format)
{
	begin();
	for_granules(format, granule) {
		unsigned g = granule;
		uint64_t at;

		if (!world_open(&w, format, g, 48, PGT_FEAT_CONTIG, 0))
			continue;
		at = w.bytes / 4;
		for (unsigned bits = 1; bits < 256; bits++) {
			int code = bits < g ? PGT_ENOTSUP : PGT_OK, status;
			uint64_t n;

			where("granule %u, PGT_MAX_LEAF(%u)", g, bits);
			status = pgt_map(w.t, at, world_pa(&w, 1), w.l2, PGT_READ,
					 PGT_MAX_LEAF(bits), NULL);
			/* No address has more than 64 bits. */
			if (bits >= 64 && status == PGT_EINVAL)
				code = PGT_EINVAL;
			want_status(status, code);
			want_status(pgt_tables_needed(w.t, at, world_pa(&w, 1), w.l2, PGT_READ,
						      PGT_MAX_LEAF(bits), &n), code);
			if (code == PGT_OK) {
				want(query(w.t, at).run_bytes <=
				     (bits < 64 ? BIT(bits) : UINT64_MAX));
				want_status(pgt_unmap(w.t, at, w.l2, 0, NULL), PGT_OK);
			}
		}
		world_close(&w);
	}
	ok(fine, "%s: PGT_MAX_LEAF with any number", format);
}

/* ---- Calls from callbacks ------------------------------------------------ */

static bool in_callback;
static uint64_t callbacks[EMBED_KINDS], unit_calls, removed_calls, virt_calls;
static struct pgt_gather *open_gather;

/* Every changing call is refused, every reading call answers. */
static void from_callback(void)
{
	struct pgt_translation tr;
	struct pgt_mapping m;
	struct pgt_cursor cursor;
	struct pgt_gather g;
	struct pgt_stat s;
	uint64_t page = BIT(w.geo.g), sentinel = w.base + w.bytes / 2, n;

	if (in_callback)
		return;
	in_callback = true;
	want_status(pgt_map(w.t, w.base + spot(), 0, page, PGT_READ, 0, NULL), PGT_EBUSY);
	want_status(pgt_unmap(w.t, sentinel, page, 0, NULL), PGT_EBUSY);
	want_status(pgt_trim(w.t, sentinel, page, NULL), PGT_EBUSY);
	want_status(pgt_reserve(w.t, 1), PGT_EBUSY);
	want_status(pgt_protect(w.t, sentinel, page, 0, PGT_WRITE, 0, NULL), PGT_EBUSY);
	want_status(pgt_move(w.t, sentinel, sentinel + page, page, 0, NULL), PGT_EBUSY);
	want_status(pgt_split(w.t, sentinel, page, w.geo.g, 0, NULL), PGT_EBUSY);
	want_status(pgt_collapse(w.t, sentinel, page, w.geo.g, 0, NULL), PGT_EBUSY);
	want_status(pgt_harvest(w.t, sentinel, page, PGT_YOUNG, PGT_PEEK, NULL, NULL), PGT_EBUSY);
	want_status(pgt_fault(w.t, sentinel, PGT_READ, NULL), PGT_EBUSY);
	want_status(pgt_store(w.t, w.base + spot(), page, 1, 0, NULL), PGT_EBUSY);
	want_status(pgt_copy(copies.t, w.t, sentinel, page, 0, NULL), PGT_EBUSY);
	want_status(pgt_copy(w.t, copies.t, sentinel, page, 0, NULL), PGT_EBUSY);
	want_status(pgt_gather_begin(&g, w.t), PGT_EBUSY);
	if (open_gather)
		want_status(pgt_gather_end(open_gather), PGT_EBUSY);
	/* After EINVAL, before all else. */
	want_status(pgt_map(w.t, 0, 0, 0, PGT_READ, 0, NULL), PGT_EINVAL);
	want_status(pgt_unmap(w.t, sentinel, page, PGT_REPLACE, NULL), PGT_EINVAL);
	want_status(pgt_map(w.t, 0, 0, page, PGT_READ, PGT_MAX_LEAF(3), NULL), PGT_EBUSY);
	want_status(pgt_map(w.t, 1, 2, 3, PGT_READ, 0, NULL), PGT_EBUSY);
	want_status(pgt_unmap(w.t, BIT(60), page, 0, NULL), PGT_EBUSY);
	want_status(pgt_trim(w.t, BIT(60), page, NULL), PGT_EBUSY);
	want_status(pgt_protect(w.t, sentinel, page, BIT(63), 0, 0, NULL), PGT_EINVAL);
	want_status(pgt_move(w.t, sentinel, sentinel, page, 0, NULL), PGT_EINVAL);
	want_status(pgt_harvest(w.t, sentinel, page, 0, 0, NULL, NULL), PGT_EINVAL);
	want_status(pgt_split(w.t, sentinel, page, 1, 0, NULL), PGT_EBUSY);
	want_status(pgt_harvest(w.t, 1, 2, PGT_DIRTY, 0, NULL, NULL), PGT_EBUSY);
	want_status(pgt_move(w.t, 1, 2, 1, 0, NULL), PGT_EBUSY);
	want_status(pgt_fault(w.t, BIT(60), PGT_READ, NULL), PGT_EBUSY);
	want_status(pgt_store(w.t, BIT(60), page, UINT64_MAX, 0, NULL), PGT_EBUSY);

	want_status(pgt_query(w.t, sentinel, &m), PGT_OK);
	want_u64(m.pa, MIB(64));
	want_u64(reads(w.t, sentinel + 5), MIB(64) + 5);
	pgt_cursor_init(&cursor, w.t);
	want_status(pgt_cursor_translate(&cursor, sentinel, PGT_READ, &tr), PGT_OK);
	want_status(pgt_visit(w.t, sentinel, page, 0, visit_nothing, NULL), PGT_OK);
	want_status(pgt_stat(w.t, sentinel, page, &s), PGT_OK);
	want_u64(s.mapped_bytes, page);
	want_status(pgt_dump(w.t, sentinel, page, text_nothing, NULL), PGT_OK);
	want_status(pgt_tables_needed(w.t, w.base + spot(), 0, page, PGT_READ, 0, &n), PGT_OK);
	in_callback = false;
}

static void callback_hook(struct embed *e, const struct embed_event *ev)
{
	(void)e;
	callbacks[ev->kind]++;
	where("from %s", embed_kind_name(ev->kind));
	from_callback();
}

static uint64_t unit_hook(void *ctx, uint64_t pa, uint64_t len)
{
	(void)ctx;
	(void)pa;
	unit_calls++;
	where("from unit");
	from_callback();
	return len;
}

static uint64_t writable_calls;

static uint64_t writable_hook(void *ctx, uint64_t va, uint64_t pa, uint64_t len, uint64_t attr,
			      bool *yes)
{
	(void)ctx, (void)va, (void)pa, (void)attr;
	writable_calls++;
	where("from writable");
	from_callback();
	*yes = true;
	return len;
}

static int removed_hook(void *ctx, const struct pgt_mapping *m)
{
	(void)ctx;
	(void)m;
	removed_calls++;
	where("from removed");
	from_callback();
	return 0;
}

static void *(*real_virt)(void *, uint64_t, uint64_t);
static bool in_change;

static void *virt_hook(void *ctx, uint64_t pa, uint64_t bytes)
{
	void *p = real_virt(ctx, pa, bytes);

	if (in_change && !in_callback) {
		virt_calls++;
		where("from to_virt");
		from_callback();
	}
	return p;
}

static void changing_calls(struct pgt_gather *g)
{
	uint64_t page = BIT(w.geo.g), block = geo_span(&w.geo, 2), at = w.base + 16 * block;

	in_change = true;
	want_status(pgt_map(w.t, at, at - w.base, block * 2, RW, 0, g), PGT_OK);
	want_status(pgt_unmap(w.t, at + page, page, 0, g), PGT_OK);
	want_status(pgt_map(w.t, at, 0, page, PGT_READ, PGT_REPLACE, g), PGT_OK);
	want_status(pgt_unmap(w.t, at, 2 * block, PGT_KEEP_TABLES, g), PGT_OK);
	want_status(pgt_trim(w.t, at, 2 * block, g), PGT_OK);
	want_status(pgt_map(w.t, at, at - w.base, block * 2, PGT_READ, 0, g), PGT_OK);
	want_status(pgt_protect(w.t, at + page, page, PGT_WRITE, 0, 0, g), PGT_OK);
	want_status(pgt_fault(w.t, at + page, PGT_WRITE, g), PGT_OK);
	want_status(pgt_protect(w.t, at + page, page, 0, PGT_WRITE, 0, g), PGT_OK);
	want_status(pgt_copy(copies.t, w.t, at, 2 * block, PGT_COW, g), PGT_OK);
	want_status(pgt_unmap(copies.t, at, 2 * block, 0, NULL), PGT_OK);
	want_status(pgt_harvest(w.t, at, 2 * block, PGT_YOUNG, PGT_PEEK, NULL, g), PGT_OK);
	want_status(pgt_collapse(w.t, at, 2 * block, geo_bits(&w.geo, 2), 0, g), PGT_OK);
	want_status(pgt_split(w.t, at, block, w.geo.g, 0, g), PGT_OK);
	want_status(pgt_move(w.t, at, at + 8 * block + page, 2 * block, 0, g), PGT_OK);
	want_status(pgt_store(w.t, at + 8 * block, 2 * block, 9, PGT_REPLACE, g), PGT_OK);
	want_status(pgt_unmap(w.t, at + 8 * block, 3 * block, 0, g), PGT_OK);
	in_change = false;
	want_status(pgt_map(w.t, w.base + spot(), 0, page, PGT_READ, 0, g), PGT_OK);
	want_status(pgt_unmap(w.t, w.base + spot(), page, 0, g), PGT_OK);
}

static void test_callbacks(const char *format)
{
	static const enum embed_kind kinds[] = {
		EMBED_ALLOC, EMBED_FREE, EMBED_INVALIDATE, EMBED_SYNC, EMBED_PUBLISH_EV,
		EMBED_WRITTEN_EV,
	};
	struct pgt_gather g;

	begin();
	memset(callbacks, 0, sizeof(callbacks));
	unit_calls = removed_calls = virt_calls = writable_calls = 0;
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL) || !world_open(&copies, format, 12, 48, 0, 0))
		return;
	pgt_destroy(w.t);
	w.c.pages.unit = unit_hook;
	w.c.pages.writable = writable_hook;
	real_virt = w.c.memory.to_virt;
	w.c.memory.to_virt = virt_hook;
	want_status(pgt_create(&w.c, &w.t), PGT_OK);
	in_callback = true;
	want_status(pgt_map(w.t, w.base + w.bytes / 2, MIB(64), BIT(w.geo.g), PGT_READ, 0, NULL),
		    PGT_OK);
	in_callback = false;
	w.e.hook = callback_hook;
	open_gather = NULL;
	changing_calls(NULL);
	want_status(pgt_gather_begin(&g, w.t), PGT_OK);
	g.removed = removed_hook;
	open_gather = &g;
	changing_calls(&g);
	want_status(pgt_gather_end(&g), PGT_OK);
	open_gather = NULL;
	want_status(pgt_reserve(w.t, 2), PGT_OK);
	want_status(pgt_reserve(w.t, 0), PGT_OK);
	w.e.hook = NULL;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		where("%s was called", embed_kind_name(kinds[i]));
		want(callbacks[kinds[i]]);
	}
	want(unit_calls && removed_calls && virt_calls && writable_calls);
	/* Afterwards changing calls are in order again. */
	where("afterwards");
	changing_calls(NULL);
	world_close(&w);
	world_close(&copies);
	ok(fine, "%s: from every callback of a changing call, changing calls are PGT_EBUSY and "
	   "reading calls answer", format);
}

/* Another table is no part of it. */
static struct world second;

static void second_hook(struct embed *e, const struct embed_event *ev)
{
	(void)e;
	(void)ev;
	if (in_callback)
		return;
	in_callback = true;
	want_status(pgt_map(second.t, w.l1, w.l1, w.page, PGT_READ, 0, NULL), PGT_OK);
	want_status(pgt_unmap(second.t, w.l1, w.page, 0, NULL), PGT_OK);
	in_callback = false;
}

static void test_other_table(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	if (!world_open(&second, format, 12, 48, 0, 0))
		return;
	w.e.hook = second_hook;
	want_status(pgt_map(w.t, w.l1, w.l1, w.page, PGT_READ, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, w.l1, w.page, 0, NULL), PGT_OK);
	w.e.hook = NULL;
	world_close(&second);
	world_close(&w);
	ok(fine, "%s: a callback may change another table", format);
}

/* ---- arm64 ---------------------------------------------------------------- */

static void test_regs(void)
{
	struct pgt_arm64_regs regs;
	struct world upper;

	if (!have_format("arm64")) {
		memset(&regs, 0, sizeof(regs));
		regs.size = sizeof(regs);
		begin();
		want_status(pgt_arm64_regs(NULL, NULL, &regs), PGT_ENOTSUP);
		ok(fine, "pgt_arm64_regs without the backend: PGT_ENOTSUP");
		return;
	}
	begin();
	if (!world_open(&w, "arm64", 12, 48, 0, 0) ||
	    !world_open(&upper, "arm64", 12, 48, PGT_FEAT_UPPER, 0))
		return;
	memset(&regs, 0, sizeof(regs));
	regs.size = sizeof(regs);
	want_status(pgt_arm64_regs(w.t, upper.t, NULL), PGT_EINVAL);
	where("both NULL");
	want_status(pgt_arm64_regs(NULL, NULL, &regs), PGT_EINVAL);
	where("halves exchanged");
	want_status(pgt_arm64_regs(upper.t, w.t, &regs), PGT_EINVAL);
	want_status(pgt_arm64_regs(upper.t, NULL, &regs), PGT_EINVAL);
	want_status(pgt_arm64_regs(NULL, w.t, &regs), PGT_EINVAL);
	where("all right");
	want_status(pgt_arm64_regs(w.t, upper.t, &regs), PGT_OK);
	world_close(&upper);
	if (have_format("generic") && world_open(&upper, "generic", 12, 48, 0, 0)) {
		where("another format");
		want_status(pgt_arm64_regs(upper.t, NULL, &regs), PGT_EINVAL);
		world_close(&upper);
	}
	world_close(&w);
	ok(fine, "pgt_arm64_regs: NULL, exchanged halves, a table of another format");
}

int main(void)
{
	for_formats(format) {
		test_bad_arguments(format);
		test_state_last(format);
		test_fields(format);
		test_untracked(format);
		test_shapes(format);
		test_read_only(format);
		test_other_calls(format);
		test_sweep(format);
		test_max_leaf(format);
		test_callbacks(format);
		test_other_table(format);
	}
	test_regs();
	embed_snapshot_free(&before);
	return tap_done();
}
