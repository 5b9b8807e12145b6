/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "progress.h"
#include "message.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CELLS 30
#define EVERY 4096 /* calls between two looks at the clock */

static struct {
	bool off, always, shown;
	const char *what;
	uint64_t first, last;
	double begun, drawn;
	unsigned calls;
} bar = { .off = true };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void progress_choose(const char *when)
{
	bar.always = !strcmp(when, "always");
	if (!bar.always && strcmp(when, "auto") != 0 && strcmp(when, "never") != 0)
		fail("--progress: '%s' is none of auto, always, never", when);
	bar.off = !bar.always && (!strcmp(when, "never") || !isatty(STDERR_FILENO));
}

void progress_start(const char *what, uint64_t first, uint64_t last)
{
	progress_clear();
	bar.what = what;
	bar.first = first;
	bar.last = last;
	bar.begun = now();
	bar.drawn = bar.begun;
	bar.calls = 0;
	if (bar.always)
		progress_at(first);
}

static void draw(uint64_t where)
{
	double part = (double)(where - bar.first) / ((double)(bar.last - bar.first) + 1);
	int full = (int)(part * CELLS);

	/* What was printed so far is above the bar. */
	fflush(stdout);
	fprintf(stderr, "\r%s [%.*s%*s] %3d%%", bar.what, full, "##############################",
		CELLS - full, "", (int)(part * 100));
	bar.shown = true;
}

void progress_at(uint64_t where)
{
	double t;

	if (bar.off || bar.calls++ % EVERY || where < bar.first || where > bar.last)
		return;
	t = now();
	if (!bar.always && (t - bar.begun < 0.5 || t - bar.drawn < 0.1))
		return;
	bar.drawn = t;
	draw(where);
}

void progress_clear(void)
{
	if (bar.shown)
		fprintf(stderr, "\r%*s\r", (int)strlen(bar.what) + CELLS + 8, "");
	bar.shown = false;
}
