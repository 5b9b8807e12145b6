/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All operations, compiled once for each backend with its hooks inlined.  The
 * one source file of a backend defines its hooks, BACKEND and FORMATS, and
 * then includes this.
 */
#include "check.h"
#include "collapse.h"
#include "copy.h"
#include "fault.h"
#include "harvest.h"
#include "map.h"
#include "move.h"
#include "protect.h"
#include "read.h"
#include "split.h"
#include "stat.h"
#include "translate.h"
#include "trim.h"
#include "unmap.h"

static const char *const formats[] = { FORMATS, NULL };

static void free_tables(struct call *c)
{
	struct pgt *t = c->t;

	for (unsigned i = 0; i < table_entries(t, t->start_level); i++) {
		uint64_t raw = entry_load(t->root + i);

		if (arch_kind(t, raw, t->start_level) == KIND_TABLE)
			free_subtree(c, arch_next(t, raw), t->start_level + 1);
	}
}

extern const struct pgt_backend BACKEND;
const struct pgt_backend BACKEND = {
	.formats = formats,
	.configure = arch_configure,
	.attr_check = arch_attr_check,
	.map = map,
	.unmap = unmap,
	.protect = protect,
	.move = move,
	.copy = copy,
	.split = split,
	.collapse = collapse,
	.harvest = harvest,
	.fault = fault,
	.store = store,
	.trim = trim,
	.drain = gather_end,
	.free_tables = free_tables,
	.tables_needed = tables_needed,
	.query = query,
	.visit = visit,
	.translate = translate,
	.cursor_translate = cursor_translate,
	.check = check,
	.stat = stat_range,
};
