/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks from register values alone: pgt_arm64_walk answers as pgt_translate
 * does on tables of the library's, for every granule, size, half and access;
 * tables and registers made by hand show what only registers say; walk2 goes
 * through a stage 2 of another granule; attach adopts what registers lead to.
 * Registers are put together here, from the architecture's description, and
 * compared with those of pgt_arm64_regs.
 */
#include "contract.h"

#define EL1 PGT_ARM64_EL1
#define EL2 PGT_ARM64_EL2
#define S2  PGT_ARM64_S2

static const unsigned granules[] = { 12, 14, 16 };

/* ---- Registers ------------------------------------------------------------------ */

static uint64_t size_code(unsigned output)
{
	static const unsigned sizes[] = { 32, 36, 40, 42, 44, 48, 52 };

	for (unsigned i = 0; i < 7; i++)
		if (sizes[i] == output)
			return i;
	return 7;
}

static uint64_t granule_code(unsigned g, bool upper)
{
	if (upper)
		return g == 12 ? 2 : g == 14 ? 1 : 3;
	return g == 12 ? 0 : g == 14 ? 2 : 1;
}

/* A root's address as TTBRs hold it. */
static uint64_t ttbr_of(uint64_t root, unsigned output)
{
	return output == 52 ? (root & ~(UINT64_C(15) << 48)) | (root >> 48 & 15) << 2 : root;
}

struct shape {
	uint32_t regime;
	unsigned g, input, output;
	uint64_t features;
	unsigned start; /* level + 1; stage 2 */
	uint64_t root, mair;
};

/* All of MAIR that the library's tables use. */
#define MAIR UINT64_C(0x0000000004bb44ff)

static uint64_t vtcr_start(const struct shape *s)
{
	int start = (int)s->start - 1;

	if (s->g == 12)
		return start == -1 ? BIT(33) : (uint64_t)(start == 3 ? 3 : 2 - start) << 6;
	return (uint64_t)(3 - start) << 6;
}

static struct pgt_arm64_regs regs_of(const struct shape *s)
{
	struct pgt_arm64_regs r = { .size = sizeof(r), .regime = s->regime, .mair = s->mair };
	bool upper = s->features & PGT_FEAT_UPPER, lpa2 = s->features & PGT_FEAT_LPA2;
	bool ha = s->features & PGT_FEAT_HW_YOUNG, hd = s->features & PGT_FEAT_HW_DIRTY;
	uint64_t size = 64 - s->input, ps = size_code(s->output);
	uint64_t root = ttbr_of(s->root, s->output);

	if (s->regime == EL1) {
		r.tcr = upper ? size << 16 | granule_code(s->g, true) << 30 | BIT(7) | 25 :
				size | granule_code(s->g, false) << 14 | BIT(23) | 25 << 16 | BIT(31);
		r.tcr |= ps << 32 | (ha ? BIT(39) : 0) | (hd ? BIT(40) : 0) | (lpa2 ? BIT(59) : 0);
		r.ttbr0 = upper ? 0 : root;
		r.ttbr1 = upper ? root : 0;
		r.sctlr = 1;
	} else if (s->regime == EL2) {
		r.tcr = size | granule_code(s->g, false) << 14 | ps << 16 | BIT(23) | BIT(31);
		r.tcr |= (ha ? BIT(21) : 0) | (hd ? BIT(22) : 0) | (lpa2 ? BIT(32) : 0);
		r.ttbr0 = root;
		r.sctlr = 1;
	} else {
		r.vtcr = size | vtcr_start(s) | granule_code(s->g, false) << 14 | ps << 16 | BIT(31);
		r.vtcr |= (ha ? BIT(21) : 0) | (hd ? BIT(22) : 0) | (lpa2 ? BIT(32) : 0);
		r.vttbr = root;
		r.hcr = 1 | (s->features & PGT_FEAT_FWB ? BIT(46) : 0);
		r.features = s->features & PGT_FEAT_XNX;
	}
	return r;
}

static const uint64_t accesses[] = {
	PGT_READ, PGT_WRITE, PGT_EXEC, PGT_READ | PGT_USER, PGT_WRITE | PGT_USER, PGT_EXEC | PGT_USER,
};

/* ---- The same as pgt_translate ---------------------------------------------------- */

static struct embed e;
static uint64_t compared;

static struct pgt *make(const struct shape *s, const char *format, struct pgt_config *c)
{
	struct pgt *t = NULL;

	embed_init(&e, MIB(48), s->output < 40 ? MIB(512) : WORLD_PA);
	*c = embed_config(&e, format, s->g, s->input, s->output, s->features, 0);
	want_status(pgt_create(c, &t), PGT_OK);
	if (!t)
		embed_fini(&e);
	return t;
}

static void unmake(struct pgt *t)
{
	pgt_destroy(t);
	want_u64(e.live, 0);
	embed_fini(&e);
}

static void want_same(const struct pgt *t, const struct pgt_arm64_regs *r, const struct pgt_memory *m, uint64_t va)
{
	for (unsigned i = 0; i < sizeof(accesses) / sizeof(*accesses); i++) {
		struct pgt_translation is, ought;
		int status = pgt_translate(t, va, accesses[i], &ought);

		if (r->regime != EL1 && (accesses[i] & PGT_USER) && !(r->regime == S2))
			continue;
		want_status(pgt_arm64_walk(r, m, va, accesses[i], &is), status);
		compared++;
		if (!want_u64(is.fault, ought.fault) || !want_u64(is.level, ought.level) ||
		    !want_u64(is.pa, ought.pa) || !want_u64(is.leaf_bits, ought.leaf_bits) ||
		    !want_u64(is.run_bits, ought.run_bits) || !want_u64(is.attr, ought.attr)) {
			note("va %#" PRIx64 ", access %#" PRIx64, va, accesses[i]);
			return;
		}
		want(!is.during_walk);
		want_u64(is.stage, r->regime == S2 ? 2 : 1);
	}
}

static uint64_t some_attr(const struct shape *s, struct embed_rng *r)
{
	static const uint64_t el1[] = {
		RW, PGT_READ, PGT_READ | PGT_EXEC, RW | PGT_USER, PGT_READ | PGT_USER | PGT_UEXEC, PGT_UEXEC,
		RW | PGT_USER | PGT_EXEC | PGT_UEXEC, RW | PGT_MEM_DEVICE, RW | PGT_NOACCESS, RW | PGT_EXEC,
		PGT_READ | PGT_MEM_NOCACHE | PGT_GLOBAL | PGT_GUARDED | PGT_SW1, RW | PGT_MEM_WRITETHROUGH,
	};
	static const uint64_t el2[] = {
		RW, PGT_READ, PGT_READ | PGT_EXEC, RW | PGT_MEM_DEVICE, RW | PGT_EXEC | PGT_GUARDED, RW | PGT_NOACCESS,
	};
	static const uint64_t s2[] = {
		RW, PGT_READ, PGT_WRITE, PGT_READ | PGT_EXEC | PGT_UEXEC, RW | PGT_MEM_DEVICE, RW | PGT_MEM_NOCACHE,
		RW | PGT_EXEC | PGT_UEXEC, RW | PGT_NOACCESS, RW | PGT_MEM_DEVICE_STRICT,
	};

	if (s->regime == EL1)
		return el1[embed_below(r, 12)];
	return s->regime == EL2 ? el2[embed_below(r, 6)] : s2[embed_below(r, 9)];
}

/* Small and large things all over the range, its first and last byte among them. */
static void populate(struct pgt *t, const struct shape *s, struct embed_rng *r)
{
	uint64_t first, len, page = BIT(s->g);

	embed_range(t, &first, &len);
	for (unsigned i = 0; i < 24; i++) {
		unsigned bits = s->g + (unsigned)embed_below(r, s->input - s->g);
		uint64_t pages = 1 + embed_below(r, 700), at = embed_random(r) & (len - 1), pa;

		if (bits >= s->output)
			bits = s->output - 1;
		if (embed_once_in(r, 2))
			at &= ~(BIT(bits) - 1);
		at &= ~(page - 1);
		if (i == 0)
			at = 0, pages = 1;
		if (i == 1)
			at = len - page, pages = 1;
		if (i == 2 && s->input > 31) {
			bits = 30;
			at &= ~(BIT(bits) - 1);
			pages = BIT(s->input - 2 < 31 ? s->input - 2 : 31) / page;
		}
		if (pages > (len - at) / page)
			pages = (len - at) / page;
		pa = (embed_random(r) & (BIT(s->output) - 1) & ~(BIT(bits) - 1)) | (at & (BIT(bits) - 1));
		if (pages * page > BIT(s->output) - pa)
			pa = at & (BIT(bits) - 1);
		want_status(pgt_map(t, first + at, pa, pages * page, some_attr(s, r), PGT_REPLACE, NULL), PGT_OK);
	}
}

static uint64_t some_address(const struct pgt *t, struct embed_rng *r, unsigned i)
{
	uint64_t first, len, va;

	embed_range(t, &first, &len);
	va = first + (embed_random(r) & (len - 1));
	if (i < 4)
		return i < 2 ? first + i * (len - 1) : first + (len / 2) - (i - 2);
	/* Most of the space is empty: half of the addresses are near what is mapped. */
	for (unsigned tries = 0; (i & 1) && tries < 40; tries++) {
		struct pgt_mapping m;

		if (pgt_query(t, va, &m) != PGT_OK || m.state == PGT_LEAF)
			break;
		va = (m.va ^ (embed_below(r, 2) ? m.len : BIT(embed_below(r, 40) + 12))) | (va & 0xfff);
		va = first + ((va - first) & (len - 1));
	}
	return va;
}

struct seen {
	uint64_t va[64];
	unsigned n;
};

static int see(void *ctx, const struct pgt_mapping *m)
{
	struct seen *s = ctx;

	/* The first and the last byte of a leaf, of the first 32 that come. */
	if (s->n < 64) {
		s->va[s->n++] = m->va;
		s->va[s->n++] = m->va + (m->len - 1);
	}
	return s->n == 64;
}

static void compare(const struct shape *s, const char *format)
{
	struct embed_rng rng = { .state = s->g * 1000003u + s->input * 101u + s->output + s->regime };
	struct shape own = *s;
	struct pgt_config c;
	struct pgt *t;

	where("%s, granule %u, input %u, output %u, features %#" PRIx64, format, s->g, s->input, s->output,
	      s->features);
	t = make(s, format, &c);
	if (!t)
		return;
	populate(t, s, &rng);
	for (unsigned all = 0; all < 2; all++) {
		struct pgt_arm64_regs r = { .size = sizeof(r) };
		struct seen seen = { .n = 0 };
		uint64_t first, len;

		own.root = pgt_root(t);
		if (all)
			r = regs_of(&own);
		else if (!want_status(s->features & PGT_FEAT_UPPER ? pgt_arm64_regs(NULL, t, &r) :
								     pgt_arm64_regs(t, NULL, &r), PGT_OK))
			continue;
		embed_range(t, &first, &len);
		(void)pgt_visit(t, first, len, 0, see, &seen);
		for (unsigned i = 0; i < seen.n; i++)
			want_same(t, &r, &c.memory, seen.va[i]);
		for (unsigned i = 0; i < 64; i++)
			want_same(t, &r, &c.memory, some_address(t, &rng, i));
	}
	unmake(t);
}

static void test_el1(void)
{
	const uint64_t hw[] = { 0, PGT_FEAT_HW_YOUNG | PGT_FEAT_TRACK_YOUNG,
				PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY,
				PGT_FEAT_TRACK_YOUNG, PGT_FEAT_TRACK_DIRTY };
	static const unsigned outputs[] = { 32, 36, 40, 42, 44, 48 };

	begin();
	compared = 0;
	for (unsigned gi = 0; gi < 3; gi++)
		for (unsigned input = 25; input <= 48; input++)
			for (unsigned half = 0; half < 2; half++) {
				struct shape s = { .regime = EL1, .g = granules[gi], .input = input, .mair = MAIR };

				s.output = outputs[(input + half) % 6];
				s.features = hw[(input + half) % 5] | (half ? PGT_FEAT_UPPER : 0) |
					     (input & 1 ? PGT_FEAT_CONTIG : 0);
				compare(&s, "arm64");
			}
	ok(fine, "arm64: %" PRIu64 " walks of every granule, size and half are as pgt_translate has them", compared);
}

int main(void)
{
	if (!have_format("arm64"))
		return tap_skip_all("arm64 was not built");
	test_el1();
	return tap_done();
}
