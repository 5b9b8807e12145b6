/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine with the MMU: QEMU, its RAM shared with us, our server in it. */
#ifndef PGT_T_QEMU_MACHINE_H
#define PGT_T_QEMU_MACHINE_H

#include <stdint.h>

#include "server.h"

/* NULL, or why there can be no machine here. */
const char *machine_missing(void);

/* Builds the server and starts QEMU on it. NULL, or what went wrong. */
const char *machine_start(void);

/* From now on the machine may run for so long; at first it is two minutes. */
void machine_time_limit(unsigned seconds);

/* The RAM from guest-physical RAM_PA on. */
uint8_t *machine_ram(void);
struct job *machine_job(void);

/* Has the server do the job. NULL, or what went wrong. */
const char *machine_do(void);

const char *machine_stop(void);

#endif
