/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"
#include "message.h"
#include "progress.h"
#include "words.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DUMP = 1, TRANSLATE = 2, CHECK = 4, DIFF = 8, STAT = 16, ALL = 31, WHOLE = ALL & ~TRANSLATE };

/* Codes of long options; a register's, and what a file of registers may say
 * too, goes by its name. */
enum { NAMED, IMAGE, REGS, NEW_REGS, HALF, VA, PA, WX, USER, DEVICE, HOLES, MERGE, STATE, JSON,
       SVG, SIZES, ACCESS, UNPRIVILEGED, LIMIT, COLOR, PROGRESS, HELP };

static const struct entry {
	const char *name, *argument;
	int code, commands;
	const char *help;
} entries[] = {
	{ "regs", "FILE", REGS, ALL, "registers as lines 'name = value'; 'ram' and 'base' too" },
	{ "ttbr0", "VALUE", NAMED, ALL, "registers, as the CPU holds them" },
	{ "ttbr1", "VALUE", NAMED, ALL, NULL },
	{ "tcr", "VALUE", NAMED, ALL, NULL },
	{ "mair", "VALUE", NAMED, ALL, NULL },
	{ "sctlr", "VALUE", NAMED, ALL, NULL },
	{ "vttbr", "VALUE", NAMED, ALL, NULL },
	{ "vtcr", "VALUE", NAMED, ALL, NULL },
	{ "hcr", "VALUE", NAMED, ALL, NULL },
	{ "regime", "REGIME", NAMED, ALL, "el1 (the default), el2 or s2" },
	{ "stage", "STAGE", NAMED, ALL, "1, 2 or both, where the registers have both" },
	{ "features", "LIST", NAMED, ALL, "what no register shows: lpa lpa2 lva st xnx fwb ..." },
	{ "image", "FILE", IMAGE, ALL, "one more memory image, FILE or FILE@ADDRESS" },
	{ "base", "ADDRESS", NAMED, ALL, "where raw images begin (FILE@ADDRESS goes first); 0" },
	{ "half", "HALF", HALF, WHOLE, "lower or upper alone" },
	{ "va", "RANGE", VA, DUMP | DIFF | STAT, "only these addresses: 0xA, 0xFIRST-0xLAST, 0xA+2M" },
	{ "pa", "RANGE", PA, DUMP | DIFF | STAT, "only what leads to these physical addresses" },
	{ "wx", NULL, WX, DUMP | DIFF | STAT, "only what is writable and executable" },
	{ "user", NULL, USER, DUMP | DIFF | STAT, "only what unprivileged code may use" },
	{ "device", NULL, DEVICE, DUMP | DIFF | STAT, "only device memory" },
	{ "holes", NULL, HOLES, DUMP, "empty places too" },
	{ "state", NULL, STATE, DUMP | DIFF | STAT, "tell young and dirty apart as well" },
	{ "merge", "HOW", MERGE, DUMP, "attr (the default), pa (consecutive too) or none" },
	{ "sizes", NULL, SIZES, DIFF, "another leaf size is a difference" },
	{ "new-regs", "FILE", NEW_REGS, DIFF, "registers of the second image, if they differ" },
	{ "access", "WHAT", ACCESS, TRANSLATE, "read (the default), write or exec" },
	{ "unprivileged", NULL, UNPRIVILEGED, TRANSLATE, "as unprivileged code accesses" },
	{ "limit", "N", LIMIT, CHECK, "print at most so many problems; 100" },
	{ "json", NULL, JSON, ALL, "one JSON document instead of text" },
	{ "svg", NULL, SVG, DUMP, "a drawing of the address space instead of text" },
	{ "color", "WHEN", COLOR, ALL, "auto (the default: on a terminal), always or never" },
	{ "progress", "WHEN", PROGRESS, WHOLE, "auto (the default: on a terminal), always or never" },
	{ "help", NULL, HELP, ALL, "this" },
};
#define ENTRIES (sizeof entries / sizeof *entries)
#define FIRST_CODE 256 /* behind all characters, which getopt_long returns too */

static int mask_of(const struct command *c)
{
	return c == &command_dump ? DUMP : c == &command_translate ? TRANSLATE :
	       c == &command_check ? CHECK : c == &command_diff ? DIFF : STAT;
}

static void help(const struct command *c)
{
	printf("usage: pgtable %s [OPTIONS] %s\n\n%s.\n%s\nOptions:\n", c->name, c->arguments, c->summary, c->more);
	for (size_t i = 0; i < ENTRIES; i++) {
		const struct entry *e = &entries[i];
		char name[40];

		if (!(e->commands & mask_of(c)))
			continue;
		snprintf(name, sizeof name, "--%s%s%s", e->name, e->argument ? "=" : "",
			 e->argument ? e->argument : "");
		printf("  %-18s%s%s\n", name, e->help ? " " : "", e->help ? e->help : "");
	}
	printf("\nExit status: 0 fine, 1 something was found (a fault, damage, a problem, a difference),\n"
	       "2 the command line, a file or the registers are wrong. See also: man pgtable\n");
	exit(EXIT_FINE);
}

static int choice(const char *option, const char *text, const char *const *words, const char *all)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], text))
			return i;
	fail("--%s: '%s' is none of %s", option, text, all);
}

static void set_access(struct options *o, const char *text)
{
	static const char *const words[] = { "read", "write", "exec", NULL };
	static const uint64_t values[] = { PGT_READ, PGT_WRITE, PGT_EXEC };

	o->access = (o->access & PGT_USER) | values[choice("access", text, words, "read, write, exec")];
}

static void set_half(struct options *o, const char *text)
{
	static const char *const words[] = { "lower", "upper", NULL };

	o->half = choice("half", text, words, "lower, upper") ? PGT_ARM64_UPPER : PGT_ARM64_LOWER;
}

static void set_merge(struct options *o, const char *text)
{
	static const char *const words[] = { "attr", "pa", "none", NULL };

	o->filter.merge = (enum merge)choice("merge", text, words, "attr, pa, none");
}

static void add_image(struct options *o, char *spec)
{
	o->images = grow(o->images, o->image_count, &o->image_room, sizeof *o->images);
	o->images[o->image_count++] = spec;
}

static void set_filter(struct options *o, int code, const char *text)
{
	struct filter *f = &o->filter;

	switch (code) {
	case VA:
		f->va = true;
		range_of("--va", text, &f->va_first, &f->va_last);
		break;
	case PA:
		f->pa = true;
		range_of("--pa", text, &f->pa_first, &f->pa_last);
		break;
	case WX: f->wx = true; break;
	case USER: f->user = true; break;
	case DEVICE: f->device = true; break;
	case HOLES: f->holes = true; break;
	case STATE: f->state = true; break;
	case MERGE: set_merge(o, text); break;
	}
}

static void set(struct options *o, const struct command *c, const struct entry *e, char *text)
{
	char what[40];

	switch (e->code) {
	case NAMED:
		snprintf(what, sizeof what, "--%s", e->name);
		registers_set(&o->registers, what, e->name, text);
		break;
	case IMAGE: add_image(o, text); break;
	case REGS: registers_read(&o->registers, text); break;
	case NEW_REGS: o->new_registers = text; break;
	case HALF: set_half(o, text); break;
	case JSON: o->json = true; break;
	case SVG: o->svg = true; break;
	case SIZES: o->sizes = true; break;
	case ACCESS: set_access(o, text); break;
	case UNPRIVILEGED: o->access |= PGT_USER; break;
	case LIMIT: o->limit = number_of("--limit", text); break;
	case COLOR: color_choose(text); break;
	case PROGRESS: progress_choose(text); break;
	case HELP: help(c); break;
	default: set_filter(o, e->code, text); break;
	}
}

void options_read(struct options *o, const struct command *c, int argc, char **argv)
{
	struct option longs[ENTRIES + 1] = { { 0 } };
	int n = 0, code;

	*o = (struct options){ .half = -1, .access = PGT_READ, .limit = 100 };
	for (size_t i = 0; i < ENTRIES; i++)
		if (entries[i].commands & mask_of(c))
			longs[n++] = (struct option){
				.name = entries[i].name,
				.has_arg = entries[i].argument ? required_argument : no_argument,
				.val = FIRST_CODE + (int)i,
			};
	color_choose("auto");
	progress_choose("auto");
	/* Messages of getopt's begin with argv[0]: as all others do. */
	argv[0] = (char[]){ "pgtable" };
	optind = 1;
	while ((code = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (code == 'h')
			help(c);
		if (code == '?' || code == ':')
			fail("try 'pgtable %s --help'", c->name);
		set(o, c, &entries[code - FIRST_CODE], optarg);
	}
	o->rest = argv + optind;
	o->rest_count = (size_t)(argc - optind);
}

void options_take_images(struct options *o, size_t most)
{
	while (o->rest_count > 0 && most-- > 0) {
		add_image(o, *o->rest++);
		o->rest_count--;
	}
}

void options_free(struct options *o)
{
	registers_free(&o->registers);
	free(o->images);
}
