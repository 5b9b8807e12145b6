#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Each public header compiles alone, in every standard that programs use, with
# the warnings that programs turn on and no C library; and the release that it
# names is the one that configure took from it.
. "${top_srcdir:-.}/t/tap.sh"

flags='-ffreestanding -Wall -Wextra -Wpedantic -Wundef -Wconversion -Werror -fsyntax-only'
for h in "$top_srcdir"/include/pgtable/*.h; do
	h=${h##*/}
	# Twice, and a declaration of our own after it: no unit is empty.
	printf '#include <pgtable/%s>\n#include <pgtable/%s>\nextern int unit;\n' "$h" "$h" >"$tmp/$h.c"
	cp "$tmp/$h.c" "$tmp/$h.cc"
	for cc in "$CC" clang; do
		command -v ${cc%% *} >/dev/null || { missing "$h" "$cc"; continue; }
		for std in c11 c17 c2x; do
			check "$h as $std with $cc" \
				$cc -I"$top_builddir/include" -I"$top_srcdir/include" -std=$std -Wstrict-prototypes -Wshadow $flags "$tmp/$h.c"
		done
	done
	done_cxx=0
	for cxx in g++ clang++; do
		command -v $cxx >/dev/null || continue
		done_cxx=1
		check "$h as C++17 with $cxx" \
			$cxx -I"$top_builddir/include" -I"$top_srcdir/include" -std=c++17 $flags "$tmp/$h.cc"
	done
	test $done_cxx = 1 || missing "$h as C++17" "C++ compiler"
done

want=$(sh "$top_srcdir/build-aux/version.sh" "$top_srcdir/include/pgtable/pgtable.h")
got=$(sed -n 's/^Version: //p' "$top_builddir/libpgtable.pc")
check "configure took release $want from pgtable.h (else run ./bootstrap again)" test "$want" = "$got"
finish
