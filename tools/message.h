/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command says to people, and numbers as they write them. */
#ifndef PGT_TOOL_MESSAGE_H
#define PGT_TOOL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes, for scripts. */
#define EXIT_FINE    0
#define EXIT_FOUND   1 /* a fault, a problem, a difference */
#define EXIT_TROUBLE 2 /* the command line, a file, the registers */

#if defined(__GNUC__)
#define PRINTF_LIKE(fmt, args) __attribute__((__format__(__printf__, fmt, args)))
#else
#define PRINTF_LIKE(fmt, args)
#endif

/* "pgtable: ..." on standard error; fail ends the command. */
void warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
_Noreturn void fail(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Memory, or the end of the command. */
void *need(void *memory);
void *grow(void *array, size_t count, size_t *room, size_t size);

/* 0x hexadecimal or decimal, then perhaps K, M, G, T or P. */
bool number(const char *text, uint64_t *value);

/* The argument of an option or of a line, or the end of the command. */
uint64_t number_of(const char *what, const char *text);

/* ADDRESS, FIRST-LAST or FIRST+SIZE. */
void range_of(const char *what, const char *text, uint64_t *first, uint64_t *last);

/* "2M", "2052K", "127.5T". */
#define SIZE_TEXT 24
const char *size_text(char text[SIZE_TEXT], uint64_t bytes);

#endif
