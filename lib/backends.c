/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The backends of this build, and the formats they have. */
#include "call.h"

#define DECLARE(backend, ...) extern const struct pgt_backend pgt_##backend##_backend;
#define ADDRESS(backend, ...) &pgt_##backend##_backend,
#define NAMES(backend, ...)   __VA_ARGS__,

PGT_BACKENDS(DECLARE)

const struct pgt_backend *const pgt_backends[] = { PGT_BACKENDS(ADDRESS) NULL };

static const char *const formats[] = { PGT_BACKENDS(NAMES) NULL };

const char *const *pgt_formats(void)
{
	return formats;
}
