/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A leader's device, an agent's, and the links between them, in virtual time.
 */
#ifndef _FUZZ_SHAKE_WORLD_H
#define _FUZZ_SHAKE_WORLD_H

#include "../../shake/internal.h"
#include "input.h"

#define LEADER 0
#define AGENT 1
#define LINKS 3			/* the last is of IPv6 */
#define FLYING 48		/* frames, at most */
#define FRAME_ROOM 128		/* octets of UDP */
#define INNER_ROOM 40
#define LEADER_ID 5

enum sockets { GRANTED, ONLY_IPV4, REFUSED };

/**
 * struct frame - what is on its way
 * @octets: behind the UDP header
 * @length: of them
 * @inner: of DATA, the packet that is inside
 * @from: as the receiver sees it
 * @to: address and port that it goes to
 * @link: number of the link, from 1
 * @to_agent: or to the leader
 * @forged: nobody with the key has written it
 * @at: us, when it comes
 */
struct frame {
	u8 octets[FRAME_ROOM];
	u32 length;
	u8 inner[INNER_ROOM];
	union shake_addr from;
	union shake_addr to;
	u8 link;
	bool to_agent;
	bool forged;
	u64 at;
};

/**
 * struct host - an end with its device
 * @dev: the device
 * @d: its private part
 */
struct host {
	struct net_device dev;
	struct shake_dev d;
};

/**
 * struct link - what a path goes by
 * @dev: the leader's device
 * @cut: nothing comes at the leader, the agent
 * @delay: us, one way
 * @nat: what is added to the leader's port
 */
struct link {
	struct net_device dev;
	bool cut[2];
	u32 delay;
	u16 nat;
};

/**
 * struct world - all of it
 * @hosts: both ends
 * @ns: their owners
 * @nets: their namespaces
 * @links: between them
 * @frames: on their way
 * @flying: how many
 * @inner: the last packet that was written into DATA
 * @coming: what comes in just now
 * @sent: frames sent in this step
 * @port: the last one of a leader's sockets
 * @random: how often somebody asked for random octets
 * @no_sockets: which are not to be had
 * @refused: a path has none for that
 */
struct world {
	struct host *hosts[2];
	struct user_namespace ns;
	struct net nets[2];
	struct link links[LINKS];
	struct frame frames[FLYING];
	u32 flying;
	u8 inner[INNER_ROOM];
	const struct frame *coming;
	u32 sent;
	u16 port;
	u32 random;
	enum sockets no_sockets;
	bool refused;
};

extern struct world world;

void world_begin(void);
void world_end(void);
void world_boot(u8 who, bool auth);
void world_remove(u8 who);
int world_open(u8 who);
void world_stop(u8 who);
void world_deliver(const struct frame *f);
void world_send_data(struct shake_path *path, struct input *in);

/* The target looks at what is sent. */
void world_sent(struct shake_dev *d, const struct shake_way *way, const struct frame *f);

static inline struct shake_dev *world_dev(u8 who)
{
	return &world.hosts[who]->d;
}

#endif /* _FUZZ_SHAKE_WORLD_H */
