/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The arm64 backend: VMSAv8-64. */
#include "access.h"
#include "change.h"
#include "entry.h"
#include "problem.h"
#include "../generic/hooks.h"

#define BACKEND pgt_arm64_backend
#define FORMATS "arm64"
#include "../../lib/operations.h"
