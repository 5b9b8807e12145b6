/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "embed.h"

#define SLOT 4096u

static void bail(const char *fmt, ...) __attribute__((__noreturn__, __format__(__printf__, 1, 2)));

static void bail(const char *fmt, ...)
{
	va_list args;

	printf("Bail out! ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	abort();
}

static void *need(void *memory)
{
	if (!memory)
		bail("the test itself is out of memory");
	return memory;
}

void embed_init(struct embed *e, uint64_t bytes, uint64_t pa)
{
	memset(e, 0, sizeof(*e));
	if (!bytes || bytes % 0x100000 || pa % 0x100000)
		bail("embed_init: bytes and pa are multiples of 1 MiB");
	/* Aligned as pa is, so that a table is aligned in both views. */
	e->buffer = need(aligned_alloc(0x100000, bytes));
	e->pa = pa;
	e->bytes = bytes;
	e->slots = bytes / SLOT;
	e->tables = need(calloc(e->slots, sizeof(*e->tables)));
	e->slot_table = need(calloc(e->slots, sizeof(*e->slot_table)));
	e->slot_touched = need(calloc(e->slots, 1));
	e->least = 64;
}

void embed_fini(struct embed *e)
{
	free(e->buffer);
	free(e->shadow);
	free(e->tables);
	free(e->slot_table);
	free(e->slot_touched);
	memset(e, 0, sizeof(*e));
}

/* ---- The log ----------------------------------------------------------- */

void embed_log_clear(struct embed *e)
{
	e->events = 0;
	e->overflow = false;
	memset(e->count, 0, sizeof(e->count));
}

static void event(struct embed *e, const struct embed_event *ev)
{
	e->count[ev->kind]++;
	if (e->events < EMBED_EVENTS)
		e->log[e->events++] = *ev;
	else
		e->overflow = true;
	if (e->hook)
		e->hook(e, ev);
}

const char *embed_kind_name(enum embed_kind kind)
{
	static const char *const names[EMBED_KINDS] = {
		"alloc", "refused", "free", "written", "publish", "invalidate", "sync",
	};

	return kind < EMBED_KINDS ? names[kind] : "?";
}

void embed_log_print(const struct embed *e)
{
	for (unsigned i = 0; i < e->events; i++) {
		const struct embed_event *ev = &e->log[i];

		if (ev->kind == EMBED_INVALIDATE)
			printf("# %3u invalidate va %#" PRIx64 " len %#" PRIx64
			       " stride %u level %d flags %u\n", i, ev->range.va, ev->range.len,
			       ev->range.stride_bits, ev->range.level, ev->range.flags);
		else
			printf("# %3u %s pa %#" PRIx64 " bytes %#" PRIx64 "\n", i,
			       embed_kind_name(ev->kind), ev->pa, ev->bytes);
	}
	if (e->overflow)
		printf("# ... and more\n");
	fflush(stdout);
}

int embed_find(const struct embed *e, enum embed_kind kind, unsigned from)
{
	for (unsigned i = from; i < e->events; i++)
		if (e->log[i].kind == kind)
			return (int)i;
	return -1;
}

/* ---- Memory ------------------------------------------------------------ */

static void poison(unsigned char *at, uint64_t bytes)
{
	const uint64_t word = EMBED_POISON;

	for (uint64_t i = 0; i < bytes; i += 8)
		memcpy(at + i, &word, 8);
}

static uint64_t first_not_poison(const unsigned char *at, uint64_t bytes)
{
	const uint64_t want = EMBED_POISON;

	for (uint64_t i = 0; i < bytes; i += 8)
		if (memcmp(at + i, &want, 8))
			return i;
	return bytes;
}

static const struct embed_table *table_at(const struct embed *e, uint64_t pa)
{
	uint32_t index;

	if (pa < e->pa || pa - e->pa >= e->bytes)
		return NULL;
	index = e->slot_table[(pa - e->pa) / SLOT];
	if (!index)
		return NULL;
	if (pa - e->tables[index - 1].pa >= e->tables[index - 1].bytes)
		return NULL;
	return &e->tables[index - 1];
}

void *embed_live(const struct embed *e, uint64_t pa, uint64_t bytes)
{
	const struct embed_table *t = table_at(e, pa);

	if (!t || bytes > t->bytes - (pa - t->pa))
		return NULL;
	return e->buffer + (pa - e->pa);
}

void *embed_memory_at(const struct embed *e, uint64_t pa, uint64_t bytes)
{
	if (pa < e->pa || pa - e->pa >= e->bytes || bytes > e->bytes - (pa - e->pa))
		return NULL;
	return e->buffer + (pa - e->pa);
}

static uint64_t slots_of(uint64_t bytes)
{
	return (bytes + SLOT - 1) / SLOT;
}

/* The next free place after the last one, so that reuse comes late. */
static bool find_place(struct embed *e, uint64_t bytes, uint64_t *slot)
{
	uint64_t n = slots_of(bytes), tried = 0;
	uint64_t at = e->cursor / n * n;

	for (; tried < e->slots / n + 1; tried++, at += n) {
		bool taken = false;

		if (at + n > e->slots)
			at = 0;
		for (uint64_t i = 0; i < n; i++)
			taken |= e->slot_table[at + i] != 0;
		if (!taken) {
			e->cursor = at + n;
			*slot = at;
			return true;
		}
	}
	return false;
}

static void check_poison(const struct embed *e, uint64_t slot)
{
	uint64_t at = first_not_poison(e->buffer + slot * SLOT, SLOT);

	if (at != SLOT)
		bail("memory at %#" PRIx64 " was written after it was freed",
		     e->pa + slot * SLOT + at);
}

static int table_alloc(void *ctx, uint64_t bytes, uint64_t *pa)
{
	struct embed *e = ctx;
	struct embed_event ev = { .kind = EMBED_ALLOC, .bytes = bytes };
	uint64_t slot, offset;

	if (bytes < e->least || bytes > 0x100000 || (bytes & (bytes - 1)))
		bail("alloc of %#" PRIx64 " bytes", bytes);
	if (e->fail_at && --e->fail_at == 0) {
		e->fail_at = e->fail_on ? 1 : 0;
		ev.kind = EMBED_REFUSED;
		event(e, &ev);
		return -1;
	}
	if (!find_place(e, bytes, &slot))
		bail("the test's buffer for tables is too small");
	for (uint64_t i = slot; i < slot + slots_of(bytes); i++) {
		if (e->slot_touched[i])
			check_poison(e, i);
		else
			poison(e->buffer + i * SLOT, SLOT);
		e->slot_touched[i] = 1;
		e->slot_table[i] = (uint32_t)e->live + 1;
	}
	/* A small root may stand anywhere that suits its size, not only at a page. */
	offset = slot * SLOT;
	if (bytes < SLOT)
		offset += (e->allocated * 5 + 3) % (SLOT / bytes) * bytes;
	memset(e->buffer + offset, 0, bytes);
	if (e->shadow)
		memset(e->shadow + offset, 0, bytes);
	*pa = ev.pa = e->pa + offset;
	e->tables[e->live] = (struct embed_table){ *pa, bytes };
	e->live++;
	e->live_bytes += bytes;
	e->allocated++;
	event(e, &ev);
	return 0;
}

static void table_free(void *ctx, uint64_t pa, uint64_t bytes)
{
	struct embed *e = ctx;
	struct embed_event ev = { .kind = EMBED_FREE, .pa = pa, .bytes = bytes };
	const struct embed_table *t = table_at(e, pa);
	struct embed_table old;
	uint64_t index, slot;

	if (pa < e->pa || pa - e->pa >= e->bytes)
		bail("free of %#" PRIx64 ", which is not ours", pa);
	if (!t)
		bail("free of %#" PRIx64 ", which is not lent (twice?)", pa);
	if (t->pa != pa || t->bytes != bytes)
		bail("free of %#" PRIx64 "+%#" PRIx64 ", lent as %#" PRIx64 "+%#" PRIx64, pa,
		     bytes, t->pa, t->bytes);
	event(e, &ev);
	old = *t;
	index = (uint64_t)(t - e->tables);
	slot = (old.pa - e->pa) / SLOT;
	poison(e->buffer + slot * SLOT, slots_of(bytes) * SLOT);
	for (uint64_t i = 0; i < slots_of(bytes); i++)
		e->slot_table[slot + i] = 0;
	e->live--;
	e->live_bytes -= bytes;
	e->freed++;
	if (index != e->live) {
		e->tables[index] = e->tables[e->live];
		slot = (e->tables[index].pa - e->pa) / SLOT;
		for (uint64_t i = 0; i < slots_of(e->tables[index].bytes); i++)
			e->slot_table[slot + i] = (uint32_t)index + 1;
	}
}

static void *table_to_virt(void *ctx, uint64_t pa, uint64_t bytes)
{
	struct embed *e = ctx;
	void *at = e->mode & EMBED_ANYWHERE ? embed_memory_at(e, pa, bytes) :
					      embed_live(e, pa, bytes);

	if (!at) {
		e->refused_addresses++;
		e->refused_pa = pa;
	}
	return at;
}

static void table_written(void *ctx, void *entries, uint64_t bytes)
{
	struct embed *e = ctx;
	struct embed_event ev = { .kind = EMBED_WRITTEN_EV, .bytes = bytes };
	uint64_t offset = (uint64_t)((unsigned char *)entries - e->buffer);

	if ((unsigned char *)entries < e->buffer || offset >= e->bytes)
		bail("written: an address that is not ours");
	ev.pa = e->pa + offset;
	if (!bytes || bytes % 8 || offset % 8 || !embed_live(e, ev.pa, bytes))
		bail("written: %#" PRIx64 "+%#" PRIx64 " is not a stretch of one live table",
		     ev.pa, bytes);
	if (e->shadow)
		memcpy(e->shadow + offset, entries, bytes);
	event(e, &ev);
}

struct pgt_memory embed_memory(struct embed *e, unsigned mode)
{
	struct pgt_memory m = { .alloc = table_alloc, .free = table_free, .ctx = e };

	e->mode = mode;
	if (mode & EMBED_WINDOW) {
		m.window = e->buffer;
		m.window_pa = e->pa;
		m.window_bytes = e->bytes;
	} else {
		m.to_virt = table_to_virt;
	}
	if (mode & EMBED_WRITTEN) {
		m.written = table_written;
		if (!e->shadow)
			e->shadow = need(calloc(1, e->bytes));
	} else {
		free(e->shadow);
		e->shadow = NULL;
	}
	return m;
}

/* ---- TLB --------------------------------------------------------------- */

static void tlb_invalidate(void *ctx, const struct pgt_tlb_range *range)
{
	struct embed_event ev = { .kind = EMBED_INVALIDATE, .range = *range };

	event(ctx, &ev);
}

static void tlb_sync(void *ctx)
{
	struct embed_event ev = { .kind = EMBED_SYNC };

	event(ctx, &ev);
}

static void tlb_publish(void *ctx)
{
	struct embed_event ev = { .kind = EMBED_PUBLISH_EV };

	event(ctx, &ev);
}

struct pgt_tlb embed_tlb(struct embed *e, unsigned mode)
{
	struct pgt_tlb tlb = { .ctx = e };

	if (mode & EMBED_TLB) {
		tlb.invalidate = tlb_invalidate;
		tlb.sync = tlb_sync;
	}
	if (mode & EMBED_PUBLISH)
		tlb.publish = tlb_publish;
	return tlb;
}

struct pgt_config embed_config(struct embed *e, const char *format, unsigned granule_bits,
			       unsigned input_bits, unsigned output_bits, uint64_t features,
			       unsigned mode)
{
	struct pgt_config c;

	memset(&c, 0, sizeof(c));
	c.size = sizeof(c);
	c.format = format;
	c.granule_bits = (uint8_t)granule_bits;
	c.input_bits = (uint8_t)input_bits;
	c.output_bits = (uint8_t)output_bits;
	c.features = features;
	/* Tables as small as a granule, and no root below 64 bytes. */
	e->least = granule_bits && granule_bits < 6 ? UINT64_C(1) << granule_bits : 64;
	c.memory = embed_memory(e, mode);
	c.tlb = embed_tlb(e, mode);
	return c;
}

void embed_fail(struct embed *e, uint64_t k, bool on)
{
	e->fail_at = k;
	e->fail_on = on;
}

/* ---- Did anything change? ---------------------------------------------- */

uint64_t embed_stray(const struct embed *e)
{
	for (uint64_t i = 0; i < e->slots; i++) {
		uint64_t at = 0, end = SLOT, bytes;
		const struct embed_table *t;

		if (!e->slot_touched[i])
			continue;
		t = e->slot_table[i] ? &e->tables[e->slot_table[i] - 1] : NULL;
		if (t && t->bytes >= SLOT)
			continue;
		if (t) { /* a small root: before and after it */
			end = (t->pa - e->pa) % SLOT;
			bytes = first_not_poison(e->buffer + i * SLOT, end);
			if (bytes != end)
				return e->pa + i * SLOT + bytes;
			at = end + t->bytes;
			end = SLOT;
		}
		bytes = first_not_poison(e->buffer + i * SLOT + at, end - at);
		if (bytes != end - at)
			return e->pa + i * SLOT + at + bytes;
	}
	return 0;
}

uint64_t embed_unwritten(const struct embed *e)
{
	for (uint64_t i = 0; e->shadow && i < e->live; i++) {
		uint64_t offset = e->tables[i].pa - e->pa;

		if (!memcmp(e->buffer + offset, e->shadow + offset, e->tables[i].bytes))
			continue;
		for (uint64_t at = offset;; at += 8)
			if (memcmp(e->buffer + at, e->shadow + at, 8))
				return e->pa + at;
	}
	return 0;
}

void embed_snapshot(const struct embed *e, struct embed_snapshot *s)
{
	uint64_t at = 0;

	if (e->live > s->room_tables) {
		s->room_tables = e->live * 2;
		s->tables = need(realloc(s->tables, s->room_tables * sizeof(*s->tables)));
	}
	if (e->live_bytes > s->room_bytes) {
		s->room_bytes = e->live_bytes * 2;
		s->content = need(realloc(s->content, s->room_bytes));
	}
	s->n = e->live;
	s->bytes = e->live_bytes;
	for (uint64_t i = 0; i < e->live; i++) {
		s->tables[i] = e->tables[i];
		memcpy(s->content + at, e->buffer + (e->tables[i].pa - e->pa),
		       e->tables[i].bytes);
		at += e->tables[i].bytes;
	}
}

const char *embed_compare(const struct embed *e, const struct embed_snapshot *s)
{
	static char text[160];
	uint64_t at = 0;

	if (e->live != s->n) {
		snprintf(text, sizeof(text), "%" PRIu64 " live tables, before %" PRIu64, e->live,
			 s->n);
		return text;
	}
	for (uint64_t i = 0; i < s->n; i++) {
		const struct embed_table *t = table_at(e, s->tables[i].pa);
		const unsigned char *now;

		if (!t || t->pa != s->tables[i].pa || t->bytes != s->tables[i].bytes) {
			snprintf(text, sizeof(text), "table %#" PRIx64 " is gone",
				 s->tables[i].pa);
			return text;
		}
		now = e->buffer + (t->pa - e->pa);
		if (memcmp(now, s->content + at, t->bytes)) {
			uint64_t k = 0, was, is;

			while (!memcmp(now + k, s->content + at + k, 8))
				k += 8;
			memcpy(&was, s->content + at + k, 8);
			memcpy(&is, now + k, 8);
			snprintf(text, sizeof(text), "entry at %#" PRIx64 ": %#" PRIx64
				 ", before %#" PRIx64, t->pa + k, is, was);
			return text;
		}
		at += t->bytes;
	}
	return NULL;
}

void embed_snapshot_free(struct embed_snapshot *s)
{
	free(s->tables);
	free(s->content);
	memset(s, 0, sizeof(*s));
}

void embed_range(const struct pgt *t, uint64_t *va, uint64_t *len)
{
	struct pgt_config c;

	memset(&c, 0, sizeof(c));
	c.size = sizeof(c);
	if (pgt_describe(t, &c) != PGT_OK || c.input_bits < 6 || c.input_bits > 63)
		bail("pgt_describe doesn't work");
	*len = UINT64_C(1) << c.input_bits;
	*va = c.features & PGT_FEAT_UPPER ? 0 - *len : 0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ (h >> 29);
}

static int digest_one(void *ctx, const struct pgt_mapping *m)
{
	uint64_t h = *(uint64_t *)ctx;

	h = mix(h, m->va);
	h = mix(h, m->pa);
	h = mix(h, m->len);
	h = mix(h, m->run_bytes);
	h = mix(h, m->attr);
	h = mix(h, m->token);
	h = mix(h, m->entry);
	h = mix(h, (uint64_t)(m->level * 4 + m->state));
	*(uint64_t *)ctx = h;
	return 0;
}

uint64_t embed_digest(const struct pgt *t)
{
	uint64_t va, len, h = 2;

	embed_range(t, &va, &len);
	if (pgt_visit(t, va, len, 0, digest_one, &h) != PGT_OK)
		return 1;
	return h;
}

/* ---- Chance ------------------------------------------------------------- */

void embed_seed(struct embed_rng *r, uint64_t seed)
{
	const char *given = getenv("PGT_TEST_SEED");

	if (given)
		seed = strtoull(given, NULL, 0);
	printf("# seed %#" PRIx64 " (PGT_TEST_SEED sets it)\n", seed);
	fflush(stdout);
	r->state = mix(seed, UINT64_C(0x5eed)) | 1;
}

/* xorshift64* */
uint64_t embed_random(struct embed_rng *r)
{
	uint64_t x = r->state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	r->state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t embed_below(struct embed_rng *r, uint64_t n)
{
	return (embed_random(r) >> 11) % n;
}

bool embed_once_in(struct embed_rng *r, uint64_t n)
{
	return embed_below(r, n) == 0;
}

uint64_t embed_rounds(uint64_t n)
{
	const char *given = getenv("PGT_TEST_ROUNDS");
	uint64_t times = given ? strtoull(given, NULL, 0) : 1;

	return n * (times ? times : 1);
}
