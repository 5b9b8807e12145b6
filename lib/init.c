/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Making and unmaking an address space, and what it says of itself. */
#include "call.h"

int pgt_make_root(struct pgt *t)
{
	int status = pgt_table_alloc(t, t->root_bytes, &t->root_pa, &t->root);

	if (status == PGT_OK && t->memory.written)
		t->memory.written(t->memory.ctx, t->root, t->root_bytes);
	return status;
}

int pgt_adopt(struct pgt *t, uint64_t root_pa)
{
	if (root_pa & (t->root_bytes - 1))
		return PGT_EALIGN;
	if (root_pa & beyond_output(t))
		return PGT_ERANGE;
	t->root_pa = root_pa;
	t->root = table_at(t, root_pa, t->root_bytes);
	return t->root ? PGT_OK : PGT_ECORRUPT;
}

uint64_t pgt_storage(const struct pgt_config *config)
{
	struct pgt t;

	if (pgt_setup(&t, config, false) != PGT_OK)
		return 0;
	return (sizeof(struct pgt) + 15) & ~(uint64_t)15;
}

int pgt_init(void *storage, uint64_t bytes, const struct pgt_config *config, struct pgt **out)
{
	struct pgt *t = storage;
	int status;

	if (!storage || !out || bytes < sizeof *t || ((uintptr_t)storage & 15))
		return PGT_EINVAL;
	status = pgt_setup(t, config, false);
	if (status == PGT_OK)
		status = pgt_make_root(t);
	if (status == PGT_OK)
		*out = t;
	return status;
}

/* Nobody has the root loaded, but a TLB may still hold what was under it. */
void pgt_destroy(struct pgt *t)
{
	const struct pgt_tlb_range all = { .level = PGT_LEVEL_UNKNOWN, .flags = PGT_TLB_ALL | PGT_TLB_WALK };
	struct pgt_gather own;
	struct call c = { .t = t, .gather = &own };

	if (!t)
		return;
	if (t->tlb.invalidate) {
		struct pgt_tlb_range range = all;

		range.stride_bits = t->granule_bits;
		t->tlb.invalidate(t->tlb.ctx, &range);
		t->tlb.sync(t->tlb.ctx);
	}
	if (!t->read_only)
		pgt_reserve(t, 0);
	if (!t->attached) {
		own.tally = (struct pgt_tally){ 0 };
		t->backend->free_tables(&c);
		pgt_table_free(t, t->root_pa, t->root_bytes);
	}
	if (t->release)
		t->release(t);
}

uint64_t pgt_root(const struct pgt *t)
{
	return t ? t->root_pa : 0;
}

int pgt_describe(const struct pgt *t, struct pgt_config *config)
{
	struct pgt_config in_force;
	const unsigned char *from = (const void *)&in_force;
	unsigned char *to = (void *)config;
	uint32_t size;

	if (!t || !config || config->size < sizeof config->size)
		return PGT_EINVAL;
	size = config->size < sizeof in_force ? config->size : (uint32_t)sizeof in_force;
	in_force = (struct pgt_config){
		.size = size,
		.format = t->format,
		.granule_bits = t->granule_bits,
		.input_bits = t->input_bits,
		.output_bits = t->output_bits,
		.features = t->features,
		.memory = t->memory,
		.tlb = t->tlb,
		.pages = t->pages,
		.format_config = t->format_config,
	};
	for (uint32_t i = 0; i < size; i++)
		to[i] = from[i];
	return PGT_OK;
}

uint64_t pgt_leaf_sizes(const struct pgt *t)
{
	uint64_t sizes = 0;

	for (int level = t ? t->start_level : PGT_LAST_LEVEL + 1; level <= PGT_LAST_LEVEL; level++) {
		if (!level_has_leaves(t, level))
			continue;
		sizes |= UINT64_C(1) << level_shift(t, level);
		if (t->features & PGT_FEAT_CONTIG)
			sizes |= UINT64_C(1) << run_shift(t, level);
	}
	return sizes;
}
