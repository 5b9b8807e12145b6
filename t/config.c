/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making a table: every configuration gives the documented shape or is refused,
 * in storage of any kind, with memory from any kind of allocator; what is
 * refused leaves nothing behind.
 */
#include <stddef.h>
#include "contract.h"

static struct world w;

/* ---- Names ---------------------------------------------------------------- */

static void test_names(void)
{
	static const int codes[] = {
		PGT_OK, PGT_EINVAL, PGT_EALIGN, PGT_ERANGE, PGT_EEXIST, PGT_ENOENT, PGT_ENOMEM,
		PGT_EBLOCK, PGT_ENOTSUP, PGT_EACCES, PGT_EFAULT, PGT_ECORRUPT, PGT_EBUSY,
		PGT_EBREAK,
	};
	const unsigned n = sizeof(codes) / sizeof(codes[0]);
	const char *const *f = pgt_formats();
	char version[32];

	begin();
	for (unsigned i = 0; i < n; i++) {
		const char *text = pgt_strerror(codes[i]);

		where("code %d", codes[i]);
		want_u64(codes[i], 0 - (uint64_t)i);
		if (!want(text && *text))
			continue;
		for (unsigned k = 0; k < i; k++)
			want(strcmp(text, pgt_strerror(codes[k])));
	}
	where("unknown codes");
	want(pgt_strerror(1) && pgt_strerror(-14) && pgt_strerror(-1000000));
	want(pgt_strerror(INT32_MIN) && pgt_strerror(INT32_MAX));
	ok(fine, "status codes have the documented values and texts of their own");

	begin();
	snprintf(version, sizeof(version), "%d.%d.%d", PGT_VERSION_MAJOR, PGT_VERSION_MINOR,
		 PGT_VERSION_PATCH);
	want(!strcmp(pgt_version(), version));
	ok(fine, "pgt_version is %s", pgt_version());

	begin();
	want(f && f[0]);
	for (unsigned i = 0; f && f[i]; i++) {
		struct pgt *t = NULL;
		struct pgt_config c = embed_config(&w.e, f[i], 0, 0, 0, 0, 0);

		memset(&c.memory, 0, sizeof(c.memory));
		where("%s", f[i]);
		if (format_named(f[i]) && !format_named(f[i])->defaults) {
			if (world_open(&w, f[i], 12, 48, 0, 0))
				world_close(&w);
		} else {
			want_status(pgt_create(&c, &t), PGT_OK);
			pgt_destroy(t);
		}
		for (unsigned k = 0; k < i; k++)
			want(strcmp(f[i], f[k]));
	}
	want(have_format("generic") == !!PGT_HAVE_GENERIC);
	want(have_format("arm64") == !!PGT_HAVE_ARM64);
	ok(fine, "pgt_formats and config.h agree, and every format can be made");
}

/* ---- Defaults ------------------------------------------------------------- */

static void test_defaults(void)
{
	struct pgt_config c, d;
	struct pgt *t = NULL;
	struct pgt_mapping m;

	begin();
	memset(&c, 0, sizeof(c));
	c.size = sizeof(c);
	want_status(pgt_create(&c, &t), PGT_OK);
	memset(&d, 0xff, sizeof(d));
	d.size = sizeof(d);
	want_status(pgt_describe(t, &d), PGT_OK);
	want(d.format && !strcmp(d.format, pgt_formats()[0]));
	want_u64(d.granule_bits, 12);
	want_u64(d.input_bits, 48);
	want_u64(d.output_bits, 48);
	want_u64(d.features, 0);
	want(d.memory.alloc && d.memory.free);
	want(d.memory.to_virt || d.memory.window_bytes);
	want(!d.tlb.invalidate && !d.tlb.sync && !d.pages.unit && !d.pages.writable);
	want_status(pgt_map(t, 0, 0, GIB(1), PGT_READ, 0, NULL), PGT_OK);
	want_status(pgt_query(t, GIB(1) - 1, &m), PGT_OK);
	want_u64(m.len, GIB(1));
	/* PA = address: the root is readable where pgt_root says. */
	want(raw_get((void *)(uintptr_t)pgt_root(t)) != 0);
	want_u64(pgt_root(t) % 4096, 0);
	pgt_destroy(t);
	ok(fine, "an all-zero configuration: the first format, 4K, 48 bits, the C library's memory");
}

/* ---- Every granule and input size ----------------------------------------- */

/* cases.md 12, as it stands there: granule, input, start level, root entries. */
static const unsigned shapes[][4] = {
	{ 12, 25, 2, 16 }, { 12, 30, 2, 512 }, { 12, 36, 1, 64 }, { 12, 39, 1, 512 },
	{ 12, 42, 0, 8 }, { 12, 48, 0, 512 },
	{ 14, 36, 2, 2048 }, { 14, 47, 1, 2048 }, { 14, 48, 0, 2 },
	{ 16, 42, 2, 8192 }, { 16, 48, 1, 64 },
	/* Four entries a table. */
	{ 5, 6, 3, 2 }, { 5, 7, 3, 4 }, { 5, 8, 2, 2 }, { 5, 11, 1, 4 }, { 5, 12, 0, 2 },
	{ 5, 13, 0, 4 },
};

static void test_own_derivation(void)
{
	begin();
	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct geo geo;

		if (usual_granule(formats[0], shapes[i][0]) != shapes[i][0])
			continue;
		geo = geo_of(formats[0]->name, shapes[i][0], shapes[i][1], 0);
		where("granule %u, input %u", shapes[i][0], shapes[i][1]);
		want_u64(geo.start, shapes[i][2]);
		want_u64(1u << geo.root_bits, shapes[i][3]);
	}
	ok(fine, "the tests' own geometry gives the published table");
}

static void one_shape(const char *format, unsigned g, unsigned input, uint64_t features)
{
	uint64_t page = BIT(g), last;
	struct pgt_config d;
	struct pgt_stat s;

	where("%s, granule %u, input %u, features %#" PRIx64, format, g, input, features);
	if (!world_open(&w, format, g, input, features, EMBED_ALL))
		return;
	want_u64(w.e.live, 1);
	want_u64(w.e.tables[0].bytes, geo_root_bytes(&w.geo));
	want_u64(w.e.tables[0].pa, pgt_root(w.t));
	want_u64(pgt_root(w.t) & (geo_root_bytes(&w.geo) - 1), 0);
	want_u64(pgt_leaf_sizes(w.t), geo_sizes(&w.geo));
	memset(&d, 0, sizeof(d));
	d.size = sizeof(d);
	want_status(pgt_describe(w.t, &d), PGT_OK);
	want(!strcmp(d.format, format));
	want_u64(d.granule_bits, g);
	want_u64(d.input_bits, w.c.input_bits);
	want_u64(d.output_bits, w.c.output_bits);
	want_u64(d.features, features);
	want(d.memory.alloc == w.c.memory.alloc && d.memory.ctx == w.c.memory.ctx);
	want(d.tlb.invalidate == w.c.tlb.invalidate && d.tlb.ctx == w.c.tlb.ctx);

	/* The very last page and the very first; the levels between are all there. */
	last = world_last(&w) - (page - 1);
	want_status(pgt_map(w.t, last, 0, page, PGT_READ, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.base, BIT(w.c.output_bits) - page, page, PGT_READ, 0, NULL), PGT_OK);
	want_u64(reads(w.t, world_last(&w)), page - 1);
	want_u64(reads(w.t, w.base), BIT(w.c.output_bits) - page);
	want_status(pgt_stat(w.t, w.base, w.bytes, &s), PGT_OK);
	for (unsigned l = 0; l <= 3; l++) {
		want(!s.tables[l + 1] == (l < w.geo.start));
		want_u64(s.leaves[l + 1], l == 3 ? 2 : 0);
	}
	want_u64(s.tables[w.geo.start + 1], 1);
	want_u64(s.table_bytes, w.e.live_bytes);
	want(raw_is_leaf(&w, raw_entry(&w, last, 3), 3));
	sound(&w);
	want_status(pgt_unmap(w.t, last, page, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, w.base, page, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
	world_close(&w);
}

static void test_shapes(const char *format)
{
	for_granules(format, granule) {
		begin();
		for (unsigned input = 25; input <= 48; input++) {
			one_shape(format, granule, input, 0);
			one_shape(format, granule, input, PGT_FEAT_CONTIG);
			one_shape(format, granule, input, PGT_FEAT_NO_BLOCKS);
			if (has_upper(format))
				one_shape(format, granule, input,
					  PGT_FEAT_UPPER | PGT_FEAT_CONTIG);
		}
		ok(fine, "%s, granule 2^%u, input 25 to 48: root size and alignment, levels, "
		   "leaf sizes, description, first and last page", format, granule);
	}
}

static void test_output(const char *format)
{
	static const unsigned arm64_sizes[] = { 32, 36, 40, 42, 44, 48 };
	const struct format *k = format_named(format);

	begin();
	for (unsigned output = 1; output < 64; output++) {
		bool legal = !k->arm64 && output >= k->least_output && output <= k->most_output;
		bool maybe = k->arm64 && output == 52;
		int status;

		for (unsigned i = 0; k->arm64 && i < 6; i++)
			legal |= output == arm64_sizes[i];
		where("%s, output %u", format, output);
		/* Less may be possible, but not with the tables where ours are. */
		maybe |= !k->defaults && output < k->least_output;
		status = world_open_exact(&w, format, k->granules[0], k->input, output, 0, 0);
		if (maybe)
			want(status == PGT_OK || status == PGT_ENOTSUP || status == PGT_EINVAL);
		else
			want_status(status, legal ? PGT_OK : PGT_ENOTSUP);
		if (status == PGT_OK) {
			want_status(pgt_map(w.t, 0, BIT(output) - w.page, w.page, PGT_READ, 0,
					    NULL), PGT_OK);
			want_u64(reads(w.t, w.page - 1), BIT(output) - 1);
			want_status(pgt_map(w.t, 2 * w.page, BIT(output) - w.page, 2 * w.page, PGT_READ,
					    0, NULL), PGT_ERANGE);
			want_status(pgt_map(w.t, 2 * w.page, BIT(output), w.page, PGT_READ, 0, NULL),
				    PGT_ERANGE);
			pgt_destroy(w.t);
		}
		want_u64(w.e.live, 0);
		embed_fini(&w.e);
	}
	ok(fine, "%s: output sizes, and the last page of each", format);
}

/* ---- What is refused ------------------------------------------------------ */

static void refused(const struct pgt_config *c, int code)
{
	static uint64_t storage[256];
	struct pgt *t = NULL;
	uint64_t allocated = w.e.allocated;

	want_status(pgt_create(c, &t), code);
	want(!t);
	want_u64(pgt_storage(c), 0);
	want_status(pgt_init(storage, sizeof(storage), c, &t), code);
	want(!t);
	want_u64(w.e.live, 0);
	want_u64(w.e.allocated, allocated);
}

static int any_alloc(void *ctx, uint64_t bytes, uint64_t *pa)
{
	(void)ctx;
	(void)bytes;
	(void)pa;
	return -1;
}

static void test_malformed(const char *format)
{
	struct pgt_config good, c;
	static const struct pgt_config zero;

	begin();
	embed_init(&w.e, MIB(1), MIB(1));
	good = usual_config(&w.e, format, 12, 48, 48, 0, EMBED_TLB);
	for (uint32_t size = 0; size < sizeof(c); size++) {
		where("size %u", (unsigned)size);
		c = good;
		c.size = size;
		refused(&c, PGT_EINVAL);
	}
	where("alloc without free");
	c = good;
	c.memory.free = NULL;
	refused(&c, PGT_EINVAL);
	where("free without alloc");
	c = good;
	c.memory.alloc = NULL;
	refused(&c, PGT_EINVAL);
	where("neither to_virt nor a window");
	c = good;
	c.memory.to_virt = NULL;
	refused(&c, PGT_EINVAL);
	where("invalidate without sync");
	c = good;
	c.tlb.sync = NULL;
	refused(&c, PGT_EINVAL);
	where("alloc alone");
	c = good;
	c.memory = zero.memory;
	c.memory.alloc = any_alloc;
	refused(&c, PGT_EINVAL);
	embed_fini(&w.e);
	ok(fine, "%s: a malformed configuration is PGT_EINVAL and allocates nothing", format);
}

static void test_unsupported(const char *format)
{
	const struct format *k = format_named(format);
	bool arm64 = k->arm64;
	struct pgt_config good, c;

	begin();
	embed_init(&w.e, MIB(1), MIB(1));
	good = usual_config(&w.e, format, 12, 48, 48, 0, EMBED_TLB);
	for (unsigned g = 1; g < 256; g++) {
		if (usual_granule(k, g) == g)
			continue;
		where("granule %u", g);
		c = good;
		c.granule_bits = (uint8_t)g;
		refused(&c, PGT_ENOTSUP);
	}
	for (unsigned input = 1; input < 256; input++) {
		if (input >= k->least_input && input <= k->input)
			continue;
		for_granules(format, granule) {
			where("granule %u, input %u", granule, input);
			c = good;
			c.granule_bits = (uint8_t)granule;
			c.input_bits = (uint8_t)input;
			refused(&c, PGT_ENOTSUP);
		}
	}
	for (unsigned output = 64; output < 256; output++) {
		where("output %u", output);
		c = good;
		c.output_bits = (uint8_t)output;
		refused(&c, PGT_ENOTSUP);
	}
	static const char *const names[] = {
		"", "arm", "arm644", "ARM64", "generic ", "x86", "arm64-el3",
	};
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		where("format '%s'", names[i]);
		c = good;
		c.format = names[i];
		refused(&c, PGT_ENOTSUP);
	}
	static const char *const both[] = { "arm64", "generic" };
	for (unsigned i = 0; i < 2; i++) {
		if (have_format(both[i]))
			continue;
		where("format %s was not built", both[i]);
		c = good;
		c.format = both[i];
		refused(&c, PGT_ENOTSUP);
	}
	where("HW_DIRTY without HW_YOUNG");
	c = good;
	c.features = PGT_FEAT_HW_DIRTY;
	refused(&c, PGT_ENOTSUP);
	c = usual_config(&w.e, format, 12, 48, 48, 0, EMBED_ALL);
	where("HW_ with written");
	c.features = PGT_FEAT_HW_YOUNG;
	refused(&c, PGT_ENOTSUP);
	c.features = PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY;
	refused(&c, PGT_ENOTSUP);

	const uint64_t never[] = {
		PGT_FEAT_XNX, PGT_FEAT_FWB, /* stage 2 only */
		arm64 ? PGT_FEAT_LPA : PGT_FEAT_LPA2,
		k->upper ? PGT_FEAT_LVA : PGT_FEAT_UPPER,
		arm64 ? PGT_FEAT_LVA : PGT_FEAT_LVA,
		arm64 ? PGT_FEAT_LPA : PGT_FEAT_LPA,
		arm64 ? PGT_FEAT_LPA : PGT_FEAT_ST,
		arm64 ? PGT_FEAT_LPA : PGT_FEAT_TLBI_RANGE,
		arm64 ? PGT_FEAT_LPA : PGT_FEAT_TTL,
		arm64 ? PGT_FEAT_LPA : PGT_FEAT_EXEC_BBM,
	};
	for (unsigned i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		for (unsigned contig = 0; contig < 2; contig++) {
			where("features %#" PRIx64 ", 4K", never[i]);
			c = good;
			c.features = never[i] | (contig ? PGT_FEAT_CONTIG : 0);
			refused(&c, PGT_ENOTSUP);
		}
	}
	where("LPA2 with 64K");
	c = good;
	c.granule_bits = 16;
	c.features = PGT_FEAT_LPA2;
	refused(&c, PGT_ENOTSUP);
	where("unknown features");
	for (unsigned i = 19; i < 64; i++) {
		struct pgt *t = NULL;
		int status;

		c = good;
		c.features = BIT(i);
		status = pgt_create(&c, &t);
		want(status == PGT_ENOTSUP || status == PGT_EINVAL);
		want(!t && !w.e.live);
	}
	embed_fini(&w.e);
	ok(fine, "%s: what the format can't express is PGT_ENOTSUP and allocates nothing", format);
}

/* A configuration of a later release: known to us where its tail is zero. */
static void test_larger(const char *format)
{
	struct {
		struct pgt_config c;
		unsigned char tail[64];
	} later;
	struct pgt_config given;
	struct pgt *t = NULL, *again = NULL;

	begin();
	memset(&later, 0, sizeof(later));
	embed_init(&w.e, MIB(1), MIB(1));
	later.c = usual_config(&w.e, format, 14, 36, 48, PGT_FEAT_CONTIG, EMBED_TLB);
	/* The C library's memory, where the format has room for its addresses. */
	if (format_named(format)->defaults)
		memset(&later.c.memory, 0, sizeof(later.c.memory));
	given = later.c;
	for (unsigned extra = 0; extra <= sizeof(later.tail); extra += 8) {
		where("%u more bytes", extra);
		later.c.size = (uint32_t)(sizeof(later.c) + extra);
		want(pgt_storage(&later.c) > 0);
		want_status(pgt_create(&later.c, &t), PGT_OK);
		pgt_destroy(t);
		t = NULL;
	}
	for (unsigned i = 0; i < sizeof(later.tail); i++) {
		where("tail byte %u set", i);
		later.tail[i] = 1;
		want_u64(pgt_storage(&later.c), 0);
		want_status(pgt_create(&later.c, &t), PGT_ENOTSUP);
		want(!t);
		later.tail[i] = 0;
	}
	ok(fine, "%s: a larger configuration is taken where its unknown bytes are zero", format);

	begin();
	later.c.size = sizeof(later.c);
	want_status(pgt_create(&later.c, &t), PGT_OK);
	for (uint32_t size = sizeof(uint32_t); size <= sizeof(later); size += 4) {
		int status;

		where("describe into %u bytes", (unsigned)size);
		memset(&later, 0xa5, sizeof(later));
		later.c.size = size;
		status = pgt_describe(t, &later.c);
		want_status(status, PGT_OK);
		for (uint32_t i = size; i < sizeof(later); i++)
			if (!want_u64(((unsigned char *)&later)[i], 0xa5))
				break;
		if (size > offsetof(struct pgt_config, output_bits)) {
			want(!strcmp(later.c.format, format));
			want_u64(later.c.granule_bits, given.granule_bits);
			want_u64(later.c.input_bits, given.input_bits);
			want_u64(later.c.output_bits, given.output_bits);
		}
		if (size >= offsetof(struct pgt_config, memory))
			want_u64(later.c.features, PGT_FEAT_CONTIG);
	}
	/* What was described makes the same table again. */
	memset(&later, 0, sizeof(later));
	later.c.size = sizeof(later.c);
	want_status(pgt_describe(t, &later.c), PGT_OK);
	want_u64(later.c.size, sizeof(later.c));
	/* Before the first goes: what was described may point into it. */
	want_status(pgt_create(&later.c, &again), PGT_OK);
	want_u64(pgt_leaf_sizes(again), pgt_leaf_sizes(t));
	pgt_destroy(again);
	pgt_destroy(t);
	embed_fini(&w.e);
	ok(fine, "%s: pgt_describe writes no more than it is given, and what it wrote makes a "
	   "table", format);
}

/* ---- Storage -------------------------------------------------------------- */

static void test_storage(const char *format)
{
	static _Alignas(16) unsigned char room[2048 + 32];
	struct pgt *t = NULL;
	uint64_t need, l1, inside;
	struct geo geo;

	begin();
	embed_init(&w.e, MIB(1), MIB(1));
	w.c = usual_config(&w.e, format, 12, 39, 48, PGT_FEAT_CONTIG, EMBED_TLB);
	need = pgt_storage(&w.c);
	geo = geo_of(format, w.c.granule_bits, w.c.input_bits, 0);
	l1 = geo_span(&geo, 1);
	inside = 12345 % l1;
	want(need > 0 && need <= 1024);
	want_status(pgt_init(room, need - 1, &w.c, &t), PGT_EINVAL);
	want_status(pgt_init(room, 0, &w.c, &t), PGT_EINVAL);
	want_status(pgt_init(room + 8, need, &w.c, &t), PGT_EINVAL);
	want_status(pgt_init(room + 1, need, &w.c, &t), PGT_EINVAL);
	want_status(pgt_init(NULL, need, &w.c, &t), PGT_EINVAL);
	want_status(pgt_init(room, need, NULL, &t), PGT_EINVAL);
	want_status(pgt_init(room, need, &w.c, NULL), PGT_EINVAL);
	want(!t);
	want_u64(w.e.allocated, 0);
	memset(room, 0xa5, sizeof(room));
	want_status(pgt_init(room + 16, need, &w.c, &t), PGT_OK);
	want_u64(w.e.allocated, 1);
	want_status(pgt_map(t, l1, l1, l1, PGT_READ, PGT_MAX_LEAF(geo_bits(&geo, 2)), NULL), PGT_OK);
	want_u64(reads(t, l1 + inside), l1 + inside);
	want_u64(w.e.allocated, 2);
	for (unsigned i = 0; i < 16; i++)
		want_u64(room[i], 0xa5);
	for (uint64_t i = 16 + need; i < sizeof(room); i++)
		want_u64(room[i], 0xa5);
	pgt_destroy(t);
	want_u64(w.e.live, 0);
	for (uint64_t i = 16 + need; i < sizeof(room); i++)
		want_u64(room[i], 0xa5);
	embed_fini(&w.e);
	ok(fine, "%s: a table in the caller's storage, %u bytes of it", format, (unsigned)need);
}

/* A root that can't be had. */
static void test_no_root(const char *format)
{
	struct pgt *t = NULL;

	begin();
	embed_init(&w.e, MIB(1), MIB(1));
	w.c = usual_config(&w.e, format, 12, 39, 48, 0, EMBED_TLB);
	embed_fail(&w.e, 1, true);
	want_status(pgt_create(&w.c, &t), PGT_ENOMEM);
	want(!t);
	want_u64(w.e.live, 0);
	embed_fini(&w.e);
	ok(fine, "%s: no memory for the root is PGT_ENOMEM", format);
}

/* An allocator that hands out what no table can use. */
static uint64_t wrong_pa, wrong_bytes;
static unsigned wrong_after, wrong_given, wrong_back;
static int (*right_alloc)(void *, uint64_t, uint64_t *);
static void (*right_free)(void *, uint64_t, uint64_t);

static int wrong_alloc(void *ctx, uint64_t bytes, uint64_t *pa)
{
	if (!wrong_after) {
		wrong_given++;
		*pa = wrong_pa;
		return 0;
	}
	wrong_after--;
	return right_alloc(ctx, bytes, pa);
}

static void wrong_free(void *ctx, uint64_t pa, uint64_t bytes)
{
	if (pa == wrong_pa) {
		wrong_back++;
		want_u64(bytes, wrong_bytes);
		return;
	}
	right_free(ctx, pa, bytes);
}

static void test_wrong_memory(const char *format)
{
	const struct format *k = format_named(format);
	unsigned output = format_output(k, 40), g = usual_granule(k, 12);
	uint64_t base = output < 40 ? MIB(512) : WORLD_PA, page = BIT(g);
	struct geo geo = geo_of(format, g, k->input, 0);
	const uint64_t wrong[] = {
		base + 8, base + page / 2, base + 1, 1, BIT(output), BIT(output) + 64, BIT(48),
		BIT(63), UINT64_MAX, 0 - page,
	};
	struct embed_snapshot before = { 0 };

	begin();
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct pgt *t = NULL;

		embed_init(&w.e, MIB(1), base);
		w.c = usual_config(&w.e, format, 12, 48, 40, 0, EMBED_TLB);
		right_alloc = w.c.memory.alloc;
		right_free = w.c.memory.free;
		w.c.memory.alloc = wrong_alloc;
		w.c.memory.free = wrong_free;
		wrong_pa = wrong[i];
		for (unsigned after = 0; after < 4; after++) {
			where("pa %#" PRIx64 " after %u", wrong_pa, after);
			wrong_given = wrong_back = 0;
			wrong_after = after;
			wrong_bytes = after ? page : geo_root_bytes(&geo);
			if (!after) {
				want_status(pgt_create(&w.c, &t), PGT_EINVAL);
				want(!t);
				want_u64(wrong_given, 1);
				want_u64(wrong_back, 1);
				continue;
			}
			want_status(pgt_create(&w.c, &t), PGT_OK);
			embed_snapshot(&w.e, &before);
			want_status(pgt_map(t, geo_span(&geo, 1), 0, page, PGT_READ, 0, NULL), PGT_EINVAL);
			want_u64(wrong_given, 1);
			want_u64(wrong_back, 1);
			want(!embed_compare(&w.e, &before));
			pgt_destroy(t);
			t = NULL;
			want_u64(w.e.live, 0);
		}
		embed_fini(&w.e);
	}
	embed_snapshot_free(&before);
	ok(fine, "%s: misaligned or unreachable memory is given back and the call is PGT_EINVAL",
	   format);
}

/* ---- window and to_virt --------------------------------------------------- */

/* 1 GiB, or an eighth where there is less. */
static uint64_t some_unit(void)
{
	return w.bytes > GIB(16) ? GIB(1) : w.bytes / 8;
}

static uint64_t some_work(void)
{
	uint64_t unit = some_unit(), digest;

	want_status(pgt_map(w.t, w.base, 0, 2 * unit, RW, 0, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, w.base + unit / 2, unit / 2, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.base + 5 * unit, 3 * unit, (unit / 16 & ~(w.page - 1)) + w.page,
			    PGT_READ, 0, NULL), PGT_OK);
	digest = embed_digest(w.t);
	return digest;
}

static void test_window(const char *format)
{
	static const unsigned modes[] = { EMBED_WINDOW, EMBED_ANYWHERE };

	begin();
	for_granules(format, granule) {
		uint64_t first = 0;

		for (unsigned i = 0; i < 3; i++) {
			uint64_t d;

			where("granule %u, mode %u", granule, i);
			if (!world_open(&w, format, granule, 40, PGT_FEAT_CONTIG,
					EMBED_ALL | (i ? modes[i - 1] : 0)))
				continue;
			d = some_work();
			sound(&w);
			if (!i)
				first = d;
			want_u64(d, first);
			world_close(&w);
		}
	}
	ok(fine, "%s: a window and to_virt give the same tables", format);
}

/* ---- The arena ------------------------------------------------------------ */

static _Alignas(65536) unsigned char pool[KIB(512)];

static void test_arena_arguments(void)
{
	struct pgt_arena a;

	begin();
	want_status(pgt_arena_init(NULL, pool, sizeof(pool), 0), PGT_EINVAL);
	want_status(pgt_arena_init(&a, NULL, sizeof(pool), 0), PGT_EINVAL);
	want_status(pgt_arena_init(&a, pool, 0, 0), PGT_EINVAL);
	want_status(pgt_arena_init(&a, pool + 4, KIB(64), 0), PGT_EINVAL);
	want_status(pgt_arena_init(&a, pool + 9, KIB(64), 0), PGT_EINVAL);
	want_status(pgt_arena_init(&a, pool, KIB(64), 4), PGT_EINVAL);
	want_status(pgt_arena_init(&a, pool, KIB(64), UINT64_C(0) - KIB(32)), PGT_ERANGE);
	want_status(pgt_arena_init(&a, pool, KIB(64), UINT64_C(0) - KIB(64)), PGT_OK);
	want_status(pgt_arena_init(&a, pool, KIB(64), 0), PGT_OK);
	want_status(pgt_arena_init(&a, pool + 8, KIB(64), MIB(1) + 24), PGT_OK);
	ok(fine, "pgt_arena_init: bad arguments");
}

static void *arena_at(const struct pgt_memory *m, uint64_t pa, uint64_t bytes)
{
	if (m->to_virt)
		return m->to_virt(m->ctx, pa, bytes);
	if (pa < m->window_pa || pa - m->window_pa >= m->window_bytes)
		return NULL;
	return (unsigned char *)m->window + (pa - m->window_pa);
}

/* Every size a table can have, zeroed, aligned, apart, until none is left, and again. */
static void arena_round(uint64_t offset, uint64_t bytes, uint64_t pa, uint64_t size)
{
	struct pgt_arena a;
	struct pgt_memory m;
	static uint64_t got[KIB(512) / 64];
	uint64_t n[3] = { 0, 0, 0 };

	where("arena at +%#" PRIx64 " pa %#" PRIx64 " bytes %#" PRIx64 ", tables of %#" PRIx64,
	      offset, pa, bytes, size);
	memset(pool, 0xa5, sizeof(pool));
	want_status(pgt_arena_init(&a, pool + offset, bytes, pa), PGT_OK);
	m = pgt_arena_memory(&a);
	want(m.alloc && m.free);
	for (unsigned round = 0; round < 3; round++) {
		uint64_t at;

		while (n[round] < sizeof(got) / 8 && !m.alloc(m.ctx, size, &at)) {
			unsigned char *p = arena_at(&m, at, size);
			uint64_t sum = 0;

			want_u64(at & (size - 1), 0);
			want(at >= pa && at - pa <= bytes - size);
			if (!want(p == pool + offset + (at - pa)))
				break;
			for (uint64_t i = 0; i < size; i++)
				sum += p[i];
			want_u64(sum, 0);
			memset(p, 0x77, size);
			for (uint64_t i = 0; i < n[round]; i++)
				want(got[i] != at);
			got[n[round]++] = at;
		}
		want(m.alloc(m.ctx, size, &at));
		for (uint64_t i = 0; i < n[round]; i++)
			m.free(m.ctx, got[round == 1 ? n[round] - 1 - i : i], size);
	}
	/* What is aligned and whole, but for a little that the arena keeps for itself. */
	want(n[0] >= (bytes / size > 2 ? bytes / size - 2 : 0));
	want_u64(n[1], n[0]);
	want_u64(n[2], n[0]);
	for (uint64_t i = 0; i < offset; i++)
		want_u64(pool[i], 0xa5);
	for (uint64_t i = offset + bytes; i < sizeof(pool); i++)
		want_u64(pool[i], 0xa5);
}

static void test_arena(void)
{
	begin();
	for (uint64_t size = 64; size <= KIB(64); size *= 2) {
		arena_round(0, KIB(512), 0, size);
		arena_round(0, KIB(256), GIB(4) + KIB(64), size);
		arena_round(64, KIB(256), MIB(1) + 4096, size);
		arena_round(4096, KIB(256), MIB(1) - 64, size);
		arena_round(0, KIB(256), UINT64_C(0) - KIB(256), size);
	}
	ok(fine, "the arena: zeroed, aligned and apart, exhausted and used again, nothing outside");

	begin();
	for_formats(format) {
		struct pgt_arena a;
		bool small = !format_named(format)->defaults;
		uint64_t step, page;
		struct pgt_config c;
		struct geo geo;
		struct pgt *t = NULL;
		uint64_t n = 0;

		/* A root of 64 bytes; in a pool to match where tables are small. */
		c = usual_config(&w.e, format, 12, small ? 48 : 42, 48, 0, 0);
		want_status(pgt_arena_init(&a, pool, small ? 1024 : sizeof(pool), GIB(1)), PGT_OK);
		c.memory = pgt_arena_memory(&a);
		geo = geo_of(format, c.granule_bits, c.input_bits, 0);
		step = geo_span(&geo, small ? 2 : 1);
		page = BIT(geo.g);
		want_status(pgt_create(&c, &t), PGT_OK);
		while (pgt_map(t, n * step, n * step / 2, page, PGT_READ, 0, NULL) == PGT_OK)
			n++;
		where("%s: %u mappings", format, (unsigned)n);
		want(n > (small ? 12 : 50) && n < 64);
		want_status(pgt_map(t, n * step, n * step / 2, page, PGT_READ, 0, NULL),
			    PGT_ENOMEM);
		for (uint64_t i = 0; i < n; i++)
			want_u64(reads(t, i * step + 1), i * step / 2 + 1);
		want_status(pgt_check(t, no_problem, NULL), PGT_OK);
		want_status(pgt_unmap(t, 0, BIT(c.input_bits), 0, NULL), PGT_OK);
		for (uint64_t i = 0; i < n; i++)
			want_status(pgt_map(t, i * step, 0, page, PGT_READ, 0, NULL), PGT_OK);
		pgt_destroy(t);
	}
	ok(fine, "tables in an arena, until it is full, and again after all was unmapped");
}

/* ---- Reserve -------------------------------------------------------------- */

static void test_reserve(const char *format)
{
	struct embed_snapshot before = { 0 };

	for_granules(format, granule) {
		uint64_t page = BIT(granule), depth;

		begin();
		if (!world_open(&w, format, granule, 48, 0, EMBED_ALL))
			continue;
		depth = 3 - w.geo.start;
		where("granule %u", granule);
		want_status(pgt_reserve(w.t, 0), PGT_OK);
		want_u64(w.e.live, 1);
		want_status(pgt_reserve(w.t, 5), PGT_OK);
		want_u64(w.e.live, 6);
		want_status(pgt_reserve(w.t, 5), PGT_OK);
		want_u64(w.e.allocated, 6);

		/* They are used first: no memory is needed. */
		embed_fail(&w.e, 1, true);
		want_status(pgt_map(w.t, 0, 0, page, RW, 0, NULL), PGT_OK);
		want_u64(w.e.allocated, 6);
		embed_fail(&w.e, 0, false);
		want_status(pgt_reserve(w.t, 5), PGT_OK);
		want_u64(w.e.allocated, 6 + depth);

		/* More than there is: what is set aside, and the rest from the allocator. */
		want_status(pgt_reserve(w.t, 1), PGT_OK);
		want_u64(w.e.live, 1 + depth + 1);
		want_status(pgt_map(w.t, w.bytes / 2, 0, page, RW, 0, NULL), PGT_OK);
		want_u64(w.e.live, 1 + 2 * depth);
		want_status(pgt_reserve(w.t, 0), PGT_OK);
		want_u64(w.e.live, 1 + 2 * depth);

		/* A call that fails gives them back to where they were. */
		want_status(pgt_reserve(w.t, 1), PGT_OK);
		embed_snapshot(&w.e, &before);
		embed_fail(&w.e, 1, true);
		if (depth > 1)
			want_status(pgt_map(w.t, w.bytes / 4 * 3, 0, page, RW, 0, NULL),
				    PGT_ENOMEM);
		want(!embed_compare(&w.e, &before));
		want_status(pgt_reserve(w.t, 1), PGT_OK);
		want(!embed_compare(&w.e, &before));
		embed_fail(&w.e, 3, true);
		want_status(pgt_reserve(w.t, 8), PGT_ENOMEM);
		want_u64(w.e.live, 1 + 2 * depth + 1);
		embed_fail(&w.e, 1, true);
		want_status(pgt_reserve(w.t, 1), PGT_OK);
		embed_fail(&w.e, 0, false);
		want_status(pgt_unmap(w.t, 0, w.bytes, 0, NULL), PGT_OK);
		want_u64(w.e.live, 2);
		want_status(pgt_reserve(w.t, 9), PGT_OK);
		world_close(&w);
		ok(fine, "%s, granule 2^%u: exactly so many tables set aside, used first, given "
		   "back", format, granule);
	}
	embed_snapshot_free(&before);
}

/* ---- How many tables ------------------------------------------------------ */

/* A range of odd shape, near entry borders more often than not. */
static struct request random_request(struct embed_rng *r)
{
	struct request q;
	uint64_t page = BIT(w.geo.g), pages = w.bytes >> w.geo.g, first, n, border, delta;
	unsigned level = w.geo.start + (unsigned)embed_below(r, 4 - w.geo.start);

	border = geo_span(&w.geo, level) >> w.geo.g;
	first = embed_below(r, pages) / border * border + embed_below(r, 5) - 2;
	if (first >= pages)
		first = 0;
	n = embed_once_in(r, 2) ? 1 + embed_below(r, 8) : border + embed_below(r, 5) - 2;
	if (n == 0 || n > pages)
		n = 1;
	if (n > pages - first)
		n = pages - first;
	if (n > 40000)
		n = 40000;
	delta = embed_once_in(r, 2) ? 0 : embed_below(r, 4) * page;
	q.va = w.base + first * page;
	q.len = n * page;
	q.pa = (first * page + delta) & (BIT(w.c.output_bits - 1) - 1);
	q.max = 63;
	if (embed_once_in(r, 3))
		q.max = w.geo.g + (unsigned)embed_below(r, 24);
	return q;
}

static void needed_on_empty(struct embed_rng *r)
{
	for (unsigned i = 0; i < 400; i++) {
		struct request q = random_request(r);
		unsigned flags = q.max == 63 ? 0 : PGT_MAX_LEAF(q.max);
		uint64_t most = 0, before = w.e.allocated, expected = tables_for(&w.geo, &q);

		where("granule %u, va %#" PRIx64 " pa %#" PRIx64 " len %#" PRIx64 " max %u",
		      w.geo.g, q.va, q.pa, q.len, q.max);
		want_status(pgt_tables_needed(w.t, q.va, q.pa, q.len, PGT_READ, flags, &most),
			    PGT_OK);
		want_u64(most, expected);
		want_status(pgt_map(w.t, q.va, q.pa, q.len, PGT_READ, flags, NULL), PGT_OK);
		want_u64(w.e.allocated - before, expected);
		want_status(pgt_unmap(w.t, q.va, q.len, 0, NULL), PGT_OK);
		want_u64(w.e.live, 1);
	}
}

static void needed_on_used(struct embed_rng *r)
{
	for (unsigned i = 0; i < 600; i++) {
		struct request q = random_request(r);
		unsigned flags = PGT_REPLACE | (q.max == 63 ? 0 : PGT_MAX_LEAF(q.max));
		uint64_t most = 0, before = w.e.allocated;
		int status;

		where("granule %u, va %#" PRIx64 " pa %#" PRIx64 " len %#" PRIx64 " max %u",
		      w.geo.g, q.va, q.pa, q.len, q.max);
		want_status(pgt_tables_needed(w.t, q.va, q.pa, q.len, PGT_READ, flags, &most),
			    PGT_OK);
		/* With so many set aside, it can't fail and asks for no more. */
		want_status(pgt_reserve(w.t, most), PGT_OK);
		before = w.e.allocated;
		embed_fail(&w.e, 1, true);
		status = pgt_map(w.t, q.va, q.pa, q.len, PGT_READ, flags, NULL);
		embed_fail(&w.e, 0, false);
		want_status(status, PGT_OK);
		want_u64(w.e.allocated, before);
		if (status != PGT_OK)
			break;
		if (i % 40 == 39)
			want_status(pgt_unmap(w.t, w.base, w.bytes, 0, NULL), PGT_OK);
	}
}

static void test_needed(const char *format)
{
	static const unsigned inputs[] = { 25, 33, 48 };
	struct embed_rng r;

	embed_seed(&r, 12);
	for_granules(format, granule) {
		begin();
		for (unsigned i = 0; i < 3; i++) {
			if (!world_open(&w, format, granule, inputs[i], PGT_FEAT_CONTIG,
					EMBED_TLB))
				continue;
			needed_on_empty(&r);
			needed_on_used(&r);
			sound(&w);
			world_close(&w);
		}
		ok(fine, "%s, granule 2^%u: pgt_tables_needed is exact for an empty table and "
		   "enough for any other", format, granule);
	}
}

/* ---- The scale that the first order names --------------------------------- */

static void test_scale(const char *format)
{
	struct pgt_gather g;

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	want_status(pgt_map(w.t, 5 * w.l1, 5 * w.l1, w.l1, RW, PGT_MAX_LEAF(w.geo.g), NULL), PGT_OK);
	want_u64(w.e.allocated - 1, BIT(w.geo.b) + 2);
	want_status(pgt_unmap(w.t, 5 * w.l1, w.l1, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
	want_status(pgt_gather_begin(&g, w.t), PGT_OK);
	want_status(pgt_unmap(w.t, 0, w.bytes, 0, &g), PGT_OK);
	want_status(pgt_gather_end(&g), PGT_OK);
	want(g.tally.reads <= BIT(w.geo.root_bits));
	world_close(&w);
	ok(fine, "%s: an entry of level 1 in pages takes %u tables and gives them back; unmap over an "
	   "empty range reads %u entries", format, 2 + (1u << w.geo.b), (unsigned)g.tally.reads);
}

/* ---- Attach ---------------------------------------------------------------- */

static void fill(void)
{
	want_status(pgt_map(w.t, w.base, 0, some_unit(), RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, w.base + 2 * some_unit(), MIB(64), BIT(w.geo.g) * 37, PGT_READ, 0, NULL),
		    PGT_OK);
	want_status(pgt_map(w.t, world_last(&w) - (BIT(w.geo.g) - 1), 0, BIT(w.geo.g),
			    PGT_READ | PGT_EXEC, 0, NULL), PGT_OK);
}

static void attach_read(unsigned g)
{
	struct pgt_config c = w.c;
	struct pgt *a = NULL;
	struct pgt_gather gather;
	uint64_t page = BIT(g);
	struct embed_snapshot before = { 0 };

	c.memory.alloc = NULL;
	c.memory.free = NULL;
	c.memory.written = NULL;
	embed_snapshot(&w.e, &before);
	want_status(pgt_attach(&c, pgt_root(w.t), &a), PGT_OK);
	want_u64(pgt_root(a), pgt_root(w.t));
	want_u64(pgt_leaf_sizes(a), pgt_leaf_sizes(w.t));
	want_u64(embed_digest(a), embed_digest(w.t));
	want_status(pgt_check(a, no_problem, NULL), PGT_OK);
	want_status(pgt_map(a, w.base + 7 * some_unit(), 0, page, PGT_READ, 0, NULL), PGT_ENOTSUP);
	want_status(pgt_unmap(a, w.base, page, 0, NULL), PGT_ENOTSUP);
	want_status(pgt_trim(a, w.base, page, NULL), PGT_ENOTSUP);
	want_status(pgt_reserve(a, 1), PGT_ENOTSUP);
	want_status(pgt_gather_begin(&gather, a), PGT_ENOTSUP);
	/* EINVAL before, the other checks after. */
	want_status(pgt_map(a, w.base, 0, 0, PGT_READ, 0, NULL), PGT_EINVAL);
	want_status(pgt_unmap(a, w.base + 1, page, 0, NULL), PGT_ENOTSUP);
	want_status(pgt_unmap(a, BIT(60), page, 0, NULL), PGT_ENOTSUP);
	pgt_destroy(a);
	want(!embed_compare(&w.e, &before));
	embed_snapshot_free(&before);
}

static void attach_adopt(void)
{
	struct pgt *a = NULL;
	uint64_t page = BIT(w.geo.g), live = w.e.live, allocated = w.e.allocated;

	want_status(pgt_attach(&w.c, pgt_root(w.t), &a), PGT_OK);
	want_u64(w.e.allocated, allocated);
	want_u64(embed_digest(a), embed_digest(w.t));
	want_status(pgt_map(a, w.base + 7 * some_unit(), 0, page, RW, 0, NULL), PGT_OK);
	want_u64(reads(w.t, w.base + 7 * some_unit()), 0);
	/* Tables that were made elsewhere go to free when they become empty. */
	want_status(pgt_unmap(a, w.base, w.bytes, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
	want(w.e.freed >= live - 1);
	want_status(pgt_map(a, w.base, 0, page, RW, 0, NULL), PGT_OK);
	live = w.e.live;
	pgt_destroy(a);
	want_u64(w.e.live, live);
	want_u64(reads(w.t, w.base), 0);
}

static void attach_refused(void)
{
	struct pgt *a = NULL;
	uint64_t root = pgt_root(w.t);

	want_status(pgt_attach(&w.c, root + 32, &a), PGT_EALIGN);
	want_status(pgt_attach(&w.c, root + 1, &a), PGT_EALIGN);
	if (geo_root_bytes(&w.geo) > 64)
		want_status(pgt_attach(&w.c, root + geo_root_bytes(&w.geo) / 2, &a), PGT_EALIGN);
	want_status(pgt_attach(&w.c, BIT(w.c.output_bits), &a), PGT_ERANGE);
	want_status(pgt_attach(&w.c, BIT(63), &a), PGT_ERANGE);
	want_status(pgt_attach(&w.c, BIT(w.c.output_bits - 6), &a), PGT_ECORRUPT);
	want_status(pgt_attach(&w.c, 0, &a), PGT_ECORRUPT);
	want(!a);
}

static void test_attach(const char *format)
{
	for_granules(format, granule) {
		begin();
		for (unsigned input = 42; input <= 48; input += 6) {
			where("%s, granule %u, input %u", format, granule, input);
			if (!world_open(&w, format, granule, input, PGT_FEAT_CONTIG,
					EMBED_TLB))
				continue;
			fill();
			attach_read(granule);
			attach_refused();
			attach_adopt();
			world_close(&w);
		}
		ok(fine, "%s, granule 2^%u: attach, reading only and adopting", format,
		   granule);
	}
}

/* Somebody else's table entries with permission bits in them (facts: 59 to 62). */
static void test_attach_permissions(void)
{
	static const struct {
		uint64_t bits;
		bool read, write, exec, user_read, user_exec;
	} rows[] = {
		{ BIT(59), true, true, false, true, true },   /* PXNTable */
		{ BIT(60), true, true, true, true, false },   /* UXNTable */
		{ BIT(61), true, true, true, false, true },   /* no unprivileged access */
		{ BIT(62), true, false, true, true, true },   /* no write */
		{ BIT(61) | BIT(62), true, false, true, false, true },
	};

	if (lacks_arm64("permission bits in table entries"))
		return;
	begin();
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned level = 0; level < 3; level++) {
			struct pgt *a = NULL;
			struct pgt_translation tr;
			struct pgt_mapping m;
			uint64_t e;

			where("bits %#" PRIx64 " at level %u", rows[i].bits, level);
			if (!world_open(&w, "arm64", 12, 48, 0, EMBED_TLB))
				continue;
			/* Writable by the kernel and executable by it; readable by users. */
			want_status(pgt_map(w.t, 0, 0, KIB(4), RW | PGT_EXEC, 0, NULL), PGT_OK);
			want_status(pgt_map(w.t, KIB(4), KIB(4), KIB(4), PGT_READ | PGT_USER |
					    PGT_UEXEC | PGT_EXEC, 0, NULL), PGT_OK);
			e = raw_entry(&w, 0, level);
			raw_poke(&w, 0, level, e | rows[i].bits);
			want_status(pgt_attach(&w.c, pgt_root(w.t), &a), PGT_OK);
			want(pgt_translate(a, 0, PGT_READ, &tr) == PGT_OK);
			want((pgt_translate(a, 0, PGT_WRITE, &tr) == PGT_OK) == rows[i].write);
			if (!rows[i].write)
				want_u64(tr.fault, PGT_FAULT_PERMISSION);
			want((pgt_translate(a, 0, PGT_EXEC, &tr) == PGT_OK) == rows[i].exec);
			want((pgt_translate(a, KIB(4), PGT_READ | PGT_USER, &tr) == PGT_OK) ==
			     rows[i].user_read);
			want((pgt_translate(a, KIB(4), PGT_EXEC | PGT_USER, &tr) == PGT_OK) ==
			     rows[i].user_exec);
			want_status(pgt_query(a, 0, &m), PGT_OK);
			want(!!(m.attr & PGT_WRITE) == rows[i].write);
			want(!!(m.attr & PGT_EXEC) == rows[i].exec);
			want_status(pgt_unmap(a, 0, KIB(4), 0, NULL), PGT_ENOTSUP);
			want_status(pgt_map(a, KIB(8), 0, KIB(4), PGT_READ, 0, NULL), PGT_ENOTSUP);
			/* Not below it: all as ever. */
			want_status(pgt_map(a, GIB(600), 0, KIB(4), PGT_READ, 0, NULL), PGT_OK);
			want_status(pgt_check(a, no_problem, NULL), PGT_OK);
			pgt_destroy(a);
			raw_poke(&w, 0, level, e);
			world_close(&w);
		}
	}
	ok(fine, "arm64, attached: permission bits in table entries are honoured by readers, and "
	   "nothing below them is changed");
}

/* Invalid entries that aren't zero are somebody's tokens. */
static void test_attach_tokens(void)
{
	struct pgt_config c;
	struct pgt *a = NULL;
	struct pgt_mapping m;
	const uint64_t raw = UINT64_C(0x1234567890ab) << 12;

	if (lacks_arm64("invalid entries as tokens"))
		return;
	begin();
	if (!world_open(&w, "arm64", 12, 48, 0, EMBED_TLB))
		return;
	want_status(pgt_map(w.t, 0, 0, KIB(4), RW, 0, NULL), PGT_OK);
	raw_poke(&w, KIB(8), 3, raw & ~(UINT64_C(7) << 61));
	c = w.c;
	c.memory.alloc = NULL;
	c.memory.free = NULL;
	want_status(pgt_attach(&c, pgt_root(w.t), &a), PGT_OK);
	want_status(pgt_query(a, KIB(8), &m), PGT_OK);
	want_u64(m.state, PGT_TOKEN);
	want_u64(m.entry, raw & ~(UINT64_C(7) << 61));
	want_u64(m.va, KIB(8));
	want_u64(m.len, KIB(4));
	want_u64(reads(a, KIB(8)), NOWHERE);
	pgt_destroy(a);
	raw_poke(&w, KIB(8), 3, 0);
	world_close(&w);
	ok(fine, "arm64, attached: an invalid entry that isn't zero reads as a token");
}

int main(void)
{
	test_names();
	if (formats[0]->defaults)
		test_defaults();
	test_own_derivation();
	test_arena_arguments();
	test_arena();
	for_formats(format) {
		test_shapes(format);
		test_output(format);
		test_malformed(format);
		test_unsupported(format);
		test_larger(format);
		test_storage(format);
		test_no_root(format);
		test_wrong_memory(format);
		test_window(format);
		test_reserve(format);
		test_needed(format);
		test_scale(format);
		test_attach(format);
	}
	test_attach_permissions();
	test_attach_tokens();
	return tap_done();
}
