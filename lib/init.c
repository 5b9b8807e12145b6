/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Making and unmaking an address space: its configuration, geometry and root. */
#include "call.h"

#define SMALLEST_ROOT 64

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static const struct pgt_backend *find_backend(struct pgt *t, const char *format)
{
	for (unsigned i = 0; pgt_backends[i]; i++)
		for (unsigned k = 0; pgt_backends[i]->formats[k]; k++)
			if (!format || equal(format, pgt_backends[i]->formats[k])) {
				t->format = pgt_backends[i]->formats[k];
				return pgt_backends[i];
			}
	return NULL;
}

/* A configuration of a later release may be larger, if it asks for nothing more. */
static int check_size(const struct pgt_config *config)
{
	const unsigned char *bytes = (const void *)config;

	if (config->size < sizeof *config)
		return PGT_EINVAL;
	for (uint32_t i = sizeof *config; i < config->size; i++)
		if (bytes[i])
			return PGT_ENOTSUP;
	return PGT_OK;
}

static bool no_memory(const struct pgt_memory *m)
{
	return !m->alloc && !m->free && !m->to_virt && !m->written && !m->window &&
	       !m->window_pa && !m->window_bytes && !m->ctx;
}

static int setup_callbacks(struct pgt *t, const struct pgt_config *config, bool attach)
{
	const struct pgt_memory *m = &t->memory;

	t->memory = config->memory;
	t->tlb = config->tlb;
	t->pages = config->pages;
	t->read_only = attach && !m->alloc;
#if PGT_HAVE_HOSTED
	if (no_memory(m))
		t->memory = pgt_hosted_memory;
#else
	(void)no_memory;
#endif
	if (!m->alloc != !m->free && !(attach && !m->alloc))
		return PGT_EINVAL;
	if (!attach && !m->alloc)
		return PGT_EINVAL;
	if (!m->to_virt == !m->window_bytes)
		return PGT_EINVAL;
	return !t->tlb.invalidate == !t->tlb.sync ? PGT_OK : PGT_EINVAL;
}

static int check_features(const struct pgt *t)
{
	uint64_t f = t->features;

	if ((f & PGT_FEAT_HW_DIRTY) && !(f & PGT_FEAT_HW_YOUNG))
		return PGT_ENOTSUP;
	/* Walkers that update entries must be coherent. */
	if ((f & PGT_FEAT_HW_YOUNG) && t->memory.written)
		return PGT_ENOTSUP;
	return PGT_OK;
}

/* The start level, and which levels have leaves and runs (Arm ARM D8.2). */
static void setup_geometry(struct pgt *t)
{
	unsigned index_bits = t->granule_bits - 3u;
	unsigned levels = (t->input_bits - t->granule_bits + index_bits - 1) / index_bits;
	unsigned root_entries;

	t->start_level = (int8_t)(PGT_LAST_LEVEL + 1 - (int)levels);
	t->last = (UINT64_C(1) << t->input_bits) - 1;
	t->base = t->features & PGT_FEAT_UPPER ? ~t->last : 0;
	for (int level = -1; level <= PGT_LAST_LEVEL; level++) {
		unsigned shift = t->granule_bits + index_bits * (unsigned)(PGT_LAST_LEVEL - level);
		bool blocks = level == PGT_LAST_LEVEL || !(t->features & PGT_FEAT_NO_BLOCKS);

		t->shift[level + 1] = (uint8_t)(shift < 63 ? shift : 63);
		if (level < t->start_level || !blocks)
			t->leaf_levels &= (uint8_t)~(1u << (level + 1));
		if (!level_has_leaves(t, level))
			t->run_bits[level + 1] = 0;
	}
	root_entries = table_entries(t, t->start_level);
	if (root_entries < 1u << t->run_bits[t->start_level + 1])
		t->run_bits[t->start_level + 1] = 0;
	t->root_bytes = (uint64_t)root_entries * sizeof(struct pgt_entry);
	if (t->root_bytes < SMALLEST_ROOT)
		t->root_bytes = SMALLEST_ROOT;
}

int pgt_setup(struct pgt *t, const struct pgt_config *config, bool attach)
{
	int status;

	*t = (struct pgt){ 0 };
	status = config ? check_size(config) : PGT_EINVAL;
	if (status == PGT_EINVAL)
		return status;
	if (setup_callbacks(t, config, attach) != PGT_OK)
		return PGT_EINVAL;
	t->backend = find_backend(t, config->format);
	t->attached = attach;
	t->held_global = attach;
	t->granule_bits = config->granule_bits ? config->granule_bits : 12;
	t->input_bits = config->input_bits ? config->input_bits : 48;
	t->output_bits = config->output_bits ? config->output_bits : 48;
	t->features = config->features;
	if (status != PGT_OK || !t->backend)
		return PGT_ENOTSUP;
	status = t->backend->configure(t, config);
	if (status == PGT_OK)
		status = check_features(t);
	if (status == PGT_OK)
		setup_geometry(t);
	return status;
}

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
