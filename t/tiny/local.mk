# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The library once more, with the tiny backend alone and behind the seam.
check_LTLIBRARIES += libpgtable-tiny.la
libpgtable_tiny_la_SOURCES = $(pgt_lib_srcs) t/tiny/tiny.c t/tiny/include/pgtable/config.h
libpgtable_tiny_la_CPPFLAGS = -I$(top_srcdir)/t/tiny/include $(AM_CPPFLAGS) -DPGT_CHECKED
libpgtable_tiny_la_LIBTOOLFLAGS = --tag=disable-shared

check_PROGRAMS += t/tiny/exhaust.t t/tiny/calls.t
TESTS += t/tiny/exhaust.t t/tiny/calls.t
t_tiny_exhaust_t_SOURCES = t/tiny/exhaust.c t/seam.c t/seam.h t/tap.h
t_tiny_exhaust_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_exhaust_t_LDADD = libpgtable-tiny.la
t_tiny_exhaust_t_LDFLAGS = $(t_ldflags)
t_tiny_calls_t_SOURCES = t/tiny/calls.c t/seam.c t/seam.h t/tap.h
t_tiny_calls_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_calls_t_LDADD = libpgtable-tiny.la
t_tiny_calls_t_LDFLAGS = $(t_ldflags)
