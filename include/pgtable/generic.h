/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry of the "generic" format, bit by bit.  It is stable: a simulator
 * may implement a walker of its own from this page (examples/ has one).
 *
 * Entries are 64 bits, little-endian; a table is one granule of them, indexed
 * by granule_bits - 3 bits of the address a level; the root holds what is left
 * at the top.  A table's levels end at 3, the pages; leaves stand at levels 1
 * to 3.
 *
 *   63     NOACCESS    62  broken    61  contiguous
 *   60:58  software bits 2:0
 *   57:56  shareability: 0 inner, 1 outer, 2 none
 *   55:52  memory type: 0 write-back, 1 non-cacheable, 2 write-through,
 *          3 device, 4 strict device
 *   51:12  the output address, bits 51:12, of the memory or of the next table
 *   11     reserved, zero
 *   10     dirty      9  young       8  guarded     7  global     6  user
 *    5     unprivileged execution    4  execution   3  write      2  read
 *    1:0   0 empty (all of the entry is zero), 1 leaf, 2 table, 3 token
 *
 * Table: only 62, 51:12 and 1:0 are used, the rest is zero.
 * Token: bits 63:2 are the embedder's.
 * 'Broken' says that a change is on its way: a walker treats such a leaf or
 * table, and a NOACCESS leaf, as a translation fault.
 * An access needs 'user' if it is unprivileged, and its own bit: read, write,
 * execution or unprivileged execution.  An unprivileged fetch needs no 'user'
 * and no 'read'.  A walker that keeps young and dirty state sets young at every
 * access and dirty at every write, by compare-and-swap; one that doesn't faults
 * where they are clear.  Faults in this order: translation, access flag (not
 * young), permission (a write to a clean leaf is one).
 * Contiguous: 16 entries, naturally aligned, that differ only in young and
 * dirty and map 16 consecutive leaves from an aligned address; a walker may
 * ignore it.
 */
#ifndef PGTABLE_GENERIC_H
#define PGTABLE_GENERIC_H

#include <pgtable/pgtable.h>

#define PGT_GENERIC_TYPE     UINT64_C(3)
#define PGT_GENERIC_EMPTY    UINT64_C(0)
#define PGT_GENERIC_LEAF     UINT64_C(1)
#define PGT_GENERIC_TABLE    UINT64_C(2)
#define PGT_GENERIC_TOKEN    UINT64_C(3)

#define PGT_GENERIC_READ     (UINT64_C(1) << 2)
#define PGT_GENERIC_WRITE    (UINT64_C(1) << 3)
#define PGT_GENERIC_EXEC     (UINT64_C(1) << 4)
#define PGT_GENERIC_UEXEC    (UINT64_C(1) << 5)
#define PGT_GENERIC_USER     (UINT64_C(1) << 6)
#define PGT_GENERIC_GLOBAL   (UINT64_C(1) << 7)
#define PGT_GENERIC_GUARDED  (UINT64_C(1) << 8)
#define PGT_GENERIC_YOUNG    (UINT64_C(1) << 9)
#define PGT_GENERIC_DIRTY    (UINT64_C(1) << 10)
#define PGT_GENERIC_ADDRESS  UINT64_C(0x000ffffffffff000)
#define PGT_GENERIC_MEM_SHIFT 52
#define PGT_GENERIC_MEM      (UINT64_C(15) << 52)
#define PGT_GENERIC_SH_SHIFT 56
#define PGT_GENERIC_SH       (UINT64_C(3) << 56)
#define PGT_GENERIC_SW_SHIFT 58
#define PGT_GENERIC_SW       (UINT64_C(7) << 58)
#define PGT_GENERIC_CONTIG   (UINT64_C(1) << 61)
#define PGT_GENERIC_BROKEN   (UINT64_C(1) << 62)
#define PGT_GENERIC_NOACCESS (UINT64_C(1) << 63)

#endif
