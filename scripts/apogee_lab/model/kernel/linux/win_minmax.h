/* SPDX-License-Identifier: GPL-2.0 */
/* The functions are those of the kernel's lib/win_minmax.c. */
#ifndef _TEST_LINUX_WIN_MINMAX_H
#define _TEST_LINUX_WIN_MINMAX_H

#include <linux/types.h>

struct minmax_sample {
	u32 t;
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

static inline u32 minmax_get(const struct minmax *m)
{
	return m->s[0].v;
}

static inline u32 minmax_reset(struct minmax *m, u32 t, u32 meas)
{
	for (int i = 0; i < 3; i++)
		m->s[i] = (struct minmax_sample){ .t = t, .v = meas };
	return meas;
}

u32 minmax_running_max(struct minmax *m, u32 win, u32 t, u32 meas);
u32 minmax_running_min(struct minmax *m, u32 win, u32 t, u32 meas);

#endif /* _TEST_LINUX_WIN_MINMAX_H */
