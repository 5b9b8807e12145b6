/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What one entry answers to an access; translate.h and walks of other kinds use it. */
#ifndef PGT_ANSWER_H
#define PGT_ANSWER_H

#include "call.h"

/* A reader beside a writer that never stops gives up being exact after so many tries. */
#define READ_TRIES 64

static inline int translate_fault(struct pgt_translation *out, int fault, int level)
{
	out->fault = fault;
	out->level = level;
	return PGT_EFAULT;
}

/* Sets what hardware sets; false where the entry has changed meanwhile. */
static inline bool translate_update(struct pgt_entry *e, uint64_t raw, uint64_t access)
{
	uint64_t touched = arch_touch(raw, access);

	return touched == raw || entry_compare_swap(e, &raw, touched);
}

/* The answer of the entry raw, which is no valid table. */
PGT_INLINE int translate_entry(const struct pgt *t, uint64_t raw, int level, uint64_t inherited,
				  uint64_t at, uint64_t access, struct pgt_translation *out)
{
	uint64_t mask = level_mask(t, level);
	int fault;

	switch (arch_kind(t, raw, level)) {
	case KIND_LEAF:
		break;
	case KIND_CORRUPT:
		return translate_fault(out, arch_corrupt_fault(t, raw, level), level);
	default:
		return translate_fault(out, PGT_FAULT_TRANSLATION, level);
	}
	out->attr = arch_effective(t, arch_attr(t, raw), inherited);
	out->leaf_bits = level_shift(t, level);
	out->run_bits = arch_run(raw) ? run_shift(t, level) : out->leaf_bits;
	out->level = level;
	fault = arch_fault(t, raw, out->attr, access);
	if (fault)
		return translate_fault(out, fault, level);
	out->pa = arch_pa(t, raw, level) | (at & mask);
	return PGT_OK;
}

PGT_INLINE bool translate_leads_on(const struct pgt *t, uint64_t raw, int level)
{
	return arch_valid(raw) && arch_kind(t, raw, level) == KIND_TABLE;
}

#endif
