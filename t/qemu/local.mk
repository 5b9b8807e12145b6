# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# mmu.t: the MMU's answers against the library's; access.t: real accesses; race.t:
# updates by hardware while the library works; hyp.sh: a hypervisor.
# The tests compile the server themselves, with CROSS_AARCH64_CC or
# aarch64-linux-gnu-gcc, and run it in QEMU_SYSTEM_AARCH64 or
# qemu-system-aarch64; without either they skip, but not where CI is 'true'.
qemu_tests = t/qemu/mmu.t t/qemu/access.t t/qemu/race.t
check_PROGRAMS += $(qemu_tests)
TESTS += $(qemu_tests)
machine_srcs = t/qemu/machine.c t/qemu/machine.h t/qemu/racer.h t/qemu/server.h t/tap.h
subject_srcs = t/qemu/random.h t/qemu/subject.c t/qemu/subject.h t/qemu/tables.c t/qemu/tables.h
t_qemu_mmu_t_SOURCES = t/qemu/mmu.c $(subject_srcs) $(machine_srcs)
t_qemu_mmu_t_LDADD = libpgtable.la
t_qemu_mmu_t_LDFLAGS = $(t_ldflags)
t_qemu_access_t_SOURCES = t/qemu/access.c $(subject_srcs) $(machine_srcs)
t_qemu_access_t_LDADD = libpgtable.la
t_qemu_access_t_LDFLAGS = $(t_ldflags)
t_qemu_race_t_SOURCES = t/qemu/race.c $(machine_srcs)
t_qemu_race_t_CPPFLAGS = $(AM_CPPFLAGS) -DPGT_CHECKED
t_qemu_race_t_LDADD = libpgtable-checked.la
t_qemu_race_t_LDFLAGS = $(t_ldflags)
# A hypervisor that compiles the library along.
hyp_dist = t/qemu/hyp.sh t/qemu/hyp/guest.S t/qemu/hyp/hyp.c t/qemu/hyp/hyp.h t/qemu/hyp/hyp.ld t/qemu/hyp/start.S
TESTS += t/qemu/hyp.sh
EXTRA_DIST += $(hyp_dist)
EXTRA_DIST += t/qemu/server.c t/qemu/server.ld t/qemu/start.S t/qemu/racer.c t/qemu/racer.S

# The same for longer, over more.
phony += check-qemu
check-qemu:
	PGT_QEMU_LONG=1 PGT_RACE_SECONDS=150 $(MAKE) check TESTS='$(qemu_tests) t/qemu/hyp.sh'
