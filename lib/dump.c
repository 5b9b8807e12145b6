/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgt_dump: the address space in words, a line a merged stretch. */
#include "call.h"

#define LINE_BYTES 192

struct dump {
	pgt_text_fn *fn;
	void *ctx;
	char line[LINE_BYTES];
	unsigned length;
};

static void put(struct dump *d, const char *text)
{
	while (*text && d->length < LINE_BYTES)
		d->line[d->length++] = *text++;
}

static void put_hex(struct dump *d, uint64_t value)
{
	char text[17];

	for (unsigned i = 0; i < 16; i++)
		text[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
	text[16] = '\0';
	put(d, "0x");
	put(d, text);
}

static void put_number(struct dump *d, uint64_t value)
{
	char text[21];
	unsigned i = sizeof text - 1;

	text[i] = '\0';
	do
		text[--i] = (char)('0' + value % 10);
	while (value /= 10);
	put(d, text + i);
}

/* A length in the largest unit that divides it. */
static void put_size(struct dump *d, uint64_t bytes)
{
	static const char *const units[] = { "", "K", "M", "G", "T", "P" };
	unsigned unit = 0;

	while (bytes && bytes % 1024 == 0 && unit < 5) {
		bytes /= 1024;
		unit++;
	}
	put_number(d, bytes);
	put(d, units[unit]);
}

static void put_attr(struct dump *d, uint64_t attr)
{
	static const struct {
		uint64_t mask, value;
		const char *yes, *no;
	} words[] = {
		{ PGT_READ, PGT_READ, " r", " -" },
		{ PGT_WRITE, PGT_WRITE, "w", "-" },
		{ PGT_EXEC, PGT_EXEC, "x", "-" },
		{ PGT_UEXEC, PGT_UEXEC, "X", "-" },
		{ PGT_USER, PGT_USER, " user", "" },
		{ PGT_GLOBAL, PGT_GLOBAL, " global", "" },
		{ PGT_GUARDED, PGT_GUARDED, " guarded", "" },
		{ PGT_NOACCESS, PGT_NOACCESS, " noaccess", "" },
		{ PGT_MEM_MASK, PGT_MEM_NORMAL, " normal", "" },
		{ PGT_MEM_MASK, PGT_MEM_NOCACHE, " nocache", "" },
		{ PGT_MEM_MASK, PGT_MEM_WRITETHROUGH, " writethrough", "" },
		{ PGT_MEM_MASK, PGT_MEM_DEVICE, " device", "" },
		{ PGT_MEM_MASK, PGT_MEM_DEVICE_STRICT, " device-strict", "" },
		{ PGT_SH_MASK, PGT_SH_OUTER, " outer", "" },
		{ PGT_SH_MASK, PGT_SH_NONE, " nonshared", "" },
		{ PGT_YOUNG, PGT_YOUNG, " young", "" },
		{ PGT_DIRTY, PGT_DIRTY, " dirty", "" },
		{ PGT_SW0, PGT_SW0, " sw0", "" },
		{ PGT_SW1, PGT_SW1, " sw1", "" },
		{ PGT_SW2, PGT_SW2, " sw2", "" },
	};

	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		put(d, (attr & words[i].mask) == words[i].value ? words[i].yes : words[i].no);
}

static int dump_one(void *ctx, const struct pgt_mapping *m)
{
	struct dump *d = ctx;

	d->length = 0;
	put_hex(d, m->va);
	put(d, "-");
	put_hex(d, m->va + (m->len - 1));
	put(d, " ");
	put_size(d, m->len);
	if (m->state == PGT_TOKEN) {
		put(d, " token ");
		put_hex(d, m->token);
	} else if (m->state == VISIT_AGAIN) {
		put(d, " the same table as at ");
		put_hex(d, m->pa);
	} else {
		put(d, " -> ");
		put_hex(d, m->pa);
		put_attr(d, m->attr);
	}
	put(d, "\n");
	return d->fn(d->ctx, d->line, d->length);
}

int pgt_dump(const struct pgt *t, uint64_t va, uint64_t len, pgt_text_fn *fn, void *ctx)
{
	struct dump d = { .fn = fn, .ctx = ctx };

	return fn ? pgt_visit_any(t, va, len, PGT_MERGE | VISIT_ONCE, dump_one, &d) : PGT_EINVAL;
}
