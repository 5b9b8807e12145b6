/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptors of every arm64 format, bit by bit: each attribute and memory
 * type as the architecture's manual writes it, what a format can't express, and
 * addresses of up to 52 bits in leaves and in table entries, also where a range
 * crosses the PA from which on a carry goes to bits that stand elsewhere.
 */
#include "contract.h"

#define EXECUTE (PGT_EXEC | PGT_UEXEC)
#define STATE   (PGT_YOUNG | PGT_DIRTY)
#define TRACK   (PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY)
#define HW      (PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { EL1, EL2, S2, FORMATS };

static const char *const names[FORMATS] = { "arm64", "arm64-el2", "arm64-s2" };

/* A table of one configuration. */
struct table {
	unsigned format, g, input, output;
	uint64_t features;
	struct pgt *t;
};

static struct embed e;

static bool open_at(struct table *x, uint64_t pa, unsigned mode)
{
	struct pgt_config c;

	embed_init(&e, MIB(32), pa);
	c = embed_config(&e, names[x->format], x->g, x->input, x->output, x->features, mode);
	x->t = NULL;
	if (want_status(pgt_create(&c, &x->t), PGT_OK) && x->t)
		return true;
	embed_fini(&e);
	return false;
}

static void close_table(struct table *x)
{
	pgt_destroy(x->t);
	want_u64(e.live, 0);
	want_u64(embed_stray(&e), 0);
	want_u64(e.refused_addresses, 0);
	embed_fini(&e);
}

static uint64_t features_52(unsigned format, unsigned g)
{
	return g != 16 ? PGT_FEAT_LPA2 : format == S2 ? PGT_FEAT_LPA : PGT_FEAT_LPA | PGT_FEAT_LVA;
}

static unsigned bits_of(unsigned g, int level)
{
	return g + (unsigned)(3 - level) * (g - 3);
}

/* ---- Addresses, from the manual ------------------------------------------------ */

static uint64_t address(const struct table *x, uint64_t pa)
{
	if (x->features & PGT_FEAT_LPA) /* PA[51:48] in bits 15:12 */
		return (pa & UINT64_C(0x0000ffffffff0000)) | (pa >> 48 & 0xf) << 12;
	if (x->features & PGT_FEAT_LPA2) /* PA[51:50] in bits 9:8 */
		return (pa & UINT64_C(0x0003fffffffff000)) | (pa >> 50 & 3) << 8;
	return pa;
}

static uint64_t address_field(const struct table *x)
{
	return address(x, (BIT(52) - 1) & ~(BIT(x->g) - 1)) & ~UINT64_C(0) >> (x->features & PGT_FEAT_LPA2 ? 14 : 16);
}

static uint64_t address_in(const struct table *x, uint64_t entry)
{
	if (x->features & PGT_FEAT_LPA)
		return (entry & UINT64_C(0x0000ffffffff0000)) | (entry >> 12 & 0xf) << 48;
	if (x->features & PGT_FEAT_LPA2)
		return (entry & UINT64_C(0x0003fffffffff000)) | (entry >> 8 & 3) << 50;
	return entry & UINT64_C(0x0000fffffffff000);
}

/* ---- Descriptors, from the manual ------------------------------------------------- */

static uint64_t golden_sh(const struct table *x, uint64_t attr)
{
	static const uint64_t sh[] = { 3, 2, 0 };

	return x->features & PGT_FEAT_LPA2 ? 0 : sh[(attr & PGT_SH_MASK) >> 24] << 8;
}

static uint64_t golden_stage1(const struct table *x, uint64_t attr)
{
	bool el2 = x->format == EL2;
	uint64_t d = (attr & PGT_MEM_MASK) >> 16 << 2;

	d |= el2 || attr & PGT_USER ? BIT(6) : 0;
	d |= attr & PGT_WRITE && attr & PGT_DIRTY ? 0 : BIT(7);
	d |= el2 || attr & PGT_GLOBAL ? 0 : BIT(11);
	d |= attr & PGT_GUARDED ? BIT(50) : 0;
	if (el2)
		return d | (attr & PGT_EXEC ? 0 : BIT(54));
	d |= attr & PGT_EXEC ? 0 : BIT(53);
	return d | (attr & PGT_UEXEC ? 0 : BIT(54));
}

static uint64_t golden_stage2(const struct table *x, uint64_t attr)
{
	static const uint64_t memattr[2][5] = { { 15, 5, 10, 1, 0 }, { 6, 5, 99, 1, 0 } };
	/* By EL1, EL0: 10 neither, 01 EL0 alone, 11 EL1 alone, 00 both. */
	static const uint64_t xn[2][2] = { { 2, 1 }, { 3, 0 } };
	uint64_t d = memattr[x->features & PGT_FEAT_FWB ? 1 : 0][(attr & PGT_MEM_MASK) >> 16] << 2;

	d |= attr & PGT_READ ? BIT(6) : 0;
	d |= attr & PGT_WRITE && attr & PGT_DIRTY ? BIT(7) : 0;
	return d | xn[attr & PGT_EXEC ? 1 : 0][attr & PGT_UEXEC ? 1 : 0] << 53;
}

/* A leaf, but for bit 55 where hardware's own form says that it is dirty. */
static uint64_t golden(const struct table *x, uint64_t pa, uint64_t attr, int level)
{
	uint64_t d = address(x, pa) | (level == 3 ? 3 : 1) | golden_sh(x, attr);

	d |= attr & PGT_YOUNG ? BIT(10) : 0;
	d |= attr & PGT_WRITE ? BIT(51) : 0;
	d |= attr & PGT_DIRTY && !(attr & PGT_WRITE) ? BIT(55) : 0;
	d |= attr / PGT_SW0 % 8 << 56;
	return d | (x->format == S2 ? golden_stage2(x, attr) : golden_stage1(x, attr));
}

static void want_golden(const struct table *x, uint64_t entry, uint64_t pa, uint64_t attr, int level)
{
	if (attr & PGT_NOACCESS) {
		want_u64(entry & 1, 0);
		return;
	}
	if (attr & PGT_WRITE && attr & PGT_DIRTY)
		entry &= ~BIT(55);
	want_u64(entry, golden(x, pa, attr, level));
}

/* ---- What a format can express --------------------------------------------------------- */

static bool is_device(uint64_t attr)
{
	return (attr & PGT_MEM_MASK) >= PGT_MEM_DEVICE;
}

static bool stage2_has(const struct table *x, uint64_t attr)
{
	if (attr & (PGT_USER | PGT_GLOBAL | PGT_GUARDED))
		return false;
	if (!(x->features & PGT_FEAT_XNX) && !(attr & PGT_EXEC) != !(attr & PGT_UEXEC))
		return false;
	return !(x->features & PGT_FEAT_FWB) || (attr & PGT_MEM_MASK) != PGT_MEM_WRITETHROUGH;
}

static bool stage1_has(const struct table *x, uint64_t attr)
{
	if (x->format == EL2)
		return attr & PGT_READ && !(attr & (PGT_USER | PGT_UEXEC | PGT_GLOBAL));
	if (attr & PGT_UEXEC && !(attr & PGT_USER)) /* execute-only */
		return !(attr & RW);
	return attr & PGT_READ;
}

static int verdict(const struct table *x, uint64_t attr)
{
	bool has;

	if (is_device(attr) && attr & EXECUTE)
		return PGT_EINVAL;
	has = x->format == S2 ? stage2_has(x, attr) : stage1_has(x, attr);
	if (x->features & PGT_FEAT_LPA2 && attr & PGT_SH_MASK)
		has = false;
	return has ? PGT_OK : PGT_ENOTSUP;
}

/* ---- Every combination ------------------------------------------------------------------- */

static bool permits(const struct table *x, uint64_t attr, uint64_t access)
{
	bool user = access & PGT_USER, write = attr & PGT_WRITE;
	uint64_t kind = access & ~PGT_USER;

	if (kind == PGT_WRITE && !(attr & PGT_DIRTY) && !(x->features & PGT_FEAT_HW_DIRTY))
		return false;
	if (x->format == S2)
		return attr & (kind == PGT_EXEC && user ? PGT_UEXEC : kind);
	if (x->format == EL2)
		return !user && attr & kind;
	if (kind == PGT_EXEC)
		return user ? attr & PGT_UEXEC : attr & PGT_EXEC && !(write && attr & PGT_USER);
	if (user && !(attr & PGT_USER))
		return false;
	return kind == PGT_READ || write;
}

static void want_translations(const struct table *x, uint64_t va, uint64_t pa, uint64_t attr)
{
	static const uint64_t kinds[] = { PGT_READ, PGT_WRITE, PGT_EXEC };

	for (unsigned i = 0; i < 6; i++) {
		uint64_t access = kinds[i % 3] | (i < 3 ? 0 : PGT_USER);
		struct pgt_translation tr = { 0 };
		int status = pgt_translate(x->t, va, access, &tr), fault = 0;

		/* EXEC on what EL0 may write: open until it is dirty. */
		if (x->format == EL1 && access == PGT_EXEC && attr & PGT_USER && attr & PGT_WRITE && !(attr & PGT_DIRTY))
			continue;
		if (attr & PGT_NOACCESS)
			fault = PGT_FAULT_TRANSLATION;
		else if (!(attr & PGT_YOUNG) && !(x->features & PGT_FEAT_HW_YOUNG))
			fault = PGT_FAULT_ACCESS_FLAG;
		else if (!permits(x, attr, access))
			fault = PGT_FAULT_PERMISSION;
		if (!want_status(status, fault ? PGT_EFAULT : PGT_OK) || !want_u64(tr.fault, fault))
			note("access %#" PRIx64, access);
		if (!fault && status == PGT_OK)
			want_u64(tr.pa, pa);
	}
}

/* What it has already is given to it again: nothing is written. */
static void want_no_op(const struct table *x, uint64_t va, uint64_t pa, uint64_t attr)
{
	const uint64_t all = RW | EXECUTE | PGT_USER | PGT_GLOBAL | PGT_NOACCESS | PGT_GUARDED | PGT_SW0 | PGT_SW1 |
			     PGT_SW2;
	const uint64_t masks = PGT_MEM_MASK | PGT_SH_MASK;
	uint64_t page = BIT(x->g), events = e.events, entry = query(x->t, va).entry;

	want_status(pgt_map(x->t, va, pa, page, attr, PGT_REPLACE, NULL), PGT_OK);
	want_status(pgt_protect(x->t, va, page, attr & (all | masks), (all & ~attr) | masks, 0, NULL), PGT_OK);
	want_u64(e.events, events);
	want_u64(query(x->t, va).entry, entry);
}

static bool one_combination(const struct table *x, uint64_t attr)
{
	const uint64_t va = GIB(1) + BIT(x->g), pa = UINT64_C(0xfedcba9870000) & (BIT(x->output) - 1);
	int code = verdict(x, attr);
	uint64_t now = attr;
	struct pgt_mapping m;

	where("%s, granule %u, features %#" PRIx64 ", attr %#" PRIx64, names[x->format], x->g, x->features, attr);
	if (!want_status(pgt_map(x->t, va, pa, BIT(x->g), attr, 0, NULL), code) || code != PGT_OK)
		return false;
	now |= x->features & PGT_FEAT_TRACK_YOUNG ? 0 : PGT_YOUNG;
	now |= x->features & PGT_FEAT_TRACK_DIRTY ? 0 : PGT_DIRTY;
	m = query(x->t, va);
	want(m.state == PGT_LEAF);
	want_u64(m.attr, now);
	want_u64(m.pa, pa);
	want_golden(x, m.entry, pa, now, 3);
	want_translations(x, va, pa, now);
	if (now == attr)
		want_no_op(x, va, pa, attr);
	want_status(pgt_unmap(x->t, va, BIT(x->g), PGT_KEEP_TABLES, NULL), PGT_OK);
	embed_log_clear(&e);
	return true;
}

#define ATTRS (8192u * 5 * 3)

static void test_combinations(struct table x)
{
	uint64_t accepted = 0;

	begin();
	if (!open_at(&x, MIB(512), EMBED_TLB))
		return;
	for (unsigned n = 0; n < ATTRS && complaints < 100; n++)
		accepted += one_combination(&x, n % 8192 | (uint64_t)(n / 8192 % 5) << 16 | (uint64_t)(n / 8192 / 5) << 24);
	close_table(&x);
	ok(fine, "case 81: Attribute decode is not the inverse of encode: %s, granule %u, features %#" PRIx64
	   ": %" PRIu64 " of %u combinations expressed", names[x.format], x.g, x.features, accepted, ATTRS);
}

/* ---- The contract's table, row by row ------------------------------------------------------ */

static void row(struct table x, uint64_t attr, int code)
{
	if (!open_at(&x, MIB(512), EMBED_TLB))
		return;
	where("%s, features %#" PRIx64 ", attr %#" PRIx64, names[x.format], x.features, attr);
	want_status(pgt_map(x.t, 0, 0, BIT(x.g), attr, 0, NULL), code);
	want_u64(e.live, code == PGT_OK ? 4 : 1);
	close_table(&x);
}

static void test_expressible(void)
{
	const struct table el1 = { EL1, 12, 48, 48, 0, NULL }, el2 = { EL2, 12, 48, 48, 0, NULL };
	const struct table s2 = { S2, 12, 48, 48, 0, NULL };
	struct table x;

	begin();
	row(el1, PGT_READ, PGT_OK);
	row(el1, 0, PGT_ENOTSUP);
	row(el1, PGT_WRITE, PGT_ENOTSUP);
	row(el1, PGT_NOACCESS, PGT_ENOTSUP);
	row(el1, PGT_READ | PGT_NOACCESS, PGT_OK);
	row(el1, PGT_UEXEC, PGT_OK);
	row(el1, PGT_READ | PGT_UEXEC, PGT_ENOTSUP);
	row(el1, PGT_READ | PGT_UEXEC | PGT_USER, PGT_OK);
	row(el1, RW | PGT_USER | PGT_EXEC, PGT_OK);
	ok(fine, "what can be expressed: arm64: READ always, but for execute-only; EXEC on USER and WRITE is kept");

	begin();
	row(el2, PGT_READ, PGT_OK);
	row(el2, RW | PGT_EXEC | PGT_GUARDED | PGT_SH_OUTER, PGT_OK);
	row(el2, 0, PGT_ENOTSUP);
	row(el2, PGT_EXEC, PGT_ENOTSUP);
	row(el2, PGT_READ | PGT_USER, PGT_ENOTSUP);
	row(el2, PGT_READ | PGT_UEXEC, PGT_ENOTSUP);
	row(el2, PGT_UEXEC, PGT_ENOTSUP);
	row(el2, PGT_READ | PGT_UEXEC | PGT_USER, PGT_ENOTSUP);
	row(el2, PGT_READ | PGT_GLOBAL, PGT_ENOTSUP);
	ok(fine, "what can be expressed: arm64-el2: as arm64, without USER, UEXEC, GLOBAL");

	begin();
	for (unsigned p = 0; p < 4; p++)
		row(s2, (p & 1 ? PGT_READ : 0) | (p & 2 ? PGT_WRITE : 0), PGT_OK);
	row(s2, EXECUTE, PGT_OK);
	row(s2, PGT_READ | PGT_EXEC, PGT_ENOTSUP);
	row(s2, PGT_READ | PGT_UEXEC, PGT_ENOTSUP);
	row(s2, PGT_READ | PGT_USER, PGT_ENOTSUP);
	row(s2, PGT_READ | PGT_GLOBAL, PGT_ENOTSUP);
	row(s2, PGT_READ | PGT_GUARDED, PGT_ENOTSUP);
	row(s2, PGT_READ | PGT_MEM_WRITETHROUGH, PGT_OK);
	row(s2, PGT_READ | PGT_MEM_DEVICE | PGT_EXEC, PGT_EINVAL);
	x = s2;
	x.features = PGT_FEAT_XNX;
	row(x, PGT_READ | PGT_EXEC, PGT_OK);
	row(x, PGT_READ | PGT_UEXEC, PGT_OK);
	row(x, PGT_READ | EXECUTE, PGT_OK);
	row(x, PGT_READ | PGT_USER | PGT_UEXEC, PGT_ENOTSUP);
	x.features = PGT_FEAT_FWB;
	row(x, PGT_READ | PGT_MEM_WRITETHROUGH, PGT_ENOTSUP);
	row(x, PGT_READ | PGT_MEM_NOCACHE, PGT_OK);
	row(x, PGT_READ | PGT_EXEC, PGT_ENOTSUP);
	ok(fine, "what can be expressed: arm64-s2: READ and WRITE independent, EXEC and UEXEC equal unless XNX, "
	   "no USER, GLOBAL, GUARDED; with FWB no WRITETHROUGH");

	begin();
	for (unsigned f = 0; f < FORMATS; f++) {
		x = (struct table){ f, 12, 48, 48, PGT_FEAT_LPA2, NULL };
		row(x, RW | PGT_SH_INNER, PGT_OK);
		row(x, RW | PGT_SH_OUTER, PGT_ENOTSUP);
		row(x, RW | PGT_SH_NONE, PGT_ENOTSUP);
		x.g = 14;
		x.input = 47;
		row(x, RW | PGT_SH_OUTER, PGT_ENOTSUP);
		x = (struct table){ f, 16, 48, 52, features_52(f, 16), NULL };
		if (!open_at(&x, MIB(512), 0))
			continue;
		want_status(pgt_map(x.t, 0, 0, BIT(16), RW | PGT_SH_NONE, 0, NULL), PGT_OK);
		close_table(&x);
	}
	ok(fine, "what can be expressed: LPA2: SH_INNER only");
}

/* Attributes that a leaf would end with, and that its format doesn't have. */
static void test_protect_refusals(void)
{
	static const struct {
		unsigned format;
		uint64_t features, attr, set, clear;
		int code;
	} rows[] = {
		{ EL2, 0, RW, PGT_USER, 0, PGT_ENOTSUP }, { EL2, 0, RW, PGT_UEXEC, 0, PGT_ENOTSUP },
		{ EL2, 0, RW, PGT_GLOBAL, 0, PGT_ENOTSUP }, { EL2, 0, RW, 0, PGT_READ, PGT_ENOTSUP },
		{ EL2, 0, RW, PGT_EXEC, PGT_WRITE, PGT_OK }, { EL2, 0, RW, 0, PGT_USER | PGT_GLOBAL, PGT_OK },
		{ S2, 0, RW, PGT_USER, 0, PGT_ENOTSUP }, { S2, 0, RW, PGT_GUARDED, 0, PGT_ENOTSUP },
		{ S2, 0, RW, PGT_GLOBAL, 0, PGT_ENOTSUP }, { S2, 0, RW, PGT_EXEC, 0, PGT_ENOTSUP },
		{ S2, 0, RW | EXECUTE, 0, PGT_UEXEC, PGT_ENOTSUP }, { S2, 0, RW, EXECUTE, 0, PGT_OK },
		{ S2, 0, RW | EXECUTE, 0, EXECUTE, PGT_OK }, { S2, 0, RW, 0, PGT_READ, PGT_OK },
		{ S2, 0, RW, 0, RW, PGT_OK }, { S2, PGT_FEAT_XNX, RW, PGT_EXEC, 0, PGT_OK },
		{ S2, PGT_FEAT_XNX, RW | EXECUTE, 0, PGT_EXEC, PGT_OK },
		{ S2, PGT_FEAT_XNX, RW | PGT_EXEC, PGT_UEXEC, PGT_EXEC, PGT_OK },
		{ S2, PGT_FEAT_FWB, RW, PGT_MEM_WRITETHROUGH, PGT_MEM_MASK, PGT_ENOTSUP },
		{ S2, PGT_FEAT_FWB, RW, PGT_MEM_NOCACHE, PGT_MEM_MASK, PGT_OK },
		{ S2, 0, RW | EXECUTE, PGT_MEM_DEVICE, PGT_MEM_MASK, PGT_EINVAL },
		{ S2, 0, RW | EXECUTE, PGT_MEM_DEVICE, PGT_MEM_MASK | EXECUTE, PGT_OK },
		{ EL1, PGT_FEAT_LPA2, RW, PGT_SH_OUTER, PGT_SH_MASK, PGT_ENOTSUP },
		{ EL1, PGT_FEAT_LPA2, RW, 0, PGT_SH_MASK, PGT_OK },
		{ S2, PGT_FEAT_LPA2, RW, PGT_SH_NONE, PGT_SH_MASK, PGT_ENOTSUP },
	};

	begin();
	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned big = 0; big < 2; big++) {
			struct table x = { rows[i].format, 12, 48, 48, rows[i].features, NULL };
			uint64_t len = big ? MIB(2) : KIB(4), after = (rows[i].attr & ~rows[i].clear) | rows[i].set;
			struct pgt_mapping m;

			if (!open_at(&x, MIB(512), EMBED_TLB))
				continue;
			where("row %u, %s", (unsigned)i, big ? "a block" : "a page");
			want_status(pgt_map(x.t, MIB(2), MIB(4), len, rows[i].attr, 0, NULL), PGT_OK);
			m = query(x.t, MIB(2));
			want_status(pgt_protect(x.t, MIB(2), len, rows[i].set, rows[i].clear, 0, NULL), rows[i].code);
			if (rows[i].code == PGT_OK) {
				want_u64(query(x.t, MIB(2)).attr, after | STATE);
				want_golden(&x, query(x.t, MIB(2)).entry, MIB(4), after | STATE, big ? 2 : 3);
			} else {
				want_u64(query(x.t, MIB(2)).entry, m.entry);
			}
			close_table(&x);
		}
	ok(fine, "protect ends with what the format has, or fails with map's code and changes nothing");
}

/* ---- Golden values -------------------------------------------------------------------------- */

static const struct golden {
	unsigned format;
	uint64_t features, attr, entry;
	const char *what;
} goldens[] = {
	/* PA 0x40201000; young and dirty, inner shareable; write-back unless said. */
	{ EL1, 0, RW, UINT64_C(0x0068000040201f03), "EL1&0 kernel data" },
	{ EL1, 0, PGT_READ | PGT_EXEC, UINT64_C(0x00c0000040201f83), "EL1&0 kernel code" },
	{ EL1, 0, RW | PGT_USER, UINT64_C(0x0068000040201f43), "EL1&0 user data" },
	{ EL1, 0, PGT_READ | PGT_USER | PGT_UEXEC, UINT64_C(0x00a0000040201fc3), "EL1&0 user code" },
	{ EL1, 0, RW | PGT_GLOBAL | PGT_MEM_DEVICE, UINT64_C(0x006800004020170f), "EL1&0 global device" },
	{ EL2, 0, RW, UINT64_C(0x0048000040201743), "EL2 data" },
	{ EL2, 0, PGT_READ | PGT_EXEC, UINT64_C(0x00800000402017c3), "EL2 code" },
	{ EL2, 0, PGT_READ, UINT64_C(0x00c00000402017c3), "EL2 read-only data" },
	{ EL2, 0, RW | PGT_MEM_NOCACHE, UINT64_C(0x0048000040201747), "EL2 non-cacheable" },
	{ EL2, 0, RW | PGT_MEM_WRITETHROUGH, UINT64_C(0x004800004020174b), "EL2 write-through" },
	{ EL2, 0, RW | PGT_MEM_DEVICE, UINT64_C(0x004800004020174f), "EL2 device" },
	{ EL2, 0, RW | PGT_MEM_DEVICE_STRICT | PGT_SH_OUTER, UINT64_C(0x0048000040201653), "EL2 nGnRnE" },
	{ EL2, 0, PGT_READ | PGT_EXEC | PGT_GUARDED, UINT64_C(0x00840000402017c3), "EL2 guarded code" },
	{ S2, 0, RW, UINT64_C(0x00480000402017ff), "stage 2 data" },
	{ S2, 0, PGT_READ, UINT64_C(0x00c000004020177f), "stage 2 read-only" },
	{ S2, 0, PGT_WRITE, UINT64_C(0x00480000402017bf), "stage 2 write-only" },
	{ S2, 0, 0, UINT64_C(0x00c000004020173f), "stage 2 without access" },
	{ S2, 0, RW | EXECUTE, UINT64_C(0x00080000402017ff), "stage 2 RAM of a guest" },
	{ S2, 0, RW | PGT_MEM_NOCACHE, UINT64_C(0x00480000402017d7), "stage 2 non-cacheable" },
	{ S2, 0, RW | PGT_MEM_WRITETHROUGH, UINT64_C(0x00480000402017eb), "stage 2 write-through" },
	{ S2, 0, RW | PGT_MEM_DEVICE, UINT64_C(0x00480000402017c7), "stage 2 nGnRE" },
	{ S2, 0, RW | PGT_MEM_DEVICE_STRICT | PGT_SH_NONE, UINT64_C(0x00480000402014c3), "stage 2 nGnRnE" },
	{ S2, PGT_FEAT_FWB, RW, UINT64_C(0x00480000402017db), "stage 2 FWB write-back" },
	{ S2, PGT_FEAT_FWB, RW | PGT_MEM_NOCACHE, UINT64_C(0x00480000402017d7), "stage 2 FWB non-cacheable" },
	{ S2, PGT_FEAT_FWB, RW | PGT_MEM_DEVICE, UINT64_C(0x00480000402017c7), "stage 2 FWB nGnRE" },
	{ S2, PGT_FEAT_FWB, RW | PGT_MEM_DEVICE_STRICT, UINT64_C(0x00480000402017c3), "stage 2 FWB nGnRnE" },
	{ S2, PGT_FEAT_XNX, RW | PGT_UEXEC, UINT64_C(0x00280000402017ff), "stage 2 XNX, EL0 executes" },
	{ S2, PGT_FEAT_XNX, RW | PGT_EXEC, UINT64_C(0x00680000402017ff), "stage 2 XNX, EL1 executes" },
	{ S2, PGT_FEAT_XNX, RW | EXECUTE, UINT64_C(0x00080000402017ff), "stage 2 XNX, both execute" },
	{ S2, PGT_FEAT_XNX, RW, UINT64_C(0x00480000402017ff), "stage 2 XNX, neither executes" },
	{ EL1, PGT_FEAT_LPA2, RW, UINT64_C(0x0068000040201c03), "EL1&0 LPA2" },
	{ EL2, PGT_FEAT_LPA2, RW, UINT64_C(0x0048000040201443), "EL2 LPA2" },
	{ S2, PGT_FEAT_LPA2, RW, UINT64_C(0x00480000402014ff), "stage 2 LPA2" },
	{ S2, TRACK, RW, UINT64_C(0x004800004020137f), "stage 2, old and clean" },
	{ S2, TRACK, RWD, UINT64_C(0x00480000402017ff), "stage 2, young and dirty" },
	{ S2, TRACK, PGT_READ | PGT_DIRTY, UINT64_C(0x00c000004020137f), "stage 2, read-only and dirty" },
	{ EL2, TRACK, RW, UINT64_C(0x00480000402013c3), "EL2, old and clean" },
	{ S2, 0, RW | PGT_SW0, UINT64_C(0x01480000402017ff), "stage 2, software bit 0" },
	{ S2, 0, RW | PGT_SW2, UINT64_C(0x04480000402017ff), "stage 2, software bit 2" },
};

/* One descriptor as a page, and as a block. */
static void one_golden(const struct golden *g)
{
	struct table x = { g->format, 12, 48, 48, g->features, NULL };
	uint64_t dirt = g->attr & PGT_WRITE ? BIT(55) : 0, page = 0x40201000, e3, e2;

	where("%s", g->what);
	if (!open_at(&x, MIB(512), EMBED_TLB))
		return;
	want_status(pgt_map(x.t, KIB(4), page, KIB(4), g->attr, 0, NULL), PGT_OK);
	want_status(pgt_map(x.t, MIB(2), page & ~(MIB(2) - 1), MIB(2), g->attr, 0, NULL), PGT_OK);
	e3 = query(x.t, KIB(4)).entry & ~dirt;
	e2 = query(x.t, MIB(2)).entry & ~dirt;
	want_u64(e3, g->entry);
	want_u64(e2, (g->entry & ~UINT64_C(0x1002)));
	/* Nothing else may stand in the way of it: no permission in the tables. */
	for (unsigned i = 0; i < e.live; i++)
		for (uint64_t at = 0; at < 4096; at += 8) {
			uint64_t d = raw_get(embed_memory_at(&e, e.tables[i].pa + at, 8));

			if ((d & 3) == 3 && (d & ~dirt) != g->entry)
				want_u64(d & ~UINT64_C(0x0000fffffffff003), 0);
		}
	close_table(&x);
}

static void test_goldens(void)
{
	static const struct {
		unsigned format;
		const char *text;
	} groups[] = { { EL1, "EL1&0" }, { EL2, "single-range" }, { S2, "stage 2" } };

	for (size_t k = 0; k < COUNT(groups); k++) {
		unsigned n = 0;

		begin();
		for (size_t i = 0; i < COUNT(goldens); i++)
			if (goldens[i].format == groups[k].format) {
				one_golden(&goldens[i]);
				n++;
			}
		if (groups[k].format == S2)
			ok(fine, "case 79: Stage-1 attribute index used in stage-2 entries, or the reverse: %s, "
			   "%u descriptors", groups[k].text, n);
		else
			ok(fine, "case 78: Execute-never bit of the wrong privilege; RES1 access bit: %s, "
			   "%u descriptors", groups[k].text, n);
	}
}

/* ---- What check says of single bits ---------------------------------------------------------- */

static int count_problem(void *ctx, const struct pgt_problem *p)
{
	unsigned *n = ctx;

	++*n;
	want(p->what && *p->what);
	return 0;
}

enum { NEVER, OWN, ALWAYS }; /* reported: not at all, in our own tables, in those of others too */

static const struct {
	const char *what;
	unsigned format;
	uint64_t features, clear, set;
	int level, reported;
} single_bits[] = {
	{ "EL1&0, as it is", EL1, 0, 0, 0, 3, NEVER },
	{ "EL1&0, nG and PXN clear", EL1, 0, BIT(11) | BIT(53), 0, 3, NEVER },
	{ "EL1&0, PXNTable", EL1, 0, 0, BIT(59), 2, OWN },
	{ "EL1&0, APTable[0]", EL1, 0, 0, BIT(61), 2, OWN },
	{ "EL2, as it is", EL2, 0, 0, 0, 3, NEVER },
	{ "EL2, AP[1] zero", EL2, 0, BIT(6), 0, 3, ALWAYS },
	{ "EL2, nG", EL2, 0, 0, BIT(11), 3, ALWAYS },
	{ "EL2, PXN", EL2, 0, 0, BIT(53), 3, ALWAYS },
	{ "EL2, shareability 01", EL2, 0, BIT(9), 0, 3, ALWAYS },
	{ "EL2, XNTable", EL2, 0, 0, BIT(60), 2, OWN },
	{ "EL2, APTable[1]", EL2, 0, 0, BIT(62), 2, OWN },
	{ "EL2, PXNTable", EL2, 0, 0, BIT(59), 2, OWN },
	{ "EL2, APTable[0]", EL2, 0, 0, BIT(61), 2, OWN },
	{ "EL2, writable and dirty, yet read-only", EL2, 0, 0, BIT(7) | BIT(55), 3, OWN },
	{ "stage 2, as it is", S2, 0, 0, 0, 3, NEVER },
	{ "stage 2, bit 11", S2, 0, 0, BIT(11), 3, OWN },
	{ "stage 2, bit 50", S2, 0, 0, BIT(50), 3, OWN },
	{ "stage 2, XN[0]", S2, 0, 0, BIT(53), 3, ALWAYS },
	{ "stage 2, XN[0] with FEAT_XNX", S2, PGT_FEAT_XNX, 0, BIT(53), 3, NEVER },
	{ "stage 2, shareability 01", S2, 0, BIT(9), 0, 3, ALWAYS },
	{ "stage 2, shareability 01 is PA[50] with LPA2", S2, PGT_FEAT_LPA2, 0, BIT(8), 3, NEVER },
	{ "stage 2, MemAttr 4", S2, 0, UINT64_C(11) << 2, 0, 3, ALWAYS },
	{ "stage 2, MemAttr 8", S2, 0, UINT64_C(7) << 2, 0, 3, ALWAYS },
	{ "stage 2, MemAttr 12", S2, 0, UINT64_C(3) << 2, 0, 3, ALWAYS },
	{ "stage 2, MemAttr 2", S2, 0, UINT64_C(13) << 2, 0, 3, NEVER },
	{ "stage 2, MemAttr 7", S2, 0, UINT64_C(8) << 2, 0, 3, NEVER },
	{ "FEAT_FWB, MemAttr 4", S2, PGT_FEAT_FWB, BIT(3), 0, 3, ALWAYS },
	{ "FEAT_FWB, MemAttr 7", S2, PGT_FEAT_FWB, 0, BIT(2), 3, NEVER },
	{ "FEAT_FWB, MemAttr 15", S2, PGT_FEAT_FWB, 0, BIT(2) | BIT(5), 3, ALWAYS },
	{ "stage 2, table bit 59", S2, 0, 0, BIT(59), 2, ALWAYS },
	{ "stage 2, table bit 62", S2, 0, 0, BIT(62), 2, ALWAYS },
	{ "stage 2, writable and dirty, yet read-only", S2, 0, BIT(7), BIT(55), 3, OWN },
	{ "stage 2, S2AP[1] without DBM", S2, 0, BIT(51), 0, 3, OWN },
};

static void *entry_place(const struct table *x, uint64_t va, int level)
{
	uint64_t pa = pgt_root(x->t);
	int l = query(x->t, BIT(x->input) - BIT(x->g)).level;

	for (;; l++) {
		uint64_t index = va >> bits_of(x->g, l);
		void *at;

		if (pa != pgt_root(x->t))
			index &= BIT(x->g - 3) - 1;
		at = embed_live(&e, pa + index * 8, 8);
		if (l == level)
			return at;
		pa = address_in(x, raw_get(at)) & ~(BIT(x->g) - 1);
	}
}

static void one_bit(size_t i)
{
	struct table x = { single_bits[i].format, 12, 48, single_bits[i].features & PGT_FEAT_LPA2 ? 52 : 48,
			   single_bits[i].features, NULL };
	struct pgt_config c;
	struct pgt *others = NULL;
	unsigned ours = 0, theirs = 0;
	void *at;

	where("%s", single_bits[i].what);
	if (!open_at(&x, MIB(512), 0))
		return;
	want_status(pgt_map(x.t, KIB(4), MIB(64), KIB(4), RW, 0, NULL), PGT_OK);
	at = entry_place(&x, KIB(4), single_bits[i].level);
	raw_put(at, (raw_get(at) & ~single_bits[i].clear) | single_bits[i].set);
	c = embed_config(&e, names[x.format], 12, 48, x.output, x.features, 0);
	c.memory.alloc = NULL;
	c.memory.free = NULL;
	want_status(pgt_attach(&c, pgt_root(x.t), &others), PGT_OK);
	pgt_check(x.t, count_problem, &ours);
	pgt_check(others, count_problem, &theirs);
	want_u64(ours, single_bits[i].reported != NEVER);
	want_u64(theirs, single_bits[i].reported == ALWAYS);
	pgt_destroy(others);
	raw_put(at, (raw_get(at) | single_bits[i].clear) & ~single_bits[i].set);
	close_table(&x);
}

static void test_single_bits(void)
{
	begin();
	for (size_t i = 0; i < COUNT(single_bits); i++)
		one_bit(i);
	ok(fine, "check reports %u kinds of wrong bits, in attached tables what the architecture forbids alone",
	   (unsigned)COUNT(single_bits));
}

/* ---- Where addresses stand ----------------------------------------------------------------- */

static int last_leaf_level(const struct table *x)
{
	if (x->g == 12)
		return x->features & PGT_FEAT_LPA2 ? 0 : 1;
	return x->features & (PGT_FEAT_LPA | PGT_FEAT_LPA2) ? 1 : 2;
}

static uint64_t tried_addresses;

static void one_address(const struct table *x, int level, uint64_t pa)
{
	uint64_t size = BIT(bits_of(x->g, level)), va = size, dirt = BIT(55);
	struct pgt_translation tr = { 0 };
	struct pgt_mapping m;

	pa &= ~(size - 1);
	where("%s, granule %u, features %#" PRIx64 ", level %d, pa %#" PRIx64, names[x->format], x->g, x->features,
	      level, pa);
	tried_addresses++;
	want_status(pgt_map(x->t, va, pa, size, RW, PGT_MAX_LEAF(bits_of(x->g, level)), NULL), PGT_OK);
	m = query(x->t, va + size - 1);
	want_u64(m.pa, pa);
	want_u64(m.len, size);
	want(m.level == level);
	want_u64(m.entry & ~dirt, golden(x, pa, RWD, level));
	want_status(pgt_translate(x->t, va + size - 1, PGT_WRITE, &tr), PGT_OK);
	want_u64(tr.pa, pa + (size - 1));
	want_status(pgt_unmap(x->t, va, size, 0, NULL), PGT_OK);
}

/* Walking ones, all ones, and all but one. */
static void test_leaf_addresses(unsigned format)
{
	begin();
	tried_addresses = 0;
	for (unsigned g = 12; g <= 16; g += 2)
		for (unsigned large = 0; large < 2; large++) {
			struct table x = { format, g, large ? 52 : 48, large ? 52 : 48,
					   large ? features_52(format, g) : 0, NULL };

			if (!open_at(&x, MIB(512), 0))
				continue;
			for (int level = last_leaf_level(&x); level <= 3; level++) {
				uint64_t all = BIT(x.output) - 1;

				one_address(&x, level, all);
				one_address(&x, level, 0);
				for (unsigned bit = bits_of(g, level); bit < x.output; bit++) {
					one_address(&x, level, BIT(bit));
					one_address(&x, level, all & ~BIT(bit));
				}
			}
			close_table(&x);
		}
	ok(fine, "%s: %" PRIu64 " output addresses, walking ones and zeroes, of every granule and level, 48 and 52 bits",
	   names[format], tried_addresses);
}

/* The entries from the root down to the page at 0 hold nothing but the addresses of tables. */
static void follow_tables(const struct table *x)
{
	uint64_t pa = pgt_root(x->t);
	struct pgt_mapping m = query(x->t, BIT(x->input) - BIT(x->g)); /* a hole of the root */

	for (int level = m.level; level < 3; level++) {
		void *at = embed_live(&e, pa, 8);
		uint64_t d;

		if (!want(at))
			return;
		d = raw_get(at);
		pa = address_in(x, d) & ~(BIT(x->g) - 1);
		want_u64(d, address(x, pa) | 3);
	}
	want_u64(raw_get(embed_live(&e, pa, 8)), query(x->t, 0).entry);
}

static void test_table_addresses(unsigned format)
{
	uint64_t n = 0;

	begin();
	for (unsigned g = 12; g <= 16; g += 2)
		for (unsigned large = 0; large < 2; large++)
			for (unsigned k = 0; k < 22; k++) {
				struct table x = { format, g, large ? 52 : 48, large ? 52 : 48,
						   large ? features_52(format, g) : 0, NULL };
				uint64_t top = BIT(x.output), pa = k < 20 ? BIT(32 + k) : k == 20 ? top - MIB(32) : top / 2;

				if (pa >= top || !open_at(&x, pa, k & 1 ? EMBED_WINDOW : 0))
					continue;
				where("%s, granule %u, features %#" PRIx64 ", tables at %#" PRIx64, names[format], g,
				      x.features, pa);
				want_status(pgt_map(x.t, 0, BIT(31), BIT(g), RW, 0, NULL), PGT_OK);
				follow_tables(&x);
				want_u64(reads(x.t, 5), BIT(31) + 5);
				want_status(pgt_check(x.t, no_problem, NULL), PGT_OK);
				/* A table that moves keeps its address. */
				want_status(pgt_move(x.t, 0, BIT(40), BIT(bits_of(g, 2)), 0, NULL), PGT_OK);
				want_u64(reads(x.t, BIT(40) + 5), BIT(31) + 5);
				want_status(pgt_unmap(x.t, BIT(40), BIT(g), 0, NULL), PGT_OK);
				want_u64(e.live, 1);
				close_table(&x);
				n++;
			}
	ok(fine, "%s: tables at %" PRIu64 " addresses with every high bit", names[format], n);
}

/* ---- Ranges across the place where a carry goes elsewhere ------------------------------------- */

static void want_range(const struct table *x, const struct pgt *t, uint64_t va, uint64_t pa, uint64_t len)
{
	for (uint64_t at = 0; at < len;) {
		struct pgt_mapping m = query(t, va + at);
		uint64_t inside = va + at - m.va;

		if (!want(m.state == PGT_LEAF && m.len) || !want_u64(m.pa + inside, pa + at) ||
		    !want_u64(address_in(x, m.entry & address_field(x)) & ~(m.len - 1), m.pa)) {
			note("at +%#" PRIx64, at);
			return;
		}
		if (m.attr & PGT_YOUNG)
			want_u64(reads(t, va + at), pa + at);
		want_golden(x, m.entry & ~BIT(52), m.pa, m.attr, m.level);
		at += m.len - inside;
	}
}

/* One range through all calls, at VAs that suit its leaves and that don't. */
static void cross(struct table *x, struct pgt *copies, uint64_t va, uint64_t pa, uint64_t len)
{
	uint64_t page = BIT(x->g), away = va + 8 * BIT(bits_of(x->g, 1)) + page, near = va + 4 * BIT(bits_of(x->g, 1));
	uint64_t block = BIT(bits_of(x->g, 2));
	unsigned small = x->g, large = bits_of(x->g, 2);
	bool pages = len <= 64 * block;

	where("%s, granule %u, features %#" PRIx64 ", %#" PRIx64 " at %#" PRIx64 " to %#" PRIx64, names[x->format],
	      x->g, x->features, len, va, pa);
	if (!want_status(pgt_map(x->t, va, pa, len, RW, 0, NULL), PGT_OK))
		return;
	want_range(x, x->t, va, pa, len);
	want_status(pgt_copy(copies, x->t, va, len, 0, NULL), PGT_OK);
	want_range(x, copies, va, pa, len);
	want_status(pgt_unmap(copies, va, len, 0, NULL), PGT_OK);
	want_status(pgt_protect(x->t, va, len, PGT_SW1, PGT_WRITE, 0, NULL), PGT_OK);
	want_range(x, x->t, va, pa, len);
	want_status(pgt_move(x->t, va, near, len, 0, NULL), PGT_OK);
	want_range(x, x->t, near, pa, len);
	if (pages) {
		want_status(pgt_split(x->t, near, len, small, 0, NULL), PGT_OK);
		want_u64(query(x->t, near + len / 2).run_bytes, page);
		want_range(x, x->t, near, pa, len);
		want_status(pgt_move(x->t, near, away, len, 0, NULL), PGT_OK);
		want_range(x, x->t, away, pa, len);
		want_status(pgt_move(x->t, away, near, len, 0, NULL), PGT_OK);
		want_status(pgt_collapse(x->t, near, len, large, 0, NULL), PGT_OK);
		want_range(x, x->t, near, pa, len);
		if (x->features & PGT_FEAT_CONTIG)
			want_status(pgt_collapse(x->t, near, len, x->g == 12 ? 16 : 21, 0, NULL), PGT_OK);
		want_range(x, x->t, near, pa, len);
		want_status(pgt_protect(x->t, near + len / 2 - page, 2 * page, PGT_MEM_NOCACHE, PGT_MEM_MASK, 0, NULL),
			    PGT_OK);
		want_range(x, x->t, near, pa, len);
		want_status(pgt_store(x->t, near + len / 2 - page, 2 * page, 7, PGT_REPLACE, NULL), PGT_OK);
		want_range(x, x->t, near, pa, len / 2 - page);
		want_range(x, x->t, near + len / 2 + page, pa + len / 2 + page, len / 2 - page);
	}
	want_status(pgt_check(x->t, no_problem, NULL), PGT_OK);
	want_status(pgt_unmap(x->t, near, len, 0, NULL), PGT_OK);
	want_u64(e.live, 2);
}

static void cross_at(struct table *x, struct pgt *copies, uint64_t carry)
{
	uint64_t page = BIT(x->g), block = BIT(bits_of(x->g, 2)), huge = BIT(bits_of(x->g, 1));
	uint64_t table = page / 8, va = 2 * huge;

	/* By pages: at the border of a table, in the middle of one, in a run's place. */
	cross(x, copies, va + block - table / 2 * page, carry - table / 2 * page, table * page);
	cross(x, copies, va + block + 8 * page, carry - 8 * page, 16 * page);
	cross(x, copies, va + block + 5 * page, carry - 3 * page, 6 * page);
	/* By runs and blocks, and by blocks where VA and PA differ by a page. */
	cross(x, copies, va + block - 2 * table / 2 * page, carry - block, 2 * block);
	cross(x, copies, va + 3 * block + page, carry - 2 * block, 4 * block);
	cross(x, copies, va + 30 * block, carry - 2 * block, 4 * block);
	cross(x, copies, va + 5 * block + 3 * page, carry - block + 3 * page, 2 * block);
	/* By the largest leaves, with pages at both ends. */
	cross(x, copies, va - page, carry - huge - page, 2 * huge + 2 * page);
}

static void test_carry(unsigned format, unsigned g, uint64_t more)
{
	struct table x = { format, g, 52, 52, features_52(format, g) | more, NULL };
	unsigned n = 0;

	begin();
	if (!open_at(&x, UINT64_C(0x9000080000000), EMBED_TLB | EMBED_PUBLISH))
		return;
	for (uint64_t carry = BIT(g == 16 ? 48 : 50); carry < BIT(52); carry += BIT(g == 16 ? 48 : 50)) {
		struct pgt_config c = embed_config(&e, names[format], g, 52, 52, x.features, 0);
		struct pgt *copies = NULL;

		if (!want_status(pgt_create(&c, &copies), PGT_OK))
			break;
		cross_at(&x, copies, carry);
		pgt_destroy(copies);
		n++;
		if (g == 16 && n == 3)
			carry = BIT(52) - 2 * BIT(48);
	}
	close_table(&x);
	ok(fine, "%s, granule %u%s: ranges across %u PAs with a carry: map, copy, protect, move, split, collapse, store",
	   names[format], g, more ? ", runs" : "", n);
}

int main(void)
{
	static const struct table combinations[] = {
		{ EL2, 12, 48, 48, 0, NULL },
		{ EL2, 12, 48, 48, TRACK, NULL },
		{ EL2, 14, 52, 52, PGT_FEAT_LPA2 | TRACK | HW, NULL },
		{ S2, 12, 48, 48, 0, NULL },
		{ S2, 12, 40, 48, TRACK, NULL },
		{ S2, 12, 48, 48, PGT_FEAT_XNX | TRACK | HW, NULL },
		{ S2, 14, 48, 48, PGT_FEAT_FWB | PGT_FEAT_XNX, NULL },
		{ S2, 12, 52, 52, PGT_FEAT_LPA2 | PGT_FEAT_FWB, NULL },
		{ S2, 16, 52, 52, PGT_FEAT_LPA | PGT_FEAT_XNX | TRACK, NULL },
		{ EL1, 12, 52, 52, PGT_FEAT_LPA2 | TRACK, NULL },
		{ EL1, 16, 52, 52, PGT_FEAT_LPA | PGT_FEAT_LVA, NULL },
	};

	if (!have_format("arm64"))
		return tap_skip_all("arm64 was not built");
	test_goldens();
	test_expressible();
	test_protect_refusals();
	test_single_bits();
	for (size_t i = 0; i < COUNT(combinations); i++)
		test_combinations(combinations[i]);
	for (unsigned f = 0; f < FORMATS; f++) {
		test_leaf_addresses(f);
		test_table_addresses(f);
		for (unsigned g = 12; g <= 16; g += 2) {
			test_carry(f, g, 0);
			test_carry(f, g, PGT_FEAT_CONTIG | TRACK);
		}
	}
	return tap_done();
}
