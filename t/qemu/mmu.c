/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second opinion: QEMU's arm64 MMU walks the library's tables in the same
 * memory, and each of its answers is compared with pgt_translate's: the output
 * address, or the kind and level of the fault; the memory type's MAIR byte and
 * the shareability; and what hardware with HA and HD leaves in the
 * descriptors, with what PGT_UPDATE leaves.
 *
 * Three kinds of tables are compared: what random map and unmap calls made,
 * the same read by pgt_attach, and the same with bits of descriptors changed at
 * random.  QEMU 7.2 ignores the contiguous hint and reserved bits and takes
 * blocks at level 0 (4K) and 1 (16K), so none of that is put before it.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <pgtable/arm64.h>
#include <pgtable/pgtable.h>

#include "../tap.h"
#include "machine.h"

#define ROUNDS 6
#define QUESTIONS 900 /* a comparison */
#define MIN_INPUT 25
#define MAX_INPUT 48

/* ---- Random numbers --------------------------------------------------- */

static uint64_t random_state = 0x853c49e6748fea9b;

static uint64_t bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t below(uint64_t n)
{
	return (bits() >> 11) % n;
}

static bool chance(unsigned one_in)
{
	return below(one_in) == 0;
}

/* ---- Tables in the machine's RAM -------------------------------------- */

static uint64_t used;  /* bytes from TABLES_PA on that were handed out, freed or not */
static unsigned live;  /* tables */

static uint8_t *tables(void)
{
	return machine_ram() + (TABLES_PA - RAM_PA);
}

static int table_alloc(void *ctx, uint64_t bytes, uint64_t *pa)
{
	const uint64_t start = (used + bytes - 1) & ~(bytes - 1);

	(void)ctx;
	if (start + bytes > TABLES_BYTES)
		return 1;
	memset(tables() + start, 0, bytes);
	used = start + bytes;
	live++;
	*pa = TABLES_PA + start;
	return 0;
}

static void table_free(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx;
	live--;
	memset(tables() + (pa - TABLES_PA), 0, bytes);
}

static void *table_at(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx;
	if (pa < TABLES_PA || pa - TABLES_PA > TABLES_BYTES || bytes > TABLES_BYTES - (pa - TABLES_PA))
		return NULL;
	return tables() + (pa - TABLES_PA);
}

/* ---- A table under test ----------------------------------------------- */

struct place {
	uint64_t va, len;
};

struct half {
	struct pgt *t;
	struct pgt_config config;
	struct pgt_arm64_config arm64;
	uint64_t first, last; /* the input range, last byte included */
	struct place place[32];
	unsigned places;
};

/* What the registers of both halves hold together. */
struct common {
	uint64_t features; /* HW_ */
	uint64_t mair;
	uint8_t output_bits;
};

static struct totals {
	uint64_t asked, ok, out_of_range;
	uint64_t fault[6], level[4], leaf_level[4], in_runs;
	uint64_t updated;     /* descriptors that the MMU changed */
	uint64_t wrong, wrong_bits, failed_calls;
} total;

static const uint8_t mair_bytes[5] = { 0xff, 0x44, 0xbb, 0x04, 0x00 };

/* The five memory types in some order, the rest anything. */
static uint64_t random_mair(void)
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

static struct common random_common(void)
{
	static const uint8_t output[] = { 32, 36, 40, 42, 44, 48, 48, 48 };
	struct common c = { 0 };

	if (!chance(3))
		c.features = PGT_FEAT_HW_YOUNG | (chance(3) ? 0 : PGT_FEAT_HW_DIRTY);
	c.mair = chance(2) ? random_mair() : 0;
	c.output_bits = output[below(8)];
	return c;
}

static bool make_half(struct half *h, uint8_t granule, uint8_t input, bool upper,
		      const struct common *common)
{
	struct pgt_config *c = &h->config;

	memset(h, 0, sizeof(*h));
	h->arm64.size = sizeof(h->arm64);
	h->arm64.mair = common->mair;
	c->size = sizeof(*c);
	c->format = "arm64";
	c->granule_bits = granule;
	c->input_bits = input;
	c->output_bits = common->output_bits;
	c->features = common->features | (upper ? PGT_FEAT_UPPER : 0) |
		      (chance(3) ? 0 : PGT_FEAT_CONTIG) | (chance(2) ? PGT_FEAT_TRACK_YOUNG : 0) |
		      (chance(2) ? PGT_FEAT_TRACK_DIRTY : 0) | (chance(10) ? PGT_FEAT_NO_BLOCKS : 0);
	c->memory.alloc = table_alloc;
	c->memory.free = table_free;
	if (chance(2)) {
		c->memory.to_virt = table_at;
	} else {
		c->memory.window = tables();
		c->memory.window_pa = TABLES_PA;
		c->memory.window_bytes = TABLES_BYTES;
	}
	c->format_config = common->mair ? &h->arm64 : NULL;
	h->last = upper ? UINT64_MAX : (UINT64_C(1) << input) - 1;
	h->first = h->last - ((UINT64_C(1) << input) - 1);
	return pgt_create(c, &h->t) == PGT_OK;
}

static uint64_t random_attr(void)
{
	static const uint64_t rights[] = {
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
	static const uint64_t others[] = { PGT_GLOBAL, PGT_GUARDED, PGT_YOUNG, PGT_DIRTY,
					   PGT_SW0, PGT_SW1, PGT_SW2 };
	uint64_t attr = rights[below(sizeof(rights) / sizeof(rights[0]))];

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (chance(2))
			attr |= others[i];
	if (chance(8))
		attr |= PGT_NOACCESS;
	attr |= below(attr & (PGT_EXEC | PGT_UEXEC) ? 3 : 5) * PGT_MEM_NOCACHE;
	return attr | below(3) * PGT_SH_OUTER;
}

/* One of the sizes that leaves and runs have. */
static unsigned random_leaf_bits(const struct half *h)
{
	const uint64_t sizes = pgt_leaf_sizes(h->t);
	unsigned n;

	do {
		n = (unsigned)below(64);
	} while (!(sizes >> n & 1));
	return n;
}

/* A place of a few leaves of one size, often aligned so that such leaves fit. */
static struct place random_place(const struct half *h)
{
	const uint64_t granule = UINT64_C(1) << h->config.granule_bits;
	const uint64_t leaf = UINT64_C(1) << random_leaf_bits(h);
	const uint64_t span = h->last - h->first;
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
	return (struct place){ h->first + from, len };
}

static uint64_t random_pa(const struct half *h, struct place p)
{
	const uint64_t end = UINT64_C(1) << h->config.output_bits;
	const uint64_t same = (UINT64_C(1) << (chance(6) ? h->config.granule_bits : 36)) - 1;
	uint64_t pa = (bits() & (end - 1) & ~same) | (p.va & same & (end - 1));

	return p.len > end - pa ? end - p.len : pa;
}

static void remember(struct half *h, struct place p)
{
	if (h->places < sizeof(h->place) / sizeof(h->place[0]))
		h->place[h->places++] = p;
}

static struct place part_of(const struct half *h, struct place p)
{
	const uint64_t granule = UINT64_C(1) << h->config.granule_bits;
	const uint64_t from = below(p.len / granule) * granule;
	uint64_t len = (1 + below((p.len - from) / granule)) * granule;

	if (len > 64 * granule && chance(2))
		len = 64 * granule;
	return (struct place){ p.va + from, len };
}

/* Fails only where the call may. */
static void count_failure(int status, int allowed)
{
	if (status != PGT_OK && status != allowed) {
		total.failed_calls++;
		note("a call failed: %s", pgt_strerror(status));
	}
}

/* Few enough granules to be mapped one by one. */
static bool is_small(const struct half *h, struct place p)
{
	return p.len >> h->config.granule_bits <= 4096;
}

static void map_random(struct half *h, struct place p, unsigned flags)
{
	const uint64_t pa = random_pa(h, p);
	const int allowed = flags & PGT_REPLACE ? PGT_OK : PGT_EEXIST;
	const bool fits = ((p.va ^ pa) & ((UINT64_C(1) << 36) - 1)) == 0;

	if (chance(3))
		flags |= PGT_MAX_LEAF(random_leaf_bits(h));
	if (is_small(h, p) || (fits && !(flags >> 24)))
		count_failure(pgt_map(h->t, p.va, pa, p.len, random_attr(), flags, NULL), allowed);
	remember(h, p);
}

static void fill(struct half *h)
{
	for (unsigned i = 0; i < 16; i++) {
		const struct place p = random_place(h);
		struct place part;

		if (p.len > UINT64_C(1) << h->config.output_bits)
			continue;
		map_random(h, p, 0);
		if (chance(2))
			continue;
		part = part_of(h, p);
		if (chance(2)) {
			map_random(h, part, PGT_REPLACE);
		} else {
			count_failure(pgt_unmap(h->t, part.va, part.len, 0, NULL), PGT_OK);
			remember(h, part);
		}
	}
}

static int problem(void *ctx, const struct pgt_problem *p)
{
	(void)ctx;
	note("pgt_check: 0x%" PRIx64 ": %s", p->va, p->what);
	return 0;
}

/* The rules that QEMU doesn't look at: whole runs, reserved bits. */
static void check(const struct half *h)
{
	if (pgt_check(h->t, problem, NULL) != PGT_OK)
		total.failed_calls++;
}

/* ---- Questions and answers -------------------------------------------- */

static uint64_t random_va(const struct half *h)
{
	const struct place p = h->place[below(h->places)];
	const uint64_t near = bits() & ((UINT64_C(2) << h->config.granule_bits) - 1);

	switch (below(10)) {
	case 0: /* anywhere in the input range */
		return h->first + (bits() & (h->last - h->first));
	case 1: /* in or out of it */
		return chance(2) ? bits() : (chance(2) ? h->first : h->last) + near -
			(UINT64_C(1) << h->config.granule_bits);
	case 2:
	case 3:
		return p.va + near - (UINT64_C(1) << h->config.granule_bits);
	case 4:
	case 5:
		return p.va + p.len + near - (UINT64_C(1) << h->config.granule_bits);
	default:
		return p.va + (p.len ? bits() % p.len : 0);
	}
}

static uint64_t access_of(uint64_t op)
{
	return (op & 1 ? PGT_WRITE : PGT_READ) | (op & 2 ? PGT_USER : 0);
}

static unsigned sh_of(uint64_t attr)
{
	switch (attr & PGT_SH_MASK) {
	case PGT_SH_INNER:
		return 3;
	case PGT_SH_OUTER:
		return 2;
	default:
		return 0;
	}
}

/* What PAR_EL1 will hold; for an access outside the range a translation fault at level 0. */
static uint64_t expected_par(int status, const struct pgt_translation *tr)
{
	unsigned code;

	if (status == PGT_OK)
		return (tr->pa & UINT64_C(0x000ffffffffff000)) | 1u << 11 | sh_of(tr->attr) << 7 |
		       (uint64_t)mair_bytes[(tr->attr & PGT_MEM_MASK) >> 16] << 56;
	if (status == PGT_ERANGE)
		code = 4;
	else if (tr->fault == PGT_FAULT_ADDRESS_SIZE)
		code = (unsigned)tr->level;
	else if (tr->fault == PGT_FAULT_EXTERNAL)
		code = (unsigned)tr->level + 0x14;
	else
		code = (unsigned)tr->level + 4 * (unsigned)tr->fault;
	return 1u << 11 | code << 1 | 1;
}

/*
 * What PAR_EL1 held.  A table outside memory is no fault in it but an external
 * abort, an exception with the same status.  NS (bit 9 of a good answer) and bit
 * 10 say nothing of the table.
 */
static uint64_t answered_par(const struct job *job, unsigned i)
{
	const uint64_t par = job->answer[i].par, esr = job->answer[i].exception;

	if (esr)
		return 1u << 11 | (esr & 63) << 1 | 1;
	return par & 1 ? par : par & ~UINT64_C(0x600);
}

/*
 * Device and non-cacheable memory is outer shareable whatever the descriptor
 * says, so PAR_EL1 may hold that instead of the descriptor's field.
 */
static bool same_par(uint64_t par, uint64_t want)
{
	const uint64_t type = want >> 56, sh = 3u << 7, outer = 2u << 7;

	if (!(want & 1) && type != 0xff && type != 0xbb && (par & sh) == outer)
		want = (want & ~sh) | outer;
	return par == want;
}

static void count(int status, const struct pgt_translation *tr)
{
	total.asked++;
	if (status == PGT_OK) {
		total.ok++;
		total.leaf_level[tr->level & 3]++;
		total.in_runs += tr->run_bits > tr->leaf_bits;
	} else if (status == PGT_ERANGE) {
		total.out_of_range++;
	} else {
		total.fault[tr->fault % 6]++;
		total.level[tr->level & 3]++;
	}
}

static void complain(const struct half *h, const struct question *q, uint64_t par, uint64_t want)
{
	if (total.wrong++ >= 20)
		return;
	note("granule %u input %u%s output %u features 0x%" PRIx64 ": %s%s of 0x%" PRIx64
	     ": MMU 0x%" PRIx64 ", library 0x%" PRIx64, h->config.granule_bits,
	     h->config.input_bits, h->config.features & PGT_FEAT_UPPER ? " upper" : "",
	     h->config.output_bits, h->config.features, q->op & 2 ? "user " : "",
	     q->op & 1 ? "write" : "read", q->va, par, want);
}

/* The library's answer to question i, against the MMU's. */
static void compare_answer(const struct half *lower, const struct half *upper, unsigned i)
{
	const struct question *q = &machine_job()->question[i];
	const struct half *h = q->va >> 55 & 1 ? upper : lower;
	const uint64_t access = access_of(q->op) | PGT_UPDATE;
	struct pgt_translation tr = { 0 };
	/* A half that isn't there is switched off: a translation fault, as out of range. */
	const int status = h ? pgt_translate(h->t, q->va, access, &tr) : PGT_ERANGE;
	const uint64_t par = answered_par(machine_job(), i), want = expected_par(status, &tr);

	count(status, &tr);
	if (!same_par(par, want))
		complain(h ? h : lower ? lower : upper, q, par, want);
}

static uint64_t word(const uint8_t *table, uint64_t at)
{
	uint64_t value;

	memcpy(&value, table + at, sizeof(value));
	return value;
}

static void compare_tables(const uint8_t *before, const uint8_t *after)
{
	for (uint64_t at = 0; at < used; at += 8) {
		const uint64_t old = word(before, at), mmu = word(after, at);
		const uint64_t own = word(tables(), at);

		total.updated += old != mmu;
		if (own != mmu && total.wrong_bits++ < 10)
			note("descriptor 0x%" PRIx64 ": the MMU left 0x%" PRIx64
			     ", the library 0x%" PRIx64, old, mmu, own);
	}
}

/*
 * Asks the MMU, puts the tables back as they were, has the library do the
 * same, and compares the answers and then the tables.
 */
static void compare(const struct half *lower, const struct half *upper)
{
	static uint8_t before[TABLES_BYTES], after[TABLES_BYTES];
	struct job *job = machine_job();
	const char *wrong;

	for (unsigned i = 0; i < QUESTIONS; i++) {
		const struct half *h = !upper || (lower && chance(2)) ? lower : upper;

		job->question[i] = (struct question){ .va = random_va(h), .op = below(4) };
	}
	job->count = QUESTIONS;
	memcpy(before, tables(), used);
	wrong = machine_do();
	if (wrong) {
		printf("Bail out! %s\n", wrong);
		exit(1);
	}
	memcpy(after, tables(), used);
	memcpy(tables(), before, used);
	for (unsigned i = 0; i < QUESTIONS; i++)
		compare_answer(lower, upper, i);
	compare_tables(before, after);
}

static bool load_registers(const struct half *lower, const struct half *upper)
{
	struct pgt_arm64_regs regs = { .size = sizeof(regs) };
	struct job *job = machine_job();

	if (pgt_arm64_regs(lower ? lower->t : NULL, upper ? upper->t : NULL, &regs) != PGT_OK)
		return false;
	job->ttbr0 = regs.ttbr0;
	job->ttbr1 = regs.ttbr1;
	job->tcr = regs.tcr;
	job->mair = regs.mair;
	job->sctlr = regs.sctlr;
	return true;
}

/* ---- Damage ----------------------------------------------------------- */

/*
 * A descriptor on the walk for va, mostly the last, and its level.  The index
 * needs no mask: va holds only the bits below the table's span.
 */
static uint64_t *descriptor(const struct half *h, uint64_t va, int *level)
{
	const unsigned stride = h->config.granule_bits - 3u;
	uint64_t table = pgt_root(h->t);
	unsigned shift = h->config.granule_bits;

	*level = 3;
	while (shift + stride < h->config.input_bits) {
		shift += stride;
		--*level;
	}
	va &= h->last - h->first;
	for (;; shift -= stride, ++*level) {
		uint64_t *entry = (uint64_t *)(void *)(tables() + (table - TABLES_PA)) + (va >> shift);

		va &= (UINT64_C(1) << shift) - 1;
		if (*level == 3 || (*entry & 3) != 3 || chance(6) ||
		    !table_at(NULL, *entry & UINT64_C(0x0000fffffffff000), 1))
			return entry;
		table = *entry & UINT64_C(0x0000fffffffff000);
	}
}

static uint64_t beyond_output(const struct half *h)
{
	return bits() & UINT64_C(0x0000ffffffffffff) & ~((UINT64_C(1) << h->config.output_bits) - 1);
}

static uint64_t damaged_leaf(const struct half *h, uint64_t entry)
{
	/* AttrIndx, AP, SH, AF, nG, GP, DBM, PXN, UXN, software bits */
	const uint64_t some = bits() & UINT64_C(0x07ec000000000fdc);

	switch (below(6)) {
	case 0:
		return entry ^ beyond_output(h);
	case 1:
		return entry & ~UINT64_C(1);
	default:
		entry ^= some;
		return (entry >> 8 & 3) == 1 ? entry & ~UINT64_C(0x300) : entry; /* SH 1 is reserved */
	}
}

static uint64_t damaged_table(const struct half *h, uint64_t entry)
{
	const uint64_t nowhere = UINT64_C(0x400000000000); /* no memory, and no device */

	switch (below(6)) {
	case 0:
		return h->config.output_bits < 48 ? entry ^ beyond_output(h) : entry | nowhere;
	case 1:
		return entry & ~UINT64_C(1);
	default: /* PXNTable, UXNTable, APTable */
		return entry ^ (bits() & UINT64_C(0x7800000000000000));
	}
}

static void damage(struct half *h)
{
	for (unsigned i = 0; i < 24; i++) {
		int level;
		uint64_t va = random_va(h), *entry;

		if (va < h->first || va > h->last)
			continue;
		entry = descriptor(h, va, &level);
		if (!(*entry & 1))
			continue;
		if (level == 3 && chance(8))
			*entry &= ~UINT64_C(2); /* reserved there */
		else if (level < 3 && (*entry & 2))
			*entry = damaged_table(h, *entry);
		else
			*entry = damaged_leaf(h, *entry);
	}
}

/* The same tables, only read. */
static bool attach(struct half *made, const struct half *h)
{
	*made = *h;
	made->config.memory.alloc = NULL;
	made->config.memory.free = NULL;
	return pgt_attach(&made->config, pgt_root(h->t), &made->t) == PGT_OK;
}

static void compare_attached(const struct half *lower, const struct half *upper)
{
	static uint8_t whole[TABLES_BYTES];
	struct half low = { 0 }, up = { 0 };

	if ((lower && !attach(&low, lower)) || (upper && !attach(&up, upper))) {
		total.failed_calls++;
		return;
	}
	compare(lower ? &low : NULL, upper ? &up : NULL);
	memcpy(whole, tables(), used);
	if (lower)
		damage(&low);
	if (upper)
		damage(&up);
	compare(lower ? &low : NULL, upper ? &up : NULL);
	memcpy(tables(), whole, used);
	pgt_destroy(low.t);
	pgt_destroy(up.t);
}

/* ---- All combinations ------------------------------------------------- */

/* The table of this size and half, and as often as not another in the other half. */
static void one_table(uint8_t granule, uint8_t input, bool upper)
{
	static struct half half[2];
	const struct common common = random_common();
	const bool both = chance(2);
	struct half *const present[2] = { !upper || both ? &half[0] : NULL,
					  upper || both ? &half[1] : NULL };

	used = 0;
	live = 0;
	for (unsigned i = 0; i < 2; i++) {
		const bool asked_for = upper == (i == 1);

		if (!present[i])
			continue;
		if (!make_half(present[i], asked_for ? granule : (uint8_t)(12 + 2 * below(3)),
			       asked_for ? input : (uint8_t)(MIN_INPUT + below(24)), i == 1, &common)) {
			total.failed_calls++;
			return;
		}
		fill(present[i]);
		check(present[i]);
	}
	if (!load_registers(present[0], present[1]))
		total.failed_calls++;
	compare(present[0], present[1]);
	if (chance(2))
		compare_attached(present[0], present[1]);
	for (unsigned i = 0; i < 2; i++)
		if (present[i])
			pgt_destroy(present[i]->t);
	if (live) {
		total.failed_calls++;
		note("%u tables are left over", live);
	}
}

static void all_tables(uint8_t granule)
{
	const struct totals before = total;
	unsigned tables_made = 0;

	for (unsigned round = 0; round < ROUNDS; round++)
		for (uint8_t input = MIN_INPUT; input <= MAX_INPUT; input++)
			for (unsigned upper = 0; upper < 2; upper++, tables_made++)
				one_table(granule, input, upper);
	ok(total.wrong == before.wrong && total.asked > before.asked,
	   "%u KiB granule, input sizes %u to %u, both halves: %" PRIu64
	   " answers from %u tables are the MMU's", 1u << (granule - 10), MIN_INPUT, MAX_INPUT,
	   total.asked - before.asked, tables_made);
}

static void report(void)
{
	const uint64_t faults = total.fault[1] + total.fault[2] + total.fault[3] + total.fault[4] +
				total.fault[5];

	note("%" PRIu64 " (granule, input size, half, probe) combinations were compared:", total.asked);
	note("  %" PRIu64 " translated (leaves at levels 1 to 3: %" PRIu64 ", %" PRIu64 ", %" PRIu64
	     "; %" PRIu64 " in runs)", total.ok, total.leaf_level[1], total.leaf_level[2],
	     total.leaf_level[3], total.in_runs);
	note("  %" PRIu64 " out of range, %" PRIu64 " other faults: translation %" PRIu64
	     ", access flag %" PRIu64 ", permission %" PRIu64 ", address size %" PRIu64
	     ", external %" PRIu64, total.out_of_range, faults, total.fault[PGT_FAULT_TRANSLATION],
	     total.fault[PGT_FAULT_ACCESS_FLAG], total.fault[PGT_FAULT_PERMISSION],
	     total.fault[PGT_FAULT_ADDRESS_SIZE], total.fault[PGT_FAULT_EXTERNAL]);
	note("  faults at levels 0 to 3: %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64,
	     total.level[0], total.level[1], total.level[2], total.level[3]);
}

static bool all_met(const uint64_t *counts, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (counts[i] < 100)
			return false;
	return true;
}

static int run(void)
{
	const char *wrong = machine_start();

	if (!ok(!wrong, "QEMU runs the server%s%s", wrong ? ": " : "", wrong ? wrong : ""))
		return tap_done();
	for (uint8_t granule = 12; granule <= 16; granule += 2)
		all_tables(granule);
	ok(total.wrong_bits == 0 && total.updated > 1000,
	   "the %" PRIu64 " descriptors that the MMU updated are as PGT_UPDATE leaves them",
	   total.updated);
	ok(total.failed_calls == 0, "no call failed that should not have, and pgt_check finds nothing wrong");
	ok(all_met(&total.leaf_level[1], 3) && total.in_runs > 100 && all_met(&total.fault[1], 5) &&
	   all_met(total.level, 4),
	   "leaves of all levels and runs, and faults of all kinds and levels, were met");
	report();
	wrong = machine_stop();
	ok(!wrong, "QEMU ends%s%s", wrong ? ": " : "", wrong ? wrong : "");
	return tap_done();
}

int main(void)
{
	const char *missing = machine_missing();
	const char *ci = getenv("CI");

	if (!PGT_HAVE_ARM64)
		return tap_skip_all("arm64 is not built");
	if (!missing)
		return run();
	if (!ci || strcmp(ci, "true") != 0)
		return tap_skip_all("%s", missing);
	ok(false, "%s, and in CI nothing is skipped", missing);
	return tap_done();
}
