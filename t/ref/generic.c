/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "generic.h"

#define TYPE(e)     ((unsigned)((e) & 3))
#define LEAF        1
#define TABLE       2
#define TOKEN       3
#define FLAG(e, n)  ((((e) >> (n)) & 1) != 0)
#define NUMBER(e, low, bits) ((unsigned)(((e) >> (low)) & ((1u << (bits)) - 1)))
#define ADDRESS     0x000ffffffffff000ull
#define STATE       (3ull << 9) /* young and dirty */
#define IS_BROKEN(e)   FLAG(e, 62)
#define IS_NOACCESS(e) FLAG(e, 63)
#define IS_CONTIG(e)   FLAG(e, 61)

#define RUN 16

unsigned ref_generic_run_entries(int level)
{
	return level >= 1 ? RUN : 0;
}

bool ref_generic_leaf_level(int level)
{
	return level >= 1;
}

static uint64_t entries_at(const struct ref *r, int level)
{
	if (level == ref_start_level(r->granule_bits, r->input_bits))
		return 1ull << (r->input_bits - ref_shift(r->granule_bits, level));
	return 1ull << (r->granule_bits - 3);
}

static bool has_runs(const struct ref *r, int level)
{
	return ref_generic_run_entries(level) && entries_at(r, level) >= RUN;
}

static bool beyond(const struct ref *r, uint64_t pa)
{
	return pa >> r->output_bits != 0;
}

static void read_leaf(const struct ref *r, uint64_t e, uint64_t va, struct ref_answer *a)
{
	unsigned shift = ref_shift(r->granule_bits, a->level);
	bool user = FLAG(e, 6);

	a->noaccess = IS_NOACCESS(e);
	if (a->noaccess || IS_BROKEN(e)) {
		a->fault = REF_TRANSLATION;
		return;
	}
	if (beyond(r, e & ADDRESS)) {
		a->fault = REF_ADDRESS_SIZE;
		return;
	}
	a->pa = (e & ADDRESS) + (va & ((1ull << shift) - 1));
	a->leaf_bits = shift;
	a->run_bits = shift + (IS_CONTIG(e) && has_runs(r, a->level) ? 4 : 0);
	a->young = FLAG(e, 9);
	a->dirty = FLAG(e, 10);
	a->writable = FLAG(e, 3);
	a->read[0] = FLAG(e, 2);
	a->read[1] = user && FLAG(e, 2);
	a->write[0] = FLAG(e, 3) && (a->dirty || r->hw_dirty);
	a->write[1] = user && a->write[0];
	a->exec[0] = FLAG(e, 4);
	a->exec[1] = FLAG(e, 5);
	a->memory = NUMBER(e, 52, 4);
	a->sh = NUMBER(e, 56, 2);
	a->software = NUMBER(e, 58, 3);
	a->global = FLAG(e, 7);
	a->guarded = FLAG(e, 8);
}

void ref_generic_translate(const struct ref *r, uint64_t va, struct ref_answer *a)
{
	uint64_t table = r->root, e;

	memset(a, 0, sizeof(*a));
	a->level = ref_start_level(r->granule_bits, r->input_bits);
	if (va >> r->input_bits) {
		a->fault = REF_RANGE;
		return;
	}
	for (;; a->level++) {
		unsigned shift = ref_shift(r->granule_bits, a->level);

		a->entry_pa = table + ((va >> shift) & (entries_at(r, a->level) - 1)) * 8;
		if (!r->read(r->ctx, a->entry_pa, &e)) {
			a->fault = REF_EXTERNAL;
			return;
		}
		a->raw = e;
		if (TYPE(e) == LEAF && ref_generic_leaf_level(a->level)) {
			read_leaf(r, e, va, a);
			return;
		}
		if (TYPE(e) != TABLE || a->level == 3 || IS_BROKEN(e)) {
			a->fault = REF_TRANSLATION;
			return;
		}
		table = e & ADDRESS;
		if (beyond(r, table)) {
			a->fault = REF_ADDRESS_SIZE;
			return;
		}
	}
}

enum ref_fault ref_generic_access(const struct ref *r, const struct ref_answer *a, char what,
				  bool unprivileged)
{
	const bool *may = what == 'r' ? a->read : what == 'w' ? a->write : a->exec;

	if (a->fault)
		return a->fault;
	if (!a->young && !r->hw_young)
		return REF_ACCESS_FLAG;
	return may[unprivileged] ? REF_NONE : REF_PERMISSION;
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

static const char *wrong_leaf(struct check *c, uint64_t e, int level)
{
	const struct ref *r = c->r;
	uint64_t size = 1ull << ref_shift(r->granule_bits, level);

	if (!ref_generic_leaf_level(level))
		return "a leaf that the level doesn't have";
	if (FLAG(e, 11))
		return "reserved bits of a leaf";
	if ((e & ADDRESS) & (size - 1))
		return "a misaligned leaf";
	if (beyond(r, e & ADDRESS))
		return "an output address beyond output_bits";
	if (NUMBER(e, 56, 2) > 2)
		return "reserved shareability";
	if (NUMBER(e, 52, 4) > 4)
		return "a memory type that doesn't exist";
	if (IS_CONTIG(e) && !has_runs(r, level))
		return "the contiguous bit where there are no runs";
	if (IS_CONTIG(e) && IS_NOACCESS(e))
		return "an inaccessible leaf in a run";
	if (IS_BROKEN(e)) {
		c->report->broken++;
		if (!(c->tolerate & REF_BROKEN))
			return "a placeholder";
	}
	if (IS_NOACCESS(e)) {
		c->report->noaccess++;
		if (!(c->tolerate & REF_NOACCESS))
			return "an inaccessible leaf";
	}
	c->report->leaves[level + 1]++;
	c->report->mapped += size;
	return NULL;
}

static bool check_table(struct check *c, uint64_t pa, uint64_t va, int level, bool *empty);

static const char *wrong_table(struct check *c, uint64_t e, int level)
{
	if (level == 3)
		return "a table at the last level";
	if (IS_BROKEN(e)) {
		c->report->broken++;
		if (!(c->tolerate & REF_BROKEN))
			return "a placeholder";
	}
	if (e & ~(ADDRESS | 1ull << 62 | 3))
		return "reserved bits of a table entry";
	if ((e & ADDRESS) & ((1ull << c->r->granule_bits) - 1))
		return "a misaligned table";
	if (beyond(c->r, e & ADDRESS))
		return "a table beyond output_bits";
	if (!ref_seen_add(&c->seen, e & ADDRESS))
		return "a table that is reached twice";
	return NULL;
}

static bool check_entry(struct check *c, uint64_t e, uint64_t entry_pa, uint64_t va, int level)
{
	const char *what = NULL;
	bool empty;

	switch (TYPE(e)) {
	case LEAF:
		what = wrong_leaf(c, e, level);
		break;
	case TABLE:
		what = wrong_table(c, e, level);
		if (what || IS_BROKEN(e))
			break;
		if (!check_table(c, e & ADDRESS, va, level + 1, &empty))
			return false;
		c->report->empty_tables += empty;
		break;
	case TOKEN:
		c->report->tokens++;
		if (!(c->tolerate & REF_TOKENS))
			what = "a token";
		break;
	default:
		if (e)
			what = "an empty entry that isn't zero";
	}
	return what ? refuse(c, what, va, entry_pa, e, level) : true;
}

static const char *wrong_group(const uint64_t *e, uint64_t size)
{
	unsigned hinted = 0;

	for (unsigned i = 0; i < RUN; i++)
		hinted += TYPE(e[i]) == LEAF && IS_CONTIG(e[i]);
	if (!hinted)
		return NULL;
	if (hinted != RUN)
		return "a run without the bit in every entry";
	if ((e[0] & ADDRESS) & (RUN * size - 1))
		return "a misaligned run";
	for (unsigned i = 1; i < RUN; i++) {
		if ((e[i] ^ e[0]) & ~(ADDRESS | STATE))
			return "a run of unequal attributes";
		if ((e[i] & ADDRESS) != (e[0] & ADDRESS) + i * size)
			return "a run of addresses that don't follow each other";
	}
	return NULL;
}

static bool check_table(struct check *c, uint64_t pa, uint64_t va, int level, bool *empty)
{
	const struct ref *r = c->r;
	unsigned shift = ref_shift(r->granule_bits, level);
	uint64_t n = entries_at(r, level), group[RUN];
	bool runs = has_runs(r, level);

	*empty = true;
	c->report->tables[level + 1]++;
	c->report->all_tables++;
	for (uint64_t i = 0; i < n; i++) {
		const char *what;
		uint64_t *e = &group[i % RUN];

		if (!r->read(r->ctx, pa + i * 8, e))
			return refuse(c, "a table in memory that doesn't exist",
				      va + (i << shift), pa + i * 8, 0, level);
		if (*e)
			*empty = false;
		if (!check_entry(c, *e, pa + i * 8, va + (i << shift), level))
			return false;
		if (!runs || i % RUN != RUN - 1)
			continue;
		what = wrong_group(group, 1ull << shift);
		if (what)
			return refuse(c, what, va + ((i + 1 - RUN) << shift),
				      pa + (i + 1 - RUN) * 8, group[0], level);
		if (TYPE(group[0]) == LEAF && IS_CONTIG(group[0]))
			c->report->runs[level + 1]++;
	}
	return true;
}

bool ref_generic_validate(const struct ref *r, unsigned tolerate, struct ref_report *report)
{
	struct check c = { .r = r, .tolerate = tolerate, .report = report };
	int level = ref_start_level(r->granule_bits, r->input_bits);
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
	good = check_table(&c, r->root, 0, level, &empty);
	ref_seen_free(&c.seen);
	return good;
}
