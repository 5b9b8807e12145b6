/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_protect.  What a leaf would end with, and where a hole is forbidden, is
 * looked at first, where it can matter at all; then the two ends are cut if
 * they change; what can't change while it is valid is broken; and then the
 * stretches are changed in place.
 */
#ifndef PGT_PROTECT_H
#define PGT_PROTECT_H

#include "change.h"

struct protect {
	struct call *c;
	struct modify m;
	struct modify no_write;  /* where the embedder says that nothing becomes writable */
	bool ask;
	bool asked;              /* up to answer_last the answer is yes */
	bool yes;
	uint64_t answer_last;
};

/* ---- The embedder's answer ---- */

/* From entry i of the stretch on, bytes of leaves like raw that map memory in one piece. */
static uint64_t ask_extent(const struct protect *p, const struct pgt_walk *w, unsigned i, unsigned n, uint64_t raw)
{
	const struct pgt *t = p->c->t;
	uint64_t size = level_mask(t, w->level) + 1, pa = arch_pa(t, raw, w->level);
	uint64_t attr = arch_attr(t, raw) & ~(PGT_YOUNG | PGT_DIRTY), extent = size;

	while (++i < n) {
		raw = entry_load(walk_entry(w) + i);
		if (arch_kind(t, raw, w->level) != KIND_LEAF || arch_pa(t, raw, w->level) != pa + extent ||
		    (arch_attr(t, raw) & ~(PGT_YOUNG | PGT_DIRTY)) != attr)
			break;
		extent += size;
	}
	return extent;
}

/* The embedder on [at, at + extent): how much of it shares one answer. */
static uint64_t ask_embedder(struct protect *p, uint64_t at, uint64_t pa, uint64_t extent, uint64_t attr)
{
	const struct pgt *t = p->c->t;
	uint64_t bytes;

	p->yes = false;
	bytes = t->pages.writable(t->pages.ctx, t->base + at, pa, extent, attr, &p->yes) & ~(granule(t) - 1);
	if (bytes == 0)
		bytes = granule(t);
	return bytes < extent ? bytes : extent;
}

/* What happens to a unit of leaves, the first of which is raw. */
static const struct modify *protect_unit(struct protect *p, const struct pgt_walk *w, unsigned i, unsigned n,
					 unsigned members, uint64_t raw)
{
	const struct pgt *t = p->c->t;
	uint64_t at, last;

	if (!p->ask || arch_writable(raw))
		return &p->m;
	at = walk_begin(w) + ((uint64_t)i << level_shift(t, w->level));
	last = at + (((uint64_t)members << level_shift(t, w->level)) - 1);
	if (!p->asked || at > p->answer_last) {
		uint64_t extent = ask_extent(p, w, i, n, raw);

		p->answer_last = at + (ask_embedder(p, at, arch_pa(t, raw, w->level), extent,
						    arch_attr(t, raw)) - 1);
		p->asked = true;
	}
	if (last <= p->answer_last)
		return p->yes && arch_modify_check(t, raw, &p->m) == PGT_OK ? &p->m : &p->no_write;
	p->asked = false; /* an answer for a part of it is no for it */
	return &p->no_write;
}

/* ---- Looking ---- */

static bool protect_may_break(const struct protect *p)
{
	uint64_t f = p->c->t->features;

	return (p->m.clear & (PGT_MEM_MASK | PGT_SH_MASK)) || (p->m.set & PGT_GLOBAL) ||
	       ((f & PGT_FEAT_EXEC_BBM) && (p->m.clear & (PGT_EXEC | PGT_UEXEC)));
}

/* Not all attributes are bits of the entry: whether the leaf has what is asked. */
static bool scan_complies(const struct pgt *t, uint64_t raw, const struct modify *m)
{
	uint64_t attr = arch_attr(t, raw);

	return ((attr & ~m->clear) | m->set) == attr;
}

PGT_INLINE int scan_leaf(const struct call *c, const struct modify *m, int level, uint64_t raw)
{
	int status = arch_modify_check(c->t, raw, m);

	if (status != PGT_OK)
		return scan_complies(c->t, raw, m) ? PGT_OK : status;
	if (c->live && (c->flags & PGT_NO_BREAK) &&
	    arch_tlb_effect(c->t, raw, arch_modify(c->t, raw, level, m)) == TLB_BREAK)
		return PGT_EBREAK;
	return PGT_OK;
}

/* A leaf that can't become writable, where the embedder may say that it need not. */
static int scan_unwritable(struct protect *p, const struct pgt_walk *w, unsigned i, uint64_t raw, int status)
{
	const struct pgt *t = p->c->t;
	uint64_t size = level_mask(t, w->level) + 1, at = walk_begin(w) + i * size;

	if (!p->ask || scan_leaf(p->c, &p->no_write, w->level, raw) != PGT_OK)
		return status;
	if (ask_embedder(p, at, arch_pa(t, raw, w->level), size, arch_attr(t, raw)) == size && p->yes)
		return status;
	return PGT_OK;
}

/* As many leaves as there are in a row, from the walk's next byte on. */
PGT_INLINE int scan_leaves(struct protect *p, struct pgt_walk *w, int level)
{
	const struct pgt_entry *e = walk_entry(w);
	const struct modify m = p->m;
	unsigned n = walk_count(w), i;
	bool quick = !(p->c->live && (p->c->flags & PGT_NO_BREAK));
	int status = PGT_OK;

	for (i = quick ? arch_accepts(p->c->t, e, n, level, &m) : 0; i < n && status == PGT_OK; i++) {
		uint64_t raw = entry_load(e + i);

		if (arch_kind(p->c->t, raw, level) != KIND_LEAF)
			break;
		status = scan_leaf(p->c, &m, level, raw);
		if (status != PGT_OK)
			status = scan_unwritable(p, w, i, raw, status);
	}
	tally(p->c)->reads += i;
	if (i)
		walk_past(w, i);
	return status;
}

/* Whether the call may go on; changes nothing. */
static int protect_scan(struct protect *p)
{
	struct call *c = p->c;
	const struct pgt *t = c->t;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	while (walk_on(&w)) {
		unsigned n = walk_empty(&w);
		int status = PGT_OK;
		uint64_t raw;

		tally(c)->reads += n;
		if (n && (c->flags & PGT_STRICT))
			return PGT_ENOENT;
		if (n) {
			walk_past(&w, n);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		tally(c)->reads++;
		switch (arch_kind(t, raw, w.level)) {
		case KIND_TABLE:
			if (arch_inherit(c->t, raw))
				return PGT_ENOTSUP;
			if (!walk_enter(&w, raw))
				return PGT_ECORRUPT;
			continue;
		case KIND_LEAF:
			if (w.level == PGT_LAST_LEVEL)
				status = scan_leaves(p, &w, PGT_LAST_LEVEL);
			else
				status = scan_leaves(p, &w, w.level);
			if (status != PGT_OK)
				return status;
			continue;
		case KIND_CORRUPT:
			return PGT_ECORRUPT;
		default:
			break;
		}
		walk_past(&w, 1);
	}
	return PGT_OK;
}

/* Whether the leaf at an end changes, as far as the range covers it. */
static bool protect_changes(struct protect *p, const struct cut *cut)
{
	const struct pgt *t = p->c->t;
	uint64_t at = cut->leaf_begin > p->c->first ? cut->leaf_begin : p->c->first;
	uint64_t end = cut->leaf_end < p->c->last ? cut->leaf_end : p->c->last;
	uint64_t pa, raw;

	if (!cut_any(cut) || arch_kind(t, cut->raw, cut->level) != KIND_LEAF)
		return false;
	/* The state of any member counts for all. */
	raw = arch_add_state(cut->raw, change_gather(p->c, cut->e, cut->members, cut->level));
	if (!p->ask || arch_writable(raw))
		return arch_modify(t, raw, cut->level, &p->m) != raw;
	if (arch_modify(t, raw, cut->level, &p->no_write) != raw)
		return true;
	pa = arch_pa(t, raw, cut->level) + (at - cut->leaf_begin);
	for (;;) {
		uint64_t bytes = ask_embedder(p, at, pa, end - at + 1, arch_attr(t, raw));

		if (p->yes || bytes > end - at)
			return p->yes;
		at += bytes;
		pa += bytes;
	}
}

static int protect_edges(struct protect *p)
{
	struct need need = { 0 };
	struct call *c = p->c;
	struct cut cut[2];
	int status = edges_find(c, cut);

	for (unsigned i = 0; i < 2 && status == PGT_OK; i++)
		if (!protect_changes(p, &cut[i]))
			cut[i].leaf = cut[i].run = false;
	if (status == PGT_OK)
		status = edges_check(c, cut, &need);
	if (status == PGT_OK)
		status = pgt_tables_take(c, need.tables);
	if (status == PGT_OK)
		edges_cut(c, cut, true);
	return status;
}

/* ---- Changing ---- */

/* Leaves that can't change while they are valid give way to inaccessible entries. */
static void protect_break(struct protect *p)
{
	struct call *c = p->c;
	const struct pgt *t = c->t;
	bool broken = false;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	while (walk_on(&w)) {
		struct pgt_entry *e = walk_entry(&w);
		uint64_t raw = entry_load(e), new;

		if (arch_kind(t, raw, w.level) == KIND_TABLE && walk_enter(&w, raw))
			continue;
		if (arch_kind(t, raw, w.level) == KIND_LEAF && arch_valid(raw)) {
			new = arch_modify(t, raw, w.level, &p->m);
			if (arch_tlb_effect(t, raw, new) == TLB_BREAK) {
				entry_store(e, arch_break(entry_exchange(e, arch_break(raw))));
				gather_wrote(c, e, 1);
				gather_leaves(c, walk_begin(&w), walk_begin(&w) | level_mask(t, w.level),
					      w.level, arch_global(c->t, raw) || arch_global(c->t, new));
				tally(c)->rmws++;
				broken = true;
			}
		}
		walk_past(&w, 1);
	}
	if (broken)
		gather_drain(c);
}

/* Changes leaves of the stretch of n entries, as many as there are in a row. */
PGT_INLINE unsigned protect_leaves(struct protect *p, const struct pgt_walk *w, int level, unsigned n)
{
	struct changed ch = CHANGED_NONE;
	const struct pgt *t = p->c->t;
	unsigned i = 0;

	for (;;) {
		unsigned members;
		uint64_t raw;

		if (!p->ask)
			i = change_leaves(p->c, w, level, i, n, &p->m, &ch);
		if (i == n)
			break;
		raw = entry_load(walk_entry(w) + i);
		if (arch_kind(t, raw, level) != KIND_LEAF)
			break;
		members = change_unit(t, w, i, n, raw);
		i = change_units(p->c, w, level, i, p->ask ? i + members : n, members, raw,
				 protect_unit(p, w, i, n, members, raw), &ch);
	}
	tally(p->c)->reads += i;
	tally(p->c)->leaves += i;
	changed_tell(p->c, &ch, w);
	return i;
}

static void protect_range(struct protect *p)
{
	struct call *c = p->c;
	struct pgt_walk w;

	walk_from(&w, &c->at, c->first, c->last);
	while (walk_on(&w)) {
		unsigned done;
		uint64_t raw;

		if (w.level == PGT_LAST_LEVEL)
			done = protect_leaves(p, &w, PGT_LAST_LEVEL, walk_count(&w));
		else
			done = protect_leaves(p, &w, w.level, walk_count(&w));
		if (!done) {
			done = walk_empty(&w);
			tally(c)->reads += done;
		}
		if (done) {
			walk_past(&w, done);
			continue;
		}
		raw = entry_load(walk_entry(&w));
		tally(c)->reads++;
		if (arch_kind(c->t, raw, w.level) != KIND_TABLE || !walk_enter(&w, raw))
			walk_past(&w, 1);
	}
}

/*
 * A page by itself, the common case: no loop, and nothing looked up to learn
 * that it is one.  False: it is something else.
 */
static bool protect_one(struct protect *p, int *status)
{
	struct changed ch = CHANGED_NONE;
	struct call *c = p->c;
	const struct pgt *t = c->t;
	struct pgt_entry *e;
	uint64_t raw;

	if (!call_is_one_page(c) || p->ask)
		return false;
	e = walk_entry(&c->at);
	raw = entry_load(e);
	if (arch_kind(t, raw, PGT_LAST_LEVEL) != KIND_LEAF || arch_run(raw))
		return false;
	if (arch_modify_check(t, raw, &p->m) != PGT_OK)
		return false;
	*status = PGT_OK;
	change_leaf(c, &c->at, e, PGT_LAST_LEVEL, 0, raw, &p->m, &ch);
	tally(c)->reads++;
	tally(c)->leaves++;
	changed_tell(c, &ch, &c->at);
	return true;
}

static int protect(struct call *c, uint64_t set, uint64_t clear)
{
	struct protect p = { .c = c, .m = { .set = set, .clear = clear } };
	bool breaks, look;
	int status;

	call_start(c);
	arch_modify_prepare(c->t, &p.m);
	p.ask = c->t->pages.writable && (set & PGT_WRITE);
	if (p.ask) {
		p.no_write = (struct modify){ .set = set & ~PGT_WRITE, .clear = clear & ~PGT_WRITE };
		arch_modify_prepare(c->t, &p.no_write);
	}
	breaks = protect_may_break(&p);
	if (!breaks && !(clear & ~set & PGT_NOACCESS) && protect_one(&p, &status))
		return call_finish(c, status);
	look = (c->flags & PGT_STRICT) || c->t->attached || !arch_modify_safe(c->t, &p.m) || breaks;
	status = look ? protect_scan(&p) : edges_look(c);
	if (status == PGT_OK)
		status = protect_edges(&p);
	if (status == PGT_OK) {
		if (clear & ~set & PGT_NOACCESS)
			gather_settle(c, c->first, c->last);
		if (set & PGT_GLOBAL)
			c->t->held_global = true;
		p.asked = false;
		if (breaks && c->live)
			protect_break(&p);
		protect_range(&p);
	}
	return call_finish(c, status);
}

#endif
