/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* A build without jansson: the same calls, of which the first says so. */
#include "json.h"
#include "message.h"

void json_begin(const char *command)
{
	(void)command;
	fail("--json: this pgtable was built without jansson, which writes it");
}

void json_end(void)
{
}

struct json *json_item(const char *kind, const struct section *s)
{
	(void)kind, (void)s;
	return NULL;
}

void json_text(struct json *item, const char *name, const char *value)
{
	(void)item, (void)name, (void)value;
}

void json_hex(struct json *item, const char *name, uint64_t value)
{
	(void)item, (void)name, (void)value;
}

void json_number(struct json *item, const char *name, int64_t value)
{
	(void)item, (void)name, (void)value;
}

void json_attributes(struct json *item, uint64_t attr)
{
	(void)item, (void)attr;
}

void json_print(struct json *item)
{
	(void)item;
}

void json_section(const struct section *s)
{
	(void)s;
}

void json_range(const struct section *s, const struct range *range, const char *change)
{
	(void)s, (void)range, (void)change;
}

bool json_file(const char *name)
{
	(void)name;
	return false;
}

void json_read(const char *name, struct json_dump *dump)
{
	(void)dump;
	fail("%s: this pgtable was built without jansson, which reads it", name);
}

void json_dump_free(struct json_dump *dump)
{
	(void)dump;
}
