/* SPDX-FileCopyrightText: 2026 libpgtable authors */
/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.h"

#define TIME_LIMIT 120 /* seconds, for everything */

static uint8_t *ram;
static int ram_fd;
static char folder[4096], elf[4096 + 16];
static volatile sig_atomic_t qemu_pid;

static const char *tool(const char *variable, const char *name)
{
	const char *value = getenv(variable);

	return value && *value ? value : name;
}

static const char *cross_compiler(void)
{
	return tool("CROSS_AARCH64_CC", "aarch64-linux-gnu-gcc");
}

static const char *qemu_name(void)
{
	return tool("QEMU_SYSTEM_AARCH64", "qemu-system-aarch64");
}

/* What the program prints is of no interest, only that it is there. */
static int runs(const char *name)
{
	int status;
	const pid_t pid = fork();

	if (pid == 0) {
		const int null = open("/dev/null", O_RDWR);

		if (null >= 0) {
			dup2(null, STDOUT_FILENO);
			dup2(null, STDERR_FILENO);
		}
		execlp(name, name, "--version", (char *)NULL);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

const char *machine_missing(void)
{
	static char why[256];

	if (runs(qemu_name()) && runs(cross_compiler()))
		return NULL;
	snprintf(why, sizeof(why), "no %s",
		 runs(qemu_name()) ? cross_compiler() : qemu_name());
	return why;
}

/* QEMU never outlives the test: not its time limit, an interrupt, or its end. */
static void kill_qemu(void)
{
	if (qemu_pid > 0)
		kill((pid_t)qemu_pid, SIGKILL);
	qemu_pid = 0;
}

static void remove_files(void)
{
	if (*folder) {
		unlink(elf);
		rmdir(folder);
		*folder = '\0';
	}
}

static void clean_up(void)
{
	kill_qemu();
	remove_files();
}

static void on_signal(int signal)
{
	static const char late[] = "Bail out! QEMU is not done within the time limit\n";

	if (signal == SIGALRM && write(STDOUT_FILENO, late, sizeof(late) - 1) < 0)
		_exit(2);
	clean_up();
	_exit(1);
}

static void watch(void)
{
	static const int signals[] = { SIGALRM, SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	atexit(clean_up);
	alarm(TIME_LIMIT);
}

static const char *temporary(void)
{
	const char *base = tool("TMPDIR", "/tmp");

	if (strlen(base) > sizeof(folder) - 32)
		return "TMPDIR is too long";
	snprintf(folder, sizeof(folder), "%s/pgt-qemu-XXXXXX", base);
	if (!mkdtemp(folder)) {
		*folder = '\0';
		return "no temporary folder";
	}
	snprintf(elf, sizeof(elf), "%s/server.elf", folder);
	return NULL;
}

static const char *build(void)
{
	static char command[6 * 4096];
	const char *source = tool("top_srcdir", ".");

	snprintf(command, sizeof(command),
		 "%s -O2 -std=gnu11 -ffreestanding -fno-builtin -fno-pic -fno-stack-protector "
		 "-mgeneral-regs-only -mstrict-align -nostdlib -static -no-pie "
		 "-Wl,-T,'%s/t/qemu/server.ld' -Wl,--build-id=none "
		 "'%s/t/qemu/start.S' '%s/t/qemu/server.c' '%s/t/qemu/racer.S' '%s/t/qemu/racer.c' "
		 "-o '%s'",
		 cross_compiler(), source, source, source, source, source, elf);
	return system(command) == 0 ? NULL : "the server does not compile";
}

/* The file's name goes at once; QEMU reaches the open file through /dev/fd. */
static const char *make_ram(void)
{
	char path[sizeof(folder) + 16];

	snprintf(path, sizeof(path), "%s/ram-XXXXXX", access("/dev/shm", W_OK) ? folder : "/dev/shm");
	ram_fd = mkstemp(path);
	if (ram_fd < 0)
		return "no file for the machine's RAM";
	unlink(path);
	if (ftruncate(ram_fd, RAM_BYTES))
		return "no room for the machine's RAM";
	ram = mmap(NULL, RAM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ram_fd, 0);
	if (ram == MAP_FAILED)
		return "the machine's RAM can't be mapped";
	return NULL;
}

static void run_qemu(pid_t parent)
{
	char memory[128];

	snprintf(memory, sizeof(memory),
		 "memory-backend-file,id=ram,share=on,size=%d,mem-path=/dev/fd/%d", RAM_BYTES, ram_fd);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* Its output is no TAP. */
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execlp(qemu_name(), qemu_name(), "-nodefaults", "-display", "none", "-monitor", "none",
	       "-serial", "none", "-machine",
	       "virt,virtualization=on,secure=on,memory-backend=ram", "-semihosting-config",
	       "enable=on,target=native", "-accel", "tcg", "-cpu", "max", "-m", "128", "-object",
	       memory, "-kernel", elf, (char *)NULL);
	_exit(127);
}

const char *machine_start(void)
{
	const pid_t self = getpid();
	const char *wrong;
	pid_t pid;

	watch();
	if ((wrong = temporary()) || (wrong = build()) || (wrong = make_ram()))
		return wrong;
	pid = fork();
	if (pid < 0)
		return "fork";
	if (pid == 0)
		run_qemu(self);
	qemu_pid = pid;
	/* The first, empty job is done when the server is up. */
	wrong = machine_do();
	remove_files();
	return wrong;
}

void machine_time_limit(unsigned seconds)
{
	alarm(seconds);
}

uint8_t *machine_ram(void)
{
	return ram;
}

struct job *machine_job(void)
{
	return (struct job *)(void *)(ram + (JOB_PA - RAM_PA));
}

static const char *alive(const struct job *job)
{
	static char text[128];
	int status;

	if (__atomic_load_n(&job->panic, __ATOMIC_ACQUIRE)) {
		snprintf(text, sizeof(text), "the server stopped: ESR 0x%llx at 0x%llx",
			 (unsigned long long)job->esr, (unsigned long long)job->elr);
		return text;
	}
	if (waitpid((pid_t)qemu_pid, &status, WNOHANG) == (pid_t)qemu_pid) {
		qemu_pid = 0;
		return "QEMU ended by itself";
	}
	return NULL;
}

const char *machine_do(void)
{
	struct job *job = machine_job();
	const uint64_t asked = job->asked + 1;
	const char *wrong = NULL;

	__atomic_store_n(&job->asked, asked, __ATOMIC_RELEASE);
	for (unsigned turn = 1; __atomic_load_n(&job->done, __ATOMIC_ACQUIRE) != asked && !wrong; turn++) {
		if (turn % 256 == 0)
			sched_yield();
		if (turn % 65536 == 0)
			wrong = alive(job);
	}
	return wrong;
}

const char *machine_stop(void)
{
	struct job *job = machine_job();
	int status;

	job->stop = 1;
	__atomic_store_n(&job->asked, job->asked + 1, __ATOMIC_RELEASE);
	if (waitpid((pid_t)qemu_pid, &status, 0) != (pid_t)qemu_pid || status != 0)
		return "QEMU did not end as it should";
	qemu_pid = 0;
	alarm(0);
	return NULL;
}
