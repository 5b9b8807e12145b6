#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# A hypervisor at EL2 with the library compiled along, without a C library
# (hyp/hyp.c): its results are this script's.
here=$(cd "$(dirname "$0")" && pwd)
: "${top_srcdir:=$here/../..}"
. "$top_srcdir/t/tap.sh"
. "$top_srcdir/t/sources.sh"

case " ${pgt_backends-arm64} " in
*" arm64 "*) ;;
*) skip_all "arm64 is not built" ;;
esac
compiler=${CROSS_AARCH64_CC:-aarch64-linux-gnu-gcc}
qemu=${QEMU_SYSTEM_AARCH64:-qemu-system-aarch64}
for tool in "$compiler" "$qemu"; do
	command -v "$tool" >/dev/null && continue
	missing "a hypervisor" "$tool"
	finish
	exit
done

config_h "$tmp/bare" 0 arm64
if ! "$compiler" -std=gnu11 -O2 -march=armv8.4-a -ffreestanding -fno-pic -fno-stack-protector \
	-fno-tree-loop-distribute-patterns -mgeneral-regs-only -mstrict-align -nostdlib -static -no-pie \
	-Wall -Wextra -Werror -I"$tmp/bare" -I"$top_srcdir/include" \
	-Wl,-T,"$here/hyp/hyp.ld" -Wl,--build-id=none \
	"$here/hyp/start.S" "$here/hyp/guest.S" "$here/hyp/hyp.c" $(sources 0 arm64) \
	-o "$tmp/hyp.elf" >"$tmp/said" 2>&1; then
	sed 's/^/# /' "$tmp/said"
	echo "Bail out! the hypervisor does not compile"
	exit 1
fi

# Semihosting's text goes to the standard error stream.
timeout 100 "$qemu" -nodefaults -display none -monitor none -serial none -machine virt,virtualization=on \
	-accel tcg -cpu max -m 128 -semihosting-config enable=on,target=native -kernel "$tmp/hyp.elf" \
	2>&1 </dev/null
status=$?
test "$status" = 0 || echo "# QEMU's exit status is $status"
exit "$status"
