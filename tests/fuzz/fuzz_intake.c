// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: what SSCOP takes in before it can be sent, above a link that sends anything at
 * any time. Results are those of exact arithmetic.
 */
#include <sscop/core/sscop_intake.h>

#include "input.h"

#define u128 unsigned __int128

static struct sscop_intake intake;
static u64 base_us;
static u32 at, now, waiting;

static void learn(struct input *in)
{
	u64 rate = next64(in), less;

	base_us = next_to(in, 60000000);
	intake = sscop_intake(rate, base_us);
	less = rate - rate / SSCOP_INTAKE_DRAIN;
	expect(intake.rate == min_t(u64, less, U32_MAX));
}

static void send_frame(struct input *in)
{
	u32 octets = next32(in), before = at;
	u128 us = (u128)octets * 1000000 / max(intake.rate, 1U);
	s64 silence = -(s64)(s32)(before - now);

	silence = min(max(silence, 0LL), 2 * (s64)base_us);
	at = sscop_intake_sent(intake, before, octets, now);
	expect((s32)(at - now) == (s64)min(us, (u128)1000000) - silence);
}

/* Packets of some octets, as many as may. */
static void take_in(struct input *in)
{
	u32 octets = 1 + next_to(in, 65535), n;
	s64 silence = min((s64)(s32)(now - at), 2 * (s64)base_us);
	u128 most = silence > 0 ? (u128)intake.rate * (u64)silence : 0;
	bool may = (u128)waiting * 1000000 < most && waiting < 16U << 20;

	expect(sscop_intake_may(intake, at, waiting, now) == may);
	for (n = 0; n < 1000 && sscop_intake_may(intake, at, waiting, now); n++)
		waiting += octets;
	expect(!n || (u128)(waiting - octets) * 1000000 < most);
	expect(waiting < (16U << 20) + 65536);
}

int fuzz(const u8 *octets, size_t length)
{
	struct input in = { octets, length };

	now = next32(&in);
	at = now;
	waiting = 0;
	learn(&in);
	while (in.length) {
		switch (next8(&in) & 7) {
		case 0:
			learn(&in);
			break;
		case 1:
			now += next32(&in);
			break;
		case 2:
			waiting -= next_to(&in, waiting);
			break;
		case 3:
		case 4:
			send_frame(&in);
			break;
		default:
			now += next_to(&in, 1U << 22);
			take_in(&in);
		}
	}
	return 0;
}
