/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory images for t/tool.sh, with address spaces that the library makes: as
 * raw files and as ELF cores, with a file of registers each, whole and spoilt.
 * All that is written depends on nothing but this file.
 *
 *	tool_image FOLDER
 */
#include <pgtable/arm64.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RAM   UINT64_C(0x40000000)
#define BYTES (UINT64_C(1) << 20)
#define K     UINT64_C(1024)
#define M     (K * K)
#define G     (K * M)

static unsigned char *ram;
static const char *folder;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "tool_image: %s\n", what);
	exit(1);
}

static FILE *create(const char *name)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "wb");
	if (!f)
		die(path);
	return f;
}

static void put(FILE *f, const void *bytes, size_t n)
{
	if (fwrite(bytes, 1, n, f) != n)
		die("can't write");
}

static void done(FILE *f)
{
	if (fclose(f) != 0)
		die("can't write");
}

/* ---- Files ---- */

static void save(const char *name, uint64_t bytes)
{
	FILE *f = create(name);

	put(f, ram, (size_t)bytes);
	done(f);
}

static void little(unsigned char *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static void program_header(FILE *f, uint32_t type, uint64_t offset, uint64_t pa, uint64_t bytes)
{
	unsigned char p[56] = { 0 };

	little(p, type, 4);
	little(p + 8, offset, 8);
	little(p + 24, pa, 8);
	little(p + 32, bytes, 8);
	little(p + 40, bytes, 8);
	put(f, p, sizeof p);
}

/* A core as dump-guest-memory writes it: a note of any length, then memory, here
 * in two segments; nothing is aligned. */
static void save_elf(const char *name)
{
	static const unsigned char ident[16] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
	static const char note[20] = "a note";
	const uint64_t first = 64 + 3 * 56 + sizeof note, cut = 512 * K;
	unsigned char h[64] = { 0 };
	FILE *f = create(name);

	memcpy(h, ident, sizeof ident);
	little(h + 16, 4, 2);   /* ET_CORE */
	little(h + 18, 183, 2); /* AArch64 */
	little(h + 20, 1, 4);
	little(h + 32, 64, 8);  /* program headers */
	little(h + 52, 64, 2);
	little(h + 54, 56, 2);
	little(h + 56, 3, 2);
	put(f, h, sizeof h);
	program_header(f, 4, 64 + 3 * 56, 0, sizeof note);
	program_header(f, 1, first, RAM, cut);
	program_header(f, 1, first + cut, RAM + cut, BYTES - cut);
	put(f, note, sizeof note);
	put(f, ram, BYTES);
	done(f);
}

static void line(FILE *f, const char *name, uint64_t value)
{
	if (fprintf(f, "%s = 0x%" PRIx64 "\n", name, value) < 0)
		die("can't write");
}

static void save_registers(const char *name, const struct pgt *lower, const struct pgt *upper)
{
	struct pgt_arm64_regs r = { .size = sizeof r };
	FILE *f;

	if (pgt_arm64_regs(lower, upper, &r) != PGT_OK)
		die("pgt_arm64_regs");
	f = create(name);
	fprintf(f, "# what a CPU would hold\nregime = el1\n\n");
	line(f, "ttbr0", r.ttbr0);
	line(f, "ttbr1", r.ttbr1);
	line(f, "tcr", r.tcr);
	line(f, "mair", r.mair);
	fprintf(f, "base = 0x%" PRIx64 " # RAM\n", RAM);
	done(f);
}

/* A stage 2 of 40 bits that starts at level 1, with two tables side by side. */
static void save_registers2(const char *name, const struct pgt *stage2)
{
	const uint64_t vtcr = 24 | 1 << 6 | 1 << 8 | 1 << 10 | 3 << 12 | 2 << 16 | UINT64_C(1) << 31;
	FILE *f = create(name);

	fprintf(f, "regime = s2\n");
	line(f, "VTTBR_EL2", pgt_root(stage2));
	line(f, "VTCR_EL2", vtcr);
	line(f, "HCR_EL2", UINT64_C(0x80000001));
	line(f, "base", RAM);
	done(f);
}

/* ---- Address spaces ---- */

static struct pgt *make(const char *format, struct pgt_arena *arena, uint64_t at, unsigned input, uint64_t features)
{
	struct pgt_config config = {
		.size = sizeof config,
		.format = format,
		.input_bits = (uint8_t)input,
		.output_bits = 40,
		.features = features | PGT_FEAT_CONTIG,
	};
	struct pgt *t;

	if (pgt_arena_init(arena, ram + at, BYTES / 2, RAM + at) != PGT_OK)
		die("pgt_arena_init");
	config.memory = pgt_arena_memory(arena);
	return pgt_create(&config, &t) == PGT_OK ? t : NULL;
}

static void map(struct pgt *t, uint64_t va, uint64_t pa, uint64_t len, uint64_t attr)
{
	int status = pgt_map(t, va, pa, len, attr, 0, NULL);

	if (status != PGT_OK) {
		fprintf(stderr, "tool_image: 0x%" PRIx64 ": %s\n", va, pgt_strerror(status));
		exit(1);
	}
}

/* A process: code, data in pages from here and there, a stack. */
static void make_user(struct pgt *t)
{
	const uint64_t data = PGT_READ | PGT_WRITE | PGT_USER;

	map(t, 0x400000, 0x80000000, 32 * K, PGT_READ | PGT_USER | PGT_UEXEC);
	for (uint64_t i = 0; i < 16; i++)
		map(t, 0x500000 + 4 * K * i, 0x90000000 + 4 * K * (i * 7 % 16), 4 * K, data);
	map(t, 0x600000, 0x88000000, 2 * M, data);
	map(t, 0x7ffffff000, 0x91000000, 4 * K, data);
}

/* A kernel: code, constants, all memory, a device, and a hole in its defences. */
static void make_kernel(struct pgt *t)
{
	const uint64_t k = PGT_READ | PGT_GLOBAL, top = UINT64_C(0xffffff8000000000);

	map(t, top, 0x40000000, 64 * K, k);
	map(t, top + 2 * M, 0x40200000, 14 * M, k | PGT_WRITE);
	map(t, top + G, 0x80000000, G, k | PGT_WRITE);
	map(t, top + 3 * G, 0x40210000, 192 * K, k | PGT_EXEC);
	map(t, top + 3 * G + M, 0x40310000, 8 * K, k | PGT_EXEC | PGT_WRITE);
	map(t, top + 4 * G, 0x09000000, 4 * K, k | PGT_WRITE | PGT_MEM_DEVICE);
	map(t, top + 5 * G, 0x50000000, 16 * K, k | PGT_WRITE | PGT_MEM_NOCACHE | PGT_SH_NONE);
	map(t, UINT64_C(0xfffffffffffff000), 0x51000000, 4 * K, k);
}

static void entry(uint64_t at, uint64_t value)
{
	little(ram + at, value, 8);
}

static uint64_t root_of(const struct pgt *t)
{
	return pgt_root(t) - RAM;
}

/* The same image a little later. */
static void save_later(struct pgt *user, struct pgt *kernel)
{
	const uint64_t top = UINT64_C(0xffffff8000000000);

	if (pgt_unmap(user, 0x7ffffff000, 4 * K, 0, NULL) ||
	    pgt_protect(kernel, top + 3 * G + M, 8 * K, 0, PGT_WRITE, 0, NULL))
		die("can't change it");
	map(user, 0xa00000, 0x92000000, 12 * K, PGT_READ | PGT_USER);
	save("later.img", BYTES);
}

/* Each kind of damage to the user's half, in a file of its own. */
static void save_damaged(const struct pgt *user)
{
	uint64_t root = root_of(user), self = RAM + root;

	entry(root + 8, UINT64_C(0x123456000) | 3);
	entry(root + 16, self | 3);
	entry(root + 24, (RAM + BYTES - 4 * K) | 3);
	entry(root + 32, UINT64_C(0x8000000000) | 1 | 1 << 10); /* beyond 40 bits of output */
	save("damaged.img", BYTES);
	for (unsigned i = 8; i <= 32; i += 8)
		entry(root + i, 0);
}

/* A gibibyte, sparse, with a root whose every entry leads to one table, and all of
 * that table's to itself; or two tables that lead to one another by turns. */
static void save_circles(const char *name, const struct pgt *user, bool turns)
{
	uint64_t root = root_of(user), a = BYTES / 2 + 64 * K, b = a + 4 * K;
	unsigned char *kept = malloc(BYTES);
	FILE *f = create(name);

	if (!kept)
		die("no memory");
	memcpy(kept, ram, BYTES);
	for (unsigned i = 0; i < 512; i++) {
		entry(root + 8 * i, (RAM + (i % 2 && turns ? b : a)) | 3 | 1 << 10);
		entry(a + 8 * i, (RAM + (i % 2 && turns ? b : a)) | 3 | 1 << 10);
		entry(b + 8 * i, (RAM + (i % 2 && turns ? a : b)) | 3 | 1 << 10);
	}
	put(f, ram, BYTES);
	if (fseek(f, (long)(G - 1), SEEK_SET) != 0)
		die("can't seek");
	put(f, "", 1);
	done(f);
	memcpy(ram, kept, BYTES);
	free(kept);
}

/* A guest behind a stage 2.  Its tables lie where it thinks they do; its memory
 * does not. */
static void save_guest(void)
{
	struct pgt_arena first, second;
	struct pgt *guest, *stage2;

	memset(ram, 0, BYTES);
	stage2 = make("arm64-s2", &second, BYTES / 2, 40, 0);
	guest = make("arm64", &first, 0, 39, 0);
	if (!stage2 || !guest)
		die("a guest");
	map(stage2, RAM, RAM, BYTES, PGT_READ | PGT_WRITE);
	map(stage2, 0x80000000, 0xc0000000, 2 * M, PGT_READ | PGT_WRITE | PGT_EXEC | PGT_UEXEC);
	map(stage2, 0x80200000, 0xd0001000, 64 * K, PGT_READ);
	map(guest, 0x400000, 0x80000000, 2 * M, PGT_READ | PGT_WRITE);
	map(guest, 0x800000, 0x80200000, 128 * K, PGT_READ | PGT_WRITE);
	save("guest.img", BYTES);
	save_registers("stage1.regs", guest, NULL);
	save_registers2("stage2.regs", stage2);
}

int main(int argc, char **argv)
{
	struct pgt_arena low, high;
	struct pgt *user, *kernel;

	if (argc != 2)
		die("usage: tool_image FOLDER");
	folder = argv[1];
	ram = aligned_alloc(64 * K, BYTES);
	if (!ram)
		die("no memory");
	memset(ram, 0, BYTES);
	user = make("arm64", &low, 0, 39, 0);
	kernel = make("arm64", &high, BYTES / 2, 39, PGT_FEAT_UPPER);
	if (!user || !kernel)
		die("arm64 is not built");
	make_user(user);
	make_kernel(kernel);
	save("ram.img", BYTES);
	save("cut.img", BYTES / 2 + 2 * K);
	save_elf("ram.elf");
	save_registers("ram.regs", user, kernel);
	save_registers("user.regs", user, NULL);
	save_damaged(user);
	save_circles("self.img", user, false);
	save_circles("turns.img", user, true);
	save_later(user, kernel);
	save_guest();
	free(ram);
	return 0;
}
