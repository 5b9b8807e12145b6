#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# make demo-linux: boots Linux, captures its memory and its registers, and reads
# its page tables with the pgtable command.
#   demo.sh PGTABLE CACHE FOLDER [CONFIGURATION]
# What it shows stays in FOLDER.
set -eu
pgtable=$1 cache=$2 folder=$3
here=$(cd "$(dirname "$0")" && pwd)
name=${4:-$(sh "$here/capture.sh" --list | head -n 1)}
shown=24
if ! test -x "$pgtable"; then
	echo "demo.sh: there is no $pgtable; configure with --enable-tools" >&2
	exit 1
fi

say() { printf '\n== %s\n' "$*"; }
# show FILE ARGUMENT...: runs the command, keeps what it prints, shows its head.
show() {
	file=$folder/$1
	shift
	printf '\n$ pgtable %s\n' "$*"
	# 1 tells that it found something.
	"$pgtable" "$@" >"$file" || test $? = 1
	head -n $shown "$file"
	lines=$(wc -l <"$file")
	test "$lines" -le $shown || echo "... $lines lines, all in $file"
}

rm -rf "$folder"
say "Boot ($name), and stop in its first process"
sh "$here/capture.sh" --cache "$cache" "$name" "$folder"
regs=$folder/el1.regs
test ! -e "$folder/el2.regs" || regs=$folder/el2.regs
cat "$regs"
echo "and $(grep -c '^P' "$folder/truth") pages that Linux reports, in $folder/truth"

say "Its process, and the kernel"
show dump-lower.txt dump --half=lower --regs "$regs"
show dump-upper.txt dump --half=upper --regs "$regs"
show stat.txt stat --regs "$regs"
show check.txt check --regs "$regs"
if test -e "$folder/s2.regs"; then
	say "Its KVM guest"
	show dump-stage2.txt dump --regs "$folder/s2.regs"
	show dump-guest.txt dump --regs "$folder/el1.regs"
fi
say "A drawing"
"$pgtable" dump --svg --half=lower --regs "$regs" >"$folder/lower.svg"
"$pgtable" dump --svg --half=upper --regs "$regs" >"$folder/upper.svg"
ls -l "$folder"/*.svg
