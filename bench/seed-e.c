/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Dirty-aware mkwrite: the machine of examples/swap, the page tables of either kind. */
#include <stdio.h>

#include "../examples/swap/machine.h"
#include "bench.h"
#include "rig.h"

#define ACCESS_NS 1000
#define READ_NS   10000

static void counted(struct bench *b, const char *name, uint64_t before, uint64_t after)
{
	struct figure f = { .unit = "pages", .before = exactly((double)before),
			    .after = exactly((double)after) };

	snprintf(f.name, sizeof(f.name), "seed-e.%s", name);
	report_figure(b, &f);
}

static struct spread modelled(const struct bench *b, const struct swap_result *r)
{
	return exactly((double)((r->reads + r->writes) * ACCESS_NS + r->swap_ins * READ_NS +
				r->written * b->write_ns));
}

void seed_e(struct bench *b)
{
	struct swap_options o = {
		.format = BEFORE, .pages = 8192, .frames = 4096, .accesses = b->quick ? 300000 : 2000000,
		.seed = 1, .zipf = 0.9, .writes = 0.02,
	};
	struct figure f = { .name = "seed-e.modelled", .unit = "ms" };
	struct swap_result before, after;
	char text[160];

	snprintf(text, sizeof(text), "%llu accesses, 2 %% writes, memory for half of the pages; modelled:"
		 " %u ns an access, %u a page read, %llu a page written",
		 (unsigned long long)o.accesses, ACCESS_NS, READ_NS, (unsigned long long)b->write_ns);
	report_title(b, "seed-e", text);
	swap_run(&o, &before);
	o.format = AFTER;
	swap_run(&o, &after);
	counted(b, "swap-outs", before.swap_outs, after.swap_outs);
	counted(b, "written", before.written, after.written);
	counted(b, "needless", before.needless, after.needless);
	f.before = modelled(b, &before);
	f.after = modelled(b, &after);
	report_figure(b, &f);
	report_claim(b, !after.needless, "seed-e: %llu pages written out that no write had changed",
		     (unsigned long long)after.needless);
	report_claim(b, !before.wrong && !after.wrong, "seed-e: contents that were last written");
}
