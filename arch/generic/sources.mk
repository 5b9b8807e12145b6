# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
pgt_generic_srcs = arch/generic/generic.c
pgt_generic_absent_srcs =
pgt_generic_hdrs = arch/generic/batch.h arch/generic/block.h arch/generic/dirty.h \
	arch/generic/entry.h arch/generic/format.h arch/generic/hooks.h arch/generic/move.h
pgt_generic_formats = generic
