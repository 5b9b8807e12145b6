/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Test Anything Protocol in one header: one plan, at the end, and an exit
 * status that is non-zero when anything failed or nothing was checked.  Every
 * line is flushed, so that the report of a crash shows how far the test came.
 * For one thread; include it from one source file of a program, or from
 * several with all results reported from one of them.
 */
#ifndef PGT_T_TAP_H
#define PGT_T_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__GNUC__)
#define TAP_PRINTF(fmt, args) __attribute__((__unused__, __format__(__printf__, fmt, args)))
#define TAP_UNUSED __attribute__((__unused__))
#else
#define TAP_PRINTF(fmt, args)
#define TAP_UNUSED
#endif

static unsigned tap_count, tap_failed;

static void tap_vresult(bool good, const char *file, int line, const char *fmt, va_list args)
	TAP_PRINTF(4, 0);

static void tap_vresult(bool good, const char *file, int line, const char *fmt, va_list args)
{
	tap_count++;
	if (!good)
		tap_failed++;
	printf("%sok %u - ", good ? "" : "not ", tap_count);
	vprintf(fmt, args);
	printf("\n");
	if (!good)
		printf("# at %s:%d\n", file, line);
	fflush(stdout);
}

/* ok(cond, fmt, ...): one result; its value is the condition's. */
#define ok(cond, ...) tap_result((cond) ? true : false, __FILE__, __LINE__, __VA_ARGS__)

static bool tap_result(bool good, const char *file, int line, const char *fmt, ...)
	TAP_PRINTF(4, 5);

static bool tap_result(bool good, const char *file, int line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tap_vresult(good, file, line, fmt, args);
	va_end(args);
	return good;
}

/* is_u64(got, want, fmt, ...): equal as 64-bit numbers, else both are shown. */
#define is_u64(got, want, ...) \
	tap_u64((uint64_t)(got), (uint64_t)(want), __FILE__, __LINE__, __VA_ARGS__)

static bool tap_u64(uint64_t got, uint64_t want, const char *file, int line,
		    const char *fmt, ...) TAP_PRINTF(5, 6);

static bool tap_u64(uint64_t got, uint64_t want, const char *file, int line,
		    const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	tap_vresult(got == want, file, line, fmt, args);
	va_end(args);
	if (got != want) {
		printf("# got  %" PRIu64 " (0x%" PRIx64 ")\n", got, got);
		printf("# want %" PRIu64 " (0x%" PRIx64 ")\n", want, want);
		fflush(stdout);
	}
	return got == want;
}

/* note(fmt, ...): a line for people. */
static void note(const char *fmt, ...) TAP_PRINTF(1, 2);

static void note(const char *fmt, ...)
{
	va_list args;

	printf("# ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

/* tap_skip(why, ...): one result that this build or machine can't give. */
static void tap_skip(const char *why, ...) TAP_PRINTF(1, 2);

static void tap_skip(const char *why, ...)
{
	va_list args;

	printf("ok %u # SKIP ", ++tap_count);
	va_start(args, why);
	vprintf(why, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

/* return tap_skip_all(why, ...): the whole program, before its first result. */
static int tap_skip_all(const char *why, ...) TAP_PRINTF(1, 2);

static int tap_skip_all(const char *why, ...)
{
	va_list args;

	printf("1..0 # SKIP ");
	va_start(args, why);
	vprintf(why, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	return EXIT_SUCCESS;
}

/* return tap_done(): the plan and the exit status. */
static TAP_UNUSED int tap_done(void)
{
	printf("1..%u\n", tap_count);
	fflush(stdout);
	return tap_failed || !tap_count ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
