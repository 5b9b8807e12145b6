#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# What --with-arch takes: a wrong name stops configure, and the message has the
# right ones; the order of a list is the order of the library.
. "${top_srcdir:-.}/t/tap.sh"
. "$top_srcdir/t/sources.sh"

case $top_srcdir in /*) ;; *) top_srcdir=$PWD/$top_srcdir ;; esac
if test -f "$top_srcdir/config.status"; then
	skip_all "configured in the source tree, which forbids other builds of it"
fi
# In a cross build: as this machine's own.
test -z "${EXEC_WRAPPER-}" || CC=cc
cd "$tmp" || exit 99
# The compiler is not asked before the list has been read.
refused() {
	! sh "$top_srcdir/configure" "$1" >"$tmp/configured" 2>&1 &&
		grep "error: --with-arch: .*(known: all $pgt_known)" "$tmp/configured"
}
for list in vax '' arm64,vax arm64,,generic ,arm64 arm64, 'arm64 generic'; do
	check "--with-arch='$list' is refused" refused "--with-arch=$list"
done
check "--without-arch is refused" refused --without-arch

# backends LIST: what the library of this list has, in order.
backends() {
	sh "$top_srcdir/configure" -q CC="$CC" --with-arch="$1" --disable-shared >"$tmp/configured" 2>&1 || {
		cat "$tmp/configured"
		return 1
	}
	sed -n 's/^backends=//p' libpgtable.pc
}
while read -r list want; do
	got=$(backends "$list")
	check "--with-arch=$list: $want" test "$got" = "$want"
	said=$(sed -n 's/^#define PGT_BACKENDS(X) //p' include/pgtable/config.h | sed 's/X(\([a-z0-9_]*\),[^)]*)/\1/g')
	check "config.h says so too" test "$said" = "$want"
done <<END
generic,arm64,generic generic arm64
END
finish
