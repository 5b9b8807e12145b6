/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* A bar on standard error while something takes long. */
#ifndef PGT_TOOL_PROGRESS_H
#define PGT_TOOL_PROGRESS_H

#include <stdint.h>

/* when: "auto" (a terminal, after half a second), "always" or "never". */
void progress_choose(const char *when);
void progress_start(const char *what, uint64_t first, uint64_t last);
void progress_at(uint64_t where);
void progress_clear(void);

#endif
