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
 *   READY        index at the agent (2), flags (1), 0 (1). Its counter is 0.
 *   DATA         with SHAKE_MAL: M_AL (4), with SHAKE_NUMBERED: number (4); the inner packet
 *   ACK          echo (4), hold (4), bytes (4), packets (4), seen (8): see struct
 *                shake_ack_body
 *   PROBE        nothing; with SHAKE_POLICY what the leader's user wants of the path: 1: backup,
 *                2: metered (1), loss limit in per cent (1), 0 (2), rate in kbit/s (4)
 *
 * and a tag of 16 octets, if the device authenticates. With SHAKE_ENCRYPTED the inner
 * packet is encrypted; all else is in the clear, under the tag. The tag stands at the end,
 * but that of DATA in the clear in front of the inner packet, which then can stay where it
 * is. What the tag covers is the same: all but itself.
 *
 * Packets of registration:
 *
 *   octet 0      type in the upper half, 0 in the lower
 *   octet 1      path, 1 to 8
 *   octet 2      flags: CONFIRM may have SHAKE_ENCRYPTED
 *   octet 3      0
 *   octets 4-7   number of the leader
 *   octets 8-31  nonce
 *   CONFIRM      index at the leader (2), 0 (2)
 *   tag          16 octets, all 0 if the device does not authenticate
 *
 * No answer is longer than what it answers: HELLO and WELCOME have 48 octets, CONFIRM 52,
 * READY at most 28. RESET is a head with the index and the counter of the one that it
 * answers; flags and path are 0.
 */
#ifndef _SHAKE_WIRE_H
#define _SHAKE_WIRE_H

#include <apogee/int.h>
#include <apogee/shake_policy.h>

#define SHAKE_TAG 16
#define SHAKE_NONCE 24
#define SHAKE_HEAD 8
#define SHAKE_HEAD_MAL 12
#define SHAKE_READY_OCTETS (SHAKE_HEAD + 4)	/* without tag, as the next two */
#define SHAKE_ACK_OCTETS (SHAKE_HEAD + 24)
#define SHAKE_PROBE_OCTETS SHAKE_HEAD
#define SHAKE_POLICY_OCTETS 8			/* behind a PROBE's head */
#define SHAKE_HELLO_OCTETS 48			/* with tag, as the next two */
#define SHAKE_WELCOME_OCTETS 48
#define SHAKE_CONFIRM_OCTETS 52
#define SHAKE_RESET_OCTETS SHAKE_HEAD
#define SHAKE_WIRE_PATHS 8

enum shake_type {
	SHAKE_TYPE_HELLO = 1,	/* leader: a path wants to register */
	SHAKE_TYPE_WELCOME = 2,	/* agent: here is a nonce; nothing is kept */
	SHAKE_TYPE_CONFIRM = 3,	/* leader: proves that it has the key and the nonce */
	SHAKE_TYPE_READY = 4,	/* agent: the session is installed */
	SHAKE_TYPE_DATA = 5,
	SHAKE_TYPE_ACK = 6,	/* pseudo-ACK: what was received on this path */
	SHAKE_TYPE_PROBE = 7,	/* asks for an ACK at once */
	SHAKE_TYPE_RESET = 8,	/* no such session; a hint, not authenticated */
};

/* Flags of session packets; SHAKE_ENCRYPTED in CONFIRM and READY: DATA must have it. */
#define SHAKE_COUNTED 1		/* the bytes count, a pseudo-ACK is wanted */
#define SHAKE_MAL 2		/* M_AL follows the head */
#define SHAKE_ENCRYPTED 4
#define SHAKE_RETRANSMIT 8	/* an ACK that must make the leader's TCP retransmit */
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
};

/**
 * struct shake_head - head of a session packet or of a RESET
 * @type: an enum shake_type
 * @ack_path: path that ACKs of TCP are wanted on, 1 to 8; 0: no wish
 * @flags: SHAKE_COUNTED and others
 * @index: of the session, at the receiver; RESET: at its sender
 * @counter: low 32 bits of the packet counter
 * @mal: M_AL; only with SHAKE_MAL. With SHAKE_NUMBERED the number.
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
 * @echo: low 32 bits of the counter of the newest counted packet received
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
 * struct shake_registration - a HELLO, WELCOME or CONFIRM, its tag not looked at
 * @type: SHAKE_TYPE_HELLO, SHAKE_TYPE_WELCOME or SHAKE_TYPE_CONFIRM
 * @path: 1 to 8
 * @flags: CONFIRM: SHAKE_ENCRYPTED or 0
 * @index: CONFIRM: the session's index at the leader
 * @id: number of the leader
 * @nonce: as its type says
 */
struct shake_registration {
	u8 type;
	u8 path;
	u8 flags;
	u16 index;
	u32 id;
	u8 nonce[SHAKE_NONCE];
};

/* the type of a packet; 0: it is empty */
static inline u8 shake_type_of(const u8 *packet, u32 length)
{
	return length ? packet[0] >> 4 : 0;
}

/* whether a type is for shake_registration_read(); others are for shake_head_read() */
static inline bool shake_type_registers(u8 type)
{
	return type >= SHAKE_TYPE_HELLO && type <= SHAKE_TYPE_CONFIRM;
}

/* octets of DATA's head: of what stays in the clear if the rest is encrypted */
static inline u32 shake_head_octets(u8 flags)
{
	return flags & (SHAKE_MAL | SHAKE_NUMBERED) ? SHAKE_HEAD_MAL : SHAKE_HEAD;
}

enum shake_verdict shake_head_read(const u8 *packet, u32 length, struct shake_head *head);
u32 shake_head_write(u8 *packet, const struct shake_head *head);
u32 shake_packet_octets(const struct shake_head *head);

enum shake_verdict shake_ack_read(const u8 *packet, u32 length, struct shake_ack_body *body);
u32 shake_ack_write(u8 *packet, const struct shake_ack_body *body);

bool shake_policy_read(const u8 *packet, struct shake_policy *policy);
u32 shake_policy_write(u8 *packet, const struct shake_policy *policy);

enum shake_verdict shake_registration_read(const u8 *packet, u32 length,
					   struct shake_registration *r);
u32 shake_registration_write(u8 *packet, const struct shake_registration *r);

u32 shake_reset_write(u8 *packet, const struct shake_head *unknown);

#endif /* _SHAKE_WIRE_H */
