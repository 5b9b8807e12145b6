/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PGT_T_QEMU_LINUX_VMM_H
#define PGT_T_QEMU_LINUX_VMM_H

#include <stdbool.h>

/*
 * Runs a KVM guest that touches its memory, with a stage 1 of its own or with
 * none, reports it all once it has, and lets it loop. With a stage 1 there can be
 * 40 bits of IPA at most. Does not return.
 */
void vmm_run(bool stage1, unsigned ipa_bits) __attribute__((__noreturn__));

#endif
