/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line. */
#ifndef PGT_TOOL_OPTIONS_H
#define PGT_TOOL_OPTIONS_H

#include "ranges.h"

struct options {
	struct registers registers;
	char **images;         /* FILE or FILE@ADDRESS */
	size_t image_count, image_room;
	char **rest;           /* arguments that are no options */
	size_t rest_count;
	int half;              /* or -1 */
	struct filter filter;
	bool json, svg, sizes;
	uint64_t access;       /* translate: PGT_READ, PGT_WRITE or PGT_EXEC; PGT_USER */
	uint64_t limit;        /* check: how many problems are printed */
	const char *new_registers; /* diff */
};

struct command {
	const char *name;
	const char *arguments; /* for the usage line */
	const char *summary;
	const char *more;      /* paragraphs for --help */
	int (*run)(struct options *options);
};

/* Reads argv of this command; --help is answered here. */
void options_read(struct options *options, const struct command *command, int argc, char **argv);
void options_free(struct options *options);

/* Images from the rest, all of them or (diff, translate) the first few. */
void options_take_images(struct options *options, size_t most);

extern const struct command command_dump, command_translate, command_check, command_diff, command_stat;

#endif
