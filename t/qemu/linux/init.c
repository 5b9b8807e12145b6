/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only program of the Linux guest: makes every kind of mapping, reports
 * which page is where (truth.h), and spins. With vmm=... on the kernel's command
 * line, which Linux hands over in the environment, it is the monitor of a KVM
 * guest as well.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
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

/* So many pages of a size that hugetlbfs and transparent huge pages may have. */
static void want_pages(uint64_t bytes, const char *count)
{
	char file[128];

	snprintf(file, sizeof(file), "/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB/nr_hugepages",
		 bytes >> 10);
	tell(file, count);
	snprintf(file, sizeof(file), "/sys/kernel/mm/transparent_hugepage/hugepages-%" PRIu64 "kB/enabled",
		 bytes >> 10);
	tell(file, "always");
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
	truth_open();
	/* Nobody moves pages about behind us. */
	tell("/sys/kernel/mm/transparent_hugepage/khugepaged/pages_to_scan", "1");
	tell("/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs", "4000000000");
	tell("/sys/kernel/mm/transparent_hugepage/enabled", "always");
	/* The largest first, while memory is in one piece. */
	if (block_run_bytes <= MIB(32))
		want_pages(block_run_bytes, "1");
	want_pages(block_bytes, "2");
	want_pages(run_bytes, "4");
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
	for (uint64_t i = 0; i < len; i += page_bytes)
		*(volatile char *)(start + i) = (char)(i / page_bytes + 1);
	truth_wrote(start, len);
}

static void read_from(const char *start, uint64_t len)
{
	for (uint64_t i = 0; i < len; i += page_bytes)
		(void)*(const volatile char *)(start + i);
}

/* Blocks, and what is left at both ends. */
static void huge(void)
{
	const uint64_t len = 3 * block_bytes + block_bytes / 2;
	char *at = anonymous(0x7f0000000000, len);

	madvise(at, len, MADV_HUGEPAGE);
	write_to(at, 2 * block_bytes + block_bytes / 4);
	/* The half of a block that loses its right to be written. */
	mprotect(at, block_bytes / 2, PROT_READ);
}

/* Pages that the kernel has by the run, where it knows how. */
static void runs(void)
{
	const uint64_t half = run_bytes / 2;
	char *at = anonymous(0x7f1000000000 + half, 33 * run_bytes);

	write_to(at, 24 * run_bytes);
	/* What breaks a run: other rights, and a page given back. */
	mprotect(at + 9 * run_bytes + half + 5 * page_bytes, page_bytes, PROT_READ);
	madvise(at + 17 * run_bytes + half + 7 * page_bytes, page_bytes, MADV_DONTNEED);
	/* Read only: the zero page, or clean memory. */
	at = anonymous(0x7f1800000000, 8 * run_bytes);
	read_from(at, 8 * run_bytes);
}

/* Single pages: each right, present or not, written or not. */
static void pages(void)
{
	static const int rights[] = {
		PROT_READ, PROT_NONE, PROT_READ | PROT_EXEC, RW, RW | PROT_EXEC, PROT_EXEC, RW, RW,
	};
	const unsigned n = 2048;
	char *at = anonymous(0x7f2000000000, n * page_bytes);

	madvise(at, n * page_bytes, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < n; i++) {
		char *page = at + i * page_bytes;

		if (i % 8 == 6)
			read_from(page, page_bytes);
		else if (i % 8 != 7)
			*(volatile char *)page = 1;
		if (i % 3 == 0 && rights[i % 8] != RW)
			mprotect(page, page_bytes, rights[i % 8]);
	}
}

static void shared(void)
{
	const int file = open("/tmp/file", O_RDWR | O_CREAT, 0600);
	const uint64_t piece = 64 * page_bytes;
	char *at, *copy;

	if (file < 0 || ftruncate(file, (off_t)(4 * piece)))
		truth_failed("/tmp/file");
	at = place(0x7f3000000000, 4 * piece, RW, MAP_SHARED, file);
	copy = place(0x7f3800000000, 4 * piece, RW, MAP_PRIVATE, file);
	if (!at || !copy)
		truth_failed("mmap of a file");
	read_from(at, 2 * piece);
	write_to(at + piece, piece);
	read_from(copy, piece);
	write_to(copy + piece / 4, piece / 4);
	at = place(0x7f3c00000000, piece, PROT_READ, MAP_SHARED, file);
	if (at)
		read_from(at, piece);
	close(file);
}

/* From the pool of pages of this size, if there is one. */
static void pool(uint64_t va, uint64_t bytes, unsigned n)
{
	const int size = (int)((unsigned)__builtin_ctzll(bytes) << MAP_HUGE_SHIFT);
	char *at = place(va, n * bytes, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | size, -1);

	if (at)
		write_to(at, n * bytes);
}

int main(void)
{
	const char *vmm = getenv("vmm");

	set_up();
	huge();
	runs();
	pages();
	shared();
	pool(0x7f4000000000, block_bytes, 2);
	pool(0x7f5000000000, run_bytes, 4);
	pool(0x7f6000000000, block_run_bytes, 1);
	/* As high as addresses go: 2^51, the last page of 52 bits and of 48. */
	write_to(anonymous(0x8000000000000, KIB(128)), KIB(128));
	write_to(anonymous(0xfffffffff0000, page_bytes), page_bytes);
	write_to(anonymous(0xffffffff0000, page_bytes), page_bytes);
	if (vmm)
		vmm_run(strcmp(vmm, "stage1") == 0, strcmp(vmm, "wide") == 0 ? 52 : 40);
	truth_process();
	truth_ready((uint64_t)spin);
	spin();
}
