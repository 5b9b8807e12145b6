#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# What the shared library exports is what the map names and the headers declare,
# whatever backends were chosen; the static library has no global name without
# our prefix.
. "${top_srcdir:-.}/t/tap.sh"
. "$top_srcdir/t/sources.sh"

map=$top_srcdir/lib/libpgtable.map
so=$top_builddir/.libs/libpgtable.so
a=$top_builddir/.libs/libpgtable.a

sed -n 's/^[[:space:]]*\(pgt_[a-z0-9_]*\);.*/\1/p' "$map" | sort >"$tmp/want"
check "the map names something" test -s "$tmp/want"

# A declaration may go on in the next line: its first name with a ( is the call's.
sed -n '/^PGT_API/{s/^[^(]*[ *]\(pgt_[a-z0-9_]*\)(.*/\1/p;}' \
	"$top_srcdir"/include/pgtable/*.h | sort >"$tmp/declared"
same "the map names what the headers declare" "$tmp/declared" "$tmp/want"

# exports FILE: its dynamic names, without the version nodes themselves and
# without what sanitizers add.
exports() {
	$NM -D --defined-only "$1" | $AWK '$2 != "A" && $3 !~ /^__odr_asan/ { sub(/@.*/, "", $3); print $3 }' | sort
}

if test -f "$so"; then
	exports "$so" >"$tmp/got"
	same "libpgtable.so exports what the map names" "$tmp/want" "$tmp/got"
	check "its soname is libpgtable.so.1" \
		sh -c "$READELF -d '$so' | grep 'SONAME.*\\[libpgtable\\.so\\.1\\]'"
	if $READELF -V "$so" | grep -q 'Name: LIBPGTABLE_'; then
		$NM -D --defined-only "$so" | $AWK '$2 != "A" && $3 !~ /@@LIBPGTABLE_/ && $3 !~ /^__odr_asan/' >"$tmp/unversioned"
		same "every one has a version" /dev/null "$tmp/unversioned"
	else
		skip "every one has a version" "built without symbol versions"
	fi
else
	for text in "libpgtable.so exports what the map names" "soname" "versions"; do
		skip "$text" "no shared library was built"
	done
fi

if test -f "$a"; then
	$NM -g --defined-only "$a" 2>/dev/null |
		$AWK 'NF == 3 && $3 !~ /^pgt_/ && $3 !~ /^__(gnu_lto|odr_asan)/ { print $3 }' >"$tmp/foreign"
	same "every global name in libpgtable.a starts with pgt_" /dev/null "$tmp/foreign"
else
	skip "every global name in libpgtable.a starts with pgt_" "no static library was built"
fi

# Each backend alone: the same names. The linker stops if the map names more.
echo 'int pgt_name;' >"$tmp/one.c"
if ! $CC -shared -fPIC "$tmp/one.c" -o "$tmp/one.so" 2>"$tmp/said"; then
	skip "the same names with each backend alone" "$CC makes no shared libraries"
	pgt_known=
fi
for b in $pgt_known; do
	config_h "$tmp/$b" 1 "$b"
	if $CC -shared -fPIC -fvisibility=hidden -I"$tmp/$b" -I"$top_srcdir/include" \
		-Wl,--version-script="$map" -Wl,--no-undefined-version \
		$(sources 1 "$b") -o "$tmp/$b.so" >"$tmp/said" 2>&1; then
		exports "$tmp/$b.so" >"$tmp/got"
		same "the same names with $b alone" "$tmp/want" "$tmp/got"
	else
		result 1 "the same names with $b alone"
		sed 's/^/# /' "$tmp/said"
	fi
done
finish
