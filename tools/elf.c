/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* ELF cores, as QEMU's dump-guest-memory and /proc/vmcore have them: what the
 * PT_LOAD segments hold, by physical address. */
#include "image.h"
#include "message.h"
#include <elf.h>
#include <endian.h>
#include <inttypes.h>
#include <string.h>

bool elf_file(const struct file *file)
{
	return file->size >= SELFMAG && !memcmp(file->bytes, ELFMAG, SELFMAG);
}

/* A header's worth of bytes, wherever it stands. */
static void take(const struct file *file, uint64_t at, void *to, size_t bytes, const char *what)
{
	if (at > file->size || bytes > file->size - at)
		fail("%s: ends inside %s (at byte 0x%" PRIx64 "; it has 0x%" PRIx64 "); is it truncated?",
		     file->name, what, at, file->size);
	memcpy(to, file->bytes + at, bytes);
}

static Elf64_Ehdr header(const struct file *file)
{
	Elf64_Ehdr h;

	take(file, 0, &h, sizeof h, "the ELF header");
	if (h.e_ident[EI_CLASS] != ELFCLASS64)
		fail("%s: is a 32-bit ELF file; try a dump of a 64-bit machine", file->name);
	if (h.e_ident[EI_DATA] != ELFDATA2LSB)
		fail("%s: is a big-endian ELF file, of a machine whose tables this command can't read", file->name);
	if (le16toh(h.e_type) != ET_CORE)
		fail("%s: is an ELF file, but no core; try what dump-guest-memory writes, or a raw image", file->name);
	if (le16toh(h.e_machine) != EM_AARCH64)
		fail("%s: is the core of another machine than AArch64 (ELF machine %u)", file->name,
		     (unsigned)le16toh(h.e_machine));
	if (le16toh(h.e_phentsize) != sizeof(Elf64_Phdr))
		fail("%s: has program headers of a size that ELF doesn't know", file->name);
	return h;
}

/* More than 16 bits hold stand in the first section header. */
static uint64_t header_count(const struct file *file, const Elf64_Ehdr *h)
{
	Elf64_Shdr first;

	if (le16toh(h->e_phnum) != PN_XNUM)
		return le16toh(h->e_phnum);
	take(file, le64toh(h->e_shoff), &first, sizeof first, "its section headers");
	return le32toh(first.sh_info);
}

static void load(struct image *image, const struct file *file, const Elf64_Phdr *p)
{
	uint64_t at = le64toh(p->p_offset), bytes = le64toh(p->p_filesz), pa = le64toh(p->p_paddr);
	uint64_t there = at < file->size ? file->size - at : 0;

	if (bytes == 0)
		return;
	if (bytes - 1 > UINT64_MAX - pa)
		fail("%s: has a segment at 0x%" PRIx64 " that wraps", file->name, pa);
	if (bytes > there) {
		warn("%s: is truncated: of the segment at 0x%" PRIx64 " the file has 0x%" PRIx64
		     " of 0x%" PRIx64 " bytes", file->name, pa, there, bytes);
		bytes = there;
	}
	if (bytes)
		image_segment(image, pa, file->bytes + at, bytes);
}

void elf_segments(struct image *image, const struct file *file)
{
	Elf64_Ehdr h = header(file);
	uint64_t n = header_count(file, &h), at = le64toh(h.e_phoff);
	size_t before = image->count;

	if (at > file->size || n > (file->size - at) / sizeof(Elf64_Phdr))
		fail("%s: ends inside its program headers (%" PRIu64 " at byte 0x%" PRIx64
		     "); is it truncated?", file->name, n, at);
	for (uint64_t i = 0; i < n; i++) {
		Elf64_Phdr p;

		take(file, at + i * sizeof p, &p, sizeof p, "its program headers");
		if (le32toh(p.p_type) == PT_LOAD)
			load(image, file, &p);
	}
	if (image->count == before)
		fail("%s: is a core without memory (no PT_LOAD segment)", file->name);
}
