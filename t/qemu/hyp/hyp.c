/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hypervisor of one file: at EL2, without a C library, it runs on a stage 1
 * and gives its guest a stage 2, both made by the library out of a static arena.
 * The guest turns on a stage 1 of its own and touches memory, which it gets when
 * it faults; pages are write-protected, taken away, given anew, harvested and
 * made into blocks and back, and every invalidation is carried out by the
 * operations that pgt_arm64_tlbi lists, and nothing more.
 *
 * It speaks TAP by semihosting.
 */
#include <stddef.h>

#include <pgtable/arm64.h>
#include <pgtable/pgtable.h>

#include "hyp.h"

#define PAGE UINT64_C(4096)
#define BIT(n) (UINT64_C(1) << (n))

#define READ_SYSTEM(name)                                                          \
	({                                                                         \
		uint64_t value_;                                                   \
		__asm__ volatile("mrs %0, " #name : "=r"(value_) : : "memory");    \
		value_;                                                            \
	})
#define WRITE_SYSTEM(name, value) \
	__asm__ volatile("msr " #name ", %0" : : "r"((uint64_t)(value)) : "memory")

extern char text_start[], text_end[], constants_end[], data_end[], guest_start[], guest_end[];

/* ---- What a compiler calls ------------------------------------------------- */

void *memset(void *to, int byte, unsigned long n);
void *memcpy(void *to, const void *from, unsigned long n);

void *memset(void *to, int byte, unsigned long n)
{
	for (char *at = to; n; n--)
		*at++ = (char)byte;
	return to;
}

void *memcpy(void *to, const void *from, unsigned long n)
{
	const char *source = from;

	for (char *at = to; n; n--)
		*at++ = *source++;
	return to;
}

/* ---- Results ------------------------------------------------------------------ */

static unsigned results, failures;

static void print_number(uint64_t n, unsigned base)
{
	char text[24], *at = text + sizeof(text);

	*--at = '\0';
	do {
		*--at = "0123456789abcdef"[n % base];
		n /= base;
	} while (n);
	machine_write(at);
}

static void note(const char *text, uint64_t value)
{
	machine_write("# ");
	machine_write(text);
	machine_write(" 0x");
	print_number(value, 16);
	machine_write("\n");
}

static bool ok(bool good, const char *text)
{
	machine_write(good ? "ok " : "not ok ");
	print_number(++results, 10);
	machine_write(" - ");
	machine_write(text);
	machine_write("\n");
	failures += !good;
	return good;
}

static uint64_t finish(void)
{
	machine_write("1..");
	print_number(results, 10);
	machine_write("\n");
	return failures != 0;
}

void hypervisor_fault(uint64_t esr, uint64_t elr, uint64_t far);

void hypervisor_fault(uint64_t esr, uint64_t elr, uint64_t far)
{
	note("ESR_EL2", esr);
	note("ELR_EL2", elr);
	note("FAR_EL2", far);
	machine_write("Bail out! the hypervisor faulted\n");
	machine_exit(1);
}

/* A call that may not fail. */
static void must(int status, const char *what)
{
	if (status == PGT_OK)
		return;
	machine_write("Bail out! ");
	machine_write(what);
	machine_write(": ");
	machine_write(pgt_strerror(status));
	machine_write("\n");
	machine_exit(1);
}

/* ---- Invalidation ------------------------------------------------------------- */

#define BY_ADDRESS(X)                                                                      \
	X(VAE2, "vae2") X(VAE2IS, "vae2is") X(VALE2, "vale2") X(VALE2IS, "vale2is")        \
	X(RVAE2, "rvae2") X(RVAE2IS, "rvae2is") X(RVALE2, "rvale2") X(RVALE2IS, "rvale2is") \
	X(IPAS2E1, "ipas2e1") X(IPAS2E1IS, "ipas2e1is")                                    \
	X(IPAS2LE1, "ipas2le1") X(IPAS2LE1IS, "ipas2le1is")                                \
	X(RIPAS2E1, "ripas2e1") X(RIPAS2E1IS, "ripas2e1is")                                \
	X(RIPAS2LE1, "ripas2le1") X(RIPAS2LE1IS, "ripas2le1is")
#define OF_ALL(X)                                                                          \
	X(ALLE2, "alle2") X(ALLE2IS, "alle2is") X(VMALLE1, "vmalle1") X(VMALLE1IS, "vmalle1is") \
	X(VMALLS12E1, "vmalls12e1") X(VMALLS12E1IS, "vmalls12e1is")

static uint64_t operations;

static void issue(const struct pgt_arm64_tlbi *op)
{
	operations++;
	switch (op->op) {
#define BY_ADDRESS_CASE(name, text) \
	case PGT_ARM64_TLBI_##name: __asm__ volatile("tlbi " text ", %0" : : "r"(op->operand) : "memory"); return;
#define OF_ALL_CASE(name, text) \
	case PGT_ARM64_TLBI_##name: __asm__ volatile("tlbi " text : : : "memory"); return;
		BY_ADDRESS(BY_ADDRESS_CASE)
		OF_ALL(OF_ALL_CASE)
	case PGT_ARM64_DSB_ISH: __asm__ volatile("dsb ish" : : : "memory"); return;
	}
	must(PGT_EINVAL, pgt_arm64_tlbi_name(op->op) ? pgt_arm64_tlbi_name(op->op) : "an unknown operation");
}

/* ctx: the table. */
static void invalidate(void *ctx, const struct pgt_tlb_range *range)
{
	struct pgt *const *t = ctx;
	struct pgt_arm64_tlbi ops[8];
	unsigned n = 0;

	must(pgt_arm64_tlbi(*t, range, 0, ops, sizeof(ops) / sizeof(ops[0]), &n), "pgt_arm64_tlbi");
	__asm__ volatile("dsb ishst" : : : "memory");
	for (unsigned i = 0; i < n; i++)
		issue(&ops[i]);
}

static void synchronize(void *ctx)
{
	(void)ctx;
	__asm__ volatile("dsb ish\n\tisb" : : : "memory");
}

static void publish(void *ctx)
{
	(void)ctx;
	__asm__ volatile("dsb ishst\n\tisb" : : : "memory");
}

/* ---- Tables ------------------------------------------------------------------- */

#define FEATURES                                                                           \
	(PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY | \
	 PGT_FEAT_CONTIG | PGT_FEAT_TLBI_RANGE | PGT_FEAT_TTL)

static _Alignas(65536) unsigned char pool[0x100000];
static _Alignas(16) unsigned char own_storage[1024], guest_storage[1024];
static struct pgt_arena arena;
static struct pgt *own, *guests; /* stage 1 of EL2; stage 2 */

static void make_table(struct pgt **t, void *storage, const char *format, uint64_t features)
{
	struct pgt_config c = { .size = sizeof(c), .format = format, .granule_bits = 12 };

	c.input_bits = c.output_bits = 40;
	c.features = features;
	c.memory = pgt_arena_memory(&arena);
	c.tlb.invalidate = invalidate;
	c.tlb.sync = synchronize;
	c.tlb.publish = publish;
	c.tlb.ctx = t;
	must(pgt_init(storage, sizeof(own_storage), &c, t), format);
}

static void map_own(const char *from, const char *to, uint64_t attr)
{
	must(pgt_map(own, (uintptr_t)from, (uintptr_t)from, (uint64_t)(to - from), attr, 0, NULL), "EL2's own memory");
}

static void enable_own(void)
{
	struct pgt_arm64_regs regs = { .size = sizeof(regs) };

	must(pgt_arm64_regs(own, NULL, &regs), "EL2's registers");
	WRITE_SYSTEM(mair_el2, regs.mair);
	WRITE_SYSTEM(tcr_el2, regs.tcr);
	WRITE_SYSTEM(ttbr0_el2, regs.ttbr0);
	__asm__ volatile("tlbi alle2\n\tdsb ish\n\tisb" : : : "memory");
	WRITE_SYSTEM(sctlr_el2, READ_SYSTEM(sctlr_el2) | regs.sctlr);
	__asm__ volatile("isb" : : : "memory");
}

/* PAR_EL1's bit 0: whether EL2 may write there. */
static bool own_writable(const void *at)
{
	__asm__ volatile("at s1e2w, %0\n\tisb" : : "r"(at) : "memory");
	return !(READ_SYSTEM(par_el1) & 1);
}

/* Text, constants and data apart; the guest's memory, for the copy of it. */
static void make_own(void)
{
	const uint64_t data = PGT_READ | PGT_WRITE | PGT_YOUNG | PGT_DIRTY;

	make_table(&own, own_storage, "arm64-el2", FEATURES);
	map_own(text_start, text_end, PGT_READ | PGT_EXEC | PGT_YOUNG);
	map_own(text_end, constants_end, PGT_READ | PGT_YOUNG);
	map_own(constants_end, data_end, data);
	must(pgt_map(own, GUEST_PA, GUEST_PA, GUEST_BYTES, data, 0, NULL), "the guest's memory");
	enable_own();
	ok(READ_SYSTEM(sctlr_el2) & 1, "EL2 runs on its own stage 1");
	ok(!own_writable(text_start) && !own_writable(guest_start) && own_writable(pool),
	   "there its text and constants are read-only, and its data is not");
}

static void enable_guests(void)
{
	struct pgt_arm64_regs regs = { .size = sizeof(regs) };

	must(pgt_arm64_regs(guests, NULL, &regs), "stage 2's registers");
	WRITE_SYSTEM(vtcr_el2, regs.vtcr);
	WRITE_SYSTEM(vttbr_el2, regs.vttbr);
	WRITE_SYSTEM(hcr_el2, regs.hcr);
	__asm__ volatile("tlbi alle1\n\tdsb ish\n\tisb" : : : "memory");
}

static void make_guests(void)
{
	make_table(&guests, guest_storage, "arm64-s2", FEATURES | PGT_FEAT_FWB | PGT_FEAT_XNX);
	memcpy((void *)GUEST_PA, guest_start, (unsigned long)(guest_end - guest_start));
	__asm__ volatile("dsb ish\n\tic ialluis\n\tdsb ish\n\tisb" : : : "memory");
	must(pgt_map(guests, GUEST_IPA, GUEST_PA, GUEST_CODE_BYTES, PGT_READ | PGT_EXEC, 0, NULL), "the guest's code");
	enable_guests();
}

/* ---- The guest ---------------------------------------------------------------- */

#define EC(esr)     ((esr) >> 26 & 63)
#define EC_HVC      0x16
#define EC_FETCH    0x20
#define EC_DATA     0x24
#define FSC(esr)    ((esr) >> 2 & 15) /* the kind, without the level */
#define FSC_TRANSLATION 1
#define FSC_PERMISSION  3
#define ISS_WALK    BIT(7)

static struct guest guest = { .pc = GUEST_IPA, .pstate = 0x3c5 /* EL1, no interrupts */ };

static struct {
	uint64_t missing, in_walk, protected;
} faults;

static uint64_t fault_ipa(void)
{
	return (guest.hpfar >> 4 << 12) | (guest.far & (PAGE - 1));
}

static uint64_t pa_of(uint64_t ipa)
{
	return ipa - GUEST_IPA + GUEST_PA;
}

/* Memory that isn't there is given, a page at a time. */
static void give_page(uint64_t ipa)
{
	const uint64_t page = ipa & ~(PAGE - 1);

	faults.missing++;
	faults.in_walk += (guest.esr & ISS_WALK) != 0;
	if (page - GUEST_IPA >= GUEST_BYTES)
		must(PGT_ERANGE, "the guest strays");
	must(pgt_map(guests, page, pa_of(page), PAGE, PGT_READ | PGT_WRITE, 0, NULL), "a page for the guest");
}

/* Write protection was for us to hear of it. */
static void allow_write(uint64_t ipa)
{
	faults.protected++;
	must(pgt_protect(guests, ipa & ~(PAGE - 1), PAGE, PGT_WRITE, 0, 0, NULL), "a page becomes writable");
}

static void handle_fault(void)
{
	if (FSC(guest.esr) == FSC_TRANSLATION) {
		give_page(fault_ipa());
	} else if (FSC(guest.esr) == FSC_PERMISSION && EC(guest.esr) == EC_DATA) {
		allow_write(fault_ipa());
	} else {
		note("ESR_EL2", guest.esr);
		note("IPA", fault_ipa());
		must(PGT_EACCES, "the guest's fault");
	}
}

/* Asks the guest to do something; it answers with its next HVC. */
static uint64_t guest_do(uint64_t what, uint64_t x1, uint64_t x2)
{
	guest.x[0] = what;
	guest.x[1] = x1;
	guest.x[2] = x2;
	for (;;) {
		guest_run(&guest);
		if (EC(guest.esr) == EC_HVC)
			return guest.x[0];
		handle_fault();
	}
}

static uint64_t load(uint64_t va)
{
	return guest_do(DO_LOAD, va, 0);
}

/* Stores to pages of the guest's data, at the addresses that its own stage 1 has. */
static void store(uint64_t mask)
{
	guest_do(DO_STORE, mask, ALIAS(GUEST_DATA));
}

/* ---- Acts --------------------------------------------------------------------- */

#define PAGES 64
#define DATA_BYTES (PAGES * PAGE)

static uint64_t *data_word(unsigned page)
{
	return (uint64_t *)(pa_of(GUEST_DATA) + page * PAGE);
}

/* Which of the pages are dirty, and no longer from now on. */
static uint64_t harvest(void)
{
	uint64_t words[1] = { 0 };
	struct pgt_bitmap map = { words, GUEST_DATA, PAGES, 12 };

	must(pgt_harvest(guests, GUEST_DATA, DATA_BYTES, PGT_DIRTY, 0, &map, NULL), "a harvest");
	return words[0];
}

static void boot(void)
{
	guest_run(&guest);
	ok(EC(guest.esr) == EC_HVC && READ_SYSTEM(vttbr_el2), "a guest runs at EL1 behind stage 2");
	ok(guest_do(DO_MMU, 0, 0) & 1, "it turned on a stage 1 of its own");
	ok(faults.missing == 1, "whose table it was given when it wrote to it");
}

/* Before it was there, stage 1's table faults in the walk itself. */
static void take_table(void)
{
	faults.missing = 0;
	must(pgt_unmap(guests, GUEST_TABLE, PAGE, 0, NULL), "the guest's table");
	load(ALIAS(GUEST_IPA));
	ok(faults.in_walk == 1 && faults.missing == 1, "taken away, its table is missed in a walk, and given again");
}

static void touch(void)
{
	bool good = true;

	faults.missing = 0;
	store(UINT64_MAX);
	for (unsigned i = 0; i < PAGES; i++)
		good &= *data_word(i) == i;
	ok(good && faults.missing == PAGES, "it stores to 64 pages, and gets each by one fault");
}

static void harvest_writes(void)
{
	const uint64_t some = BIT(5) | BIT(9) | BIT(40) | BIT(63);

	ok(harvest() == UINT64_MAX, "all of them are dirty");
	ok(harvest() == 0, "and then none is");
	store(some);
	ok(harvest() == some, "after more stores those are, and no other");
	(void)load(ALIAS(GUEST_DATA + 7 * PAGE));
	ok(harvest() == 0, "a load leaves a page clean");
}

static void protect_writes(void)
{
	faults.protected = 0;
	must(pgt_protect(guests, GUEST_DATA + 10 * PAGE, 10 * PAGE, 0, PGT_WRITE, 0, NULL), "write protection");
	*data_word(12) = 0;
	store(BIT(12) | BIT(30));
	ok(faults.protected == 1 && *data_word(12) == 12, "a store to a write-protected page faults once, and is done");
	ok(harvest() == (BIT(12) | BIT(30)), "and has made it dirty");
	(void)load(ALIAS(GUEST_DATA + 13 * PAGE));
	ok(faults.protected == 1, "loads from the others don't fault");
}

/* The place of page 22 is taken by another: no translation of the first may be left. */
static void replace_page(void)
{
	const uint64_t page = GUEST_DATA + 22 * PAGE, other = pa_of(GUEST_DATA + PAGES * PAGE);

	*(uint64_t *)other = 0x5eed;
	faults.missing = 0;
	(void)load(ALIAS(page));
	must(pgt_map(guests, page, other, PAGE, PGT_READ, PGT_REPLACE, NULL), "another page");
	ok(load(ALIAS(page)) == 0x5eed && load(page) == 0x5eed, "a page replaced is read at once, at both its addresses");
	must(pgt_unmap(guests, page, PAGE, 0, NULL), "no page");
	ok(load(ALIAS(page)) == 22 && faults.missing == 1, "and one unmapped is missed, and is the first again");
}

/* 2 MiB at once, the pages inside: the run of 64 becomes part of a block, and comes apart. */
static void change_size(void)
{
	const uint64_t block = BIT(21);
	struct pgt_stat stat;
	bool good = true;

	must(pgt_map(guests, GUEST_DATA + DATA_BYTES, pa_of(GUEST_DATA + DATA_BYTES), block - DATA_BYTES,
		     PGT_READ | PGT_WRITE | PGT_YOUNG | PGT_DIRTY, PGT_REPLACE, NULL), "the rest of 2 MiB");
	must(pgt_protect(guests, GUEST_DATA, block, PGT_WRITE, 0, 0, NULL), "all writable");
	must(pgt_collapse(guests, GUEST_DATA, block, 21, 0, NULL), "a block");
	must(pgt_stat(guests, GUEST_DATA, block, &stat), "its statistics");
	for (unsigned i = 0; i < PAGES; i++)
		good &= load(ALIAS(GUEST_DATA + i * PAGE)) == i;
	ok(good && stat.leaves[2 + 1] == 1 && !stat.leaves[3 + 1], "2 MiB become one block, and read as before");
	(void)harvest();
	store(BIT(33));
	ok(harvest() & BIT(33), "a store to it is harvested");
	must(pgt_split(guests, GUEST_DATA, block, 12, 0, NULL), "pages");
	store(BIT(34));
	ok(harvest() & BIT(34) && load(GUEST_DATA + 34 * PAGE) == 34, "it comes apart, and goes on the same");
}

/* What the CPU's two stages answer, and what the library's do on the guest's registers. */
static bool same_answer(const struct pgt_arm64_regs *s1, const struct pgt_arm64_regs *s2, uint64_t va, bool write)
{
	struct pgt_memory memory = { 0 };
	struct pgt_translation tr;
	uint64_t par;
	int status;

	/* Identity-mapped as all is here, one window holds the guest's tables and ours. */
	memory.window = (void *)text_start;
	memory.window_pa = (uintptr_t)text_start;
	memory.window_bytes = GUEST_PA + GUEST_BYTES - (uintptr_t)text_start;
	status = pgt_arm64_walk2(s1, s2, &memory, va, write ? PGT_WRITE : PGT_READ, &tr);
	if (write)
		__asm__ volatile("at s12e1w, %0\n\tisb" : : "r"(va) : "memory");
	else
		__asm__ volatile("at s12e1r, %0\n\tisb" : : "r"(va) : "memory");
	par = READ_SYSTEM(par_el1);
	if (status != PGT_OK)
		return (par & 1) && (par >> 9 & 1) == (tr.stage == 2);
	return !(par & 1) && (par & UINT64_C(0x000ffffffffff000)) == (tr.pa & ~(PAGE - 1));
}

static void walk(void)
{
	struct pgt_arm64_regs s1 = { .size = sizeof(s1), .regime = PGT_ARM64_EL1 }, s2 = { .size = sizeof(s2) };
	bool good = true;

	s1.ttbr0 = READ_SYSTEM(ttbr0_el1);
	s1.tcr = READ_SYSTEM(tcr_el1);
	s1.mair = READ_SYSTEM(mair_el1);
	s1.sctlr = READ_SYSTEM(sctlr_el1);
	must(pgt_arm64_regs(guests, NULL, &s2), "stage 2's registers");
	must(pgt_protect(guests, GUEST_DATA + 3 * PAGE, 5 * PAGE, 0, PGT_WRITE, 0, NULL), "write protection");
	for (uint64_t at = GUEST_IPA; at < GUEST_IPA + BIT(23); at += PAGE)
		for (unsigned write = 0; write < 2; write++)
			good &= same_answer(&s1, &s2, at, write) && same_answer(&s1, &s2, ALIAS(at), write) &&
				same_answer(&s1, &s2, at + BIT(31), write);
	ok(good, "the CPU and pgt_arm64_walk2 agree on 12288 addresses of the guest's");
}

static int problem(void *ctx, const struct pgt_problem *p)
{
	(void)ctx;
	machine_write("# pgt_check: ");
	machine_write(p->what);
	machine_write("\n");
	return 1; /* the first is enough */
}

static void end(void)
{
	struct pgt_stat stat;

	ok(pgt_check(own, problem, NULL) == PGT_OK && pgt_check(guests, problem, NULL) == PGT_OK,
	   "pgt_check finds nothing wrong in either table");
	must(pgt_unmap(guests, 0, BIT(40), 0, NULL), "all of the guest");
	must(pgt_stat(guests, 0, BIT(40), &stat), "its statistics");
	ok(stat.mapped_bytes == 0 && operations > 20, "everything is unmapped, by TLB operations carried out for real");
	note("TLB operations:", operations);
	pgt_destroy(guests);
}

uint64_t hypervisor(void);

uint64_t hypervisor(void)
{
	must(pgt_arena_init(&arena, pool, sizeof(pool), (uintptr_t)pool), "the arena");
	make_own();
	make_guests();
	boot();
	take_table();
	touch();
	harvest_writes();
	protect_writes();
	replace_page();
	change_size();
	walk();
	end();
	return finish();
}
