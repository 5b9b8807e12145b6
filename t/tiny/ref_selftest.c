/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tiny format's walker judges the library, so it is judged here, on tables
 * built by hand and without the library: it translates as calculated, and
 * refuses each kind of broken entry where it was planted.
 */
#include <string.h>
#include "../tap.h"
#include "ref.h"

#define BASE  UINT64_C(0x40000000)
#define TABLE 64u /* room for one; also the root's size */

enum { ROOT, L1, L2, L3, TABLES };

static uint64_t memory[TABLES][TABLE / 8];

static bool read_memory(void *ctx, uint64_t pa, uint64_t *value)
{
	(void)ctx;
	if (pa < BASE || pa - BASE >= sizeof(memory) || pa % 8)
		return false;
	*value = memory[(pa - BASE) / TABLE][(pa - BASE) % TABLE / 8];
	return true;
}

static struct ref walker = {
	.read = read_memory, .root = BASE, .granule_bits = 5, .input_bits = 13, .output_bits = 32,
};

/* Entries, from the description of the format. */
#define ATTR(n) (UINT64_C(1) << ((n) + 4))
#define ALL     (ATTR(0) | ATTR(1) | ATTR(2) | ATTR(3) | ATTR(4) | ATTR(8) | ATTR(9))
#define HINT    4u
#define BROKEN  8u
#define AT(pa)  ((uint64_t)(pa) / 32 << 32)

static uint64_t leaf(uint64_t pa)
{
	return AT(pa) | ALL | 1;
}

static uint64_t table(unsigned n)
{
	return AT(BASE + n * TABLE) | 2;
}

/* Something of everything: [0x800, 0xa00) a block of level 1, then tables. */
static void build(void)
{
	memset(memory, 0, sizeof(memory));
	memory[ROOT][1] = table(L1);
	memory[L1][0] = leaf(0x10000);
	memory[L1][2] = table(L2);
	memory[L2][1] = table(L3);
	memory[L2][2] = leaf(0x20000) | HINT;
	memory[L2][3] = leaf(0x20080) | HINT;
	memory[L3][0] = leaf(0x30040) | HINT;
	memory[L3][1] = leaf(0x30060) | HINT;
	memory[L3][2] = leaf(0x50020);
	memory[L3][3] = 77 << 4 | 3;
}

/* ---- Translation ------------------------------------------------------------ */

static void goes(uint64_t va, uint64_t pa, int level, unsigned leaf_bits, unsigned run_bits)
{
	struct ref_answer a;

	ref_tiny_translate(&walker, va, &a);
	ok(!a.fault && a.pa == pa && a.level == level && a.leaf_bits == leaf_bits &&
	   a.run_bits == run_bits, "%#" PRIx64 " goes to %#" PRIx64 ", level %d", va, pa, level);
}

static void faults(uint64_t va, enum ref_fault fault, int level, const char *what)
{
	struct ref_answer a;

	ref_tiny_translate(&walker, va, &a);
	ok(a.fault == fault && a.level == level, "%s is fault %d at level %d", what, fault, level);
}

static void test_translation(void)
{
	build();
	goes(0x800, 0x10000, 1, 9, 9);
	goes(0x9ff, 0x101ff, 1, 9, 9);
	goes(0xd00, 0x20000, 2, 7, 8);
	goes(0xdff, 0x200ff, 2, 7, 8);
	goes(0xc87, 0x30047, 3, 5, 6);
	goes(0xcc5, 0x50025, 3, 5, 5);
	faults(0, REF_TRANSLATION, 0, "an empty entry of the root");
	faults(0xa00, REF_TRANSLATION, 1, "an empty entry");
	faults(0xce0, REF_TRANSLATION, 3, "a token");
	faults(0x2000, REF_RANGE, 0, "an address beyond the input range");
	memory[L2][1] = table(L3) | BROKEN;
	faults(0xc80, REF_TRANSLATION, 2, "a broken table");
	memory[L2][1] = AT(UINT64_C(1) << 32) | 2;
	faults(0xc80, REF_ADDRESS_SIZE, 2, "a table beyond the output range");
	memory[L2][1] = AT(0x1000) | 2;
	faults(0xc80, REF_EXTERNAL, 3, "a table in no memory");
	memory[L2][1] = table(L3);
	memory[L3][2] |= ATTR(6);
	faults(0xcc0, REF_TRANSLATION, 3, "an inaccessible leaf");
	memory[L3][2] = leaf(UINT64_C(1) << 32);
	faults(0xcc0, REF_ADDRESS_SIZE, 3, "a leaf beyond the output range");
	walker.upper = true;
	build();
	goes(UINT64_C(0) - 0x2000 + 0xcc5, 0x50025, 3, 5, 5);
	faults(0xcc5, REF_RANGE, 0, "an address of the other half");
	walker.upper = false;
}

/* ---- Rights and fields ------------------------------------------------------- */

static void rights(uint64_t attr, const char *want)
{
	struct ref_answer a;
	char got[7] = "";

	memory[L3][2] = AT(0x50020) | attr | 1;
	ref_tiny_translate(&walker, 0xcc0, &a);
	for (int i = 0; i < 6; i++)
		got[i] = ref_tiny_access(&walker, &a, "rwx"[i % 3], i >= 3) ? '-' : "rwx"[i % 3];
	ok(!strcmp(got, want), "attributes %#" PRIx64 " give %s: %s", attr >> 4, want, got);
}

static void test_rights(void)
{
	struct ref_answer a;

	build();
	rights(ALL, "rwxrwx");
	rights(ALL & ~ATTR(4), "rwx--x");
	rights(ALL & ~ATTR(3), "rwxrw-");
	rights(ALL & ~ATTR(2), "rw-rwx");
	rights(ALL & ~ATTR(1), "r-xr-x");
	rights(ALL & ~ATTR(0), "-wx-wx");
	rights(ALL & ~ATTR(9), "r-xr-x");
	rights(ALL & ~ATTR(8), "------");
	walker.hw_young = walker.hw_dirty = true;
	rights(ALL & ~ATTR(8) & ~ATTR(9), "rwxrwx");
	walker.hw_young = walker.hw_dirty = false;
	memory[L3][2] = AT(0x50020) | ATTR(5) | ATTR(7) | ATTR(9) | UINT64_C(5) << 14 |
			UINT64_C(3) << 20 | UINT64_C(2) << 28 | 1;
	ref_tiny_translate(&walker, 0xcc0, &a);
	ok(a.global && a.guarded && a.dirty && !a.young && !a.writable && a.software == 5 &&
	   a.memory == 3 && a.sh == 2, "the other fields are read");
}

/* ---- Validation ----------------------------------------------------------------- */

static void planted(unsigned where, unsigned index, uint64_t entry, const char *what)
{
	struct ref_report report;
	bool accepted;

	build();
	memory[where][index] = entry;
	accepted = ref_tiny_validate(&walker, REF_TOKENS, &report);
	ok(!accepted && strstr(report.what, what), "refused: %s (%s)", what,
	   accepted ? "it was accepted" : report.what);
}

static void test_validation(void)
{
	struct ref_report r;
	bool good;

	build();
	good = ref_tiny_validate(&walker, REF_TOKENS, &r);
	ok(good && r.all_tables == 4 && r.leaves[2] == 1 && r.leaves[3] == 2 && r.leaves[4] == 3 &&
	   r.runs[3] == 1 && r.runs[4] == 1 && r.tokens == 1 && r.mapped == 512 + 2 * 128 + 3 * 32,
	   "a sound table is accepted, and counted: %s", good ? "" : r.what);
	ok(!ref_tiny_validate(&walker, 0, &r), "a token that isn't tolerated is refused");
	planted(ROOT, 0, leaf(0), "the level doesn't have");
	planted(L1, 1, 16, "isn't zero");
	planted(L1, 1, leaf(0x10080), "misaligned leaf");
	planted(L1, 1, leaf(UINT64_C(1) << 33), "beyond output_bits");
	planted(L1, 1, leaf(0x10200) | UINT64_C(1) << 30, "reserved bits of a leaf");
	planted(L1, 1, leaf(0x10200) | UINT64_C(3) << 28, "shareability");
	planted(L1, 1, leaf(0x10200) | UINT64_C(5) << 20, "memory type");
	planted(L1, 1, leaf(0x10200) | ATTR(13), "attribute");
	planted(L1, 1, leaf(0x10200) | BROKEN, "placeholder");
	planted(L1, 1, leaf(0x10200) | ATTR(6), "inaccessible leaf");
	planted(L1, 1, table(L2), "reached twice");
	planted(L1, 1, table(ROOT), "reached twice");
	planted(L1, 2, table(L2) | ATTR(0), "reserved bits of a table");
	planted(L1, 2, AT(0x1000) | 2, "doesn't exist");
	planted(L3, 2, table(L3), "last level");
	planted(L3, 3, 3 | HINT, "reserved bits of a token");
	planted(L3, 1, leaf(0x30060), "in every entry");
	planted(L3, 1, 0, "in every entry");
	planted(L3, 1, leaf(0x30080) | HINT, "don't follow");
	planted(L3, 1, (leaf(0x30060) | HINT) & ~ATTR(1), "unequal attributes");
	build();
	memory[L3][0] = leaf(0x30060) | HINT;
	memory[L3][1] = leaf(0x30080) | HINT;
	ok(!ref_tiny_validate(&walker, REF_TOKENS, &r) && strstr(r.what, "misaligned run"),
	   "refused: misaligned run");
	build();
	memory[L3][1] &= ~(ATTR(8) | ATTR(9));
	ok(ref_tiny_validate(&walker, REF_TOKENS, &r), "young and dirty may differ in a run");
}

int main(void)
{
	test_translation();
	test_rights();
	test_validation();
	return tap_done();
}
