/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A monitor of one KVM guest. Its 40 bits of IPA make two concatenated root
 * tables at stage 2, 52 bits make sixteen, and it has memory below the first and
 * the last: backed by blocks, by pages, and a slot that it may only read. Where
 * the guest has a stage 1, its tables are built here, a few of every kind,
 * scattered over both halves.
 */
#include "vmm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "guest.h"
#include "truth.h"

#define PAGE KIB(4) /* the guest's, and Linux's here */
#define RAM_IPA UINT64_C(0x80000000)
#define ROM_IPA UINT64_C(0x100000000)
#define TOP_BYTES MIB(2) /* at the end of all IPAs */
#define EXIT_IPA UINT64_C(0x10000000) /* no memory: what goes there leaves the guest */
#define NO_IPA UINT64_C(0x20000000)   /* nor here */

/* In the first slot. */
#define LIST_IPA (RAM_IPA + PAGE)
#define TABLES_IPA (RAM_IPA + KIB(64))
#define TABLES_BYTES KIB(256)
#define BLOCK_IPA (RAM_IPA + MIB(2))
#define PAGES_IPA (RAM_IPA + MIB(8))

/* The guest's registers: 48 bits of VA below, 39 above, 40 of IPA. */
#define TCR_VALUE                                                                  \
	(UINT64_C(16) | UINT64_C(1) << 8 | UINT64_C(1) << 10 | UINT64_C(3) << 12 | \
	 UINT64_C(25) << 16 | UINT64_C(1) << 24 | UINT64_C(1) << 26 | UINT64_C(3) << 28 | \
	 UINT64_C(2) << 30 | UINT64_C(2) << 32)
#define MAIR_VALUE UINT64_C(0x04ff) /* 0: write-back; 1: nGnRE */
#define SCTLR_VALUE (UINT64_C(0x30d00800) | 1 | 1 << 2 | 1 << 12)

#define VALID UINT64_C(1)
#define TABLE UINT64_C(3)
#define LEAF (UINT64_C(3) << 8 | UINT64_C(1) << 10) /* inner shareable, accessed */
#define DEVICE (UINT64_C(1) << 2)
#define READ_ONLY (UINT64_C(1) << 7)
#define NO_EXEC (UINT64_C(1) << 53)
#define NO_USER_EXEC (UINT64_C(1) << 54)

enum { TOUCHED = 1, WRITTEN = 2, EXECUTED = 4 };

static struct slot {
	uint64_t ipa, bytes;
	bool read_only;
	char *memory;
	uint8_t state[MIB(16) / PAGE];
} slots[] = {
	{ .ipa = RAM_IPA, .bytes = MIB(16) },
	{ .ipa = ROM_IPA, .bytes = MIB(1), .read_only = true },
	{ .bytes = TOP_BYTES },
};
#define SLOTS (sizeof(slots) / sizeof(slots[0]))
#define TOP_IPA slots[2].ipa

/* What the guest maps: so many pages from va on. One of 'every' is accessed. */
static struct mapping {
	uint64_t va, ipa, pages;
	const char *rights;
	unsigned every;
	int kind;
} mappings[64];

static unsigned mapped, accesses;
static bool with_stage1;
static uint64_t roots[2], tables_used;

static struct slot *slot_of(uint64_t ipa)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (ipa >= slots[i].ipa && ipa - slots[i].ipa < slots[i].bytes)
			return &slots[i];
	return NULL;
}

static void *memory_at(uint64_t ipa)
{
	struct slot *s = slot_of(ipa);

	if (!s)
		truth_failed("the monitor's own address is wrong");
	return s->memory + (ipa - s->ipa);
}

static void mark(uint64_t ipa, int state)
{
	struct slot *s = slot_of(ipa);

	if (s)
		s->state[(ipa - s->ipa) / PAGE] |= (uint8_t)state;
}

/* ---- The guest's tables -------------------------------------------------- */

static uint64_t new_table(void)
{
	const uint64_t ipa = TABLES_IPA + tables_used;

	tables_used += PAGE;
	if (tables_used > TABLES_BYTES)
		truth_failed("too many tables of the guest");
	return ipa;
}

static uint64_t *entry_of(uint64_t table, uint64_t va, int level)
{
	return (uint64_t *)memory_at(table) + (va >> (12 + 9 * (3 - level)) & 511);
}

static void set_entry(uint64_t va, int level, uint64_t entry)
{
	const bool upper = va >> 63;
	uint64_t table = roots[upper];

	for (int l = upper ? 1 : 0; l < level; l++) {
		uint64_t *e = entry_of(table, va, l);

		if (!(*e & VALID))
			*e = new_table() | TABLE;
		table = *e & ~(PAGE - 1);
	}
	*entry_of(table, va, level) = entry;
}

/* The tables that the guest's walk to va reads. */
static void mark_walk(uint64_t va)
{
	const bool upper = va >> 63;
	uint64_t table = roots[upper];

	for (int l = upper ? 1 : 0; with_stage1; l++) {
		const uint64_t entry = *entry_of(table, va, l);

		mark(table, TOUCHED);
		if (l == 3 || (entry & TABLE) != TABLE)
			break;
		table = entry & ~(PAGE - 1);
	}
}

static uint64_t attributes(const char *rights)
{
	uint64_t attr = LEAF | NO_USER_EXEC;

	if (!strchr(rights, 'w'))
		attr |= READ_ONLY;
	if (!strchr(rights, 'x'))
		attr |= NO_EXEC;
	return attr;
}

static void remember(uint64_t va, uint64_t ipa, uint64_t pages, const char *rights, unsigned every, int kind)
{
	if (mapped == sizeof(mappings) / sizeof(mappings[0]))
		truth_failed("too many mappings of the guest");
	mappings[mapped++] = (struct mapping){ va, ipa, pages, rights, every, kind };
}

static void map_pages(uint64_t va, uint64_t ipa, uint64_t pages, const char *rights, unsigned every, int kind)
{
	for (uint64_t i = 0; i < pages; i++)
		set_entry(va + i * PAGE, 3, (ipa + i * PAGE) | attributes(rights) | TABLE);
	remember(va, ipa, pages, rights, every, kind);
}

static void map_block(uint64_t va, uint64_t ipa, const char *rights, unsigned every, int kind)
{
	set_entry(va, 2, ipa | attributes(rights) | VALID);
	remember(va, ipa, MIB(2) / PAGE, rights, every, kind);
}

static void make_tables(void)
{
	static const uint32_t ret = 0xd65f03c0;

	roots[0] = new_table();
	roots[1] = new_table();
	/* The code, the list and the way out are where they are without a stage 1 too. */
	map_pages(RAM_IPA, RAM_IPA, 16, "rx", 0, 0);
	set_entry(EXIT_IPA, 3, EXIT_IPA | attributes("rw") | DEVICE | TABLE);
	remember(EXIT_IPA, EXIT_IPA, 1, "rwn", 0, 0);

	map_block(0x4000000000, BLOCK_IPA, "rw", 16, GUEST_STORE);
	map_block(0xffffff8000200000, BLOCK_IPA + MIB(2), "r", 32, GUEST_LOAD);
	map_block(0x7fffffe00000, TOP_IPA, "rw", 8, GUEST_STORE);
	/* Backwards, so that no two pages follow one another as their memory does. */
	for (uint64_t i = 0; i < 32; i++)
		map_pages(0x123456789000 + i * PAGE, PAGES_IPA + (31 - i) * PAGE, 1, i % 2 ? "rw" : "r",
			  1, i % 2 ? GUEST_STORE : GUEST_LOAD);
	map_pages(0xfffffffffffe0000, PAGES_IPA + MIB(1), 32, "rw", 2, GUEST_STORE);
	map_pages(0x200000000000, PAGES_IPA + MIB(2), 600, "rw", 3, GUEST_STORE);
	map_pages(0x300000000000, ROM_IPA, 64, "rw", 1, GUEST_LOAD);
	*(uint32_t *)memory_at(PAGES_IPA + MIB(6)) = ret;
	map_pages(0xffffff8000000000, PAGES_IPA + MIB(6), 1, "rx", 1, GUEST_CALL);
	/* Never accessed: memory that is not there, at the end or on the way. */
	map_pages(0x500000000000, NO_IPA, 4, "rwn", 0, 0);
	set_entry(0x600000000000, 1, NO_IPA | TABLE);
	remember(0x600000000000, NO_IPA, 1, "n", 0, 0);
}

/* ---- What the guest does ------------------------------------------------- */

static void add_access(uint64_t va, uint64_t ipa, int kind)
{
	static const int state[] = {
		[GUEST_LOAD] = TOUCHED, [GUEST_STORE] = TOUCHED | WRITTEN, [GUEST_CALL] = TOUCHED | EXECUTED,
	};
	struct guest_access *list = memory_at(LIST_IPA);

	if ((accesses + 1) * sizeof(*list) > KIB(60))
		truth_failed("too many accesses of the guest");
	list[accesses++] = (struct guest_access){ with_stage1 ? va : ipa, (uint64_t)kind };
	mark(LIST_IPA + (accesses - 1) * sizeof(*list), TOUCHED);
	mark(ipa, state[kind]);
	mark_walk(va);
}

static void make_list(void)
{
	for (const struct mapping *m = mappings; m < mappings + mapped; m++)
		for (uint64_t i = 0; m->every && i < m->pages; i += m->every)
			add_access(m->va + i * PAGE, m->ipa + i * PAGE, m->kind);
}

static void make_guest(void)
{
	memcpy(memory_at(RAM_IPA), guest_start, (size_t)(guest_end - guest_start));
	mark(RAM_IPA, TOUCHED | EXECUTED);
	make_tables();
	mark_walk(RAM_IPA);
	mark_walk(EXIT_IPA);
	make_list();
}

/* ---- KVM ------------------------------------------------------------------- */

static int call(int file, unsigned long request, unsigned long argument, const char *what)
{
	const int answer = ioctl(file, request, argument);

	if (answer < 0)
		truth_failed(what);
	return answer;
}

static void make_memory(void)
{
	uint64_t va = 0x7e0000000000;

	for (struct slot *s = slots; s < slots + SLOTS; s++, va += MIB(64)) {
		s->memory = mmap((void *)va, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);
		if (s->memory == MAP_FAILED)
			truth_failed("no memory for the guest");
		madvise(s->memory, s->bytes, MADV_NOHUGEPAGE);
	}
	/* Blocks at stage 2 too, up to where the single pages are. */
	madvise(slots[0].memory, PAGES_IPA - RAM_IPA, MADV_HUGEPAGE);
	memset(slots[0].memory, 0, PAGES_IPA - RAM_IPA);
}

static void add_slots(int vm)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		struct kvm_userspace_memory_region region = {
			.slot = i,
			.flags = slots[i].read_only ? KVM_MEM_READONLY : 0,
			.guest_phys_addr = slots[i].ipa,
			.memory_size = slots[i].bytes,
			.userspace_addr = (uint64_t)slots[i].memory,
		};

		call(vm, KVM_SET_USER_MEMORY_REGION, (unsigned long)&region, "KVM takes no memory");
	}
}

static void set_register(int cpu, uint64_t index, uint64_t value)
{
	struct kvm_one_reg reg = {
		.id = KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | index,
		.addr = (uint64_t)&value,
	};

	call(cpu, KVM_SET_ONE_REG, (unsigned long)&reg, "KVM takes no register");
}

static void set_registers(int cpu)
{
	const uint64_t x[] = {
		roots[0],  roots[1], TCR_VALUE, MAIR_VALUE, with_stage1 ? SCTLR_VALUE : 0,
		LIST_IPA, accesses, EXIT_IPA,
	};

	for (unsigned i = 0; i < sizeof(x) / sizeof(x[0]); i++)
		set_register(cpu, KVM_REG_ARM_CORE_REG(regs.regs[i]), x[i]);
	set_register(cpu, KVM_REG_ARM_CORE_REG(regs.pc), RAM_IPA);
}

static int make_cpu(int vm)
{
	const int cpu = call(vm, KVM_CREATE_VCPU, 0, "KVM makes no CPU");
	struct kvm_vcpu_init init;

	memset(&init, 0, sizeof(init));
	call(vm, KVM_ARM_PREFERRED_TARGET, (unsigned long)&init, "KVM has no CPU model");
	call(cpu, KVM_ARM_VCPU_INIT, (unsigned long)&init, "KVM starts no CPU");
	set_registers(cpu);
	return cpu;
}

static void run(int cpu)
{
	while (ioctl(cpu, KVM_RUN, 0) < 0)
		if (errno != EINTR && errno != EAGAIN)
			truth_failed("KVM_RUN");
}

/* ---- The report ------------------------------------------------------------ */

static void report_slot(const struct slot *s)
{
	for (uint64_t i = 0; i < s->bytes / PAGE; i++) {
		const uint64_t pfn = truth_pfn((uint64_t)s->memory + i * PAGE);
		const int state = s->state[i];
		char flags[8], *f = flags;

		*f++ = 'r';
		if (!s->read_only)
			*f++ = 'w';
		if (state & EXECUTED)
			*f++ = 'x';
		if (state & TOUCHED)
			*f++ = 't';
		if (state & WRITTEN)
			*f++ = 'd';
		*f = '\0';
		/* What neither side has touched says nothing, but for a few. */
		if (pfn != ABSENT || state || i % 64 == 0)
			truth_line('I', s->ipa + i * PAGE, pfn, flags);
	}
}

static void report_mapping(const struct mapping *m)
{
	for (uint64_t i = 0; i < m->pages; i++) {
		char flags[16];

		strcpy(flags, m->rights);
		if (m->every && i % m->every == 0)
			strcat(flags, m->kind == GUEST_STORE ? "td" : "t");
		truth_line('G', m->va + i * PAGE, m->ipa + i * PAGE, flags);
	}
}

static void report(void)
{
	truth_process();
	for (unsigned i = 0; i < SLOTS; i++)
		report_slot(&slots[i]);
	for (unsigned i = 0; with_stage1 && i < mapped; i++)
		report_mapping(&mappings[i]);
}

void vmm_run(bool stage1, unsigned ipa_bits)
{
	const int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	struct kvm_run *state;
	int vm, cpu;

	if (kvm < 0)
		truth_failed("no /dev/kvm");
	if (page_bytes != PAGE)
		truth_failed("the monitor needs pages of 4 KiB");
	with_stage1 = stage1;
	TOP_IPA = (UINT64_C(1) << ipa_bits) - TOP_BYTES;
	vm = call(kvm, KVM_CREATE_VM, KVM_VM_TYPE_ARM_IPA_SIZE(ipa_bits), "KVM makes no VM of this size");
	make_memory();
	add_slots(vm);
	make_guest();
	cpu = make_cpu(vm);
	state = mmap(NULL, (size_t)call(kvm, KVM_GET_VCPU_MMAP_SIZE, 0, "KVM_GET_VCPU_MMAP_SIZE"),
		     PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
	if (state == MAP_FAILED)
		truth_failed("no state of KVM's CPU");
	run(cpu);
	if (state->exit_reason != KVM_EXIT_MMIO || state->mmio.phys_addr != EXIT_IPA)
		truth_failed("the guest met an exception");
	report();
	truth_ready(RAM_IPA + (uint64_t)(guest_spin - guest_start));
	run(cpu);
	truth_failed("the guest ended");
	for (;;)
		;
}
