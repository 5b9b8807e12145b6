#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The walker in examples/walker.c, written from generic.h alone, agrees with pgt_translate.
. "${top_srcdir:-.}/t/tap.sh"

case " ${pgt_backends-generic} " in
*" generic "*) ;;
*) skip_all "generic is not built" ;;
esac
check "a walker of 40 lines gives the library's answers" \
	$EXEC_WRAPPER "$top_builddir/examples/walker"
finish
