/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The library with arm64 once more, made of the generic hooks (bench/before.c). */
#ifndef PGTABLE_CONFIG_H
#define PGTABLE_CONFIG_H
#define PGT_HAVE_GENERIC 1
#define PGT_HAVE_ARM64 1
#define PGT_HAVE_HOSTED 1
#define PGT_BACKENDS(X) X(arm64, "arm64") X(before, "arm64-before") X(generic, "generic")
#endif
