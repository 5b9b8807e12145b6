/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of the registers that control a walk (Arm ARM D24.2: TCR_EL1,
 * TCR_EL2, VTCR_EL2, TTBR0_EL1 and the others, SCTLR_ELx, HCR_EL2).  The names
 * without an exception level are those of the EL1 layout, which the EL2
 * registers have too while HCR_EL2.E2H is set.
 */
#ifndef PGT_ARM64_REGISTERS_H
#define PGT_ARM64_REGISTERS_H

#include "layout.h"

/* What all three TCRs have in the same place. */
#define TCR_T0SZ_SHIFT 0
#define TCR_SH0_SHIFT  12
#define TCR_TG0_SHIFT  14
#define TCR_CACHED0    (UINT64_C(1) << 8 | UINT64_C(1) << 10 | UINT64_C(3) << 12) /* IRGN, ORGN, SH */
#define TCR_SIZE       UINT64_C(63) /* of T0SZ and T1SZ, */
#define TCR_GRANULE    UINT64_C(3)  /* TG0 and TG1, */
#define TCR_SHARE      UINT64_C(3)  /* SH0 and SH1, */
#define TCR_OUTPUT     UINT64_C(7)  /* IPS and PS */

/* TCR_EL1. */
#define TCR_EPD0       BIT(7)
#define TCR_T1SZ_SHIFT 16
#define TCR_EPD1       BIT(23)
#define TCR_CACHED1    (UINT64_C(1) << 24 | UINT64_C(1) << 26 | UINT64_C(3) << 28)
#define TCR_SH1_SHIFT  28
#define TCR_TG1_SHIFT  30
#define TCR_IPS_SHIFT  32
#define TCR_TBI0       BIT(37)
#define TCR_TBI1       BIT(38)
#define TCR_HA         BIT(39)
#define TCR_HD         BIT(40)
#define TCR_HPD0       BIT(41)
#define TCR_HPD1       BIT(42)
#define TCR_TBID0      BIT(51)
#define TCR_TBID1      BIT(52)
#define TCR_E0PD0      BIT(55)
#define TCR_E0PD1      BIT(56)
#define TCR_DS         BIT(59)

/* TCR_EL2 without E2H. */
#define TCR_EL2_PS_SHIFT 16
#define TCR_EL2_TBI    BIT(20)
#define TCR_EL2_HA     BIT(21)
#define TCR_EL2_HD     BIT(22)
#define TCR_EL2_HPD    BIT(24)
#define TCR_EL2_TBID   BIT(29)
#define TCR_EL2_DS     BIT(32)
#define TCR_EL2_RES1   (BIT(23) | BIT(31))

/* VTCR_EL2. */
#define VTCR_SL0_SHIFT 6
#define VTCR_SL0       UINT64_C(3)
#define VTCR_PS_SHIFT  16
#define VTCR_HA        BIT(21)
#define VTCR_HD        BIT(22)
#define VTCR_RES1      BIT(31)
#define VTCR_DS        BIT(32)
#define VTCR_SL2       BIT(33)

/* TTBRn and VTTBR: bit 0 is CnP, 63:48 an ASID or VMID. */
#define TTBR_BADDR     UINT64_C(0x0000fffffffffffe)
#define TTBR_HIGH      UINT64_C(0x3c) /* with 52 output bits: 51:48 of the address */
#define TTBR_HIGH_UP   46

#define TCR2_UNKNOWN   UINT64_C(0x3e) /* PIE, E0POE, POE, AIE, D128: they change what descriptors mean */

#define SCTLR_M        BIT(0)
#define SCTLR_C        BIT(2)
#define SCTLR_I        BIT(12)
#define SCTLR_WXN      BIT(19)
#define SCTLR_EE       BIT(25)

#define HCR_VM         BIT(0)
#define HCR_PTW        BIT(2)
#define HCR_DC         BIT(12)
#define HCR_TGE        BIT(27)
#define HCR_RW         BIT(31)
#define HCR_CD         BIT(32)
#define HCR_ID         BIT(33)
#define HCR_E2H        BIT(34)
#define HCR_FWB        BIT(46)

#endif
