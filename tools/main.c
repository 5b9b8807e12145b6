/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* pgtable: page tables in a memory image, for people and scripts. */
#include "message.h"
#include "options.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct command *const commands[] = {
	&command_dump, &command_translate, &command_check, &command_diff, &command_stat,
};
#define COMMANDS (sizeof commands / sizeof *commands)

static void usage(FILE *to)
{
	fprintf(to, "usage: pgtable COMMAND [OPTIONS] IMAGE...\n\n"
		    "Reads the arm64 page tables in a memory image: raw RAM, an ELF core of QEMU's\n"
		    "dump-guest-memory, or the RAM file of a running machine.\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(to, "\n'pgtable COMMAND --help' has the options, 'man pgtable' all of it.\n");
}

static void version(void)
{
	printf("pgtable %d.%d.%d (libpgtable %s, formats:", PGT_VERSION_MAJOR, PGT_VERSION_MINOR,
	       PGT_VERSION_PATCH, pgt_version());
	for (const char *const *f = pgt_formats(); *f; f++)
		printf(" %s", *f);
	printf(")\n");
}

/* A full disk must not pass for success. */
static int done(int status)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		fail("standard output can't be written");
	return status;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	struct options options;
	int status;

	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		usage(stdout);
		return done(EXIT_FINE);
	}
	if (!strcmp(name, "--version")) {
		version();
		return done(EXIT_FINE);
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i]->name, name) != 0)
			continue;
		options_read(&options, commands[i], argc - 1, argv + 1);
		status = done(commands[i]->run(&options));
		options_free(&options);
		return status;
	}
	if (!*name) {
		usage(stderr);
		return EXIT_TROUBLE;
	}
	fail("there is no command '%s'; try 'pgtable --help'", name);
}
