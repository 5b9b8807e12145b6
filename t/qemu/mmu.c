/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second opinion: QEMU's arm64 MMU walks the library's tables in the same
 * memory, and each of its answers is compared with pgt_translate's, and with
 * that of pgt_arm64_walk or pgt_arm64_walk2 on the register values that the MMU
 * has: the output address, or the kind, level and stage of the fault and
 * whether it was the walk's; the memory type's MAIR byte and the shareability;
 * and what hardware with HA and HD leaves in the descriptors, with what
 * PGT_UPDATE leaves.
 *
 * Every format, granule, input size and start level is compared: stage 1 of
 * EL1&0, lower half and upper, and of EL2; stage 2 with stage 1 off and with one
 * on top.  Four kinds of tables are: what random map and unmap calls made, the
 * same read by pgt_attach, the same with bits of descriptors changed at random,
 * and the same under registers that pgt_arm64_regs doesn't give.  At last come
 * all values of the geometry's register fields, on empty tables.
 *
 * PGT_QEMU_LONG, not empty, makes it forty times as much.
 *
 * What QEMU 7.2 gets wrong or doesn't look at is not put before it, and is left
 * to the library's own tests and to the reference walker (t/ref):
 *
 * | what                                      | QEMU 7.2                            |
 * | ----------------------------------------- | ----------------------------------- |
 * | the contiguous hint                       | is ignored: no wrong run shows      |
 * | reserved bits, misaligned blocks, SH 1    | are ignored                         |
 * | blocks at level 0 (4K) and 1 (16K)        | are taken without LPA2 too          |
 * | blocks at level 1 (64K), no LPA wanted    | are taken: its CPU has FEAT_LPA     |
 * | PA[51:50] in bits 9:8 (LPA2), PA[51:48]   | are ignored where PS says less than |
 * |   in 15:12 (LPA, 64K)                     |   52 bits                           |
 * | tables beyond 2^48                        | there is no such RAM                |
 * | stage 1's tables beyond 2^50, behind 2    | TTBR[5:4] stay in a small root's PA |
 * | stage 2 at 16K from level 0               | is refused                          |
 * | stage 2 at 4K from level -1 with less     | is refused                          |
 * |   than 52 bits of input                   |                                     |
 * | the level of stage 2's fault in a walk of | is stage 1's; QEMU ends by an       |
 * |   stage 1                                 |   assertion where that is -1        |
 * | SH with stage 1 off, where FWB makes      | is none: device memory is outer     |
 * |   device memory write-back                |   shareable                         |
 * | MemAttr nGRE and GRE without FWB          | make nGnRE of non-cacheable memory  |
 * | reserved MemAttr                          | are anything                        |
 * | execution                                 | AT doesn't ask: see access.c        |
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "machine.h"
#include "random.h"
#include "subject.h"

#define BIT(n) (UINT64_C(1) << (n))
#define MIB(n) ((uint64_t)(n) << 20)
#define HCR_PTW BIT(2)
#define HCR_DC  BIT(12)
#define HCR_CD  BIT(32)

static bool long_form;

static unsigned questions(void)
{
	return long_form ? 600 : 150;
}

/* ---- Counts --------------------------------------------------------------- */

static struct totals {
	uint64_t asked, ok, out_of_range, combinations;
	uint64_t fault[6], level[5], leaf_level[5], in_runs;
	uint64_t second, in_walk; /* faults of stage 2, and those in walks of stage 1 */
	uint64_t updated;         /* descriptors that the MMU changed */
	uint64_t wrong, wrong_bits;
} total;

/* Whether this (format, granule, input, features) is a new one. */
static void count_combination(enum kind kind, const struct shape *s)
{
	static uint64_t met[KINDS * 3 * 64 * 128 / 64];
	static const uint64_t told[] = { PGT_FEAT_LPA | PGT_FEAT_LPA2, PGT_FEAT_HW_YOUNG, PGT_FEAT_HW_DIRTY,
					 PGT_FEAT_FWB, PGT_FEAT_XNX, PGT_FEAT_CONTIG };
	uint64_t n = (((uint64_t)kind * 3 + (s->granule - 12u) / 2) * 64 + s->input) * 128;

	for (unsigned i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		n |= s->features & told[i] ? BIT(i) : 0;
	n |= s->levels ? BIT(6) : 0;
	total.combinations += !(met[n / 64] & BIT(n % 64));
	met[n / 64] |= BIT(n % 64);
}

static uint64_t random_op(enum kind kind)
{
	if (kind == EL2)
		return ASK_EL2 | below(2);
	return below(4) | (kind >= S2 ? ASK_BOTH : 0);
}

static const struct table *half_of(const struct subject *s, uint64_t va)
{
	return s->kind < EL2 && (va >> 55 & 1) ? s->upper : s->lower;
}

static uint64_t random_va(const struct subject *s)
{
	const struct table *t = s->lower;

	if (s->kind == S2)
		return table_address(s->second);
	return table_address(!t || (s->upper && chance(2)) ? s->upper : t);
}

/* ---- Answers --------------------------------------------------------------- */

static uint64_t access_of(uint64_t op)
{
	return (op & ASK_WRITE ? PGT_WRITE : PGT_READ) | (op & ASK_USER ? PGT_USER : 0);
}

static unsigned sh_of(uint64_t attr)
{
	switch (attr & PGT_SH_MASK) {
	case PGT_SH_INNER:
		return 3;
	case PGT_SH_OUTER:
		return 2;
	default:
		return 0;
	}
}

#define PAR_FAULT    BIT(0)
#define PAR_LEVEL    (UINT64_C(3) << 1)
#define PAR_WALK     BIT(8)
#define PAR_STAGE2   BIT(9)
#define PAR_ONE      BIT(11)
#define PAR_SH       (UINT64_C(3) << 7)
#define PAR_SH_OUTER (UINT64_C(2) << 7)
#define PAR_PA       UINT64_C(0x000ffffffffff000)

/* What PAR_EL1 will hold. */
static uint64_t expected_par(int status, const struct pgt_translation *tr)
{
	if (status == PGT_OK)
		return (tr->pa & PAR_PA) | PAR_ONE | tr->sh << 7 | tr->memattr << 56;
	if (tr->fault == PGT_FAULT_EXTERNAL) /* an exception, see answered_par() */
		return PAR_ONE | fault_status(tr) << 1 | PAR_FAULT;
	return PAR_ONE | fault_status(tr) << 1 | PAR_FAULT | (tr->stage == 2 ? PAR_STAGE2 : 0) |
	       (tr->during_walk ? PAR_WALK : 0);
}

/*
 * What PAR_EL1 held.  A table outside memory is no fault in it but an external
 * abort, an exception with the same status.  NS (bit 9 of a good answer) and bit
 * 10 say nothing of the table.
 */
static uint64_t answered_par(const struct job *job, unsigned i)
{
	const uint64_t par = job->answer[i].par, esr = job->answer[i].exception;

	if (esr)
		return PAR_ONE | (esr & 63) << 1 | PAR_FAULT;
	return par & PAR_FAULT ? par : par & ~UINT64_C(0x600);
}

/* Device and non-cacheable memory is outer shareable whatever the descriptor
 * says, so PAR_EL1 may hold that instead of the descriptor's field. */
static uint64_t effective(uint64_t par)
{
	const uint64_t type = par >> 56;

	if (!(par & PAR_FAULT) && (type < 0x10 || type == 0x44))
		par = (par & ~PAR_SH) | PAR_SH_OUTER;
	return par;
}

static void count(int status, const struct pgt_translation *tr)
{
	total.asked++;
	if (status == PGT_OK) {
		total.ok++;
		total.leaf_level[tr->level + 1]++;
		total.in_runs += tr->run_bits > tr->leaf_bits;
		return;
	}
	total.fault[tr->fault]++;
	total.level[tr->level + 1]++;
	total.second += tr->stage == 2;
	total.in_walk += tr->during_walk;
}

static const struct table *concerned(const struct subject *s, uint64_t va)
{
	if (s->second)
		return s->second;
	return half_of(s, va) ? half_of(s, va) : s->lower ? s->lower : s->upper;
}

static void complain(const struct subject *s, const struct question *q, const char *whose, uint64_t par,
		     uint64_t want)
{
	const struct table *t = concerned(s, q->va);

	if (total.wrong++ >= 20)
		return;
	if (!t) {
		note("%s, TCR or VTCR 0x%" PRIx64 ": read of 0x%" PRIx64 ": MMU 0x%" PRIx64 ", %s 0x%" PRIx64,
		     kind_name[s->kind], s->kind == S2 ? s->second_regs.vtcr : s->first_regs.tcr, q->va, par, whose,
		     want);
		return;
	}
	note("%s, granule %u input %u output %u levels %u features 0x%" PRIx64 ": %s%s of 0x%" PRIx64
	     ": MMU 0x%" PRIx64 ", %s 0x%" PRIx64, kind_name[s->kind], t->shape.granule, t->shape.input,
	     t->shape.output, t->levels, t->shape.features, q->op & ASK_USER ? "user " : "",
	     q->op & ASK_WRITE ? "write" : "read", q->va, par, whose, want);
}

/*
 * pgt_translate's answer.  It knows one table, so nothing of registers; of stage
 * 2 it says the memory type alone, which the MMU does too where stage 1 is off
 * and HCR_EL2.DC is set.
 */
static void compare_translate(const struct subject *s, const struct question *q, uint64_t par)
{
	const struct table *t = s->kind == S2 ? s->second : half_of(s, q->va);
	struct pgt_translation tr = { .fault = PGT_FAULT_TRANSLATION };
	/* A half that isn't there is switched off: a translation fault, as out of range. */
	int status = t ? pgt_translate(t->t, q->va, access_of(q->op) | PGT_UPDATE, &tr) : PGT_ERANGE;
	uint64_t want, mask = UINT64_MAX;

	if (s->kind == S2 && (q->va >> 52))
		return; /* stage 1's matter, off or not */
	tr.stage = s->kind == S2 ? 2 : 1;
	if (status == PGT_ERANGE)
		tr = (struct pgt_translation){ .fault = PGT_FAULT_TRANSLATION, .stage = tr.stage };
	tr.sh = sh_of(tr.attr);
	tr.memattr = mair_bytes[(tr.attr & PGT_MEM_MASK) / PGT_MEM_NOCACHE];
	want = effective(expected_par(status, &tr));
	if (s->kind == S2 && status == PGT_OK && (s->damaged || !(s->second_regs.hcr & HCR_DC)))
		mask = PAR_PA | PAR_FAULT;
	if ((par ^ want) & mask)
		complain(s, q, "pgt_translate", par, want);
}

/* The bits of PAR_EL1 that QEMU gets wrong: the level of stage 2's fault in a walk
 * of stage 1; SH where stage 1 is off and FWB has stage 2 make other than device
 * memory of it. */
static uint64_t wrong_in_qemu(const struct subject *s, int status, const struct pgt_translation *tr)
{
	bool sh;

	if (status != PGT_OK)
		return tr->during_walk ? PAR_LEVEL : 0;
	sh = s->kind == S2 && s->second && !(s->second_regs.hcr & HCR_DC) && (s->second->shape.features & PGT_FEAT_FWB);
	return sh ? PAR_SH : 0;
}

static void compare_walk(const struct subject *s, const struct question *q, uint64_t par)
{
	const struct pgt_memory memory = region_memory(&all);
	const uint64_t access = access_of(q->op) | PGT_UPDATE;
	struct pgt_translation tr = { 0 };
	uint64_t want;
	int status;

	if (s->kind < S2)
		status = pgt_arm64_walk(&s->first_regs, &memory, q->va, access, &tr);
	else if (s->kind == S2 && (s->second_regs.hcr & HCR_DC) && !(q->va >> 52) && chance(2))
		status = pgt_arm64_walk(&s->second_regs, &memory, q->va, access, &tr);
	else
		status = pgt_arm64_walk2(s->kind == S2 ? NULL : &s->first_regs, &s->second_regs, &memory,
					 q->va, access, &tr);
	if (status != PGT_OK && status != PGT_EFAULT) {
		failed_calls++;
		return;
	}
	count(status, &tr);
	want = effective(expected_par(status, &tr));
	if ((par ^ want) & ~wrong_in_qemu(s, status, &tr))
		complain(s, q, "the walk", par, want);
}

typedef void compare_fn(const struct subject *s, const struct question *q, uint64_t par);

/* The library does what the MMU did, on the same tables. */
static void replay(const struct subject *s, compare_fn *compare, const uint8_t *before, const uint8_t *after)
{
	const struct job *job = machine_job();

	restore(before);
	for (unsigned i = 0; i < job->count; i++)
		compare(s, &job->question[i], effective(answered_par(job, i)));
	total.updated += compare_tables(before, after, &total.wrong_bits);
}

static void compare(const struct subject *s)
{
	static uint8_t before[TABLES_BYTES], after[TABLES_BYTES];
	struct job *job = machine_job();

	load_registers(s);
	job->count = questions();
	for (unsigned i = 0; i < job->count; i++)
		job->question[i] = (struct question){ .va = random_va(s), .op = random_op(s->kind) };
	save(before);
	ask_machine();
	save(after);
	if (s->kind != BOTH && !s->perturbed)
		replay(s, compare_translate, before, after);
	replay(s, compare_walk, before, after);
}

/* ---- The same tables in other lights --------------------------------------- */

/* Bits of a register at random, as likely set as not. */
static void scatter(uint64_t *reg, uint64_t mask)
{
	*reg = (*reg & ~mask) | (bits() & mask);
}

/* TBI, EPD, HPD, E0PD, and SH of walks; HCR_EL2's PTW, CD and DC. */
static void compare_perturbed(const struct subject *s)
{
	const uint64_t tbi = BIT(37) | BIT(38), hpd = BIT(41) | BIT(42), e0pd = BIT(55) | BIT(56);
	struct subject other = *s;

	other.perturbed = true;
	if (s->kind == EL2) {
		scatter(&other.first_regs.tcr, BIT(20) | BIT(24) | BIT(12));
	} else {
		scatter(&other.first_regs.tcr, tbi | hpd | e0pd | BIT(12) | BIT(28));
		if (chance(4))
			scatter(&other.first_regs.tcr, BIT(7) | BIT(23));
	}
	if (s->kind >= S2) {
		scatter(&other.second_regs.vtcr, BIT(12));
		scatter(&other.second_regs.hcr, HCR_PTW | HCR_CD | (s->kind == S2 ? HCR_DC : 0));
	}
	/* Of SH 2 and 3 are left: 1 is reserved. */
	compare(&other);
}

static void compare_attached(const struct subject *s)
{
	static uint8_t whole[TABLES_BYTES];
	static struct table copy[3];
	const struct table *made[3] = { s->lower, s->upper, s->second };
	struct subject attached = *s;

	save(whole);
	for (unsigned i = 0; i < 3; i++)
		if (made[i] && !table_attach(&copy[i], made[i])) {
			failed_calls++;
			return;
		}
	attached.lower = s->lower ? &copy[0] : NULL;
	attached.upper = s->upper ? &copy[1] : NULL;
	attached.second = s->second ? &copy[2] : NULL;
	compare(&attached);
	for (unsigned i = 0; i < 3; i++)
		if (made[i])
			table_damage(&copy[i]);
	attached.damaged = true;
	compare(&attached);
	if (chance(2))
		compare_perturbed(&attached);
	restore(whole);
	for (unsigned i = 0; i < 3; i++)
		if (made[i])
			table_destroy(&copy[i]);
}

static void compare_all_ways(const struct subject *s)
{
	compare(s);
	if (chance(2))
		compare_attached(s);
	if (chance(2))
		compare_perturbed(s);
}

/* ---- Shapes ------------------------------------------------------------------ */

/* With the features that such sizes need; false: there are no such tables. */
static bool make_shape(struct shape *s, uint32_t regime, unsigned granule, unsigned input, bool wide)
{
	static const uint8_t narrow[] = { 32, 36, 40, 42, 44, 48, 48, 48 };
	static const uint8_t wider[] = { 32, 36, 40, 42, 44, 48, 52, 52, 52, 52, 52, 52 };
	const bool second = regime == PGT_ARM64_S2;

	*s = (struct shape){ .regime = regime, .granule = (uint8_t)granule, .input = (uint8_t)input };
	if (input < (granule == 16 ? 17 : 16) || (input > 48 && !wide && (granule != 16 || second)))
		return false;
	s->features = input < 25 ? PGT_FEAT_ST : 0;
	if (wide)
		s->features |= granule == 16 ? PGT_FEAT_LPA : PGT_FEAT_LPA2;
	if (granule == 16 && input > 48 && !second)
		s->features |= PGT_FEAT_LVA;
	do {
		s->output = wide ? wider[below(12)] : narrow[below(8)];
	} while (second && s->output < input);
	return true;
}

/* What the registers of both halves hold together. */
static void share(struct shape *to, const struct shape *from)
{
	const uint64_t shared = PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY;

	to->features = (to->features & ~shared) | (from->features & shared);
	to->output = from->output;
	to->mair = from->mair;
}

static void random_features(struct shape *s)
{
	if (!chance(3))
		s->features |= PGT_FEAT_HW_YOUNG | (chance(3) ? 0 : PGT_FEAT_HW_DIRTY);
	s->features |= (chance(3) ? 0 : PGT_FEAT_CONTIG) | (chance(2) ? PGT_FEAT_TRACK_YOUNG : 0) |
		       (chance(2) ? PGT_FEAT_TRACK_DIRTY : 0) | (chance(10) ? PGT_FEAT_NO_BLOCKS : 0);
	if (s->regime == PGT_ARM64_S2)
		s->features |= bits() & (PGT_FEAT_FWB | PGT_FEAT_XNX);
	else if (chance(2))
		s->mair = random_mair();
}

/* ---- Tables of one shape ----------------------------------------------------- */

static struct table half[2], second;

static bool make(struct table *t, const struct shape *s, struct region *r, const struct table *behind)
{
	if (!table_make(t, s, r)) {
		failed_calls++;
		note("granule %u input %u output %u levels %u features 0x%" PRIx64 ": no table", s->granule,
		     s->input, s->output, s->levels, s->features);
		return false;
	}
	t->behind = behind;
	table_fill(t);
	table_check(t);
	return true;
}

/* Another half for the same registers. */
static struct shape other_half(const struct shape *s, bool behind)
{
	const bool wide = s->features & (PGT_FEAT_LPA | PGT_FEAT_LPA2);
	const unsigned inputs = behind ? 33 : 37; /* from 16; no level -1 behind stage 2 */
	struct shape other;
	unsigned granule;

	do {
		granule = wide ? (s->granule == 16 ? 16 : 12 + 2 * (unsigned)below(2)) : 12 + 2 * (unsigned)below(3);
	} while (!make_shape(&other, PGT_ARM64_EL1, granule, 16 + (unsigned)below(inputs), wide));
	random_features(&other);
	share(&other, s);
	other.features |= ~s->features & PGT_FEAT_UPPER;
	return other;
}

static bool make_stage1(struct subject *s, const struct shape *shape, const struct table *behind, bool small)
{
	const unsigned upper = shape->features & PGT_FEAT_UPPER ? 1 : 0;
	const struct shape other = small ? *shape : other_half(shape, behind);
	const bool both = shape->regime == PGT_ARM64_EL1 && !small && chance(2);

	if (!make(&half[upper], shape, &one, behind) || (both && !make(&half[!upper], &other, &one, behind)))
		return false;
	s->lower = !upper || both ? &half[0] : NULL;
	s->upper = upper || both ? &half[1] : NULL;
	return give_registers(s->lower, s->upper, &s->first_regs);
}

/* Stage 2 for the tables of stage 1, and a few pages of them that it refuses. */
static void map_window(struct table *t)
{
	const uint64_t granule = BIT(t->shape.granule), len = (one.used + granule - 1) & ~(granule - 1);
	const uint64_t attr = PGT_READ | PGT_WRITE | PGT_YOUNG | PGT_DIRTY;
	const uint64_t pages = len / granule;
	int status = pgt_map(t->t, one.pa, TABLES_PA, len, attr, PGT_REPLACE, NULL);

	for (unsigned i = 0; i < 4 && status == PGT_OK; i++) {
		const uint64_t page = one.pa + below(pages) * granule;

		if (pages < 4 && i)
			break;
		switch (below(5)) {
		case 0:
			status = pgt_unmap(t->t, page, granule, 0, NULL);
			break;
		case 1: /* old and clean, where that is a state that hardware changes */
			status = pgt_map(t->t, page, TABLES_PA + (page - one.pa), granule, attr & ~(PGT_YOUNG | PGT_DIRTY),
					 PGT_REPLACE, NULL);
			break;
		case 2: /* which HCR_EL2.PTW keeps walks out of */
			status = pgt_map(t->t, page, TABLES_PA + (page - one.pa), granule, attr | PGT_MEM_DEVICE,
					 PGT_REPLACE, NULL);
			break;
		default:
			status = pgt_protect(t->t, page, granule, 0, chance(2) ? PGT_READ : PGT_WRITE, 0, NULL);
		}
	}
	if (status != PGT_OK) {
		failed_calls++;
		note("the window: %s", pgt_strerror(status));
	}
}

/* A stage 1 whose tables lie at intermediate addresses that stage 2 leads elsewhere. */
static bool make_both(struct subject *s, const struct shape *shape)
{
	const bool small = shape->input < 28;
	const uint64_t align = small ? BIT(16) : ONE_ALIGN;
	struct shape first;
	unsigned most;

	if (small) /* one table: there is no room for more among the intermediate addresses */
		make_shape(&first, PGT_ARM64_EL1, 12, 16 + (unsigned)below(6), chance(2));
	else
		make_shape(&first, PGT_ARM64_EL1, 12 + 2 * (unsigned)below(3), 17 + (unsigned)below(32), chance(2));
	random_features(&first);
	first.features |= chance(2) ? PGT_FEAT_UPPER : 0;
	most = shape->input < first.output ? shape->input : first.output;
	most = most < 50 ? most : 50;
	empty_regions(below(BIT(most) / align) * align);
	if (!make(&second, shape, &two, NULL) || !make_stage1(s, &first, &second, small))
		return false;
	map_window(&second);
	table_check(&second);
	return true;
}

static bool make_subject(struct subject *s, enum kind kind, const struct shape *shape)
{
	*s = (struct subject){ .kind = kind };
	empty_regions(TABLES_PA);
	if (kind < S2)
		return make_stage1(s, shape, NULL, false);
	if (kind == BOTH ? !make_both(s, shape) : !make(&second, shape, &two, NULL))
		return false;
	s->second = &second;
	if (!give_registers(&second, NULL, &s->second_regs))
		return false;
	s->second_regs.hcr |= kind == S2 && chance(2) ? HCR_DC : 0;
	return true;
}

static void one_shape(enum kind kind, struct shape shape)
{
	struct subject s;

	random_features(&shape);
	shape.features |= kind == UPPER ? PGT_FEAT_UPPER : 0;
	if (!make_subject(&s, kind, &shape))
		return;
	count_combination(kind, &shape);
	compare_all_ways(&s);
	if (s.lower)
		table_destroy(&half[0]);
	if (s.upper)
		table_destroy(&half[1]);
	if (s.second)
		table_destroy(&second);
	if (one.live || two.live) {
		failed_calls++;
		note("%u tables are left over", one.live + two.live);
	}
}

/* ---- All of them --------------------------------------------------------------- */

/*
 * Whether a stage 2 of these sizes can start so deep, besides the fewest levels:
 * an index of at most one table and 16 at the start (D8.2.2).  QEMU 7.2 knows no
 * start at level 0 with 16K, and one at level -1 with 52 bits of input alone.
 */
static bool start_is_compared(const struct shape *s, unsigned levels)
{
	const unsigned stride = s->granule - 3u, under = s->granule + (levels - 1) * stride;

	if (s->input <= under || s->input > under + stride + 4)
		return false;
	if (s->granule == 12)
		return levels == 1 ? s->features & PGT_FEAT_ST : levels == 5 ? s->input == 52 && s->features & PGT_FEAT_LPA2 :
				     levels < 4 || s->output >= 44;
	return levels < 3 || (levels == 3 && s->output >= (s->granule == 14 ? 42 : 44));
}

static void all_starts(enum kind kind, const struct shape *shape)
{
	struct shape s = *shape;
	bool any = false;

	for (unsigned levels = 1; levels <= 5; levels++)
		any |= start_is_compared(shape, levels);
	if (any)
		one_shape(kind, s);
	for (unsigned levels = 1; levels <= 5; levels++) {
		s.levels = (uint16_t)levels;
		if (start_is_compared(shape, levels))
			one_shape(kind, s);
	}
}

static void all_inputs(enum kind kind, unsigned granule, bool wide)
{
	static const uint32_t regime[KINDS] = { PGT_ARM64_EL1, PGT_ARM64_EL1, PGT_ARM64_EL2, PGT_ARM64_S2, PGT_ARM64_S2 };
	struct shape s;

	for (unsigned input = 16; input <= 52; input++) {
		if (!make_shape(&s, regime[kind], granule, input, wide))
			continue;
		if (kind >= S2)
			all_starts(kind, &s);
		else
			one_shape(kind, s);
	}
}

static void all_tables(enum kind kind)
{
	const struct totals before = total;

	for (unsigned round = 0; round < (long_form ? 10 : 1); round++)
		for (unsigned granule = 12; granule <= 16; granule += 2)
			for (unsigned wide = 0; wide < 2; wide++)
				all_inputs(kind, granule, wide);
	ok(total.wrong == before.wrong && total.asked > before.asked,
	   "%s: %" PRIu64 " answers are the MMU's, %" PRIu64 " combinations of granule, input size, start and features",
	   kind_name[kind], total.asked - before.asked, total.combinations - before.combinations);
}

/* ---- All values of the geometry's fields ----------------------------------------- */

/* TCR_EL1, TCR_EL2 and VTCR_EL2: T0SZ and TG0 stand in the same place in all. */
static const struct fields {
	enum kind kind;
	unsigned reg;
	uint64_t base;             /* the other half disabled, what is one */
	unsigned size_shift, ds_shift;
	unsigned starts;           /* how many combinations of SL0 and SL2 there are */
} fields[] = {
	{ LOWER, TCR_EL1, BIT(23) | 25 << 16 | BIT(31), 32, 59, 1 },
	{ EL2, TCR_EL2, BIT(23) | BIT(31), 16, 32, 1 },
	{ S2, VTCR_EL2, BIT(31), 16, 32, 8 },
};

static uint64_t *swept_register(struct subject *s)
{
	return s->kind == S2 ? &s->second_regs.vtcr : &s->first_regs.tcr;
}

/* The MMU's answers to what is asked so far, and the library's. */
static void sweep_compare(struct subject *s)
{
	const struct job *job = machine_job();

	ask_machine();
	for (unsigned i = 0; i < job->count; i++) {
		if (job->question[i].op >= ASK_SET)
			*swept_register(s) = job->question[i].va;
		else
			compare_walk(s, &job->question[i], effective(answered_par(job, i)));
	}
	machine_job()->count = 0;
}

static void sweep_ask(struct subject *s, const struct fields *f, uint64_t value)
{
	struct job *job = machine_job();
	const uint64_t va[2] = { below(64), bits() >> (8 + below(56)) };

	if (job->count + 3 > MAX_QUESTIONS)
		sweep_compare(s);
	job->question[job->count++] = (struct question){ .va = value, .op = ASK_SET + f->reg };
	for (unsigned i = 0; i < 2; i++)
		job->question[job->count++] = (struct question){ .va = va[i] & ~BIT(55), .op = random_op(s->kind) };
}

/* What QEMU 7.2 refuses: 16K from level 0, 4K from level -1 with less than 52 bits. */
static bool refused_by_qemu(unsigned granule, unsigned size, bool ds, unsigned start)
{
	return ds && ((granule == 2 && (start & 3) == 3) || (granule == 0 && start == 4 && size > 12));
}

static void sweep_starts(struct subject *s, const struct fields *f, unsigned granule, unsigned size, unsigned output)
{
	const uint64_t value = f->base | size | granule << 14 | (uint64_t)output << f->size_shift;

	for (unsigned start = 0; start < f->starts; start++)
		for (unsigned ds = 0; ds < 2; ds++)
			if (f->kind != S2 || !refused_by_qemu(granule, size, ds, start))
				sweep_ask(s, f, value | (uint64_t)ds << f->ds_shift | (start & 3) << 6 |
						(uint64_t)(start >> 2) << 33);
}

/* Every start level, on tables of zeros: a fault at its level, or at level 0 where it is none. */
static void sweep(const struct fields *f)
{
	const uint64_t asked = total.asked, wrong = total.wrong;
	struct subject s = { .kind = f->kind };

	empty_regions(TABLES_PA);
	memset(one.memory, 0, MIB(4));
	s.first_regs = (struct pgt_arm64_regs){ .size = sizeof(s.first_regs), .ttbr0 = TABLES_PA, .sctlr = 1 };
	s.first_regs.regime = f->kind == EL2 ? PGT_ARM64_EL2 : PGT_ARM64_EL1;
	s.second_regs = (struct pgt_arm64_regs){ .size = sizeof(s.second_regs), .regime = PGT_ARM64_S2 };
	s.second_regs.vttbr = TABLES_PA;
	s.second_regs.hcr = f->kind == S2 ? 1 : 0;
	load_registers(&s);
	machine_job()->count = 0;
	for (unsigned granule = 0; granule < 3; granule++)
		for (unsigned size = 0; size < 64; size++)
			for (unsigned output = 0; output < 7; output++)
				sweep_starts(&s, f, granule, size, output);
	sweep_compare(&s);
	ok(total.wrong == wrong, "%s: %" PRIu64 " answers under every T0SZ, TG0, PS, DS%s are the MMU's",
	   kind_name[f->kind], total.asked - asked, f->starts > 1 ? ", SL0 and SL2" : "");
}

static void report(void)
{
	note("%" PRIu64 " (format, granule, input, feature, probe) combinations were compared, in %" PRIu64
	     " (format, granule, input, feature) configurations:", total.asked, total.combinations);
	note("  %" PRIu64 " translated (leaves at levels -1 to 3: %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
	     ", %" PRIu64 "; %" PRIu64 " in runs)", total.ok, total.leaf_level[0], total.leaf_level[1],
	     total.leaf_level[2], total.leaf_level[3], total.leaf_level[4], total.in_runs);
	note("  %" PRIu64 " faults: translation %" PRIu64 ", access flag %" PRIu64 ", permission %" PRIu64
	     ", address size %" PRIu64 ", external %" PRIu64, total.asked - total.ok,
	     total.fault[PGT_FAULT_TRANSLATION], total.fault[PGT_FAULT_ACCESS_FLAG],
	     total.fault[PGT_FAULT_PERMISSION], total.fault[PGT_FAULT_ADDRESS_SIZE], total.fault[PGT_FAULT_EXTERNAL]);
	note("  faults at levels -1 to 3: %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64
	     "; of stage 2 %" PRIu64 ", in walks of stage 1 %" PRIu64, total.level[0], total.level[1],
	     total.level[2], total.level[3], total.level[4], total.second, total.in_walk);
}

static bool all_met(const uint64_t *counts, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (counts[i] < 50)
			return false;
	return true;
}

static int run(void)
{
	const char *wrong = machine_start();

	if (!ok(!wrong, "QEMU runs the server%s%s", wrong ? ": " : "", wrong ? wrong : ""))
		return tap_done();
	long_form = getenv("PGT_QEMU_LONG") && *getenv("PGT_QEMU_LONG");
	if (long_form)
		machine_time_limit(1800);
	for (unsigned kind = 0; kind < KINDS; kind++)
		all_tables((enum kind)kind);
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		sweep(&fields[i]);
	ok(total.wrong_bits == 0 && total.updated > 1000,
	   "the %" PRIu64 " descriptors that the MMU updated are as PGT_UPDATE leaves them", total.updated);
	ok(failed_calls == 0, "no call failed that should not have, and pgt_check finds nothing wrong");
	ok(all_met(&total.leaf_level[1], 4) && total.in_runs > 100 && all_met(&total.fault[1], 5) &&
	   all_met(total.level, 5) && total.second > 1000 && total.in_walk > 1000,
	   "leaves of all levels and runs, and faults of all kinds, levels and stages, were met");
	ok(total.asked >= 100000, "at least 100000 probes were compared");
	report();
	wrong = machine_stop();
	ok(!wrong, "QEMU ends%s%s", wrong ? ": " : "", wrong ? wrong : "");
	return tap_done();
}

int main(void)
{
	const char *missing = machine_missing();
	const char *ci = getenv("CI");

	if (!PGT_HAVE_ARM64)
		return tap_skip_all("arm64 is not built");
	if (!missing)
		return run();
	if (!ci || strcmp(ci, "true") != 0)
		return tap_skip_all("%s", missing);
	ok(false, "%s, and in CI nothing is skipped", missing);
	return tap_done();
}
