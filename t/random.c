/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random sequences of map, unmap and trim beside the flat model, for every
 * format, granule and kind of input size.  After each call a sample, and
 * regularly everything, is compared: query, translate, visit, stat, check, the
 * reference walker's reading of the raw tables, and the allocator's balance.
 * Some calls run out of memory at every allocation first and must leave no
 * trace.  PGT_TEST_ROUNDS multiplies the length, PGT_TEST_SEED starts elsewhere,
 * PGT_TEST_ONLY runs one configuration by its number.
 */
#include <string.h>
#include <pgtable/arm64.h>
#include "embed.h"
#include "model/model.h"
#include "model/promise.h"
#include "format.h"
#include "tap.h"

#define BUFFER (UINT64_C(160) << 20)
#define PERMISSIONS (PGT_READ | PGT_WRITE | PGT_EXEC | PGT_UEXEC | PGT_USER)
#define HW (PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY)
#define TRACK (PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY)

enum place { AT_ZERO, AT_TOP, AT_MIDDLE, ANYWHERE };

struct setup {
	const struct format *format;
	unsigned granule, input, output;
	uint64_t features;
	unsigned mode;
	enum place place;
	uint64_t pages; /* of the window, at most */
	unsigned steps;
};

/* One range that the library had invalidated, and when. */
struct forgotten {
	uint64_t va, len;
	uint64_t when;
};

/* What one configuration is tried with. */
static struct embed e;
static struct embed_rng rng;
static struct setup s;
static struct pgt *t;
static struct model model;
static struct ref ref;
static uint64_t range_va, range_len;
static uint64_t granule, sizes; /* bytes; bit n: leaves or runs of 2^n bytes */
static struct pgt_gather gather;
static bool gathering;
static bool failed;

/* ---- Reporting ------------------------------------------------------------ */

#define HISTORY 40
static char history[HISTORY][160];
static unsigned calls;

static char *next_history(void)
{
	return history[calls++ % HISTORY];
}

#define FAIL(...) fail(__LINE__, __VA_ARGS__)

static bool fail(int line, const char *fmt, ...) TAP_PRINTF(2, 3);

/* The first failure of a configuration, with the calls that led to it. */
static bool fail(int line, const char *fmt, ...)
{
	va_list args;

	if (failed)
		return false;
	failed = true;
	printf("# line %d: ", line);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	for (unsigned i = calls > HISTORY ? calls - HISTORY : 0; i < calls; i++)
		printf("# call %u: %s\n", i, history[i % HISTORY]);
	fflush(stdout);
	return false;
}

/* ---- The format --------------------------------------------------------- */

static bool read_raw(void *ctx, uint64_t pa, uint64_t *value)
{
	const unsigned char *at = embed_live(ctx, pa, 8);

	if (!at)
		return false;
	*value = 0;
	for (unsigned i = 8; i-- > 0;)
		*value = *value << 8 | at[i];
	return true;
}

static void walk(uint64_t va, struct ref_answer *a)
{
	s.format->translate(&ref, va, a);
}

static enum ref_fault judge(const struct ref_answer *a, char what, bool unprivileged)
{
	return s.format->access(&ref, a, what, unprivileged);
}

static bool validate(struct ref_report *report)
{
	return s.format->validate(&ref, REF_NOACCESS, report);
}

static bool is_run_size(unsigned bits)
{
	return (bits - s.granule) % (s.granule - 3) != 0;
}

/* The leaf or run that a map of an empty range has to make at va. */
static uint64_t want_size(uint64_t va, uint64_t first, uint64_t len, uint64_t pa, uint64_t attr,
			  unsigned max_bits)
{
	for (unsigned bits = max_bits; bits > s.granule; bits--) {
		uint64_t mask = (UINT64_C(1) << bits) - 1;

		if (!(sizes >> bits & 1) || (is_run_size(bits) && (attr & PGT_NOACCESS)))
			continue;
		if ((first ^ pa) & mask)
			continue;
		if ((va & ~mask) >= first && (va | mask) - first < len && (va | mask) >= first)
			return mask + 1;
	}
	return granule;
}

/* ---- Comparing with the model ------------------------------------------------- */

static const struct model_page *page_at(uint64_t va)
{
	return &model.page[model_index(&model, va)];
}

static bool check_hole(uint64_t va, const struct pgt_mapping *m)
{
	if (m->state != PGT_EMPTY)
		return FAIL("query %#" PRIx64 ": state %d, want empty", va, m->state);
	if (va - m->va >= m->len || m->va % granule || m->len % granule || m->attr || m->token)
		return FAIL("query %#" PRIx64 ": hole %#" PRIx64 "+%#" PRIx64, va, m->va, m->len);
	for (uint64_t at = m->va; at - m->va < m->len && m->len < 1024 * granule; at += granule)
		if (model_has(&model, at) && page_at(at)->attr != MODEL_EMPTY)
			return FAIL("query %#" PRIx64 ": %#" PRIx64 " is in no hole", va, at);
	return true;
}

/* Its run or, without one, itself. */
static uint64_t run_start(const struct pgt_mapping *m)
{
	return m->va & ~(m->run_bytes - 1);
}

static bool check_query(uint64_t va)
{
	const struct model_page *p = page_at(va);
	struct pgt_mapping m;
	struct ref_answer a;
	int r;

	memset(&m, 0xa5, sizeof(m));
	r = pgt_query(t, va, &m);
	if (r != PGT_OK)
		return FAIL("query %#" PRIx64 ": %s", va, pgt_strerror(r));
	if (p->attr == MODEL_EMPTY)
		return check_hole(va, &m);
	walk(va, &a);
	if (m.state != PGT_LEAF)
		return FAIL("query %#" PRIx64 ": state %d, want a leaf", va, m.state);
	if (va - m.va >= m.len || m.va % m.len || (m.len & (m.len - 1)) || m.run_bytes < m.len ||
	    !(sizes >> format_log2(m.run_bytes) & 1) || is_run_size(format_log2(m.len)) ||
	    m.len != UINT64_C(1) << ref_shift(s.granule, m.level))
		return FAIL("query %#" PRIx64 ": leaf %#" PRIx64 "+%#" PRIx64 " run %#" PRIx64
			    " level %d", va, m.va, m.len, m.run_bytes, m.level);
	if (m.pa + (va - m.va) / granule * granule != p->pa)
		return FAIL("query %#" PRIx64 ": pa %#" PRIx64 ", model %#" PRIx64, va,
			    m.pa + (va - m.va), p->pa);
	if (m.attr != p->attr)
		return FAIL("query %#" PRIx64 ": attr %#" PRIx64 ", model %#" PRIx64, va, m.attr,
			    p->attr);
	if (m.entry != a.raw || m.token)
		return FAIL("query %#" PRIx64 ": entry %#" PRIx64 ", in memory %#" PRIx64, va,
			    m.entry, a.raw);
	return true;
}

/* The raw entry is what the attributes promise. */
static bool check_promise(uint64_t va, uint64_t attr, const struct ref_answer *a)
{
	return promise_kept(&ref, s.format, attr, a) ? true :
	       FAIL("raw entry %#" PRIx64 " at %#" PRIx64 " isn't attr %#" PRIx64, a->raw, va, attr);
}

static const uint64_t accesses[6] = {
	PGT_READ, PGT_WRITE, PGT_EXEC,
	PGT_READ | PGT_USER, PGT_WRITE | PGT_USER, PGT_EXEC | PGT_USER,
};

static bool check_answer(uint64_t va, unsigned access, const struct ref_answer *a, int r,
			 const struct pgt_translation *x)
{
	enum ref_fault want = judge(a, "rwx"[access % 3], access >= 3);

	if (want == REF_NONE || r == PGT_OK) {
		if (want != REF_NONE || r != PGT_OK)
			return FAIL("translate %#" PRIx64 " access %#" PRIx64 " entry %#" PRIx64
				    ": %s fault %d, the walker says fault %d", va,
				    accesses[access], a->raw, pgt_strerror(r), x->fault, want);
		if (x->pa != a->pa || x->level != a->level || x->leaf_bits != a->leaf_bits ||
		    x->run_bits != a->run_bits)
			return FAIL("translate %#" PRIx64 ": pa %#" PRIx64 " level %d bits %u %u,"
				    " the walker says %#" PRIx64 " %d %u %u", va, x->pa, x->level,
				    x->leaf_bits, x->run_bits, a->pa, a->level, a->leaf_bits,
				    a->run_bits);
		return true;
	}
	/* REF_ faults are numbered as PGT_FAULT_ ones. */
	if (r != PGT_EFAULT || x->fault != (int)want || x->level != a->level)
		return FAIL("translate %#" PRIx64 " access %#" PRIx64 " entry %#" PRIx64 ": %s"
			    " fault %d level %d, the walker says fault %d level %d", va,
			    accesses[access], a->raw, pgt_strerror(r), x->fault, x->level, want,
			    a->level);
	return true;
}

static bool check_translate(uint64_t va)
{
	const struct model_page *p = page_at(va);
	struct pgt_translation x;
	struct ref_answer a;

	walk(va, &a);
	if (p->attr == MODEL_EMPTY || (p->attr & PGT_NOACCESS)) {
		if (a.fault != REF_TRANSLATION ||
		    a.noaccess != (p->attr != MODEL_EMPTY))
			return FAIL("the walker finds entry %#" PRIx64 " at %#" PRIx64, a.raw, va);
	} else {
		if (a.fault || a.pa != p->pa + va % granule)
			return FAIL("the walker finds fault %d pa %#" PRIx64 " at %#" PRIx64
				    ", model %#" PRIx64, a.fault, a.pa, va, p->pa);
		if (!check_promise(va, p->attr, &a))
			return false;
	}
	for (unsigned i = 0; i < 6; i++) {
		memset(&x, 0xa5, sizeof(x));
		int r = pgt_translate(t, va, accesses[i], &x);

		/* Not settled for arm64: privileged execution of what EL0 may
		 * write once it is dirty. */
		if (format_protects_el1(s.format) && i == 2 && !a.write[1] && a.read[1] && a.writable)
			continue;
		if (!check_answer(va, i, &a, r, &x))
			return false;
	}
	return true;
}

static bool check_page(uint64_t va)
{
	va += embed_below(&rng, granule);
	return check_query(va) && check_translate(va);
}

/* ---- Comparing everything -------------------------------------------------------- */

struct visited {
	uint64_t bytes, calls, next;
	bool first, merge;
};

static bool check_stretch(const struct pgt_mapping *m)
{
	for (uint64_t at = 0; at < m->len; at += granule) {
		const struct model_page *p = page_at(m->va + at);

		if (!model_has(&model, m->va + at) || p->attr != m->attr || p->pa != m->pa + at)
			return FAIL("visit %#" PRIx64 "+%#" PRIx64 " pa %#" PRIx64 " attr %#" PRIx64
				    ": model at +%#" PRIx64 " %#" PRIx64 " %#" PRIx64, m->va,
				    m->len, m->pa, m->attr, at, p->pa, p->attr);
	}
	return true;
}

static int visit_one(void *ctx, const struct pgt_mapping *m)
{
	struct visited *v = ctx;

	if (m->state != PGT_LEAF || !m->len || (!v->first && m->va < v->next)) {
		FAIL("visit: state %d at %#" PRIx64 "+%#" PRIx64, m->state, m->va, m->len);
		return 1;
	}
	v->first = false;
	v->next = m->va + m->len;
	v->bytes += m->len;
	v->calls++;
	return check_stretch(m) ? 0 : 1;
}

/* Holes and leaves tile the range. */
static int visit_tile(void *ctx, const struct pgt_mapping *m)
{
	struct visited *v = ctx;

	if (m->va != v->next) {
		FAIL("visit with holes: %#" PRIx64 " after %#" PRIx64, m->va, v->next);
		return 1;
	}
	v->next = m->va + m->len;
	v->calls++;
	return 0;
}

static bool check_visit(void)
{
	struct visited v = { .first = true };
	uint64_t from = range_va, bytes = range_len;
	int r = pgt_visit(t, from, bytes, 0, visit_one, &v);

	if (r != PGT_OK || v.bytes != model.mapped * granule)
		return FAIL("visit: %d, %#" PRIx64 " bytes, model %#" PRIx64, r, v.bytes,
			    model.mapped * granule);
	v = (struct visited){ .first = true };
	r = pgt_visit(t, from, bytes, PGT_MERGE, visit_one, &v);
	if (r != PGT_OK || v.calls != model_stretches(&model))
		return FAIL("merging visit: %d, %" PRIu64 " stretches, model %" PRIu64, r, v.calls,
			    model_stretches(&model));
	v = (struct visited){ .next = from };
	r = pgt_visit(t, from, bytes, PGT_HOLES | (embed_once_in(&rng, 2) ? PGT_MERGE : 0),
		      visit_tile, &v);
	if (r != PGT_OK || v.next != from + bytes)
		return FAIL("visit with holes: %d, ends at %#" PRIx64, r, v.next);
	return true;
}

static bool check_stat(const struct ref_report *report)
{
	struct pgt_stat stat;
	uint64_t leaves = 0, want = 0;
	int r = pgt_stat(t, range_va, range_len, &stat);

	if (r != PGT_OK || stat.mapped_bytes != model.mapped * granule || stat.tokens)
		return FAIL("stat: %d, %#" PRIx64 " bytes, model %#" PRIx64, r, stat.mapped_bytes,
			    model.mapped * granule);
	for (unsigned l = 0; l < 5; l++) {
		if (stat.tables[l] != report->tables[l] || stat.runs[l] != report->runs[l] ||
		    (!report->noaccess && stat.leaves[l] != report->leaves[l]))
			return FAIL("stat level %d: %" PRIu64 " %" PRIu64 " %" PRIu64
				    ", the walker finds %" PRIu64 " %" PRIu64 " %" PRIu64,
				    (int)l - 1, stat.tables[l], stat.leaves[l], stat.runs[l],
				    report->tables[l], report->leaves[l], report->runs[l]);
		leaves += stat.leaves[l];
		want += report->leaves[l];
	}
	if (s.format->arm64)
		want += report->noaccess;
	if (leaves != want)
		return FAIL("stat: %" PRIu64 " leaves, the walker finds %" PRIu64, leaves, want);
	if (!gathering && stat.table_bytes != e.live_bytes)
		return FAIL("stat: %#" PRIx64 " bytes of tables, lent are %#" PRIx64,
			    stat.table_bytes, e.live_bytes);
	return true;
}

static int problem(void *ctx, const struct pgt_problem *p)
{
	(void)ctx;
	FAIL("check: level %d entry %#" PRIx64 " at va %#" PRIx64 ": %s", p->level, p->entry, p->va,
	     p->what);
	return 1;
}

/* step: every page, or every so many. */
static bool check_all(uint64_t step, bool keep_tables)
{
	struct ref_report report;

	for (uint64_t i = 0; i < model.pages; i += 1 + embed_below(&rng, step))
		if (!check_page(model_va(&model, i)))
			return false;
	if (!validate(&report))
		return FAIL("the walker refuses level %d entry %#" PRIx64 " at va %#" PRIx64 ": %s",
			    report.level, report.raw, report.va, report.what);
	if (report.empty_tables && !keep_tables)
		return FAIL("%" PRIu64 " empty tables", report.empty_tables);
	if (!gathering && report.all_tables != e.live)
		return FAIL("%" PRIu64 " tables are reachable, %" PRIu64 " lent",
			    report.all_tables, e.live);
	if (!check_stat(&report) || !check_visit())
		return false;
	if (pgt_check(t, problem, NULL) != PGT_OK)
		return FAIL("check complains");
	return true;
}

/* ---- What the TLB must forget -------------------------------------------------------- */

#define FORGOTTEN 8192
static struct forgotten forgotten[FORGOTTEN];
static unsigned forgotten_count;
static uint64_t now;        /* counts calls */
static uint32_t *owed;      /* by page: the call that changed it, 0: none */
static struct forgotten changed[64];
static unsigned changed_count;
static bool unsynced;

static void on_event(struct embed *embed, const struct embed_event *ev)
{
	(void)embed;
	switch (ev->kind) {
	case EMBED_INVALIDATE:
		unsynced = true;
		if (forgotten_count < FORGOTTEN)
			forgotten[forgotten_count++] =
				ev->range.flags & PGT_TLB_ALL ?
					(struct forgotten){ range_va, range_len, now } :
					(struct forgotten){ ev->range.va, ev->range.len, now };
		break;
	case EMBED_SYNC:
		unsynced = false;
		break;
	case EMBED_FREE:
		if (unsynced)
			FAIL("a table is freed before the sync");
		break;
	default:
		break;
	}
}

/* A translation that a TLB may hold was changed by the current call. */
static void owe(uint64_t va, const struct model_page *old)
{
	if (!(s.mode & EMBED_TLB) || old->attr == MODEL_EMPTY || (old->attr & PGT_NOACCESS))
		return;
	owed[model_index(&model, va)] = (uint32_t)now;
}

static void note_changed(uint64_t va, uint64_t len)
{
	if (changed_count < sizeof(changed) / sizeof(*changed))
		changed[changed_count++] = (struct forgotten){ va, len, now };
	else
		changed[0] = (struct forgotten){ model.va, model.pages * granule, now };
}

static void pay(const struct forgotten *f)
{
	for (uint64_t at = 0; at < f->len; at += granule) {
		if (!model_has(&model, f->va + at)) { /* on to the window, if it is ahead */
			uint64_t ahead = model.va - (f->va + at);

			if (ahead >= f->len - at)
				break;
			at += ahead;
		}
		uint32_t *o = &owed[model_index(&model, f->va + at)];

		if (*o <= f->when)
			*o = 0;
	}
}

/* Everything changed since the gather began, or by this call, was invalidated. */
static bool check_paid(void)
{
	for (unsigned i = 0; i < forgotten_count; i++)
		pay(&forgotten[i]);
	for (unsigned i = 0; i < changed_count && forgotten_count < FORGOTTEN; i++)
		for (uint64_t at = 0; at < changed[i].len; at += granule)
			if (owed[model_index(&model, changed[i].va + at)])
				return FAIL("%#" PRIx64 " was changed and never invalidated",
					    changed[i].va + at);
	if (forgotten_count == FORGOTTEN)
		memset(owed, 0, model.pages * sizeof(*owed));
	forgotten_count = 0;
	changed_count = 0;
	return true;
}

static uint64_t same_bytes;    /* what the current call found mapped so already */
static uint64_t same_gathered; /* ... and all calls since the gather began */

/* ---- removed ---------------------------------------------------------------------------- */

static uint64_t removed_bytes;
static uint32_t *removed_by; /* by page: the call that reported it last */

static int on_removed(void *ctx, const struct pgt_mapping *m)
{
	(void)ctx;
	if (m->state != PGT_LEAF)
		FAIL("removed: state %d", m->state);
	for (uint64_t at = 0; at < m->len && !failed; at += granule) {
		const struct model_page *p;

		if (!model_has(&model, m->va + at)) {
			FAIL("removed: %#" PRIx64 "+%#" PRIx64, m->va, m->len);
			break;
		}
		p = page_at(m->va + at);
		if (!model_same(p, m->pa + at, m->attr))
			FAIL("removed: %#" PRIx64 " pa %#" PRIx64 " attr %#" PRIx64 ", model %#"
			     PRIx64 " %#" PRIx64, m->va + at, m->pa + at, m->attr, p->pa, p->attr);
		/* Hardware marks one member of a run, the model all of them. */
		if ((m->attr & MODEL_STATE) & ~p->attr ||
		    (!(s.features & HW) && ((m->attr ^ p->attr) & MODEL_STATE)))
			FAIL("removed: %#" PRIx64 " attr %#" PRIx64 ", model %#" PRIx64,
			     m->va + at, m->attr, p->attr);
		if (removed_by[model_index(&model, m->va + at)] == (uint32_t)now)
			FAIL("removed: %#" PRIx64 " twice", m->va + at);
		removed_by[model_index(&model, m->va + at)] = (uint32_t)now;
	}
	removed_bytes += m->len;
	return 7; /* which is ignored */
}

/* ---- Gathers ------------------------------------------------------------------------------ */

static struct {
	uint64_t mapped, allocated, freed, invalidates, syncs, bytes;
} at_begin;

static void begin_gather(void)
{
	int r = pgt_gather_begin(&gather, t);

	if (r != PGT_OK) {
		FAIL("gather_begin: %s", pgt_strerror(r));
		return;
	}
	snprintf(next_history(), sizeof(history[0]), "gather_begin");
	gather.removed = on_removed;
	gathering = true;
	same_gathered = 0;
	at_begin.mapped = model.mapped;
	at_begin.allocated = e.allocated;
	at_begin.freed = e.freed;
	at_begin.invalidates = e.count[EMBED_INVALIDATE];
	at_begin.syncs = e.count[EMBED_SYNC];
}

static bool check_tally(void)
{
	const struct pgt_tally *y = &gather.tally;

	/* What was mapped so before may count as mapped. */
	if (y->mapped - y->unmapped - (model.mapped - at_begin.mapped) * granule > same_gathered)
		return FAIL("tally: mapped %#" PRIx64 " unmapped %#" PRIx64 ", model %" PRId64
			    " pages more", y->mapped, y->unmapped,
			    (int64_t)(model.mapped - at_begin.mapped));
	if (y->tables_allocated - y->tables_freed !=
	    (e.allocated - at_begin.allocated) - (e.freed - at_begin.freed))
		return FAIL("tally: %" PRIu64 " tables allocated, %" PRIu64 " freed; the allocator"
			    " saw %" PRIu64 " %" PRIu64, y->tables_allocated, y->tables_freed,
			    e.allocated - at_begin.allocated, e.freed - at_begin.freed);
	if (y->invalidates != e.count[EMBED_INVALIDATE] - at_begin.invalidates ||
	    y->syncs != e.count[EMBED_SYNC] - at_begin.syncs)
		return FAIL("tally: %" PRIu64 " invalidates, %" PRIu64 " syncs; made were %" PRIu64
			    " %" PRIu64, y->invalidates, y->syncs,
			    e.count[EMBED_INVALIDATE] - at_begin.invalidates,
			    e.count[EMBED_SYNC] - at_begin.syncs);
	return true;
}

static void end_gather(void)
{
	int r;

	now++;
	r = pgt_gather_end(&gather);
	gathering = false;
	snprintf(next_history(), sizeof(history[0]), "gather_end");
	if (r != PGT_OK)
		FAIL("gather_end: %s", pgt_strerror(r));
	else if (unsynced)
		FAIL("gather_end leaves an invalidation without sync");
	else if (check_tally())
		check_paid();
}

/* ---- Calls ----------------------------------------------------------------------------------- */

struct call {
	enum { MAP, UNMAP, TRIM } what;
	uint64_t va, len, pa, attr;
	unsigned flags, max_bits;
};

static int do_call(const struct call *c)
{
	struct pgt_gather *g = gathering ? &gather : NULL;

	switch (c->what) {
	case MAP:
		return pgt_map(t, c->va, c->pa, c->len, c->attr, c->flags, g);
	case UNMAP:
		return pgt_unmap(t, c->va, c->len, c->flags, g);
	default:
		return pgt_trim(t, c->va, c->len, g);
	}
}

static void record(const struct call *c)
{
	static const char *const names[] = { "map", "unmap", "trim" };

	snprintf(next_history(), sizeof(history[0]),
		 "%s va %#" PRIx64 " len %#" PRIx64 " pa %#" PRIx64 " attr %#" PRIx64 " flags %#x",
		 names[c->what], c->va, c->len, c->pa, c->attr, c->flags);
}

/* A leaf or run that lies on both sides of va, as it is before the call. */
static bool cut(uint64_t va, struct pgt_mapping *m)
{
	if (va == range_va + range_len || pgt_query(t, va, m) != PGT_OK || m->state != PGT_LEAF)
		return false;
	return run_start(m) < va;
}

/* Whether a call that changes [va, va+len) has to cut a leaf at its edge, and
 * whether it has to break it for that. */
static void edge(const struct call *c, uint64_t at, bool *splits, bool *breaks)
{
	struct pgt_mapping m;
	uint64_t inside = at == c->va ? at : at - granule;

	if (!cut(at, &m))
		return;
	/* What stays as it is needs no cut. */
	if (c->what == MAP && model_same(page_at(inside), c->pa + (inside - c->va), c->attr))
		return;
	*splits = true;
	*breaks |= !(m.attr & PGT_NOACCESS);
}

#define EITHER 1 /* as a status: the contract leaves it open */

/* Whether a page that a map replaces has to be broken. */
static int page_needs_break(const struct model_page *p, uint64_t pa, uint64_t attr)
{
	const uint64_t must = PGT_MEM_MASK | PGT_SH_MASK;

	if (p->attr == MODEL_EMPTY || (p->attr & PGT_NOACCESS) || model_same(p, pa, attr))
		return PGT_OK;
	if (attr & PGT_NOACCESS)
		return EITHER;
	return p->pa != pa || ((p->attr ^ attr) & must) ? PGT_EBREAK : EITHER;
}

static int expect_map(const struct call *c)
{
	bool splits = false, breaks = false;
	int worst = PGT_OK;

	if (!(c->flags & PGT_REPLACE)) {
		for (uint64_t at = 0; at < c->len; at += granule)
			if (page_at(c->va + at)->attr != MODEL_EMPTY)
				return PGT_EEXIST;
		return PGT_OK;
	}
	edge(c, c->va, &splits, &breaks);
	edge(c, c->va + c->len, &splits, &breaks);
	if (c->flags & PGT_NO_SPLIT && splits)
		return c->flags & PGT_NO_BREAK && s.mode & EMBED_TLB ? EITHER : PGT_EBLOCK;
	if (!(c->flags & PGT_NO_BREAK) || !(s.mode & EMBED_TLB))
		return PGT_OK;
	if (breaks)
		return s.features & PGT_FEAT_BBM2 ? EITHER : PGT_EBREAK;
	for (uint64_t at = 0; at < c->len && worst != PGT_EBREAK; at += granule) {
		int one = page_needs_break(page_at(c->va + at), c->pa + at, c->attr);

		worst = one != PGT_OK ? one : worst;
	}
	return worst;
}

static int expect_unmap(const struct call *c)
{
	bool splits = false, breaks = false;

	edge(c, c->va, &splits, &breaks);
	edge(c, c->va + c->len, &splits, &breaks);
	if (!splits || (c->flags & PGT_WHOLE))
		return PGT_OK;
	breaks &= (c->flags & PGT_NO_BREAK) && (s.mode & EMBED_TLB);
	if (c->flags & PGT_NO_SPLIT)
		return breaks ? EITHER : PGT_EBLOCK;
	if (breaks && s.features & PGT_FEAT_BBM2)
		return EITHER; /* it may be elided */
	return breaks ? PGT_EBREAK : PGT_OK;
}

/* PGT_WHOLE: the range with what it covers in part. */
static void widen(const struct call *c, uint64_t *va, uint64_t *len)
{
	struct pgt_mapping m;
	uint64_t end = c->va + c->len;

	*va = c->va;
	*len = c->len;
	if (c->what != UNMAP || !(c->flags & PGT_WHOLE))
		return;
	if (cut(c->va, &m)) {
		*va = run_start(&m);
		*len += c->va - *va;
	}
	if (cut(end, &m))
		*len = run_start(&m) + m.run_bytes - *va;
}

/*
 * What a map finds there already stays as it is, unless it becomes part of a
 * larger leaf: then it may be replaced like the rest, which makes its state new.
 */
static bool follow_same(const struct call *c, uint64_t va)
{
	uint64_t *attr = &model.page[model_index(&model, va)].attr;
	uint64_t fresh = c->attr | model.start_state;
	struct pgt_mapping m;

	if (*attr == fresh)
		return true;
	if (pgt_query(t, va, &m) != PGT_OK || (m.attr != *attr && m.attr != fresh))
		return FAIL("%#" PRIx64 " was mapped so and has attr %#" PRIx64 " now, before %#"
			    PRIx64, va, m.attr, *attr);
	*attr = m.attr;
	return true;
}

/* The model follows a call that succeeded: the bytes that went. */
static uint64_t follow(const struct call *c, uint64_t va, uint64_t len)
{
	uint64_t gone = 0;

	same_bytes = 0;

	for (uint64_t at = 0; at < len && c->what != TRIM; at += granule) {
		const struct model_page *p = page_at(va + at);

		if (p->attr == MODEL_EMPTY)
			continue;
		if (c->what == MAP && model_same(p, c->pa + at, c->attr)) {
			same_bytes += granule;
			follow_same(c, va + at);
			continue;
		}
		gone += granule;
		/* Software bits are no translation. */
		if (c->what == UNMAP || p->pa != c->pa + at ||
		    (p->attr ^ c->attr) & ~(MODEL_STATE | MODEL_SOFTWARE))
			owe(va + at, p);
	}
	if (c->what == MAP)
		model_map(&model, va, c->pa, len, c->attr, c->flags);
	else if (c->what == UNMAP)
		model_unmap(&model, va, len);
	note_changed(va, len);
	same_gathered += same_bytes;
	return gone;
}

static bool kept_tables; /* since the last trim of everything */

static bool check_layout(const struct call *c, uint64_t va)
{
	uint64_t want = want_size(va, c->va, c->len, c->pa, c->attr, c->max_bits);
	struct pgt_mapping m;

	/* An empty table may stand where a block could, or a member of a run. */
	if (kept_tables)
		return true;
	if (pgt_query(t, va, &m) != PGT_OK || m.run_bytes != want)
		return FAIL("at %#" PRIx64 " a leaf or run of %#" PRIx64 " bytes, want %#" PRIx64,
			    va, m.run_bytes, want);
	return true;
}

/* The edges of the call and a sample of its range and of the window. */
static bool check_around(const struct call *c, bool done)
{
	for (unsigned i = 0; i < 12; i++) {
		uint64_t va = i == 0 ? c->va : i == 1 ? c->va + c->len - granule :
			      i == 2 ? c->va - granule : i == 3 ? c->va + c->len :
			      i < 8 ? c->va + embed_below(&rng, c->len / granule) * granule :
			      model_va(&model, embed_below(&rng, model.pages));

		if (!model_has(&model, va) || va - range_va >= range_len)
			continue;
		if (!check_page(va))
			return false;
		if (done && c->what == MAP && !(c->flags & PGT_REPLACE) && va - c->va < c->len &&
		    !check_layout(c, va))
			return false;
	}
	return true;
}

static struct embed_snapshot before;

/* Each allocation of the call refused in turn; the last try succeeds. */
static int starve(const struct call *c)
{
	uint64_t digest = embed_digest(t);
	int r;

	embed_snapshot(&e, &before);
	for (uint64_t k = 1;; k++) {
		const char *what;

		now++;
		embed_fail(&e, k, embed_once_in(&rng, 2));
		r = do_call(c);
		if (r == PGT_OK && e.count[EMBED_REFUSED])
			FAIL("a refused allocation went unnoticed");
		embed_fail(&e, 0, false);
		if (r != PGT_ENOMEM)
			return r;
		if (!e.count[EMBED_REFUSED]) {
			FAIL("PGT_ENOMEM, but nothing was refused");
			return r;
		}
		e.count[EMBED_REFUSED] = 0;
		what = embed_compare(&e, &before);
		if (what)
			FAIL("allocation %" PRIu64 " refused: %s", k, what);
		else if (embed_digest(t) != digest)
			FAIL("allocation %" PRIu64 " refused: what is mapped changed", k);
		else if (embed_unwritten(&e))
			FAIL("allocation %" PRIu64 " refused: a write wasn't announced", k);
		else if (removed_bytes)
			FAIL("allocation %" PRIu64 " refused, yet something was removed", k);
		if (failed)
			return r;
	}
}

static const char *name_of(int status)
{
	return status == EITHER ? "either" : pgt_strerror(status);
}

static bool check_needed(const struct call *c, uint64_t allocated)
{
	uint64_t most = 0;
	int r;

	if (c->what != MAP)
		return true;
	r = pgt_tables_needed(t, c->va, c->pa, c->len, c->attr, c->flags, &most);
	if (r != PGT_OK || allocated > most)
		return FAIL("tables_needed: %s, %" PRIu64 "; the call took %" PRIu64,
			    pgt_strerror(r), most, allocated);
	return true;
}

static bool run_call(const struct call *c)
{
	bool compare = embed_once_in(&rng, 4), starving = embed_once_in(&rng, 8);
	uint64_t allocated, gone, va, len, digest = 0;
	int want = c->what == MAP ? expect_map(c) : c->what == UNMAP ? expect_unmap(c) : PGT_OK;
	int r = PGT_OK;

	record(c);
	now++;
	widen(c, &va, &len);
	removed_bytes = 0;
	if (compare && want != PGT_OK) {
		digest = embed_digest(t);
		embed_snapshot(&e, &before);
	}
	if (starving && want == PGT_OK)
		r = starve(c);
	if (failed)
		return false;
	allocated = e.allocated;
	if (!starving || want != PGT_OK)
		r = do_call(c);
	allocated = e.allocated - allocated;
	if (want == EITHER && (r == PGT_EBREAK || r == PGT_EBLOCK))
		want = r;
	if (r != (want == EITHER ? PGT_OK : want))
		return FAIL("%s, want %s", pgt_strerror(r), name_of(want));
	if (unsynced)
		return FAIL("the call leaves an invalidation without sync");
	if (embed_unwritten(&e))
		return FAIL("the entry at %#" PRIx64 " was written and not announced",
			    embed_unwritten(&e));
	if (r != PGT_OK) {
		if (removed_bytes)
			return FAIL("the call failed, yet something was removed");
		if (digest && (embed_digest(t) != digest || embed_compare(&e, &before)))
			return FAIL("the call failed and changed something");
		return check_around(c, false);
	}
	gone = follow(c, va, len);
	if (gathering && (removed_bytes < gone || removed_bytes > gone + same_bytes))
		return FAIL("removed: %#" PRIx64 " bytes, model %#" PRIx64, removed_bytes, gone);
	if (!gathering && !check_paid())
		return false;
	return check_needed(c, allocated) && check_around(c, true);
}

/* Hardware marks an entry. */
static bool touch(void)
{
	uint64_t va = model_va(&model, embed_below(&rng, model.pages));
	unsigned access = (unsigned)embed_below(&rng, 2) + (embed_once_in(&rng, 2) ? 3 : 0);
	const struct model_page *p = page_at(va);
	struct pgt_translation x;
	struct pgt_mapping m;
	struct ref_answer a;
	int r;

	if (p->attr == MODEL_EMPTY || pgt_query(t, va, &m) != PGT_OK)
		return true;
	walk(va, &a);
	snprintf(next_history(), sizeof(history[0]), "translate va %#" PRIx64 " access %#" PRIx64
		 " and update", va, accesses[access]);
	r = pgt_translate(t, va, accesses[access] | PGT_UPDATE, &x);
	if (!check_answer(va, access, &a, r, &x))
		return false;
	if (r == PGT_OK)
		model_touch(&model, run_start(&m), m.run_bytes,
			    PGT_YOUNG | (access % 3 == 1 ? PGT_DIRTY : 0));
	return check_page(va);
}

/* ---- Choosing calls ------------------------------------------------------------------------- */

static uint64_t choose_size(void)
{
	unsigned bits;

	do
		bits = s.granule + (unsigned)embed_below(&rng, 31);
	while (bits > 63 || !(sizes >> bits & 1));
	return UINT64_C(1) << bits;
}

/* A range inside the window: small and odd, around borders, whole pieces, the end. */
static void choose_range(struct call *c)
{
	uint64_t n = model.pages, size = choose_size() / granule, first, count;

	if (size > n)
		size = 1;
	switch (embed_below(&rng, 6)) {
	case 0: /* anywhere, small */
		first = embed_below(&rng, n);
		count = 1 + embed_below(&rng, 5);
		break;
	case 1: /* whole pieces */
		first = embed_below(&rng, n / size) * size;
		count = size * (1 + embed_below(&rng, 3));
		break;
	case 2: /* across borders */
		first = embed_below(&rng, n / size + 1) * size;
		first -= first ? embed_below(&rng, 3) % first : 0;
		count = size * embed_below(&rng, 3) + 1 + embed_below(&rng, 4);
		break;
	case 3: /* up to the end */
		count = 1 + embed_below(&rng, embed_once_in(&rng, 2) ? 9 : n);
		first = n - (count < n ? count : n);
		break;
	case 4: /* anything */
		first = embed_below(&rng, n);
		count = 1 + embed_below(&rng, n - first);
		break;
	default: /* all but the edges of pieces */
		first = embed_below(&rng, n / size) * size + embed_below(&rng, 2);
		count = size > 2 ? size - embed_below(&rng, 3) : 1;
		break;
	}
	if (first >= n)
		first = n - 1;
	if (count > n - first)
		count = n - first;
	c->va = model_va(&model, first);
	c->len = count * granule;
}

/* Across a PA from which on a carry goes into bits that stand elsewhere. */
static void choose_pa_across(struct call *c, uint64_t space)
{
	uint64_t carry = UINT64_C(1) << (s.granule == 16 ? 48 : 50);
	uint64_t at = (1 + embed_below(&rng, space / carry - 1)) * carry;
	uint64_t half = c->len / 2 / granule * granule;

	/* Aligned as the VA is, so that leaves and runs of any size cross it. */
	c->pa = at - half;
	c->pa += (c->va - c->pa) & ((UINT64_C(1) << 36) - 1) & ~(granule - 1);
	if (c->pa > at)
		c->pa -= c->pa - at < half ? 0 : UINT64_C(1) << 36;
	if (c->pa > space - c->len)
		c->pa = at - half;
}

/* Mostly one of a few offsets from the VA, so that what is mapped meets itself again. */
static void choose_pa(struct call *c)
{
	uint64_t space = UINT64_C(1) << s.output, top = space - c->len;
	uint64_t window = c->va - model.va + (model.va & ((UINT64_C(1) << 36) - 1) & (space / 2 - 1));
	uint64_t offset;

	if (s.format->large && s.output == 52 && embed_once_in(&rng, 4)) {
		choose_pa_across(c, space);
		return;
	}
	switch (embed_below(&rng, 8)) {
	case 0:
		c->pa = embed_below(&rng, top / granule + 1) * granule;
		break;
	case 1:
		c->pa = top;
		break;
	case 2:
		c->pa = 0;
		break;
	case 3: /* a page off */
		offset = granule;
		c->pa = window + offset;
		break;
	default:
		offset = embed_below(&rng, 2) * (space / 2);
		c->pa = window + offset;
	}
	if (c->pa > top || c->pa % granule)
		c->pa = c->va % (space / 4) <= top ? c->va % (space / 4) : 0;
}

static uint64_t choose_attr(void)
{
	static const uint64_t arm64[] = {
		PGT_READ, PGT_READ | PGT_WRITE, PGT_READ | PGT_EXEC,
		PGT_READ | PGT_WRITE | PGT_USER, PGT_READ | PGT_USER | PGT_UEXEC, PGT_UEXEC,
		PGT_READ | PGT_WRITE | PGT_EXEC, PGT_READ | PGT_USER, PERMISSIONS,
		PGT_READ | PGT_EXEC | PGT_USER | PGT_UEXEC,
	};
	uint64_t attr = s.format->arm64 ? arm64[embed_below(&rng, sizeof(arm64) / sizeof(*arm64))] :
				  embed_random(&rng) & PERMISSIONS;

	if (embed_once_in(&rng, 2)) /* few kinds, so that equal ones meet */
		return PGT_READ | PGT_WRITE;
	if (embed_once_in(&rng, 4))
		attr |= PGT_GLOBAL;
	if (embed_once_in(&rng, 6))
		attr |= PGT_GUARDED;
	if (embed_once_in(&rng, 6))
		attr |= PGT_SW0 * embed_below(&rng, 8);
	if (embed_once_in(&rng, 6))
		attr |= PGT_SH_OUTER * embed_below(&rng, 3);
	if (embed_once_in(&rng, 12))
		attr |= PGT_NOACCESS;
	if (embed_once_in(&rng, 4)) {
		uint64_t mem = PGT_MEM_NOCACHE * embed_below(&rng, 5);

		if (mem < PGT_MEM_DEVICE || !(attr & (PGT_EXEC | PGT_UEXEC)))
			attr |= mem;
	}
	return format_attr(s.format, s.granule, attr);
}

static void choose_flags(struct call *c)
{
	uint64_t r = embed_random(&rng);

	c->max_bits = 63;
	if (c->what == MAP) {
		c->flags |= r & 1 ? PGT_REPLACE : 0;
		if ((r >> 8) % 6 == 0) {
			c->max_bits = s.granule + (unsigned)((r >> 16) % 24);
			c->flags |= PGT_MAX_LEAF(c->max_bits);
		}
	}
	c->flags |= (r >> 24) % 5 == 0 ? PGT_KEEP_TABLES : 0;
	c->flags |= (r >> 32) % 6 == 0 ? PGT_NO_SPLIT : 0;
	c->flags |= (r >> 40) % 6 == 0 ? PGT_NO_BREAK : 0;
	if (c->what == UNMAP && (r >> 48) % 5 == 0)
		c->flags |= PGT_WHOLE;
}

static bool random_call(void)
{
	struct call c = { .what = MAP };
	uint64_t r = embed_below(&rng, 100);

	choose_range(&c);
	if (r < 40)
		c.what = UNMAP;
	else if (r < 46)
		c.what = TRIM;
	if (c.what != TRIM)
		choose_flags(&c);
	if (c.what == MAP) {
		c.attr = choose_attr();
		choose_pa(&c);
		/* State of its own, where something may start old or clean. */
		if ((s.features & TRACK) && !(c.flags & PGT_REPLACE))
			c.attr |= embed_random(&rng) & MODEL_STATE;
	}
	kept_tables |= (c.flags & PGT_KEEP_TABLES) != 0;
	return run_call(&c);
}

/* ---- A configuration --------------------------------------------------------------------------- */

static void choose_window(void)
{
	uint64_t pages = range_len / granule, big = UINT64_C(1) << ref_shift(s.granule, 2), at;

	if (s.pages < pages)
		pages = s.pages;
	switch (s.place) {
	case AT_ZERO:
		at = 0;
		break;
	case AT_TOP:
		at = range_len - pages * granule;
		break;
	case AT_MIDDLE: /* across a border of the root */
		at = range_len / 2 - pages / 2 * granule;
		break;
	default:
		at = embed_random(&rng) % (range_len - pages * granule + 1);
		at = at / (embed_once_in(&rng, 2) ? big : granule);
		at *= at * big + pages * granule <= range_len ? big : granule;
		if (at > range_len - pages * granule)
			at = 0;
	}
	model_init(&model, s.granule, range_va + at, pages,
		   (s.features & PGT_FEAT_TRACK_YOUNG ? 0 : PGT_YOUNG) |
		   (s.features & PGT_FEAT_TRACK_DIRTY ? 0 : PGT_DIRTY));
	owed = calloc(pages, sizeof(*owed));
	removed_by = calloc(pages, sizeof(*removed_by));
	if (!owed || !removed_by)
		abort();
}

static bool run_steps(void)
{
	uint64_t step = model.pages > 8192 ? model.pages / 500 : 1, until_end = 0;

	for (uint64_t i = 0; i < s.steps && !failed; i++) {
		if (gathering && until_end-- == 0) {
			end_gather();
		} else if (!gathering && embed_once_in(&rng, 6)) {
			begin_gather();
			until_end = embed_below(&rng, 8);
		}
		if (failed)
			return false;
		if ((s.features & HW) && embed_once_in(&rng, 2) && !touch())
			return false;
		if (!random_call())
			return false;
		if (i % 24 == 23 && !check_all(step, kept_tables))
			return false;
		if (!gathering && kept_tables && embed_once_in(&rng, 40)) {
			struct call c = { .what = TRIM, .va = range_va, .len = range_len };

			record(&c);
			now++;
			if (do_call(&c) != PGT_OK)
				return FAIL("trim");
			kept_tables = false;
			if (!check_all(step, false))
				return false;
		}
	}
	if (gathering)
		end_gather();
	return !failed && check_all(step, kept_tables);
}

/* Unmapping everything leaves the root, destroying leaves nothing. */
static bool finish(void)
{
	struct call c = { .what = UNMAP, .va = range_va, .len = range_len };
	uint64_t stray;
	int r;

	record(&c);
	now++;
	r = do_call(&c);
	if (r != PGT_OK)
		return FAIL("unmap all: %s", pgt_strerror(r));
	model_unmap(&model, model.va, model.pages * granule);
	r = pgt_trim(t, range_va, range_len, NULL);
	if (r != PGT_OK || e.live != 1)
		return FAIL("unmapped: %s, %" PRIu64 " tables live", pgt_strerror(r), e.live);
	if (!check_all(model.pages / 64 + 1, false))
		return false;
	stray = embed_stray(&e);
	if (stray)
		return FAIL("memory at %#" PRIx64 " isn't the library's and was written", stray);
	if (e.refused_addresses)
		return FAIL("the library asked for %#" PRIx64 ", which is no table", e.refused_pa);
	return true;
}

/* Where addresses are of 52 bits, tables have them too. */
static void place_tables(void)
{
	uint64_t pa = s.format->large && s.output == 52 ? UINT64_C(0xd800080000000) : EMBED_PA;

	if (e.buffer && e.pa == pa)
		return;
	embed_fini(&e);
	embed_init(&e, BUFFER, pa);
}

static void run_setup(unsigned number)
{
	struct pgt_arm64_config own = { .size = sizeof(own), .levels = (uint16_t)s.format->levels };
	struct pgt_config config;
	int r;

	place_tables();
	config = embed_config(&e, s.format->name, s.granule, s.input, s.output, s.features, s.mode);
	if (s.format->levels)
		config.format_config = &own;
	failed = gathering = unsynced = kept_tables = false;
	calls = 0;
	now = 0;
	forgotten_count = changed_count = 0;
	embed_log_clear(&e);
	e.allocated = e.freed = e.refused_addresses = 0;
	e.hook = on_event;
	granule = UINT64_C(1) << s.granule;
	sizes = format_sizes(s.format, s.granule, s.input, !(s.features & PGT_FEAT_NO_BLOCKS),
			     s.features & PGT_FEAT_CONTIG);
	r = pgt_create(&config, &t);
	if (r != PGT_OK) {
		FAIL("create: %s", pgt_strerror(r));
	} else {
		embed_range(t, &range_va, &range_len);
		ref = format_walker(s.format, s.granule, s.input, s.output, s.features);
		ref.read = read_raw;
		ref.ctx = &e;
		ref.root = pgt_root(t);
		choose_window();
		if (pgt_leaf_sizes(t) != sizes)
			FAIL("leaf_sizes %#" PRIx64 ", want %#" PRIx64, pgt_leaf_sizes(t), sizes);
		else if (run_steps())
			finish();
		if (!failed) {
			pgt_destroy(t);
			if (e.live)
				FAIL("%" PRIu64 " tables live after destroy", e.live);
		}
		model_fini(&model);
		free(owed);
		free(removed_by);
	}
	ok(!failed, "%u: %s%s %u/%u/%u%s%s%s%s%s%s%s window of %" PRIu64 " pages at %#" PRIx64, number,
	   s.format->name, s.format->what ? s.format->what : "", s.granule, s.input, s.output,
	   s.features & PGT_FEAT_UPPER ? " upper" : "",
	   s.features & PGT_FEAT_CONTIG ? " contig" : "",
	   s.features & TRACK ? " track" : "", s.features & HW ? " hw" : "",
	   s.features & PGT_FEAT_NO_BLOCKS ? " pages only" : "",
	   s.mode & EMBED_TLB ? " tlb" : "", s.mode & EMBED_WINDOW ? " by window" : "",
	   model.pages, model.va);
	if (failed) /* what it left may be anything */
		embed_fini(&e);
}

/* Variants that go with every geometry in turn. */
static const struct {
	uint64_t features;
	unsigned mode;
} variants[] = {
	{ PGT_FEAT_CONTIG, EMBED_TLB },
	{ 0, EMBED_ALL | EMBED_WINDOW },
	{ PGT_FEAT_CONTIG | TRACK | HW, EMBED_TLB | EMBED_PUBLISH },
	{ PGT_FEAT_CONTIG, EMBED_WINDOW | EMBED_WRITTEN },
	{ TRACK, EMBED_TLB },
	{ PGT_FEAT_CONTIG | PGT_FEAT_BBM2, EMBED_ALL },
	{ PGT_FEAT_CONTIG | TRACK, EMBED_ALL | EMBED_WINDOW },
	{ PGT_FEAT_NO_BLOCKS, EMBED_TLB | EMBED_WINDOW },
	{ PGT_FEAT_CONTIG, 0 },
};

#define VARIANTS (sizeof(variants) / sizeof(*variants))

/* An intermediate address is one of stage 1's outputs. */
static void fit_input(void)
{
	if (s.format->regime == REF_S2 && s.input > s.output)
		s.input = s.output;
}

static void choose_setup(const struct format *f, unsigned number, unsigned g, unsigned input,
			 bool upper, uint64_t pages, unsigned steps)
{
	static const unsigned outputs[] = { 48, 40, 48, 36, 44, 48, 42 };
	unsigned v = number % VARIANTS;

	s = (struct setup){
		.format = f, .granule = g, .input = format_input(f, input),
		.output = format_output(f, outputs[number % 7]),
		.features = variants[v].features | format_features(f, g) | (upper ? PGT_FEAT_UPPER : 0),
		.mode = variants[v].mode,
		.place = (enum place)(number % 4),
		.pages = pages,
		.steps = (unsigned)embed_rounds(f->share ? steps / f->share : steps),
	};
	fit_input();
}

static unsigned number, only;
static uint64_t seed;

/* Whether the next configuration is to be run. */
static bool next_number(void)
{
	number++;
	rng.state = seed + number * 2;
	return !only || number == only;
}

/* Where everything can be compared in no time. */
#define SMALL_STEPS 3000

/* Each kind of input size. */
static void run_inputs(const struct format *f, unsigned g, bool upper)
{
	static const unsigned inputs[] = { 25, 36, 39, 47, 48 };
	unsigned steps = g < 12 ? SMALL_STEPS : g == 12 ? 220 : g == 14 ? 120 : 60;

	for (unsigned i = 0; i < 5; i++)
		if (next_number()) {
			choose_setup(f, number, g, inputs[i], upper, UINT64_C(4) << (g - 3), steps);
			run_setup(number);
		}
}

/* A window with room for the largest runs, and blocks of level 1. */
static void run_large(const struct format *f, unsigned g, bool upper, unsigned turn)
{
	static const unsigned inputs[] = { 36, 39, 47, 48 };
	uint64_t pages = g == 12 ? 655360 : g == 14 ? 163840 : g == 16 ? 524288 : UINT64_MAX;

	if (!next_number())
		return;
	choose_setup(f, number, g, inputs[turn % 4], upper, pages, g < 12 ? SMALL_STEPS : 24);
	s.features |= PGT_FEAT_CONTIG;
	s.features &= ~PGT_FEAT_NO_BLOCKS;
	s.output = f->output;
	s.input = format_input(f, inputs[turn % 4]);
	run_setup(number);
}

static void run_half(const struct format *f, bool upper, unsigned kind)
{
	for (unsigned i = 0; f->granules[i]; i++)
		run_inputs(f, f->granules[i], upper);
	for (unsigned i = 0; f->granules[i]; i++)
		run_large(f, f->granules[i], upper, kind + i);
}

int main(void)
{
	const char *given = getenv("PGT_TEST_ONLY");
	unsigned kind = 0;

	if (!formats[0])
		return tap_skip_all("no format of these was built");
	only = given ? (unsigned)strtoul(given, NULL, 0) : 0;
	embed_init(&e, BUFFER, EMBED_PA);
	embed_seed(&rng, 1);
	seed = rng.state;
	for (unsigned turn = 0; turn < 2; turn++)
		for (const struct format *const *f = formats; *f; f++)
			for (unsigned upper = 0; upper <= (*f)->upper; upper++)
				run_half(*f, upper, kind++);
	embed_snapshot_free(&before);
	embed_fini(&e);
	return tap_done();
}
