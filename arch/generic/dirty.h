/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Inherited hooks: dirty state. */
#ifndef PGT_GENERIC_DIRTY_H
#define PGT_GENERIC_DIRTY_H

#include <pgtable/pgtable.h>

#ifndef arch_write_state
/* The state that a leaf takes on when it becomes writable. The plain way: dirty. */
PGT_INLINE uint64_t arch_write_state(void)
{
	return PGT_DIRTY;
}
#endif

#endif
