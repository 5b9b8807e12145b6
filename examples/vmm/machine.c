/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pgtable/pgtable.h>

#include "machine.h"

#define TIME_LIMIT 60 /* seconds, for everything */
#define JOB_LIMIT  20 /* for the boot, and for each job */

/*
 * QEMU never outlives this program: it is killed when the time is up, when we
 * are interrupted and when anything fails; and if this process is killed
 * itself, the kernel kills QEMU (PR_SET_PDEATHSIG).
 */
static volatile sig_atomic_t qemu_pid;

static void kill_qemu(void)
{
	if (qemu_pid > 0)
		kill((pid_t)qemu_pid, SIGKILL);
	qemu_pid = 0;
}

static void on_signal(int signal)
{
	static const char late[] = "vmm: not finished within its time limit\n";

	if (signal == SIGALRM && write(STDERR_FILENO, late, sizeof(late) - 1) < 0)
		_exit(2);
	kill_qemu();
	_exit(1);
}

void die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("vmm: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	kill_qemu();
	exit(1);
}

void must(int status, const char *what)
{
	if (status != PGT_OK)
		die("%s: %s", what, pgt_strerror(status));
}

/*
 * The RAM is a file that QEMU and we both map.  Its name is removed at once,
 * so that nothing stays behind however this ends; QEMU reaches the open file
 * through /dev/fd.
 */
static int ram_file(void)
{
	const char *folders[] = { getenv("TMPDIR"), "/dev/shm", "/tmp" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char path[4096];
		int fd;

		if (!folders[i] || strlen(folders[i]) > sizeof(path) - 32)
			continue;
		snprintf(path, sizeof(path), "%s/vmm-ram-XXXXXX", folders[i]);
		fd = mkstemp(path);
		if (fd < 0)
			continue;
		unlink(path);
		if (ftruncate(fd, RAM_BYTES) == 0)
			return fd;
		close(fd);
	}
	die("no place for the guest's RAM: %s", strerror(errno));
}

static void load(struct machine *m, const char *guest)
{
	FILE *file = fopen(guest, "rb");
	size_t bytes;

	if (!file)
		die("%s: %s", guest, strerror(errno));
	bytes = fread(ram_at(m, KERNEL_PA), 1, KERNEL_BYTES, file);
	fclose(file);
	memcpy(&m->image, ram_at(m, KERNEL_PA), sizeof(m->image));
	if (bytes < sizeof(m->image) || m->image.magic != GUEST_MAGIC ||
	    m->image.base != KERNEL_VA || m->image.end > KERNEL_BYTES)
		die("%s is not the guest's program", guest);
}

void machine_make(struct machine *m, const char *guest)
{
	memset(m, 0, sizeof(*m));
	m->ram_fd = ram_file();
	m->ram = mmap(NULL, RAM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, m->ram_fd, 0);
	if (m->ram == MAP_FAILED)
		die("cannot map the guest's RAM: %s", strerror(errno));
	m->mailbox = ram_at(m, MAILBOX_PA);
	load(m, guest);
}

static void watch_signals(void)
{
	static const int signals[] = { SIGALRM, SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	alarm(TIME_LIMIT);
}

static void run_qemu(const struct machine *m, const char *qemu, int console, pid_t parent)
{
	char memory[128], serial[64], start[64];

	snprintf(memory, sizeof(memory),
		 "memory-backend-file,id=ram,share=on,size=%d,mem-path=/dev/fd/%d", RAM_BYTES,
		 m->ram_fd);
	snprintf(serial, sizeof(serial), "file,id=console,append=on,path=/dev/fd/%d", console);
	snprintf(start, sizeof(start), "loader,cpu-num=0,addr=0x%x", KERNEL_PA);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* Without -nodefaults QEMU looks for a network card's firmware. */
	execlp(qemu, qemu, "-nodefaults", "-display", "none", "-monitor", "none",
	       "-machine", "virt,memory-backend=ram", "-accel", "tcg", "-cpu", "max", "-m", "64",
	       "-object", memory, "-device", start, "-chardev", serial,
	       "-serial", "chardev:console", (char *)NULL);
	fprintf(stderr, "vmm: %s: %s\n", qemu, strerror(errno));
	_exit(127);
}

void machine_start(struct machine *m, const char *qemu)
{
	const pid_t self = getpid();
	int console[2];

	if (pipe(console) < 0)
		die("pipe: %s", strerror(errno));
	m->console_fd = console[0];
	m->mailbox->job = JOB_BOOT;
	m->mailbox->asked = 1;
	watch_signals();
	fflush(stdout);
	m->qemu = fork();
	if (m->qemu < 0)
		die("fork: %s", strerror(errno));
	if (m->qemu == 0)
		run_qemu(m, qemu, console[1], self);
	qemu_pid = m->qemu;
	close(console[1]);
	machine_wait(m);
}

void machine_post(struct machine *m, enum job job)
{
	m->mailbox->job = job;
	__atomic_store_n(&m->mailbox->asked, m->mailbox->asked + 1, __ATOMIC_RELEASE);
}

static const char *exception(uint64_t esr)
{
	switch (esr >> 26) {
	case 0x00:
		return "an undefined instruction";
	case 0x15:
		return "an unexpected svc";
	case 0x20:
	case 0x21:
		return "an instruction abort";
	case 0x24:
	case 0x25:
		return "a data abort";
	default:
		return "an exception";
	}
}

static void check_alive(struct machine *m)
{
	const struct mailbox *mailbox = m->mailbox;
	int status;

	if (__atomic_load_n(&mailbox->panic.happened, __ATOMIC_ACQUIRE))
		die("the guest stopped at %s: ESR 0x%llx (status 0x%02x), at 0x%llx, address 0x%llx",
		    exception(mailbox->panic.esr), (unsigned long long)mailbox->panic.esr,
		    (unsigned)(mailbox->panic.esr & 63), (unsigned long long)mailbox->panic.elr,
		    (unsigned long long)mailbox->panic.far);
	if (waitpid(m->qemu, &status, WNOHANG) == m->qemu) {
		qemu_pid = 0;
		die("QEMU ended by itself (%s %d)", WIFEXITED(status) ? "status" : "signal",
		    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	}
}

void machine_wait(struct machine *m)
{
	const uint64_t asked = m->mailbox->asked;
	const time_t start = time(NULL);

	for (unsigned turn = 1; __atomic_load_n(&m->mailbox->done, __ATOMIC_ACQUIRE) != asked; turn++) {
		if (turn % 256 == 0)
			sched_yield();
		if (turn % 65536)
			continue;
		check_alive(m);
		if (time(NULL) - start > JOB_LIMIT)
			die("the guest does not answer");
	}
}

void machine_console(struct machine *m, char *line, size_t bytes)
{
	size_t used = 0;

	while (used + 1 < bytes) {
		struct pollfd fd = { .fd = m->console_fd, .events = POLLIN };

		if (poll(&fd, 1, 5000) <= 0 || read(m->console_fd, line + used, 1) != 1)
			die("nothing comes from the guest's serial port");
		if (line[used] == '\n')
			break;
		used++;
	}
	line[used] = '\0';
}

void machine_stop(struct machine *m)
{
	int status;

	machine_post(m, JOB_STOP);
	if (waitpid(m->qemu, &status, 0) != m->qemu || !WIFEXITED(status) || WEXITSTATUS(status))
		die("QEMU did not end as it should");
	qemu_pid = 0;
	alarm(0);
}
