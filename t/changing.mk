# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Changing what is mapped: the cases that users have met, and readers beside a writer.
changing_srcs = t/contract.h t/embed.c t/embed.h t/tap.h

check_PROGRAMS += t/readers.t
TESTS += t/readers.t
t_readers_t_SOURCES = t/readers.c $(changing_srcs)
t_readers_t_CFLAGS = $(AM_CFLAGS) -pthread
t_readers_t_LDADD = libpgtable.la
t_readers_t_LDFLAGS = $(t_ldflags) -pthread
