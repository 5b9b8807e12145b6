/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgtable dump: the address space as ranges. */
#include "json.h"
#include "message.h"
#include "options.h"
#include "svg.h"
#include "table.h"
#include <inttypes.h>
#include <stdio.h>

struct dump {
	const struct options *options;
	const struct section *section;
	struct svg *svg;
	bool any;
	int status;
};

static void dump_range(void *ctx, const struct range *range)
{
	struct dump *d = ctx;

	if (range->state == RANGE_DAMAGED || d->options->filter.wx)
		d->status = EXIT_FOUND;
	if (d->options->json) {
		json_range(d->section, range, NULL);
	} else if (d->options->svg) {
		svg_range(d->svg, range);
	} else {
		if (!d->any)
			table_heading(d->section, "");
		table_range(d->section, range, "");
	}
	d->any = true;
}

static void begin(struct dump *d, const struct section *s)
{
	d->section = s;
	d->any = false;
	if (d->options->json)
		json_section(s);
	else if (d->options->svg)
		svg_section(d->svg, s);
	else
		table_section(s);
}

static void dump_section(struct dump *d, const struct section *s)
{
	uint64_t stopped;

	begin(d, s);
	if (!ranges_read(s, &d->options->filter, dump_range, d, &stopped)) {
		warn_circles(s, stopped);
		d->status = EXIT_FOUND;
	}
	if (!d->any && !d->options->json && !d->options->svg)
		printf("(nothing)\n");
}

static int dump(struct options *o)
{
	struct dump d = { .options = o };
	struct space space;

	if (o->json && o->svg)
		fail("--json and --svg exclude each other");
	options_take_images(o, SIZE_MAX);
	if (o->json)
		json_begin("dump");
	space_open(&space, &o->registers, o->images, o->image_count, o->half);
	if (o->svg)
		d.svg = svg_begin(space.image.name);
	for (unsigned i = 0; i < space.count; i++)
		dump_section(&d, &space.sections[i]);
	if (o->json)
		json_end();
	if (o->svg)
		svg_end(d.svg);
	space_close(&space);
	return d.status;
}

const struct command command_dump = {
	.name = "dump",
	.arguments = "IMAGE...",
	.summary = "Prints what is mapped, a line for each range of equal mappings",
	.more = "\nExit status 1 tells damaged tables, and with --wx that there is such a range.\n",
	.run = dump,
};
