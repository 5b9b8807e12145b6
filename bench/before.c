/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every measurement is against: the arm64 format with the generic hooks,
 * as a backend of its own, so that both are in one process.
 */
#define PGT_PLAIN_HOOKS
#include "../arch/arm64/arm64.h"
#include "../arch/arm64/stage1.h"
#include "../arch/arm64/access.h"
#include "../arch/arm64/change.h"
#include "../arch/arm64/entry.h"
#include "../arch/arm64/problem.h"
#include "../arch/generic/hooks.h"

#define arch_configure pgt_arm64_configure
#define BACKEND pgt_before_backend
#define FORMATS "arm64-before"
#include "../lib/operations.h"
