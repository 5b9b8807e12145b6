/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libpgtable: page tables for programs that embed them.
 *
 * Words.  VA is the input address (an intermediate physical address where the
 * table is a stage 2), PA the output address; both are uint64_t on every host,
 * lengths too, all in bytes.  A leaf is an entry that maps memory: a page at
 * the last level, a block above it.  A run is Arm's contiguous group: leaves
 * that carry the hint together.  A table is one granule of entries; the root
 * may be smaller or larger.  Levels are numbered as Arm numbers them, -1 to 3,
 * 3 being the page level, in every format.  A token is what an embedder stores
 * in an entry that maps nothing.  Changing calls alter tables, reading calls
 * don't.  The writer's lock is the embedder's: it keeps changing calls on one
 * table apart; readers take none.
 *
 * Every call checks its arguments in the order PGT_EINVAL, PGT_EBUSY,
 * PGT_ENOTSUP, PGT_EALIGN, PGT_ERANGE, and then the table.  A call that fails
 * changes nothing.
 */
#ifndef PGTABLE_PGTABLE_H
#define PGTABLE_PGTABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <pgtable/config.h>

/* The release; configure reads it from here. pgt_version() is the library's own. */
#define PGT_VERSION_MAJOR 1
#define PGT_VERSION_MINOR 0
#define PGT_VERSION_PATCH 0

/* The library's own build sets this to export what is declared with it. */
#ifndef PGT_API
#define PGT_API extern
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ---------------------------------------------------------- */

/* Codes not listed here may come with later releases; all are negative. */
#define PGT_OK         0
#define PGT_EINVAL   (-1)  /* malformed request: unknown flag or attribute, NULL, zero length, another table's gather */
#define PGT_EALIGN   (-2)  /* an address or a length of a range is not a multiple of the granule */
#define PGT_ERANGE   (-3)  /* outside the input or output range, or it wraps */
#define PGT_EEXIST   (-4)  /* something stands where the call needs an empty place */
#define PGT_ENOENT   (-5)  /* nothing is mapped where the call needs a mapping */
#define PGT_ENOMEM   (-6)  /* the table allocator refused */
#define PGT_EBLOCK   (-7)  /* PGT_NO_SPLIT, and a larger leaf or a run would have to be split */
#define PGT_ENOTSUP  (-8)  /* this format or configuration can't express the request */
#define PGT_EACCES   (-9)  /* the mapping forbids this access */
#define PGT_EFAULT   (-10) /* pgt_translate: the access faults; the translation says how */
#define PGT_ECORRUPT (-11) /* a table holds what no legal table can, or points to unknown memory */
#define PGT_EBUSY    (-12) /* a changing call from a callback of a changing call on the same table */
#define PGT_EBREAK   (-13) /* PGT_NO_BREAK, and the call would have to break before it makes */

/* The text of a status, for people; never NULL. */
PGT_API const char *pgt_strerror(int status);

/* The library's release, as "1.0.0". */
PGT_API const char *pgt_version(void);

/* Every name that pgt_config.format takes in this build, NULL at the end. */
PGT_API const char *const *pgt_formats(void);

/* ---- Attributes ------------------------------------------------------- */

/*
 * One uint64_t.  What a format can't express is PGT_ENOTSUP when a mapping is
 * made; device memory with any execute permission is PGT_EINVAL.  pgt_query
 * gives back exactly what was accepted, but for PGT_YOUNG and PGT_DIRTY, which
 * defaults and hardware add.
 */
#define PGT_READ     (UINT64_C(1) << 0)
#define PGT_WRITE    (UINT64_C(1) << 1)
#define PGT_EXEC     (UINT64_C(1) << 2)  /* privileged execution */
#define PGT_UEXEC    (UINT64_C(1) << 3)  /* unprivileged execution */
#define PGT_USER     (UINT64_C(1) << 4)  /* unprivileged code may access */
#define PGT_GLOBAL   (UINT64_C(1) << 5)  /* one translation for all address spaces */
#define PGT_NOACCESS (UINT64_C(1) << 6)  /* lies over all else, which is back when it is cleared */
#define PGT_GUARDED  (UINT64_C(1) << 7)  /* branch targets are checked (Arm: BTI) */
#define PGT_YOUNG    (UINT64_C(1) << 8)  /* accessed since it was last cleared */
#define PGT_DIRTY    (UINT64_C(1) << 9)  /* written since it was last cleared */
#define PGT_SW0      (UINT64_C(1) << 10) /* the embedder's own */
#define PGT_SW1      (UINT64_C(1) << 11)
#define PGT_SW2      (UINT64_C(1) << 12)

#define PGT_MEM_MASK          (UINT64_C(31) << 16)
#define PGT_MEM_NORMAL        (UINT64_C(0) << 16) /* write-back */
#define PGT_MEM_NOCACHE       (UINT64_C(1) << 16)
#define PGT_MEM_WRITETHROUGH  (UINT64_C(2) << 16)
#define PGT_MEM_DEVICE        (UINT64_C(3) << 16) /* Arm: nGnRE */
#define PGT_MEM_DEVICE_STRICT (UINT64_C(4) << 16) /* Arm: nGnRnE */

#define PGT_SH_MASK  (UINT64_C(3) << 24)
#define PGT_SH_INNER (UINT64_C(0) << 24)
#define PGT_SH_OUTER (UINT64_C(1) << 24)
#define PGT_SH_NONE  (UINT64_C(2) << 24)

/* In the access of pgt_translate only: set the access flag and the dirty state
 * as hardware with the configured HW_ features does. */
#define PGT_UPDATE   (UINT64_C(1) << 32)

/* ---- Features --------------------------------------------------------- */

/* A combination that the architecture forbids is PGT_ENOTSUP, never adjusted. */
#define PGT_FEAT_CONTIG      (UINT64_C(1) << 0)  /* make runs */
#define PGT_FEAT_HW_YOUNG    (UINT64_C(1) << 1)  /* some walkers set the access flag by themselves */
#define PGT_FEAT_HW_DIRTY    (UINT64_C(1) << 2)  /* ... and the dirty state; needs HW_YOUNG */
#define PGT_FEAT_TRACK_YOUNG (UINT64_C(1) << 3)  /* new mappings start old; without it, young */
#define PGT_FEAT_TRACK_DIRTY (UINT64_C(1) << 4)  /* new mappings start clean; without it, dirty */
#define PGT_FEAT_BBM1        (UINT64_C(1) << 5)  /* break-before-make level 1 */
#define PGT_FEAT_BBM2        (UINT64_C(1) << 6)  /* level 2, without conflict aborts */
#define PGT_FEAT_LPA         (UINT64_C(1) << 7)  /* arm64, 64K granule: 52 output bits */
#define PGT_FEAT_LPA2        (UINT64_C(1) << 8)  /* arm64, 4K and 16K: 52 bits */
#define PGT_FEAT_LVA         (UINT64_C(1) << 9)  /* arm64, 64K: more than 48 input bits */
#define PGT_FEAT_ST          (UINT64_C(1) << 10) /* arm64: fewer than 25 input bits */
#define PGT_FEAT_UPPER       (UINT64_C(1) << 11) /* the table covers [2^64 - 2^input_bits, 2^64) */
#define PGT_FEAT_XNX         (UINT64_C(1) << 12) /* arm64 stage 2: execution by privilege */
#define PGT_FEAT_FWB         (UINT64_C(1) << 13) /* arm64 stage 2: forced write-back */
#define PGT_FEAT_TLBI_RANGE  (UINT64_C(1) << 14) /* arm64: invalidation of ranges */
#define PGT_FEAT_TTL         (UINT64_C(1) << 15) /* arm64: level hints */
#define PGT_FEAT_PARALLEL    (UINT64_C(1) << 16) /* several threads change disjoint ranges at once */
#define PGT_FEAT_NO_BLOCKS   (UINT64_C(1) << 17) /* pages only */
#define PGT_FEAT_EXEC_BBM    (UINT64_C(1) << 18) /* break-before-make to take execution away */

/* ---- What the embedder supplies --------------------------------------- */

/* How tables are allocated and reached. */
struct pgt_memory {
	/* A zeroed table of so many bytes, aligned to its size: a granule, or
	 * for the root 64 bytes to 16 granules. 0, or non-zero for 'none left'.
	 * A PA that is misaligned or beyond output_bits is given back. */
	int (*alloc)(void *ctx, uint64_t bytes, uint64_t *pa);
	/* Called only once no TLB and no hardware walker can use the table. */
	void (*free)(void *ctx, uint64_t pa, uint64_t bytes);
	/* NULL: no such memory. The same answer throughout a call. */
	void *(*to_virt)(void *ctx, uint64_t pa, uint64_t bytes);
	/* May be NULL. A stretch of entries was written: for walkers that don't
	 * snoop caches. Called before anything relies on the entries. */
	void (*written)(void *ctx, void *entries, uint64_t bytes);
	void *ctx;
	/* Instead of to_virt, where all tables lie in one window:
	 * virt = window + (pa - window_pa). */
	void *window;
	uint64_t window_pa, window_bytes;
	void *reserved[4];
};

#define PGT_LEVEL_UNKNOWN 127

#define PGT_TLB_WALK   1 /* table entries changed too */
#define PGT_TLB_ALL    2 /* all of this table; va and len are 0 */
#define PGT_TLB_LOCAL  4 /* only this CPU needs it */
#define PGT_TLB_GLOBAL 8 /* a changed leaf is or was global */

struct pgt_tlb_range {
	uint64_t va, len;    /* canonical, rounded out to the changed leaf, run or table span */
	uint8_t stride_bits; /* log2 of the smallest leaf changed in it; the granule's where unknown */
	int8_t level;        /* the level of all changed leaves, else PGT_LEVEL_UNKNOWN (always with WALK) */
	uint16_t flags;      /* PGT_TLB_* */
};

/* How translations are forgotten. All NULL: nobody caches this table (it is
 * being built for a guest, say), so nothing is ever broken or invalidated. */
struct pgt_tlb {
	/* Orders all earlier entry writes first (Arm: DSB ISHST, then TLBI). */
	void (*invalidate)(void *ctx, const struct pgt_tlb_range *range);
	/* Returns once every earlier invalidate has completed everywhere (Arm:
	 * DSB ISH, ISB). Required beside invalidate. */
	void (*sync)(void *ctx);
	/* May be NULL. Entries written so far are seen by walkers from here on
	 * (Arm: DSB ISHST, ISB): called between filling a table and linking it,
	 * and at the end of a call that wrote and invalidated nothing (with a
	 * gather: once at its end; until then a new mapping may fault). */
	void (*publish)(void *ctx);
	void *ctx;
	void *reserved[4];
};

/* Optional: what the embedder knows about the memory behind a mapping. */
struct pgt_pages {
	/* How many leading bytes of [pa, pa+len) share one answer to 'may this
	 * be made writable now?', and that answer. 0 means one granule. */
	uint64_t (*writable)(void *ctx, uint64_t va, uint64_t pa, uint64_t len, uint64_t attr, bool *yes);
	/* How many leading bytes of [pa, pa+len) belong to one unit of physical
	 * memory. Runs and blocks never cross one. 0 means one granule. */
	uint64_t (*unit)(void *ctx, uint64_t pa, uint64_t len);
	void *ctx;
	void *reserved[4];
};

struct pgt_config {
	uint32_t size;          /* sizeof(struct pgt_config); it may grow */
	const char *format;     /* one of pgt_formats(); NULL: the first of them */
	uint8_t granule_bits;   /* 12, 14 or 16; 0: 12 */
	uint8_t input_bits;     /* 0: 48 */
	uint8_t output_bits;    /* 0: 48 */
	uint64_t features;      /* PGT_FEAT_* */
	struct pgt_memory memory; /* all zero in a hosted build: the C library's allocator, PA = address */
	struct pgt_tlb tlb;
	struct pgt_pages pages;
	const void *format_config; /* NULL, or what the format's own header defines */
};

/* ---- Making a page table ---------------------------------------------- */

struct pgt;

/*
 * Makes an empty table of the configuration, with its root.  Hosted builds
 * only.  Errors: PGT_EINVAL (malformed, a callback missing, an allocator that
 * gives misaligned memory), PGT_ENOTSUP (a format that was not built, a
 * forbidden combination), PGT_ENOMEM.
 */
PGT_API int pgt_create(const struct pgt_config *config, struct pgt **t);

/* The bytes that pgt_init needs, 16-byte aligned, at most 1 KiB. 0: the configuration is bad. */
PGT_API uint64_t pgt_storage(const struct pgt_config *config);

/*
 * As pgt_create, in storage that the embedder keeps until pgt_destroy; nothing
 * but tables is allocated.  Errors as pgt_create; storage that is too small or
 * not 16-byte aligned is PGT_EINVAL.
 */
PGT_API int pgt_init(void *storage, uint64_t bytes, const struct pgt_config *config, struct pgt **t);

/*
 * Adopts tables that someone else made, the root at root_pa.  Hosted builds
 * only.  With memory.alloc NULL they are only read, and changing calls are
 * PGT_ENOTSUP; otherwise tables that become unlinked go to memory.free, whoever
 * made them.  Permission bits in table entries are honoured by readers;
 * changing calls below such an entry are PGT_ENOTSUP.  Invalid entries that
 * aren't zero read as tokens.  Errors as pgt_create; PGT_EALIGN and PGT_ERANGE
 * for the root, PGT_ECORRUPT where its memory is unknown.
 */
PGT_API int pgt_attach(const struct pgt_config *config, uint64_t root_pa, struct pgt **t);

/*
 * Invalidates all, syncs and frees every table (none of an attached table).
 * No CPU has the root loaded and no gather is open.  What was mapped is not
 * touched.  NULL is ignored.
 */
PGT_API void pgt_destroy(struct pgt *t);

/* The PA of the root table. */
PGT_API uint64_t pgt_root(const struct pgt *t);

/* The configuration in force, defaults filled in; writes at most config->size bytes, which the caller sets. */
PGT_API int pgt_describe(const struct pgt *t, struct pgt_config *config);

/* Bit n is set where leaves or runs of 2^n bytes exist. */
PGT_API uint64_t pgt_leaf_sizes(const struct pgt *t);

/*
 * Serves tables from one piece of memory that the embedder hands over, its
 * first byte at pa: a static pool in a hypervisor, guest RAM in a virtual
 * machine monitor.  Not thread-safe; freed tables are reused at once, so there
 * may be no concurrent readers.
 */
struct pgt_arena {
	void *memory;
	uint64_t bytes, pa;
	uint64_t inside[20];
};

/* PGT_EINVAL: NULL, no bytes, or memory or pa not aligned to 8 bytes; PGT_ERANGE: it wraps. */
PGT_API int pgt_arena_init(struct pgt_arena *arena, void *memory, uint64_t bytes, uint64_t pa);

/* What goes into pgt_config.memory. The arena must stay where it is. */
PGT_API struct pgt_memory pgt_arena_memory(struct pgt_arena *arena);

/*
 * Afterwards exactly so many tables are set aside, and later calls use them
 * first; fewer than before: the rest is given back.  A changing call.
 * PGT_ENOMEM: nothing changed.
 */
PGT_API int pgt_reserve(struct pgt *t, uint64_t tables);

/*
 * The most tables that pgt_map with these arguments can need, whatever is
 * mapped (unmap, protect and harvest need at most 2 x (3 - top block level)).
 * Errors as pgt_map's argument checks.
 */
PGT_API int pgt_tables_needed(const struct pgt *t, uint64_t va, uint64_t pa, uint64_t len,
			      uint64_t attr, unsigned flags, uint64_t *most);

/* ---- Reading it ------------------------------------------------------- */

/*
 * Readers take no lock and may run beside a writer (pgt_check may not): each
 * answer was true at one moment.  They never crash, whatever the tables hold,
 * as long as to_virt or the window knows which memory exists.
 */

#define PGT_EMPTY 0
#define PGT_LEAF  1
#define PGT_TOKEN 2

struct pgt_mapping {
	uint64_t va, pa, len; /* of the leaf; of an empty place: the hole that one entry spans */
	uint64_t run_bytes;   /* of the run it is part of, else len */
	uint64_t attr;
	uint64_t token;
	uint64_t entry;       /* as it stands in the table */
	int level;
	int state;            /* PGT_EMPTY, PGT_LEAF or PGT_TOKEN */
	uint64_t reserved[4];
};

/* A non-zero return stops the call and is its value. */
typedef int pgt_visit_fn(void *ctx, const struct pgt_mapping *mapping);

/* What is mapped at a byte address.  Young and dirty are those of the whole
 * run.  Errors: PGT_EINVAL, PGT_ERANGE, PGT_ECORRUPT. */
PGT_API int pgt_query(const struct pgt *t, uint64_t va, struct pgt_mapping *mapping);

#define PGT_HOLES    (1u << 16) /* visit: empty places too */
#define PGT_MERGE    (1u << 17) /* visit: once a stretch of equal attributes and consecutive PA, clipped to the range */
#define PGT_NO_STATE (1u << 18) /* visit: young and dirty are neither read nor compared */

/*
 * Calls fn once a leaf or token in address order, leaves whole.  fn may make
 * changing calls under the writer's lock; visit goes on at the byte after the
 * leaf last reported.  Errors: as query, PGT_EALIGN, or what fn returned.
 */
PGT_API int pgt_visit(const struct pgt *t, uint64_t va, uint64_t len, unsigned flags,
		      pgt_visit_fn *fn, void *ctx);

#define PGT_FAULT_TRANSLATION  1
#define PGT_FAULT_ACCESS_FLAG  2
#define PGT_FAULT_PERMISSION   3
#define PGT_FAULT_ADDRESS_SIZE 4
#define PGT_FAULT_EXTERNAL     5 /* a table in memory that the embedder doesn't know */

struct pgt_translation {
	uint64_t pa;                 /* of the byte asked for */
	unsigned leaf_bits, run_bits; /* log2 of the leaf, and of the run that the hint claims (else the leaf's) */
	int level;                   /* of the leaf, or where the fault arose */
	uint64_t attr;
	int fault;                   /* PGT_FAULT_*, with PGT_EFAULT */
	int stage;                   /* 1 or 2, where a walk has two */
	bool during_walk;
	uint64_t ipa, memattr, sh;   /* walks through two stages fill these in */
	uint64_t reserved[4];
};

/*
 * Answers as the hardware would.  access is exactly one of PGT_READ, PGT_WRITE
 * and PGT_EXEC, with PGT_USER for an unprivileged one, and PGT_UPDATE to set
 * access flag and dirty state as hardware does.  The answer comes from the one
 * entry.  Errors: PGT_EINVAL, PGT_ERANGE (the VA), PGT_EFAULT.
 */
PGT_API int pgt_translate(const struct pgt *t, uint64_t va, uint64_t access,
			  struct pgt_translation *translation);

/*
 * Makes neighbouring translations cost one read.  It is a TLB: start it anew
 * after any call that could free or move a table.
 */
struct pgt_cursor {
	const struct pgt *t;
	uint64_t inside[8];
};

PGT_API void pgt_cursor_init(struct pgt_cursor *cursor, const struct pgt *t);
PGT_API int pgt_cursor_translate(struct pgt_cursor *cursor, uint64_t va, uint64_t access,
				 struct pgt_translation *translation);

struct pgt_problem {
	uint64_t va;       /* the first byte that the entry covers */
	uint64_t entry_pa; /* where the entry stands */
	uint64_t entry;    /* as it stands in the table */
	int level;
	const char *what;  /* for people */
	uint64_t reserved[4];
};

typedef int pgt_problem_fn(void *ctx, const struct pgt_problem *problem);

/*
 * Reports every entry that breaks a rule of the format: reserved encodings,
 * broken runs, misaligned blocks, permission bits in table entries, forbidden
 * states, loops, tables reached twice; in attached tables only what the
 * architecture forbids, and loops.  Needs the writer's lock to mean anything.
 * PGT_OK: nothing was found; PGT_ECORRUPT: something was reported.
 */
PGT_API int pgt_check(const struct pgt *t, pgt_problem_fn *fn, void *ctx);

typedef int pgt_text_fn(void *ctx, const char *text, uint64_t bytes);

/* Describes the range in words, a line a merged stretch.  A table that many entries
 * lead to is described once: the others say where it was.  Errors as visit. */
PGT_API int pgt_dump(const struct pgt *t, uint64_t va, uint64_t len, pgt_text_fn *fn, void *ctx);

struct pgt_stat {
	uint64_t tables[5], leaves[5], runs[5]; /* index: level + 1 */
	uint64_t tokens;
	uint64_t mapped_bytes; /* inside the range */
	uint64_t table_bytes;
	uint64_t reserved[4];
};

/* Counts what the range touches.  Errors as visit. */
PGT_API int pgt_stat(const struct pgt *t, uint64_t va, uint64_t len, struct pgt_stat *stat);

/* ---- Changing it ------------------------------------------------------ */

/* What the calls since pgt_gather_begin did; a failed call adds to leaves and reads only. */
struct pgt_tally {
	uint64_t leaves, changed;   /* leaves looked at; leaves written (a run counts its members) */
	uint64_t reads, rmws;       /* descriptor loads; atomic read-modify-writes; retries included */
	uint64_t tables_allocated, tables_freed, tables_relinked;
	uint64_t blocks_split, blocks_made, runs_unfolded, runs_folded;
	uint64_t invalidates, invalidated_bytes, syncs; /* callbacks made; ALL adds no bytes */
	uint64_t mapped, unmapped;  /* bytes */
	uint64_t young, dirty;      /* leaves found so; a run counts its members */
	uint64_t reserved[4];
};

/*
 * Defers invalidation, and the freeing of tables behind it, over all calls
 * between begin and end.  It drains early (invalidate, sync, free) when its
 * fixed room is full, when a call breaks before it makes, and before anything
 * is made at an address whose invalidation it still holds.  Until it ends, no
 * call with another gather or with none may touch addresses changed under it.
 * Calls with a NULL gather have invalidated, synced and freed on return.
 */
struct pgt_gather {
	struct pgt_tally tally;
	/* Set after pgt_gather_begin, or NULL.  Called for every leaf (its
	 * removed part) or token that unmap or PGT_REPLACE takes away, with the
	 * final young and dirty state; its memory may be reused only after
	 * pgt_gather_end.  The return is ignored. */
	pgt_visit_fn *removed;
	void *removed_ctx;
	uint64_t inside[64];
};

/* Errors of both: PGT_EINVAL, PGT_EBUSY; PGT_ENOTSUP for tables that are only read. */
PGT_API int pgt_gather_begin(struct pgt_gather *gather, struct pgt *t);
PGT_API int pgt_gather_end(struct pgt_gather *gather);

#define PGT_REPLACE     (1u << 0) /* take the place of what is there */
#define PGT_KEEP_TABLES (1u << 1) /* tables that become empty stay */
#define PGT_NO_SPLIT    (1u << 2) /* rather fail with PGT_EBLOCK than split a leaf or unfold a run */
#define PGT_NO_BREAK    (1u << 3) /* rather fail with PGT_EBREAK than make a valid leaf invalid for a moment */
#define PGT_WHOLE       (1u << 4) /* what is covered in part goes entirely */
#define PGT_STRICT      (1u << 5) /* a hole is PGT_ENOENT */
#define PGT_LAZY        (1u << 6) /* what a TLB may go on using harmlessly is not invalidated */
#define PGT_COW         (1u << 7) /* both copies lose write permission */
#define PGT_PEEK        (1u << 8) /* report, and clear nothing */
#define PGT_SELECTED    (1u << 9) /* only the units whose bit is set on entry */
#define PGT_SEQUENCE    (1u << 10) /* pages, each token one more than the one before */
#define PGT_MAX_LEAF(bits) ((unsigned)(bits) << 24) /* no leaf or run larger than 2^bits bytes */

/*
 * Maps [va, va+len) to [pa, pa+len) in the largest leaves and runs that VA, PA,
 * length and the unit callback allow.  A leaf or token already there is
 * PGT_EEXIST, or replaced under PGT_REPLACE (the same PA and attributes:
 * nothing is written; else young and dirty start anew); what is replaced in
 * part is split.  Flags: PGT_REPLACE, PGT_KEEP_TABLES, PGT_NO_SPLIT,
 * PGT_NO_BREAK, PGT_MAX_LEAF (rounded down to a size that exists).
 * TLB: nothing for new places; what is replaced is broken before it is made.
 * Readers beside it see the old leaf or the new one.
 * Errors: PGT_EINVAL, PGT_ENOTSUP (attributes), PGT_EALIGN, PGT_ERANGE,
 * PGT_EEXIST, PGT_EBLOCK, PGT_EBREAK, PGT_ENOMEM, PGT_ECORRUPT.
 */
PGT_API int pgt_map(struct pgt *t, uint64_t va, uint64_t pa, uint64_t len, uint64_t attr,
		    unsigned flags, struct pgt_gather *gather);

/*
 * Removes exactly [va, va+len).  A leaf or run covered in part is split; the
 * rest of it stays (PGT_WHOLE: it goes entirely, which needs no memory).
 * Holes are fine.  Tables that become empty are freed (PGT_KEEP_TABLES: kept).
 * TLB: one range a call, the walk-cache form where tables went, and one before
 * for what is split.  Flags: PGT_KEEP_TABLES, PGT_NO_SPLIT, PGT_NO_BREAK,
 * PGT_WHOLE.  Errors: PGT_EINVAL, PGT_ENOTSUP, PGT_EALIGN, PGT_ERANGE,
 * PGT_EBLOCK, PGT_EBREAK, PGT_ENOMEM, PGT_ECORRUPT.
 */
PGT_API int pgt_unmap(struct pgt *t, uint64_t va, uint64_t len, unsigned flags,
		      struct pgt_gather *gather);

/*
 * Clears, then sets, attribute bits of what is mapped in [va, va+len), and
 * leaves all else alone.  Holes and tokens are skipped (PGT_STRICT: a hole is
 * PGT_ENOENT).  A field (memory type, shareability) is changed only with its
 * whole mask in clear.  What complies already is neither written nor split nor
 * invalidated; what is covered in part and doesn't is split.  Setting
 * PGT_WRITE leaves a clean page clean; where the embedder gave writable, it is
 * asked once a stretch, an answer that doesn't cover a whole leaf or run is no,
 * and where it is no, PGT_WRITE stays as it was.  Clearing PGT_WRITE never
 * loses dirty state.  TLB: one range a call for all that it may hold and that
 * changed, relaxed permissions too (not under PGT_LAZY: such a translation
 * faults spuriously, and pgt_fault answers it), one before for what is cut,
 * and one where memory type, shareability or global change.  Flags: PGT_STRICT,
 * PGT_LAZY, PGT_NO_SPLIT, PGT_NO_BREAK.  Errors: PGT_EINVAL, PGT_ENOTSUP (a
 * leaf would end with attributes that map refuses), PGT_EALIGN, PGT_ERANGE,
 * PGT_ENOENT, PGT_EBLOCK, PGT_EBREAK, PGT_ENOMEM, PGT_ECORRUPT.
 */
PGT_API int pgt_protect(struct pgt *t, uint64_t va, uint64_t len, uint64_t set, uint64_t clear,
			unsigned flags, struct pgt_gather *gather);

/*
 * Moves what is mapped in [from, from+len) to [to, to+len), both multiples of
 * the granule, not overlapping.  Whole tables are relinked wherever both
 * addresses allow it, at every level; blocks, runs, pages and tokens move
 * elsewhere, keeping PA, attributes, young, dirty and software bits.  A block
 * that the destination doesn't suit is split, runs are remade by alignment.
 * Leaves or tokens at the destination are PGT_EEXIST, empty tables there are
 * replaced.  TLB: the source's range, before anything else is made at either
 * place.  Flags: PGT_KEEP_TABLES, PGT_NO_SPLIT, PGT_NO_BREAK.  Errors:
 * PGT_EINVAL, PGT_EALIGN, PGT_ERANGE, PGT_EEXIST, PGT_EBLOCK, PGT_EBREAK,
 * PGT_ENOMEM, PGT_ECORRUPT.
 */
PGT_API int pgt_move(struct pgt *t, uint64_t from, uint64_t to, uint64_t len, unsigned flags,
		     struct pgt_gather *gather);

/*
 * Gives 'to', whose range is empty, the same mappings and tokens as 'from',
 * another table of the same format, granule and sizes.  PGT_COW: both lose
 * write permission where it was had; dirty state stays with from; a block
 * covered in part is split.  Copies start old and clean only where 'to' has
 * PGT_FEAT_TRACK_.  The gather is one of from.  TLB: from's range under
 * PGT_COW.  Flags: PGT_COW, PGT_NO_SPLIT, PGT_NO_BREAK.  Errors: PGT_EINVAL,
 * PGT_ENOTSUP, PGT_EALIGN, PGT_ERANGE, PGT_EEXIST, PGT_EBLOCK, PGT_EBREAK,
 * PGT_ENOMEM, PGT_ECORRUPT.
 */
PGT_API int pgt_copy(struct pgt *to, struct pgt *from, uint64_t va, uint64_t len, unsigned flags,
		     struct pgt_gather *gather);

/*
 * Leaves no leaf or run larger than 2^leaf_bits in [va, va+len); a size that
 * doesn't exist is PGT_ENOTSUP.  Young, dirty and attributes are kept.  TLB:
 * what is split is broken before it is made.  Flags: PGT_NO_SPLIT,
 * PGT_NO_BREAK.  Errors: PGT_EINVAL, PGT_ENOTSUP, PGT_EALIGN, PGT_ERANGE,
 * PGT_EBLOCK, PGT_EBREAK, PGT_ENOMEM, PGT_ECORRUPT.
 */
PGT_API int pgt_split(struct pgt *t, uint64_t va, uint64_t len, unsigned leaf_bits, unsigned flags,
		      struct pgt_gather *gather);

/*
 * Makes leaves or runs of exactly 2^leaf_bits out of whole aligned pieces
 * inside the range and one unit of memory: children of any level with one
 * attribute set, young and dirty or-ed; no holes, no tokens.  Needs no memory;
 * making none is PGT_OK.  TLB: the walk-cache form, before it is made.  Flags:
 * PGT_NO_BREAK.  Errors: PGT_EINVAL, PGT_ENOTSUP, PGT_EALIGN, PGT_ERANGE,
 * PGT_EBREAK, PGT_ECORRUPT.
 */
PGT_API int pgt_collapse(struct pgt *t, uint64_t va, uint64_t len, unsigned leaf_bits, unsigned flags,
			 struct pgt_gather *gather);

/* Bit i, words[i / 64] >> (i % 64) & 1, covers [va + (i << unit_bits), + (1 << unit_bits)). */
struct pgt_bitmap {
	uint64_t *words, va, units;
	uint8_t unit_bits;
};

/*
 * Reports which units of [va, va+len) are PGT_YOUNG and/or PGT_DIRTY (what) by
 * setting their bits, and clears that state, so that the next access is seen
 * again (PGT_PEEK: reports only).  A leaf or run is reported as one: all its
 * units inside the range.  Clearing PGT_DIRTY on part of one splits or unfolds
 * it first, and the rest stays dirty (PGT_NO_SPLIT: it is reported and left
 * dirty); for PGT_YOUNG alone what the range touches is cleared whole.
 * PGT_SELECTED: the bitmap is the selection and reports nothing.  A NULL
 * bitmap: the tally counts.  Pages may be copied once the gather has ended.
 * TLB: one range a call (PGT_LAZY: none for PGT_YOUNG).  Flags: PGT_PEEK,
 * PGT_SELECTED, PGT_LAZY, PGT_NO_SPLIT, PGT_NO_BREAK.  Errors: PGT_EINVAL,
 * PGT_ENOTSUP (a state that nobody sets again), PGT_EALIGN, PGT_ERANGE (the
 * bitmap's too), PGT_EBREAK, PGT_ENOMEM, PGT_ECORRUPT.
 */
PGT_API int pgt_harvest(struct pgt *t, uint64_t va, uint64_t len, uint64_t what, unsigned flags,
			struct pgt_bitmap *bitmap, struct pgt_gather *gather);

/*
 * What a kernel does when an access (as for pgt_translate) faults for
 * access-flag or dirty tracking, or spuriously: a read or fetch sets PGT_YOUNG,
 * a write, where PGT_WRITE is held, PGT_YOUNG and PGT_DIRTY, in every member of
 * a run.  PGT_OK always invalidates the leaf or run on this CPU
 * (PGT_TLB_LOCAL), also when nothing changed.  Errors: PGT_EINVAL, PGT_ERANGE,
 * PGT_ENOENT (a hole or token), PGT_EACCES, PGT_ECORRUPT.
 */
PGT_API int pgt_fault(struct pgt *t, uint64_t va, uint64_t access, struct pgt_gather *gather);

/*
 * Puts a token over an empty range, or over mappings with PGT_REPLACE, in the
 * largest entries that the range and PGT_MAX_LEAF allow; PGT_SEQUENCE: pages,
 * each token one more than the one before.  A token has at least 48 bits; too
 * wide is PGT_ERANGE.  Flags: PGT_REPLACE, PGT_SEQUENCE, PGT_KEEP_TABLES,
 * PGT_NO_SPLIT, PGT_NO_BREAK, PGT_MAX_LEAF.  Errors: as pgt_map.
 */
PGT_API int pgt_store(struct pgt *t, uint64_t va, uint64_t len, uint64_t token, unsigned flags,
		      struct pgt_gather *gather);

/*
 * Frees the empty tables that the range touches, which PGT_KEEP_TABLES or
 * PGT_FEAT_PARALLEL left; under the latter it needs the writer's lock.
 * TLB: the walk-cache form.  Errors: PGT_EINVAL, PGT_EALIGN, PGT_ERANGE.
 */
PGT_API int pgt_trim(struct pgt *t, uint64_t va, uint64_t len, struct pgt_gather *gather);

#ifdef __cplusplus
}
#endif
#endif
