# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# For users its own Makefile builds it against an installed library; 'make check'
# builds and runs it, and bench/ runs the same load.
swap_srcs = examples/swap/load.c examples/swap/machine.c examples/swap/machine.h \
	examples/swap/pager.c
EXTRA_DIST += examples/swap/Makefile t/swap.sh

check_PROGRAMS += examples/swap/swap
examples_swap_swap_SOURCES = examples/swap/swap.c $(swap_srcs)
examples_swap_swap_LDADD = libpgtable.la -lm
examples_swap_swap_LDFLAGS = $(t_ldflags)
TESTS += t/swap.sh
t/swap.log: examples/swap/swap$(EXEEXT)
