# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
pgt_sources += $(pgt_lib_srcs) $(pgt_lib_hdrs)
if HOSTED
pgt_sources += $(pgt_hosted_srcs)
endif
EXTRA_DIST += lib/libpgtable.map

noinst_LTLIBRARIES += libpgtable-core.la
libpgtable_core_la_SOURCES = $(pgt_sources)

lib_LTLIBRARIES += libpgtable.la
libpgtable_la_SOURCES =
libpgtable_la_LIBADD = libpgtable-core.la
libpgtable_la_LDFLAGS = -no-undefined -version-info $(PGT_LT_VERSION)
EXTRA_libpgtable_la_DEPENDENCIES = $(top_srcdir)/lib/libpgtable.map
if VSCRIPT
libpgtable_la_LDFLAGS += -Wl,--version-script=$(top_srcdir)/lib/libpgtable.map
if NOUNDEFVER
libpgtable_la_LDFLAGS += -Wl,--no-undefined-version
endif
endif

# The same sources for white-box tests, every access to a table's memory going
# through the seam of lib/entry.h, which the test supplies.
check_LTLIBRARIES += libpgtable-checked.la
libpgtable_checked_la_SOURCES = $(pgt_sources)
libpgtable_checked_la_CPPFLAGS = $(AM_CPPFLAGS) -DPGT_CHECKED
libpgtable_checked_la_LIBTOOLFLAGS = --tag=disable-shared

pgtincludedir = $(includedir)/pgtable
pgtinclude_HEADERS = $(pgt_public_hdrs)
nodist_pgtinclude_HEADERS = include/pgtable/config.h
