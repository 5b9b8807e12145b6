# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The contract: what each call promises, and the cases that users have met.
contract_srcs = t/contract.h t/embed.c t/embed.h $(format_srcs)
contract_tests = t/arguments.t t/attributes.t t/cases_map.t t/cases_read.t t/cases_unmap.t \
	t/check.t t/config.t t/equivalence.t t/gather.t t/moves.t t/protect.t t/pte.t t/visit.t

check_PROGRAMS += $(contract_tests)
TESTS += $(contract_tests) t/cases.sh
EXTRA_DIST += t/cases.sh t/cases.tsv
t_arguments_t_SOURCES = t/arguments.c $(contract_srcs)
t_arguments_t_LDADD = libpgtable.la
t_arguments_t_LDFLAGS = $(t_ldflags)
t_attributes_t_SOURCES = t/attributes.c $(contract_srcs)
t_attributes_t_LDADD = libpgtable.la
t_attributes_t_LDFLAGS = $(t_ldflags)
t_cases_map_t_SOURCES = t/cases_map.c $(contract_srcs)
t_cases_map_t_LDADD = libpgtable.la
t_cases_map_t_LDFLAGS = $(t_ldflags)
t_cases_read_t_SOURCES = t/cases_read.c $(contract_srcs)
t_cases_read_t_LDADD = libpgtable.la
t_cases_read_t_LDFLAGS = $(t_ldflags)
t_cases_unmap_t_SOURCES = t/cases_unmap.c $(contract_srcs)
t_cases_unmap_t_LDADD = libpgtable.la
t_cases_unmap_t_LDFLAGS = $(t_ldflags)
t_check_t_SOURCES = t/check.c $(contract_srcs)
t_check_t_LDADD = libpgtable.la
t_check_t_LDFLAGS = $(t_ldflags)
t_config_t_SOURCES = t/config.c $(contract_srcs)
t_config_t_LDADD = libpgtable.la
t_config_t_LDFLAGS = $(t_ldflags)
t_gather_t_SOURCES = t/gather.c $(contract_srcs)
t_gather_t_LDADD = libpgtable.la
t_gather_t_LDFLAGS = $(t_ldflags)
t_equivalence_t_SOURCES = t/equivalence.c $(contract_srcs)
t_equivalence_t_LDADD = libpgtable.la
t_equivalence_t_LDFLAGS = $(t_ldflags)
t_moves_t_SOURCES = t/moves.c $(contract_srcs)
t_moves_t_LDADD = libpgtable.la
t_moves_t_LDFLAGS = $(t_ldflags)
t_protect_t_SOURCES = t/protect.c $(contract_srcs)
t_protect_t_LDADD = libpgtable.la
t_protect_t_LDFLAGS = $(t_ldflags)
t_pte_t_SOURCES = t/pte.c $(contract_srcs)
t_pte_t_LDADD = libpgtable.la
t_pte_t_LDFLAGS = $(t_ldflags)
t_visit_t_SOURCES = t/visit.c $(contract_srcs)
t_visit_t_LDADD = libpgtable.la
t_visit_t_LDFLAGS = $(t_ldflags)
