/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only program of the Linux guest: makes every kind of mapping, reports
 * which page is where (truth.h), and spins. With vmm=... on the kernel's command
 * line, which Linux hands over in the environment, it is the monitor of a KVM
 * guest as well.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest.h"
#include "truth.h"
#include "vmm.h"

#define RW (PROT_READ | PROT_WRITE)

static void tell(const char *file, const char *text)
{
	const int to = open(file, O_WRONLY);

	/* An older kernel does not have them all. */
	if (to >= 0 && write(to, text, strlen(text)) < 0)
		(void)!write(STDERR_FILENO, file, strlen(file));
	if (to >= 0)
		close(to);
}

static void set_up(void)
{
	static const char *const folders[][2] = {
		{ "/proc", "proc" }, { "/sys", "sysfs" }, { "/tmp", "tmpfs" }, { "/dev", "devtmpfs" },
	};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		mkdir(folders[i][0], 0755);
		mount(folders[i][1], folders[i][0], folders[i][1], 0, NULL);
	}
	tell("/sys/kernel/mm/transparent_hugepage/enabled", "always");
	tell("/sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled", "always");
	/* Nobody moves pages about behind us. */
	tell("/sys/kernel/mm/transparent_hugepage/khugepaged/pages_to_scan", "1");
	tell("/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", "4000000000");
	tell("/sys/kernel/mm/hugepages/hugepages-32768kB/nr_hugepages", "1");
	tell("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "2");
	tell("/sys/kernel/mm/hugepages/hugepages-64kB/nr_hugepages", "4");
}

/* At an address that another kernel may not have: then somewhere else, or NULL. */
static char *place(uint64_t va, uint64_t len, int rights, int flags, int file)
{
	void *at = mmap((void *)va, len, rights, flags, file, 0);

	return at == MAP_FAILED ? NULL : at;
}

static char *anonymous(uint64_t va, uint64_t len)
{
	char *at = place(va, len, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (!at)
		truth_failed("mmap");
	return at;
}

static void write_to(char *start, uint64_t len)
{
	for (uint64_t i = 0; i < len; i += PAGE)
		*(volatile char *)(start + i) = (char)(i / PAGE + 1);
	truth_wrote(start, len);
}

static void read_from(const char *start, uint64_t len)
{
	for (uint64_t i = 0; i < len; i += PAGE)
		(void)*(const volatile char *)(start + i);
}

/* Blocks of 2 MiB, and what is left at both ends. */
static void huge(void)
{
	char *at = anonymous(0x7f0000000000, MIB(9));

	madvise(at, MIB(9), MADV_HUGEPAGE);
	write_to(at, MIB(4) + KIB(512));
	/* The half of a block that loses its right to be written. */
	mprotect(at, MIB(1), PROT_READ);
}

/* Pages that the kernel has in 64 KiB, where it knows how: runs. */
static void runs(void)
{
	char *at = anonymous(0x7f1000008000, MIB(4));

	write_to(at, MIB(3));
	/* What breaks a run: other rights, and a page given back. */
	mprotect(at + MIB(1) + 5 * PAGE, PAGE, PROT_READ);
	madvise(at + MIB(2) + 7 * PAGE, PAGE, MADV_DONTNEED);
	/* Read only: the zero page, or clean memory. */
	at = anonymous(0x7f1800000000, MIB(1));
	read_from(at, MIB(1));
}

/* Single pages: each right, present or not, written or not. */
static void pages(void)
{
	static const int rights[] = {
		PROT_READ, PROT_NONE, PROT_READ | PROT_EXEC, RW, RW | PROT_EXEC, PROT_EXEC, RW, RW,
	};
	char *at = anonymous(0x7f2000000000, MIB(4));

	madvise(at, MIB(4), MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < MIB(4) / PAGE; i++) {
		char *page = at + i * PAGE;

		if (i % 8 == 6)
			read_from(page, PAGE);
		else if (i % 8 != 7)
			*(volatile char *)page = 1;
		if (i % 3 == 0 && rights[i % 8] != RW)
			mprotect(page, PAGE, rights[i % 8]);
	}
}

static void shared(void)
{
	const int file = open("/tmp/file", O_RDWR | O_CREAT, 0600);
	char *at, *copy;

	if (file < 0 || ftruncate(file, (off_t)MIB(1)))
		truth_failed("/tmp/file");
	at = place(0x7f3000000000, MIB(1), RW, MAP_SHARED, file);
	copy = place(0x7f3800000000, MIB(1), RW, MAP_PRIVATE, file);
	if (!at || !copy)
		truth_failed("mmap of a file");
	read_from(at, KIB(512));
	write_to(at + KIB(128), KIB(128));
	read_from(copy, KIB(256));
	write_to(copy + KIB(64), KIB(64));
	at = place(0x7f3c00000000, KIB(256), PROT_READ, MAP_SHARED, file);
	if (at)
		read_from(at, KIB(256));
	close(file);
}

/* From the pool of one size, if there is one: a block, a run of pages, a run of blocks. */
static void pool(uint64_t va, unsigned bits, uint64_t len)
{
	char *at = place(va, len, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | (int)(bits << MAP_HUGE_SHIFT), -1);

	if (at)
		write_to(at, len);
}

int main(void)
{
	const char *vmm = getenv("vmm");

	set_up();
	truth_open();
	huge();
	runs();
	pages();
	shared();
	pool(0x7f4000000000, 21, MIB(4));
	pool(0x7f5000000000, 16, KIB(256));
	pool(0x7f6000000000, 25, MIB(32));
	/* As high as addresses go: 2^51 and the last page of all. */
	write_to(anonymous(0x8000000000000, KIB(128)), KIB(128));
	write_to(anonymous(0xfffffffff0000, PAGE), PAGE);
	write_to(anonymous(0xffffffff0000, PAGE), PAGE);
	if (vmm)
		vmm_run(strcmp(vmm, "stage1") == 0, strcmp(vmm, "wide") == 0 ? 52 : 40);
	truth_process();
	truth_ready((uint64_t)spin);
	spin();
}
