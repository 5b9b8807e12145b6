/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include <pgtable/pgtable.h>
#include <stdio.h>

int main(void)
{
	static _Alignas(4096) unsigned char ram[8 << 12]; /* the tables; the CPU sees them at 1 GiB */
	struct pgt_config config = { .size = sizeof config, .format = "arm64" };
	struct pgt_translation to;
	struct pgt_arena arena;
	struct pgt *t;

	if (pgt_arena_init(&arena, ram, sizeof ram, 0x40000000))
		return 1;
	config.memory = pgt_arena_memory(&arena);
	if (pgt_create(&config, &t) ||
	    pgt_map(t, 0x200000, 0x80000000, 0x401000, PGT_READ | PGT_WRITE, 0, NULL) ||
	    pgt_translate(t, 0x212345, PGT_WRITE, &to))
		return 1;
	printf("VA 0x212345 is PA %#llx, in a leaf of 2^%u bytes\n", (unsigned long long)to.pa, to.leaf_bits);
}
