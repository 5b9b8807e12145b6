# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Changing what is mapped: the cases that users have met, and readers beside a writer.
changing_srcs = t/contract.h t/embed.c t/embed.h $(format_srcs)

check_PROGRAMS += t/cases_change.t t/cases_move.t t/cases_state.t t/readers.t
TESTS += t/cases_change.t t/cases_move.t t/cases_state.t t/readers.t
t_cases_change_t_SOURCES = t/cases_change.c $(changing_srcs)
t_cases_change_t_LDADD = libpgtable.la
t_cases_change_t_LDFLAGS = $(t_ldflags)
t_cases_move_t_SOURCES = t/cases_move.c $(changing_srcs)
t_cases_move_t_LDADD = libpgtable.la
t_cases_move_t_LDFLAGS = $(t_ldflags)
t_cases_state_t_SOURCES = t/cases_state.c $(changing_srcs)
t_cases_state_t_CPPFLAGS = $(AM_CPPFLAGS) -DPGT_CHECKED
t_cases_state_t_LDADD = libpgtable-checked.la
t_cases_state_t_LDFLAGS = $(t_ldflags)
t_readers_t_SOURCES = t/readers.c $(changing_srcs)
t_readers_t_CFLAGS = $(AM_CFLAGS) -pthread
t_readers_t_LDADD = libpgtable.la
t_readers_t_LDFLAGS = $(t_ldflags) -pthread
