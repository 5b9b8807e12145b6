/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "image.h"
#include "message.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every file that is mapped, for the message when one becomes shorter. */
#define MAX_FILES 64
static struct file files[MAX_FILES];
static unsigned file_count;

/* A page of a mapping went away: somebody cut the file. */
static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	const unsigned char *at = info->si_addr;
	char text[512];
	int n = 0;

	(void)signal, (void)context;
	for (unsigned i = 0; i < file_count && !n; i++)
		if (at >= files[i].bytes && (uint64_t)(at - files[i].bytes) < files[i].size)
			n = snprintf(text, sizeof text, "pgtable: %.300s: can't be read at byte 0x%" PRIx64
				     " any more; did it become shorter?\n", files[i].name,
				     (uint64_t)(at - files[i].bytes));
	if (!n)
		n = snprintf(text, sizeof text, "pgtable: a bus error\n");
	if (write(STDERR_FILENO, text, (size_t)n) < 0)
		_exit(EXIT_TROUBLE);
	_exit(EXIT_TROUBLE);
}

static void watch(void)
{
	struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}

static uint64_t size_of(int fd, const char *name)
{
	struct stat st;
	off_t end;

	if (fstat(fd, &st) != 0)
		fail("%s: %s", name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		fail("%s: is a folder; try a memory image in it", name);
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		fail("%s: is no file that can be read anywhere; try 'cat %s >ram.img' first", name, name);
	end = lseek(fd, 0, SEEK_END);
	if (end <= 0)
		fail("%s: is empty", name);
	return (uint64_t)end;
}

/* Shared, so that a running machine's RAM is seen as it is now; never written. */
static struct file map(const char *name)
{
	struct file file = { .name = name };
	void *bytes;
	int fd = open(name, O_RDONLY);

	if (fd < 0)
		fail("%s: %s", name, strerror(errno));
	file.size = size_of(fd, name);
	if (file.size > SIZE_MAX)
		fail("%s: is larger than this machine can map; try a 64-bit one", name);
	bytes = mmap(NULL, (size_t)file.size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		fail("%s: can't be mapped: %s", name, strerror(errno));
	close(fd);
	file.bytes = bytes;
	if (file_count == MAX_FILES)
		fail("%s: one image too many (at most %d)", name, MAX_FILES);
	files[file_count++] = file;
	watch();
	return file;
}

static bool starts(const struct file *file, const char *with, size_t bytes)
{
	return file->size >= bytes && !memcmp(file->bytes, with, bytes);
}

/* What looks like RAM to nobody, and would only give strange answers. */
static void refuse_other_formats(const struct file *file)
{
	if (starts(file, "KDUMP   ", 8) || starts(file, "makedumpfile", 12))
		fail("%s: is in the kdump format; try an ELF dump: dump-guest-memory without -z, -l and -s, "
		     "or makedumpfile -E", file->name);
	if (starts(file, "\037\213", 2) || starts(file, "\375" "7zXZ", 5) || starts(file, "\050\265\057\375", 4))
		fail("%s: is compressed; try to unpack it first", file->name);
	if (starts(file, "QEVM", 4))
		fail("%s: is a QEMU snapshot; try dump-guest-memory or a RAM file (memory-backend-file, share=on)",
		     file->name);
}

/* "FILE@ADDRESS" apart, but for a file that has such a name itself. */
static char *split(const char *spec, uint64_t *base)
{
	char *name = need(strdup(spec)), *at = strrchr(name, '@');

	if (at && access(spec, F_OK) != 0 && number(at + 1, base))
		*at = '\0';
	return name;
}

void image_segment(struct image *image, uint64_t pa, const unsigned char *host, uint64_t bytes)
{
	image->segments = grow(image->segments, image->count, &image->room, sizeof *image->segments);
	image->segments[image->count++] = (struct segment){ .pa = pa, .bytes = bytes, .host = host };
}

void image_add(struct image *image, const char *spec, uint64_t base)
{
	char *name = split(spec, &base);
	struct file file = map(name);

	refuse_other_formats(&file);
	if (elf_file(&file)) {
		elf_segments(image, &file);
	} else {
		if (file.size - 1 > UINT64_MAX - base)
			fail("%s: doesn't fit behind address 0x%" PRIx64, name, base);
		image_segment(image, base, file.bytes, file.size);
	}
	/* The list of files keeps the names for messages. */
	if (!image->name)
		image->name = name;
}

static int by_address(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return (x->pa > y->pa) - (x->pa < y->pa);
}

void image_ready(struct image *image)
{
	qsort(image->segments, image->count, sizeof *image->segments, by_address);
	for (size_t i = 1; i < image->count; i++) {
		const struct segment *a = &image->segments[i - 1], *b = a + 1;

		if (b->pa - a->pa < a->bytes)
			fail("%s: two stretches of memory overlap at 0x%" PRIx64, image->name, b->pa);
	}
}

const unsigned char *image_at(const struct image *image, uint64_t pa, uint64_t bytes)
{
	size_t low = 0, high = image->count;

	/* The last one that doesn't begin behind pa. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->segments[middle].pa <= pa)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	const struct segment *s = &image->segments[low - 1];

	if (bytes > s->bytes || pa - s->pa > s->bytes - bytes)
		return NULL;
	return s->host + (pa - s->pa);
}

const char *image_extent(const struct image *image, char text[96])
{
	const struct segment *first = image->segments, *last = first + (image->count - 1);

	if (image->count == 1)
		snprintf(text, 96, "0x%" PRIx64 "-0x%" PRIx64, first->pa, first->pa + (first->bytes - 1));
	else
		snprintf(text, 96, "%zu stretches between 0x%" PRIx64 " and 0x%" PRIx64, image->count,
			 first->pa, last->pa + (last->bytes - 1));
	return text;
}

void image_free(struct image *image)
{
	free(image->segments);
	*image = (struct image){ 0 };
}
