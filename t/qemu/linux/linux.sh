#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Tables that Linux and KVM wrote: boots machines (capture.sh), and compares what
# they report of their memory with what the library reads in it (compare.c), and
# what the pgtable command does.
#   linux.sh                  the first configuration; only where its kernel was fetched
#                             before, or CI is 'true'
#   linux.sh NAME... | --all  these, fetching what is not there
# PGT_LINUX_CACHE is the folder of the kernels, KEEP=FOLDER that of the captured
# files, which are otherwise removed (they hold the memory of a whole machine).
here=$(cd "$(dirname "$0")" && pwd)
: "${top_srcdir:=$here/../../..}"
. "$top_srcdir/t/tap.sh"

cache=${PGT_LINUX_CACHE:-$top_builddir/t/qemu/linux/cache}
compare=$top_builddir/t/qemu/linux/compare
pgtable=$top_builddir/t/pgtable

case " ${pgt_backends-arm64} " in
*" arm64 "*) ;;
*) skip_all "arm64 is not built" ;;
esac
case ${1-} in
'')
	set -- "$(sh "$here/capture.sh" --list | head -n 1)"
	if test "${CI-}" != true && ! test -s "$cache/vmlinuz-6.12"; then
		skip_all "no kernel was fetched yet: make check-linux"
	fi
	;;
--all) set -- $(sh "$here/capture.sh" --list) ;;
esac

# In memory where there is room for a machine's, else beside the build.
room=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
base=${KEEP-}
if test -z "$base"; then
	above=$top_builddir/t/qemu/linux
	test "${room:-0}" -lt 700000 || ! test -w /dev/shm || above=/dev/shm
	mkdir -p "$above"
	base=$(mktemp -d "$above/pgt-linux-XXXXXX") || exit 99
	trap 'rm -rf "$tmp" "$base"' EXIT
fi

# relay NAME: the results of compare become ours.
relay() {
	relay_n=$tap_n
	while read -r line; do
		case $line in
		'ok '*) result 0 "$1: ${line#ok * - }" ;;
		'not ok '*) result 1 "$1: ${line#not ok * - }" ;;
		1..*) ;;
		*) echo "$line" ;;
		esac
	done <"$tmp/compared"
	test "$tap_n" -gt "$relay_n" || result 1 "$1: nothing was compared"
}

# expect KIND: of each line of that kind that must translate or must not, the
# address and what follows from it. Pages that a process may only execute, and
# what no KVM guest has touched, are left out.
expect() {
	"$AWK" -v kind="$1" '
	function number(hex,   i, n) {
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}
	$1 == "S" { pages = number($2) / 4096 }
	{ pa = sprintf("0x%x000", number($3) * pages); behind[$2] = pa }
	$1 != kind || $4 == "x" { next }
	kind == "P" && ($3 == "-" || $4 == "-") { print "0x" $2, "translation fault"; next }
	kind == "P" || (kind == "I" && $4 ~ /t/) { print "0x" $2, pa }
	kind == "G" && $4 ~ /t/ { print "0x" $2, "IPA 0x" $3, behind[$3] }' "$base/$2/truth"
}

# command_on NAME KIND REGISTERS TEXT: 'pgtable translate' of all these.
command_on() {
	expect "$2" "$1" >"$tmp/expected"
	test -s "$tmp/expected" || return 0
	cut -d ' ' -f 1 "$tmp/expected" | $EXEC_WRAPPER "$pgtable" translate --regs "$base/$1/$3" - |
		sed -e 's/ -> / /g' -e 's/: \([a-z]* fault\),.*/ \1/' -e 's/  .*//' >"$tmp/translated"
	same "$1: pgtable translate of $(wc -l <"$tmp/expected") $4" "$tmp/expected" "$tmp/translated"
}

use_command() {
	own=el1.regs
	test ! -e "$base/$1/el2.regs" || own=el2.regs
	command_on "$1" P $own "pages of the process"
	if test -e "$base/$1/s2.regs"; then
		command_on "$1" I s2.regs "pages of the KVM guest's memory"
		command_on "$1" G el1.regs "pages of the KVM guest's own"
	fi
	check "$1: pgtable check" $EXEC_WRAPPER "$pgtable" check --regs "$base/$1/$own"
	check "$1: pgtable dump" $EXEC_WRAPPER "$pgtable" dump --regs "$base/$1/$own"
}

try() {
	status=0
	start=$(date +%s)
	sh "$here/capture.sh" --cache "$cache" "$1" "$base/$1" >"$tmp/said" 2>&1 || status=$?
	took=$(($(date +%s) - start))
	why=$(tail -n 1 "$tmp/said")
	case $status in
	0) result 0 "$1: captured in $took s" ;;
	69) missing "$1" "${why#there is no }" && return ;;
	75) skip "$1" "${why#fetch.sh: }" && return ;;
	*)
		result 1 "$1: captured"
		sed 's/^/# /' "$tmp/said"
		return
		;;
	esac
	status=0
	$EXEC_WRAPPER "$compare" "$base/$1" >"$tmp/compared" 2>&1 || status=$?
	relay "$1"
	test $status = 0 || test $status = 1 || result 1 "$1: compare ended with status $status"
	test ! -x "$pgtable" || use_command "$1"
	test -n "${KEEP-}" || rm -rf "${base:?}/$1"
}

for name; do try "$name"; done
finish
