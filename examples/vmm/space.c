/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "space.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)

static struct pgt *make_half(struct space *space, const struct pgt_tlb *tlb, uint64_t features)
{
	const struct pgt_config config = {
		.size = sizeof(config),
		.format = "arm64",
		.granule_bits = 12,
		.input_bits = 48,
		.features = PGT_FEAT_CONTIG | features,
		.memory = pgt_arena_memory(&space->arena),
		.tlb = *tlb,
	};
	struct pgt *t;

	must(pgt_create(&config, &t), "pgt_create");
	return t;
}

void space_make(struct space *space, const struct machine *m, const struct pgt_tlb *tlb)
{
	memset(space, 0, sizeof(*space));
	must(pgt_arena_init(&space->arena, ram_at(m, TABLES_PA), TABLES_BYTES, TABLES_PA),
	     "pgt_arena_init");
	space->lower = make_half(space, tlb, 0);
	space->upper = make_half(space, tlb, PGT_FEAT_UPPER);
}

static void remember(struct space *space, const char *name, uint64_t va, uint64_t len)
{
	struct region *last = space->regions ? &space->region[space->regions - 1] : NULL;

	if (last && strcmp(last->name, name) == 0 && last->va + last->len == va) {
		last->len += len;
		return;
	}
	if (space->regions == sizeof(space->region) / sizeof(space->region[0]))
		die("too many regions");
	space->region[space->regions++] = (struct region){ name, va, len };
}

void space_map(struct space *space, const char *name, uint64_t va, uint64_t pa, uint64_t len,
	       uint64_t attr, unsigned flags)
{
	const int status = pgt_map(space_half(space, va), va, pa, len, attr, flags, NULL);

	if (status != PGT_OK)
		die("mapping %s: %s", name, pgt_strerror(status));
	remember(space, name, va, len);
}

/* The kernel: the upper half, one translation for every process (PGT_GLOBAL). */
static void fill_upper(struct space *s, const struct guest_image *image)
{
	const uint64_t text = image->user, rodata = image->data - image->rodata;
	const uint64_t data = image->end - image->data;

	space_map(s, "kernel text", KERNEL_VA, KERNEL_PA, text, READ_EXEC | PGT_GLOBAL, 0);
	if (rodata)
		space_map(s, "kernel constants", KERNEL_VA + image->rodata, KERNEL_PA + image->rodata,
			  rodata, READ_ONLY | PGT_GLOBAL, 0);
	if (data)
		space_map(s, "kernel data", KERNEL_VA + image->data, KERNEL_PA + image->data, data,
			  READ_WRITE | PGT_GLOBAL, 0);
	space_map(s, "kernel stack", STACK_VA, STACK_PA, STACK_BYTES, READ_WRITE | PGT_GLOBAL, 0);
	space_map(s, "mailbox", MAILBOX_VA, MAILBOX_PA, MAILBOX_BYTES, READ_WRITE | PGT_GLOBAL, 0);
	space_map(s, "serial port", UART_VA, UART_PA, 4 * KIB,
		  READ_WRITE | PGT_GLOBAL | PGT_MEM_DEVICE, 0);
	space_map(s, "kernel heap", 0xffff800040000000, 0x41000000, 8 * MIB,
		  READ_WRITE | PGT_GLOBAL, 0);
	space_map(s, "module text", 0xffff800080010000, 0x41810000, 256 * KIB,
		  READ_EXEC | PGT_GLOBAL, 0);
	space_map(s, "uncached buffer", 0xffff8000c0000000, 0x41900000, 16 * KIB,
		  READ_WRITE | PGT_GLOBAL | PGT_MEM_NOCACHE, 0);
	space_map(s, "all of high RAM", 0xffff900000000000, 0x42000000, 32 * MIB,
		  READ_WRITE | PGT_GLOBAL, 0);
	space_map(s, "the last page", 0xfffffffffffff000, 0x41a00000, 4 * KIB, READ_ONLY, 0);
}

/* A process, and the page that start.S turns the MMU on in. */
static void fill_lower(struct space *s, const struct guest_image *image)
{
	space_map(s, "user text", USER_VA, KERNEL_PA + image->user, 4 * KIB, USER_READ_EXEC, 0);
	space_map(s, "user constants", 0x500000, 0x41b00000, 128 * KIB, USER_READ_ONLY, 0);
	space_map(s, "user data", 0x600000, 0x41c00000, 192 * KIB, USER_READ_WRITE, 0);
	space_map(s, "user code, unreadable", 0x700000, 0x41a01000, 4 * KIB, PGT_UEXEC, 0);
	space_map(s, "just-in-time code", 0x800000, 0x41a04000, 16 * KIB,
		  USER_READ_WRITE | PGT_UEXEC, 0);
	space_map(s, "forbidden for now", 0x900000, 0x41a08000, 8 * KIB,
		  USER_READ_WRITE | PGT_NOACCESS, 0);
	space_map(s, "identity page", KERNEL_PA, KERNEL_PA, 4 * KIB, READ_EXEC, 0);
	space_map(s, "kernel's own", 0x50000000, 0x41a0c000, 16 * KIB, READ_WRITE, 0);
	space_map(s, "user heap", 0x1000000000, 0x41200000, 6 * MIB + 76 * KIB, USER_READ_WRITE, 0);
	/* Pages as they come: each somewhere else. */
	for (uint64_t page = 0; page < 16; page++)
		space_map(s, "user stack", 0x7ffffff00000 + page * 4 * KIB,
			  0x43000000 + (page * 37 % 16) * 20 * KIB, 4 * KIB, USER_READ_WRITE, 0);
	space_map(s, "the last page", 0x0000fffffffff000, 0x41a10000, 4 * KIB, USER_READ_ONLY, 0);
}

void space_fill(struct space *space, const struct machine *m)
{
	fill_lower(space, &m->image);
	fill_upper(space, &m->image);
}

/* ---- The drawing ------------------------------------------------------ */

/* A box: leaves of one region that follow each other and look alike. */
struct box {
	const char *name;
	uint64_t va, end, pa, attr;
	bool scattered;
	uint64_t pages, blocks, runs, run_bytes, block_bytes;
};

struct drawing {
	const struct space *space;
	struct box box[64];
	size_t boxes;
};

static const char *name_of(const struct space *space, uint64_t va)
{
	for (size_t i = space->regions; i-- > 0;)
		if (va >= space->region[i].va && va - space->region[i].va < space->region[i].len)
			return space->region[i].name;
	return "?";
}

static void count_leaf(struct box *box, const struct pgt_mapping *leaf)
{
	if (leaf->run_bytes > leaf->len) {
		box->run_bytes = leaf->run_bytes;
		box->runs += leaf->va % leaf->run_bytes == 0;
	} else if (leaf->level < 3) {
		box->block_bytes = leaf->len;
		box->blocks++;
	} else {
		box->pages++;
	}
}

static int add_leaf(void *ctx, const struct pgt_mapping *leaf)
{
	struct drawing *d = ctx;
	struct box *box = d->boxes ? &d->box[d->boxes - 1] : NULL;
	const char *name = name_of(d->space, leaf->va);

	if (!box || box->end != leaf->va - 1 || strcmp(box->name, name) != 0 ||
	    box->attr != leaf->attr) {
		if (d->boxes == sizeof(d->box) / sizeof(d->box[0]))
			return 1;
		box = &d->box[d->boxes++];
		*box = (struct box){ .name = name, .va = leaf->va, .pa = leaf->pa,
				     .attr = leaf->attr };
	} else if (leaf->pa - box->pa != leaf->va - box->va) {
		box->scattered = true;
	}
	box->end = leaf->va + (leaf->len - 1);
	count_leaf(box, leaf);
	return 0;
}

static const char *size_text(uint64_t bytes, char *text, size_t room)
{
	if (bytes % MIB == 0)
		snprintf(text, room, "%llu MiB", (unsigned long long)(bytes / MIB));
	else
		snprintf(text, room, "%llu KiB", (unsigned long long)(bytes / KIB));
	return text;
}

/* What hardware lets each exception level do, as the library says it. */
static void print_rights(const struct space *space, uint64_t va)
{
	static const uint64_t access[] = { PGT_READ, PGT_WRITE, PGT_EXEC };
	char rights[2][4];

	for (size_t user = 0; user < 2; user++) {
		for (size_t i = 0; i < 3; i++) {
			struct pgt_translation tr;
			const int status = pgt_translate(space_half(space, va), va,
							 access[i] | (user ? PGT_USER : 0), &tr);

			rights[user][i] = status == PGT_OK ? "rwx"[i] : '-';
		}
		rights[user][3] = '\0';
	}
	printf("EL1 %s  EL0 %s", rights[0], rights[1]);
}

static void print_box(const struct drawing *d, const struct box *box)
{
	char size[32];

	printf("  %016llx | %-22s| ", (unsigned long long)box->va, box->name);
	print_rights(d->space, box->va);
	if (box->scattered)
		printf("  -> here and there ");
	else
		printf("  -> PA 0x%08llx  ", (unsigned long long)box->pa);
	if (box->blocks)
		printf(" %llu block%s of %s", (unsigned long long)box->blocks,
		       box->blocks > 1 ? "s" : "", size_text(box->block_bytes, size, sizeof(size)));
	if (box->runs)
		printf("%s %llu run%s of %s", box->blocks ? " +" : "", (unsigned long long)box->runs,
		       box->runs > 1 ? "s" : "", size_text(box->run_bytes, size, sizeof(size)));
	if (box->pages)
		printf("%s %llu page%s", box->runs || box->blocks ? " +" : "",
		       (unsigned long long)box->pages, box->pages > 1 ? "s" : "");
	if ((box->attr & PGT_MEM_MASK) == PGT_MEM_DEVICE)
		printf(", device");
	if ((box->attr & PGT_MEM_MASK) == PGT_MEM_NOCACHE)
		printf(", uncached");
	printf("\n");
}

#define EDGE "-----------------------+"
#define HOLE "                   :                       :\n"

static void draw_half(const struct space *space, const struct pgt *t, uint64_t va, uint64_t len,
		      const char *title)
{
	static struct drawing d;
	uint64_t above;

	d.space = space;
	d.boxes = 0;
	must(pgt_visit(t, va, len, 0, add_leaf, &d), "pgt_visit");
	printf("                    %s\n", title);
	printf("  %016llx +" EDGE "\n", (unsigned long long)(va + (len - 1)));
	above = va + (len - 1);
	for (size_t i = d.boxes; i-- > 0;) {
		if (d.box[i].end != above)
			printf(HOLE);
		print_box(&d, &d.box[i]);
		above = d.box[i].va - 1;
	}
	if (above != va - 1)
		printf(HOLE);
	printf("  %016llx +" EDGE "\n", (unsigned long long)va);
}

void space_draw(const struct space *space)
{
	draw_half(space, space->upper, 0xffff000000000000, UINT64_C(1) << 48,
		  "the upper half, through TTBR1_EL1: the kernel");
	printf("                    ... addresses that are in neither half ...\n");
	draw_half(space, space->lower, 0, UINT64_C(1) << 48,
		  "the lower half, through TTBR0_EL1: a process");
}
