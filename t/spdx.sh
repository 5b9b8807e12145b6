#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Every file names its licence and its authors in its first lines, or stands in
# .reuse/dep5 because it can't.
. "${top_srcdir:-.}/t/tap.sh"

if test -e "$top_srcdir/.git" && git -C "$top_srcdir" ls-files >"$tmp/files" 2>/dev/null &&
	test -s "$tmp/files"; then
	from="git"
else
	# A tarball: what autotools put into it carries its own licence, and a
	# build in the source tree is none of our files.
	from="the tarball"
	(cd "$top_srcdir" && find . -type f ! -name Makefile.in ! -name Makefile ! -name 'config.h*' \
		! -name configure ! -name aclocal.m4 ! -name config.log ! -name config.status \
		! -name libtool ! -name 'stamp-h*' ! -name '*.o' ! -name '*.lo' ! -name '*.la' \
		! -name '*.log' ! -name '*.trs' ! -name '*.pc' ! -name '.dist-date' ! -name .tarball-version \
		! -path '*/.libs/*' ! -path '*/.deps/*' ! -path '*/autom4te.cache/*' ! -path './build*/*' \
		! -name .dirstamp ! -name '*.t' -print) | sed 's,^\./,,' |
		grep -vE '^build-aux/(ar-lib|compile|config\.(guess|sub)|depcomp|install-sh|ltmain\.sh|missing|tap-driver\.sh|test-driver)$' >"$tmp/files"
fi
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
result "$(test -z "$bare"; echo $?)" "$n files (as $from lists them) have their SPDX lines"
check "there were files to look at" test "$n" -gt 20
check "the licence's text is there" test -s "$top_srcdir/LICENSES/BSD-2-Clause.txt"
finish
