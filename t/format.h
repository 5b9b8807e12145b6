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

#include <pgtable/pgtable.h>
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
	unsigned most_output;        /* what the format can do */
	struct entry_bits entry;

	/* The entry of a page, attributes numbered as in pgtable.h; arm64: t/attributes.c has it. */
	uint64_t (*page_entry)(uint64_t pa, uint64_t attr);

	/* arm64's formats and what tells those of one name apart. */
	enum ref_regime regime;
	bool large;                  /* 52 bits of address, by what the granule has for that */
	uint64_t features;           /* that it is always tried with */
	unsigned levels;             /* stage 2: asked for; 0: the fewest */
	const char *what;
	unsigned share;              /* of the length of random sequences: one in so many; 0: all */

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
	static const unsigned exist[] = { 52, 48, 44, 42, 40, 36, 32 };
	unsigned i = 0;

	bits = f->least_output + (bits - 32) * (f->output - f->least_output) / (48 - 32);
	while (f->arm64 && i < 6 && exist[i] > bits)
		i++;
	return f->arm64 ? exist[i] : bits;
}

/* The features that it is always tried with. */
static inline uint64_t format_features(const struct format *f, unsigned granule)
{
	if (!f->large)
		return f->features;
	if (granule != 16)
		return f->features | PGT_FEAT_LPA2;
	return f->features | PGT_FEAT_LPA | (f->regime == REF_S2 ? 0 : PGT_FEAT_LVA);
}

/* A reference walker, but for where the tables are. */
static inline struct ref format_walker(const struct format *f, unsigned granule, unsigned input,
				       unsigned output, uint64_t features)
{
	return (struct ref){
		.granule_bits = granule, .input_bits = input, .output_bits = output,
		.upper = (features & PGT_FEAT_UPPER) != 0,
		.hw_young = (features & PGT_FEAT_HW_YOUNG) != 0,
		.hw_dirty = (features & PGT_FEAT_HW_DIRTY) != 0,
		.regime = f->regime,
		.lpa = (features & PGT_FEAT_LPA) != 0, .lpa2 = (features & PGT_FEAT_LPA2) != 0,
		.small = (features & PGT_FEAT_ST) != 0, .xnx = (features & PGT_FEAT_XNX) != 0,
		.fwb = (features & PGT_FEAT_FWB) != 0, .levels = (int)f->levels,
	};
}

static inline int format_start(const struct format *f, unsigned granule, unsigned input)
{
	struct ref r = format_walker(f, granule, input, f->output, format_features(f, granule));

	return ref_start(&r);
}

static inline bool format_has_leaves(const struct format *f, unsigned granule, int level)
{
	struct ref r = format_walker(f, granule, f->input, f->output, format_features(f, granule));

	return f->arm64 ? ref_has_leaves(&r, level) : f->leaf_level(granule, level);
}

static inline unsigned format_log2(uint64_t power)
{
	unsigned n = 0;

	while (power >>= 1)
		n++;
	return n;
}

/* log2 of the entries of a table of this level. */
static inline unsigned format_index_bits(const struct format *f, unsigned granule, unsigned input,
					 int level)
{
	if (level == format_start(f, granule, input))
		return input - ref_shift(granule, level);
	return granule - 3;
}

/* The sizes of leaves, and with `runs` of runs, bit n: 2^n bytes. */
static inline uint64_t format_sizes(const struct format *f, unsigned granule, unsigned input,
				    bool blocks, bool runs)
{
	uint64_t sizes = 0;

	for (int l = format_start(f, granule, input); l <= 3; l++) {
		unsigned shift = ref_shift(granule, l), run = f->run_entries(granule, l);

		if (!format_has_leaves(f, granule, l) || (l < 3 && !blocks))
			continue;
		sizes |= UINT64_C(1) << shift;
		if (runs && run && run <= UINT64_C(1) << format_index_bits(f, granule, input, l))
			sizes |= UINT64_C(1) << (shift + format_log2(run));
	}
	return sizes;
}

/* Whether unprivileged code is told apart by PGT_USER. */
static inline bool format_has_user(const struct format *f)
{
	return f->regime != REF_S2;
}

/* Whether privileged code reads all that is mapped, and executes nothing that
 * unprivileged code may write. */
static inline bool format_reads_all(const struct format *f)
{
	return f->arm64 && f->regime != REF_S2;
}

static inline bool format_protects_el1(const struct format *f)
{
	return f->arm64 && f->regime == REF_EL1;
}

/* Attributes that no leaf has. */
static inline uint64_t format_never(const struct format *f)
{
	if (f->regime == REF_EL1)
		return 0;
	return PGT_USER | PGT_GLOBAL | (f->regime == REF_S2 ? PGT_GUARDED : PGT_UEXEC);
}

/* Map's status for a leaf with these attributes. */
static inline int format_status(const struct format *f, unsigned granule, uint64_t attr)
{
	bool el0_alone = !(attr & PGT_EXEC) != !(attr & PGT_UEXEC);

	if ((attr & PGT_MEM_MASK) >= PGT_MEM_DEVICE && (attr & (PGT_EXEC | PGT_UEXEC)))
		return PGT_EINVAL;
	if (!f->arm64)
		return PGT_OK;
	if (f->large && granule != 16 && (attr & PGT_SH_MASK))
		return PGT_ENOTSUP;
	if (f->regime == REF_S2) {
		if ((attr & (PGT_USER | PGT_GLOBAL | PGT_GUARDED)) ||
		    (el0_alone && !(f->features & PGT_FEAT_XNX)))
			return PGT_ENOTSUP;
		return f->features & PGT_FEAT_FWB && (attr & PGT_MEM_MASK) == PGT_MEM_WRITETHROUGH ?
			       PGT_ENOTSUP : PGT_OK;
	}
	if (f->regime == REF_EL2)
		return attr & (PGT_USER | PGT_UEXEC | PGT_GLOBAL) || !(attr & PGT_READ) ? PGT_ENOTSUP : PGT_OK;
	if (attr & PGT_READ)
		return (attr & PGT_UEXEC) && !(attr & PGT_USER) ? PGT_ENOTSUP : PGT_OK;
	return (attr & PGT_UEXEC) && !(attr & (PGT_WRITE | PGT_USER)) ? PGT_OK : PGT_ENOTSUP;
}

/* What "arm64" can express, turned into what this format can. */
static inline uint64_t format_attr(const struct format *f, unsigned granule, uint64_t attr)
{
	if (!f->arm64)
		return attr;
	if (f->large && granule != 16)
		attr &= ~PGT_SH_MASK;
	if (f->regime == REF_EL2)
		return (attr & ~(PGT_USER | PGT_UEXEC | PGT_GLOBAL)) | PGT_READ;
	if (f->regime == REF_EL1)
		return attr;
	if (attr & PGT_SW1)
		attr &= ~PGT_READ;
	if (attr & (PGT_EXEC | PGT_UEXEC) && !(f->features & PGT_FEAT_XNX))
		attr |= PGT_EXEC | PGT_UEXEC;
	if (f->features & PGT_FEAT_FWB && (attr & PGT_MEM_MASK) == PGT_MEM_WRITETHROUGH)
		attr &= ~PGT_MEM_MASK;
	return attr & ~(PGT_USER | PGT_GLOBAL | PGT_GUARDED);
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

/* Not for formats of split addresses. */
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
