/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The virtual machine: its RAM, its QEMU, and the jobs that the guest does. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "guest.h"

struct machine {
	uint8_t *ram; /* RAM_BYTES from guest-physical RAM_PA, shared with QEMU */
	struct mailbox *mailbox;
	struct guest_image image;
	int ram_fd, console_fd;
	pid_t qemu;
};

/* Prints the reason, ends QEMU and exits. */
#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 1, 2)))
#endif
void die(const char *format, ...);

/* Calls of the library that can't fail here unless something is broken. */
void must(int status, const char *what);

static inline bool in_ram(uint64_t pa)
{
	return pa >= RAM_PA && pa - RAM_PA < RAM_BYTES;
}

static inline void *ram_at(const struct machine *m, uint64_t pa)
{
	return m->ram + (pa - RAM_PA);
}

/* Makes the RAM and puts the guest's program into it. */
void machine_make(struct machine *m, const char *guest);

/* Starts QEMU and waits until the guest runs from the upper half; the mailbox
 * holds the registers. */
void machine_start(struct machine *m, const char *qemu);

/* Gives the guest the job that is in the mailbox; machine_wait: until it is done. */
void machine_post(struct machine *m, enum job job);
void machine_wait(struct machine *m);

/* The next line that the guest sends through its serial port. */
void machine_console(struct machine *m, char *line, size_t bytes);

/* Lets the guest switch itself off. */
void machine_stop(struct machine *m);

#endif
