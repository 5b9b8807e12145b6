/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "ref.h"

/* A level takes two bits of the address, a page five. */
#define SHIFT(level) (5u + 2u * (unsigned)(3 - (level)))
#define SIZE(level)  ((uint64_t)1 << SHIFT(level))

enum type { EMPTY, LEAF, TABLE, TOKEN };

#define IN_RUN (1u << 2)
#define BROKEN (1u << 3)

/* Bits of the attribute field. */
enum { MAY_READ, MAY_WRITE, MAY_EXEC, MAY_UEXEC, FOR_USER, IS_GLOBAL, IS_NOACCESS, IS_GUARDED,
       IS_YOUNG, IS_DIRTY, SOFTWARE, MEMORY = 16, SHARED = 24 };

static enum type type_of(uint64_t e)
{
	return (enum type)(e & 3);
}

static uint64_t address_of(uint64_t e)
{
	return (e >> 32) * 32;
}

static uint32_t attributes(uint64_t e)
{
	return (uint32_t)e >> 4 & 0x3ffffff;
}

static bool has(uint64_t e, unsigned attribute)
{
	return attributes(e) >> attribute & 1;
}

static bool beyond(const struct ref *r, uint64_t pa)
{
	return pa >> r->output_bits;
}

static uint64_t entries_at(const struct ref *r, int level)
{
	return level == ref_start_level(5, r->input_bits) ? 1u << (r->input_bits - SHIFT(level)) : 4;
}

unsigned ref_tiny_run_entries(unsigned granule_bits, int level)
{
	(void)granule_bits;
	return level >= 1 ? 2 : 0;
}

bool ref_tiny_leaf_level(unsigned granule_bits, int level)
{
	(void)granule_bits;
	return level >= 1;
}

/* ---- Translation -------------------------------------------------------- */

static void read_leaf(const struct ref *r, uint64_t e, uint64_t offset, struct ref_answer *a)
{
	a->noaccess = has(e, IS_NOACCESS);
	if (a->noaccess || e & BROKEN)
		a->fault = REF_TRANSLATION;
	else if (beyond(r, address_of(e)))
		a->fault = REF_ADDRESS_SIZE;
	if (a->fault)
		return;
	a->pa = address_of(e) + offset;
	a->leaf_bits = SHIFT(a->level);
	a->run_bits = a->leaf_bits + (e & IN_RUN ? 1 : 0);
	a->young = has(e, IS_YOUNG);
	a->dirty = has(e, IS_DIRTY);
	a->writable = has(e, MAY_WRITE);
	a->global = has(e, IS_GLOBAL);
	a->guarded = has(e, IS_GUARDED);
	a->software = attributes(e) >> SOFTWARE & 7;
	a->memory = attributes(e) >> MEMORY & 31;
	a->sh = attributes(e) >> SHARED & 3;
	a->read[0] = has(e, MAY_READ);
	a->write[0] = a->writable && (a->dirty || r->hw_dirty);
	a->exec[0] = has(e, MAY_EXEC);
	a->read[1] = a->read[0] && has(e, FOR_USER);
	a->write[1] = a->write[0] && has(e, FOR_USER);
	a->exec[1] = has(e, MAY_UEXEC);
}

/* One step down: whether there is another table to look at. */
static bool step(const struct ref *r, uint64_t offset, uint64_t *table, struct ref_answer *a)
{
	a->entry_pa = *table + (offset >> SHIFT(a->level)) % entries_at(r, a->level) * 8;
	if (!r->read(r->ctx, a->entry_pa, &a->raw)) {
		a->fault = REF_EXTERNAL;
	} else if (type_of(a->raw) == LEAF && a->level >= 1) {
		read_leaf(r, a->raw, offset % SIZE(a->level), a);
	} else if (type_of(a->raw) != TABLE || a->level == 3 || a->raw & BROKEN) {
		a->fault = REF_TRANSLATION;
	} else {
		*table = address_of(a->raw);
		a->fault = beyond(r, *table) ? REF_ADDRESS_SIZE : REF_NONE;
		return !a->fault;
	}
	return false;
}

void ref_tiny_translate(const struct ref *r, uint64_t va, struct ref_answer *a)
{
	uint64_t table = r->root, all = (uint64_t)1 << r->input_bits;
	uint64_t offset = r->upper ? va + all : va;

	memset(a, 0, sizeof(*a));
	a->level = ref_start_level(5, r->input_bits);
	if (offset >= all) {
		a->fault = REF_RANGE;
		return;
	}
	while (step(r, offset, &table, a))
		a->level++;
}

enum ref_fault ref_tiny_access(const struct ref *r, const struct ref_answer *a, char what,
			       bool unprivileged)
{
	bool may = a->exec[unprivileged];

	if (a->fault)
		return a->fault;
	if (!a->young && !r->hw_young)
		return REF_ACCESS_FLAG;
	if (what != 'x')
		may = what == 'r' ? a->read[unprivileged] : a->write[unprivileged];
	return may ? REF_NONE : REF_PERMISSION;
}

/* ---- Validation --------------------------------------------------------- */

struct check {
	const struct ref *r;
	unsigned tolerate;
	struct ref_report *report;
	struct ref_seen seen;
};

static const char *tolerated(const struct check *c, unsigned kind, uint64_t *count, const char *what)
{
	++*count;
	return c->tolerate & kind ? NULL : what;
}

static const char *wrong_leaf(const struct check *c, uint64_t e, int level)
{
	const char *what = NULL;

	if (level < 1)
		return "a leaf that the level doesn't have";
	if (e >> 30 & 3)
		return "reserved bits of a leaf";
	if (address_of(e) % SIZE(level))
		return "a misaligned leaf";
	if (beyond(c->r, address_of(e)))
		return "an output address beyond output_bits";
	if ((attributes(e) >> SHARED & 3) == 3)
		return "reserved shareability";
	if ((attributes(e) >> MEMORY & 31) > 4)
		return "a memory type that doesn't exist";
	if (attributes(e) >> 13 & 7 || attributes(e) >> 21 & 7)
		return "an attribute that doesn't exist";
	if (e & IN_RUN && has(e, IS_NOACCESS))
		return "an inaccessible leaf in a run";
	if (e & BROKEN)
		what = tolerated(c, REF_BROKEN, &c->report->broken, "a placeholder");
	if (!what && has(e, IS_NOACCESS))
		what = tolerated(c, REF_NOACCESS, &c->report->noaccess, "an inaccessible leaf");
	c->report->leaves[level + 1]++;
	c->report->mapped += SIZE(level);
	return what;
}

static const char *wrong_table(struct check *c, uint64_t e, int level)
{
	if (level == 3)
		return "a table at the last level";
	if ((uint32_t)e & ~(BROKEN | 3))
		return "reserved bits of a table entry";
	if (e & BROKEN)
		return tolerated(c, REF_BROKEN, &c->report->broken, "a placeholder");
	if (beyond(c->r, address_of(e)))
		return "a table beyond output_bits";
	return ref_seen_add(&c->seen, address_of(e)) ? NULL : "a table that is reached twice";
}

static const char *wrong_entry(struct check *c, uint64_t e, int level)
{
	switch (type_of(e)) {
	case LEAF:
		return wrong_leaf(c, e, level);
	case TABLE:
		return wrong_table(c, e, level);
	case TOKEN:
		return e & (IN_RUN | BROKEN) ? "reserved bits of a token" :
			     tolerated(c, REF_TOKENS, &c->report->tokens, "a token");
	default:
		return e ? "an empty entry that isn't zero" : NULL;
	}
}

/* The two leaves of a run differ in their address and perhaps in young and dirty. */
static const char *wrong_pair(const struct check *c, uint64_t a, uint64_t b, int level)
{
	const uint64_t state = (uint64_t)1 << (IS_YOUNG + 4) | (uint64_t)1 << (IS_DIRTY + 4);
	bool first = type_of(a) == LEAF && a & IN_RUN, second = type_of(b) == LEAF && b & IN_RUN;

	if (!first && !second)
		return NULL;
	if (first != second)
		return "a run without the hint in every entry";
	if (address_of(a) % (2 * SIZE(level)))
		return "a misaligned run";
	if (address_of(b) != address_of(a) + SIZE(level))
		return "a run of addresses that don't follow each other";
	if ((uint32_t)(a ^ b) & ~state)
		return "a run of unequal attributes";
	c->report->runs[level + 1]++;
	return NULL;
}

static bool refuse(struct check *c, const char *what, uint64_t va, uint64_t entry_pa, uint64_t raw,
		   int level)
{
	struct ref_report *report = c->report;

	report->what = what;
	report->va = va;
	report->entry_pa = entry_pa;
	report->raw = raw;
	report->level = level;
	return false;
}

/* Whether the table and all below it are in order; *used: it isn't empty. */
static bool check_table(struct check *c, uint64_t pa, uint64_t va, int level, bool *used)
{
	uint64_t n = entries_at(c->r, level), e = 0, before;

	*used = false;
	c->report->tables[level + 1]++;
	c->report->all_tables++;
	for (uint64_t i = 0; i < n; i++, pa += 8, va += SIZE(level)) {
		const char *what;
		bool below;

		before = e;
		if (!c->r->read(c->r->ctx, pa, &e))
			return refuse(c, "a table in memory that doesn't exist", va, pa, 0, level);
		*used |= e != 0;
		what = wrong_entry(c, e, level);
		if (!what && i % 2)
			what = wrong_pair(c, before, e, level);
		if (what)
			return refuse(c, what, va, pa, e, level);
		if (type_of(e) != TABLE || e & BROKEN)
			continue;
		if (!check_table(c, address_of(e), va, level + 1, &below))
			return false;
		c->report->empty_tables += !below;
	}
	return true;
}

bool ref_tiny_validate(const struct ref *r, unsigned tolerate, struct ref_report *report)
{
	struct check c = { .r = r, .tolerate = tolerate, .report = report };
	int level = ref_start_level(5, r->input_bits);
	uint64_t first = r->upper ? 0 - ((uint64_t)1 << r->input_bits) : 0;
	bool used, good;

	memset(report, 0, sizeof(*report));
	if (r->root % 64)
		return refuse(&c, "a misaligned root", first, r->root, 0, level);
	if (beyond(r, r->root))
		return refuse(&c, "a root beyond output_bits", first, r->root, 0, level);
	ref_seen_add(&c.seen, r->root);
	good = check_table(&c, r->root, first, level, &used);
	ref_seen_free(&c.seen);
	return good;
}
