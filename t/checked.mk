# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# White-box tests: behind the seam of lib/entry.h.
check_PROGRAMS += t/reads.t
TESTS += t/reads.t
t_reads_t_SOURCES = t/reads.c t/seam.c t/seam.h t/embed.c t/embed.h $(format_srcs)
t_reads_t_CPPFLAGS = $(AM_CPPFLAGS) -DPGT_CHECKED
t_reads_t_LDADD = libpgtable-checked.la
t_reads_t_LDFLAGS = $(t_ldflags)

# What the tiny format passes, the others pass too: the same program.
check_PROGRAMS += t/same.t
TESTS += t/same.t
t_same_t_SOURCES = t/tiny/sequences.c t/seam.c t/seam.h t/tap.h
t_same_t_CPPFLAGS = $(AM_CPPFLAGS) -DPGT_CHECKED
t_same_t_LDADD = libpgtable-checked.la
t_same_t_LDFLAGS = $(t_ldflags)
