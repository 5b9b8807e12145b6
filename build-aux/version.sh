#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Prints the release. It stands in the public header only.
awk '$2 == "PGT_VERSION_MAJOR" { a = $3 } $2 == "PGT_VERSION_MINOR" { b = $3 }
     $2 == "PGT_VERSION_PATCH" { c = $3 } END { printf "%d.%d.%d\n", a, b, c }' \
	"${1:-include/pgtable/pgtable.h}"
