/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* A bar chart of before and after, times on a logarithmic scale, as SVG. */
#include <math.h>
#include <stdio.h>

#include "bench.h"

#define LEFT   245 /* names */
#define RIGHT  170 /* values beside the bars */
#define WIDTH  560 /* of the bars */
#define TOP    62
#define ROW    36
#define BAR    13

static const char colour_before[] = "#9aa5b1", colour_after[] = "#1565c0";

static double place(double ns, double low, double high)
{
	return WIDTH * (log10(ns) - low) / (high - low);
}

static void bar(FILE *out, double y, double ns, double low, double high, const char *colour,
		const char *text)
{
	const double width = place(ns, low, high);

	fprintf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", LEFT, y,
		width, BAR, colour);
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"v\">%s</text>\n", LEFT + width + 5,
		y + BAR - 2.5, text);
}

static void bars(FILE *out, const struct figure *f, unsigned i, double low, double high)
{
	const double y = TOP + ROW * i + 4;
	char text[64], time[32];

	fprintf(out, "<text x=\"%d\" y=\"%.1f\" class=\"n\">%s</text>\n", LEFT - 8, y + BAR + 4, f->name);
	format_ns(f->before.median, time, sizeof(time));
	bar(out, y, f->before.median, low, high, colour_before, time);
	format_ns(f->after.median, time, sizeof(time));
	snprintf(text, sizeof(text), "%s, %.2f times", time, f->before.median / f->after.median);
	bar(out, y + BAR + 1, f->after.median, low, high, colour_after, text);
}

static void scale(FILE *out, double low, double high, double bottom)
{
	char text[32];

	for (double x = low; x <= high; x++) {
		const double at = LEFT + WIDTH * (x - low) / (high - low);

		format_ns(pow(10, x), text, sizeof(text));
		fprintf(out, "<path d=\"M%.1f %dV%.1f\" stroke=\"#d8dde3\"/>\n", at, TOP - 6, bottom);
		fprintf(out, "<text x=\"%.1f\" y=\"%d\" class=\"s\">%s</text>\n", at, TOP - 11, text);
	}
}

static void legend(FILE *out)
{
	fprintf(out,
		"<text x=\"12\" y=\"22\" class=\"t\">libpgtable: before and after, logarithmic scale</text>\n"
		"<rect x=\"%d\" y=\"11\" width=\"13\" height=\"13\" fill=\"%s\"/>\n"
		"<text x=\"%d\" y=\"22\" class=\"v\">before: generic hooks</text>\n"
		"<rect x=\"%d\" y=\"11\" width=\"13\" height=\"13\" fill=\"%s\"/>\n"
		"<text x=\"%d\" y=\"22\" class=\"v\">after: arm64</text>\n",
		LEFT + 280, colour_before, LEFT + 298, LEFT + 450, colour_after, LEFT + 468);
}

/* The decades that all figures lie in. */
static void limits(const struct bench *b, double *low, double *high)
{
	double min = INFINITY, max = 0;

	for (unsigned i = 0; i < b->figures; i++) {
		min = fmin(min, fmin(b->figure[i].before.median, b->figure[i].after.median));
		max = fmax(max, fmax(b->figure[i].before.median, b->figure[i].after.median));
	}
	*low = floor(log10(min) - 0.1);
	*high = ceil(log10(max));
	if (*high <= *low)
		*high = *low + 1;
}

bool plot_write(const struct bench *b)
{
	const unsigned height = TOP + ROW * b->figures + 10;
	FILE *out = fopen(b->plot, "w");
	double low, high;
	bool failed;

	if (!out)
		return false;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"%d\" height=\"%u\">\n"
		"<style>text{font-family:sans-serif;font-size:12px;fill:#222}"
		".t{font-size:14px;font-weight:bold}.n{text-anchor:end}.s{text-anchor:middle;fill:#555}"
		"</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		LEFT + WIDTH + RIGHT, height, LEFT + WIDTH + RIGHT, height);
	legend(out);
	if (b->figures) {
		limits(b, &low, &high);
		scale(out, low, high, height - 8);
		for (unsigned i = 0; i < b->figures; i++)
			bars(out, &b->figure[i], i, low, high);
	}
	fprintf(out, "</svg>\n");
	failed = ferror(out);
	return fclose(out) == 0 && !failed;
}
