/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Moving by relinking: 1 GiB (--quick: a quarter where entry by entry) to another place and back. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "plain.h"
#include "rig.h"

/* Below one table of level 1, which is there. */
#define FROM (4 * GIB)
#define TO   (16 * GIB)

static const struct place {
	const char *name;
	uint64_t from, to;    /* off the addresses above */
	enum layout layout;
	uint64_t moved;       /* bytes of one entry that a plain loop moves */
	unsigned times;       /* there and back in one repetition */
} places[] = {
	{ "1G", 0, 0, PAGES, 2 * MIB, 2000 },
	{ "2M", 2 * MIB, 4 * MIB, PAGES, 2 * MIB, 100 },
	{ "64K", 64 * KIB, 128 * KIB, RUNS, 4 * KIB, 1 },
	{ "4K", 4 * KIB, 4 * KIB, PAGES, 2 * MIB, 100 },
	{ "misaligned", 0, 4 * KIB, RUNS, 4 * KIB, 1 },
};

struct pass {
	struct rig rig;
	struct plain there, here;
	const struct place *place;
	uint64_t len;
};

static void run_library(void *ctx)
{
	struct pass *p = ctx;
	const uint64_t from = FROM + p->place->from, to = TO + p->place->to;

	for (unsigned i = 0; i < p->place->times; i++) {
		rig_move(&p->rig, from, to, p->len, NULL);
		rig_move(&p->rig, to, from, p->len, NULL);
	}
}

static void run_loop(void *ctx)
{
	struct pass *p = ctx;

	for (unsigned i = 0; i < p->place->times; i++) {
		plain_move(&p->here, &p->there);
		plain_move(&p->there, &p->here);
	}
}

static struct pgt_tally count(struct pass *p)
{
	const uint64_t from = FROM + p->place->from, to = TO + p->place->to;
	struct pgt_tally tally;
	struct pgt_gather g;

	rig_count(&p->rig, &g);
	rig_move(&p->rig, from, to, p->len, &g);
	tally = rig_counted(&g);
	rig_move(&p->rig, to, from, p->len, NULL);
	return tally;
}

static void one(struct bench *b, const struct place *place)
{
	struct pass pass[3] = { 0 };
	struct subject subject[3];
	struct pgt_tally before, after;
	struct figure f = { .unit = "us" };

	for (unsigned i = 0; i < 3; i++) {
		struct pass *p = &pass[i];

		p->place = place;
		p->len = b->quick && place->moved == 4 * KIB ? GIB / 4 : GIB;
		subject[i] = (struct subject){ .run = i < 2 ? run_library : run_loop, .ctx = p };
		if (i < 2) {
			rig_make(&p->rig, i == 0 ? BEFORE : AFTER, place->layout, SETTLED);
			rig_map(&p->rig, FROM + place->from, p->len);
		} else {
			plain_make(&p->here, p->len / place->moved);
			plain_make(&p->there, p->len / place->moved);
		}
	}
	measure(b, subject, 3, 2 * place->times);
	before = count(&pass[0]);
	after = count(&pass[1]);

	snprintf(f.name, sizeof(f.name), "seed-c.%s", place->name);
	f.before = subject[0].ns;
	f.after = subject[1].ns;
	f.plain = subject[2].ns;
	if (place == places) {
		f.least_ratio = 19;
		f.most_after = 150;
	}
	report_figure(b, &f);
	report_counts(b, f.name, &before, &after);
	for (unsigned i = 0; i < 2; i++)
		rig_free(&pass[i].rig);
	plain_free(&pass[2].here);
	plain_free(&pass[2].there);
}

void seed_c(struct bench *b)
{
	report_title(b, "seed-c", b->quick ?
		"move 1 GiB (64K, misaligned: 256 MiB); source and destination aligned to so much" :
		"move 1 GiB; source and destination aligned to so much");
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		one(b, &places[i]);
}
