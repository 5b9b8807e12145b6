/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgtable check: what the architecture forbids in these tables. */
#include "json.h"
#include "message.h"
#include "options.h"
#include "words.h"
#include <inttypes.h>
#include <stdio.h>

#define GAVE_UP 1

struct check {
	const struct options *options;
	const struct section *section;
	uint64_t found;
	bool gave_up;
};

static void print(const struct check *c, const struct pgt_problem *p)
{
	struct json *item;

	if (c->options->json) {
		item = json_item("problem", c->section);
		json_hex(item, "va", p->va);
		json_hex(item, "entry_pa", p->entry_pa);
		json_hex(item, "entry", p->entry);
		json_number(item, "level", p->level);
		json_text(item, "what", p->what);
		json_print(item);
		return;
	}
	printf("%s: 0x%" PRIx64 ": level %d entry 0x%016" PRIx64 " at 0x%" PRIx64 ": %s%s%s\n",
	       c->section->name, p->va, p->level, p->entry, p->entry_pa, color(COLOR_RED), p->what,
	       color(COLOR_OFF));
}

static int problem(void *ctx, const struct pgt_problem *p)
{
	struct check *c = ctx;

	if (c->section->tables->exhausted) {
		c->gave_up = true;
		return GAVE_UP;
	}
	if (c->found++ < c->options->limit)
		print(c, p);
	return 0;
}

static void check_section(struct check *c, const struct section *s)
{
	int status;

	c->section = s;
	tables_restart(s->tables);
	if (c->options->json)
		json_section(s);
	status = pgt_check(s->t, problem, c);
	if (s->tables->exhausted) {
		warn("%s: the tables lead to one another over and over: far more of them were read than there are; "
		     "gave up", s->name);
		c->gave_up = true;
	} else if (status != PGT_OK && status != PGT_ECORRUPT) {
		fail("%s: %s", s->name, pgt_strerror(status));
	}
}

static void conclude(const struct check *c)
{
	if (c->found > c->options->limit)
		printf("... and %" PRIu64 " more; try --limit=N\n", c->found - c->options->limit);
	if (c->found || c->gave_up)
		printf("%" PRIu64 " problem%s%s\n", c->found, c->found == 1 ? "" : "s",
		       c->gave_up ? ", and the tables lead round in circles" : "");
	else
		printf("no problem\n");
}

static int check(struct options *o)
{
	struct check c = { .options = o };
	struct space space;

	options_take_images(o, SIZE_MAX);
	if (o->json)
		json_begin("check");
	space_open(&space, &o->registers, o->images, o->image_count, o->half);
	for (unsigned i = 0; i < space.count; i++)
		check_section(&c, &space.sections[i]);
	if (space.second) {
		struct section second = space_second(&space);

		check_section(&c, &second);
	}
	if (o->json)
		json_end();
	else
		conclude(&c);
	space_close(&space);
	return c.found || c.gave_up ? EXIT_FOUND : EXIT_FINE;
}

const struct command command_check = {
	.name = "check",
	.arguments = "IMAGE...",
	.summary = "Reports every entry that the architecture forbids, and tables that loop",
	.more = "\nExit status 1 tells that there was one.\n",
	.run = check,
};
