/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What address translation instructions don't ask, or need not do: a CPU of
 * QEMU's fetches, loads and stores for real at EL1, EL0 and EL2, and through
 * stage 2, and what comes of it is compared with pgt_translate and with the
 * walks.  All permissions, and all those of table entries over them, WXN and
 * HPD; XN of stage 2 with FEAT_XNX and without, under every permission of stage
 * 1; what the CPU leaves in the descriptors.
 *
 * Then a guest's stores at stage 2 are harvested as dirty pages.
 *
 * A fetch leads to an SVC instruction.  Whatever happens, the exception vectors,
 * which the tables under test map too, go back to the server (start.S).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "machine.h"
#include "random.h"
#include "subject.h"

#define BIT(n) (UINT64_C(1) << (n))

#define SVC UINT32_C(0xd4000001)
#define DATA_OFFSET 0x800 /* in a page, of what is loaded and stored: not where the SVC stands */

#define GROUPS 16 /* of pages under one table entry */
#define RIGHTS 32

/* Intermediate addresses, where stage 1's tables, the pages and the stubs lie. */
#define WINDOW_IPA UINT64_C(0x40000000)
#define PAGES_IPA  UINT64_C(0x80000000)
#define STUBS_IPA  UINT64_C(0xc0000000)
#define SLOT_BITS  16 /* each page has 64 KiB */

static uint64_t compared, fetched, left_out, done_well, wrong_answers, wrong_bits, updated;

/* ---- Tables ------------------------------------------------------------------ */

static struct table half[2], second;

/* Where group g, page i lies: a group has a table of the last level to itself. */
static uint64_t page_va(const struct table *t, unsigned g, unsigned i)
{
	const unsigned granule = t->shape.granule;

	return t->first + ((uint64_t)(g + 1) << (2 * granule - 3)) + ((uint64_t)i << granule);
}

static uint64_t calls_pa(unsigned granule, unsigned i)
{
	return CALLS_PA + (((uint64_t)i << granule) & (CALLS_BYTES - 1));
}

static uint64_t rights(unsigned i)
{
	static const uint64_t right[5] = { PGT_READ, PGT_WRITE, PGT_EXEC, PGT_UEXEC, PGT_USER };
	uint64_t attr = 0;

	for (unsigned n = 0; n < 5; n++)
		attr |= i >> n & 1 ? right[n] : 0;
	return attr;
}

static void want_ok(int status, const char *what)
{
	if (status == PGT_OK)
		return;
	failed_calls++;
	note("%s: %s", what, pgt_strerror(status));
}

/* The stubs, for every level that there is, at the first address. */
static void map_stubs(struct table *t, uint64_t pa)
{
	static const uint64_t el1 = PGT_READ | PGT_USER | PGT_EXEC | PGT_UEXEC, el2 = PGT_READ | PGT_EXEC,
			      s2 = PGT_READ | PGT_EXEC | PGT_UEXEC;
	const uint64_t attr = t->shape.regime == PGT_ARM64_EL1 ? el1 : t->shape.regime == PGT_ARM64_EL2 ? el2 : s2;

	want_ok(pgt_map(t->t, t->first, pa, BIT(SLOT_BITS), attr | PGT_YOUNG | PGT_DIRTY, 0, NULL), "stubs");
}

/* One page for each permission that there is in each group, its state at random. */
static void map_pages(struct table *t, uint64_t pa, bool slots)
{
	const unsigned granule = t->shape.granule;

	for (unsigned n = 0; n < GROUPS * RIGHTS; n++) {
		const uint64_t attr = rights(n % RIGHTS) | (bits() & (PGT_YOUNG | PGT_DIRTY));
		const uint64_t to = slots ? pa + ((uint64_t)n << SLOT_BITS) : calls_pa(granule, n);
		const int status = pgt_map(t->t, page_va(t, n / RIGHTS, n % RIGHTS), to, BIT(granule), attr, 0, NULL);

		if (status != PGT_ENOTSUP)
			want_ok(status, "a page");
	}
}

/* PXNTable, UXNTable and APTable in all combinations, one a group. */
static void restrict_groups(const struct table *t)
{
	for (uint64_t g = 0; g < GROUPS; g++) {
		int level;
		uint64_t *entry = table_entry(t, page_va(t, (unsigned)g, 0), 2, &level);

		if (level == 2)
			*entry |= g << 59;
	}
}

static struct shape random_shape(uint32_t regime, unsigned granule, bool wide)
{
	static const uint8_t inputs[] = { 36, 39, 42, 48, 52 };
	struct shape s = { .regime = regime, .granule = (uint8_t)granule };

	s.input = inputs[below(wide ? 5 : 4)];
	if (regime == PGT_ARM64_S2 && granule == 14 && s.input > 48)
		s.input = 48; /* QEMU 7.2 has no start at level 0 with 16K */
	s.output = wide ? 52 : 48;
	if (wide)
		s.features = granule == 16 ? PGT_FEAT_LPA : PGT_FEAT_LPA2;
	if (s.input > 48 && granule == 16 && regime != PGT_ARM64_S2)
		s.features |= PGT_FEAT_LVA;
	s.features |= PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY;
	if (!chance(4))
		s.features |= PGT_FEAT_HW_YOUNG | (chance(4) ? 0 : PGT_FEAT_HW_DIRTY);
	if (regime == PGT_ARM64_S2)
		s.features |= bits() & (PGT_FEAT_XNX | PGT_FEAT_FWB);
	return s;
}

static void make(struct table *t, const struct shape *s, struct region *r)
{
	if (!table_make(t, s, r)) {
		failed_calls++;
		printf("Bail out! no table\n");
		exit(1);
	}
}

/* The half under test, and the other with the stubs. */
static void make_halves(struct subject *s, const struct shape *shape, uint64_t stubs_pa, uint64_t pages_pa, bool slots)
{
	const bool upper = s->kind == UPPER;
	struct shape mine = *shape, other = *shape;

	mine.features |= upper ? PGT_FEAT_UPPER : 0;
	other.features |= upper ? 0 : PGT_FEAT_UPPER;
	make(&half[upper], &mine, &one);
	make(&half[!upper], &other, &one);
	map_pages(&half[upper], pages_pa, slots);
	map_stubs(&half[!upper], stubs_pa);
	s->lower = &half[0];
	s->upper = &half[1];
	give_registers(s->lower, s->upper, &s->first_regs);
}

static void make_el2(struct subject *s, const struct shape *shape)
{
	make(&half[0], shape, &one);
	map_pages(&half[0], 0, false);
	map_stubs(&half[0], STUBS_PA);
	s->lower = &half[0];
	give_registers(s->lower, NULL, &s->first_regs);
}

static void make_second(struct subject *s, const struct shape *shape)
{
	make(&second, shape, &two);
	s->second = &second;
	give_registers(&second, NULL, &s->second_regs);
}

/* Stage 2 for a stage 1: its tables, the stubs, and a permission for each group. */
static void map_behind(struct table *t)
{
	const uint64_t all_there = PGT_READ | PGT_WRITE | PGT_YOUNG | PGT_DIRTY;
	const uint64_t group = (uint64_t)RIGHTS << SLOT_BITS;

	want_ok(pgt_map(t->t, WINDOW_IPA, TABLES_PA, ONE_BYTES, all_there, 0, NULL), "the window");
	want_ok(pgt_map(t->t, STUBS_IPA, STUBS_PA, BIT(SLOT_BITS), PGT_READ | PGT_EXEC | PGT_UEXEC | PGT_YOUNG, 0,
			NULL), "the stubs behind stage 1");
	for (unsigned g = 0; g < GROUPS; g++) {
		const uint64_t attr = rights(g) | (bits() & (PGT_YOUNG | PGT_DIRTY));
		const int status = pgt_map(t->t, PAGES_IPA + g * group, CALLS_PA, group, attr, 0, NULL);

		if (status != PGT_ENOTSUP)
			want_ok(status, "a group behind stage 1");
	}
}

static void make_subject(struct subject *s, enum kind kind, unsigned granule, bool wide)
{
	static const uint32_t regime[KINDS] = { PGT_ARM64_EL1, PGT_ARM64_EL1, PGT_ARM64_EL2, PGT_ARM64_S2, PGT_ARM64_S2 };
	struct shape shape = random_shape(regime[kind], granule, wide);
	const struct shape first = random_shape(PGT_ARM64_EL1, 12 + 2 * (unsigned)below(3), chance(2));

	*s = (struct subject){ .kind = kind };
	empty_regions(kind == BOTH ? WINDOW_IPA : TABLES_PA);
	if (kind < EL2) {
		make_halves(s, &shape, STUBS_PA, 0, false);
	} else if (kind == EL2) {
		make_el2(s, &shape);
	} else if (kind == S2) {
		make_second(s, &shape);
		map_pages(&second, 0, false);
		map_stubs(&second, STUBS_PA);
	} else {
		make_second(s, &shape);
		make_halves(s, &first, STUBS_IPA, PAGES_IPA, true);
		map_behind(&second);
	}
}

static void destroy(const struct subject *s)
{
	if (s->lower)
		table_destroy(&half[0]);
	if (s->upper)
		table_destroy(&half[1]);
	if (s->second)
		table_destroy(&second);
}

/* ---- Questions ----------------------------------------------------------------- */

static const struct table *under_test(const struct subject *s)
{
	return s->kind == S2 ? s->second : s->kind == UPPER ? s->upper : s->lower;
}

/* The first address of the table that maps them. */
static uint64_t stubs_va(const struct subject *s)
{
	const struct table *t = s->kind == LOWER || s->kind == BOTH ? s->upper : s->kind == S2 ? s->second : s->lower;

	return t->first;
}

static void ask(uint64_t va, uint64_t op)
{
	struct job *job = machine_job();

	job->question[job->count++] = (struct question){ .va = va + (op & ASK_FETCH ? 0 : DATA_OFFSET), .op = op };
}

/*
 * With HD a clean page with DBM is writable, so that EL1 doesn't execute what EL0
 * may write, and nobody what is writable under WXN.  QEMU 7.2 takes AP[2] as it
 * stands.
 */
static bool wrong_in_qemu(const struct subject *s, uint64_t va, uint64_t op)
{
	const bool wxn = s->first_regs.sctlr & BIT(19), el1 = !(op & (ASK_USER | ASK_EL2));
	const struct table *t = under_test(s);
	struct pgt_mapping m;

	if (s->kind == S2 || !(op & ASK_FETCH) || !(t->shape.features & PGT_FEAT_HW_DIRTY) ||
	    pgt_query(t->t, va, &m) != PGT_OK || !(m.entry & BIT(51)) || !(m.entry & BIT(7)))
		return false;
	return wxn || (el1 && (m.entry & BIT(6)));
}

static void ask_pages(const struct subject *s)
{
	const struct table *t = under_test(s);

	for (unsigned n = 0; n < GROUPS * RIGHTS; n++)
		for (unsigned user = 0; user < (s->kind == EL2 ? 1 : 2); user++) {
			const uint64_t va = page_va(t, n / RIGHTS, n % RIGHTS);
			const uint64_t op = (s->kind == EL2 ? ASK_EL2 : 0) | (user ? ASK_USER : 0);

			if (wrong_in_qemu(s, va, op | ASK_FETCH))
				left_out++;
			else
				ask(va, op | ASK_REAL | ASK_FETCH);
			ask(va, op | ASK_REAL);
			ask(va, op | ASK_REAL | ASK_WRITE);
		}
}

static void load_machine(const struct subject *s)
{
	struct job *job = machine_job();

	load_registers(s);
	job->stub = stubs_va(s);
	job->reg[VBAR_EL1] = job->stub;
	job->reg[VBAR_EL2] = s->kind == EL2 ? job->stub : STUBS_PA;
	job->count = 0;
}

/* ---- Answers ------------------------------------------------------------------- */

#define EC(esr)  ((unsigned)((esr) >> 26 & 63))
#define EC_SVC   0x15
#define EC_FETCH 0x20 /* from a lower level; from the same one more */
#define EC_DATA  0x24
#define ISS_WALK BIT(7)
#define ISS_LEVEL UINT64_C(3)

static uint64_t access_of(uint64_t op)
{
	return (op & ASK_FETCH ? PGT_EXEC : op & ASK_WRITE ? PGT_WRITE : PGT_READ) | (op & ASK_USER ? PGT_USER : 0);
}

struct outcome {
	uint64_t esr; /* what is compared of it */
	unsigned level;
};

/* The exception in which an access must end. */
static struct outcome expected(const struct question *q, int status, const struct pgt_translation *tr)
{
	const unsigned own = q->op & ASK_EL2 ? 2 : q->op & ASK_USER ? 0 : 1;
	struct outcome out = { .level = own == 2 || (status != PGT_OK && tr->stage == 2) ? 2 : 1 };
	unsigned class = q->op & ASK_FETCH ? EC_FETCH : EC_DATA;

	if (status == PGT_OK) {
		out.esr = (uint64_t)EC_SVC << 26;
		return out;
	}
	out.esr = (uint64_t)(class + (out.level == own)) << 26 | fault_status(tr) | (tr->during_walk ? ISS_WALK : 0);
	return out;
}

static struct outcome answered(unsigned i)
{
	const struct job *job = machine_job();
	struct outcome out = { job->answer[i].par & (UINT64_C(63) << 26), (unsigned)job->answer[i].exception };

	if (EC(out.esr) != EC_SVC)
		out.esr |= job->answer[i].par & (ISS_WALK | 63);
	return out;
}

static void compare_one(const struct subject *s, unsigned i, int status, const struct pgt_translation *tr, const char *who)
{
	const struct question *q = &machine_job()->question[i];
	struct outcome is = answered(i), ought = expected(q, status, tr);

	compared++;
	fetched += (q->op & ASK_FETCH) != 0;
	done_well += status == PGT_OK;
	if (status != PGT_OK && tr->during_walk) /* there QEMU tells stage 1's level */
		is.esr &= ~ISS_LEVEL, ought.esr &= ~ISS_LEVEL;
	if ((is.esr == ought.esr && is.level == ought.level) || wrong_answers++ >= 20)
		return;
	note("%s, granule %u features 0x%" PRIx64 ": %s at 0x%" PRIx64 ", op %" PRIu64 ": CPU 0x%" PRIx64
	     " at EL%u, %s 0x%" PRIx64 " at EL%u", kind_name[s->kind], under_test(s)->shape.granule,
	     under_test(s)->shape.features, q->op & ASK_FETCH ? "fetch" : q->op & ASK_WRITE ? "store" : "load",
	     q->va, q->op, is.esr, is.level, who, ought.esr, ought.level);
}

static void compare_translate(const struct subject *s, unsigned i)
{
	const struct question *q = &machine_job()->question[i];
	struct pgt_translation tr;
	const int status = pgt_translate(under_test(s)->t, q->va, access_of(q->op) | PGT_UPDATE, &tr);

	tr.stage = s->kind == S2 ? 2 : 1;
	compare_one(s, i, status, &tr, "pgt_translate");
}

static void compare_walk(const struct subject *s, unsigned i)
{
	const struct question *q = &machine_job()->question[i];
	const struct pgt_memory memory = region_memory(&all);
	const uint64_t access = access_of(q->op) | PGT_UPDATE;
	struct pgt_translation tr;
	int status;

	if (s->kind < S2)
		status = pgt_arm64_walk(&s->first_regs, &memory, q->va, access, &tr);
	else
		status = pgt_arm64_walk2(s->kind == S2 ? NULL : &s->first_regs, &s->second_regs, &memory, q->va,
					 access, &tr);
	compare_one(s, i, status, &tr, "the walk");
}

typedef void compare_fn(const struct subject *s, unsigned i);

/* The same on the library's side, and what both left in the descriptors. */
static void replay(const struct subject *s, compare_fn *compare, const uint8_t *before, const uint8_t *after)
{
	restore(before);
	for (unsigned i = 0; i < machine_job()->count; i++)
		compare(s, i);
	updated += compare_tables(before, after, &wrong_bits);
}

static void compare_pages(const struct subject *s)
{
	static uint8_t before[TABLES_BYTES], after[TABLES_BYTES];

	load_machine(s);
	ask_pages(s);
	save(before);
	ask_machine();
	save(after);
	if (s->kind != BOTH)
		replay(s, compare_translate, before, after);
	replay(s, compare_walk, before, after);
}

/* WXN and HPD are registers' alone: pgt_translate would need another table. */
static void compare_controls(const struct subject *s)
{
	static uint8_t before[TABLES_BYTES], after[TABLES_BYTES];
	struct subject other = *s;

	other.first_regs.sctlr |= chance(3) ? 0 : BIT(19);
	other.first_regs.tcr |= chance(2) ? 0 : s->kind == EL2 ? BIT(24) : BIT(41) | BIT(42);
	load_machine(&other);
	ask_pages(&other);
	save(before);
	ask_machine();
	save(after);
	replay(&other, compare_walk, before, after);
}

static void try_kind(enum kind kind, unsigned rounds)
{
	const uint64_t before = compared, wrong = wrong_answers, fetches = fetched;
	struct subject s;

	for (unsigned round = 0; round < rounds; round++)
		for (unsigned granule = 12; granule <= 16; granule += 2)
			for (unsigned wide = 0; wide < 2; wide++) {
				make_subject(&s, kind, granule, wide);
				if (kind < S2 && chance(2))
					restrict_groups(under_test(&s));
				compare_pages(&s);
				if (kind < S2)
					restrict_groups(under_test(&s));
				if (kind != S2)
					compare_controls(&s);
				destroy(&s);
			}
	ok(wrong_answers == wrong && compared > before, "%s: %" PRIu64 " real accesses, %" PRIu64
	   " of them fetches, end as the library says", kind_name[kind], compared - before, fetched - fetches);
}

/* ---- Harvests of what a guest wrote ----------------------------------------------- */

#define S2_AF    BIT(10)
#define S2_WRITE BIT(7)

#define PAGES 32

static uint64_t pages_ipa(void)
{
	return page_va(&second, 0, 0);
}

static uint64_t run_ipa(void)
{
	return page_va(&second, 1, 0);
}

static uint64_t block_ipa(void)
{
	return page_va(&second, 2, 0);
}

static unsigned run_bits(void)
{
	return second.shape.granule == 12 ? 16 : 21;
}

static void map_guest(unsigned granule)
{
	const uint64_t attr = PGT_READ | PGT_WRITE, block = BIT(2 * granule - 3);

	map_stubs(&second, STUBS_PA);
	for (unsigned i = 0; i < PAGES; i++)
		want_ok(pgt_map(second.t, pages_ipa() + ((uint64_t)i << granule), calls_pa(granule, i), BIT(granule),
				attr, PGT_MAX_LEAF(granule), NULL), "a guest's page");
	want_ok(pgt_map(second.t, run_ipa(), CALLS_PA, CALLS_BYTES, attr, PGT_MAX_LEAF(run_bits()), NULL),
		"a guest's runs");
	want_ok(pgt_map(second.t, block_ipa(), 3 * block, block, attr, 0, NULL), "a guest's block");
}

/* Whether exactly those of n units from ipa on that want says are dirty, and then none. */
static bool harvested(uint64_t ipa, unsigned n, unsigned unit_bits, uint64_t want)
{
	uint64_t words[1] = { 0 }, again[1] = { 0 };
	struct pgt_bitmap map = { words, ipa, n, (uint8_t)unit_bits }, other = { again, ipa, n, (uint8_t)unit_bits };

	want_ok(pgt_harvest(second.t, ipa, (uint64_t)n << unit_bits, PGT_DIRTY, 0, &map, NULL), "a harvest");
	want_ok(pgt_harvest(second.t, ipa, (uint64_t)n << unit_bits, PGT_DIRTY, 0, &other, NULL), "a second harvest");
	if (words[0] == want && !again[0])
		return true;
	note("granule %u: harvested 0x%" PRIx64 " for 0x%" PRIx64 ", then 0x%" PRIx64, second.shape.granule, words[0],
	     want, again[0]);
	return false;
}

/* What the MMU must have left in page i: AF where it was accessed, S2AP[1] where written. */
static bool entry_is(unsigned i, bool accessed, bool written)
{
	struct pgt_mapping m;
	uint64_t want = (accessed || written ? S2_AF : 0) | (written ? S2_WRITE : 0);

	return pgt_query(second.t, pages_ipa() + ((uint64_t)i << second.shape.granule), &m) == PGT_OK &&
	       (m.entry & (S2_AF | S2_WRITE)) == want;
}

static bool harvest_round(const struct subject *s, uint64_t stores, uint64_t loads, bool first)
{
	const unsigned granule = second.shape.granule;
	const uint64_t member = below(CALLS_BYTES >> granule) << granule;
	bool good = true;

	load_machine(s);
	for (unsigned i = 0; i < PAGES; i++) {
		if (stores >> i & 1)
			ask(pages_ipa() + ((uint64_t)i << granule), ASK_REAL | ASK_WRITE | (chance(2) ? ASK_USER : 0));
		if (loads >> i & 1)
			ask(pages_ipa() + ((uint64_t)i << granule), ASK_REAL);
	}
	ask(run_ipa() + member, ASK_REAL | ASK_WRITE);
	ask(block_ipa() + below(BIT(2 * granule - 4)), ASK_BOTH | ASK_WRITE); /* there is no such RAM */
	ask_machine();
	for (unsigned i = 0; i + 1 < machine_job()->count; i++)
		good &= EC(machine_job()->answer[i].par) == EC_SVC;
	good &= !(machine_job()->answer[machine_job()->count - 1].par & 1);
	for (unsigned i = 0; i < PAGES && first; i++)
		good &= entry_is(i, loads >> i & 1, stores >> i & 1);
	good &= harvested(pages_ipa(), PAGES, granule, stores);
	/* Runs and blocks are harvested as one. */
	good &= harvested(run_ipa(), CALLS_BYTES >> run_bits(), run_bits(), BIT(member >> run_bits()));
	good &= harvested(block_ipa(), 1, 2 * granule - 3, 1);
	return good;
}

static bool harvest_guest(unsigned granule, bool wide)
{
	struct shape shape = random_shape(PGT_ARM64_S2, granule, wide);
	struct subject s = { .kind = S2 };
	const uint64_t mask = BIT(PAGES) - 1;
	bool good = true;

	shape.features |= PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_CONTIG;
	empty_regions(TABLES_PA);
	make_second(&s, &shape);
	map_guest(granule);
	good &= harvest_round(&s, bits() & mask, bits() & mask, true);
	for (unsigned round = 0; round < 4; round++)
		good &= harvest_round(&s, bits() & mask, bits() & mask, false);
	table_check(&second);
	destroy(&s);
	return good;
}

static void harvest_guests(void)
{
	bool good = true;

	for (unsigned granule = 12; granule <= 16; granule += 2)
		for (unsigned wide = 0; wide < 2; wide++)
			good &= harvest_guest(granule, wide);
	ok(good, "what a guest wrote through stage 2 is dirty, by S2AP[1], and harvested: pages, runs and blocks");
}

/* ---- All -------------------------------------------------------------------------- */

static void fill_calls(void)
{
	uint32_t *at = (uint32_t *)(void *)(machine_ram() + (CALLS_PA - RAM_PA));

	for (unsigned i = 0; i < CALLS_BYTES / 4; i++)
		at[i] = SVC;
}

static int run(void)
{
	const char *wrong = machine_start();
	const bool long_form = getenv("PGT_QEMU_LONG") && *getenv("PGT_QEMU_LONG");

	if (!ok(!wrong, "QEMU runs the server%s%s", wrong ? ": " : "", wrong ? wrong : ""))
		return tap_done();
	if (long_form)
		machine_time_limit(1800);
	fill_calls();
	for (unsigned kind = 0; kind < KINDS; kind++)
		try_kind((enum kind)kind, long_form ? 20 : 1);
	ok(wrong_bits == 0 && updated > 1000, "the %" PRIu64 " descriptors that the CPU updated are as PGT_UPDATE leaves them",
	   updated);
	harvest_guests();
	ok(failed_calls == 0, "no call failed that should not have, and pgt_check finds nothing wrong");
	ok(done_well > 1000 && compared - done_well > 1000, "%" PRIu64 " accesses were done, %" PRIu64 " faulted",
	   done_well, compared - done_well);
	note("%" PRIu64 " fetches are left out: clean pages under HD, which QEMU takes for read-only", left_out);
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
