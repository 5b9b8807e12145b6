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
