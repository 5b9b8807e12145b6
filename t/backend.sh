#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# A new backend is one folder in arch/ and one word in configure.ac: in a copy of
# this tree, arch/generic is copied as 'toy', the word is added, and the library
# that comes out has the format.
. "${top_srcdir:-.}/t/tap.sh"

for tool in autoconf automake libtoolize pkg-config; do
	command -v $tool >/dev/null && continue
	missing "one folder and one word" $tool
	finish
	exit
done

# In a cross build: for this machine.
test -z "${EXEC_WRAPPER-}" || CC=cc

tree=$tmp/tree
mkdir "$tree"
(cd "$top_srcdir" && tar cf - --exclude=./.git --exclude='./build*/*/*' --exclude=autom4te.cache \
	--exclude='*.o' --exclude='*.lo' --exclude='*.a' --exclude='./libpgtable-[0-9]*' .) |
	(cd "$tree" && tar xf -)
chmod -R u+w "$tree"
cd "$tree" || exit 99

mkdir arch/toy
for f in arch/generic/*; do
	to=arch/toy/$(basename "$f" | sed 's/generic/toy/')
	# Names and file names; not the public header, nor its macros.
	sed 's/pgt_generic/pgt_toy/g; s/"generic"/"toy"/g; s,arch/generic/generic,arch/toy/toy,g
		s,arch/generic/,arch/toy/,g; s/= generic$/= toy/' "$f" >"$to"
done
sed 's/^\(m4_define(\[PGT_BACKENDS_ALL\], \[.*\)\])$/\1 toy])/' configure.ac >configure.new
check "one word is added to configure.ac" test "$(diff configure.ac configure.new | grep -c '^>')" = 1
mv configure.new configure.ac

# A build in the source tree would be in the way.
rm -f config.status Makefile include/pgtable/config.h
check "bootstrap" sh ./bootstrap
mkdir build-toy
cd build-toy || exit 99
check "configure --with-arch=toy,arm64" sh ../configure CC="$CC" CFLAGS=-O0 --with-arch=toy,arm64 --disable-shared
check "make" "$MAKE" -j2
check "config.h: toy and arm64, and not generic" sh -c \
	'grep -q "PGT_HAVE_TOY 1" "$1" && grep -q "PGT_HAVE_ARM64 1" "$1" && grep -q "PGT_HAVE_GENERIC 0" "$1"' \
	sh include/pgtable/config.h

cat >toy.c <<'E2'
#include <pgtable/pgtable.h>
#include <stdio.h>
int main(void)
{
	struct pgt_config config = { .size = sizeof config, .format = "toy" };
	struct pgt_mapping m;
	struct pgt *t;

	for (const char *const *f = pgt_formats(); *f; f++)
		printf("%s ", *f);
	printf("\n");
	if (pgt_create(&config, &t) || pgt_map(t, 0x200000, 0x400000, 0x201000, PGT_READ, 0, NULL) ||
	    pgt_query(t, 0x400000, &m) || m.pa != 0x600000)
		return 1;
	pgt_destroy(t);
	config.format = "generic";
	return pgt_create(&config, &t) != PGT_ENOTSUP;
}
E2
check "a program compiles with it" $CC -Iinclude -I../include toy.c .libs/libpgtable.a -o toy
check "it maps with format \"toy\", and \"generic\" is PGT_ENOTSUP" sh -c "./toy >formats"
echo "toy arm64 arm64-el2 arm64-s2 " >want
same "pgt_formats: toy, arm64" want formats
finish
