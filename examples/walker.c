/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a simulator walks tables of the "generic" format by itself, knowing no
 * more than <pgtable/generic.h> says; then its answers are compared with
 * pgt_translate's.
 *
 *	cc walker.c $(pkg-config --cflags --libs libpgtable)
 */
#include <stdio.h>

#include <pgtable/generic.h>
#include <pgtable/pgtable.h>

#define GRANULE_BITS 12
#define INPUT_BITS   39

/*
 * The walker: PGT_OK and the PA, or PGT_EFAULT and the kind of fault.  Tables
 * lie where the C library put them, so an address is a pointer.
 */
static int walk(uint64_t root, uint64_t va, uint64_t access, uint64_t *pa, int *fault)
{
	const unsigned stride = GRANULE_BITS - 3;
	const uint64_t user = access & PGT_USER;
	const uint64_t need = access & PGT_READ ? PGT_GENERIC_READ :
			      access & PGT_WRITE ? PGT_GENERIC_WRITE :
			      user ? PGT_GENERIC_UEXEC : PGT_GENERIC_EXEC;
	const int is_data = !(access & PGT_EXEC);
	unsigned shift = GRANULE_BITS;
	uint64_t table = root, entry;

	while (shift + stride < INPUT_BITS)
		shift += stride;
	for (;; shift -= stride) {
		entry = ((const uint64_t *)(uintptr_t)table)[va >> shift & ((1u << stride) - 1)];
		if (entry & PGT_GENERIC_BROKEN || (entry & PGT_GENERIC_TYPE) != PGT_GENERIC_TABLE)
			break;
		if (shift == GRANULE_BITS) /* a table where pages stand */
			break;
		table = entry & PGT_GENERIC_ADDRESS;
	}
	*fault = PGT_FAULT_TRANSLATION;
	if ((entry & PGT_GENERIC_TYPE) != PGT_GENERIC_LEAF ||
	    entry & (PGT_GENERIC_NOACCESS | PGT_GENERIC_BROKEN))
		return PGT_EFAULT;
	/* This walker doesn't keep young and dirty: it faults where they are clear. */
	*fault = PGT_FAULT_ACCESS_FLAG;
	if (!(entry & PGT_GENERIC_YOUNG))
		return PGT_EFAULT;
	*fault = PGT_FAULT_PERMISSION;
	if (!(entry & need) || (user && is_data && !(entry & PGT_GENERIC_USER)) ||
	    (need == PGT_GENERIC_WRITE && !(entry & PGT_GENERIC_DIRTY)))
		return PGT_EFAULT;
	*pa = (entry & PGT_GENERIC_ADDRESS) + (va & ((UINT64_C(1) << shift) - 1));
	return PGT_OK;
}

static uint64_t state = 88172645463325252u;

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Leaves of several sizes, with some of all attributes, in the first 8 GiB. */
static int fill(struct pgt *t)
{
	static const uint64_t sizes[] = { 1u << 12, 1u << 16, 1u << 21, 1u << 30 };
	const uint64_t attributes = PGT_READ | PGT_WRITE | PGT_EXEC | PGT_UEXEC | PGT_USER |
				    PGT_GLOBAL | PGT_YOUNG | PGT_DIRTY;
	int leaves = 0;

	for (int i = 0; i < 200; i++) {
		const uint64_t size = sizes[random_bits() % 4];
		const uint64_t va = random_bits() % (UINT64_C(1) << 33) & ~(size - 1);
		const uint64_t pa = random_bits() % (UINT64_C(1) << 40) & ~(size - 1);
		uint64_t attr = random_bits() & attributes;

		if (i % 8 == 0)
			attr |= PGT_NOACCESS;
		if (pgt_map(t, va, pa, size, attr, 0, NULL) == PGT_OK)
			leaves++;
	}
	return leaves;
}

static int compare(const struct pgt *t, uint64_t va, uint64_t access)
{
	struct pgt_translation tr = { 0 };
	uint64_t pa = 0;
	int fault = 0;
	const int own = walk(pgt_root(t), va, access, &pa, &fault);
	const int library = pgt_translate(t, va, access, &tr);

	if (own == library && (own == PGT_OK ? pa == tr.pa : fault == tr.fault))
		return 1;
	printf("0x%llx, access 0x%llx: %s here, %s there (faults %d and %d)\n",
	       (unsigned long long)va, (unsigned long long)access, pgt_strerror(own),
	       pgt_strerror(library), fault, tr.fault);
	return 0;
}

int main(void)
{
	static const uint64_t accesses[] = { PGT_READ, PGT_WRITE, PGT_EXEC };
	const struct pgt_config config = {
		.size = sizeof(config),
		.format = "generic",
		.granule_bits = GRANULE_BITS,
		.input_bits = INPUT_BITS,
		.features = PGT_FEAT_CONTIG | PGT_FEAT_TRACK_YOUNG | PGT_FEAT_TRACK_DIRTY,
	};
	int leaves, same = 0;
	struct pgt *t;
	int status = pgt_create(&config, &t);

	if (status != PGT_OK) {
		fprintf(stderr, "pgt_create: %s\n", pgt_strerror(status));
		return 1;
	}
	leaves = fill(t);
	for (int i = 0; i < 1000; i++) {
		const uint64_t va = random_bits() % (UINT64_C(1) << (i % 10 ? 33 : INPUT_BITS));

		same += compare(t, va, accesses[i % 3] | (i & 1 ? PGT_USER : 0));
	}
	pgt_destroy(t);
	printf("%d mappings, 1000 translations, %d the same as pgt_translate's\n", leaves, same);
	return same == 1000 ? 0 : 1;
}
