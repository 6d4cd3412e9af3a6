// SPDX-License-Identifier: GPL-2.0
/*
 * SSCOP's PDUs: octets to fields and back. See pdu.h for the layout.
 */
#include <linux/crc32c.h>

#include "pdu.h"

#define FLAG_FIRST 0x80
#define FLAG_LAST 0x40
#define FLAG_SHORT 0x20
#define FLAG_RESERVED 0x10
#define TYPE_MASK 0x0f

#define HEAD_AT 4		/* behind the CRC: flags and type ... */
#define SEQ_AT 5		/* ... and the sequence number */
#define LINK_CONTROL 10		/* octets of fields: version, from, to, N(SQ) */
#define PARAMETER_CLASSES 1
#define CLASSES_VERSION 1
#define PARAMETER_LINK_ID 2
#define UNSEALED (~0U)

static u32 get16(const u8 *octets)
{
	return octets[0] << 8 | octets[1];
}

static void put16(u8 *octets, u32 value)
{
	octets[0] = value >> 8;
	octets[1] = value;
}

static u32 get24(const u8 *octets)
{
	return octets[0] << 16 | octets[1] << 8 | octets[2];
}

static void put24(u8 *octets, u32 value)
{
	octets[0] = value >> 16;
	octets[1] = value >> 8;
	octets[2] = value;
}

static u32 get32(const u8 *octets)
{
	return (u32)octets[0] << 24 | get24(octets + 1);
}

static void put32(u8 *octets, u32 value)
{
	octets[0] = value >> 24;
	put24(octets + 1, value);
}

/* the CRC of a PDU: of all its octets behind the four that hold it */
static u32 pdu_crc(const u8 *octets, u32 length, u32 start)
{
	return crc32c(start, octets + HEAD_AT, length - HEAD_AT);
}

static bool may_be_first(u8 type)
{
	return sscop_is_data(type) || type == SSCOP_UDSTAT;
}

/* octets of fields behind the header, without list and payload; 0: unknown type */
static u32 field_octets(u8 type)
{
	switch (type) {
	case SSCOP_POLL:
	case SSCOP_USTAT:
		return 3;
	case SSCOP_STAT:
		return 6;
	case SSCOP_UD:
		return SSCOP_UD_FIELDS;
	case SSCOP_UDSTAT:
		return 8;
	case SSCOP_BGN:
	case SSCOP_BGAK:
	case SSCOP_BGREJ:
	case SSCOP_END:
	case SSCOP_ENDAK:
	case SSCOP_RS:
	case SSCOP_RSAK:
	case SSCOP_ER:
	case SSCOP_ERAK:
		return LINK_CONTROL;
	default:
		return 0;
	}
}

/**
 * sscop_seal() - what the CRC of a connection's PDUs starts from
 * @from: connection number of the sender of the PDUs
 * @to: connection number of their receiver
 * @sq: N(SQ) of the connection
 *
 * Return: the seal. Two connections with the same seal are as likely as two equal CRCs.
 */
u32 sscop_seal(u32 from, u32 to, u8 sq)
{
	u8 octets[9];

	put32(octets, from);
	put32(octets + 4, to);
	octets[8] = sq;
	return crc32c(UNSEALED, octets, sizeof(octets));
}

/* The list in @count octets; each element is later than the one before it. */
static enum sscop_verdict decode_list(struct sscop_pdu *pdu, const u8 *octets,
				      u32 count)
{
	u32 i;

	if (count % 3 || count / 3 > SSCOP_LIST_MAX)
		return SSCOP_BAD_LIST;
	pdu->elements = count / 3;
	for (i = 0; i < pdu->elements; i++) {
		pdu->list[i] = get24(octets + 3 * i);
		if (i && !sscop_before(pdu->list[i - 1], pdu->list[i]))
			return SSCOP_BAD_LIST;
	}
	/* a USTAT names gaps only: each with its start and its end */
	if (pdu->type == SSCOP_USTAT && (pdu->elements < 2 || pdu->elements % 2))
		return SSCOP_BAD_LIST;
	return SSCOP_TAKEN;
}

/* Parameters in @count octets. Later versions may add some: what is not understood is skipped. */
static enum sscop_verdict decode_parameters(struct sscop_pdu *pdu, const u8 *octets, u32 count)
{
	while (count >= 2 && octets[1] <= count - 2) {
		if (octets[0] == PARAMETER_CLASSES && octets[1])
			pdu->classes = octets[2] == CLASSES_VERSION;
		if (octets[0] == PARAMETER_LINK_ID && octets[1] != 2)
			return SSCOP_BAD_LENGTH;	/* not of link 0 */
		if (octets[0] == PARAMETER_LINK_ID)
			pdu->link_id = get16(octets + 2);
		count -= 2 + octets[1];
		octets += 2 + octets[1];
	}
	return SSCOP_TAKEN;
}

static enum sscop_verdict decode_fields(struct sscop_pdu *pdu, const u8 *octets,
					u32 length)
{
	u32 fixed = field_octets(pdu->type);

	if (length < fixed)
		return SSCOP_TRUNCATED;
	switch (pdu->type) {
	case SSCOP_POLL:
		pdu->ps = get24(octets);
		break;
	case SSCOP_STAT:
		pdu->mr = get24(octets);
		pdu->ps = get24(octets + 3);
		return decode_list(pdu, octets + fixed, length - fixed);
	case SSCOP_USTAT:
		pdu->mr = get24(octets);
		return decode_list(pdu, octets + fixed, length - fixed);
	case SSCOP_UDSTAT:
		pdu->received = (u64)get32(octets) << 32 | get32(octets + 4);
		break;
	default:
		pdu->mr = pdu->seq;
		pdu->version = octets[0];
		pdu->from = get32(octets + 1);
		pdu->to = get32(octets + 5);
		pdu->sq = octets[9];
		return decode_parameters(pdu, octets + fixed, length - fixed);
	}
	return length == fixed ? SSCOP_TAKEN : SSCOP_BAD_LENGTH;
}

static enum sscop_verdict decode_data(struct sscop_pdu *pdu, const u8 *octets, u32 length)
{
	if (pdu->type == SSCOP_UD) {
		if (length <= SSCOP_UD_FIELDS)
			return SSCOP_TRUNCATED;
		pdu->packet = get16(octets);
		pdu->back = octets[2];
		pdu->wait = get16(octets + 3);
		pdu->header += SSCOP_UD_FIELDS;
		length -= SSCOP_UD_FIELDS;
	}
	pdu->length = length;
	return length ? SSCOP_TAKEN : SSCOP_TRUNCATED;
}

/**
 * sscop_decode() - read a PDU that is not trusted
 * @pdu: written; only the fields of its type
 * @octets: the frame behind its Ethernet header
 * @length: octets there, padding included
 * @seal: of the connection that SD, POLL, STAT and USTAT must belong to
 *
 * Reads no octet beyond @length.
 *
 * Return: SSCOP_TAKEN, or why it is not a PDU.
 */
enum sscop_verdict sscop_decode(struct sscop_pdu *pdu, const u8 *octets,
				u32 length, u32 seal)
{
	u32 header = SSCOP_HEADER;
	u8 flags;

	if (length < SSCOP_SHORT_HEADER)
		return SSCOP_TRUNCATED;
	pdu->type = octets[HEAD_AT] & TYPE_MASK;
	flags = octets[HEAD_AT] & ~TYPE_MASK;
	if ((pdu->type != SSCOP_SD && !field_octets(pdu->type)) ||
	    (flags & FLAG_RESERVED) ||
	    (flags & FLAG_FIRST && !may_be_first(pdu->type)) ||
	    (flags & FLAG_LAST && pdu->type != SSCOP_SD))
		return SSCOP_BAD_TYPE;
	if (flags & FLAG_SHORT) {
		header = SSCOP_SHORT_HEADER;
		if (octets[SSCOP_HEADER] > length ||
		    octets[SSCOP_HEADER] < SSCOP_SHORT_HEADER)
			return SSCOP_TRUNCATED;
		length = octets[SSCOP_HEADER];
		if (length > SSCOP_SHORT)
			return SSCOP_BAD_LENGTH;
	} else if (length < SSCOP_SHORT) {
		return SSCOP_BAD_LENGTH;
	}
	if (length > SSCOP_HEADER + SSCOP_PAYLOAD_MAX)
		return SSCOP_BAD_LENGTH;

	if (pdu_crc(octets, length, sscop_is_sealed(pdu->type) ? seal : UNSEALED) !=
	    get32(octets))
		return SSCOP_BAD_CRC;

	pdu->seq = get24(octets + SEQ_AT);
	pdu->elements = 0;
	pdu->classes = false;
	pdu->link_id = 0;
	pdu->class = !!(flags & FLAG_FIRST);
	if (!sscop_is_data(pdu->type))
		return decode_fields(pdu, octets + header, length - header);
	pdu->first = flags & FLAG_FIRST;
	pdu->last = flags & FLAG_LAST;
	pdu->header = header;
	return decode_data(pdu, octets + header, length - header);
}

/* octets in front of a PDU's fields and payload */
static u32 header_octets(u32 content)
{
	return SSCOP_HEADER + content < SSCOP_SHORT ? SSCOP_SHORT_HEADER : SSCOP_HEADER;
}

/* Write the header of a PDU whose @content octets are there. */
static void finish(u8 *octets, u32 content, u8 head, u32 seq, u32 start)
{
	u32 length = header_octets(content) + content;

	if (header_octets(content) == SSCOP_SHORT_HEADER) {
		head |= FLAG_SHORT;
		octets[SSCOP_HEADER] = length;
	}
	octets[HEAD_AT] = head;
	put24(octets + SEQ_AT, seq);
	put32(octets, pdu_crc(octets, length, start));
}

/* octets of parameters */
static u32 parameter_octets(const struct sscop_pdu *pdu)
{
	if (sscop_is_sealed(pdu->type))
		return 0;
	return (pdu->classes ? 3 : 0) + (pdu->link_id ? 4 : 0);
}

static void encode_parameters(u8 *octets, const struct sscop_pdu *pdu)
{
	if (pdu->classes) {
		*octets++ = PARAMETER_CLASSES;
		*octets++ = 1;
		*octets++ = CLASSES_VERSION;
	}
	if (pdu->link_id) {
		octets[0] = PARAMETER_LINK_ID;
		octets[1] = 2;
		put16(octets + 2, pdu->link_id);
	}
}

/* Write what stands behind the header of a PDU other than SD and UD. */
static void encode_fields(u8 *octets, const struct sscop_pdu *pdu)
{
	u32 i, at = field_octets(pdu->type);

	switch (pdu->type) {
	case SSCOP_POLL:
		put24(octets, pdu->ps);
		break;
	case SSCOP_STAT:
	case SSCOP_USTAT:
		put24(octets, pdu->mr);
		if (pdu->type == SSCOP_STAT)
			put24(octets + 3, pdu->ps);
		for (i = 0; i < pdu->elements; i++, at += 3)
			put24(octets + at, pdu->list[i]);
		break;
	case SSCOP_UDSTAT:
		put32(octets, (u32)(pdu->received >> 32));
		put32(octets + 4, (u32)pdu->received);
		break;
	default:
		octets[0] = pdu->version;
		put32(octets + 1, pdu->from);
		put32(octets + 5, pdu->to);
		octets[9] = pdu->sq;
		encode_parameters(octets + at, pdu);
	}
}

/**
 * sscop_encode() - write a PDU other than SD and UD
 * @octets: room for SSCOP_CONTROL_MAX octets
 * @pdu: what to write; @pdu->seq is N(S), N(R) or, in link control, N(MR)
 * @seal: of the connection
 *
 * Return: octets written.
 */
u32 sscop_encode(u8 *octets, const struct sscop_pdu *pdu, u32 seal)
{
	u32 content = field_octets(pdu->type) + 3 * pdu->elements + parameter_octets(pdu);
	u32 header = header_octets(content);
	u8 first = pdu->type == SSCOP_UDSTAT && pdu->class ? FLAG_FIRST : 0;

	encode_fields(octets + header, pdu);
	finish(octets, content, first | pdu->type, pdu->seq,
	       sscop_is_sealed(pdu->type) ? seal : UNSEALED);
	return header + content;
}

/**
 * sscop_sd_header() - room to leave in front of an SD's payload
 * @payload: octets of payload, 1 to SSCOP_PAYLOAD_MAX
 *
 * Return: octets: SSCOP_HEADER or SSCOP_SHORT_HEADER.
 */
u32 sscop_sd_header(u32 payload)
{
	return header_octets(payload);
}

/**
 * sscop_encode_sd() - write the header in front of an SD's payload
 * @octets: sscop_sd_header(@payload) octets of room, followed by the payload
 * @payload: octets of payload, 1 to SSCOP_PAYLOAD_MAX
 * @seq: N(S)
 * @first: the payload begins a packet
 * @last: the payload ends a packet
 * @seal: of the connection
 */
void sscop_encode_sd(u8 *octets, u32 payload, u32 seq, bool first, bool last,
		     u32 seal)
{
	finish(octets, payload,
	       SSCOP_SD | (first ? FLAG_FIRST : 0) | (last ? FLAG_LAST : 0), seq, seal);
}

/**
 * sscop_ud_header() - room to leave in front of a UD's payload
 * @payload: octets of payload, 1 to SSCOP_PAYLOAD_MAX - SSCOP_UD_FIELDS
 *
 * Return: octets.
 */
u32 sscop_ud_header(u32 payload)
{
	return header_octets(SSCOP_UD_FIELDS + payload) + SSCOP_UD_FIELDS;
}

/**
 * sscop_encode_ud() - write what stands in front of a UD's payload
 * @octets: sscop_ud_header(@payload) octets of room, followed by the payload
 * @payload: octets of payload, 1 to SSCOP_PAYLOAD_MAX - SSCOP_UD_FIELDS
 * @pdu: N(S), class, packet, back, wait
 * @seal: of the connection
 */
void sscop_encode_ud(u8 *octets, u32 payload, const struct sscop_pdu *pdu, u32 seal)
{
	u8 *fields = octets + header_octets(SSCOP_UD_FIELDS + payload);

	put16(fields, pdu->packet);
	fields[2] = pdu->back;
	put16(fields + 3, pdu->wait);
	finish(octets, SSCOP_UD_FIELDS + payload, SSCOP_UD | (pdu->class ? FLAG_FIRST : 0),
	       pdu->seq, seal);
}
