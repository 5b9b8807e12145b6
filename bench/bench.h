/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The benchmark: main.c reads the options and calls one file a seed, measure.c
 * takes times, report.c and plot.c show figures, rig.c makes the tables that
 * are measured, plain.c holds the loops that they are compared with.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <pgtable/pgtable.h>

/* What the operations of one call or one run cost: the median of all repetitions. */
struct spread {
	double median, min, max;
};

/*
 * One line of the report.  Times are in nanoseconds, whatever unit they are
 * shown in.  A median of 0 in plain or loop: there is none.
 */
struct figure {
	char name[64];
	const char *unit;          /* "ns", "us", "ms": a time; else a count of these */
	struct spread before, after;
	struct spread plain;       /* the hand-written loop: load, exchange, store */
	struct spread loop;        /* the least that a hand-written loop can do, ... */
	const char *loop_name;     /* ... and what that is */
	/* What is asked of them; 0: nothing. */
	double least_ratio;        /* before / after */
	double most_after;         /* ns */
	double most_before_plain;  /* before / plain */
	double most_after_loop;    /* after / loop */
};

#define MOST_FIGURES 400

struct bench {
	bool quick, tsv, check;
	unsigned reps;
	uint64_t invalidate_ns;    /* the modelled cost of one invalidation */
	uint64_t write_ns;         /* ... and of one page written to a swap device */
	const char *plot;          /* a file, or NULL */

	struct figure figure[MOST_FIGURES]; /* those that are drawn */
	unsigned figures;
	unsigned claims, missed;
};

void seed_a(struct bench *b);
void seed_b(struct bench *b);
void seed_c(struct bench *b);
void seed_d(struct bench *b);
void seed_e(struct bench *b);

/* ---- measure.c ---------------------------------------------------------- */

struct subject {
	void (*prepare)(void *ctx); /* before each run, untimed; may be NULL */
	void (*run)(void *ctx);
	void *ctx;
	struct spread ns;           /* the outcome */
};

/*
 * Runs the subjects in turn, each round beginning with another of them, first
 * to warm up and then reps times; what each took is divided by per.
 */
void measure(const struct bench *b, struct subject *subject, unsigned n, double per);

/* A count has no spread. */
struct spread exactly(double value);

/* ---- report.c ----------------------------------------------------------- */

/* A title, and the heading of the table below it. */
void report_title(const struct bench *b, const char *seed, const char *text);
void report_figure(struct bench *b, const struct figure *f);
/* What the calls did: descriptor reads, atomic operations, invalidations and their bytes. */
void report_counts(struct bench *b, const char *name, const struct pgt_tally *before,
		   const struct pgt_tally *after);
/* Something that has to be so. */
bool report_claim(struct bench *b, bool held, const char *format, ...)
	__attribute__((__format__(__printf__, 3, 4)));
void report_end(const struct bench *b);

/* Prints nanoseconds in a unit that suits them. */
void format_ns(double ns, char *text, unsigned bytes);
/* What nanoseconds are divided by for a unit, or 0: it is no unit of time. */
double unit_ns(const char *unit);

/* plot.c: all figures that are times, as SVG. false: it could not be written. */
bool plot_write(const struct bench *b);

#endif
