/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "json.h"
#include "message.h"
#include "words.h"
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* struct json is jansson's json_t under a name of ours. */
static json_t *object(struct json *item)
{
	return (json_t *)item;
}

static bool first = true;

void json_begin(const char *command)
{
	json_t *version = need(json_string(pgt_version())), *name = need(json_string(command));

	first = true;
	printf("{\"pgtable\": ");
	json_dumpf(version, stdout, JSON_ENCODE_ANY);
	printf(", \"command\": ");
	json_dumpf(name, stdout, JSON_ENCODE_ANY);
	printf(", \"items\": [");
	json_decref(version);
	json_decref(name);
}

void json_end(void)
{
	printf("\n]}\n");
}

static void put(struct json *item, const char *name, json_t *value)
{
	if (json_object_set_new(object(item), name, value) != 0)
		fail("out of memory");
}

void json_text(struct json *item, const char *name, const char *value)
{
	put(item, name, json_string(value));
}

void json_hex(struct json *item, const char *name, uint64_t value)
{
	put(item, name, json_sprintf("0x%" PRIx64, value));
}

void json_number(struct json *item, const char *name, int64_t value)
{
	put(item, name, json_integer(value));
}

struct json *json_item(const char *kind, const struct section *s)
{
	struct json *item = need(json_object());

	json_text(item, "kind", kind);
	if (s)
		json_text(item, "section", s->name);
	return item;
}

void json_print(struct json *item)
{
	fputs(first ? "\n" : ",\n", stdout);
	first = false;
	json_dumpf(object(item), stdout, 0);
	json_decref(object(item));
}

void json_attributes(struct json *item, uint64_t attr)
{
	json_t *list = need(json_array());
	uint64_t mask, value;
	const char *word;

	for (unsigned i = 0; (word = attribute_word(i, &mask, &value)); i++)
		if ((attr & mask) == value)
			json_array_append_new(list, json_string(word));
	put(item, "attributes", list);
	json_text(item, "type", type_of(attr));
}

void json_section(const struct section *s)
{
	struct json *item = json_item("section", s);

	json_text(item, "format", s->format);
	json_hex(item, "first", s->first);
	json_hex(item, "last", s->last);
	json_hex(item, "root", s->root);
	json_number(item, "granule_bits", s->granule_bits);
	json_number(item, "input_bits", s->input_bits);
	json_number(item, "output_bits", s->output_bits);
	json_print(item);
}

static const char *const kinds[] = { "hole", "range", "invalid", "damage" };

void json_range(const struct section *s, const struct range *range, const char *change)
{
	struct json *item = json_item(kinds[range->state], s);

	if (change)
		json_text(item, "change", change);
	json_hex(item, "va", range->va);
	json_hex(item, "last", range->va + (range->len - 1));
	json_number(item, "bytes", (int64_t)range->len);
	if (range->state == RANGE_LEAF) {
		json_hex(item, "pa", range->pa);
		json_number(item, "pieces", (int64_t)range->pieces);
		json_number(item, "leaf", (int64_t)range->leaf);
		json_number(item, "run", (int64_t)range->run);
		json_attributes(item, range->attr);
	}
	if (range->state == RANGE_LEAF || range->state == RANGE_TOKEN) {
		json_hex(item, "entry", range->entry);
		json_number(item, "entries", (int64_t)range->entries);
	}
	if (range->state == RANGE_DAMAGED) {
		json_text(item, "what", range->what);
		json_number(item, "level", range->level);
		if (range->has_where)
			json_hex(item, "where", range->where);
	}
	json_print(item);
}

/* ---- Reading a dump back ---- */

bool json_file(const char *name)
{
	FILE *f = fopen(name, "r");
	char c = f && fread(&c, 1, 1, f) == 1 ? c : '\0';

	if (f)
		fclose(f);
	return c == '{';
}

static const char *text_of(const char *file, const json_t *item, const char *name)
{
	const char *text = json_string_value(json_object_get(item, name));

	if (!text)
		fail("%s: is no output of 'pgtable dump --json': an item has no '%s'", file, name);
	return text;
}

static uint64_t hex_of(const char *file, const json_t *item, const char *name)
{
	return number_of(file, text_of(file, item, name));
}

static unsigned bits_of(const char *file, const json_t *item, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(item, name));

	if (value < 1 || value > 56)
		fail("%s: is no output of 'pgtable dump --json': '%s' is wrong", file, name);
	return (unsigned)value;
}

static uint64_t read_attributes(const json_t *item)
{
	static const uint64_t types[] = {
		PGT_MEM_NORMAL, PGT_MEM_NOCACHE, PGT_MEM_WRITETHROUGH, PGT_MEM_DEVICE, PGT_MEM_DEVICE_STRICT,
	};
	const char *type = json_string_value(json_object_get(item, "type")), *word;
	const json_t *list = json_object_get(item, "attributes");
	uint64_t attr = 0, mask, value;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *have = json_string_value(json_array_get(list, i));

		for (unsigned k = 0; have && (word = attribute_word(k, &mask, &value)); k++)
			if (!strcmp(word, have))
				attr |= value;
	}
	for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
		if (!strcmp(type, type_of(types[i])))
			attr |= types[i];
	return attr;
}

static void read_section(const char *file, const json_t *item, struct json_dump *dump)
{
	struct section *s = &dump->sections[dump->count];

	if (dump->count == 2)
		fail("%s: has more than two sections", file);
	*s = (struct section){
		.name = need(strdup(text_of(file, item, "section"))),
		.format = "arm64",
		.first = hex_of(file, item, "first"),
		.last = hex_of(file, item, "last"),
		.root = hex_of(file, item, "root"),
		.granule_bits = bits_of(file, item, "granule_bits"),
		.input_bits = bits_of(file, item, "input_bits"),
		.output_bits = bits_of(file, item, "output_bits"),
		.second = !strcmp(text_of(file, item, "format"), "arm64-s2"),
	};
	dump->count++;
}

static void read_range(const char *file, const json_t *item, enum range_state state, struct json_dump *dump)
{
	struct range range = {
		.va = hex_of(file, item, "va"),
		.pieces = 1,
		.entries = 1,
		.state = state,
	};
	uint64_t last = hex_of(file, item, "last");

	if (dump->count == 0 || last < range.va)
		fail("%s: is no output of 'pgtable dump --json': a range is wrong", file);
	range.len = last - range.va + 1;
	range.second = dump->sections[dump->count - 1].second;
	if (state == RANGE_LEAF) {
		if (json_integer_value(json_object_get(item, "pieces")) != 1)
			fail("%s: at 0x%" PRIx64 " it doesn't say where each page leads; "
			     "try 'pgtable dump --json --merge=pa'", file, range.va);
		range.pa = hex_of(file, item, "pa");
		range.attr = read_attributes(item);
		range.leaf = (uint64_t)json_integer_value(json_object_get(item, "leaf"));
		range.run = (uint64_t)json_integer_value(json_object_get(item, "run"));
	}
	if (state == RANGE_TOKEN)
		range.entry = hex_of(file, item, "entry");
	if (state == RANGE_DAMAGED)
		range.what = "damaged in the dump";
	ranges_add(&dump->ranges[dump->count - 1], &range);
}

static void read_item(const char *file, const json_t *item, struct json_dump *dump)
{
	const char *kind = text_of(file, item, "kind");

	if (!strcmp(kind, "section"))
		read_section(file, item, dump);
	for (int i = RANGE_LEAF; i <= RANGE_DAMAGED; i++)
		if (!strcmp(kind, kinds[i]))
			read_range(file, item, (enum range_state)i, dump);
}

void json_read(const char *name, struct json_dump *dump)
{
	json_error_t error;
	json_t *root = json_load_file(name, 0, &error);
	const json_t *items;

	if (!root)
		fail("%s:%d: %s", name, error.line, error.text);
	items = json_object_get(root, "items");
	if (strcmp(text_of(name, root, "command"), "dump") != 0 || !json_is_array(items))
		fail("%s: is no output of 'pgtable dump --json'", name);
	*dump = (struct json_dump){ .count = 0 };
	for (size_t i = 0; i < json_array_size(items); i++)
		read_item(name, json_array_get(items, i), dump);
	json_decref(root);
}

void json_dump_free(struct json_dump *dump)
{
	for (unsigned i = 0; i < dump->count; i++) {
		free((void *)(uintptr_t)dump->sections[i].name);
		ranges_free(&dump->ranges[i]);
	}
}
