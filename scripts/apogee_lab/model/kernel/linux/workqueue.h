/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_WORKQUEUE_H
#define _TEST_LINUX_WORKQUEUE_H

/* Work that nobody does: a test has no processes, and says what becomes of it. */
struct work_struct {
	void (*function)(struct work_struct *work);
};

struct delayed_work {
	int unused;
};

#define INIT_WORK(work, does) ((work)->function = (does))

bool schedule_work(struct work_struct *work);
bool cancel_work_sync(struct work_struct *work);
bool schedule_delayed_work(struct delayed_work *work, unsigned long delay);

#endif /* _TEST_LINUX_WORKQUEUE_H */
