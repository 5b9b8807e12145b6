# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
pgt_arm64_srcs = arch/arm64/arm64.c arch/arm64/attach.c arch/arm64/configure.c arch/arm64/regs.c \
	arch/arm64/stage2.c arch/arm64/tlbi.c arch/arm64/walk.c
pgt_arm64_absent_srcs = arch/arm64/absent.c
pgt_arm64_hdrs = arch/arm64/access.h arch/arm64/arm64.h arch/arm64/change.h arch/arm64/configure.h \
	arch/arm64/decode.h arch/arm64/entry.h \
	arch/arm64/layout.h arch/arm64/problem.h arch/arm64/registers.h arch/arm64/stage1.h arch/arm64/stage2.h \
	arch/arm64/state.h
pgt_arm64_formats = arm64 arm64-el2 arm64-s2
