/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptors of VMSAv8-64, bit by bit (Arm ARM DDI 0487, D8.3): what both
 * stages share, then what each has alone.
 */
#ifndef PGT_ARM64_LAYOUT_H
#define PGT_ARM64_LAYOUT_H

#include <stdint.h>

#define BIT(n) (UINT64_C(1) << (n))

#define DESC_VALID       BIT(0)
#define DESC_TABLE       BIT(1)         /* table above the last level, page at it; else block */
#define DESC_TYPE        (DESC_VALID | DESC_TABLE)
#define DESC_RDONLY      BIT(7)         /* stage 1: AP[2]; with DBM: clean */
#define DESC_SH_SHIFT    8
#define DESC_SH          (UINT64_C(3) << DESC_SH_SHIFT)
#define DESC_SH_NONE     UINT64_C(0)
#define DESC_SH_OUTER    (UINT64_C(2) << DESC_SH_SHIFT)
#define DESC_SH_INNER    (UINT64_C(3) << DESC_SH_SHIFT)
#define DESC_AF          BIT(10)
#define DESC_DBM         BIT(51)        /* writable: hardware may make it so */
#define DESC_CONTIG      BIT(52)
#define DESC_DIRTY       BIT(55)        /* dirty, kept by software */
#define DESC_SW_SHIFT    56             /* SW0..SW2 */
#define DESC_SW          (UINT64_C(7) << DESC_SW_SHIFT)

/* Stage 1. */
#define DESC_INDEX_SHIFT 2              /* AttrIndx, into MAIR */
#define DESC_INDEX       (UINT64_C(7) << DESC_INDEX_SHIFT)
#define DESC_NS          BIT(5)
#define DESC_USER        BIT(6)         /* AP[1]: EL0 may access; one where there is no EL0 */
#define DESC_NG          BIT(11)        /* not global; zero where there are no ASIDs */
#define DESC_GP          BIT(50)        /* guarded page */
#define DESC_PXN         BIT(53)        /* zero where there is one privilege level, ... */
#define DESC_UXN         BIT(54)        /* ... whose XN this then is */

/* Permission bits of a stage-1 table entry, which hold for all below it. */
#define DESC_PXN_TABLE   BIT(59)
#define DESC_UXN_TABLE   BIT(60)
#define DESC_AP0_TABLE   BIT(61)        /* no unprivileged access */
#define DESC_AP1_TABLE   BIT(62)        /* read-only */
#define DESC_PERMISSIONS_TABLE (UINT64_C(15) << 59)

/* Stage 2. */
#define DESC_MEMATTR_SHIFT 2
#define DESC_MEMATTR     (UINT64_C(15) << DESC_MEMATTR_SHIFT)
#define DESC_READ        BIT(6)         /* S2AP[0] */
#define DESC_WRITE       BIT(7)         /* S2AP[1]: where stage 1 has RDONLY */
#define DESC_XN_SHIFT    53
#define DESC_XN          (UINT64_C(3) << DESC_XN_SHIFT)
#define DESC_XN_ALL      (UINT64_C(2) << DESC_XN_SHIFT) /* nobody executes; the other bit only with FEAT_XNX */

/* Where addresses stand. The bits below a table or leaf are zero. */
#define ADDRESS_48       UINT64_C(0x0000fffffffff000)
#define ADDRESS_LPA      UINT64_C(0x0000ffffffff0000) /* 64K: PA[51:48] in bits 15:12 */
#define ADDRESS_LPA2     UINT64_C(0x0003fffffffff000) /* PA[51:50] in bits 9:8, where SH was */
#define SPLIT_LPA        UINT64_C(0x000000000000f000)
#define SPLIT_LPA_SHIFT  36
#define SPLIT_LPA2       DESC_SH
#define SPLIT_LPA2_SHIFT 42

/*
 * An invalid entry is all software's: bits 63:61 tell which kind it is.  A
 * NOACCESS or broken entry keeps all its other bits where they were.
 */
#define INVALID_KIND     (UINT64_C(7) << 61)
#define INVALID_TOKEN    (UINT64_C(1) << 61)
#define INVALID_NOACCESS (UINT64_C(2) << 61)
#define INVALID_BROKEN   (UINT64_C(3) << 61)
#define TOKEN_SHIFT      2
#define TOKEN_MASK       (~INVALID_KIND & ~DESC_TYPE)

#endif
