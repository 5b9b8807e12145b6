/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* A configuration checked and put in force: callbacks, format, features, geometry. */
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
	unsigned levels = t->levels ? t->levels : (t->input_bits - t->granule_bits + index_bits - 1) / index_bits;
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
