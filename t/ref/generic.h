/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walker of the generic format, written from the description in
 * <pgtable/generic.h> with constants of its own.
 */
#ifndef PGT_T_REF_GENERIC_H
#define PGT_T_REF_GENERIC_H

#include "ref.h"

void ref_generic_translate(const struct ref *r, uint64_t va, struct ref_answer *a);
enum ref_fault ref_generic_access(const struct ref *r, const struct ref_answer *a, char what,
				  bool unprivileged);
bool ref_generic_validate(const struct ref *r, unsigned tolerate, struct ref_report *report);
unsigned ref_generic_run_entries(int level);
bool ref_generic_leaf_level(int level);

#endif
