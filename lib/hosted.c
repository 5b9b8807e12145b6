/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What needs a C library: an allocator, and address spaces in memory of its. */
#include "call.h"
#include <stdlib.h>
#include <string.h>

static int hosted_alloc(void *ctx, uint64_t bytes, uint64_t *pa)
{
	void *table = aligned_alloc((size_t)bytes, (size_t)bytes);

	(void)ctx;
	if (!table)
		return -1;
	memset(table, 0, (size_t)bytes);
	*pa = (uintptr_t)table;
	return 0;
}

static void hosted_free(void *ctx, uint64_t pa, uint64_t bytes)
{
	(void)ctx, (void)bytes;
	free((void *)(uintptr_t)pa);
}

/* PA = address. */
const struct pgt_memory pgt_hosted_memory = {
	.alloc = hosted_alloc,
	.free = hosted_free,
	.window_bytes = UINT64_MAX,
};

static void hosted_release(struct pgt *t)
{
	free(t);
}

static int hosted_make(const struct pgt_config *config, bool attach, uint64_t root_pa, struct pgt **out)
{
	struct pgt *t;
	int status;

	if (!out)
		return PGT_EINVAL;
	t = malloc(sizeof *t);
	if (!t)
		return PGT_ENOMEM;
	status = pgt_setup(t, config, attach);
	if (status == PGT_OK)
		status = attach ? pgt_adopt(t, root_pa) : pgt_make_root(t);
	if (status != PGT_OK) {
		free(t);
		return status;
	}
	t->release = hosted_release;
	*out = t;
	return PGT_OK;
}

int pgt_create(const struct pgt_config *config, struct pgt **out)
{
	return hosted_make(config, false, 0, out);
}

int pgt_attach(const struct pgt_config *config, uint64_t root_pa, struct pgt **out)
{
	return hosted_make(config, true, root_pa, out);
}
