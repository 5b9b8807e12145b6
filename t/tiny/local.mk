# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The library once more, with the tiny backend alone and behind the seam.
check_LTLIBRARIES += libpgtable-tiny.la
libpgtable_tiny_la_SOURCES = $(pgt_lib_srcs) $(pgt_hosted_srcs) $(pgt_arm64_absent_srcs) \
	t/tiny/tiny.c t/tiny/include/pgtable/config.h
libpgtable_tiny_la_CPPFLAGS = -I$(top_srcdir)/t/tiny/include $(AM_CPPFLAGS) -DPGT_CHECKED
libpgtable_tiny_la_LIBTOOLFLAGS = --tag=disable-shared

check_PROGRAMS += t/tiny/exhaust.t t/tiny/sequences.t
TESTS += t/tiny/exhaust.t t/tiny/sequences.t
t_tiny_exhaust_t_SOURCES = t/tiny/exhaust.c t/seam.c t/seam.h t/tap.h
t_tiny_exhaust_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_exhaust_t_LDADD = libpgtable-tiny.la
t_tiny_exhaust_t_LDFLAGS = $(t_ldflags)
t_tiny_sequences_t_SOURCES = t/tiny/sequences.c t/seam.c t/seam.h t/tap.h
t_tiny_sequences_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_sequences_t_LDADD = libpgtable-tiny.la
t_tiny_sequences_t_LDFLAGS = $(t_ldflags)

# The walker by itself.
check_PROGRAMS += t/tiny/ref_selftest.t
TESTS += t/tiny/ref_selftest.t
t_tiny_ref_selftest_t_SOURCES = t/tiny/ref_selftest.c t/tiny/ref.c t/tiny/ref.h t/ref/ref.c t/ref/ref.h t/tap.h
t_tiny_ref_selftest_t_LDFLAGS = $(t_ldflags)

# The suite's own programs, linked with the tiny library and what its tests
# know of its format instead of the other formats'.
tiny_srcs = t/embed.c t/embed.h t/format.h t/tiny/format.c t/tiny/ref.c t/tiny/ref.h t/ref/ref.c \
	t/ref/ref.h t/seam.h t/tap.h
tiny_model_srcs = t/model/model.c t/model/model.h t/model/promise.h t/seam.c $(tiny_srcs)
tiny_contract_srcs = t/contract.h t/seam.c $(tiny_srcs)

# Left out, having nothing to say of another format: pte.t, counts.t, goldens.t,
# regimes.t, tlbi.t and walk.t are of arm64's entries, hooks and registers;
# ref_selftest.t judges the walkers of t/ref, as t/tiny/ref_selftest.t does this
# one; t/qemu runs tables that a CPU understands; same.t is tiny/sequences.c with
# the library's formats. Within the programs below, what they say of arm64 alone
# is skipped: in check.t attached tables of Linux's kind, in attributes.t the
# descriptors by Arm's manual, MAIR and registers, in config.t the defaults (tiny
# has no 4K granule) and table entries with permission bits, in cases_read.t type
# 01 at level 3, in arguments.t pgt_arm64_regs.
tiny_tests = t/tiny/random.t t/tiny/calls.t t/tiny/order.t t/tiny/reads.t \
	t/tiny/readers.t t/tiny/cases_state.t t/tiny/arguments.t t/tiny/attributes.t \
	t/tiny/cases_change.t t/tiny/cases_map.t t/tiny/cases_move.t t/tiny/cases_read.t \
	t/tiny/cases_unmap.t t/tiny/check.t t/tiny/config.t t/tiny/equivalence.t \
	t/tiny/gather.t t/tiny/moves.t t/tiny/protect.t t/tiny/visit.t

check_PROGRAMS += $(tiny_tests)
TESTS += $(tiny_tests)
t_tiny_random_t_SOURCES = t/random.c $(tiny_model_srcs)
t_tiny_random_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_random_t_LDADD = libpgtable-tiny.la
t_tiny_random_t_LDFLAGS = $(t_ldflags)
t_tiny_calls_t_SOURCES = t/calls.c $(tiny_model_srcs)
t_tiny_calls_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_calls_t_LDADD = libpgtable-tiny.la
t_tiny_calls_t_LDFLAGS = $(t_ldflags)
t_tiny_order_t_SOURCES = t/order.c t/seam.c $(tiny_srcs)
t_tiny_order_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_order_t_LDADD = libpgtable-tiny.la
t_tiny_order_t_LDFLAGS = $(t_ldflags)
t_tiny_reads_t_SOURCES = t/reads.c t/seam.c $(tiny_srcs)
t_tiny_reads_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_reads_t_LDADD = libpgtable-tiny.la
t_tiny_reads_t_LDFLAGS = $(t_ldflags)
t_tiny_readers_t_SOURCES = t/readers.c $(tiny_contract_srcs)
t_tiny_readers_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_readers_t_CFLAGS = $(AM_CFLAGS) -pthread
t_tiny_readers_t_LDADD = libpgtable-tiny.la
t_tiny_readers_t_LDFLAGS = $(t_ldflags) -pthread
t_tiny_cases_state_t_SOURCES = t/cases_state.c t/contract.h $(tiny_srcs)
t_tiny_cases_state_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_cases_state_t_LDADD = libpgtable-tiny.la
t_tiny_cases_state_t_LDFLAGS = $(t_ldflags)
t_tiny_arguments_t_SOURCES = t/arguments.c $(tiny_contract_srcs)
t_tiny_arguments_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_arguments_t_LDADD = libpgtable-tiny.la
t_tiny_arguments_t_LDFLAGS = $(t_ldflags)
t_tiny_attributes_t_SOURCES = t/attributes.c $(tiny_contract_srcs)
t_tiny_attributes_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_attributes_t_LDADD = libpgtable-tiny.la
t_tiny_attributes_t_LDFLAGS = $(t_ldflags)
t_tiny_cases_change_t_SOURCES = t/cases_change.c $(tiny_contract_srcs)
t_tiny_cases_change_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_cases_change_t_LDADD = libpgtable-tiny.la
t_tiny_cases_change_t_LDFLAGS = $(t_ldflags)
t_tiny_cases_map_t_SOURCES = t/cases_map.c $(tiny_contract_srcs)
t_tiny_cases_map_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_cases_map_t_LDADD = libpgtable-tiny.la
t_tiny_cases_map_t_LDFLAGS = $(t_ldflags)
t_tiny_cases_move_t_SOURCES = t/cases_move.c $(tiny_contract_srcs)
t_tiny_cases_move_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_cases_move_t_LDADD = libpgtable-tiny.la
t_tiny_cases_move_t_LDFLAGS = $(t_ldflags)
t_tiny_cases_read_t_SOURCES = t/cases_read.c $(tiny_contract_srcs)
t_tiny_cases_read_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_cases_read_t_LDADD = libpgtable-tiny.la
t_tiny_cases_read_t_LDFLAGS = $(t_ldflags)
t_tiny_cases_unmap_t_SOURCES = t/cases_unmap.c $(tiny_contract_srcs)
t_tiny_cases_unmap_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_cases_unmap_t_LDADD = libpgtable-tiny.la
t_tiny_cases_unmap_t_LDFLAGS = $(t_ldflags)
t_tiny_check_t_SOURCES = t/check.c $(tiny_contract_srcs)
t_tiny_check_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_check_t_LDADD = libpgtable-tiny.la
t_tiny_check_t_LDFLAGS = $(t_ldflags)
t_tiny_config_t_SOURCES = t/config.c $(tiny_contract_srcs)
t_tiny_config_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_config_t_LDADD = libpgtable-tiny.la
t_tiny_config_t_LDFLAGS = $(t_ldflags)
t_tiny_equivalence_t_SOURCES = t/equivalence.c $(tiny_contract_srcs)
t_tiny_equivalence_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_equivalence_t_LDADD = libpgtable-tiny.la
t_tiny_equivalence_t_LDFLAGS = $(t_ldflags)
t_tiny_gather_t_SOURCES = t/gather.c $(tiny_contract_srcs)
t_tiny_gather_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_gather_t_LDADD = libpgtable-tiny.la
t_tiny_gather_t_LDFLAGS = $(t_ldflags)
t_tiny_moves_t_SOURCES = t/moves.c $(tiny_contract_srcs)
t_tiny_moves_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_moves_t_LDADD = libpgtable-tiny.la
t_tiny_moves_t_LDFLAGS = $(t_ldflags)
t_tiny_protect_t_SOURCES = t/protect.c $(tiny_contract_srcs)
t_tiny_protect_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_protect_t_LDADD = libpgtable-tiny.la
t_tiny_protect_t_LDFLAGS = $(t_ldflags)
t_tiny_visit_t_SOURCES = t/visit.c $(tiny_contract_srcs)
t_tiny_visit_t_CPPFLAGS = $(libpgtable_tiny_la_CPPFLAGS)
t_tiny_visit_t_LDADD = libpgtable-tiny.la
t_tiny_visit_t_LDFLAGS = $(t_ldflags)
