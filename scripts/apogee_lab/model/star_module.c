// SPDX-License-Identifier: GPL-2.0
/* The module's source, and its state for the time series. */

/* The kernel is not built with these warnings. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"

#include "../../../tcp_star.c"

#include "star_module.h"

void star_print(const struct sock *sk)
{
	static const char *const modes[] = {
		[STAR_NONE] = "none",	  [STAR_START] = "start",
		[STAR_CRUISE] = "cruise", [STAR_SLOW] = "slow",
		[STAR_YIELD] = "yield",	  [STAR_JUDGE] = "judge",
	};
	const struct star *s = inet_csk_ca(sk);

	if (inet_csk(sk)->icsk_ca_ops != &tcp_star)
		return;
	printf(", \"cwnd_reno\": %u, \"cwnd_abe\": %u, \"mode\": \"%s\"", s->w.cwnd_reno,
	       s->w.cwnd_abe, modes[s->w.mode]);
}
