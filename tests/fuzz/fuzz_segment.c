// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the length of SSCOP's segments. What is cut covers the packet, and the
 * logarithm is that of floating point.
 */
#include <math.h>

#include <sscop/core/sscop_segment.h>

#include "input.h"

static void outcomes(struct sscop_segment *s, struct input *in)
{
	u32 frame = next_to(in, 2000), count = next8(in), lose = next8(in);

	for (; count; count--)
		sscop_segment_outcome(s, frame, count * 37 % 256 < lose);
	expect(s->h <= 1U << 28);
}

static void choose(struct sscop_segment *s, struct input *in)
{
	u32 packet = next32(in), limit = next_to(in, 70000), overhead = next_to(in, 5000), piece;

	piece = sscop_segment_choose(s, packet, overhead, limit);
	expect(piece >= 1 && piece <= max(limit, 1U));
}

static void compute(struct input *in)
{
	u32 sent = next_to(in, U16_MAX), lost = next_to(in, sent), h = next_to(in, 1 << 28);
	u32 overhead = next_to(in, SSCOP_SEGMENT_OVERHEAD), best = sscop_segment_best(h, overhead);
	double p = sent ? (double)lost / sent : 0, log = sscop_segment_log(lost, sent) / 65536.0;
	double most = (double)overhead * (1 << SSCOP_SEGMENT_H_BITS);

	if (p <= 0.9)
		expect(fabs(log + log1p(-p)) <= 2.0 / 65536 - 0.03 * log1p(-p));
	expect(best == 1 || (double)h * best * (best + overhead) <= most * 1.000000001);
	best++;
	expect(best > U16_MAX || (double)h * best * (best + overhead) >= most * 0.999999999);
}

int fuzz(const u8 *octets, size_t length)
{
	struct input in = { octets, length };
	struct sscop_segment s;

	sscop_segment_init(&s);
	while (in.length) {
		switch (next8(&in) & 3) {
		case 0:
			compute(&in);
			break;
		case 1:
			choose(&s, &in);
			break;
		default:
			outcomes(&s, &in);
		}
	}
	return 0;
}
