/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine with less memory than its programs use: a CPU with a TLB, frames
 * of memory, a swap device, and the pager that moves pages between the two.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <pgtable/pgtable.h>

#define PAGE_BYTES UINT64_C(4096)
#define PAGE_WORDS 512
#define FIRST_VA   UINT64_C(0x400000000) /* where the working set lies */
#define FIRST_PA   UINT64_C(0x80000000)  /* where memory lies */
#define NO_FRAME   UINT32_MAX
#define TLB_SLOTS  512

struct swap_options {
	const char *format;    /* NULL: "arm64" */
	uint64_t pages;        /* the working set, on the swap device at first */
	uint64_t frames;       /* memory */
	uint64_t accesses;
	uint64_t seed;
	double zipf;           /* the exponent: how unevenly pages are used */
	double writes;         /* the share of accesses that are writes, 0 to 1 */
	bool software;         /* the MMU sets no access flag and no dirty state: it faults */
	bool always_dirty;     /* making a page writable makes it dirty */
};

struct swap_result {
	uint64_t reads, writes;    /* accesses */
	uint64_t faults;           /* all; those that brought a page in: */
	uint64_t swap_ins;
	uint64_t swap_outs;        /* pages that gave their frame back */
	uint64_t written;          /* pages copied to the swap device */
	uint64_t needless;         /* ... that no write had changed since they came in */
	uint64_t never;            /* ... that no write had ever changed */
	uint64_t wrong;            /* words or pages that were not what was last written to them */
};

/* A page's bytes: in memory, on the device, or as they ought to be. */
struct page {
	uint64_t word[PAGE_WORDS];
};

struct tlb_slot {
	uint64_t page;      /* its number + 1; 0: empty */
	struct page *frame;
	bool writable;      /* and dirty already */
};

struct machine {
	struct swap_options options;
	struct swap_result result;
	struct pgt *t;

	struct page *frame;     /* memory */
	struct page *slot;      /* the swap device: a slot a page */
	struct page *right;     /* what each page ought to hold */
	uint32_t *frame_of;     /* by page: its frame, or NO_FRAME */
	uint32_t *free_frame;
	uint64_t free_frames;
	bool *stored;           /* by page: written to since it came in or was written out */
	bool *ever_stored;
	uint64_t hand;          /* where the next search for old pages begins */
	struct tlb_slot tlb[TLB_SLOTS];
};

/* machine.c: the CPU. */
void machine_make(struct machine *m, const struct swap_options *options);
void machine_free(struct machine *m);
uint64_t machine_read(struct machine *m, uint64_t page, unsigned word);
void machine_write(struct machine *m, uint64_t page, unsigned word, uint64_t value);

/* Ends the program where a call failed. */
void must(int status, const char *call);

/* pager.c: what an operating system does at a page fault. */
void pager_fault(struct machine *m, uint64_t page, bool write);

/* load.c: the accesses. The whole run, from a new machine to its end. */
void swap_run(const struct swap_options *options, struct swap_result *result);

#endif
