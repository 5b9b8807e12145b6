/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomic block change: protect of 2 MiB blocks. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "rig.h"

#define VA    (4 * GIB)
#define BLOCK (2 * MIB)

struct pass {
	struct rig rig;
	uint64_t len;
	unsigned times;
};

static void run(void *ctx)
{
	struct pass *p = ctx;

	for (unsigned i = 0; i < p->times; i++) {
		rig_protect(&p->rig, VA, p->len, false, NULL);
		rig_protect(&p->rig, VA, p->len, true, NULL);
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

/* The time under a cost for each invalidation: no repetition needs to wait for it. */
static struct spread modelled(const struct spread *bare, const struct pgt_tally *tally, uint64_t ns)
{
	const double more = (double)(tally->invalidates * ns);

	return (struct spread){ bare->median + more, bare->min + more, bare->max + more };
}

static void one(struct bench *b, uint64_t mib)
{
	const uint64_t n = mib * MIB / BLOCK;
	struct pass pass[2] = { 0 };
	struct subject subject[2];
	struct pgt_tally before, after;
	struct figure f = { .unit = "us" };

	for (unsigned i = 0; i < 2; i++) {
		pass[i].len = mib * MIB;
		pass[i].times = 200;
		rig_make(&pass[i].rig, i == 0 ? BEFORE : AFTER, BLOCKS, SETTLED);
		rig_map(&pass[i].rig, VA, mib * MIB);
		subject[i] = (struct subject){ .run = run, .ctx = &pass[i] };
	}
	measure(b, subject, 2, 2 * pass[0].times);
	before = count(&pass[0]);
	after = count(&pass[1]);

	f.before = subject[0].ns;
	f.after = subject[1].ns;
	snprintf(f.name, sizeof(f.name), "seed-d.%uM.bare", (unsigned)mib);
	report_figure(b, &f);
	f.before = modelled(&f.before, &before, b->invalidate_ns);
	f.after = modelled(&f.after, &after, b->invalidate_ns);
	snprintf(f.name, sizeof(f.name), "seed-d.%uM.modelled", (unsigned)mib);
	report_figure(b, &f);
	snprintf(f.name, sizeof(f.name), "seed-d.%uM", (unsigned)mib);
	report_counts(b, f.name, &before, &after);
	report_claim(b, before.invalidates == n + 1 && after.invalidates == 1,
		     "%s: an invalidation a block and one, then one", f.name);
	report_claim(b, before.invalidated_bytes == 2 * after.invalidated_bytes,
		     "%s: half the bytes invalidated", f.name);
	for (unsigned i = 0; i < 2; i++)
		rig_free(&pass[i].rig);
}

void seed_d(struct bench *b)
{
	static const uint64_t mib[] = { 64, 128, 256, 320, 448, 512 };
	char text[100];

	snprintf(text, sizeof(text), "protect 2 MiB blocks; modelled: with %llu ns for each invalidation",
		 (unsigned long long)b->invalidate_ns);
	report_title(b, "seed-d", text);
	for (unsigned i = 0; i < sizeof(mib) / sizeof(mib[0]); i++)
		one(b, mib[i]);
}
