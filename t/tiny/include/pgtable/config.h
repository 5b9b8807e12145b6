/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The library with the tiny backend alone. */
#ifndef PGTABLE_CONFIG_H
#define PGTABLE_CONFIG_H
#define PGT_HAVE_GENERIC 0
#define PGT_HAVE_ARM64 0
#define PGT_HAVE_HOSTED 1
#define PGT_BACKENDS(X) X(tiny, "tiny")
#endif
