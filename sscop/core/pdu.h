/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SSCOP's protocol data units (PDUs) as they stand in a frame.
 *
 * Types and fields are those of ITU-T Q.2110, section 7; the layout differs, because
 * Ethernet pads short frames and because every octet counts on a slow radio. The
 * fields stand in front of the payload, numbers are big-endian:
 *
 *   octets 0-3   CRC-32C over all octets behind it
 *   octet 4      flags (first, last, short) in the upper half, type in the lower
 *   octets 5-7   N(S) of SD, POLL and UD, of the newest UD in UDSTAT, N(R) of STAT and
 *                USTAT, N(MR) of the others
 *   octet 8      only with the flag "short": length of the PDU in octets, at most
 *                SSCOP_SHORT; what follows is padding. A PDU that would otherwise have
 *                less than SSCOP_SHORT octets must have it.
 *
 * and then:
 *
 *   SD           payload. "first" and "last" mark the segments of a packet.
 *   POLL         N(PS) (3)
 *   STAT         N(MR) (3), N(PS) (3), list elements (3 each)
 *   USTAT        N(MR) (3), list elements (3 each)
 *   UD           packet (2), how many before it may still come (1), for how many ms (2),
 *                payload: a whole packet. "first": of the bounded class
 *   UDSTAT       bits of UDs received, N(S) the lowest (8). "first": the same
 *   others       version (1), from (4), to (4), N(SQ) (1), parameters
 *
 * A parameter is its type (1), the length of its value (1), and the value: 1, classes (1); 2, the
 * link's id (2), without which it is 0. Those that are not known are skipped.
 *
 * The CRC of SD, POLL, STAT, USTAT, UD and UDSTAT starts from the connection's seal, a number made
 * of both connection numbers and N(SQ): such a PDU of any other connection is found
 * damaged. The CRC of the others starts from ~0.
 */
#ifndef _SSCOP_PDU_H
#define _SSCOP_PDU_H

#include <apogee/int.h>

#define SSCOP_VERSION 1

#define SSCOP_SEQ_MASK 0xffffffU	/* sequence numbers have 24 bits */
#define SSCOP_HEADER 8		/* octets in front of the payload of an SD ... */
#define SSCOP_SHORT_HEADER 9	/* ... of a short one */
#define SSCOP_SHORT 64		/* shorter PDUs carry their length */
#define SSCOP_UD_FIELDS 5	/* octets of a UD between its header and its payload */
#define SSCOP_LIST_MAX 30	/* elements in a STAT */
#define SSCOP_CONTROL_MAX (SSCOP_SHORT_HEADER + 6 + 3 * SSCOP_LIST_MAX)
#define SSCOP_PAYLOAD_MAX 65000U

enum sscop_type {
	SSCOP_BGN = 1,		/* begin: here is a connection number */
	SSCOP_BGAK = 2,		/* begin acknowledged: here are both */
	SSCOP_END = 3,		/* the connection is released */
	SSCOP_ENDAK = 4,
	SSCOP_RS = 5,		/* resynchronization asked for by the user */
	SSCOP_RSAK = 6,
	SSCOP_BGREJ = 7,	/* BGN of a version that is not spoken here */
	SSCOP_SD = 8,		/* sequenced data */
	SSCOP_ER = 9,		/* recovery from a contradiction */
	SSCOP_POLL = 10,	/* asks for a STAT */
	SSCOP_STAT = 11,	/* what was received; answers a POLL */
	SSCOP_USTAT = 12,	/* what was just found missing; unasked */
	SSCOP_UD = 13,		/* unassured data: a packet of a class (classes.h) */
	SSCOP_UDSTAT = 14,	/* which UDs were received */
	SSCOP_ERAK = 15,
};

/* Why a PDU was dropped, and the end of the list. */
enum sscop_verdict {
	SSCOP_TAKEN,
	/* decoding */
	SSCOP_TRUNCATED,	/* shorter than its type allows, or than its length */
	SSCOP_BAD_LENGTH,	/* longer than its type allows, or without its length */
	SSCOP_BAD_TYPE,		/* unknown type, or flags that it cannot have */
	SSCOP_BAD_CRC,		/* damaged, or of another connection */
	SSCOP_BAD_LIST,		/* not ascending, or of a wrong number of elements */
	/* the machines */
	SSCOP_BAD_STATE,	/* not expected in this state */
	SSCOP_STRANGER,		/* control of a connection that is not this one */
	SSCOP_FLOOD,		/* more control PDUs than are answered */
	SSCOP_OUTSIDE,		/* sequence number outside the window */
	SSCOP_DUPLICATE,	/* SD that was received before */
	SSCOP_STALE,		/* POLL, STAT or USTAT older than one already taken */
	SSCOP_UNASKED,		/* STAT for a POLL that was never sent */
	SSCOP_VERDICTS
};

/**
 * struct sscop_pdu - a decoded PDU
 * @type: an enum sscop_type
 * @first: SD: a packet's first segment
 * @last: SD: a packet's last segment
 * @version: protocol version of the sender; link control only
 * @sq: N(SQ), the epoch of the connection, modulo 256; link control only
 * @classes: link control: the sender knows classes
 * @link_id: link control: of the link; only BGN and BGAK have it
 * @class: UD and UDSTAT: an enum sscop_class_name
 * @elements: number of list elements
 * @header: octets in front of the payload; SD and UD only
 * @length: octets of payload; SD and UD only
 * @seq: N(S) of SD, POLL and UD, of the newest UD in UDSTAT, N(R) of STAT and USTAT
 * @mr: N(MR), the first sequence number that may not be sent
 * @ps: N(PS), a POLL's number
 * @from: the sender's connection number
 * @to: the receiver's connection number; 0 if the sender does not know it
 * @packet: UD: number of the packet
 * @back: UD: how many packets before it may still come
 * @wait: UD: ms after which none of them does
 * @received: UDSTAT: bit n: the UD n before @seq was received
 * @list: list elements, ascending: starts of missing and received runs in turn
 */
struct sscop_pdu {
	u8 type;
	bool first;
	bool last;
	u8 version;
	u8 sq;
	bool classes;
	u16 link_id;
	u8 class;
	u8 elements;
	u16 header;
	u32 length;
	u32 seq;
	u32 mr;
	u32 ps;
	u32 from;
	u32 to;
	u16 packet;
	u8 back;
	u16 wait;
	u64 received;
	u32 list[SSCOP_LIST_MAX];
};

/* Sequence numbers: 24 bits that wrap. */

/* how far @b is behind @a: 0 to SSCOP_SEQ_MASK */
static inline u32 sscop_distance(u32 a, u32 b)
{
	return (b - a) & SSCOP_SEQ_MASK;
}

static inline u32 sscop_add(u32 seq, u32 n)
{
	return (seq + n) & SSCOP_SEQ_MASK;
}

/* whether @a is earlier than @b, less than half of all numbers away */
static inline bool sscop_before(u32 a, u32 b)
{
	u32 distance = sscop_distance(a, b);

	return distance && distance <= SSCOP_SEQ_MASK / 2;
}

/* Whether PDUs of this type belong to an established connection and carry its seal. */
static inline bool sscop_is_sealed(u8 type)
{
	return type == SSCOP_SD || (type >= SSCOP_POLL && type <= SSCOP_UDSTAT);
}

/* Whether the rest of a PDU of this type is payload. */
static inline bool sscop_is_data(u8 type)
{
	return type == SSCOP_SD || type == SSCOP_UD;
}

u32 sscop_seal(u32 from, u32 to, u8 sq);
enum sscop_verdict sscop_decode(struct sscop_pdu *pdu, const u8 *octets,
				u32 length, u32 seal);
u32 sscop_encode(u8 *octets, const struct sscop_pdu *pdu, u32 seal);
u32 sscop_sd_header(u32 payload);
void sscop_encode_sd(u8 *octets, u32 payload, u32 seq, bool first, bool last,
		     u32 seal);
u32 sscop_ud_header(u32 payload);
void sscop_encode_ud(u8 *octets, u32 payload, const struct sscop_pdu *pdu, u32 seal);

#endif /* _SSCOP_PDU_H */
