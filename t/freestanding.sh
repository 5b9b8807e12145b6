#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The library as firmware and hypervisors compile it: from sources.mk, a compiler
# and nothing else. All that it may ask for is memcpy and memset, which compilers
# call on their own.
. "${top_srcdir:-.}/t/tap.sh"
. "$top_srcdir/t/sources.sh"

unlisted >"$tmp/unlisted"
same "every file of lib/ and arch/ stands in a list" /dev/null "$tmp/unlisted"

config_h "$tmp/bare" 0 $pgt_known
bare_sources=$(sources 0 $pgt_known)
warn='-Wall -Wextra -Wundef -Wshadow -Wconversion -Wsign-conversion -Werror'

# build FOLDER NM FLAG... -- COMPILER...: compiles it all; undefined names go to
# FOLDER/undefined, those that another object defines taken away.
build() {
	out=$1
	nm=$2
	opt=$3
	shift 3
	mkdir -p "$out"
	for c in $bare_sources; do
		o=$out/$(echo "${c#"$top_srcdir"/}" | tr / -).o
		"$@" $opt -std=c11 -ffreestanding $warn -I"$tmp/bare" -I"$top_srcdir/include" \
			-c "$c" -o "$o" || return 1
	done
	$nm "$out"/*.o | $AWK 'NF == 2 && $1 == "U" { u[$2] } NF == 3 { d[$3] }
		END { for (n in u) if (!(n in d)) print n }' | sort >"$out/undefined"
}

# one TEXT COMPILER...
one() {
	text=$1
	shift
	for opt in -O0 -O2; do
		if ! command -v "$1" >/dev/null; then
			missing "$text $opt" "$1"
			continue
		fi
		out=$tmp/$(echo "$text$opt" | tr ' /' '--')
		if build "$out" "$NM" "$opt" "$@" >"$tmp/said" 2>&1; then
			grep -vxE 'memcpy|memset' "$out/undefined" >"$tmp/extra"
			same "$text $opt: compiles, and needs memcpy and memset at most" /dev/null "$tmp/extra"
		else
			result 1 "$text $opt: compiles"
			sed 's/^/# /' "$tmp/said"
		fi
	done
}

# GNU nm reads the symbol table of any ELF file that its format knows; llvm-nm,
# where clang brings it, reads all.
command -v llvm-nm >/dev/null && NM=llvm-nm

one "gcc x86-64" gcc -m64
one "clang x86-64" clang --target=x86_64-none-elf
one "gcc aarch64" aarch64-linux-gnu-gcc
one "clang aarch64" clang --target=aarch64-none-elf

# And as a program with a C library does it, down to a run.
config_h "$tmp/hosted" 1 $pgt_known
if test -n "${EXEC_WRAPPER-}"; then
	skip "a program compiles along with the library, and runs" "a cross build"
else
	check "a program compiles along with the library" \
		$CC -std=c11 $warn -I"$tmp/hosted" -I"$top_srcdir/include" \
		"$top_srcdir/examples/first.c" $(sources 1 $pgt_known) -o "$tmp/first"
	check "and runs" "$tmp/first"
fi
finish
