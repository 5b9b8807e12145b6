# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# White-box tests: behind the seam of lib/entry.h.
check_PROGRAMS += t/reads.t
TESTS += t/reads.t
t_reads_t_SOURCES = t/reads.c t/seam.c t/seam.h t/tap.h
t_reads_t_CPPFLAGS = $(AM_CPPFLAGS) -DPGT_CHECKED
t_reads_t_LDADD = libpgtable-checked.la
t_reads_t_LDFLAGS = $(t_ldflags)
