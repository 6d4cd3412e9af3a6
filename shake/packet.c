// SPDX-License-Identifier: GPL-2.0
/*
 * What is read of a packet in its buffer, and the tag over it.
 */
#include "packet.h"

static void add_frag(struct shake_tagger *t, const skb_frag_t *frag)
{
	u32 at, length, done;
	struct page *page;
	u8 *octets;

	skb_frag_foreach_page(frag, skb_frag_off(frag), skb_frag_size(frag), page, at, length,
			      done) {
		octets = kmap_local_page(page);
		shake_tag_add(t, octets + at, length);
		kunmap_local(octets);
	}
}

/**
 * shake_data_tag() - the tag of DATA in the clear
 * @skb: its data is the head, SHAKE_TAG octets and the inner packet; shake_own() has seen it
 * @head: octets of the head
 * @key: of the sender
 * @counter: of the packet
 * @tag: written; may be the octets behind the head
 */
void shake_data_tag(const struct sk_buff *skb, u32 head, const u8 *key, u64 counter, u8 *tag)
{
	struct shake_tagger t __uninitialized;	/* 0.5 kB that need no zeros first */
	u32 front = head + SHAKE_TAG;
	int i;

	shake_tag_begin(&t, key, counter);
	shake_tag_add(&t, skb->data, head);
	shake_tag_add(&t, skb->data + front, skb_headlen(skb) - front);
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++)
		add_frag(&t, &skb_shinfo(skb)->frags[i]);
	shake_tag_end(&t, tag);
}

/*
 * Read the TCP segment in a packet whose data is an IP header. Headers are mostly linear, and
 * then nothing is copied.
 */
bool shake_segment_pull(struct sk_buff *skb, struct shake_segment *segment)
{
	u32 headers = min_t(u32, skb->len, SHAKE_TCP_HEADERS);

	if (shake_segment_read(skb->data, skb_headlen(skb), skb->len, segment))
		return true;
	return skb_headlen(skb) < headers && pskb_may_pull(skb, headers) &&
	       shake_segment_read(skb->data, skb_headlen(skb), skb->len, segment);
}
