/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Inherited hooks: changing blocks. */
#ifndef PGT_GENERIC_BLOCK_H
#define PGT_GENERIC_BLOCK_H

#ifndef arch_blocks_in_place
/*
 * Whether a block's permissions can change without invalidating it in between.
 * The plain way: invalidate the block, tell the TLBs at once, write, and tell
 * them again at the end.
 */
PGT_INLINE bool arch_blocks_in_place(void)
{
	return false;
}
#endif

#endif
