/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a Linux guest reports of its memory, and what the library reads in its
 * tables: compare FOLDER takes what capture.sh left there, and compares every line
 * of truth (truth.h) with pgt_arm64_walk, pgt_arm64_walk2 for a KVM guest's. The
 * other way round, the tables may map nothing that was not reported, and hold
 * nothing that the architecture forbids.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pgtable/arm64.h>
#include <pgtable/pgtable.h>

#include "../../tap.h"

#define INSIDE UINT64_C(0x5a8) /* the byte of a page that is asked for */
#define ABSENT UINT64_MAX
#define HCR_E2H (UINT64_C(1) << 34)
#define SHOWN 10 /* differences printed of a kind */

/* ---- What was captured --------------------------------------------------- */

struct line {
	uint64_t address, value; /* value: a PFN, 'G': an IPA; or ABSENT */
	char kind, flags[15];
};

static struct line *lines;
static size_t line_count;
static uint8_t *ram;
static uint64_t ram_pa, ram_bytes;
static uint64_t page_bytes = 4096;

static struct pgt_arm64_regs process, guest, stage2;
static bool has_guest; /* of KVM */

static void die(const char *what, const char *name)
{
	printf("Bail out! %s: %s\n", name, what);
	exit(EXIT_FAILURE);
}

static FILE *open_in(const char *folder, const char *name, bool needed)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	if (!file && (needed || errno != ENOENT))
		die(strerror(errno), path);
	return file;
}

static bool set_register(struct pgt_arm64_regs *regs, const char *name, uint64_t value)
{
	const struct {
		const char *name;
		uint64_t *value;
	} known[] = {
		{ "ttbr0", &regs->ttbr0 }, { "ttbr1", &regs->ttbr1 }, { "tcr", &regs->tcr },
		{ "mair", &regs->mair },   { "sctlr", &regs->sctlr }, { "vttbr", &regs->vttbr },
		{ "vtcr", &regs->vtcr },   { "hcr", &regs->hcr },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i].name) == 0) {
			*known[i].value = value;
			return true;
		}
	return false;
}

static void set_field(struct pgt_arm64_regs *regs, const char *name, const char *value)
{
	const char *at = strchr(value, '@');

	if (strcmp(name, "ram") == 0 && at)
		ram_pa = strtoull(at + 1, NULL, 0);
	else if (strcmp(name, "regime") != 0 && !set_register(regs, name, strtoull(value, NULL, 0)))
		die("a name that nobody knows", name);
}

/* False where there is no such file. */
static bool read_registers(const char *folder, const char *name, uint32_t regime, struct pgt_arm64_regs *regs)
{
	FILE *file = open_in(folder, name, false);
	char text[512], field[32], value[32];

	if (!file)
		return false;
	regs->size = sizeof(*regs);
	regs->regime = regime;
	while (fgets(text, sizeof(text), file))
		if (sscanf(text, "%31[a-z0-9] = %31s", field, value) == 2)
			set_field(regs, field, value);
	fclose(file);
	return true;
}

static void read_truth(const char *folder)
{
	FILE *file = open_in(folder, "truth", true);
	char text[128], value[32];
	size_t room = 0;

	while (fgets(text, sizeof(text), file)) {
		struct line l = { .value = ABSENT };

		if (sscanf(text, "%c %" SCNx64 " %31s %14s", &l.kind, &l.address, value, l.flags) != 4)
			die("a line that is none", text);
		if (l.kind == 'S')
			page_bytes = l.address;
		if (strcmp(value, "-") != 0)
			l.value = strtoull(value, NULL, 16);
		if (line_count == room) {
			room = room ? 2 * room : 16384;
			lines = realloc(lines, room * sizeof(*lines));
			if (!lines)
				die("no memory", folder);
		}
		lines[line_count++] = l;
	}
	fclose(file);
}

static void map_ram(const char *folder)
{
	FILE *file = open_in(folder, "ram", true);
	struct stat status;

	if (fstat(fileno(file), &status))
		die(strerror(errno), "ram");
	ram_bytes = (uint64_t)status.st_size;
	ram = mmap(NULL, (size_t)ram_bytes, PROT_READ, MAP_PRIVATE, fileno(file), 0);
	if (ram == MAP_FAILED)
		die(strerror(errno), "ram");
	fclose(file);
}

static bool has(const struct line *l, char flag)
{
	return strchr(l->flags, flag) != NULL;
}

/* ---- Memory, by PA and by the KVM guest's IPA ------------------------------- */

static void *at_pa(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx;
	if (pa < ram_pa || pa - ram_pa > ram_bytes || bytes > ram_bytes - (pa - ram_pa))
		return NULL;
	return ram + (pa - ram_pa);
}

/* 'I' lines come in rising order. */
static const struct line *ipa_line(uint64_t ipa)
{
	static size_t first, count;
	size_t low = 0, high;

	if (!count) {
		while (first < line_count && lines[first].kind != 'I')
			first++;
		while (first + count < line_count && lines[first + count].kind == 'I')
			count++;
	}
	for (high = count; low < high;) {
		const size_t middle = low + (high - low) / 2;
		const struct line *l = &lines[first + middle];

		if (ipa / page_bytes == l->address / page_bytes)
			return l;
		if (ipa < l->address)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static void *at_ipa(void *ctx, uint64_t ipa, uint64_t bytes)
{
	const struct line *l = ipa_line(ipa);

	if (!l || l->value == ABSENT || bytes > page_bytes - ipa % page_bytes)
		return NULL;
	return at_pa(ctx, l->value * page_bytes + ipa % page_bytes, bytes);
}

static const struct pgt_memory by_pa = { .to_virt = at_pa };
static const struct pgt_memory by_ipa = { .to_virt = at_ipa };

/* ---- What walks answer ------------------------------------------------------ */

struct answer {
	int status;
	struct pgt_translation to;
};

typedef struct answer walk_fn(uint64_t va, uint64_t access);

static struct answer walk_process(uint64_t va, uint64_t access)
{
	struct answer a = { 0 };

	a.status = pgt_arm64_walk(&process, &by_pa, va + INSIDE, access | PGT_USER, &a.to);
	return a;
}

static struct answer walk_guest_alone(uint64_t va, uint64_t access)
{
	struct answer a = { 0 };

	a.status = pgt_arm64_walk(&guest, &by_ipa, va + INSIDE, access, &a.to);
	return a;
}

static struct answer walk_guest(uint64_t va, uint64_t access)
{
	struct answer a = { 0 };

	a.status = pgt_arm64_walk2(&guest, &stage2, &by_pa, va + INSIDE, access, &a.to);
	return a;
}

static struct answer walk_stage2(uint64_t ipa, uint64_t access)
{
	struct answer a = { 0 };

	a.status = pgt_arm64_walk2(NULL, &stage2, &by_pa, ipa + INSIDE, access, &a.to);
	return a;
}

static bool leads_to(const struct answer *a, uint64_t page)
{
	return a->status == PGT_OK && a->to.pa == page + INSIDE;
}

static bool faults(const struct answer *a, int fault)
{
	return a->status == PGT_EFAULT && a->to.fault == fault;
}

static bool faults_at(const struct answer *a, int fault, int stage, uint64_t ipa)
{
	return faults(a, fault) && a->to.stage == stage &&
	       (stage == 1 || (a->to.ipa == ipa + INSIDE && !a->to.during_walk));
}

static const char *in_words(const struct answer *a)
{
	static const char *const names[] = { "no", "a translation", "an access flag", "a permission",
					     "an address size", "an external" };
	static char text[128];

	if (a->status == PGT_OK)
		snprintf(text, sizeof(text), "PA 0x%" PRIx64 ", IPA 0x%" PRIx64 ", level %d", a->to.pa,
			 a->to.ipa, a->to.level);
	else if (a->status == PGT_EFAULT && a->to.fault >= 1 && a->to.fault <= 5)
		snprintf(text, sizeof(text), "%s fault, level %d, stage %d%s, IPA 0x%" PRIx64,
			 names[a->to.fault], a->to.level, a->to.stage,
			 a->to.during_walk ? ", in the walk" : "", a->to.ipa);
	else
		snprintf(text, sizeof(text), "%s", pgt_strerror(a->status));
	return text;
}

/* ---- Every line --------------------------------------------------------------- */

/* Comparisons of one kind of line, and what their answers were made of. */
static struct tally {
	uint64_t lines, asked, differ;
	uint64_t page, block, page_run, block_run, faults, high;
} tally;

static void judge(const struct line *l, const char *access, struct answer a, bool good)
{
	tally.asked++;
	if (a.status == PGT_OK && a.to.level < 3)
		a.to.run_bits > a.to.leaf_bits ? tally.block_run++ : tally.block++;
	else if (a.status == PGT_OK)
		a.to.run_bits > a.to.leaf_bits ? tally.page_run++ : tally.page++;
	else
		tally.faults++;
	if (a.status == PGT_OK && l->address >> 48 && l->address >> 52 == 0)
		tally.high++;
	if (!good && tally.differ++ < SHOWN)
		note("%c 0x%" PRIx64 " 0x%" PRIx64 " %s, %s: %s", l->kind, l->address, l->value, l->flags,
		     access, in_words(&a));
}

/* A process's memory is cached, its own, and for it. */
static bool ordinary(const struct answer *a)
{
	return (a->to.attr & (PGT_MEM_MASK | PGT_SH_MASK | PGT_USER | PGT_GLOBAL | PGT_NOACCESS)) == PGT_USER;
}

/*
 * What one access must give. Writes to a page that is writable but was not
 * written yet may meet a clean entry, or one that is copied first.
 */
static void judge_process(const struct line *l)
{
	const uint64_t page = l->value * page_bytes;
	struct answer a = walk_process(l->address, PGT_READ);

	if (l->value == ABSENT || !(has(l, 'r') || has(l, 'w') || has(l, 'x'))) {
		judge(l, "read", a, faults(&a, PGT_FAULT_TRANSLATION));
		return;
	}
	if (a.status == PGT_OK)
		judge(l, "attributes", a, ordinary(&a));
	/* PROT_EXEC alone: readable all the same, unless the CPU can tell. */
	judge(l, "read", a,
	      leads_to(&a, page) || (!has(l, 'r') && faults(&a, PGT_FAULT_PERMISSION)));
	a = walk_process(l->address, PGT_WRITE);
	judge(l, "write", a,
	      has(l, 'w') ? leads_to(&a, page) || (!has(l, 'd') && faults(&a, PGT_FAULT_PERMISSION))
			  : faults(&a, PGT_FAULT_PERMISSION));
	a = walk_process(l->address, PGT_EXEC);
	judge(l, "exec", a, has(l, 'x') ? leads_to(&a, page) : faults(&a, PGT_FAULT_PERMISSION));
}

/* Stage 2 alone. Memory that the guest has not touched may be there or not. */
static void judge_ipa(const struct line *l, const char *access, struct answer a, bool granted, bool refused)
{
	const bool missing = faults_at(&a, PGT_FAULT_TRANSLATION, 2, l->address);
	bool good;

	if (l->value == ABSENT)
		good = missing;
	else if (granted)
		good = leads_to(&a, l->value * page_bytes) && a.to.ipa == l->address + INSIDE;
	else if (refused)
		good = faults_at(&a, PGT_FAULT_PERMISSION, 2, l->address) || (missing && !has(l, 't'));
	else
		good = leads_to(&a, l->value * page_bytes) || (missing && !has(l, 't')) ||
		       (*access != 'r' && faults_at(&a, PGT_FAULT_PERMISSION, 2, l->address));
	judge(l, access, a, good);
}

static void judge_stage2(const struct line *l)
{
	judge_ipa(l, "read", walk_stage2(l->address, PGT_READ), has(l, 't'), false);
	judge_ipa(l, "write", walk_stage2(l->address, PGT_WRITE), has(l, 'd'), !has(l, 'w'));
	judge_ipa(l, "exec", walk_stage2(l->address, PGT_EXEC), has(l, 'x'), false);
}

/* The guest's own stage 1, whose tables are found by IPA. */
static void judge_guest_alone(const struct line *l)
{
	struct answer a = walk_guest_alone(l->address, PGT_READ);

	if (!has(l, 'r')) {
		judge(l, "read, stage 1", a, faults(&a, PGT_FAULT_EXTERNAL));
		return;
	}
	judge(l, "read, stage 1", a, leads_to(&a, l->value));
	a = walk_guest_alone(l->address, PGT_WRITE);
	judge(l, "write, stage 1", a,
	      has(l, 'w') ? leads_to(&a, l->value) : faults(&a, PGT_FAULT_PERMISSION));
	a = walk_guest_alone(l->address, PGT_EXEC);
	judge(l, "exec, stage 1", a,
	      has(l, 'x') ? leads_to(&a, l->value) : faults(&a, PGT_FAULT_PERMISSION));
	a = walk_guest_alone(l->address, PGT_READ | PGT_USER);
	judge(l, "user read, stage 1", a, faults(&a, PGT_FAULT_PERMISSION));
}

/* Both stages; 'right' is what stage 1 must grant, and 'known' that stage 2 does too. */
static void judge_both(const struct line *l, const char *access, struct answer a, bool right, bool known)
{
	const struct line *behind = ipa_line(l->value);
	const bool missing = faults_at(&a, PGT_FAULT_TRANSLATION, 2, l->value);
	bool good;

	if (!right)
		good = faults_at(&a, PGT_FAULT_PERMISSION, 1, 0);
	else if (!behind || behind->value == ABSENT)
		good = missing;
	else if (known)
		good = leads_to(&a, behind->value * page_bytes) && a.to.ipa == l->value + INSIDE;
	else if (*access == 'w' && !has(behind, 'w'))
		good = faults_at(&a, PGT_FAULT_PERMISSION, 2, l->value) || (missing && !has(behind, 't'));
	else
		good = leads_to(&a, behind->value * page_bytes) || (missing && !has(behind, 't')) ||
		       (*access != 'r' && faults_at(&a, PGT_FAULT_PERMISSION, 2, l->value));
	judge(l, access, a, good);
}

static void judge_guest(const struct line *l)
{
	struct answer a = walk_guest(l->address, PGT_READ);

	judge_guest_alone(l);
	if (!has(l, 'r')) {
		/* A table where no memory is: stage 2 refuses the walk itself. */
		judge(l, "read", a,
		      faults(&a, PGT_FAULT_TRANSLATION) && a.to.stage == 2 && a.to.during_walk &&
			      a.to.ipa / page_bytes == l->value / page_bytes);
		return;
	}
	judge_both(l, "read", a, true, has(l, 't'));
	judge_both(l, "write", walk_guest(l->address, PGT_WRITE), has(l, 'w'), has(l, 'd'));
	judge_both(l, "exec", walk_guest(l->address, PGT_EXEC), has(l, 'x'), has(l, 'x') && has(l, 't'));
	judge_both(l, "read by the user", walk_guest(l->address, PGT_READ | PGT_USER), false, false);
}

static void judge_all(char kind, void (*fn)(const struct line *), const char *what)
{
	memset(&tally, 0, sizeof(tally));
	for (size_t i = 0; i < line_count; i++)
		if (lines[i].kind == kind) {
			tally.lines++;
			fn(&lines[i]);
		}
	ok(tally.lines && !tally.differ, "%s: %" PRIu64 " pages, %" PRIu64 " accesses, %" PRIu64 " differ",
	   what, tally.lines, tally.asked, tally.differ);
	note("%" PRIu64 " in pages, %" PRIu64 " in runs of pages, %" PRIu64 " in blocks, %" PRIu64
	     " in runs of blocks, %" PRIu64 " faults",
	     tally.page, tally.page_run, tally.block, tally.block_run, tally.faults);
}

static void compare_process(void)
{
	const unsigned t0sz = process.tcr & 63;

	judge_all('P', judge_process, "a process, as /proc/self/pagemap has it");
	ok(tally.lines > 5000, "they are several thousand");
	/* With 16K a run of blocks is 1 GiB, more than there is. */
	ok(tally.page && tally.page_run && tally.block && (tally.block_run || page_bytes > 4096),
	   "they came in pages, blocks, and runs of both");
	if (t0sz < 16)
		ok(tally.high, "some have more than 48 bits of VA: %" PRIu64 " accesses", tally.high);
}

/* ---- The tables as a whole -------------------------------------------------- */

static unsigned problems;

static int show_problem(void *ctx, const struct pgt_problem *p)
{
	(void)ctx;
	if (problems++ < SHOWN)
		note("VA 0x%" PRIx64 ", level %d, entry 0x%" PRIx64 " at 0x%" PRIx64 ": %s", p->va, p->level,
		     p->entry, p->entry_pa, p->what);
	return 0;
}

/* The first address of a half, and its length. */
static uint64_t half_of(const struct pgt *t, bool upper, uint64_t *len)
{
	struct pgt_config c = { .size = sizeof(c) };

	if (pgt_describe(t, &c) != PGT_OK)
		c.input_bits = 0;
	*len = UINT64_C(1) << c.input_bits;
	return upper ? -*len : 0;
}

static void stat_all(const struct pgt *t, bool upper, const char *what, struct pgt_stat *s)
{
	uint64_t len;
	const uint64_t first = half_of(t, upper, &len);
	const int status = pgt_stat(t, first, len, s);

	ok(status == PGT_OK, "%s: pgt_stat: %s", what, pgt_strerror(status));
	note("0x%" PRIx64 " bytes of addresses; %" PRIu64 " KiB of tables, at levels -1 to 3: %" PRIu64 " %" PRIu64
	     " %" PRIu64 " %" PRIu64 " %" PRIu64,
	     len, s->table_bytes >> 10, s->tables[0], s->tables[1], s->tables[2], s->tables[3], s->tables[4]);
	note("leaves at levels 0 to 3: %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "; runs of them: %" PRIu64
	     " %" PRIu64 " %" PRIu64 " %" PRIu64 "; %" PRIu64 " tokens; %" PRIu64 " MiB mapped",
	     s->leaves[1], s->leaves[2], s->leaves[3], s->leaves[4], s->runs[1], s->runs[2], s->runs[3],
	     s->runs[4], s->tokens, s->mapped_bytes >> 20);
}

static struct pgt *attach_and_check(const struct pgt_arm64_regs *regs, const struct pgt_memory *memory, int half,
				    const char *what, unsigned expected)
{
	struct pgt *t;
	int status = pgt_arm64_attach(regs, memory, half, &t);

	if (!ok(status == PGT_OK, "%s: pgt_arm64_attach: %s", what, pgt_strerror(status)))
		return NULL;
	problems = 0;
	status = pgt_check(t, show_problem, NULL);
	ok(status == (expected ? PGT_ECORRUPT : PGT_OK) && problems == expected,
	   "%s: pgt_check reports %u entries that the architecture forbids, of %u", what, problems, expected);
	return t;
}

/* Lines of the process, by what its tables must hold for them. */
static uint64_t count_present(bool accessible)
{
	uint64_t n = 0;

	for (size_t i = 0; i < line_count; i++)
		if (lines[i].kind == 'P' && lines[i].value != ABSENT)
			n += accessible == (has(&lines[i], 'r') || has(&lines[i], 'w') || has(&lines[i], 'x'));
	return n;
}

static void check_process(void)
{
	struct pgt *t = attach_and_check(&process, &by_pa, PGT_ARM64_LOWER, "the process", 0);
	struct pgt_stat s;

	if (!t)
		return;
	stat_all(t, false, "the process", &s);
	is_u64(s.mapped_bytes, count_present(true) * page_bytes, "its tables map what was reported, and no more");
	is_u64(s.tokens, count_present(false), "its pages without rights are entries that map nothing");
	pgt_destroy(t);
}

static uint64_t linear; /* VA less PA in the kernel's map of all memory */

static int first_leaf(void *ctx, const struct pgt_mapping *m)
{
	*(struct pgt_mapping *)ctx = *m;
	return m->state == PGT_LEAF;
}

/* What the process has is in the kernel's map of all memory too. */
static void judge_linear(const struct line *l)
{
	const uint64_t va = l->value * page_bytes + linear;
	struct answer a = { 0 };

	if (l->value == ABSENT)
		return;
	a.status = pgt_arm64_walk(&process, &by_pa, va + INSIDE, PGT_READ, &a.to);
	judge(l, "read by the kernel", a, leads_to(&a, l->value * page_bytes));
	a.status = pgt_arm64_walk(&process, &by_pa, va + INSIDE, PGT_EXEC, &a.to);
	judge(l, "exec by the kernel", a, faults(&a, PGT_FAULT_PERMISSION));
	a.status = pgt_arm64_walk(&process, &by_pa, va + INSIDE, PGT_READ | PGT_USER, &a.to);
	judge(l, "read by the user", a, faults(&a, PGT_FAULT_PERMISSION) || faults(&a, PGT_FAULT_TRANSLATION));
}

static void check_kernel(void)
{
	struct pgt *t = attach_and_check(&process, &by_pa, PGT_ARM64_UPPER, "the kernel", 0);
	struct pgt_mapping m = { 0 };
	struct pgt_stat s;
	uint64_t len, first;

	if (!t)
		return;
	stat_all(t, true, "the kernel", &s);
	ok(s.mapped_bytes, "its tables map something");
	first = half_of(t, true, &len);
	/* Where the kernel hides itself from its processes there is only the way in. */
	if (s.mapped_bytes > ram_bytes / 2 && pgt_visit(t, first, len, 0, first_leaf, &m) == 1) {
		linear = m.va - m.pa;
		judge_all('P', judge_linear, "the same pages in the kernel's map of all memory");
	}
	pgt_destroy(t);
}

static void check_guest(void)
{
	struct pgt *t = attach_and_check(&stage2, &by_pa, PGT_ARM64_LOWER, "stage 2", 0);
	struct pgt_stat s;

	if (t) {
		stat_all(t, false, "stage 2", &s);
		ok(s.leaves[3] && s.leaves[4], "it has blocks and pages");
		pgt_destroy(t);
	}
	if (!(guest.sctlr & 1))
		return;
	/* The one table that is in no memory is there on purpose. */
	pgt_destroy(attach_and_check(&guest, &by_ipa, PGT_ARM64_LOWER, "the KVM guest's lower half", 1));
	t = attach_and_check(&guest, &by_ipa, PGT_ARM64_UPPER, "the KVM guest's upper half", 0);
	if (t)
		stat_all(t, true, "the KVM guest's upper half", &s);
	pgt_destroy(t);
}

/* With SCTLR_EL1.M clear its registers say the same as none. */
static void stage1_is_off(const struct line *l)
{
	const struct answer none = walk_stage2(l->address, PGT_WRITE);
	const struct answer off = walk_guest(l->address, PGT_WRITE);

	judge(l, "write, SCTLR.M clear", off,
	      off.status == none.status && off.to.pa == none.to.pa && off.to.fault == none.to.fault &&
		      off.to.stage == none.to.stage && off.to.ipa == none.to.ipa);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: compare FOLDER\n");
		return 2;
	}
	has_guest = read_registers(argv[1], "s2.regs", PGT_ARM64_S2, &stage2);
	if (!read_registers(argv[1], "el2.regs", PGT_ARM64_EL2, &process) &&
	    !read_registers(argv[1], "el1.regs", PGT_ARM64_EL1, &process))
		die("no el1.regs nor el2.regs", argv[1]);
	/* Linux is EL2's host: its registers there are laid out as EL1's. */
	if (process.hcr & HCR_E2H)
		process.regime = PGT_ARM64_EL1;
	if (has_guest && !read_registers(argv[1], "el1.regs", PGT_ARM64_EL1, &guest))
		die("no el1.regs", argv[1]);
	read_truth(argv[1]);
	map_ram(argv[1]);

	compare_process();
	if (has_guest) {
		judge_all('I', judge_stage2, "a KVM guest's memory");
		if (guest.sctlr & 1)
			judge_all('G', judge_guest, "a KVM guest's own mappings");
		else
			judge_all('I', stage1_is_off, "a KVM guest whose stage 1 is off");
	}
	check_process();
	check_kernel();
	if (has_guest)
		check_guest();
	return tap_done();
}
