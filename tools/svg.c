/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "svg.h"
#include "words.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH    1240
#define LEFT     180  /* addresses stand before it */
#define RIGHT    20
#define ROOM     (WIDTH - LEFT - RIGHT)
#define BAND     26   /* what is mapped */
#define SIZES    7    /* below it: by what leaves */
#define ROW      (BAND + SIZES + 15)
#define MOST     (40.0 * ROOM) /* sections that need more are drawn smaller */
#define LARGEST  3.0           /* and those that need little larger, as far as this */
#define LEGEND   74

struct svg {
	const char *image;
	const struct section *sections[2];
	struct ranges ranges[2];
	unsigned count;
};

/* Where the next thing goes. */
struct pen {
	const struct section *s;
	double x, y, scale;
	unsigned last_bits; /* for labels: granule */
	bool draw;          /* else only measure */
};

static const char *fill_of(const struct range *range)
{
	static const char *const fills[KINDS] = {
		[KIND_RO] = "#a9c6e8", [KIND_RW] = "#3f7fc1", [KIND_X] = "#3aa655", [KIND_WX] = "#d7261e",
		[KIND_USER] = "#cdb4e0", [KIND_USER_X] = "#8347a3", [KIND_DEV] = "#f2a33a",
		[KIND_OTHER] = "#bdbdbd",
	};

	return range->state == RANGE_DAMAGED ? "#111111" : fills[kind_of(range)];
}

static bool dark(const struct range *range)
{
	enum kind kind = kind_of(range);

	return range->state == RANGE_DAMAGED || kind == KIND_RW || kind == KIND_X || kind == KIND_WX ||
	       kind == KIND_USER_X;
}

/* Without the C library's mathematics: a hundredth is more than enough. */
static double log_2(double x)
{
	double whole = 0, part = 0.5;

	for (; x >= 2; x /= 2)
		whole++;
	for (int i = 0; i < 8; i++, part /= 2) {
		x *= x;
		if (x >= 2) {
			whole += part;
			x /= 2;
		}
	}
	return whole;
}

static double width_of(const struct section *s, uint64_t bytes, bool hole)
{
	double granules = (double)bytes / (double)(UINT64_C(1) << s->granule_bits);

	return hole ? 2 + 1.1 * log_2(granules + 1) : 7 + 3 * log_2(granules + 1);
}

/* ---- Pieces of a drawing ---- */

static void escaped(const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&': fputs("&amp;", stdout); break;
		case '<': fputs("&lt;", stdout); break;
		case '>': fputs("&gt;", stdout); break;
		case '"': fputs("&quot;", stdout); break;
		default: putchar((unsigned char)*text < 0x20 ? '?' : *text);
		}
}

static void text_at(double x, double y, const char *class, const char *fmt, ...) PRINTF_LIKE(4, 5);

static void text_at(double x, double y, const char *class, const char *fmt, ...)
{
	char text[300];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	printf("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	escaped(text);
	printf("</text>\n");
}

static void rect(double x, double y, double width, double height, const char *fill)
{
	printf("<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"/>", x, y, width, height, fill);
}

/* Pages are ticks, runs a hatch, blocks solid. */
static const char *size_fill(const struct range *range)
{
	if (range->run)
		return "url(#run)";
	return range->level == 3 ? "url(#page)" : "#444444";
}

/* What a browser shows under the mouse. */
static void tooltip(const struct range *range)
{
	char size[SIZE_TEXT], leaf[SIZE_TEXT], others[WORDS_TEXT];
	struct rights rights = rights_of(range);

	printf("<title>0x%" PRIx64 "-0x%" PRIx64 "  %s\n", range->va, range->va + (range->len - 1),
	       size_text(size, range->len));
	if (range->state == RANGE_LEAF) {
		printf("%s %s %s %s\nleaves of %s, ", rights.privileged, rights.user, type_of(range->attr),
		       others_of(range->attr, others), leaf_text(range, leaf));
		if (range->pieces == 1)
			printf("at 0x%" PRIx64, range->pa);
		else
			printf("%" PRIu64 " pieces of physical memory", range->pieces);
	} else {
		printf("%s", range->state == RANGE_DAMAGED ? range->what : kind_name(KIND_OTHER));
	}
	printf("</title>");
}

static bool text_fits(const char *text, double width)
{
	return 6.2 * (double)strlen(text) < width;
}

static void draw_range(const struct pen *pen, const struct range *range, double width)
{
	char size[SIZE_TEXT];

	printf("<g>");
	tooltip(range);
	rect(pen->x, pen->y, width, BAND, fill_of(range));
	if (range->state == RANGE_LEAF)
		rect(pen->x, pen->y + BAND, width, SIZES, size_fill(range));
	printf("<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" class=\"edge\"/></g>\n", pen->x, pen->y,
	       width, BAND + SIZES);
	size_text(size, range->len);
	if (text_fits(size, width))
		text_at(pen->x + width / 2, pen->y + 17, dark(range) ? "in light" : "in", "%s", size);
}

static void draw_hole(const struct pen *pen, uint64_t bytes, double width)
{
	char size[SIZE_TEXT];

	printf("<g><title>hole of %s</title><line x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\" class=\"hole\"/></g>\n",
	       size_text(size, bytes), pen->x, pen->y + BAND - 2, pen->x + width, pen->y + BAND - 2);
	if (text_fits(size, width))
		text_at(pen->x + width / 2, pen->y + BAND - 7, "gap", "%s", size);
}

/* ---- Layout ---- */

/* A row begins: its address stands before it. */
static void row(struct pen *pen, uint64_t va)
{
	if (pen->x > LEFT)
		pen->y += ROW;
	pen->x = LEFT;
	if (pen->draw)
		text_at(LEFT - 8, pen->y + 17, "va", "0x%" PRIx64, va);
}

static void place(struct pen *pen, const struct range *range, uint64_t va, uint64_t bytes)
{
	double width = pen->scale * width_of(pen->s, bytes, !range);

	if (pen->x + width > LEFT + ROOM)
		row(pen, va);
	if (pen->draw && range)
		draw_range(pen, range, width);
	else if (pen->draw)
		draw_hole(pen, bytes, width);
	pen->x += width;
}

/* All of a section, from pen->y on; pen->y is below it then. */
static void layout(struct pen *pen, const struct ranges *ranges)
{
	const struct section *s = pen->s;
	uint64_t next = s->first;

	pen->x = LEFT;
	row(pen, ranges->count ? s->first : 0);
	for (size_t i = 0; i < ranges->count; i++) {
		const struct range *range = &ranges->list[i];

		if (range->state == RANGE_HOLE)
			continue;
		if (range->va > next)
			place(pen, NULL, next, range->va - next);
		place(pen, range, range->va, range->len);
		next = range->va + range->len;
	}
	/* At the top of the address space it is 0 now. */
	if (next - 1 != s->last)
		place(pen, NULL, next, s->last - next + 1);
	if (pen->draw && pen->x + LEFT < LEFT + ROOM)
		text_at(pen->x + 8, pen->y + 17, "end", "0x%" PRIx64, s->last);
	pen->y += ROW;
}

static double scale_of(const struct section *s, const struct ranges *ranges)
{
	double sum = width_of(s, s->last - s->first, true);
	uint64_t next = s->first;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct range *range = &ranges->list[i];

		sum += width_of(s, range->len, false);
		if (range->va > next)
			sum += width_of(s, range->va - next, true);
		next = range->va + range->len;
	}
	if (sum > MOST)
		return MOST / sum;
	return sum > ROOM ? 1 : sum * LARGEST < ROOM ? LARGEST : ROOM / sum;
}

static void heading(const struct section *s, const struct ranges *ranges, double y)
{
	char mapped[SIZE_TEXT], granule[SIZE_TEXT];
	uint64_t bytes = 0;

	for (size_t i = 0; i < ranges->count; i++)
		bytes += ranges->list[i].state == RANGE_LEAF ? ranges->list[i].len : 0;
	text_at(20, y, "head", "%s: %s, %u bits, %s granule: %s mapped in %zu ranges", s->name,
		s->second ? "stage 2" : s->first ? "upper half" : "lower half", s->input_bits,
		size_text(granule, UINT64_C(1) << s->granule_bits), size_text(mapped, bytes), ranges->count);
}

/* ---- The document ---- */

static void styles(double height)
{
	printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
	       "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n"
	       "<style>text{font-size:11px;fill:#222}.title{font-size:17px;font-weight:bold}"
	       ".head{font-size:13px;font-weight:bold}.va{font-family:monospace;text-anchor:end}"
	       ".end{font-family:monospace}.in{font-size:9px;text-anchor:middle}.light{fill:#fff}.gap{font-size:9px;text-anchor:middle;fill:#777}"
	       ".edge{fill:none;stroke:#fff;stroke-width:.6}.hole{stroke:#999;stroke-dasharray:2 2}</style>\n"
	       "<defs><pattern id=\"page\" width=\"3\" height=\"7\" patternUnits=\"userSpaceOnUse\">"
	       "<rect width=\"3\" height=\"7\" fill=\"#eeeeee\"/><rect width=\"1\" height=\"7\" fill=\"#888888\"/></pattern>"
	       "<pattern id=\"run\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
	       "patternTransform=\"rotate(45)\"><rect width=\"5\" height=\"5\" fill=\"#dddddd\"/>"
	       "<rect width=\"2.6\" height=\"5\" fill=\"#444444\"/></pattern></defs>\n"
	       "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
	       WIDTH, height, WIDTH, height);
}

static void legend(double y)
{
	static const struct {
		const char *fill, *name;
	} sizes[] = {
		{ "#444444", "blocks" }, { "url(#run)", "runs (contiguous hint)" }, { "url(#page)", "pages" },
		{ "#111111", "damaged" },
	};
	double x = 20;

	for (int i = 0; i < KINDS; i++) {
		struct range sample = { .state = RANGE_LEAF };

		/* One attribute set of each kind. */
		sample.attr = (const uint64_t[KINDS]){
			[KIND_RO] = PGT_READ, [KIND_RW] = PGT_READ | PGT_WRITE, [KIND_X] = PGT_READ | PGT_EXEC,
			[KIND_WX] = PGT_READ | PGT_WRITE | PGT_EXEC, [KIND_USER] = PGT_READ | PGT_USER,
			[KIND_USER_X] = PGT_READ | PGT_USER | PGT_UEXEC, [KIND_DEV] = PGT_READ | PGT_MEM_DEVICE,
			[KIND_OTHER] = PGT_NOACCESS,
		}[i];
		rect(x, y, 16, 12, fill_of(&sample));
		text_at(x + 21, y + 10, "key", "%s", kind_name((enum kind)i));
		x += 50 + 7 * (double)strlen(kind_name((enum kind)i));
	}
	x = 20;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		rect(x, y + 24, 16, SIZES, sizes[i].fill);
		text_at(x + 21, y + 32, "key", "%s", sizes[i].name);
		x += 50 + 7 * (double)strlen(sizes[i].name);
	}
	printf("<line x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\" class=\"hole\"/>\n", x, y + 28, x + 16, y + 28);
	text_at(x + 21, y + 32, "key", "hole");
	text_at(x + 90, y + 32, "key", "widths grow with the logarithm of the size; addresses are those of a row's first byte");
}

struct svg *svg_begin(const char *image)
{
	struct svg *svg = need(calloc(1, sizeof *svg));

	svg->image = image;
	return svg;
}

void svg_section(struct svg *svg, const struct section *s)
{
	svg->sections[svg->count++] = s;
}

void svg_range(struct svg *svg, const struct range *range)
{
	ranges_add(&svg->ranges[svg->count - 1], range);
}

/* Once to measure, once to draw. */
static double draw(const struct svg *svg, bool draw)
{
	double y = 40 + LEGEND;

	for (unsigned i = 0; i < svg->count; i++) {
		struct pen pen = { .s = svg->sections[i], .y = y + 36, .draw = draw };

		pen.scale = scale_of(pen.s, &svg->ranges[i]);
		if (draw)
			heading(pen.s, &svg->ranges[i], y + 20);
		layout(&pen, &svg->ranges[i]);
		y = pen.y + 6;
	}
	return y + 10;
}

void svg_end(struct svg *svg)
{
	styles(draw(svg, false));
	printf("<text x=\"20\" y=\"30\" class=\"title\">Address space in ");
	escaped(svg->image);
	printf("</text>\n");
	legend(50);
	draw(svg, true);
	printf("</svg>\n");
	for (unsigned i = 0; i < svg->count; i++)
		ranges_free(&svg->ranges[i]);
	free(svg);
}
