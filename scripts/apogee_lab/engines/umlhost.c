// SPDX-License-Identifier: GPL-2.0
/*
 * umlhost - preloaded into User-Mode Linux: repeatable randomness, no process left behind
 *
 * A UML kernel is a program of the host. All its randomness comes from getrandom();
 * here that is a sequence which follows from APOGEE_SEED alone, so that equal seeds
 * give equal runs.
 *
 * Every address space of the guest is a process of the host that UML traces. If UML
 * is killed they would stay, so they are told to die with it: those that UML starts
 * itself by the parent's death signal until they are traced, all by PTRACE_O_EXITKILL.
 *
 * The size of the guest's memory depends on where the host puts UML's heap. So the
 * program starts itself again without address randomisation, where the host allows it.
 *
 * UML 6.1 has room for 2696 bytes of a process's extended registers, all of them up to AVX-512.
 * A CPU with AMX has 11008, and the host takes them whole or not at all. AMX's tiles are the
 * last; none of the guest's programs has any, as nobody asks the host for them.
 *
 * UML defines functions that have the names of libc's (the kernel's memcpy, strlen
 * and so on), which is why nothing of libc is called here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <sys/uio.h>
#include <linux/elf.h>
#include <linux/personality.h>
#include <linux/ptrace.h>
#include <linux/prctl.h>
#include <asm/unistd.h>

#define OLD_SETOPTIONS	21	/* PTRACE_OLDSETOPTIONS */
#define SIGKILL		9
#define MOST_XSTATE	65536	/* bytes */

static uint64_t state;
static int seeded;

static long raw(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
}

__attribute__((constructor)) static void fixed_addresses(int argc, char **argv, char **envp)
{
	long now = raw(__NR_personality, 0xffffffff, 0, 0, 0);

	(void)argc;
	if (now < 0 || now & ADDR_NO_RANDOMIZE)
		return;
	if (raw(__NR_personality, now | ADDR_NO_RANDOMIZE, 0, 0, 0) >= 0)
		raw(__NR_execve, (long)"/proc/self/exe", (long)argv, (long)envp, 0);
}

static void seed(void)
{
	static const char name[] = "APOGEE_SEED=";
	size_t i;

	seeded = 1;
	for (char **e = environ; e && *e; e++) {
		for (i = 0; i < sizeof(name) - 1 && (*e)[i] == name[i]; i++)
			;
		if (i < sizeof(name) - 1)
			continue;
		for (; (*e)[i] >= '0' && (*e)[i] <= '9'; i++)
			state = state * 10 + (uint64_t)((*e)[i] - '0');
		return;
	}
}

/* splitmix64; the guest's kernel hashes what it gets */
static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

long getrandom(void *buf, size_t length, unsigned int flags)
{
	unsigned char *out = buf;
	uint64_t word = 0;

	(void)flags;
	if (!seeded)
		seed();
	for (size_t i = 0; i < length; i++, word >>= 8) {
		if (i % 8 == 0)
			word = next();
		out[i] = (unsigned char)word;
	}
	return (long)length;
}

/*
 * The first of a process's extended registers; the rest is in its initial state. How much the host
 * wants is asked once: all processes have as much.
 */
static long xstate(int pid, const struct iovec *first)
{
	static uint64_t all[MOST_XSTATE / 8];
	static size_t length;
	struct iovec whole = { .iov_base = all, .iov_len = sizeof(all) };
	const uint64_t *from = first->iov_base;
	size_t i = 0;

	if (!length) {
		long ret = raw(__NR_ptrace, PTRACE_GETREGSET, pid, NT_X86_XSTATE, (long)&whole);

		if (ret < 0)
			return ret;
		length = whole.iov_len;
	}
	for (; i < first->iov_len / 8 && i < length / 8; i++)
		all[i] = from[i];
	for (; i < length / 8; i++)
		all[i] = 0;
	whole.iov_len = length;
	return raw(__NR_ptrace, PTRACE_SETREGSET, pid, NT_X86_XSTATE, (long)&whole);
}

/* As libc's: what is peeked at is returned, not stored. */
long ptrace(int request, int pid, void *addr, void *data)
{
	int peek = request >= PTRACE_PEEKTEXT && request <= PTRACE_PEEKUSR;
	long ret, value = 0;

	if (request == PTRACE_TRACEME)
		raw(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
	if (request == OLD_SETOPTIONS || request == PTRACE_SETOPTIONS)
		data = (void *)((uintptr_t)data | PTRACE_O_EXITKILL);
	ret = raw(__NR_ptrace, request, pid, (long)addr, peek ? (long)&value : (long)data);
	if (ret == -EFAULT && request == PTRACE_SETREGSET && (long)addr == NT_X86_XSTATE)
		ret = xstate(pid, data);
	if (ret < 0) {
		errno = (int)-ret;
		return -1;
	}
	if (peek)
		errno = 0;
	return peek ? value : ret;
}
