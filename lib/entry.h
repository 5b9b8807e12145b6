/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one door to table memory.  Four primitives, and the stretch forms that
 * work on consecutive entries of one table; nothing else in the library reads
 * or writes an entry.  Test builds (PGT_CHECKED) route all of it through
 * pgt_seam, the stretch forms as loops of the primitives.
 *
 * Entries are little-endian on every host and never torn.  A stretch form
 * never writes an entry outside its stretch, not even its old value: under
 * PGT_FEAT_PARALLEL that entry is another writer's.
 */
#ifndef PGT_ENTRY_H
#define PGT_ENTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* gcc's atomics as calls ask a C library about the CPU: not where there is none. */
#if !__STDC_HOSTED__ && defined(__aarch64__) && !defined(__clang__) && __GNUC__ >= 10
#pragma GCC target("no-outline-atomics")
#endif

/* What the loops over entries are made of: a call there would cost more than the work. */
#ifdef __GNUC__
#define PGT_INLINE static inline __attribute__((__always_inline__))
#else
#define PGT_INLINE static inline
#endif

struct pgt_entry {
	_Atomic uint64_t raw;
};

_Static_assert(sizeof(struct pgt_entry) == 8, "an entry is 64 bits");

PGT_INLINE uint64_t entry_order(uint64_t raw)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap64(raw);
#else
	return raw;
#endif
}

/* Acquire, so that what a table entry leads to is read after it. */
PGT_INLINE uint64_t memory_load(const struct pgt_entry *e)
{
	return entry_order(atomic_load_explicit(&e->raw, memory_order_acquire));
}

/* Release, so that a table is filled before it is linked. */
PGT_INLINE void memory_store(struct pgt_entry *e, uint64_t raw)
{
	atomic_store_explicit(&e->raw, entry_order(raw), memory_order_release);
}

PGT_INLINE uint64_t memory_exchange(struct pgt_entry *e, uint64_t raw)
{
	return entry_order(atomic_exchange_explicit(&e->raw, entry_order(raw),
						    memory_order_acq_rel));
}

/* On failure *expected is what stands there. */
PGT_INLINE bool memory_compare_swap(struct pgt_entry *e, uint64_t *expected, uint64_t raw)
{
	uint64_t seen = entry_order(*expected);
	bool done = atomic_compare_exchange_strong_explicit(&e->raw, &seen, entry_order(raw),
							    memory_order_acq_rel,
							    memory_order_acquire);
	*expected = entry_order(seen);
	return done;
}

#ifdef PGT_CHECKED

struct pgt_seam {
	uint64_t (*load)(const struct pgt_entry *e);
	void (*store)(struct pgt_entry *e, uint64_t raw);
	uint64_t (*exchange)(struct pgt_entry *e, uint64_t raw);
	bool (*compare_swap)(struct pgt_entry *e, uint64_t *expected, uint64_t raw);
};

extern const struct pgt_seam *pgt_seam;

#define entry_load(e)                        pgt_seam->load(e)
#define entry_store(e, raw)                  pgt_seam->store(e, raw)
#define entry_exchange(e, raw)               pgt_seam->exchange(e, raw)
#define entry_compare_swap(e, expected, raw) pgt_seam->compare_swap(e, expected, raw)

#else

#define entry_load(e)                        memory_load(e)
#define entry_store(e, raw)                  memory_store(e, raw)
#define entry_exchange(e, raw)               memory_exchange(e, raw)
#define entry_compare_swap(e, expected, raw) memory_compare_swap(e, expected, raw)

#endif

/* How many entries from e on are first, first + step, first + 2 step, ...
 * where the bits of mask are compared; at most n. */
PGT_INLINE unsigned entry_match(const struct pgt_entry *e, unsigned n, uint64_t mask,
				   uint64_t first, uint64_t step)
{
	unsigned i;

	for (i = 0; i < n && (entry_load(e + i) & mask) == first; i++)
		first += step;
	return i;
}

/* Writes first, first + step, ... into n entries that hardware can't write. */
PGT_INLINE void entry_fill(struct pgt_entry *e, unsigned n, uint64_t first, uint64_t step)
{
	for (unsigned i = 0; i < n; i++, first += step)
		entry_store(e + i, first);
}

/* What becomes of an entry of a stretch that is changed. */
enum entry_verdict {
	ENTRY_STOP,  /* nothing: the stretch ends before it */
	ENTRY_STORE, /* the new one is stored: hardware can't write the old one */
	ENTRY_SWAP,  /* ... by compare-and-swap */
};

typedef enum entry_verdict entry_change_fn(uint64_t raw, uint64_t *new, const void *how);

/* What a stretch had in common, and what changing it took. */
struct entry_changes {
	uint64_t differ;   /* bits in which any entry changed */
	uint64_t all, any; /* bits that all, and any, have now */
	uint64_t had;      /* bits that all had before */
	uint64_t rmws;     /* compare-and-swaps */
};

/*
 * Changes leading entries of n as fn says; how many.  A compare-and-swap that
 * fails ends it: someone has just been there.  fn is inlined.
 */
PGT_INLINE unsigned entry_change(struct pgt_entry *e, unsigned n, entry_change_fn *fn, const void *how,
				 struct entry_changes *out)
{
	struct entry_changes c = { 0, ~UINT64_C(0), 0, ~UINT64_C(0), 0 };
	unsigned i;

	for (i = 0; i < n; i++) {
		uint64_t raw = entry_load(e + i), new, is = raw;
		enum entry_verdict verdict = fn(raw, &new, how);

		if (verdict == ENTRY_STOP)
			break;
		if (verdict == ENTRY_SWAP) {
			c.rmws++;
			if (!entry_compare_swap(e + i, &is, new))
				break;
		} else {
			entry_store(e + i, new);
		}
		c.differ |= raw ^ new;
		c.had &= raw;
		c.all &= new;
		c.any |= new;
	}
	*out = c;
	return i;
}

#endif
