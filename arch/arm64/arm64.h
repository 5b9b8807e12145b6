/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this backend share: lib/ is compiled for stage 1 and for
 * stage 2, each with its descriptors. */
#ifndef PGT_ARM64_ARM64_H
#define PGT_ARM64_ARM64_H

#include "../../lib/call.h"

extern const struct pgt_backend pgt_arm64_backend, pgt_arm64_s2_backend;

/* configure.c */
int pgt_arm64_configure(struct pgt *t, const struct pgt_config *config);

#endif
