/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgtable diff: what was mapped, unmapped and changed between two images, or
 * between what 'dump --json' said of them. */
#include "json.h"
#include "message.h"
#include "options.h"
#include "table.h"
#include "words.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One of the two. */
struct side {
	struct space space;
	struct json_dump dump;
	bool from_dump;
	unsigned count;
	struct section sections[2];
	struct ranges ranges[2];
};

enum change { MAPPED, UNMAPPED, CHANGED, CHANGES };

struct diff {
	const struct options *options;
	const struct section *section;
	bool any;                    /* a change waits to be joined by the next */
	bool headed;
	enum change change;
	struct range old, new;       /* as far as the change has them */
	uint64_t bytes[CHANGES], ranges[CHANGES];
	int status;
};

/* ---- The two sides ---- */

static void open_image(struct side *side, const struct options *o, char *image, const struct registers *r)
{
	struct filter filter = o->filter;
	struct registers alone = *r;
	uint64_t stopped;

	/* Images are arguments here; a 'ram' line would be in both. */
	alone.ram_count = 0;
	/* What is compared is where each page leads. */
	filter.merge = MERGE_PA;
	space_open(&side->space, &alone, &image, 1, o->half);
	side->count = side->space.count;
	for (unsigned i = 0; i < side->count; i++) {
		side->sections[i] = side->space.sections[i];
		if (!ranges_collect(&side->sections[i], &filter, &side->ranges[i], &stopped)) {
			warn_circles(&side->sections[i], stopped);
			fail("%s: can't be compared", image);
		}
	}
}

static void open_side(struct side *side, const struct options *o, char *name, const struct registers *r)
{
	*side = (struct side){ .from_dump = json_file(name) };
	if (!side->from_dump) {
		open_image(side, o, name, r);
		return;
	}
	json_read(name, &side->dump);
	side->count = side->dump.count;
	for (unsigned i = 0; i < side->count; i++) {
		side->sections[i] = side->dump.sections[i];
		side->ranges[i] = side->dump.ranges[i];
	}
}

static void close_side(struct side *side)
{
	if (side->from_dump) {
		json_dump_free(&side->dump);
		return;
	}
	for (unsigned i = 0; i < side->count; i++)
		ranges_free(&side->ranges[i]);
	space_close(&side->space);
}

/* ---- Changes ---- */

static bool same(const struct diff *d, const struct range *a, const struct range *b)
{
	if (a->state != b->state)
		return false;
	if (a->state == RANGE_LEAF)
		return a->attr == b->attr && a->pa == b->pa &&
		       (!d->options->sizes || (a->leaf == b->leaf && a->run == b->run));
	return a->state == RANGE_TOKEN ? a->entry == b->entry : true;
}

static void print_one(struct diff *d, const char *mark, const char *json, const char *code, const struct range *range)
{
	if (d->options->json) {
		json_range(d->section, range, json);
		return;
	}
	if (!d->headed) {
		table_section(d->section);
		table_heading(d->section, "  ");
	}
	d->headed = true;
	printf("%s", color(code));
	table_range(d->section, range, mark);
}

static void flush(struct diff *d)
{
	if (!d->any)
		return;
	d->any = false;
	d->status = EXIT_FOUND;
	d->ranges[d->change]++;
	d->bytes[d->change] += d->change == MAPPED ? d->new.len : d->old.len;
	switch (d->change) {
	case MAPPED:
		print_one(d, "+ ", "mapped", COLOR_GREEN, &d->new);
		break;
	case UNMAPPED:
		print_one(d, "- ", "unmapped", COLOR_RED, &d->old);
		break;
	default:
		print_one(d, "< ", "from", COLOR_AMBER, &d->old);
		print_one(d, "> ", "to", COLOR_AMBER, &d->new);
		break;
	}
}

/* Whether b goes on where a ends. */
static bool follows(const struct range *a, const struct range *b)
{
	return a->state == RANGE_LEAF && b->state == RANGE_LEAF && a->va + a->len == b->va &&
	       a->pa + a->len == b->pa && a->attr == b->attr && a->leaf == b->leaf && a->run == b->run;
}

static void put(struct diff *d, enum change change, const struct range *old, const struct range *new)
{
	if (d->any && d->change == change && (!old || follows(&d->old, old)) && (!new || follows(&d->new, new))) {
		d->old.len += old ? old->len : 0;
		d->new.len += new ? new->len : 0;
		return;
	}
	flush(d);
	d->any = true;
	d->change = change;
	d->old = old ? *old : (struct range){ .len = 0 };
	d->new = new ? *new : (struct range){ .len = 0 };
}

/* ---- Side by side ---- */

/* The ranges of one side, of which the first may be used up in part. */
struct queue {
	const struct ranges *ranges;
	size_t next;
	struct range head;
};

static void queue_load(struct queue *q)
{
	if (q->ranges && q->next < q->ranges->count)
		q->head = q->ranges->list[q->next];
	else
		q->ranges = NULL;
}

static struct range queue_take(struct queue *q, uint64_t len)
{
	struct range taken = q->head;

	taken.len = len;
	q->head.va += len;
	q->head.len -= len;
	q->head.pa += q->head.state == RANGE_LEAF ? len : 0;
	if (q->head.len == 0) {
		q->next++;
		queue_load(q);
	}
	return taken;
}

/* What a has before b begins. */
static uint64_t alone(const struct queue *a, const struct queue *b)
{
	uint64_t gap;

	if (!b->ranges)
		return a->head.len;
	if (b->head.va <= a->head.va)
		return 0;
	gap = b->head.va - a->head.va;
	return gap < a->head.len ? gap : a->head.len;
}

static void compare(struct diff *d, const struct ranges *before, const struct ranges *after)
{
	struct queue a = { .ranges = before }, b = { .ranges = after };

	queue_load(&a);
	queue_load(&b);
	while (a.ranges || b.ranges) {
		uint64_t len = a.ranges ? alone(&a, &b) : 0;
		struct range old, new;

		if (len) {
			old = queue_take(&a, len);
			put(d, UNMAPPED, &old, NULL);
			continue;
		}
		len = b.ranges ? alone(&b, &a) : 0;
		if (len) {
			new = queue_take(&b, len);
			put(d, MAPPED, NULL, &new);
			continue;
		}
		len = a.head.len < b.head.len ? a.head.len : b.head.len;
		old = queue_take(&a, len);
		new = queue_take(&b, len);
		if (!same(d, &old, &new))
			put(d, CHANGED, &old, &new);
		else
			flush(d);
	}
	flush(d);
}

static const struct ranges *of_section(const struct side *side, const char *name)
{
	for (unsigned i = 0; i < side->count; i++)
		if (!strcmp(side->sections[i].name, name))
			return &side->ranges[i];
	return NULL;
}

static void compare_section(struct diff *d, const struct section *s, const struct ranges *a, const struct ranges *b)
{
	d->section = s;
	d->headed = false;
	if (d->options->json)
		json_section(s);
	compare(d, a, b);
}

static void compare_sides(struct diff *d, const struct side *old, const struct side *new)
{
	for (unsigned i = 0; i < old->count; i++)
		compare_section(d, &old->sections[i], &old->ranges[i], of_section(new, old->sections[i].name));
	for (unsigned i = 0; i < new->count; i++)
		if (!of_section(old, new->sections[i].name))
			compare_section(d, &new->sections[i], NULL, &new->ranges[i]);
}

static void conclude(const struct diff *d)
{
	static const char *const names[CHANGES] = { "mapped", "unmapped", "changed" };
	char size[SIZE_TEXT];

	if (d->status == EXIT_FINE)
		printf("no difference");
	for (int i = 0; i < CHANGES && d->status != EXIT_FINE; i++)
		printf("%s%s %s in %" PRIu64 " range%s", i ? ", " : "", names[i], size_text(size, d->bytes[i]),
		       d->ranges[i], d->ranges[i] == 1 ? "" : "s");
	putchar('\n');
}

static int run(struct options *o)
{
	struct diff d = { .options = o };
	struct registers other = { .base = 0 };
	struct side old, new;

	options_take_images(o, 2);
	if (o->image_count != 2 || o->rest_count)
		fail("two images are compared, no more and no less; try 'pgtable diff [OPTIONS] OLD NEW'");
	if (o->new_registers)
		registers_read(&other, o->new_registers);
	if (o->json)
		json_begin("diff");
	open_side(&old, o, o->images[0], &o->registers);
	open_side(&new, o, o->images[1], o->new_registers ? &other : &o->registers);
	compare_sides(&d, &old, &new);
	if (o->json)
		json_end();
	else
		conclude(&d);
	close_side(&old);
	close_side(&new);
	registers_free(&other);
	return d.status;
}

const struct command command_diff = {
	.name = "diff",
	.arguments = "OLD NEW",
	.summary = "Compares what two images, or two JSON dumps, map",
	.more = "\nEach side is an image or what 'pgtable dump --json --merge=pa' wrote. Lines begin with\n"
		"+ mapped, - unmapped, < changed from, > changed to. Exit status 1 tells a difference.\n",
	.run = run,
};
