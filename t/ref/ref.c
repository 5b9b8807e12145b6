/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "ref.h"

#define BIT(n)         (UINT64_C(1) << (n))
#define BITS(high, low) ((~UINT64_C(0) >> (63 - (high))) & ~(BIT(low) - 1))

#define D_VALID    BIT(0)
#define D_TABLE    BIT(1)
#define D_ATTRINDX BITS(4, 2)
#define D_MEMATTR  BITS(5, 2) /* stage 2 */
#define D_NS       BIT(5)
#define D_AP1      BIT(6) /* unprivileged access */
#define D_AP2      BIT(7) /* read-only, or clean */
#define D_S2R      BIT(6) /* stage 2: S2AP */
#define D_S2W      BIT(7)
#define D_SH       BITS(9, 8)
#define D_AF       BIT(10)
#define D_NG       BIT(11)
#define D_GP       BIT(50)
#define D_DBM      BIT(51)
#define D_CONT     BIT(52)
#define D_PXN      BIT(53)
#define D_UXN      BIT(54) /* XN where there is one privilege level */
#define D_XN0      BIT(53) /* stage 2: XN[0], of FEAT_XNX */
#define D_XN1      BIT(54)
#define D_SWDIRTY  BIT(55)
#define D_SW       BITS(58, 56)

#define T_PXN      BIT(59)
#define T_UXN      BIT(60)
#define T_AP1      BIT(61) /* no unprivileged access */
#define T_AP2      BIT(62) /* no write */
#define T_NS       BIT(63)

#define KIND_SHIFT 61 /* of an invalid entry that isn't zero */
#define KIND_TOKEN 1
#define KIND_NOACCESS 2
#define KIND_BROKEN 3

/* ---- Geometry ----------------------------------------------------------- */

unsigned ref_shift(unsigned granule_bits, int level)
{
	return granule_bits + (unsigned)(3 - level) * (granule_bits - 3);
}

int ref_start_level(unsigned granule_bits, unsigned input_bits)
{
	int level = 3;

	while (ref_shift(granule_bits, level - 1) < input_bits)
		level--;
	return level;
}

unsigned ref_run_entries(unsigned granule_bits, int level)
{
	switch (granule_bits) {
	case 12:
		return level >= 1 ? 16 : 0;
	case 14:
		return level == 3 ? 128 : level == 2 ? 32 : 0;
	default:
		return level >= 2 ? 32 : 0;
	}
}

/* Without 52-bit addresses: no block above 1 GiB, 32 MiB and 512 MiB. */
bool ref_leaf_level(unsigned granule_bits, int level)
{
	return level >= (granule_bits == 12 ? 1 : 2);
}

bool ref_has_leaves(const struct ref *r, int level)
{
	if (r->lpa2 && level == (r->granule_bits == 12 ? 0 : 1))
		return true; /* 512 GiB, 64 GiB */
	if (r->lpa && level == 1)
		return true; /* 4 TiB */
	return ref_leaf_level(r->granule_bits, level);
}

/* Stage 2 has up to 16 tables side by side where that makes it start lower. */
int ref_start(const struct ref *r)
{
	int level = ref_start_level(r->granule_bits, r->input_bits);

	if (r->regime != REF_S2)
		return level;
	if (r->levels)
		return 4 - r->levels;
	while (level < 3 && r->input_bits <= ref_shift(r->granule_bits, level) + 4) {
		if (level == 2 && r->granule_bits == 12 && !r->small)
			break; /* the code for a start at level 3 came with small tables */
		level++;
	}
	return level;
}

static uint64_t entries_at(const struct ref *r, int level)
{
	unsigned shift = ref_shift(r->granule_bits, level);

	if (level == ref_start(r))
		return BIT(r->input_bits - shift);
	return BIT(r->granule_bits - 3);
}

/* A run can't be larger than the table it would stand in. */
static unsigned run_at(const struct ref *r, int level)
{
	unsigned n = ref_run_entries(r->granule_bits, level);

	return n <= entries_at(r, level) ? n : 0;
}

static unsigned log2_of(uint64_t power)
{
	unsigned n = 0;

	while (power >>= 1)
		n++;
	return n;
}

static uint64_t first_va(const struct ref *r)
{
	return r->upper ? UINT64_C(0) - BIT(r->input_bits) : 0;
}

/* ---- Translation -------------------------------------------------------- */

/* The descriptor bits that an address may stand in, of one aligned to so many bits. */
static uint64_t address_bits(const struct ref *r, unsigned aligned)
{
	if (r->lpa)
		return BITS(47, aligned) | BITS(15, 12);
	if (r->lpa2)
		return BITS(49, aligned) | BITS(9, 8);
	return BITS(47, aligned);
}

static uint64_t address_of(const struct ref *r, uint64_t d, unsigned aligned)
{
	uint64_t pa = d & (r->lpa2 ? BITS(49, aligned) : BITS(47, aligned));

	if (r->lpa)
		pa |= (d & BITS(15, 12)) << 36;
	if (r->lpa2)
		pa |= (d & BITS(9, 8)) << 42;
	return pa;
}

static uint64_t next_table(const struct ref *r, uint64_t d)
{
	return address_of(r, d, r->granule_bits);
}

static bool beyond(const struct ref *r, uint64_t pa)
{
	return pa >> r->output_bits != 0;
}

static void permissions_s2(const struct ref *r, uint64_t d, struct ref_answer *a)
{
	bool xn0 = (d & D_XN0) && r->xnx, xn1 = (d & D_XN1) != 0;

	a->read[0] = a->read[1] = (d & D_S2R) != 0;
	a->write[0] = a->write[1] = (d & D_S2W) || (r->hw_dirty && (d & D_DBM));
	/* 00 all, 01 EL0, 10 nobody, 11 EL1. */
	a->exec[0] = xn0 == xn1;
	a->exec[1] = !xn1;
}

/* One privilege level: AP[1] is one, and APTable[0] and PXNTable say nothing. */
static void permissions_el2(const struct ref *r, uint64_t d, uint64_t tables, struct ref_answer *a)
{
	bool clean = r->hw_dirty && (d & D_DBM);

	a->read[0] = true;
	a->write[0] = (clean || !(d & D_AP2)) && !(tables & T_AP2);
	a->exec[0] = !(d & D_UXN) && !(tables & T_UXN);
}

/* tables: the OR of all table descriptors on the way. */
static void permissions(const struct ref *r, uint64_t d, uint64_t tables, struct ref_answer *a)
{
	bool user = (d & D_AP1) && !(tables & T_AP1);
	bool clean = r->hw_dirty && (d & D_DBM);
	bool write = (clean || !(d & D_AP2)) && !(tables & T_AP2);

	a->read[0] = true;
	a->write[0] = write;
	a->read[1] = user;
	a->write[1] = user && write;
	/* What unprivileged code can write, privileged code never executes. */
	a->exec[0] = !(d & D_PXN) && !(tables & T_PXN) && !a->write[1];
	a->exec[1] = !(d & D_UXN) && !(tables & T_UXN);
}

/* Bit 7 says the opposite at stage 2. */
static bool hw_writes(const struct ref *r, uint64_t d)
{
	return r->regime == REF_S2 ? (d & D_S2W) != 0 : !(d & D_AP2);
}

static void leaf(const struct ref *r, uint64_t d, uint64_t tables, uint64_t va, int level,
		 struct ref_answer *a)
{
	unsigned shift = ref_shift(r->granule_bits, level);
	uint64_t pa = address_of(r, d, shift);

	if (beyond(r, pa)) {
		a->fault = REF_ADDRESS_SIZE;
		return;
	}
	a->pa = pa | (va & (BIT(shift) - 1));
	a->leaf_bits = a->run_bits = shift;
	if ((d & D_CONT) && run_at(r, level))
		a->run_bits += log2_of(run_at(r, level));
	if (r->regime == REF_S2)
		permissions_s2(r, d, a);
	else if (r->regime == REF_EL2)
		permissions_el2(r, d, tables, a);
	else
		permissions(r, d, tables, a);
	a->memory = (unsigned)((d & (r->regime == REF_S2 ? D_MEMATTR : D_ATTRINDX)) >> 2);
	a->sh = r->lpa2 ? 3 : (unsigned)((d & D_SH) >> 8);
	a->software = (unsigned)((d & D_SW) >> 56);
	a->global = r->regime == REF_EL1 && !(d & D_NG);
	a->young = (d & D_AF) != 0;
	a->writable = (d & D_DBM) != 0;
	a->dirty = (d & D_SWDIRTY) || ((d & D_DBM) && hw_writes(r, d));
	a->guarded = r->regime != REF_S2 && (d & D_GP);
}

void ref_translate(const struct ref *r, uint64_t va, struct ref_answer *a)
{
	uint64_t table = r->root, tables = 0;

	memset(a, 0, sizeof(*a));
	a->level = ref_start(r);
	if ((va - first_va(r)) >> r->input_bits) {
		a->fault = REF_RANGE;
		return;
	}
	for (;; a->level++) {
		unsigned shift = ref_shift(r->granule_bits, a->level);
		uint64_t index = ((va - first_va(r)) >> shift) & (entries_at(r, a->level) - 1);
		uint64_t d;

		a->entry_pa = table + index * 8;
		if (!r->read(r->ctx, a->entry_pa, &d)) {
			a->fault = REF_EXTERNAL;
			return;
		}
		a->raw = d;
		a->noaccess = !(d & D_VALID) && d >> KIND_SHIFT == KIND_NOACCESS;
		if (!(d & D_VALID) || (a->level == 3 && !(d & D_TABLE)) ||
		    (!(d & D_TABLE) && !ref_has_leaves(r, a->level))) {
			a->fault = REF_TRANSLATION;
			return;
		}
		if (a->level == 3 || !(d & D_TABLE)) {
			leaf(r, d, tables, va, a->level, a);
			return;
		}
		table = next_table(r, d);
		tables |= d;
		if (beyond(r, table)) {
			a->fault = REF_ADDRESS_SIZE;
			return;
		}
	}
}

enum ref_fault ref_access(const struct ref *r, const struct ref_answer *a, char what,
			  bool unprivileged)
{
	const bool *may = what == 'r' ? a->read : what == 'w' ? a->write : a->exec;

	if (a->fault)
		return a->fault;
	if (!a->young && !r->hw_young)
		return REF_ACCESS_FLAG;
	return may[unprivileged] ? REF_NONE : REF_PERMISSION;
}

/* ---- Validation --------------------------------------------------------- */

bool ref_seen_add(struct ref_seen *s, uint64_t pa)
{
	uint64_t key = pa | 1, at; /* never 0 */

	if (s->used * 2 >= s->room) {
		struct ref_seen old = *s;

		s->room = old.room ? old.room * 2 : 256;
		s->used = 0;
		s->pa = calloc(s->room, sizeof(*s->pa));
		if (!s->pa)
			abort();
		for (uint64_t i = 0; i < old.room; i++)
			if (old.pa[i])
				ref_seen_add(s, old.pa[i]);
		free(old.pa);
	}
	at = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20;
	for (;; at++) {
		at &= s->room - 1;
		if (s->pa[at] == key)
			return false;
		if (!s->pa[at])
			break;
	}
	s->pa[at] = key;
	s->used++;
	return true;
}

void ref_seen_free(struct ref_seen *s)
{
	free(s->pa);
	memset(s, 0, sizeof(*s));
}

struct check {
	const struct ref *r;
	unsigned tolerate;
	struct ref_report *report;
	struct ref_seen seen;
};

static bool refuse(struct check *c, const char *what, uint64_t va, uint64_t entry_pa,
		   uint64_t raw, int level)
{
	c->report->what = what;
	c->report->va = va;
	c->report->entry_pa = entry_pa;
	c->report->raw = raw;
	c->report->level = level;
	return false;
}

static const char *wrong_invalid(struct check *c, uint64_t d)
{
	if (d == 0)
		return NULL;
	switch (d >> KIND_SHIFT) {
	case KIND_TOKEN:
		c->report->tokens++;
		return c->tolerate & REF_TOKENS ? NULL : "a token";
	case KIND_NOACCESS:
		c->report->noaccess++;
		return c->tolerate & REF_NOACCESS ? NULL : "an inaccessible leaf";
	case KIND_BROKEN:
		c->report->broken++;
		return c->tolerate & REF_BROKEN ? NULL : "a placeholder";
	default:
		return "an invalid entry that is neither zero nor of a known kind";
	}
}

/* The bits that a leaf of the regime may have, address and type apart. */
static uint64_t known_bits(const struct ref *r)
{
	const uint64_t all = D_VALID | D_AF | D_DBM | D_CONT | D_SWDIRTY | D_SW;
	uint64_t sh = r->lpa2 ? 0 : D_SH;

	switch (r->regime) {
	case REF_EL1:
		return all | sh | D_ATTRINDX | D_AP1 | D_AP2 | D_NG | D_GP | D_PXN | D_UXN;
	case REF_EL2:
		return all | sh | D_ATTRINDX | D_AP1 | D_AP2 | D_GP | D_UXN;
	default:
		return all | sh | D_MEMATTR | D_S2R | D_S2W | D_XN1 | (r->xnx ? D_XN0 : 0);
	}
}

static const char *wrong_memory(const struct ref *r, uint64_t d)
{
	unsigned memattr = (unsigned)((d & D_MEMATTR) >> 2);

	if (!r->lpa2 && ((d & D_SH) >> 8) == 1)
		return "reserved shareability";
	if (r->regime != REF_S2)
		return ((d & D_ATTRINDX) >> 2) > 4 ? "a memory type that MAIR doesn't define" : NULL;
	/* nGnRnE, nGnRE and non-cacheable; write-back is forced, or both caches' own. */
	if (memattr == 0 || memattr == 1 || memattr == 5 || memattr == (r->fwb ? 6 : 15) ||
	    (memattr == 10 && !r->fwb))
		return NULL;
	return "a MemAttr that no memory type has";
}

static const char *wrong_leaf(const struct ref *r, uint64_t d, int level)
{
	unsigned shift = ref_shift(r->granule_bits, level);
	uint64_t known = known_bits(r) | address_bits(r, shift);
	uint64_t below = BITS(shift - 1, 12) & ~(r->lpa ? BITS(15, 12) : 0);

	if (level == 3)
		known |= D_TABLE;
	if (d & below)
		return level == 3 ? "reserved bits below the output address" :
				    "a misaligned block";
	if (d & ~known)
		return "reserved bits of a leaf";
	if (r->regime == REF_EL2 && !(d & D_AP1))
		return "AP[1] is zero where there is one privilege level";
	if (wrong_memory(r, d))
		return wrong_memory(r, d);
	if (beyond(r, address_of(r, d, shift)))
		return "an output address beyond output_bits";
	if (!(d & D_DBM) && hw_writes(r, d))
		return "writable for hardware but not for software";
	if ((d & D_DBM) && !hw_writes(r, d) && (d & D_SWDIRTY))
		return "writable and dirty, but read-only for hardware";
	return NULL;
}

static const char *wrong_table(const struct ref *r, uint64_t d)
{
	if (r->regime != REF_S2 && (d & (T_PXN | T_UXN | T_AP1 | T_AP2)))
		return "permission bits in a table entry";
	if (d & ~(D_VALID | D_TABLE | address_bits(r, r->granule_bits)))
		return "reserved bits of a table entry";
	if (beyond(r, next_table(r, d)))
		return "a table beyond output_bits";
	return NULL;
}

/* The natural group of n entries. */
static const char *wrong_group(const struct ref *r, const uint64_t *d, unsigned n, int level)
{
	unsigned shift = ref_shift(r->granule_bits, level);
	uint64_t may_differ = address_bits(r, shift) | D_AF | D_AP2 | D_SWDIRTY;
	uint64_t first = address_of(r, d[0], shift);
	unsigned hinted = 0;

	for (unsigned i = 0; i < n; i++) {
		bool is_leaf = (d[i] & D_VALID) && (level == 3 || !(d[i] & D_TABLE));

		hinted += is_leaf && (d[i] & D_CONT);
	}
	if (!hinted)
		return NULL;
	if (hinted != n)
		return "a run without the hint in every entry";
	if (first & ((BIT(shift) * n) - 1))
		return "a misaligned run";
	for (unsigned i = 1; i < n; i++) {
		if ((d[i] & ~may_differ) != (d[0] & ~may_differ))
			return "a run of unequal attributes";
		if (address_of(r, d[i], shift) != first + i * BIT(shift))
			return "a run of addresses that don't follow each other";
	}
	return NULL;
}

static bool check_table(struct check *c, uint64_t pa, uint64_t va, int level, bool *empty);

static bool check_entry(struct check *c, uint64_t d, uint64_t entry_pa, uint64_t va, int level)
{
	const struct ref *r = c->r;
	struct ref_report *report = c->report;
	const char *what;
	bool empty;

	if (!(d & D_VALID)) {
		what = wrong_invalid(c, d);
	} else if (level < 3 && (d & D_TABLE)) {
		what = wrong_table(r, d);
		if (!what && !ref_seen_add(&c->seen, next_table(r, d)))
			what = "a table that is reached twice";
		if (!what) {
			if (!check_table(c, next_table(r, d), va, level + 1, &empty))
				return false;
			report->empty_tables += empty;
		}
	} else if (level == 3 ? !(d & D_TABLE) : !ref_has_leaves(r, level)) {
		what = "a descriptor type that the level doesn't have";
	} else {
		what = wrong_leaf(r, d, level);
		if (!what && (d & D_CONT) && !run_at(r, level))
			what = "the contiguous hint where there are no runs";
		report->leaves[level + 1]++;
		report->mapped += BIT(ref_shift(r->granule_bits, level));
	}
	return what ? refuse(c, what, va, entry_pa, d, level) : true;
}

static bool check_table(struct check *c, uint64_t pa, uint64_t va, int level, bool *empty)
{
	const struct ref *r = c->r;
	unsigned shift = ref_shift(r->granule_bits, level);
	uint64_t n = entries_at(r, level), group[128];
	unsigned run = run_at(r, level) ? run_at(r, level) : 1;

	*empty = true;
	c->report->tables[level + 1]++;
	c->report->all_tables++;
	for (uint64_t i = 0; i < n; i++) {
		const char *what;

		if (!r->read(r->ctx, pa + i * 8, &group[i % run]))
			return refuse(c, "a table in memory that doesn't exist",
				      va + (i << shift), pa + i * 8, 0, level);
		if (group[i % run])
			*empty = false;
		if (!check_entry(c, group[i % run], pa + i * 8, va + (i << shift), level))
			return false;
		if (run == 1 || i % run != run - 1)
			continue;
		what = wrong_group(r, group, run, level);
		if (what)
			return refuse(c, what, va + ((i + 1 - run) << shift),
				      pa + (i + 1 - run) * 8, group[0], level);
		if ((group[0] & D_VALID) && (group[0] & D_CONT) &&
		    (level == 3 || !(group[0] & D_TABLE)))
			c->report->runs[level + 1]++;
	}
	return true;
}

bool ref_validate(const struct ref *r, unsigned tolerate, struct ref_report *report)
{
	struct check c = { .r = r, .tolerate = tolerate, .report = report };
	int level = ref_start(r);
	uint64_t root_bytes = entries_at(r, level) * 8;
	bool empty, good;

	memset(report, 0, sizeof(*report));
	if (root_bytes < 64)
		root_bytes = 64;
	if (r->root & (root_bytes - 1))
		return refuse(&c, "a misaligned root", 0, r->root, 0, level);
	if (beyond(r, r->root))
		return refuse(&c, "a root beyond output_bits", 0, r->root, 0, level);
	ref_seen_add(&c.seen, r->root);
	good = check_table(&c, r->root, first_va(r), level, &empty);
	ref_seen_free(&c.seen);
	return good;
}
