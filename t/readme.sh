#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The README's example is examples/first.c, character by character; the program
# built from it prints what the README says.
. "${top_srcdir:-.}/t/tap.sh"

# part LANGUAGE: the README's first block of that language.
part() {
	$AWK -v start='```'"$1" '$0 == "```" { if (inside) exit } inside { print } $0 == start { inside = 1 }' \
		"$top_srcdir/README.md"
}

part c >"$tmp/readme.c"
# The file has the licence before it.
sed '1,2d' "$top_srcdir/examples/first.c" >"$tmp/file.c"
check "the README shows a C program" grep -q main "$tmp/readme.c"
same "it is examples/first.c" "$tmp/file.c" "$tmp/readme.c"
lines=$(wc -l <"$tmp/readme.c")
check "of about 20 lines ($lines)" test "$lines" -le 24

case " $pgt_backends " in
*" arm64 "*)
	if test -x "$top_builddir/examples/first"; then
		part text >"$tmp/want"
		$EXEC_WRAPPER "$top_builddir/examples/first" >"$tmp/got"
		result $? "it runs"
		same "it prints what the README says" "$tmp/want" "$tmp/got"
	else
		skip "it runs" "no program was built"
	fi
	;;
*) skip "it runs" "arm64 was not built" ;;
esac
finish
