/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walker of the tiny format, written from the description at the head of
 * tiny.c with constants of its own, and without anything of the library.
 */
#ifndef PGT_T_TINY_REF_H
#define PGT_T_TINY_REF_H

#include "../ref/ref.h"

void ref_tiny_translate(const struct ref *r, uint64_t va, struct ref_answer *a);
enum ref_fault ref_tiny_access(const struct ref *r, const struct ref_answer *a, char what,
			       bool unprivileged);
bool ref_tiny_validate(const struct ref *r, unsigned tolerate, struct ref_report *report);
unsigned ref_tiny_run_entries(unsigned granule_bits, int level);
bool ref_tiny_leaf_level(unsigned granule_bits, int level);

#endif
