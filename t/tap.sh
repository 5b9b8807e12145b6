# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# TAP for the scripts of this folder, which read it with '.'; also the folder
# that they may write to, $tmp.
LC_ALL=C
export LC_ALL
# What the make that runs the tests says to its children is not for ours.
unset MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKELEVEL TAR_OPTIONS
: "${top_srcdir:=$(dirname "$0")/..}" "${top_builddir:=.}" "${CC:=cc}" "${NM:=nm}"
: "${READELF:=readelf}" "${AWK:=awk}" "${MAKE:=make}"
tap_n=0
tap_bad=0
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# result STATUS TEXT
result() {
	tap_n=$((tap_n + 1))
	if test "$1" = 0; then
		echo "ok $tap_n - $2"
	else
		echo "not ok $tap_n - $2"
		tap_bad=$((tap_bad + 1))
	fi
}

# check TEXT COMMAND...: what the command says is shown when it fails.
check() {
	tap_text=$1
	shift
	if "$@" >"$tmp/said" 2>&1; then
		result 0 "$tap_text"
	else
		result 1 "$tap_text"
		sed 's/^/# /' "$tmp/said"
	fi
}

# same TEXT WANTED GOT: two files, line by line.
same() { check "$1" diff "$2" "$3"; }

# skip TEXT WHY
skip() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

# missing TEXT TOOL: a skip, but a failure in CI, where all tools must be there.
missing() {
	if test "${CI-}" = true; then
		result 1 "$1: there is no $2"
	else
		skip "$1" "there is no $2"
	fi
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# The last line of a script: the plan and the exit status.
finish() {
	echo "1..$tap_n"
	test "$tap_bad" = 0 && test "$tap_n" -gt 0
}
