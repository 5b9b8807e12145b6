#!/bin/sh
# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# Table memory is read and written in lib/entry.h and nowhere else. Three ways
# around it are looked for in lib/ and arch/: member access (the library is
# compiled with the member's name changed, in lib/entry.h alone), pointers that
# turn into others without a cast (the compiler stops at them), and by pattern
# casts, atomics of another kind, and block copies. Then each is planted in a
# copy of the tree, and has to be found.
. "${top_srcdir:-.}/t/tap.sh"
. "$top_srcdir/t/sources.sh"

# Comments and strings hold no code.
code() {
	$AWK '{
		line = $0; out = ""
		while (line != "") {
			if (inside) {
				i = index(line, "*/")
				if (!i) { line = ""; break }
				line = substr(line, i + 2); inside = 0
			} else if (match(line, /\/\*|"([^"\\]|\\.)*"|\/\/.*/)) {
				out = out substr(line, 1, RSTART - 1)
				if (substr(line, RSTART, 2) == "/*") inside = 1
				else if (substr(line, RSTART, 1) == "\"") out = out "\"\""
				line = substr(line, RSTART + RLENGTH)
			} else { out = out line; line = "" }
		}
		print FILENAME ":" FNR ": " out
	}' "$1"
}

# Where the C library's block functions are not about tables: the allocators
# that hand memory out, zeroed, before it is a table.
may_clear='lib/arena\.c|lib/hosted\.c'
# Casts that are not of an entry: where memory that the embedder maps becomes a
# table, the cursor that keeps one, and structures that are copied bytewise.
may_cast='lib/(arena|hosted)\.c:'
may_cast="$may_cast|lib/pgt\\.h:.*\\(void \\*\\)\\(\\(uintptr_t\\)m->window"
may_cast="$may_cast|lib/translate\\.h:.*\\(void \\*\\)\\(uintptr_t\\)cursor->inside"
may_cast="$may_cast|lib/[a-z]*\\.c:.*(unsigned char \\*[a-z]+ = \\((const )?void \\*\\)(config|&in_force);)"
may_cast="$may_cast|arch/[a-z0-9]*/[a-z0-9]*\\.[ch]:.*\\((const )?void \\*\\)(t->arch|&?made|regs);"
may_cast="$may_cast|arch/[a-z0-9]*/[a-z0-9]*\\.c:.*\\(\\(unsigned char \\*\\)regs\\)\\[i\\] = from\\[i\\];"

# patterns TREE: prints what is wrong.
patterns() {
	(
		cd "$1" || exit 1
		for f in lib/*.[ch] arch/*/*.[ch]; do
			test "$f" = lib/entry.h || code "$f"
		done
	) >"$tmp/code"
	grep -E '_Atomic|\<(atomic_|__atomic_|__sync_|volatile\>|asm\>|__asm__\>|stdatomic)' "$tmp/code"
	grep -E '\<(memory_(load|store|exchange|compare_swap))\>' "$tmp/code"
	grep -E '\<(__builtin_)?(memcpy|memmove|memset|memcmp|bcopy|bzero)\>' "$tmp/code" |
		grep -vE "^($may_clear):"
	grep -E '\((const )?(struct pgt_entry|void|char|unsigned char|uint(8|16|32|64)_t|unsigned long( long)?|long( long)?) (const )?\*+\)' "$tmp/code" |
		grep -vE "^($may_cast)"
	true
}

# compiles TREE: with the member under a name that nobody knows.
compiles() {
	sed 's/_Atomic uint64_t raw;/_Atomic uint64_t hidden_member;/; s/&e->raw\>/\&e->hidden_member/g' "$1/lib/entry.h" >"$tmp/entry.h"
	grep -q 'hidden_member;' "$tmp/entry.h" && grep -q 'e->hidden_member' "$tmp/entry.h" || {
		echo "lib/entry.h is not as this script knows it"
		return 1
	}
	cp "$tmp/entry.h" "$1/lib/entry.h"
	(
		top_srcdir=$1
		for c in $(sources "$hosted" $pgt_known); do
			$CC -std=c11 -fsyntax-only -Werror=incompatible-pointer-types -Werror=int-conversion \
				-Werror=implicit-function-declaration -I"$tmp/config" -I"$1/include" "$c" || exit 1
		done
	)
}

# A copy of the sources, to be changed.
copy() {
	rm -rf "$tmp/tree"
	mkdir "$tmp/tree"
	(cd "$top_srcdir" && tar cf - include lib arch build-aux/backends.sh configure.ac sources.mk) |
		(cd "$tmp/tree" && tar xf -)
	chmod -R u+w "$tmp/tree"
}

# seam TREE
seam() {
	patterns "$1" >"$tmp/wrong"
	cat "$tmp/wrong"
	test ! -s "$tmp/wrong" && compiles "$1"
}

# A bare-metal compiler has no stdlib.h.
hosted=1
echo '#include <stdlib.h>' | $CC -E - >/dev/null 2>&1 || hosted=0
config_h "$tmp/config" $hosted $pgt_known
copy
check "no access to table memory outside lib/entry.h" seam "$tmp/tree"

# plant CODE: a function more, in the header that everything includes.
plant() {
	copy
	printf 'static inline void planted(struct pgt_entry *e, void *p, uint64_t *u)\n{\n\t%s\n}\n' "$1" >"$tmp/planted"
	$AWK -v planted="$tmp/planted" '/^#endif/ { last = NR } { line[NR] = $0 }
		END { for (i = 1; i <= NR; i++) {
			if (i == last) while ((getline l <planted) > 0) print l
			print line[i] } }' "$top_srcdir/lib/pgt.h" >"$tmp/tree/lib/pgt.h"
}

# found TEXT CODE
found() {
	plant "$2"
	if seam "$tmp/tree" >"$tmp/said" 2>&1; then
		result 1 "planted and found: $1"
		sed 's/^/# /' "$tmp/planted"
	else
		result 0 "planted and found: $1"
	fi
}

plant 'entry_store(e, entry_load(e) + *u);'
check "an access through lib/entry.h may be there" seam "$tmp/tree"

found "member access" 'e->raw = 0;'
found "member access through a copy" 'struct pgt_entry x = *e; *u = x.raw;'
found "a cast to another pointer" '*u = *(const uint64_t *)e;'
found "a cast from another pointer" 'entry_store((struct pgt_entry *)p, 0);'
found "a cast through void *" 'u = (void *)e; *u = 0;'
found "another pointer without a cast" 'u = e; *u = 0;'
found "memset" 'memset(e, 0, 8);'
found "memcpy" 'memcpy(p, e, 8);'
found "__builtin_memcpy" '__builtin_memcpy(p, e, 8);'
found "atomics of its own" 'atomic_store(u, 0);'
found "compiler atomics" '__atomic_store_n(u, 0, 0);'
found "the memory behind the seam" 'memory_store(e, 0);'
finish
