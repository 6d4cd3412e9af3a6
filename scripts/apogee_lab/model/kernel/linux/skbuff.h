/* SPDX-License-Identifier: GPL-2.0 */
/* Packets without pages. */
#ifndef _TEST_LINUX_SKBUFF_H
#define _TEST_LINUX_SKBUFF_H

#include <stdlib.h>

#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/rbtree.h>
#include <linux/udp.h>

#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define CHECKSUM_NONE 0
#define PACKET_HOST 0

/* A packet, alone in memory that ends with it. */
struct sk_buff {
	union {
		struct {
			struct sk_buff *next;
			struct sk_buff *prev;
			struct net_device *dev;
		};
		struct rb_node rbnode;
	};
	u8 cb[48] __attribute__((aligned(8)));
	u32 hash;
	u8 *octets;		/* the memory */
	u8 *data;		/* what is left of the front */
	u32 len;		/* octets from there */
	size_t network;		/* octets in front of the IP header */
	size_t transport;	/* octets in front of the UDP header */
	u16 protocol;
	u8 ip_summed;
	u8 pkt_type;
	u8 encapsulation;
};

static inline struct sk_buff *fuzz_skb(const u8 *octets, u32 length)
{
	struct sk_buff *skb = calloc(1, sizeof(*skb));

	if (!skb)
		abort();
	skb->octets = malloc(length + !length);
	if (!skb->octets)
		abort();
	memcpy(skb->octets, octets, length);
	skb->data = skb->octets;
	skb->len = length;
	return skb;
}

static inline void kfree_skb(struct sk_buff *skb)
{
	if (skb)
		free(skb->octets);
	free(skb);
}

#define consume_skb(skb) kfree_skb(skb)
#define rb_to_skb(node) \
	((node) ? (struct sk_buff *)((u8 *)(node) - offsetof(struct sk_buff, rbnode)) : NULL)

#define skb_mark_not_on_list(skb) ((skb)->next = NULL)
#define skb_list_walk_safe(first, skb, next_skb)					\
	for ((skb) = (first), (next_skb) = (skb) ? (skb)->next : NULL; (skb);		\
	     (skb) = (next_skb), (next_skb) = (skb) ? (skb)->next : NULL)

static inline void kfree_skb_list(struct sk_buff *list)
{
	struct sk_buff *skb, *next;

	skb_list_walk_safe(list, skb, next)
		kfree_skb(skb);
}

/* A queue: a ring in which the head is one of them. */
struct sk_buff_head {
	struct sk_buff *next;
	struct sk_buff *prev;
	u32 qlen;
};

static inline void __skb_queue_head_init(struct sk_buff_head *list)
{
	list->next = (struct sk_buff *)list;
	list->prev = list->next;
	list->qlen = 0;
}

#define skb_queue_len(list) ((list)->qlen)
#define skb_peek(list) ((list)->qlen ? (list)->next : NULL)
#define skb_queue_reverse_walk(list, skb) \
	for ((skb) = (list)->prev; (skb) != (struct sk_buff *)(list); (skb) = (skb)->prev)

static inline void __skb_queue_after(struct sk_buff_head *list, struct sk_buff *before,
				     struct sk_buff *skb)
{
	skb->prev = before;
	skb->next = before->next;
	before->next->prev = skb;
	before->next = skb;
	list->qlen++;
}

#define __skb_queue_tail(list, skb) __skb_queue_after(list, (list)->prev, skb)

static inline struct sk_buff *__skb_dequeue(struct sk_buff_head *list)
{
	struct sk_buff *skb = skb_peek(list);

	if (!skb)
		return NULL;
	skb->next->prev = skb->prev;
	skb->prev->next = skb->next;
	skb->next = NULL;
	skb->prev = NULL;
	list->qlen--;
	return skb;
}

static inline void __skb_queue_purge(struct sk_buff_head *list)
{
	while (list->qlen)
		kfree_skb(__skb_dequeue(list));
}

#define skb_get_hash(skb) ((skb)->hash)
#define skb_dst_force(skb) ((void)(skb))
#define skb_dst_drop(skb) ((void)(skb))
#define skb_ext_reset(skb) ((void)(skb))
#define nf_reset_ct(skb) ((void)(skb))

static inline struct sk_buff *skb_copy(const struct sk_buff *skb, int flags)
{
	return slab_refuses ? NULL : fuzz_skb(skb->data, skb->len + (u32)flags);
}

#define pskb_may_pull(skb, length) ((length) <= (skb)->len)

static inline void skb_pull_rcsum(struct sk_buff *skb, u32 length)
{
	if (length > skb->len)
		abort();
	skb->data += length;
	skb->len -= length;
}

static inline int pskb_trim_rcsum(struct sk_buff *skb, u32 length)
{
	skb->len = min(skb->len, length);
	return 0;
}

#define skb_reset_network_header(skb) ((skb)->network = (skb)->data - (skb)->octets)
#define ip_hdr(skb) ((struct iphdr *)((skb)->octets + (skb)->network))
#define ipv6_hdr(skb) ((struct ipv6hdr *)((skb)->octets + (skb)->network))
#define udp_hdr(skb) ((struct udphdr *)((skb)->octets + (skb)->transport))
#define inet6_iif(skb) ((skb)->network ? 1 : 0)
#define ipv6_iface_scope_id(address, ifindex) ((address)->s6_addr[0] == 0xfe ? (u32)(ifindex) : 0)
#define ipv6_get_dsfield(ip) ((u8)((ip)->version << 4))
#define ip_tunnel_get_dsfield(ip, skb) ((ip)->tos & ((skb)->len ? 0xff : 0))
/* as RFC 6040: congestion of what does not know it */
#define INET_ECN_decapsulate(skb, outer, inner) \
	((skb)->len && ((outer) & 3) == 3 && !((inner) & 3) ? 2 : 0)

/* there are no pages, and nobody else has the packet */
#define skb_is_nonlinear(skb) (!(skb))
#define skb_has_shared_frag(skb) (!(skb))
#define skb_has_frag_list(skb) (!(skb))
#define __skb_linearize(skb) (!(skb))
#define skb_linearize(skb) (!(skb))
#define skb_cloned(skb) (!(skb))
#define pskb_expand_head(skb, front, behind, flags) (!(skb))
#define skb_reset_mac_header(skb) ((void)(skb))
#define skb_clear_hash(skb) ((void)(skb))
#define skb_scrub_packet(skb, other_net) ((void)(other_net))
#define skb_partial_csum_set(skb, start, offset) ((start) + (offset) + 2 <= (skb)->len)

#endif /* _TEST_LINUX_SKBUFF_H */
