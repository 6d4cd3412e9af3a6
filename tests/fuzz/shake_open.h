/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether a packet of a session has the right tag, as the device finds out.
 */
#ifndef _FUZZ_SHAKE_OPEN_H
#define _FUZZ_SHAKE_OPEN_H

#include "session.h"

/* The tag of DATA in the clear, whose text begins at @text and comes in pieces. */
static inline void data_tag(u8 *tag, const u8 *octets, u32 clear, u32 text, u32 length,
			    u64 counter, const u8 *key)
{
	u32 half = (length - text) / 2;
	struct shake_tagger t;

	shake_tag_begin(&t, key, counter);
	shake_tag_add(&t, octets, clear);
	shake_tag_add(&t, octets + text, half);
	shake_tag_add(&t, octets + text + half, length - text - half);
	shake_tag_end(&t, tag);
}

/* Check the tag: of DATA in the clear it is behind the head. */
static inline enum shake_verdict open_packet(u8 *octets, u32 length,
					     const struct shake_head *head,
					     const struct shake_session *s, u64 counter)
{
	u32 clear = shake_head_octets(head->flags);
	u8 tag[SHAKE_TAG];

	if (head->flags & SHAKE_ENCRYPTED)
		return shake_open(s, counter, octets, length, clear);
	if (head->type != SHAKE_TYPE_DATA || !s->auth)
		return shake_open(s, counter, octets, length, length - shake_tag_octets(s));
	data_tag(tag, octets, clear, clear + SHAKE_TAG, length, counter, s->receive);
	return shake_tag_compare(octets + clear, tag);
}

#endif /* _FUZZ_SHAKE_OPEN_H */
