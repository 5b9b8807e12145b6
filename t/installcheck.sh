#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The README's example, made by somebody who knows what pkg-config says and
# nothing else: with the shared library, with libpgtable.a, and wholly static.
. "${top_srcdir:-.}/t/tap.sh"

PKG_CONFIG_PATH=$DESTDIR$pkgconfigdir
PKG_CONFIG_DISABLE_UNINSTALLED=1
export PKG_CONFIG_PATH PKG_CONFIG_DISABLE_UNINSTALLED
if test -n "$DESTDIR"; then
	PKG_CONFIG_SYSROOT_DIR=$DESTDIR
	export PKG_CONFIG_SYSROOT_DIR
fi
lib=$DESTDIR$libdir

# The folders of this tree must not be needed: the programs are made elsewhere.
cp "$top_srcdir/examples/first.c" "$tmp/first.c"
case " $pgt_backends " in
*" arm64 "*) want='in a leaf of 2^21 bytes' ;;
*)
	sed 's/"arm64"/NULL/' "$top_srcdir/examples/first.c" >"$tmp/first.c"
	want='in a leaf of 2^21 bytes'
	;;
esac
case $tmp in /*) ;; *) tmp=$PWD/$tmp ;; esac

pc() { $PKG_CONFIG "$@" libpgtable; }

# make PROGRAM FLAG...
make() {
	out=$1
	shift
	(cd "$tmp" && $CC $CFLAGS "$@" -o "$out")
}

# run PROGRAM: it says what the README's reader expects.
run() {
	$EXEC_WRAPPER "$tmp/$1" >"$tmp/out" || return 1
	cat "$tmp/out"
	case $EXEC_WRAPPER in
	*skip-foreign*) ;;
	*) grep -qF "$want" "$tmp/out" ;;
	esac
}

needs() { $READELF -d "$tmp/$1" | grep -q 'NEEDED.*libpgtable\.so\.1'; }
needs_not() { ! needs "$1"; }

check "pkg-config knows libpgtable" pc --exists
check "its backends are $pgt_backends" test "$(pc --variable=backends)" = "$pgt_backends"
check "headers are the installed ones" grep -q "PGT_HAVE_HOSTED $hosted" "$DESTDIR$(pc --variable=includedir | sed "s,^$DESTDIR,,")/pgtable/config.h"
for f in "$lib/pkgconfig/libpgtable.pc" "$lib"/libpgtable.*; do
	test -f "$f" || continue
	case $f in *.pc | *.la) ;; *) continue ;; esac
	test -n "$DESTDIR" || continue
	check "${f##*/} does not know the stage" sh -c '! grep -F "$1" "$2"' sh "$DESTDIR" "$f"
done

ran=0
if test "$hosted" = 0; then
	# Without a C library nothing can be run here; all names must be there.
	printf '#include <pgtable/pgtable.h>\nconst char *name(void);\nconst char *name(void) { return pgt_version(); }\n' >"$tmp/bare.c"
	check "freestanding: a unit compiles" make bare.o -ffreestanding $(pc --cflags) -c bare.c
	check "freestanding: and links" make bare -nostdlib -r bare.o $(pc --libs)
	ran=1
else
	if test "$shared" = yes; then
		check "shared: compiles" make shared $(pc --cflags) first.c $LDFLAGS "-Wl,-rpath,$lib" $(pc --libs)
		check "shared: needs libpgtable.so.1" needs shared
		check "shared: runs" run shared
		ran=1
	fi
	if test "$static" = yes; then
		check "libpgtable.a: compiles" make archive $(pc --cflags) first.c $LDFLAGS \
			$(pc --static --libs | sed 's/-lpgtable/-l:libpgtable.a/')
		check "libpgtable.a: needs no shared libpgtable" needs_not archive
		check "libpgtable.a: runs" run archive
		ran=1
		case "$CC $CFLAGS $LDFLAGS" in
		*-fsanitize*) skip "-static" "sanitizers are not for static programs" ;;
		*)
			check "-static: compiles" make static -static $(pc --static --cflags) first.c $LDFLAGS $(pc --static --libs)
			check "-static: runs" run static
			;;
		esac
	fi
fi
check "something was made and run" test $ran = 1

# The command, where it was installed to.
if test "$tools" = yes; then
	# Where the loader looks, should the stage be elsewhere than the prefix.
	LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
	said() { $EXEC_WRAPPER "$DESTDIR$bindir/pgtable" --version | grep "libpgtable $(pc --modversion)"; }
	case $EXEC_WRAPPER in
	'') check "pgtable --version" said ;;
	*) check "pgtable is there" test -x "$DESTDIR$bindir/pgtable" ;;
	esac
	check "its manual page is there" test -s "$DESTDIR$man1dir/pgtable.1"
	case $completiondir in
	no) ;;
	*) check "its completion is there" test -s "$DESTDIR$completiondir/pgtable" ;;
	esac
else
	check "no pgtable was installed" test ! -e "$DESTDIR$bindir/pgtable"
fi
finish
