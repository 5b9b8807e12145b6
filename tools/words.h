/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes in words, and the colours of what matters. */
#ifndef PGT_TOOL_WORDS_H
#define PGT_TOOL_WORDS_H

#include "message.h"
#include "ranges.h"

/* Ranges that are the same to a reader of a picture or of coloured text. */
enum kind { KIND_RO, KIND_RW, KIND_X, KIND_WX, KIND_USER, KIND_USER_X, KIND_DEV, KIND_OTHER, KINDS };
enum kind kind_of(const struct range *range);
const char *kind_name(enum kind kind);

/* "rwx" of what privileged code may do, and of what unprivileged code may. */
struct rights {
	char privileged[4], user[4];
};
struct rights rights_of(const struct range *range);

/* "normal", "device nGnRE"... */
const char *type_of(uint64_t attr);

/* All that rights and type leave out: "global guarded". */
#define WORDS_TEXT 120
const char *others_of(uint64_t attr, char text[WORDS_TEXT]);

/* "4K", or "4K x16" for a run of 16. */
const char *leaf_text(const struct range *range, char text[SIZE_TEXT]);

/* One attribute after another, for programs: NULL at the end. */
const char *attribute_word(unsigned i, uint64_t *mask, uint64_t *value);

/* auto, always or never. */
void color_choose(const char *when);
const char *color(const char *code); /* the escape sequence, or nothing */
const char *color_of(enum kind kind);
#define COLOR_OFF   "\033[0m"
#define COLOR_BOLD  "\033[1m"
#define COLOR_RED   "\033[1;31m"
#define COLOR_GREEN "\033[32m"
#define COLOR_AMBER "\033[33m"

#endif
