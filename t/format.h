/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests know of a format, from its description: its sizes, how an
 * entry of it is read and written, and its reference walker.  A program is
 * linked with one list of them: that of t/formats.c has the library's own,
 * that of t/tiny/format.c the tiny one.
 */
#ifndef PGT_T_FORMAT_H
#define PGT_T_FORMAT_H

#include "ref/ref.h"

/* The fields of a raw entry, each a mask. */
struct entry_bits {
	unsigned table, block, page; /* the type, bits 1:0; block: a leaf above the last level */
	uint64_t address;
	unsigned address_shift;      /* how far left of its place an address stands in it */
	uint64_t hint, young, writable;
	uint64_t dirty, clean;       /* dirty sets the one and clears the other */
	uint64_t dirty_too;          /* more that says dirty, of software's */
	uint64_t global, not_global; /* either */
	uint64_t memory, sh, user_exec, software;
	uint64_t plain;              /* what else a readable, young leaf has set */
	uint64_t reserved;           /* of a leaf: zero */
	unsigned token_shift;        /* a token is its value so far left, and 3; 0: another form */
	uint64_t broken, noaccess;   /* 0 where such an entry has another type */
};

struct format {
	const char *name;
	bool arm64;
	bool upper;                  /* it has PGT_FEAT_UPPER */
	bool defaults;               /* sizes of 0 mean 12, 48 and 48 bits */
	const unsigned *granules;    /* logarithms; ends with 0 */
	unsigned least_input, input; /* the smallest, and the usual and largest */
	unsigned least_output, output;
	struct entry_bits entry;

	void (*translate)(const struct ref *r, uint64_t va, struct ref_answer *a);
	enum ref_fault (*access)(const struct ref *r, const struct ref_answer *a, char what,
				 bool unprivileged);
	bool (*validate)(const struct ref *r, unsigned tolerate, struct ref_report *report);
	unsigned (*run_entries)(unsigned granule_bits, int level);
	bool (*leaf_level)(unsigned granule_bits, int level);
};

/* All that the program knows; ends with NULL. */
extern const struct format *const formats[];

/*
 * Tests name sizes as the library's formats have them: inputs from 25 to 48
 * bits and outputs from 32 to 48.  A format of other sizes takes them in
 * proportion.
 */
static inline unsigned format_input(const struct format *f, unsigned bits)
{
	return f->least_input + (bits - 25) * (f->input - f->least_input) / (48 - 25);
}

static inline unsigned format_output(const struct format *f, unsigned bits)
{
	return f->least_output + (bits - 32) * (f->output - f->least_output) / (48 - 32);
}

static inline unsigned format_log2(uint64_t power)
{
	unsigned n = 0;

	while (power >>= 1)
		n++;
	return n;
}

/* log2 of the entries of a table of this level. */
static inline unsigned format_index_bits(unsigned granule, unsigned input, int level)
{
	if (level == ref_start_level(granule, input))
		return input - ref_shift(granule, level);
	return granule - 3;
}

/* The sizes of leaves, and with `runs` of runs, bit n: 2^n bytes. */
static inline uint64_t format_sizes(const struct format *f, unsigned granule, unsigned input,
				    bool blocks, bool runs)
{
	uint64_t sizes = 0;

	for (int l = ref_start_level(granule, input); l <= 3; l++) {
		unsigned shift = ref_shift(granule, l), run = f->run_entries(granule, l);

		if (!f->leaf_level(granule, l) || (l < 3 && !blocks))
			continue;
		sizes |= UINT64_C(1) << shift;
		if (runs && run && run <= UINT64_C(1) << format_index_bits(granule, input, l))
			sizes |= UINT64_C(1) << (shift + format_log2(run));
	}
	return sizes;
}

static inline bool entry_is_table(const struct format *f, uint64_t raw, int level)
{
	return level < 3 && (raw & 3) == f->entry.table;
}

static inline bool entry_is_leaf(const struct format *f, uint64_t raw, int level)
{
	return (raw & 3) == (level == 3 ? f->entry.page : f->entry.block);
}

/* Whether hardware may use it. */
static inline bool entry_is_valid(const struct format *f, uint64_t raw, int level)
{
	return (entry_is_table(f, raw, level) || entry_is_leaf(f, raw, level)) &&
	       !(raw & (f->entry.broken | f->entry.noaccess));
}

static inline uint64_t entry_address(const struct format *f, uint64_t raw)
{
	return (raw & f->entry.address) >> f->entry.address_shift;
}

/* An address as it stands in an entry. */
static inline uint64_t entry_of_address(const struct format *f, uint64_t pa)
{
	return pa << f->entry.address_shift;
}

/* An entry that leads to a table. */
static inline uint64_t entry_of_table(const struct format *f, uint64_t pa)
{
	return entry_of_address(f, pa) | f->entry.table;
}

/* A readable, young leaf. */
static inline uint64_t entry_of_leaf(const struct format *f, uint64_t pa, int level)
{
	return entry_of_address(f, pa) | f->entry.plain | (level == 3 ? f->entry.page : f->entry.block);
}

/* The lowest bit of a field. */
static inline uint64_t entry_lowest(uint64_t field)
{
	return field & (0 - field);
}

/* What hardware makes of a leaf at an access. */
static inline uint64_t entry_touched(const struct format *f, uint64_t raw, bool write)
{
	raw |= f->entry.young;
	return write ? (raw | f->entry.dirty) & ~f->entry.clean : raw;
}

/* All that young and dirty occupy. */
static inline uint64_t entry_state(const struct format *f)
{
	return f->entry.young | f->entry.dirty | f->entry.clean | f->entry.dirty_too;
}

#endif
