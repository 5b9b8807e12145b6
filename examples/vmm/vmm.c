/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A virtual machine monitor in small.  It makes a guest's RAM, builds the
 * guest's page tables in it with libpgtable, starts a CPU on them (QEMU's),
 * changes the tables while the guest runs, and at each step compares what the
 * CPU's MMU does with what pgt_translate says it does.
 *
 *	vmm GUEST.BIN      (the environment's QEMU: another qemu-system-aarch64)
 *
 * This file is the story; machine.c runs QEMU, space.c makes the address space,
 * probes.c asks and compares, and guest.c with start.S is what the guest runs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pgtable/arm64.h>
#include <pgtable/pgtable.h>

#include "machine.h"
#include "probes.h"
#include "space.h"

#define BY_AT 12000 /* questions a comparison */
#define REAL  4000

static struct vmm {
	struct machine machine;
	struct space space;
	bool running;   /* before, no TLB holds anything */
	bool withhold;  /* keep invalidations back */
	struct pgt_tlb_range kept[16];
	unsigned kept_count;
	unsigned invalidated, synced;
} vmm;

/* ---- What the library needs from a hypervisor: the TLB ---------------- */

static void show_range(const struct pgt_tlb_range *range, const char *what)
{
	if (range->flags & PGT_TLB_ALL)
		printf("   %s: everything\n", what);
	else
		printf("   %s: 0x%016" PRIx64 ", %" PRIu64 " KiB in steps of %u KiB%s\n", what,
		       range->va, range->len >> 10, 1u << (range->stride_bits - 10),
		       range->flags & PGT_TLB_WALK ? ", table entries too" : "");
}

static void send(struct machine *m, const struct pgt_tlb_range *range)
{
	machine_wait(m); /* the mailbox holds one job */
	m->mailbox->tlbi.all = range->flags & PGT_TLB_ALL;
	m->mailbox->tlbi.va = range->va;
	m->mailbox->tlbi.len = range->len;
	m->mailbox->tlbi.stride = UINT64_C(1) << range->stride_bits;
	machine_post(m, JOB_TLBI);
}

/* Only the guest can invalidate its TLB, so it is asked to. */
static void invalidate(void *ctx, const struct pgt_tlb_range *range)
{
	struct vmm *v = ctx;

	if (!v->running)
		return;
	v->invalidated++;
	if (!v->withhold) {
		show_range(range, "the guest invalidates");
		send(&v->machine, range);
		return;
	}
	show_range(range, "kept back");
	if (v->kept_count == sizeof(v->kept) / sizeof(v->kept[0]))
		die("too many invalidations to keep back");
	v->kept[v->kept_count++] = *range;
}

/* The guest reports the job done after its DSB. */
static void sync(void *ctx)
{
	struct vmm *v = ctx;

	if (!v->running)
		return;
	v->synced++;
	if (!v->withhold)
		machine_wait(&v->machine);
}

static void publish(void *ctx)
{
	(void)ctx;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ---- The story -------------------------------------------------------- */

static unsigned step_number;

static void step(const char *text)
{
	printf("\n%u. %s\n", ++step_number, text);
}

static void say_ram(void)
{
	printf("   PA 0x%08x  %3u MiB of RAM\n", RAM_PA, RAM_BYTES >> 20);
	printf("   PA 0x%08x  the guest's program (%" PRIu64 " KiB)\n", KERNEL_PA,
	       vmm.machine.image.end >> 10);
	printf("   PA 0x%08x  the mailbox: jobs for the guest, and its answers\n", MAILBOX_PA);
	printf("   PA 0x%08x  the arena: libpgtable makes its tables here\n", TABLES_PA);
	printf("   PA 0x%08x  memory to map; each word of it holds its own address\n", MARKED_PA);
}

static int problem(void *ctx, const struct pgt_problem *p)
{
	(void)ctx;
	printf("   pgt_check at 0x%016" PRIx64 ", entry 0x%" PRIx64 ": %s\n", p->va, p->entry, p->what);
	return 0;
}

static void say_tables(void)
{
	struct pgt *const half[] = { vmm.space.lower, vmm.space.upper };
	const uint64_t base[] = { 0, 0xffff000000000000 };
	uint64_t tables = 0, mapped = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct pgt_stat stat;

		must(pgt_stat(half[i], base[i], UINT64_C(1) << 48, &stat), "pgt_stat");
		must(pgt_check(half[i], problem, NULL), "pgt_check");
		mapped += stat.mapped_bytes;
		for (unsigned level = 0; level < 5; level++)
			tables += stat.tables[level];
	}
	printf("   %" PRIu64 " KiB are mapped by %" PRIu64 " tables; pgt_check finds nothing wrong.\n",
	       mapped >> 10, tables);
}

static void hand_over_registers(void)
{
	struct pgt_arm64_regs regs = { .size = sizeof(regs) };
	struct mailbox *mailbox = vmm.machine.mailbox;

	must(pgt_arm64_regs(vmm.space.lower, vmm.space.upper, &regs), "pgt_arm64_regs");
	mailbox->boot.ttbr0 = regs.ttbr0;
	mailbox->boot.ttbr1 = regs.ttbr1;
	mailbox->boot.tcr = regs.tcr;
	mailbox->boot.mair = regs.mair;
	mailbox->boot.sctlr = regs.sctlr;
	printf("   TTBR0_EL1 0x%" PRIx64 "  TTBR1_EL1 0x%" PRIx64 "  TCR_EL1 0x%" PRIx64
	       "  MAIR_EL1 0x%" PRIx64 "  SCTLR_EL1 0x%" PRIx64 "\n",
	       regs.ttbr0, regs.ttbr1, regs.tcr, regs.mair, regs.sctlr);
}

static void check_serial_port(void)
{
	static const char line[] = "hello from EL1, in the upper half";
	char seen[128];

	snprintf(vmm.machine.mailbox->text, sizeof(vmm.machine.mailbox->text), "%s\n", line);
	machine_post(&vmm.machine, JOB_PRINT);
	machine_wait(&vmm.machine);
	machine_console(&vmm.machine, seen, sizeof(seen));
	if (strcmp(line, seen) != 0)
		die("the serial port gave \"%s\"", seen);
	printf("   Through its serial port, which it sees as device memory, it says:\n"
	       "   \"%s\"\n", seen);
}

static void compare(void)
{
	probes_compare(&vmm.machine, &vmm.space, BY_AT, REAL);
}

static void unmap(uint64_t va, uint64_t len)
{
	must(pgt_unmap(space_half(&vmm.space, va), va, len, 0, NULL), "pgt_unmap");
}

static void change_tables(void)
{
	const uint64_t heap = 0xffff800040000000, user_heap = 0x1000000000;

	step("Under the running guest: 64 KiB out of a block of the kernel's heap go");
	unmap(heap + 0x250000, 0x10000);
	compare();

	step("The user's data moves: its first 128 KiB get other memory (PGT_REPLACE)");
	space_map(&vmm.space, "user data", 0x600000, 0x41d00000, 0x20000, USER_READ_WRITE,
		  PGT_REPLACE);
	compare();

	step("The user's heap goes; its tables return to the arena");
	unmap(user_heap, 0x613000);
	compare();

	step("A new heap, page by page and backwards, with the tables that were freed");
	for (uint64_t page = 0; page < 64; page++)
		space_map(&vmm.space, "user heap", user_heap + 0x200000 + page * 0x1000,
			  0x41200000 + (63 - page) * 0x1000, 0x1000, USER_READ_WRITE, 0);
	compare();

	step("The identity page is needed no longer");
	unmap(KERNEL_PA, 0x1000);
	compare();
}

static void expect(bool as_expected, const char *what)
{
	if (!as_expected)
		die("not so: %s", what);
	printf("   %s\n", what);
}

/*
 * What the invalidate callback is for: without it the CPU goes on using what
 * its TLB holds.  AT reads the tables anew each time, in QEMU.
 */
static void forget_to_invalidate(void)
{
	const uint64_t va = 0xffff8000c0001008, old = 0x41901008, new = 0x41e01008;
	const uint64_t page = va - 8;
	uint64_t value = 0, pa = 0;

	step("A page is unmapped and mapped elsewhere, but the TLB isn't told");
	expect(probe_one_load(&vmm.machine, va, &value) && value == old,
	       "before: a load reads the old page.");
	vmm.withhold = true;
	unmap(page, 0x1000);
	expect(probe_one_load(&vmm.machine, va, &value) && value == old,
	       "unmapped: a load still reads the old page, from the TLB.");
	space_map(&vmm.space, "uncached buffer", page, new - 8, 0x1000,
		  READ_WRITE | PGT_GLOBAL | PGT_MEM_NOCACHE, 0);
	expect(probe_one_at(&vmm.machine, va, &pa) && pa == new,
	       "mapped elsewhere: AT, which reads the tables, finds the new page;");
	expect(probe_one_load(&vmm.machine, va, &value) && value == old,
	       "a load still reads the old one: a stale translation.");
	vmm.withhold = false;
	expect(vmm.kept_count > 0, "Now the guest gets what was kept back:");
	for (unsigned i = 0; i < vmm.kept_count; i++) {
		show_range(&vmm.kept[i], "the guest invalidates");
		send(&vmm.machine, &vmm.kept[i]);
	}
	machine_wait(&vmm.machine);
	expect(probe_one_load(&vmm.machine, va, &value) && value == new,
	       "after it, a load reads the new page.");
	compare();
}

static void finish(void)
{
	machine_stop(&vmm.machine);
	vmm.running = false;
	pgt_destroy(vmm.space.upper);
	pgt_destroy(vmm.space.lower);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	const struct pgt_tlb tlb = { .invalidate = invalidate, .sync = sync, .publish = publish,
				     .ctx = &vmm };
	const char *qemu = getenv("QEMU") ? getenv("QEMU") : "qemu-system-aarch64";
	const double start = now();

	if (argc != 2) {
		fprintf(stderr, "usage: %s GUEST.BIN\n", argv[0]);
		return 2;
	}
	printf("A virtual machine monitor with libpgtable %s\n", pgt_version());

	step("The guest's RAM: a file that QEMU and this program share");
	machine_make(&vmm.machine, argv[1]);
	probes_mark_memory(&vmm.machine);
	say_ram();

	step("The guest's address space, built in that RAM by pgt_map");
	space_make(&vmm.space, &vmm.machine, &tlb);
	space_fill(&vmm.space, &vmm.machine);
	say_tables();
	printf("   Drawn from pgt_visit (blocks, runs and pages, the latter 4 KiB each; a run is a group\n"
	       "   that carries the contiguous hint) and pgt_translate (read, write, execute):\n\n");
	space_draw(&vmm.space);

	step("QEMU starts. The guest turns its MMU on, with what pgt_arm64_regs gave");
	hand_over_registers();
	machine_start(&vmm.machine, qemu);
	vmm.running = true;
	check_serial_port();
	compare();

	change_tables();
	forget_to_invalidate();

	step("The end");
	probes_report();
	say_tables();
	finish();
	printf("   The library asked for %u invalidations, and waited %u times.\n"
	       "   No answer differed. %.1f seconds.\n",
	       vmm.invalidated, vmm.synced, now() - start);
	return 0;
}
