# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The reference walkers, the flat model, and what is compared with them.
ref_srcs = t/ref/ref.c t/ref/ref.h t/ref/generic.c t/ref/generic.h t/tap.h
format_srcs = t/format.h t/formats.c $(ref_srcs)
model_srcs = t/embed.c t/embed.h t/model/model.c t/model/model.h t/model/promise.h

check_PROGRAMS += t/ref_selftest.t t/random.t t/order.t t/calls.t
TESTS += t/ref_selftest.t t/random.t t/order.t t/calls.t
t_ref_selftest_t_SOURCES = t/ref_selftest.c $(ref_srcs)
t_ref_selftest_t_LDFLAGS = $(t_ldflags)
t_random_t_SOURCES = t/random.c $(model_srcs) $(format_srcs)
t_random_t_LDADD = libpgtable.la
t_random_t_LDFLAGS = $(t_ldflags)
t_order_t_SOURCES = t/order.c t/embed.c t/embed.h $(format_srcs)
t_order_t_LDADD = libpgtable.la
t_order_t_LDFLAGS = $(t_ldflags)
t_calls_t_SOURCES = t/calls.c $(model_srcs) $(format_srcs)
t_calls_t_LDADD = libpgtable.la
t_calls_t_LDFLAGS = $(t_ldflags)

# The same sequences in the other regimes of arm64.
regime_srcs = t/format.h t/regime_formats.c $(ref_srcs)
check_PROGRAMS += t/regime_random.t t/regime_calls.t
TESTS += t/regime_random.t t/regime_calls.t
t_regime_random_t_SOURCES = t/random.c $(model_srcs) $(regime_srcs)
t_regime_random_t_LDADD = libpgtable.la
t_regime_random_t_LDFLAGS = $(t_ldflags)
t_regime_calls_t_SOURCES = t/calls.c $(model_srcs) $(regime_srcs)
t_regime_calls_t_LDADD = libpgtable.la
t_regime_calls_t_LDFLAGS = $(t_ldflags)

# And what holds for all formats, in the regimes whose addresses are of 48 bits.
regime_tests = t/regime_order.t t/regime_equivalence.t t/regime_moves.t t/regime_gather.t \
	t/regime_cases_map.t t/regime_cases_unmap.t t/regime_cases_move.t t/regime_protect.t \
	t/regime_check.t t/regime_visit.t t/regime_cases_state.t
check_PROGRAMS += $(regime_tests)
TESTS += $(regime_tests)
regime_flags = $(AM_CPPFLAGS) -DREGIMES_OF_48_BITS
regime_contract_srcs = t/contract.h t/embed.c t/embed.h $(regime_srcs)
t_regime_order_t_SOURCES = t/order.c $(regime_contract_srcs)
t_regime_order_t_CPPFLAGS = $(regime_flags)
t_regime_order_t_LDADD = libpgtable.la
t_regime_order_t_LDFLAGS = $(t_ldflags)
t_regime_equivalence_t_SOURCES = t/equivalence.c $(regime_contract_srcs)
t_regime_equivalence_t_CPPFLAGS = $(regime_flags)
t_regime_equivalence_t_LDADD = libpgtable.la
t_regime_equivalence_t_LDFLAGS = $(t_ldflags)
t_regime_moves_t_SOURCES = t/moves.c $(regime_contract_srcs)
t_regime_moves_t_CPPFLAGS = $(regime_flags)
t_regime_moves_t_LDADD = libpgtable.la
t_regime_moves_t_LDFLAGS = $(t_ldflags)
t_regime_gather_t_SOURCES = t/gather.c $(regime_contract_srcs)
t_regime_gather_t_CPPFLAGS = $(regime_flags)
t_regime_gather_t_LDADD = libpgtable.la
t_regime_gather_t_LDFLAGS = $(t_ldflags)
t_regime_cases_map_t_SOURCES = t/cases_map.c $(regime_contract_srcs)
t_regime_cases_map_t_CPPFLAGS = $(regime_flags)
t_regime_cases_map_t_LDADD = libpgtable.la
t_regime_cases_map_t_LDFLAGS = $(t_ldflags)
t_regime_cases_unmap_t_SOURCES = t/cases_unmap.c $(regime_contract_srcs)
t_regime_cases_unmap_t_CPPFLAGS = $(regime_flags)
t_regime_cases_unmap_t_LDADD = libpgtable.la
t_regime_cases_unmap_t_LDFLAGS = $(t_ldflags)
t_regime_cases_move_t_SOURCES = t/cases_move.c $(regime_contract_srcs)
t_regime_cases_move_t_CPPFLAGS = $(regime_flags)
t_regime_cases_move_t_LDADD = libpgtable.la
t_regime_cases_move_t_LDFLAGS = $(t_ldflags)
t_regime_protect_t_SOURCES = t/protect.c $(regime_contract_srcs)
t_regime_protect_t_CPPFLAGS = $(regime_flags)
t_regime_protect_t_LDADD = libpgtable.la
t_regime_protect_t_LDFLAGS = $(t_ldflags)
t_regime_check_t_SOURCES = t/check.c $(regime_contract_srcs)
t_regime_check_t_CPPFLAGS = $(regime_flags)
t_regime_check_t_LDADD = libpgtable.la
t_regime_check_t_LDFLAGS = $(t_ldflags)
t_regime_visit_t_SOURCES = t/visit.c $(regime_contract_srcs)
t_regime_visit_t_CPPFLAGS = $(regime_flags)
t_regime_visit_t_LDADD = libpgtable.la
t_regime_visit_t_LDFLAGS = $(t_ldflags)
t_regime_cases_state_t_SOURCES = t/cases_state.c $(regime_contract_srcs)
t_regime_cases_state_t_CPPFLAGS = $(regime_flags) -DREGIMES_OF_4K -DPGT_CHECKED
t_regime_cases_state_t_LDADD = libpgtable-checked.la
t_regime_cases_state_t_LDFLAGS = $(t_ldflags)
