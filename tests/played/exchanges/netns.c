// SPDX-License-Identifier: GPL-2.0
/* The process and the network namespace of an exchange: its device, settings and counters. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <linux/if_tun.h>

#include "exchange.h"

#define DEVICE	"wire"

void must(int ret, const char *what)
{
	if (ret < 0)
		die(what);
}

/* Return: whether it failed. */
bool apart(void (*run)(const char *what, const char *algorithm), const char *what,
	   const char *algorithm)
{
	const pid_t child = fork();
	int status = 1;

	if (!child) {
		must(unshare(CLONE_NEWNET), "unshare");
		run(what, algorithm);
		exit(ferror(stdout) || fflush(stdout));
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		die("fork");
	if (status)
		fprintf(stderr, "%s of %s failed\n", what, algorithm);
	return status;
}

/* Of a connection that is left open the kernel would retransmit, and hold the module. */
void reset(int fd)
{
	const struct linger now = { .l_onoff = 1 };

	must(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), "SO_LINGER");
	close(fd);
}

static void configure(unsigned long request, struct ifreq *ifr, const char *what)
{
	const int fd = socket(AF_INET, SOCK_DGRAM, 0);

	strcpy(ifr->ifr_name, DEVICE);
	if (fd < 0 || ioctl(fd, request, ifr))
		die(what);
	close(fd);
}

static void set_address(unsigned long request, const char *address)
{
	struct ifreq ifr = { 0 };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = inet_addr(address) };

	memcpy(&ifr.ifr_addr, &in, sizeof(in));
	configure(request, &ifr, address);
}

void write_file(const char *path, const char *value)
{
	const int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		die(path);
	close(fd);
}

/* In the namespace: what has no call of its own, as routes and queues. */
void run_command(const char *command)
{
	fflush(stdout);
	if (system(command))
		die(command);
}

void set_sysctl(const char *name, const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/%s", name);
	write_file(path, value);
}

void device_mtu(int mtu)
{
	struct ifreq ifr = { .ifr_mtu = mtu };

	configure(SIOCSIFMTU, &ifr, "mtu");
}

/* Packets may be of several segments, and without a checksum. */
void device_offload(void)
{
	must(ioctl(peer.tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4), "offload");
}

/* The device has no offloads at first: each packet is a segment. */
void device_up(void)
{
	struct ifreq tun = { .ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR, .ifr_name = DEVICE };
	struct ifreq up = { .ifr_flags = IFF_UP | IFF_RUNNING };

	peer.tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
	if (peer.tun < 0 || ioctl(peer.tun, TUNSETIFF, &tun))
		die("tun");
	write_file("/proc/sys/net/ipv6/conf/" DEVICE "/disable_ipv6", "1");
	set_sysctl("tcp_no_metrics_save", "1");
	set_address(SIOCSIFADDR, "10.8.0.1");
	set_address(SIOCSIFNETMASK, "255.255.255.0");
	configure(SIOCSIFFLAGS, &up, "up");
}

/* --- counters --- */

/* A line of names and one of values; those that are not 0. */
static void print_pairs(char *names, char *values)
{
	char *n, *v, *save_n, *save_v;

	n = strtok_r(names, BLANKS, &save_n);
	v = strtok_r(values, BLANKS, &save_v);
	while (n && v) {
		if (*v != '0' && !strchr(n, ':'))
			printf(" %s=%s", n, v);
		n = strtok_r(NULL, BLANKS, &save_n);
		v = strtok_r(NULL, BLANKS, &save_v);
	}
}

static void print_counters(const char *path, const char *group)
{
	static char names[16384], values[16384];
	FILE *f = fopen(path, "r");

	if (!f)
		die(path);
	while (fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f)) {
		if (!strncmp(names, group, strlen(group)))
			print_pairs(names, values);
	}
	fclose(f);
}

/* The namespace is new: they count this exchange. */
void note_counters(void)
{
	printf("counters");
	print_counters("/proc/self/net/snmp", "Tcp:");
	print_counters("/proc/self/net/netstat", "TcpExt:");
	printf("\n");
}
