# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# NAME.t is a compiled test (a cross build runs it through EXEC_WRAPPER), NAME.sh
# a script; both speak TAP. Tests may run at the same time, in any order.
TEST_EXTENSIONS = .t .sh
tap_driver = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
T_LOG_DRIVER = $(tap_driver)
SH_LOG_DRIVER = $(tap_driver)
T_LOG_COMPILER = $(EXEC_WRAPPER)
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(top_srcdir)'; top_builddir='$(top_builddir)'; \
	CC='$(CC)'; NM='$(NM)'; READELF='$(READELF)'; MAKE='$(MAKE)'; AWK='$(AWK)'; \
	CPPFLAGS='$(AM_CPPFLAGS) $(CPPFLAGS)'; EXEC_WRAPPER="$(EXEC_WRAPPER)"; \
	pgt_backends='$(pgt_backends)'; pgt_have_jansson='$(pgt_have_jansson)'; \
	export top_srcdir top_builddir CC NM READELF MAKE AWK CPPFLAGS EXEC_WRAPPER pgt_backends \
	pgt_have_jansson;

# Test programs link with this: no wrapper script of libtool's, so that a
# debugger or an emulator can run the file itself.
t_ldflags = -no-install

script_tests = t/headers.sh t/symbols.sh t/freestanding.sh t/seam.sh t/spdx.sh t/readme.sh \
	t/configure.sh t/backend.sh t/tarball.sh
TESTS += $(script_tests)
EXTRA_DIST += $(script_tests) t/tap.sh t/sources.sh t/tap.h t/installcheck.sh
t/symbols.log: libpgtable.la

# Programs made outside the tree, from what 'make install' put down.
installcheck-local:
	@$(AM_TESTS_ENVIRONMENT) \
	DESTDIR='$(DESTDIR)' libdir='$(libdir)' pkgconfigdir='$(pkgconfigdir)' \
	PKG_CONFIG='$(PKG_CONFIG)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' \
	bindir='$(bindir)' man1dir='$(man1dir)' completiondir='$(bashcompletiondir)' tools='$(enable_tools)' \
	shared='$(enable_shared)' static='$(enable_static)' hosted='$(PGT_HAVE_HOSTED)' \
	$(SHELL) $(top_srcdir)/t/installcheck.sh
