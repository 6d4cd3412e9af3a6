/* SPDX-License-Identifier: GPL-2.0 */
/* Devices, namespaces and sockets, and RCU: what is freed, fuzz_grace_period() frees. */
#ifndef _TEST_LINUX_NETDEVICE_H
#define _TEST_LINUX_NETDEVICE_H

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include <linux/atomic.h>
#include <linux/hashtable.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/xarray.h>

#include <apogee/int.h>

#define ETH_GSTRING_LEN 32
#define gfp_t int
#define netdev_tx_t int

#define rcu_dereference_raw(pointer) (pointer)
#define rtnl_dereference(pointer) (pointer)
#define rcu_assign_pointer(pointer, value) ((pointer) = (value))
#define RCU_INIT_POINTER(pointer, value) ((pointer) = (value))
#define ASSERT_RTNL() do { } while (0)

#define ERR_PTR(error) ((void *)(long)(error))
#define PTR_ERR_OR_ZERO(pointer) \
	((unsigned long)(pointer) >= (unsigned long)-4095L ? (int)(long)(pointer) : 0)

struct rcu_head {
	struct rcu_head *next;
	void (*function)(struct rcu_head *head);
};

void call_rcu(struct rcu_head *head, void (*function)(struct rcu_head *head));
void fuzz_grace_period(void);

#define rcu_read_lock() do { } while (0)
#define rcu_read_unlock() do { } while (0)
#define rcu_barrier() might_sleep()
#define synchronize_net() might_sleep()
#define rtnl_lock() might_sleep()
#define rtnl_unlock() do { } while (0)

extern u64 fuzz_clock;	/* ns that a clock which may be set is ahead */
#define ktime_get() (fuzz_now * 1000)
#define ktime_get_ns() (fuzz_now * 1000)
#define ktime_get_real_ns() (fuzz_now * 1000 + fuzz_clock)
#define ktime_to_us(time) ((time) / 1000)

struct user_namespace {
	bool rules;
};

struct net {
	struct user_namespace *user_ns;
};

#define CAP_NET_ADMIN 12

static inline bool ns_capable(const struct user_namespace *ns, int what)
{
	return ns->rules && what == CAP_NET_ADMIN;
}

struct net_device {
	void *priv;
	struct net *net;
	char name[IFNAMSIZ];
	int ifindex;
	unsigned int flags;
	u32 mtu;
	bool running;
	bool carrier;
};

#define netdev_priv(dev) ((dev)->priv)
#define dev_net(dev) ((dev)->net)
#define net_eq(a, b) ((a) == (b))
#define netif_running(dev) ((dev)->running)
#define netdev_warn(dev, ...) ((void)(dev))
#define netif_queue_stopped(dev) (!(dev))
#define netif_carrier_on(dev) ((dev)->carrier = true)
#define netif_carrier_off(dev) ((dev)->carrier = false)
#define dev_core_stats_rx_dropped_inc(dev) ((void)(dev))
#define dev_core_stats_tx_dropped_inc(dev) ((void)(dev))
#define dev_sw_netstats_rx_add(dev, length) ((void)(dev))

struct net_device *__dev_get_by_name(struct net *net, const char *name);

enum {
	NETDEV_UP = 1,
	NETDEV_DOWN,
	NETDEV_UNREGISTER,
	NETDEV_CHANGENAME,
};

#define NOTIFY_DONE 0

struct notifier_block {
	int (*notifier_call)(struct notifier_block *block, unsigned long event, void *info);
};

#define netdev_notifier_info_to_dev(info) ((struct net_device *)(info))

struct pernet_operations {
	void (*pre_exit)(struct net *net);
};

/* @memory: to be freed */
struct dst_cache {
	void *memory;
};

static inline int dst_cache_init(struct dst_cache *cache, int flags)
{
	cache->memory = kzalloc(1, flags);
	return cache->memory ? 0 : -ENOMEM;
}

#define dst_cache_destroy(cache) kfree((cache)->memory)
#define ipv6_addr_equal(a, b) (!memcmp(a, b, sizeof(struct in6_addr)))
#define dst_cache_reset(cache) ((void)(cache))
#define dst_cache_reset_now(cache) ((void)(cache))

struct sk_buff;

struct sock {
	void *sk_user_data;
	int (*encap_rcv)(struct sock *sk, struct sk_buff *skb);
	u16 family;
	u16 port;
};

struct socket {
	struct sock sk;
};

#define rcu_dereference_sk_user_data(sock) ((sock)->sk_user_data)

struct gro_cells {
	u64 received;
};

void gro_cells_receive(struct gro_cells *cells, struct sk_buff *skb);

struct netlink_ext_ack {
	const char *_msg;
};

#define NL_SET_ERR_MSG_MOD(extack, message) do { \
	struct netlink_ext_ack *_extack = (extack); \
	if (_extack) \
		_extack->_msg = (message); \
} while (0)

static inline void strscpy(char *to, const char *from, size_t size)
{
	strncpy(to, from, size - 1);
	to[size - 1] = 0;
}

#endif /* _TEST_LINUX_NETDEVICE_H */
