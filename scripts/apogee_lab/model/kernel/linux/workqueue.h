/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_WORKQUEUE_H
#define _TEST_LINUX_WORKQUEUE_H

/* Work that nobody does: a test has no processes, and says what becomes of it. */
struct work_struct {
	int unused;
};

struct delayed_work {
	int unused;
};

bool schedule_delayed_work(struct delayed_work *work, unsigned long delay);

#endif /* _TEST_LINUX_WORKQUEUE_H */
