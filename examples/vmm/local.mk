# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Built by its own Makefile against an installed library, so here only shipped.
EXTRA_DIST += \
	examples/vmm/Makefile \
	examples/vmm/guest.c \
	examples/vmm/guest.h \
	examples/vmm/guest.ld \
	examples/vmm/machine.c \
	examples/vmm/machine.h \
	examples/vmm/probes.c \
	examples/vmm/probes.h \
	examples/vmm/space.c \
	examples/vmm/space.h \
	examples/vmm/start.S \
	examples/vmm/vmm.c

# The other example beside it: make check builds and runs it.
check_PROGRAMS += examples/walker
examples_walker_SOURCES = examples/walker.c
examples_walker_LDADD = libpgtable.la
examples_walker_LDFLAGS = $(t_ldflags)
dist_examples_DATA += examples/walker.c
TESTS += t/walker.sh
EXTRA_DIST += t/walker.sh
t/walker.log: examples/walker$(EXEEXT)
