/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readers beside a writer: one thread queries, visits and translates while the
 * other protects, splits, collapses, replaces, harvests and makes young blocks, runs
 * and pages.  Everything is mapped all the time, so a reader finds a leaf with the
 * old or the new attributes and address, never a hole and never NOACCESS; only
 * translate may fault while a call runs, as hardware does.
 *
 * The writer's callbacks wait until the reader has gone over everything, so that
 * it sees what stands there in the middle of a call; between callbacks both run
 * freely.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include "contract.h"

#define SECONDS 4.8 /* for all of it */
#define REGIONS 5
#define SLOTS 8 /* of a region, at most: each of one state */
#define HISTORY 4096
#define CONFIGS 12

/* ---- What may be seen --------------------------------------------------- */

static const uint64_t attrs[] = {
	RW, PGT_READ, RW | PGT_SW0, PGT_READ | PGT_SW1, PGT_READ | PGT_MEM_NOCACHE, RW | PGT_GLOBAL,
};

#define ATTRS (sizeof(attrs) / sizeof(attrs[0]))
#define ATTR_MASK (PGT_WRITE | PGT_SW0 | PGT_SW1 | PGT_MEM_MASK | PGT_GLOBAL)

struct region {
	uint64_t va, len, pa[2];
	unsigned slots;
	unsigned bits, least_bits; /* log2 of its leaf or run, and of the smallest it is split into */
	bool used;
};

static struct region regions[REGIONS];

/* The state of each slot after each call: attribute * 2 + address. */
static _Atomic uint8_t history[HISTORY][REGIONS][SLOTS];
static _Atomic uint64_t begun, ended; /* calls */
static _Atomic uint64_t passes;       /* that the reader has made over everything */
static _Atomic bool stop;

static struct pgt *t;
static struct pgt_config config;

/* ---- The reader ---------------------------------------------------------- */

static struct {
	uint64_t queries, visited, translations, faults;
	uint64_t amid;  /* answers given while a call ran */
	uint64_t wrong;
	char text[4][200];
} seen;

static void complain(const char *fmt, ...) __attribute__((__format__(__printf__, 1, 2)));

static void complain(const char *fmt, ...)
{
	va_list args;

	if (seen.wrong++ >= 4)
		return;
	va_start(args, fmt);
	vsnprintf(seen.text[seen.wrong - 1], sizeof(seen.text[0]), fmt, args);
	va_end(args);
}

/* Whether a slot had, between two calls, an address and attributes. */
static bool was(uint64_t first, uint64_t last, unsigned r, unsigned slot, uint64_t offset, uint64_t pa,
		uint64_t attr)
{
	if (last - first > HISTORY / 2)
		return true; /* too long ago to tell */
	for (uint64_t n = first; n <= last; n++) {
		uint8_t state = atomic_load(&history[n % HISTORY][r][slot]);

		if (attrs[state / 2] == (attr & ~(PGT_YOUNG | PGT_DIRTY)) && regions[r].pa[state % 2] + offset == pa)
			return true;
	}
	return false;
}

static unsigned slot_of(const struct region *r, uint64_t va)
{
	return (unsigned)((va - r->va) / (r->len / r->slots));
}

static void look_at(const char *who, unsigned r, uint64_t va, uint64_t first, const struct pgt_mapping *m)
{
	uint64_t last = atomic_load(&begun);

	seen.amid += last != first;
	if (m->state != PGT_LEAF || va < m->va || va - m->va >= m->len || m->run_bytes < m->len)
		complain("%s of %#" PRIx64 ": state %d, va %#" PRIx64 " len %#" PRIx64 " entry %#" PRIx64, who, va,
			 m->state, m->va, m->len, m->entry);
	else if (!was(first, last, r, slot_of(&regions[r], va), va - regions[r].va, m->pa + (va - m->va), m->attr))
		complain("%s of %#" PRIx64 ": attr %#" PRIx64 " pa %#" PRIx64 " entry %#" PRIx64
			 " is neither old nor new", who, va, m->attr, m->pa, m->entry);
}

static void ask_query(unsigned r, uint64_t va)
{
	uint64_t first = atomic_load(&ended);
	struct pgt_mapping m;
	int status = pgt_query(t, va, &m);

	seen.queries++;
	if (status != PGT_OK)
		complain("query of %#" PRIx64 ": %s", va, pgt_strerror(status));
	else
		look_at("query", r, va, first, &m);
}

struct visiting {
	const char *who;
	unsigned r;
	uint64_t next, first;
};

/* Each leaf begins where the one before ended; one that has grown meanwhile, before. */
static int visited(void *ctx, const struct pgt_mapping *m)
{
	struct visiting *v = ctx;
	const struct region *r = &regions[v->r];
	uint64_t step = r->len / r->slots, end = m->va + m->len;

	seen.visited++;
	if (m->va > v->next || end <= v->next) {
		complain("%s: %#" PRIx64 " after %#" PRIx64, v->who, m->va, v->next);
		return 1;
	}
	for (; v->next < end && v->next - r->va < r->len; v->next = (v->next - r->va) / step * step + step + r->va)
		look_at(v->who, v->r, v->next, v->first, m);
	v->next = end;
	return 0;
}

static void ask_visit(unsigned r, unsigned flags)
{
	struct visiting v = { flags & PGT_MERGE ? "merging visit" : "visit", r, regions[r].va, atomic_load(&ended) };
	int status = pgt_visit(t, regions[r].va, regions[r].len, flags, visited, &v);

	if (status < 0)
		complain("%s: %s", v.who, pgt_strerror(status));
	else if (status == 0 && v.next < regions[r].va + regions[r].len)
		complain("%s ends at %#" PRIx64, v.who, v.next);
}

static void ask_translate(unsigned r, uint64_t va, uint64_t access)
{
	uint64_t first = atomic_load(&ended), last;
	struct pgt_translation tr;
	int status = pgt_translate(t, va, access, &tr);

	last = atomic_load(&begun);
	seen.translations++;
	if (status == PGT_OK) {
		if (!was(first, last, r, slot_of(&regions[r], va), va - regions[r].va, tr.pa, tr.attr))
			complain("translate of %#" PRIx64 ": attr %#" PRIx64 " pa %#" PRIx64
				 " is neither old nor new", va, tr.attr, tr.pa);
		return;
	}
	seen.faults++;
	if (status != PGT_EFAULT)
		complain("translate of %#" PRIx64 ": %s", va, pgt_strerror(status));
	else if (tr.fault == PGT_FAULT_TRANSLATION ? first == last :
		 tr.fault != PGT_FAULT_ACCESS_FLAG && !(tr.fault == PGT_FAULT_PERMISSION && access & PGT_WRITE))
		complain("translate of %#" PRIx64 ": fault %d at level %d, and no call ran", va, tr.fault, tr.level);
}

static void *read_all(void *updates)
{
	uint64_t update = updates ? PGT_UPDATE : 0;

	for (uint64_t turn = 0; !atomic_load(&stop); turn++) {
		for (unsigned r = 0; r < REGIONS; r++) {
			uint64_t step = regions[r].len / regions[r].slots;

			if (!regions[r].used)
				continue;
			for (unsigned s = 0; s < regions[r].slots; s++) {
				uint64_t va = regions[r].va + s * step + turn * 0x1238 % step;

				ask_query(r, va);
				ask_translate(r, va, turn & 1 ? PGT_READ : PGT_WRITE);
				if (update)
					ask_translate(r, va, (turn & 2 ? PGT_READ : PGT_WRITE) | update);
			}
			if (turn % REGIONS == r)
				ask_visit(r, turn & 1 ? PGT_HOLES : turn & 2 ? 0 : PGT_MERGE | PGT_HOLES);
		}
		atomic_fetch_add(&passes, 1);
	}
	return NULL;
}

/* ---- Memory -------------------------------------------------------------- */

/* A table that was freed is used again when no reader can be in it any more. */
#define TABLES 512

static struct {
	unsigned char *memory;
	uint64_t size, pa; /* of a table; of the first */
	bool taken[TABLES];
	uint64_t pass[TABLES]; /* when it was freed */
} pool;

static void wait_for_pass(uint64_t pass, unsigned tries)
{
	while (atomic_load(&passes) < pass && !atomic_load(&stop) && tries--)
		sched_yield();
}

static int table_alloc(void *ctx, uint64_t bytes, uint64_t *pa)
{
	(void)ctx;
	if (bytes > pool.size)
		return -1;
	for (;; wait_for_pass(atomic_load(&passes) + 1, 1))
		for (unsigned i = 0; i < TABLES; i++)
			if (!pool.taken[i] && (atomic_load(&passes) >= pool.pass[i] || atomic_load(&stop))) {
				pool.taken[i] = true;
				memset(pool.memory + i * pool.size, 0, bytes);
				*pa = pool.pa + i * pool.size;
				return 0;
			}
}

static void table_free(void *ctx, uint64_t pa, uint64_t bytes)
{
	uint64_t i = (pa - pool.pa) / pool.size;

	(void)ctx, (void)bytes;
	pool.taken[i] = false;
	pool.pass[i] = atomic_load(&passes) + 2;
}

/* ---- The writer ----------------------------------------------------------- */

static struct embed_rng rng;
static double deadline;

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* In the middle of a call: sometimes the reader looks at everything first. */
static void amid(void)
{
	if (embed_once_in(&rng, 3) && seconds() < deadline)
		wait_for_pass(atomic_load(&passes) + 2, 200);
}

static void invalidate(void *ctx, const struct pgt_tlb_range *range)
{
	(void)ctx, (void)range;
	amid();
}

static void just_wait(void *ctx)
{
	(void)ctx;
	amid();
}

static bool create(const char *format, unsigned g, uint64_t features)
{
	const struct format *f = format_named(format);

	config = (struct pgt_config){
		.size = sizeof(config), .format = format, .granule_bits = (uint8_t)g,
		.input_bits = (uint8_t)f->input, .output_bits = (uint8_t)f->output,
		.features = features | PGT_FEAT_CONTIG,
	};
	pool.size = g < 6 ? 64 : BIT(g); /* the root is no smaller */
	pool.pa = f->output < 40 ? MIB(512) : WORLD_PA;
	pool.memory = aligned_alloc(pool.size, TABLES * pool.size);
	memset(pool.taken, 0, sizeof(pool.taken));
	memset(pool.pass, 0, sizeof(pool.pass));
	config.memory.alloc = table_alloc;
	config.memory.free = table_free;
	config.memory.window = pool.memory;
	config.memory.window_pa = pool.pa;
	config.memory.window_bytes = TABLES * pool.size;
	config.tlb.invalidate = invalidate;
	config.tlb.sync = just_wait;
	config.tlb.publish = just_wait;
	return pool.memory && pgt_create(&config, &t) == PGT_OK;
}

static void region(unsigned r, unsigned bits, uint64_t len, unsigned least_bits, uint64_t shift_pa)
{
	unsigned output = config.output_bits;
	struct region *at = &regions[r];

	at->used = bits && len <= GIB(32);
	if (!at->used)
		return;
	at->va = (uint64_t)(r + 1) << (config.input_bits - 3);
	at->len = len;
	at->bits = bits;
	at->least_bits = least_bits;
	at->pa[0] = ((uint64_t)(2 * r + 1) << (output - 12)) + shift_pa;
	at->pa[1] = ((uint64_t)(2 * r + 2) << (output - 12)) + shift_pa;
	at->slots = len >> config.granule_bits < SLOTS ? (unsigned)(len >> config.granule_bits) : SLOTS;
}

/* A call that ends with all slots of [slot, slot + n) in one state, or as they are. */
static void announce(unsigned r, unsigned slot, unsigned n, int attr, int pa)
{
	uint64_t now = atomic_load(&begun);

	for (unsigned i = 0; i < REGIONS; i++)
		for (unsigned s = 0; s < SLOTS; s++) {
			uint8_t state = atomic_load(&history[now % HISTORY][i][s]);

			if (i == r && s >= slot && s < slot + n) {
				if (attr >= 0)
					state = (uint8_t)(attr * 2 + state % 2);
				if (pa >= 0)
					state = (uint8_t)(state / 2 * 2 + pa);
			}
			atomic_store(&history[(now + 1) % HISTORY][i][s], state);
		}
	atomic_store(&begun, now + 1);
}

static unsigned some_size(const struct region *r)
{
	uint64_t sizes = pgt_leaf_sizes(t);
	unsigned bits;

	do {
		bits = r->least_bits + (unsigned)embed_below(&rng, r->bits - r->least_bits + 1);
	} while (!(sizes >> bits & 1));
	return bits;
}

static void change(unsigned i)
{
	const struct region *r = &regions[i];
	unsigned slot = 0, n = r->slots;
	int attr = (int)embed_below(&rng, ATTRS), pa = (int)embed_below(&rng, 2);
	uint64_t va, len;
	int status;

	if (embed_once_in(&rng, 2)) {
		slot = (unsigned)embed_below(&rng, r->slots);
		n = 1 + (unsigned)embed_below(&rng, r->slots - slot);
	}
	va = r->va + slot * (r->len / r->slots);
	len = n * (r->len / r->slots);
	switch (embed_below(&rng, 9)) {
	default:
		where("protect %#" PRIx64 "+%#" PRIx64, va, len);
		announce(i, slot, n, attr, -1);
		status = pgt_protect(t, va, len, attrs[attr], ATTR_MASK, embed_once_in(&rng, 4) ? PGT_LAZY : 0,
				     NULL);
		break;
	case 0:
		where("split %#" PRIx64 "+%#" PRIx64, va, len);
		announce(i, 0, 0, -1, -1);
		status = pgt_split(t, va, len, some_size(r), 0, NULL);
		break;
	case 1:
		where("collapse");
		announce(i, 0, SLOTS, attr, -1);
		status = pgt_protect(t, r->va, r->len, attrs[attr], ATTR_MASK, 0, NULL);
		atomic_store(&ended, atomic_load(&begun));
		announce(i, 0, 0, -1, -1);
		if (status == PGT_OK)
			status = pgt_collapse(t, r->va, r->len, r->bits, 0, NULL);
		break;
	case 2:
		where("replace %#" PRIx64 "+%#" PRIx64, va, len);
		announce(i, slot, n, attr, pa);
		status = pgt_map(t, va, r->pa[pa] + (va - r->va), len, attrs[attr] | PGT_YOUNG | PGT_DIRTY,
				 PGT_REPLACE | PGT_MAX_LEAF(some_size(r)), NULL);
		break;
	case 3:
		where("harvest %#" PRIx64 "+%#" PRIx64, va, len);
		announce(i, 0, 0, -1, -1);
		status = pgt_harvest(t, va, len, PGT_YOUNG | PGT_DIRTY, 0, NULL, NULL);
		break;
	case 4:
		where("fault %#" PRIx64, va);
		announce(i, 0, 0, -1, -1);
		status = pgt_fault(t, va + 5, PGT_READ, NULL);
		break;
	}
	atomic_store(&ended, atomic_load(&begun));
	want_status(status, PGT_OK);
}

static void race(const char *format, unsigned g, uint64_t features, const char *what)
{
	struct geo geo = geo_of(format, g, format_named(format)->input, PGT_FEAT_CONTIG);
	bool updates = features & PGT_FEAT_HW_YOUNG;
	uint64_t page = BIT(g), calls = 0;
	pthread_t reader;

	begin();
	deadline = 0;
	memset(&seen, 0, sizeof(seen));
	if (!want(create(format, g, features)))
		return;
	region(0, g, SLOTS * page, g, page);
	region(1, geo_run_bits(&geo, 3), BIT(geo_run_bits(&geo, 3)), g, 0);
	region(2, geo_bits(&geo, 2), geo_span(&geo, 2), g, 0);
	region(3, geo_run_bits(&geo, 2), BIT(geo_run_bits(&geo, 2)), geo_bits(&geo, 2), 0);
	region(4, geo.top_block == 1 ? geo_bits(&geo, 1) : 0, geo_span(&geo, 1), geo_bits(&geo, 2), 0);
	atomic_store(&begun, 0);
	atomic_store(&ended, 0);
	atomic_store(&stop, false);
	for (unsigned r = 0; r < REGIONS; r++)
		for (unsigned s = 0; s < SLOTS; s++)
			atomic_store(&history[0][r][s], 0);
	for (unsigned r = 0; r < REGIONS; r++)
		if (regions[r].used)
			want_status(pgt_map(t, regions[r].va, regions[r].pa[0], regions[r].len,
					    attrs[0] | PGT_YOUNG | PGT_DIRTY, 0, NULL),
					    PGT_OK);
	want(pthread_create(&reader, NULL, read_all, updates ? &seen : NULL) == 0);
	deadline = seconds() + SECONDS / CONFIGS;
	while (fine && seconds() < deadline) {
		unsigned r = (unsigned)embed_below(&rng, REGIONS);

		if (!regions[r].used)
			continue;
		change(r);
		calls++;
	}
	atomic_store(&stop, true);
	pthread_join(reader, NULL);
	for (unsigned i = 0; i < 4 && i < seen.wrong; i++)
		note("%s", seen.text[i]);
	want_u64(seen.wrong, 0);
	want_status(pgt_check(t, no_problem, NULL), PGT_OK);
	pgt_destroy(t);
	free(pool.memory);
	note("%" PRIu64 " calls; %" PRIu64 " queries, %" PRIu64 " leaves visited, %" PRIu64 " translations (%" PRIu64
	     " faults); %" PRIu64 " answers amid a call", calls, seen.queries, seen.visited, seen.translations,
	     seen.faults, seen.amid);
	ok(fine && calls && seen.amid, "%s, granule %u%s: readers find the old leaf or the new one, never a hole",
	   format, g, what);
}

int main(void)
{
	const uint64_t state = PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY;

	if (!PGT_HAVE_HOSTED)
		return tap_skip_all("there is no pgt_create in this build");
	embed_seed(&rng, 3);
	for_formats(format)
		for_granules(format, granule) {
			race(format, granule, PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY, "");
			race(format, granule, state | PGT_FEAT_BBM2, ", in place, translations update");
		}
	return tap_done();
}
