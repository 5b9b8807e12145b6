/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "space.h"
#include "message.h"
#include <inttypes.h>
#include <string.h>

/* Why tables could not be adopted, in terms of what the user gave. */
static _Noreturn void refuse(const struct space *space, const struct pgt_arm64_regs *regs,
			     const struct tables *tables, const char *name, int status)
{
	char geometry[REGISTERS_TEXT], extent[96];

	if (tables->missed)
		fail("%s: the root table of %s, at 0x%" PRIx64 ", lies outside the image (%s); "
		     "is its base right? try --base=0x..., or --half=lower or upper", space->image.name, name, tables->missed_pa,
		     image_extent(&space->image, extent));
	if (status == PGT_EINVAL)
		fail("%s: the registers contradict each other (%s)", name, registers_geometry(regs, geometry));
	if (status == PGT_ENOTSUP)
		fail("%s: the registers ask for what the architecture, or this build of the library, "
		     "doesn't have (%s); try --features=LIST", name, registers_geometry(regs, geometry));
	fail("%s: %s (%s)", name, pgt_strerror(status), registers_geometry(regs, geometry));
}

static struct section describe(struct pgt *t, struct tables *tables, const char *name)
{
	struct pgt_config c = { .size = sizeof c };
	struct section s = { .t = t, .tables = tables, .name = name, .root = pgt_root(t) };

	if (pgt_describe(t, &c) != PGT_OK)
		fail("%s: the library doesn't say what it is", name);
	s.format = c.format;
	s.granule_bits = c.granule_bits;
	s.input_bits = c.input_bits;
	s.output_bits = c.output_bits;
	s.last = (UINT64_C(1) << c.input_bits) - 1;
	if (c.features & PGT_FEAT_UPPER) {
		s.first = UINT64_MAX - s.last;
		s.last = UINT64_MAX;
	}
	return s;
}

_Noreturn void space_refuse(const struct space *space, int status)
{
	const struct stages *s = &space->stages;

	refuse(space, s->first ? &s->s1 : &s->s2, &space->physical, "the walk", status);
}

/* False where the registers turn that half off. */
static bool attach(struct space *space, const struct pgt_arm64_regs *regs, int half, struct tables *tables,
		   struct section *section)
{
	const char *name = registers_root_name(regs, half);
	struct pgt_memory memory = tables_memory(tables);
	struct pgt *t;
	int status = pgt_arm64_attach(regs, &memory, half, &t);

	if (status == PGT_ENOENT)
		return false;
	if (status != PGT_OK)
		refuse(space, regs, tables, name, status);
	*section = describe(t, tables, name);
	section->second = regs->regime == PGT_ARM64_S2;
	return true;
}

void space_open_image(struct space *space, const struct registers *r, char *const *images, size_t count)
{
	*space = (struct space){ .stages = registers_stages(r) };
	for (size_t i = 0; i < r->ram_count; i++)
		image_add(&space->image, r->ram[i], r->base);
	for (size_t i = 0; i < count; i++)
		image_add(&space->image, images[i], r->base);
	if (space->image.count == 0)
		fail("no memory image; try 'pgtable COMMAND [OPTIONS] ram.img', or a line 'ram = FILE' in the file of registers");
	image_ready(&space->image);
	space->physical = (struct tables){ .image = &space->image };
	space->intermediate = space->physical;
}

/* Stage 2: the tables themselves, or what the tables of stage 1 lie behind. */
static void open_second(struct space *space)
{
	struct section section;

	if (!attach(space, &space->stages.s2, PGT_ARM64_LOWER, &space->physical, &section))
		fail("stage 2 is off (HCR.VM is clear); try --stage=1");
	if (space->stages.first) {
		space->second = section.t;
		space->intermediate.second = section.t;
	} else {
		space->sections[space->count++] = section;
	}
}

static void open_first(struct space *space, int half, bool lone)
{
	struct tables *tables = space->second ? &space->intermediate : &space->physical;

	if (space->stages.half[half] &&
	    attach(space, &space->stages.s1, half, tables, &space->sections[space->count]))
		space->count++;
	else if (lone)
		fail("%s: this half is off, or its register was not given",
		     registers_root_name(&space->stages.s1, half));
}

struct section space_second(struct space *space)
{
	struct section s = describe(space->second, &space->physical,
				    registers_root_name(&space->stages.s2, PGT_ARM64_LOWER));

	s.second = true;
	return s;
}

/* Stage 1 is off: what is left. */
static void second_alone(struct space *space)
{
	warn("stage 1 is off; stage 2 alone is shown");
	space->sections[space->count++] = space_second(space);
	space->second = NULL;
}

void space_open(struct space *space, const struct registers *r, char *const *images, size_t count, int half)
{
	space_open_image(space, r, images, count);
	if (space->stages.second)
		open_second(space);
	if (space->stages.first && half != PGT_ARM64_UPPER)
		open_first(space, PGT_ARM64_LOWER, half == PGT_ARM64_LOWER);
	if (space->stages.first && space->stages.s1.regime == PGT_ARM64_EL1 && half != PGT_ARM64_LOWER)
		open_first(space, PGT_ARM64_UPPER, half == PGT_ARM64_UPPER);
	if (space->count == 0 && space->second && half < 0)
		second_alone(space);
	if (space->count == 0)
		fail("the registers turn all translation off (SCTLR.M, or EPD0 and EPD1 in TCR)");
}

void space_close(struct space *space)
{
	for (unsigned i = 0; i < space->count; i++)
		pgt_destroy(space->sections[i].t);
	if (space->second)
		pgt_destroy(space->second);
	tables_free(&space->intermediate);
	tables_free(&space->physical);
	image_free(&space->image);
}
