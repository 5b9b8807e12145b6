/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "message.h"
#include "progress.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *fmt, va_list args) PRINTF_LIKE(1, 0);

static void say(const char *fmt, va_list args)
{
	progress_clear();
	fflush(stdout);
	fputs("pgtable: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
}

void warn(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
}

void fail(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
	exit(EXIT_TROUBLE);
}

void *need(void *memory)
{
	if (!memory)
		fail("out of memory");
	return memory;
}

void *grow(void *array, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room ? 2 * *room : 64;
	if (*room > SIZE_MAX / size)
		fail("out of memory");
	return need(realloc(array, *room * size));
}

/* The digits at text, and where they end; false where there are none. */
static bool digits(const char *text, uint64_t *value, const char **end)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *after;

	/* strtoull takes signs, spaces and octal numbers, which nobody means here. */
	if (text[0] < '0' || text[0] > '9' || (text[0] == '0' && text[1] >= '0' && text[1] <= '9'))
		return false;
	errno = 0;
	*value = strtoull(text, &after, hex ? 16 : 10);
	*end = after;
	return errno == 0 && !(hex && after < text + 3);
}

static bool prefix(const char *text, uint64_t *value, const char **end)
{
	static const char units[] = "KMGTP";
	const char *unit;

	if (!digits(text, value, end))
		return false;
	unit = **end ? strchr(units, **end) : NULL;
	if (unit) {
		unsigned shift = 10 * (unsigned)(unit - units + 1);

		if (*value > UINT64_MAX >> shift)
			return false;
		*value <<= shift;
		++*end;
	}
	return true;
}

bool number(const char *text, uint64_t *value)
{
	const char *end;

	return prefix(text, value, &end) && !*end;
}

uint64_t number_of(const char *what, const char *text)
{
	uint64_t value;

	if (!number(text, &value))
		fail("%s: '%s' is no 64-bit number; try 0x... (hexadecimal), or decimal digits", what, text);
	return value;
}

void range_of(const char *what, const char *text, uint64_t *first, uint64_t *last)
{
	const char *end;
	uint64_t second;

	if (!prefix(text, first, &end))
		fail("%s: '%s' is no address; try 0x...", what, text);
	*last = *first;
	if (!*end)
		return;
	if ((*end != '-' && *end != '+') || !number(end + 1, &second))
		fail("%s: '%s' is no range; try 0xFIRST-0xLAST, or 0xFIRST+SIZE with a size such as 2M", what, text);
	if (*end == '+' && second == 0)
		fail("%s: '%s' has no byte", what, text);
	*last = *end == '-' ? second : *first + (second - 1);
	if (*last < *first)
		fail("%s: '%s' ends before it begins", what, text);
}

const char *size_text(char text[SIZE_TEXT], uint64_t bytes)
{
	static const char units[] = " KMGTPE";
	unsigned unit = 0, large = 0;
	uint64_t rest = bytes;

	for (; rest && rest % 1024 == 0 && unit < 6; unit++)
		rest /= 1024;
	if (rest < 100000) {
		snprintf(text, SIZE_TEXT, "%" PRIu64 "%.*s", rest, unit > 0, units + unit);
		return text;
	}
	/* Exact it would be too long to read. What would be rounded to 1024 is 1 of the next. */
	for (; bytes >> (10 * large) >= 1023; large++)
		;
	snprintf(text, SIZE_TEXT, "%.1f%c", (double)bytes / (double)(UINT64_C(1) << (10 * large)), units[large]);
	return text;
}
