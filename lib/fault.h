/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgt_fault: what a kernel does when an access faults for tracking, or spuriously. */
#ifndef PGT_FAULT_H
#define PGT_FAULT_H

#include "change.h"
#include "read.h"

/* Gives the leaf or run the state; false where it is gone. */
static bool fault_fix(struct call *c, const struct cut *cut, uint64_t state)
{
	int written = arch_fix_access(c->t, cut->e, cut->members, cut->level, state, &tally(c)->rmws);

	tally(c)->reads += cut->members;
	if (written <= 0)
		return written == 0;
	tally(c)->changed += (unsigned)written;
	gather_wrote(c, cut->e, cut->members);
	return true;
}

static int fault(struct call *c, uint64_t access)
{
	const struct pgt *t = c->t;
	struct pending local = { .flags = PGT_TLB_LOCAL };
	enum pgt_kind kind;
	struct pgt_walk w;
	struct cut cut;
	uint64_t raw, attr;
	int status;

	call_start(c);
	walk_from(&w, &c->at, c->first, c->last);
	status = read_down(&w, &raw, &kind, NULL);
	if (status != PGT_OK)
		return call_finish(c, status);
	if (kind != KIND_LEAF)
		return call_finish(c, PGT_ENOENT);
	/* With all state set, only what the mapping forbids is left to fault. */
	attr = arch_effective(t, arch_attr(t, raw), read_inherited(&w));
	if (arch_fault(t, arch_add_state(raw, PGT_YOUNG | PGT_DIRTY), attr | PGT_YOUNG | PGT_DIRTY, access))
		return call_finish(c, PGT_EACCES);
	if (read_inherited(&w))
		return call_finish(c, PGT_ENOTSUP);
	cut_find(&cut, c, &w, raw);
	tally(c)->leaves += cut.members;
	if (!fault_fix(c, &cut, access & PGT_WRITE ? PGT_YOUNG | PGT_DIRTY : PGT_YOUNG))
		return call_finish(c, PGT_ENOENT);
	local.first = cut.begin;
	local.last = cut.end;
	local.stride_bits = (uint8_t)level_shift(t, w.level);
	local.level = (int8_t)w.level;
	local.flags |= arch_global(c->t, raw) ? PGT_TLB_GLOBAL : 0;
	gather_pending(c, &local);
	return call_finish(c, PGT_OK);
}

#endif
