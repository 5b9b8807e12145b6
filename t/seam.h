/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands behind lib/entry.h in test builds: it counts. */
#ifndef PGT_T_SEAM_H
#define PGT_T_SEAM_H

#include <stdint.h>

struct seam_counts {
	uint64_t loads, stores, exchanges, swaps;
};

extern struct seam_counts seam_counts;

#endif
