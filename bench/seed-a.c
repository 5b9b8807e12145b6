/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Batched protect: 1 GiB (--quick: a quarter), to read-only and back, 40 times (once). */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "plain.h"
#include "rig.h"

#define VA (4 * GIB)

struct pass {
	struct rig rig;
	struct plain plain;
	void (*change)(struct plain *p, bool writable);
	uint64_t len;
	unsigned times;
};

static void run_library(void *ctx)
{
	struct pass *p = ctx;

	for (unsigned i = 0; i < p->times; i++) {
		rig_protect(&p->rig, VA, p->len, false, NULL);
		rig_protect(&p->rig, VA, p->len, true, NULL);
	}
}

static void run_loop(void *ctx)
{
	struct pass *p = ctx;

	for (unsigned i = 0; i < p->times; i++) {
		p->change(&p->plain, false);
		p->change(&p->plain, true);
	}
}

static struct pgt_tally count(struct pass *p)
{
	struct pgt_tally tally;
	struct pgt_gather g;

	rig_count(&p->rig, &g);
	rig_protect(&p->rig, VA, p->len, false, &g);
	tally = rig_counted(&g);
	rig_protect(&p->rig, VA, p->len, true, NULL);
	return tally;
}

static void one(struct bench *b, const char *name, enum layout layout, enum state state)
{
	static const double floors[2][3] = { { 4, 4, 0.97 }, { 0.97, 3, 0.97 } };
	struct pass pass[4] = { 0 };
	struct subject subject[4];
	struct pgt_tally before, after;
	struct figure f = { .unit = "ms" };

	for (unsigned i = 0; i < 4; i++) {
		struct pass *p = &pass[i];

		p->len = b->quick ? GIB / 4 : GIB;
		p->times = b->quick ? 1 : 40;
		subject[i] = (struct subject){ .run = i < 2 ? run_library : run_loop, .ctx = p };
		if (i < 2) {
			rig_make(&p->rig, i == 0 ? BEFORE : AFTER, layout, state);
			rig_map(&p->rig, VA, p->len);
			continue;
		}
		p->change = i == 2 ? plain_exchange : state == SETTLED ? plain_store : plain_cas;
		plain_make(&p->plain, p->len / (4 * KIB));
		rig_entries(&pass[1].rig, VA, p->len, p->plain.entry);
	}
	measure(b, subject, 4, pass[0].times);
	before = count(&pass[0]);
	after = count(&pass[1]);

	snprintf(f.name, sizeof(f.name), "seed-a.%s.%s", name, state == SETTLED ? "settled" : "unsettled");
	f.before = subject[0].ns;
	f.after = subject[1].ns;
	f.plain = subject[2].ns;
	f.loop = subject[3].ns;
	f.loop_name = state == SETTLED ? "store" : "cas";
	f.least_ratio = floors[state][layout];
	f.most_before_plain = layout == PAGES ? 1.3 : 0;
	f.most_after_loop = state == UNSETTLED ? 1.2 : 0;
	report_figure(b, &f);
	report_counts(b, f.name, &before, &after);
	for (unsigned i = 0; i < 2; i++) {
		rig_free(&pass[i].rig);
		plain_free(&pass[i + 2].plain);
	}
}

void seed_a(struct bench *b)
{
	report_title(b, "seed-a", b->quick ? "protect 256 MiB to read-only and back, once a repetition" :
		"protect 1 GiB to read-only and back, 40 times a repetition; the time of one");
	for (enum state state = SETTLED; state <= UNSETTLED; state++) {
		one(b, "T1", SPLIT_BLOCKS, state);
		one(b, "T2", RUNS, state);
		one(b, "T3", PAGES, state);
	}
}
