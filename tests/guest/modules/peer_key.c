// SPDX-License-Identifier: GPL-2.0
/*
 * peer_key DEVICE PEER OCTETS: give a peer of a shake device a key of this length, which ip cannot.
 * Prints what the kernel says to standard error; 1 if it refuses the key.
 */
#include <err.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../../shake/uapi.h"

#define MOST_KEY 64

static struct {
	struct nlmsghdr head;
	struct ifinfomsg link;
	unsigned char octets[512];
} message = {
	.head = {
		.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
		.nlmsg_type = RTM_NEWLINK,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
	},
};

static struct nlattr *put(int type, const void *value, size_t length)
{
	struct nlattr *attribute = (void *)((char *)&message + message.head.nlmsg_len);

	attribute->nla_type = (__u16)type;
	attribute->nla_len = (__u16)(NLA_HDRLEN + length);
	if (length)
		memcpy((char *)attribute + NLA_HDRLEN, value, length);
	message.head.nlmsg_len += (__u32)NLA_ALIGN(attribute->nla_len);
	return attribute;
}

/* All that was put since is inside of this attribute. */
static void close_nest(struct nlattr *nest)
{
	nest->nla_len = (__u16)((char *)&message + message.head.nlmsg_len - (char *)nest);
}

static void describe(unsigned int peer, size_t octets)
{
	static const unsigned char key[MOST_KEY] = {1};
	struct nlattr *info = put(IFLA_LINKINFO | NLA_F_NESTED, NULL, 0), *data, *one;

	put(IFLA_INFO_KIND, "shake", sizeof("shake"));
	data = put(IFLA_INFO_DATA | NLA_F_NESTED, NULL, 0);
	one = put(IFLA_SHAKE_PEER | NLA_F_NESTED, NULL, 0);
	put(IFLA_SHAKE_PEER_ID, &peer, sizeof(peer));
	put(IFLA_SHAKE_PEER_KEY, key, octets);
	close_nest(one);
	close_nest(data);
	close_nest(info);
}

int main(int argc, char **argv)
{
	const int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[1024];
	} answer;
	size_t octets = argc == 4 ? strtoul(argv[3], NULL, 10) : MOST_KEY + 1;

	if (octets > MOST_KEY)
		errx(2, "usage: peer_key DEVICE PEER OCTETS, at most %d", MOST_KEY);
	message.link.ifi_index = (int)if_nametoindex(argv[1]);
	describe((unsigned int)strtoul(argv[2], NULL, 10), octets);
	if (fd < 0 || send(fd, &message, message.head.nlmsg_len, 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < 0)
		err(2, "netlink");
	errno = -answer.error.error;
	if (errno)
		err(1, "%s", argv[3]);
	return 0;
}
