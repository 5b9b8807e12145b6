/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Figures, as a table for people or as lines for programs:
 *
 *	name<TAB>before<TAB>after<TAB>ratio<TAB>unit
 *
 * The ratio is always before/after.  A figure that has a hand-written loop
 * beside it is three such lines more: NAME.plain has the loop in the place of
 * 'before', NAME.before-plain has it in the place of 'after', and NAME.store or
 * NAME.cas has the least loop in the place of 'before'.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

double unit_ns(const char *unit)
{
	return strcmp(unit, "ns") == 0 ? 1 : strcmp(unit, "us") == 0 ? 1e3 :
	       strcmp(unit, "ms") == 0 ? 1e6 : 0;
}

void format_ns(double ns, char *text, unsigned bytes)
{
	static const struct {
		double ns;
		const char *name;
	} unit[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	unsigned i = 0;

	while (i < 3 && ns < unit[i].ns)
		i++;
	ns /= unit[i].ns;
	snprintf(text, bytes, "%.*f %s", ns < 10 ? 2 : ns < 100 ? 1 : 0, ns, unit[i].name);
}

/* Before/after, where nothing against nothing is no gain. */
static double ratio(double before, double after)
{
	if (after > 0)
		return before / after;
	return before > 0 ? (double)INFINITY : 1;
}

/* ---- Claims --------------------------------------------------------------- */

bool report_claim(struct bench *b, bool held, const char *format, ...)
{
	FILE *out = b->tsv ? stderr : stdout;
	va_list args;

	b->claims++;
	if (held)
		return true;
	b->missed++;
	fprintf(out, "  NOT REACHED: ");
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	fprintf(out, "\n");
	return false;
}

static void claim_all(struct bench *b, const struct figure *f)
{
	double got;

	got = ratio(f->before.median, f->after.median);
	if (f->least_ratio > 0)
		report_claim(b, got >= f->least_ratio, "%s: %.2f times as fast as before, not %g",
			     f->name, got, f->least_ratio);
	if (f->most_after > 0)
		report_claim(b, f->after.median <= f->most_after, "%s: %.0f ns, not at most %.0f",
			     f->name, f->after.median, f->most_after);
	got = ratio(f->before.median, f->plain.median);
	if (f->most_before_plain > 0)
		report_claim(b, got <= f->most_before_plain,
			     "%s: before takes %.2f times as long as plain, not at most %g", f->name, got,
			     f->most_before_plain);
	got = ratio(f->after.median, f->loop.median);
	if (f->most_after_loop > 0)
		report_claim(b, got <= f->most_after_loop,
			     "%s: after takes %.2f times as long as the loop (%s), not at most %g",
			     f->name, got, f->loop_name, f->most_after_loop);
}

/* ---- Lines ---------------------------------------------------------------- */

static void line(const char *name, const char *suffix, double before, double after, const char *unit)
{
	const double scale = unit_ns(unit);

	if (scale > 0)
		printf("%s%s\t%.6g\t%.6g\t%.4g\t%s\n", name, suffix, before / scale, after / scale,
		       ratio(before, after), unit);
	else
		printf("%s%s\t%.0f\t%.0f\t%.4g\t%s\n", name, suffix, before, after, ratio(before, after),
		       unit);
}

static void lines(const struct figure *f)
{
	char suffix[32];

	line(f->name, "", f->before.median, f->after.median, f->unit);
	if (f->plain.median > 0) {
		line(f->name, ".plain", f->plain.median, f->after.median, f->unit);
		line(f->name, ".before-plain", f->before.median, f->plain.median, f->unit);
	}
	if (f->loop.median > 0) {
		snprintf(suffix, sizeof(suffix), ".%s", f->loop_name);
		line(f->name, suffix, f->loop.median, f->after.median, f->unit);
	}
}

/* ---- Table ---------------------------------------------------------------- */

static void cell(const struct spread *s, const char *unit)
{
	const double scale = unit_ns(unit) > 0 ? unit_ns(unit) : 1;
	char range[48] = "";
	const int digits = unit_ns(unit) > 0 ? (s->median / scale < 10 ? 3 : 1) : 0;

	if (s->min < s->max)
		snprintf(range, sizeof(range), "(%.*f-%.*f)", digits, s->min / scale, digits,
			 s->max / scale);
	printf(" %9.*f %-18s", digits, s->median / scale, range);
}

static void small_cell(const struct spread *s, const char *unit)
{
	const double scale = unit_ns(unit) > 0 ? unit_ns(unit) : 1;

	if (s->median > 0)
		printf(" %8.*f", s->median / scale < 10 ? 3 : 1, s->median / scale);
	else
		printf(" %8s", "");
}

static void row(const struct figure *f)
{
	printf("  %-36s", f->name);
	cell(&f->before, f->unit);
	cell(&f->after, f->unit);
	printf(" %-5s %7.2f", f->unit, ratio(f->before.median, f->after.median));
	small_cell(&f->plain, f->unit);
	small_cell(&f->loop, f->unit);
	if (f->loop.median > 0)
		printf(" (%s)", f->loop_name);
	printf("\n");
}

void report_title(const struct bench *b, const char *seed, const char *text)
{
	if (b->tsv)
		return;
	printf("\n%s: %s\n", seed, text);
	printf("  %-36s %9s %-18s %9s %-18s %-5s %7s %8s %8s\n", "", "before", "(min-max)", "after",
	       "(min-max)", "", "ratio", "plain", "loop");
}

void report_figure(struct bench *b, const struct figure *f)
{
	if (b->tsv)
		lines(f);
	else
		row(f);
	fflush(stdout);
	claim_all(b, f);
	if (unit_ns(f->unit) > 0 && b->figures < MOST_FIGURES)
		b->figure[b->figures++] = *f;
}

void report_counts(struct bench *b, const char *name, const struct pgt_tally *before,
		   const struct pgt_tally *after)
{
	const struct {
		const char *name, *unit;
		uint64_t before, after;
	} count[] = {
		{ "reads", "entries", before->reads, after->reads },
		{ "atomics", "entries", before->rmws, after->rmws },
		{ "invalidates", "calls", before->invalidates, after->invalidates },
		{ "invalidated", "bytes", before->invalidated_bytes, after->invalidated_bytes },
		{ "relinked", "tables", before->tables_relinked, after->tables_relinked },
	};
	const unsigned n = sizeof(count) / sizeof(count[0]);
	const char *separator = "    ";
	char suffix[32];

	for (unsigned i = 0; i < n; i++) {
		if (b->tsv) {
			snprintf(suffix, sizeof(suffix), ".%s", count[i].name);
			line(name, suffix, (double)count[i].before, (double)count[i].after,
			     count[i].unit);
		} else if (count[i].before || count[i].after) {
			printf("%s%s %llu : %llu", separator, count[i].name,
			       (unsigned long long)count[i].before, (unsigned long long)count[i].after);
			separator = ", ";
		}
	}
	if (!b->tsv)
		printf("\n");
}

void report_end(const struct bench *b)
{
	fprintf(b->tsv ? stderr : stdout, "%s%u of %u floors reached\n", b->tsv ? "" : "\n",
		b->claims - b->missed, b->claims);
}
