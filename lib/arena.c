/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables from one piece of memory: free blocks by size, the rest from the
 * front.  The lists go through the free blocks, which may be a guest's RAM, so
 * what is read there is checked before it is followed.
 */
#include "call.h"

#define ORDER_MIN 5  /* 32 bytes */
#define ORDER_MAX 20 /* 16 granules of 64 KiB */

/* The words inside: how much was handed out from the front, and for each size
 * the first free block, as its offset plus one. */
enum { ARENA_FRONT, ARENA_FREE };

_Static_assert(ARENA_FREE + ORDER_MAX - ORDER_MIN < 20, "the lists fit inside");

static struct pgt_entry *block_at(const struct pgt_arena *a, uint64_t offset)
{
	return (void *)((char *)a->memory + (size_t)offset);
}

static uint64_t *list_of(struct pgt_arena *a, unsigned order)
{
	return &a->inside[ARENA_FREE + order - ORDER_MIN];
}

static bool block_fits(const struct pgt_arena *a, uint64_t offset, unsigned order)
{
	uint64_t size = UINT64_C(1) << order;

	return offset <= a->bytes && size <= a->bytes - offset && !((a->pa + offset) & (size - 1));
}

static void block_push(struct pgt_arena *a, uint64_t offset, unsigned order)
{
	entry_store(block_at(a, offset), *list_of(a, order));
	*list_of(a, order) = offset + 1;
}

static bool block_pop(struct pgt_arena *a, unsigned order, uint64_t *offset)
{
	uint64_t *list = list_of(a, order);

	if (!*list)
		return false;
	*offset = *list - 1;
	if (!block_fits(a, *offset, order)) {
		*list = 0;
		return false;
	}
	*list = entry_load(block_at(a, *offset));
	return true;
}

/* The next aligned block at the front; what it leaves behind goes to the lists. */
static bool block_front(struct pgt_arena *a, unsigned order, uint64_t *offset)
{
	uint64_t mask = (UINT64_C(1) << order) - 1, front = a->inside[ARENA_FRONT];
	uint64_t skip = (0 - (a->pa + front)) & mask;

	if (skip > a->bytes - front || !block_fits(a, front + skip, order))
		return false;
	*offset = front + skip;
	for (unsigned k = ORDER_MIN; k < order; k++)
		if (block_fits(a, front, ORDER_MIN) && ((a->pa + front) >> k & 1) && front < *offset) {
			block_push(a, front, k);
			front += UINT64_C(1) << k;
		}
	a->inside[ARENA_FRONT] = *offset + mask + 1;
	return true;
}

/* Half of a larger free block, or of a half of it. */
static bool block_split(struct pgt_arena *a, unsigned order, uint64_t *offset)
{
	unsigned k = order + 1;

	while (k <= ORDER_MAX && !block_pop(a, k, offset))
		k++;
	if (k > ORDER_MAX)
		return false;
	while (k-- > order)
		block_push(a, *offset + (UINT64_C(1) << k), k);
	return true;
}

/* log2 of a size that the arena serves, or 0. */
static unsigned order_of(uint64_t bytes)
{
	for (unsigned order = ORDER_MIN; order <= ORDER_MAX; order++)
		if (bytes == UINT64_C(1) << order)
			return order;
	return 0;
}

static int arena_alloc(void *ctx, uint64_t bytes, uint64_t *pa)
{
	unsigned order = order_of(bytes);
	struct pgt_arena *a = ctx;
	uint64_t offset;

	if (!order)
		return -1;
	if (!block_pop(a, order, &offset) && !block_front(a, order, &offset) && !block_split(a, order, &offset))
		return -1;
	entry_fill(block_at(a, offset), (unsigned)(bytes / sizeof(struct pgt_entry)), 0, 0);
	*pa = a->pa + offset;
	return 0;
}

static void arena_free(void *ctx, uint64_t pa, uint64_t bytes)
{
	struct pgt_arena *a = ctx;
	unsigned order = order_of(bytes);

	if (order && block_fits(a, pa - a->pa, order))
		block_push(a, pa - a->pa, order);
}

int pgt_arena_init(struct pgt_arena *a, void *memory, uint64_t bytes, uint64_t pa)
{
	if (!a || !memory || !bytes || ((uintptr_t)memory & 7) || (pa & 7))
		return PGT_EINVAL;
	if (bytes - 1 > UINT64_MAX - pa || bytes - 1 > UINTPTR_MAX - (uintptr_t)memory)
		return PGT_ERANGE;
	*a = (struct pgt_arena){ .memory = memory, .bytes = bytes, .pa = pa };
	return PGT_OK;
}

struct pgt_memory pgt_arena_memory(struct pgt_arena *a)
{
	struct pgt_memory none = { 0 };

	if (!a)
		return none;
	return (struct pgt_memory){
		.alloc = arena_alloc,
		.free = arena_free,
		.ctx = a,
		.window = a->memory,
		.window_pa = a->pa,
		.window_bytes = a->bytes,
	};
}
