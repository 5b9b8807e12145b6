# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The test compiles the server itself, with CROSS_AARCH64_CC or
# aarch64-linux-gnu-gcc, and runs it in QEMU_SYSTEM_AARCH64 or
# qemu-system-aarch64; without either it skips, but not where CI is 'true'.
check_PROGRAMS += t/qemu/mmu.t
TESTS += t/qemu/mmu.t
t_qemu_mmu_t_SOURCES = t/qemu/mmu.c t/qemu/machine.c t/qemu/machine.h t/qemu/server.h t/tap.h
t_qemu_mmu_t_LDADD = libpgtable.la
t_qemu_mmu_t_LDFLAGS = $(t_ldflags)
EXTRA_DIST += t/qemu/server.c t/qemu/server.ld t/qemu/start.S
