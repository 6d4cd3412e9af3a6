/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing: BPF needs no second pass over the definitions of tracepoints (linux/tracepoint.h). */
