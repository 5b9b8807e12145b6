/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random sequences of all changing calls beside the flat model: for each page
 * its PA, attributes, young, dirty or token.  Hardware sets state between the
 * calls, through the library's walker and in single members of runs, and a TLB
 * and a walk cache hold on to what they have seen until they are told to forget
 * it.  The pages lie in several windows far apart; whole regions of the space,
 * with a window inside, are moved as well.  After each call the pages that it
 * touched are compared, regularly everything; some calls run out of memory at
 * every allocation first and must leave no trace.  PGT_TEST_ROUNDS multiplies
 * the length, PGT_TEST_SEED starts elsewhere, PGT_TEST_ONLY runs one
 * configuration by its number.
 */
#include <string.h>
#include <pgtable/arm64.h>
#include "embed.h"
#include "format.h"
#include "model/model.h"
#include "model/promise.h"
#include "tap.h"

#define BUFFER (UINT64_C(96) << 20)
#define HW (PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY)
#define TRACK (PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY)
#define BIT(n) (UINT64_C(1) << (n))
#define ZONES 3

struct setup {
	const struct format *format;
	unsigned granule, input, output;
	uint64_t features;
	unsigned mode;
	unsigned unit_bits; /* of memory's units; 0: no callback */
	bool asks;          /* whether pages may be made writable */
	uint64_t pages;     /* a window */
	uint64_t steps;
};

static struct embed e;
static struct embed_rng rng;
static struct setup s;
static struct pgt *t, *other; /* other is what copies go to */
static struct model zone[ZONES], theirs[ZONES];
static struct ref ref;
static uint64_t range_va, range_len;
static uint64_t granule, sizes; /* bytes; bit n: leaves or runs of 2^n bytes */
static struct pgt_gather gather;
static bool gathering, failed, kept_tables;
static uint64_t now; /* counts calls */

/* ---- Reporting ------------------------------------------------------------ */

#define HISTORY 24
static char history[HISTORY][240];
static unsigned noted;

static char *next_history(void)
{
	return history[noted++ % HISTORY];
}

#define NOTE(...) snprintf(next_history(), sizeof(history[0]), __VA_ARGS__)
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
	for (unsigned i = noted > HISTORY ? noted - HISTORY : 0; i < noted; i++)
		printf("# %u: %s\n", i, history[i % HISTORY]);
	fflush(stdout);
	return false;
}

/* ---- The format ------------------------------------------------------------- */

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

static void write_raw(uint64_t pa, uint64_t value)
{
	unsigned char *at = embed_live(&e, pa, 8);

	for (unsigned i = 0; at && i < 8; i++, value >>= 8)
		at[i] = (unsigned char)value;
}

static void walk(uint64_t va, struct ref_answer *a)
{
	s.format->translate(&ref, va, a);
}

static enum ref_fault judge(const struct ref_answer *a, char what, bool unprivileged)
{
	return s.format->access(&ref, a, what, unprivileged);
}

static struct model *zone_of(uint64_t va)
{
	for (unsigned i = 0; i < ZONES; i++)
		if (model_has(&zone[i], va))
			return &zone[i];
	return NULL;
}

/* ---- Memory: where a page may be made writable, and units -------------------- */

/* Memory of the upper half may not be made writable: no leaf is on both sides. */
static bool may_write(uint64_t pa)
{
	return !s.asks || !(pa >> (s.output - 1));
}

static uint64_t writable(void *ctx, uint64_t va, uint64_t pa, uint64_t len, uint64_t attr, bool *yes)
{
	(void)ctx;
	(void)va;
	(void)attr;
	*yes = may_write(pa);
	return len > BIT(s.output - 1) - (pa & (BIT(s.output - 1) - 1)) ?
		       BIT(s.output - 1) - (pa & (BIT(s.output - 1) - 1)) : len;
}

static uint64_t unit(void *ctx, uint64_t pa, uint64_t len)
{
	uint64_t rest = BIT(s.unit_bits) - (pa & (BIT(s.unit_bits) - 1));

	(void)ctx;
	return rest < len ? rest : len;
}

/* ---- A TLB ------------------------------------------------------------------- */

struct held {
	uint64_t va;
	bool valid;
	bool lax;    /* its young state was cleared lazily */
	bool looser; /* a lazy or a local change made the entry allow more */
	struct ref_answer a;
};

#define HELD 64
static struct held held[HELD];
static unsigned next_held;

static struct pointer {
	uint64_t va, table;
	bool valid;
} pointers[HELD];

static bool unsynced;
static uint64_t local_va, local_len; /* of the last PGT_TLB_LOCAL invalidation */

static bool within(uint64_t va, const struct pgt_tlb_range *r)
{
	return (r->flags & PGT_TLB_ALL) || va - r->va < r->len;
}

/* The table that the last entry of a walk stands in. */
static uint64_t table_of(const struct ref_answer *a)
{
	return a->entry_pa & ~(granule - 1);
}

static void hold(uint64_t va, const struct ref_answer *a)
{
	unsigned i = next_held++ % HELD;

	if (!(s.mode & EMBED_TLB))
		return;
	held[i] = (struct held){ va, true, false, false, *a };
	pointers[i] = (struct pointer){ va, table_of(a), a->level > ref_start(&ref) };
}

static void forget(const struct pgt_tlb_range *r)
{
	for (unsigned i = 0; i < HELD; i++) {
		held[i].valid &= !within(held[i].va, r);
		if (r->flags & (PGT_TLB_WALK | PGT_TLB_ALL))
			pointers[i].valid &= !within(pointers[i].va, r);
	}
	if (r->flags & PGT_TLB_LOCAL) {
		local_va = r->va;
		local_len = r->len;
	}
}

static void on_event(struct embed *embed, const struct embed_event *ev)
{
	(void)embed;
	if (ev->kind == EMBED_INVALIDATE) {
		unsynced = true;
		forget(&ev->range);
	} else if (ev->kind == EMBED_SYNC) {
		unsynced = false;
	} else if (ev->kind == EMBED_FREE) {
		if (unsynced)
			FAIL("a table is freed before the sync");
		for (unsigned i = 0; i < HELD; i++)
			if (pointers[i].valid && pointers[i].table == ev->pa)
				FAIL("the table at %#" PRIx64 " is freed, and walks of %#" PRIx64
				     " still use it", ev->pa, pointers[i].va);
	}
}

/* What a permission the other way round would let through, or lose. */
static bool allows_more(const struct ref_answer *a, const struct ref_answer *b)
{
	bool more = false;

	for (unsigned u = 0; u < 2; u++) {
		more |= a->read[u] && !b->read[u];
		more |= a->writable && a->dirty && a->write[u] && !(b->writable && b->dirty && b->write[u]);
		/* Privileged execution of what EL0 may write depends on that too. */
		if (u || !(format_protects_el1(s.format) && a->read[1] && (a->writable || b->writable)))
			more |= a->exec[u] && !b->exec[u];
	}
	return more;
}

/* What the TLB holds is still so, or may yet be; in a gather what went may still be held. */
static bool check_held(void)
{
	for (unsigned i = 0; i < HELD; i++) {
		const struct held *h = &held[i];
		struct ref_answer a;

		if (!h->valid && !pointers[i].valid)
			continue;
		walk(h->va, &a);
		/* A split may have put a table below it. */
		if (!gathering && pointers[i].valid &&
		    (a.level < h->a.level || (a.level == h->a.level && pointers[i].table != table_of(&a))))
			return FAIL("walks of %#" PRIx64 " still use the table at %#" PRIx64,
				    h->va, pointers[i].table);
		if (!h->valid)
			continue;
		if (a.fault || a.noaccess) {
			if (!gathering)
				return FAIL("the TLB still translates %#" PRIx64, h->va);
			continue;
		}
		if (a.pa != h->a.pa || a.memory != h->a.memory || a.sh != h->a.sh ||
		    (a.global && !h->a.global))
			return FAIL("the TLB holds %#" PRIx64 " for %#" PRIx64 ", made anew without"
				    " break: entry %#" PRIx64 ", was %#" PRIx64, h->a.pa, h->va,
				    a.raw, h->a.raw);
		if (gathering)
			continue;
		if (allows_more(&h->a, &a) || (!h->looser && allows_more(&a, &h->a) && a.dirty == h->a.dirty) ||
		    a.global != h->a.global || a.guarded != h->a.guarded)
			return FAIL("the TLB holds other permissions for %#" PRIx64 ": entry %#"
				    PRIx64 ", was %#" PRIx64, h->va, a.raw, h->a.raw);
		if (!a.young && !h->lax)
			return FAIL("%#" PRIx64 " is old, and its translation is still held", h->va);
	}
	return true;
}

static void loosen(uint64_t va, uint64_t len, bool lax)
{
	for (unsigned i = 0; i < HELD; i++)
		if (held[i].va - va < len) {
			held[i].lax |= lax;
			held[i].looser |= !lax;
		}
}

/* ---- Comparing ------------------------------------------------------------------ */

struct stretch {
	uint64_t va, len;
};

/* Its run or, without one, itself. */
static struct stretch group_of(const struct pgt_mapping *m)
{
	uint64_t bytes = m->state == PGT_LEAF && m->run_bytes > m->len ? m->run_bytes : m->len;

	return (struct stretch){ m->va & ~(bytes - 1), bytes };
}

static struct stretch group_at(const struct pgt *p, uint64_t va)
{
	struct pgt_mapping m;

	if (pgt_query(p, va, &m) != PGT_OK)
		return (struct stretch){ va & ~(granule - 1), granule };
	return group_of(&m);
}

static bool check_form(const struct pgt_mapping *m)
{
	uint64_t pa = m->pa & ~(m->run_bytes - 1);

	if (m->va % m->len || (m->len & (m->len - 1)) || m->run_bytes < m->len ||
	    !(sizes >> format_log2(m->run_bytes) & 1) || m->pa % m->len ||
	    m->len != BIT(ref_shift(s.granule, m->level)))
		return FAIL("leaf %#" PRIx64 "+%#" PRIx64 " run %#" PRIx64 " level %d", m->va,
			    m->len, m->run_bytes, m->level);
	if (m->run_bytes > m->len && (m->attr & PGT_NOACCESS))
		return FAIL("an inaccessible run at %#" PRIx64, m->va);
	if (s.unit_bits && unit(NULL, pa, m->run_bytes) < m->run_bytes)
		return FAIL("the leaf or run of %#" PRIx64 " bytes at %#" PRIx64
			    " crosses a unit of memory", m->run_bytes, m->va);
	return true;
}

/* A leaf, token or hole is as the model of its pages says. */
static bool check_mapping(const struct model *m, const struct pgt_mapping *q)
{
	uint64_t last_of_all = m->va + (m->pages * granule - 1), first = q->va, last = q->va + (q->len - 1);
	const struct model_page *w;
	uint64_t x = 0;
	int state;

	if (!model_has(m, first))
		first = m->va;
	if (!model_has(m, last))
		last = last_of_all;
	if (q->state == PGT_LEAF && (first != q->va || last - first + 1 != q->len))
		return FAIL("leaf %#" PRIx64 "+%#" PRIx64 " where nothing was mapped", q->va, q->len);
	if (q->state == PGT_LEAF && !check_form(q))
		return false;
	w = &m->page[model_index(m, first)];
	if (q->state == PGT_LEAF)
		for (; x <= last - first && w->pa == q->pa + x && w->attr == q->attr; x += granule)
			w++;
	else if (q->state == PGT_TOKEN)
		for (; x <= last - first && w->attr == MODEL_TOKEN && w->pa == q->token; x += granule)
			w++;
	else
		for (; x <= last - first && w->attr == MODEL_EMPTY; x += granule)
			w++;
	if (x > last - first)
		return true;
	state = w->attr == MODEL_EMPTY ? PGT_EMPTY : w->attr == MODEL_TOKEN ? PGT_TOKEN : PGT_LEAF;
	return FAIL("%#" PRIx64 " is state %d pa %#" PRIx64 " attr %#" PRIx64 " token %#" PRIx64
		    ", model state %d %#" PRIx64 " %#" PRIx64 " (entry %#" PRIx64 " at %#" PRIx64 "+%#"
		    PRIx64 ")", first + x, q->state, q->pa + (first + x - q->va), q->attr, q->token, state,
		    w->pa, w->attr, q->entry, q->va, q->len);
}

struct checking {
	const struct model *m;
	uint64_t next;
};

static int check_next(void *ctx, const struct pgt_mapping *q)
{
	struct checking *k = ctx;

	if (k->next - q->va >= q->len) {
		FAIL("visit: %#" PRIx64 "+%#" PRIx64 ", expected %#" PRIx64, q->va, q->len, k->next);
		return 1;
	}
	k->next = q->va + q->len;
	return check_mapping(k->m, q) ? 0 : 1;
}

/* The pages of [va, va+len) and of the leaves that are partly in it are as the model says. */
static bool check_pages(const struct pgt *p, const struct model *m, uint64_t va, uint64_t len)
{
	struct checking k = { m, va };

	while (len <= 24 * granule && k.next - va < len) {
		struct pgt_mapping q;
		int r;

		memset(&q, 0xa5, sizeof(q));
		r = pgt_query(p, k.next, &q);
		if (r != PGT_OK)
			return FAIL("query %#" PRIx64 ": %s", k.next, pgt_strerror(r));
		if (check_next(&k, &q))
			return false;
	}
	if (len <= 24 * granule)
		return true;
	if (pgt_visit(p, va, len, PGT_HOLES, check_next, &k) != PGT_OK || k.next - va < len)
		return FAIL("visit ends at %#" PRIx64, k.next);
	return true;
}

static const uint64_t accesses[6] = {
	PGT_READ, PGT_WRITE, PGT_EXEC,
	PGT_READ | PGT_USER, PGT_WRITE | PGT_USER, PGT_EXEC | PGT_USER,
};

/* The raw entry of a page keeps the model's promise, and translate reads it like the walker. */
static bool check_raw(const struct model *m, uint64_t va)
{
	const struct model_page *w = &m->page[model_index(m, va)];
	struct pgt_translation x;
	struct ref_answer a;

	walk(va, &a);
	if (!model_is_leaf(w) || (w->attr & PGT_NOACCESS)) {
		if (a.fault != REF_TRANSLATION || a.noaccess != model_is_leaf(w))
			return FAIL("the walker finds entry %#" PRIx64 " at %#" PRIx64, a.raw, va);
	} else if (a.fault || a.pa != w->pa + va % granule) {
		return FAIL("the walker finds fault %d pa %#" PRIx64 " at %#" PRIx64 ", model %#"
			    PRIx64, a.fault, a.pa, va, w->pa);
	} else if (!promise_kept(&ref, s.format, w->attr, &a)) {
		return FAIL("raw entry %#" PRIx64 " at %#" PRIx64 " isn't attr %#" PRIx64, a.raw, va,
			    w->attr);
	}
	for (unsigned i = 0; i < 6; i++) {
		enum ref_fault want = judge(&a, "rwx"[i % 3], i >= 3);
		int r = pgt_translate(t, va, accesses[i], &x);

		/* Open: privileged execution of what EL0 may write once it is dirty. */
		if (format_protects_el1(s.format) && i == 2 && !a.write[1] && a.read[1] && a.writable)
			continue;
		if (want == REF_NONE ? r != PGT_OK || x.pa != a.pa || x.run_bits != a.run_bits :
				       r != PGT_EFAULT || x.fault != (int)want || x.level != a.level)
			return FAIL("translate %#" PRIx64 " access %#" PRIx64 " entry %#" PRIx64
				    ": %s fault %d, the walker says %d", va, accesses[i], a.raw,
				    pgt_strerror(r), x.fault, want);
	}
	return true;
}

/* [va, va+len) of a window with what lies across its ends, and some pages raw. */
static bool check_touched(const struct model *m, uint64_t va, uint64_t len)
{
	uint64_t end = va + len;

	if (va != m->va) {
		va -= granule;
		len += granule;
	}
	if (end != m->va + m->pages * granule)
		len += granule;
	if (!check_pages(t, m, va, len))
		return false;
	for (unsigned i = 0; i < 3; i++)
		if (!check_raw(m, va + embed_below(&rng, len)))
			return false;
	return true;
}

static int problem(void *ctx, const struct pgt_problem *p)
{
	(void)ctx;
	FAIL("check: level %d entry %#" PRIx64 " at va %#" PRIx64 ": %s", p->level, p->entry, p->va,
	     p->what);
	return 1;
}

static bool check_stat(const struct ref_report *report)
{
	struct pgt_stat stat, other_stat;
	uint64_t mapped = 0;

	for (unsigned i = 0; i < ZONES; i++)
		mapped += zone[i].mapped;
	if (pgt_stat(t, range_va, range_len, &stat) != PGT_OK ||
	    pgt_stat(other, range_va, range_len, &other_stat) != PGT_OK)
		return FAIL("stat");
	if (stat.mapped_bytes != mapped * granule || stat.tokens != report->tokens)
		return FAIL("stat: %#" PRIx64 " bytes, %" PRIu64 " tokens; model %#" PRIx64
			    " %" PRIu64, stat.mapped_bytes, stat.tokens, mapped * granule,
			    report->tokens);
	if (!gathering && stat.table_bytes + other_stat.table_bytes != e.live_bytes)
		return FAIL("%#" PRIx64 " bytes of tables are lent, %#" PRIx64 " are reachable",
			    e.live_bytes, stat.table_bytes + other_stat.table_bytes);
	return true;
}

static bool check_all(void)
{
	struct ref_report report;
	uint64_t unwritten = embed_unwritten(&e);

	for (unsigned i = 0; i < ZONES; i++) {
		if (!check_pages(t, &zone[i], zone[i].va, zone[i].pages * granule) ||
		    !check_pages(other, &theirs[i], theirs[i].va, theirs[i].pages * granule))
			return false;
		for (unsigned k = 0; k < 20; k++)
			if (!check_raw(&zone[i], model_va(&zone[i], embed_below(&rng, zone[i].pages))))
				return false;
	}
	if (!s.format->validate(&ref, REF_NOACCESS | REF_TOKENS, &report))
		return FAIL("the walker refuses level %d entry %#" PRIx64 " at va %#" PRIx64 ": %s",
			    report.level, report.raw, report.va, report.what);
	if (report.empty_tables && !kept_tables)
		return FAIL("%" PRIu64 " empty tables", report.empty_tables);
	if (unwritten)
		return FAIL("the entry at %#" PRIx64 " was written and not announced", unwritten);
	return check_stat(&report) &&
	       (pgt_check(t, problem, NULL) == PGT_OK || FAIL("check")) &&
	       (pgt_check(other, problem, NULL) == PGT_OK || FAIL("check of the copies"));
}

/* ---- A call --------------------------------------------------------------------- */

enum what { MAP, UNMAP, PROTECT, MOVE, COPY, SPLIT, COLLAPSE, HARVEST, FAULT, STORE, TRIM, WHATS };

static const char *const names[] = { "map",   "unmap",    "protect", "move",  "copy", "split",
				     "collapse", "harvest", "fault", "store", "trim" };

struct call {
	enum what what;
	struct model *z, *to_z;      /* the window that the range is in, and of move's destination */
	uint64_t va, len, to, pa, attr, set, clear, token, access;
	unsigned flags, bits;
	struct pgt_bitmap *bitmap;
};

#define WORDS 2048
static uint64_t words[WORDS], words_before[WORDS];
static struct pgt_bitmap bitmap;

static uint64_t tried[WHATS], done[WHATS];

static int make(struct call *c)
{
	struct pgt_gather *g = gathering ? &gather : NULL;

	switch (c->what) {
	case MAP: return pgt_map(t, c->va, c->pa, c->len, c->attr, c->flags, g);
	case UNMAP: return pgt_unmap(t, c->va, c->len, c->flags, g);
	case PROTECT: return pgt_protect(t, c->va, c->len, c->set, c->clear, c->flags, g);
	case MOVE: return pgt_move(t, c->va, c->to, c->len, c->flags, g);
	case COPY: return pgt_copy(other, t, c->va, c->len, c->flags, g);
	case SPLIT: return pgt_split(t, c->va, c->len, c->bits, c->flags, g);
	case COLLAPSE: return pgt_collapse(t, c->va, c->len, c->bits, c->flags, g);
	case HARVEST: return pgt_harvest(t, c->va, c->len, c->set, c->flags, c->bitmap, g);
	case FAULT: return pgt_fault(t, c->va + granule / 3, c->access, g);
	case STORE: return pgt_store(t, c->va, c->len, c->token, c->flags, g);
	default: return pgt_trim(t, c->va, c->len, g);
	}
}

static void record(const struct call *c)
{
	NOTE("%s%s va %#" PRIx64 " len %#" PRIx64 " flags %#x, to %#" PRIx64 " pa %#" PRIx64
	     " attr %#" PRIx64 " set %#" PRIx64 " clear %#" PRIx64 " bits %u token %#" PRIx64
	     " access %#" PRIx64, gathering ? "(gather) " : "", names[c->what], c->va, c->len,
	     c->flags, c->to, c->pa, c->attr, c->set, c->clear, c->bits, c->token, c->access);
}

static struct model_page *page(const struct call *c, uint64_t i)
{
	return &c->z->page[model_index(c->z, c->va) + i];
}

static uint64_t pages_of(const struct call *c)
{
	return c->len / granule;
}

static struct model *theirs_of(const struct call *c)
{
	return &theirs[c->z - zone];
}

/* ---- What is to come of it ---------------------------------------------------------- */

/* Map's status for a leaf with these attributes. */
static int status_of(uint64_t attr)
{
	return format_status(s.format, s.granule, attr);
}

static bool can_clear(uint64_t state)
{
	return (!(state & PGT_YOUNG) || (s.features & (PGT_FEAT_HW_YOUNG | PGT_FEAT_TRACK_YOUNG))) &&
	       (!(state & PGT_DIRTY) || (s.features & (PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_DIRTY)));
}

/* Bit -status is set where the call may end with it; bit 0: it may succeed. */
static unsigned one(int status)
{
	return 1u << -status;
}

static unsigned expect_protect(const struct call *c)
{
	unsigned may = 0, open = 0;

	if (!can_clear(c->clear & MODEL_STATE))
		return one(PGT_ENOTSUP);
	for (uint64_t i = 0; i < pages_of(c); i++) {
		struct model_page p = *page(c, i);

		if (p.attr == MODEL_EMPTY && (c->flags & PGT_STRICT))
			may |= one(PGT_ENOENT);
		if (model_protect(&p, c->set, c->clear, may_write(p.pa)) && status_of(p.attr) != PGT_OK)
			may |= one(status_of(p.attr));
		/* A leaf that could not be writable, were it allowed: open. */
		p = *page(c, i);
		if (model_protect(&p, c->set, c->clear, true) && status_of(p.attr) != PGT_OK)
			open |= one(status_of(p.attr)) | one(PGT_OK);
	}
	return may ? may | (open & ~one(PGT_OK)) : open ? open : one(PGT_OK);
}

static unsigned expect_fault(const struct call *c)
{
	const struct model_page *p = page(c, 0);
	uint64_t attr = p->attr, what = c->access & ~PGT_USER;
	bool user = c->access & PGT_USER;

	if (!model_is_leaf(p))
		return one(PGT_ENOENT);
	if (attr & PGT_NOACCESS)
		return one(PGT_EACCES);
	if (what == PGT_EXEC)
		return attr & (user ? PGT_UEXEC : PGT_EXEC) ?
			       (!user && format_protects_el1(s.format) && (attr & PGT_USER) && (attr & PGT_WRITE) ?
					one(PGT_EACCES) : one(PGT_OK)) : one(PGT_EACCES);
	if (user && format_has_user(s.format) && !(attr & PGT_USER))
		return one(PGT_EACCES);
	/* Privileged code reads all that stage 1 maps. */
	if (what == PGT_READ)
		return (attr & PGT_READ) || (format_reads_all(s.format) && !user) ? one(PGT_OK) : one(PGT_EACCES);
	return attr & PGT_WRITE ? one(PGT_OK) : one(PGT_EACCES);
}

static bool any(const struct model *m, uint64_t va, uint64_t len)
{
	for (uint64_t at = 0; at < len; at += granule)
		if (m->page[model_index(m, va + at)].attr != MODEL_EMPTY)
			return true;
	return false;
}

static unsigned expect(const struct call *c)
{
	switch (c->what) {
	case MAP:
	case STORE:
		return !(c->flags & PGT_REPLACE) && any(c->z, c->va, c->len) ? one(PGT_EEXIST) : one(PGT_OK);
	case PROTECT:
		return expect_protect(c);
	case MOVE:
		if (c->to - c->va < c->len || c->va - c->to < c->len)
			return one(PGT_EINVAL);
		return any(c->to_z, c->to, c->len) ? one(PGT_EEXIST) : one(PGT_OK);
	case COPY:
		return any(theirs_of(c), c->va, c->len) ? one(PGT_EEXIST) : one(PGT_OK);
	case SPLIT:
	case COLLAPSE:
		return sizes >> c->bits & 1 ? one(PGT_OK) : one(PGT_ENOTSUP);
	case HARVEST:
		return c->flags & PGT_PEEK || can_clear(c->set) ? one(PGT_OK) : one(PGT_ENOTSUP);
	case FAULT:
		return expect_fault(c);
	default:
		return one(PGT_OK);
	}
}

/* A leaf or run that lies on both sides of va, as it is before the call. */
static bool cut(uint64_t va, struct stretch *g)
{
	struct pgt_mapping m;

	if (va == range_va + range_len || pgt_query(t, va, &m) != PGT_OK || m.state == PGT_EMPTY)
		return false;
	*g = group_of(&m);
	return g->va < va;
}

/* Something larger than a page is touched, so that there may be something to split. */
static bool large(const struct call *c)
{
	for (uint64_t at = 0; at < c->len;) {
		struct stretch g = group_at(t, c->va + at);
		const struct model_page *p = page(c, at / granule);

		if (g.len > granule && p->attr != MODEL_EMPTY)
			return true;
		at = g.va + g.len - c->va;
	}
	return false;
}

/* Refusals that the flags ask for, where they can apply. */
static bool excused(const struct call *c, int status)
{
	if (status == PGT_EBLOCK)
		return (c->flags & PGT_NO_SPLIT) && large(c);
	if (status == PGT_EBREAK)
		return (c->flags & PGT_NO_BREAK) && (s.mode & EMBED_TLB) && any(c->z, c->va, c->len);
	return false;
}

/* ---- The model follows ------------------------------------------------------------------- */

static void join_group(struct model *m, struct stretch g)
{
	struct model_page *w;
	uint64_t state = 0, n = g.len / granule;

	if (!model_has(m, g.va) || !model_has(m, g.va + (g.len - 1)))
		return;
	w = &m->page[model_index(m, g.va)];
	for (uint64_t i = 0; i < n; i++)
		state |= w[i].attr;
	for (uint64_t i = 0; i < n; i++)
		w[i].attr |= state & MODEL_STATE;
}

static int join_next(void *ctx, const struct pgt_mapping *q)
{
	/* A run once: at its first member, or where the range begins inside it. */
	if (q->state == PGT_LEAF && q->va - group_of(q).va < q->len)
		join_group(ctx, group_of(q));
	return 0;
}

/* A leaf or run that a call has just made has one state, that of all its pages. */
static void join(struct model *m, const struct pgt *p, uint64_t va, uint64_t len)
{
	pgt_visit(p, va, len, 0, join_next, m);
}

static uint64_t same_bytes, gone_bytes;

/*
 * What a map finds there already stays as it is, unless it becomes part of a
 * larger leaf: then it may be replaced like the rest, which makes its state new.
 */
static void follow_map(const struct call *c)
{
	for (uint64_t i = 0; i < pages_of(c); i++) {
		struct model_page *p = page(c, i);
		uint64_t fresh = c->attr | c->z->start_state;
		struct pgt_mapping m;

		if (!model_same(p, c->pa + i * granule, c->attr)) {
			gone_bytes += p->attr == MODEL_EMPTY ? 0 : granule;
			continue;
		}
		same_bytes += granule;
		if (p->attr != fresh && pgt_query(t, c->va + i * granule, &m) == PGT_OK && m.attr == fresh)
			p->attr = fresh;
	}
	model_map(c->z, c->va, c->pa, c->len, c->attr, c->flags);
	join(c->z, t, c->va, c->len);
}

static void follow_unmap(const struct call *c, struct stretch r)
{
	for (uint64_t at = 0; at < r.len; at += granule)
		gone_bytes += c->z->page[model_index(c->z, r.va + at)].attr == MODEL_EMPTY ? 0 : granule;
	model_unmap(c->z, r.va, r.len);
}

static void follow_copy(const struct call *c)
{
	struct model *to = theirs_of(c);

	for (uint64_t i = 0; i < pages_of(c); i++) {
		struct model_page *p = page(c, i);
		struct model_page *q = &to->page[model_index(to, c->va) + i];

		if (model_is_leaf(p) && (c->flags & PGT_COW))
			p->attr &= ~PGT_WRITE;
		*q = *p;
		if (model_is_leaf(p))
			q->attr = (p->attr & ~MODEL_STATE) | to->start_state;
		to->mapped += model_is_leaf(p);
	}
}

/* The leaves and runs of the range as they were before the call. */
#define GROUPS 40000
static struct stretch groups[GROUPS];
static unsigned n_groups;

static int find_group(void *ctx, const struct pgt_mapping *q)
{
	struct stretch g = group_of(q);

	(void)ctx;
	if (n_groups < GROUPS && (!n_groups || groups[n_groups - 1].va != g.va))
		groups[n_groups++] = g;
	return 0;
}

static void find_groups(const struct call *c)
{
	n_groups = 0;
	pgt_visit(t, c->va, c->len, 0, find_group, NULL);
}

static bool unit_selected(uint64_t va)
{
	uint64_t i = (va - bitmap.va) >> bitmap.unit_bits;

	return words_before[i / 64] >> (i % 64) & 1;
}

static bool reported(uint64_t va)
{
	uint64_t i = (va - bitmap.va) >> bitmap.unit_bits;

	return words[i / 64] >> (i % 64) & 1;
}

/* Each unit in range: set if it was, or a page of it in range has the state. */
static bool check_report(const struct call *c)
{
	uint64_t unit_bytes = BIT(bitmap.unit_bits);

	if (!c->bitmap)
		return true;
	for (uint64_t i = 0; i < bitmap.units; i++) {
		uint64_t va = bitmap.va + i * unit_bytes;
		bool want = unit_selected(va);

		if (!(c->flags & PGT_SELECTED))
			for (uint64_t x = va; x - va < unit_bytes; x += granule)
				if (x - c->va < c->len) {
					const struct model_page *p = page(c, (x - c->va) / granule);

					want |= model_is_leaf(p) && (p->attr & c->set);
				}
		if (reported(va) != want)
			return FAIL("harvest: the bit of %#" PRIx64 " is %d", va, reported(va));
	}
	return true;
}

static void follow_harvest_of(const struct call *c, const struct stretch *g)
{
	struct model_page *p = &c->z->page[model_index(c->z, g->va)];
	uint64_t n = g->len / granule, covered = 0, state = p->attr & MODEL_STATE, clear = c->set;
	bool partly, selective = c->flags & PGT_SELECTED, both;
	struct pgt_mapping m;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t va = g->va + i * granule;

		covered += va - c->va < c->len && (!selective || unit_selected(va));
	}
	partly = covered < n;
	if (!covered)
		return;
	/* Dirty state that is not cleared whole makes a split, or stays. */
	both = partly && (state & c->set & PGT_DIRTY);
	if (both && (c->flags & PGT_NO_SPLIT)) {
		clear &= ~PGT_DIRTY;
		both = false;
		/* Young may go whole, or stay with it. */
		if (pgt_query(t, g->va, &m) == PGT_OK && (m.attr & PGT_YOUNG))
			clear &= ~PGT_YOUNG;
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t va = g->va + i * granule;

		if (!both || (va - c->va < c->len && (!selective || unit_selected(va))))
			p[i].attr &= ~clear;
	}
}

static bool follow_harvest(const struct call *c)
{
	if (!check_report(c))
		return false;
	for (unsigned i = 0; i < n_groups && !(c->flags & PGT_PEEK); i++)
		if (model_has(c->z, groups[i].va) &&
		    model_is_leaf(&c->z->page[model_index(c->z, groups[i].va)]))
			follow_harvest_of(c, &groups[i]);
	if (c->flags & PGT_LAZY && c->set & PGT_YOUNG)
		for (unsigned i = 0; i < n_groups; i++)
			loosen(groups[i].va, groups[i].len, true);
	return true;
}

static bool follow_fault(const struct call *c)
{
	struct stretch g = group_at(t, c->va);

	model_touch(c->z, g.va, g.len, c->access & PGT_WRITE ? MODEL_STATE : PGT_YOUNG);
	loosen(g.va, g.len, false);
	if (!gathering && (s.mode & EMBED_TLB) && (local_va > g.va || local_va + local_len - 1 < g.va + g.len - 1))
		return FAIL("fault: no local invalidation of %#" PRIx64 "+%#" PRIx64, g.va, g.len);
	return true;
}

static bool check_split(const struct call *c)
{
	for (uint64_t at = 0; at < c->len;) {
		struct stretch g = group_at(t, c->va + at);

		if (model_is_leaf(page(c, at / granule)) && g.len > BIT(c->bits))
			return FAIL("split: %#" PRIx64 "+%#" PRIx64 " is there", g.va, g.len);
		at = g.va + g.len - c->va;
	}
	return true;
}

/* Whether a whole aligned piece can become one leaf or run. */
static bool collapsible(const struct call *c, uint64_t va, uint64_t bytes)
{
	const struct model_page *p = &c->z->page[model_index(c->z, va)];

	if (!model_is_leaf(p) || p->pa % bytes || (p->attr & PGT_NOACCESS))
		return false;
	if (s.unit_bits && unit(NULL, p->pa, bytes) < bytes)
		return false;
	for (uint64_t i = 1; i < bytes / granule; i++)
		if (!model_same(&p[i], p->pa + i * granule, p->attr))
			return false;
	return true;
}

static bool follow_collapse(const struct call *c)
{
	uint64_t bytes = BIT(c->bits), first = (c->va + bytes - 1) & ~(bytes - 1);

	join(c->z, t, c->va, c->len);
	if (kept_tables && (c->flags & PGT_NO_BREAK))
		return true;
	for (uint64_t va = first; va - c->va < c->len && bytes - 1 < c->len - (va - c->va); va += bytes)
		if (collapsible(c, va, bytes) && group_at(t, va).len < bytes)
			return FAIL("collapse: no leaf or run of %#" PRIx64 " bytes at %#" PRIx64,
				    bytes, va);
	return true;
}

static bool follow(const struct call *c, struct stretch r)
{
	switch (c->what) {
	case MAP:
		follow_map(c);
		return true;
	case UNMAP:
		follow_unmap(c, r);
		return true;
	case PROTECT:
		for (uint64_t i = 0; i < pages_of(c); i++)
			model_protect(page(c, i), c->set, c->clear, may_write(page(c, i)->pa));
		if (c->flags & PGT_LAZY)
			loosen(c->va, c->len, false);
		return true;
	case MOVE:
		model_move(c->z, c->va, c->to_z, c->to, c->len);
		join(c->to_z, t, c->to, c->len);
		return true;
	case COPY:
		follow_copy(c);
		return true;
	case SPLIT:
		return check_split(c);
	case COLLAPSE:
		return follow_collapse(c);
	case HARVEST:
		return follow_harvest(c);
	case FAULT:
		return follow_fault(c);
	case STORE:
		for (uint64_t i = 0; i < pages_of(c); i++)
			gone_bytes += page(c, i)->attr == MODEL_EMPTY ? 0 : granule;
		model_store(c->z, c->va, c->len, c->token, c->flags & PGT_SEQUENCE ? 1 : 0, c->flags);
		return true;
	default:
		return true;
	}
}

/* ---- removed --------------------------------------------------------------------------- */

static uint64_t removed_bytes;

static int on_removed(void *ctx, const struct pgt_mapping *m)
{
	const struct model *z = zone_of(m->va);

	(void)ctx;
	removed_bytes += m->len;
	for (uint64_t at = 0; at < m->len && !failed; at += granule) {
		const struct model_page *p = z && model_has(z, m->va + at) ?
						     &z->page[model_index(z, m->va + at)] : NULL;

		if (!p || (m->state == PGT_TOKEN ? p->attr != MODEL_TOKEN || p->pa != m->token :
						   m->state != PGT_LEAF || !model_same(p, m->pa + at, m->attr) ||
						   (m->attr & ~p->attr & MODEL_STATE)))
			FAIL("removed: %#" PRIx64 "+%#" PRIx64 " state %d pa %#" PRIx64 " attr %#" PRIx64
			     " token %#" PRIx64, m->va, m->len, m->state, m->pa, m->attr, m->token);
		/* Hardware marks one member of a run, the model all of them. */
		else if (m->state == PGT_LEAF && m->run_bytes == m->len && m->len > granule &&
			 ((m->attr ^ p->attr) & MODEL_STATE) && !(s.features & PGT_FEAT_CONTIG))
			FAIL("removed: %#" PRIx64 " with state %#" PRIx64, m->va, m->attr);
	}
	return 7; /* which is ignored */
}

/* ---- Making it --------------------------------------------------------------------------- */

static struct embed_snapshot before;

/* Each allocation of the call refused in turn; the last try succeeds or is refused otherwise. */
static int starve(struct call *c)
{
	bool dump = embed_once_in(&rng, 8);
	uint64_t digest = dump ? embed_digest(t) : 0, others = dump ? embed_digest(other) : 0;
	int r;

	embed_snapshot(&e, &before);
	for (uint64_t k = 1;; k++) {
		const char *what;

		embed_fail(&e, k, embed_once_in(&rng, 2));
		e.count[EMBED_REFUSED] = 0;
		r = make(c);
		if (r == PGT_OK && e.count[EMBED_REFUSED])
			FAIL("a refused allocation went unnoticed");
		embed_fail(&e, 0, false);
		if (r != PGT_ENOMEM)
			return r;
		if (!e.count[EMBED_REFUSED])
			FAIL("PGT_ENOMEM, but nothing was refused");
		what = embed_compare(&e, &before);
		if (what)
			FAIL("allocation %" PRIu64 " refused: %s", k, what);
		else if (dump && (embed_digest(t) != digest || embed_digest(other) != others))
			FAIL("allocation %" PRIu64 " refused: what is mapped changed", k);
		else if (removed_bytes || memcmp(words, words_before, sizeof(words)))
			FAIL("allocation %" PRIu64 " refused, yet something was reported", k);
		if (failed)
			return r;
	}
}

/* PGT_WHOLE: the range with what it covers in part. */
static struct stretch widened(const struct call *c)
{
	struct stretch r = { c->va, c->len }, g;
	uint64_t end = c->va + c->len;

	if (c->what != UNMAP || !(c->flags & PGT_WHOLE))
		return r;
	if (cut(end, &g))
		r.len = g.va + g.len - r.va;
	if (cut(c->va, &g)) {
		r.len += r.va - g.va;
		r.va = g.va;
	}
	return r;
}

static bool refused(const struct call *c, bool compare)
{
	if (removed_bytes || memcmp(words, words_before, sizeof(words)))
		return FAIL("the call failed, yet something was reported");
	if (compare && embed_compare(&e, &before))
		return FAIL("the call failed and changed something");
	return check_touched(c->z, c->va, c->len);
}

static bool run_call(struct call *c)
{
	bool starving = embed_once_in(&rng, 16), compare = embed_once_in(&rng, 4);
	unsigned may = expect(c);
	struct stretch r = widened(c), across[2];
	bool cuts[2] = { cut(c->va, &across[0]), cut(c->va + c->len, &across[1]) };
	int status;

	record(c);
	now++;
	removed_bytes = same_bytes = gone_bytes = 0;
	tried[c->what]++;
	memcpy(words_before, words, sizeof(words));
	if (c->what == HARVEST)
		find_groups(c);
	local_va = 1;
	local_len = 0;
	compare = compare && !(may & 1) && !starving;
	if (compare)
		embed_snapshot(&e, &before);
	status = starving ? starve(c) : make(c);
	if (failed)
		return false;
	/* What the table is like may be refused for either reason. */
	if (status != PGT_OK && (may & (1 | one(PGT_EEXIST)) || c->what == PROTECT) && excused(c, status))
		return refused(c, false);
	if (status > 0 || status < -31 || !(may & one(status)))
		return FAIL("%s, which may end with %#x", pgt_strerror(status), may);
	if (unsynced)
		return FAIL("the call leaves an invalidation without sync");
	if (status != PGT_OK)
		return refused(c, compare);
	done[c->what]++;
	kept_tables |= (c->flags & PGT_KEEP_TABLES) != 0;
	if (!follow(c, r))
		return false;
	for (unsigned i = 0; i < 2; i++)
		if (cuts[i] && (c->flags & (PGT_NO_SPLIT | PGT_WHOLE)) == PGT_NO_SPLIT) {
			struct stretch g = group_at(t, i ? c->va + c->len : c->va - granule);

			if (g.len < across[i].len)
				return FAIL("PGT_NO_SPLIT, and %#" PRIx64 "+%#" PRIx64 " was split",
					    across[i].va, across[i].len);
		}
	if (gathering && (removed_bytes < gone_bytes || removed_bytes > gone_bytes + same_bytes))
		return FAIL("removed: %#" PRIx64 " bytes, model %#" PRIx64, removed_bytes, gone_bytes);
	if (!check_held() || !check_touched(c->z, r.va, r.len))
		return false;
	if (c->what == MOVE)
		return check_touched(c->to_z, c->to, c->len);
	return c->what != COPY || check_pages(other, theirs_of(c), c->va, c->len);
}

/* ---- Hardware ------------------------------------------------------------------------------ */

/* A walker that sets state in the one entry that it used. */
static bool touch_raw(uint64_t va, bool write)
{
	struct ref_answer a;
	uint64_t new;

	walk(va, &a);
	if (a.fault || !a.read[0] || (write && !a.write[0]) || (!a.young && !ref.hw_young))
		return true;
	if (write && !a.dirty && !ref.hw_dirty)
		return true;
	new = entry_touched(s.format, a.raw, write && !a.dirty);
	NOTE("hardware at %#" PRIx64 ": %s", va, write ? "write" : "read");
	write_raw(a.entry_pa, new);
	walk(va, &a);
	hold(va, &a);
	return true;
}

static bool touch(void)
{
	struct model *z = &zone[embed_below(&rng, ZONES)];
	uint64_t va = model_va(z, embed_below(&rng, z->pages));
	const struct model_page *p = &z->page[model_index(z, va)];
	bool write = embed_once_in(&rng, 2);
	struct pgt_translation x;
	struct stretch g;
	struct ref_answer a, old;
	int r;

	if (!model_is_leaf(p))
		return true;
	g = group_at(t, va);
	walk(va, &old);
	if (!(s.mode & EMBED_WRITTEN) && embed_once_in(&rng, 2)) {
		touch_raw(va, write);
	} else {
		uint64_t access = (write ? PGT_WRITE : PGT_READ) | PGT_UPDATE;

		r = pgt_translate(t, va, access, &x);
		if ((r == PGT_OK) != (judge(&old, write ? 'w' : 'r', false) == REF_NONE))
			return FAIL("translate %#" PRIx64 " and update: %s", va, pgt_strerror(r));
		if (r == PGT_OK) {
			NOTE("translate %#" PRIx64 ": %s", va, write ? "write" : "read");
			walk(va, &a);
			hold(va, &a);
			if (!a.young || (write && !a.dirty))
				return FAIL("translate %#" PRIx64 " leaves entry %#" PRIx64, va, a.raw);
		}
	}
	walk(va, &a);
	if (a.fault)
		return true;
	if (!old.young && a.young)
		model_touch(z, g.va, g.len, PGT_YOUNG);
	if (!old.dirty && a.dirty)
		model_touch(z, g.va, g.len, PGT_DIRTY);
	return true;
}

/* ---- Choosing calls --------------------------------------------------------------------------- */

static unsigned choose_bits(uint64_t most)
{
	unsigned bits;

	do
		bits = s.granule + (unsigned)embed_below(&rng, 24);
	while (!(sizes >> bits & 1) || BIT(bits) > most);
	return bits;
}

/* A range inside a window: small and odd, around borders, whole pieces, the end. */
static void choose_range(struct call *c)
{
	uint64_t n, size, first, count;

	c->z = &zone[embed_below(&rng, ZONES)];
	n = c->z->pages;
	size = BIT(choose_bits(n * granule)) / granule;
	switch (embed_below(&rng, 7)) {
	case 0: /* anywhere, small */
		first = embed_below(&rng, n);
		count = 1 + embed_below(&rng, 5);
		break;
	case 1: /* whole pieces */
	case 2:
		first = embed_below(&rng, n / size) * size;
		count = size * (1 + embed_below(&rng, 2));
		break;
	case 3: /* across borders */
		first = embed_below(&rng, n / size + 1) * size;
		first -= first ? embed_below(&rng, 3) % first : 0;
		count = size / 2 * embed_below(&rng, 3) + 1 + embed_below(&rng, 4);
		break;
	case 4: /* up to the end */
		count = 1 + embed_below(&rng, embed_once_in(&rng, 8) ? n : 9);
		first = n - count;
		break;
	case 5: /* within a piece */
		first = embed_below(&rng, n / size) * size;
		first += embed_below(&rng, size);
		count = 1 + embed_below(&rng, size);
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
	c->va = model_va(c->z, first);
	c->len = count * granule;
}

/* Across a PA from which on a carry goes into bits that stand elsewhere. */
static void choose_pa_across(struct call *c)
{
	uint64_t carry = BIT(s.granule == 16 ? 48 : 50), half = c->len / 2 / granule * granule;
	uint64_t at = s.granule == 16 ? carry * (1 + embed_below(&rng, 15)) : carry * (1 + 2 * embed_below(&rng, 2));

	/* Aligned as the VA is, so that leaves and runs of any size cross it. */
	c->pa = at - half;
	c->pa += (c->va - c->pa) & (BIT(36) - 1) & ~(granule - 1);
	if (c->pa > at)
		c->pa -= c->pa - at < half ? 0 : BIT(36);
	if (c->pa > BIT(s.output) - c->len)
		c->pa = at - half;
}

/* Mostly one of two offsets from the VA, so that what is mapped meets itself again. */
static void choose_pa(struct call *c)
{
	uint64_t half = BIT(s.output - 1), low = c->va & (half / 2 - 1);

	c->pa = low + (embed_once_in(&rng, 3) ? half : 0);
	if (embed_once_in(&rng, 6))
		c->pa += granule;
	if (embed_once_in(&rng, 12))
		c->pa = embed_below(&rng, (half - c->len) / granule) * granule;
	if (s.format->large && s.output == 52 && embed_once_in(&rng, 4))
		choose_pa_across(c);
	/* Not on both sides of where the answer about writing changes. */
	if (c->pa / half != (c->pa + c->len - 1) / half)
		c->pa = 0;
}

static uint64_t choose_attr(void)
{
	static const uint64_t permissions[] = {
		PGT_READ, PGT_READ | PGT_WRITE, PGT_READ | PGT_EXEC,
		PGT_READ | PGT_WRITE | PGT_USER, PGT_READ | PGT_USER | PGT_UEXEC, PGT_UEXEC,
		PGT_READ | PGT_USER,
	};
	uint64_t attr = permissions[embed_below(&rng, sizeof(permissions) / sizeof(*permissions))];

	if (embed_once_in(&rng, 2)) /* few kinds, so that equal ones meet */
		attr = PGT_READ | PGT_WRITE;
	if (embed_once_in(&rng, 8))
		attr |= PGT_GLOBAL;
	if (embed_once_in(&rng, 8))
		attr |= PGT_SW0 * embed_below(&rng, 8);
	if (embed_once_in(&rng, 12))
		attr |= PGT_SH_OUTER;
	if (embed_once_in(&rng, 12))
		attr |= PGT_NOACCESS;
	if (embed_once_in(&rng, 8)) {
		uint64_t mem = PGT_MEM_NOCACHE * embed_below(&rng, 5);

		if (mem < PGT_MEM_DEVICE || !(attr & (PGT_EXEC | PGT_UEXEC)))
			attr |= mem;
	}
	attr = format_attr(s.format, s.granule, attr);
	if (embed_once_in(&rng, 3))
		attr |= embed_random(&rng) & MODEL_STATE;
	return attr;
}

static void choose_change(struct call *c)
{
	static const struct {
		uint64_t set, clear;
	} changes[] = {
		{ PGT_WRITE, 0 }, { 0, PGT_WRITE }, { PGT_WRITE, 0 }, { 0, PGT_WRITE },
		{ PGT_NOACCESS, 0 }, { 0, PGT_NOACCESS }, { PGT_WRITE, PGT_NOACCESS },
		{ PGT_SW1, PGT_SW0 }, { 0, PGT_SW0 | PGT_SW1 }, { PGT_GLOBAL, 0 }, { 0, PGT_GLOBAL },
		{ PGT_EXEC, 0 }, { 0, PGT_EXEC }, { PGT_USER, PGT_WRITE }, { 0, PGT_USER | PGT_UEXEC },
		{ PGT_MEM_NOCACHE, PGT_MEM_MASK }, { PGT_MEM_NORMAL, PGT_MEM_MASK },
		{ PGT_SH_OUTER, PGT_SH_MASK }, { PGT_SH_INNER, PGT_SH_MASK }, { 0, PGT_READ },
		{ PGT_READ, 0 }, { 0, PGT_YOUNG }, { 0, PGT_DIRTY }, { PGT_YOUNG | PGT_DIRTY, 0 },
		{ PGT_GUARDED, 0 }, { 0, PGT_GUARDED }, { PGT_MEM_DEVICE, PGT_MEM_MASK | PGT_EXEC }, { 0, 0 },
	};
	uint64_t i = embed_below(&rng, sizeof(changes) / sizeof(*changes));

	c->set = changes[i].set;
	c->clear = changes[i].clear;
	c->flags |= embed_once_in(&rng, 5) ? PGT_LAZY : 0;
	c->flags |= embed_once_in(&rng, 10) ? PGT_STRICT : 0;
}

static void choose_harvest(struct call *c)
{
	c->set = embed_once_in(&rng, 3) ? PGT_YOUNG : embed_once_in(&rng, 2) ? PGT_DIRTY : MODEL_STATE;
	if (embed_once_in(&rng, 4))
		c->flags |= PGT_PEEK;
	else if (embed_once_in(&rng, 4))
		c->flags |= PGT_LAZY;
	if (embed_once_in(&rng, 3))
		c->flags |= PGT_SELECTED;
	c->flags |= embed_once_in(&rng, 5) ? PGT_NO_SPLIT : 0;
	memset(words, 0, sizeof(words));
	bitmap.words = words;
	bitmap.unit_bits = (uint8_t)(s.granule + (embed_once_in(&rng, 3) ? embed_below(&rng, 5) : 0));
	while (c->len >> bitmap.unit_bits > WORDS * 64 - 2)
		bitmap.unit_bits++;
	bitmap.va = c->va & ~(BIT(bitmap.unit_bits) - 1);
	if (embed_once_in(&rng, 2) && bitmap.va - range_va >= BIT(bitmap.unit_bits))
		bitmap.va -= BIT(bitmap.unit_bits);
	bitmap.units = ((c->va + c->len - 1 - bitmap.va) >> bitmap.unit_bits) + 1;
	for (uint64_t i = 0; i < bitmap.units; i++)
		if (c->flags & PGT_SELECTED ? embed_once_in(&rng, 2) : embed_once_in(&rng, 32))
			words[i / 64] |= BIT(i % 64);
	c->bitmap = !(c->flags & PGT_SELECTED) && embed_once_in(&rng, 6) ? NULL : &bitmap;
}

/* A destination of the same length, often as far from a border as the source. */
static void choose_destination(struct call *c)
{
	uint64_t n, first, size = BIT(choose_bits(c->z->pages * granule)) / granule;
	uint64_t from = model_index(c->z, c->va), count = pages_of(c);

	c->to_z = &zone[embed_below(&rng, ZONES)];
	n = c->to_z->pages;
	first = embed_below(&rng, n - count + 1);
	if (!embed_once_in(&rng, 4))
		first = first / size * size + from % size;
	if (first + count > n)
		first = from;
	c->to = model_va(c->to_z, first);
}

static void choose_flags(struct call *c)
{
	uint64_t r = embed_random(&rng);

	if (c->what == MAP || c->what == STORE) {
		c->flags |= r % 5 < 3 ? PGT_REPLACE : 0;
		if ((r >> 8) % 5 == 0)
			c->flags |= PGT_MAX_LEAF(choose_bits(UINT64_MAX));
	}
	if (c->what == MAP || c->what == STORE || c->what == UNMAP || c->what == MOVE)
		c->flags |= (r >> 16) % 12 == 0 ? PGT_KEEP_TABLES : 0;
	if (c->what != COLLAPSE && c->what != HARVEST && c->what != FAULT && c->what != TRIM)
		c->flags |= (r >> 24) % 10 == 0 ? PGT_NO_SPLIT : 0;
	if (c->what != FAULT && c->what != TRIM)
		c->flags |= (r >> 32) % 10 == 0 ? PGT_NO_BREAK : 0;
	if (c->what == UNMAP)
		c->flags |= (r >> 40) % 6 == 0 ? PGT_WHOLE : 0;
	if (c->what == STORE)
		c->flags |= (r >> 40) % 3 == 0 ? PGT_SEQUENCE : 0;
	if (c->what == COPY)
		c->flags |= (r >> 40) % 2 == 0 ? PGT_COW : 0;
}

/* Empties a range first, of this table or of the copies. */
static bool make_room(struct model *z, uint64_t va, uint64_t len)
{
	struct call c = { .what = UNMAP, .z = z, .va = va, .len = len };

	return !any(z, va, len) || run_call(&c);
}

static bool make_room_there(const struct call *c)
{
	struct model *m = theirs_of(c);

	if (!any(m, c->va, c->len))
		return true;
	NOTE("unmap of the copies va %#" PRIx64 " len %#" PRIx64, c->va, c->len);
	if (pgt_unmap(other, c->va, c->len, 0, NULL) != PGT_OK)
		return FAIL("unmap of the copies");
	model_unmap(m, c->va, c->len);
	return check_pages(other, m, c->va, c->len);
}

static bool random_call(void)
{
	/* How often, of 100: map, unmap, protect, move, copy, split, collapse, harvest, ... */
	static const unsigned char weight[WHATS] = { 17, 11, 18, 11, 6, 5, 6, 11, 7, 5, 3 };
	uint64_t r = embed_below(&rng, 100);
	struct call c = { .what = MAP };

	while (r >= weight[c.what])
		r -= weight[c.what++];
	choose_range(&c);
	choose_flags(&c);
	switch (c.what) {
	case MAP:
		c.attr = choose_attr();
		choose_pa(&c);
		break;
	case PROTECT:
		choose_change(&c);
		break;
	case MOVE:
		choose_destination(&c);
		if (!embed_once_in(&rng, 4) && !(c.to - c.va < c.len || c.va - c.to < c.len) &&
		    !make_room(c.to_z, c.to, c.len))
			return false;
		break;
	case COPY:
		if (!embed_once_in(&rng, 4) && !make_room_there(&c))
			return false;
		break;
	case SPLIT:
	case COLLAPSE:
		c.bits = embed_once_in(&rng, 10) ? s.granule + (unsigned)embed_below(&rng, 12) :
						   choose_bits(UINT64_MAX);
		break;
	case HARVEST:
		choose_harvest(&c);
		break;
	case FAULT:
		for (unsigned i = 0; i < 8 && !model_is_leaf(page(&c, 0)); i++)
			choose_range(&c);
		c.len = granule;
		c.access = accesses[embed_below(&rng, 6)];
		break;
	case STORE:
		c.token = embed_once_in(&rng, 3) ? embed_below(&rng, 3) : embed_random(&rng) >> 16;
		if (c.flags & PGT_SEQUENCE)
			c.token >>= 1;
		break;
	default:
		break;
	}
	return run_call(&c);
}

/* A region of whole table entries moves with the window inside it. */
static bool relocate(void)
{
	struct model *z = &zone[embed_below(&rng, ZONES)];
	int level = ref_start(&ref) + (int)embed_below(&rng, 2);
	uint64_t span = level > 2 ? 0 : BIT(ref_shift(s.granule, level)), from, len, to, shift;
	struct pgt_gather *g = gathering ? &gather : NULL;
	struct pgt_mapping m;
	int r;

	if (!span || span / granule < z->pages)
		return true;
	from = z->va & ~(span - 1);
	len = ((z->va + z->pages * granule - 1) & ~(span - 1)) - from + span;
	to = range_va + embed_below(&rng, range_len / span) * span;
	if (to + len - 1 < to || to + len - 1 - range_va >= range_len || to - from < len || from - to < len)
		return true;
	for (unsigned i = 0; i < ZONES; i++) {
		uint64_t end = zone[i].va + (zone[i].pages * granule - 1);

		/* Another window is in the way, or would come along. */
		if (zone[i].va <= to + (len - 1) && end >= to)
			return true;
		if (&zone[i] != z && zone[i].va <= from + (len - 1) && end >= from)
			return true;
	}
	shift = to - from;
	NOTE("move va %#" PRIx64 " len %#" PRIx64 " to %#" PRIx64 ", a window at %#" PRIx64, from, len,
	     to, z->va);
	now++;
	tried[MOVE]++;
	r = pgt_move(t, from, to, len, 0, g);
	if (r != PGT_OK)
		return FAIL("%s", pgt_strerror(r));
	done[MOVE]++;
	if (pgt_query(t, z->va, &m) != PGT_OK || m.state != PGT_EMPTY)
		return FAIL("something is left at %#" PRIx64, z->va);
	z->va += shift;
	for (unsigned i = 0; i < ZONES; i++)
		if (&zone[i] == z) {
			if (pgt_unmap(other, theirs[i].va, theirs[i].pages * granule, 0, NULL) != PGT_OK)
				return FAIL("unmap of the copies");
			model_unmap(&theirs[i], theirs[i].va, theirs[i].pages * granule);
			theirs[i].va = z->va;
		}
	return check_held() && check_pages(t, z, z->va, z->pages * granule);
}

/* ---- Gathers ------------------------------------------------------------------------------------- */

static uint64_t invalidates_before, syncs_before;

static void begin_gather(void)
{
	if (pgt_gather_begin(&gather, t) != PGT_OK)
		FAIL("gather_begin");
	NOTE("gather_begin");
	gather.removed = on_removed;
	gathering = true;
	invalidates_before = e.count[EMBED_INVALIDATE];
	syncs_before = e.count[EMBED_SYNC];
}

static bool end_gather(void)
{
	int r = pgt_gather_end(&gather);

	now++;
	NOTE("gather_end");
	gathering = false;
	if (r != PGT_OK || unsynced)
		return FAIL("gather_end: %s", pgt_strerror(r));
	if (gather.tally.invalidates != e.count[EMBED_INVALIDATE] - invalidates_before ||
	    gather.tally.syncs != e.count[EMBED_SYNC] - syncs_before)
		return FAIL("tally: %" PRIu64 " invalidates, %" PRIu64 " syncs; made were %" PRIu64
			    " %" PRIu64, gather.tally.invalidates, gather.tally.syncs,
			    e.count[EMBED_INVALIDATE] - invalidates_before,
			    e.count[EMBED_SYNC] - syncs_before);
	return check_held();
}

/* ---- A configuration ------------------------------------------------------------------------------ */

/* The windows: at the first page, across a border of the root, up to the last page. */
static void place_zones(void)
{
	uint64_t bytes = s.pages * granule, state = 0;
	const uint64_t at[ZONES] = { 0, range_len / 2 - bytes / 2, range_len - bytes };

	state |= s.features & PGT_FEAT_TRACK_YOUNG ? 0 : PGT_YOUNG;
	state |= s.features & PGT_FEAT_TRACK_DIRTY ? 0 : PGT_DIRTY;
	for (unsigned i = 0; i < ZONES; i++) {
		model_init(&zone[i], s.granule, range_va + at[i], s.pages, state);
		model_init(&theirs[i], s.granule, range_va + at[i], s.pages, state);
	}
}

static bool run_steps(void)
{
	uint64_t until_end = 0;

	for (uint64_t i = 0; i < s.steps; i++) {
		if (gathering && until_end-- == 0) {
			if (!end_gather())
				return false;
		} else if (!gathering && embed_once_in(&rng, 8)) {
			begin_gather();
			until_end = embed_below(&rng, 8);
		}
		for (uint64_t k = embed_below(&rng, 4); k-- > 0;)
			if (!touch())
				return false;
		if (!(embed_once_in(&rng, 40) ? relocate() : random_call()))
			return false;
		if (i % 64 == 63 && !check_all())
			return false;
		if (!gathering && kept_tables && embed_once_in(&rng, 64)) {
			NOTE("trim everything");
			if (pgt_trim(t, range_va, range_len, NULL) != PGT_OK)
				return FAIL("trim");
			kept_tables = false;
			if (!check_held() || !check_all())
				return false;
		}
	}
	return (!gathering || end_gather()) && check_all();
}

/* Unmapping everything leaves the roots. */
static bool finish(void)
{
	uint64_t stray;

	if (pgt_unmap(t, range_va, range_len, 0, NULL) != PGT_OK ||
	    pgt_unmap(other, range_va, range_len, 0, NULL) != PGT_OK ||
	    pgt_trim(t, range_va, range_len, NULL) != PGT_OK)
		return FAIL("unmap all");
	if (e.live != 2)
		return FAIL("unmapped, and %" PRIu64 " tables live", e.live);
	stray = embed_stray(&e);
	if (stray)
		return FAIL("memory at %#" PRIx64 " isn't the library's and was written", stray);
	if (e.refused_addresses)
		return FAIL("the library asked for %#" PRIx64 ", which is no table", e.refused_pa);
	return true;
}

static bool make_tables(void)
{
	struct pgt_arm64_config own = { .size = sizeof(own), .levels = (uint16_t)s.format->levels };
	struct pgt_config config = embed_config(&e, s.format->name, s.granule,
						s.input, s.output, s.features, s.mode);

	if (s.format->levels)
		config.format_config = &own;
	if (s.unit_bits)
		config.pages.unit = unit;
	if (s.asks)
		config.pages.writable = writable;
	if (pgt_create(&config, &t) != PGT_OK)
		return false;
	/* Nobody caches the table of the copies. */
	memset(&config.tlb, 0, sizeof(config.tlb));
	return pgt_create(&config, &other) == PGT_OK;
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
	place_tables();
	failed = gathering = unsynced = kept_tables = false;
	noted = 0;
	memset(held, 0, sizeof(held));
	memset(pointers, 0, sizeof(pointers));
	embed_log_clear(&e);
	e.refused_addresses = 0;
	e.hook = on_event;
	granule = BIT(s.granule);
	sizes = format_sizes(s.format, s.granule, s.input, !(s.features & PGT_FEAT_NO_BLOCKS),
			     s.features & PGT_FEAT_CONTIG);
	if (!make_tables()) {
		FAIL("create");
	} else {
		embed_range(t, &range_va, &range_len);
		ref = format_walker(s.format, s.granule, s.input, s.output, s.features);
		ref.read = read_raw;
		ref.ctx = &e;
		ref.root = pgt_root(t);
		place_zones();
		if (run_steps())
			finish();
		if (!failed) {
			pgt_destroy(t);
			pgt_destroy(other);
			if (e.live)
				FAIL("%" PRIu64 " tables live after destroy", e.live);
		}
		for (unsigned i = 0; i < ZONES; i++) {
			model_fini(&zone[i]);
			model_fini(&theirs[i]);
		}
	}
	ok(!failed, "%u: %s%s %u/%u/%u%s%s%s%s%s%s%s%s%s, windows of %" PRIu64 " pages", number,
	   s.format->name, s.format->what ? s.format->what : "", s.granule, s.input, s.output,
	   s.features & PGT_FEAT_UPPER ? " upper" : "", s.features & PGT_FEAT_CONTIG ? " contig" : "",
	   s.features & TRACK ? " track" : "", s.features & HW ? " hw" : "",
	   s.features & PGT_FEAT_NO_BLOCKS ? " pages only" : "",
	   s.features & PGT_FEAT_BBM2 ? " bbm2" : "", s.mode & EMBED_TLB ? " tlb" : "",
	   s.unit_bits ? " units" : "", s.asks ? " asks" : "", s.pages);
	if (failed) /* what it left may be anything */
		embed_fini(&e);
}

#define ALL_STATE (HW | TRACK)

static const struct {
	uint64_t features;
	unsigned mode;
	unsigned unit; /* log2 of the pages in a unit of memory */
	bool asks;
} variants[] = {
	{ PGT_FEAT_CONTIG | ALL_STATE, EMBED_TLB, 0, false },
	{ PGT_FEAT_CONTIG | ALL_STATE | PGT_FEAT_BBM2, EMBED_TLB | EMBED_PUBLISH, 0, false },
	{ PGT_FEAT_CONTIG | TRACK, EMBED_ALL, 0, false },
	{ ALL_STATE, EMBED_WINDOW | EMBED_TLB, 0, true },
	{ PGT_FEAT_CONTIG | ALL_STATE, 0, 6, false },
	{ PGT_FEAT_CONTIG | ALL_STATE, EMBED_TLB, 0, true },
	{ PGT_FEAT_CONTIG, EMBED_TLB | EMBED_WRITTEN, 0, false },
	{ PGT_FEAT_CONTIG | ALL_STATE | PGT_FEAT_NO_BLOCKS, EMBED_TLB, 0, false },
	{ PGT_FEAT_CONTIG | PGT_FEAT_HW_YOUNG | PGT_FEAT_TRACK_YOUNG, EMBED_TLB | EMBED_WINDOW, 9, true },
	{ PGT_FEAT_CONTIG | HW, EMBED_TLB, 0, false },
};

#define VARIANTS (sizeof(variants) / sizeof(*variants))

/* An intermediate address is one of stage 1's outputs. */
static void fit_input(void)
{
	if (s.format->regime == REF_S2 && s.input > s.output)
		s.input = s.output;
}

static void choose_setup(const struct format *f, unsigned g, unsigned v, bool second, uint64_t steps)
{
	static const unsigned inputs[] = { 48, 39, 47, 40 }, outputs[] = { 48, 40, 44, 36 };
	bool upper = f->upper && second;

	s = (struct setup){
		.format = f, .granule = g,
		.input = format_input(f, inputs[(v + second) % 4]),
		.output = format_output(f, outputs[(v + 2 * second) % 4]),
		.features = variants[v].features | format_features(f, g) | (upper ? PGT_FEAT_UPPER : 0),
		.mode = variants[v].mode,
		.unit_bits = variants[v].unit ? g + variants[v].unit : 0,
		.asks = variants[v].asks,
		.pages = UINT64_C(2) << (g - 3),
		.steps = embed_rounds(f->share ? steps / f->share : steps),
	};
	fit_input();
	if (f->arm64 && v % 3 == 2)
		s.features |= PGT_FEAT_EXEC_BBM;
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

static void run_variant(const struct format *f, unsigned v, bool second)
{
	for (unsigned i = 0; f->granules[i]; i++) {
		unsigned g = f->granules[i];

		if (!next_number())
			continue;
		choose_setup(f, g, v, second, g < 12 ? 12000 : g == 12 ? 9400 : g == 14 ? 700 : 350);
		run_setup(number);
	}
}

/* Windows with room for runs of blocks. */
static void run_large(const struct format *f)
{
	for (unsigned i = 0; f->granules[i]; i++) {
		unsigned g = f->granules[i];

		if (!next_number())
			continue;
		choose_setup(f, g, i * 2 % 3, i % 2, g < 12 ? 12000 : 300);
		s.input = f->input;
		s.output = f->output;
		s.pages = g < 12 ? BIT(s.input - g) / 4 : g == 12 ? 3 * 8192 : 65536;
		run_setup(number);
	}
}

static void run_format(const struct format *f)
{
	uint64_t calls = 0;

	memset(tried, 0, sizeof(tried));
	memset(done, 0, sizeof(done));
	for (unsigned i = 0; i < VARIANTS * 2; i++)
		run_variant(f, i % VARIANTS, i / VARIANTS);
	run_large(f);
	for (unsigned i = 0; i < WHATS; i++) {
		note("%s%s: %" PRIu64 " calls of %s, %" PRIu64 " refused", f->name, f->what ? f->what : "", tried[i], names[i],
		     tried[i] - done[i]);
		calls += tried[i];
	}
	ok(only || calls >= 200000 / (f->share + 1), "%" PRIu64 " calls", calls);
}

int main(void)
{
	const char *from = getenv("PGT_TEST_ONLY");

	if (!formats[0])
		return tap_skip_all("no format of these was built");
	only = from ? (unsigned)strtoul(from, NULL, 0) : 0;
	embed_init(&e, BUFFER, EMBED_PA);
	embed_seed(&rng, 1);
	seed = rng.state;
	for (const struct format *const *f = formats; *f; f++)
		run_format(*f);
	embed_snapshot_free(&before);
	embed_fini(&e);
	return tap_done();
}
