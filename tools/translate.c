/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgtable translate: what a CPU with these registers would make of an address. */
#include "json.h"
#include "message.h"
#include "options.h"
#include "words.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct translate {
	const struct options *options;
	struct space space;
	struct pgt_memory memory;
	int status;
};

static const char *fault_name(int fault)
{
	switch (fault) {
	case PGT_FAULT_TRANSLATION:
		return "translation fault";
	case PGT_FAULT_ACCESS_FLAG:
		return "access flag fault";
	case PGT_FAULT_PERMISSION:
		return "permission fault";
	case PGT_FAULT_ADDRESS_SIZE:
		return "address size fault";
	case PGT_FAULT_EXTERNAL:
		return "external abort";
	default:
		return "fault";
	}
}

static int walk(struct translate *t, uint64_t va, struct pgt_translation *to)
{
	const struct stages *s = &t->space.stages;
	uint64_t access = t->options->access;

	*to = (struct pgt_translation){ .level = 0 };
	tables_restart(&t->space.physical);
	if (s->second)
		return pgt_arm64_walk2(s->first ? &s->s1 : NULL, &s->s2, &t->memory, va, access, to);
	return pgt_arm64_walk(&s->s1, &t->memory, va, access, to);
}

static void print_fault(const struct translate *t, uint64_t va, const struct pgt_translation *to)
{
	const struct tables *tables = &t->space.physical;

	printf("0x%" PRIx64 ": %s%s, level %d", va, color(COLOR_RED), fault_name(to->fault), to->level);
	if (t->space.stages.second) {
		printf(", stage %d", to->stage);
		if (to->during_walk)
			printf(", while a table of stage 1 was read");
		if (to->stage == 2)
			printf(", IPA 0x%" PRIx64, to->ipa);
	}
	if (to->fault == PGT_FAULT_EXTERNAL && tables->missed)
		printf(": the table at 0x%" PRIx64 " lies outside the image", tables->missed_pa);
	printf("%s\n", color(COLOR_OFF));
}

static void print(const struct translate *t, uint64_t va, const struct pgt_translation *to)
{
	const struct stages *s = &t->space.stages;
	/* With stage 1 off it is stage 2 that permits. */
	struct range range = {
		.attr = to->attr,
		.state = RANGE_LEAF,
		.second = s->second && !(s->first && (s->s1.sctlr & 1)),
	};
	struct rights rights = rights_of(&range);
	char size[SIZE_TEXT], others[WORDS_TEXT];

	printf("0x%" PRIx64 " -> ", va);
	if (s->first && s->second)
		printf("IPA 0x%" PRIx64 " -> ", to->ipa);
	printf("%s0x%" PRIx64 "%s", color(COLOR_BOLD), to->pa, color(COLOR_OFF));
	if (to->leaf_bits == 0 || to->leaf_bits >= 64) {
		printf("  translation is off\n");
		return;
	}
	printf("  %s %s", size_text(size, UINT64_C(1) << to->leaf_bits), to->level == 3 ? "page" : "block");
	if (to->run_bits > to->leaf_bits)
		printf(" in a run of %s", size_text(size, UINT64_C(1) << to->run_bits));
	printf(", level %d, %s %s %s %s\n", to->level, rights.privileged, rights.user, type_of(to->attr),
	       others_of(to->attr, others));
}

static void print_json(const struct translate *t, uint64_t va, int status, const struct pgt_translation *to)
{
	struct json *item = json_item(status == PGT_OK ? "translation" : "fault", NULL);
	bool both = t->space.stages.first && t->space.stages.second;

	json_hex(item, "va", va);
	json_number(item, "level", to->level);
	if (both)
		json_hex(item, "ipa", to->ipa);
	if (status == PGT_OK) {
		json_hex(item, "pa", to->pa);
		json_number(item, "leaf_bits", to->leaf_bits);
		json_number(item, "run_bits", to->run_bits);
		json_attributes(item, to->attr);
	} else {
		json_text(item, "fault", fault_name(to->fault));
		if (both)
			json_number(item, "stage", to->stage);
	}
	json_print(item);
}

static void translate_one(struct translate *t, const char *text)
{
	struct pgt_translation to;
	uint64_t va = number_of("address", text);
	int status = walk(t, va, &to);

	if (status == PGT_EFAULT)
		t->status = EXIT_FOUND;
	else if (status != PGT_OK)
		space_refuse(&t->space, status);
	if (t->options->json)
		print_json(t, va, status, &to);
	else if (status == PGT_OK)
		print(t, va, &to);
	else
		print_fault(t, va, &to);
}

/* One address a line, as other programs hand them on. */
static void translate_lines(struct translate *t)
{
	char word[64];

	while (scanf("%63s", word) == 1)
		translate_one(t, word);
}

static int translate(struct options *o)
{
	struct translate t = { .options = o };

	if (o->image_count == 0 && o->registers.ram_count == 0)
		options_take_images(o, 1);
	if (o->rest_count == 0)
		fail("no address; try 0x..., or - for addresses from standard input");
	space_open_image(&t.space, &o->registers, o->images, o->image_count);
	t.memory = tables_memory(&t.space.physical);
	if (o->json)
		json_begin("translate");
	for (size_t i = 0; i < o->rest_count; i++)
		if (!strcmp(o->rest[i], "-"))
			translate_lines(&t);
		else
			translate_one(&t, o->rest[i]);
	if (o->json)
		json_end();
	space_close(&t.space);
	return t.status;
}

const struct command command_translate = {
	.name = "translate",
	.arguments = "IMAGE ADDRESS...",
	.summary = "Translates addresses as a CPU with these registers would",
	.more = "\nAn ADDRESS of - reads addresses from standard input. Where --image or the file of\n"
		"registers names the image, all arguments are addresses. Exit status 1 tells that an\n"
		"access faults.\n",
	.run = translate,
};
