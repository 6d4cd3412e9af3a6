// SPDX-License-Identifier: GPL-2.0
/* Prints what getifaddrs() finds to standard error; 1 if it fails. */
#include <ifaddrs.h>
#include <stdio.h>

int main(void)
{
	struct ifaddrs *list, *one;

	if (getifaddrs(&list)) {
		perror("getifaddrs");
		return 1;
	}
	for (one = list; one; one = one->ifa_next)
		fprintf(stderr, "%s\n", one->ifa_name);
	freeifaddrs(list);
	return 0;
}
