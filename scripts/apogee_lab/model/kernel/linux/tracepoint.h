/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints are empty: the simulation reads a module's state itself. */
#ifndef _TEST_LINUX_TRACEPOINT_H
#define _TEST_LINUX_TRACEPOINT_H

#define TP_PROTO(...)		__VA_ARGS__
#define TRACE_EVENT(title, proto, ...)					\
	static inline void trace_##title(proto) { }			\
	struct trace_##title

#endif /* _TEST_LINUX_TRACEPOINT_H */
