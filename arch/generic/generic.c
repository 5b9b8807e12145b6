/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The generic backend: the portable format with the portable hooks. */
#include "format.h"
#include "hooks.h"

#define BACKEND pgt_generic_backend
#define FORMATS "generic"
#include "../../lib/operations.h"
