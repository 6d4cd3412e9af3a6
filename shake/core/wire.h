/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SHAKE's packets as they stand behind the UDP header. Numbers are big-endian.
 *
 * Packets of a session have a head of 8 octets:
 *
 *   octet 0      type in the upper half; in the lower the path, 1 to 8, that the sender
 *                of the packet wants ACKs of TCP on, or 0: no wish
 *   octet 1      flags
 *   octets 2-3   the receiver's index of the session
 *   octets 4-7   low 32 bits of the packet counter, whose 64 bits are the nonce
 *
 * and then:
 *
 *   CONFIRM      index at the leader (2), flags (1), 0 (1). Its counter is 0.
 *   READY        index at the agent (2), flags (1), 0 (1). Its counter is 0.
 *   DATA         with SHAKE_MAL: M_AL (4), with SHAKE_NUMBERED: number (4); the inner packet
 *   ACK          echo (4), hold (4), bytes (4), packets (4), seen (8): see struct
 *                shake_ack_body
 *   PROBE        nothing; with SHAKE_SIZED zeros (4 and more); with SHAKE_CAME the low 32 bits of
 *                the counter of one with SHAKE_SIZED (4); with SHAKE_POLICY what the leader's
 *                user wants of the path: 1: backup, 2: metered (1), loss limit in per cent (1),
 *                0 (2), rate in kbit/s (4)
 *
 * and a tag of 16 octets, if the device authenticates. With SHAKE_ENCRYPTED all that is behind
 * the head is encrypted, M_AL, too; all else is in the clear, under the tag. The tag stands at the
 * end, but that of DATA in the clear in front of the inner packet, which then can stay where it
 * is. What the tag covers is the same: all but itself.
 *
 * Packets of registration, see session.h for what is in them:
 *
 *   octet 0      type in the upper half, 0 in the lower
 *   octet 1      path, 1 to 8
 *   octet 2      kind of the handshake, an enum shake_trust; COOKIE: 0
 *   octet 3      0
 *
 *   HELLO        number of the leader (4), 0 with public keys; ephemeral key (32); with public
 *                keys: static key (32) and tag (16); time (8) and tag (16); mac1 (16); mac2 (16)
 *   WELCOME      echo (8), the first octets of the HELLO's ephemeral key; ephemeral key (32);
 *                index at the agent (2), 0 (2), time (8) and tag (16); mac1 (16)
 *   COOKIE       echo (8); nonce (24); cookie (16) and tag (16)
 *
 * Tags and MACs are 0 if the device does not authenticate. No answer is longer than what it
 * answers. RESET is a head with the index and the counter of the one that it answers; flags and
 * path are 0.
 */
#ifndef _SHAKE_WIRE_H
#define _SHAKE_WIRE_H

#include <apogee/int.h>

#include "noise.h"
#include "shake_policy.h"

#define SHAKE_HEAD 8
#define SHAKE_HEAD_MAL 12
#define SHAKE_READY_OCTETS (SHAKE_HEAD + 4)	/* or CONFIRM; without tag, as the next two */
#define SHAKE_ACK_OCTETS (SHAKE_HEAD + 24)
#define SHAKE_PROBE_OCTETS SHAKE_HEAD
#define SHAKE_POLICY_OCTETS 8			/* behind a PROBE's head */
#define SHAKE_SIZED_OCTETS (SHAKE_HEAD + 4)	/* PROBE with SHAKE_CAME; SHAKE_SIZED: at least */
#define SHAKE_ECHO 8
#define SHAKE_TIME 8
#define SHAKE_COOKIE_NONCE 24
#define SHAKE_HELLO_OCTETS 96			/* with all tags, as the next three */
#define SHAKE_HELLO_MOST (SHAKE_HELLO_OCTETS + SHAKE_KEY + SHAKE_TAG)	/* with public keys */
#define SHAKE_WELCOME_OCTETS 88
#define SHAKE_COOKIE_OCTETS 68
#define SHAKE_RESET_OCTETS SHAKE_HEAD
#define SHAKE_WIRE_PATHS 8

/* Where something of a packet of registration is. */
enum shake_place {
	SHAKE_HELLO_EPHEMERAL = 8,
	SHAKE_HELLO_STATIC = 40,	/* with public keys only */
	SHAKE_WELCOME_EPHEMERAL = 12,
	SHAKE_WELCOME_BODY = 44,
	SHAKE_WELCOME_MAC = 72,
	SHAKE_COOKIE_AT = 12,		/* its nonce */
};

#define SHAKE_BODY 12			/* octets of a WELCOME's, without tag */

enum shake_type {
	SHAKE_TYPE_HELLO = 1,	/* leader: a path wants to register */
	SHAKE_TYPE_WELCOME = 2,	/* agent: its half of the keys */
	SHAKE_TYPE_CONFIRM = 3,	/* leader: proves that it has the session's keys */
	SHAKE_TYPE_READY = 4,	/* agent: the session is installed */
	SHAKE_TYPE_DATA = 5,
	SHAKE_TYPE_ACK = 6,	/* pseudo-ACK: what was received on this path */
	SHAKE_TYPE_PROBE = 7,	/* asks for an ACK at once */
	SHAKE_TYPE_RESET = 8,	/* no such session; a hint, not authenticated */
	SHAKE_TYPE_COOKIE = 9,	/* agent: under load; show this from where you are */
};

/* What a handshake is authenticated by. Zeroed memory is no key. */
enum shake_trust {
	SHAKE_NO_KEY,		/* nothing is taken, nothing written */
	SHAKE_OPEN,		/* auth off: tags are 0 and prove nothing */
	SHAKE_SHARED,		/* a key that both know */
	SHAKE_PUBLIC,		/* public keys, and a shared one if there is one */
};

/* Flags of session packets; SHAKE_ENCRYPTED in CONFIRM and READY: DATA must have it. */
#define SHAKE_COUNTED 1		/* the bytes count, a pseudo-ACK is wanted */
#define SHAKE_MAL 2		/* M_AL follows the head */
#define SHAKE_SIZED 2		/* PROBE, alone: as long as something else; asks whether it comes */
#define SHAKE_ENCRYPTED 4
#define SHAKE_RETRANSMIT 8	/* an ACK that must make the leader's TCP retransmit */
#define SHAKE_GAP 8		/* with SHAKE_MAL: nothing between M_AL and the segment was sent */
#define SHAKE_CAME 8		/* PROBE, alone: the answer to that */
#define SHAKE_KEPT 16		/* the leader has copies of those before, and sends what is lost */
#define SHAKE_UNSUMMED 32	/* TCP's checksum is its pseudo-header's; only with a tag */
#define SHAKE_POLICY 64		/* PROBE: tells the path's policy */
#define SHAKE_NUMBERED 64	/* DATA, not with SHAKE_MAL: a number, see shake_order.h */

/*
 * Why a packet was dropped: those from SHAKE_TRUNCATED to SHAKE_STRANGER stand in the
 * order of SHAKE_DROP_TRUNCATED to SHAKE_DROP_PEER in enum shake_count.
 */
enum shake_verdict {
	SHAKE_TAKEN,
	SHAKE_TRUNCATED,	/* shorter than its type and flags allow */
	SHAKE_BAD_TYPE,		/* unknown type, flags it cannot have, or too long */
	SHAKE_NO_SESSION,	/* no session has this index */
	SHAKE_BAD_TAG,		/* forged, damaged, or of another session */
	SHAKE_REPLAYED,		/* seen before, or too old to know */
	SHAKE_STALE,		/* registration: not what was asked for, or late */
	SHAKE_STRANGER,		/* registration: another number, no key, no such path */
	SHAKE_AGAIN,		/* CONFIRM of the session in use: send its READY again */
	SHAKE_BEHIND,		/* WELCOME: the HELLO's time was not later than an earlier one's */
};

/**
 * struct shake_head - head of a session packet or of a RESET
 * @type: an enum shake_type
 * @ack_path: path that ACKs of TCP are wanted on, 1 to 8; 0: no wish
 * @flags: SHAKE_COUNTED and others
 * @index: of the session, at the receiver; RESET: at its sender
 * @counter: low 32 bits of the packet counter
 * @mal: M_AL, only with SHAKE_MAL, or with SHAKE_NUMBERED the number; not of a packet that is still
 *       encrypted
 */
struct shake_head {
	u8 type;
	u8 ack_path;
	u8 flags;
	u16 index;
	u32 counter;
	u32 mal;
};

/**
 * struct shake_ack_body - what a pseudo-ACK tells
 * @echo: low 32 bits of the counter of the newest counted packet received, or of a late one that
 *	just came
 * @hold_us: us since its arrival
 * @bytes: counted bytes received, of whole UDP payloads, modulo 2^32
 * @packets: counted packets received, modulo 2^32
 * @seen: bit i: the packet with the counter @echo - 64 + i was received, or it isn't known
 */
struct shake_ack_body {
	u32 echo;
	u32 hold_us;
	u32 bytes;
	u32 packets;
	u64 seen;
};

/**
 * struct shake_registration - a HELLO, WELCOME or COOKIE, its tags not looked at
 * @type: SHAKE_TYPE_HELLO, SHAKE_TYPE_WELCOME or SHAKE_TYPE_COOKIE
 * @path: 1 to 8
 * @kind: an enum shake_trust; COOKIE: 0
 * @id: HELLO: number of the leader
 * @echo: the first octets of the HELLO's ephemeral key, or of the HELLO that is answered
 */
struct shake_registration {
	u8 type;
	u8 path;
	u8 kind;
	u32 id;
	u8 echo[SHAKE_ECHO];
};

/* the type of a packet; 0: it is empty */
static inline u8 shake_type_of(const u8 *packet, u32 length)
{
	return length ? packet[0] >> 4 : 0;
}

/* whether a type is for shake_registration_read(); others are for shake_head_read() */
static inline bool shake_type_registers(u8 type)
{
	return type == SHAKE_TYPE_HELLO || type == SHAKE_TYPE_WELCOME || type == SHAKE_TYPE_COOKIE;
}

/* octets of a HELLO of this kind, with all tags */
static inline u32 shake_hello_octets(u8 kind)
{
	return kind == SHAKE_PUBLIC ? SHAKE_HELLO_MOST : SHAKE_HELLO_OCTETS;
}

/* octets in front of the inner packet */
static inline u32 shake_head_octets(u8 flags)
{
	return flags & (SHAKE_MAL | SHAKE_NUMBERED) ? SHAKE_HEAD_MAL : SHAKE_HEAD;
}

/* octets of DATA that stay in the clear */
static inline u32 shake_clear_octets(u8 flags)
{
	return flags & SHAKE_ENCRYPTED ? SHAKE_HEAD : shake_head_octets(flags);
}

enum shake_verdict shake_head_read(const u8 *packet, u32 length, struct shake_head *head);
u32 shake_head_write(u8 *packet, const struct shake_head *head);
u32 shake_packet_octets(const struct shake_head *head);

enum shake_verdict shake_ack_read(const u8 *packet, u32 length, struct shake_ack_body *body);
u32 shake_ack_write(u8 *packet, const struct shake_ack_body *body);

u32 shake_came_read(const u8 *packet);
void shake_came_write(u8 *packet, u32 counter);

bool shake_policy_read(const u8 *packet, struct shake_policy *policy);
u32 shake_policy_write(u8 *packet, const struct shake_policy *policy);

enum shake_verdict shake_registration_read(const u8 *packet, u32 length,
					   struct shake_registration *r);
void shake_registration_write(u8 *packet, const struct shake_registration *r);

u32 shake_reset_write(u8 *packet, const struct shake_head *unknown);

#endif /* _SHAKE_WIRE_H */
