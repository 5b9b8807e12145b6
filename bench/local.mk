# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The benchmark: built by 'make bench/pgt-bench', run by 'make bench', installed
# never. It links the library once more, with arm64 made of the generic hooks as
# one format more; t/counts.c asserts with the same what each side may cost.
check_LTLIBRARIES += libpgtable-bench.la
libpgtable_bench_la_SOURCES = $(pgt_lib_srcs) $(pgt_hosted_srcs) $(pgt_arm64_srcs) \
	$(pgt_generic_srcs) bench/before.c bench/include/pgtable/config.h
bench_cppflags = -I$(top_srcdir)/bench/include $(AM_CPPFLAGS)
libpgtable_bench_la_CPPFLAGS = $(bench_cppflags)
libpgtable_bench_la_LIBTOOLFLAGS = --tag=disable-shared

EXTRA_PROGRAMS = bench/pgt-bench
bench_pgt_bench_SOURCES = bench/bench.h bench/main.c bench/measure.c bench/plain.c bench/plain.h \
	bench/plot.c bench/report.c bench/rig.c bench/rig.h bench/seed-a.c bench/seed-b.c \
	bench/seed-c.c bench/seed-d.c bench/seed-e.c $(swap_srcs)
bench_pgt_bench_CPPFLAGS = $(bench_cppflags) -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE
bench_pgt_bench_LDADD = libpgtable-bench.la -lm
bench_pgt_bench_LDFLAGS = $(t_ldflags)
CLEANFILES += bench/pgt-bench$(EXEEXT)

phony += bench
bench: bench/pgt-bench$(EXEEXT)
	$(EXEC_WRAPPER) bench/pgt-bench$(EXEEXT) $(BENCH)

check_PROGRAMS += t/counts.t
TESTS += t/counts.t
t_counts_t_SOURCES = t/counts.c t/tap.h bench/rig.c bench/rig.h $(swap_srcs)
t_counts_t_CPPFLAGS = $(bench_cppflags)
t_counts_t_LDADD = libpgtable-bench.la -lm
t_counts_t_LDFLAGS = $(t_ldflags)
