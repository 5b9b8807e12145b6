/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry helpers of arm64: what each makes of every combination of the state
 * bits and of protections, alone and two in a row.  An entry's dirty state has
 * two forms, and no helper may lose it, or leave an entry writable, dirty to
 * software and read-only to hardware.
 */
#include "contract.h"

#define VALID  BIT(0)
#define USER   BIT(6)
#define RDONLY BIT(7)
#define SH     (BIT(8) | BIT(9))
#define AF     BIT(10)
#define NG     BIT(11)
#define GP     BIT(50)
#define DBM    BIT(51)
#define CONT   BIT(52)
#define PXN    BIT(53)
#define UXN    BIT(54)
#define DIRTY  BIT(55)
#define SW     (BIT(56) | BIT(57) | BIT(58))

typedef pgt_arm64_pte pte;

static pte of(uint64_t value)
{
	return (pte){ value };
}

/* The state: writable, software-dirty and read-only to hardware at once. */
static bool forbidden(pte p)
{
	return (p.value & (RDONLY | DBM | DIRTY)) == (RDONLY | DBM | DIRTY);
}

/* Writable to hardware where software thinks it is not. */
static bool avoided(pte p)
{
	return !(p.value & (RDONLY | DBM));
}

/* The table of states: what write, dirty and hardware's dirty are. */
static bool writes(uint64_t v)
{
	return v & DBM;
}

static bool hw_dirty(uint64_t v)
{
	return (v & DBM) && !(v & RDONLY);
}

static bool is_dirty(uint64_t v)
{
	return (v & DIRTY) || hw_dirty(v);
}

/* ---- Every entry ------------------------------------------------------------ */

static const uint64_t varying[] = { VALID, USER, RDONLY, AF, GP, DBM, CONT, PXN, UXN, DIRTY };
#define N_VARYING (sizeof(varying) / sizeof(*varying))

/* What none of the helpers has to do with. */
static const uint64_t others[] = {
	BIT(1), BIT(1) | SH | NG | UINT64_C(0x0000fffffffff000), BIT(1) | SW | (UINT64_C(7) << 2) | BIT(47),
	UINT64_C(0xffe0) << 32 & ~(GP | DBM | CONT | PXN | UXN | DIRTY),
};

static uint64_t pattern(unsigned i)
{
	uint64_t v = 0;

	for (unsigned k = 0; k < N_VARYING; k++)
		v |= i >> k & 1 ? varying[k] : 0;
	return v;
}

/* for_all(p): each legal state with each protection, over each of the others. */
#define for_all(p)                                                             \
	for (unsigned p##_o = 0; p##_o < 4; p##_o++)                           \
		for (unsigned p##_i = 0; p##_i < 1u << N_VARYING; p##_i++)     \
			for (pte p = of(pattern(p##_i) | others[p##_o]),       \
				 *p##_once = &p;                               \
			     p##_once; p##_once = NULL)

static void test_predicates(void)
{
	begin();
	for_all(p) {
		where("%#" PRIx64, p.value);
		want_u64(pgt_arm64_pte_valid(p), (p.value & VALID) != 0);
		want_u64(pgt_arm64_pte_young(p), (p.value & AF) != 0);
		want_u64(pgt_arm64_pte_write(p), writes(p.value));
		want_u64(pgt_arm64_pte_hw_dirty(p), hw_dirty(p.value));
		want_u64(pgt_arm64_pte_dirty(p), is_dirty(p.value));
	}
	ok(fine, "predicates say what the bits do");
}

static void test_bits(void)
{
	begin();
	for_all(p) {
		uint64_t v = p.value, rest = ~(RDONLY | DBM | DIRTY | AF);

		where("%#" PRIx64, v);
		want_u64(pgt_arm64_pte_mkyoung(p).value, v | AF);
		want_u64(pgt_arm64_pte_mkold(p).value, v & ~AF);
		want_u64(pgt_arm64_pte_mkwrite(p).value, (v | DBM) & ~(v & DIRTY ? RDONLY : 0));
		want_u64(pgt_arm64_pte_wrprotect(p).value,
			 (v & ~DBM) | RDONLY | (hw_dirty(v) ? DIRTY : 0));
		want_u64(pgt_arm64_pte_mkdirty(p).value, (v | DIRTY) & ~(v & DBM ? RDONLY : 0));
		want_u64(pgt_arm64_pte_mkclean(p).value, (v & ~DIRTY) | RDONLY);
		want_u64(pgt_arm64_pte_mkclean(p).value & rest, v & rest);
	}
	ok(fine, "each helper changes its bits and no others");
}

/* ---- The properties of a fresh entry, for every protection -------------------- */

#define YES(e) want((e))
#define NO(e) want(!(e))

static pte mkyoung(pte p) { return pgt_arm64_pte_mkyoung(p); }
static pte mkold(pte p) { return pgt_arm64_pte_mkold(p); }
static pte mkwrite(pte p) { return pgt_arm64_pte_mkwrite(p); }
static pte wrprotect(pte p) { return pgt_arm64_pte_wrprotect(p); }
static pte mkdirty(pte p) { return pgt_arm64_pte_mkdirty(p); }
static pte mkclean(pte p) { return pgt_arm64_pte_mkclean(p); }
static bool young(pte p) { return pgt_arm64_pte_young(p); }
static bool write_(pte p) { return pgt_arm64_pte_write(p); }
static bool dirty(pte p) { return pgt_arm64_pte_dirty(p); }

static void properties(pte p)
{
	where("%#" PRIx64, p.value);
	YES(young(mkyoung(mkold(p))));
	NO(young(mkold(mkyoung(p))));
	YES(dirty(mkdirty(mkclean(p))));
	NO(dirty(mkclean(mkdirty(p))));
	YES(write_(mkwrite(wrprotect(p))));
	NO(write_(wrprotect(mkwrite(p))));
	NO(dirty(wrprotect(mkclean(p))));
	YES(dirty(wrprotect(mkdirty(p))));
	YES(dirty(mkwrite(mkdirty(p))));
	NO(dirty(mkwrite(mkclean(p))));
	YES(write_(mkdirty(mkwrite(p))));
	/* What is writable and dirty needs no help of hardware. */
	NO(mkdirty(mkwrite(p)).value & RDONLY);
	NO(mkwrite(mkdirty(p)).value & RDONLY);
	/* A write-protect and back keeps the dirty state, and the clean one. */
	want_u64(dirty(mkwrite(wrprotect(p))), dirty(p));
	want_u64(dirty(wrprotect(p)), dirty(p));
	want_u64(dirty(mkwrite(p)), dirty(p));
	want_u64(write_(mkclean(p)), write_(p));
	want_u64(write_(mkdirty(p)), write_(p));
	want_u64(young(wrprotect(p)), young(p));
	want_u64(young(mkdirty(p)), young(p));
}

static void test_properties(void)
{
	begin();
	for_all(p)
		if (!forbidden(p) && !avoided(p))
			properties(p);
	ok(fine, "what was made so is so, and nothing else is");

	/* No protection starts dirty. */
	begin();
	for (unsigned i = 0; i < 32; i++) {
		pte p = of(VALID | BIT(1) | AF | RDONLY | (i & 1 ? DBM : 0) | (i & 2 ? USER : 0) |
			   (i & 4 ? PXN : 0) | (i & 8 ? UXN : 0) | (i & 16 ? GP : 0));

		where("%#" PRIx64, p.value);
		NO(dirty(p));
		NO(dirty(wrprotect(p)));
		NO(dirty(mkwrite(p)));
		YES(dirty(mkwrite(wrprotect(mkdirty(p)))));
	}
	ok(fine, "a fresh entry is clean, whatever its protection");
}

/* ---- Sequences ------------------------------------------------------------------ */

static const struct {
	const char *name;
	pte (*make)(pte);
} helpers[] = {
	{ "mkyoung", mkyoung }, { "mkold", mkold },	{ "mkwrite", mkwrite },
	{ "wrprotect", wrprotect }, { "mkdirty", mkdirty }, { "mkclean", mkclean },
};
#define N_HELPERS (sizeof(helpers) / sizeof(*helpers))

/* Hardware's own step between two: it makes a writable entry dirty. */
static pte hardware(pte p)
{
	if ((p.value & (VALID | DBM)) == (VALID | DBM))
		p.value &= ~RDONLY;
	return p;
}

static void two(pte p, unsigned a, unsigned b, bool between)
{
	pte q = helpers[a].make(p), r;

	where("%#" PRIx64 ": %s%s, %s", p.value, helpers[a].name, between ? ", a write" : "",
	      helpers[b].name);
	if (between)
		q = hardware(q);
	NO(forbidden(q));
	r = helpers[b].make(q);
	NO(forbidden(r));
	NO(avoided(r));
	/* Dirty state goes by mkclean alone. */
	if (helpers[b].make != mkclean && dirty(q))
		YES(dirty(r));
	if (helpers[a].make != mkclean && helpers[b].make != mkclean && dirty(p))
		YES(dirty(r));
	/* ... and comes by mkdirty and a write alone. */
	if (!dirty(q) && helpers[b].make != mkdirty)
		NO(dirty(r));
}

static void test_sequences(void)
{
	begin();
	for_all(p)
		for (unsigned a = 0; a < N_HELPERS && !forbidden(p) && !avoided(p); a++)
			for (unsigned b = 0; b < N_HELPERS; b++) {
				two(p, a, b, false);
				two(p, a, b, true);
			}
	ok(fine, "no one helper and no two leave a forbidden state or lose dirty state, with or "
	   "without a write of hardware's between");
}

/* ---- modify ------------------------------------------------------------------------ */

/* Protections as an embedder makes them: clean, read-only to hardware. */
static uint64_t protection(unsigned i)
{
	return (i & 1 ? VALID : 0) | RDONLY | (i & 2 ? DBM : 0) | (i & 4 ? USER : 0) |
	       (i & 8 ? PXN : 0) | (i & 16 ? UXN : 0) | (i & 32 ? GP : 0) |
	       (i & 64 ? UINT64_C(5) << 2 : 0);
}

static void modified(pte p, uint64_t prot)
{
	const uint64_t taken = VALID | (UINT64_C(7) << 2) | USER | GP | DBM | PXN | UXN;
	const uint64_t state = RDONLY | DIRTY;
	pte q = pgt_arm64_pte_modify(p, prot | CONT | AF | DIRTY | SH | SW | BIT(30));

	where("%#" PRIx64 " to %#" PRIx64, p.value, prot);
	want_u64(q.value & taken, prot & taken);
	/* The address, shareability, access flag, hint and software bits are the entry's. */
	want_u64(q.value & ~(taken | state), p.value & ~(taken | state));
	want_u64(dirty(q), dirty(p));
	NO(forbidden(q));
	NO(avoided(q));
	if (dirty(p))
		YES(q.value & DIRTY);
}

static void test_modify(void)
{
	begin();
	for_all(p)
		for (unsigned i = 0; i < 128 && !forbidden(p) && !avoided(p); i++)
			modified(p, protection(i));
	ok(fine, "modify takes the protection and keeps address, state, hint and software bits");

	begin();
	for_all(p)
		for (unsigned i = 0; i < 128 && !forbidden(p) && !avoided(p); i += 5)
			for (unsigned a = 0; a < N_HELPERS; a++) {
				pte q = helpers[a].make(pgt_arm64_pte_modify(p, protection(i)));
				pte r = pgt_arm64_pte_modify(helpers[a].make(p), protection(i));

				where("%#" PRIx64 ": %s and %#" PRIx64, p.value, helpers[a].name,
				      protection(i));
				NO(forbidden(q) || avoided(q));
				NO(forbidden(r) || avoided(r));
			}
	ok(fine, "modify before and after any other leaves no forbidden state");
}

int main(void)
{
	test_predicates();
	test_bits();
	test_properties();
	test_sequences();
	test_modify();
	return tap_done();
}
