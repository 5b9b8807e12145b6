/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables that someone else wrote, adopted by their registers: pgt_arm64_attach
 * and the reading calls on what it adopts.  Tables that lead to one another end
 * quickly, and dump says so; check of 64 GiB in pages needs a second and no
 * memory, wherever the tables lie.
 */
#include <time.h>
#include "registers.h"

/* ---- Attaching ------------------------------------------------------------------------ */

static struct embed e;

/* Small, large, read-only, executable, inaccessible. */
static void furnish(struct pgt *t, bool second)
{
	uint64_t first, len;

	embed_range(t, &first, &len);
	want_status(pgt_map(t, first, KIB(64), KIB(64), RW, 0, NULL), PGT_OK);
	want_status(pgt_map(t, first + len - KIB(64), MIB(1), KIB(64), PGT_READ, 0, NULL), PGT_OK);
	want_status(pgt_map(t, first + len / 2, 0, KIB(64), PGT_READ | PGT_EXEC | (second ? PGT_UEXEC : 0), 0, NULL), PGT_OK);
	want_status(pgt_map(t, first + len / 4, 0, KIB(256), RW | PGT_NOACCESS, 0, NULL), PGT_OK);
	if (len >= GIB(8))
		want_status(pgt_map(t, first + GIB(1), GIB(1), GIB(1), RW | PGT_MEM_NOCACHE, 0, NULL), PGT_OK);
}

static void attach_one(const char *format, const struct shape *s, unsigned *n)
{
	bool upper = s->features & PGT_FEAT_UPPER, second = !strcmp(format, "arm64-s2");
	const uint64_t shown = PGT_FEAT_UPPER | PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_LPA |
			       PGT_FEAT_LPA2 | PGT_FEAT_LVA | PGT_FEAT_ST | PGT_FEAT_FWB;
	struct pgt_arm64_regs r = { .size = sizeof(r) };
	struct pgt_config c, is = { .size = sizeof(is) }, ought = { .size = sizeof(ought) };
	struct pgt_memory only;
	struct pgt *t = NULL, *a = NULL;

	where("%s, granule %u, input %u, output %u, features %#" PRIx64, format, s->g, s->input, s->output, s->features);
	embed_init(&e, MIB(32), s->output < 40 ? MIB(512) : WORLD_PA);
	c = embed_config(&e, format, s->g, s->input, s->output, s->features, 0);
	if (!want_status(pgt_create(&c, &t), PGT_OK))
		goto out;
	furnish(t, second);
	only = c.memory;
	only.alloc = NULL;
	only.free = NULL;
	want_status(pgt_arm64_regs(upper ? NULL : t, upper ? t : NULL, &r), PGT_OK);
	if (want_status(pgt_arm64_attach(&r, &only, upper, &a), PGT_OK)) {
		want_u64(pgt_root(a), pgt_root(t));
		want_u64(embed_digest(a), embed_digest(t));
		want_status(pgt_check(a, no_problem, NULL), PGT_OK);
		want_status(pgt_describe(a, &is), PGT_OK);
		want_status(pgt_describe(t, &ought), PGT_OK);
		want(!strcmp(is.format, format));
		want_u64(is.granule_bits, ought.granule_bits);
		want_u64(is.input_bits, ought.input_bits);
		want_u64(is.output_bits, ought.output_bits);
		want_u64(is.features & shown, ought.features & shown);
		want(!memcmp(is.format_config, ought.format_config, sizeof(struct pgt_arm64_config)));
		want_status(pgt_unmap(a, pgt_root(t) & 0, KIB(64), 0, NULL), PGT_ENOTSUP);
		pgt_destroy(a);
		(*n)++;
	}
	/* With an allocator it can be changed. */
	if (want_status(pgt_arm64_attach(&r, &c.memory, upper, &a), PGT_OK)) {
		uint64_t first, len;

		embed_range(a, &first, &len);
		want_status(pgt_map(a, first + MIB(1), 0, KIB(64), RW, 0, NULL), PGT_OK);
		want_u64(query(t, first + MIB(1)).pa, 0);
		pgt_destroy(a);
	}
	pgt_destroy(t);
out:
	embed_fini(&e);
}

static void test_attach(void)
{
	const uint64_t hw = PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG;
	unsigned n = 0;

	begin();
	for (unsigned gi = 0; gi < 3; gi++)
		for (unsigned input = 25; input <= 52; input++) {
			bool large = granules[gi] == 16, wide = input > 48;
			struct shape s = { .g = granules[gi], .input = input, .output = wide ? 52 : input & 1 ? 40 : 48 };

			s.features = (input & 2 ? hw : 0) | (!wide ? 0 : large ? PGT_FEAT_LPA : PGT_FEAT_LPA2);
			if (input <= s.output) {
				s.features |= input & 4 ? PGT_FEAT_FWB : 0;
				attach_one("arm64-s2", &s, &n);
				s.features &= ~PGT_FEAT_FWB;
			}
			s.features |= wide && large ? PGT_FEAT_LVA : 0;
			attach_one("arm64-el2", &s, &n);
			attach_one("arm64", &s, &n);
			s.features |= PGT_FEAT_UPPER;
			attach_one("arm64", &s, &n);
		}
	ok(fine, "%u tables of every regime are adopted by their registers, and are the same", n);
}

/* What Linux does and we don't: no fault of the architecture's. */
static char said[4000];

static int say(void *ctx, const char *text, uint64_t bytes)
{
	size_t n = strlen(said);

	(void)ctx;
	if (n + bytes < sizeof(said)) {
		memcpy(said + n, text, bytes);
		said[n + bytes] = 0;
	}
	return 0;
}

static void test_linux(void)
{
	const struct shape s = { .regime = EL1, .g = 12, .input = 48, .output = 48, .start = 1, .root = RAM_PA,
				 .mair = UINT64_C(0x000000040044ffff) };
	const uint64_t va = UINT64_C(0x123456789000), pxn = BIT(59);
	struct pgt_memory m = ram_memory(RAM_BYTES);
	struct pgt_arm64_regs r = regs_of(&s);
	struct pgt_translation tr;
	struct pgt_mapping leaf;
	struct pgt *a = NULL;
	uint64_t entry = UINT64_C(0x11111000) | 3 | BIT(6) | BIT(10) | 3 << 8 | BIT(11);

	begin();
	memset(ram, 0, sizeof(ram));
	chain_put(&s, va, 3, entry, pxn);
	/* Software's states: dirty and read-only to hardware; writable without DBM. */
	ram_put(chain_at(&s, va, 3) + 8, entry | BIT(51) | BIT(7) | BIT(55));
	ram_put(chain_at(&s, va, 3) + 16, entry | BIT(7));
	/* A swapped page, and one that nobody may touch. */
	ram_put(chain_at(&s, va, 3) + 24, UINT64_C(0x123456780));
	ram_put(chain_at(&s, va, 3) + 32, (entry & ~UINT64_C(1)) | BIT(11));
	if (!want_status(pgt_arm64_attach(&r, &m, PGT_ARM64_LOWER, &a), PGT_OK))
		return;
	want_status(pgt_check(a, no_problem, NULL), PGT_OK);
	where("effective permissions");
	leaf = query(a, va);
	want_u64(leaf.attr & (PGT_EXEC | PGT_UEXEC | PGT_USER), PGT_UEXEC | PGT_USER);
	want_status(pgt_translate(a, va + 4096 * 2, PGT_EXEC, &tr), PGT_EFAULT);
	want_u64(tr.fault, PGT_FAULT_PERMISSION);
	want_status(pgt_translate(a, va + 4096 * 2, PGT_EXEC | PGT_USER, &tr), PGT_OK);
	said[0] = 0;
	want_status(pgt_dump(a, 0, BIT(48), say, NULL), PGT_OK);
	want(strstr(said, "rw-X user"));
	want(!strstr(said, "rwx"));
	where("APTable and UXNTable");
	chain_put(&s, va, 3, entry, BIT(60) | BIT(61) | BIT(62));
	leaf = query(a, va);
	want_u64(leaf.attr & (RW | PGT_EXEC | PGT_UEXEC | PGT_USER), PGT_READ | PGT_EXEC);
	want_status(pgt_check(a, no_problem, NULL), PGT_OK);
	pgt_destroy(a);
	where("HPD");
	r.tcr |= BIT(41);
	want_status(pgt_arm64_attach(&r, &m, PGT_ARM64_LOWER, &a), PGT_OK);
	leaf = query(a, va);
	want_u64(leaf.attr & (RW | PGT_EXEC | PGT_UEXEC | PGT_USER), RW | PGT_EXEC | PGT_UEXEC | PGT_USER);
	pgt_destroy(a);
	where("MAIR of zero");
	r.mair = 0;
	want_status(pgt_arm64_attach(&r, &m, PGT_ARM64_LOWER, &a), PGT_OK);
	want_u64(query(a, va).attr & PGT_MEM_MASK, PGT_MEM_DEVICE_STRICT);
	pgt_destroy(a);
	where("a root that isn't aligned, that is unknown, that is too large");
	r.ttbr0 = RAM_PA + 64;
	want_status(pgt_arm64_attach(&r, &m, PGT_ARM64_LOWER, &a), PGT_EALIGN);
	r.ttbr0 = RAM_PA + RAM_BYTES;
	want_status(pgt_arm64_attach(&r, &m, PGT_ARM64_LOWER, &a), PGT_ECORRUPT);
	r.tcr &= ~(UINT64_C(7) << 32);
	r.ttbr0 = BIT(40);
	want_status(pgt_arm64_attach(&r, &m, PGT_ARM64_LOWER, &a), PGT_ERANGE);
	ok(fine, "arm64: what Linux does and this library doesn't is no fault, and permissions are the effective ones");
}

/* ---- Few tables for all of the address space ---------------------------------------- */

/*
 * A gigabyte whose pages repeat: page i is page i % n_pages of these.  So it
 * takes no memory, and entries may lead anywhere in it.
 */
#define IMAGE_PA    UINT64_C(0x40000000)
#define IMAGE_BYTES GIB(1)

static uint64_t pages[4][8192];
static unsigned n_pages, page_bits;

static void *image(void *ctx, uint64_t pa, uint64_t bytes)
{
	uint64_t at = pa - IMAGE_PA;

	(void)ctx;
	if (at > IMAGE_BYTES || bytes > IMAGE_BYTES - at)
		return NULL;
	return (unsigned char *)pages[(at >> page_bits) % n_pages] + (at & (BIT(page_bits) - 1));
}

static unsigned problems, loops;

static int count_problem(void *ctx, const struct pgt_problem *p)
{
	(void)ctx;
	problems++;
	loops += strstr(p->what, "itself") != NULL;
	return 0;
}

struct lines {
	uint64_t next, n, same;
	uint64_t farthest; /* where a table was that is met again */
	bool gap, later;   /* lines don't follow one another; it comes after */
};

/* A line: from where the last one ended. */
static int count_line(void *ctx, const char *text, uint64_t bytes)
{
	struct lines *l = ctx;
	static const char again[] = "the same table as at ";
	char line[200];
	const char *same;
	uint64_t first, last, at;

	snprintf(line, sizeof(line), "%.*s", (int)bytes, text);
	if (sscanf(line, "0x%" SCNx64 "-0x%" SCNx64, &first, &last) != 2 || first != l->next)
		l->gap = true;
	l->next = last + 1;
	l->n++;
	same = strstr(line, again);
	if (!same)
		return 0;
	l->same++;
	if (sscanf(same + sizeof(again) - 1, "0x%" SCNx64, &at) != 1 || at >= first)
		l->later = true;
	else if (at > l->farthest)
		l->farthest = at;
	return 0;
}

static double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* All three calls on tables of which every entry of the image is one. */
static void want_quick(const struct shape *s, bool loop, bool two, const char *what)
{
	struct shape own = *s;
	struct pgt_memory m = { .to_virt = image };
	unsigned b = s->g - 3, levels = (s->input - s->g + b - 1) / b;
	uint64_t tables = 1, entries = BIT(s->input - s->g - b * (levels - 1));
	struct lines lines = { .next = 0 };
	struct pgt_arm64_regs r;
	struct pgt_stat stat;
	struct pgt *a = NULL;
	double start = seconds();
	int status;

	where("%s, granule %u, input %u", what, s->g, s->input);
	own.root = IMAGE_PA;
	r = regs_of(&own);
	if (!want_status(pgt_arm64_attach(&r, &m, PGT_ARM64_LOWER, &a), PGT_OK))
		return;
	problems = loops = 0;
	status = pgt_check(a, count_problem, NULL);
	want_status(status, loop ? PGT_ECORRUPT : PGT_OK);
	want(!loop == !loops);
	want_status(pgt_stat(a, 0, BIT(s->input), &stat), PGT_OK);
	for (unsigned level = 4 - levels; level < 4; level++) {
		want_u64(stat.tables[level + 1], tables);
		want_u64(stat.leaves[level + 1], level == 3 ? tables * entries : 0);
		tables *= entries;
		entries = BIT(b);
	}
	want_u64(stat.mapped_bytes, BIT(s->input));
	want_status(pgt_dump(a, 0, BIT(s->input), count_line, &lines), PGT_OK);
	want(!lines.gap);
	want_u64(lines.next, BIT(s->input));
	want(lines.same > 0 && !lines.later);
	/* Of one table a level each is first met at 0, of two the other by the second entry. */
	want(two == (lines.farthest != 0));
	pgt_destroy(a);
	want(seconds() - start < 10);
}

static void fill(unsigned page, uint64_t even, uint64_t odd)
{
	for (unsigned i = 0; i < 8192; i++)
		pages[page][i] = 0, raw_put(&pages[page][i], (i & 1 ? odd : even) | BIT(10) | 3);
}

static void test_same(void)
{
	static const struct shape shapes[] = {
		{ .regime = EL1, .g = 12, .input = 48, .output = 48, .mair = MAIR },
		{ .regime = EL1, .g = 12, .input = 52, .output = 52, .features = PGT_FEAT_LPA2, .mair = MAIR },
		{ .regime = EL1, .g = 14, .input = 47, .output = 48, .mair = MAIR },
		{ .regime = EL1, .g = 16, .input = 48, .output = 48, .mair = MAIR },
		{ .regime = EL2, .g = 12, .input = 39, .output = 48, .mair = MAIR },
	};

	begin();
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		uint64_t page = BIT(shapes[i].g);

		page_bits = shapes[i].g;
		n_pages = 1;
		fill(0, IMAGE_PA + page * 7, IMAGE_PA + page * 7);
		want_quick(&shapes[i], shapes[i].input > shapes[i].g + 2 * (shapes[i].g - 3), false,
			   "every entry leads to one table");
		fill(0, IMAGE_PA, IMAGE_PA);
		want_quick(&shapes[i], true, false, "every entry leads to the root");
		fill(0, IMAGE_PA + page * 7, IMAGE_PA + page * 10);
		want_quick(&shapes[i], shapes[i].input > shapes[i].g + 2 * (shapes[i].g - 3), true,
			   "to one table or another, in turn");
	}
	ok(fine, "check, stat and dump of a gigabyte in which every entry leads to one table, or two, end and say so");
}

/* A shadow of zeroes, as kernels have it: each level one table, the last one page. */
static void test_shadow(void)
{
	struct shape s = { .regime = EL1, .g = 12, .input = 48, .output = 48, .mair = MAIR };

	begin();
	page_bits = 12;
	n_pages = 4;
	for (unsigned i = 0; i < 4; i++)
		fill(i, IMAGE_PA + KIB(4) * (i + 1), IMAGE_PA + KIB(4) * (i + 1));
	want_quick(&s, false, false, "each level one table");
	ok(fine, "arm64: one table of each level for all of the space is no fault, and is described once");
}

/* ---- Large tables --------------------------------------------------------------------- */

#define SCATTERED 65536

static unsigned char *scattered;
static uint64_t taken, calls;
static unsigned spread; /* log2 of the distance between two tables */

static int scatter_alloc(void *ctx, uint64_t bytes, uint64_t *pa)
{
	(void)ctx;
	(void)bytes;
	calls++;
	*pa = (taken++ * 40503 % SCATTERED) << spread;
	return taken > SCATTERED;
}

static void scatter_free(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx;
	(void)pa;
	(void)bytes;
	calls++;
}

static void *scatter_virt(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx;
	(void)bytes;
	return scattered + (pa >> spread << 12) + (pa & 4095);
}

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LIMIT 1.0
#else
#define LIMIT 10.0
#endif

static void test_large(const char *format, unsigned from, unsigned to)
{
	struct pgt_config c = { .size = sizeof(c), .format = format, .input_bits = 40 };
	static const unsigned spreads[] = { 12, 21, 28 };

	begin();
	c.memory = (struct pgt_memory){ .alloc = scatter_alloc, .free = scatter_free, .to_virt = scatter_virt };
	for (unsigned i = from; i < to; i++) {
		struct pgt *t = NULL;
		struct pgt_mapping m;
		unsigned char *entry;
		double best = 100;

		spread = spreads[i];
		where("%s, tables 2^%u bytes apart", format, spread);
		memset(scattered, 0, (size_t)SCATTERED * 4096);
		taken = 0;
		want_status(pgt_create(&c, &t), PGT_OK);
		want_status(pgt_map(t, 0, 0, GIB(64), RW, PGT_MAX_LEAF(12), NULL), PGT_OK);
		calls = 0;
		/* The best of some: other programs run too. */
		for (unsigned k = 0; k < 5 && best > LIMIT; k++) {
			double start = seconds(), took;

			want_status(pgt_check(t, no_problem, NULL), PGT_OK);
			took = seconds() - start;
			best = took < best ? took : best;
		}
		note("%s, %u: %.2f s", format, spread, best);
		if (!getenv("EXEC_WRAPPER") || !*getenv("EXEC_WRAPPER"))
			want(best <= LIMIT);
		want_u64(calls, 0);
		where("%s, one table of all is reached twice, 2^%u", format, spread);
		want_status(pgt_query(t, GIB(40), &m), PGT_OK);
		/* The entry before it that leads to the table of GIB(40) + 2 MiB leads there too. */
		entry = NULL;
		for (uint64_t p = 0; p < SCATTERED && !entry; p++) {
			unsigned char *table = scattered + p * 4096;
			uint64_t low = raw_get(table), next = low & UINT64_C(0x0000fffffffff000);

			/* A table of level 2 whose first entry leads to the page of GIB(40). */
			if (p << spread < BIT(48) && low && (next >> spread) < SCATTERED &&
			    !(next & (BIT(spread) - 1)) && table != scattered + (next >> spread << 12) &&
			    raw_get(scattered + (next >> spread << 12)) == m.entry)
				entry = table;
		}
		if (want(entry != NULL)) {
			uint64_t was = raw_get(entry + 8 * 100);

			raw_put(entry + 8 * 100, raw_get(entry + 8 * 300));
			problems = 0;
			want_status(pgt_check(t, count_problem, NULL), PGT_ECORRUPT);
			want_u64(problems, 1);
			raw_put(entry + 8 * 100, was);
		}
		want_status(pgt_check(t, no_problem, NULL), PGT_OK);
		pgt_destroy(t);
	}
	ok(fine, "%s: check of 64 GiB in pages takes a second and no memory, wherever the tables lie", format);
}

int main(void)
{
	scattered = malloc((size_t)SCATTERED * 4096);
	if (!scattered)
		return EXIT_FAILURE;
	if (have_format("arm64")) {
		test_attach();
		test_linux();
		test_same();
		test_shadow();
		test_large("arm64", 0, 2);
	}
	if (have_format("generic"))
		test_large("generic", 2, 3);
	free(scattered);
	return tap_done();
}
