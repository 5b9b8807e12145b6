# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Real machines' tables: Linux guests in QEMU, KVM guests in those. Needs what
# t/qemu does, gdb-multiarch and apt; LINUX='vhe kvm' chooses configurations,
# KEEP=FOLDER keeps what was captured.
check_PROGRAMS += t/qemu/linux/compare
t_qemu_linux_compare_SOURCES = t/qemu/linux/compare.c t/tap.h
t_qemu_linux_compare_LDADD = libpgtable.la
t_qemu_linux_compare_LDFLAGS = $(t_ldflags)
# The first of them is a test of 'make check' too, once its kernel is there.
TESTS += t/qemu/linux/linux.sh
linux_programs = t/qemu/linux/compare$(EXEEXT)
if TOOLS
linux_programs += t/pgtable$(EXEEXT)
endif
t/qemu/linux/linux.log: $(linux_programs)
EXTRA_DIST += t/qemu/linux/capture.sh t/qemu/linux/demo.sh t/qemu/linux/fetch.sh t/qemu/linux/linux.sh \
	t/qemu/linux/guest.S t/qemu/linux/guest.h t/qemu/linux/init.c t/qemu/linux/truth.c \
	t/qemu/linux/truth.h t/qemu/linux/vmm.c t/qemu/linux/vmm.h

phony += check-linux
check-linux: $(linux_programs)
	@$(AM_TESTS_ENVIRONMENT) CI='$(CI)' KEEP='$(KEEP)' \
	$(SHELL) $(top_srcdir)/t/qemu/linux/linux.sh $(or $(LINUX),--all)

# Leaves what it shows in t/qemu/linux/demo; LINUX=kvm is another machine.
phony += demo-linux
demo-linux: all
	@$(AM_TESTS_ENVIRONMENT) $(SHELL) $(top_srcdir)/t/qemu/linux/demo.sh tools/pgtable$(EXEEXT) \
	"$${PGT_LINUX_CACHE:-t/qemu/linux/cache}" t/qemu/linux/demo $(LINUX)

# A machine's memory is no small thing to leave about; the kernels survive 'make clean'.
clean-local:
	-rm -rf t/qemu/linux/demo
distclean-local:
	-rm -rf t/qemu/linux/cache
