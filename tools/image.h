/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory images: raw, ELF cores, and the RAM files of running machines. */
#ifndef PGT_TOOL_IMAGE_H
#define PGT_TOOL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stretch of physical memory, as it stands in a file. */
struct segment {
	uint64_t pa, bytes;
	const unsigned char *host;
};

struct image {
	struct segment *segments; /* by address, apart from each other */
	size_t count, room;
	char *name;               /* of the first file, for messages */
};

/* Maps a file, FILE or FILE@ADDRESS; base is where a raw one begins that says
 * no address.  All that is wrong with it ends the command. */
void image_add(struct image *image, const char *spec, uint64_t base);

/* After the last one: sorts, and refuses files that overlap. */
void image_ready(struct image *image);

/* [pa, pa+bytes) as it stands in the file, or NULL. */
const unsigned char *image_at(const struct image *image, uint64_t pa, uint64_t bytes);

/* "0x40000000-0x5fffffff", or how many stretches there are between these. */
const char *image_extent(const struct image *image, char text[96]);

void image_free(struct image *image);

/* For image.c and elf.c. */
struct file {
	const char *name;
	const unsigned char *bytes;
	uint64_t size;
};
void image_segment(struct image *image, uint64_t pa, const unsigned char *host, uint64_t bytes);
bool elf_file(const struct file *file);
void elf_segments(struct image *image, const struct file *file);

#endif
