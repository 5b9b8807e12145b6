/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of the contract share: geometry worked out from the format's
 * description alone, a table in an allocator of the test's own, raw entries,
 * and checks that go over many inputs and report as one line.
 */
#ifndef PGT_T_CONTRACT_H
#define PGT_T_CONTRACT_H

#include <string.h>
#include <pgtable/pgtable.h>
#include <pgtable/arm64.h>
#include <pgtable/generic.h>
#include "embed.h"
#include "format.h"
#include "tap.h"

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)
#define GIB(n) ((uint64_t)(n) << 30)
#define BIT(n) (UINT64_C(1) << (n))

#define RW (PGT_READ | PGT_WRITE)
#define RWD (RW | PGT_YOUNG | PGT_DIRTY)

/* ---- Many checks, one result -------------------------------------------- */

static bool fine;
static unsigned complaints;
static char where_text[200];

/* where(fmt, ...): what the next checks are about. */
static void where(const char *fmt, ...) TAP_PRINTF(1, 2);

static void where(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(where_text, sizeof(where_text), fmt, args);
	va_end(args);
}

static TAP_UNUSED void begin(void)
{
	fine = true;
	complaints = 0;
	where_text[0] = 0;
}

#define want(cond) want_true((cond) ? true : false, #cond, __FILE__, __LINE__)

static TAP_UNUSED bool want_true(bool good, const char *what, const char *file, int line)
{
	if (good)
		return true;
	fine = false;
	if (complaints++ < 8)
		note("%s:%d: not so: %s [%s]", file, line, what, where_text);
	return false;
}

#define want_u64(got, expected) \
	want_equal((uint64_t)(got), (uint64_t)(expected), #got, __FILE__, __LINE__)

static TAP_UNUSED bool want_equal(uint64_t got, uint64_t expected, const char *what,
				  const char *file, int line)
{
	if (got == expected)
		return true;
	fine = false;
	if (complaints++ < 8)
		note("%s:%d: %s is %#" PRIx64 ", not %#" PRIx64 " [%s]", file, line, what, got,
		     expected, where_text);
	return false;
}

#define want_status(got, expected) want_code((got), (expected), #got, __FILE__, __LINE__)

static TAP_UNUSED bool want_code(int got, int expected, const char *what, const char *file,
				 int line)
{
	if (got == expected)
		return true;
	fine = false;
	if (complaints++ < 8)
		note("%s:%d: %s is %d, not %d [%s]", file, line, what, got, expected,
		     where_text);
	return false;
}

/* ---- Formats and geometry ------------------------------------------------ */

static TAP_UNUSED bool have_format(const char *name)
{
	for (const char *const *f = pgt_formats(); *f; f++)
		if (!strcmp(*f, name))
			return true;
	return false;
}

/* for_formats(f): the name of each that the program knows. */
#define for_formats(f)                                                              \
	for (const struct format *const *f##_p = formats; *f##_p; f##_p++)          \
		for (const char *f = (*f##_p)->name; f; f = NULL)

static TAP_UNUSED const struct format *format_named(const char *name)
{
	const struct format *const *f = formats;

	while (*f && strcmp((*f)->name, name))
		f++;
	return *f;
}

/* Whether a test of arm64 alone, which what names, has nothing to say: to a program
 * that knows other formats, or in a library without it, which is a skip. */
static TAP_UNUSED bool lacks_arm64(const char *what)
{
	if (format_named("arm64") && !have_format("arm64"))
		tap_skip("%s: arm64 was not built", what);
	return !format_named("arm64") || !have_format("arm64");
}

/* Whether it has an upper half. */
static TAP_UNUSED bool has_upper(const char *format)
{
	return format_named(format)->upper;
}

static TAP_UNUSED unsigned nth_granule(const char *format, unsigned i)
{
	return format_named(format)->granules[i];
}

/* for_granules(format, g): each granule of it, as a logarithm. */
#define for_granules(format, g) \
	for (unsigned g##_i = 0, g; (g = nth_granule(format, g##_i)) != 0; g##_i++)

/* A granule of the library's formats, or the smallest where a format has others. */
static TAP_UNUSED unsigned usual_granule(const struct format *f, unsigned g)
{
	for (unsigned i = 0; f->granules[i]; i++)
		if (f->granules[i] == g)
			return g;
	return f->granules[0];
}

/* A table's shape: levels from start to 3, the root indexed by root_bits. */
struct geo {
	unsigned g, b, start, root_bits;
	unsigned top_block;  /* the first level with leaves */
	unsigned run_log[4]; /* by level: log2 of the members of a run; 0: none */
};

static TAP_UNUSED struct geo geo_of(const char *format, unsigned g, unsigned input,
				    uint64_t features)
{
	const struct format *f = format_named(format);
	unsigned b = g - 3, start = (unsigned)format_start(f, g, input);
	struct geo geo = { .g = g, .b = b, .start = start, .root_bits = input - g - b * (3 - start) };

	while (!f->leaf_level(g, (int)geo.top_block))
		geo.top_block++;
	if (features & PGT_FEAT_NO_BLOCKS)
		geo.top_block = 3;
	if (geo.top_block < geo.start)
		geo.top_block = geo.start;
	for (unsigned l = geo.top_block; l <= 3; l++) {
		unsigned run = format_log2(f->run_entries(g, (int)l));

		if (!(features & PGT_FEAT_CONTIG) || (l == geo.start && geo.root_bits < run))
			run = 0;
		geo.run_log[l] = run;
	}
	return geo;
}

/* log2 of what an entry of the level spans. */
static TAP_UNUSED unsigned geo_bits(const struct geo *geo, unsigned level)
{
	return geo->g + geo->b * (3 - level);
}

static TAP_UNUSED uint64_t geo_span(const struct geo *geo, unsigned level)
{
	return BIT(geo_bits(geo, level));
}

/* log2 of a run of the level, or of its leaf where it has no runs. */
static TAP_UNUSED unsigned geo_run_bits(const struct geo *geo, unsigned level)
{
	return geo_bits(geo, level) + geo->run_log[level];
}

static TAP_UNUSED uint64_t geo_root_bytes(const struct geo *geo)
{
	uint64_t bytes = UINT64_C(8) << geo->root_bits;

	return bytes < 64 ? 64 : bytes;
}

static TAP_UNUSED uint64_t geo_sizes(const struct geo *geo)
{
	uint64_t sizes = 0;

	for (unsigned l = geo->top_block; l <= 3; l++)
		sizes |= BIT(geo_bits(geo, l)) | BIT(geo_run_bits(geo, l));
	return sizes;
}

/* A request: [va, va + len) to pa, leaves and runs of at most 2^max bytes. */
struct request {
	uint64_t va, pa, len;
	unsigned max;
};

static TAP_UNUSED bool fits(const struct request *r, unsigned bits, uint64_t at)
{
	uint64_t first = at >> bits << bits;

	return bits <= r->max && !((r->va ^ r->pa) & (BIT(bits) - 1)) && first >= r->va &&
	       first - r->va < r->len && BIT(bits) <= r->len - (first - r->va);
}

/* The level of the leaf that a map of r puts at an address, and its run. */
static TAP_UNUSED unsigned leaf_level(const struct geo *geo, const struct request *r, uint64_t at,
				      unsigned *run_bits)
{
	unsigned l = geo->top_block;

	while (l < 3 && !fits(r, geo_bits(geo, l), at))
		l++;
	*run_bits = geo_bits(geo, l);
	if (geo->run_log[l] && fits(r, geo_run_bits(geo, l), at))
		*run_bits = geo_run_bits(geo, l);
	return l;
}

/* The tables below one whole entry of a level. */
static TAP_UNUSED uint64_t tables_below(const struct geo *geo, const struct request *r,
					unsigned level)
{
	unsigned bits = geo_bits(geo, level);

	if (level == 3)
		return 0;
	if (level >= geo->top_block && bits <= r->max && !((r->va ^ r->pa) & (BIT(bits) - 1)))
		return 0;
	return 1 + (tables_below(geo, r, level + 1) << geo->b);
}

/* The tables of levels below `level` that [first, last] needs, inside one table of it. */
static TAP_UNUSED uint64_t tables_inside(const struct geo *geo, const struct request *r,
					 unsigned level, uint64_t first, uint64_t last)
{
	unsigned bits = geo_bits(geo, level);
	uint64_t low = first >> bits, high = last >> bits, n = 0;
	bool whole_low = !(first & (BIT(bits) - 1));
	bool whole_high = (last & (BIT(bits) - 1)) == BIT(bits) - 1;

	if (level == 3)
		return 0;
	if (low == high) {
		if (whole_low && whole_high)
			return tables_below(geo, r, level);
		return 1 + tables_inside(geo, r, level + 1, first, last);
	}
	n = (high - low - 1) * tables_below(geo, r, level);
	n += tables_inside(geo, r, level, first, (low << bits) + (BIT(bits) - 1));
	n += tables_inside(geo, r, level, high << bits, last);
	return n;
}

/* The tables that a map of r allocates where only the root exists. */
static TAP_UNUSED uint64_t tables_for(const struct geo *geo, const struct request *r)
{
	return tables_inside(geo, r, geo->start, r->va, r->va + (r->len - 1));
}

/* ---- A table to try things on -------------------------------------------- */

/* Where tables lie, apart from all that the tests map. */
#define WORLD_PA UINT64_C(0x6000000000)

struct world {
	struct embed e;
	struct pgt_config c;
	struct pgt *t;
	struct geo geo;
	const struct format *f;
	bool arm64;
	uint64_t base, bytes; /* the input range; base + bytes may be 2^64 */
	uint64_t page, l2, l1; /* what a page, and an entry of levels 2 and 1, spans */
};

/* With exactly these sizes. */
static TAP_UNUSED int world_open_exact(struct world *w, const char *format, unsigned g,
				       unsigned input, unsigned output, uint64_t features,
				       unsigned mode)
{
	embed_init(&w->e, MIB(64), output < 40 && output ? MIB(512) : WORLD_PA);
	w->c = embed_config(&w->e, format, g, input, output, features, mode);
	w->geo = geo_of(format, g, input, features);
	w->f = format_named(format);
	w->arm64 = w->f->arm64;
	w->bytes = BIT(input);
	w->base = features & PGT_FEAT_UPPER ? 0 - w->bytes : 0;
	w->page = BIT(g);
	w->l2 = geo_span(&w->geo, 2);
	w->l1 = geo_span(&w->geo, 1);
	w->t = NULL;
	return pgt_create(&w->c, &w->t);
}

/* Sizes as the library's formats have them: granule 12, 14 or 16, input 25 to 48,
 * output 32 to 48.  A format of other sizes takes what corresponds. */
static TAP_UNUSED struct pgt_config usual_config(struct embed *e, const char *format, unsigned g,
						 unsigned input, unsigned output, uint64_t features,
						 unsigned mode)
{
	const struct format *f = format_named(format);

	return embed_config(e, format, usual_granule(f, g), format_input(f, input),
			    format_output(f, output), features, mode);
}

static TAP_UNUSED int world_open_as(struct world *w, const char *format, unsigned g,
				    unsigned input, unsigned output, uint64_t features,
				    unsigned mode)
{
	const struct format *f = format_named(format);

	unsigned in = format_input(f, input), out = format_output(f, output);

	/* An intermediate address is one of stage 1's outputs. */
	return world_open_exact(w, format, usual_granule(f, g), f->regime == REF_S2 && in > out ? out : in, out,
				features | format_features(f, g), mode);
}

/* Everything but what a test names; false: it couldn't be made, and that is a failure. */
static TAP_UNUSED bool world_open(struct world *w, const char *format, unsigned g, unsigned input,
				  uint64_t features, unsigned mode)
{
	int status = world_open_as(w, format, g, input, 48, features, mode);

	want_status(status, PGT_OK);
	if (status != PGT_OK)
		embed_fini(&w->e);
	return status == PGT_OK;
}

/* Destroys the table; what it doesn't give back, or wrote elsewhere, is a failure. */
static TAP_UNUSED void world_close(struct world *w)
{
	pgt_destroy(w->t);
	want_u64(w->e.live, 0);
	want_u64(embed_stray(&w->e), 0);
	w->t = NULL;
	embed_fini(&w->e);
}

/* What "arm64" can express, turned into what this format can. */
static TAP_UNUSED uint64_t world_attr(const struct world *w, uint64_t attr)
{
	return format_attr(w->f, w->geo.g, attr);
}

/* The same for a change; false: nothing is left of it. */
static TAP_UNUSED bool world_change(const struct world *w, uint64_t *set, uint64_t *clear)
{
	const uint64_t both = PGT_EXEC | PGT_UEXEC, had = *set | *clear;
	uint64_t features = w->c.features;

	*set &= ~format_never(w->f);
	*clear &= ~format_never(w->f);
	if (w->f->regime == REF_S2 && !(features & PGT_FEAT_XNX)) {
		*set |= *set & both ? both : 0;
		*clear |= *clear & both ? both : 0;
	}
	if (format_reads_all(w->f) && *clear & PGT_READ)
		return false;
	if (features & PGT_FEAT_FWB && (*set & PGT_MEM_MASK) == PGT_MEM_WRITETHROUGH)
		return false;
	return *set | *clear || !had;
}

static TAP_UNUSED uint64_t world_last(const struct world *w)
{
	return w->base + (w->bytes - 1);
}

/* A place in memory: the n-th of 4096 parts of the output range. */
static TAP_UNUSED uint64_t world_pa(const struct world *w, unsigned n)
{
	return (uint64_t)n << (w->c.output_bits - 12);
}

/* ---- Raw entries --------------------------------------------------------- */

static TAP_UNUSED uint64_t raw_get(const void *p)
{
	const unsigned char *c = p;
	uint64_t v = 0;

	for (unsigned i = 8; i--;)
		v = v << 8 | c[i];
	return v;
}

static TAP_UNUSED void raw_put(void *p, uint64_t v)
{
	unsigned char *c = p;

	for (unsigned i = 0; i < 8; i++, v >>= 8)
		c[i] = (unsigned char)v;
}

static TAP_UNUSED bool raw_is_table(const struct world *w, uint64_t e, unsigned level)
{
	return entry_is_table(w->f, e, (int)level);
}

static TAP_UNUSED bool raw_is_leaf(const struct world *w, uint64_t e, unsigned level)
{
	return entry_is_leaf(w->f, e, (int)level);
}

static TAP_UNUSED uint64_t raw_address(const struct world *w, uint64_t e)
{
	return entry_address(w->f, e) & ~(BIT(w->geo.g) - 1);
}

/* Whether hardware may use it. */
static TAP_UNUSED bool raw_is_valid(const struct world *w, uint64_t e, unsigned level)
{
	return entry_is_valid(w->f, e, (int)level);
}

/* An address as it stands in an entry. */
static TAP_UNUSED uint64_t raw_of(const struct world *w, uint64_t pa)
{
	return entry_of_address(w->f, pa);
}

static TAP_UNUSED uint64_t raw_table(const struct world *w, uint64_t pa)
{
	return entry_of_table(w->f, pa);
}

/* A readable, young leaf. */
static TAP_UNUSED uint64_t raw_leaf(const struct world *w, uint64_t pa, unsigned level)
{
	return entry_of_leaf(w->f, pa, (int)level);
}

static TAP_UNUSED uint64_t raw_contig(const struct world *w)
{
	return w->f->entry.hint;
}

/* The place of the entry of `level` for an address, or NULL where its table isn't there. */
static TAP_UNUSED void *raw_at(const struct world *w, uint64_t va, unsigned level)
{
	uint64_t pa = pgt_root(w->t);

	for (unsigned l = w->geo.start;; l++) {
		unsigned bits = l == w->geo.start ? w->geo.root_bits : w->geo.b;
		uint64_t index = va >> geo_bits(&w->geo, l) & (BIT(bits) - 1);
		void *p = embed_memory_at(&w->e, pa + index * 8, 8);

		if (!p || l == level)
			return p;
		if (!raw_is_table(w, raw_get(p), l))
			return NULL;
		pa = raw_address(w, raw_get(p));
	}
}

static TAP_UNUSED uint64_t raw_entry(const struct world *w, uint64_t va, unsigned level)
{
	void *p = raw_at(w, va, level);

	return p ? raw_get(p) : UINT64_C(0xbad);
}

static TAP_UNUSED bool raw_poke(const struct world *w, uint64_t va, unsigned level, uint64_t v)
{
	void *p = raw_at(w, va, level);

	if (p)
		raw_put(p, v);
	return p;
}

/* What a leaf's young and dirty state occupies. */
static TAP_UNUSED uint64_t raw_state_bits(const struct world *w)
{
	return entry_state(w->f);
}

/* A table and all below it: every group wholly a run or not at all, types legal at their
 * level, addresses aligned, nothing but type and address in a table entry. */
static TAP_UNUSED bool raw_sound_table(const struct world *w, uint64_t pa, unsigned level,
				       uint64_t entries)
{
	unsigned bits = geo_bits(&w->geo, level);
	uint64_t members = UINT64_C(1) << w->geo.run_log[level], hint = raw_contig(w);
	bool good = true;

	for (uint64_t i = 0; i < entries; i++) {
		uint64_t e = raw_get(embed_memory_at(&w->e, pa + i * 8, 8));
		uint64_t first, e0;

		if (raw_is_table(w, e, level)) {
			good &= want_u64(e & ~raw_of(w, raw_address(w, e)), w->f->entry.table);
			good &= want(embed_live(&w->e, raw_address(w, e), BIT(w->geo.g)));
			if (good)
				good = raw_sound_table(w, raw_address(w, e), level + 1,
						       BIT(w->geo.b));
			continue;
		}
		if (!raw_is_leaf(w, e, level)) {
			/* Neither a reserved type nor anything that the tests didn't ask for. */
			if (w->arm64 || (e & 3) != 3)
				good &= want_u64(w->arm64 ? e & 1 : e, 0);
			continue;
		}
		good &= want(level >= w->geo.top_block);
		good &= want_u64(raw_address(w, e) & (BIT(bits) - 1), 0);
		if (!(e & hint))
			continue;
		first = i & ~(members - 1);
		e0 = raw_get(embed_memory_at(&w->e, pa + first * 8, 8));
		good &= want(w->geo.run_log[level]);
		good &= want_u64(raw_address(w, e0) & ((members << bits) - 1), 0);
		for (uint64_t k = 0; k < members; k++) {
			uint64_t ek = raw_get(embed_memory_at(&w->e, pa + (first + k) * 8, 8));

			good &= want_u64(ek & ~raw_state_bits(w),
					 (e0 & ~raw_state_bits(w)) + raw_of(w, k << bits));
		}
		i = first + members - 1;
	}
	return good;
}

static int no_problem(void *ctx, const struct pgt_problem *p)
{
	(void)ctx;
	note("pgt_check: va %#" PRIx64 " level %d: %s", p->va, p->level, p->what);
	return 0;
}

/* All that any table of ours obeys. */
static TAP_UNUSED bool sound(const struct world *w)
{
	bool good = raw_sound_table(w, pgt_root(w->t), w->geo.start,
				    UINT64_C(1) << w->geo.root_bits);

	good &= want_status(pgt_check(w->t, no_problem, NULL), PGT_OK);
	good &= want_u64(embed_stray(&w->e), 0);
	good &= want_u64(embed_unwritten(&w->e), 0);
	return good;
}

/* ---- Short questions ----------------------------------------------------- */

static TAP_UNUSED struct pgt_mapping query(const struct pgt *t, uint64_t va)
{
	struct pgt_mapping m;

	memset(&m, 0x5a, sizeof(m));
	want_status(pgt_query(t, va, &m), PGT_OK);
	return m;
}

static TAP_UNUSED bool is_empty(const struct pgt *t, uint64_t va)
{
	return query(t, va).state == PGT_EMPTY;
}

/* The level of the leaf at an address, or -9. */
static TAP_UNUSED int leaf_at(const struct pgt *t, uint64_t va)
{
	struct pgt_mapping m = query(t, va);

	return m.state == PGT_LEAF ? m.level : -9;
}

#define NOWHERE UINT64_MAX

/* Where a privileged read of a byte ends up. */
static TAP_UNUSED uint64_t reads(const struct pgt *t, uint64_t va)
{
	struct pgt_translation tr;

	return pgt_translate(t, va, PGT_READ, &tr) == PGT_OK ? tr.pa : NOWHERE;
}

static TAP_UNUSED uint64_t tables_live(const struct world *w)
{
	return w->e.live;
}

#endif
