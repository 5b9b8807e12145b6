/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "../tap.h"
#include "random.h"
#include "tables.h"

#define BIT(n) (UINT64_C(1) << (n))

uint64_t failed_calls;

/* PGT_MEM_NORMAL to PGT_MEM_DEVICE_STRICT */
const uint8_t mair_bytes[5] = { 0xff, 0x44, 0xbb, 0x04, 0x00 };

/* ---- Memory ------------------------------------------------------------ */

static int region_alloc(void *ctx, uint64_t bytes, uint64_t *pa)
{
	struct region *r = ctx;
	const uint64_t start = (r->used + bytes - 1) & ~(bytes - 1);

	if (start + bytes > r->bytes)
		return 1;
	memset(r->memory + start, 0, bytes);
	r->used = start + bytes;
	r->live++;
	*pa = r->pa + start;
	return 0;
}

static void region_free(void *ctx, uint64_t pa, uint64_t bytes)
{
	struct region *r = ctx;

	r->live--;
	memset(r->memory + (pa - r->pa), 0, bytes);
}

static void *region_at(void *ctx, uint64_t pa, uint64_t bytes)
{
	const struct region *r = ctx;

	if (pa < r->pa || pa - r->pa > r->bytes || bytes > r->bytes - (pa - r->pa))
		return NULL;
	return r->memory + (pa - r->pa);
}

struct pgt_memory region_memory(struct region *region)
{
	struct pgt_memory m = { .alloc = region_alloc, .free = region_free, .ctx = region };

	if (chance(2)) {
		m.to_virt = region_at;
	} else {
		m.window = region->memory;
		m.window_pa = region->pa;
		m.window_bytes = region->bytes;
	}
	return m;
}

/* ---- Making ------------------------------------------------------------ */

/* The five memory types in some order, the rest any of them. */
uint64_t random_mair(void)
{
	uint8_t byte[8];
	uint64_t mair = 0;

	for (unsigned i = 0; i < 8; i++)
		byte[i] = i < 5 ? mair_bytes[i] : mair_bytes[below(5)];
	for (unsigned i = 7; i > 0; i--) {
		const uint64_t j = below(i + 1);
		const uint8_t kept = byte[i];

		byte[i] = byte[j];
		byte[j] = kept;
	}
	for (unsigned i = 0; i < 8; i++)
		mair |= (uint64_t)byte[i] << (8 * i);
	return mair;
}

static const char *format_of(uint32_t regime)
{
	return regime == PGT_ARM64_EL1 ? "arm64" : regime == PGT_ARM64_EL2 ? "arm64-el2" : "arm64-s2";
}

/* How many levels of tables there are: stage 1 has one for every started stride. */
static unsigned levels_of(const struct pgt *t, const struct shape *s)
{
	struct pgt_config c = { .size = sizeof(c) };

	if (s->regime != PGT_ARM64_S2)
		return (s->input - 4u) / (s->granule - 3u);
	if (pgt_describe(t, &c) != PGT_OK || !c.format_config)
		return 0;
	return ((const struct pgt_arm64_config *)c.format_config)->levels;
}

bool table_make(struct table *t, const struct shape *shape, struct region *region)
{
	struct pgt_config *c = &t->config;

	memset(t, 0, sizeof(*t));
	t->shape = *shape;
	t->region = region;
	t->own.size = sizeof(t->own);
	t->own.mair = shape->mair;
	t->own.levels = shape->levels;
	c->size = sizeof(*c);
	c->format = format_of(shape->regime);
	c->granule_bits = shape->granule;
	c->input_bits = shape->input;
	c->output_bits = shape->output;
	c->features = shape->features;
	c->memory = region_memory(region);
	c->format_config = shape->mair || shape->levels ? &t->own : NULL;
	t->last = shape->features & PGT_FEAT_UPPER ? UINT64_MAX : BIT(shape->input) - 1;
	t->first = t->last - (BIT(shape->input) - 1);
	if (pgt_create(c, &t->t) != PGT_OK)
		return false;
	t->levels = levels_of(t->t, shape);
	return true;
}

void table_destroy(struct table *t)
{
	pgt_destroy(t->t);
	t->t = NULL;
}

/* ---- Filling ----------------------------------------------------------- */

static uint64_t random_rights(const struct shape *s)
{
	static const uint64_t el1[] = {
		PGT_READ,
		PGT_READ | PGT_WRITE,
		PGT_READ | PGT_EXEC,
		PGT_READ | PGT_WRITE | PGT_EXEC,
		PGT_READ | PGT_USER,
		PGT_READ | PGT_WRITE | PGT_USER,
		PGT_READ | PGT_USER | PGT_UEXEC,
		PGT_READ | PGT_USER | PGT_EXEC,
		PGT_READ | PGT_WRITE | PGT_USER | PGT_UEXEC,
		PGT_READ | PGT_WRITE | PGT_USER | PGT_UEXEC | PGT_EXEC,
		PGT_READ | PGT_USER | PGT_UEXEC | PGT_EXEC,
		PGT_UEXEC,
	};
	uint64_t rights;

	if (s->regime == PGT_ARM64_EL1)
		return el1[below(sizeof(el1) / sizeof(el1[0]))];
	if (s->regime == PGT_ARM64_EL2)
		return PGT_READ | (bits() & (PGT_WRITE | PGT_EXEC));
	rights = bits() & (PGT_READ | PGT_WRITE | PGT_EXEC | PGT_UEXEC);
	if (!(s->features & PGT_FEAT_XNX))
		rights = (rights & ~PGT_UEXEC) | (rights & PGT_EXEC ? PGT_UEXEC : 0);
	return rights;
}

static uint64_t random_attr(const struct shape *s)
{
	const uint64_t state = PGT_YOUNG | PGT_DIRTY | PGT_SW0 | PGT_SW1 | PGT_SW2;
	uint64_t attr = random_rights(s), type = below(attr & (PGT_EXEC | PGT_UEXEC) ? 3 : 5) * PGT_MEM_NOCACHE;

	attr |= bits() & state;
	if (s->regime != PGT_ARM64_S2)
		attr |= bits() & (PGT_GUARDED | (s->regime == PGT_ARM64_EL1 ? PGT_GLOBAL : 0));
	if ((s->features & PGT_FEAT_FWB) && type == PGT_MEM_WRITETHROUGH)
		type = PGT_MEM_NORMAL;
	if (chance(8))
		attr |= PGT_NOACCESS;
	return attr | type | (s->features & PGT_FEAT_LPA2 ? 0 : below(3) * PGT_SH_OUTER);
}

/* One of the sizes that leaves and runs have. */
static unsigned random_leaf_bits(const struct table *t)
{
	const uint64_t sizes = pgt_leaf_sizes(t->t);
	unsigned n;

	do {
		n = (unsigned)below(64);
	} while (!(sizes >> n & 1));
	return n;
}

/* A place of a few leaves of one size, often aligned so that such leaves fit. */
static struct place random_place(const struct table *t)
{
	const uint64_t granule = BIT(t->shape.granule), leaf = BIT(random_leaf_bits(t));
	const uint64_t span = t->last - t->first;
	uint64_t from = bits() & span, len = leaf * (1 + below(3));

	if (chance(10))
		from = 0;
	else if (chance(10))
		from = span - (len - 1 < span ? len - 1 : span);
	from &= chance(4) ? ~(granule - 1) : ~(leaf - 1);
	if (len > span - from)
		len = span - from + 1;
	if (chance(4) && len > 2 * granule)
		len -= granule;
	return (struct place){ t->first + from, len };
}

/* An output address whose low bits are often those of the VA, so that large leaves fit. */
static uint64_t random_pa(const struct table *t, struct place p)
{
	const uint64_t end = BIT(t->shape.output);
	const uint64_t same = BIT(chance(6) ? t->shape.granule : 42) - 1;
	uint64_t pa = (bits() & (end - 1) & ~same) | (p.va & same & (end - 1));

	if (t->behind && t->behind->places && !chance(4)) {
		const struct place *aim = &t->behind->place[below(t->behind->places)];

		pa = (aim->va | (chance(2) ? 0 : p.va & BIT(21))) & (end - 1) & ~(BIT(t->shape.granule) - 1);
	}
	return p.len > end - pa ? end - p.len : pa;
}

static void remember(struct table *t, struct place p)
{
	if (t->places < sizeof(t->place) / sizeof(t->place[0]))
		t->place[t->places++] = p;
}

static struct place part_of(const struct table *t, struct place p)
{
	const uint64_t granule = BIT(t->shape.granule);
	const uint64_t from = below(p.len / granule) * granule;
	uint64_t len = (1 + below((p.len - from) / granule)) * granule;

	if (len > 64 * granule && chance(2))
		len = 64 * granule;
	return (struct place){ p.va + from, len };
}

/* Fails only where the call may. */
static void count_failure(const struct table *t, int status, int allowed)
{
	if (status == PGT_OK || status == allowed)
		return;
	failed_calls++;
	note("granule %u input %u output %u features 0x%" PRIx64 ": a call failed: %s", t->shape.granule,
	     t->shape.input, t->shape.output, t->shape.features, pgt_strerror(status));
}

/* Few enough granules to be mapped one by one. */
static bool is_small(const struct table *t, struct place p)
{
	return p.len >> t->shape.granule <= 4096;
}

static void map_random(struct table *t, struct place p, unsigned flags)
{
	const uint64_t pa = random_pa(t, p);
	const int allowed = flags & PGT_REPLACE ? PGT_OK : PGT_EEXIST;
	const bool fits = ((p.va ^ pa) & (BIT(42) - 1)) == 0;

	if (chance(3))
		flags |= PGT_MAX_LEAF(random_leaf_bits(t));
	if (is_small(t, p) || (fits && !(flags >> 24)))
		count_failure(t, pgt_map(t->t, p.va, pa, p.len, random_attr(&t->shape), flags, NULL), allowed);
	remember(t, p);
}

void table_fill(struct table *t)
{
	for (unsigned i = 0; i < 16; i++) {
		const struct place p = random_place(t);
		struct place part;

		if (p.len > BIT(t->shape.output))
			continue;
		map_random(t, p, 0);
		if (chance(2))
			continue;
		part = part_of(t, p);
		if (chance(2)) {
			map_random(t, part, PGT_REPLACE);
		} else {
			count_failure(t, pgt_unmap(t->t, part.va, part.len, 0, NULL), PGT_OK);
			remember(t, part);
		}
	}
}

static int problem(void *ctx, const struct pgt_problem *p)
{
	(void)ctx;
	note("pgt_check: 0x%" PRIx64 ": %s", p->va, p->what);
	return 0;
}

void table_check(const struct table *t)
{
	if (pgt_check(t->t, problem, NULL) != PGT_OK)
		failed_calls++;
}

bool table_attach(struct table *attached, const struct table *t)
{
	*attached = *t;
	attached->config.format_config = t->config.format_config ? &attached->own : NULL;
	attached->config.memory.alloc = NULL;
	attached->config.memory.free = NULL;
	return pgt_attach(&attached->config, pgt_root(t->t), &attached->t) == PGT_OK;
}

/* ---- Addresses --------------------------------------------------------- */

uint64_t table_address(const struct table *t)
{
	const struct place p = t->place[below(t->places)];
	const uint64_t granule = BIT(t->shape.granule), near = bits() & (2 * granule - 1);

	switch (below(10)) {
	case 0: /* anywhere in the input range */
		return t->first + (bits() & (t->last - t->first));
	case 1: /* in or out of it */
		return chance(2) ? bits() : (chance(2) ? t->first : t->last) + near - granule;
	case 2:
		return p.va + near - granule;
	case 3:
	case 4:
		return p.va + p.len + near - granule;
	case 5: /* where the top byte may count for nothing */
		return (p.va + below(p.len)) ^ below(256) << 56;
	default:
		return p.va + below(p.len);
	}
}

/* ---- Damage ------------------------------------------------------------ */

static uint64_t next_table(const struct shape *s, uint64_t entry)
{
	if (s->features & PGT_FEAT_LPA)
		return (entry & UINT64_C(0x0000ffffffff0000)) | (entry & 0xf000) << 36;
	if (s->features & PGT_FEAT_LPA2)
		return (entry & UINT64_C(0x0003fffffffff000)) | (entry & 0x300) << 42;
	return entry & UINT64_C(0x0000fffffffff000);
}

/* The index needs no mask: va holds only the bits below the table's span. */
uint64_t *table_entry(const struct table *t, uint64_t va, int deepest, int *level)
{
	const unsigned stride = t->shape.granule - 3u;
	uint64_t table = pgt_root(t->t);
	unsigned shift = t->shape.granule + (t->levels - 1) * stride;

	*level = 4 - (int)t->levels;
	va &= t->last - t->first;
	for (;; shift -= stride, ++*level) {
		uint64_t *entry = (uint64_t *)(void *)(t->region->memory + (table - t->region->pa)) + (va >> shift);

		va &= BIT(shift) - 1;
		table = next_table(&t->shape, *entry);
		if (*level == deepest || (*entry & 3) != 3 || !region_at(t->region, table, BIT(t->shape.granule)))
			return entry;
	}
}

/* The address bits of a descriptor that are beyond the configured size, and that
 * QEMU looks at: not those that stand elsewhere (see QEMU's faults in mmu.c). */
static uint64_t beyond_output(const struct shape *s)
{
	const unsigned top = s->features & PGT_FEAT_LPA2 ? 50 : 48;

	return s->output >= top ? 0 : bits() & (BIT(top) - 1) & ~(BIT(s->output) - 1);
}

/* MemAttr with the encodings that are neither reserved nor wrong in QEMU. */
static uint64_t random_memattr(const struct shape *s)
{
	static const uint8_t plain[] = { 0, 1, 5, 6, 7, 9, 10, 11, 13, 14, 15 }, forced[] = { 0, 1, 2, 3, 5, 6, 7 };

	return (uint64_t)(s->features & PGT_FEAT_FWB ? forced[below(7)] : plain[below(11)]) << 2;
}

/* AP or S2AP, SH, AF, DBM, execution, software bits; at stage 1 AttrIndx, nG, GP. */
static uint64_t random_leaf_flips(const struct shape *s)
{
	uint64_t some = UINT64_C(0x07e80000000007c0);

	if (s->regime == PGT_ARM64_EL1)
		some |= UINT64_C(0x000400000000081c);
	else if (s->regime == PGT_ARM64_EL2)
		some = (some | UINT64_C(0x000400000000001c)) & ~(BIT(53) | BIT(6));
	if (s->features & PGT_FEAT_LPA2 && s->output < 52)
		some &= ~UINT64_C(0x300);
	if (s->features & PGT_FEAT_LPA && s->output == 52)
		some |= 0xf000;
	return bits() & some;
}

static uint64_t damaged_leaf(const struct shape *s, uint64_t entry)
{
	switch (below(6)) {
	case 0:
		return entry ^ beyond_output(s);
	case 1:
		return entry & ~UINT64_C(1);
	case 2:
		if (s->regime == PGT_ARM64_S2)
			return (entry & ~UINT64_C(0x3c)) | random_memattr(s);
		/* fall through */
	default:
		entry ^= random_leaf_flips(s);
		if (s->features & PGT_FEAT_LPA2)
			return entry;
		return (entry >> 8 & 3) == 1 ? entry & ~UINT64_C(0x300) : entry; /* SH 1 is reserved */
	}
}

static uint64_t damaged_table(const struct table *t, uint64_t entry)
{
	const uint64_t nowhere = UINT64_C(0x400000000000); /* no memory, and no device */

	switch (below(6)) {
	case 0:
		if (t->shape.output < 48)
			return entry ^ beyond_output(&t->shape);
		return t->behind ? entry : entry | nowhere;
	case 1:
		return entry & ~UINT64_C(1);
	default: /* PXNTable, UXNTable, APTable; at stage 2 nothing */
		return entry ^ (bits() & UINT64_C(0x7800000000000000));
	}
}

void table_damage(struct table *t)
{
	for (unsigned i = 0; i < 24; i++) {
		int level;
		uint64_t va = table_address(t), *entry;

		if (va < t->first || va > t->last)
			continue;
		entry = table_entry(t, va, chance(6) ? (int)below(5) - 1 : 3, &level);
		if (!(*entry & 1))
			continue;
		if (level == 3 && chance(8))
			*entry &= ~UINT64_C(2); /* reserved there */
		else if (level < 3 && (*entry & 2))
			*entry = damaged_table(t, *entry);
		else
			*entry = damaged_leaf(&t->shape, *entry);
	}
}
