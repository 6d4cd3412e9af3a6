/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The modules' tracepoints for BPF: TRACE_EVENT() makes a record of the same fields, which goes
 * to a ring buffer while somebody reads it. The reader prints a record by its BTF type.
 */
#ifndef _BPF_LINUX_TRACEPOINT_H
#define _BPF_LINUX_TRACEPOINT_H

#include <net/tcp.h>

/* Records are written until this time, in ns (0: never). The reader keeps putting it off. If it is
 * killed, they end by themselves, and each one that is not written costs a look at the clock until
 * there is another reader.
 */
unsigned long long apogee_tracing_until SEC(".data");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} apogee_events SEC(".maps");

/* Records that did not fit. */
unsigned long long apogee_dropped SEC(".data");

#define TP_PROTO(args...)		args
#define TP_ARGS(args...)
#define TP_STRUCT__entry(fields...)	fields
#define __field(type, name)		type name;
#define TP_fast_assign(code...)		code
#define TP_printk(args...)

#define TRACE_EVENT(event, proto, args, fields, assign, print)		\
	struct event_##event {						\
		u32 apogee_type;					\
		u64 apogee_ns;						\
		fields							\
	};								\
	static __always_inline void trace_##event(proto)		\
	{								\
		u64 until = READ_ONCE(apogee_tracing_until);		\
		struct event_##event *__entry;				\
		u64 now;						\
									\
		if (!until)						\
			return;						\
		now = bpf_ktime_get_ns();				\
		if (now > until)					\
			return;						\
		__entry = bpf_ringbuf_reserve(&apogee_events,		\
					      sizeof(*__entry), 0);	\
		if (!__entry) {						\
			__sync_fetch_and_add(&apogee_dropped, 1);	\
			return;						\
		}							\
		__entry->apogee_type =					\
			bpf_core_type_id_local(struct event_##event);	\
		__entry->apogee_ns = now;				\
		assign							\
		bpf_ringbuf_submit(__entry, 0);				\
	}

#endif /* _BPF_LINUX_TRACEPOINT_H */
