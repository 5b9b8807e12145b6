/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#include "table.h"
#include "words.h"
#include <inttypes.h>
#include <stdio.h>

/* As wide as the addresses of this section are. */
static int va_digits(const struct section *s)
{
	return s->first ? 16 : (int)(s->input_bits + 3) / 4;
}

static int pa_digits(const struct section *s)
{
	return (int)(s->output_bits + 3) / 4;
}

void table_section(const struct section *s)
{
	char granule[SIZE_TEXT];

	printf("%s---[ %s: %s, %u bits in, %u out, %s granule, root table at 0x%" PRIx64 " ]---%s\n",
	       color(COLOR_BOLD), s->name, s->second ? "stage 2" : s->first ? "upper half" : "lower half",
	       s->input_bits, s->output_bits, size_text(granule, UINT64_C(1) << s->granule_bits), s->root,
	       color(COLOR_OFF));
}

void table_heading(const struct section *s, const char *before)
{
	bool el2 = s->format[5] == '-' && s->format[6] == 'e';

	printf("%s%s%-*s %7s %-8s  %-*s  %-3s %-3s TYPE%s\n", before, color(COLOR_BOLD), 2 * va_digits(s) + 5,
	       s->second ? "IPA" : "VA", "SIZE", "LEAF", pa_digits(s) + 2, "PA", el2 ? "EL2" : "EL1",
	       el2 ? "" : "EL0", color(COLOR_OFF));
}

void table_words(const struct range *range)
{
	struct rights rights = rights_of(range);
	char others[WORDS_TEXT];

	printf("%s%s %s %s", color_of(kind_of(range)), rights.privileged, rights.user, type_of(range->attr));
	if (*others_of(range->attr, others))
		printf(" %s", others);
	printf("%s", color(COLOR_OFF));
}

static void leaf(const struct section *s, const struct range *range)
{
	char text[SIZE_TEXT];

	printf("%-8s  ", leaf_text(range, text));
	if (range->pieces == 1)
		printf("0x%0*" PRIx64 "  ", pa_digits(s), range->pa);
	else {
		snprintf(text, sizeof text, "%" PRIu64 " pieces", range->pieces);
		printf("%-*s  ", pa_digits(s) + 2, text);
	}
	table_words(range);
}

static void token(const struct range *range)
{
	printf("%s%" PRIu64 " invalid entr%s, not empty: 0x%" PRIx64 "%s%s", color_of(KIND_OTHER),
	       range->entries, range->entries == 1 ? "y" : "ies", range->entry, range->entries == 1 ? "" : " ...",
	       color(COLOR_OFF));
}

static void damage(const struct range *range)
{
	printf("%sDAMAGED: %s", color(COLOR_RED), range->what);
	if (range->has_where)
		printf(" (to 0x%" PRIx64 ")", range->where);
	printf(", level %d%s", range->level, color(COLOR_OFF));
}

void table_range(const struct section *s, const struct range *range, const char *before)
{
	char size[SIZE_TEXT];

	printf("%s0x%0*" PRIx64 "-0x%0*" PRIx64 " %7s ", before, va_digits(s), range->va, va_digits(s),
	       range->va + (range->len - 1), size_text(size, range->len));
	switch (range->state) {
	case RANGE_HOLE:
		printf("%s-%s", color("\033[2m"), color(COLOR_OFF));
		break;
	case RANGE_LEAF:
		leaf(s, range);
		break;
	case RANGE_TOKEN:
		token(range);
		break;
	case RANGE_DAMAGED:
		damage(range);
		break;
	}
	putchar('\n');
}
