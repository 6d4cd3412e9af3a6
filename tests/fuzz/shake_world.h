/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A leader's device, an agent's, and the links between them, in virtual time.
 */
#ifndef _FUZZ_SHAKE_WORLD_H
#define _FUZZ_SHAKE_WORLD_H

#include <shake/state.h>
#include "input.h"

#define LEADER 0
#define AGENT 1
#define LINKS 3			/* the last is of IPv6 */
#define FLYING 48		/* frames, at most */
#define FRAME_ROOM 160		/* octets of UDP */
#define INNER_ROOM 40
#define LEADER_ID 5

enum sockets { GRANTED, ONLY_IPV4, REFUSED };

/* What is on its way. */
struct frame {
	u8 octets[FRAME_ROOM];	/* behind the UDP header */
	u32 length;		/* of them */
	u8 inner[INNER_ROOM];	/* of DATA, the packet that is inside */
	union shake_addr from;	/* as the receiver sees it */
	union shake_addr to;	/* address and port that it goes to */
	u8 link;		/* number of the link, from 1 */
	bool to_agent;		/* or to the leader */
	bool forged;		/* nobody with the key has written it */
	u64 at;			/* us, when it comes */
};

/* An end with its device. */
struct host {
	struct net_device dev;	/* the device */
	struct shake_dev d;	/* its private part */
};

/* What a path goes by. */
struct link {
	struct net_device dev;	/* the leader's device */
	bool cut[2];		/* nothing comes at the leader, the agent */
	u32 delay;		/* us, one way */
	u16 nat;		/* what is added to the leader's port */
};

/* All of it. */
struct world {
	struct host *hosts[2];	/* both ends */
	struct user_namespace ns;	/* their owners */
	struct net nets[2];	/* their namespaces */
	struct link links[LINKS];	/* between them */
	struct frame frames[FLYING];	/* on their way */
	u32 flying;		/* how many */
	u8 inner[INNER_ROOM];	/* the last packet that was written into DATA */
	const struct frame *coming;	/* what comes in just now */
	u32 sent;		/* frames sent in this step */
	u16 port;		/* the last one of a leader's sockets */
	u32 random;		/* how often somebody asked for random octets */
	enum sockets no_sockets;	/* which are not to be had */
	bool refused;		/* a path has none for that */
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

/* The linker calls these for shake/core/noise.c's. */
bool __wrap_shake_noise_dh(struct shake_noise *n, const u8 secret[SHAKE_KEY],
			   const u8 public[SHAKE_KEY]);
bool __wrap_shake_shared_of(u8 shared[SHAKE_KEY], const u8 secret[SHAKE_KEY],
			    const u8 public[SHAKE_KEY]);
bool __wrap_shake_public_of(u8 public[SHAKE_KEY], const u8 secret[SHAKE_KEY]);

static inline struct shake_dev *world_dev(u8 who)
{
	return &world.hosts[who]->d;
}

/* The agent, as its leader keeps it. */
static inline struct shake_peer *world_peer(struct shake_dev *d)
{
	struct shake_peer *peer = shake_only_peer(d);

	expect(peer);
	return peer;
}

#endif /* _FUZZ_SHAKE_WORLD_H */
