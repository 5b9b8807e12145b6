/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges as text, a line each, in columns. */
#ifndef PGT_TOOL_TABLE_H
#define PGT_TOOL_TABLE_H

#include "ranges.h"

/* "TTBR1: 48 bits, 4K granule, ..." and the columns' names. */
void table_section(const struct section *s);
void table_heading(const struct section *s, const char *before);

/* One line; before: what stands in front of it. */
void table_range(const struct section *s, const struct range *range, const char *before);

/* The part that follows the addresses, for two halves of a change. */
void table_words(const struct range *range);

#endif
