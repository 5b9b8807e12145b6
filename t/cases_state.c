/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases that users of page-table code have met, accessed and dirty state and
 * entries that are live: each as it was met, and its whole kind.  The numbers
 * are those of t/cases.tsv.
 *
 * Behind the seam stands hardware: it walks from the root, or from a table that
 * it still has in its walk cache, keeps translations until they are invalidated,
 * and sets young and dirty just before the library's write to the same entry, or
 * before its n-th write in all.  Each entry that is written is compared with
 * what hardware may hold of it.
 */
#include "../lib/entry.h"
#include "contract.h"

#define TRACK (PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY)
#define HW (PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY)
#define LIVE (EMBED_TLB | EMBED_PUBLISH)

static struct world w;
static struct embed_snapshot before;

/* ---- Raw state ------------------------------------------------------------- */

static bool writable(uint64_t raw)
{
	return raw & w.f->entry.writable;
}

static bool valid(uint64_t raw)
{
	const struct entry_bits *b = &w.f->entry;
	unsigned type = raw & 3;

	return (type == b->table || type == b->block || type == b->page) &&
	       !(raw & (b->broken | b->noaccess));
}

/* What hardware makes of a valid leaf; with `dirty` at a write. */
static uint64_t touched(uint64_t raw, bool dirty)
{
	return entry_touched(w.f, raw, dirty && writable(raw));
}

/* ---- Hardware ---------------------------------------------------------------- */

#define EYES 24

/* An address that hardware accesses, and what it holds of it. */
static struct eye {
	uint64_t va, pa;         /* and what it was mapped to at first */
	bool read, wrote;        /* that memory, since it was last asked */
	bool new_read, new_wrote; /* what has taken its place */
	bool held, held_dirty;   /* a translation, and that it may be written through */
	uint64_t held_pa;
	struct pgt_entry *cached; /* the entry of the last level in a table of the walk cache */
	unsigned cached_level;
} eye[EYES];

static unsigned eyes;
static bool acting;

static struct pgt_entry *walk(uint64_t va, unsigned *level)
{
	for (*level = w.geo.start;; ++*level) {
		struct pgt_entry *e = raw_at(&w, va, *level);

		if (!e || *level == 3 || !raw_is_table(&w, memory_load(e), *level) || !valid(memory_load(e)))
			return e;
	}
}

static bool access_entry(struct eye *h, struct pgt_entry *e, unsigned level, bool write)
{
	uint64_t raw = memory_load(e), new;

	do {
		if (!valid(raw) || !raw_is_leaf(&w, raw, level) || (write && !writable(raw)))
			return false;
		new = touched(raw, write);
	} while (!memory_compare_swap(e, &raw, new));
	h->held = true;
	h->held_dirty = writable(new) && touched(new, true) == new;
	h->held_pa = raw_address(&w, new) + (h->va & (geo_span(&w.geo, level) - 1));
	return true;
}

/* One access, through what is held of it. */
static bool look(struct eye *h, bool write)
{
	unsigned level = h->cached_level;
	struct pgt_entry *e = h->cached;
	bool done = h->held && (!write || h->held_dirty);

	if (!done) {
		if (!e)
			e = walk(h->va, &level);
		done = e && access_entry(h, e, level, write);
		if (done) {
			h->cached = e;
			h->cached_level = level;
		}
	}
	if (done && h->held_pa == h->pa) {
		h->read = true;
		h->wrote |= write;
	} else if (done) {
		h->new_read = true;
		h->new_wrote |= write;
	}
	return done;
}

static void forget(struct eye *h)
{
	h->held = false;
	h->cached = NULL;
}

/* Before the library starts: the walk cache knows the tables, the TLB nothing. */
static void open_eyes(void)
{
	for (unsigned i = 0; i < eyes; i++) {
		struct eye *h = &eye[i];

		*h = (struct eye){ .va = h->va };
		h->cached = walk(h->va, &h->cached_level);
		h->pa = raw_address(&w, memory_load(h->cached)) +
			(h->va & (geo_span(&w.geo, h->cached_level) - 1));
	}
}

/* ---- What is live -------------------------------------------------------------- */

#define LIVE_MAX 4096

/* Entries that were valid, and that hardware may still hold as they were. */
static struct live {
	struct pgt_entry *e;
	uint64_t raw, va;
	unsigned level;
	bool told;
} live[LIVE_MAX];

static unsigned lives;
static uint64_t live_wrong, entry_writes;
static bool in_place; /* size and hint may change while valid */
static bool classify;

/* Whether the change needs break-before-make. */
static bool needs_break(uint64_t old, uint64_t new, unsigned level)
{
	const struct entry_bits *b = &w.f->entry;
	uint64_t differ = old ^ new, same;

	if (raw_is_table(&w, old, level) || raw_is_table(&w, new, level))
		return raw_is_table(&w, old, level) && raw_is_table(&w, new, level) ? differ != 0 : !in_place;
	same = b->address | b->memory | b->sh;
	if (!in_place)
		same |= raw_contig(&w);
	if (differ & same)
		return true;
	return (differ & old & b->not_global) || (differ & new & b->global);
}

static struct live *find_live(const struct pgt_entry *e)
{
	for (unsigned i = 0; i < lives; i++)
		if (live[i].e == e)
			return &live[i];
	return NULL;
}

/* The address and level of an entry that the eyes can reach. */
static bool reach(const struct pgt_entry *e, uint64_t *va, unsigned *level)
{
	for (unsigned i = 0; i < eyes; i++)
		for (unsigned l = w.geo.start; l <= 3; l++) {
			const struct pgt_entry *at = raw_at(&w, eye[i].va, l);

			if (at == e) {
				*va = eye[i].va & ~(geo_span(&w.geo, l) - 1);
				*level = l;
				return true;
			}
			if (!at)
				break;
		}
	return false;
}

static void written(struct pgt_entry *e, uint64_t old, uint64_t new)
{
	struct live *was = find_live(e);
	uint64_t va;
	unsigned level;

	entry_writes++;
	if (!was && valid(old) && reach(e, &va, &level) && lives < LIVE_MAX) {
		was = &live[lives++];
		*was = (struct live){ e, old, va, level, false };
	}
	if (was && valid(new) && needs_break(was->raw, new, was->level)) {
		if (live_wrong++ < 4)
			note("va %#" PRIx64 " level %u: %#" PRIx64 " becomes %#" PRIx64 " unbroken", was->va,
			     was->level, was->raw, new);
	}
	/* Permission and state alone: what is held may be either. */
	if (was && valid(new))
		was->raw = new;
}

/* The TLB callbacks. */
static void told(struct embed *e, const struct embed_event *ev)
{
	const struct pgt_tlb_range *r = &ev->range;
	bool all = r->flags & PGT_TLB_ALL;

	(void)e;
	if (ev->kind == EMBED_SYNC) {
		unsigned kept = 0;

		for (unsigned i = 0; i < lives; i++)
			if (!live[i].told)
				live[kept++] = live[i];
		lives = kept;
	}
	if (ev->kind != EMBED_INVALIDATE)
		return;
	for (unsigned i = 0; i < lives; i++)
		live[i].told |= all || (live[i].va - r->va < r->len &&
					(!raw_is_table(&w, live[i].raw, live[i].level) || r->flags & PGT_TLB_WALK));
	for (unsigned i = 0; i < eyes; i++)
		if (all || eye[i].va - r->va < r->len) {
			eye[i].held = false;
			if (all || r->flags & PGT_TLB_WALK)
				eye[i].cached = NULL;
		}
}

/* ---- The seam -------------------------------------------------------------------- */

enum when { NEVER, SAME_ENTRY, NTH_WRITE };

static enum when when;
static uint64_t nth, writes;
static void (*meanwhile)(struct pgt_entry *); /* instead of hardware: what happens before a swap */

/* Before the library writes an entry. */
static void hardware_acts(const struct pgt_entry *e)
{
	if (acting)
		return;
	acting = true;
	if (when == NTH_WRITE && writes == nth)
		for (unsigned i = 0; i < eyes; i++)
			look(&eye[i], i & 1);
	if (when == SAME_ENTRY)
		for (unsigned i = 0; i < eyes; i++) {
			unsigned level;

			if (eye[i].cached ? eye[i].cached == e : walk(eye[i].va, &level) == e) {
				eye[i].held = false; /* so that it walks */
				look(&eye[i], true);
			}
		}
	writes++;
	acting = false;
}

static uint64_t seam_load(const struct pgt_entry *e)
{
	return memory_load(e);
}

static void seam_store(struct pgt_entry *e, uint64_t raw)
{
	hardware_acts(e);
	if (classify)
		written(e, memory_load(e), raw);
	memory_store(e, raw);
}

static uint64_t seam_exchange(struct pgt_entry *e, uint64_t raw)
{
	hardware_acts(e);
	if (classify)
		written(e, memory_load(e), raw);
	return memory_exchange(e, raw);
}

static bool seam_swap(struct pgt_entry *e, uint64_t *expected, uint64_t raw)
{
	uint64_t old = *expected;

	if (meanwhile)
		meanwhile(e);
	hardware_acts(e);
	if (!memory_compare_swap(e, expected, raw))
		return false;
	if (classify)
		written(e, old, raw);
	return true;
}

static const struct pgt_seam hardware = { seam_load, seam_store, seam_exchange, seam_swap };

const struct pgt_seam *pgt_seam = &hardware;

/* ---- 86: calls that race with hardware ---------------------------------------------- */

/* A block, a run and pages of every state, [base, base + span). */
struct stage {
	uint64_t base, block, page, run;
	uint64_t span; /* of all */
};

static struct stage st;

static void set_eyes(void)
{
	uint64_t pages = st.base + st.block;
	const uint64_t vas[] = {
		0, st.page, st.page * 2, st.block / 2, st.block / 2 + st.page, st.block - st.page,
		st.block, st.block + st.page, st.block + st.run / 2, st.block + st.run - st.page,
	};

	eyes = 0;
	for (unsigned i = 0; i < sizeof(vas) / sizeof(vas[0]); i++)
		eye[eyes++].va = st.base + vas[i] + 8;
	for (unsigned i = 0; i < 8; i++)
		eye[eyes++].va = pages + st.run * 2 + i * st.page + 16;
}

static void make_stage(unsigned state)
{
	static const uint64_t states[] = { 0, PGT_YOUNG, PGT_DIRTY, PGT_YOUNG | PGT_DIRTY };
	uint64_t pages = st.base + st.block, pa = st.block * 64;

	when = NEVER;
	classify = false;
	want_status(pgt_unmap(w.t, 0, st.block * 64, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, st.base, pa, st.block, RW | states[state], 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, pages, pa + st.block, st.run, RW | states[state], 0, NULL), PGT_OK);
	for (unsigned i = 0; i < 8; i++)
		want_status(pgt_map(w.t, pages + st.run * 2 + i * st.page, pa + st.block + (3 * i + 1) * st.page +
				    st.run * 2, st.page, (i & 4 ? PGT_READ : RW) | states[i & 3], 0, NULL), PGT_OK);
	set_eyes();
}

/* State that removed() has told, by PA. */
static uint64_t gone_pa[4096], gone_len[4096], gone_attr[4096];
static unsigned gone;

static int removed(void *ctx, const struct pgt_mapping *m)
{
	(void)ctx;
	if (m->state == PGT_LEAF && gone < 4096) {
		gone_pa[gone] = m->pa;
		gone_len[gone] = m->len;
		gone_attr[gone++] = m->attr;
	}
	return 0;
}

static uint64_t gone_state(uint64_t pa)
{
	uint64_t state = 0;

	for (unsigned i = 0; i < gone; i++)
		if (pa - gone_pa[i] < gone_len[i])
			state |= gone_attr[i] & (PGT_YOUNG | PGT_DIRTY);
	return state;
}

static uint64_t dirty_words[512], young_words[512];

enum op { RO, RW_AGAIN, SOFTWARE, MEMORY, INACCESSIBLE, RO_PART, YOUNG, YOUNG_LAZY, DIRTY, BOTH, DIRTY_PART, UNMAP,
	  UNMAP_PART, REPLACE, MOVE, MOVE_ASKEW, SPLIT, COLLAPSE, COPY, FAULT, OPS };

static struct pgt *other;
static uint64_t moved; /* by how much */

static struct pgt_bitmap bits_at(uint64_t *words)
{
	return (struct pgt_bitmap){ words, st.base, st.span / st.page, (uint8_t)w.geo.g };
}

static int run_op(enum op op, struct pgt_gather *g)
{
	struct pgt_bitmap dirty = bits_at(dirty_words), young = bits_at(young_words);
	uint64_t far = st.base + st.block * 8, part = st.base + st.block / 2;
	int status;

	switch (op) {
	case RO:
		return pgt_protect(w.t, st.base, st.span, 0, PGT_WRITE, 0, g);
	case RW_AGAIN:
		return pgt_protect(w.t, st.base, st.span, PGT_WRITE, 0, 0, g);
	case SOFTWARE:
		return pgt_protect(w.t, st.base, st.span, PGT_SW0, 0, 0, g);
	case MEMORY:
		return pgt_protect(w.t, st.base, st.span, PGT_MEM_NOCACHE, PGT_MEM_MASK, 0, g);
	case INACCESSIBLE:
		status = pgt_protect(w.t, st.base, st.span, PGT_NOACCESS, 0, 0, g);
		return status ? status : pgt_protect(w.t, st.base, st.span, 0, PGT_NOACCESS, 0, g);
	case RO_PART:
		return pgt_protect(w.t, part, st.block / 2 + st.page, 0, PGT_WRITE, 0, g);
	case YOUNG:
		return pgt_harvest(w.t, st.base, st.span, PGT_YOUNG, 0, &young, g);
	case YOUNG_LAZY:
		return pgt_harvest(w.t, st.base, st.span, PGT_YOUNG, PGT_LAZY, &young, g);
	case DIRTY:
		return pgt_harvest(w.t, st.base, st.span, PGT_DIRTY, 0, &dirty, g);
	case BOTH:
		status = pgt_harvest(w.t, st.base, st.span, PGT_YOUNG | PGT_DIRTY, 0, &dirty, g);
		memcpy(young_words, dirty_words, sizeof(young_words));
		return status;
	case DIRTY_PART:
		return pgt_harvest(w.t, part, st.block / 2 + st.page, PGT_DIRTY, 0, &dirty, g);
	case UNMAP:
		return pgt_unmap(w.t, st.base, st.span, 0, g);
	case UNMAP_PART:
		return pgt_unmap(w.t, part, st.block / 2 + st.page, 0, g);
	case REPLACE:
		return pgt_map(w.t, st.base, st.block * 128, st.span, RW, PGT_REPLACE, g);
	case MOVE:
		moved = st.block * 8;
		return pgt_move(w.t, st.base, far, st.span, 0, g);
	case MOVE_ASKEW:
		moved = st.block * 8 + st.page;
		return pgt_move(w.t, st.base, far + st.page, st.span, 0, g);
	case SPLIT:
		return pgt_split(w.t, st.base, st.span, w.geo.g, 0, g);
	case COLLAPSE:
		return pgt_collapse(w.t, st.base, st.span, geo_bits(&w.geo, 2), 0, g);
	case COPY:
		return pgt_copy(other, w.t, st.base, st.span, PGT_COW, g);
	default:
		status = pgt_fault(w.t, st.base + st.block + st.page, PGT_READ, g);
		return status ? status : pgt_fault(w.t, st.base, PGT_WRITE, g);
	}
}

static bool bit_of(const uint64_t *words, uint64_t va)
{
	uint64_t i = (va - st.base) / st.page;

	return words[i / 64] >> (i % 64) & 1;
}

/* Nothing that was there, or that hardware has set, is lost. */
static void lose_nothing(unsigned i, uint64_t state)
{
	const struct eye *h = &eye[i];
	struct pgt_mapping m = query(w.t, h->va + moved);
	uint64_t now = 0, pa = h->pa;
	bool mine = m.state == PGT_LEAF && m.pa + (h->va + moved - m.va) == pa;

	if (m.state == PGT_LEAF && !mine)
		want_u64(((h->new_read ? PGT_YOUNG : 0) | (h->new_wrote ? PGT_DIRTY : 0)) & ~m.attr, 0);
	else
		want(!h->new_read && !h->new_wrote);

	state |= (h->read ? PGT_YOUNG : 0) | (h->wrote ? PGT_DIRTY : 0);
	now |= mine ? m.attr & (PGT_YOUNG | PGT_DIRTY) : 0;
	now |= gone_state(pa) | (bit_of(young_words, h->va) ? PGT_YOUNG : 0) |
	       (bit_of(dirty_words, h->va) ? PGT_DIRTY : 0);
	want_u64(state & ~now, 0);
}

static void race(enum op op, unsigned state, enum when how, uint64_t n)
{
	struct pgt_gather g;
	uint64_t was[EYES];

	make_stage(state);
	if (op == COLLAPSE) {
		want_status(pgt_split(w.t, st.base, st.block, w.geo.g, 0, NULL), PGT_OK);
		/* One page is written, and gives its state to all. */
		want_status(pgt_fault(w.t, st.base + st.page, PGT_WRITE, NULL), PGT_OK);
	}
	where("granule %u, in place %d, op %d, state %u, at write %d", w.geo.g, in_place, op, state,
	      how == NTH_WRITE ? (int)n : -1);
	for (unsigned i = 0; i < eyes; i++)
		was[i] = query(w.t, eye[i].va).attr & (PGT_YOUNG | PGT_DIRTY);
	memset(dirty_words, 0, sizeof(dirty_words));
	memset(young_words, 0, sizeof(young_words));
	gone = 0;
	moved = 0;
	lives = 0;
	writes = 0;
	nth = n;
	open_eyes();
	w.e.hook = told;
	want_status(pgt_gather_begin(&g, w.t), PGT_OK);
	g.removed = removed;
	when = how;
	classify = true;
	want_status(run_op(op, &g), PGT_OK);
	want_status(pgt_gather_end(&g), PGT_OK);
	when = NEVER;
	classify = false;
	for (unsigned i = 0; i < eyes; i++)
		lose_nothing(i, was[i]);
	/* What is written from now on leaves its mark in the table: nothing stale is used. */
	for (unsigned i = 0; i < eyes; i++) {
		struct eye *h = &eye[i];
		struct pgt_translation tr;
		bool can = pgt_translate(w.t, h->va, PGT_WRITE, &tr) == PGT_OK;
		bool did;

		h->wrote = false;
		did = look(h, true);
		want(!did || can);
		if (did && can)
			want_u64(h->held_pa, tr.pa);
		if (did && can)
			want(query(w.t, h->va).attr & PGT_DIRTY);
		if (op != YOUNG_LAZY && look(h, false) && can)
			want(query(w.t, h->va).attr & PGT_YOUNG);
	}
	w.e.hook = NULL;
	want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
	if (op == COPY)
		want_status(pgt_unmap(other, st.base, st.span, 0, NULL), PGT_OK);
	for (unsigned i = 0; i < eyes; i++)
		forget(&eye[i]);
}

static bool open_stage(const char *format, unsigned g, uint64_t features)
{
	if (!world_open(&w, format, g, 48, features | PGT_FEAT_CONTIG, LIVE))
		return false;
	want_status(pgt_create(&w.c, &other), PGT_OK);
	in_place = features & PGT_FEAT_BBM2;
	live_wrong = 0;
	st.block = geo_span(&w.geo, 2);
	st.page = BIT(g);
	st.run = BIT(geo_run_bits(&w.geo, 3));
	st.base = st.block * 4;
	st.span = (st.block + st.run * 2 + st.page * 8 + st.block - 1) & ~(st.block - 1);
	return true;
}

static void close_stage(void)
{
	want_u64(live_wrong, 0);
	pgt_destroy(other);
	world_close(&w);
}

static void case_86(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned bbm = 0; bbm < 2; bbm++) {
			if (!open_stage(format, granule, HW | TRACK | (bbm ? PGT_FEAT_BBM2 : 0)))
				continue;
			for (unsigned op = 0; op < OPS; op++)
				for (unsigned state = 0; state < 4; state += granule > 12 ? 3 : 1) {
					uint64_t n;

					race(op, state, SAME_ENTRY, 0);
					/* The first writes, and later ones farther and farther apart. */
					for (n = 0; n == 0 || n <= writes; n += n < 10 ? 1 : 1 + n / 2)
						race(op, state, NTH_WRITE, n);
				}
			close_stage();
		}
	ok(fine, "case 86: Plain store races with a hardware update: %s, every call, at every write", format);
}

/* The page vanishes between read and write. */
static bool vanished;

static void vanish(struct pgt_entry *e)
{
	if (!vanished)
		memory_store(e, 0);
	vanished = true;
}

static void case_86_vanish(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned i = 0; i < 2; i++) {
			struct pgt_translation tr;
			uint64_t page = BIT(granule);
			int status;

			if (!world_open(&w, format, granule, 48, HW | TRACK, LIVE))
				continue;
			where("granule %u, %s", granule, i ? "fault" : "translate");
			want_status(pgt_map(w.t, page, page, page, RW, 0, NULL), PGT_OK);
			vanished = false;
			meanwhile = vanish;
			if (i)
				status = pgt_fault(w.t, page, PGT_WRITE, NULL);
			else
				status = pgt_translate(w.t, page, PGT_WRITE | PGT_UPDATE, &tr);
			meanwhile = NULL;
			want(vanished);
			want(status != PGT_OK);
			want_u64(raw_entry(&w, page, 3), 0);
			world_close(&w);
		}
	ok(fine, "case 86: Plain store races with a hardware update: %s, a page that vanishes stays away", format);
}

/* ---- 52: state at a split -------------------------------------------------------------- */

static void one_52(unsigned level, uint64_t attr, unsigned how)
{
	uint64_t span = geo_span(&w.geo, level), page = BIT(w.geo.g), va = span * 4;
	uint64_t step = span / page > 1024 ? span / 512 : page, at = span / 2;
	uint64_t changed = attr = world_attr(&w, attr);

	if (span > 4 * page)
		at += page;
	where("granule %u, level %u, attr %#" PRIx64 ", how %u", w.geo.g, level, attr, how);
	want_status(pgt_map(w.t, va, span * 8, span, attr, 0, NULL), PGT_OK);
	if (how == 0)
		want_status(pgt_split(w.t, va + at, page, w.geo.g, 0, NULL), PGT_OK);
	if (how == 1)
		want_status(pgt_split(w.t, va, span, geo_bits(&w.geo, level + 1), 0, NULL), PGT_OK);
	if (how == 2) {
		want_status(pgt_protect(w.t, va + at, page, PGT_SW1, 0, 0, NULL), PGT_OK);
		changed |= PGT_SW1;
	}
	for (uint64_t i = 0; i < span; i += step) {
		if (i == at)
			continue;
		want_u64(query(w.t, va + i).attr, attr);
		want_u64(query(w.t, va + i).pa + ((va + i) - query(w.t, va + i).va), span * 8 + i);
		if (w.arm64 && attr & PGT_WRITE)
			want_u64(query(w.t, va + i).entry >> 51 & 1, 1);
	}
	want_u64(query(w.t, va + at).attr, changed);
	/* Of one child alone. */
	want_status(pgt_harvest(w.t, va + at, page, PGT_DIRTY, 0, NULL, NULL), PGT_OK);
	want_u64(query(w.t, va + at).attr, changed & ~PGT_DIRTY);
	want_u64(query(w.t, va + at - page).attr, attr);
	want_u64(query(w.t, va + at + page).attr, attr);
	want_u64(query(w.t, va).attr, attr);
	want_u64(query(w.t, va + span - 1).attr, attr);
	sound(&w);
	want_status(pgt_unmap(w.t, va, span, 0, NULL), PGT_OK);
}

static void case_52(const char *format)
{
	static const uint64_t attrs[] = {
		RW, RW | PGT_YOUNG, RW | PGT_DIRTY, RWD, PGT_READ, PGT_READ | PGT_DIRTY,
		PGT_READ | PGT_YOUNG | PGT_SW0 | PGT_SW2, RWD | PGT_SW0 | PGT_GLOBAL,
	};

	begin();
	for_granules(format, granule)
		for (unsigned bbm = 0; bbm < 2; bbm++) {
			if (!world_open(&w, format, granule, 48, TRACK | PGT_FEAT_CONTIG |
					(bbm ? PGT_FEAT_BBM2 : 0), LIVE))
				continue;
			for (unsigned l = w.geo.top_block; l < 3; l++)
				for (unsigned i = 0; i < 24; i++)
					if (i / 8 != 1 || geo_span(&w.geo, l) >> geo_bits(&w.geo, l + 1) <= 8192)
						one_52(l, attrs[i % 8], i / 8);
			world_close(&w);
		}
	ok(fine, "case 52: Dirty/young state at a split: %s, split, protect, harvest of one child", format);
}

/* ---- 84: hardware's form of dirty -------------------------------------------------------- */

/* Hardware writes through the address: the leaf, of a run this member alone. */
static void hardware_writes(uint64_t va)
{
	struct eye h = { .va = va };

	want(look(&h, true));
}

static void one_84(unsigned bits, unsigned level)
{
	uint64_t size = BIT(bits), page = BIT(w.geo.g), va = size * 4, pa = size * 8, words[1];
	struct pgt_bitmap bitmap = { words, va, 1, (uint8_t)bits };
	struct pgt_gather g;

	for (unsigned op = 0; op < 8; op++) {
		uint64_t at = va, dirty = PGT_YOUNG | PGT_DIRTY, last;

		where("granule %u, level %u, 2^%u, op %u", w.geo.g, level, bits, op);
		want_status(pgt_map(w.t, va, pa, size, RW, PGT_MAX_LEAF(bits), NULL), PGT_OK);
		want_u64(query(w.t, va).run_bytes, size);
		/* The last member of a run, or a byte of the leaf. */
		last = va + size - 1;
		hardware_writes(last);
		want_u64(query(w.t, va).attr, RWD);
		want_status(pgt_protect(w.t, va, size, 0, PGT_WRITE, 0, NULL), PGT_OK);
		want_u64(query(w.t, va).attr, PGT_READ | dirty);
		if (op == 1) {
			want_status(pgt_split(w.t, va, size, bits == w.geo.g ? bits : geo_bits(&w.geo, level == 3 ? 3 :
					      level + 1), 0, NULL), PGT_OK);
			want_u64(query(w.t, last).attr & dirty, dirty);
			want_status(pgt_collapse(w.t, va, size, bits, 0, NULL), PGT_OK);
		}
		if (op == 2) {
			at = size * 6;
			want_status(pgt_move(w.t, va, at, size, 0, NULL), PGT_OK);
		}
		if (op == 3)
			want_status(pgt_protect(w.t, va, size, PGT_NOACCESS, 0, 0, NULL), PGT_OK);
		if (op == 4)
			want_status(pgt_protect(w.t, va, size, PGT_MEM_NOCACHE, PGT_MEM_MASK, 0, NULL), PGT_OK);
		want_u64(query(w.t, at).attr & (dirty | PGT_WRITE), dirty);
		if (op == 3)
			want_status(pgt_protect(w.t, va, size, 0, PGT_NOACCESS, 0, NULL), PGT_OK);
		if (op >= 6) {
			/* Taken away while it is read-only, or writable again: told to be dirty. */
			gone = 0;
			if (op == 7)
				want_status(pgt_protect(w.t, at, size, PGT_WRITE, 0, 0, NULL), PGT_OK);
			want_status(pgt_gather_begin(&g, w.t), PGT_OK);
			g.removed = removed;
			if (op == 6)
				want_status(pgt_unmap(w.t, at, size, 0, &g), PGT_OK);
			else
				want_status(pgt_map(w.t, at, size * 12, size, RW, PGT_REPLACE | PGT_MAX_LEAF(bits), &g),
					    PGT_OK);
			want_status(pgt_gather_end(&g), PGT_OK);
			want_u64(gone_state(pa + size - 1), dirty);
			want_u64(gone_state(pa), dirty);
			want_status(pgt_unmap(w.t, at, size, 0, NULL), PGT_OK);
			continue;
		}
		if (op != 5) {
			want_status(pgt_protect(w.t, at, size, PGT_WRITE, 0, 0, NULL), PGT_OK);
			want_u64(query(w.t, at).attr & (RW | dirty), RWD);
		}
		/* Cleared, read-only or not; and not dirty again without a write. */
		words[0] = 0;
		bitmap.va = at;
		want_status(pgt_harvest(w.t, at, size, PGT_DIRTY, 0, &bitmap, NULL), PGT_OK);
		want_u64(words[0], 1);
		want_u64(query(w.t, last - va + at).attr & PGT_DIRTY, 0);
		want_status(pgt_protect(w.t, at, size, PGT_WRITE, 0, 0, NULL), PGT_OK);
		want_u64(query(w.t, at).attr & PGT_DIRTY, 0);
		words[0] = 0;
		want_status(pgt_harvest(w.t, at, size, PGT_DIRTY, 0, &bitmap, NULL), PGT_OK);
		want_u64(words[0], 0);
		hardware_writes(at + page / 2);
		want_status(pgt_harvest(w.t, at, size, PGT_DIRTY, PGT_PEEK, &bitmap, NULL), PGT_OK);
		want_u64(words[0], 1);
		want_u64(query(w.t, at).attr & PGT_DIRTY, PGT_DIRTY);
		sound(&w);
		want_status(pgt_unmap(w.t, at, size, 0, NULL), PGT_OK);
	}
}

static void case_84(const char *format)
{
	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, HW | TRACK | PGT_FEAT_CONTIG, LIVE))
			continue;
		for (unsigned l = w.geo.top_block; l <= 3; l++) {
			one_84(geo_bits(&w.geo, l), l);
			if (w.geo.run_log[l] && BIT(geo_run_bits(&w.geo, l)) <= w.bytes / 16)
				one_84(geo_run_bits(&w.geo, l), l);
		}
		world_close(&w);
	}
	ok(fine, "case 84: Write-protecting a hardware-dirty page drops the dirt: %s, pages, blocks and runs, every "
	   "call after it", format);
}

/* ---- 87, 88 --------------------------------------------------------------------------------- */

/* The second time nothing changes, and that is success. */
static void twice(uint64_t va, uint64_t access, uint64_t members, uint64_t size, uint64_t state)
{
	struct pgt_gather g;

	for (unsigned i = 0; i < 2; i++) {
		want_status(pgt_gather_begin(&g, w.t), PGT_OK);
		embed_log_clear(&w.e);
		want_status(pgt_fault(w.t, va, access, &g), PGT_OK);
		want_u64(g.tally.changed, i ? 0 : members);
		want_status(pgt_gather_end(&g), PGT_OK);
		want_u64(query(w.t, va).attr & (PGT_YOUNG | PGT_DIRTY), state);
		/* This CPU forgets the leaf or run both times. */
		want_u64(w.e.count[EMBED_INVALIDATE], 1);
		want_u64(w.e.log[0].range.flags & PGT_TLB_LOCAL, PGT_TLB_LOCAL);
		want_u64(w.e.log[0].range.va, va & ~(size - 1));
		want_u64(w.e.log[0].range.len, size);
	}
}

static void one_87(unsigned bits, unsigned level)
{
	uint64_t size = BIT(bits), va = size * 4, n = size >> geo_bits(&w.geo, level);
	uint64_t state = w.f->entry.young | w.f->entry.dirty; /* as a write sets it */

	where("granule %u, 2^%u", w.geo.g, bits);
	want_status(pgt_map(w.t, va, size, size, RW, PGT_MAX_LEAF(bits), NULL), PGT_OK);
	twice(va + size / 2 + 3, PGT_READ, n, size, PGT_YOUNG);
	twice(va + 3, PGT_WRITE, n, size, PGT_YOUNG | PGT_DIRTY);
	twice(va + 3, PGT_READ, 0, size, PGT_YOUNG | PGT_DIRTY);
	for (uint64_t i = 0; i < n; i++)
		want_u64(raw_entry(&w, va + i * (size / n), level) & state, state);
	want_status(pgt_unmap(w.t, va, size, 0, NULL), PGT_OK);
	/* Not permitted is something else, and not mapped too. */
	want_status(pgt_map(w.t, va, size, size, PGT_READ, PGT_MAX_LEAF(bits), NULL), PGT_OK);
	embed_snapshot(&w.e, &before);
	embed_log_clear(&w.e);
	want_status(pgt_fault(w.t, va, PGT_WRITE, NULL), PGT_EACCES);
	want_status(pgt_fault(w.t, va, PGT_EXEC, NULL), PGT_EACCES);
	if (format_has_user(w.f))
		want_status(pgt_fault(w.t, va, PGT_READ | PGT_USER, NULL), PGT_EACCES);
	want_status(pgt_fault(w.t, va + size, PGT_READ, NULL), PGT_ENOENT);
	want_status(pgt_fault(w.t, va - 1, PGT_WRITE, NULL), PGT_ENOENT);
	want(!embed_compare(&w.e, &before));
	want_u64(w.e.events, 0);
	twice(va + 3, PGT_READ, n, size, PGT_YOUNG);
	want_status(pgt_protect(w.t, va, size, PGT_NOACCESS, 0, 0, NULL), PGT_OK);
	want_status(pgt_fault(w.t, va, PGT_READ, NULL), PGT_EACCES);
	want_status(pgt_store(w.t, va, size, 1, PGT_REPLACE, NULL), PGT_OK);
	want_status(pgt_fault(w.t, va, PGT_READ, NULL), PGT_ENOENT);
	want_status(pgt_unmap(w.t, va, size, 0, NULL), PGT_OK);
}

static void case_87(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned hw = 0; hw < 2; hw++) {
			if (!world_open(&w, format, granule, 48, TRACK | PGT_FEAT_CONTIG | (hw ? HW : 0), LIVE))
				continue;
			for (unsigned l = w.geo.top_block; l <= 3; l++) {
				one_87(geo_bits(&w.geo, l), l);
				if (w.geo.run_log[l] && BIT(geo_run_bits(&w.geo, l)) <= w.bytes / 16)
					one_87(geo_run_bits(&w.geo, l), l);
			}
			world_close(&w);
		}
	ok(fine, "case 87: Second fault on an already fixed page treated as an error: %s, pages, blocks, runs, "
	   "read-only, tokens, holes", format);
}

static void one_88(unsigned bits, unsigned level)
{
	uint64_t size = BIT(bits), va = size * 4, n = size >> geo_bits(&w.geo, level);
	uint64_t af = w.f->entry.young;
	struct pgt_gather g;

	where("granule %u, 2^%u", w.geo.g, bits);
	want_status(pgt_map(w.t, va, size, size, RW | PGT_YOUNG, PGT_MAX_LEAF(bits), NULL), PGT_OK);
	want_status(pgt_map(w.t, va + size * 2, size * 3, size, RW, PGT_MAX_LEAF(bits), NULL), PGT_OK);
	want_status(pgt_store(w.t, va + size * 3, size, 0, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, va + size * 4, size, size, RWD | PGT_NOACCESS, PGT_MAX_LEAF(bits), NULL), PGT_OK);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t blocked = size >> geo_bits(&w.geo, level);

		embed_log_clear(&w.e);
		want_status(pgt_gather_begin(&g, w.t), PGT_OK);
		want_status(pgt_harvest(w.t, va - size, size * 8, PGT_YOUNG, 0, NULL, &g), PGT_OK);
		want_status(pgt_gather_end(&g), PGT_OK);
		/* A run counts its members, a block once; what isn't accessible keeps its state too. */
		want_u64(g.tally.young, i ? n : n + blocked);
		want_u64(w.e.count[EMBED_INVALIDATE], 1);
		want_u64(w.e.log[0].range.va, va);
		want_u64(w.e.log[0].range.len, size);
		for (uint64_t k = 0; k < n; k++)
			want_u64(raw_entry(&w, va + k * (size / n), level) & af, 0);
		/* Holes and tokens are as they were. */
		want(is_empty(w.t, va + size) && is_empty(w.t, va - 1));
		want_u64(query(w.t, va + size * 3).state, PGT_TOKEN);
		want_u64(query(w.t, va + size * 3).token, 0);
		want_u64(query(w.t, va + size * 4).attr, RW | PGT_DIRTY | PGT_NOACCESS);
		want_u64(reads(w.t, va + 5), NOWHERE);
		/* An old one again: nothing to do, nothing to tell. */
		embed_log_clear(&w.e);
		want_status(pgt_harvest(w.t, va - size, size * 8, PGT_YOUNG, 0, NULL, NULL), PGT_OK);
		want_u64(w.e.events, 0);
		want_status(pgt_fault(w.t, va + 5, PGT_READ, NULL), PGT_OK);
		want_u64(reads(w.t, va + 5), size + 5);
		for (uint64_t k = 0; k < n; k++)
			want_u64(raw_entry(&w, va + k * (size / n), level) & af, af);
	}
	want_status(pgt_unmap(w.t, va, size * 8, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
}

static void case_88(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		if (!world_open(&w, format, granule, 48, TRACK | PGT_FEAT_CONTIG, LIVE))
			continue;
		for (unsigned l = w.geo.top_block; l <= 3; l++) {
			one_88(geo_bits(&w.geo, l), l);
			if (w.geo.run_log[l] && BIT(geo_run_bits(&w.geo, l)) <= w.bytes / 16)
				one_88(geo_run_bits(&w.geo, l), l);
		}
		world_close(&w);
		/* Where nobody would set it again, it can't be cleared. */
		if (!world_open(&w, format, granule, 48, 0, LIVE))
			continue;
		want_status(pgt_map(w.t, page, 0, page, RW, 0, NULL), PGT_OK);
		want_status(pgt_harvest(w.t, page, page, PGT_YOUNG, 0, NULL, NULL), PGT_ENOTSUP);
		want_status(pgt_harvest(w.t, page, page, PGT_DIRTY, 0, NULL, NULL), PGT_ENOTSUP);
		want_status(pgt_protect(w.t, page, page, 0, PGT_YOUNG, 0, NULL), PGT_ENOTSUP);
		want_u64(query(w.t, page).attr, RWD);
		world_close(&w);
	}
	ok(fine, "case 88: Clearing young without hardware management: %s, pages, blocks, runs, holes, tokens", format);
}

/* ---- 76, 77: live entries --------------------------------------------------------------------- */

static void start_watching(void)
{
	open_eyes();
	for (unsigned i = 0; i < eyes; i++)
		look(&eye[i], i & 1);
	lives = 0;
	entry_writes = 0;
	embed_log_clear(&w.e);
	w.e.hook = told;
	classify = true;
}

/* No translation is held that the tables don't make. */
static void nothing_stale(void)
{
	classify = false;
	w.e.hook = NULL;
	for (unsigned i = 0; i < eyes; i++) {
		struct eye *h = &eye[i];
		struct pgt_translation tr;
		int status = pgt_translate(w.t, h->va, h->held && h->held_dirty ? PGT_WRITE : PGT_READ, &tr);

		if (!h->held)
			continue;
		want_status(status, PGT_OK);
		want_u64(tr.pa, h->held_pa);
		forget(h);
	}
	want_u64(live_wrong, 0);
}

static void case_76(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned bbm = 0; bbm < 2; bbm++) {
			uint64_t target;

			if (!open_stage(format, granule, HW | TRACK | (bbm ? PGT_FEAT_BBM2 : 0)))
				continue;
			where("granule %u, level 2: %u", granule, bbm);
			/* A page of a read-only block gets memory of its own. */
			make_stage(3);
			want_status(pgt_protect(w.t, st.base, st.span, 0, PGT_WRITE, 0, NULL), PGT_OK);
			start_watching();
			target = st.base + st.block / 2;
			want_status(pgt_map(w.t, target, st.block * 100, st.page, RW, PGT_REPLACE, NULL), PGT_OK);
			want(w.e.count[EMBED_INVALIDATE] >= 1 && w.e.count[EMBED_SYNC] >= 1);
			nothing_stale();
			want_u64(reads(w.t, target), st.block * 100);
			want_u64(query(w.t, target).attr & RW, RW);
			want_u64(query(w.t, target + st.page).attr & RW, PGT_READ);
			/* Only wider, of a part and of all: told as well. */
			make_stage(3);
			want_status(pgt_protect(w.t, st.base, st.span, 0, PGT_WRITE, 0, NULL), PGT_OK);
			for (unsigned part = 0; part < 2; part++) {
				start_watching();
				want_status(pgt_protect(w.t, part ? st.base : target, part ? st.span : st.page,
							PGT_WRITE, 0, 0, NULL), PGT_OK);
				want(w.e.count[EMBED_INVALIDATE] >= 1 && w.e.count[EMBED_SYNC] >= 1);
				want(!eye[3].held);
				nothing_stale();
			}
			/* Unmapped, and mapped anew. */
			make_stage(3);
			start_watching();
			want_status(pgt_unmap(w.t, st.base, st.span, 0, NULL), PGT_OK);
			want_status(pgt_map(w.t, st.base, st.block * 200, st.span, RW, 0, NULL), PGT_OK);
			nothing_stale();
			close_stage();
		}
	ok(fine, "case 76: Update made by the embedder is invisible to the running guest: %s", format);
}

/* One change: how many writes a leaf, and how often the TLB is told; -1: any number. */
static void change_77(unsigned what)
{
	static const uint64_t set[] = { PGT_SW0, PGT_USER, PGT_EXEC, 0, PGT_MEM_NOCACHE, PGT_SH_OUTER, PGT_GLOBAL, 0 };
	static const uint64_t clear[] = { 0, 0, 0, PGT_WRITE, PGT_MEM_MASK, PGT_SH_MASK, 0, PGT_GLOBAL };
	uint64_t leaves = 1 + (st.run / st.page) + 8, on = set[what], off = clear[what];

	if (!world_change(&w, &on, &off))
		return;
	make_stage(3);
	/* All of them settled, so that each is written once. */
	want_status(pgt_protect(w.t, st.base, st.span, PGT_YOUNG | PGT_DIRTY, what == 7 ? 0 : PGT_GLOBAL, 0, NULL),
		    PGT_OK);
	if (what == 7)
		want_status(pgt_protect(w.t, st.base, st.span, PGT_GLOBAL, 0, 0, NULL), PGT_OK);
	start_watching();
	want_status(pgt_protect(w.t, st.base, st.span, on, off, 0, NULL), PGT_OK);
	if (w.arm64 && what < 4) {
		want_u64(entry_writes, what == 3 ? leaves - 4 : leaves);
		want_u64(w.e.count[EMBED_INVALIDATE], what ? 1 : 0);
	}
	want(what == 0 || w.e.count[EMBED_SYNC] >= 1);
	nothing_stale();
	want_u64(query(w.t, st.base).attr & on, on);
}

static void case_77(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned bbm = 0; bbm < 2; bbm++) {
			if (!open_stage(format, granule, HW | TRACK | (bbm ? PGT_FEAT_BBM2 : 0)))
				continue;
			for (unsigned what = 0; what < 8; what++) {
				where("granule %u, level 2: %u, change %u", granule, bbm, what);
				change_77(what);
			}
			where("granule %u, level 2: %u, address, size and hint", granule, bbm);
			make_stage(3);
			start_watching();
			want_status(pgt_map(w.t, st.base, st.block * 200, st.span, RW, PGT_REPLACE, NULL), PGT_OK);
			want_status(pgt_split(w.t, st.base, st.span, w.geo.g, 0, NULL), PGT_OK);
			want_status(pgt_collapse(w.t, st.base, st.span, geo_run_bits(&w.geo, 3), 0, NULL), PGT_OK);
			want_status(pgt_collapse(w.t, st.base, st.span, geo_bits(&w.geo, 2), 0, NULL), PGT_OK);
			want_status(pgt_map(w.t, st.base, st.block * 200, st.span, RW,
					    PGT_REPLACE | PGT_MAX_LEAF(w.geo.g), NULL), PGT_OK);
			want_status(pgt_map(w.t, st.base, st.block * 300, st.span, RW,
					    PGT_REPLACE | PGT_MAX_LEAF(w.geo.g), NULL), PGT_OK);
			want_status(pgt_map(w.t, st.base, st.block * 400, st.span, RW, PGT_REPLACE, NULL), PGT_OK);
			want_status(pgt_store(w.t, st.base + st.page, st.page, 1, PGT_REPLACE, NULL), PGT_OK);
			want_status(pgt_map(w.t, st.base + st.page, 0, st.page, RW, PGT_REPLACE, NULL), PGT_OK);
			want_status(pgt_move(w.t, st.base, st.base + st.block * 8, st.span, 0, NULL), PGT_OK);
			want_status(pgt_move(w.t, st.base + st.block * 8, st.base, st.span, 0, NULL), PGT_OK);
			nothing_stale();
			close_stage();
		}
	ok(fine, "case 77: Live entry changed directly from one valid form to another: %s", format);
}

int main(void)
{
	if (!formats[0])
		return tap_skip_all("no format of these was built");
	for_formats(format) {
		case_52(format);
		case_76(format);
		case_77(format);
		case_84(format);
		case_86(format);
		case_86_vanish(format);
		case_87(format);
		case_88(format);
	}
	embed_snapshot_free(&before);
	return tap_done();
}
