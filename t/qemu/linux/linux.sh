#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Tables that Linux and KVM wrote: boots machines (capture.sh), and compares what
# they report of their memory with what the library reads in it (compare.c).
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
	test -n "${KEEP-}" || rm -rf "${base:?}/$1"
}

for name; do try "$name"; done
finish
