/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a raw entry, as the reference walker reads it, is what attributes promise. */
#ifndef PGT_T_PROMISE_H
#define PGT_T_PROMISE_H

#include "../format.h"
#include "model.h"

/* The number that stands for a memory type in an entry. */
static inline unsigned promise_memory(const struct ref *ref, uint64_t attr)
{
	static const unsigned memattr[] = { 15, 5, 10, 1, 0 };
	uint64_t type = (attr & PGT_MEM_MASK) / PGT_MEM_NOCACHE;

	if (ref->regime != REF_S2)
		return (unsigned)type;
	return type == 0 && ref->fwb ? 6 : memattr[type];
}

/* Young and dirty of a run are those of all its members, so of one they say nothing. */
static inline bool promise_kept(const struct ref *ref, const struct format *f, uint64_t attr,
				const struct ref_answer *a)
{
	static const unsigned arm64_sh[] = { 3, 2, 0 };
	bool user = attr & PGT_USER || !format_has_user(f), dirty = (attr & PGT_DIRTY) || ref->hw_dirty;
	bool write = (attr & PGT_WRITE) && dirty, alone = a->run_bits == a->leaf_bits;
	bool denied = format_protects_el1(f) && user && (attr & PGT_WRITE);
	bool exec = (attr & PGT_EXEC) && !denied;
	uint64_t sh = (attr & PGT_SH_MASK) / PGT_SH_OUTER;
	bool good;

	good = a->read[0] == ((attr & PGT_READ) || format_reads_all(f)) &&
	       a->read[1] == (user && (attr & PGT_READ)) &&
	       a->exec[1] == ((attr & PGT_UEXEC) != 0);
	if (alone || ref->hw_dirty)
		good &= a->write[0] == write && a->write[1] == (user && write);
	/* Without hardware updates a clean page isn't writable, so the privileged
	 * execution that EL0's write access takes away is there. */
	if (a->write[1] || !denied)
		good &= a->exec[0] == exec;
	good &= !alone || (a->young == ((attr & PGT_YOUNG) != 0) && a->dirty == ((attr & PGT_DIRTY) != 0));
	good &= a->writable == ((attr & PGT_WRITE) != 0);
	good &= a->global == ((attr & PGT_GLOBAL) != 0);
	good &= a->guarded == ((attr & PGT_GUARDED) != 0);
	good &= a->software == (attr & MODEL_SOFTWARE) / PGT_SW0;
	good &= a->memory == promise_memory(ref, attr);
	good &= a->sh == (f->arm64 ? arm64_sh[sh] : sh);
	return good;
}

#endif
