/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* A change of attributes, as each leaf of a range undergoes it. */
#ifndef PGT_MODIFY_H
#define PGT_MODIFY_H

#include "pgt.h"

#define ATTR_KNOWN                                                                             \
	(PGT_READ | PGT_WRITE | PGT_EXEC | PGT_UEXEC | PGT_USER | PGT_GLOBAL | PGT_NOACCESS |  \
	 PGT_GUARDED | PGT_YOUNG | PGT_DIRTY | PGT_SW0 | PGT_SW1 | PGT_SW2 | PGT_MEM_MASK |    \
	 PGT_SH_MASK)

/* Whether attributes make sense in any format. */
static inline bool attr_is_sound(uint64_t attr)
{
	uint64_t type = attr & PGT_MEM_MASK;

	if ((attr & ~ATTR_KNOWN) || type > PGT_MEM_DEVICE_STRICT || (attr & PGT_SH_MASK) > PGT_SH_NONE)
		return false;
	return type < PGT_MEM_DEVICE || !(attr & (PGT_EXEC | PGT_UEXEC));
}

struct modify {
	uint64_t set, clear; /* attributes: cleared first, then set */
	uint64_t keep, put;  /* the backend's: bits of an entry kept, and then set, ... */
	uint64_t save;       /* ... and those that say what else is lost with a bit */
	bool simple;         /* the backend's: few leaves can be refused */
	bool entangled;      /* the backend's: an attribute depends on others, so keep and put don't do */
};

/* Attributes that no format forbids a leaf to gain or to lose. */
#define MODIFY_HARMLESS (PGT_SW0 | PGT_SW1 | PGT_SW2 | PGT_YOUNG | PGT_DIRTY | PGT_NOACCESS)

/* What a change of a leaf means to TLBs, the weakest first. */
enum tlb_effect {
	TLB_NONE,    /* nothing that a TLB holds */
	TLB_RELAXED, /* a translation held allows less than it may */
	TLB_CHANGED, /* it must go */
	TLB_BREAK,   /* ... before the new one is made */
};

/* What a batch of leaves had in common and what it lost. */
struct batch_change {
	uint64_t differ; /* the bits in which any of them changed */
	bool global;     /* any of them is or was global */
	bool one_state;  /* all are now young and dirty alike */
	uint64_t rmws;
};

#endif
