/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pager: page faults, and reclaim.  A frame is given back without a copy
 * when the page is clean, since the swap device still holds what it held when
 * the page came in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define WINDOW       256 /* pages that are looked at together */
#define WINDOW_WORDS (WINDOW / 64)
#define RECLAIM      32  /* frames to have free, at least, after a search */

static uint64_t va_of(uint64_t page)
{
	return FIRST_VA + page * PAGE_BYTES;
}

/* ---- Reclaim ---------------------------------------------------------- */

static void write_out(struct machine *m, uint64_t page)
{
	m->slot[page] = m->frame[m->frame_of[page]];
	m->result.written++;
	m->result.needless += !m->stored[page];
	m->result.never += !m->ever_stored[page];
	m->stored[page] = false;
}

/* Pages of a window. */
struct window {
	uint64_t first, pages;
	uint64_t young[WINDOW_WORDS], dirty[WINDOW_WORDS], old[WINDOW_WORDS];
	uint64_t again[WINDOW_WORDS]; /* were written to after they had been cleaned */
};

static bool has(const uint64_t *words, uint64_t i)
{
	return words[i / 64] >> (i % 64) & 1;
}

static void harvest(struct machine *m, const struct window *w, uint64_t what, unsigned flags,
		    uint64_t *words)
{
	struct pgt_bitmap bitmap = {
		.words = words, .va = va_of(w->first), .units = w->pages, .unit_bits = 12,
	};

	must(pgt_harvest(m->t, va_of(w->first), w->pages * PAGE_BYTES, what, flags, &bitmap, NULL),
	     "pgt_harvest");
}

/* Which pages were not used since the last look; the others are old from now on. */
static bool find_old(struct machine *m, struct window *w)
{
	bool any = false;

	harvest(m, w, PGT_YOUNG, 0, w->young);
	for (uint64_t i = 0; i < w->pages; i++)
		if (m->frame_of[w->first + i] != NO_FRAME && !has(w->young, i)) {
			w->old[i / 64] |= UINT64_C(1) << (i % 64);
			any = true;
		}
	return any;
}

/* Old pages that were written to go to the device, and are clean then. */
static void clean_old(struct machine *m, struct window *w)
{
	uint64_t any = 0;

	harvest(m, w, PGT_DIRTY, PGT_PEEK, w->dirty);
	for (unsigned i = 0; i < WINDOW_WORDS; i++)
		any |= w->dirty[i] &= w->old[i];
	if (!any)
		return;
	/* First clean, then copied: a write from here on makes a page dirty again. */
	harvest(m, w, PGT_DIRTY, PGT_SELECTED, w->dirty);
	for (uint64_t i = 0; i < w->pages; i++)
		if (has(w->dirty, i))
			write_out(m, w->first + i);
}

static int note_removed(void *ctx, const struct pgt_mapping *mapping)
{
	struct window *w = ctx;
	const uint64_t i = (mapping->va - va_of(w->first)) / PAGE_BYTES;

	if (mapping->state == PGT_LEAF && (mapping->attr & PGT_DIRTY))
		w->again[i / 64] |= UINT64_C(1) << (i % 64);
	return 0;
}

/* Old pages leave their frames; the entries say where they are. */
static void take_old(struct machine *m, struct window *w)
{
	struct pgt_gather gather;

	must(pgt_gather_begin(&gather, m->t), "pgt_gather_begin");
	gather.removed = note_removed;
	gather.removed_ctx = w;
	for (uint64_t i = 0; i < w->pages; i++)
		if (has(w->old, i))
			must(pgt_store(m->t, va_of(w->first + i), PAGE_BYTES, w->first + i, PGT_REPLACE,
				       &gather),
			     "pgt_store");
	must(pgt_gather_end(&gather), "pgt_gather_end");
	/* No TLB leads to them any more. */
	for (uint64_t i = 0; i < w->pages; i++) {
		const uint64_t page = w->first + i;

		if (!has(w->old, i))
			continue;
		if (has(w->again, i))
			write_out(m, page);
		m->free_frame[m->free_frames++] = m->frame_of[page];
		m->frame_of[page] = NO_FRAME;
		m->result.swap_outs++;
	}
}

/* Goes round the working set. A page is safe for one round after each use. */
static void reclaim(struct machine *m)
{
	const uint64_t pages = m->options.pages;

	for (uint64_t looked = 0; m->free_frames < RECLAIM && looked < 3 * pages;) {
		struct window w = { .first = m->hand };

		w.pages = pages - m->hand < WINDOW ? pages - m->hand : WINDOW;
		if (find_old(m, &w)) {
			clean_old(m, &w);
			take_old(m, &w);
		}
		looked += w.pages;
		m->hand = (m->hand + w.pages) % pages;
	}
}

/* ---- Faults ----------------------------------------------------------- */

static void swap_in(struct machine *m, uint64_t page, uint64_t slot)
{
	const uint64_t dirty = m->options.always_dirty ? PGT_DIRTY : 0;
	uint32_t frame;

	if (!m->free_frames)
		reclaim(m);
	frame = m->free_frame[--m->free_frames];
	m->frame[frame] = m->slot[slot];
	m->frame_of[page] = frame;
	m->stored[page] = false;
	m->result.swap_ins++;
	if (memcmp(&m->frame[frame], &m->right[page], sizeof(struct page)) != 0)
		m->result.wrong++;
	must(pgt_map(m->t, va_of(page), FIRST_PA + frame * PAGE_BYTES, PAGE_BYTES,
		     PGT_READ | PGT_USER | PGT_YOUNG, PGT_REPLACE, NULL),
	     "pgt_map");
	/*
	 * Nobody shares the page, so it may be written to without another
	 * fault.  That doesn't make it dirty: nobody wrote to it yet.
	 */
	must(pgt_protect(m->t, va_of(page), PAGE_BYTES, PGT_WRITE | dirty, 0, PGT_LAZY, NULL),
	     "pgt_protect");
}

void pager_fault(struct machine *m, uint64_t page, bool write)
{
	struct pgt_mapping mapping;

	m->result.faults++;
	must(pgt_query(m->t, va_of(page), &mapping), "pgt_query");
	if (mapping.state == PGT_TOKEN)
		swap_in(m, page, mapping.token);
	else
		must(pgt_fault(m->t, va_of(page), (write ? PGT_WRITE : PGT_READ) | PGT_USER, NULL),
		     "pgt_fault");
}
