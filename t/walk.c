/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks from register values alone: pgt_arm64_walk answers as pgt_translate
 * does on tables of the library's, for every granule, size, half and access;
 * tables and registers made by hand show what only registers say; walk2 goes
 * through a stage 2 of another granule; attach adopts what registers lead to.
 */
#include "registers.h"

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
	for (unsigned i = 0; i < N_ACCESSES; i++) {
		struct pgt_translation is, ought;
		int status = pgt_translate(t, va, accesses[i], &ought);

		if (r->regime != EL1 && (accesses[i] & PGT_USER) && !(r->regime == S2))
			continue;
		want_status(pgt_arm64_walk(r, m, va, accesses[i], &is), status);
		compared++;
		if (!want_u64(is.fault, ought.fault) || !want_u64(is.level, ought.level) ||
		    !want_u64(is.pa, ought.pa) || !want_u64(is.leaf_bits, ought.leaf_bits) ||
		    !want_u64(is.run_bits, ought.run_bits) || !want_u64(is.attr, ought.attr)) {
			if (complaints < 12)
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

/* 52 bits of input and output, and fewer than 25 of input. */
static void test_wide(void)
{
	static const struct {
		unsigned g, output;
		uint64_t features;
		unsigned first, last;
	} kinds[] = {
		{ 12, 52, PGT_FEAT_LPA2, 25, 52 },		     { 14, 52, PGT_FEAT_LPA2, 25, 52 },
		{ 12, 48, PGT_FEAT_LPA2, 47, 52 },		     { 14, 44, PGT_FEAT_LPA2, 47, 52 },
		{ 16, 52, PGT_FEAT_LPA, 25, 48 },		     { 16, 52, PGT_FEAT_LPA | PGT_FEAT_LVA, 49, 52 },
		{ 16, 48, PGT_FEAT_LVA, 49, 52 },		     { 12, 48, PGT_FEAT_ST, 16, 24 },
		{ 14, 48, PGT_FEAT_ST, 16, 24 },		     { 16, 48, PGT_FEAT_ST, 17, 24 },
		{ 12, 52, PGT_FEAT_ST | PGT_FEAT_LPA2, 16, 24 }, { 16, 52, PGT_FEAT_ST | PGT_FEAT_LPA, 17, 24 },
	};

	begin();
	compared = 0;
	for (unsigned k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (unsigned input = kinds[k].first; input <= kinds[k].last; input++)
			for (unsigned half = 0; half < 2; half++) {
				struct shape s = { .regime = EL1, .g = kinds[k].g, .input = input,
						   .output = kinds[k].output, .mair = MAIR };

				s.features = kinds[k].features | (half ? PGT_FEAT_UPPER : 0) |
					     (input & 1 ? PGT_FEAT_CONTIG : 0);
				compare(&s, "arm64");
			}
	ok(fine, "arm64: %" PRIu64 " walks of 52-bit and of small spaces are as pgt_translate has them", compared);
}

static void test_el2(void)
{
	begin();
	compared = 0;
	for (unsigned gi = 0; gi < 3; gi++)
		for (unsigned input = 25; input <= 52; input++) {
			bool large = granules[gi] == 16;
			struct shape s = { .regime = EL2, .g = granules[gi], .input = input, .mair = MAIR };

			s.output = input > 48 || input % 5 == 0 ? 52 : 40;
			s.features = s.output == 52 ? (large ? PGT_FEAT_LPA : PGT_FEAT_LPA2) : 0;
			s.features |= large && input > 48 ? PGT_FEAT_LVA : 0;
			s.features |= input & 1 ? PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_DIRTY |
							  PGT_FEAT_TRACK_YOUNG : PGT_FEAT_CONTIG;
			compare(&s, "arm64-el2");
		}
	ok(fine, "arm64-el2: %" PRIu64 " walks of every granule and size are as pgt_translate has them", compared);
}

/* The level that the library starts at, from the root's size: as few levels as 16 tables allow. */
static unsigned stage2_start(unsigned g, unsigned input, unsigned output, uint64_t features)
{
	struct pgt_config c;
	struct pgt *t;
	struct shape s = { .g = g, .input = input, .output = output, .features = features };
	struct pgt_config d = { .size = sizeof(d) };
	const struct pgt_arm64_config *own;
	unsigned start = 0;

	t = make(&s, "arm64-s2", &c);
	if (!t)
		return 0;
	if (pgt_describe(t, &d) == PGT_OK && (own = d.format_config))
		start = 4u - own->levels + 1;
	unmake(t);
	return start;
}

static void test_stage2(void)
{
	begin();
	compared = 0;
	for (unsigned gi = 0; gi < 3; gi++)
		for (unsigned input = 25; input <= 52; input++) {
			bool large = granules[gi] == 16;
			struct shape s = { .regime = S2, .g = granules[gi], .input = input };

			s.output = input > 48 || input % 5 == 0 ? 52 : 48;
			s.features = s.output == 52 ? (large ? PGT_FEAT_LPA : PGT_FEAT_LPA2) : 0;
			s.features |= input & 1 ? PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_DIRTY |
							  PGT_FEAT_TRACK_YOUNG : PGT_FEAT_CONTIG;
			s.features |= input & 2 ? PGT_FEAT_XNX : 0;
			where("granule %u, input %u", s.g, s.input);
			s.start = stage2_start(s.g, s.input, s.output, s.features);
			compare(&s, "arm64-s2");
		}
	ok(fine, "arm64-s2: %" PRIu64 " walks of every granule and size are as pgt_translate has them", compared);
}

/* ---- Tables that someone else wrote ------------------------------------------------- */

#define L_PAGE  (BIT(10) | 3)
#define L_BLOCK (BIT(10) | 1)

static const struct shape four_k = {
	.regime = EL1, .g = 12, .input = 48, .output = 48, .start = 1, .root = RAM_PA, .mair = MAIR,
};

/* Permissions as the architecture has them: [0] privileged, [1] not. */
struct may {
	bool read[2], write[2], exec[2];
};

static struct may find_may(uint64_t leaf, uint64_t tables, bool hd, bool wxn, bool one_level)
{
	bool user = (leaf & BIT(6)) && !(tables & BIT(61)) && !one_level;
	bool clean = hd && (leaf & BIT(51)), write = (clean || !(leaf & BIT(7))) && !(tables & BIT(62));
	bool xn = (leaf | tables >> 6) & BIT(54), pxn = (leaf | tables >> 6) & BIT(53);
	struct may m = { .read = { true, user }, .write = { write, user && write } };

	m.exec[0] = !(one_level ? xn : pxn) && !m.write[1] && !(wxn && write);
	m.exec[1] = !xn && !(wxn && m.write[1]);
	return m;
}

static void want_may(const struct pgt_arm64_regs *r, const struct pgt_memory *m, uint64_t va, uint64_t pa,
		     const struct may *may)
{
	for (unsigned i = 0; i < N_ACCESSES; i++) {
		bool user = accesses[i] & PGT_USER;
		const bool *of = accesses[i] & PGT_READ ? may->read :
				 accesses[i] & PGT_WRITE ? may->write : may->exec;

		if (user && r->regime == EL2)
			continue;
		if (of[user])
			want_pa(r, m, va, accesses[i], pa);
		else
			want_fault(r, m, va, accesses[i], PGT_FAULT_PERMISSION, 3);
	}
}

/* All permission bits of a leaf and of the tables above, under all controls. */
static void test_permissions(uint32_t regime)
{
	const uint64_t va = UINT64_C(0x123456789000), pa = UINT64_C(0x6789a000);
	struct pgt_memory m = ram_memory(RAM_BYTES);
	struct shape s = four_k;
	unsigned n = 0;

	begin();
	s.regime = regime;
	for (unsigned bits = 0; bits < 32; bits++)
		for (unsigned above = 0; above < 16; above++)
			for (unsigned controls = 0; controls < 8; controls++) {
				bool hd = controls & 1, wxn = controls & 2, hpd = controls & 4;
				uint64_t leaf = pa | L_PAGE | (uint64_t)(bits & 3) << 6 |
						(uint64_t)(bits >> 2 & 3) << 53 | (uint64_t)(bits >> 4) << 51;
				uint64_t tables = (uint64_t)above << 59;
				struct pgt_arm64_regs r;
				struct may may;

				s.features = hd ? PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY : 0;
				r = regs_of(&s);
				r.sctlr |= wxn ? BIT(19) : 0;
				r.tcr |= !hpd ? 0 : regime == EL1 ? BIT(41) : BIT(24);
				where("leaf %#" PRIx64 ", tables %#" PRIx64 ", hd %d, wxn %d, hpd %d", leaf, tables, hd,
				      wxn, hpd);
				/* The bits count wherever they are: in one table entry, ... */
				chain_put(&s, va, 3, leaf, 0);
				ram_put(chain_at(&s, va, (int)(n % 3)), ram_get(chain_at(&s, va, (int)(n % 3))) | tables);
				may = find_may(leaf, hpd ? 0 : tables, hd, wxn, regime == EL2);
				want_may(&r, &m, va, pa, &may);
				/* ... or in several. */
				chain_put(&s, va, 3, leaf, tables);
				want_may(&r, &m, va, pa, &may);
				n++;
			}
	ok(fine, "%s: %u combinations of permission bits in leaves and tables, DBM, HD, WXN and HPD",
	   regime == EL1 ? "EL1" : "EL2", n);
}

static void test_halves(void)
{
	const uint64_t low = UINT64_C(0x123456789000), high = low | UINT64_C(0xffff) << 48;
	struct pgt_memory m = ram_memory(RAM_BYTES);
	struct pgt_arm64_regs r;
	struct shape s = four_k;

	begin();
	chain_put(&s, low, 3, UINT64_C(0x11111000) | L_PAGE | BIT(6), 0);
	s.root += KIB(64);
	chain_put(&s, low, 3, UINT64_C(0x22222000) | L_PAGE | BIT(6), 0);
	r = regs_of(&four_k);
	r.ttbr1 = s.root;
	r.tcr &= ~(BIT(23) | UINT64_C(63) << 16);
	r.tcr |= 16 << 16;
	want_pa(&r, &m, low + 5, PGT_READ, 0x11111005);
	want_pa(&r, &m, high + 7, PGT_READ, 0x22222007);
	where("ASID and CnP are no address");
	r.ttbr0 |= BIT(63) | BIT(48) | 1;
	r.ttbr1 |= BIT(50) | 1;
	want_pa(&r, &m, low, PGT_READ, 0x11111000);
	want_pa(&r, &m, high, PGT_READ, 0x22222000);
	where("address bits below the root's size count for nothing");
	r.ttbr0 |= 0xffe;
	want_pa(&r, &m, low, PGT_READ, 0x11111000);
	r.ttbr0 &= ~UINT64_C(0xffe);
	where("between the halves");
	for (unsigned bit = 48; bit < 64; bit++) {
		want_fault(&r, &m, low | BIT(bit), PGT_READ, PGT_FAULT_TRANSLATION, 0);
		want_fault(&r, &m, high & ~BIT(bit), PGT_WRITE, PGT_FAULT_TRANSLATION, 0);
	}
	where("TBI");
	for (unsigned tbi = 0; tbi < 16; tbi++) {
		struct pgt_arm64_regs a = r;
		bool fetch0 = (tbi & 1) && !(tbi & 4), fetch1 = (tbi & 2) && !(tbi & 8);
		uint64_t low2 = low | UINT64_C(0x5a) << 56, high2 = high & ~(UINT64_C(0xa5) << 56);

		a.tcr |= (uint64_t)(tbi & 3) << 37 | (uint64_t)(tbi >> 2) << 51;
		for (unsigned i = 0; i < N_ACCESSES; i++) {
			bool fetch = accesses[i] & PGT_EXEC;

			if (accesses[i] == PGT_EXEC)
				continue; /* EL0 may write it */
			if (fetch ? fetch0 : tbi & 1)
				want_pa(&a, &m, low2, accesses[i], 0x11111000);
			else
				want_fault(&a, &m, low2, accesses[i], PGT_FAULT_TRANSLATION, 0);
			if (fetch ? fetch1 : tbi & 2)
				want_pa(&a, &m, high2, accesses[i], 0x22222000);
			else
				want_fault(&a, &m, high2, accesses[i], PGT_FAULT_TRANSLATION, 0);
		}
		/* Bits 55:48 count for ever. */
		want_fault(&a, &m, low2 | BIT(50), PGT_READ, PGT_FAULT_TRANSLATION, 0);
		want_fault(&a, &m, high2 & ~BIT(50), PGT_READ, PGT_FAULT_TRANSLATION, 0);
	}
	where("EPD and E0PD");
	for (unsigned half = 0; half < 2; half++) {
		struct pgt_arm64_regs a = r;
		uint64_t va = half ? high : low, other = half ? low : high;

		a.tcr |= half ? BIT(23) : BIT(7);
		want_fault(&a, &m, va, PGT_READ, PGT_FAULT_TRANSLATION, 0);
		want_pa(&a, &m, other, PGT_READ, half ? 0x11111000 : 0x22222000);
		a = r;
		a.tcr |= half ? BIT(56) : BIT(55);
		want_fault(&a, &m, va, PGT_READ | PGT_USER, PGT_FAULT_TRANSLATION, 0);
		want_pa(&a, &m, va, PGT_READ, half ? 0x22222000 : 0x11111000);
		want_pa(&a, &m, other, PGT_READ | PGT_USER, half ? 0x11111000 : 0x22222000);
	}
	ok(fine, "two halves: bit 55 chooses; TBI, TBID, EPD, E0PD, ASID and CnP");
}

/* The memory that a walk asks for, and what it must not ask for. */
static uint64_t asked_max;

static void *ask(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx;
	if (pa + (bytes - 1) > asked_max)
		asked_max = pa + (bytes - 1);
	if (pa < RAM_PA || pa - RAM_PA > RAM_BYTES - bytes)
		return NULL;
	return (unsigned char *)ram + (pa - RAM_PA);
}

static void test_address_size(void)
{
	static const unsigned sizes[] = { 32, 36, 40, 42, 44 };
	const struct pgt_memory m = { .to_virt = ask };
	const uint64_t va = UINT64_C(0x123456789000);
	struct shape s = four_k;
	struct pgt_arm64_regs r;

	begin();
	asked_max = 0;
	for (unsigned o = 0; o < 5; o++) {
		unsigned output = s.output = sizes[o];

		r = regs_of(&s);
		for (unsigned bit = output; bit < 48; bit++)
			for (int level = 0; level < 4; level++) {
				where("output %u, bit %u, level %d", output, bit, level);
				if (level > 0) {
					chain_put(&s, va, level, BIT(bit) | (level == 3 ? L_PAGE : L_BLOCK), 0);
					want_fault(&r, &m, va, PGT_READ, PGT_FAULT_ADDRESS_SIZE, level);
				}
				if (level < 3) {
					chain_put(&s, va, level, RAM_PA | BIT(bit) | 3, 0);
					want_fault(&r, &m, va, PGT_READ, PGT_FAULT_ADDRESS_SIZE, level);
				}
			}
		chain_put(&s, va, 3, (BIT(output) - KIB(4)) | L_PAGE, 0);
		want_pa(&r, &m, va, PGT_READ, BIT(output) - KIB(4));
		where("output %u, TTBR", output);
		r.ttbr0 |= BIT(output);
		want_fault(&r, &m, va, PGT_READ, PGT_FAULT_ADDRESS_SIZE, 0);
	}
	want(asked_max < RAM_PA + RAM_BYTES);
	where("4K without DS: IPS of 52 bits is 48");
	s.output = 52;
	r = regs_of(&s);
	r.ttbr0 = s.root;
	chain_put(&s, va, 3, UINT64_C(0xffff12345000) | L_PAGE, 0);
	want_pa(&r, &m, va, PGT_READ, UINT64_C(0xffff12345000));
	ok(fine, "addresses beyond IPS fault at their level and are never followed");
}

static void test_memory(void)
{
	struct pgt_memory m = ram_memory(RAM_BYTES);
	const uint64_t va = UINT64_C(0x123456789000);
	struct shape s = four_k;
	struct pgt_arm64_regs r = regs_of(&s);

	begin();
	for (int level = 0; level < 3; level++) {
		where("a table outside of memory, below level %d", level);
		chain_put(&s, va, level, (RAM_PA + RAM_BYTES) | 3, 0);
		want_fault(&r, &m, va, PGT_READ, PGT_FAULT_EXTERNAL, level + 1);
		chain_put(&s, va, level, (RAM_PA - KIB(4)) | 3, 0);
		want_fault(&r, &m, va, PGT_READ, PGT_FAULT_EXTERNAL, level + 1);
	}
	where("the root");
	r.ttbr0 = RAM_PA + RAM_BYTES;
	want_fault(&r, &m, va, PGT_READ, PGT_FAULT_EXTERNAL, 0);
	r = regs_of(&s);
	for (int level = 0; level < 4; level++) {
		/* Every table leads to itself; the last takes itself for a page. */
		where("a loop, from level %d", level);
		chain_put(&s, va, level, (chain_at(&s, 0, level) & ~UINT64_C(4095)) | L_PAGE, 0);
		for (int l = 0; l < 3; l++)
			if (l >= level)
				for (unsigned i = 0; i < 512; i++)
					ram_put((chain_at(&s, 0, level) & ~UINT64_C(4095)) + 8 * i,
						(chain_at(&s, 0, level) & ~UINT64_C(4095)) | L_PAGE);
		want_pa(&r, &m, va + 1, PGT_READ, (chain_at(&s, 0, level) & ~UINT64_C(4095)) + 1);
	}
	where("memory that ends within a table: hardware reads one entry");
	s.root = RAM_PA + KIB(64);
	r = regs_of(&s);
	chain_put(&s, va, 3, UINT64_C(0x11111000) | L_PAGE, 0);
	m = ram_memory(chain_at(&s, va, 3) + 8 - RAM_PA);
	want_pa(&r, &m, va, PGT_READ, 0x11111000);
	m.window_bytes--;
	want_fault(&r, &m, va, PGT_READ, PGT_FAULT_EXTERNAL, 3);
	where("a root of 16 entries at the end of memory");
	s.input = 43;
	s.root = RAM_PA + RAM_BYTES - 128;
	r = regs_of(&s);
	m = ram_memory(RAM_BYTES);
	ram_put(s.root + 120, RAM_PA | 3);
	ram_put(RAM_PA + 511 * 8, UINT64_C(0x40000000) | L_BLOCK);
	want_pa(&r, &m, BIT(43) - 1, PGT_READ, UINT64_C(0x7fffffff));
	r.ttbr0 |= 1;
	want_pa(&r, &m, BIT(43) - 1, PGT_READ, UINT64_C(0x7fffffff));
	ok(fine, "tables outside of memory, at its last byte, across its end, and in loops");
}

/* Types that the level doesn't have, old leaves, and what hardware sets. */
static void test_leaves(void)
{
	const uint64_t va = UINT64_C(0x123456789000), leaf = UINT64_C(0x11111000) | L_PAGE;
	struct pgt_memory m = ram_memory(RAM_BYTES);
	struct shape s = four_k;
	struct pgt_arm64_regs r = regs_of(&s);
	uint64_t at = chain_at(&s, va, 3);

	begin();
	for (int level = 0; level < 4; level++) {
		where("level %d", level);
		for (uint64_t type = 0; type < 4; type++) {
			if (type == 3 && level < 3)
				continue;
			chain_put(&s, va, level, BIT(10) | type, 0);
			if ((type == 1 && (level == 1 || level == 2)) || (type == 3 && level == 3))
				want_pa(&r, &m, va, PGT_READ, va & (BIT(level_bits(12, level)) - 1));
			else
				want_fault(&r, &m, va, PGT_READ, PGT_FAULT_TRANSLATION, level);
		}
		/* Software's bits in an invalid entry mean nothing to hardware. */
		chain_put(&s, va, level, ~UINT64_C(1), 0);
		want_fault(&r, &m, va, PGT_READ, PGT_FAULT_TRANSLATION, level);
	}
	where("access flag");
	chain_put(&s, va, 3, leaf & ~BIT(10), 0);
	want_fault(&r, &m, va, PGT_READ, PGT_FAULT_ACCESS_FLAG, 3);
	want_fault(&r, &m, va, PGT_READ | PGT_UPDATE, PGT_FAULT_ACCESS_FLAG, 3);
	r.tcr |= BIT(40); /* HD without HA does nothing */
	want_fault(&r, &m, va, PGT_READ | PGT_UPDATE, PGT_FAULT_ACCESS_FLAG, 3);
	want_u64(ram_get(at), leaf & ~BIT(10));
	r.tcr = (r.tcr & ~BIT(40)) | BIT(39);
	want_pa(&r, &m, va, PGT_READ, 0x11111000);
	want_u64(ram_get(at), leaf & ~BIT(10));
	want_pa(&r, &m, va, PGT_READ | PGT_UPDATE, 0x11111000);
	want_u64(ram_get(at), leaf);
	where("dirty state");
	for (unsigned hd = 0; hd < 2; hd++)
		for (unsigned dbm = 0; dbm < 2; dbm++) {
			uint64_t clean = leaf | BIT(7) | (dbm ? BIT(51) : 0);

			r.tcr = (r.tcr & ~BIT(40)) | (hd ? BIT(40) : 0);
			ram_put(at, clean & ~BIT(10));
			if (hd && dbm) {
				want_pa(&r, &m, va, PGT_WRITE, 0x11111000);
				want_u64(ram_get(at), clean & ~BIT(10));
				want_pa(&r, &m, va, PGT_WRITE | PGT_UPDATE, 0x11111000);
				want_u64(ram_get(at), clean & ~BIT(7));
			} else {
				want_fault(&r, &m, va, PGT_WRITE | PGT_UPDATE, PGT_FAULT_PERMISSION, 3);
				want(ram_get(at) & BIT(7));
			}
			ram_put(at, clean);
			want_pa(&r, &m, va, PGT_READ | PGT_UPDATE, 0x11111000);
			want_u64(ram_get(at), clean);
		}
	ok(fine, "types of each level, the access flag and the dirty state, with and without HA and HD");
}

static void test_types(void)
{
	const uint64_t va = UINT64_C(0x123456789000), mair = UINT64_C(0x0c4480ff04bb00f0);
	struct pgt_memory m = ram_memory(RAM_BYTES);
	struct shape s = four_k;
	struct pgt_translation t;
	struct pgt_arm64_regs r;

	begin();
	for (unsigned zero = 0; zero < 2; zero++)
		for (unsigned i = 0; i < 8; i++)
			for (unsigned sh = 0; sh < 4; sh++) {
				unsigned byte = zero ? 0 : mair >> (8 * i) & 0xff;

				where("index %u, sh %u, byte %#x", i, sh, byte);
				s.mair = zero ? 0 : mair;
				r = regs_of(&s);
				chain_put(&s, va, 3, L_PAGE | (uint64_t)i << 2 | (uint64_t)sh << 8, 0);
				want_status(pgt_arm64_walk(&r, &m, va, PGT_READ, &t), PGT_OK);
				want_u64(t.memattr, byte);
				want_u64(t.sh, byte < 16 || byte == 0x44 ? 2 : sh);
				want_u64(t.attr & PGT_MEM_MASK, byte == 0 ? PGT_MEM_DEVICE_STRICT :
					 byte < 16 ? PGT_MEM_DEVICE : byte == 0x44 ? PGT_MEM_NOCACHE :
					 byte == 0xbb || byte == 0x80 ? PGT_MEM_WRITETHROUGH : PGT_MEM_NORMAL);
			}
	ok(fine, "memory types by MAIR, zero too, and shareability");
}

static void test_off(void)
{
	struct pgt_memory m = ram_memory(RAM_BYTES);
	struct pgt_arm64_regs r = regs_of(&four_k);
	const uint64_t va = UINT64_C(0x123456789abc);
	struct pgt_translation t;

	begin();
	r.sctlr = 0;
	for (unsigned i = 0; i < N_ACCESSES; i++)
		want_pa(&r, &m, va, accesses[i], va);
	want_status(pgt_arm64_walk(&r, &m, va, PGT_READ, &t), PGT_OK);
	want_u64(t.memattr, 0);
	want_u64(t.sh, 2);
	want_status(pgt_arm64_walk(&r, &m, va, PGT_EXEC, &t), PGT_OK);
	want_u64(t.memattr, 0x44);
	r.sctlr = BIT(12);
	want_status(pgt_arm64_walk(&r, &m, va, PGT_EXEC, &t), PGT_OK);
	want_u64(t.memattr, 0xee);
	want_u64(t.sh, 2);
	want_pa(&r, &m, BIT(52) - 1, PGT_READ, BIT(52) - 1);
	want_fault(&r, &m, BIT(52), PGT_READ, PGT_FAULT_ADDRESS_SIZE, 0);
	where("TBI");
	want_fault(&r, &m, va | BIT(60), PGT_READ, PGT_FAULT_ADDRESS_SIZE, 0);
	r.tcr |= BIT(37);
	want_pa(&r, &m, va | BIT(60), PGT_READ, va);
	want_fault(&r, &m, va | BIT(55), PGT_READ, PGT_FAULT_ADDRESS_SIZE, 0);
	where("HCR_EL2.DC and TGE");
	r = regs_of(&four_k);
	r.hcr = BIT(12);
	want_status(pgt_arm64_walk(&r, &m, va, PGT_WRITE, &t), PGT_OK);
	want_u64(t.pa, va);
	want_u64(t.memattr, 0xff);
	want_u64(t.sh, 0);
	r.hcr = BIT(27);
	want_pa(&r, &m, va, PGT_READ, va);
	/* A host at EL2: neither turns its stage 1 off. */
	r.hcr = BIT(27) | BIT(34) | BIT(12);
	chain_put(&four_k, va, 3, UINT64_C(0x11111000) | L_PAGE, 0);
	want_pa(&r, &m, va, PGT_READ, 0x11111abc);
	ok(fine, "stage 1 off: the same address, of the type that the architecture says");
}

static void test_refused(void)
{
	const struct shape kinds[] = {
		four_k,
		{ .regime = EL2, .g = 12, .input = 48, .output = 48, .start = 1, .root = RAM_PA, .mair = MAIR },
		{ .regime = S2, .g = 12, .input = 40, .output = 40, .start = 2, .root = RAM_PA },
	};
	struct pgt_memory m = ram_memory(RAM_BYTES), none = { .ctx = &none };
	struct pgt_translation t;
	struct pgt *a = NULL;

	begin();
	for (unsigned k = 0; k < 3; k++) {
		const struct pgt_arm64_regs good = regs_of(&kinds[k]);
		struct pgt_arm64_regs r = good;
		struct {
			struct pgt_arm64_regs regs;
			uint64_t more;
		} larger = { .regs = good };

		where("regime %u", good.regime);
#define refused(status)                                                         \
	do {                                                                    \
		want_status(pgt_arm64_walk(&r, &m, 0, PGT_READ, &t), (status)); \
		want_status(pgt_arm64_attach(&r, &m, 0, &a), (status));         \
		r = good;                                                       \
	} while (0)
		r.size--;
		refused(PGT_EINVAL);
		r.size = 0;
		refused(PGT_EINVAL);
		r.regime = 0;
		refused(PGT_EINVAL);
		r.regime = 4;
		refused(PGT_EINVAL);
		r.sctlr |= BIT(25);
		refused(PGT_ENOTSUP);
		for (unsigned bit = 1; bit < 6; bit++) {
			r.tcr2 = BIT(bit);
			refused(PGT_ENOTSUP);
		}
		r.features = BIT(63);
		refused(PGT_ENOTSUP);
		if (k == 1) {
			r.hcr = BIT(34);
			refused(PGT_EINVAL);
		}
		/* Reserved codes: the granule, and the output size. */
		if (k == 2)
			r.vtcr |= 3 << 14;
		else
			r.tcr |= 3 << 14;
		refused(PGT_ENOTSUP);
		if (k == 0)
			r.tcr |= UINT64_C(7) << 32;
		else if (k == 1)
			r.tcr |= 7 << 16;
		else
			r.vtcr |= 7 << 16;
		refused(PGT_ENOTSUP);
		larger.regs.size = sizeof(larger);
		want_status(pgt_arm64_attach(&larger.regs, &m, 0, &a), PGT_OK);
		pgt_destroy(a);
		larger.more = 1;
		want_status(pgt_arm64_walk(&larger.regs, &m, 0, PGT_READ, &t), PGT_ENOTSUP);
		want_status(pgt_arm64_attach(&larger.regs, &m, 0, &a), PGT_ENOTSUP);
		want_status(pgt_arm64_walk(NULL, &m, 0, PGT_READ, &t), PGT_EINVAL);
		want_status(pgt_arm64_walk(&r, NULL, 0, PGT_READ, &t), PGT_EINVAL);
		want_status(pgt_arm64_walk(&r, &none, 0, PGT_READ, &t), PGT_EINVAL);
		want_status(pgt_arm64_walk(&r, &m, 0, PGT_READ, NULL), PGT_EINVAL);
		want_status(pgt_arm64_walk(&r, &m, 0, 0, &t), PGT_EINVAL);
		want_status(pgt_arm64_walk(&r, &m, 0, PGT_READ | PGT_WRITE, &t), PGT_EINVAL);
		want_status(pgt_arm64_walk(&r, &m, 0, PGT_READ | PGT_GLOBAL, &t), PGT_EINVAL);
		want_status(pgt_arm64_attach(NULL, &m, 0, &a), PGT_EINVAL);
		want_status(pgt_arm64_attach(&r, NULL, 0, &a), PGT_EINVAL);
		want_status(pgt_arm64_attach(&r, &none, 0, &a), PGT_EINVAL);
		want_status(pgt_arm64_attach(&r, &m, 0, NULL), PGT_EINVAL);
		want_status(pgt_arm64_attach(&r, &m, 2, &a), PGT_EINVAL);
		want_status(pgt_arm64_attach(&r, &m, -1, &a), PGT_EINVAL);
		want_status(pgt_arm64_attach(&r, &m, 1, &a), k ? PGT_EINVAL : PGT_ENOENT);
		if (k == 2)
			r.hcr = 0;
		else
			r.sctlr = 0;
		want_status(pgt_arm64_attach(&r, &m, 0, &a), PGT_ENOENT);
	}
	ok(fine, "registers that no CPU has, that contradict each other, or that are not understood, are refused");
}

/* Sizes without a meaning: a fault for whoever walks, an error for whoever attaches. */
static void test_illegal(void)
{
	struct pgt_memory m = ram_memory(RAM_BYTES);
	unsigned n = 0;

	begin();
	memset(ram, 0, sizeof(ram));
	for (unsigned regime = EL1; regime <= S2; regime++)
		for (unsigned gi = 0; gi < 3; gi++)
			for (unsigned size = 0; size < 64; size++)
				for (unsigned start = 0; start < (regime == S2 ? 8u : 1u); start++)
					for (unsigned ds = 0; ds < 2; ds++) {
						unsigned g = granules[gi], sl0 = start & 3;
						struct shape s = { .regime = regime, .g = g, .output = ds ? 52 : 48,
								   .root = RAM_PA, .mair = regime == S2 ? 0 : MAIR };
						unsigned least = ds || (g == 16 && regime != S2) ? 12 : 16;
						bool legal;
						struct pgt_arm64_regs r;
						struct pgt_translation t;
						struct pgt *a = NULL;
						int status;

						s.input = 64 - size;
						s.features = ds && g != 16 ? PGT_FEAT_LPA2 : 0;
						s.start = 1;
						r = regs_of(&s);
						legal = size >= least && size <= (g == 16 ? 47 : 48);
						if (regime == S2) {
							/* D8.2.2: at most 16 tables at the start, and two entries. */
							int level = g == 12 ? (sl0 == 3 ? 3 : 2 - (int)sl0) : 3 - (int)sl0;
							unsigned sl2 = start >> 2, below;

							r.vtcr = (r.vtcr & ~(UINT64_C(3) << 6) & ~BIT(33)) |
								 (uint64_t)sl0 << 6 | (uint64_t)sl2 << 33;
							if (g == 12 && ds && sl2)
								level = sl0 ? 99 : -1;
							if (g == 16 && sl0 == 3)
								level = 99;
							if (g == 14 && sl0 == 3 && !ds)
								level = 99;
							legal &= level != 99;
							below = level == 99 ? 0 : level_bits(g, level);
							legal &= s.input <= s.output && s.input > below && s.input <= below + (g - 3) + 4;
						}
						where("regime %u, granule %u, size %u, SL %u, DS %u", regime, g, size, start, ds);
						status = pgt_arm64_attach(&r, &m, 0, &a);
						if (legal)
							want(status == PGT_OK || status == PGT_ECORRUPT);
						else
							want_status(status, PGT_EINVAL);
						if (status == PGT_OK)
							pgt_destroy(a);
						want_status(pgt_arm64_walk(&r, &m, 0, PGT_READ, &t), PGT_EFAULT);
						want_u64(t.fault, legal && status == PGT_ECORRUPT ? PGT_FAULT_EXTERNAL :
									     PGT_FAULT_TRANSLATION);
						if (!legal)
							want_u64(t.level, 0);
						n++;
					}
	ok(fine, "%u pairs of sizes and start levels: the legal ones attach, the others fault at level 0", n);
}

/* ---- Bad input ---------------------------------------------------------------------- */

/* Whatever registers and tables hold, there is an answer, and no other memory is touched. */
static void test_garbage(void)
{
	uint64_t bytes = KIB(256), rounds = embed_rounds(60000), status[12] = { 0 };
	uint64_t *memory = malloc(bytes); /* exactly so much, for the sanitizers */
	struct embed_rng r;

	embed_seed(&r, 77);
	begin();
	for (uint64_t i = 0; i < rounds; i++) {
		struct pgt_memory m = { .window = memory, .window_pa = RAM_PA, .window_bytes = bytes };
		struct pgt_arm64_regs g[2];
		struct pgt_translation t;
		int got;

		if (i % 500 == 0)
			for (unsigned k = 0; k < bytes / 8; k++)
				memory[k] = embed_once_in(&r, 3) ? embed_random(&r) :
					    ((RAM_PA + embed_below(&r, bytes)) & ~UINT64_C(4095)) |
					    (embed_random(&r) & UINT64_C(0xfff)) | 3;
		for (unsigned k = 0; k < 2; k++) {
			unsigned char *raw = (unsigned char *)&g[k];

			for (unsigned b = 0; b < sizeof(g[k]); b++)
				raw[b] = (unsigned char)embed_random(&r);
			g[k].size = sizeof(g[k]);
			g[k].regime = k ? S2 : 1 + (uint32_t)embed_below(&r, 3);
			g[k].sctlr |= 1;
			g[k].sctlr &= ~BIT(25);
			g[k].tcr2 = 0;
			g[k].features = 0;
			g[k].hcr |= 1;
			g[k].hcr &= ~(BIT(12) | BIT(27) | (embed_once_in(&r, 9) ? 0 : BIT(34)));
			g[k].ttbr0 = g[k].ttbr1 = g[k].vttbr = RAM_PA + embed_below(&r, bytes);
			g[k].tcr = (g[k].tcr & ~UINT64_C(63)) | (16 + embed_below(&r, 24));
			g[k].vtcr = (g[k].vtcr & ~UINT64_C(63)) | (16 + embed_below(&r, 24));
		}
		if (embed_once_in(&r, 4))
			m.window_bytes = embed_below(&r, bytes);
		got = embed_once_in(&r, 2) ?
			      pgt_arm64_walk(g, &m, embed_random(&r) >> embed_below(&r, 40),
					     accesses[embed_below(&r, 6)] | PGT_UPDATE, &t) :
			      pgt_arm64_walk2(g, g + 1, &m, embed_random(&r) >> embed_below(&r, 40),
					      accesses[embed_below(&r, 6)] | PGT_UPDATE, &t);
		if (want(got <= 0 && got > -12))
			status[-got]++;
	}
	free(memory);
	note("%" PRIu64 " answers, %" PRIu64 " faults", status[0], status[-PGT_EFAULT]);
	ok(fine && status[0] && status[-PGT_EFAULT], "%" PRIu64 " walks of garbage come back", rounds);
}

int main(void)
{
	if (!have_format("arm64"))
		return tap_skip_all("arm64 was not built");
	test_el1();
	test_wide();
	test_el2();
	test_stage2();
	test_permissions(EL1);
	test_permissions(EL2);
	test_halves();
	test_address_size();
	test_memory();
	test_leaves();
	test_types();
	test_off();
	test_refused();
	test_illegal();
	test_garbage();
	return tap_done();
}
