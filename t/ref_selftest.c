/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reference walkers judge all else, so they are judged here, on tables
 * built by hand, without the library: clean ones are accepted and translate as
 * calculated, and each kind of broken entry is refused where it was planted.
 */
#include <string.h>
#include "ref/generic.h"
#include "ref/ref.h"
#include "tap.h"

#define BASE   UINT64_C(0x40000000)
#define TABLE  0x10000u /* room for any granule */
#define TABLES 8u

static uint64_t memory[TABLES * TABLE / 8];
static unsigned tables_used;

static bool read_memory(void *ctx, uint64_t pa, uint64_t *value)
{
	(void)ctx;
	if (pa < BASE || pa - BASE >= sizeof(memory) || pa % 8)
		return false;
	*value = memory[(pa - BASE) / 8];
	return true;
}

static uint64_t new_table(void)
{
	return BASE + (uint64_t)tables_used++ * TABLE;
}

static uint64_t *entry_at(uint64_t table, uint64_t index)
{
	return &memory[(table - BASE) / 8 + index];
}

/* The two formats, as the tests below need them. */
struct format {
	const char *name;
	void (*translate)(const struct ref *, uint64_t, struct ref_answer *);
	enum ref_fault (*access)(const struct ref *, const struct ref_answer *, char, bool);
	bool (*validate)(const struct ref *, unsigned, struct ref_report *);
	unsigned (*run)(unsigned granule, int level);
	bool (*leaf_level)(unsigned granule, int level);
	uint64_t page, block, hint, table; /* entries without address */
	uint64_t young, dirty_differs, token, noaccess, broken;
	bool noaccess_is_leaf;
};

static unsigned generic_run(unsigned granule, int level)
{
	(void)granule;
	return ref_generic_run_entries(level);
}

static bool generic_leaf_level(unsigned granule, int level)
{
	(void)granule;
	return ref_generic_leaf_level(level);
}

#define B(n) (UINT64_C(1) << (n))

/* arm64: inner shareable, accessed, writable and dirty, no execution, unprivileged too. */
#define A_LEAF (B(54) | B(53) | B(51) | B(11) | B(10) | UINT64_C(3) << 8 | B(6))
/* generic: read, write, user, young, dirty. */
#define G_LEAF (UINT64_C(1) | B(2) | B(3) | B(6) | B(9) | B(10))

static const struct format formats[2] = {
	{ "arm64", ref_translate, ref_access, ref_validate, ref_run_entries, ref_leaf_level,
	  A_LEAF | 3, A_LEAF | 1, B(52), 3, B(10), B(7), UINT64_C(1) << 61 | 0x1230,
	  UINT64_C(2) << 61 | B(10), UINT64_C(3) << 61, false },
	{ "generic", ref_generic_translate, ref_generic_access, ref_generic_validate, generic_run,
	  generic_leaf_level, G_LEAF, G_LEAF, B(61), 2, B(9), B(10), 3 | 0x1230,
	  G_LEAF | B(63), G_LEAF | B(62), true },
};

static struct ref walker;
static uint64_t at_level[5]; /* the table on the spine, by level + 1 */
static int start;

static uint64_t table_of(int level)
{
	return at_level[level + 1];
}

static uint64_t size_of(int level)
{
	return B(ref_shift(walker.granule_bits, level));
}

static uint64_t va_of(int level, uint64_t index)
{
	uint64_t va = walker.upper ? 0 - B(walker.input_bits) : 0;

	for (int l = start; l < level; l++)
		va += size_of(l);
	return va + index * size_of(level);
}

static uint64_t leaf(const struct format *f, int level)
{
	return level == 3 ? f->page : f->block;
}

/* The PA that stands in the entry of this index: high bits set, aligned to any run. */
static uint64_t pa_of(int level, uint64_t index)
{
	return (level > 1 ? B(47) | (uint64_t)level << 39 : B(46)) + index * size_of(level);
}

/*
 * A spine of tables through index 1 of each level; on each level that has
 * leaves one single at index 3 and one run behind the first group.
 */
static void build(const struct format *f, unsigned granule, unsigned input, bool upper)
{
	memset(memory, 0, sizeof(memory));
	tables_used = 0;
	walker = (struct ref){ .read = read_memory, .granule_bits = granule,
			       .input_bits = input, .output_bits = 48, .upper = upper };
	start = ref_start_level(granule, input);
	for (int l = start; l <= 3; l++)
		at_level[l + 1] = new_table();
	walker.root = table_of(start);
	for (int l = start; l <= 3; l++) {
		unsigned n = f->run(granule, l);
		uint64_t entries = l == start ? B(input - ref_shift(granule, l)) :
						B(granule - 3);

		if (l < 3)
			*entry_at(table_of(l), 1) = table_of(l + 1) | f->table;
		if (!f->leaf_level(granule, l) || entries < 4)
			continue;
		*entry_at(table_of(l), 3) = leaf(f, l) | pa_of(l, 3);
		for (unsigned i = n; n && i < 2 * n && 2 * n <= entries; i++)
			*entry_at(table_of(l), i) = leaf(f, l) | f->hint | pa_of(l, i);
	}
}

static bool right(const struct format *f, int level, uint64_t index, unsigned run_bits)
{
	struct ref_answer a;
	uint64_t byte = size_of(level) - 5;

	f->translate(&walker, va_of(level, index) + byte, &a);
	return a.fault == REF_NONE && a.level == level && a.pa == pa_of(level, index) + byte &&
	       a.leaf_bits == ref_shift(walker.granule_bits, level) && a.run_bits == run_bits &&
	       a.read[0] && a.read[1] && a.write[0] && a.write[1] && !a.exec[0] && !a.exec[1] &&
	       a.young && a.dirty && a.writable && a.memory == 0 &&
	       a.raw == *entry_at(table_of(level), index);
}

static void test_clean(const struct format *f, unsigned granule, unsigned input, bool upper)
{
	struct ref_report report;
	struct ref_answer a;
	bool all = true, holes = true, good;
	unsigned leaves = 0;

	build(f, granule, input, upper);
	good = f->validate(&walker, 0, &report);
	ok(good, "%s %u/%u%s: a clean table is accepted", f->name, granule, input,
	   upper ? " upper" : "");
	if (!good)
		note("level %d, entry %#" PRIx64 ": %s", report.level, report.raw, report.what);
	for (int l = start; l <= 3; l++) {
		unsigned n = f->run(granule, l), shift = ref_shift(granule, l);

		if (!*entry_at(table_of(l), 3))
			continue;
		all &= right(f, l, 3, shift);
		leaves++;
		f->translate(&walker, va_of(l, 2), &a);
		holes &= a.fault == REF_TRANSLATION && a.level == l;
		if (!n || !*entry_at(table_of(l), n))
			continue;
		for (unsigned i = n; i < 2 * n; i++, leaves++) {
			unsigned bits = shift;

			while (B(bits - shift) < n)
				bits++;
			all &= right(f, l, i, bits);
		}
		all &= report.runs[l + 1] == 1;
	}
	ok(all, "every leaf of every level translates as built");
	ok(holes, "holes are translation faults of their level");
	is_u64(report.leaves[0] + report.leaves[1] + report.leaves[2] + report.leaves[3] +
	       report.leaves[4], leaves, "all leaves are counted");
	is_u64(report.all_tables, tables_used, "all tables are counted");
	f->translate(&walker, walker.upper ? va_of(start, 0) - 1 : B(input), &a);
	ok(a.fault == REF_RANGE, "an address outside is not the table's");
}

/* ---- Plants -------------------------------------------------------------- */

static void planted(const struct format *f, int level, uint64_t index, const char *want)
{
	struct ref_report report;
	bool good = f->validate(&walker, 0, &report);

	ok(!good && strstr(report.what, want) && report.level == level &&
	   report.entry_pa == table_of(level) + (walker.root && index ? index * 8 : 0),
	   "%s %u level %d: %s is refused there", f->name, walker.granule_bits, level, want);
	if (good)
		note("it was accepted");
	else if (!strstr(report.what, want))
		note("it was refused for '%s'", report.what);
}

/* Puts one entry into the clean table and expects the refusal. */
static void plant(const struct format *f, unsigned granule, int level, uint64_t index,
		  uint64_t value, uint64_t reported, const char *want)
{
	build(f, granule, 48, false);
	*entry_at(table_of(level), index) = value;
	planted(f, level, reported, want);
}

static void plant_runs(const struct format *f, unsigned granule, int level)
{
	unsigned n = f->run(granule, level);
	uint64_t run = leaf(f, level) | f->hint, address = pa_of(level, n + 3);

	if (!n)
		return;
	plant(f, granule, level, n + 3, leaf(f, level) | address, n, "in every entry");
	plant(f, granule, level, n + 3, 0, n, "in every entry");
	plant(f, granule, level, 2 * n - 1, 0, n, "in every entry");
	plant(f, granule, level, 2 * n + 1, run | pa_of(level, 2 * n + 1), 2 * n,
	      "in every entry");
	plant(f, granule, level, n + 3, run | (address + size_of(level)), n, "follow each other");
	plant(f, granule, level, n + 3, (run | address) ^ (f->noaccess_is_leaf ? B(3) : B(54)), n,
	      "unequal attributes");
	plant(f, granule, level, n + 3, (run | address) ^ B(58), n, "unequal attributes");

	build(f, granule, 48, false);
	for (unsigned i = n; i < 2 * n; i++)
		*entry_at(table_of(level), i) += size_of(level);
	planted(f, level, n, "misaligned run");

	/* Access flag and dirty state of members may differ. */
	build(f, granule, 48, false);
	*entry_at(table_of(level), n + 3) &= ~f->young;
	*entry_at(table_of(level), n + 5) ^= f->dirty_differs;
	ok(f->validate(&walker, 0, &(struct ref_report){ 0 }),
	   "%s %u level %d: members of a run may differ in access and dirty state", f->name,
	   granule, level);
}

static void plant_invalid(const struct format *f, unsigned granule, int level)
{
	struct ref_report report;
	uint64_t pa = pa_of(level, 2);

	plant(f, granule, level, 2, f->token, 2, "a token");
	ok(f->validate(&walker, REF_TOKENS, &report) && report.tokens == 1,
	   "... and accepted where tokens may be");
	if (f->noaccess_is_leaf && !f->leaf_level(granule, level))
		return;
	plant(f, granule, level, 2, f->noaccess | (f->noaccess_is_leaf ? pa : 0), 2,
	      "an inaccessible leaf");
	ok(f->validate(&walker, REF_NOACCESS, &report) && report.noaccess == 1,
	   "... and accepted where such may be");
	plant(f, granule, level, 2, f->broken | (f->noaccess_is_leaf ? pa : 0), 2,
	      "a placeholder");
	ok(f->validate(&walker, REF_BROKEN, &report) && report.broken == 1,
	   "... and accepted where such may be");
}

static void plant_tables(const struct format *f, unsigned granule)
{
	uint64_t spare;

	build(f, granule, 48, false);
	spare = BASE + (TABLES - 1) * (uint64_t)TABLE;
	for (int l = start; l < 3; l++) {
		uint64_t next = table_of(l + 1);

		plant(f, granule, l, 0, next | f->table, 1, "reached twice");
		plant(f, granule, l, 0, table_of(l) | f->table, 0, "reached twice");
		plant(f, granule, l, 0, walker.root | f->table, 0, "reached twice");
		plant(f, granule, l, 0, spare | f->table | B(55), 0, "reserved bits");
		plant(f, granule, l, 0, spare | f->table | B(50), 0,
		      f->noaccess_is_leaf ? "beyond output_bits" : "reserved bits");
		/* An empty table is legal, and counted. */
		build(f, granule, 48, false);
		*entry_at(table_of(l), 0) = spare | f->table;
		struct ref_report report;
		ok(f->validate(&walker, 0, &report) && report.empty_tables == 1,
		   "%s %u level %d: an empty table is accepted and counted", f->name, granule,
		   l);
		build(f, granule, 48, false);
		*entry_at(table_of(l), 0) = UINT64_C(0x100000000) | f->table;
		struct ref_answer a;
		ok(!f->validate(&walker, 0, &report) && strstr(report.what, "doesn't exist") &&
		   report.level == l + 1, "%s %u level %d: a table nowhere is refused", f->name,
		   granule, l);
		f->translate(&walker, va_of(start, 0) +
			     (l > start ? va_of(l, 0) - va_of(start, 0) : 0), &a);
		ok(a.fault == REF_EXTERNAL && a.level == l + 1, "... and no access to it");

		build(f, granule, 48, false);
		walker.output_bits = 40;
		*entry_at(table_of(l), 0) = B(40) | f->table;
		f->validate(&walker, 0, &report);
		ok(report.what && strstr(report.what, "table beyond output_bits"),
		   "%s %u level %d: a table beyond output_bits is refused", f->name, granule, l);
		f->translate(&walker, va_of(l, 0), &a);
		ok(a.fault == REF_ADDRESS_SIZE && a.level == l,
		   "... and translates to an address size fault");
	}
}

static void plant_arm64(unsigned granule)
{
	const struct format *f = &formats[0];

	build(f, granule, 48, false);
	for (int l = start; l <= 3; l++) {
		uint64_t good = leaf(f, l) | pa_of(l, 2);

		if (l < 3 && !f->leaf_level(granule, l)) {
			plant(f, granule, l, 0, A_LEAF | 1, 0, "type that the level doesn't have");
			continue;
		}
		if (l == 3)
			plant(f, granule, l, 2, good & ~UINT64_C(2), 2,
			      "type that the level doesn't have");
		for (unsigned bit = 12; bit < ref_shift(granule, l); bit++)
			plant(f, granule, l, 2, (good & ~(size_of(l) - 1) & ~UINT64_C(0xfff)) |
			      leaf(f, l) | B(bit), 2,
			      l == 3 ? "below the output address" : "misaligned block");
		static const unsigned reserved[] = { 5, 48, 49, 59, 60, 61, 62, 63 };
		for (unsigned i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
			plant(f, granule, l, 2, good | B(reserved[i]), 2, "reserved bits of a leaf");
		plant(f, granule, l, 2, (good & ~(UINT64_C(3) << 8)) | UINT64_C(1) << 8, 2,
		      "shareability");
		plant(f, granule, l, 2, good | UINT64_C(5) << 2, 2, "memory type");
		plant(f, granule, l, 2, good & ~B(51), 2, "not for software");
		plant(f, granule, l, 2, good | B(55) | B(7), 2, "read-only for hardware");
		plant(f, granule, l, 2, B(11) | B(10), 2, "neither zero");
		plant(f, granule, l, 2, UINT64_C(4) << 61, 2, "neither zero");
		build(f, granule, 48, false);
		*entry_at(table_of(l), 2) = good | UINT64_C(0xf) << 55;
		ok(f->validate(&walker, 0, &(struct ref_report){ 0 }),
		   "arm64 %u level %d: software bits are free", granule, l);
		plant_invalid(f, granule, l);
		plant_runs(f, granule, l);
	}
	for (unsigned bit = 59; bit < 63; bit++)
		plant(f, granule, start, 0, BASE + 7 * TABLE + (B(bit) | 3), 0,
		      "permission bits in a table");
	static const unsigned reserved[] = { 2, 6, 10, 11, 48, 52, 55, 58, 63 };
	for (unsigned i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		plant(f, granule, start, 0, (BASE + 7 * TABLE) | B(reserved[i]) | 3, 0,
		      "reserved bits of a table");
	plant_tables(f, granule);
}

static void plant_generic(unsigned granule)
{
	const struct format *f = &formats[1];

	build(f, granule, 48, false);
	for (int l = start; l <= 3; l++) {
		uint64_t good = leaf(f, l) | pa_of(l, 2);

		if (!f->leaf_level(granule, l)) {
			plant(f, granule, l, 0, G_LEAF, 0, "leaf that the level doesn't have");
			continue;
		}
		if (l == 3)
			plant(f, granule, l, 2, (BASE + 7 * TABLE) | 2, 2,
			      "a table at the last level");
		plant(f, granule, l, 2, good | B(11), 2, "reserved bits of a leaf");
		plant(f, granule, l, 2, good | UINT64_C(3) << 56, 2, "reserved shareability");
		plant(f, granule, l, 2, good | UINT64_C(5) << 52, 2, "memory type");
		plant(f, granule, l, 2, good | B(51), 2, "beyond output_bits");
		plant(f, granule, l, 2, B(12), 2, "isn't zero");
		for (unsigned bit = 12; bit < ref_shift(granule, l); bit++)
			plant(f, granule, l, 2, good | B(bit), 2, "misaligned leaf");
		plant(f, granule, l, 2, good | B(63) | B(61), 2, "inaccessible leaf in a run");
		plant_invalid(f, granule, l);
		plant_runs(f, granule, l);
	}
	for (unsigned bit = 2; bit < 12; bit++)
		plant(f, granule, start, 0, BASE + 7 * TABLE + (B(bit) | 2), 0, "reserved bits");
	plant_tables(f, granule);
}

/* ---- Small and misaligned roots, hints too large for a table -------------- */

static void test_roots(const struct format *f)
{
	struct ref_report report;
	struct ref_answer a;

	build(f, 12, 25, false); /* level 2, 16 entries: one run fits */
	*entry_at(walker.root, 3) = 0;
	*entry_at(walker.root, 1) = 0;
	for (unsigned i = 0; i < 16; i++)
		*entry_at(walker.root, i) = f->block | f->hint | pa_of(2, i);
	ok(f->validate(&walker, 0, &report) && report.runs[3] == 1,
	   "%s: a run may fill a small root", f->name);

	build(f, 12, 32, false); /* level 1, 4 entries: a run of 16 can't */
	*entry_at(walker.root, 2) = f->block | f->hint | pa_of(1, 2);
	ok(!f->validate(&walker, 0, &report) && strstr(report.what, "where there are no runs"),
	   "%s: a hint in a root smaller than a run is refused", f->name);
	f->translate(&walker, 2 * size_of(1), &a);
	ok(a.fault == REF_NONE && a.run_bits == 30, "... and is no run when it translates");

	build(f, 12, 48, false);
	walker.root += 64;
	ok(!f->validate(&walker, 0, &report) && strstr(report.what, "misaligned root"),
	   "%s: a misaligned root is refused", f->name);
	walker.root = B(47) << 1;
	ok(!f->validate(&walker, 0, &report) && strstr(report.what, "root beyond"),
	   "%s: a root beyond output_bits is refused", f->name);

	build(f, 12, 48, false);
	walker.output_bits = 40;
	*entry_at(table_of(3), 2) = f->page | B(40);
	f->translate(&walker, va_of(3, 2), &a);
	ok(a.fault == REF_ADDRESS_SIZE && a.level == 3,
	   "%s: an output address beyond output_bits is an address size fault", f->name);
}

/* ---- Permissions ----------------------------------------------------------- */

/* "rwx" privileged, "rwx" unprivileged, as this one page answers. */
static const char *rights(const struct format *f, uint64_t entry)
{
	static char text[7];
	struct ref_answer a;

	build(f, 12, 48, false);
	*entry_at(table_of(3), 2) = entry | pa_of(3, 2);
	f->translate(&walker, va_of(3, 2), &a);
	for (int i = 0; i < 6; i++)
		text[i] = f->access(&walker, &a, "rwx"[i % 3], i >= 3) == REF_NONE ? "rwx"[i % 3] :
										     '-';
	return text;
}

static void is_rights(const struct format *f, uint64_t entry, const char *want)
{
	const char *got = rights(f, entry);

	ok(!strcmp(got, want), "%s: entry %#" PRIx64 " gives %s, as it should: %s", f->name, entry,
	   got, want);
}

static void test_rights(void)
{
	const struct format *a = &formats[0], *g = &formats[1];
	const uint64_t none = B(53) | B(54); /* no execution */
	const uint64_t page = B(10) | UINT64_C(3) << 8 | 3;
	struct ref_answer answer;

	is_rights(a, page | none | B(7), "r-----");
	is_rights(a, page | none | B(51), "rw----");
	is_rights(a, page | none | B(51) | B(7), "r-----"); /* clean: no hardware updates */
	is_rights(a, page | none | B(6) | B(7), "r--r--");
	is_rights(a, page | none | B(6) | B(51), "rw-rw-");
	is_rights(a, page | B(54) | B(7), "r-x---");
	is_rights(a, page | B(53) | B(7), "r----x"); /* unprivileged execute-only */
	is_rights(a, page | B(53) | B(6) | B(7), "r--r-x");
	is_rights(a, page | B(54) | B(51), "rwx---");
	is_rights(a, page | B(6) | B(51), "rw-rwx"); /* what EL0 writes EL1 never executes */
	is_rights(a, (page & ~B(10)) | none | B(51), "------");
	is_rights(g, G_LEAF, "rw-rw-");
	is_rights(g, G_LEAF & ~B(10), "r--r--");
	is_rights(g, G_LEAF & ~B(6), "rw----");
	is_rights(g, G_LEAF & ~B(9), "------");
	is_rights(g, 1 | B(9) | B(5), "-----x");
	is_rights(g, 1 | B(9) | B(4) | B(10) | B(3), "-wx---");

	/* Hardware that sets the states itself. */
	build(a, 12, 48, false);
	walker.hw_young = walker.hw_dirty = true;
	*entry_at(table_of(3), 2) = ((page & ~B(10)) | B(51) | B(7) | B(6)) | pa_of(3, 2);
	ref_translate(&walker, va_of(3, 2), &answer);
	ok(ref_access(&walker, &answer, 'w', true) == REF_NONE && !answer.dirty && !answer.young,
	   "arm64: clean and old, hardware that updates lets a write through");
	ok(ref_access(&walker, &answer, 'x', false) == REF_PERMISSION,
	   "arm64: ... and takes the page for writable when it judges execution");

	/* Permission bits of table entries restrict. */
	build(a, 12, 48, false);
	*entry_at(table_of(2), 1) |= B(62) | B(60);
	*entry_at(table_of(3), 2) = (page | B(51) | B(6)) | pa_of(3, 2);
	ref_translate(&walker, va_of(3, 2), &answer);
	ok(answer.read[1] && !answer.write[0] && !answer.write[1] && answer.exec[0] &&
	   !answer.exec[1], "arm64: APTable and UXNTable restrict");
	*entry_at(table_of(1), 1) |= B(61) | B(59);
	ref_translate(&walker, va_of(3, 2), &answer);
	ok(answer.read[0] && !answer.read[1] && !answer.exec[0],
	   "arm64: from any level, and PXNTable too");

	/* The other fields. */
	build(a, 12, 48, false);
	*entry_at(table_of(3), 2) = 3 | UINT64_C(3) << 2 | UINT64_C(2) << 8 | B(7) | B(50) |
				    B(55) | UINT64_C(5) << 56 | pa_of(3, 2);
	ref_translate(&walker, va_of(3, 2), &answer);
	ok(answer.memory == 3 && answer.sh == 2 && answer.global && answer.guarded &&
	   answer.dirty && !answer.writable && !answer.young && answer.software == 5,
	   "arm64: type, shareability, global, guarded, dirty and software bits are read");
	build(g, 12, 48, false);
	*entry_at(table_of(3), 2) = 1 | UINT64_C(3) << 52 | UINT64_C(2) << 56 | B(7) | B(8) |
				    B(10) | UINT64_C(5) << 58 | pa_of(3, 2);
	ref_generic_translate(&walker, va_of(3, 2), &answer);
	ok(answer.memory == 3 && answer.sh == 2 && answer.global && answer.guarded &&
	   answer.dirty && !answer.writable && !answer.young && answer.software == 5,
	   "generic: type, shareability, global, guarded, dirty and software bits are read");
	*entry_at(table_of(3), 2) |= B(63);
	ref_generic_translate(&walker, va_of(3, 2), &answer);
	ok(answer.fault == REF_TRANSLATION && answer.noaccess,
	   "generic: an inaccessible leaf is a translation fault");
}

/* ---- The other regimes of arm64, and 52 bits of address --------------------- */

#define LPA   1u
#define LPA2  2u
#define XNX   4u
#define FWB   8u
#define SMALL 16u

/* All memory is that much higher. */
static uint64_t high;

static bool read_high(void *ctx, uint64_t pa, uint64_t *value)
{
	return pa >= high && read_memory(ctx, pa - high, value);
}

/* Leaves without an address: all access but execution, dirty, write-back. */
static uint64_t regime_leaf(void)
{
	uint64_t sh = walker.lpa2 ? 0 : UINT64_C(3) << 8, all = B(51) | B(54) | B(10) | sh;

	if (walker.regime == REF_S2) /* MemAttr, S2AP */
		return all | (walker.fwb ? UINT64_C(6) << 2 : UINT64_C(15) << 2) | B(6) | B(7);
	return all | B(6) | (walker.regime == REF_EL1 ? B(53) | B(11) : 0);
}

static uint64_t regime_address(uint64_t pa)
{
	if (walker.lpa)
		return (pa & UINT64_C(0xffffffff0000)) | (pa >> 48 & 15) << 12;
	if (walker.lpa2)
		return (pa & UINT64_C(0x3fffffffff000)) | (pa >> 50 & 3) << 8;
	return pa;
}

/* A spine through index 1, and a leaf at index 3 of the last level. */
static void build_regime(enum ref_regime regime, unsigned flags, unsigned granule, unsigned input)
{
	memset(memory, 0, sizeof(memory));
	tables_used = 0;
	walker = (struct ref){ .read = read_high, .granule_bits = granule, .input_bits = input,
			       .output_bits = flags & (LPA | LPA2) ? 52 : 48, .regime = regime,
			       .lpa = flags & LPA, .lpa2 = flags & LPA2, .xnx = flags & XNX,
			       .fwb = flags & FWB, .small = flags & SMALL };
	high = flags & (LPA | LPA2) ? UINT64_C(0xf) << 48 : 0;
	start = ref_start(&walker);
	for (int l = start; l <= 3; l++)
		at_level[l + 1] = new_table();
	walker.root = high + table_of(start);
	for (int l = start; l < 3; l++)
		*entry_at(table_of(l), 1) = regime_address(high + table_of(l + 1)) | 3;
	*entry_at(table_of(3), 3) = regime_leaf() | regime_address(high | B(46)) | 3;
}

static void expect_refusal(int level, uint64_t index, const char *want, const char *what)
{
	struct ref_report report;
	bool good = ref_validate(&walker, 0, &report);

	if (!want)
		ok(good, "%s: accepted", what);
	else
		ok(!good && strstr(report.what, want) && report.level == level &&
		   report.entry_pa == high + table_of(level) + index * 8, "%s: %s", what, want);
	if (!good)
		note("refused for '%s'", report.what);
}

static const struct {
	const char *what;
	enum ref_regime regime;
	unsigned flags, granule;
	uint64_t clear, set;
	const char *want; /* NULL: it is accepted */
} leaf_rules[] = {
	{ "EL2, as it should be", REF_EL2, 0, 12, 0, 0, NULL },
	{ "EL2, AP[1] zero", REF_EL2, 0, 12, B(6), 0, "AP[1] is zero" },
	{ "EL2, nG", REF_EL2, 0, 12, 0, B(11), "reserved bits of a leaf" },
	{ "EL2, PXN", REF_EL2, 0, 12, 0, B(53), "reserved bits of a leaf" },
	{ "EL2, guarded", REF_EL2, 0, 12, 0, B(50), NULL },
	{ "EL1, AP[1] zero", REF_EL1, 0, 12, B(6), 0, NULL },
	{ "stage 2, as it should be", REF_S2, 0, 12, 0, 0, NULL },
	{ "stage 2, bit 11", REF_S2, 0, 12, 0, B(11), "reserved bits of a leaf" },
	{ "stage 2, bit 50", REF_S2, 0, 12, 0, B(50), "reserved bits of a leaf" },
	{ "stage 2, XN[0]", REF_S2, 0, 12, 0, B(53), "reserved bits of a leaf" },
	{ "stage 2, XN[0] with FEAT_XNX", REF_S2, XNX, 12, 0, B(53), NULL },
	{ "stage 2, bit 59", REF_S2, 0, 12, 0, B(59), "reserved bits of a leaf" },
	{ "stage 2, bit 63", REF_S2, 0, 12, 0, B(63), "reserved bits of a leaf" },
	{ "stage 2, no access", REF_S2, 0, 12, B(6) | B(7) | B(51), 0, NULL },
	{ "stage 2, writable for hardware alone", REF_S2, 0, 12, B(51), 0, "not for software" },
	{ "stage 2, dirty and not writable for hardware", REF_S2, 0, 12, B(7), B(55),
	  "read-only for hardware" },
	{ "stage 2, clean", REF_S2, 0, 12, B(7), 0, NULL },
	{ "stage 2, shareability", REF_S2, 0, 12, B(9), 0, "reserved shareability" },
	{ "stage 2, MemAttr 0", REF_S2, 0, 12, UINT64_C(15) << 2, 0, NULL },
	{ "stage 2, MemAttr 1", REF_S2, 0, 12, UINT64_C(14) << 2, 0, NULL },
	{ "stage 2, MemAttr 4", REF_S2, 0, 12, UINT64_C(11) << 2, 0, "MemAttr" },
	{ "stage 2, MemAttr 5", REF_S2, 0, 12, UINT64_C(10) << 2, 0, NULL },
	{ "stage 2, MemAttr 6", REF_S2, 0, 12, UINT64_C(9) << 2, 0, "MemAttr" },
	{ "stage 2, MemAttr 8", REF_S2, 0, 12, UINT64_C(7) << 2, 0, "MemAttr" },
	{ "stage 2, MemAttr 10", REF_S2, 0, 12, UINT64_C(5) << 2, 0, NULL },
	{ "FEAT_FWB, MemAttr 6", REF_S2, FWB, 12, 0, 0, NULL },
	{ "FEAT_FWB, MemAttr 7", REF_S2, FWB, 12, 0, UINT64_C(1) << 2, "MemAttr" },
	{ "FEAT_FWB, MemAttr 15", REF_S2, FWB, 12, 0, UINT64_C(15) << 2, "MemAttr" },
	{ "FEAT_FWB, MemAttr 10", REF_S2, FWB, 12, UINT64_C(4) << 2, UINT64_C(8) << 2, "MemAttr" },
	{ "4K, bit 48", REF_EL1, 0, 12, 0, B(48), "reserved bits of a leaf" },
	{ "4K LPA2, bits 49 and 48", REF_EL1, LPA2, 12, B(48) | B(49), 0, NULL },
	{ "4K LPA2, bits 9:8 are 01", REF_EL1, LPA2, 12, B(9), B(8), NULL },
	{ "4K LPA2, stage 2", REF_S2, LPA2, 12, 0, 0, NULL },
	{ "16K LPA2", REF_EL2, LPA2, 14, 0, 0, NULL },
	{ "16K LPA2, bit 12", REF_EL2, LPA2, 14, 0, B(12), "below the output address" },
	{ "64K, bit 12", REF_EL1, 0, 16, 0, B(12), "below the output address" },
	{ "64K LPA, bits 15:12", REF_EL1, LPA, 16, 0, UINT64_C(0xf000), NULL },
	{ "64K LPA, bit 48", REF_EL1, LPA, 16, 0, B(48), "reserved bits of a leaf" },
	{ "64K LPA, bit 49", REF_S2, LPA, 16, 0, B(49), "reserved bits of a leaf" },
	{ "64K LPA, shareability", REF_S2, LPA, 16, B(9), 0, "reserved shareability" },
};

static void test_leaf_rules(void)
{
	for (unsigned i = 0; i < sizeof(leaf_rules) / sizeof(*leaf_rules); i++) {
		uint64_t *d;

		build_regime(leaf_rules[i].regime, leaf_rules[i].flags, leaf_rules[i].granule, 42);
		d = entry_at(table_of(3), 3);
		*d = (*d & ~leaf_rules[i].clear) | leaf_rules[i].set;
		expect_refusal(3, 3, leaf_rules[i].want, leaf_rules[i].what);
	}
	/* What doesn't fit in the output is refused from the split bits too. */
	static const unsigned flags[3] = { LPA2, LPA2, LPA };
	for (unsigned i = 0; i < 3; i++)
		for (unsigned bit = 48; bit < 52; bit++) {
			struct ref_answer a;
			uint64_t *d;

			build_regime(REF_EL1, flags[i], 12 + 2 * i, 42);
			d = entry_at(table_of(3), 3);
			*d = regime_leaf() | regime_address(B(bit)) | 3;
			ref_translate(&walker, va_of(3, 3), &a);
			ok(a.fault == REF_NONE && a.pa == B(bit), "%u: PA bit %u is found", 12 + 2 * i, bit);
			/* Tables beyond it come first. */
			walker.output_bits = bit;
			high = 0;
			walker.root = table_of(start);
			for (int l = start; l < 3; l++)
				*entry_at(table_of(l), 1) = table_of(l + 1) | 3;
			expect_refusal(3, 3, "beyond output_bits", "a leaf");
			ref_translate(&walker, va_of(3, 3), &a);
			ok(a.fault == REF_ADDRESS_SIZE && a.level == 3, "... and no hardware goes there");
			*entry_at(table_of(2), 1) |= regime_address(B(bit));
			expect_refusal(2, 1, "table beyond output_bits", "a table");
			ref_translate(&walker, va_of(3, 3), &a);
			ok(a.fault == REF_ADDRESS_SIZE && a.level == 2, "... nor there");
		}
}

static const struct {
	const char *what;
	enum ref_regime regime;
	unsigned flags, granule;
	uint64_t set;
	const char *want;
} table_rules[] = {
	{ "EL2, XNTable", REF_EL2, 0, 12, B(60), "permission bits in a table" },
	{ "EL2, APTable", REF_EL2, 0, 12, B(62), "permission bits in a table" },
	{ "stage 2, bit 59", REF_S2, 0, 12, B(59), "reserved bits of a table" },
	{ "stage 2, bit 60", REF_S2, 0, 12, B(60), "reserved bits of a table" },
	{ "stage 2, bit 61", REF_S2, 0, 12, B(61), "reserved bits of a table" },
	{ "stage 2, bit 62", REF_S2, 0, 12, B(62), "reserved bits of a table" },
	{ "stage 2, bit 63", REF_S2, 0, 12, B(63), "reserved bits of a table" },
	{ "stage 2, bit 10", REF_S2, 0, 12, B(10), "reserved bits of a table" },
	{ "4K, bit 8", REF_EL1, 0, 12, B(8), "reserved bits of a table" },
	{ "4K, bit 49", REF_EL1, 0, 12, B(49), "reserved bits of a table" },
	{ "64K, bit 13", REF_EL1, 0, 16, B(13), "reserved bits of a table" },
	{ "64K LPA, bit 48", REF_EL1, LPA, 16, B(48), "reserved bits of a table" },
	{ "64K LPA, bit 9", REF_S2, LPA, 16, B(9), "reserved bits of a table" },
	{ "16K LPA2, bit 13", REF_S2, LPA2, 14, B(13), "reserved bits of a table" },
};

static void test_table_rules(void)
{
	for (unsigned i = 0; i < sizeof(table_rules) / sizeof(*table_rules); i++) {
		build_regime(table_rules[i].regime, table_rules[i].flags, table_rules[i].granule, 42);
		*entry_at(table_of(2), 1) |= table_rules[i].set;
		expect_refusal(2, 1, table_rules[i].want, table_rules[i].what);
	}
}

/* The largest blocks come with 52 bits of output. */
static void test_largest_blocks(void)
{
	static const struct {
		unsigned flags, granule;
		int level;
	} rows[] = { { LPA2, 12, 0 }, { LPA2, 14, 1 }, { LPA, 16, 1 } };

	for (unsigned i = 0; i < 3; i++)
		for (enum ref_regime r = REF_EL1; r <= REF_S2; r++) {
			int l = rows[i].level;
			struct ref_answer a;

			build_regime(r, rows[i].flags, rows[i].granule, 48);
			if (l < start)
				continue; /* 16K, stage 2: two tables of level 1 */
			*entry_at(table_of(l), 3) = regime_leaf() | regime_address(B(51)) | 1;
			expect_refusal(l, 3, NULL, "the largest block");
			ref_translate(&walker, va_of(l, 3) + 77, &a);
			ok(a.fault == REF_NONE && a.pa == B(51) + 77 && a.leaf_bits == ref_shift(rows[i].granule, l),
			   "... and translates");
			build_regime(r, 0, rows[i].granule, 48);
			*entry_at(table_of(l), 3) = regime_leaf() | 1;
			expect_refusal(l, 3, "type that the level doesn't have", "such a block of 48 bits");
			ref_translate(&walker, va_of(l, 3), &a);
			ok(a.fault == REF_TRANSLATION, "... and doesn't translate");
			if (rows[i].granule != 12)
				continue;
			build_regime(r, rows[i].flags, 12, 48);
			*entry_at(table_of(l), 3) = regime_leaf() | B(52) | 1;
			expect_refusal(l, 3, "where there are no runs", "the hint in it");
		}
}

static void is_start(unsigned flags, unsigned granule, unsigned input, int levels, int want)
{
	struct ref r = { .regime = REF_S2, .granule_bits = granule, .input_bits = input,
			 .small = flags & SMALL, .levels = levels };

	ok(ref_start(&r) == want, "stage 2, %u/%u starts at level %d", granule, input, want);
}

static void test_starts(void)
{
	struct ref_answer a;

	is_start(0, 12, 32, 0, 2);
	is_start(0, 12, 34, 0, 2);
	is_start(0, 12, 35, 0, 1);
	is_start(0, 12, 43, 0, 1);
	is_start(0, 12, 44, 0, 0);
	is_start(0, 12, 52, 0, 0);
	is_start(0, 12, 52, 5, -1);
	is_start(0, 12, 25, 0, 2);
	is_start(SMALL, 12, 25, 0, 3);
	is_start(0, 14, 29, 0, 3);
	is_start(0, 14, 40, 0, 2);
	is_start(0, 14, 48, 0, 1);
	is_start(0, 14, 52, 0, 0);
	is_start(0, 16, 46, 0, 2);
	is_start(0, 16, 47, 0, 1);

	/* Two tables of level 1: the second is no copy of the first. */
	build_regime(REF_S2, 0, 12, 40);
	*entry_at(walker.root, 512) = regime_leaf() | B(40) | 1;
	ref_translate(&walker, B(39) + 5, &a);
	ok(a.fault == REF_NONE && a.level == 1 && a.pa == B(40) + 5, "the second table of a root translates");
	ref_translate(&walker, 5, &a);
	ok(a.fault == REF_TRANSLATION, "... the first holds nothing there");
	walker.root += 4096;
	expect_refusal(1, 512, "misaligned root", "a root of two tables, aligned to one");
}

static void regime_rights(unsigned flags, enum ref_regime regime, uint64_t clear, uint64_t set, const char *want)
{
	struct ref_answer a;
	char got[7] = "";
	uint64_t *d;

	build_regime(regime, flags, 12, 42);
	d = entry_at(table_of(3), 3);
	*d = (*d & ~clear) | set;
	ref_translate(&walker, va_of(3, 3), &a);
	for (int i = 0; i < 6; i++)
		got[i] = ref_access(&walker, &a, "rwx"[i % 3], i >= 3) == REF_NONE ? "rwx"[i % 3] : '-';
	ok(!strcmp(got, want), "regime %d, entry %#" PRIx64 " gives %s, as it should: %s", (int)regime, *d, got,
	   want);
}

static void test_regime_rights(void)
{
	const uint64_t xn = B(53) | B(54), rw = B(6) | B(7) | B(51);
	struct ref_answer a;

	regime_rights(0, REF_EL2, 0, 0, "rw----");
	regime_rights(0, REF_EL2, B(54), 0, "rwx---");
	regime_rights(0, REF_EL2, xn | B(51), B(7), "r-x---");
	regime_rights(0, REF_EL2, B(10), 0, "------");
	regime_rights(0, REF_S2, 0, 0, "rw-rw-");
	regime_rights(0, REF_S2, xn, 0, "rwxrwx");
	regime_rights(0, REF_S2, rw, B(6), "r--r--");
	regime_rights(0, REF_S2, rw, B(7) | B(51), "-w--w-");
	regime_rights(0, REF_S2, B(7), 0, "r--r--"); /* clean */
	regime_rights(0, REF_S2, rw | xn, 0, "--x--x");
	regime_rights(XNX, REF_S2, xn, B(53), "rw-rwx");
	regime_rights(XNX, REF_S2, xn, B(53) | B(54), "rwxrw-");
	regime_rights(XNX, REF_S2, xn, B(54), "rw-rw-");

	build_regime(REF_S2, 0, 12, 42);
	walker.hw_dirty = true;
	*entry_at(table_of(3), 3) &= ~B(7);
	ref_translate(&walker, va_of(3, 3), &a);
	ok(a.write[0] && !a.dirty && a.writable, "stage 2: hardware makes a clean page writable");
	build_regime(REF_S2, 0, 12, 42);
	ref_translate(&walker, va_of(3, 3), &a);
	ok(a.dirty && a.memory == 15 && a.sh == 3 && !a.global && !a.guarded,
	   "stage 2: dirty by S2AP[1], MemAttr of four bits");
	*entry_at(table_of(3), 3) |= B(50);
	ref_translate(&walker, va_of(3, 3), &a);
	ok(!a.guarded, "stage 2: nothing is guarded");
	build_regime(REF_EL1, LPA2, 12, 42);
	*entry_at(table_of(3), 3) &= ~(UINT64_C(3) << 8);
	ref_translate(&walker, va_of(3, 3), &a);
	ok(a.sh == 3, "LPA2: shareability isn't in entries");
	build_regime(REF_EL2, 0, 12, 42);
	*entry_at(table_of(2), 1) |= B(60) | B(62);
	*entry_at(table_of(3), 3) &= ~B(54);
	ref_translate(&walker, va_of(3, 3), &a);
	ok(a.read[0] && !a.write[0] && !a.exec[0], "EL2: XNTable and APTable[1] restrict");
	*entry_at(table_of(2), 1) = (*entry_at(table_of(2), 1) & ~(B(60) | B(62))) | B(59) | B(61);
	ref_translate(&walker, va_of(3, 3), &a);
	ok(a.read[0] && a.write[0] && a.exec[0], "EL2: PXNTable and APTable[0] don't");
}

int main(void)
{
	static const unsigned granules[] = { 12, 14, 16 }, inputs[] = { 25, 36, 39, 47, 48 };

	is_u64(ref_start_level(12, 48), 0, "4K, 48 bits start at level 0");
	is_u64(ref_start_level(12, 39), 1, "4K, 39 bits start at level 1");
	is_u64(ref_start_level(12, 30), 2, "4K, 30 bits start at level 2");
	is_u64(ref_start_level(14, 48), 0, "16K, 48 bits start at level 0");
	is_u64(ref_start_level(14, 47), 1, "16K, 47 bits start at level 1");
	is_u64(ref_start_level(14, 25), 3, "16K, 25 bits start at level 3");
	is_u64(ref_start_level(16, 42), 2, "64K, 42 bits start at level 2");
	is_u64(ref_start_level(16, 29), 3, "64K, 29 bits start at level 3");
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned k = 0; k < 5; k++) {
			test_clean(&formats[0], granules[i], inputs[k], false);
			test_clean(&formats[0], granules[i], inputs[k], true);
			test_clean(&formats[1], granules[i], inputs[k], false);
		}
		plant_arm64(granules[i]);
		plant_generic(granules[i]);
	}
	test_roots(&formats[0]);
	test_roots(&formats[1]);
	test_rights();
	test_leaf_rules();
	test_table_rules();
	test_largest_blocks();
	test_starts();
	test_regime_rights();
	return tap_done();
}
