/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reporting must not change what it reports, so nothing here allocates, and
 * every buffer was written before the first line.
 */
#include "truth.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define PRESENT (UINT64_C(1) << 63)
#define PFN_MASK ((UINT64_C(1) << 55) - 1)
#define HOLES 8 /* absent pages reported of a mapping, then each 256th: its size may be huge */

uint64_t page_bytes, run_bytes, block_bytes, block_run_bytes;

static int pagemap;
static char out[16384], maps[262144];
static uint64_t entries[512];
static struct {
	uint64_t first, last;
} written[32];
static unsigned writtens, used;

/* The stack will not grow while it is reported. */
static void grow_stack(void)
{
	volatile char deep[65536];

	for (size_t i = 0; i < sizeof(deep); i += page_bytes)
		deep[i] = 1;
}

/* Arm's sizes: an entry takes eight bytes of a table, a run is 16 entries with 4K, 128 or 32 with 16K. */
static void find_sizes(void)
{
	page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	block_bytes = page_bytes / 8 * page_bytes;
	run_bytes = page_bytes * (page_bytes == KIB(4) ? 16 : 128);
	block_run_bytes = block_bytes * (page_bytes == KIB(4) ? 16 : 32);
}

void truth_open(void)
{
	find_sizes();
	grow_stack();
	pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (pagemap < 0)
		truth_failed("no /proc/self/pagemap");
	memset(out, 1, sizeof(out));
	memset(maps, 1, sizeof(maps));
	memset(entries, 1, sizeof(entries));
	truth_line('S', page_bytes, ABSENT, "");
}

void truth_wrote(const void *start, uint64_t len)
{
	if (writtens == sizeof(written) / sizeof(written[0]))
		truth_failed("too many written places");
	written[writtens].first = (uint64_t)start;
	written[writtens++].last = (uint64_t)start + len - 1;
}

static bool was_written(uint64_t va)
{
	for (unsigned i = 0; i < writtens; i++)
		if (va >= written[i].first && va <= written[i].last)
			return true;
	return false;
}

/* ---- The console ------------------------------------------------------- */

static void put_out(void)
{
	for (unsigned done = 0; done < used;) {
		const ssize_t n = write(STDOUT_FILENO, out + done, used - done);

		if (n <= 0)
			break;
		done += (unsigned)n;
	}
	used = 0;
}

static void put_char(char c)
{
	if (used == sizeof(out))
		put_out();
	out[used++] = c;
}

static void put_text(const char *text)
{
	while (*text)
		put_char(*text++);
}

static void put_number(uint64_t value)
{
	int shift = 60;

	while (shift && !(value >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		put_char("0123456789abcdef"[value >> shift & 15]);
}

void truth_line(char kind, uint64_t address, uint64_t value, const char *flags)
{
	put_char(kind);
	put_char(' ');
	put_number(address);
	put_char(' ');
	if (value == ABSENT)
		put_char('-');
	else
		put_number(value);
	put_char(' ');
	put_text(*flags ? flags : "-");
	put_char('\n');
}

void truth_ready(uint64_t pc)
{
	put_text("READY ");
	put_number(pc);
	put_char('\n');
	put_out();
	tcdrain(STDOUT_FILENO);
}

void truth_failed(const char *text)
{
	put_text("FAILED ");
	put_text(text);
	put_char('\n');
	put_out();
	for (;;)
		pause();
}

/* ---- The memory of this process ----------------------------------------- */

static uint64_t pfn_of(uint64_t entry)
{
	return entry & PRESENT ? entry & PFN_MASK : ABSENT;
}

uint64_t truth_pfn(uint64_t va)
{
	uint64_t entry = 0;

	if (pread(pagemap, &entry, sizeof(entry), (off_t)(va / page_bytes * sizeof(entry))) < 0)
		return ABSENT;
	return pfn_of(entry);
}

static void report_page(uint64_t va, uint64_t pfn, const char *rights)
{
	char flags[8];
	unsigned n = 0;

	for (unsigned i = 0; i < 3; i++)
		if (rights[i] != '-')
			flags[n++] = rights[i];
	if (pfn != ABSENT && was_written(va))
		flags[n++] = 'd';
	flags[n] = '\0';
	truth_line('P', va, pfn, flags);
}

static void report_mapping(uint64_t va, uint64_t end, const char *rights)
{
	uint64_t absent = 0;

	while (va < end) {
		const uint64_t pages = (end - va) / page_bytes;
		const size_t want = pages < 512 ? pages : 512;
		const ssize_t got = pread(pagemap, entries, want * sizeof(entries[0]),
					  (off_t)(va / page_bytes * sizeof(entries[0])));

		if (got <= 0)
			return;
		for (size_t i = 0; i < (size_t)got / sizeof(entries[0]); i++, va += page_bytes) {
			const uint64_t pfn = pfn_of(entries[i]);

			if (pfn != ABSENT || absent++ < HOLES || absent % 256 == 0)
				report_page(va, pfn, rights);
		}
	}
}

static size_t read_maps(void)
{
	const int file = open("/proc/self/maps", O_RDONLY);
	size_t have = 0;
	ssize_t n;

	if (file < 0)
		truth_failed("no /proc/self/maps");
	while ((n = read(file, maps + have, sizeof(maps) - 1 - have)) > 0)
		have += (size_t)n;
	close(file);
	if (have == sizeof(maps) - 1)
		truth_failed("/proc/self/maps is too long");
	maps[have] = '\0';
	return have;
}

static uint64_t hexadecimal(const char **text)
{
	uint64_t value = 0;

	for (;; (*text)++) {
		const char c = **text;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return value;
	}
}

void truth_process(void)
{
	read_maps();
	for (const char *line = maps; *line;) {
		const char *next = strchr(line, '\n');
		const char *p = line;
		const uint64_t start = hexadecimal(&p);
		uint64_t end;

		p++;
		end = hexadecimal(&p);
		report_mapping(start, end, p + 1);
		if (!next)
			break;
		line = next + 1;
	}
}
