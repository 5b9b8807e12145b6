# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# What only the arm64 backend has.
check_PROGRAMS += t/walk.t
TESTS += t/walk.t
t_walk_t_SOURCES = t/walk.c t/registers.h $(contract_srcs)
t_walk_t_LDADD = libpgtable.la
t_walk_t_LDFLAGS = $(t_ldflags)

# Every configuration of every regime.
check_PROGRAMS += t/regimes.t
TESTS += t/regimes.t
t_regimes_t_SOURCES = t/regimes.c $(contract_srcs)
t_regimes_t_LDADD = libpgtable.la
t_regimes_t_LDFLAGS = $(t_ldflags)

# Invalidations, decoded.
check_PROGRAMS += t/tlbi.t
TESTS += t/tlbi.t
t_tlbi_t_SOURCES = t/tlbi.c $(contract_srcs)
t_tlbi_t_LDADD = libpgtable.la
t_tlbi_t_LDFLAGS = $(t_ldflags)

# The descriptors of every format.
check_PROGRAMS += t/goldens.t
TESTS += t/goldens.t
t_goldens_t_SOURCES = t/goldens.c $(contract_srcs)
t_goldens_t_LDADD = libpgtable.la
t_goldens_t_LDFLAGS = $(t_ldflags)

# Two stages.
check_PROGRAMS += t/walk2.t
TESTS += t/walk2.t
t_walk2_t_SOURCES = t/walk2.c t/registers.h $(contract_srcs)
t_walk2_t_LDADD = libpgtable.la
t_walk2_t_LDFLAGS = $(t_ldflags)

# Tables that someone else wrote.
check_PROGRAMS += t/foreign.t
TESTS += t/foreign.t
t_foreign_t_SOURCES = t/foreign.c t/registers.h $(contract_srcs)
t_foreign_t_LDADD = libpgtable.la
t_foreign_t_LDFLAGS = $(t_ldflags)
