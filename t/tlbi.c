/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pgt_arm64_tlbi: every operation that it lists is decoded back, from its name
 * and its operand alone, to the bytes whose translations a CPU forgets.  Together
 * they are the range, or one operation stands for the whole address space where
 * the contract says so.
 */
#include "contract.h"

/* Field by field from the Arm ARM's description of the operands (C5.5). */

/* ---- What an operation does ----------------------------------------------- */

enum what { NOTHING, ADDRESS, RANGE, ASID, EVERYTHING, BARRIER };

struct form {
	enum what what;
	bool ipa, every_asid, leaves_alone, all_cpus, both_stages;
	unsigned el;
};

/* p past the word, if it stands there. */
static bool takes(const char **p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*p, word, n))
		return false;
	*p += n;
	return true;
}

/* The mnemonic is a formula: [R]VA[A][L]E1[IS] and the like. */
static struct form parse(const char *name)
{
	struct form f = { .what = NOTHING, .el = 1 };

	if (!strcmp(name, "DSB ISH"))
		return (struct form){ .what = BARRIER };
	if (takes(&name, "VMALL") || takes(&name, "ALL")) {
		f.what = EVERYTHING;
		f.both_stages = takes(&name, "S12");
	} else if (takes(&name, "ASID")) {
		f.what = ASID;
	} else {
		f.what = takes(&name, "R") ? RANGE : ADDRESS;
		f.ipa = takes(&name, "IPAS2");
		if (!f.ipa && !takes(&name, "VA"))
			return (struct form){ .what = NOTHING };
		f.every_asid = !f.ipa && takes(&name, "A");
		f.leaves_alone = takes(&name, "L");
	}
	if (takes(&name, "E2"))
		f.el = 2;
	else if (!takes(&name, "E1"))
		f.what = NOTHING;
	f.all_cpus = takes(&name, "IS");
	if (*name)
		f.what = NOTHING;
	return f;
}

#define FORMS 64
static struct form all_forms[FORMS];

static uint64_t field(uint64_t operand, unsigned high, unsigned low)
{
	return operand >> low & (BIT(high - low + 1) - 1);
}

/* An address whose bit `top` tells which half it lies in. */
static uint64_t extend(uint64_t va, unsigned top)
{
	return va & BIT(top) ? va | (0 - BIT(top)) : va;
}

struct effect {
	struct form form;
	uint64_t asid;
	uint64_t first, last;
	int level;          /* of the leaves that the hint names, or PGT_LEVEL_UNKNOWN */
	unsigned granule;   /* what the hint or the range says; 0: nothing */
	uint64_t reserved;  /* bits that must be zero and aren't */
};

/* A table that the test made, with what it was made of. */
struct sample {
	const char *format;
	unsigned granule, input;
	uint64_t features;
	struct pgt *t;
	uint64_t base, bytes;
};

static unsigned leaf_bits(const struct sample *s, int level)
{
	return s->granule + (unsigned)(3 - level) * (s->granule - 3);
}

static void decode_address(const struct sample *s, unsigned stride, uint64_t operand, struct effect *e)
{
	static const unsigned codes[] = { 0, 12, 14, 16 };
	uint64_t ttl = field(operand, 47, 44), address = field(operand, 43, 0) << 12;
	unsigned bits = stride;

	if (!e->form.ipa)
		address = extend(address, 55);
	e->granule = codes[ttl >> 2];
	if (e->granule) {
		e->level = (int)(ttl & 3);
		/* Level 0 leaves exist with 52-bit addresses alone. */
		if (e->level || (s->features & PGT_FEAT_LPA2))
			bits = leaf_bits(s, e->level);
	} else if (ttl) {
		e->reserved |= ttl;
	}
	e->first = address >> bits << bits;
	e->last = e->first + (BIT(bits) - 1);
}

static void decode_range(const struct sample *s, uint64_t operand, struct effect *e)
{
	static const unsigned codes[] = { 0, 12, 14, 16 };
	uint64_t scale = field(operand, 45, 44), num = field(operand, 43, 39), ttl = field(operand, 38, 37);
	unsigned unit;

	e->granule = codes[field(operand, 47, 46)];
	unit = s->features & PGT_FEAT_LPA2 ? 16 : e->granule;
	e->first = field(operand, 36, 0) << unit;
	if (!e->form.ipa)
		e->first = extend(e->first, 36 + unit);
	e->last = e->first + (((num + 1) << (5 * scale + 1)) << e->granule) - 1;
	if (ttl)
		e->level = (int)ttl;
}

static struct effect decode(const struct sample *s, unsigned stride, const struct pgt_arm64_tlbi *op)
{
	struct effect e = { .level = PGT_LEVEL_UNKNOWN };

	if (op->op < FORMS)
		e.form = all_forms[op->op];
	e.asid = field(op->operand, 63, 48);
	switch (e.form.what) {
	case ADDRESS:
		decode_address(s, stride, op->operand, &e);
		break;
	case RANGE:
		decode_range(s, op->operand, &e);
		break;
	case ASID:
		e.reserved = field(op->operand, 47, 0);
		break;
	default:
		e.reserved = op->operand;
	}
	if (e.form.ipa || e.form.every_asid || e.form.el == 2) {
		e.reserved |= e.asid;
		e.asid = 0;
	}
	return e;
}

/* ---- Tables --------------------------------------------------------------- */

/* Its memory is the C library's; without a format, that is a failure. */
static bool open_sample(struct sample *s)
{
	struct pgt_config c = { .size = sizeof(c) };
	bool larger = s->features & (PGT_FEAT_LPA | PGT_FEAT_LPA2);

	c.format = s->format;
	c.granule_bits = (uint8_t)s->granule;
	c.input_bits = (uint8_t)s->input;
	c.output_bits = larger ? 52 : 48;
	c.features = s->features;
	s->bytes = BIT(s->input);
	s->base = s->features & PGT_FEAT_UPPER ? 0 - s->bytes : 0;
	s->t = NULL;
	where("%s, granule %u, input %u, features %#" PRIx64, s->format, s->granule, s->input, s->features);
	return want_status(pgt_create(&c, &s->t), PGT_OK);
}

static bool stage2(const struct sample *s)
{
	return !strcmp(s->format, "arm64-s2");
}

static bool el2(const struct sample *s)
{
	return !strcmp(s->format, "arm64-el2");
}

/* The shapes that the architecture has, by granule, input bits and what they need. */
struct shape {
	unsigned granule, input;
	uint64_t features;
};

static const struct shape shapes[] = {
	{ 12, 48, 0 }, { 14, 48, 0 }, { 16, 48, 0 }, { 12, 39, 0 },
	{ 12, 48, PGT_FEAT_LPA2 }, { 14, 48, PGT_FEAT_LPA2 },
	{ 12, 52, PGT_FEAT_LPA2 }, { 14, 52, PGT_FEAT_LPA2 }, { 16, 52, PGT_FEAT_LPA | PGT_FEAT_LVA },
};

static const struct {
	const char *format, *name;
	uint64_t features;
} regimes[] = {
	{ "arm64", "arm64", 0 },
	{ "arm64", "arm64, upper half", PGT_FEAT_UPPER },
	{ "arm64-el2", "arm64-el2", 0 },
	{ "arm64-s2", "arm64-s2", 0 },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct sample sample_of(unsigned regime, const struct shape *shape, uint64_t features)
{
	struct sample s = { .format = regimes[regime].format, .granule = shape->granule, .input = shape->input,
			    .features = shape->features | regimes[regime].features | features };

	/* Of stage 2 LPA alone makes the input larger too. */
	if (stage2(&s))
		s.features &= ~PGT_FEAT_LVA;
	return s;
}

/* ---- One list against the contract ---------------------------------------- */

#define ROOM 8300
static struct pgt_arm64_tlbi ops[ROOM], again[ROOM];
static uint64_t lists, decoded;

/* Each operation by address: the form, the hint and the ASID that the range asks for. */
static bool proper_form(const struct sample *s, const struct pgt_tlb_range *r, uint16_t asid,
			const struct effect *e)
{
	bool walk = r->flags & PGT_TLB_WALK, hint = r->level != PGT_LEVEL_UNKNOWN && !walk;
	bool every = !stage2(s) && !el2(s) && ((s->features & PGT_FEAT_UPPER) || (r->flags & PGT_TLB_GLOBAL));
	bool tagged = !stage2(s) && !el2(s) && !every;
	int level = hint && (s->features & PGT_FEAT_TTL) ? r->level : PGT_LEVEL_UNKNOWN;

	/* A range can't say level 0. */
	if (e->form.what == RANGE && level == 0)
		level = PGT_LEVEL_UNKNOWN;
	return (e->form.what == ADDRESS || e->form.what == RANGE) && !e->reserved &&
	       (e->form.what == ADDRESS || (s->features & PGT_FEAT_TLBI_RANGE)) &&
	       e->form.ipa == stage2(s) && e->form.el == (el2(s) ? 2 : 1) && e->form.every_asid == every &&
	       e->form.leaves_alone == !walk && e->form.all_cpus == !(r->flags & PGT_TLB_LOCAL) &&
	       e->asid == (tagged ? asid : 0) && e->level == level &&
	       (e->granule == s->granule || (e->form.what == ADDRESS && level == PGT_LEVEL_UNKNOWN));
}

/* The one operation: what it is, and nothing else in the list. */
static bool is_everything(const struct sample *s, const struct pgt_tlb_range *r, uint16_t asid, bool global,
			  const struct pgt_arm64_tlbi *list, unsigned n)
{
	struct effect e = decode(s, s->granule, list);
	bool one = !stage2(s) && !el2(s) && !global && !(s->features & PGT_FEAT_UPPER) &&
		   !(r->flags & PGT_TLB_GLOBAL);

	return n == 1 && e.form.what == (one ? ASID : EVERYTHING) && !e.reserved && e.asid == (one ? asid : 0) &&
	       e.form.el == (el2(s) ? 2 : 1) && e.form.both_stages == stage2(s) &&
	       e.form.all_cpus == !(r->flags & PGT_TLB_LOCAL);
}

/* What stage 2 has after its operations. */
static bool is_closing(const struct sample *s, const struct pgt_tlb_range *r, const struct pgt_arm64_tlbi *list)
{
	struct effect barrier = decode(s, s->granule, &list[0]), all = decode(s, s->granule, &list[1]);

	return barrier.form.what == BARRIER && all.form.what == EVERYTHING && all.form.el == 1 &&
	       !all.form.both_stages && !all.reserved && all.form.all_cpus == !(r->flags & PGT_TLB_LOCAL);
}

struct extent {
	uint64_t first, last;
};

static struct extent extents[ROOM];

static int by_first(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Whether n extents together are exactly [first, last]. */
static bool unite(unsigned n, uint64_t first, uint64_t last)
{
	uint64_t reach = first;
	bool started = false, sorted = true;

	for (unsigned i = 1; i < n; i++)
		sorted &= extents[i - 1].first <= extents[i].first;
	if (!sorted)
		qsort(extents, n, sizeof(*extents), by_first);
	for (unsigned i = 0; i < n; i++) {
		const struct extent *x = &extents[i];

		if (x->first < first || x->last > last || x->last < x->first)
			return false;
		if (!started ? x->first != first : x->first > reach && x->first - reach > 1)
			return false;
		if (!started || x->last > reach)
			reach = x->last;
		started = true;
	}
	return started && reach == last;
}

/* Whether the operations are those of a list that isn't everything. */
static bool is_exact(const struct sample *s, const struct pgt_tlb_range *r, uint16_t asid, uint64_t first,
		     uint64_t last, unsigned n)
{
	unsigned by_address = n;

	if (stage2(s)) {
		if (!want(n > 2) || !want(is_closing(s, r, ops + n - 2)))
			return false;
		by_address -= 2;
	}
	for (unsigned i = 0; i < by_address; i++) {
		struct effect e = decode(s, r->stride_bits, &ops[i]);

		if (!want(proper_form(s, r, asid, &e)))
			return false;
		/* No range begins where its operand can't say. */
		extents[i] = (struct extent){ e.first, e.last };
	}
	decoded += n;
	return want(unite(by_address, first, last));
}

/* Too long for a list, by the contract's limits. */
static bool beyond_limits(const struct sample *s, unsigned stride, uint64_t first, uint64_t last)
{
	if (s->features & PGT_FEAT_TLBI_RANGE)
		return (last - first) >> s->granule >= BIT(21);
	return (last - first) >> stride >= BIT(s->granule - 3);
}

/* The most operations that such a list can need. */
static uint64_t most_ops(const struct sample *s, unsigned stride, uint64_t first, uint64_t last)
{
	uint64_t leaves = ((last - first) >> stride) + 1, closing = stage2(s) ? 2 : 0, before = 0;

	if (!(s->features & PGT_FEAT_TLBI_RANGE))
		return leaves + closing;
	if (s->features & PGT_FEAT_LPA2)
		before = ((0 - first) & 0xffff) >> s->granule;
	/* Four scales and a single page. */
	return (leaves < before + 5 ? leaves : before + 5) + closing;
}

static bool same_ops(const struct pgt_arm64_tlbi *a, const struct pgt_arm64_tlbi *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (a[i].op != b[i].op || a[i].operand != b[i].operand)
			return false;
	return true;
}

/* Where a list doesn't fit it is everything; where it just fits it is the same. */
static bool obeys_max(const struct sample *s, const struct pgt_tlb_range *r, uint16_t asid, unsigned n)
{
	unsigned fewer = 0, same = 0;
	bool good = true;

	if (n >= 4) {
		memset(again, 0, n * sizeof(*again));
		good &= want_status(pgt_arm64_tlbi(s->t, r, asid, again, n, &same), PGT_OK);
		good &= want_u64(same, n) && want(same_ops(ops, again, n));
	}
	if (n > 4) {
		again[n - 1] = (struct pgt_arm64_tlbi){ .op = 0xdead, .operand = 0xbeef };
		good &= want_status(pgt_arm64_tlbi(s->t, r, asid, again, n - 1, &fewer), PGT_OK);
		good &= want(is_everything(s, r, asid, false, again, fewer));
		good &= want(again[n - 1].op == 0xdead && again[n - 1].operand == 0xbeef);
	}
	return good;
}

/* All of it, for a table that never held a global leaf. */
static bool check_range(const struct sample *s, const struct pgt_tlb_range *r, uint16_t asid)
{
	uint64_t mask = BIT(r->stride_bits) - 1, first = r->va & ~mask, last = (r->va + (r->len - 1)) | mask;
	unsigned n = ROOM + 1;

	where("%s, granule %u, input %u, features %#" PRIx64 ": va %#" PRIx64 " len %#" PRIx64
	      " stride %u level %d flags %u",
	      s->format, s->granule, s->input, s->features, r->va, r->len, r->stride_bits, r->level, r->flags);
	lists++;
	if (!want_status(pgt_arm64_tlbi(s->t, r, asid, ops, ROOM, &n), PGT_OK) || !want(n <= ROOM))
		return false;
	if (beyond_limits(s, r->stride_bits, first, last))
		return want(is_everything(s, r, asid, false, ops, n));
	if (!is_exact(s, r, asid, first, last, n) || !want(n <= most_ops(s, r->stride_bits, first, last)))
		return false;
	/* The long ones are alike. */
	return n > 40 && asid % 8 ? true : obeys_max(s, r, asid, n);
}

/* ---- Every count, every alignment ----------------------------------------- */

/* Flags and levels that take turns. */
static struct pgt_tlb_range turn(uint64_t va, uint64_t len, unsigned stride, int level, uint64_t k)
{
	static const uint16_t flags[] = {
		0, PGT_TLB_WALK, 0, PGT_TLB_LOCAL, PGT_TLB_GLOBAL, PGT_TLB_WALK | PGT_TLB_GLOBAL,
		PGT_TLB_LOCAL | PGT_TLB_WALK,
	};
	struct pgt_tlb_range r = { .va = va, .len = len, .stride_bits = (uint8_t)stride,
				   .flags = flags[k % COUNT(flags)] };

	r.level = (int8_t)((r.flags & PGT_TLB_WALK) || k % 5 == 4 ? PGT_LEVEL_UNKNOWN : level);
	return r;
}

/* Where the k-th range of so many bytes begins, but for the alignment: at the
 * first byte, in the middle, across a power of two, or so that it ends at the last. */
static uint64_t place(const struct sample *s, uint64_t k, uint64_t bytes)
{
	uint64_t offset;

	switch (k % 4) {
	case 0:
		return s->base;
	case 1:
		offset = s->bytes / 3;
		break;
	case 2:
		offset = s->bytes / 2 - bytes / 2;
		break;
	default:
		offset = s->bytes - bytes;
	}
	return s->base + (offset & ~(BIT(24) - 1));
}

/* n leaves of a level at alignments modulo 16 of them, as far as there is room:
 * at every `step`th, and at all in `step` counts. */
static void try_count(const struct sample *s, uint64_t n, int level, unsigned step)
{
	unsigned stride = leaf_bits(s, level);

	for (uint64_t a = n % step; a < 16; a += step) {
		uint64_t k = n * 16 + a, len = n << stride;
		uint64_t va = place(s, k / 7, len + (UINT64_C(16) << stride)) + (a << stride);
		struct pgt_tlb_range r = turn(va >> stride << stride, len, stride, level, k);

		if (r.va - s->base >= s->bytes || len > s->bytes - (r.va - s->base))
			continue;
		check_range(s, &r, (uint16_t)(k * 40503));
	}
}

static void try_counts(const struct sample *s, uint64_t from, uint64_t to, int level, unsigned step)
{
	for (uint64_t n = from; n <= to && fine; n++)
		try_count(s, n, level, step);
}

static void try_ranges(const struct sample *s)
{
	try_counts(s, 1, 4096, 3, 1);
	try_counts(s, BIT(21) - 2, BIT(21) + 2, 3, 1);
	try_counts(s, BIT(21) + 15, BIT(21) + 17, 3, 1);
	try_count(s, BIT(22), 3, 1);
	try_count(s, s->bytes >> s->granule, 3, 16);
}

static void test_ranges(unsigned regime)
{
	for (unsigned i = 0; i < COUNT(shapes); i++) {
		const struct shape *shape = &shapes[i];

		begin();
		lists = decoded = 0;
		for (unsigned ttl = 0; ttl < 2; ttl++) {
			struct sample s = sample_of(regime, shape, PGT_FEAT_TLBI_RANGE | (ttl ? PGT_FEAT_TTL : 0));

			if (open_sample(&s)) {
				try_ranges(&s);
				pgt_destroy(s.t);
			}
		}
		ok(fine, "%s: granule %u, input %u%s: range operations for 1 to 4096 pages and around 2^21, at every "
			 "alignment: %" PRIu64 " lists, %" PRIu64 " operations",
		   regimes[regime].name, shape->granule, shape->input,
		   shape->features & PGT_FEAT_LPA2 ? ", LPA2" : "", lists, decoded);
	}
}

/* The lists are long: every alignment and every count, but not every pair of them
 * where only the address tells lists of one length apart (PGT_TEST_ROUNDS=2: every pair). */
static void try_plain(const struct sample *s, bool every_pair)
{
	uint64_t entries = BIT(s->granule - 3), most = entries < 4096 ? entries + 2 : 4096;
	unsigned step = s->granule == 12 || embed_rounds(1) > 1 ? 1 : every_pair ? 4 : 16;

	try_counts(s, 1, every_pair || most < 1024 ? most : 1024, 3, step);
	try_counts(s, entries - 2, entries + 2, 3, 1);
	try_counts(s, BIT(21) - 2, BIT(21) + 2, 3, 1);
	try_count(s, s->bytes >> s->granule, 3, 16);
}

static void test_plain(unsigned regime)
{
	for (unsigned i = 0; i < COUNT(shapes); i++) {
		const struct shape *shape = &shapes[i];
		bool ttl = (i + regime) % 2;
		struct sample s = sample_of(regime, shape, ttl ? PGT_FEAT_TTL : 0);

		begin();
		lists = decoded = 0;
		if (open_sample(&s)) {
			try_plain(&s, regime == 0 && shape->input == 48);
			pgt_destroy(s.t);
		}
		ok(fine, "%s: granule %u, input %u%s: plain operations up to a table's entries, and no further: "
			 "%" PRIu64 " lists%s, %" PRIu64 " operations",
		   regimes[regime].name, shape->granule, shape->input,
		   shape->features & PGT_FEAT_LPA2 ? ", LPA2" : "", lists, ttl ? " with level hints" : "", decoded);
	}
}

/* The first level that has leaves. */
static int top_level(const struct sample *s)
{
	bool larger = s->features & (PGT_FEAT_LPA | PGT_FEAT_LPA2);
	int top = s->granule == 12 ? 1 : 2;

	if (larger)
		top--;
	while (leaf_bits(s, top) >= s->input)
		top++;
	return top;
}

static void try_blocks(const struct sample *s)
{
	for (int level = top_level(s); level < 3; level++) {
		uint64_t most = s->bytes >> leaf_bits(s, level), entries = BIT(s->granule - 3);
		uint64_t limit = BIT(21) >> (3 - level) * ((int)s->granule - 3);

		try_counts(s, 1, most < 70 ? most : 70, level, 4);
		for (uint64_t n = entries - 1; n <= entries + 1 && n <= most; n++)
			try_count(s, n, level, 4);
		if (limit > 70)
			for (uint64_t n = limit - 1; n <= limit + 1 && n <= most; n++)
				try_count(s, n, level, 4);
	}
}

static void test_blocks(unsigned regime)
{
	unsigned tables = 0;

	begin();
	lists = decoded = 0;
	for (unsigned i = 0; i < COUNT(shapes); i++)
		for (unsigned f = 0; f < 4; f++) {
			struct sample s = sample_of(regime, &shapes[i],
						    (f & 1 ? PGT_FEAT_TLBI_RANGE : 0) | (f & 2 ? PGT_FEAT_TTL : 0));

			if (!open_sample(&s))
				continue;
			try_blocks(&s);
			pgt_destroy(s.t);
			tables++;
		}
	ok(fine, "%s: blocks of every level, one step a block: %u tables, %" PRIu64 " lists, %" PRIu64 " operations",
	   regimes[regime].name, tables, lists, decoded);
}

/* ---- Names ------------------------------------------------------------------ */

#define OP(name) { PGT_ARM64_TLBI_##name, #name }, { PGT_ARM64_TLBI_##name##IS, #name "IS" }

static const struct {
	uint32_t op;
	const char *name;
} names[] = {
	OP(VAE1), OP(VALE1), OP(VAAE1), OP(VAALE1), OP(RVAE1), OP(RVALE1), OP(RVAAE1), OP(RVAALE1), OP(ASIDE1),
	OP(VMALLE1), OP(VAE2), OP(VALE2), OP(RVAE2), OP(RVALE2), OP(ALLE2), OP(IPAS2E1), OP(IPAS2LE1),
	OP(RIPAS2E1), OP(RIPAS2LE1), OP(VMALLS12E1), { PGT_ARM64_DSB_ISH, "DSB ISH" },
};

static void test_names(void)
{
	unsigned named = 0;

	begin();
	for (unsigned i = 0; i < COUNT(names); i++) {
		const char *name = pgt_arm64_tlbi_name(names[i].op);

		where("%s", names[i].name);
		want(name && !strcmp(name, names[i].name));
		want(names[i].op < FORMS);
	}
	where("operations without a name");
	for (uint32_t op = 0; op < FORMS; op++) {
		const char *name = pgt_arm64_tlbi_name(op);

		named += name != NULL;
		all_forms[op] = parse(name ? name : "");
		want(!name || all_forms[op].what != NOTHING);
	}
	want_u64(named, COUNT(names));
	want(!pgt_arm64_tlbi_name(0) && !pgt_arm64_tlbi_name(FORMS) && !pgt_arm64_tlbi_name(UINT32_MAX));
	ok(fine, "every operation has Arm's mnemonic, and nothing else has a name");
}

/* ---- Operands written by hand ------------------------------------------------ */

struct golden {
	struct sample s;
	struct pgt_tlb_range r;
	uint16_t asid;
	struct pgt_arm64_tlbi ops[11];
};

static bool same_list(struct golden *g)
{
	unsigned n = 0, expected = 0;

	if (!open_sample(&g->s))
		return false;
	while (expected < COUNT(g->ops) && g->ops[expected].op)
		expected++;
	where("%s, granule %u: va %#" PRIx64 " len %#" PRIx64, g->s.format, g->s.granule, g->r.va, g->r.len);
	want_status(pgt_arm64_tlbi(g->s.t, &g->r, g->asid, ops, ROOM, &n), PGT_OK);
	want_u64(n, expected);
	for (unsigned i = 0; i < n && i < expected; i++) {
		want_u64(ops[i].op, g->ops[i].op);
		want_u64(ops[i].operand, g->ops[i].operand);
	}
	pgt_destroy(g->s.t);
	return true;
}

#define T(name) PGT_ARM64_TLBI_##name
#define UPPER48 UINT64_C(0xffff000000000000)

/* Plain operations: the address in units of 4K, whatever the granule, and no bits above it. */
static struct golden plain_operands[] = {
	{ { "arm64", 14, 48, 0, NULL, 0, 0 }, { 0x12344000, 0x4000, 14, 3, 0 }, 0, { { T(VALE1IS), 0x12344 } } },
	{ { "arm64", 12, 48, 0, NULL, 0, 0 }, { 0x12344000, 0x1000, 12, 3, 0 }, 0, { { T(VALE1IS), 0x12344 } } },
	{ { "arm64", 16, 48, 0, NULL, 0, 0 }, { 0x12340000, 0x10000, 16, 3, 0 }, 0, { { T(VALE1IS), 0x12340 } } },
	{ { "arm64", 12, 39, PGT_FEAT_UPPER, NULL, 0, 0 },
	  { UINT64_C(0xffffff8000001000), 0x1000, 12, 3, 0 }, 7, { { T(VAALE1IS), UINT64_C(0xffff8000001) } } },
	{ { "arm64", 14, 47, PGT_FEAT_UPPER, NULL, 0, 0 },
	  { UINT64_C(0xffffff8000004000), 0x4000, 14, 3, 0 }, 7, { { T(VAALE1IS), UINT64_C(0xffff8000004) } } },
	{ { "arm64", 16, 48, PGT_FEAT_UPPER, NULL, 0, 0 },
	  { UINT64_C(0xffffff8000010000), 0x10000, 16, 3, 0 }, 7, { { T(VAALE1IS), UINT64_C(0xffff8000010) } } },
	{ { "arm64", 12, 48, 0, NULL, 0, 0 },
	  { 0x12344000, 0x1000, 12, 3, 0 }, 0xabcd, { { T(VALE1IS), UINT64_C(0xabcd000000012344) } } },
	{ { "arm64", 12, 48, PGT_FEAT_TTL, NULL, 0, 0 },
	  { 0x12344000, 0x1000, 12, 3, 0 }, 0xabcd, { { T(VALE1IS), UINT64_C(0xabcd700000012344) } } },
	{ { "arm64", 14, 48, PGT_FEAT_TTL, NULL, 0, 0 },
	  { 0x12344000, 0x4000, 14, 3, 0 }, 1, { { T(VALE1IS), UINT64_C(0x0001b00000012344) } } },
	{ { "arm64", 16, 48, PGT_FEAT_TTL, NULL, 0, 0 },
	  { 0x20000000, 0x20000000, 29, 2, 0 }, 1, { { T(VALE1IS), UINT64_C(0x0001e00000020000) } } },
	{ { "arm64", 12, 48, PGT_FEAT_TTL, NULL, 0, 0 },
	  { 0x12344000, 0x2000, 12, PGT_LEVEL_UNKNOWN, PGT_TLB_WALK }, 2,
	  { { T(VAE1IS), UINT64_C(0x0002000000012344) }, { T(VAE1IS), UINT64_C(0x0002000000012345) } } },
};

/* The page shift of 64K under TCR.DS, and of the granule elsewhere. */
static struct golden range_operands[] = {
	{ { "arm64", 12, 48, PGT_FEAT_TLBI_RANGE | PGT_FEAT_UPPER, NULL, 0, 0 },
	  { UPPER48, 0x2000, 12, 3, PGT_TLB_LOCAL }, 9, { { T(RVAALE1), UINT64_C(0x0000401000000000) } } },
	{ { "arm64", 14, 48, PGT_FEAT_TLBI_RANGE | PGT_FEAT_TTL, NULL, 0, 0 },
	  { 0x12344000, 0xc000, 14, 3, 0 }, 3,
	  { { T(RVALE1IS), UINT64_C(0x00038060000048d1) }, { T(VALE1IS), UINT64_C(0x0003b0000001234c) } } },
	{ { "arm64", 16, 48, PGT_FEAT_TLBI_RANGE, NULL, 0, 0 },
	  { 0x12340000, 0x420000, 16, PGT_LEVEL_UNKNOWN, PGT_TLB_WALK }, 3,
	  { { T(RVAE1IS), UINT64_C(0x0003d00000001234) }, { T(RVAE1IS), UINT64_C(0x0003c00000001274) } } },
	/* One leaf needs no range. */
	{ { "arm64", 12, 48, PGT_FEAT_TLBI_RANGE | PGT_FEAT_TTL, NULL, 0, 0 },
	  { 0x40000000, 0x200000, 21, 2, 0 }, 1, { { T(VALE1IS), UINT64_C(0x0001600000040000) } } },
	{ { "arm64", 12, 48, PGT_FEAT_TLBI_RANGE | PGT_FEAT_TTL, NULL, 0, 0 },
	  { 0x40000000, 0x600000, 21, 2, 0 }, 1, { { T(RVALE1IS), UINT64_C(0x00015bc000040000) } } },
};

static struct golden lpa2_operands[] = {
	{ { "arm64", 12, 52, PGT_FEAT_TLBI_RANGE | PGT_FEAT_LPA2, NULL, 0, 0 },
	  { 0xd000, 0x13000, 12, 3, 0 }, 0,
	  { { T(VALE1IS), 0xd }, { T(VALE1IS), 0xe }, { T(VALE1IS), 0xf },
	    { T(RVALE1IS), UINT64_C(0x0000438000000001) } } },
	{ { "arm64", 14, 52, PGT_FEAT_TLBI_RANGE | PGT_FEAT_LPA2 | PGT_FEAT_UPPER, NULL, 0, 0 },
	  { UINT64_C(0xffffffffffff0000), 0x10000, 14, 3, 0 }, 5,
	  { { T(RVAALE1IS), UINT64_C(0x0000809fffffffff) } } },
};

static struct golden other_regimes[] = {
	{ { "arm64-el2", 12, 48, PGT_FEAT_TLBI_RANGE, NULL, 0, 0 },
	  { 0x5000, 0x3000, 12, 3, 0 }, 0xffff,
	  { { T(RVALE2IS), UINT64_C(0x0000400000000005) }, { T(VALE2IS), 7 } } },
	{ { "arm64-el2", 12, 48, 0, NULL, 0, 0 },
	  { 0x5000, 0x1000, 12, PGT_LEVEL_UNKNOWN, PGT_TLB_WALK | PGT_TLB_LOCAL }, 0xffff, { { T(VAE2), 5 } } },
	{ { "arm64-s2", 12, 48, PGT_FEAT_TTL, NULL, 0, 0 },
	  { 0x40000000, 0x200000, 21, 2, 0 }, 0xffff,
	  { { T(IPAS2LE1IS), UINT64_C(0x0000600000040000) }, { PGT_ARM64_DSB_ISH, 0 }, { T(VMALLE1IS), 0 } } },
	{ { "arm64-s2", 12, 48, PGT_FEAT_TLBI_RANGE, NULL, 0, 0 },
	  { 0x40000000, 0x200000, 12, PGT_LEVEL_UNKNOWN, PGT_TLB_WALK }, 0xffff,
	  { { T(RIPAS2E1IS), UINT64_C(0x0000538000040000) }, { PGT_ARM64_DSB_ISH, 0 }, { T(VMALLE1IS), 0 } } },
	{ { "arm64-s2", 12, 48, 0, NULL, 0, 0 },
	  { 0x40000000, 0x1000, 12, 3, PGT_TLB_LOCAL }, 0xffff,
	  { { T(IPAS2LE1), 0x40000 }, { PGT_ARM64_DSB_ISH, 0 }, { T(VMALLE1), 0 } } },
};

static void try_golden(struct golden *g, size_t n)
{
	begin();
	for (size_t i = 0; i < n; i++)
		same_list(&g[i]);
}

/* Where the numbers of an operand come from: 8 GiB once gave 0xffff708000040000,
 * the count spilt out of its field. */
static struct golden eight_gib[] = {
	{ { "arm64", 12, 48, PGT_FEAT_TLBI_RANGE | PGT_FEAT_UPPER, NULL, 0, 0 },
	  { UPPER48 | 0x40000000, GIB(8), 12, 3, 0 }, 0, { { T(RVAALE1IS), UINT64_C(0x00007f9000040000) } } },
	{ { "arm64", 12, 48, PGT_FEAT_TLBI_RANGE, NULL, 0, 0 },
	  { 0x40000000, GIB(8), 12, 3, 0 }, 0, { { T(RVALE1IS), UINT64_C(0x00007f8000040000) } } },
	{ { "arm64", 12, 48, PGT_FEAT_TLBI_RANGE, NULL, 0, 0 },
	  { 0x40000000, GIB(8) - KIB(4), 12, 3, 0 }, 0,
	  { { T(RVALE1IS), UINT64_C(0x00007f0000040000) }, { T(RVALE1IS), UINT64_C(0x00006f0000230000) },
	    { T(RVALE1IS), UINT64_C(0x00005f000023f800) }, { T(RVALE1IS), UINT64_C(0x00004f000023ffc0) },
	    { T(VALE1IS), 0x23fffe } } },
	{ { "arm64", 12, 48, PGT_FEAT_TLBI_RANGE, NULL, 0, 0 },
	  { 0x40000000, GIB(8) + KIB(4), 12, 3, 0 }, 9, { { T(ASIDE1IS), UINT64_C(0x0009000000000000) } } },
};

static void test_golden(void)
{
	try_golden(plain_operands, COUNT(plain_operands));
	ok(fine, "case 73: the address of a plain operation is in units of 4K, and has no stray bits");
	try_golden(eight_gib, COUNT(eight_gib));
	ok(fine, "8 GiB of 4K pages: one range operation, and its count in its field");
	try_golden(range_operands, COUNT(range_operands));
	ok(fine, "the operands of ranges, by hand");
	try_golden(lpa2_operands, COUNT(lpa2_operands));
	ok(fine, "the operands of ranges with LPA2, by hand");
	try_golden(other_regimes, COUNT(other_regimes));
	ok(fine, "the operands of EL2 and of stage 2, by hand");
}

/* ---- The whole address space ------------------------------------------------- */

static uint32_t all_op(const struct sample *s, uint16_t flags, uint64_t *operand)
{
	struct pgt_tlb_range r = { .stride_bits = 12, .level = PGT_LEVEL_UNKNOWN,
				   .flags = (uint16_t)(flags | PGT_TLB_ALL) };
	unsigned n = 0;

	want_status(pgt_arm64_tlbi(s->t, &r, 0x1234, ops, 4, &n), PGT_OK);
	want_u64(n, 1);
	*operand = ops[0].operand;
	return ops[0].op;
}

/* ALL of a table, with and without LOCAL and WALK. */
static void want_all(const struct sample *s, uint16_t flags, uint32_t local, uint64_t operand)
{
	uint64_t got;

	want_u64(all_op(s, flags | PGT_TLB_LOCAL, &got), local);
	want_u64(got, operand);
	want_u64(all_op(s, flags, &got), local + 1);
	want_u64(got, operand);
	want_u64(all_op(s, flags | PGT_TLB_WALK, &got), local + 1);
	want_u64(got, operand);
}

#define OF_ASID UINT64_C(0x1234000000000000)

/* As one that has held a global leaf, which is gone again. */
static void hold_global(const struct sample *s)
{
	uint64_t va = s->base + GIB(1);

	want_status(pgt_map(s->t, va, 0x200000, KIB(64), PGT_READ | PGT_GLOBAL, 0, NULL), PGT_OK);
	want_status(pgt_unmap(s->t, va, KIB(64), 0, NULL), PGT_OK);
}

static void test_all_el1(void)
{
	static const unsigned grains[] = { 12, 14, 16 };

	begin();
	for (unsigned i = 0; i < COUNT(grains); i++) {
		struct sample low = { "arm64", grains[i], 48, 0, NULL, 0, 0 };
		struct sample high = { "arm64", grains[i], 48, PGT_FEAT_UPPER, NULL, 0, 0 };
		struct pgt_tlb_range long_one = { 0, GIB(1024), (uint8_t)grains[i], 3, 0 };
		unsigned n = 0;

		if (!open_sample(&low) || !open_sample(&high))
			continue;
		want_all(&low, 0, T(ASIDE1), OF_ASID);
		want_all(&low, PGT_TLB_GLOBAL, T(VMALLE1), 0);
		want_all(&high, 0, T(VMALLE1), 0);
		want_status(pgt_map(low.t, 0, 0x200000, KIB(64), PGT_READ, 0, NULL), PGT_OK);
		want_all(&low, 0, T(ASIDE1), OF_ASID);
		hold_global(&low);
		want_all(&low, 0, T(VMALLE1), 0);
		want_status(pgt_arm64_tlbi(low.t, &long_one, 5, ops, 4, &n), PGT_OK);
		want(is_everything(&low, &long_one, 5, true, ops, n));
		pgt_destroy(low.t);
		pgt_destroy(high.t);
	}
	ok(fine, "all of a table: its ASID, or everything where a leaf may have been global");
}

static void test_all_attached(void)
{
	struct sample s = { "arm64", 12, 48, 0, NULL, 0, 0 };
	struct sample of = s;
	struct pgt_config c = { .size = sizeof(c) };

	begin();
	if (open_sample(&s)) {
		want_status(pgt_describe(s.t, &c), PGT_OK);
		c.memory.alloc = NULL;
		c.memory.free = NULL;
		if (want_status(pgt_attach(&c, pgt_root(s.t), &of.t), PGT_OK)) {
			want_all(&of, 0, T(VMALLE1), 0);
			pgt_destroy(of.t);
		}
		pgt_destroy(s.t);
	}
	ok(fine, "all of a table that someone else made: what it held isn't known");
}

static void test_all_others(void)
{
	struct sample two = { "arm64-el2", 12, 48, 0, NULL, 0, 0 };
	struct sample s2 = { "arm64-s2", 12, 48, 0, NULL, 0, 0 };

	begin();
	if (open_sample(&two)) {
		want_all(&two, 0, T(ALLE2), 0);
		pgt_destroy(two.t);
	}
	if (open_sample(&s2)) {
		want_all(&s2, 0, T(VMALLS12E1), 0);
		pgt_destroy(s2.t);
	}
	ok(fine, "all of a table of EL2 or of stage 2");
}

/* ---- Ranges that no call of the library's makes -------------------------------- */

/* Leaves whole, sizes that exist, and no hint that the table can't have. */
static void test_rounding(void)
{
	struct sample s = { "arm64", 12, 48, PGT_FEAT_TTL, NULL, 0, 0 };
	static const struct golden cases[] = {
		/* Out to the leaf. */
		{ .r = { 0x40001000, 0x1000, 21, 2, 0 }, .ops = { { T(VALE1IS), UINT64_C(0x600000040000) } } },
		{ .r = { 0x401ff000, 0x2000, 21, 2, 0 }, .ops = { { T(VALE1IS), UINT64_C(0x600000040000) },
								  { T(VALE1IS), UINT64_C(0x600000040200) } } },
		{ .r = { 0xfffffffff000, 0x1000, 30, 1, 0 }, .ops = { { T(VALE1IS), UINT64_C(0x500ffffc0000) } } },
		/* A run is no leaf; smaller than a page is a page; unknown levels. */
		{ .r = { 0x40000000, 0x2000, 16, PGT_LEVEL_UNKNOWN, 0 },
		  .ops = { { T(VALE1IS), 0x40000 }, { T(VALE1IS), 0x40001 } } },
		{ .r = { 0x40000000, 0x1000, 0, 3, 0 }, .ops = { { T(VALE1IS), UINT64_C(0x700000040000) } } },
		{ .r = { 0x40000000, 0x1000, 12, 0, 0 }, .ops = { { T(VALE1IS), 0x40000 } } },
		{ .r = { 0x40000000, 0x1000, 12, -1, 0 }, .ops = { { T(VALE1IS), 0x40000 } } },
		{ .r = { 0x40000000, 0x1000, 12, 4, 0 }, .ops = { { T(VALE1IS), 0x40000 } } },
		{ .r = { 0x40000000, 0x1000, 12, 35, 0 }, .ops = { { T(VALE1IS), 0x40000 } } },
		{ .r = { 0x40000000, 0x1000, 12, -29, 0 }, .ops = { { T(VALE1IS), 0x40000 } } },
		{ .r = { 0x40000000, 0x2000, 20, PGT_LEVEL_UNKNOWN, 0 },
		  .ops = { { T(VALE1IS), 0x40000 }, { T(VALE1IS), 0x40001 } } },
		/* A level is no coarser than it says. */
		{ .r = { 0x40000000, 0x2000, 21, 3, 0 }, .ops = { { T(VALE1IS), UINT64_C(0x700000040000) },
								  { T(VALE1IS), UINT64_C(0x700000040001) } } },
		/* A table entry is of no level's leaves, whatever the range says. */
		{ .r = { 0x40000000, 0x1000, 12, 3, PGT_TLB_WALK }, .ops = { { T(VAE1IS), 0x40000 } } },
		{ .r = { 0x40000000, 0x40000000, 255, PGT_LEVEL_UNKNOWN, 0 }, .ops = { { T(VALE1IS), 0x40000 } } },
		/* All is all. */
		{ .r = { 0x40000000, 0x1000, 12, 3, PGT_TLB_ALL }, .ops = { { T(ASIDE1IS), 0 } } },
	};

	begin();
	for (unsigned i = 0; i < COUNT(cases); i++) {
		struct golden g = cases[i];

		g.s = s;
		same_list(&g);
	}
	ok(fine, "ranges go out to whole leaves of sizes that exist; a hint that can't be is none");
}

static void test_refused(void)
{
	struct sample s = { "arm64", 14, 47, PGT_FEAT_UPPER, NULL, 0, 0 };
	struct pgt_tlb_range fit = { 0 - BIT(47), 0x4000, 14, 3, 0 }, r;
	struct pgt_config c = { .size = sizeof(c), .format = "generic" };
	struct pgt *generic = NULL;
	unsigned n = 77;

	begin();
	if (!open_sample(&s))
		return;
	memset(ops, 0x5a, sizeof(*ops) * 8);
	want_status(pgt_arm64_tlbi(NULL, &fit, 0, ops, 4, &n), PGT_EINVAL);
	want_status(pgt_arm64_tlbi(s.t, NULL, 0, ops, 4, &n), PGT_EINVAL);
	want_status(pgt_arm64_tlbi(s.t, &fit, 0, NULL, 4, &n), PGT_EINVAL);
	want_status(pgt_arm64_tlbi(s.t, &fit, 0, ops, 4, NULL), PGT_EINVAL);
	want_status(pgt_arm64_tlbi(s.t, &fit, 0, ops, 3, &n), PGT_EINVAL);
	want_status(pgt_arm64_tlbi(s.t, &fit, 0, ops, 0, &n), PGT_EINVAL);
	r = fit, r.len = 0;
	want_status(pgt_arm64_tlbi(s.t, &r, 0, ops, 4, &n), PGT_EINVAL);
	r = fit, r.len += 0x1000;
	want_status(pgt_arm64_tlbi(s.t, &r, 0, ops, 4, &n), PGT_EINVAL);
	r = fit, r.va += 0x1000;
	want_status(pgt_arm64_tlbi(s.t, &r, 0, ops, 4, &n), PGT_EINVAL);
	r = fit, r.va -= 0x4000;
	want_status(pgt_arm64_tlbi(s.t, &r, 0, ops, 4, &n), PGT_EINVAL);
	r = fit, r.va = 0x4000;
	want_status(pgt_arm64_tlbi(s.t, &r, 0, ops, 4, &n), PGT_EINVAL);
	r = fit, r.len = BIT(47) + 0x4000;
	want_status(pgt_arm64_tlbi(s.t, &r, 0, ops, 4, &n), PGT_EINVAL);
	r = fit, r.va = 0 - UINT64_C(0x4000), r.len = 0x8000;
	want_status(pgt_arm64_tlbi(s.t, &r, 0, ops, 4, &n), PGT_EINVAL);
	r = fit, r.flags = 16;
	want_status(pgt_arm64_tlbi(s.t, &r, 0, ops, 4, &n), PGT_EINVAL);
	want_u64(n, 77);
	want_u64(ops[0].op, 0x5a5a5a5a);
	want_status(pgt_arm64_tlbi(s.t, &fit, 0, ops, 4, &n), PGT_OK);
	r = fit, r.va = 0 - UINT64_C(0x4000);
	want_status(pgt_arm64_tlbi(s.t, &r, 0, ops, 4, &n), PGT_OK);
	r = fit, r.len = BIT(47);
	want_status(pgt_arm64_tlbi(s.t, &r, 0, ops, 4, &n), PGT_OK);
	pgt_destroy(s.t);
	if (have_format("generic") && want_status(pgt_create(&c, &generic), PGT_OK)) {
		struct pgt_tlb_range low = { 0x4000, 0x4000, 12, 3, 0 };

		want_status(pgt_arm64_tlbi(generic, &low, 0, ops, 4, &n), PGT_EINVAL);
		pgt_destroy(generic);
	}
	ok(fine, "malformed ranges, ranges outside the table and tables of another format are refused");
}

/* ---- What the library itself asks for ------------------------------------------- */

static struct sample called;
static uint64_t asked;

/* Each range that a changing call invalidates has its list. */
static void on_invalidate(void *ctx, const struct pgt_tlb_range *r)
{
	(void)ctx;
	if (!called.t || (r->flags & PGT_TLB_ALL))
		return;
	asked++;
	want_u64(r->va & (BIT(r->stride_bits) - 1), 0);
	want_u64(r->len & (BIT(r->stride_bits) - 1), 0);
	check_range(&called, r, 0x77);
}

static void on_sync(void *ctx)
{
	(void)ctx;
}

static void change_things(struct pgt *t, uint64_t base, unsigned granule)
{
	uint64_t page = BIT(granule), block = BIT(granule + granule - 3), tables = 8 * block;
	uint64_t a = base + tables, b = base + 3 * tables;

	want_status(pgt_map(t, a, tables, tables - page, RW, 0, NULL), PGT_OK);
	want_status(pgt_protect(t, a + page, 3 * page, 0, PGT_WRITE, 0, NULL), PGT_OK);
	want_status(pgt_protect(t, a, 2 * block, 0, PGT_WRITE, 0, NULL), PGT_OK);
	want_status(pgt_protect(t, a, tables - page, PGT_WRITE, 0, 0, NULL), PGT_OK);
	want_status(pgt_split(t, a + 4 * block, block, granule, 0, NULL), PGT_OK);
	want_status(pgt_collapse(t, a + 4 * block, block, granule + granule - 3, 0, NULL), PGT_OK);
	want_status(pgt_move(t, a, b, 4 * block, 0, NULL), PGT_OK);
	want_status(pgt_unmap(t, b + page, block, 0, NULL), PGT_OK);
	want_status(pgt_fault(t, b, PGT_READ, NULL), PGT_OK);
	want_status(pgt_unmap(t, base, 4 * tables, 0, NULL), PGT_OK);
}

static void test_calls(unsigned regime)
{
	static const unsigned grains[] = { 12, 14, 16 };

	begin();
	asked = 0;
	for (unsigned i = 0; i < COUNT(grains); i++)
		for (unsigned f = 0; f < 4; f++) {
			struct pgt_config c = { .size = sizeof(c), .format = regimes[regime].format };

			called = (struct sample){ c.format, grains[i], 48, regimes[regime].features, NULL, 0, 0 };
			called.features |= (f & 1 ? PGT_FEAT_TLBI_RANGE : 0) | (f & 2 ? PGT_FEAT_TTL : 0);
			called.bytes = BIT(48);
			called.base = called.features & PGT_FEAT_UPPER ? 0 - BIT(48) : 0;
			c.granule_bits = (uint8_t)grains[i];
			c.features = called.features | PGT_FEAT_CONTIG;
			c.tlb.invalidate = on_invalidate;
			c.tlb.sync = on_sync;
			where("%s, granule %u", c.format, grains[i]);
			if (!want_status(pgt_create(&c, &called.t), PGT_OK))
				continue;
			change_things(called.t, called.base, grains[i]);
			pgt_destroy(called.t);
		}
	want(asked >= 100);
	ok(fine, "%s: what changing calls invalidate, %" PRIu64 " ranges, has its operations", regimes[regime].name,
	   asked);
}

int main(void)
{
	if (!have_format("arm64"))
		return tap_skip_all("arm64 is not built in");
	test_names();
	test_golden();
	test_all_el1();
	test_all_attached();
	test_all_others();
	test_rounding();
	test_refused();
	for (unsigned regime = 0; regime < COUNT(regimes); regime++) {
		test_ranges(regime);
		test_plain(regime);
		test_blocks(regime);
		test_calls(regime);
	}
	return tap_done();
}
