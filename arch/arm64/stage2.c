/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The arm64 backend once more, for stage 2. */
#include "arm64.h"
#include "stage2.h"
#include "access.h"
#include "change.h"
#include "entry.h"
#include "problem.h"
#include "../generic/hooks.h"

#define arch_configure pgt_arm64_configure
#define BACKEND pgt_arm64_s2_backend
#define FORMATS "arm64-s2"
#include "../../lib/operations.h"
