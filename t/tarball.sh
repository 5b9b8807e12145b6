#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The tarball has all that the project consists of, and what autotools make of it.
. "${top_srcdir:-.}/t/tap.sh"
. "$top_srcdir/t/sources.sh"

if grep -q 'PGT_HAVE_HOSTED 0' "$top_builddir/include/pgtable/config.h"; then
	skip_all "a freestanding build makes no tarball"
fi
project_files >"$tmp/files"
check "there are files to look for" test -s "$tmp/files"
check "make distdir" "$MAKE" -C "$top_builddir" distdir distdir="$tmp/dist" top_distdir="$tmp/dist"
while read -r f; do
	case $f in
	.ci/* | .gitignore | debian/*) ;;
	# Deleted, but git was not told yet: not looked for.
	*) test -e "$tmp/dist/$f" || test ! -e "$top_srcdir/$f" || echo "$f" ;;
	esac
done <"$tmp/files" >"$tmp/left"
same "no file is left out" /dev/null "$tmp/left"
for f in configure Makefile.in aclocal.m4 arch/backends.mk build-aux/ltmain.sh; do
	check "$f, so that nobody needs autotools" test -f "$tmp/dist/$f"
done
finish
