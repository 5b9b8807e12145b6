/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_arm64_walk2: a guest's stage 1 whose tables lie behind a stage 2 of
 * another granule, page by page anywhere in memory.  Both stages are made by
 * the library; what the walk answers is compared with pgt_translate on one,
 * then the other.
 */
#include "registers.h"

#define IPA_BASE  UINT64_C(0x40000000) /* where the guest keeps its tables, ... */
#define IPA_BYTES MIB(4)
#define PA_BASE   UINT64_C(0x880000000) /* ... and what they are copied to */
#define PA_BYTES  MIB(24)

static unsigned char *linear, *memory; /* the guest's view, and the machine's */

struct machine {
	struct shape one, two;
	struct pgt *s1, *s2;
	struct pgt_arena guest, host;
	struct pgt_memory mem; /* the machine's: stage 2's tables and the copy of stage 1's */
	struct pgt_arm64_regs r1, r2;
	uint64_t pages, page; /* of stage 2 */
};

/* The page of memory that stage 2 puts a page of the guest's tables into. */
static uint64_t scatter(const struct machine *m, uint64_t i)
{
	return PA_BASE + MIB(8) + (i * 13 + 5) % m->pages * m->page;
}

/* Stage 1 as it is now, copied to where stage 2 says it is. */
static void refresh(const struct machine *m)
{
	for (uint64_t i = 0; i < m->pages; i++)
		memcpy(memory + (scatter(m, i) - PA_BASE), linear + i * m->page, m->page);
}

/* All but the guest's leaves. */
static bool open_machine(struct machine *m, const struct shape *one, const struct shape *two)
{
	struct pgt_config c1 = { .size = sizeof(c1), .format = "arm64", .granule_bits = (uint8_t)one->g,
				 .input_bits = (uint8_t)one->input, .output_bits = (uint8_t)one->output,
				 .features = one->features };
	struct pgt_config c2 = { .size = sizeof(c2), .format = "arm64-s2", .granule_bits = (uint8_t)two->g,
				 .input_bits = (uint8_t)two->input, .output_bits = (uint8_t)two->output,
				 .features = two->features };
	bool upper = one->features & PGT_FEAT_UPPER;

	memset(m, 0, sizeof(*m));
	memset(linear, 0, IPA_BYTES);
	memset(memory, 0, PA_BYTES);
	m->one = *one;
	m->two = *two;
	m->page = BIT(two->g);
	m->pages = IPA_BYTES / m->page;
	want_status(pgt_arena_init(&m->guest, linear, IPA_BYTES, IPA_BASE), PGT_OK);
	want_status(pgt_arena_init(&m->host, memory, MIB(8), PA_BASE), PGT_OK);
	c1.memory = pgt_arena_memory(&m->guest);
	c2.memory = pgt_arena_memory(&m->host);
	m->mem = (struct pgt_memory){ .window = memory, .window_pa = PA_BASE, .window_bytes = PA_BYTES };
	m->r1.size = m->r2.size = sizeof(m->r1);
	if (!want_status(pgt_create(&c1, &m->s1), PGT_OK) || !want_status(pgt_create(&c2, &m->s2), PGT_OK))
		return false;
	for (uint64_t i = 0; i < m->pages; i++)
		want_status(pgt_map(m->s2, IPA_BASE + i * m->page, scatter(m, i), m->page, RW, 0, NULL), PGT_OK);
	want_status(pgt_arm64_regs(upper ? NULL : m->s1, upper ? m->s1 : NULL, &m->r1), PGT_OK);
	want_status(pgt_arm64_regs(m->s2, NULL, &m->r2), PGT_OK);
	return true;
}

static void close_machine(struct machine *m)
{
	pgt_destroy(m->s1);
	pgt_destroy(m->s2);
}

static int walk2(const struct machine *m, uint64_t va, uint64_t access, struct pgt_translation *t)
{
	memset(t, 0x5a, sizeof(*t));
	return pgt_arm64_walk2(&m->r1, &m->r2, &m->mem, va, access, t);
}

/* The entry that a walk reads at a level, by the linear tables. */
static uint64_t entry_ipa(const struct machine *m, uint64_t va, int level)
{
	unsigned b = m->one.g - 3, g = m->one.g;
	unsigned levels = (m->one.input - g + b - 1) / b;
	uint64_t table = pgt_root(m->s1), at = va & (BIT(m->one.input) - 1);

	for (int l = 4 - (int)levels;; l++) {
		uint64_t index = at >> level_bits(g, l), address = UINT64_C(0x0000fffffffff000);

		if (l > 4 - (int)levels)
			index &= BIT(b) - 1;
		if (l == level)
			return table + index * 8;
		table = raw_get(linear + (table + index * 8 - IPA_BASE)) & address & ~(BIT(g) - 1);
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* One stage after the other. */
static void want_both(const struct machine *m, uint64_t va, uint64_t access, uint64_t counts[4])
{
	struct pgt_translation one, two, is;
	int status = pgt_translate(m->s1, va, access, &one), got = walk2(m, va, access, &is);

	if (status != PGT_OK) {
		want_status(got, PGT_EFAULT);
		want_u64(is.stage, 1);
		want_u64(is.fault, one.fault);
		want_u64(is.level, one.level);
		want(!is.during_walk);
		counts[1]++;
		return;
	}
	status = one.pa >> m->two.input ? PGT_ERANGE : pgt_translate(m->s2, one.pa, access, &two);
	want_u64(is.ipa, one.pa);
	want(!is.during_walk);
	if (status != PGT_OK) {
		want_status(got, PGT_EFAULT);
		want_u64(is.stage, 2);
		want_u64(is.fault, status == PGT_ERANGE ? PGT_FAULT_TRANSLATION : two.fault);
		want_u64(is.level, status == PGT_ERANGE ? 0 : two.level);
		counts[2]++;
		return;
	}
	want_status(got, PGT_OK);
	want_u64(is.pa, two.pa);
	want_u64(is.level, one.level);
	want_u64(is.leaf_bits, least(one.leaf_bits, two.leaf_bits));
	want_u64(is.run_bits, least(one.run_bits, two.run_bits));
	want_u64(is.attr & (RW | PGT_EXEC | PGT_UEXEC), one.attr & two.attr & (RW | PGT_EXEC | PGT_UEXEC));
	counts[0]++;
}

/* Guest memory of all sizes and permissions; stage 2 knows some of it. */
static void furnish(const struct machine *m, struct embed_rng *r, uint64_t vas[64], unsigned *n)
{
	static const uint64_t a1[] = {
		RW, PGT_READ, PGT_READ | PGT_EXEC, RW | PGT_USER, PGT_READ | PGT_USER | PGT_UEXEC, RW | PGT_MEM_DEVICE,
		RW | PGT_USER | PGT_EXEC | PGT_UEXEC,
	};
	static const uint64_t a2[] = {
		RW, PGT_READ, PGT_WRITE, RW | PGT_EXEC | PGT_UEXEC, PGT_READ | PGT_EXEC | PGT_UEXEC, RW | PGT_MEM_DEVICE,
		RW | PGT_MEM_NOCACHE,
	};
	uint64_t base = m->one.features & PGT_FEAT_UPPER ? 0 - BIT(m->one.input) : 0;
	uint64_t p1 = BIT(m->one.g), p2 = m->page, large = p1 > p2 ? p1 : p2;

	for (*n = 0; *n < 32;) {
		uint64_t len = large * (1 + embed_below(r, 40)), va, ipa, pa;

		if (embed_once_in(r, 3))
			len = MIB(64);
		va = base + (embed_random(r) & (BIT(m->one.input) - 1) & ~(len == MIB(64) ? MIB(64) - 1 : p1 - 1));
		ipa = GIB(2) + (embed_random(r) & (BIT(m->two.input - 1) - 1) & ~(len == MIB(64) ? MIB(64) - 1 : large - 1));
		pa = embed_random(r) & (BIT(m->two.output - 1) - 1) & ~(len == MIB(64) ? MIB(64) - 1 : p2 - 1);
		if (va - base > BIT(m->one.input) - len || ipa > BIT(m->two.input) - len)
			continue;
		if (pgt_map(m->s1, va, ipa, len, a1[embed_below(r, 7)], PGT_REPLACE, NULL) != PGT_OK)
			continue;
		vas[(*n)++] = va + embed_below(r, len);
		if (embed_once_in(r, 5))
			continue; /* a hole in stage 2 */
		want_status(pgt_map(m->s2, ipa, pa, len, a2[embed_below(r, 7)], PGT_REPLACE, NULL), PGT_OK);
	}
}

/* Stage 2 lets go of the page of one descriptor: whose fault is it, and where? */
static void want_broken(const struct machine *m, uint64_t va)
{
	struct pgt_translation one, two, is;

	if (pgt_translate(m->s1, va, PGT_READ, &one) != PGT_OK)
		return;
	for (int level = one.level; level >= 0; level--) {
		unsigned b = m->one.g - 3, levels = (m->one.input - m->one.g + b - 1) / b;
		uint64_t entry, at;

		if (level < 4 - (int)levels)
			break;
		entry = entry_ipa(m, va, level);
		at = entry & ~(m->page - 1);
		where("stage 1 %u/%u, stage 2 %u/%u, level %d", m->one.g, m->one.input, m->two.g, m->two.input, level);
		want_status(pgt_unmap(m->s2, at, m->page, 0, NULL), PGT_OK);
		want_status(pgt_translate(m->s2, entry, PGT_READ, &two), PGT_EFAULT);
		want_status(walk2(m, va, PGT_READ, &is), PGT_EFAULT);
		want_u64(is.stage, 2);
		want(is.during_walk);
		want_u64(is.fault, PGT_FAULT_TRANSLATION);
		want_u64(is.level, two.level);
		/* Tables higher up may be in the same page. */
		want_u64(is.ipa & ~(m->page - 1), at);
		if (level == 4 - (int)levels)
			want_u64(is.ipa, entry);
		/* Not to be read, but to be written. */
		want_status(pgt_map(m->s2, at, scatter(m, (at - IPA_BASE) / m->page), m->page, PGT_WRITE, 0, NULL), PGT_OK);
		want_status(walk2(m, va, PGT_READ, &is), PGT_EFAULT);
		want_u64(is.fault, PGT_FAULT_PERMISSION);
		want_u64(is.stage, 2);
		want(is.during_walk);
		/* Of a device: only HCR_EL2.PTW minds. */
		want_status(pgt_map(m->s2, at, scatter(m, (at - IPA_BASE) / m->page), m->page, RW | PGT_MEM_DEVICE,
				    PGT_REPLACE, NULL), PGT_OK);
		if (pgt_translate(m->s2, one.pa & (BIT(m->two.input) - 1), PGT_READ, &two) == PGT_OK &&
		    !(one.pa >> m->two.input)) {
			struct machine ptw = *m;

			want_status(walk2(m, va, PGT_READ, &is), PGT_OK);
			ptw.r2.hcr |= BIT(2);
			want_status(walk2(&ptw, va, PGT_READ, &is), PGT_EFAULT);
			want_u64(is.fault, PGT_FAULT_PERMISSION);
			want(is.during_walk);
		}
		want_status(pgt_map(m->s2, at, scatter(m, (at - IPA_BASE) / m->page), m->page, RW, PGT_REPLACE, NULL), PGT_OK);
	}
}

static void test_both(void)
{
	uint64_t counts[4] = { 0 };
	struct embed_rng r;

	embed_seed(&r, 5);
	begin();
	for (unsigned a = 0; a < 3; a++)
		for (unsigned b = 0; b < 3; b++)
			for (unsigned v = 0; v < 4; v++) {
				static const unsigned inputs[] = { 48, 39, 36, 42 }, second[] = { 40, 48, 42, 44 };
				struct shape one = { .g = granules[a], .input = inputs[v], .output = 48,
						     .features = v & 1 ? PGT_FEAT_UPPER : PGT_FEAT_CONTIG };
				struct shape two = { .g = granules[b], .input = second[v], .output = 48,
						     .features = v & 2 ? PGT_FEAT_FWB : PGT_FEAT_CONTIG };
				struct machine m;
				uint64_t vas[64];
				unsigned n;

				where("stage 1 %u/%u, stage 2 %u/%u", one.g, one.input, two.g, two.input);
				if (!open_machine(&m, &one, &two))
					continue;
				furnish(&m, &r, vas, &n);
				refresh(&m);
				for (unsigned i = 0; i < n; i++)
					for (unsigned k = 0; k < N_ACCESSES; k++) {
						want_both(&m, vas[i], accesses[k], counts);
						want_both(&m, vas[i] ^ BIT(embed_below(&r, one.input)), accesses[k], counts);
					}
				for (unsigned i = 0; i < 4; i++)
					want_broken(&m, vas[i]);
				close_machine(&m);
			}
	note("%" PRIu64 " arrive, %" PRIu64 " stop at stage 1, %" PRIu64 " at stage 2", counts[0], counts[1], counts[2]);
	ok(fine && counts[0] && counts[1] && counts[2],
	   "nine pairs of granules: both stages, and stage 2 in the way of the walk at every level");
}

/* What hardware sets in stage 1 it writes through stage 2. */
static void test_update(void)
{
	const uint64_t hw = PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY;
	const struct shape one = { .g = 16, .input = 42, .output = 48, .features = hw };
	const struct shape two = { .g = 12, .input = 40, .output = 48, .features = hw };
	const uint64_t va = GIB(3) + KIB(64) * 5, ipa = GIB(4), pa = GIB(9);
	struct pgt_translation is;
	struct pgt_mapping leaf;
	struct machine m;
	uint64_t entry, at;
	unsigned char *e;

	begin();
	if (!open_machine(&m, &one, &two))
		return;
	want_status(pgt_map(m.s1, va, ipa, KIB(64), RW, 0, NULL), PGT_OK);
	want_status(pgt_map(m.s2, ipa, pa, KIB(64), RW, 0, NULL), PGT_OK);
	refresh(&m);
	entry = entry_ipa(&m, va, 3);
	at = entry & ~(m.page - 1);
	e = memory + (scatter(&m, (at - IPA_BASE) / m.page) - PA_BASE) + (entry - at);
	where("no update");
	want_status(walk2(&m, va, PGT_WRITE, &is), PGT_OK);
	want(!(raw_get(e) & BIT(10)));
	where("young");
	want_status(walk2(&m, va, PGT_READ | PGT_UPDATE, &is), PGT_OK);
	want((raw_get(e) & (BIT(10) | BIT(7))) == (BIT(10) | BIT(7)));
	leaf = query(m.s2, ipa);
	want_u64(leaf.attr & (PGT_YOUNG | PGT_DIRTY), PGT_YOUNG);
	where("stage 2 notes that the page of the descriptor was written");
	leaf = query(m.s2, at);
	want_u64(leaf.attr & (PGT_YOUNG | PGT_DIRTY), PGT_YOUNG | PGT_DIRTY);
	leaf = query(m.s2, pgt_root(m.s1));
	where("dirty");
	want_status(walk2(&m, va, PGT_WRITE | PGT_UPDATE, &is), PGT_OK);
	want((raw_get(e) & (BIT(10) | BIT(7))) == BIT(10));
	leaf = query(m.s2, ipa);
	want_u64(leaf.attr & (PGT_YOUNG | PGT_DIRTY), PGT_YOUNG | PGT_DIRTY);
	where("stage 2 forbids to write the descriptor");
	raw_put(e, raw_get(e) & ~BIT(10));
	want_status(pgt_protect(m.s2, at, m.page, 0, PGT_WRITE, 0, NULL), PGT_OK);
	for (unsigned update = 0; update < 2; update++) {
		want_status(walk2(&m, va, PGT_READ | (update ? PGT_UPDATE : 0), &is), PGT_EFAULT);
		want_u64(is.stage, 2);
		want_u64(is.fault, PGT_FAULT_PERMISSION);
		want_u64(is.level, 3);
		want(is.during_walk);
		want_u64(is.ipa, entry);
		want(!(raw_get(e) & BIT(10)));
	}
	where("nothing is left to write");
	raw_put(e, raw_get(e) | BIT(10));
	want_status(walk2(&m, va, PGT_READ | PGT_UPDATE, &is), PGT_OK);
	close_machine(&m);
	ok(fine, "access flag and dirty state of stage 1 are set through stage 2, if that allows it");
}

static void test_off(void)
{
	const struct shape one = { .g = 12, .input = 48, .output = 48 };
	const struct shape two = { .g = 12, .input = 40, .output = 48 };
	const uint64_t ipa = GIB(4) + KIB(4) * 3, pa = GIB(9);
	struct pgt_translation is;
	struct machine m;

	begin();
	if (!open_machine(&m, &one, &two))
		return;
	want_status(pgt_map(m.s2, ipa, pa, KIB(4), PGT_READ, 0, NULL), PGT_OK);
	m.r1.sctlr &= ~UINT64_C(1);
	for (unsigned how = 0; how < 3; how++) {
		const struct pgt_arm64_regs *s1 = how ? &m.r1 : NULL;

		where("way %u", how);
		if (how == 2) {
			m.r1.sctlr |= 1;
			m.r2.hcr |= BIT(12);
		}
		memset(&is, 0x5a, sizeof(is));
		want_status(pgt_arm64_walk2(s1, &m.r2, &m.mem, ipa + 7, PGT_READ, &is), PGT_OK);
		want_u64(is.pa, pa + 7);
		want_u64(is.ipa, ipa + 7);
		want_u64(is.leaf_bits, 12);
		want_u64(is.level, 3);
		want_u64(is.memattr, how == 2 ? 0xff : 0);
		want_u64(is.sh, how == 2 ? 3 : 2);
		want_status(pgt_arm64_walk2(s1, &m.r2, &m.mem, ipa, PGT_WRITE, &is), PGT_EFAULT);
		want_u64(is.stage, 2);
		want_u64(is.fault, PGT_FAULT_PERMISSION);
		want_u64(is.level, 3);
		want_u64(is.ipa, ipa);
		want(!is.during_walk);
		want_status(pgt_arm64_walk2(s1, &m.r2, &m.mem, BIT(40), PGT_READ, &is), PGT_EFAULT);
		want_u64(is.stage, 2);
		want_u64(is.fault, PGT_FAULT_TRANSLATION);
		want_u64(is.level, 0);
		want_status(pgt_arm64_walk2(s1, &m.r2, &m.mem, BIT(52), PGT_READ, &is), PGT_EFAULT);
		want_u64(is.stage, 1);
		want_u64(is.fault, PGT_FAULT_ADDRESS_SIZE);
	}
	where("stage 2 off");
	m.r2.hcr = 0;
	want_status(pgt_map(m.s1, 0, GIB(7), KIB(4), RW, 0, NULL), PGT_OK);
	m.mem = (struct pgt_memory){ .window = linear, .window_pa = IPA_BASE, .window_bytes = IPA_BYTES };
	want_status(walk2(&m, 9, PGT_WRITE, &is), PGT_OK);
	want_u64(is.pa, GIB(7) + 9);
	want_u64(is.ipa, GIB(7) + 9);
	where("arguments");
	want_status(pgt_arm64_walk2(&m.r1, NULL, &m.mem, 0, PGT_READ, &is), PGT_EINVAL);
	want_status(pgt_arm64_walk2(&m.r1, &m.r1, &m.mem, 0, PGT_READ, &is), PGT_EINVAL);
	want_status(pgt_arm64_walk2(&m.r2, &m.r2, &m.mem, 0, PGT_READ, &is), PGT_EINVAL);
	want_status(pgt_arm64_walk2(&m.r1, &m.r2, NULL, 0, PGT_READ, &is), PGT_EINVAL);
	m.r1.sctlr |= BIT(25);
	want_status(walk2(&m, 0, PGT_READ, &is), PGT_ENOTSUP);
	close_machine(&m);
	ok(fine, "either stage off");
}

/* ---- Memory types of both stages ------------------------------------------------------ */

/* A type taken apart: a device's order, or cacheability by level with allocation hints. */
struct type {
	bool device;
	unsigned order;    /* 0: nGnRnE, the strictest, to 3 */
	unsigned cache[2]; /* inner, outer: 0 not, 1 write-through, 2 write-back */
	unsigned hints[2];
	bool plain;        /* not transient */
};

static bool take_apart(unsigned byte, struct type *t)
{
	*t = (struct type){ .device = byte < 16, .order = byte >> 2 };
	if (t->device)
		return !(byte & 3);
	for (unsigned i = 0; i < 2; i++) {
		unsigned nibble = byte >> (4 * i) & 15;

		if (nibble == 0)
			return false; /* forms of features beside the type */
		t->cache[i] = nibble == 4 ? 0 : nibble & 4 ? 2 : 1;
		t->hints[i] = nibble;
	}
	return true;
}

static unsigned put_together(const struct type *t)
{
	unsigned byte = 0;

	if (t->device)
		return t->order << 2;
	for (unsigned i = 0; i < 2; i++) {
		unsigned nibble = t->cache[i] == 0 ? 4 : t->cache[i] == 1 ? t->hints[i] & 11 : t->hints[i] | 4;

		byte |= nibble << (4 * i);
	}
	return byte;
}

/* Whichever of the two is less: D8.6.5 in its own words. */
static unsigned both_types(unsigned one, unsigned two, bool forced)
{
	struct type t;

	(void)take_apart(one, &t);
	if (forced) {
		if (two < 4)
			return two << 2;
		if (two == 7)
			return one;
		if (two == 5)
			return t.device ? one : 0x44;
		for (unsigned i = 0; i < 2; i++) {
			t.hints[i] = t.device || !t.cache[i] ? 15 : t.hints[i];
			t.cache[i] = 2;
		}
		t.device = false;
		return put_together(&t);
	}
	if (two < 4) {
		t.order = t.device && t.order < two ? t.order : two;
		t.device = true;
	} else if (!t.device) {
		const unsigned limit[2] = { (two & 3) - 1, (two >> 2) - 1 };

		for (unsigned i = 0; i < 2; i++) {
			/* A write-through made of write-back has its hints, and isn't transient. */
			if (limit[i] == 1 && t.cache[i] == 2)
				t.hints[i] = 8 | (t.hints[i] & 3);
			if (limit[i] < t.cache[i])
				t.cache[i] = limit[i];
		}
	}
	return put_together(&t);
}

static void test_types(void)
{
	struct shape one = { .regime = EL1, .g = 12, .input = 39, .output = 40, .start = 2, .root = RAM_PA };
	struct shape two = { .regime = S2, .g = 12, .input = 39, .output = 40, .start = 2, .root = RAM_PA + KIB(64) };
	const uint64_t va = UINT64_C(0x1234567000), ipa = UINT64_C(0x2345678000), pa = UINT64_C(0x3456789000);
	struct pgt_memory m = ram_memory(RAM_BYTES);
	unsigned n = 0;

	begin();
	/* The guest's tables lie at the same addresses behind stage 2. */
	chain_put(&two, RAM_PA, 1, (RAM_PA & ~(GIB(1) - 1)) | BIT(10) | UINT64_C(15) << 2 | 3 << 6 | 3 << 8 | 1, 0);
	for (unsigned byte = 0; byte < 256; byte++)
		for (unsigned memattr = 0; memattr < 16; memattr++)
			for (unsigned forced = 0; forced < 2; forced++)
				for (unsigned sh = 0; sh < 16; sh++) {
					unsigned s1 = sh & 3, s2 = sh >> 2, ought, shared;
					struct pgt_arm64_regs r1, r2;
					struct pgt_translation is;
					struct type t;

					/* Values that are reserved. */
					if (!take_apart(byte, &t) || s1 == 1 || s2 == 1 || (forced && memattr > 7) ||
					    (forced ? memattr == 4 : memattr > 3 && !(memattr & 3)))
						continue;
					one.mair = byte * UINT64_C(0x0101010101010101);
					two.features = forced ? PGT_FEAT_FWB : 0;
					r1 = regs_of(&one);
					r2 = regs_of(&two);
					chain_put(&one, va, 3, ipa | BIT(10) | (uint64_t)s1 << 8 | 3, 0);
					chain_put(&two, RAM_PA, 1, (RAM_PA & ~(GIB(1) - 1)) | BIT(10) |
						  (forced ? UINT64_C(6) : UINT64_C(15)) << 2 | 3 << 6 | 3 << 8 | 1, 0);
					for (int l = 1; l < 3; l++)
						ram_put(two.root + (l == 1 ? ipa >> 30 : ipa >> 21 & 511) * 8 +
							(l == 1 ? 0 : KIB(16)), (two.root + (l == 1 ? KIB(16) : KIB(20))) | 3);
					ram_put(two.root + KIB(20) + (ipa >> 12 & 511) * 8,
						pa | BIT(10) | (uint64_t)memattr << 2 | 3 << 6 | (uint64_t)s2 << 8 | 3);
					where("MAIR %#x, MemAttr %u, FWB %u, SH %u and %u", byte, memattr, forced, s1, s2);
					ought = both_types(byte, memattr, forced);
					shared = s1 == 2 || s2 == 2 ? 2 : s1 == 3 || s2 == 3 ? 3 : 0;
					if (ought < 16 || ought == 0x44)
						shared = 2;
					want_status(pgt_arm64_walk2(&r1, &r2, &m, va, PGT_READ, &is), PGT_OK);
					want_u64(is.pa, pa);
					want_u64(is.memattr, ought);
					want_u64(is.sh, shared);
					n++;
				}
	ok(fine, "%u pairs of memory types and shareabilities, with and without FWB", n);
}

int main(void)
{
	if (!have_format("arm64"))
		return tap_skip_all("arm64 was not built");
	linear = aligned_alloc(MIB(1), IPA_BYTES);
	memory = aligned_alloc(MIB(1), PA_BYTES);
	if (!linear || !memory)
		return EXIT_FAILURE;
	test_both();
	test_update();
	test_off();
	test_types();
	free(linear);
	free(memory);
	return tap_done();
}
