#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The tarball has all that git has, and what autotools make of it.
. "${top_srcdir:-.}/t/tap.sh"

test -e "$top_srcdir/.git" && git -C "$top_srcdir" ls-files >"$tmp/git" 2>/dev/null &&
	test -s "$tmp/git" || skip_all "this is no git checkout"

check "make distdir" "$MAKE" -C "$top_builddir" distdir distdir="$tmp/dist" top_distdir="$tmp/dist"
while read -r f; do
	case $f in
	.ci/* | .gitignore | debian/*) ;;
	*) test -e "$tmp/dist/$f" || test ! -e "$top_srcdir/$f" || echo "$f" ;;
	esac
done <"$tmp/git" >"$tmp/left"
same "no file is left out" /dev/null "$tmp/left"
for f in configure Makefile.in aclocal.m4 arch/backends.mk build-aux/ltmain.sh; do
	check "$f, so that nobody needs autotools" test -f "$tmp/dist/$f"
done
finish
