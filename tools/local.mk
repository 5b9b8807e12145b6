# SPDX-FileCopyrightText: 2026 libpgtable authors
# SPDX-License-Identifier: BSD-2-Clause
# The installed command. It knows the library through its public headers alone.
tool_srcs = tools/check.c tools/diff.c tools/dump.c tools/elf.c tools/image.c tools/image.h \
	tools/json.h tools/message.c tools/message.h tools/options.c tools/options.h \
	tools/progress.c tools/progress.h tools/ranges.c tools/ranges.h tools/registers.c \
	tools/registers.h tools/space.c tools/space.h tools/stat.c tools/svg.c tools/svg.h \
	tools/table.c tools/table.h tools/tables.c tools/tables.h tools/translate.c tools/words.c \
	tools/words.h
tool_json_srcs = tools/json.c
tool_nojson_srcs = tools/nojson.c
EXTRA_DIST += $(tool_srcs) $(tool_json_srcs) $(tool_nojson_srcs) tools/main.c \
	tools/completion/pgtable doc/pgtable.1 t/tool.sh t/tool_image.c

if TOOLS
noinst_LTLIBRARIES += libpgtable-tool.la
libpgtable_tool_la_SOURCES = $(tool_srcs)
if JANSSON
libpgtable_tool_la_SOURCES += $(tool_json_srcs)
else
libpgtable_tool_la_SOURCES += $(tool_nojson_srcs)
endif
libpgtable_tool_la_CPPFLAGS = $(AM_CPPFLAGS) -D_DEFAULT_SOURCE -D_XOPEN_SOURCE=700 \
	-D_FILE_OFFSET_BITS=64 $(JANSSON_CFLAGS)
libpgtable_tool_la_LIBTOOLFLAGS = --tag=disable-shared
libpgtable_tool_la_LIBADD = libpgtable.la $(JANSSON_LIBS)

bin_PROGRAMS += tools/pgtable
tools_pgtable_SOURCES = tools/main.c
tools_pgtable_LDADD = libpgtable-tool.la
man_MANS = doc/pgtable.1
if BASH_COMPLETION
bashcompletion_DATA = tools/completion/pgtable
endif

if HOSTED_TESTS
# The same without libtool's wrapper, for an emulator; and what makes its input.
check_PROGRAMS += t/pgtable t/tool_image
t_pgtable_SOURCES = tools/main.c
t_pgtable_LDADD = libpgtable-tool.la
t_pgtable_LDFLAGS = $(t_ldflags)
t_tool_image_SOURCES = t/tool_image.c
t_tool_image_LDADD = libpgtable.la
t_tool_image_LDFLAGS = $(t_ldflags)
TESTS += t/tool.sh
t/tool.log: t/pgtable$(EXEEXT) t/tool_image$(EXEEXT)
endif
endif
