/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the guest's first process reports on its console, a line a page:
 *
 *   S BYTES - -        the size of a page, in which PFN counts; before all else
 *   P VA PFN FLAGS     its own memory; PFN is '-' where the kernel says that
 *                      nothing is there. Flags: r w x as in /proc/self/maps,
 *                      d where the process has written
 *   I IPA PFN FLAGS    a KVM guest's memory: r w as its slot allows, x where
 *                      that guest has run code, t where it or its walks have
 *                      read, d where it has written
 *   G VA IPA FLAGS     that guest's own mappings: r w x as it made them, t and d
 *                      as above; n: no memory stands at IPA, and where there is
 *                      no r either, IPA is that of a table on the way
 *   READY PC           all is reported; the CPU runs in a loop at PC
 *   FAILED TEXT        this kernel can't do what was asked for
 *
 * Numbers are hexadecimal without 0x.
 */
#ifndef PGT_T_QEMU_LINUX_TRUTH_H
#define PGT_T_QEMU_LINUX_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a leaf of the last level maps, a run of them, a block and a run of blocks. */
extern uint64_t page_bytes, run_bytes, block_bytes, block_run_bytes;

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)
#define ABSENT UINT64_MAX

/* Before anything else is called. */
void truth_open(void);

/* From here to there the process has written every page. */
void truth_wrote(const void *start, uint64_t len);

/* The PFN behind a page of this process, or ABSENT. */
uint64_t truth_pfn(uint64_t va);

/* 'P' lines for all of /proc/self/maps. */
void truth_process(void);

/* One line; value may be ABSENT. */
void truth_line(char kind, uint64_t address, uint64_t value, const char *flags);

/* Returns once all of it is on the console. */
void truth_ready(uint64_t pc);

/* Does not return. */
void truth_failed(const char *text);

#endif
