/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing is left to define, see <linux/tracepoint.h>. */
