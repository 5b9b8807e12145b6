#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The memory of a real machine: boots a Linux guest in QEMU, has its first
# process (init.c) make its mappings and report them, stops the machine in it, and
# leaves in FOLDER
#   ram           all of its memory
#   truth         what it reported (truth.h)
#   el1.regs      the registers, as 'name = 0x...', and where the memory is; of the
#                 KVM guest where there is one, stage 2's too
#   el2.regs      Linux's own, where it runs at EL2
#   s2.regs       stage 2's alone
#
#   capture.sh [--cache FOLDER] CONFIGURATION FOLDER
#   capture.sh --list             the configurations
#
# The kernels are fetched into the cache (fetch.sh). Exit status: 0; 1; 69 where
# a tool is missing; 75 where the kernel could not be downloaded.
set -eu
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
cross=${CROSS_AARCH64_CC:-aarch64-linux-gnu-gcc}
qemu=${QEMU_SYSTEM_AARCH64:-qemu-system-aarch64}
gdb=${GDB_MULTIARCH:-gdb-multiarch}
limit=120 # seconds for the whole machine
megabytes=512

# NAME KERNEL REGIME CPU VMM
configurations='lpa2 6.12 el1 max
va48 6.12 el1 max,lpa2=off
a57 6.12 el1 cortex-a57
old 6.1 el1 max
16k 6.12-16k el1 max
16k-va47 6.12-16k el1 max,lpa2=off
vhe 6.12 el2 max
kvm 6.12 el2 max stage1
kvm-flat 6.12 el2 max flat
kvm-wide 6.12 el2 max wide'

fail() {
	echo "capture.sh: $*" >&2
	exit 1
}

cache=.
while :; do
	case ${1-} in
	--cache) cache=$2 && shift 2 ;;
	--list)
		echo "$configurations" | awk '{ print $1 }'
		exit
		;;
	*) break ;;
	esac
done
name=${1-}
folder=${2-}
test -n "$folder" || fail "usage: capture.sh [--cache FOLDER] CONFIGURATION FOLDER, or --list"
set -- $(echo "$configurations" | awk -v name="$name" '$1 == name')
test $# -gt 0 || fail "no configuration is called '$name'"
version=$2 regime=$3 cpu=$4 vmm=${5-}

for tool in "$cross" "$qemu" "$gdb"; do
	if ! "$tool" --version >/dev/null 2>&1; then
		echo "there is no $tool" >&2
		exit 69
	fi
done
kernel=$(sh "$here/fetch.sh" "$version" "$cache")
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# The machine never outlives this script; if that is killed, not its time limit.
machine=
end() {
	cd "$folder"
	test ! -s pid || kill -9 "$(cat pid)" 2>/dev/null || true
	test -z "$machine" || kill "$machine" 2>/dev/null || true
	wait
	rm -f init initrd gdb pid console qemu.log gdb.log
	test -s truth || rm -f ram
}
trap end EXIT
trap 'exit 1' HUP INT TERM

# ---- The initramfs: one file, in cpio's 'newc' format ------------------------

# entry NAME MODE BYTES: the head of a file.
entry() {
	printf '070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\0' \
		1 "$2" 0 0 1 0 "$3" 0 0 0 0 $((${#1} + 1)) 0 "$1"
	pad $((110 + ${#1} + 1))
}
pad() { head -c $(((4 - $1 % 4) % 4)) /dev/zero; }
initramfs() {
	bytes=$(wc -c <"$1")
	entry init $((0100755)) "$bytes"
	cat "$1"
	pad "$bytes"
	entry TRAILER!!! 0 0
}

cd "$folder"
rm -f ram truth console ./*.regs
"$cross" -O2 -std=gnu11 -Wall -Wextra -static -o init \
	"$here/init.c" "$here/vmm.c" "$here/truth.c" "$here/guest.S"
initramfs init >initrd

# ---- The machine ----------------------------------------------------------------

options=virt,gic-version=3,memory-backend=ram
test "$regime" = el1 || options=$options,virtualization=on
case $cpu in
max*) cpu=$cpu,pauth-impdef=on ;; # the other algorithm is slow to emulate
esac
timeout -s KILL $limit "$qemu" -nodefaults -no-reboot -display none -monitor none \
	-machine "$options" -accel tcg -cpu "$cpu" -smp 1 -m $megabytes \
	-object "memory-backend-file,id=ram,share=on,size=${megabytes}M,mem-path=ram" \
	-kernel "$kernel" -initrd initrd \
	-append "console=ttyAMA0 quiet panic=-1${vmm:+ vmm=$vmm}" \
	-pidfile pid -serial file:console -chardev socket,id=gdb,path=gdb,server=on,wait=off -gdb chardev:gdb \
	>qemu.log 2>&1 &
machine=$!

# The last line, once it is whole.
cr=$(printf '\r')
until grep -qE "^(READY|FAILED) .*$cr" console 2>/dev/null; do
	if ! kill -0 $machine 2>/dev/null; then
		machine=
		tail -n 20 console qemu.log >&2
		fail "$name: the machine ended before its report did"
	fi
	sleep 0.1
done
said=$(tr -d '\r' <console | grep -E '^(READY|FAILED) ')
case $said in
READY*) pc=${said#READY } ;;
*) fail "$name: the guest says: $said" ;;
esac

# Stopped in the loop, where the tables in force are that process's or the KVM
# guest's. The last word to QEMU is 'kill', so it does not run on.
set -- -ex 'set architecture aarch64' -ex 'target remote gdb' -ex "hbreak *0x$pc" -ex continue \
	-ex 'printf "pc %lx\n", $pc'
# value FILE NAME REGISTER: each becomes a line 'FILE NAME = 0x...' of gdb's.
values='el1 ttbr0 TTBR0_EL1
el1 ttbr1 TTBR1_EL1
el1 tcr TCR_EL1
el1 mair MAIR_EL1
el1 sctlr SCTLR'
test "$regime" = el1 || values="$values
el2 ttbr0 TTBR0_EL2
el2 ttbr1 TTBR1_EL2
el2 tcr TCR_EL2
el2 mair MAIR_EL2
el2 sctlr SCTLR_EL2
el2 hcr HCR_EL2
s2 vttbr VTTBR_EL2
s2 vtcr VTCR_EL2
s2 hcr HCR_EL2"
while read -r file field register; do
	set -- "$@" -ex "printf \"$file $field = 0x%lx\n\", \$$register"
done <<END
$values
END
timeout -s KILL 30 "$gdb" -q -nx -batch "$@" -ex kill >gdb.log 2>&1 || true
test ! -s pid || kill -9 "$(cat pid)" 2>/dev/null || true
wait $machine || true
machine=
grep -qx "pc $pc" gdb.log || fail "$name: gdb did not stop the machine: $(tail -n 1 gdb.log)"

# ---- What is handed on --------------------------------------------------------

# registers REGIME FILE...: the register file of a regime, out of what gdb said.
registers() {
	echo "# $name: $(cat "$kernel.package" 2>/dev/null || echo "$kernel"), -cpu $cpu${vmm:+, KVM: $vmm}"
	echo "regime = $1"
	echo "ram = ram@0x40000000"
	shift
	for file; do sed -n "s/^$file \(.* = 0x[0-9a-f]*\)\$/\1/p" gdb.log; done
}
case $regime$vmm in
el1) registers el1 el1 >el1.regs ;;
el2) registers el2 el2 >el2.regs ;;
*)
	registers el2 el2 >el2.regs
	registers el1 el1 s2 >el1.regs
	registers s2 s2 >s2.regs
	;;
esac
tr -d '\r' <console | grep -E '^[SPIG] ' >truth
