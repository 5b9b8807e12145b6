#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The pgtable command on images that t/tool_image.c makes: what each subcommand
# says, and what it does with images and registers that are wrong.
. "${top_srcdir:-.}/t/tap.sh"

case " ${pgt_backends-arm64} " in
*" arm64 "*) ;;
*) skip_all "arm64 is not built" ;;
esac
case ${EXEC_WRAPPER-} in
*skip-foreign*) skip_all "no program of the host can be run here" ;;
esac
unset COLUMNS
tool="$EXEC_WRAPPER $top_builddir/t/pgtable"
i=$tmp/images
mkdir "$i"
check "images are made" $EXEC_WRAPPER "$top_builddir/t/tool_image" "$i"
regs=--regs=$i/ram.regs

# run STATUS TEXT ARGUMENT...: the exit status; what it says is in $tmp/out and
# $tmp/err. Nothing here may take long, or be ended by a signal.
run() {
	want=$1 text=$2
	shift 2
	status=0
	timeout 60 $tool "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	if test $status = "$want"; then
		result 0 "$text"
	else
		result 1 "$text: exit status $status, not $want"
		sed 's/^/# /' "$tmp/out" "$tmp/err" | head -n 20
	fi
}
says() { check "... and says '$1'" grep -F -e "$1" "$tmp/out"; }
complains() { check "... and says '$1'" grep -F -e "$1" "$tmp/err"; }
says_not() { check "... and not '$1'" sh -c '! grep -F -e "$1" "$2"' sh "$1" "$tmp/out"; }
wanted() {
	cat >"$tmp/want"
	same "... and says just what it should" "$tmp/want" "$tmp/out"
}

# ---- dump ------------------------------------------------------------------------
run 0 "dump" dump "$regs" "$i/ram.img"
wanted <<'END'
---[ TTBR0: lower half, 39 bits in, 40 out, 4K granule, root table at 0x40000000 ]---
VA                           SIZE LEAF      PA            EL1 EL0 TYPE
0x0000400000-0x0000407fff     32K 4K        0x0080000000  r-- r-x normal
0x0000500000-0x000050ffff     64K 4K        16 pieces     rw- rw- normal
0x0000600000-0x00007fffff      2M 2M        0x0088000000  rw- rw- normal
0x7ffffff000-0x7fffffffff      4K 4K        0x0091000000  rw- rw- normal
---[ TTBR1: upper half, 39 bits in, 40 out, 4K granule, root table at 0x40080000 ]---
VA                                       SIZE LEAF      PA            EL1 EL0 TYPE
0xffffff8000000000-0xffffff800000ffff     64K 4K x16    0x0040000000  r-- --- normal global
0xffffff8000200000-0xffffff8000ffffff     14M 2M        0x0040200000  rw- --- normal global
0xffffff8040000000-0xffffff807fffffff      1G 1G        0x0080000000  rw- --- normal global
0xffffff80c0000000-0xffffff80c002ffff    192K 4K x16    0x0040210000  r-x --- normal global
0xffffff80c0100000-0xffffff80c0101fff      8K 4K        0x0040310000  rwx --- normal global
0xffffff8100000000-0xffffff8100000fff      4K 4K        0x0009000000  rw- --- device-nGnRE global
0xffffff8140000000-0xffffff8140003fff     16K 4K        0x0050000000  rw- --- non-cacheable global nonshared
0xfffffffffffff000-0xffffffffffffffff      4K 4K        0x0051000000  r-- --- normal global
END
cp "$tmp/out" "$tmp/dump"
check "... and nothing on standard error" test ! -s "$tmp/err"
run 0 "an ELF core" dump "$regs" "$i/ram.elf"
same "... is the same memory" "$tmp/dump" "$tmp/out"
run 0 "FILE@ADDRESS" dump "$regs" --base=0x1000 "$i/ram.img@0x40000000"
same "... goes before --base" "$tmp/dump" "$tmp/out"
# Two files that are one memory; the second half has the upper tables.
dd if="$i/ram.img" of="$i/a.img" bs=1024 count=512 2>/dev/null
dd if="$i/ram.img" of="$i/b.img" bs=1024 skip=512 2>/dev/null
run 0 "two images" dump "$regs" "$i/b.img@0x40080000" "$i/a.img@0x40000000"
same "... are one memory" "$tmp/dump" "$tmp/out"
cp "$i/ram.regs" "$i/all.regs"
echo 'ram = ram.img' >>"$i/all.regs"
run 0 "registers that name the image" dump --regs "$i/all.regs"
same "... need no argument" "$tmp/dump" "$tmp/out"
# The same values, as options.
options=$(sed -n 's/^\(ttbr[01]\|tcr\|mair\) = /--\1=/p' "$i/ram.regs")
run 0 "registers as options" dump $options --base=0x40000000 "$i/ram.img"
same "... are the same" "$tmp/dump" "$tmp/out"
sed 's/^ttbr0 = /  TTBR0_EL1=/; s/$/  # a comment/' "$i/ram.regs" >"$i/names.regs"
run 0 "names as gdb writes them, and comments" dump --regs="$i/names.regs" "$i/ram.img"
same "... are the same" "$tmp/dump" "$tmp/out"

run 0 "one half" dump "$regs" --half=lower "$i/ram.img"
says_not "TTBR1"
run 0 "--user" dump "$regs" --user "$i/ram.img"
says "(nothing)"
says "0x0000400000-0x0000407fff     32K 4K        0x0080000000  r-- r-x normal"
says_not "global"
run 0 "--device" dump "$regs" --device "$i/ram.img"
says "device-nGnRE"
says_not " normal"
run 1 "--wx finds one, and tells scripts" dump "$regs" --wx "$i/ram.img"
says "0xffffff80c0100000-0xffffff80c0101fff      8K 4K        0x0040310000  rwx --- normal global"
says_not "r-x"
run 0 "--wx in the other half" dump "$regs" --wx --half=lower "$i/ram.img"
run 0 "--pa: who maps it" dump "$regs" --pa=0x80001000+0x2000 "$i/ram.img"
wanted <<'END'
---[ TTBR0: lower half, 39 bits in, 40 out, 4K granule, root table at 0x40000000 ]---
VA                           SIZE LEAF      PA            EL1 EL0 TYPE
0x0000401000-0x0000402fff      8K 4K        0x0080001000  r-- r-x normal
---[ TTBR1: upper half, 39 bits in, 40 out, 4K granule, root table at 0x40080000 ]---
VA                                       SIZE LEAF      PA            EL1 EL0 TYPE
0xffffff8040001000-0xffffff8040002fff      8K 1G        0x0080001000  rw- --- normal global
END
run 0 "--va: an address" dump "$regs" --va 0x601234 "$i/ram.img"
says "0x0000601234-0x0000601234       1 2M        0x0088001234  rw- rw- normal"
run 0 "--va: a range" dump "$regs" --va 0x404000-0x500fff --holes "$i/ram.img"
says "0x0000404000-0x0000407fff     16K 4K"
says "0x0000408000-0x00004fffff    992K -"
says "0x0000500000-0x0000500fff      4K 4K"
run 0 "--va at the top" dump "$regs" --va=0xffffffffffffffff "$i/ram.img"
says "0xffffffffffffffff-0xffffffffffffffff       1 4K        0x0051000fff"
run 0 "--merge=pa" dump "$regs" --merge=pa --half=lower "$i/ram.img"
says "0x0000501000-0x0000501fff      4K 4K        0x0090007000  rw- rw- normal"
run 0 "--merge=none" dump "$regs" --merge=none --half=lower "$i/ram.img"
check "... has a line for each leaf" test "$(grep -c '^0x' "$tmp/out")" = 26
run 0 "--state" dump "$regs" --state --half=lower "$i/ram.img"
says "young dirty"
run 0 "--color=always" dump "$regs" --color=always "$i/ram.img"
check "... has colours, and the same text without them" sh -c \
	'esc=$(printf "\033"); grep -q "$esc" "$1" && sed "s/$esc\[[0-9;]*m//g" "$1" | diff - "$2"' sh "$tmp/out" "$tmp/dump"
run 0 "--progress=always" dump "$regs" --progress=always "$i/ram.img"
same "... leaves standard output alone" "$tmp/dump" "$tmp/out"
complains "TTBR1 ["
run 0 "--svg" dump "$regs" --svg "$i/ram.img"
says "<svg xmlns="
says "</svg>"
says "0xffffff80c0100000-0xffffff80c0101fff  8K"
if command -v xmllint >/dev/null; then
	check "... is XML" xmllint --noout "$tmp/out"
fi

# ---- translate -------------------------------------------------------------------
run 0 "translate" translate "$regs" "$i/ram.img" 0x401234 0xffffff8040001000 0xffffff80c0010008
wanted <<'END'
0x401234 -> 0x80001234  4K page, level 3, r-- r-x normal young dirty
0xffffff8040001000 -> 0x80001000  1G block, level 1, rw- --- normal global young dirty
0xffffff80c0010008 -> 0x40220008  4K page in a run of 64K, level 3, r-x --- normal global young dirty
END
run 1 "a hole" translate "$regs" "$i/ram.img" 0x300000
says "0x300000: translation fault, level 2"
run 1 "no half has it" translate "$regs" "$i/ram.img" 0x8000000000
says "0x8000000000: translation fault, level 0"
run 1 "a write to code" translate "$regs" --access=write --unprivileged "$i/ram.img" 0x400000
says "permission fault, level 3"
run 0 "fetched by a user" translate "$regs" --access=exec --unprivileged "$i/ram.img" 0x400000
run 1 "fetched by the kernel" translate "$regs" --access=exec "$i/ram.img" 0x400000
run 0 "ram in the file of registers" translate --regs "$i/all.regs" 0x600000
says "0x600000 -> 0x88000000  2M block, level 2, rw- rw- normal"
echo 0x600000 0x400000 | timeout 60 $tool translate --regs "$i/all.regs" - >"$tmp/out"
check "addresses from standard input" test "$(wc -l <"$tmp/out")" = 2

# ---- check -----------------------------------------------------------------------
run 0 "check" check "$regs" "$i/ram.img"
says "no problem"
run 1 "check of damaged tables" check --regs="$i/user.regs" "$i/damaged.img"
says "TTBR0: 0x40000000: level 1 entry 0x0000000123456003 at 0x40000008: a table in memory that nobody knows"
says "TTBR0: 0x80000000: level 1 entry 0x0000000040000003 at 0x40000010: a table that leads to itself"
run 1 "--limit" check --regs="$i/user.regs" --limit=1 "$i/damaged.img"
says "more; try --limit=N"

# ---- diff ------------------------------------------------------------------------
run 0 "diff of one and the same" diff "$regs" "$i/ram.img" "$i/ram.elf"
says "no difference"
run 1 "diff" diff "$regs" "$i/ram.img" "$i/later.img"
wanted <<'END'
---[ TTBR0: lower half, 39 bits in, 40 out, 4K granule, root table at 0x40000000 ]---
  VA                           SIZE LEAF      PA            EL1 EL0 TYPE
+ 0x0000a00000-0x0000a02fff     12K 4K        0x0092000000  r-- r-- normal
- 0x7ffffff000-0x7fffffffff      4K 4K        0x0091000000  rw- rw- normal
---[ TTBR1: upper half, 39 bits in, 40 out, 4K granule, root table at 0x40080000 ]---
  VA                                       SIZE LEAF      PA            EL1 EL0 TYPE
< 0xffffff80c0100000-0xffffff80c0101fff      8K 4K        0x0040310000  rwx --- normal global
> 0xffffff80c0100000-0xffffff80c0101fff      8K 4K        0x0040310000  r-x --- normal global
mapped 12K in 1 range, unmapped 4K in 1 range, changed 8K in 1 range
END
cp "$tmp/out" "$tmp/diff"
run 1 "registers of its own for the second" diff "$regs" --new-regs="$i/user.regs" "$i/ram.img" "$i/ram.img"
says "unmapped"

# ---- stat ------------------------------------------------------------------------
run 0 "stat" stat "$regs" --half=upper "$i/ram.img"
wanted <<'END'
---[ TTBR1: upper half, 39 bits in, 40 out, 4K granule, root table at 0x40080000 ]---
tables                11       44K  level 1: 1, level 2: 5, level 3: 5
blocks                 1        1G  of 1G
blocks                 7       14M  of 2M
pages                  8       32K  of 4K
runs                   4      256K  of 64K, each 16 leaves of 4K
mapped                        1.0G
  read-only                    68K
  read-write                  1.0G
  executable                  192K
  writable and executable       8K
  device                        4K
END

# ---- JSON ------------------------------------------------------------------------
if test "${pgt_have_jansson-yes}" = yes; then
	run 0 "dump --json" dump "$regs" --json --merge=pa "$i/ram.img"
	says '"kind": "range", "section": "TTBR0", "va": "0x400000", "last": "0x407fff", "bytes": 32768'
	cp "$tmp/out" "$i/before.json"
	run 0 "of the other image" dump "$regs" --json --merge=pa "$i/later.img"
	cp "$tmp/out" "$i/after.json"
	run 1 "diff of two dumps" diff "$i/before.json" "$i/after.json"
	same "... says what diff of the images says" "$tmp/diff" "$tmp/out"
	run 0 "diff of a dump and its image" diff "$regs" "$i/before.json" "$i/ram.img"
	head -n 3 "$i/before.json" >"$i/short.json"
	run 2 "half a dump" diff "$i/short.json" "$i/after.json"
	echo '{"command": "dump", "items": [{"kind": "range", "va": "0x1000"}]}' >"$i/wrong.json"
	run 2 "a dump that is none" diff "$i/wrong.json" "$i/after.json"
	run 0 "a dump whose ranges are merged" dump "$regs" --json "$i/ram.img"
	cp "$tmp/out" "$i/merged.json"
	run 2 "... can't be compared" diff "$i/merged.json" "$i/after.json"
	complains "--merge=pa"
	for c in stat check; do
		run 0 "$c --json" $c "$regs" --json "$i/ram.img"
		says "\"command\": \"$c\""
		cp "$tmp/out" "$i/$c.json"
	done
	run 1 "translate --json" translate "$regs" --json "$i/ram.img" 0x400000 0x0
	cp "$tmp/out" "$i/translate.json"
	says '"kind": "translation", "va": "0x400000"'
	says '"fault": "translation fault"'
	run 1 "diff --json" diff "$regs" --json "$i/ram.img" "$i/later.img"
	cp "$tmp/out" "$i/diff.json"
	if command -v jq >/dev/null; then
		for f in before merged stat check translate diff; do
			check "$f: jq reads it" jq -e .items "$i/$f.json"
		done
	fi
else
	run 2 "--json in a build without jansson" dump "$regs" --json "$i/ram.img"
	complains "built without jansson"
fi

# ---- Two stages ------------------------------------------------------------------
run 0 "stage 2 alone" dump --regs="$i/stage2.regs" "$i/guest.img"
says "stage 2"
says "0x0080000000-0x00801fffff      2M 2M        0x00c0000000  rwx rwx normal"
both="--regs=$i/stage1.regs --regs=$i/stage2.regs --regime=el1"
run 0 "stage 1 behind stage 2" dump $both "$i/guest.img"
says "0x0000400000-0x00005fffff      2M 2M        0x0080000000  rw- --- normal"
run 1 "translate through both" translate $both "$i/guest.img" 0x401000 0x801004 0x810000
says "0x401000 -> IPA 0x80001000 -> 0xc0001000"
says "0x801004 -> IPA 0x80201004 -> 0xd0002004"
says "0x810000: translation fault, level 3, stage 2, IPA 0x80210000"
off="$both --sctlr=0"
run 0 "a stage 1 that is off" dump $off "$i/guest.img"
says "0x0080000000-0x00801fffff      2M 2M        0x00c0000000  rwx rwx normal"
complains "stage 1 is off"
run 0 "translate through it" translate $off "$i/guest.img" 0x80000010
says "0x80000010 -> IPA 0x80000010 -> 0xc0000010  2M block, level 2, rwx rwx"
run 0 "check of both" check $both "$i/guest.img"

# ---- Bad tables ------------------------------------------------------------------
run 1 "damaged tables" dump --regs="$i/user.regs" "$i/damaged.img"
says "0x0040000000-0x007fffffff      1G DAMAGED: an entry that leads outside the image (to 0x123456000), level 1"
says "0x7ffffff000-0x7fffffffff      4K 4K"
run 1 "stat of damaged tables" stat --regs="$i/user.regs" "$i/damaged.img"
says "DAMAGED"
run 1 "a walk out of the image" translate --regs="$i/user.regs" "$i/damaged.img" 0x40000000
says "the table at 0x123456000 lies outside the image"
run 1 "a walk through a table that leads to itself" translate --regs="$i/user.regs" "$i/damaged.img" 0x80400000
for f in self turns; do
	run 1 "check, where tables lead round in circles ($f)" check --regs="$i/user.regs" "$i/$f.img"
	says "a table that leads to itself"
	for c in dump stat; do
		begun=$(date +%s)
		run 1 "$c, the same" $c --regs="$i/user.regs" "$i/$f.img"
		took=$(($(date +%s) - begun))
		complains "over and over"
		check "... within ten seconds ($took)" test $took -le 10
	done
done
run 0 "the lower half of a file that was cut" dump "$regs" --half=lower "$i/cut.img"
run 2 "the upper half of it: its root is cut" dump "$regs" "$i/cut.img"
complains "root table of TTBR1, at 0x40080000, lies outside the image (0x40000000-0x400807ff)"
dd if="$i/ram.img" of="$i/cut2.img" bs=1024 count=6 2>/dev/null
run 1 "cut inside a table of another level" dump "$regs" --half=lower "$i/cut2.img"
says "DAMAGED: an entry that leads outside the image"

# ---- Bad images ------------------------------------------------------------------
run 2 "no such file" dump "$regs" "$i/nothing"
complains "nothing: No such file"
run 2 "a folder" dump "$regs" "$i"
complains "is a folder"
: >"$i/empty"
run 2 "an empty file" dump "$regs" "$i/empty"
complains "is empty"
run 2 "no image" dump "$regs"
complains "no memory image"
run 2 "a base that is wrong" dump "$regs" --base=0 "$i/ram.img"
complains "try --base"
run 2 "a base at the end" dump "$regs" "$i/ram.img@0xfffffffffffffff0"
complains "doesn't fit"
run 2 "images that overlap" dump "$regs" "$i/ram.img" "$i/later.img"
complains "overlap at 0x40000000"
printf '\037\213\010 and so on' >"$i/gz"
run 2 "a compressed file" dump "$regs" "$i/gz"
complains "is compressed"
printf 'KDUMP   and so on' >"$i/kdump"
run 2 "a kdump file" dump "$regs" "$i/kdump"
complains "kdump format"
printf '\177ELF\002\001\001' >"$i/elf"
run 2 "an ELF file of 7 bytes" dump "$regs" "$i/elf"
complains "ends inside the ELF header"
for n in 63 64 119 120 231; do
	dd if="$i/ram.elf" of="$i/elf" bs=1 count=$n 2>/dev/null
	run 2 "an ELF core of $n bytes" dump "$regs" "$i/elf"
	complains "ends inside"
done
dd if="$i/ram.elf" of="$i/elf" bs=1 count=20000 2>/dev/null
run 2 "an ELF core cut in its memory" dump "$regs" "$i/elf"
complains "is truncated"
run 2 "a program" dump "$regs" "$top_builddir/t/tool_image"
complains "is an ELF file, but no core"
# Each byte of the headers, spoilt: no crash, whatever it says.
bad=0
n=16
while test $n -lt 232; do
	{ head -c $n "$i/ram.elf"; printf '\377'; tail -c +$((n + 2)) "$i/ram.elf"; } >"$i/elf"
	status=0
	timeout 60 $tool dump "$regs" "$i/elf" >/dev/null 2>&1 || status=$?
	test $status -le 2 || { bad=$((bad + 1)); echo "# byte $n: exit status $status"; }
	n=$((n + 3))
done
check "ELF headers with a byte spoilt" test $bad = 0

# A file that becomes shorter while it is read: the message has its name.
cp "$i/ram.img" "$i/shrinks"
{ echo 0x400000; sleep 1; : >"$i/shrinks"; echo 0x600000; } |
	timeout 60 $tool translate "$regs" --image "$i/shrinks" - >"$tmp/out" 2>"$tmp/err"
check "an image that becomes shorter: exit status" test $? = 2
complains "shrinks: can't be read at byte"

# ---- Bad registers ---------------------------------------------------------------
run 2 "no registers" dump "$i/ram.img"
complains "the registers lack tcr"
run 2 "no mair" dump --ttbr0=0x40000000 --tcr=0x2b5193519 "$i/ram.img"
complains "the registers lack mair"
run 2 "a T0SZ that none has" dump "$regs" --tcr=0x2b519353f "$i/ram.img"
complains "T0SZ 63"
run 2 "big-endian tables" dump "$regs" --sctlr=0x2000001 "$i/ram.img"
run 2 "translation is off" dump "$regs" --sctlr=0 "$i/ram.img"
complains "turn all translation off"
run 2 "stage 2 of regime el2" dump "$regs" --regime=el2 --stage=2 "$i/ram.img"
complains "contradict each other"
run 2 "stage 2 without its registers" dump "$regs" --stage=2 "$i/ram.img"
complains "the registers lack vttbr"
run 2 "no number" dump "$regs" --tcr=x "$i/ram.img"
complains "'x' is no 64-bit number"
run 2 "more than 64 bits" dump "$regs" --tcr=0x12345678123456789 "$i/ram.img"
echo 'ttbr0 0x1000' >"$i/bad.regs"
run 2 "a line that is none" dump --regs="$i/bad.regs" "$i/ram.img"
complains "bad.regs:1:"
echo 'ttbr7 = 0x1000' >"$i/bad.regs"
run 2 "a name that is none" dump --regs="$i/bad.regs" "$i/ram.img"
complains "unknown name"
run 2 "an image for a file of registers" dump --regs="$i/ram.img" "$i/ram.img"
run 2 "no such file of registers" dump --regs="$i/none.regs" "$i/ram.img"

# ---- The command line ------------------------------------------------------------
run 2 "nothing"
run 2 "no such command" sing
complains "no command 'sing'"
run 2 "no such option" dump --sing "$i/ram.img"
complains "try 'pgtable dump --help'"
run 2 "no address" translate "$regs" "$i/ram.img"
complains "no address"
run 2 "an address that is none" translate "$regs" "$i/ram.img" here
run 2 "a range that is none" dump "$regs" --va=0x2000-0x1000 "$i/ram.img"
complains "ends before it begins"
run 2 "a choice that is none" dump "$regs" --color=blue "$i/ram.img"
complains "none of auto, always, never"
run 2 "one image for diff" diff "$regs" "$i/ram.img"
run 0 "--version" --version
says "pgtable $(sh "$top_srcdir/build-aux/version.sh" "$top_srcdir/include/pgtable/pgtable.h")"
run 0 "--help" --help
says "usage: pgtable COMMAND"
if test -w /dev/full; then
	status=0
	$tool dump "$regs" "$i/ram.img" >/dev/full 2>"$tmp/err" || status=$?
	check "a full disk is no success" test $status = 2
fi

# Every option of every command is in its help, in the manual page and in the
# completion.
for c in dump translate check diff stat; do
	run 0 "$c --help" $c --help
	sed -n 's/^  --\([a-z0-9-]*\).*/\1/p' "$tmp/out" | sort >"$tmp/options"
	check "... lists options" test -s "$tmp/options"
	while read -r o; do
		grep -qE "Fl -$o( |\$)|-$o( ,|$)|, -$o " "$top_srcdir/doc/pgtable.1" || echo "$o"
	done <"$tmp/options" >"$tmp/left"
	same "... and the manual page has all" /dev/null "$tmp/left"
	if command -v bash >/dev/null; then
		bash -c '. "$1"; _init_completion() { cur=-- prev=$2 words=(pgtable $c --) cword=2; }; c=$2
			compopt() { :; }; _pgtable; printf "%s\n" "${COMPREPLY[@]}"' \
			bash "$top_srcdir/tools/completion/pgtable" $c | sed 's/^--//; s/=$//' | sort >"$tmp/completed"
		same "... and the completion just these" "$tmp/options" "$tmp/completed"
	fi
done
if command -v mandoc >/dev/null; then
	check "mandoc has nothing against the manual page" mandoc -T lint -W warning,stop "$top_srcdir/doc/pgtable.1"
fi
finish
