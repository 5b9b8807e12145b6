#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Every fault of t/cases.tsv has its row, and those of a finished order have a
# test that is there, is run, and says its number.
. "${top_srcdir:-.}/t/tap.sh"

tsv=${1-$top_srcdir/t/cases.tsv}
numbers=$(sed -n 's/^# Numbers: //p' "$tsv")
finished=$(sed -n 's/^# Finished: //p' "$tsv")
tab=$(printf '\t')

# is_run FILE: make check runs what is made of it.
is_run() {
	case $1 in
	t/*.c)
		program=${1%.c}.t
		cat "$top_srcdir"/t/*.mk | grep -E '^(TESTS|contract_tests)|^	' | grep -q -F "$program"
		;;
	t/installcheck.sh) grep -q -F "$1" "$top_srcdir/t/local.mk" ;;
	t/*.sh) sed -n '/^script_tests/,/[^\\]$/p' "$top_srcdir/t/local.mk" | grep -q -F "$1" ;;
	*) : ;;
	esac
}

# tested NUMBER FILES TEXT: the files are there, are run, and hold the text.
tested() {
	test "$2" != - || { echo "it has no test"; return 1; }
	for file in $2; do
		test -f "$top_srcdir/$file" || { echo "there is no $file"; return 1; }
		grep -q -F -e "$3" "$top_srcdir/$file" || { echo "$file does not say '$3'"; return 1; }
		is_run "$file" || { echo "make check does not run $file"; return 1; }
	done
}

# is_finished ORDERS: one of them is.
is_finished() {
	echo "$1" | tr , '\n' >"$tmp/orders"
	echo "$finished" | tr , '\n' | grep -q -x -F -f "$tmp/orders"
}

check "the numbers are listed" test -n "$numbers"
for n in $numbers; do
	row=$(grep "^$n$tab" "$tsv")
	if test "$(echo "$row" | grep -c .)" != 1; then
		result 1 "case $n has one row"
		continue
	fi
	title=$(echo "$row" | cut -f2)
	orders=$(echo "$row" | cut -f3)
	files=$(echo "$row" | cut -f4)
	text=$(echo "$row" | cut -f5)
	for order in $(echo "$orders" | tr ' ,' '- '); do
		case $order in
		library | five-ideas | arm64 | trust | everywhere) ;;
		*) result 1 "case $n: there is no order '$order'" ;;
		esac
	done
	if is_finished "$orders"; then
		check "case $n: $title ($files)" tested "$n" "$files" "$text"
	elif test "$files" != -; then
		check "case $n: $title ($files, before its time)" tested "$n" "$files" "$text"
	fi
done

# The other way round: no row and no test has a number that isn't listed.
grep -v '^#' "$tsv" | cut -f1 >"$tmp/rows"
sed -n 's/.*"case \([0-9]*\): .*/\1/p' "$top_srcdir"/t/*.c | sort -un >"$tmp/said"
for n in $(cat "$tmp/rows" "$tmp/said" | sort -un); do
	case " $numbers " in
	*" $n "*) ;;
	*) result 1 "case $n is listed" ;;
	esac
	grep -q -x "$n" "$tmp/said" || continue
	text=$(grep "^$n$tab" "$tsv" | cut -f5)
	test "$text" = "case $n:" || result 1 "case $n: the table says '$text', the tests 'case $n:'"
done
finish
