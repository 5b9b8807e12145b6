/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes: every combination comes back from a query as it was given, or is
 * refused with the documented code; the descriptors are those that the
 * architecture's manual gives; and translations follow from them.
 */
#include <stddef.h>
#include "contract.h"

static struct world w;

#define EXECUTE (PGT_EXEC | PGT_UEXEC)
#define STATE   (PGT_YOUNG | PGT_DIRTY)

static bool is_device(uint64_t attr)
{
	uint64_t mem = attr & PGT_MEM_MASK;

	return mem == PGT_MEM_DEVICE || mem == PGT_MEM_DEVICE_STRICT;
}

/* What the contract's table says of a combination. */
static int verdict(bool arm64, uint64_t attr)
{
	if (is_device(attr) && attr & EXECUTE)
		return PGT_EINVAL;
	if (!arm64)
		return PGT_OK;
	if (!(attr & PGT_READ))
		return attr & PGT_UEXEC && !(attr & (PGT_USER | PGT_WRITE)) ? PGT_OK :
									      PGT_ENOTSUP;
	/* Without USER it is execute-only, and that has no READ. */
	if (attr & PGT_UEXEC && !(attr & PGT_USER))
		return PGT_ENOTSUP;
	return PGT_OK;
}

/* The combination of that number; there are ATTRS of them. */
#define ATTRS (8192u * 5 * 3)

static uint64_t nth_attr(unsigned n)
{
	uint64_t attr = n % 8192;

	n /= 8192;
	attr |= (uint64_t)(n % 5) << 16;
	return attr | (uint64_t)(n / 5) << 24;
}

/* What young and dirty state a new mapping has. */
static uint64_t new_attr(uint64_t attr, uint64_t features)
{
	if (!(features & PGT_FEAT_TRACK_YOUNG))
		attr |= PGT_YOUNG;
	if (!(features & PGT_FEAT_TRACK_DIRTY))
		attr |= PGT_DIRTY;
	return attr;
}

/* ---- What a translation answers ------------------------------------------- */

/* 0, or the fault that an access to a mapping raises. */
static int expected_fault(bool arm64, uint64_t features, uint64_t attr, uint64_t access)
{
	bool user = access & PGT_USER, may = true;
	uint64_t kind = access & (PGT_READ | PGT_WRITE | PGT_EXEC);

	if (attr & PGT_NOACCESS)
		return PGT_FAULT_TRANSLATION;
	/* An access flag fault is found before the permissions are. */
	if (!(attr & PGT_YOUNG) && !(features & PGT_FEAT_HW_YOUNG))
		return PGT_FAULT_ACCESS_FLAG;
	if (kind == PGT_EXEC) {
		may = attr & (user ? PGT_UEXEC : PGT_EXEC);
		if (arm64 && !user && attr & PGT_USER && attr & PGT_WRITE)
			may = false;
	} else if (user && !(attr & PGT_USER)) {
		may = false;
	} else if (kind == PGT_WRITE) {
		may = attr & PGT_WRITE;
		if (!(attr & PGT_DIRTY) && !(features & PGT_FEAT_HW_DIRTY))
			may = false;
	} else if (!arm64) {
		may = attr & PGT_READ;
	} /* arm64: privileged code reads all there is */
	return may ? 0 : PGT_FAULT_PERMISSION;
}

/* EXEC on a user-writable page that is clean: its descriptor is a read-only one until
 * it becomes dirty, and the contract doesn't say what that means for EL1. */
static bool undecided(uint64_t attr, uint64_t access)
{
	return (access & (PGT_EXEC | PGT_USER)) == PGT_EXEC && attr & PGT_USER &&
	       attr & PGT_WRITE && !(attr & PGT_DIRTY);
}

static void want_translations(uint64_t va, uint64_t pa, uint64_t attr, uint64_t features)
{
	static const uint64_t accesses[] = {
		PGT_READ, PGT_WRITE, PGT_EXEC, PGT_READ | PGT_USER, PGT_WRITE | PGT_USER,
		PGT_EXEC | PGT_USER,
	};

	for (unsigned i = 0; i < 6; i++) {
		struct pgt_translation tr;
		int fault = expected_fault(w.arm64, features, attr, accesses[i]);
		int status = pgt_translate(w.t, va, accesses[i], &tr);

		if (w.arm64 && undecided(attr, accesses[i]))
			continue;
		if (fault) {
			if (want_status(status, PGT_EFAULT) && want_u64(tr.fault, fault))
				want_u64(tr.level, 3);
			else
				note("access %#" PRIx64, accesses[i]);
		} else if (want_status(status, PGT_OK)) {
			want_u64(tr.pa, pa);
			want_u64(tr.attr, attr);
			want_u64(tr.leaf_bits, w.geo.g);
			want_u64(tr.run_bits, w.geo.g);
			want_u64(tr.level, 3);
		} else {
			note("access %#" PRIx64, accesses[i]);
		}
	}
}

/* ---- The descriptor, from the manual -------------------------------------- */

static uint64_t golden(uint64_t pa, uint64_t attr)
{
	static const uint64_t sh[] = { 3, 2, 0 };
	bool dirty = attr & PGT_DIRTY, write = attr & PGT_WRITE;
	uint64_t d = pa | 3;

	d |= (attr & PGT_MEM_MASK) >> 16 << 2;
	d |= attr & PGT_USER ? BIT(6) : 0;
	d |= write && dirty ? 0 : BIT(7);
	d |= sh[(attr & PGT_SH_MASK) >> 24] << 8;
	d |= attr & PGT_YOUNG ? BIT(10) : 0;
	d |= attr & PGT_GLOBAL ? 0 : BIT(11);
	d |= attr & PGT_GUARDED ? BIT(50) : 0;
	d |= write ? BIT(51) : 0;
	d |= attr & PGT_EXEC ? 0 : BIT(53);
	d |= attr & PGT_UEXEC ? 0 : BIT(54);
	d |= attr & PGT_SW0 ? BIT(56) : 0;
	d |= attr & PGT_SW1 ? BIT(57) : 0;
	d |= attr & PGT_SW2 ? BIT(58) : 0;
	return d;
}

/* What the format fixes of the descriptor of an accepted combination. */
static void want_descriptor(uint64_t entry, uint64_t pa, uint64_t attr)
{
	if (!w.arm64) {
		want_u64(entry, w.f->page_entry(pa, attr));
		return;
	}
	if (attr & PGT_NOACCESS) {
		want_u64(entry & 1, 0);
		return;
	}
	/* Bit 55 is dirty where the hardware's own form doesn't say so. */
	if (!(attr & PGT_WRITE))
		want_u64(entry >> 55 & 1, !!(attr & PGT_DIRTY));
	else if (!(attr & PGT_DIRTY))
		want_u64(entry >> 55 & 1, 0);
	want_u64(entry & ~BIT(55), golden(pa, attr));
}

/* ---- Every combination ----------------------------------------------------- */

static void one_combination(uint64_t attr, uint64_t features)
{
	const uint64_t va = w.l1 + w.page;
	const uint64_t pa = UINT64_C(0xfedcba987000) >> (48 - w.c.output_bits) & ~(w.page - 1);
	int code = verdict(w.arm64, attr), status;
	struct pgt_mapping m;
	uint64_t now;

	where("attr %#" PRIx64 ", features %#" PRIx64, attr, features);
	status = pgt_map(w.t, va, pa, w.page, attr, 0, NULL);
	/* Execute-only for both privileges: expressible or not, but never something else. */
	if (w.arm64 && code == PGT_OK && !(attr & PGT_READ) && attr & PGT_EXEC &&
	    status == PGT_ENOTSUP)
		return;
	if (!want_status(status, code) || status != PGT_OK)
		return;
	now = new_attr(attr, features);
	want_status(pgt_query(w.t, va + w.page - 1, &m), PGT_OK);
	want_u64(m.state, PGT_LEAF);
	want_u64(m.attr, now);
	want_u64(m.pa, pa);
	want_u64(m.va, va);
	want_u64(m.len, w.page);
	want_u64(m.run_bytes, w.page);
	want_u64(m.level, 3);
	want_u64(m.entry, raw_entry(&w, va, 3));
	want_descriptor(m.entry, pa, now);
	want_translations(va, pa, now, features);
	/* Mapping the same again under REPLACE is nothing. */
	if (attr == now) {
		uint64_t n = w.e.events;

		want_status(pgt_map(w.t, va, pa, w.page, attr, PGT_REPLACE, NULL), PGT_OK);
		want_u64(w.e.events, n);
	}
	want_status(pgt_unmap(w.t, va, w.page, PGT_KEEP_TABLES, NULL), PGT_OK);
	embed_log_clear(&w.e);
}

static void test_combinations(const char *format, uint64_t features, const char *name)
{
	begin();
	if (!world_open(&w, format, 12, 48, features, EMBED_TLB))
		return;
	for (unsigned i = 0; i < ATTRS && complaints < 100; i++)
		one_combination(nth_attr(i), features);
	world_close(&w);
	ok(fine, "case 81: Attribute decode is not the inverse of encode: %s, %s: all %u "
	   "combinations, descriptors and translations", format, name, ATTRS);
}

/* Field values that have no meaning are never taken for another. */
static void test_reserved_values(const char *format)
{
	begin();
	if (!world_open(&w, format, 12, 48, 0, 0))
		return;
	for (uint64_t mem = 5; mem < 32; mem++) {
		int status = pgt_map(w.t, 0, 0, w.page, PGT_READ | mem << 16, 0, NULL);

		where("memory type %u", (unsigned)mem);
		want(status == PGT_EINVAL || status == PGT_ENOTSUP);
	}
	for (uint64_t mem = 0; mem < 32; mem++) {
		int status = pgt_map(w.t, 0, 0, w.page, PGT_READ | mem << 16 | PGT_SH_MASK, 0,
				     NULL);

		where("shareability 3, memory type %u", (unsigned)mem);
		want(status == PGT_EINVAL || status == PGT_ENOTSUP);
	}
	want(is_empty(w.t, 0));
	want_u64(w.e.live, 1);
	world_close(&w);
	ok(fine, "%s: reserved memory types and shareabilities are refused", format);
}

/* The same on leaves and runs of every size. */
static void test_every_leaf(const char *format)
{
	static const uint64_t attrs[] = {
		RW, PGT_READ | PGT_EXEC, RW | PGT_USER | PGT_UEXEC | PGT_GLOBAL,
		PGT_READ | PGT_MEM_DEVICE | PGT_SH_OUTER, RW | PGT_MEM_WRITETHROUGH | PGT_SW1,
		RW | PGT_MEM_NOCACHE | PGT_SH_NONE | PGT_SW0 | PGT_SW2,
		PGT_READ | PGT_USER | PGT_GUARDED | PGT_MEM_DEVICE_STRICT, RW | PGT_NOACCESS,
		PGT_READ | PGT_EXEC | PGT_NOACCESS | PGT_SW0 | PGT_SW1 | PGT_SW2,
	};

	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, 0))
			continue;
		for (unsigned bits = granule; bits < 47; bits++) {
			if (!(pgt_leaf_sizes(w.t) & BIT(bits)))
				continue;
			for (unsigned i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
				struct request q = { BIT(bits), 0, BIT(bits), 63 };
				struct pgt_mapping m;
				unsigned level, run;

				where("granule %u, size 2^%u, attr %#" PRIx64, granule, bits,
				      attrs[i]);
				level = leaf_level(&w.geo, &q, q.va, &run);
				want_status(pgt_map(w.t, q.va, q.pa, q.len, attrs[i], 0, NULL),
					    PGT_OK);
				m = query(w.t, q.va + (q.len - 1));
				want_u64(m.attr, attrs[i] | STATE);
				want_u64(m.level, level);
				/* NOACCESS leaves belong to no run. */
				want_u64(m.run_bytes, attrs[i] & PGT_NOACCESS ?
					 geo_span(&w.geo, level) : BIT(bits));
				if (w.arm64 && !(attrs[i] & PGT_NOACCESS)) {
					uint64_t e = golden(m.pa, m.attr);

					if (level < 3)
						e &= ~UINT64_C(2);
					if (run > geo_bits(&w.geo, level))
						e |= BIT(52);
					want_u64(m.entry & ~BIT(55), e);
				}
				sound(&w);
				want_status(pgt_unmap(w.t, q.va, q.len, 0, NULL), PGT_OK);
			}
		}
		world_close(&w);
	}
	ok(fine, "%s: attributes on leaves and runs of every size", format);
}

/* ---- Cases ------------------------------------------------------------------ */

static void test_golden_rows(void)
{
	static const struct {
		const char *what;
		uint64_t attr, bits; /* above 55 and below 12 apart: 53, 54, 6, 7, 51 */
	} rows[] = {
		{ "kernel data", RW, BIT(53) | BIT(54) | BIT(51) },
		{ "kernel read-only data", PGT_READ, BIT(53) | BIT(54) | BIT(7) },
		{ "kernel code", PGT_READ | PGT_EXEC, BIT(54) | BIT(7) },
		{ "user data", RW | PGT_USER, BIT(53) | BIT(54) | BIT(51) | BIT(6) },
		{ "user code", PGT_READ | PGT_USER | PGT_UEXEC, BIT(53) | BIT(7) | BIT(6) },
		{ "user execute-only", PGT_UEXEC, BIT(53) | BIT(7) },
	};
	const uint64_t mask = BIT(53) | BIT(54) | BIT(51) | BIT(7) | BIT(6);

	if (lacks_arm64("case 78: Execute-never bit of the wrong privilege"))
		return;
	begin();
	if (!world_open(&w, "arm64", 12, 48, 0, 0))
		return;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t e;

		where("%s", rows[i].what);
		want_status(pgt_map(w.t, MIB(2), MIB(2), MIB(2), rows[i].attr, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, KIB(4), KIB(4), KIB(4), rows[i].attr, 0, NULL), PGT_OK);
		e = raw_entry(&w, KIB(4), 3);
		want_u64(e & mask, rows[i].bits);
		want_u64(e & 0xfff & ~BIT(6) & ~BIT(7), 0xf03);
		want_u64(raw_entry(&w, MIB(2), 2) & mask, rows[i].bits);
		/* No restriction anywhere above. */
		for (unsigned l = 0; l < 3; l++)
			want_u64(raw_entry(&w, KIB(4), l) >> 59, 0);
		want_status(pgt_unmap(w.t, 0, MIB(4), 0, NULL), PGT_OK);
	}
	world_close(&w);
	ok(fine, "case 78: Execute-never bit of the wrong privilege; RES1 access bit: EL1&0");
}

static void test_memory_types(void)
{
	static const struct {
		uint64_t mem, index, mair;
	} rows[] = {
		{ PGT_MEM_NORMAL, 0, 0xff }, { PGT_MEM_NOCACHE, 1, 0x44 },
		{ PGT_MEM_WRITETHROUGH, 2, 0xbb }, { PGT_MEM_DEVICE, 3, 0x04 },
		{ PGT_MEM_DEVICE_STRICT, 4, 0x00 },
	};
	struct pgt_arm64_regs regs;

	if (lacks_arm64("case 79: Stage-1 attribute index used in stage-2 entries, or the reverse"))
		return;
	begin();
	if (!world_open(&w, "arm64", 12, 48, 0, 0))
		return;
	memset(&regs, 0, sizeof(regs));
	regs.size = sizeof(regs);
	want_status(pgt_arm64_regs(w.t, NULL, &regs), PGT_OK);
	want_u64(regs.mair, UINT64_C(0x0000000004bb44ff));
	for (unsigned i = 0; i < 5; i++) {
		uint64_t index;

		where("memory type %u", i);
		want_status(pgt_map(w.t, 0, 0, KIB(4), PGT_READ | rows[i].mem, 0, NULL), PGT_OK);
		index = raw_entry(&w, 0, 3) >> 2 & 7;
		want_u64(index, rows[i].index);
		want_u64(regs.mair >> (8 * index) & 0xff, rows[i].mair);
		want_u64(raw_entry(&w, 0, 3) >> 10 & 1, 1);
		want_u64(query(w.t, 0).attr & PGT_MEM_MASK, rows[i].mem);
		want_status(pgt_unmap(w.t, 0, KIB(4), 0, NULL), PGT_OK);
	}
	world_close(&w);
	ok(fine, "case 79: Stage-1 attribute index used in stage-2 entries, or the reverse: "
	   "stage 1");
}

static void test_device_exec(const char *format)
{
	static const uint64_t types[] = { PGT_MEM_DEVICE, PGT_MEM_DEVICE_STRICT };

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	for (unsigned i = 0; i < 2; i++) {
		struct pgt_translation tr;
		uint64_t dev = types[i] | PGT_SH_OUTER;

		where("type %u", i);
		want_status(pgt_map(w.t, 0, 0, w.page, RW | PGT_EXEC | dev, 0, NULL), PGT_EINVAL);
		want_status(pgt_map(w.t, 0, 0, w.page, RW | PGT_USER | PGT_UEXEC | dev, 0, NULL),
			    PGT_EINVAL);
		want_status(pgt_map(w.t, 0, 0, w.page, PGT_READ | EXECUTE | PGT_NOACCESS | dev, 0,
				    NULL), PGT_EINVAL);
		want_u64(w.e.live, 1);
		want_status(pgt_map(w.t, 0, 0, w.l2, RW | dev, 0, NULL), PGT_OK);
		/* A replacement and a split don't make the rest executable. */
		want_status(pgt_map(w.t, 2 * w.page, 0, w.page, PGT_READ | PGT_EXEC | dev, PGT_REPLACE,
				    NULL), PGT_EINVAL);
		want_status(pgt_map(w.t, 2 * w.page, 0, w.page, PGT_READ | dev, PGT_REPLACE, NULL),
			    PGT_OK);
		for (uint64_t va = 0; va < w.l2; va += w.page) {
			want_u64(query(w.t, va).attr & (EXECUTE | PGT_MEM_MASK), types[i]);
			want_status(pgt_translate(w.t, va, PGT_EXEC, &tr), PGT_EFAULT);
			want_status(pgt_translate(w.t, va, PGT_EXEC | PGT_USER, &tr), PGT_EFAULT);
		}
		want_status(pgt_unmap(w.t, 0, w.l2, 0, NULL), PGT_OK);
	}
	world_close(&w);
	ok(fine, "case 82: Device memory ends up executable after an unrelated attribute change: "
	   "%s, map", format);
}

/* ---- Access flag and dirty state of translations ---------------------------- */

static void one_state(const char *format, uint64_t features, uint64_t attr)
{
	const uint64_t track = PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY;
	uint64_t va, pa = GIB(9), inside;
	static const uint64_t accesses[] = {
		PGT_READ, PGT_WRITE, PGT_EXEC, PGT_READ | PGT_USER, PGT_WRITE | PGT_USER,
	};

	if (!world_open(&w, format, 12, 48, features | track, EMBED_TLB))
		return;
	va = 3 * w.l1;
	inside = 77 % w.page;
	for (unsigned i = 0; i < 5; i++) {
		uint64_t access = accesses[i], raw, after = attr;
		struct pgt_translation tr;
		int fault = expected_fault(w.arm64, features, attr, access), status;

		where("%s, features %#" PRIx64 ", attr %#" PRIx64 ", access %#" PRIx64, format,
		      features, attr, access);
		want_status(pgt_map(w.t, va, pa, w.page, attr, 0, NULL), PGT_OK);
		raw = raw_entry(&w, va, 3);
		status = pgt_translate(w.t, va + inside, access, &tr);
		want_status(status, fault ? PGT_EFAULT : PGT_OK);
		want_u64(raw_entry(&w, va, 3), raw);
		if (fault)
			want_u64(tr.fault, fault);

		status = pgt_translate(w.t, va + inside, access | PGT_UPDATE, &tr);
		want_status(status, fault ? PGT_EFAULT : PGT_OK);
		if (fault) {
			/* The access flag may be set where only a permission lacks. */
			want_u64(tr.fault, fault);
			want_u64(query(w.t, va).attr & ~PGT_YOUNG, attr & ~PGT_YOUNG);
			if (!(features & PGT_FEAT_HW_YOUNG))
				want_u64(raw_entry(&w, va, 3), raw);
		} else {
			if (features & PGT_FEAT_HW_YOUNG)
				after |= PGT_YOUNG;
			if (access & PGT_WRITE && features & PGT_FEAT_HW_DIRTY)
				after |= PGT_DIRTY;
			want_u64(query(w.t, va).attr, after);
			want_u64(tr.pa, pa + inside);
		}
		want_status(pgt_unmap(w.t, va, w.page, 0, NULL), PGT_OK);
	}
	world_close(&w);
}

static void test_update(const char *format)
{
	static const uint64_t features[] = {
		0, PGT_FEAT_HW_YOUNG, PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY,
	};

	begin();
	for (unsigned f = 0; f < 3; f++)
		for (uint64_t state = 0; state < 4; state++)
			for (unsigned i = 0; i < 4; i++)
				one_state(format, features[f], PGT_READ |
					  (state & 1 ? PGT_YOUNG : 0) |
					  (state & 2 ? PGT_DIRTY : 0) | (i & 1 ? PGT_WRITE : 0) |
					  (i & 2 ? PGT_USER : 0));
	ok(fine, "%s: translate with and without PGT_UPDATE, with and without hardware that "
	   "keeps the state", format);
}

/* What each TRACK_ starts with, on every leaf size; unmap and map begin anew. */
static void test_track(const char *format)
{
	static const uint64_t features[] = {
		0, PGT_FEAT_TRACK_YOUNG, PGT_FEAT_TRACK_DIRTY,
		PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY,
	};
	static const uint64_t attrs[] = { PGT_READ, RW, PGT_READ | PGT_EXEC };
	static const uint64_t states[] = { 0, PGT_YOUNG, PGT_DIRTY, STATE };
	uint64_t run[2]; /* of blocks, and of pages */

	begin();
	for (unsigned f = 0; f < 4; f++) {
		if (!world_open(&w, format, 12, 48, features[f] | PGT_FEAT_CONTIG, EMBED_TLB))
			continue;
		run[0] = BIT(geo_run_bits(&w.geo, 2));
		run[1] = BIT(geo_run_bits(&w.geo, 3));
		for (unsigned i = 0; i < 12; i++) {
			uint64_t attr = attrs[i / 4] | states[i % 4];

			where("features %#" PRIx64 ", attr %#" PRIx64, features[f], attr);
			want_status(pgt_map(w.t, w.l1, w.l1, 2 * w.l1 + 2 * run[0] + run[1] + w.page, attr,
					    0, NULL), PGT_OK);
			want_u64(query(w.t, w.l1).attr, new_attr(attr, features[f]));
			want_u64(query(w.t, 3 * w.l1).attr, new_attr(attr, features[f]));
			want_u64(query(w.t, 3 * w.l1 + 2 * run[0]).attr, new_attr(attr, features[f]));
			want_u64(query(w.t, 3 * w.l1 + 2 * run[0] + run[1]).attr,
				 new_attr(attr, features[f]));
			sound(&w);
			/* Another PA or other attributes: the state begins anew. */
			want_status(pgt_map(w.t, w.l1, 8 * w.l1, 2 * w.l1, attrs[i / 4] | PGT_SW1,
					    PGT_REPLACE, NULL), PGT_OK);
			want_u64(query(w.t, w.l1).attr,
				 new_attr(attrs[i / 4] | PGT_SW1, features[f]));
			want_status(pgt_unmap(w.t, w.l1, 4 * w.l1, 0, NULL), PGT_OK);
		}
		world_close(&w);
	}
	ok(fine, "%s: new mappings start as PGT_FEAT_TRACK_ says", format);
}

/* Hardware's own form of dirty is read as dirty; a member's state is the run's. */
static void test_hardware_forms(void)
{
	if (lacks_arm64("dirty state in hardware's own form"))
		return;
	begin();
	if (!world_open(&w, "arm64", 12, 48, PGT_FEAT_CONTIG | PGT_FEAT_HW_YOUNG |
			PGT_FEAT_HW_DIRTY | PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY,
			EMBED_TLB))
		return;
	want_status(pgt_map(w.t, KIB(64), KIB(64), KIB(64), RW, 0, NULL), PGT_OK);
	want_u64(query(w.t, KIB(64)).attr, RW);
	want_u64(query(w.t, KIB(64)).run_bytes, KIB(64));
	raw_poke(&w, KIB(84), 3, raw_entry(&w, KIB(84), 3) | BIT(10));
	want_u64(query(w.t, KIB(64)).attr, RW | PGT_YOUNG);
	raw_poke(&w, KIB(124), 3, (raw_entry(&w, KIB(124), 3) | BIT(10)) & ~BIT(7));
	want_u64(query(w.t, KIB(64)).attr, RWD);
	want_u64(query(w.t, KIB(120)).attr, RWD);
	want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
	world_close(&w);
	ok(fine, "arm64: hardware's form of dirty, and one member's state is the run's");
}

/* ---- arm64: MAIR and registers ---------------------------------------------- */

static void test_mair(void)
{
	static const uint64_t types[] = {
		PGT_MEM_NORMAL, PGT_MEM_NOCACHE, PGT_MEM_WRITETHROUGH, PGT_MEM_DEVICE,
		PGT_MEM_DEVICE_STRICT,
	};
	static const struct {
		uint64_t mair;
		int index[5]; /* of each type; -1: it lacks it */
	} rows[] = {
		{ UINT64_C(0x00000000ff440400), { 3, 2, -1, 1, 0 } },
		{ UINT64_C(0xff44bb0400000000), { 7, 6, 5, 4, 0 } },
		{ UINT64_C(0x04ff44ff44ff44ff), { 0, 1, -1, 7, -1 } },
		{ UINT64_C(0xbbbbbbbbbbbbbbff), { 0, -1, 1, -1, -1 } },
	};
	struct pgt_arm64_config mc = { .size = sizeof(mc) };

	if (lacks_arm64("MAIR"))
		return;
	begin();
	for (unsigned r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		struct pgt_arm64_regs regs;
		struct pgt *t = NULL;

		embed_init(&w.e, MIB(1), WORLD_PA);
		w.c = embed_config(&w.e, "arm64", 12, 48, 48, 0, 0);
		mc.mair = rows[r].mair;
		w.c.format_config = &mc;
		want_status(pgt_create(&w.c, &t), PGT_OK);
		w.t = t;
		w.geo = geo_of("arm64", 12, 48, 0);
		w.f = format_named("arm64");
		w.arm64 = true;
		memset(&regs, 0, sizeof(regs));
		regs.size = sizeof(regs);
		want_status(pgt_arm64_regs(t, NULL, &regs), PGT_OK);
		want_u64(regs.mair, rows[r].mair);
		for (unsigned i = 0; i < 5; i++) {
			where("MAIR %#" PRIx64 ", type %u", rows[r].mair, i);
			want_status(pgt_map(t, KIB(4) * i, 0, KIB(4), PGT_READ | types[i], 0, NULL),
				    rows[r].index[i] < 0 ? PGT_ENOTSUP : PGT_OK);
			if (rows[r].index[i] < 0)
				continue;
			want_u64(raw_entry(&w, KIB(4) * i, 3) >> 2 & 7, rows[r].index[i]);
			want_u64(query(t, KIB(4) * i).attr & PGT_MEM_MASK, types[i]);
		}
		world_close(&w);
	}
	where("size of the configuration");
	embed_init(&w.e, MIB(1), WORLD_PA);
	w.c = embed_config(&w.e, "arm64", 12, 48, 48, 0, 0);
	w.c.format_config = &mc;
	for (uint32_t size = 0; size < sizeof(mc); size++) {
		struct pgt *t = NULL;

		mc.size = size;
		want_status(pgt_create(&w.c, &t), PGT_EINVAL);
		want_u64(pgt_storage(&w.c), 0);
		want(!t && !w.e.live);
	}
	embed_fini(&w.e);
	ok(fine, "arm64: the MAIR that pgt_arm64_config gives is used, and decoded");
}

static uint64_t field(uint64_t v, unsigned high, unsigned low)
{
	return v >> low & (BIT(high - low + 1) - 1);
}

/* Everything of TCR_EL1 but AS, for two halves of these sizes. */
static uint64_t golden_tcr(int low_g, unsigned low_in, int high_g, unsigned high_in, unsigned ips,
			   uint64_t features)
{
	static const uint64_t tg0[] = { 0, 2, 1 }, tg1[] = { 2, 1, 3 };
	uint64_t tcr = (uint64_t)ips << 32;

	if (low_g >= 0)
		tcr |= (64 - low_in) | UINT64_C(1) << 8 | UINT64_C(1) << 10 | UINT64_C(3) << 12 |
		       tg0[low_g] << 14;
	else
		tcr |= BIT(7);
	if (high_g >= 0)
		tcr |= (uint64_t)(64 - high_in) << 16 | UINT64_C(1) << 24 | UINT64_C(1) << 26 |
		       UINT64_C(3) << 28 | tg1[high_g] << 30;
	else
		tcr |= BIT(23);
	if (features & PGT_FEAT_HW_YOUNG)
		tcr |= BIT(39);
	if (features & PGT_FEAT_HW_DIRTY)
		tcr |= BIT(40);
	return tcr;
}

static struct world low, high;

static void regs_of(int low_g, unsigned low_in, int high_g, unsigned high_in, unsigned output,
		    unsigned ips, uint64_t features)
{
	const unsigned *granules = format_named("arm64")->granules;
	struct pgt_arm64_regs regs;
	uint64_t expected = golden_tcr(low_g, low_in, high_g, high_in, ips, features), mask;

	where("lower %d/%u, upper %d/%u, output %u, features %#" PRIx64, low_g, low_in, high_g,
	      high_in, output, features);
	if (low_g >= 0)
		want_status(world_open_as(&low, "arm64", granules[low_g], low_in, output, features,
					  0), PGT_OK);
	if (high_g >= 0)
		want_status(world_open_as(&high, "arm64", granules[high_g], high_in, output,
					  features | PGT_FEAT_UPPER, 0), PGT_OK);
	memset(&regs, 0xa5, sizeof(regs));
	regs.size = sizeof(regs);
	want_status(pgt_arm64_regs(low_g >= 0 ? low.t : NULL, high_g >= 0 ? high.t : NULL, &regs),
		    PGT_OK);
	want_u64(regs.size, sizeof(regs));
	want_u64(regs.regime, PGT_ARM64_EL1);
	/* A half that is disabled has no other field that matters. */
	mask = ~BIT(36);
	if (low_g < 0)
		mask &= ~UINT64_C(0xff7f);
	if (high_g < 0)
		mask &= ~UINT64_C(0xff7f0000);
	want_u64(regs.tcr & mask, expected & mask);
	if (low_g >= 0)
		want_u64(regs.ttbr0, pgt_root(low.t));
	if (high_g >= 0)
		want_u64(regs.ttbr1, pgt_root(high.t));
	want_u64(regs.mair, UINT64_C(0x0000000004bb44ff));
	want_u64(field(regs.sctlr, 0, 0), 1); /* M */
	want_u64(field(regs.sctlr, 19, 19), 0); /* WXN */
	want_u64(field(regs.sctlr, 25, 25), 0); /* EE: descriptors are little-endian */
	want_u64(regs.vttbr | regs.vtcr | regs.tcr2 | regs.pir | regs.pire0 | regs.por, 0);
	if (low_g >= 0)
		world_close(&low);
	if (high_g >= 0)
		world_close(&high);
}

static void test_registers(void)
{
	static const unsigned outputs[][2] = {
		{ 32, 0 }, { 36, 1 }, { 40, 2 }, { 42, 3 }, { 44, 4 }, { 48, 5 },
	};

	if (lacks_arm64("case 11: Granule codes differ for the low and the high half"))
		return;
	begin();
	for (int l = -1; l < 3; l++)
		for (int h = -1; h < 3; h++)
			if (l >= 0 || h >= 0)
				regs_of(l, 48, h, 48, 48, 5, 0);
	ok(fine, "case 11: Granule codes differ for the low and the high half: all pairs of "
	   "granules, and a half that is missing");

	begin();
	for (unsigned in = 25; in <= 48; in++)
		for (int g = 0; g < 3; g++)
			regs_of(g, in, g, 25 + 48 - in, 48, 5, 0);
	ok(fine, "arm64 registers: T0SZ and T1SZ of every input size, the halves unlike");

	begin();
	for (unsigned i = 0; i < 6; i++)
		regs_of(0, 48, 0, 48, outputs[i][0], outputs[i][1], 0);
	regs_of(0, 48, 0, 39, 48, 5, PGT_FEAT_HW_YOUNG);
	regs_of(0, 48, 0, 39, 48, 5, PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY);
	regs_of(1, 48, -1, 0, 48, 5, PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY);
	regs_of(-1, 0, 2, 42, 48, 5, PGT_FEAT_HW_YOUNG);
	ok(fine, "arm64 registers: IPS of every output size, HA and HD");
}

/* One register can't hold both. */
static void halves(unsigned out1, uint64_t f1, uint64_t mair1, unsigned out2, uint64_t f2,
		   uint64_t mair2, int code)
{
	struct pgt_arm64_config mc = { .size = sizeof(mc), .mair = mair1 };
	struct pgt_arm64_regs regs;
	struct pgt *a = NULL, *b = NULL;
	struct pgt_config c;

	embed_init(&w.e, MIB(1), MIB(512));
	c = embed_config(&w.e, "arm64", 12, 48, out1, f1, 0);
	c.format_config = &mc;
	want_status(pgt_create(&c, &a), PGT_OK);
	c.output_bits = (uint8_t)out2;
	c.features = f2 | PGT_FEAT_UPPER;
	mc.mair = mair2;
	want_status(pgt_create(&c, &b), PGT_OK);
	memset(&regs, 0, sizeof(regs));
	regs.size = sizeof(regs);
	want_status(pgt_arm64_regs(a, b, &regs), code);
	pgt_destroy(a);
	pgt_destroy(b);
	embed_fini(&w.e);
}

static void test_halves(void)
{
	const uint64_t m = UINT64_C(0x04bb44ff), other = UINT64_C(0xff);

	if (!have_format("arm64"))
		return;
	begin();
	where("alike");
	halves(48, 0, m, 48, 0, m, PGT_OK);
	halves(40, PGT_FEAT_HW_YOUNG, 0, 40, PGT_FEAT_HW_YOUNG, m, PGT_OK);
	where("output size");
	halves(48, 0, m, 40, 0, m, PGT_EINVAL);
	where("MAIR");
	halves(48, 0, m, 48, 0, other, PGT_EINVAL);
	halves(48, 0, 0, 48, 0, other, PGT_EINVAL);
	where("HA");
	halves(48, PGT_FEAT_HW_YOUNG, m, 48, 0, m, PGT_EINVAL);
	where("HD");
	halves(48, PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY, m, 48, PGT_FEAT_HW_YOUNG, m, PGT_EINVAL);
	where("what no register holds");
	halves(48, PGT_FEAT_CONTIG, m, 48, PGT_FEAT_TRACK_YOUNG | PGT_FEAT_NO_BLOCKS, m, PGT_OK);
	ok(fine, "arm64 registers: halves that differ in what one register holds are PGT_EINVAL");

	begin();
	if (!world_open(&w, "arm64", 12, 48, 0, 0))
		return;
	for (uint32_t size = 0; size <= sizeof(struct pgt_arm64_regs); size++) {
		struct pgt_arm64_regs regs;

		where("size %u", (unsigned)size);
		memset(&regs, 0xa5, sizeof(regs));
		regs.size = size;
		(void)pgt_arm64_regs(w.t, NULL, &regs);
		for (uint32_t i = size < 4 ? 4 : size; i < sizeof(regs); i++)
			if (!want_u64(((unsigned char *)&regs)[i], 0xa5))
				break;
		if (size >= offsetof(struct pgt_arm64_regs, ttbr1))
			want_u64(regs.ttbr0, pgt_root(w.t));
	}
	world_close(&w);
	ok(fine, "arm64 registers: no more is written than the caller's size");
}

int main(void)
{
	for_formats(format) {
		test_combinations(format, 0, "everything starts young and dirty");
		test_combinations(format, PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY,
				  "young and dirty are tracked");
		test_combinations(format, PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY |
				  PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY,
				  "tracked by the hardware");
		test_reserved_values(format);
		test_every_leaf(format);
		test_device_exec(format);
		test_update(format);
		test_track(format);
	}
	test_golden_rows();
	test_memory_types();
	test_hardware_forms();
	test_mair();
	test_registers();
	test_halves();
	return tap_done();
}
