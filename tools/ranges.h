/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is mapped, as ranges.  Neighbours are merged as the kernel's ptdump
 * merges them: while permissions, type, leaf size and run stay the same.
 */
#ifndef PGT_TOOL_RANGES_H
#define PGT_TOOL_RANGES_H

#include "space.h"

enum range_state { RANGE_HOLE, RANGE_LEAF, RANGE_TOKEN, RANGE_DAMAGED };

struct range {
	uint64_t va, len;
	uint64_t pa;          /* of the first byte */
	uint64_t pa_next;     /* of the byte behind the last */
	uint64_t pieces;      /* stretches of consecutive PA that it has */
	uint64_t attr;
	uint64_t entry;       /* the first one, as it stands in its table */
	uint64_t entries;
	uint64_t leaf, run;   /* bytes of a leaf, and of the run that it is part of, else 0 */
	enum range_state state;
	bool second;          /* of a stage 2, where permissions hold for all */
	int level;
	const char *what;     /* damaged: how; with the address that it has to do with */
	uint64_t where;
	bool has_where;
};

enum merge { MERGE_ATTR, MERGE_PA, MERGE_NONE };

struct filter {
	bool wx, user, device; /* only what is: all of these must hold */
	bool va, pa;           /* only what is inside, cut to it */
	uint64_t va_first, va_last, pa_first, pa_last;
	bool holes;            /* empty places too */
	bool state;            /* young and dirty count as attributes */
	enum merge merge;
};

/* Writable, and executable by anyone who may. */
bool range_wx(const struct range *range);
bool range_device(const struct range *range);

typedef void range_fn(void *ctx, const struct range *range);

/*
 * All ranges of a section that pass the filter, in order.  Damage is a range
 * too: it is passed and counted, and the walk goes on behind it.  False: the
 * tables lead round in circles, and the walk gave up at *stopped.
 */
bool ranges_read(const struct section *s, const struct filter *filter, range_fn *fn, void *ctx,
		 uint64_t *stopped);

/* What to say then. */
void warn_circles(const struct section *s, uint64_t stopped);

/* The same as a list. */
struct ranges {
	struct range *list;
	size_t count, room;
};
bool ranges_collect(const struct section *s, const struct filter *filter, struct ranges *ranges,
		    uint64_t *stopped);
void ranges_add(void *ranges, const struct range *range); /* a range_fn */
void ranges_free(struct ranges *ranges);

#endif
