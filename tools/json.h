/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The same as JSON: one document, {"pgtable": ..., "command": ..., "items":
 * [...]}, an object a line.  Addresses and register values are strings, 0x and
 * hexadecimal: not every reader of JSON keeps 64 bits. */
#ifndef PGT_TOOL_JSON_H
#define PGT_TOOL_JSON_H

#include "ranges.h"

void json_begin(const char *command);
void json_end(void);

/* An item: made, filled, printed.  kind tells items apart. */
struct json;
struct json *json_item(const char *kind, const struct section *s);
void json_text(struct json *item, const char *name, const char *value);
void json_hex(struct json *item, const char *name, uint64_t value);
void json_number(struct json *item, const char *name, int64_t value);
void json_attributes(struct json *item, uint64_t attr);
void json_print(struct json *item);

void json_section(const struct section *s);
/* change: NULL, or what diff says of it. */
void json_range(const struct section *s, const struct range *range, const char *change);

/* What dump --json wrote.  Sections have no tables; their names are allocated. */
struct json_dump {
	struct section sections[2];
	struct ranges ranges[2];
	unsigned count;
};
bool json_file(const char *name);
void json_read(const char *name, struct json_dump *dump);
void json_dump_free(struct json_dump *dump);

#endif
