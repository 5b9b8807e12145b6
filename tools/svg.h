/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* A drawing of the address space: what is mapped in order, each range as wide
 * as the logarithm of its size, holes too but narrower, wrapped like text. */
#ifndef PGT_TOOL_SVG_H
#define PGT_TOOL_SVG_H

#include "ranges.h"

struct svg;
struct svg *svg_begin(const char *image);
void svg_section(struct svg *svg, const struct section *s);
void svg_range(struct svg *svg, const struct range *range); /* of the last section */
void svg_end(struct svg *svg); /* writes it to standard output */

#endif
