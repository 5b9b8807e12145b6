/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One entry is the common case: 1 GiB of 4 KiB pages (--quick: a quarter; call
 * by call: a sixteenth), in one call and call by call.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "plain.h"
#include "rig.h"

#define VA   (4 * GIB)
#define PAGE (4 * KIB)

struct pass {
	struct rig rig;
	struct plain plain;
	void (*change)(struct plain *p, bool writable);
	uint64_t len;
	bool writable; /* what is timed; the other direction is done before */
	bool by_page;
};

static void prepare_library(void *ctx)
{
	struct pass *p = ctx;

	rig_protect(&p->rig, VA, p->len, !p->writable, NULL);
}

static void run_library(void *ctx)
{
	struct pass *p = ctx;
	const uint64_t step = p->by_page ? PAGE : p->len;

	for (uint64_t done = 0; done < p->len; done += step)
		rig_protect(&p->rig, VA + done, step, p->writable, NULL);
}

static void prepare_loop(void *ctx)
{
	struct pass *p = ctx;

	p->change(&p->plain, !p->writable);
}

static void run_loop(void *ctx)
{
	struct pass *p = ctx;

	p->change(&p->plain, p->writable);
}

static struct pgt_tally count(struct pass *p)
{
	const uint64_t len = p->by_page ? PAGE : p->len;
	struct pgt_gather g;

	prepare_library(p);
	rig_count(&p->rig, &g);
	rig_protect(&p->rig, VA, len, p->writable, &g);
	return rig_counted(&g);
}

static void one(struct bench *b, struct pass *pass, enum state state, bool by_page, bool writable)
{
	const bool one_call = !by_page;
	struct subject subject[4];
	struct pgt_tally before, after;
	struct figure f = { .unit = by_page ? "ns" : "ms" };

	for (unsigned i = 0; i < 4; i++) {
		pass[i].len = !b->quick ? GIB : by_page ? GIB / 16 : GIB / 4;
		pass[i].plain.n = pass[i].len / PAGE;
		pass[i].by_page = by_page;
		pass[i].writable = writable;
		subject[i] = (struct subject){
			.prepare = i < 2 ? prepare_library : prepare_loop,
			.run = i < 2 ? run_library : run_loop,
			.ctx = &pass[i],
		};
	}
	measure(b, subject, 4, by_page ? (double)(pass[0].len / PAGE) : 1);
	before = count(&pass[0]);
	after = count(&pass[1]);

	snprintf(f.name, sizeof(f.name), "seed-b.%s.%s.%s", writable ? "unprotect" : "protect",
		 by_page ? "by-page" : "one-call", state == SETTLED ? "settled" : "unsettled");
	f.before = subject[0].ns;
	f.after = subject[1].ns;
	f.plain = subject[2].ns;
	f.loop = subject[3].ns;
	f.loop_name = state == SETTLED ? "store" : "cas";
	f.least_ratio = state == SETTLED && one_call ? 1.5 : 0.97;
	f.most_after_loop = state == UNSETTLED && one_call ? 1.2 : 0;
	report_figure(b, &f);
	report_counts(b, f.name, &before, &after);
}

static void both_ways(struct bench *b, enum state state)
{
	struct pass pass[4] = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		rig_make(&pass[i].rig, i == 0 ? BEFORE : AFTER, PAGES, state);
		rig_map(&pass[i].rig, VA, GIB);
	}
	for (unsigned i = 2; i < 4; i++) {
		plain_make(&pass[i].plain, GIB / PAGE);
		rig_entries(&pass[1].rig, VA, GIB, pass[i].plain.entry);
		pass[i].change = i == 2 ? plain_exchange : state == SETTLED ? plain_store : plain_cas;
	}
	for (unsigned i = 0; i < 4; i++)
		one(b, pass, state, i / 2, i % 2);
	for (unsigned i = 0; i < 2; i++) {
		rig_free(&pass[i].rig);
		plain_free(&pass[i + 2].plain);
	}
}

void seed_b(struct bench *b)
{
	report_title(b, "seed-b", b->quick ? "256 MiB of 4 KiB pages, in one call, and in a call a page: the time"
		     " and the counts of one call" :
		     "1 GiB of 4 KiB pages, in one call, and in a call a page: the time and the"
		     " counts of one call");
	both_ways(b, SETTLED);
	both_ways(b, UNSETTLED);
}
