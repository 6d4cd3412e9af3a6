// SPDX-License-Identifier: GPL-2.0
/*
 * peers_dump COMMAND: print the numbers of all peers of all shake devices, as a dump tells them in
 * parts. COMMAND runs when the first part has come.
 */
#include <err.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "../../../shake/uapi.h"

static struct {
	struct nlmsghdr head;
	struct if_stats_msg stats;
} question = {
	.head = {
		.nlmsg_len = NLMSG_LENGTH(sizeof(struct if_stats_msg)),
		.nlmsg_type = RTM_GETSTATS,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	},
	.stats = { .filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_XSTATS) },
};

/* Calls @told for each attribute of a kind. */
static void each(struct rtattr *attr, long length, unsigned short kind,
		 void (*told)(struct rtattr *attr))
{
	for (; RTA_OK(attr, (unsigned long)length); attr = RTA_NEXT(attr, length))
		if ((attr->rta_type & NLA_TYPE_MASK) == kind)
			told(attr);
}

static void print_id(struct rtattr *id)
{
	printf("%u\n", *(unsigned int *)RTA_DATA(id));
}

static void print_peer(struct rtattr *peer)
{
	each(RTA_DATA(peer), (long)RTA_PAYLOAD(peer), IFLA_SHAKE_PEER_ID, print_id);
}

static void print_shake(struct rtattr *shake)
{
	each(RTA_DATA(shake), (long)RTA_PAYLOAD(shake), IFLA_SHAKE_PEER, print_peer);
}

static void print_xstats(struct rtattr *xstats)
{
	each(RTA_DATA(xstats), (long)RTA_PAYLOAD(xstats), LINK_XSTATS_TYPE_SHAKE, print_shake);
}

/* Returns whether more follow. */
static bool print_part(struct nlmsghdr *message, long length)
{
	for (; NLMSG_OK(message, (unsigned long)length); message = NLMSG_NEXT(message, length)) {
		if (message->nlmsg_type != RTM_NEWSTATS)
			return false;
		each((struct rtattr *)((char *)message + NLMSG_SPACE(sizeof(struct if_stats_msg))),
		     (long)message->nlmsg_len - (long)NLMSG_SPACE(sizeof(struct if_stats_msg)),
		     IFLA_STATS_LINK_XSTATS, print_xstats);
	}
	return true;
}

int main(int argc, char **argv)
{
	/* the kernel writes parts as long as what they are read into */
	static alignas(8) char part[8192];
	const int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	bool first = true;
	ssize_t length;

	if (argc != 2)
		errx(2, "usage: peers_dump COMMAND");
	if (fd < 0 || send(fd, &question, question.head.nlmsg_len, 0) < 0)
		err(1, "netlink");
	do {
		length = recv(fd, part, sizeof(part), 0);
		if (length < 0)
			err(1, "netlink");
		if (first && system(argv[1]))
			errx(1, "%s", argv[1]);
		first = false;
	} while (print_part((void *)part, length));
	return 0;
}
