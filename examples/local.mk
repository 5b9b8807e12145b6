# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Built by 'make check', so that they stay true; installed as sources.
examplesdir = $(docdir)/examples
dist_examples_DATA = examples/first.c
if HOSTED_TESTS
check_PROGRAMS += examples/first
examples_first_SOURCES = examples/first.c
examples_first_LDADD = libpgtable.la
examples_first_LDFLAGS = $(t_ldflags)
t/readme.log: examples/first$(EXEEXT)
endif
