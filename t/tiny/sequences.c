/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All changing calls in random order, against a flat model of each page: what
 * is mapped, its attributes, young, dirty, token.  Hardware sets state in
 * between.  Each call is first made to fail at its k-th allocation, for every
 * k, and must then have changed nothing.  The same program runs on the format
 * with four entries a table and on those of the library.
 */
#include "../tap.h"
#include <pgtable/pgtable.h>
#include <string.h>

#define PAGES_MAX 64u
#define POOL      512u
#define STATE     (PGT_YOUNG | PGT_DIRTY)

static uint64_t page, slot; /* bytes of a page; and of what a table is given */
static unsigned char *memory, *before;
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
			memset(memory + i * slot, 0, slot);
			*pa = i * slot;
			return 0;
		}
	return -1;
}

static void pool_free(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx, (void)bytes;
	if (pa % slot || pa / slot >= POOL || !used[pa / slot]) {
		printf("Bail out! a table that was never given is freed\n");
		exit(EXIT_FAILURE);
	}
	used[pa / slot] = false;
	live--;
	memset(memory + pa, 0xa5, slot);
}

static void *pool_virt(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx, (void)bytes;
	return pa < POOL * slot && used[pa / slot] ? memory + pa : NULL;
}

static unsigned invalidations;

static void tlb_invalidate(void *ctx, const struct pgt_tlb_range *range)
{
	(void)ctx, (void)range;
	invalidations++;
}

static void tlb_sync(void *ctx)
{
	(void)ctx;
}

/* ---- The model ---- */

struct page {
	int state;
	uint64_t pa, attr, token;
};

static struct page model[PAGES_MAX];
static unsigned pages;
static uint64_t base, seed;
static unsigned page_bits;
static bool whole; /* the model has all of the address space */
static unsigned long differences, calls, refused;

static unsigned rnd(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)((seed >> 33) % n);
}

static void differ(const char *what, unsigned number)
{
	if (differences++ < 5)
		printf("# %s: page %u\n", what, number);
}

/* A leaf or a run has one state: that of all its pages together. */
static void join_states(const struct pgt *t)
{
	for (unsigned i = 0; i < pages;) {
		uint64_t va = base + i * page, state = 0, begin, bytes;
		struct pgt_mapping m;
		unsigned first, end;

		pgt_query(t, va, &m);
		if (m.state != PGT_LEAF) {
			i++;
			continue;
		}
		bytes = m.run_bytes > m.len ? m.run_bytes : m.len;
		begin = m.va - (m.va - base) % bytes;
		first = (unsigned)((begin - base) / page);
		end = first + (unsigned)(bytes / page);
		for (unsigned k = first; k < end; k++)
			state |= model[k].attr & STATE;
		for (unsigned k = first; k < end; k++)
			model[k].attr |= state;
		i = end;
	}
}

static void compare(const struct pgt *t, const struct page *pages_of, const char *what)
{
	for (unsigned i = 0; i < pages; i++) {
		uint64_t va = base + i * page;
		struct pgt_mapping m;

		if (pgt_query(t, va, &m) != PGT_OK || m.state != pages_of[i].state)
			differ(what, i);
		else if (m.state == PGT_LEAF &&
			 (m.pa + (va - m.va) != pages_of[i].pa || m.attr != pages_of[i].attr)) {
			if (differences < 5)
				printf("# pa 0x%llx attr 0x%llx, not pa 0x%llx attr 0x%llx\n",
				       (unsigned long long)(m.pa + (va - m.va)), (unsigned long long)m.attr,
				       (unsigned long long)pages_of[i].pa, (unsigned long long)pages_of[i].attr);
			differ(what, i);
		}
		else if (m.state == PGT_TOKEN && m.token != pages_of[i].token)
			differ(what, i);
	}
}

static int report(void *ctx, const struct pgt_problem *problem)
{
	if (differences++ < 5)
		printf("# after %s: %s at 0x%llx\n", (const char *)ctx, problem->what,
		       (unsigned long long)problem->va);
	return 0;
}

/* ---- One call ---- */

enum what { MAP, UNMAP, PROTECT, MOVE, SPLIT, COLLAPSE, HARVEST, FAULT, STORE, TRIM, TOUCH, COPY, WHATS };

static const char *const names[] = { "map",	"unmap", "protect", "move",  "split", "collapse",
				     "harvest", "fault", "store",   "trim",  "touch", "copy" };

struct call {
	enum what what;
	unsigned first, count, to, flags;
	uint64_t pa, attr, set, clear, token, access;
	unsigned bits;
	struct pgt_bitmap bitmap;
	uint64_t words[PAGES_MAX / 64 + 1];
};

static struct pgt *copied;

static int make(struct pgt *t, struct call *k)
{
	uint64_t va = base + k->first * page, len = k->count * page;

	calls++;
	switch (k->what) {
	case MAP: return pgt_map(t, va, k->pa, len, k->attr, k->flags, NULL);
	case UNMAP: return pgt_unmap(t, va, len, k->flags, NULL);
	case PROTECT: return pgt_protect(t, va, len, k->set, k->clear, k->flags, NULL);
	case MOVE: return pgt_move(t, va, base + k->to * page, len, k->flags, NULL);
	case SPLIT: return pgt_split(t, va, len, k->bits, k->flags, NULL);
	case COLLAPSE: return pgt_collapse(t, va, len, k->bits, 0, NULL);
	case HARVEST: return pgt_harvest(t, va, len, k->set, k->flags, &k->bitmap, NULL);
	case FAULT: return pgt_fault(t, va + 3, k->access, NULL);
	case STORE: return pgt_store(t, va, len, k->token, k->flags, NULL);
	case TRIM: return pgt_trim(t, va, len, NULL);
	case COPY: return pgt_copy(copied, t, va, len, k->flags, NULL);
	default: return PGT_OK;
	}
}

/* Whether the format has global leaves. */
static bool has_global;

static void choose(struct call *k)
{
	static const uint64_t sets[] = { PGT_WRITE, PGT_SW1, PGT_EXEC | PGT_SW0, PGT_NOACCESS, PGT_GLOBAL,
					 PGT_MEM_NOCACHE, 0, PGT_WRITE };
	static const uint64_t clears[] = { 0, PGT_SW0, PGT_GLOBAL, 0, PGT_SW1, PGT_MEM_MASK, PGT_WRITE | PGT_NOACCESS,
					   PGT_NOACCESS };
	static const unsigned map_flags[] = { 0, PGT_REPLACE, PGT_REPLACE, PGT_REPLACE | PGT_KEEP_TABLES,
					      PGT_REPLACE, 0, PGT_REPLACE | PGT_NO_SPLIT };
	unsigned pick = rnd(8);

	memset(k, 0, sizeof *k);
	k->what = (enum what)rnd(WHATS);
	k->first = rnd(pages);
	k->count = 1 + rnd(rnd(3) ? 6 : pages);
	if (rnd(3) == 0)
		k->first &= ~3u;
	if (rnd(3) == 0)
		k->count = (k->count + 3) & ~3u;
	if (k->count > pages - k->first)
		k->count = pages - k->first;
	k->pa = (k->first + 64 * (1 + rnd(2)) + (rnd(3) ? 0 : rnd(9))) * page;
	k->attr = PGT_READ | (rnd(2) ? PGT_WRITE : 0) | (rnd(3) ? 0 : PGT_SW0) | (rnd(8) ? 0 : PGT_NOACCESS) |
		  (rnd(4) ? 0 : PGT_GLOBAL);
	k->token = rnd(1000);
	k->set = sets[pick];
	k->clear = clears[pick];
	if (!has_global) {
		k->attr &= ~PGT_GLOBAL;
		k->set &= ~PGT_GLOBAL;
	}
	k->bits = page_bits + rnd(5);
	k->access = rnd(2) ? PGT_READ : PGT_WRITE;
	k->to = rnd(pages);
	if (k->what == MOVE && rnd(2))
		k->to = (k->to & ~3u) | (k->first & 3);
	if (!whole && k->to > pages - k->count)
		k->to = pages - k->count;
	if (k->what == MAP || k->what == STORE) {
		pick = rnd(7);
		k->flags = map_flags[pick] | (pick == 4 || pick == 5 ? PGT_MAX_LEAF(page_bits + (pick == 4)) : 0);
	}
	if (k->what == STORE && rnd(3) == 0)
		k->flags |= PGT_SEQUENCE;
	if (k->what == UNMAP)
		k->flags = rnd(3) ? 0 : rnd(2) ? PGT_KEEP_TABLES : PGT_NO_SPLIT;
	if (k->what == PROTECT || k->what == SPLIT)
		k->flags = rnd(5) ? 0 : PGT_NO_SPLIT;
	if (k->what == COPY)
		k->flags = rnd(2) ? PGT_COW : 0;
	if (k->what == HARVEST) {
		k->set = rnd(3) == 0 ? PGT_YOUNG : rnd(2) ? PGT_DIRTY : STATE;
		k->flags = rnd(4) == 0 ? PGT_PEEK : rnd(3) == 0 ? PGT_SELECTED : 0;
		k->bitmap = (struct pgt_bitmap){ k->words, base, pages, (uint8_t)page_bits };
		for (unsigned i = 0; (k->flags & PGT_SELECTED) && i < pages; i++)
			k->words[i / 64] |= (uint64_t)rnd(2) << (i % 64);
	}
}

/* ---- What it is to do ---- */

static bool overlaps(const struct call *k)
{
	return k->to < k->first + k->count && k->first < k->to + k->count;
}

static int expected(const struct pgt *t, const struct call *k)
{
	bool found = false;

	switch (k->what) {
	case MOVE:
		if (overlaps(k))
			return PGT_EINVAL;
		if (k->to + k->count > pages)
			return PGT_ERANGE;
		for (unsigned i = k->to; i < k->to + k->count; i++)
			found |= model[i].state != PGT_EMPTY;
		return found ? PGT_EEXIST : PGT_OK;
	case MAP:
	case STORE:
		for (unsigned i = k->first; i < k->first + k->count; i++)
			found |= model[i].state != PGT_EMPTY;
		return found && !(k->flags & PGT_REPLACE) ? PGT_EEXIST : PGT_OK;
	case FAULT:
		if (model[k->first].state != PGT_LEAF)
			return PGT_ENOENT;
		if ((model[k->first].attr & PGT_NOACCESS) ||
		    ((k->access & PGT_WRITE) && !(model[k->first].attr & PGT_WRITE)))
			return PGT_EACCES;
		return PGT_OK;
	case SPLIT:
	case COLLAPSE:
		return pgt_leaf_sizes(t) >> k->bits & 1 ? PGT_OK : PGT_ENOTSUP;
	default:
		return PGT_OK;
	}
}

static bool selected(const struct call *k, unsigned i)
{
	return i >= k->first && i < k->first + k->count &&
	       (!(k->flags & PGT_SELECTED) || (k->words[i / 64] >> (i % 64) & 1));
}

/* Whether any page of the group has an attribute. */
static bool group_has(const uint64_t *group, unsigned of, uint64_t attr)
{
	for (unsigned i = 0; i < pages; i++)
		if (group[i] == group[of] && (model[i].attr & attr))
			return true;
	return false;
}

/* Dirty goes page by page, and young with it where that splits the leaf or run;
 * else young goes for all that is touched. */
static void apply_harvest(struct call *k, const uint64_t *group)
{
	uint64_t cleared[PAGES_MAX] = { 0 };

	for (unsigned i = 0; i < pages; i++) {
		bool leaf = selected(k, i) && model[i].state == PGT_LEAF;
		bool splits = leaf && (k->set & PGT_DIRTY) && group_has(group, i, PGT_DIRTY);

		if (selected(k, i) && !(k->flags & PGT_SELECTED) &&
		    (leaf && (model[i].attr & k->set)) != (k->words[i / 64] >> (i % 64) & 1))
			differ("harvest reports", i);
		for (unsigned p = 0; leaf && p < pages; p++)
			if (p == i)
				cleared[p] |= k->set;
			else if (group[p] == group[i] && !splits)
				cleared[p] |= k->set & PGT_YOUNG;
	}
	for (unsigned i = 0; i < pages && !(k->flags & PGT_PEEK); i++)
		model[i].attr &= ~cleared[i];
}

static void apply(struct call *k, struct pgt *t, uint64_t leaf_first, uint64_t leaf_count)
{
	struct page moved[PAGES_MAX];

	(void)t;
	for (unsigned i = k->first; i < k->first + k->count; i++) {
		struct page *p = &model[i];
		uint64_t pa = k->pa + (i - k->first) * page;

		switch (k->what) {
		case MAP:
			if (p->state == PGT_LEAF && p->pa == pa && (p->attr & ~STATE) == k->attr)
				break;
			*p = (struct page){ PGT_LEAF, pa, k->attr, 0 };
			break;
		case UNMAP:
			*p = (struct page){ 0 };
			break;
		case PROTECT:
			if (p->state == PGT_LEAF)
				p->attr = (p->attr & ~k->clear) | k->set;
			break;
		case STORE:
			*p = (struct page){ PGT_TOKEN, 0, 0, k->token + (k->flags & PGT_SEQUENCE ? i - k->first : 0) };
			break;
		case COPY:
			if (p->state == PGT_LEAF && (k->flags & PGT_COW))
				p->attr &= ~PGT_WRITE;
			break;
		default:
			break;
		}
	}
	if (k->what == MOVE) {
		memcpy(moved, model + k->first, k->count * sizeof *model);
		memset(model + k->first, 0, k->count * sizeof *model);
		memcpy(model + k->to, moved, k->count * sizeof *model);
	}
	if (k->what == FAULT)
		for (uint64_t i = leaf_first; i < leaf_first + leaf_count; i++)
			model[i].attr |= k->access & PGT_WRITE ? STATE : PGT_YOUNG;
}

/* What the copy holds: the same, old and clean, without write permission under PGT_COW. */
static void compare_copy(const struct call *k)
{
	static struct page theirs[PAGES_MAX];

	memset(theirs, 0, sizeof theirs);
	for (unsigned i = k->first; i < k->first + k->count; i++) {
		theirs[i] = model[i];
		theirs[i].attr &= ~STATE & ~(k->flags & PGT_COW ? PGT_WRITE : 0);
	}
	compare(copied, theirs, "the copy");
	pgt_check(copied, report, (void *)"copy");
}

/* Fails at the k-th allocation, for every k; then succeeds, or is refused. */
static int try_all(struct pgt *t, struct call *k)
{
	unsigned tables = live;
	struct call keep = *k;

	for (unsigned n = 1;; n++) {
		int status;

		for (unsigned i = 0; i < POOL; i++)
			if (used[i])
				memcpy(before + i * slot, memory + i * slot, slot);
		refuse = n;
		status = make(t, k);
		if (status == PGT_OK) {
			refuse = 0;
			return status;
		}
		refuse = 0;
		for (unsigned i = 0; i < POOL; i++)
			if (used[i] && memcmp(before + i * slot, memory + i * slot, slot))
				differ("a call that failed changed a table", i);
		if (live != tables || memcmp(keep.words, k->words, sizeof k->words))
			differ("a call that failed leaks or reports", n);
		if (status != PGT_ENOMEM) {
			refused++;
			return status;
		}
	}
}

static void groups(const struct pgt *t, uint64_t *group)
{
	for (unsigned i = 0; i < pages; i++) {
		struct pgt_mapping m;
		uint64_t bytes;

		pgt_query(t, base + i * page, &m);
		bytes = m.run_bytes > m.len ? m.run_bytes : m.len;
		group[i] = (m.va - base) / bytes * bytes / page;
	}
}

static void one(struct pgt *t, const struct pgt_config *config)
{
	static unsigned char storage[1024] __attribute__((aligned(16)));
	uint64_t group[PAGES_MAX] = { 0 }, leaf_first, leaf_count = 0;
	struct pgt_translation tr;
	struct call k;
	int status, want;

	choose(&k);
	if (k.what == TOUCH) {
		uint64_t va = base + k.first * page;
		struct pgt_mapping m;

		if (pgt_translate(t, va, k.access | PGT_UPDATE, &tr) == PGT_OK) {
			pgt_query(t, va, &m);
			model[k.first].attr |= k.access == PGT_WRITE ? STATE : PGT_YOUNG;
		}
		join_states(t);
		return;
	}
	if (k.what == COPY && pgt_init(storage, sizeof storage, config, &copied) != PGT_OK)
		return;
	groups(t, group);
	leaf_first = group[k.first];
	while (leaf_first + leaf_count < pages && group[leaf_first + leaf_count] == leaf_first)
		leaf_count++;
	want = expected(t, &k);
	status = try_all(t, &k);
	if (status != want && !(want == PGT_OK && status == PGT_EBLOCK && (k.flags & PGT_NO_SPLIT)) &&
	    !(k.what == MOVE && status < 0 && want < 0))
		differ(names[k.what], (unsigned)-status * 100 + k.first);
	if (status == PGT_OK) {
		apply(&k, t, leaf_first, leaf_count);
		if (k.what == HARVEST)
			apply_harvest(&k, group);
		join_states(t);
	}
	if (k.what == COPY) {
		if (status == PGT_OK)
			compare_copy(&k);
		pgt_destroy(copied);
	}
	compare(t, model, names[k.what]);
	if (differences)
		printf("# %s of %u pages at %u to %u: flags 0x%x set 0x%llx clear 0x%llx\n", names[k.what], k.count,
		       k.first, k.to, k.flags, (unsigned long long)k.set, (unsigned long long)k.clear);
	pgt_check(t, report, (void *)(uintptr_t)names[k.what]);
}

static void run(struct pgt_config *config, unsigned input_bits, unsigned window, unsigned rounds, const char *what)
{
	static unsigned char storage[1024] __attribute__((aligned(16)));
	struct pgt *t;

	config->input_bits = (uint8_t)input_bits;
	pages = window;
	whole = pages * page == UINT64_C(1) << input_bits;
	base = config->features & PGT_FEAT_UPPER ? 0 - (UINT64_C(1) << input_bits) : 0;
	memset(model, 0, sizeof model);
	differences = calls = refused = 0;
	if (pgt_init(storage, sizeof storage, config, &t) != PGT_OK) {
		ok(0, "%s: init", what);
		return;
	}
	for (unsigned i = 0; i < rounds && differences == 0; i++) {
		one(t, config);
		if (differences)
			printf("# at round %u\n", i);
	}
	pgt_unmap(t, base, pages * page, 0, NULL);
	ok(differences == 0 && live == 1, "%s, %s, %u input bits: %lu calls as the model says, %lu refused",
	   config->format, what, input_bits, calls, refused);
	pgt_destroy(t);
	ok(live == 0, "%s, %s: no table is left", config->format, what);
}

static void run_format(const char *format, unsigned granule_bits, unsigned small, unsigned large, unsigned rounds)
{
	const uint64_t tracked = PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY;
	bool tiny = granule_bits == 5, stage2 = strcmp(format, "arm64-s2") == 0;
	bool upper = tiny || strcmp(format, "arm64") == 0;
	unsigned few = tiny ? 16 : 64;
	struct pgt_config config = {
		.size = sizeof config,
		.format = format,
		.granule_bits = (uint8_t)granule_bits,
		.output_bits = tiny ? 16 : 48,
		.memory = { .alloc = pool_alloc, .free = pool_free, .to_virt = pool_virt },
		/* Privileged execution by itself. */
		.features = tracked | (stage2 ? PGT_FEAT_XNX : 0),
	};

	has_global = upper || strcmp(format, "generic") == 0;
	page_bits = granule_bits;
	page = UINT64_C(1) << granule_bits;
	slot = tiny ? 64 : page;
	memory = aligned_alloc((size_t)slot, (size_t)(POOL * slot));
	before = malloc((size_t)(POOL * slot));
	if (!memory || !before) {
		printf("Bail out! no memory\n");
		exit(EXIT_FAILURE);
	}
	run(&config, small, few, rounds, "plain");
	config.features |= PGT_FEAT_CONTIG;
	run(&config, small, few, rounds, "runs");
	config.tlb.invalidate = tlb_invalidate;
	config.tlb.sync = tlb_sync;
	run(&config, small, few, rounds, "runs and a TLB");
	if (upper)
		config.features |= PGT_FEAT_UPPER;
	run(&config, large, 64, rounds, upper ? "upper half" : "all input bits");
	config.features |= PGT_FEAT_BBM2;
	run(&config, large, 64, rounds, "level 2");
	free(memory);
	free(before);
}

int main(void)
{
	const char *from = getenv("PGT_TEST_SEED");

	seed = from ? strtoull(from, NULL, 0) : UINT64_C(0x9e3779b97f4a7c15);
	printf("# PGT_TEST_SEED=0x%llx\n", (unsigned long long)seed);
	for (const char *const *format = pgt_formats(); *format; format++)
		if (strcmp(*format, "tiny") == 0)
			run_format(*format, 5, 9, 11, 100000);
		else
			run_format(*format, 12, 39, 48, 5000);
	return tap_done();
}
