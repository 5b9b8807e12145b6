/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cases that users of page-table code have met, changing what is mapped:
 * protecting, splitting, collapsing, tokens.  Each as it was met, and its whole
 * kind.  The numbers are those of t/cases.tsv.
 */
#include "contract.h"

#define TRACK (PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY)

static struct world w;
static struct embed_snapshot before;

static unsigned log_of(uint64_t size)
{
	unsigned n = 0;

	while (size >> n > 1)
		n++;
	return n;
}

/* ---- Every call ----------------------------------------------------------- */

/* What every changing call of a range says to it. */
static void all_say(uint64_t va, uint64_t len, int status)
{
	const unsigned g = w.geo.g;

	want_status(pgt_protect(w.t, va, len, 0, PGT_WRITE, 0, NULL), status);
	want_status(pgt_protect(w.t, va, len, PGT_NOACCESS, 0, PGT_STRICT, NULL), status);
	want_status(pgt_harvest(w.t, va, len, PGT_YOUNG, 0, NULL, NULL), status);
	want_status(pgt_harvest(w.t, va, len, PGT_DIRTY, PGT_PEEK, NULL, NULL), status);
	want_status(pgt_split(w.t, va, len, g, 0, NULL), status);
	want_status(pgt_collapse(w.t, va, len, g, 0, NULL), status);
	want_status(pgt_store(w.t, va, len, 7, 0, NULL), status);
	want_status(pgt_store(w.t, va, len, 7, PGT_REPLACE | PGT_SEQUENCE, NULL), status);
	want_status(pgt_trim(w.t, va, len, NULL), status);
}

/* A byte address outside the range. */
static void outside(uint64_t va)
{
	uint64_t page = BIT(w.geo.g);

	where("granule %u, va %#" PRIx64, w.geo.g, va);
	all_say(va & ~(page - 1), page, PGT_ERANGE);
	want_status(pgt_fault(w.t, va, PGT_READ, NULL), PGT_ERANGE);
	want_status(pgt_fault(w.t, va, PGT_WRITE | PGT_USER, NULL), PGT_ERANGE);
}

static void case_3(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned input = 25; input <= 48; input++) {
			if (!world_open(&w, format, granule, input, TRACK, EMBED_TLB))
				continue;
			want_status(pgt_map(w.t, 0, 0, w.bytes < GIB(1) ? w.bytes : GIB(1), RW, 0, NULL), PGT_OK);
			embed_snapshot(&w.e, &before);
			embed_log_clear(&w.e);
			outside(w.bytes);
			outside(w.bytes + w.bytes / 16 * 7);
			outside(UINT64_MAX);
			for (unsigned b = w.c.input_bits; b < 64; b++) {
				outside(BIT(b));
				outside(0 - BIT(b));
			}
			want(!embed_compare(&w.e, &before));
			want_u64(w.e.refused_addresses, 0);
			want_u64(w.e.events, 0);
			world_close(&w);
		}
	ok(fine, "case 3: Look-up outside the input range crashes although map() rejects it: %s, protect, harvest, "
	   "split, collapse, store, fault", format);
}

static void case_19(const char *format)
{
	begin();
	for (unsigned upper = 0; upper <= has_upper(format); upper++)
		for_granules(format, granule) {
			uint64_t page = BIT(granule), low_last;

			if (!world_open(&w, format, granule, 48, TRACK | (upper ? PGT_FEAT_UPPER : 0),
					EMBED_TLB))
				continue;
			low_last = w.bytes - page;
			want_status(pgt_map(w.t, w.base, 0, page, RW, 0, NULL), PGT_OK);
			want_status(pgt_map(w.t, world_last(&w) - (page - 1), 0, page, RW, 0, NULL), PGT_OK);
			embed_snapshot(&w.e, &before);
			where("granule %u, upper %u", granule, upper);
			all_say(low_last, 2 * page, PGT_ERANGE);
			/* From the last page of the lower half into the first of the upper. */
			all_say(low_last, 0 - w.bytes - low_last + page, PGT_ERANGE);
			all_say(0 - w.bytes - page, 2 * page, PGT_ERANGE);
			all_say(0, 0 - page, PGT_ERANGE);
			all_say(page, 0 - page, PGT_ERANGE);
			all_say(0 - page, 2 * page, PGT_ERANGE);
			/* The other half. */
			all_say(upper ? 0 : 0 - page, page, PGT_ERANGE);
			all_say(upper ? low_last : 0 - w.bytes, page, PGT_ERANGE);
			want(!embed_compare(&w.e, &before));
			world_close(&w);
		}
	ok(fine, "case 19: Range that begins low and ends high is accepted because both ends are valid: %s, protect, "
	   "harvest, split, collapse, store", format);
}

/* The last page: every call changes it alone, and comes to an end. */
static void one_29(const char *format, unsigned g, unsigned input, bool upper)
{
	uint64_t page = BIT(g), last, words[1] = { 0 };
	struct pgt_gather gather;
	struct pgt_bitmap bitmap = { words, 0, 1, (uint8_t)g };

	where("granule %u, input %u, upper %d", g, input, upper);
	if (!world_open(&w, format, g, input, TRACK | PGT_FEAT_CONTIG | (upper ? PGT_FEAT_UPPER : 0), EMBED_ALL))
		return;
	last = world_last(&w) - (page - 1);
	bitmap.va = last;
	want_status(pgt_map(w.t, last - page, 0x80000000, page, RW, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, last, 0x90000000, page, RW, 0, NULL), PGT_OK);
	want_status(pgt_gather_begin(&gather, w.t), PGT_OK);
	want_status(pgt_fault(w.t, world_last(&w), PGT_WRITE, &gather), PGT_OK);
	want_u64(query(w.t, last).attr, RWD);
	want_status(pgt_harvest(w.t, last, page, PGT_YOUNG | PGT_DIRTY, 0, &bitmap, &gather), PGT_OK);
	want_u64(words[0], 1);
	want_u64(query(w.t, last).attr, RW);
	want_status(pgt_protect(w.t, last, page, PGT_SW0, PGT_WRITE, 0, &gather), PGT_OK);
	want_u64(query(w.t, last).attr, PGT_READ | PGT_SW0);
	want_status(pgt_split(w.t, last, page, g, 0, &gather), PGT_OK);
	want_status(pgt_collapse(w.t, last, page, g, 0, &gather), PGT_OK);
	want_u64(gather.tally.changed, 3);
	want_status(pgt_store(w.t, last, page, 77, PGT_REPLACE, &gather), PGT_OK);
	want_u64(query(w.t, world_last(&w)).token, 77);
	want_status(pgt_store(w.t, last, page, 78, PGT_REPLACE | PGT_SEQUENCE, &gather), PGT_OK);
	want_u64(query(w.t, world_last(&w)).token, 78);
	want_status(pgt_gather_end(&gather), PGT_OK);
	want_u64(query(w.t, last - 1).attr, RW);
	want_u64(query(w.t, last - 1).pa, 0x80000000);
	want_status(pgt_unmap(w.t, last, page, 0, NULL), PGT_OK);
	want(is_empty(w.t, last));
	want_u64(query(w.t, last - 1).attr, RW);
	sound(&w);
	world_close(&w);
}

/* All of the range, and its last block. */
static void whole_29(const char *format, unsigned g, unsigned input, bool upper)
{
	uint64_t block, last;

	where("granule %u, input %u, upper %d, whole", g, input, upper);
	if (!world_open(&w, format, g, input, TRACK | (upper ? PGT_FEAT_UPPER : 0), EMBED_ALL))
		return;
	block = geo_span(&w.geo, 2);
	last = world_last(&w) - (block - 1);
	want_status(pgt_map(w.t, last, 0, block, RWD, 0, NULL), PGT_OK);
	want_status(pgt_protect(w.t, w.base, w.bytes, PGT_SW1, PGT_WRITE, 0, NULL), PGT_OK);
	want_u64(query(w.t, world_last(&w)).attr, PGT_READ | PGT_YOUNG | PGT_DIRTY | PGT_SW1);
	want_status(pgt_harvest(w.t, w.base, w.bytes, PGT_YOUNG | PGT_DIRTY, 0, NULL, NULL), PGT_OK);
	want_u64(query(w.t, world_last(&w)).attr, PGT_READ | PGT_SW1);
	want_status(pgt_split(w.t, w.base, w.bytes, g, 0, NULL), PGT_OK);
	want_u64(query(w.t, world_last(&w)).level, 3);
	want_status(pgt_collapse(w.t, w.base, w.bytes, geo_bits(&w.geo, 2), 0, NULL), PGT_OK);
	want_u64(query(w.t, world_last(&w)).level, 2);
	want_u64(query(w.t, world_last(&w)).va, last);
	want_status(pgt_store(w.t, last - block, block * 2, 5, PGT_REPLACE, NULL), PGT_OK);
	want_u64(query(w.t, world_last(&w)).token, 5);
	want_u64(query(w.t, last - block).token, 5);
	want_status(pgt_unmap(w.t, w.base, w.bytes, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
	world_close(&w);
}

static void case_29(const char *format)
{
	static const unsigned inputs[] = { 32, 39, 48 };
	begin();
	for (unsigned upper = 0; upper <= has_upper(format); upper++)
		for_granules(format, granule)
			for (unsigned i = 0; i < 3; i++) {
				one_29(format, granule, inputs[i], upper);
				whole_29(format, granule, inputs[i], upper);
			}
	ok(fine, "case 29: Region that ends at the top of the address type confuses \"end of list\" or \"end of "
	   "range\": %s, protect, harvest, split, collapse, store, fault", format);
}

static void case_30(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned input = 32; input <= 48; input += 16) {
			uint64_t page = BIT(granule);
			const uint64_t ranges[][2] = {
				{ page, 0 - page }, { page, 0 - 2 * page }, { w.bytes - page, 2 * page },
				{ 0xfc400000, GIB(1) }, { 0 - page, page * 3 }, { w.bytes / 2, 0 - w.bytes / 2 },
				{ page, BIT(63) }, { BIT(63), BIT(63) },
			};

			if (!world_open(&w, format, granule, input, TRACK, EMBED_TLB))
				continue;
			want_status(pgt_map(w.t, 0, 0, page * 2, RWD, 0, NULL), PGT_OK);
			embed_snapshot(&w.e, &before);
			for (unsigned i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
				/* Some of them are inside where the input is wider. */
				if (ranges[i][1] <= w.bytes && ranges[i][0] <= w.bytes - ranges[i][1])
					continue;
				where("granule %u, input %u, %#" PRIx64 "+%#" PRIx64, granule, input,
				      ranges[i][0], ranges[i][1]);
				all_say(ranges[i][0], ranges[i][1], PGT_ERANGE);
			}
			want(!embed_compare(&w.e, &before));
			world_close(&w);
		}
	ok(fine, "case 30: base + size wraps: %s, protect, harvest, split, collapse, store", format);
}

static void case_31(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), words[1] = { 0 };
		struct pgt_bitmap bitmap = { words, 0, 1, (uint8_t)granule };

		if (!world_open(&w, format, granule, 48, TRACK, EMBED_ALL))
			continue;
		want_status(pgt_map(w.t, 0, 0, page, RW, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, w.l1, 0, page, RW, 0, NULL), PGT_OK);
		embed_snapshot(&w.e, &before);
		where("granule %u, zero length", granule);
		all_say(0, 0, PGT_EINVAL);
		all_say(w.l1, 0, PGT_EINVAL);
		all_say(world_last(&w) - (page - 1), 0, PGT_EINVAL);
		all_say(w.bytes, 0, PGT_EINVAL);
		all_say(1, 0, PGT_EINVAL);
		want(!embed_compare(&w.e, &before));
		/* Page 0 at PA 0, and token 0 in it, are like any other. */
		where("granule %u, address zero", granule);
		want_status(pgt_fault(w.t, 0, PGT_WRITE, NULL), PGT_OK);
		want_status(pgt_protect(w.t, 0, page, PGT_SW0, PGT_WRITE, 0, NULL), PGT_OK);
		want_u64(query(w.t, 0).attr, PGT_READ | PGT_SW0 | PGT_YOUNG | PGT_DIRTY);
		want_status(pgt_harvest(w.t, 0, page, PGT_DIRTY, 0, &bitmap, NULL), PGT_OK);
		want_u64(words[0], 1);
		want_status(pgt_split(w.t, 0, page, granule, 0, NULL), PGT_OK);
		want_status(pgt_collapse(w.t, 0, page, granule, 0, NULL), PGT_OK);
		want_status(pgt_store(w.t, 0, page, 0, PGT_REPLACE, NULL), PGT_OK);
		want_u64(query(w.t, 0).state, PGT_TOKEN);
		want_u64(query(w.t, 0).token, 0);
		want_status(pgt_protect(w.t, 0, page, PGT_SW1, 0, PGT_STRICT, NULL), PGT_OK);
		want_u64(query(w.t, 0).state, PGT_TOKEN);
		want_status(pgt_unmap(w.t, 0, page, 0, NULL), PGT_OK);
		want(is_empty(w.t, 0));
		want_u64(query(w.t, w.l1).attr, RW);
		world_close(&w);
	}
	ok(fine, "case 31: Zero-length and address-zero requests: %s, protect, harvest, split, collapse, store",
	   format);
}

/* ---- 36 -------------------------------------------------------------------- */

static void case_36(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), block, pages, hole;
		unsigned none = granule + 1; /* a size that doesn't exist */

		if (!world_open(&w, format, granule, 48, TRACK | PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		where("granule %u", granule);
		block = geo_span(&w.geo, 2);
		pages = block * 2 + page;
		hole = block * 8;
		while (pgt_leaf_sizes(w.t) >> none & 1)
			none++;
		want_status(pgt_map(w.t, block, 0, block, RWD, 0, NULL), PGT_OK);
		want_status(pgt_map(w.t, pages, 0, page, RWD, 0, NULL), PGT_OK);
		embed_snapshot(&w.e, &before);
		/* A page of a block: a larger leaf is in the way. */
		want_status(pgt_protect(w.t, block + page, page, 0, PGT_WRITE, PGT_NO_SPLIT, NULL), PGT_EBLOCK);
		want_status(pgt_protect(w.t, block + page, page, 0, PGT_WRITE, PGT_NO_BREAK, NULL), PGT_EBREAK);
		want_status(pgt_split(w.t, block, page, granule, PGT_NO_SPLIT, NULL), PGT_EBLOCK);
		want_status(pgt_store(w.t, block, page, 1, PGT_REPLACE | PGT_NO_SPLIT, NULL), PGT_EBLOCK);
		want_status(pgt_store(w.t, block, page, 1, 0, NULL), PGT_EEXIST);
		/* A block where a page hangs. */
		want_status(pgt_store(w.t, block * 2, block, 1, 0, NULL), PGT_EEXIST);
		want_status(pgt_collapse(w.t, block * 2, block, geo_bits(&w.geo, 2), 0, NULL), PGT_OK);
		/* Nothing there. */
		want_status(pgt_protect(w.t, hole, page, 0, PGT_WRITE, PGT_STRICT, NULL), PGT_ENOENT);
		want_status(pgt_protect(w.t, block * 2, block, 0, PGT_WRITE, PGT_STRICT, NULL), PGT_ENOENT);
		want_status(pgt_protect(w.t, hole, page, 0, PGT_WRITE, 0, NULL), PGT_OK);
		want_status(pgt_fault(w.t, hole, PGT_READ, NULL), PGT_ENOENT);
		/* It is there, and forbidden. */
		want_status(pgt_fault(w.t, block, PGT_READ | PGT_USER, NULL), PGT_EACCES);
		/* No such size. */
		want_status(pgt_split(w.t, block, block, none, 0, NULL), PGT_ENOTSUP);
		want_status(pgt_collapse(w.t, block, block, none, 0, NULL), PGT_ENOTSUP);
		want_status(pgt_collapse(w.t, block, block, granule - 1, 0, NULL), PGT_ENOTSUP);
		want(!embed_compare(&w.e, &before));
		world_close(&w);
	}
	ok(fine, "case 36: Error does not say which way the size mismatch goes: %s, protect, split, collapse, store, "
	   "fault", format);
}

/* ---- 7, 37, 39: a part of a leaf, of every size ------------------------------ */

static void every_leaf(const char *format, uint64_t features, void (*one)(uint64_t size, uint64_t hole, uint64_t len))
{
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		if (!world_open(&w, format, granule, 48, features, EMBED_ALL))
			continue;
		for (unsigned bits = granule + 1; bits < 43; bits++) {
			uint64_t size = BIT(bits);

			if (!(pgt_leaf_sizes(w.t) & size))
				continue;
			one(size, 0, page);
			one(size, size / 2, page);
			one(size, size - page, page);
			one(size, page, size - page);
			one(size, 0, size - page);
			if (size / 4 >= page)
				one(size, size / 4, size / 2);
			one(size, 0, size / 2);
			one(size, size / 2, size / 2);
			one(size, 0, size);
		}
		world_close(&w);
	}
}

/* Every byte goes where it went; the part has one attribute set, the rest another. */
static void parts(uint64_t va, uint64_t pa, uint64_t len, uint64_t part, uint64_t part_len, uint64_t attr,
		  uint64_t part_attr)
{
	uint64_t page = BIT(w.geo.g), step = len / page > 4096 ? len / page / 2048 * page : page;
	const uint64_t edges[] = { part, part - 1, part + part_len, part + part_len - 1 };

	for (uint64_t at = 0; at < len; at += step) {
		struct pgt_mapping m = query(w.t, va + at + 9);

		if (!want_u64(m.pa + (va + at + 9 - m.va), pa + at + 9) ||
		    !want_u64(m.attr, at - part < part_len ? part_attr : attr))
			return;
	}
	for (unsigned i = 0; i < 4; i++) {
		struct pgt_mapping m;

		if (edges[i] >= len)
			continue;
		m = query(w.t, va + edges[i]);
		want_u64(m.pa + (va + edges[i] - m.va), pa + edges[i]);
		want_u64(m.attr, edges[i] - part < part_len ? part_attr : attr);
	}
}

static void one_37(uint64_t size, uint64_t hole, uint64_t len)
{
	uint64_t va = size * 2, pa = size * 3, allocated = w.e.allocated;

	where("granule %u, leaf %#" PRIx64 ", part %#" PRIx64 "+%#" PRIx64, w.geo.g, size, hole, len);
	want_status(pgt_map(w.t, va, pa, size, RW | PGT_SW1, 0, NULL), PGT_OK);
	allocated = w.e.allocated;
	want_status(pgt_protect(w.t, va + hole, len, PGT_SW0, PGT_WRITE, 0, NULL), PGT_OK);
	parts(va, pa, size, hole, len, RWD | PGT_SW1, PGT_READ | PGT_YOUNG | PGT_DIRTY | PGT_SW0 | PGT_SW1);
	/* A whole leaf needs no table. */
	want(len < size || w.e.allocated == allocated);
	/* By the pages that it was made of, it is the leaf again. */
	want_status(pgt_protect(w.t, va + hole, len, PGT_WRITE, PGT_SW0, 0, NULL), PGT_OK);
	parts(va, pa, size, 0, size, RWD | PGT_SW1, RWD | PGT_SW1);
	sound(&w);
	want_status(pgt_unmap(w.t, va, size, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
}

static void case_37(const char *format)
{
	struct pgt_stat s;

	begin();
	if (!world_open(&w, format, 12, 48, 0, EMBED_ALL))
		return;
	want_status(pgt_map(w.t, w.l1, 2 * w.l1, w.l1, RW, 0, NULL), PGT_OK);
	want_status(pgt_protect(w.t, w.l1 + w.l2 + w.page, w.page, 0, PGT_WRITE, 0, NULL), PGT_OK);
	want_u64(reads(w.t, w.l1 + w.l1 / 2 - w.l2 + 9), 2 * w.l1 + w.l1 / 2 - w.l2 + 9);
	want_status(pgt_stat(w.t, 0, w.bytes, &s), PGT_OK);
	want_u64(s.leaves[2], 0);
	want_u64(s.leaves[3], BIT(w.geo.b) - 1);
	want_u64(s.leaves[4], BIT(w.geo.b));
	want_u64(w.e.live, 4);
	for (uint64_t at = 0; at < w.l1; at += w.page) {
		struct pgt_mapping m = query(w.t, w.l1 + at);

		if (!want_u64(m.pa - m.va, w.l1) ||
		    !want_u64(m.attr & PGT_WRITE, at == w.l2 + w.page ? 0 : PGT_WRITE))
			break;
	}
	sound(&w);
	world_close(&w);
	every_leaf(format, PGT_FEAT_CONTIG, one_37);
	ok(fine, "case 37: Split of a big block advances children by the smallest page size: %s, by protect, every "
	   "leaf and run", format);
}

/* To every smaller size, whole and in part. */
static void one_split(uint64_t size, uint64_t hole, uint64_t len)
{
	uint64_t va = size * 2, pa = size * 3;

	for (unsigned bits = w.geo.g; BIT(bits) <= size; bits++) {
		uint64_t biggest = 0;

		if (!(pgt_leaf_sizes(w.t) >> bits & 1) || size >> bits > BIT(14))
			continue;
		where("granule %u, leaf %#" PRIx64 ", part %#" PRIx64 "+%#" PRIx64 " to 2^%u", w.geo.g, size, hole,
		      len, bits);
		want_status(pgt_map(w.t, va, pa, size, RW | PGT_SW1, 0, NULL), PGT_OK);
		want_status(pgt_split(w.t, va + hole, len, bits, 0, NULL), PGT_OK);
		parts(va, pa, size, hole, len, RWD | PGT_SW1, RWD | PGT_SW1);
		for (uint64_t at = hole; at < hole + len;) {
			struct pgt_mapping m = query(w.t, va + at);

			biggest = m.run_bytes > biggest ? m.run_bytes : biggest;
			at = m.va - va + m.len;
		}
		/* The part is as asked, as far as its own ends let it. */
		want(biggest <= BIT(bits));
		want(hole || len < size || biggest == BIT(bits));
		sound(&w);
		want_status(pgt_unmap(w.t, va, size, 0, NULL), PGT_OK);
		want_u64(w.e.live, 1);
	}
}

static void case_7(const char *format)
{
	begin();
	for_granules(format, granule)
		for (unsigned contig = 0; contig < 2; contig++) {
			uint64_t page = BIT(granule), block, va;

			if (!world_open(&w, format, granule, 48, TRACK | (contig ? PGT_FEAT_CONTIG : 0),
					EMBED_ALL))
				continue;
			block = geo_span(&w.geo, 2);
			va = block * 2;
			where("granule %u, contig %u", granule, contig);
			want_status(pgt_map(w.t, va, 0, block, RWD, 0, NULL), PGT_OK);
			want_status(pgt_protect(w.t, va, block, 0, PGT_WRITE, 0, NULL), PGT_OK);
			want(raw_is_leaf(&w, raw_entry(&w, va, 2), 2));
			want_status(pgt_harvest(w.t, va, block, PGT_YOUNG, 0, NULL, NULL), PGT_OK);
			want(raw_is_leaf(&w, raw_entry(&w, va, 2), 2));
			want_status(pgt_split(w.t, va, block, granule, 0, NULL), PGT_OK);
			want(raw_is_table(&w, raw_entry(&w, va, 2), 2));
			for (uint64_t i = 0; i < BIT(w.geo.b); i++)
				if (!want(raw_is_leaf(&w, raw_entry(&w, va + i * page, 3), 3)))
					break;
			want_status(pgt_protect(w.t, va + page, page, PGT_WRITE, 0, 0, NULL), PGT_OK);
			want(raw_is_leaf(&w, raw_entry(&w, va + page, 3), 3));
			want_status(pgt_protect(w.t, va + page, page, 0, PGT_WRITE, 0, NULL), PGT_OK);
			want_status(pgt_protect(w.t, va, block, PGT_NOACCESS, 0, 0, NULL), PGT_OK);
			want(!raw_is_leaf(&w, raw_entry(&w, va + page, 3), 3) || !w.arm64);
			want_status(pgt_protect(w.t, va, block, 0, PGT_NOACCESS, 0, NULL), PGT_OK);
			want(raw_is_leaf(&w, raw_entry(&w, va + page, 3), 3));
			want_status(pgt_collapse(w.t, va, block, geo_bits(&w.geo, 2), 0, NULL), PGT_OK);
			want(raw_is_leaf(&w, raw_entry(&w, va, 2), 2));
			want_u64(w.e.live, 1 + 2 - w.geo.start);
			sound(&w);
			world_close(&w);
		}
	every_leaf(format, PGT_FEAT_CONTIG, one_split);
	ok(fine, "case 7: Page entries written with the block encoding at L3: %s, after protect, harvest, split and "
	   "collapse", format);
}

static void case_39(const char *format)
{
	uint64_t token, clean; /* two pages of the second block */

	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG | TRACK, EMBED_ALL))
		return;
	token = w.l2 + (BIT(w.geo.b) > 8 ? 5 : 1) * w.page;
	clean = w.l2 + w.l2 / 2 + (BIT(w.geo.b) > 8 ? 3 : 1) * w.page;
	want_status(pgt_map(w.t, w.l1, 2 * w.l1, 2 * w.l2, RWD, 0, NULL), PGT_OK);
	want_status(pgt_protect(w.t, w.l1 + w.page, w.page, 0, PGT_WRITE, 0, NULL), PGT_OK);
	for (uint64_t at = 0; at < 2 * w.l2; at += w.page)
		if (!want_u64(query(w.t, w.l1 + at).attr & PGT_WRITE, at == w.page ? 0 : PGT_WRITE))
			break;
	want_u64(query(w.t, w.l1 + w.l2).level, 2);
	/* A token in the middle, and dirty state cleared in the middle. */
	want_status(pgt_store(w.t, w.l1 + token, w.page, 3, PGT_REPLACE, NULL), PGT_OK);
	want_status(pgt_harvest(w.t, w.l1 + clean, w.page, PGT_DIRTY, 0, NULL, NULL), PGT_OK);
	for (uint64_t at = w.l2; at < 2 * w.l2; at += w.page) {
		struct pgt_mapping m = query(w.t, w.l1 + at);

		where("page %#" PRIx64, at);
		want_u64(m.state, at == token ? PGT_TOKEN : PGT_LEAF);
		if (m.state == PGT_LEAF)
			want_u64(m.attr & PGT_DIRTY, at == clean ? 0 : PGT_DIRTY);
	}
	want(w.e.live == 5);
	want_u64(embed_unwritten(&w.e), 0);
	want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
	world_close(&w);
	every_leaf(format, PGT_FEAT_CONTIG | PGT_FEAT_BBM2, one_37);
	ok(fine, "case 39: Range silently widened to block borders: %s, protect, store, harvest", format);
}

/* ---- 38, 48: whole leaves ---------------------------------------------------- */

static void whole(uint64_t size, unsigned level, unsigned members, unsigned n)
{
	uint64_t va = size * 4, allocated;
	struct pgt_gather g;

	where("granule %u, %u of size %#" PRIx64, w.geo.g, n, size);
	want_status(pgt_map(w.t, va, size * 8, size * (n + 1), RWD, PGT_MAX_LEAF(log_of(size)), NULL),
		    PGT_OK);
	allocated = w.e.allocated;
	embed_fail(&w.e, 1, true);
	embed_log_clear(&w.e);
	want_status(pgt_gather_begin(&g, w.t), PGT_OK);
	/* Permission, and then everything that needs no break. */
	want_status(pgt_protect(w.t, va, size * n, PGT_SW0, PGT_WRITE, PGT_NO_SPLIT | PGT_NO_BREAK, &g), PGT_OK);
	want_status(pgt_gather_end(&g), PGT_OK);
	want_u64(g.tally.changed, n * members);
	want_u64(g.tally.blocks_split + g.tally.tables_allocated, 0);
	want(!w.arm64 || (g.tally.invalidates == 1 && g.tally.invalidated_bytes == size * n));
	want_u64(query(w.t, va).level, level);
	want_u64(query(w.t, va).run_bytes, size);
	want_u64(query(w.t, va + size * n - 1).attr, PGT_READ | PGT_YOUNG | PGT_DIRTY | PGT_SW0);
	want_u64(query(w.t, va + size * n).attr, RWD);
	want_u64(query(w.t, va + size * n).run_bytes, size);
	/* Once more: what complies already is left alone. */
	embed_snapshot(&w.e, &before);
	embed_log_clear(&w.e);
	want_status(pgt_gather_begin(&g, w.t), PGT_OK);
	want_status(pgt_protect(w.t, va, size * n, PGT_SW0, PGT_WRITE, 0, &g), PGT_OK);
	/* In part too: then it isn't split either. */
	want_status(pgt_protect(w.t, va + size - BIT(w.geo.g), BIT(w.geo.g), PGT_SW0, PGT_WRITE,
				PGT_NO_SPLIT | PGT_NO_BREAK, &g), PGT_OK);
	want_status(pgt_gather_end(&g), PGT_OK);
	want_u64(g.tally.changed + g.tally.rmws + g.tally.invalidates + g.tally.syncs, 0);
	want_u64(w.e.events, 0);
	want(!embed_compare(&w.e, &before));
	embed_fail(&w.e, 0, false);
	want_u64(w.e.allocated, allocated);
	sound(&w);
	want_status(pgt_unmap(w.t, va, size * (n + 1), 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
}

static void case_38_48(const char *format, unsigned number)
{
	begin();
	if (number == 48) {
		struct pgt_gather g;

		if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			return;
		want_status(pgt_map(w.t, w.l2, 32 * w.l2, 3 * w.l2, RW, 0, NULL), PGT_OK);
		want_status(pgt_gather_begin(&g, w.t), PGT_OK);
		want_status(pgt_protect(w.t, w.l2, 3 * w.l2, 0, PGT_WRITE, 0, &g), PGT_OK);
		want_u64(g.tally.changed, 3);
		want_u64(w.e.live, 3);
		want_status(pgt_gather_end(&g), PGT_OK);
		world_close(&w);
	}
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		for (unsigned l = w.geo.top_block; l <= 3; l++) {
			whole(geo_span(&w.geo, l), l, 1, number == 38 ? 1 : 3);
			if (!w.geo.run_log[l] || BIT(geo_run_bits(&w.geo, l)) > BIT(40))
				continue;
			/* The plain way breaks a run to change it: there it can't say NO_BREAK. */
			if (w.arm64)
				whole(BIT(geo_run_bits(&w.geo, l)), l, 1u << w.geo.run_log[l], number == 38 ? 1 : 3);
		}
		world_close(&w);
	}
	if (number == 38)
		ok(fine, "case 38: Request exactly as large as one entry goes one level too deep: %s, protect", format);
	else
		ok(fine, "case 48: Whole-block protect demotes the block: %s, leaves and runs of every level", format);
}

/* ---- 46: one member of a run -------------------------------------------------- */

static uint64_t run_va, run_len;
static unsigned run_level, run_told;
static bool run_broken;

/* When the TLB is first told of the run, none of its members is valid. */
static void watch_run(struct embed *e, const struct embed_event *ev)
{
	uint64_t span = geo_span(&w.geo, run_level);

	(void)e;
	if (ev->kind != EMBED_INVALIDATE || ev->range.va > run_va ||
	    ev->range.va + (ev->range.len - 1) < run_va + (run_len - 1) || run_told++)
		return;
	for (uint64_t at = 0; at < run_len; at += span) {
		uint64_t raw = raw_entry(&w, run_va + at, run_level);

		run_broken &= !raw_is_valid(&w, raw, run_level);
	}
}

static void member(unsigned level, uint64_t n, uint64_t i, unsigned op)
{
	uint64_t span = geo_span(&w.geo, level), run = span * n, va = run * 3, changed = 0;
	struct pgt_stat s;

	where("granule %u, level %u, member %u, op %u", w.geo.g, level, (unsigned)i, op);
	want_status(pgt_map(w.t, va, run * 5, run, RWD, 0, NULL), PGT_OK);
	want_u64(query(w.t, va).run_bytes, run);
	embed_snapshot(&w.e, &before);
	run_va = va;
	run_len = run;
	run_level = level;
	run_told = 0;
	run_broken = true;
	if (op == 0) {
		want_status(pgt_protect(w.t, va + i * span, span, 0, PGT_WRITE, PGT_NO_SPLIT, NULL), PGT_EBLOCK);
		want_status(pgt_protect(w.t, va + i * span, span, 0, PGT_WRITE, PGT_NO_BREAK, NULL), PGT_EBREAK);
		want(!embed_compare(&w.e, &before));
		w.e.hook = watch_run;
		want_status(pgt_protect(w.t, va + i * span, span, 0, PGT_WRITE, 0, NULL), PGT_OK);
		changed = PGT_READ | PGT_YOUNG | PGT_DIRTY;
	} else if (op == 1) {
		want_status(pgt_harvest(w.t, va + i * span, span, PGT_DIRTY, PGT_NO_BREAK, NULL, NULL), PGT_EBREAK);
		want(!embed_compare(&w.e, &before));
		w.e.hook = watch_run;
		want_status(pgt_harvest(w.t, va + i * span, span, PGT_DIRTY, 0, NULL, NULL), PGT_OK);
		changed = RW | PGT_YOUNG;
	} else {
		want_status(pgt_store(w.t, va + i * span, span, 9, PGT_REPLACE | PGT_NO_SPLIT, NULL), PGT_EBLOCK);
		want_status(pgt_store(w.t, va + i * span, span, 9, PGT_REPLACE | PGT_NO_BREAK, NULL), PGT_EBREAK);
		want(!embed_compare(&w.e, &before));
		w.e.hook = watch_run;
		want_status(pgt_store(w.t, va + i * span, span, 9, PGT_REPLACE, NULL), PGT_OK);
	}
	w.e.hook = NULL;
	want(run_told && run_broken);
	want_status(pgt_stat(w.t, va, run, &s), PGT_OK);
	want_u64(s.runs[level + 1], 0);
	want_u64(s.leaves[level + 1], changed ? n : n - 1);
	want_u64(s.tokens, changed ? 0 : 1);
	for (uint64_t k = 0; k < n; k++) {
		struct pgt_mapping m = query(w.t, va + k * span);

		if (k == i && !changed) {
			want_u64(m.state, PGT_TOKEN);
			continue;
		}
		want_u64(m.entry & raw_contig(&w), 0);
		want_u64(m.attr, k == i ? changed : RWD);
		want_u64(m.pa, run * 5 + k * span);
	}
	want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
	want_status(pgt_unmap(w.t, va, run, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
}

static void case_46(const char *format)
{
	begin();
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG | TRACK, EMBED_ALL))
			continue;
		for (unsigned l = w.geo.top_block; l <= 3; l++) {
			uint64_t n = BIT(w.geo.run_log[l]);

			if (n == 1 || BIT(geo_run_bits(&w.geo, l)) > w.bytes / 16)
				continue;
			for (uint64_t i = 0; i < n; i += i + 2 < n ? (n > 32 ? 21 : 5) : 1)
				for (unsigned op = 0; op < 3; op++)
					member(l, n, i, op);
		}
		world_close(&w);
	}
	ok(fine, "case 46: Changing one member of a hinted group: %s, protect, harvest, store, every run", format);
}

/* ---- 47: out of memory ------------------------------------------------------- */

static struct pgt *copy_to;

static int try_47(unsigned op, uint64_t va, uint64_t page, uint64_t size)
{
	switch (op) {
	case 0:
		return pgt_protect(w.t, va + page, page, 0, PGT_WRITE, 0, NULL);
	case 1:
		return pgt_protect(w.t, va + page, 2 * size, 0, PGT_WRITE, 0, NULL);
	case 2:
		return pgt_harvest(w.t, va + size / 2, 2 * size, PGT_DIRTY, 0, NULL, NULL);
	case 3:
		return pgt_split(w.t, va + page, size, w.geo.g, 0, NULL);
	case 4:
		return pgt_store(w.t, va + page, 2 * size, 1, PGT_REPLACE, NULL);
	case 5:
		return pgt_copy(copy_to, w.t, va + page, 2 * size, PGT_COW, NULL);
	default:
		return pgt_store(w.t, va + size * 8, page, 0, 0, NULL);
	}
}

static void case_47(const char *format)
{
	begin();
	if (world_open(&w, format, 12, 48, 0, EMBED_ALL)) {
		want_status(pgt_map(w.t, w.l1, 2 * w.l1, w.l2, RW, 0, NULL), PGT_OK);
		embed_snapshot(&w.e, &before);
		embed_fail(&w.e, 1, false);
		want_status(pgt_protect(w.t, w.l1 + w.page, w.page, 0, PGT_WRITE, 0, NULL), PGT_ENOMEM);
		want(!embed_compare(&w.e, &before));
		world_close(&w);
	}
	for_granules(format, granule) {
		uint64_t page = BIT(granule);

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG | TRACK, EMBED_ALL))
			continue;
		want_status(pgt_create(&w.c, &copy_to), PGT_OK);
		for (unsigned bits = granule + 1; bits < 43; bits++) {
			uint64_t size = BIT(bits), va = size * 4;

			if (!(pgt_leaf_sizes(w.t) & size) || size > w.bytes / 16)
				continue;
			for (unsigned op = 0; op < 7; op++) {
				uint64_t k = 0, digest;
				int status = PGT_ENOMEM;

				if (op == 3 && size / page > BIT(14))
					continue;
				want_status(pgt_map(w.t, va, size, size * 3, RWD, 0, NULL), PGT_OK);
				digest = embed_digest(w.t);
				while (status == PGT_ENOMEM && ++k < 100) {
					where("granule %u, leaf 2^%u, op %u, k %u", granule, bits, op,
					      (unsigned)k);
					embed_snapshot(&w.e, &before);
					embed_fail(&w.e, k, k & 1);
					status = try_47(op, va, page, size);
					if (status != PGT_ENOMEM)
						break;
					want(!embed_compare(&w.e, &before));
					want_u64(embed_digest(w.t), digest);
				}
				embed_fail(&w.e, 0, false);
				want_status(status, PGT_OK);
				want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
				want_status(pgt_unmap(w.t, 0, size * 16, 0, NULL), PGT_OK);
				want_status(pgt_unmap(copy_to, 0, size * 16, 0, NULL), PGT_OK);
				want_u64(w.e.live, 2);
			}
		}
		pgt_destroy(copy_to);
		world_close(&w);
	}
	ok(fine, "case 47: Split fails for lack of memory and leaves a wrong mapping: %s, protect, harvest, split, "
	   "store and copy, every allocation failing", format);
}

/* ---- 51 ------------------------------------------------------------------------ */

static bool may(uint64_t va, uint64_t access)
{
	struct pgt_translation tr;

	return pgt_translate(w.t, va, access, &tr) == PGT_OK;
}

static void case_51(const char *format)
{
	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), block, va, n, other;

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG, EMBED_ALL))
			continue;
		for (unsigned l = w.geo.top_block; l < 3; l++) {
			block = geo_span(&w.geo, l);
			va = block * 2;
			n = block / page < 64 ? block / page : 64;
			other = n > 5 ? 5 : 1;
			want_status(pgt_map(w.t, va, 0, block, RW | PGT_EXEC | PGT_USER, 0, NULL), PGT_OK);
			want_status(pgt_protect(w.t, va, block, 0, PGT_WRITE | PGT_EXEC | PGT_USER, 0, NULL), PGT_OK);
			want_status(pgt_protect(w.t, va + page * other, page, PGT_WRITE | PGT_EXEC, 0, 0, NULL), PGT_OK);
			/* sound() refuses any other bit in a table entry. */
			sound(&w);
			for (uint64_t i = 0; i < n; i++) {
				where("granule %u, level %u, page %u", granule, l, (unsigned)i);
				want(may(va + i * page, PGT_READ));
				want(may(va + i * page, PGT_WRITE) == (i == other));
				want(may(va + i * page, PGT_EXEC) == (i == other));
				want(!may(va + i * page, PGT_READ | PGT_USER));
			}
			want_status(pgt_protect(w.t, va, block, PGT_USER, PGT_WRITE | PGT_EXEC, 0, NULL), PGT_OK);
			want(may(va + page * other, PGT_READ | PGT_USER) && !may(va + page * other, PGT_WRITE));
			want_status(pgt_unmap(w.t, va, block, 0, NULL), PGT_OK);
		}
		world_close(&w);
	}
	ok(fine, "case 51: Restrictive bits left in a parent entry: %s, protect inside a block", format);
}

/* ---- 53: collapse --------------------------------------------------------------- */

enum flaw { FLAW_WRITE, FLAW_MEM, FLAW_SOFTWARE, FLAW_EXEC, FLAW_GLOBAL, FLAW_NOACCESS, FLAW_HOLE, FLAW_PA, FLAW_TOKEN,
	    FLAWS };

static void spoil(enum flaw flaw, uint64_t va, uint64_t pa, uint64_t len)
{
	static const uint64_t set[] = { 0, PGT_MEM_NOCACHE, PGT_SW2, PGT_EXEC, PGT_GLOBAL, PGT_NOACCESS };
	static const uint64_t clear[] = { PGT_WRITE, PGT_MEM_MASK, 0, 0, 0, 0 };
	int status;

	if (flaw == FLAW_HOLE)
		status = pgt_unmap(w.t, va, len, 0, NULL);
	else if (flaw == FLAW_PA)
		status = pgt_map(w.t, va, pa + len, len, RW, PGT_REPLACE | PGT_MAX_LEAF(log_of(len)),
				 NULL);
	else if (flaw == FLAW_TOKEN)
		status = pgt_store(w.t, va, len, 1, PGT_REPLACE, NULL);
	else
		status = pgt_protect(w.t, va, len, set[flaw], clear[flaw], 0, NULL);
	want_status(status, PGT_OK);
}

/* n children of 2^small, to be one of 2^large: with a flaw in one of them, not. */
static void one_53(unsigned large, unsigned small, unsigned level)
{
	uint64_t size = BIT(large), child = BIT(small), n = size / child, va = size * 4, pa = size * 6;
	const uint64_t places[] = { 0, n / 2 - 1, n - 1 };

	for (unsigned flaw = 0; flaw < FLAWS; flaw++)
		for (unsigned i = 0; i < 3; i++) {
			where("granule %u, 2^%u of 2^%u, flaw %u at %u", w.geo.g, large, small, flaw,
			      (unsigned)places[i]);
			want_status(pgt_map(w.t, va, pa, size, RW, PGT_MAX_LEAF(small), NULL), PGT_OK);
			spoil(flaw, va + places[i] * child, pa + places[i] * child, child);
			embed_snapshot(&w.e, &before);
			embed_log_clear(&w.e);
			want_status(pgt_collapse(w.t, va, size, large, 0, NULL), PGT_OK);
			want_u64(w.e.events, 0);
			want(!embed_compare(&w.e, &before));
			want_status(pgt_unmap(w.t, va, size, 0, NULL), PGT_OK);
		}
	/* Without one it is made, and its state is that of all. */
	where("granule %u, 2^%u of 2^%u, made", w.geo.g, large, small);
	want_status(pgt_map(w.t, va, pa, size, RW, PGT_MAX_LEAF(small), NULL), PGT_OK);
	want_status(pgt_fault(w.t, va + size - 1, PGT_WRITE, NULL), PGT_OK);
	embed_fail(&w.e, 1, true);
	want_status(pgt_collapse(w.t, va, size, large, PGT_NO_BREAK, NULL), PGT_EBREAK);
	want_status(pgt_collapse(w.t, va, size, large, 0, NULL), PGT_OK);
	embed_fail(&w.e, 0, false);
	want_u64(query(w.t, va).run_bytes, size);
	want_u64(query(w.t, va).level, level);
	want_u64(query(w.t, va).attr, RWD);
	want_u64(query(w.t, va).pa, pa);
	want_u64(reads(w.t, va + size - 1), pa + size - 1);
	want_u64(w.e.live, 1 + level - w.geo.start);
	sound(&w);
	/* PA or range not aligned to the size: not made. */
	want_status(pgt_unmap(w.t, va, size, 0, NULL), PGT_OK);
	want_status(pgt_map(w.t, va, pa + child, size, RW, PGT_MAX_LEAF(small), NULL), PGT_OK);
	embed_snapshot(&w.e, &before);
	want_status(pgt_collapse(w.t, va, size, large, 0, NULL), PGT_OK);
	want(!embed_compare(&w.e, &before));
	want_status(pgt_map(w.t, va, pa, size, RW, PGT_REPLACE | PGT_MAX_LEAF(small), NULL), PGT_OK);
	embed_snapshot(&w.e, &before);
	want_status(pgt_collapse(w.t, va + child, size - child, large, 0, NULL), PGT_OK);
	want_status(pgt_collapse(w.t, va, size - child, large, 0, NULL), PGT_OK);
	want(!embed_compare(&w.e, &before));
	want_status(pgt_unmap(w.t, va, size, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
}

static void case_53(const char *format)
{
	begin();
	if (world_open(&w, format, 12, 48, TRACK, EMBED_ALL)) {
		want_status(pgt_map(w.t, w.l1, 2 * w.l1, w.l2, RW, PGT_MAX_LEAF(w.geo.g), NULL), PGT_OK);
		want_status(pgt_protect(w.t, w.l1 + w.l2 / 2, w.l2 / 2, 0, PGT_WRITE, 0, NULL), PGT_OK);
		embed_snapshot(&w.e, &before);
		want_status(pgt_collapse(w.t, w.l1, w.l2, geo_bits(&w.geo, 2), 0, NULL), PGT_OK);
		want(!embed_compare(&w.e, &before));
		world_close(&w);
	}
	for_granules(format, granule) {
		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG | TRACK, EMBED_ALL))
			continue;
		for (unsigned l = w.geo.top_block; l <= 3; l++) {
			if (geo_run_bits(&w.geo, l) < 40)
				one_53(geo_run_bits(&w.geo, l), geo_bits(&w.geo, l), l);
			if (l < 3)
				one_53(geo_bits(&w.geo, l), geo_bits(&w.geo, l + 1), l);
			/* A run of blocks out of the leaves of many tables. */
			if (l < 3 && w.geo.run_log[l] && geo_run_bits(&w.geo, l) < 36 &&
			    geo_run_bits(&w.geo, l) - geo_bits(&w.geo, l + 1) <= 16)
				one_53(geo_run_bits(&w.geo, l), geo_bits(&w.geo, l + 1), l);
		}
		world_close(&w);
	}
	ok(fine, "case 53: Merge over differing permissions: %s, one flaw in each place, blocks and runs", format);
}

/* ---- 55 ------------------------------------------------------------------------- */

static void random_55(const char *format, unsigned g, struct embed_rng *r)
{
	static bool gone[8192 * 2];
	uint64_t page = BIT(g), size, va, n, left;

	if (!world_open(&w, format, g, 48, PGT_FEAT_CONTIG, EMBED_ALL))
		return;
	size = geo_span(&w.geo, 2) * 2;
	va = size * 3;
	n = left = size / page;
	memset(gone, 0, sizeof(gone));
	want_status(pgt_map(w.t, va, 0, size, RW, 0, NULL), PGT_OK);
	for (unsigned i = 0; i < 80; i++) {
		uint64_t first = embed_below(r, n), count = 1 + embed_below(r, embed_once_in(r, 6) ? n / 4 : 9);
		unsigned op = (unsigned)embed_below(r, 3), bits = g;
		struct pgt_stat s;

		count = count > n - first ? n - first : count;
		if (embed_once_in(r, 2))
			bits = geo_run_bits(&w.geo, 3);
		where("granule %u, op %u, %u at %u", g, op, (unsigned)count, (unsigned)first);
		if (op == 0) {
			want_status(pgt_unmap(w.t, va + first * page, count * page, 0, NULL), PGT_OK);
			for (uint64_t k = first; k < first + count; k++) {
				left -= !gone[k];
				gone[k] = true;
			}
		} else if (op == 1) {
			want_status(pgt_split(w.t, va + first * page, count * page, bits, 0, NULL), PGT_OK);
		} else {
			want_status(pgt_collapse(w.t, va, size, bits == g ? geo_bits(&w.geo, 2) : bits, 0, NULL), PGT_OK);
		}
		want_status(pgt_stat(w.t, va, size, &s), PGT_OK);
		want_u64(s.mapped_bytes, left * page);
		/* Tables live exactly where something is mapped. */
		want_u64(w.e.live, s.tables[0] + s.tables[1] + s.tables[2] + s.tables[3] + s.tables[4]);
	}
	for (uint64_t k = 0; k < n; k++)
		if (!want_u64(reads(w.t, va + k * page), gone[k] ? NOWHERE : k * page))
			break;
	sound(&w);
	want_status(pgt_unmap(w.t, va, size, 0, NULL), PGT_OK);
	want_u64(w.e.live, 1);
	world_close(&w);
}

static void case_55(const char *format)
{
	struct embed_rng r;

	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), block, still; /* the page that stays */

		if (!world_open(&w, format, granule, 48, 0, EMBED_ALL))
			continue;
		where("granule %u", granule);
		block = geo_span(&w.geo, 2);
		still = BIT(w.geo.b) > 500 ? 500 : 2;
		want_status(pgt_map(w.t, block, 0, block, RW, 0, NULL), PGT_OK);
		want_status(pgt_split(w.t, block, block, granule, 0, NULL), PGT_OK);
		want_status(pgt_unmap(w.t, block, still * page, 0, NULL), PGT_OK);
		want_status(pgt_unmap(w.t, block + (still + 1) * page, block - (still + 1) * page, 0, NULL), PGT_OK);
		want_u64(reads(w.t, block + still * page), still * page);
		sound(&w);
		want_status(pgt_unmap(w.t, block, block, 0, NULL), PGT_OK);
		want(is_empty(w.t, block + still * page));
		want_u64(w.e.live, 1);
		world_close(&w);
	}
	embed_seed(&r, 55);
	for_granules(format, granule)
		for (unsigned round = 0; round < 3; round++)
			random_55(format, granule, &r);
	ok(fine, "case 55: Counter not raised on split makes a later full unmap stop early: %s, split, unmap, collapse",
	   format);
}

/* ---- 81, 82: attributes ----------------------------------------------------------- */

static const uint64_t everything = PGT_READ | PGT_WRITE | PGT_EXEC | PGT_UEXEC | PGT_USER | PGT_GLOBAL |
				   PGT_NOACCESS | PGT_GUARDED | PGT_SW0 | PGT_SW1 | PGT_SW2 | PGT_MEM_MASK |
				   PGT_SH_MASK;

/* The i-th combination of all attributes but state. */
static uint64_t combination(unsigned i)
{
	static const uint64_t bits[] = { PGT_READ, PGT_WRITE, PGT_EXEC, PGT_UEXEC, PGT_USER, PGT_GLOBAL,
					 PGT_NOACCESS, PGT_GUARDED, PGT_SW0, PGT_SW2 };
	uint64_t attr = (i / 1024 % 5) * PGT_MEM_NOCACHE | (i / 5120) * PGT_SH_OUTER;

	for (unsigned k = 0; k < 10; k++)
		attr |= i >> k & 1 ? bits[k] : 0;
	return attr;
}

#define COMBINATIONS (1024 * 5 * 3)

/* What map refuses, protect refuses the same way. */
static void one_81(uint64_t from, uint64_t to, bool one)
{
	int status = pgt_map(w.t, 0, 0, w.page, to, PGT_REPLACE, NULL);

	where("from %#" PRIx64 " to %#" PRIx64, from, to);
	want_status(pgt_map(w.t, 0, 0, w.page, from, PGT_REPLACE, NULL), PGT_OK);
	if (one)
		want_status(pgt_protect(w.t, 0, w.page, to & ~from, from & ~to, 0, NULL), status);
	else
		want_status(pgt_protect(w.t, 0, w.page, to, everything, 0, NULL), status);
	want_u64(query(w.t, 0).attr, status == PGT_OK ? to : from);
}

static void case_81(const char *format)
{
	static uint64_t accepted[COMBINATIONS];
	unsigned n = 0;
	struct embed_rng r;
	struct pgt_gather g;

	begin();
	embed_seed(&r, 81);
	if (!world_open(&w, format, 12, 48, TRACK, EMBED_ALL))
		return;
	for (unsigned i = 0; i < COMBINATIONS; i++) {
		uint64_t attr = combination(i);

		where("attr %#" PRIx64, attr);
		if (pgt_map(w.t, w.page, w.page, w.page, attr, PGT_REPLACE, NULL) != PGT_OK)
			continue;
		accepted[n++] = attr;
		want_u64(query(w.t, w.page).attr, attr);
		embed_log_clear(&w.e);
		want_status(pgt_gather_begin(&g, w.t), PGT_OK);
		want_status(pgt_protect(w.t, w.page, w.page, attr, everything, PGT_NO_BREAK, &g), PGT_OK);
		want_status(pgt_gather_end(&g), PGT_OK);
		want_u64(g.tally.changed + w.e.events, 0);
		want_u64(query(w.t, w.page).attr, attr);
	}
	/* From each, one attribute changed; and to any other. */
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < 13; k++)
			if (everything >> k & 1)
				one_81(accepted[i], accepted[i] ^ BIT(k), true);
	for (unsigned i = 0; i < 30000; i++)
		one_81(accepted[embed_below(&r, n)], combination((unsigned)embed_below(&r, COMBINATIONS)), false);
	sound(&w);
	world_close(&w);
	ok(fine, "case 81: Attribute decode is not the inverse of encode: %s, protect to what query says, and from any "
	   "of %u sets to any other", format, n);
}

static void case_82(const char *format)
{
	static const uint64_t types[] = { PGT_MEM_DEVICE, PGT_MEM_DEVICE_STRICT };
	uint64_t sizes[4];

	begin();
	if (!world_open(&w, format, 12, 48, PGT_FEAT_CONTIG, EMBED_ALL))
		return;
	sizes[0] = w.page;
	sizes[1] = BIT(geo_run_bits(&w.geo, 3));
	sizes[2] = w.l2;
	sizes[3] = w.l1;
	for (unsigned i = 0; i < 8; i++) {
		uint64_t type = types[i / 4], size = sizes[i % 4], va = 4 * w.l1;

		where("type %u, size %#" PRIx64, i / 4, size);
		want_status(pgt_map(w.t, va, 8 * w.l1, size, RW | type, 0, NULL), PGT_OK);
		/* What isn't mentioned stays: never executable. */
		want_status(pgt_protect(w.t, va, size, PGT_READ, PGT_WRITE, 0, NULL), PGT_OK);
		want_status(pgt_protect(w.t, va, size, RW, RW, 0, NULL), PGT_OK);
		want_status(pgt_protect(w.t, va, size, PGT_USER, 0, 0, NULL), PGT_OK);
		want_status(pgt_protect(w.t, va, size, PGT_NOACCESS, 0, 0, NULL), PGT_OK);
		want_status(pgt_protect(w.t, va, size, 0, PGT_NOACCESS, 0, NULL), PGT_OK);
		want_u64(query(w.t, va).attr, RWD | PGT_USER | type);
		want(!may(va, PGT_EXEC) && !may(va, PGT_EXEC | PGT_USER));
		/* Executable device memory is refused, both ways round. */
		embed_snapshot(&w.e, &before);
		want_status(pgt_protect(w.t, va, size, PGT_EXEC, 0, 0, NULL), PGT_EINVAL);
		want_status(pgt_protect(w.t, va, w.page, PGT_UEXEC, PGT_WRITE, 0, NULL), PGT_EINVAL);
		want_status(pgt_protect(w.t, va, size, PGT_EXEC, RW, 0, NULL), PGT_EINVAL);
		want(!embed_compare(&w.e, &before));
		want_status(pgt_protect(w.t, va, size, PGT_EXEC | PGT_MEM_NORMAL, PGT_MEM_MASK | PGT_USER, 0, NULL),
			    PGT_OK);
		want(may(va, PGT_EXEC));
		embed_snapshot(&w.e, &before);
		want_status(pgt_protect(w.t, va, size, type, PGT_MEM_MASK, 0, NULL), PGT_EINVAL);
		want_status(pgt_protect(w.t, va, size, type, 0, 0, NULL), PGT_EINVAL);
		want(!embed_compare(&w.e, &before));
		want_status(pgt_protect(w.t, va, size, type, PGT_MEM_MASK | PGT_EXEC, 0, NULL), PGT_OK);
		want_u64(query(w.t, va).attr, RWD | type);
		want(!may(va, PGT_EXEC));
		sound(&w);
		want_status(pgt_unmap(w.t, va, size, 0, NULL), PGT_OK);
	}
	world_close(&w);
	ok(fine, "case 82: Device memory ends up executable after an unrelated attribute change: %s, protect", format);
}

/* ---- 94 ---------------------------------------------------------------------------- */

/* [a block | tokens | pages | a large token | a block], and a change across all of it. */
static void case_94(const char *format)
{
	const uint64_t token = (UINT64_C(1) << 48) - 1, young = PGT_YOUNG | PGT_DIRTY;

	begin();
	for_granules(format, granule) {
		uint64_t page = BIT(granule), block, va, words[4] = { 0 };
		struct pgt_bitmap bitmap = { words, 0, 5, 0 };
		struct pgt_stat s;

		if (!world_open(&w, format, granule, 48, PGT_FEAT_CONTIG | TRACK, EMBED_ALL))
			continue;
		block = geo_span(&w.geo, 2);
		va = block * 4;
		bitmap.va = va;
		bitmap.unit_bits = (uint8_t)geo_bits(&w.geo, 2);
		for (unsigned cut = 0; cut < 2; cut++) {
			uint64_t first = cut ? block / 2 : 0, len = cut ? block * 4 : block * 5;

			where("granule %u, cut %u", granule, cut);
			want_status(pgt_map(w.t, va, block * 16, block, RWD, 0, NULL), PGT_OK);
			want_status(pgt_store(w.t, va + block, block, token - BIT(w.geo.b), PGT_SEQUENCE, NULL), PGT_OK);
			want_status(pgt_map(w.t, va + block * 2, 0, block, RWD, PGT_MAX_LEAF(granule), NULL),
				    PGT_OK);
			want_status(pgt_store(w.t, va + block * 2 + page, page, 0, PGT_REPLACE, NULL), PGT_OK);
			want_status(pgt_protect(w.t, va + block * 2 + 2 * page, page, PGT_NOACCESS, 0, 0, NULL), PGT_OK);
			want_status(pgt_store(w.t, va + block * 3, block, token, 0, NULL), PGT_OK);
			want_u64(query(w.t, va + block * 3).level, 2);
			want_status(pgt_map(w.t, va + block * 4, block * 16, block, RWD, 0, NULL), PGT_OK);

			want_status(pgt_protect(w.t, va + first, len, PGT_SW1, PGT_WRITE, 0, NULL), PGT_OK);
			want_status(pgt_protect(w.t, va + block, page, PGT_SW1, 0, PGT_STRICT, NULL), PGT_OK);
			want_status(pgt_protect(w.t, va + block * 3 + page, page, PGT_SW1, 0,
						PGT_NO_SPLIT | PGT_NO_BREAK, NULL), PGT_OK);
			want_status(pgt_fault(w.t, va + block + page, PGT_READ, NULL), PGT_ENOENT);
			want_status(pgt_fault(w.t, va + block * 2 + 2 * page, PGT_READ, NULL), PGT_EACCES);
			words[0] = 0;
			want_status(pgt_harvest(w.t, va, block * 5, PGT_DIRTY, PGT_PEEK, &bitmap, NULL), PGT_OK);
			want_u64(words[0], 0x15);
			want_status(pgt_split(w.t, va + block * 3, block, granule, 0, NULL), PGT_OK);
			want_status(pgt_collapse(w.t, va, block * 5, geo_bits(&w.geo, 2), 0, NULL), PGT_OK);

			want_u64(query(w.t, va).attr, cut ? RWD : PGT_READ | young | PGT_SW1);
			want_u64(query(w.t, va + first).attr, PGT_READ | young | PGT_SW1);
			want_u64(query(w.t, va).level, cut ? 3 : 2);
			want_u64(query(w.t, va + first + len - 1).attr, PGT_READ | young | PGT_SW1);
			want_u64(query(w.t, va + block * 5 - 1).attr, cut ? RWD : PGT_READ | young | PGT_SW1);
			for (uint64_t i = 0; i < BIT(w.geo.b); i++) {
				struct pgt_mapping m = query(w.t, va + block + i * page);

				want_u64(m.state, PGT_TOKEN);
				want_u64(m.token, token - BIT(w.geo.b) + i);
				want_u64(reads(w.t, va + block + i * page), NOWHERE);
			}
			want_u64(query(w.t, va + block * 2 + page).state, PGT_TOKEN);
			want_u64(query(w.t, va + block * 2 + page).token, 0);
			want_u64(query(w.t, va + block * 2 + 2 * page).attr,
				 PGT_READ | young | PGT_SW1 | PGT_NOACCESS);
			want_u64(reads(w.t, va + block * 2 + 2 * page), NOWHERE);
			want_u64(query(w.t, va + block * 3).level, 2);
			want_u64(query(w.t, va + block * 3 + page).token, token);
			want_status(pgt_stat(w.t, va, block * 5, &s), PGT_OK);
			want_u64(s.tokens, BIT(w.geo.b) + 2);
			want_status(pgt_check(w.t, no_problem, NULL), PGT_OK);
			want_u64(embed_unwritten(&w.e), 0);
			want_status(pgt_unmap(w.t, va, block * 5, 0, NULL), PGT_OK);
			want_u64(w.e.live, 1);
		}
		/* Too wide is refused, not cut off. */
		embed_snapshot(&w.e, &before);
		want_status(pgt_store(w.t, va, page, UINT64_MAX, 0, NULL), PGT_ERANGE);
		want_status(pgt_store(w.t, va, page, BIT(63), PGT_REPLACE, NULL), PGT_ERANGE);
		want(!embed_compare(&w.e, &before));
		world_close(&w);
	}
	ok(fine, "case 94: Non-resident or hidden entries overwritten by an attribute pass: %s", format);
}

int main(void)
{
	for_formats(format) {
		case_3(format);
		case_7(format);
		case_19(format);
		case_29(format);
		case_30(format);
		case_31(format);
		case_36(format);
		case_37(format);
		case_38_48(format, 38);
		case_39(format);
		case_46(format);
		case_47(format);
		case_38_48(format, 48);
		case_51(format);
		case_53(format);
		case_55(format);
		case_81(format);
		case_82(format);
		case_94(format);
	}
	embed_snapshot_free(&before);
	return tap_done();
}
