/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The arm64 backend: stage 1, and the formats of both stages, of which
 * pgt_arm64_configure() leaves stage 2 to stage2.c. */
#include "arm64.h"
#include "stage1.h"
#include "access.h"
#include "change.h"
#include "entry.h"
#include "problem.h"
#include "../generic/hooks.h"

#define arch_configure pgt_arm64_configure
#define BACKEND pgt_arm64_backend
#define FORMATS "arm64", "arm64-el2", "arm64-s2"
#include "../../lib/operations.h"
