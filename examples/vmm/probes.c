/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every 64-bit word of the marked memory holds its own physical address, so
 * that a load tells where it was translated to.  The last word of each page
 * holds two svc instructions with the page's number: a fetch tells it too.  A
 * store sets bit 0 of a word, so that it can be found.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "probes.h"

static const struct {
	const char *name;
	uint64_t access;
} kinds[PROBE_KINDS] = {
	[AT_READ] = { "AT S1E1R", PGT_READ },
	[AT_WRITE] = { "AT S1E1W", PGT_WRITE },
	[AT_USER_READ] = { "AT S1E0R", PGT_READ | PGT_USER },
	[AT_USER_WRITE] = { "AT S1E0W", PGT_WRITE | PGT_USER },
	[LOAD] = { "load at EL1", PGT_READ },
	[STORE] = { "store at EL1", PGT_WRITE },
	[FETCH] = { "fetch at EL1", PGT_EXEC },
	[USER_LOAD] = { "LDTR", PGT_READ | PGT_USER },
	[USER_STORE] = { "STTR", PGT_WRITE | PGT_USER },
	[EL0_LOAD] = { "load at EL0", PGT_READ | PGT_USER },
	[EL0_STORE] = { "store at EL0", PGT_WRITE | PGT_USER },
	[EL0_FETCH] = { "fetch at EL0", PGT_EXEC | PGT_USER },
};

static bool is_load(const struct probe *p)
{
	return p->kind == LOAD || p->kind == USER_LOAD || p->kind == EL0_LOAD;
}

static bool is_store(const struct probe *p)
{
	return p->kind == STORE || p->kind == USER_STORE || p->kind == EL0_STORE;
}

static bool is_fetch(const struct probe *p)
{
	return p->kind == FETCH || p->kind == EL0_FETCH;
}

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* 0 .. n - 1 */
static uint64_t random_below(uint64_t n)
{
	return (random_bits() >> 11) % n;
}

/* ---- The marked memory ------------------------------------------------ */

static bool is_svc(uint64_t pa)
{
	return (pa & 0xff8) == 0xff8;
}

static bool is_marked(uint64_t pa)
{
	return pa >= MARKED_PA && pa - MARKED_PA < MARKED_BYTES;
}

static uint32_t page_number(uint64_t pa)
{
	return (uint32_t)((pa - RAM_PA) >> 12);
}

uint64_t probes_mark_of(uint64_t pa)
{
	const uint64_t svc = SVC_INSN(page_number(pa));

	return is_svc(pa) ? svc << 32 | svc : pa & ~UINT64_C(7);
}

static uint64_t *word_at(const struct machine *m, uint64_t pa)
{
	return ram_at(m, pa & ~UINT64_C(7));
}

void probes_mark_memory(const struct machine *m)
{
	for (uint64_t pa = MARKED_PA; pa < MARKED_PA + MARKED_BYTES; pa += 8)
		*word_at(m, pa) = probes_mark_of(pa);
}

/* Takes back the stores that were made; any other change is a store gone astray. */
static void check_marks(const struct machine *m)
{
	for (uint64_t pa = MARKED_PA; pa < MARKED_PA + MARKED_BYTES; pa += 8)
		if (*word_at(m, pa) != probes_mark_of(pa))
			die("something wrote to PA 0x%" PRIx64 ": no probe was to do that", pa);
}

/* ---- Making probes ---------------------------------------------------- */

static int ask_library(const struct space *space, const struct probe *p,
		       struct pgt_translation *tr)
{
	return pgt_translate(space_half(space, p->va), p->va, kinds[p->kind].access, tr);
}

static uint64_t random_address(const struct space *space)
{
	const struct region *r = &space->region[random_below(space->regions)];
	const uint64_t word = random_below(512) * 8;

	switch (random_below(12)) {
	case 0: /* anywhere in the lower half */
		return random_bits() >> 16 & ~UINT64_C(7);
	case 1: /* anywhere in the upper half */
		return ~(random_bits() >> 16) & ~UINT64_C(7);
	case 2: /* anywhere at all, so mostly in neither */
		return random_bits() & ~UINT64_C(7);
	case 3: /* at an edge */
		return (random_bits() & 1 ? r->va : r->va + r->len) + word - 2048;
	case 4: /* near by */
		return r->va + random_below(r->len / 4096 * 2 + 64) * 4096 + word - 32 * 4096;
	default:
		return r->va + random_below(r->len / 4096) * 4096 + word;
	}
}

/*
 * A real access that hardware will let through must be one that we can allow:
 * stores and fetches only on marked memory, loads from RAM.  Others are made
 * harmless.
 */
static void make_harmless(const struct space *space, struct probe *p)
{
	struct pgt_translation tr;
	const bool passes = ask_library(space, p, &tr) == PGT_OK;

	switch (p->kind) {
	case STORE:
	case USER_STORE:
	case EL0_STORE:
		p->value = (uint32_t)tr.pa | 1;
		if (passes && (!is_marked(tr.pa) || is_svc(tr.pa)))
			p->kind--; /* the load of its kind */
		break;
	case FETCH:
	case EL0_FETCH:
		if (passes && !is_marked(tr.pa))
			p->kind = p->kind == FETCH ? LOAD : EL0_LOAD;
		break;
	default:
		break;
	}
	if (is_load(p) && ask_library(space, p, &tr) == PGT_OK && !in_ram(tr.pa))
		p->kind = AT_READ;
}

static void make_probe(const struct space *space, struct probe *p, bool real)
{
	*p = (struct probe){ .va = random_address(space) };
	if (real) {
		p->kind = LOAD + (uint32_t)random_below(PROBE_KINDS - LOAD);
		if (is_fetch(p))
			p->va |= 0xff8; /* where the svc instructions are */
		make_harmless(space, p);
	} else {
		p->kind = (uint32_t)random_below(LOAD);
	}
}

/* ---- Comparing answers ------------------------------------------------ */

/* Hardware's fault status codes, 0bKKLL: the kind and the level. */
static int fault_of(unsigned status)
{
	static const int kind[4] = { PGT_FAULT_ADDRESS_SIZE, PGT_FAULT_TRANSLATION,
				     PGT_FAULT_ACCESS_FLAG, PGT_FAULT_PERMISSION };

	return status < 16 ? kind[status >> 2] : 0;
}

/* An address outside the table's range is a translation fault at level 0. */
static bool same_fault(int status, const struct pgt_translation *tr, unsigned code)
{
	const int level = (int)(code & 3);

	if (status == PGT_ERANGE)
		return fault_of(code) == PGT_FAULT_TRANSLATION && level == 0;
	return status == PGT_EFAULT && fault_of(code) == tr->fault && level == tr->level;
}

/* The byte in MAIR_EL1 that stands for a memory type. */
static unsigned mair_of(uint64_t attr)
{
	switch (attr & PGT_MEM_MASK) {
	case PGT_MEM_NORMAL:
		return 0xff;
	case PGT_MEM_NOCACHE:
		return 0x44;
	case PGT_MEM_WRITETHROUGH:
		return 0xbb;
	case PGT_MEM_DEVICE:
		return 0x04;
	default:
		return 0x00;
	}
}

static bool same_par(int status, const struct pgt_translation *tr, uint64_t par)
{
	const uint64_t page = 0x000ffffffffff000;

	if (par & 1)
		return same_fault(status, tr, (unsigned)(par >> 1) & 63);
	return status == PGT_OK && (par & page) == (tr->pa & page) &&
	       par >> 56 == mair_of(tr->attr);
}

/* A load gives the word's content; where other stores set bit 0, without it. */
static bool same_value(const struct machine *m, const struct probe *p,
		       const struct pgt_translation *tr, uint64_t value)
{
	if (is_store(p))
		return *word_at(m, tr->pa) == (probes_mark_of(tr->pa) | 1);
	if (!is_marked(tr->pa)) /* the guest's own memory, which lives on */
		return true;
	if (!is_svc(tr->pa))
		value &= ~UINT64_C(1);
	return value == probes_mark_of(tr->pa);
}

static bool same_exception(const struct machine *m, const struct probe *p, int status,
			   const struct pgt_translation *tr, const struct answer *a)
{
	const uint64_t class = a->status >> 26;
	const uint64_t abort = (is_fetch(p) ? 0x20u : 0x24u) + (p->kind < EL0_LOAD);

	if (class == 0x15) { /* svc: the access was made */
		if (status != PGT_OK)
			return false;
		if (is_fetch(p))
			return (a->status & 0xffff) == page_number(tr->pa);
		return (a->status & 0xffff) == SVC_DONE && same_value(m, p, tr, a->value);
	}
	if (class != abort || a->value != p->va)
		return false;
	if (!is_fetch(p) && is_store(p) != (a->status >> 6 & 1))
		return false;
	return same_fault(status, tr, (unsigned)a->status & 63);
}

static void describe(const struct probe *p, int status, const struct pgt_translation *tr,
		     const struct answer *a)
{
	printf("  %s 0x%016" PRIx64 ": hardware says %s 0x%" PRIx64 ", value 0x%" PRIx64 "; ",
	       kinds[p->kind].name, p->va, p->kind < LOAD ? "PAR" : "ESR", a->status, a->value);
	if (status == PGT_OK)
		printf("the library PA 0x%" PRIx64 ", attributes 0x%" PRIx64 "\n", tr->pa, tr->attr);
	else
		printf("the library %s, fault %d at level %d\n", pgt_strerror(status), tr->fault,
		       tr->level);
}

struct score {
	unsigned at, real, el0, ok, different;
};

static unsigned long let_through[PROBE_KINDS], faulted[PROBE_KINDS];

static void compare(const struct machine *m, const struct space *space, unsigned i,
		    struct score *score)
{
	const struct probe *p = &m->mailbox->probe[i];
	const struct answer *a = &m->mailbox->answer[i];
	struct pgt_translation tr = { 0 };
	const int status = ask_library(space, p, &tr);

	if (p->kind < LOAD)
		score->at++;
	else
		score->real++;
	score->el0 += p->kind >= EL0_LOAD;
	score->ok += status == PGT_OK;
	++*(status == PGT_OK ? &let_through[p->kind] : &faulted[p->kind]);
	if (p->kind < LOAD ? same_par(status, &tr, a->status) : same_exception(m, p, status, &tr, a))
		return;
	if (score->different++ < 10)
		describe(p, status, &tr, a);
}

/* Bit 0 of the words that stores hit is cleared again. */
static void undo_store(const struct machine *m, const struct space *space, const struct probe *p)
{
	struct pgt_translation tr;

	if (is_store(p) && ask_library(space, p, &tr) == PGT_OK)
		*word_at(m, tr.pa) = probes_mark_of(tr.pa);
}

void probes_compare(struct machine *m, const struct space *space, unsigned by_at, unsigned real)
{
	const unsigned count = by_at + real;
	struct score score = { 0 };

	if (count > MAX_PROBES)
		die("%u probes are more than the mailbox holds", count);
	for (unsigned i = 0; i < count; i++)
		make_probe(space, &m->mailbox->probe[i], i >= by_at);
	m->mailbox->count = count;
	machine_post(m, JOB_PROBE);
	machine_wait(m);
	for (unsigned i = 0; i < count; i++)
		compare(m, space, i, &score);
	for (unsigned i = 0; i < count; i++)
		undo_store(m, space, &m->mailbox->probe[i]);
	if (score.different)
		die("%u of %u answers differ from pgt_translate's", score.different, count);
	check_marks(m);
	printf("   Asked the MMU: %u addresses by AT, %u by real accesses (%u at EL0).\n"
	       "   %u were let through, %u faulted; every answer is pgt_translate's.\n",
	       score.at, score.real, score.el0, score.ok, count - score.ok);
}

void probes_report(void)
{
	printf("   all questions   let through   faulted\n");
	for (unsigned kind = 0; kind < PROBE_KINDS; kind++) {
		printf("   %-14s %12lu %9lu\n", kinds[kind].name, let_through[kind], faulted[kind]);
		if (!let_through[kind] || !faulted[kind])
			die("%s was not asked in both ways", kinds[kind].name);
	}
}

static void ask_one(struct machine *m, uint64_t va, uint32_t kind)
{
	m->mailbox->probe[0] = (struct probe){ .va = va, .kind = kind };
	m->mailbox->count = 1;
	machine_post(m, JOB_PROBE);
	machine_wait(m);
}

bool probe_one_load(struct machine *m, uint64_t va, uint64_t *value)
{
	ask_one(m, va, LOAD);
	*value = m->mailbox->answer[0].value;
	return m->mailbox->answer[0].status >> 26 == 0x15;
}

bool probe_one_at(struct machine *m, uint64_t va, uint64_t *pa)
{
	const uint64_t page = 0x000ffffffffff000;

	ask_one(m, va, AT_READ);
	*pa = (m->mailbox->answer[0].status & page) | (va & ~page & 0xfff);
	return !(m->mailbox->answer[0].status & 1);
}
