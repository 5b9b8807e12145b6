/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry helpers of arm64, of both stages: what each makes of every
 * combination of the state bits and of protections, alone and two in a row.  An
 * entry's dirty state has two forms, and no helper may lose it, or leave an entry
 * writable, dirty to software and read-only to hardware.  What the calls make of
 * an entry is what the helpers make of it.
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

/* The helpers of one stage. */
struct stage {
	const char *name, *format;
	uint64_t flip;  /* RDONLY, where bit 7 says the opposite */
	uint64_t taken; /* by modify, RDONLY apart */
	bool (*valid)(pte), (*young)(pte), (*write)(pte), (*hw_dirty)(pte), (*dirty)(pte);
	pte (*mkyoung)(pte), (*mkold)(pte), (*mkwrite)(pte), (*wrprotect)(pte), (*mkdirty)(pte), (*mkclean)(pte);
	pte (*modify)(pte, uint64_t);
};

static const struct stage stages[] = {
	{ "stage 1", "arm64", 0, VALID | (UINT64_C(7) << 2) | USER | GP | DBM | PXN | UXN,
	  pgt_arm64_pte_valid, pgt_arm64_pte_young, pgt_arm64_pte_write, pgt_arm64_pte_hw_dirty,
	  pgt_arm64_pte_dirty, pgt_arm64_pte_mkyoung, pgt_arm64_pte_mkold, pgt_arm64_pte_mkwrite,
	  pgt_arm64_pte_wrprotect, pgt_arm64_pte_mkdirty, pgt_arm64_pte_mkclean, pgt_arm64_pte_modify },
	/* MemAttr is of four bits, bit 6 is S2AP[0], bits 54:53 are XN. */
	{ "stage 2", "arm64-s2", RDONLY, VALID | (UINT64_C(15) << 2) | USER | DBM | PXN | UXN,
	  pgt_arm64_s2_pte_valid, pgt_arm64_s2_pte_young, pgt_arm64_s2_pte_write, pgt_arm64_s2_pte_hw_dirty,
	  pgt_arm64_s2_pte_dirty, pgt_arm64_s2_pte_mkyoung, pgt_arm64_s2_pte_mkold, pgt_arm64_s2_pte_mkwrite,
	  pgt_arm64_s2_pte_wrprotect, pgt_arm64_s2_pte_mkdirty, pgt_arm64_s2_pte_mkclean,
	  pgt_arm64_s2_pte_modify },
};

static const struct stage *stage;

/* Values below are stage 1's form: with RDONLY in bit 7. */
static uint64_t form(uint64_t value)
{
	return value ^ stage->flip;
}

static pte of(uint64_t value)
{
	return (pte){ form(value) };
}

/* The state: writable, software-dirty and read-only to hardware at once. */
static bool forbidden(pte p)
{
	return (form(p.value) & (RDONLY | DBM | DIRTY)) == (RDONLY | DBM | DIRTY);
}

/* Writable to hardware where software thinks it is not. */
static bool avoided(pte p)
{
	return !(form(p.value) & (RDONLY | DBM));
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
		uint64_t v = form(p.value);

		where("%#" PRIx64, p.value);
		want_u64(stage->valid(p), (v & VALID) != 0);
		want_u64(stage->young(p), (v & AF) != 0);
		want_u64(stage->write(p), writes(v));
		want_u64(stage->hw_dirty(p), hw_dirty(v));
		want_u64(stage->dirty(p), is_dirty(v));
	}
	ok(fine, "%s: predicates say what the bits do", stage->name);
}

static void test_bits(void)
{
	begin();
	for_all(p) {
		uint64_t v = form(p.value), rest = ~(RDONLY | DBM | DIRTY | AF);

		where("%#" PRIx64, p.value);
		want_u64(form(stage->mkyoung(p).value), v | AF);
		want_u64(form(stage->mkold(p).value), v & ~AF);
		want_u64(form(stage->mkwrite(p).value), (v | DBM) & ~(v & DIRTY ? RDONLY : 0));
		want_u64(form(stage->wrprotect(p).value), (v & ~DBM) | RDONLY | (hw_dirty(v) ? DIRTY : 0));
		want_u64(form(stage->mkdirty(p).value), (v | DIRTY) & ~(v & DBM ? RDONLY : 0));
		want_u64(form(stage->mkclean(p).value), (v & ~DIRTY) | RDONLY);
		want_u64(form(stage->mkclean(p).value) & rest, v & rest);
	}
	ok(fine, "%s: each helper changes its bits and no others", stage->name);
}

/* ---- The properties of a fresh entry, for every protection -------------------- */

#define YES(e) want((e))
#define NO(e) want(!(e))

static pte mkyoung(pte p) { return stage->mkyoung(p); }
static pte mkold(pte p) { return stage->mkold(p); }
static pte mkwrite(pte p) { return stage->mkwrite(p); }
static pte wrprotect(pte p) { return stage->wrprotect(p); }
static pte mkdirty(pte p) { return stage->mkdirty(p); }
static pte mkclean(pte p) { return stage->mkclean(p); }
static bool young(pte p) { return stage->young(p); }
static bool write_(pte p) { return stage->write(p); }
static bool dirty(pte p) { return stage->dirty(p); }

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
	NO(form(mkdirty(mkwrite(p)).value) & RDONLY);
	NO(form(mkwrite(mkdirty(p)).value) & RDONLY);
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
	ok(fine, "%s: what was made so is so, and nothing else is", stage->name);

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
	ok(fine, "%s: a fresh entry is clean, whatever its protection", stage->name);
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
		p.value = form(form(p.value) & ~RDONLY);
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
	ok(fine, "%s: no one helper and no two leave a forbidden state or lose dirty state, with or "
	   "without a write of hardware's between", stage->name);
}

/* ---- modify ------------------------------------------------------------------------ */

/* Protections as an embedder makes them: clean, read-only to hardware. */
static uint64_t protection(unsigned i)
{
	return (i & 1 ? VALID : 0) | RDONLY | (i & 2 ? DBM : 0) | (i & 4 ? USER : 0) |
	       (i & 8 ? PXN : 0) | (i & 16 ? UXN : 0) | (i & 32 ? GP : 0) |
	       (i & 64 ? UINT64_C(13) << 2 & stage->taken : 0);
}

static void modified(pte p, uint64_t prot)
{
	const uint64_t taken = stage->taken, state = RDONLY | DIRTY;
	pte q = stage->modify(p, form(prot | CONT | AF | DIRTY | SH | SW | BIT(30)));

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
	ok(fine, "%s: modify takes the protection and keeps address, state, hint and software bits", stage->name);

	begin();
	for_all(p)
		for (unsigned i = 0; i < 128 && !forbidden(p) && !avoided(p); i += 5)
			for (unsigned a = 0; a < N_HELPERS; a++) {
				pte q = helpers[a].make(stage->modify(p, form(protection(i))));
				pte r = stage->modify(helpers[a].make(p), form(protection(i)));

				where("%#" PRIx64 ": %s and %#" PRIx64, p.value, helpers[a].name,
				      protection(i));
				NO(forbidden(q) || avoided(q));
				NO(forbidden(r) || avoided(r));
			}
	ok(fine, "%s: modify before and after any other leaves no forbidden state", stage->name);
}

/* ---- The calls ---------------------------------------------------------------------- */

static struct embed e;
static struct pgt *t;

enum { CLEAR_WRITE, SET_WRITE, OLD, CLEAN, OLD_CLEAN, YOUNG, DIRTIED, READ_FAULT, WRITE_FAULT, CALLS };

/* What each call makes of an entry, said with the helpers. */
static pte expected(pte p, int call)
{
	switch (call) {
	case CLEAR_WRITE: return wrprotect(p);
	case SET_WRITE: return mkwrite(p);
	case OLD: return mkold(p);
	case CLEAN: return mkclean(p);
	case OLD_CLEAN: return mkold(mkclean(p));
	case YOUNG: return mkyoung(p);
	case DIRTIED: return mkdirty(p);
	case READ_FAULT: return mkyoung(p);
	default: return mkyoung(mkdirty(p));
	}
}

static int make_call(int call, uint64_t len)
{
	switch (call) {
	case CLEAR_WRITE: return pgt_protect(t, 0, len, 0, PGT_WRITE, 0, NULL);
	case SET_WRITE: return pgt_protect(t, 0, len, PGT_WRITE, 0, 0, NULL);
	case OLD: return pgt_harvest(t, 0, len, PGT_YOUNG, 0, NULL, NULL);
	case CLEAN: return pgt_harvest(t, 0, len, PGT_DIRTY, 0, NULL, NULL);
	case OLD_CLEAN: return pgt_harvest(t, 0, len, PGT_YOUNG | PGT_DIRTY, 0, NULL, NULL);
	case YOUNG: return pgt_protect(t, 0, len, PGT_YOUNG, 0, 0, NULL);
	case DIRTIED: return pgt_protect(t, 0, len, PGT_DIRTY, 0, 0, NULL);
	case READ_FAULT: return pgt_fault(t, 0, PGT_READ, NULL);
	default: return pgt_fault(t, 0, PGT_WRITE, NULL);
	}
}

/* What can't be written faults, and stays as it is. */
static void one_call(uint64_t attr, uint64_t state, int call, uint64_t len)
{
	void *at = NULL;
	pte before, after;
	int status;

	want_status(pgt_map(t, 0, GIB(1), len, attr, 0, NULL), PGT_OK);
	for (uint64_t i = 0; i < e.live && !at; i++)
		for (uint64_t k = 0; k < 4096 && !at; k += 8) {
			void *entry = embed_memory_at(&e, e.tables[i].pa + k, 8);

			if (raw_get(entry) == query(t, 0).entry)
				at = entry;
		}
	if (!want(at))
		return;
	/* The state in any form that is allowed. */
	before = of((form(raw_get(at)) & ~(RDONLY | AF | DBM | DIRTY)) | state);
	raw_put(at, before.value);
	where("%s, entry %#" PRIx64 ", call %d", stage->name, before.value, call);
	status = make_call(call, len);
	after.value = raw_get(at);
	if (call == WRITE_FAULT && !writes(state)) {
		want_status(status, PGT_EACCES);
		want_u64(after.value, before.value);
	} else {
		pte want = expected(before, call);

		want_status(status, PGT_OK);
		want_u64(after.value & ~DIRTY, want.value & ~DIRTY);
		want_u64(dirty(after), dirty(want));
		if (!hw_dirty(form(want.value)))
			want_u64(after.value, want.value);
		want(!forbidden(after) && !avoided(after));
	}
	want_status(pgt_unmap(t, 0, len, 0, NULL), PGT_OK);
}

static void test_calls(void)
{
	static const uint64_t attrs[] = { PGT_READ, RW, PGT_READ | PGT_SW1 | PGT_MEM_NOCACHE };
	struct pgt_config c;

	if (!have_format(stage->format)) {
		tap_skip("%s: arm64 was not built", stage->name);
		return;
	}
	begin();
	embed_init(&e, MIB(1), MIB(512));
	c = embed_config(&e, stage->format, 12, 40, 48, PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY |
			 PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY, EMBED_TLB);
	if (want_status(pgt_create(&c, &t), PGT_OK)) {
		for (unsigned a = 0; a < 3; a++)
			for (unsigned i = 0; i < 16; i++)
				for (int call = 0; call < CALLS; call++)
					for (unsigned big = 0; big < 2; big++) {
						uint64_t state = (i & 1 ? RDONLY : 0) | (i & 2 ? AF : 0) |
								 (i & 4 ? DBM : 0) | (i & 8 ? DIRTY : 0);

						if (!forbidden(of(state)) && !avoided(of(state)))
							one_call(attrs[a], state, call, big ? MIB(2) : KIB(4));
					}
		pgt_destroy(t);
	}
	embed_fini(&e);
	ok(fine, "%s: protect, harvest and fault make of an entry what the helpers make of it", stage->name);
}

int main(void)
{
	for (stage = stages; stage < stages + 2; stage++) {
		test_predicates();
		test_bits();
		test_properties();
		test_sequences();
		test_modify();
		test_calls();
	}
	return tap_done();
}
