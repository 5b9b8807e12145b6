#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Prints arch/backends.mk, the fragment that compiles each backend or leaves it
# out: automake knows no loops. The one list of backends is in configure.ac;
# each backend's files are in its own arch/NAME/sources.mk.
# With --list: only the names.
set -eu
top=$(dirname "$0")/..
list=$(sed -n 's/^m4_define(\[PGT_BACKENDS_ALL\], \[\(.*\)\])$/\1/p' "$top/configure.ac")
test -n "$list" || { echo "backends.sh: no PGT_BACKENDS_ALL in configure.ac" >&2; exit 1; }
if test "${1-}" = --list; then echo "$list"; exit 0; fi
cat <<END
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Made by build-aux/backends.sh from the list in configure.ac: do not edit.
END
for b in $list; do
	test -f "$top/arch/$b/sources.mk" ||
		{ echo "backends.sh: configure.ac names $b, but there is no arch/$b/sources.mk" >&2; exit 1; }
	B=$(echo "$b" | tr a-z A-Z)
	cat <<END

include \$(top_srcdir)/arch/$b/sources.mk
EXTRA_DIST += \$(pgt_${b}_hdrs)
if ARCH_$B
pgt_sources += \$(pgt_${b}_srcs)
else
pgt_sources += \$(pgt_${b}_absent_srcs)
endif
END
done
