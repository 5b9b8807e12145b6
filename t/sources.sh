# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# How a program without autotools compiles the library along with itself: the
# lists of sources.mk, and a pgtable/config.h of its own. The scripts of this
# folder read this with '.', after tap.sh.

pgt_known=$(sh "$top_srcdir/build-aux/backends.sh" --list) || exit 99

# sources HOSTED BACKEND...: the C files, read by make.
sources() {
	src_vars='$(pgt_lib_srcs)'
	test "$1" = 0 || src_vars="$src_vars \$(pgt_hosted_srcs)"
	shift
	{
		echo "include $top_srcdir/sources.mk"
		for src_b in $pgt_known; do
			echo "include $top_srcdir/arch/$src_b/sources.mk"
			case " $* " in
			*" $src_b "*) src_vars="$src_vars \$(pgt_${src_b}_srcs)" ;;
			*) src_vars="$src_vars \$(pgt_${src_b}_absent_srcs)" ;;
			esac
		done
		echo "all: ; @echo \$(addprefix $top_srcdir/,$src_vars)"
	} >"$tmp/list.mk"
	"$MAKE" -s --no-print-directory -f "$tmp/list.mk" all
}

# config_h FOLDER HOSTED BACKEND...: writes FOLDER/pgtable/config.h.
config_h() {
	src_dir=$1/pgtable
	src_hosted=$2
	shift 2
	mkdir -p "$src_dir"
	{
		for src_b in $pgt_known; do
			case " $* " in *" $src_b "*) src_have=1 ;; *) src_have=0 ;; esac
			echo "#define PGT_HAVE_$(echo "$src_b" | tr a-z A-Z) $src_have"
		done
		echo "#define PGT_HAVE_HOSTED $src_hosted"
		printf '#define PGT_BACKENDS(X)'
		for src_b in "$@"; do
			printf ' X(%s' "$src_b"
			for src_f in $(sed -n "s/^pgt_${src_b}_formats *= *//p" \
				"$top_srcdir/arch/$src_b/sources.mk"); do
				printf ', "%s"' "$src_f"
			done
			printf ')'
		done
		echo
	} >"$src_dir/config.h"
}

# unlisted: prints the files of lib/ and arch/ that no list has, so that no tarball has them.
unlisted() {
	{
		echo "include $top_srcdir/sources.mk"
		src_vars='$(pgt_lib_srcs) $(pgt_lib_hdrs) $(pgt_hosted_srcs)'
		for src_b in $pgt_known; do
			echo "include $top_srcdir/arch/$src_b/sources.mk"
			src_vars="$src_vars \$(pgt_${src_b}_srcs) \$(pgt_${src_b}_absent_srcs) \$(pgt_${src_b}_hdrs)"
		done
		echo "all: ; @echo $src_vars"
	} >"$tmp/list.mk"
	"$MAKE" -s --no-print-directory -f "$tmp/list.mk" all | tr ' ' '\n' | sort >"$tmp/list"
	(cd "$top_srcdir" && ls lib/*.[ch] arch/*/*.[ch]) | sort | comm -13 "$tmp/list" -
}

# project_files: what the project consists of, as git lists it; where there is no
# git, all files but what autotools and builds put beside them.
project_files() {
	if test -e "$top_srcdir/.git" && git -C "$top_srcdir" ls-files 2>/dev/null | grep .; then
		return
	fi
	(cd "$top_srcdir" && find . \( -path ./.git -o -path ./build -o -path ./_build -o -path ./_inst -o -path ./autom4te.cache -o \
		-name .libs -o -name .deps -o -path './libpgtable-[0-9]*' \) -prune -o -type f \
		! -name Makefile.in ! -path ./Makefile ! -path './config.*' ! -path ./configure \
		! -path './configure[.~]*' ! -name aclocal.m4 ! -path ./libtool ! -name 'stamp-h*' \
		! -name '*.o' ! -name '*.lo' ! -name '*.la' ! -name '*.a' ! -name '*.log' \
		! -name '*.trs' ! -name '*.pc' ! -name .dist-date ! -name .dirstamp ! -name '*.t' \
		! -name '*~' ! -path ./include/pgtable/config.h ! -path ./arch/backends.mk -print) |
		sed 's,^\./,,' | grep -vE '^examples/[a-z0-9_-]+$|^tools/pgtable$|^t/(pgtable|tool_image)$|^build-aux/(ar-lib|compile|config\.(guess|sub)|depcomp|install-sh|ltmain\.sh|missing|tap-driver\.sh|test-driver)$'
	(cd "$top_srcdir" && ls configure.ac)
}
