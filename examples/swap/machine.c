/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The CPU: pgt_translate is its MMU, which sets the access flag and the dirty
 * state as arm64's does, and in front of it is a TLB that forgets only what the
 * library tells it to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

void must(int status, const char *call)
{
	if (status == PGT_OK)
		return;
	fprintf(stderr, "%s: %s\n", call, pgt_strerror(status));
	exit(1);
}

static void *memory(uint64_t n, uint64_t bytes)
{
	void *p = calloc((size_t)n, (size_t)bytes);

	if (!p) {
		fprintf(stderr, "no memory for %llu times %llu bytes\n", (unsigned long long)n,
			(unsigned long long)bytes);
		exit(1);
	}
	return p;
}

/* ---- The TLB ---------------------------------------------------------- */

static void invalidate(void *ctx, const struct pgt_tlb_range *range)
{
	struct machine *m = ctx;
	const uint64_t first = (range->va - FIRST_VA) / PAGE_BYTES, pages = range->len / PAGE_BYTES;

	if ((range->flags & PGT_TLB_ALL) || pages >= TLB_SLOTS) {
		memset(m->tlb, 0, sizeof(m->tlb));
		return;
	}
	for (uint64_t page = first; page < first + pages; page++)
		if (m->tlb[page % TLB_SLOTS].page == page + 1)
			m->tlb[page % TLB_SLOTS].page = 0;
}

/* One CPU, which is done when it returns. */
static void sync(void *ctx)
{
	(void)ctx;
}

/* ---- The CPU ---------------------------------------------------------- */

static struct page *at(struct machine *m, uint64_t page, bool write)
{
	const uint64_t access = (write ? PGT_WRITE : PGT_READ) | PGT_USER | PGT_UPDATE;
	const uint64_t va = FIRST_VA + page * PAGE_BYTES;
	struct tlb_slot *held = &m->tlb[page % TLB_SLOTS];
	struct pgt_translation translation;
	int status;

	if (held->page == page + 1 && (held->writable || !write))
		return held->frame;
	while ((status = pgt_translate(m->t, va, access, &translation)) == PGT_EFAULT)
		pager_fault(m, page, write);
	must(status, "pgt_translate");
	held->page = page + 1;
	held->frame = m->frame + (translation.pa - FIRST_PA) / PAGE_BYTES;
	held->writable = write;
	return held->frame;
}

uint64_t machine_read(struct machine *m, uint64_t page, unsigned word)
{
	m->result.reads++;
	return at(m, page, false)->word[word];
}

void machine_write(struct machine *m, uint64_t page, unsigned word, uint64_t value)
{
	m->result.writes++;
	at(m, page, true)->word[word] = value;
	m->stored[page] = m->ever_stored[page] = true;
}

/* ---- Power on, and off ------------------------------------------------ */

static struct pgt *make_table(struct machine *m)
{
	const struct pgt_config config = {
		.size = sizeof(config),
		.format = m->options.format ? m->options.format : "arm64",
		.features = PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY |
			    (m->options.software ? 0 : PGT_FEAT_HW_YOUNG | PGT_FEAT_HW_DIRTY),
		.tlb = { .invalidate = invalidate, .sync = sync, .ctx = m },
	};
	struct pgt *t;

	must(pgt_create(&config, &t), "pgt_create");
	return t;
}

/* All pages are on the swap device. Each entry holds the number of its slot. */
void machine_make(struct machine *m, const struct swap_options *options)
{
	memset(m, 0, sizeof(*m));
	m->options = *options;
	m->t = make_table(m);
	m->frame = memory(options->frames, sizeof(*m->frame));
	m->slot = memory(options->pages, sizeof(*m->slot));
	m->right = memory(options->pages, sizeof(*m->right));
	m->frame_of = memory(options->pages, sizeof(*m->frame_of));
	m->free_frame = memory(options->frames, sizeof(*m->free_frame));
	m->stored = memory(options->pages, sizeof(*m->stored));
	m->ever_stored = memory(options->pages, sizeof(*m->ever_stored));
	for (uint64_t page = 0; page < options->pages; page++) {
		m->frame_of[page] = NO_FRAME;
		for (unsigned i = 0; i < PAGE_WORDS; i++)
			m->right[page].word[i] = page * PAGE_WORDS + i;
		m->slot[page] = m->right[page];
	}
	while (m->free_frames < options->frames) {
		m->free_frame[m->free_frames] = (uint32_t)m->free_frames;
		m->free_frames++;
	}
	must(pgt_store(m->t, FIRST_VA, options->pages * PAGE_BYTES, 0, PGT_SEQUENCE, NULL), "pgt_store");
}

void machine_free(struct machine *m)
{
	pgt_destroy(m->t);
	free(m->frame);
	free(m->slot);
	free(m->right);
	free(m->frame_of);
	free(m->free_frame);
	free(m->stored);
	free(m->ever_stored);
}
