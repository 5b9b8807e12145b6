#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Every file names its licence and its authors in its first lines, or stands in
# .reuse/dep5 because it can't.
. "${top_srcdir:-.}/t/tap.sh"
. "$top_srcdir/t/sources.sh"

project_files >"$tmp/files"
sed -n 's/^Files: //p' "$top_srcdir/.reuse/dep5" | tr ' ' '\n' >"$tmp/listed"

bare=
n=0
while read -r f; do
	case $f in COPYING | LICENSES/*) continue ;; esac
	# Deleted and not committed yet; and made programs, in a build in the tree.
	test -f "$top_srcdir/$f" || continue
	n=$((n + 1))
	grep -qxF -e "$f" "$tmp/listed" && continue
	head -n 5 "$top_srcdir/$f" >"$tmp/head" 2>/dev/null
	grep -qa 'SPDX-License-Identifier: BSD-2-Clause' "$tmp/head" &&
		grep -qa 'SPDX-FileCopyrightText: 2026 libpgtable authors' "$tmp/head" && continue
	head -c 4 "$top_srcdir/$f" | grep -qa ELF && continue
	bare="$bare $f"
done <"$tmp/files"
for f in $bare; do echo "# no SPDX lines: $f"; done
result "$(test -z "$bare"; echo $?)" "$n files have their SPDX lines"
check "there were files to look at" test "$n" -gt 20
check "the licence's text is there" test -s "$top_srcdir/LICENSES/BSD-2-Clause.txt"
finish
