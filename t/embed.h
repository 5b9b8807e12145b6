/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an embedder supplies, for the tests: a table allocator over one buffer
 * that counts, can fail, poisons what it doesn't lend and refuses every misuse;
 * TLB callbacks; and one log of all that the library asks for, in order.
 * Misuse that no test could go on after ends the program with "Bail out!".
 */
#ifndef PGT_T_EMBED_H
#define PGT_T_EMBED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <pgtable/pgtable.h>

/* Every word of memory that isn't a live table. */
#define EMBED_POISON UINT64_C(0xdeadbeefdeadbeef)

/* Where the buffer lies for the library, unless a test says otherwise. */
#define EMBED_PA UINT64_C(0x80000000)

/* Modes of embed_config(). */
#define EMBED_WINDOW   (1u << 0) /* memory.window instead of to_virt */
#define EMBED_ANYWHERE (1u << 1) /* to_virt answers for the whole buffer, not for live tables only */
#define EMBED_TLB      (1u << 2) /* invalidate and sync */
#define EMBED_WRITTEN  (1u << 3)
#define EMBED_PUBLISH  (1u << 4)
#define EMBED_ALL      (EMBED_TLB | EMBED_WRITTEN | EMBED_PUBLISH)

enum embed_kind {
	EMBED_ALLOC,      /* pa, bytes */
	EMBED_REFUSED,    /* an allocation that was made to fail: bytes */
	EMBED_FREE,       /* pa, bytes */
	EMBED_WRITTEN_EV, /* pa of the entries, bytes */
	EMBED_PUBLISH_EV,
	EMBED_INVALIDATE, /* range */
	EMBED_SYNC,
	EMBED_KINDS
};

struct embed_event {
	enum embed_kind kind;
	uint64_t pa, bytes;
	struct pgt_tlb_range range;
};

#define EMBED_EVENTS 4096

struct embed_table {
	uint64_t pa, bytes;
};

struct embed;
typedef void embed_hook_fn(struct embed *, const struct embed_event *);

struct embed {
	unsigned char *buffer;
	uint64_t pa, bytes;
	unsigned char *shadow;  /* what written() has announced, at the same offsets */
	unsigned mode;
	uint64_t least;         /* bytes of the smallest table that may be asked for */

	/* The live tables, in no order; slot_table gives the index + 1 by slot of 4K. */
	struct embed_table *tables;
	uint64_t live;
	uint32_t *slot_table;
	unsigned char *slot_touched;
	uint64_t slots, cursor;

	uint64_t allocated, freed; /* calls, since embed_init */
	uint64_t live_bytes;
	uint64_t fail_at;          /* the allocation that fails, counted down to 1; 0: none */
	bool fail_on;              /* and all later ones */
	uint64_t refused_addresses, refused_pa; /* to_virt: how often it said NULL, and the last */
	uint64_t count[EMBED_KINDS];            /* events since embed_log_clear, also those past the log */

	struct embed_event log[EMBED_EVENTS];
	unsigned events;
	bool overflow;             /* events went by that the log had no room for */

	embed_hook_fn *hook;       /* called after an event was logged, before it takes effect */
	void *hook_ctx;
};

/*
 * bytes of memory for tables, the first at pa; both multiples of 1 MiB.  The
 * struct is large: make it static.
 */
void embed_init(struct embed *e, uint64_t bytes, uint64_t pa);
void embed_fini(struct embed *e);

/* Callbacks that use e. */
struct pgt_memory embed_memory(struct embed *e, unsigned mode);
struct pgt_tlb embed_tlb(struct embed *e, unsigned mode);
struct pgt_config embed_config(struct embed *e, const char *format, unsigned granule_bits,
			       unsigned input_bits, unsigned output_bits, uint64_t features,
			       unsigned mode);

/* The k-th allocation from now fails (k = 1: the next), and with `on` all after it; 0: none. */
void embed_fail(struct embed *e, uint64_t k, bool on);

void embed_log_clear(struct embed *e);
const char *embed_kind_name(enum embed_kind kind);
/* The log as TAP comments. */
void embed_log_print(const struct embed *e);
/* The index of the first event of the kind at or after `from`, or -1. */
int embed_find(const struct embed *e, enum embed_kind kind, unsigned from);

/* Memory of [pa, pa + bytes), or NULL where it isn't all inside one live table. */
void *embed_live(const struct embed *e, uint64_t pa, uint64_t bytes);
/* Memory of [pa, pa + bytes), or NULL where it isn't in the buffer. */
void *embed_memory_at(const struct embed *e, uint64_t pa, uint64_t bytes);
/* The first byte of memory outside live tables that isn't poison any more: its PA, or 0. */
uint64_t embed_stray(const struct embed *e);
/* With EMBED_WRITTEN: the PA of a word that was changed and not announced, or 0. */
uint64_t embed_unwritten(const struct embed *e);

/* All live tables as they are now. */
struct embed_snapshot {
	struct embed_table *tables;
	unsigned char *content;
	uint64_t n, room_tables, bytes, room_bytes;
};

/* A zeroed snapshot grows as needed and may be taken again and again. */
void embed_snapshot(const struct embed *e, struct embed_snapshot *s);
/* NULL if the same tables live with the same content, else what differs. */
const char *embed_compare(const struct embed *e, const struct embed_snapshot *s);
void embed_snapshot_free(struct embed_snapshot *s);

/* The input range of a table: its first byte, and its length. */
void embed_range(const struct pgt *t, uint64_t *va, uint64_t *len);
/* A number that stands for everything mapped, raw entries included; 0 and a failed call: 1. */
uint64_t embed_digest(const struct pgt *t);

/* A repeatable sequence. The seed is PGT_TEST_SEED or, without it, the given one. */
struct embed_rng {
	uint64_t state;
};

/* Prints the seed as a TAP comment. */
void embed_seed(struct embed_rng *r, uint64_t seed);
uint64_t embed_random(struct embed_rng *r);
/* 0 to n - 1; n > 0. */
uint64_t embed_below(struct embed_rng *r, uint64_t n);
/* true once in n. */
bool embed_once_in(struct embed_rng *r, uint64_t n);
/* How often to do what is done n times by default: PGT_TEST_ROUNDS multiplies. */
uint64_t embed_rounds(uint64_t n);

#endif
