/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "words.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	uint64_t mask, value;
	const char *word;
} attributes[] = {
	{ PGT_READ, PGT_READ, "read" },
	{ PGT_WRITE, PGT_WRITE, "write" },
	{ PGT_EXEC, PGT_EXEC, "exec" },
	{ PGT_UEXEC, PGT_UEXEC, "user-exec" },
	{ PGT_USER, PGT_USER, "user" },
#define OTHERS 5 /* from here on others_of has them */
	{ PGT_GLOBAL, PGT_GLOBAL, "global" },
	{ PGT_GUARDED, PGT_GUARDED, "guarded" },
	{ PGT_NOACCESS, PGT_NOACCESS, "noaccess" },
	{ PGT_SH_MASK, PGT_SH_OUTER, "outer" },
	{ PGT_SH_MASK, PGT_SH_NONE, "nonshared" },
	{ PGT_YOUNG, PGT_YOUNG, "young" },
	{ PGT_DIRTY, PGT_DIRTY, "dirty" },
	{ PGT_SW0, PGT_SW0, "sw0" },
	{ PGT_SW1, PGT_SW1, "sw1" },
	{ PGT_SW2, PGT_SW2, "sw2" },
};
#define ATTRIBUTES (sizeof attributes / sizeof *attributes)

const char *attribute_word(unsigned i, uint64_t *mask, uint64_t *value)
{
	if (i >= ATTRIBUTES)
		return NULL;
	*mask = attributes[i].mask;
	*value = attributes[i].value;
	return attributes[i].word;
}

/* In stage 1 privileged code may read all that is mapped, and never executes what
 * unprivileged code may write. */
struct rights rights_of(const struct range *range)
{
	struct rights r = { "---", "---" };
	uint64_t attr = range->attr;
	bool user = (attr & PGT_USER) || range->second;

	if (attr & PGT_NOACCESS)
		return r;
	r.privileged[0] = (attr & PGT_READ) || !range->second ? 'r' : '-';
	r.privileged[1] = attr & PGT_WRITE ? 'w' : '-';
	r.privileged[2] = (attr & PGT_EXEC) && (range->second || !(attr & PGT_USER) || !(attr & PGT_WRITE)) ? 'x' : '-';
	r.user[0] = user && (attr & PGT_READ) ? 'r' : '-';
	r.user[1] = user && (attr & PGT_WRITE) ? 'w' : '-';
	r.user[2] = attr & PGT_UEXEC ? 'x' : '-';
	return r;
}

const char *type_of(uint64_t attr)
{
	switch (attr & PGT_MEM_MASK) {
	case PGT_MEM_NORMAL:
		return "normal";
	case PGT_MEM_NOCACHE:
		return "non-cacheable";
	case PGT_MEM_WRITETHROUGH:
		return "write-through";
	case PGT_MEM_DEVICE:
		return "device-nGnRE";
	case PGT_MEM_DEVICE_STRICT:
		return "device-nGnRnE";
	default:
		return "other";
	}
}

const char *others_of(uint64_t attr, char text[WORDS_TEXT])
{
	int n = 0;

	text[0] = '\0';
	for (size_t i = OTHERS; i < ATTRIBUTES; i++)
		if ((attr & attributes[i].mask) == attributes[i].value)
			n += snprintf(text + n, (size_t)(WORDS_TEXT - n), "%s%s", n ? " " : "", attributes[i].word);
	return text;
}

const char *leaf_text(const struct range *range, char text[SIZE_TEXT])
{
	size_text(text, range->leaf);
	if (range->run) {
		size_t n = strlen(text);

		snprintf(text + n, SIZE_TEXT - n, " x%u", (unsigned)(range->run / range->leaf));
	}
	return text;
}

enum kind kind_of(const struct range *range)
{
	uint64_t attr = range->attr;

	if (range->state != RANGE_LEAF || (attr & PGT_NOACCESS))
		return KIND_OTHER;
	if (range_wx(range))
		return KIND_WX;
	if (range_device(range))
		return KIND_DEV;
	if (!range->second && (attr & (PGT_USER | PGT_UEXEC)))
		return attr & PGT_UEXEC ? KIND_USER_X : KIND_USER;
	if (attr & (PGT_EXEC | PGT_UEXEC))
		return KIND_X;
	return attr & PGT_WRITE ? KIND_RW : KIND_RO;
}

const char *kind_name(enum kind kind)
{
	static const char *const names[KINDS] = {
		[KIND_RO] = "read-only", [KIND_RW] = "read-write", [KIND_X] = "executable",
		[KIND_WX] = "writable and executable", [KIND_USER] = "user data",
		[KIND_USER_X] = "user code", [KIND_DEV] = "device", [KIND_OTHER] = "invalid, not empty",
	};

	return names[kind];
}

/* ---- Colours ---- */

static bool colors;

void color_choose(const char *when)
{
	if (!strcmp(when, "always"))
		colors = true;
	else if (!strcmp(when, "never"))
		colors = false;
	else if (!strcmp(when, "auto"))
		colors = isatty(STDOUT_FILENO);
	else
		fail("--color: '%s' is none of auto, always, never", when);
}

const char *color(const char *code)
{
	return colors ? code : "";
}

const char *color_of(enum kind kind)
{
	static const char *const codes[KINDS] = {
		[KIND_RO] = "", [KIND_RW] = "\033[34m", [KIND_X] = COLOR_GREEN, [KIND_WX] = COLOR_RED,
		[KIND_USER] = "\033[36m", [KIND_USER_X] = "\033[1;36m", [KIND_DEV] = COLOR_AMBER,
		[KIND_OTHER] = "\033[2m",
	};

	return color(codes[kind]);
}
