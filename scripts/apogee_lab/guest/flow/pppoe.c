// SPDX-License-Identifier: GPL-2.0
/*
 * flow - one end of a PPPoE session without discovery and LCP: both ends are told its number.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <sys/ioctl.h>
#include <linux/if_pppox.h>
#include <linux/ppp-ioctl.h>

#include "flow.h"

static int read_mac(const char *text, unsigned char *mac)
{
	return sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac, mac + 1, mac + 2, mac + 3,
		      mac + 4, mac + 5) != ETH_ALEN;
}

int flow_pppoe(const char *dev, const char *mac, int number)
{
	struct pppoe_addr peer = { .sid = htons((uint16_t)number) };
	union {
		struct sockaddr any;
		struct sockaddr_pppox pppox;
	} to = { .pppox = { .sa_family = AF_PPPOX, .sa_protocol = PX_PROTO_OE } };
	int session, channel, unit, at;

	if (strlen(dev) >= sizeof(peer.dev) || read_mac(mac, peer.remote))
		return 2;
	strcpy(peer.dev, dev);
	to.pppox.sa_addr.pppoe = peer;
	session = socket(AF_PPPOX, SOCK_STREAM, PX_PROTO_OE);
	if (session < 0 || connect(session, &to.any, sizeof(to.pppox)) ||
	    ioctl(session, PPPIOCGCHAN, &at))
		die("PPPoE");
	channel = open("/dev/ppp", O_RDWR);
	unit = open("/dev/ppp", O_RDWR);
	if (channel < 0 || unit < 0 || ioctl(channel, PPPIOCATTCHAN, &at) ||
	    ioctl(unit, PPPIOCNEWUNIT, &number) || ioctl(channel, PPPIOCCONNECT, &number))
		die("/dev/ppp");
	end_on_term();
	while (!stop)
		pause();
	return 0;
}
