/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a module's functions to BPF programs: each operation of a congestion control is a program
 * that takes the kernel's arguments from its context and calls the module's function.
 */
#ifndef _BPF_OPS_H
#define _BPF_OPS_H

#include <net/tcp.h>

#include "object.h"

#define OPERATION	SEC("struct_ops")

/* The kernel's type, by name. Members that are missing here stay empty. */
struct tcp_congestion_ops {
	void (*init)(struct sock *sk);
	u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, u8 state);
	void (*cong_control)(struct sock *sk, const struct rate_sample *rs);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	u32 (*min_tso_segs)(struct sock *sk);
	char name[16];
};

/* Set by the loader from the kernel's BTF: Linux 6.10 and later pass rate_sample as the fourth
 * argument, earlier ones as the second.
 */
const volatile unsigned int apogee_new_control;
/* Arguments are read one by one: the verifier refuses to look at one that the kernel does not
 * pass, and a compiler may merge two branches into a variable offset.
 */
#define ARGUMENT(ctx, number)						\
({									\
	u64 value;							\
									\
	asm volatile("%0 = *(u64 *)(%1 + %2)"				\
		     : "=r"(value) : "r"(ctx), "i"(8 * (number)));	\
	value;								\
})

#define SOCK(ctx)	((struct sock *)ARGUMENT(ctx, 0))

/* Programs of operations that take a socket and nothing else, and of those with more arguments. */
#define OF_SOCK(type, program, function)				\
OPERATION type program(u64 *ctx)					\
{									\
	return function(SOCK(ctx));					\
}

#define WITH_NUMBER(program, function)					\
OPERATION void program(u64 *ctx)					\
{									\
	function(SOCK(ctx), ARGUMENT(ctx, 1));				\
}

#define WITH_SAMPLE(program, function)					\
OPERATION void program(u64 *ctx)					\
{									\
	function(SOCK(ctx), (void *)ARGUMENT(ctx, 1));			\
}

#define WITH_ACK(program, function)					\
OPERATION void program(u64 *ctx)					\
{									\
	function(SOCK(ctx), ARGUMENT(ctx, 1), ARGUMENT(ctx, 2));	\
}

char LICENSE[] SEC("license") = "GPL";

#endif /* _BPF_OPS_H */
