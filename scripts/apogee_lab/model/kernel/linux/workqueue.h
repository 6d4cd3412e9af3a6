/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_WORKQUEUE_H
#define _TEST_LINUX_WORKQUEUE_H

/* Work that nobody does: a test has no processes. */
struct delayed_work {
	int unused;
};

#endif /* _TEST_LINUX_WORKQUEUE_H */
