/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgtable stat: how much of what there is. */
#include "json.h"
#include "message.h"
#include "options.h"
#include "table.h"
#include "words.h"
#include <inttypes.h>
#include <stdio.h>

#define LEVELS 5

struct stat {
	const struct section *section;
	int start;                              /* level of the root */
	uint64_t tables[LEVELS], leaves[LEVELS], runs[LEVELS], bytes[LEVELS], run_bytes[LEVELS];
	uint64_t members[LEVELS];               /* leaves that stand in runs */
	uint64_t size[LEVELS], run_size[LEVELS];
	uint64_t kind[KINDS], mapped, young, dirty;
	uint64_t tokens, damaged;
};

static unsigned entry_bits(const struct section *s, int level)
{
	return s->granule_bits + (unsigned)(3 - level) * (s->granule_bits - 3);
}

/* An entry that is the first of its table is the table's mark, and perhaps the
 * mark of the tables above it. */
static void count_tables(struct stat *st, const struct range *range)
{
	uint64_t offset = range->va - st->section->first;

	for (int level = range->level; level > st->start; level--) {
		unsigned bits = entry_bits(st->section, level - 1);

		if (offset & ((UINT64_C(1) << bits) - 1))
			break;
		st->tables[level + 1]++;
	}
}

static void count_leaf(struct stat *st, const struct range *range)
{
	int i = range->level + 1;

	st->leaves[i]++;
	st->bytes[i] += range->len;
	st->size[i] = range->leaf;
	st->mapped += range->len;
	st->kind[kind_of(range)] += range->len;
	st->young += range->attr & PGT_YOUNG ? range->len : 0;
	st->dirty += range->attr & PGT_DIRTY ? range->len : 0;
	if (!range->run)
		return;
	st->members[i]++;
	st->run_size[i] = range->run;
	st->run_bytes[i] += range->len;
	st->runs[i] += range->va % range->run == 0;
}

static void count(void *ctx, const struct range *range)
{
	struct stat *st = ctx;

	count_tables(st, range);
	if (range->state == RANGE_LEAF)
		count_leaf(st, range);
	st->tokens += range->state == RANGE_TOKEN;
	st->damaged += range->state == RANGE_DAMAGED;
}

/* The library knows where the root stands; sound tables or not. */
static int start_level(const struct section *s)
{
	struct pgt_stat stat = { .tokens = 0 };
	int level = -1;

	pgt_stat(s->t, s->first, UINT64_C(1) << s->granule_bits, &stat);
	while (level < 3 && !stat.tables[level + 1])
		level++;
	return level;
}

static bool filtered(const struct filter *f)
{
	return f->wx || f->user || f->device || f->pa || f->va;
}

static void print_tables(const struct stat *st)
{
	char size[SIZE_TEXT];
	uint64_t n = 0;

	for (int i = 0; i < LEVELS; i++)
		n += st->tables[i];
	printf("tables  %16" PRIu64 " %9s  ", n, size_text(size, n << st->section->granule_bits));
	for (int i = st->start + 1; i < LEVELS; i++)
		printf("%slevel %d: %" PRIu64, i > st->start + 1 ? ", " : "", i - 1, st->tables[i]);
	printf("\n");
}

static void print_leaves(const char *name, uint64_t leaf, uint64_t n, uint64_t bytes, const char *more)
{
	char size[SIZE_TEXT], total[SIZE_TEXT];

	if (n)
		printf("%-8s%16" PRIu64 " %9s  of %s%s\n", name, n, size_text(total, bytes), size_text(size, leaf),
		       more);
}

static void print(const struct stat *st, const struct filter *f)
{
	char size[SIZE_TEXT], more[40];

	if (!filtered(f))
		print_tables(st);
	for (int i = 0; i < LEVELS; i++) {
		const char *name = i == LEVELS - 1 ? "pages" : "blocks";

		print_leaves(name, st->size[i], st->leaves[i] - st->members[i], st->bytes[i] - st->run_bytes[i], "");
		snprintf(more, sizeof more, ", each %u leaves of %s",
			 st->size[i] ? (unsigned)(st->run_size[i] / st->size[i]) : 0, size_text(size, st->size[i]));
		print_leaves("runs", st->run_size[i], st->members[i] ? st->runs[i] : 0, st->run_bytes[i], more);
	}
	printf("mapped  %16s %9s\n", "", size_text(size, st->mapped));
	for (int i = 0; i < KINDS; i++)
		if (st->kind[i])
			printf("  %s%-23s%s %8s\n", color_of((enum kind)i), kind_name((enum kind)i), color(COLOR_OFF),
			       size_text(size, st->kind[i]));
	if (f->state)
		printf("young   %16s %9s\n", "", size_text(size, st->young));
	if (f->state)
		printf("dirty   %16s %9s\n", "", size_text(size, st->dirty));
	if (st->tokens)
		printf("invalid %16" PRIu64 " entries that are not empty\n", st->tokens);
	if (st->damaged)
		printf("%sDAMAGED %16" PRIu64 " entries%s; try 'pgtable check'\n", color(COLOR_RED), st->damaged,
		       color(COLOR_OFF));
}

static void print_json(const struct stat *st, const struct filter *f)
{
	struct json *item = json_item("stat", st->section);

	json_number(item, "mapped_bytes", (int64_t)st->mapped);
	json_number(item, "invalid_entries", (int64_t)st->tokens);
	json_number(item, "damaged_entries", (int64_t)st->damaged);
	for (int i = 0; i < KINDS; i++)
		json_number(item, kind_name((enum kind)i), (int64_t)st->kind[i]);
	if (f->state) {
		json_number(item, "young_bytes", (int64_t)st->young);
		json_number(item, "dirty_bytes", (int64_t)st->dirty);
	}
	json_print(item);
	for (int i = st->start + 1; i < LEVELS; i++) {
		item = json_item("level", st->section);
		json_number(item, "level", i - 1);
		if (!filtered(f))
			json_number(item, "tables", (int64_t)st->tables[i]);
		json_number(item, "leaves", (int64_t)st->leaves[i]);
		json_number(item, "runs", (int64_t)st->runs[i]);
		json_number(item, "bytes", (int64_t)st->bytes[i]);
		json_print(item);
	}
}

static int stat_section(const struct options *o, const struct section *s)
{
	struct stat st = { .section = s, .start = start_level(s) };
	struct filter filter = o->filter;
	uint64_t stopped;
	bool sound;

	st.tables[st.start + 1] = 1;
	filter.merge = MERGE_NONE;
	filter.holes = true;
	if (o->json)
		json_section(s);
	else
		table_section(s);
	sound = ranges_read(s, &filter, count, &st, &stopped);
	if (o->json)
		print_json(&st, &filter);
	else
		print(&st, &filter);
	if (!sound)
		warn_circles(s, stopped);
	return sound && !st.damaged ? EXIT_FINE : EXIT_FOUND;
}

static int run(struct options *o)
{
	struct space space;
	int status = EXIT_FINE;

	options_take_images(o, SIZE_MAX);
	if (o->json)
		json_begin("stat");
	space_open(&space, &o->registers, o->images, o->image_count, o->half);
	for (unsigned i = 0; i < space.count; i++)
		status |= stat_section(o, &space.sections[i]);
	if (o->json)
		json_end();
	space_close(&space);
	return status;
}

const struct command command_stat = {
	.name = "stat",
	.arguments = "IMAGE...",
	.summary = "Counts tables, leaves and runs, and what is mapped how",
	.more = "\nExit status 1 tells damaged tables.\n",
	.run = run,
};
