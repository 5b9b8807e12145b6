#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The machine that is short of memory in examples/swap: no page is written out
# that no write had changed, and none that was changed is lost.
. "${top_srcdir:-.}/t/tap.sh"

swap="$EXEC_WRAPPER $top_builddir/examples/swap/swap"
# run TEXT FORMAT OPTION...
run() {
	text="$2, $1"
	format=$2
	shift 2
	case " ${pgt_backends-$format} " in
	*" $format "*) check "$text" $swap --format "$format" "$@" ;;
	*) skip "$text" "$format is not built" ;;
	esac
}
for format in arm64 generic; do
	run "the MMU keeps young and dirty" $format --accesses 100000 --pages 2048 --frames 1024
	run "the pager keeps them" $format --accesses 100000 --pages 2048 --frames 1024 --software
	run "many writes, little memory" $format --accesses 60000 --pages 4096 --frames 256 --writes 50
	run "no writes at all" $format --accesses 60000 --pages 2048 --frames 1024 --writes 0
done
check "help" $swap --help
refused() { ! "$@"; }
check "a number that is none is refused" refused $swap --accesses x
check "an argument that nobody knows is refused" refused $swap fast
finish
