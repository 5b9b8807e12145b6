/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hooks that a backend need not write, one header a theme.  A backend
 * includes its own first, and defines a macro of the hook's name for each one
 * that it has.
 */
#ifndef PGT_GENERIC_HOOKS_H
#define PGT_GENERIC_HOOKS_H

#include "entry.h"
#include "batch.h"
#include "block.h"
#include "move.h"
#include "dirty.h"

#endif
