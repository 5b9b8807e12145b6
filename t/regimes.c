/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every configuration of the arm64 formats: format, granule, input, output and
 * features are accepted or PGT_ENOTSUP exactly as the architecture's tables say,
 * which are written out here.  Each accepted one has its start level, a root of
 * the right size and alignment, its leaf sizes, and maps the last page of its
 * range to the last of its output.  Each reason to refuse is met, and counted.
 */
#include "contract.h"

enum { EL1, EL2, S2, FORMATS };

static const unsigned granules[] = { 12, 14, 16 };

static const char *const names[FORMATS] = { "arm64", "arm64-el2", "arm64-s2" };

/* ---- The architecture ------------------------------------------------------ */

/*
 * Where a walk starts, by granule and input size, the table being as small as
 * can be (DDI 0487, D8.2: initial lookup levels).  Stage 2 may have 16 tables
 * side by side, so it starts lower.
 */
struct start {
	unsigned g;
	int level;
	unsigned least, most; /* input bits */
};

static const struct start stage1[] = {
	{ 12, 3, 16, 21 }, { 12, 2, 22, 30 }, { 12, 1, 31, 39 }, { 12, 0, 40, 48 }, { 12, -1, 49, 52 },
	{ 14, 3, 16, 25 }, { 14, 2, 26, 36 }, { 14, 1, 37, 47 }, { 14, 0, 48, 52 },
	{ 16, 3, 17, 29 }, { 16, 2, 30, 42 }, { 16, 1, 43, 52 },
};

static const struct start stage2[] = {
	{ 12, 3, 16, 24 }, { 12, 2, 25, 34 }, { 12, 1, 35, 43 }, { 12, 0, 44, 52 },
	{ 14, 3, 16, 29 }, { 14, 2, 30, 40 }, { 14, 1, 41, 51 }, { 14, 0, 52, 52 },
	{ 16, 3, 17, 33 }, { 16, 2, 34, 46 }, { 16, 1, 47, 52 },
};

/*
 * Where stage 2 may be told to start (VTCR_EL2.SL0 and SL2): the input sizes
 * that one to 16 tables of that level cover, the smallest physical size of a
 * CPU that has the code, and what else it takes.
 */
static const struct {
	struct start at;
	unsigned output;
	uint64_t need;
} asked[] = {
	{ { 12, 3, 16, 25 }, 32, PGT_FEAT_ST },
	{ { 12, 2, 22, 34 }, 32, 0 },
	{ { 12, 1, 31, 43 }, 32, 0 },
	{ { 12, 0, 40, 52 }, 44, 0 },
	{ { 12, -1, 49, 52 }, 52, PGT_FEAT_LPA2 },
	{ { 14, 3, 16, 29 }, 32, 0 },
	{ { 14, 2, 26, 40 }, 32, 0 },
	{ { 14, 1, 37, 51 }, 42, 0 },
	{ { 14, 0, 48, 52 }, 52, PGT_FEAT_LPA2 },
	{ { 16, 3, 17, 33 }, 32, 0 },
	{ { 16, 2, 30, 46 }, 32, 0 },
	{ { 16, 1, 43, 52 }, 44, 0 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Address bits below an entry, by granule and level + 1 (DDI 0487, D8.2). */
static unsigned below(unsigned g, int level)
{
	static const unsigned bits[3][5] = {
		{ 48, 39, 30, 21, 12 }, { 58, 47, 36, 25, 14 }, { 68, 55, 42, 29, 16 },
	};

	return bits[(g - 12) / 2][level + 1];
}

enum reason {
	ACCEPTED,
	NO_GRANULE,        /* neither 4K, 16K nor 64K */
	LPA_GRANULE,       /* FEAT_LPA is of 64K alone */
	LPA2_GRANULE,      /* FEAT_LPA2 is of 4K and 16K */
	LVA_GRANULE,       /* FEAT_LVA is of 64K */
	STAGE2_ALONE,      /* FEAT_XNX and FEAT_FWB change stage 2 */
	NO_UPPER,          /* EL2 and stage 2 have one range */
	SMALL_WITHOUT_ST,  /* 16 to 24 bits */
	TOO_SMALL,         /* T0SZ above 48, or 47 for 64K */
	LARGE_WITHOUT_LPA2, LARGE_WITHOUT_LVA, LARGE_WITHOUT_LPA, /* input of 49 to 52 bits */
	TOO_LARGE,         /* more than 52 */
	NO_OUTPUT,         /* no code says this size */
	OUTPUT_WITHOUT_LPA, OUTPUT_WITHOUT_LPA2,
	BEYOND_OUTPUT,     /* an intermediate address that no physical size has */
	REASONS
};

static const char *const reasons[REASONS] = {
	[ACCEPTED] = "accepted",
	[NO_GRANULE] = "a granule that is not 4K, 16K or 64K",
	[LPA_GRANULE] = "FEAT_LPA without 64K",
	[LPA2_GRANULE] = "FEAT_LPA2 with 64K",
	[LVA_GRANULE] = "FEAT_LVA without 64K",
	[STAGE2_ALONE] = "FEAT_XNX or FEAT_FWB at stage 1",
	[NO_UPPER] = "an upper half at EL2 or stage 2",
	[SMALL_WITHOUT_ST] = "input below 25 bits without FEAT_TTST",
	[TOO_SMALL] = "input below 16 bits (64K: 17)",
	[LARGE_WITHOUT_LPA2] = "4K or 16K, input above 48 bits without FEAT_LPA2",
	[LARGE_WITHOUT_LVA] = "64K, stage 1, input above 48 bits without FEAT_LVA",
	[LARGE_WITHOUT_LPA] = "64K, stage 2, input above 48 bits without FEAT_LPA",
	[TOO_LARGE] = "input above 52 bits",
	[NO_OUTPUT] = "an output size that no register can say",
	[OUTPUT_WITHOUT_LPA] = "64K, output of 52 bits without FEAT_LPA",
	[OUTPUT_WITHOUT_LPA2] = "4K or 16K, output of 52 bits without FEAT_LPA2",
	[BEYOND_OUTPUT] = "stage 2, input above the output",
};

struct shape {
	unsigned format, g, input, output;
	uint64_t features;
};

static bool is_output(unsigned output)
{
	return output == 32 || output == 36 || output == 40 || output == 42 || output == 44 ||
	       output == 48 || output == 52;
}

static enum reason features_reason(const struct shape *s)
{
	bool large = s->g == 16;

	if (!large && s->features & PGT_FEAT_LPA)
		return LPA_GRANULE;
	if (large && s->features & PGT_FEAT_LPA2)
		return LPA2_GRANULE;
	if (!large && s->features & PGT_FEAT_LVA)
		return LVA_GRANULE;
	if (s->format != S2 && s->features & (PGT_FEAT_XNX | PGT_FEAT_FWB))
		return STAGE2_ALONE;
	return s->format != EL1 && s->features & PGT_FEAT_UPPER ? NO_UPPER : ACCEPTED;
}

static enum reason input_reason(const struct shape *s)
{
	if (s->input < (s->g == 16 ? 17 : 16))
		return TOO_SMALL;
	if (s->input < 25 && !(s->features & PGT_FEAT_ST))
		return SMALL_WITHOUT_ST;
	if (s->input > 52)
		return TOO_LARGE;
	if (s->input <= 48)
		return ACCEPTED;
	if (s->g != 16)
		return s->features & PGT_FEAT_LPA2 ? ACCEPTED : LARGE_WITHOUT_LPA2;
	if (s->format == S2)
		return s->features & PGT_FEAT_LPA ? ACCEPTED : LARGE_WITHOUT_LPA;
	return s->features & PGT_FEAT_LVA ? ACCEPTED : LARGE_WITHOUT_LVA;
}

static enum reason output_reason(const struct shape *s)
{
	if (!is_output(s->output))
		return NO_OUTPUT;
	if (s->output == 52 && s->g == 16 && !(s->features & PGT_FEAT_LPA))
		return OUTPUT_WITHOUT_LPA;
	if (s->output == 52 && s->g != 16 && !(s->features & PGT_FEAT_LPA2))
		return OUTPUT_WITHOUT_LPA2;
	return s->format == S2 && s->input > s->output ? BEYOND_OUTPUT : ACCEPTED;
}

static enum reason verdict(const struct shape *s)
{
	enum reason r;

	if (s->g != 12 && s->g != 14 && s->g != 16)
		return NO_GRANULE;
	r = features_reason(s);
	if (r == ACCEPTED)
		r = input_reason(s);
	return r == ACCEPTED ? output_reason(s) : r;
}

static int start_of(const struct shape *s)
{
	const struct start *table = s->format == S2 ? stage2 : stage1;
	size_t n = s->format == S2 ? COUNT(stage2) : COUNT(stage1);

	/* 4K with FEAT_TTST: 16 tables of pages cover 25 bits. */
	if (s->format == S2 && s->g == 12 && s->input == 25 && s->features & PGT_FEAT_ST)
		return 3;
	for (size_t i = 0; i < n; i++)
		if (table[i].g == s->g && s->input >= table[i].least && s->input <= table[i].most)
			return table[i].level;
	return 99;
}

/* Leaves and runs: 4K 512G (LPA2), 1G, 2M; 16K 64G (LPA2), 32M; 64K 4T (LPA), 512M. */
static uint64_t sizes_of(const struct shape *s, int start)
{
	static const struct {
		unsigned g;
		int level;
		unsigned leaf, run; /* logarithms; run 0: none */
		uint64_t need;
	} rows[] = {
		{ 12, 3, 12, 16, 0 }, { 12, 2, 21, 25, 0 }, { 12, 1, 30, 34, 0 },
		{ 12, 0, 39, 0, PGT_FEAT_LPA2 },
		{ 14, 3, 14, 21, 0 }, { 14, 2, 25, 30, 0 }, { 14, 1, 36, 0, PGT_FEAT_LPA2 },
		{ 16, 3, 16, 21, 0 }, { 16, 2, 29, 34, 0 }, { 16, 1, 42, 0, PGT_FEAT_LPA },
	};
	uint64_t sizes = 0;

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned run = rows[i].run;

		if (rows[i].g != s->g || rows[i].level < start || (s->features & rows[i].need) != rows[i].need)
			continue;
		if (rows[i].level < 3 && s->features & PGT_FEAT_NO_BLOCKS)
			continue;
		sizes |= BIT(rows[i].leaf);
		/* No runs at a root that has fewer entries. */
		if (s->features & PGT_FEAT_CONTIG && run && (rows[i].level > start || run <= s->input))
			sizes |= BIT(run);
	}
	return sizes;
}

static uint64_t root_bytes_of(const struct shape *s, int start)
{
	uint64_t bytes = UINT64_C(8) << (s->input - below(s->g, start));

	return bytes < 64 ? 64 : bytes;
}

/* ---- One configuration ------------------------------------------------------- */

static struct embed e;
static struct pgt_arm64_config own;
static _Alignas(16) unsigned char storage[2048];

static struct pgt_config config_of(const struct shape *s)
{
	return embed_config(&e, names[s->format], s->g, s->input, s->output, s->features, 0);
}

static void say(const struct shape *s)
{
	where("%s, granule %u, input %u, output %u, features %#" PRIx64 ", levels %u", names[s->format], s->g,
	      s->input, s->output, s->features, own.levels);
}

/* The last page of the range, mapped to the last of the output. */
static void try_last_page(struct pgt *t, const struct shape *s, int start)
{
	uint64_t page = BIT(s->g), base = s->features & PGT_FEAT_UPPER ? 0 - BIT(s->input) : 0;
	uint64_t va = base + (BIT(s->input) - page), pa = BIT(s->output) - page;
	struct pgt_translation tr = { 0 };
	struct pgt_mapping m;

	m = query(t, va);
	want(m.state == PGT_EMPTY && m.level == start);
	want_status(pgt_map(t, va, pa, page, RW, 0, NULL), PGT_OK);
	m = query(t, va + page - 1);
	want(m.state == PGT_LEAF && m.level == 3);
	want_u64(m.pa, pa);
	want_status(pgt_translate(t, va + page - 1, PGT_WRITE, &tr), PGT_OK);
	want_u64(tr.pa, pa + page - 1);
	want_u64(e.live, (uint64_t)(3 - start) + 1);
	/* The first page has a place of its own. */
	if (s->input > s->g)
		want(is_empty(t, base));
	want_status(pgt_unmap(t, va, page, 0, NULL), PGT_OK);
	want_u64(e.live, 1);
	if (s->input < 64 && !base)
		want_status(pgt_map(t, BIT(s->input), 0, page, RW, 0, NULL), PGT_ERANGE);
	want_status(pgt_map(t, va, BIT(s->output), page, RW, 0, NULL), PGT_ERANGE);
}

static void try_accepted(const struct shape *s, int start)
{
	struct pgt_config c = config_of(s), d = { .size = sizeof(d) };
	struct pgt *t = NULL;

	c.format_config = own.levels ? &own : NULL;
	embed_log_clear(&e);
	if (!want_status(pgt_init(storage, sizeof(storage), &c, &t), PGT_OK) || !t)
		return;
	want_u64(e.count[EMBED_ALLOC], 1);
	want_u64(e.log[0].bytes, root_bytes_of(s, start));
	want_u64(pgt_root(t) % root_bytes_of(s, start), 0);
	want_u64(pgt_leaf_sizes(t), sizes_of(s, start));
	want_status(pgt_describe(t, &d), PGT_OK);
	want(d.granule_bits == s->g && d.input_bits == s->input && d.output_bits == s->output &&
	     d.features == s->features);
	if (s->format == S2) {
		const struct pgt_arm64_config *in_force = d.format_config;

		want_u64(in_force->levels, (uint64_t)(4 - start));
	}
	try_last_page(t, s, start);
	pgt_destroy(t);
	want_u64(e.live, 0);
}

static void try_refused(const struct shape *s)
{
	struct pgt_config c = config_of(s);
	struct pgt *t = NULL;

	c.format_config = own.levels ? &own : NULL;
	embed_log_clear(&e);
	want_status(pgt_init(storage, sizeof(storage), &c, &t), PGT_ENOTSUP);
	want(!t && !e.count[EMBED_ALLOC]);
	pgt_destroy(t);
	want_u64(pgt_storage(&c), 0);
}

/* ---- All of them --------------------------------------------------------------- */

static const uint64_t matrix_features[] = {
	PGT_FEAT_LPA, PGT_FEAT_LPA2, PGT_FEAT_LVA, PGT_FEAT_ST, PGT_FEAT_XNX, PGT_FEAT_FWB, PGT_FEAT_UPPER,
};

static uint64_t nth_features(unsigned n)
{
	uint64_t features = 0;

	for (unsigned i = 0; i < COUNT(matrix_features); i++)
		features |= n >> i & 1 ? matrix_features[i] : 0;
	return features;
}

static void test_matrix(unsigned format)
{
	uint64_t met[REASONS] = { 0 }, all = 0, refused = 0;
	struct shape s = { .format = format };
	unsigned kinds = 0;

	begin();
	for (unsigned gi = 0; gi < 3; gi++)
		for (unsigned n = 0; n < 1u << COUNT(matrix_features); n++)
			for (s.input = 10; s.input <= 56; s.input++)
				for (s.output = 30; s.output <= 56 && complaints < 100; s.output++) {
					enum reason r;

					s.g = granules[gi];
					s.features = nth_features(n);
					r = verdict(&s);
					say(&s);
					met[r]++;
					all++;
					if (r == ACCEPTED)
						try_accepted(&s, start_of(&s));
					else
						try_refused(&s);
				}
	s.input = s.output = 48;
	for (s.g = 1, s.features = 0; s.g < 40; s.g++) {
		say(&s);
		if (verdict(&s) != NO_GRANULE)
			continue;
		met[NO_GRANULE]++;
		all++;
		try_refused(&s);
	}
	for (unsigned r = 1; r < REASONS; r++) {
		if (!met[r])
			continue;
		note("%s: %" PRIu64 " refused: %s", names[format], met[r], reasons[r]);
		refused += met[r];
		kinds++;
	}
	where("%s", names[format]);
	/* What the format can be refused for at all. */
	want_u64(kinds, format == S2 ? 14 : format == EL2 ? 14 : 13);
	want_u64(met[ACCEPTED] + refused, all);
	ok(fine, "%s: %" PRIu64 " configurations, %" PRIu64 " accepted and tried, %" PRIu64
	   " refused for %u reasons", names[format], all, met[ACCEPTED], refused, kinds);
}

/* With runs and without blocks: leaf sizes follow. */
static void test_sizes(unsigned format)
{
	static const uint64_t more[] = { PGT_FEAT_CONTIG, PGT_FEAT_NO_BLOCKS, PGT_FEAT_CONTIG | PGT_FEAT_NO_BLOCKS };
	struct shape s = { .format = format };
	uint64_t n = 0;

	begin();
	for (unsigned gi = 0; gi < 3; gi++)
		for (unsigned m = 0; m < 9; m++)
			for (s.input = 16; s.input <= 52; s.input++) {
				s.g = granules[gi];
				s.features = PGT_FEAT_ST | more[m % 3];
				if (m / 3)
					s.features |= s.g == 16 ? PGT_FEAT_LPA : PGT_FEAT_LPA2;
				if (m / 3 && s.g == 16 && format != S2)
					s.features |= PGT_FEAT_LVA;
				s.output = m / 3 == 2 ? 52 : 48;
				if (verdict(&s) != ACCEPTED)
					continue;
				say(&s);
				try_accepted(&s, start_of(&s));
				n++;
			}
	ok(fine, "%s: leaf sizes with runs and without blocks, %" PRIu64 " shapes", names[format], n);
}

/* ---- Stage 2: levels asked for, concatenation ------------------------------------- */

static bool start_exists(const struct shape *s, int start)
{
	for (size_t i = 0; i < COUNT(asked); i++)
		if (asked[i].at.g == s->g && asked[i].at.level == start)
			return s->input >= asked[i].at.least && s->input <= asked[i].at.most &&
			       s->output >= asked[i].output && (s->features & asked[i].need) == asked[i].need;
	return false;
}

static void test_levels(void)
{
	static const unsigned outputs[] = { 32, 36, 40, 42, 44, 48, 52 };
	struct shape s = { .format = S2 };
	uint64_t accepted = 0, refused = 0, concatenated[5] = { 0 };

	begin();
	own = (struct pgt_arm64_config){ .size = sizeof(own) };
	for (unsigned gi = 0; gi < 3; gi++)
		for (unsigned o = 0; o < 7; o++)
			for (unsigned f = 0; f < 4; f++)
				for (s.input = 10; s.input <= 53; s.input++)
					for (own.levels = 1; own.levels <= 7; own.levels++) {
						int start = 4 - (int)own.levels;
						unsigned tables;

						s.g = granules[gi];
						s.output = outputs[o];
						s.features = f & 1 ? PGT_FEAT_ST : 0;
						if (f & 2)
							s.features |= s.g == 16 ? PGT_FEAT_LPA : PGT_FEAT_LPA2;
						say(&s);
						if (verdict(&s) != ACCEPTED || !start_exists(&s, start)) {
							try_refused(&s);
							refused++;
							continue;
						}
						try_accepted(&s, start);
						accepted++;
						tables = s.input - below(s.g, start);
						tables = tables > s.g - 3 ? tables - (s.g - 3) : 0;
						concatenated[tables]++;
					}
	own.levels = 0;
	for (unsigned i = 0; i < 5; i++)
		want(concatenated[i]);
	ok(fine, "arm64-s2: levels asked for: %" PRIu64 " accepted, with roots of 1, 2, 4, 8 and 16 tables; "
	   "%" PRIu64 " refused", accepted, refused);
}

/* The deepest start is the one that is taken, and no start is above it. */
static void test_deepest(void)
{
	struct shape s = { .format = S2 };

	begin();
	for (unsigned gi = 0; gi < 3; gi++)
		for (s.input = 25; s.input <= 48; s.input++) {
			int start;

			s.g = granules[gi];
			s.output = 48;
			start = start_of(&s);
			say(&s);
			want(start_exists(&s, start));
			for (int deeper = start + 1; deeper <= 3; deeper++)
				want(!start_exists(&s, deeper));
		}
	ok(fine, "arm64-s2: the two tables here, of starts taken and of starts that exist, agree");
}

/* Starts that a CPU must not use, because concatenation stands in for them. */
static void test_mandatory(void)
{
	static const struct {
		struct shape s;
		unsigned levels, tables; /* refused; what is used instead, and its root */
	} rows[] = {
		{ { S2, 14, 48, 48, 0 }, 4, 2 },
		{ { S2, 14, 48, 48, PGT_FEAT_LPA2 }, 4, 2 },
		{ { S2, 12, 40, 40, 0 }, 4, 2 },
		{ { S2, 12, 40, 42, 0 }, 4, 2 },
		{ { S2, 12, 42, 42, 0 }, 4, 8 },
		{ { S2, 14, 40, 40, 0 }, 3, 16 },
		{ { S2, 14, 37, 40, 0 }, 3, 2 },
	};

	begin();
	for (size_t i = 0; i < COUNT(rows); i++) {
		own = (struct pgt_arm64_config){ .size = sizeof(own), .levels = (uint16_t)rows[i].levels };
		say(&rows[i].s);
		try_refused(&rows[i].s);
		own.levels = 0;
		try_accepted(&rows[i].s, 5 - (int)rows[i].levels);
		want_u64(root_bytes_of(&rows[i].s, 5 - (int)rows[i].levels), (uint64_t)rows[i].tables << rows[i].s.g);
	}
	ok(fine, "arm64-s2: where concatenation is mandatory, one level more is PGT_ENOTSUP");
}

/* ---- Cases -------------------------------------------------------------------------- */

static void test_case_8(void)
{
	static const struct {
		unsigned input;
		int start;
		uint64_t root;
	} rows[] = { { 40, 1, KIB(8) }, { 43, 1, KIB(64) }, { 44, 0, 256 } };

	begin();
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct shape s = { S2, 12, rows[i].input, 48, 0 };
		struct pgt_config c = config_of(&s);
		struct pgt_translation tr = { 0 };
		struct pgt *t = NULL;

		say(&s);
		embed_log_clear(&e);
		if (!want_status(pgt_init(storage, sizeof(storage), &c, &t), PGT_OK))
			continue;
		want_u64(e.log[0].bytes, rows[i].root);
		want_u64(pgt_root(t) % rows[i].root, 0);
		want(query(t, 0).level == rows[i].start);
		want_status(pgt_map(t, UINT64_C(0x8000000000), GIB(1), GIB(1), RW, 0, NULL), PGT_OK);
		want_status(pgt_translate(t, UINT64_C(0x8012345678), PGT_READ, &tr), PGT_OK);
		want_u64(tr.pa, UINT64_C(0x52345678));
		/* The other half of the root is no copy of it. */
		want(is_empty(t, UINT64_C(0x12345678)));
		want_status(pgt_map(t, UINT64_C(0x7fc0000000), GIB(8), GIB(1), RW, 0, NULL), PGT_OK);
		want_status(pgt_translate(t, UINT64_C(0x7fffffffff), PGT_READ, &tr), PGT_OK);
		want_u64(tr.pa, GIB(9) - 1);
		want_status(pgt_unmap(t, UINT64_C(0x7fc0000000), GIB(2), 0, NULL), PGT_OK);
		want(is_empty(t, UINT64_C(0x7fc0000000)) && is_empty(t, UINT64_C(0x8000000000)));
		/* One map across each seam between tables of the root, and the last byte. */
		for (uint64_t seam = BIT(39); seam && seam < BIT(s.input); seam += BIT(39)) {
			want_status(pgt_map(t, seam - MIB(2), MIB(6), MIB(4), RW, 0, NULL), PGT_OK);
			want_u64(reads(t, seam - 1), MIB(8) - 1);
			want_u64(reads(t, seam), MIB(8));
			want_status(pgt_unmap(t, seam - MIB(2), MIB(4), 0, NULL), PGT_OK);
		}
		want_u64(e.live, 1);
		pgt_destroy(t);
	}
	ok(fine, "case 8: Only the first table of a concatenated stage-2 root is used");
}

static void test_case_10(void)
{
	static const unsigned outputs[] = { 32, 36, 40, 42, 44, 48, 52 };

	begin();
	for (unsigned f = 0; f < FORMATS; f++)
		for (unsigned gi = 0; gi < 3; gi++)
			for (unsigned code = 0; code < 7; code++) {
				struct shape s = { f, granules[gi], 32, outputs[code], 0 };
				struct pgt_arm64_regs regs = { .size = sizeof(regs) };
				struct pgt_config c;
				struct pgt *t = NULL;

				if (s.output == 52)
					s.features = s.g == 16 ? PGT_FEAT_LPA : PGT_FEAT_LPA2;
				say(&s);
				c = config_of(&s);
				if (!want_status(pgt_init(storage, sizeof(storage), &c, &t), PGT_OK))
					continue;
				want_status(pgt_arm64_regs(t, NULL, &regs), PGT_OK);
				want_u64(f == EL1 ? regs.tcr >> 32 & 7 : (f == EL2 ? regs.tcr : regs.vtcr) >> 16 & 7,
					 code);
				/* The whole of the size, and no more, is there. */
				want_status(pgt_map(t, 0, BIT(s.output) - BIT(s.g), BIT(s.g), RW, 0, NULL), PGT_OK);
				want_status(pgt_map(t, BIT(s.g), BIT(s.output), BIT(s.g), RW, 0, NULL), PGT_ERANGE);
				pgt_destroy(t);
			}
	/* In between there are none: refused, neither rounded nor cut. */
	for (unsigned f = 0; f < FORMATS; f++)
		for (unsigned output = 30; output < 56; output++) {
			struct shape s = { f, 12, 30, output, PGT_FEAT_LPA2 };

			say(&s);
			if (!is_output(output))
				try_refused(&s);
		}
	ok(fine, "case 10: Physical size code decoded as 32 + 4n");
}

static void test_case_12(void)
{
	/* Granule, input, start level, root entries, features. */
	static const struct {
		unsigned g, input;
		int start;
		unsigned entries;
		uint64_t features;
	} rows[] = {
		{ 12, 25, 2, 16, 0 }, { 12, 30, 2, 512, 0 }, { 12, 36, 1, 64, 0 }, { 12, 39, 1, 512, 0 },
		{ 12, 42, 0, 8, 0 }, { 12, 48, 0, 512, 0 }, { 14, 36, 2, 2048, 0 }, { 14, 47, 1, 2048, 0 },
		{ 14, 48, 0, 2, 0 }, { 16, 42, 2, 8192, 0 }, { 16, 48, 1, 64, 0 },
		{ 16, 52, 1, 1024, PGT_FEAT_LVA }, { 12, 52, -1, 16, PGT_FEAT_LPA2 },
		{ 12, 49, -1, 2, PGT_FEAT_LPA2 }, { 14, 52, 0, 32, PGT_FEAT_LPA2 },
		{ 12, 16, 3, 16, PGT_FEAT_ST }, { 12, 21, 3, 512, PGT_FEAT_ST }, { 12, 22, 2, 2, PGT_FEAT_ST },
		{ 14, 16, 3, 4, PGT_FEAT_ST }, { 16, 17, 3, 2, PGT_FEAT_ST },
	};

	begin();
	for (unsigned f = EL1; f <= EL2; f++)
		for (size_t i = 0; i < COUNT(rows); i++)
			for (unsigned upper = 0; upper <= (f == EL1); upper++) {
				struct shape s = { f, rows[i].g, rows[i].input, 48, rows[i].features };

				s.features |= upper ? PGT_FEAT_UPPER : 0;
				say(&s);
				want_u64(verdict(&s), ACCEPTED);
				want(start_of(&s) == rows[i].start);
				want_u64(root_bytes_of(&s, rows[i].start),
					 rows[i].entries < 8 ? 64 : 8 * rows[i].entries);
				try_accepted(&s, rows[i].start);
			}
	ok(fine, "case 12: Start level fixed instead of derived from the width: 52 bits, small tables, EL2");
}

static void test_case_14(void)
{
	const uint64_t just_above = BIT(48);
	struct shape s;

	begin();
	for (unsigned f = 0; f < FORMATS; f++) {
		s = (struct shape){ f, 12, 40, 52, PGT_FEAT_LPA };
		say(&s);
		try_refused(&s);
		for (unsigned gi = 0; gi < 3; gi++)
			for (unsigned n = 0; n < 4; n++) {
				uint64_t features = (n & 1 ? PGT_FEAT_LPA : 0) | (n & 2 ? PGT_FEAT_LPA2 : 0);
				bool has = granules[gi] == 16 ? n == 1 : n == 2;
				struct pgt_config c;
				struct pgt *t = NULL;

				s = (struct shape){ f, granules[gi], 40, 52, features };
				say(&s);
				if (has)
					try_accepted(&s, start_of(&s));
				else
					try_refused(&s);
				s.output = 48;
				if (verdict(&s) != ACCEPTED)
					continue;
				say(&s);
				c = config_of(&s);
				if (!want_status(pgt_init(storage, sizeof(storage), &c, &t), PGT_OK))
					continue;
				want_status(pgt_map(t, BIT(s.g), just_above, BIT(s.g), RW, 0, NULL), PGT_ERANGE);
				want_status(pgt_map(t, BIT(s.g), just_above - BIT(s.g), 2 * BIT(s.g), RW, 0, NULL),
					    PGT_ERANGE);
				want_u64(e.live, 1);
				pgt_destroy(t);
			}
	}
	ok(fine, "case 14: 52-bit physical treated as available for 4K because the 64K variant has it");
}

static void test_case_16(void)
{
	/* 4K, 48 bits each; stage 2 starts at level 0. RES1 bits: TCR_EL2 31 and 23,
	 * VTCR_EL2 31. Walks are write-back and inner shareable. */
	static const struct {
		unsigned format;
		uint64_t golden;
	} rows[] = {
		{ EL2, UINT64_C(0x80853510) },
		{ S2, UINT64_C(0x80053590) },
	};

	begin();
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct shape s = { rows[i].format, 12, 48, 48, 0 };
		struct pgt_arm64_regs regs = { .size = sizeof(regs) };
		struct pgt_config c = config_of(&s);
		struct pgt *t = NULL;

		say(&s);
		if (!want_status(pgt_init(storage, sizeof(storage), &c, &t), PGT_OK))
			continue;
		want_status(pgt_arm64_regs(t, NULL, &regs), PGT_OK);
		want_u64(s.format == EL2 ? regs.tcr : regs.vtcr, rows[i].golden);
		pgt_destroy(t);
	}
	ok(fine, "case 16: Sign extension of a 1<<31 constant into a 64-bit control value");
}

static void test_case_17(void)
{
	static const struct {
		unsigned input, output;
		int start; /* 99: refused */
		uint64_t root;
		unsigned sl0;
	} rows[] = {
		{ 48, 40, 99, 0, 0 }, { 40, 40, 1, KIB(8), 1 }, { 39, 40, 1, KIB(4), 1 }, { 32, 40, 2, KIB(16), 0 },
	};

	begin();
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct shape s = { S2, 12, rows[i].input, rows[i].output, 0 };
		struct pgt_arm64_regs regs = { .size = sizeof(regs) };
		struct pgt_config c = config_of(&s);
		struct pgt *t = NULL;

		say(&s);
		if (rows[i].start == 99) {
			try_refused(&s);
			continue;
		}
		try_accepted(&s, rows[i].start);
		want_u64(root_bytes_of(&s, rows[i].start), rows[i].root);
		if (!want_status(pgt_init(storage, sizeof(storage), &c, &t), PGT_OK))
			continue;
		want_status(pgt_arm64_regs(t, NULL, &regs), PGT_OK);
		want_u64(regs.vtcr >> 6 & 3, rows[i].sl0);
		pgt_destroy(t);
	}
	ok(fine, "case 17: Stage-2 request wider than the CPU's physical size");
}

/* What the other stage's configuration has. */
static void test_own(void)
{
	static const struct {
		unsigned format;
		struct pgt_arm64_config own;
		int code;
	} rows[] = {
		{ EL1, { sizeof(own), 4, 0, 0 }, PGT_ENOTSUP }, { EL2, { sizeof(own), 4, 0, 0 }, PGT_ENOTSUP },
		{ S2, { sizeof(own), 0, 0, 0xff }, PGT_ENOTSUP },
		{ S2, { sizeof(own), 0, PGT_ARM64_WXN, 0 }, PGT_ENOTSUP },
		{ S2, { sizeof(own), 0, PGT_ARM64_HPD, 0 }, PGT_ENOTSUP },
		{ EL1, { sizeof(own), 0, 4, 0 }, PGT_EINVAL }, { S2, { sizeof(own), 0, 4, 0 }, PGT_EINVAL },
		{ S2, { sizeof(own) - 1, 0, 0, 0 }, PGT_EINVAL }, { S2, { sizeof(own), 4, 0, 0 }, PGT_OK },
		{ EL2, { sizeof(own), 0, PGT_ARM64_WXN | PGT_ARM64_HPD, 0xff }, PGT_OK },
	};

	begin();
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct shape s = { rows[i].format, 12, 48, 48, 0 };
		struct pgt_config c = config_of(&s);
		struct pgt *t = NULL;

		where("row %u", (unsigned)i);
		c.format_config = &rows[i].own;
		want_status(pgt_init(storage, sizeof(storage), &c, &t), rows[i].code);
		want(!t == (rows[i].code != PGT_OK));
		pgt_destroy(t);
		want_u64(e.live, 0);
	}
	ok(fine, "pgt_arm64_config: what the other stage has is PGT_ENOTSUP, what nothing has PGT_EINVAL");
}

/* ---- Roots ---------------------------------------------------------------------------- */

/* An allocator that gives the root out where it is told to. */
static struct {
	_Alignas(1 << 20) unsigned char memory[3 << 20];
	uint64_t at, lent;
} pool;

static int pool_alloc(void *ctx, uint64_t bytes, uint64_t *pa)
{
	(void)ctx;
	pool.lent++;
	*pa = MIB(512) + pool.at;
	memset(pool.memory + pool.at, 0, bytes);
	return 0;
}

static void pool_free(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx, (void)bytes;
	want_u64(pa, MIB(512) + pool.at);
	pool.lent--;
}

static void *pool_virt(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx, (void)bytes;
	return pool.memory + (pa - MIB(512));
}

/* A root is aligned to its size, 64 bytes at least, and to no more. */
static void test_root_alignment(void)
{
	static const struct shape rows[] = {
		{ EL1, 16, 17, 48, PGT_FEAT_ST }, { EL1, 12, 42, 48, 0 }, { EL1, 12, 25, 48, 0 },
		{ EL2, 14, 48, 48, 0 }, { EL1, 12, 39, 48, 0 }, { EL1, 14, 52, 52, PGT_FEAT_LPA2 },
		{ S2, 12, 40, 48, 0 }, { S2, 12, 43, 48, 0 }, { S2, 14, 40, 48, 0 }, { S2, 16, 46, 48, 0 },
		{ S2, 12, 52, 52, PGT_FEAT_LPA2 }, { S2, 14, 51, 52, PGT_FEAT_LPA2 },
	};

	begin();
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t bytes = root_bytes_of(&rows[i], start_of(&rows[i]));
		struct pgt_config c = config_of(&rows[i]);

		c.memory = (struct pgt_memory){ pool_alloc, pool_free, pool_virt, NULL, NULL, NULL, 0, 0, { 0 } };
		for (uint64_t align = 8; align <= bytes; align *= 2) {
			struct pgt *t = NULL;

			pool.at = MIB(1) + align;
			say(&rows[i]);
			want_status(pgt_init(storage, sizeof(storage), &c, &t), align < bytes ? PGT_EINVAL : PGT_OK);
			want_u64(pool.lent, align < bytes ? 0 : 1);
			if (t)
				pgt_destroy(t);
			want_u64(pool.lent, 0);
		}
	}
	ok(fine, "a root that is not aligned to its size is given back, one that is is enough: from 64 bytes to 16 tables");
}

int main(void)
{
	if (!have_format("arm64"))
		return tap_skip_all("arm64 was not built");
	embed_init(&e, MIB(8), MIB(512));
	for (unsigned f = 0; f < FORMATS; f++) {
		test_matrix(f);
		test_sizes(f);
	}
	test_deepest();
	test_levels();
	test_mandatory();
	test_case_8();
	test_case_10();
	test_case_12();
	test_case_14();
	test_case_16();
	test_case_17();
	test_own();
	test_root_alignment();
	embed_fini(&e);
	return tap_done();
}
