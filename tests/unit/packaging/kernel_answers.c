// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into ip(8) in place of the kernel's netlink: what ip would send to make or
 * change a link goes to the file $SENT, and ip ends; asked for a link, it is answered with
 * the message in the file $ANSWER.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MAX 4096

static unsigned int asked;	/* sequence number of the request to be answered, 0: none */

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	ssize_t (*next)(int fd, const struct msghdr *message, int flags) =
		dlsym(RTLD_NEXT, "sendmsg");
	const struct nlmsghdr *request = message->msg_iov[0].iov_base;
	const char *sent = getenv("SENT");

	if (request->nlmsg_type == RTM_NEWLINK && sent) {
		int file = open(sent, O_WRONLY | O_CREAT | O_TRUNC, 0644);
		ssize_t length = request->nlmsg_len;

		_exit(write(file, request, length) == length ? 0 : 3);
	}
	if (request->nlmsg_type == RTM_GETLINK && getenv("ANSWER")) {
		asked = request->nlmsg_seq;
		return request->nlmsg_len;
	}
	return next(fd, message, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t (*next)(int fd, struct msghdr *message, int flags) = dlsym(RTLD_NEXT, "recvmsg");
	static union {
		struct nlmsghdr header;
		char octets[ANSWER_MAX];
	} answer;
	struct sockaddr_nl own = {}, *from = message->msg_name;
	socklen_t size = sizeof(own);
	ssize_t length;
	int file;

	if (!asked)
		return next(fd, message, flags);
	file = open(getenv("ANSWER"), O_RDONLY);
	length = read(file, answer.octets, sizeof(answer.octets));
	close(file);
	getsockname(fd, (struct sockaddr *)&own, &size);
	answer.header.nlmsg_pid = own.nl_pid;
	answer.header.nlmsg_seq = asked;
	memset(from, 0, sizeof(*from));
	from->nl_family = AF_NETLINK;
	message->msg_flags = 0;
	if (flags & MSG_PEEK)
		return length;
	memcpy(message->msg_iov[0].iov_base, answer.octets, length);
	asked = 0;
	return length;
}
