# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
pgt_generic_srcs = arch/generic/generic.c
pgt_generic_absent_srcs =
pgt_generic_hdrs = arch/generic/format.h arch/generic/defaults.h
pgt_generic_formats = generic
