# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# What the library is made of: plain lists for automake and for any GNU make of
# a program that compiles the library along with itself. Paths are relative to
# the top of the source tree. Each backend's lists stand in arch/NAME/sources.mk:
# pgt_NAME_srcs, and pgt_NAME_absent_srcs where the backend is left out.
#
# Compile with -I include, and with a pgtable/config.h of your own (see
# include/pgtable/config.h.in for what it holds).
pgt_lib_srcs = lib/api.c lib/arena.c lib/backends.c lib/dump.c lib/init.c lib/memory.c \
	lib/merge.c lib/setup.c lib/status.c
pgt_hosted_srcs = lib/hosted.c
pgt_lib_hdrs = lib/answer.h lib/build.h lib/call.h lib/change.h lib/check.h lib/collapse.h lib/copy.h lib/cut.h \
	lib/edge.h lib/entry.h lib/fault.h lib/gather.h lib/harvest.h lib/leaves.h lib/lowest.h lib/map.h \
	lib/modify.h lib/move.h lib/operations.h lib/pgt.h lib/plan.h lib/protect.h lib/read.h lib/recent.h \
	lib/remove.h lib/replace.h lib/split.h lib/stat.h lib/translate.h lib/trim.h lib/unmap.h \
	lib/walk.h
pgt_public_hdrs = include/pgtable/pgtable.h include/pgtable/arm64.h include/pgtable/generic.h
