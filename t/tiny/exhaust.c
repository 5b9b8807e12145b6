/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every range after every range, on the format with four entries a table: two
 * mappings, the second replacing, or one and a removal, at every pair of
 * ranges, compared with a flat model page by page; tables balanced; nothing
 * changed where the allocator fails at its k-th call, for every k.
 */
#include "../tap.h"
#include <pgtable/pgtable.h>
#include <string.h>

#define PAGE       32u
#define PAGES_MAX  64u
#define POOL       (PAGES_MAX * 4)
#define EMPTY      UINT64_MAX
#define ATTR_A     (PGT_READ | PGT_WRITE | PGT_SW0)
#define ATTR_B     (PGT_READ | PGT_SW1)

/* Tables: slots of 64 bytes, so that the root fits in one. */
static union {
	uint64_t align;
	unsigned char bytes[POOL * 64 + 64];
} pool;
static unsigned char *memory;
static bool used[POOL];
static unsigned live, refuse;

static int pool_alloc(void *ctx, uint64_t bytes, uint64_t *pa)
{
	(void)ctx, (void)bytes;
	if (refuse && --refuse == 0)
		return -1;
	for (unsigned i = 0; i < POOL; i++)
		if (!used[i]) {
			used[i] = true;
			live++;
			memset(memory + i * 64, 0, 64);
			*pa = (uint64_t)i * 64;
			return 0;
		}
	return -1;
}

static void pool_free(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx, (void)bytes;
	if (pa % 64 || pa / 64 >= POOL || !used[pa / 64]) {
		printf("Bail out! a table that was never given is freed\n");
		exit(EXIT_FAILURE);
	}
	used[pa / 64] = false;
	live--;
	memset(memory + pa, 0xa5, 64);
}

static void *pool_virt(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx, (void)bytes;
	return pa < POOL * 64 && used[pa / 64] ? memory + pa : NULL;
}

static void tlb_invalidate(void *ctx, const struct pgt_tlb_range *range)
{
	(void)ctx, (void)range;
}

static void tlb_sync(void *ctx)
{
	(void)ctx;
}

static unsigned pages;
static uint64_t base, model_pa[PAGES_MAX], model_attr[PAGES_MAX];
static unsigned long compared, differences, calls;

static void compare(const struct pgt *t, const char *what)
{
	struct pgt_mapping m;
	struct pgt_translation tr;

	compared++;
	for (unsigned i = 0; i < pages; i++) {
		uint64_t va = base + i * PAGE;
		bool mapped = model_pa[i] != EMPTY;
		bool good = pgt_query(t, va, &m) == PGT_OK && (m.state == PGT_LEAF) == mapped;

		if (good && mapped)
			good = m.pa + (va - m.va) == model_pa[i] &&
			       (m.attr & ~(PGT_YOUNG | PGT_DIRTY)) == model_attr[i] &&
			       pgt_translate(t, va + 7, PGT_READ, &tr) == PGT_OK &&
			       tr.pa == model_pa[i] + 7;
		if (!good && differences++ < 5)
			printf("# %s: page %u differs\n", what, i);
	}
}

static int report(void *ctx, const struct pgt_problem *problem)
{
	const char *what = ctx;

	if (differences++ < 5)
		printf("# %s: %s at 0x%llx\n", what, problem->what, (unsigned long long)problem->va);
	return 0;
}

/* What one call is to do, and its expected status. */
struct step {
	unsigned first, count, offset, flags;
	bool removes;
	uint64_t attr;
};

static int expected(const struct step *s)
{
	if (s->removes || (s->flags & PGT_REPLACE))
		return PGT_OK;
	for (unsigned i = s->first; i < s->first + s->count; i++)
		if (model_pa[i] != EMPTY)
			return PGT_EEXIST;
	return PGT_OK;
}

static int call(struct pgt *t, const struct step *s)
{
	uint64_t va = base + s->first * PAGE, len = s->count * PAGE;

	calls++;
	if (s->removes)
		return pgt_unmap(t, va, len, s->flags, NULL);
	return pgt_map(t, va, (s->first + s->offset) * PAGE, len, s->attr, s->flags, NULL);
}

static void apply(const struct step *s)
{
	for (unsigned i = s->first; i < s->first + s->count; i++) {
		model_pa[i] = s->removes ? EMPTY : (i + s->offset) * PAGE;
		model_attr[i] = s->attr;
	}
}

/* The call fails at its k-th allocation, for every k, and changes nothing. */
static void exhaust_memory(struct pgt *t, const struct step *s)
{
	static unsigned char before[sizeof pool.bytes];
	unsigned tables = live;

	for (unsigned k = 1;; k++) {
		int status;

		memcpy(before, memory, POOL * 64);
		refuse = k;
		status = call(t, s);
		if (status == PGT_OK) {
			refuse = 0;
			return;
		}
		for (unsigned i = 0; i < POOL; i++)
			if (used[i] && memcmp(before + i * 64, memory + i * 64, 64) && differences++ < 5)
				printf("# a call that failed changed a table\n");
		if ((status != PGT_ENOMEM || live != tables) && differences++ < 5)
			printf("# status %d, %u tables instead of %u\n", status, live, tables);
	}
}

static void two_steps(const struct pgt_config *config, const struct step *a, const struct step *b)
{
	static unsigned char storage[1024] __attribute__((aligned(16)));
	struct pgt *t;
	int want;

	for (unsigned i = 0; i < pages; i++)
		model_pa[i] = EMPTY;
	if (pgt_init(storage, sizeof storage, config, &t) != PGT_OK) {
		differences++;
		return;
	}
	differences += call(t, a) != PGT_OK;
	apply(a);
	want = expected(b);
	if (want == PGT_OK) {
		exhaust_memory(t, b);
		apply(b);
	} else {
		differences += call(t, b) != want;
	}
	compare(t, b->removes ? "unmap" : "map");
	pgt_check(t, report, (void *)(b->removes ? "unmap" : "map"));
	differences += pgt_unmap(t, base, pages * PAGE, 0, NULL) != PGT_OK;
	differences += live != 1;
	pgt_destroy(t);
	differences += live != 0;
}

/* All pairs of ranges; PAs that suit blocks, and such that don't. */
static void all_pairs(const struct pgt_config *config, bool removes, unsigned flags, unsigned stride)
{
	static const unsigned offsets[] = { 64, 66, 65 };
	unsigned pick = 0;

	for (unsigned a = 0; a < pages; a++)
		for (unsigned an = 1; an <= pages - a; an += stride)
			for (unsigned b = 0; b < pages; b++)
				for (unsigned bn = 1; bn <= pages - b; bn += stride, pick++) {
					struct step first = { a, an, offsets[pick % 3], 0, false, ATTR_A };
					struct step second = { b,	 bn,	  offsets[pick / 3 % 3],
							       flags, removes, pick % 5 ? ATTR_B : ATTR_A };

					two_steps(config, &first, &second);
				}
}

static void try_all(struct pgt_config *config, unsigned input_bits, unsigned stride, const char *what)
{
	static const struct {
		bool removes;
		unsigned flags;
		const char *what;
	} seconds[] = {
		{ true, 0, "unmap" },
		{ true, PGT_KEEP_TABLES, "unmap, tables kept" },
		{ false, 0, "map" },
		{ false, PGT_REPLACE, "replace" },
		{ false, PGT_REPLACE | PGT_KEEP_TABLES, "replace, tables kept" },
		{ false, PGT_REPLACE | PGT_MAX_LEAF(6), "replace, small leaves" },
	};

	config->input_bits = (uint8_t)input_bits;
	pages = 1u << (input_bits - 5);
	base = config->features & PGT_FEAT_UPPER ? 0 - (UINT64_C(1) << input_bits) : 0;
	for (unsigned i = 0; i < sizeof seconds / sizeof *seconds; i++) {
		differences = calls = 0;
		all_pairs(config, seconds[i].removes, seconds[i].flags, stride);
		ok(differences == 0, "%s, %u input bits: map then %s (%lu calls)", what, input_bits,
		   seconds[i].what, calls);
	}
}

int main(void)
{
	struct pgt_config config = {
		.size = sizeof config,
		.format = "tiny",
		.granule_bits = 5,
		.output_bits = 16,
		.memory = { .alloc = pool_alloc, .free = pool_free, .to_virt = pool_virt },
	};

	memory = pool.bytes + (64 - (uintptr_t)pool.bytes % 64) % 64;
	try_all(&config, 9, 1, "plain");
	config.features = PGT_FEAT_CONTIG;
	config.tlb.invalidate = tlb_invalidate;
	config.tlb.sync = tlb_sync;
	try_all(&config, 9, 1, "runs and a TLB");
	config.features |= PGT_FEAT_BBM2;
	config.input_bits = 9;
	pages = 16;
	differences = calls = 0;
	all_pairs(&config, true, PGT_NO_BREAK, 1);
	ok(differences == 0, "level 2: whatever unmap cuts is changed without a break (%lu calls)", calls);
	config.features ^= PGT_FEAT_BBM2 | PGT_FEAT_UPPER;
	try_all(&config, 8, 1, "upper half");
	try_all(&config, 11, 13, "upper half");
	return tap_done();
}
