// SPDX-License-Identifier: GPL-2.0
/*
 * SHAKE's packets: octets to fields and back. See wire.h for the layout.
 */
#include <compat/unaligned.h>
#include <linux/string.h>

#include "wire.h"

#define DATA_FLAGS (SHAKE_COUNTED | SHAKE_MAL | SHAKE_ENCRYPTED | SHAKE_RETRANSMIT | SHAKE_KEPT | \
		    SHAKE_UNSUMMED | SHAKE_NUMBERED)

static bool are_flags_good(u8 type, u8 flags)
{
	switch (type) {
	case SHAKE_TYPE_DATA:
		return !(flags & ~DATA_FLAGS) &&
		       (flags & (SHAKE_MAL | SHAKE_NUMBERED)) != (SHAKE_MAL | SHAKE_NUMBERED);
	case SHAKE_TYPE_PROBE:
		return (flags & ~SHAKE_POLICY) == SHAKE_COUNTED || flags == SHAKE_SIZED ||
		       flags == SHAKE_CAME;
	default:
		return !flags;
	}
}

/**
 * shake_packet_octets() - how long a packet is
 * @head: its head
 *
 * Return: octets, without tag; of DATA, and of a PROBE with SHAKE_SIZED: at least.
 */
u32 shake_packet_octets(const struct shake_head *head)
{
	switch (head->type) {
	case SHAKE_TYPE_CONFIRM:
	case SHAKE_TYPE_READY:
		return SHAKE_READY_OCTETS;
	case SHAKE_TYPE_DATA:
		return shake_head_octets(head->flags) + 1;
	case SHAKE_TYPE_ACK:
		return SHAKE_ACK_OCTETS;
	case SHAKE_TYPE_PROBE:
		if (head->flags & (SHAKE_SIZED | SHAKE_CAME))
			return SHAKE_SIZED_OCTETS;
		return SHAKE_PROBE_OCTETS + (head->flags & SHAKE_POLICY ? SHAKE_POLICY_OCTETS : 0);
	default:
		return SHAKE_HEAD;
	}
}

/**
 * shake_head_read() - read the head of a packet that is not trusted
 * @packet: octets behind the UDP header
 * @length: octets there; none beyond is read
 * @head: written
 *
 * For packets of sessions, and RESET. Lengths are those without tag:
 * shake_session_check() knows whether there must be one.
 *
 * Return: SHAKE_TAKEN, SHAKE_TRUNCATED or SHAKE_BAD_TYPE.
 */
enum shake_verdict shake_head_read(const u8 *packet, u32 length, struct shake_head *head)
{
	if (length < SHAKE_HEAD)
		return SHAKE_TRUNCATED;
	head->type = packet[0] >> 4;
	head->ack_path = packet[0] & 0xf;
	head->flags = packet[1];
	head->index = get_unaligned_be16(packet + 2);
	head->counter = get_unaligned_be32(packet + 4);
	head->mal = 0;

	if (head->type < SHAKE_TYPE_CONFIRM || head->type > SHAKE_TYPE_RESET ||
	    head->ack_path > SHAKE_WIRE_PATHS || !are_flags_good(head->type, head->flags))
		return SHAKE_BAD_TYPE;
	if (length < shake_packet_octets(head))
		return SHAKE_TRUNCATED;
	if (head->type == SHAKE_TYPE_DATA && !(head->flags & SHAKE_ENCRYPTED) &&
	    shake_head_octets(head->flags) > SHAKE_HEAD)
		head->mal = get_unaligned_be32(packet + SHAKE_HEAD);
	if (head->type <= SHAKE_TYPE_READY && (head->ack_path || head->counter))
		return SHAKE_BAD_TYPE;
	if (head->type == SHAKE_TYPE_RESET && (head->ack_path || length > SHAKE_RESET_OCTETS))
		return SHAKE_BAD_TYPE;
	return SHAKE_TAKEN;
}

/**
 * shake_head_write() - write a head
 * @packet: room for SHAKE_HEAD_MAL octets, or SHAKE_HEAD without SHAKE_MAL and SHAKE_NUMBERED
 * @head: what to write
 *
 * Return: octets written.
 */
u32 shake_head_write(u8 *packet, const struct shake_head *head)
{
	packet[0] = head->type << 4 | head->ack_path;
	packet[1] = head->flags;
	put_unaligned_be16(head->index, packet + 2);
	put_unaligned_be32(head->counter, packet + 4);
	if (head->type != SHAKE_TYPE_DATA || shake_head_octets(head->flags) == SHAKE_HEAD)
		return SHAKE_HEAD;
	put_unaligned_be32(head->mal, packet + SHAKE_HEAD);
	return SHAKE_HEAD_MAL;
}

/**
 * shake_came_read() - which probe came
 * @packet: a PROBE with SHAKE_CAME that was opened, from its head
 *
 * Return: the low 32 bits of its counter.
 */
u32 shake_came_read(const u8 *packet)
{
	return get_unaligned_be32(packet + SHAKE_HEAD);
}

/**
 * shake_came_write() - write which probe came
 * @packet: room for SHAKE_SIZED_OCTETS, from the head, which is left as it is
 * @counter: low 32 bits of its counter
 */
void shake_came_write(u8 *packet, u32 counter)
{
	put_unaligned_be32(counter, packet + SHAKE_HEAD);
}

/**
 * shake_ack_read() - what a pseudo-ACK tells
 * @packet: an ACK that was opened, from its head
 * @length: octets there, with or without tag
 * @body: written
 *
 * Return: SHAKE_TAKEN or SHAKE_TRUNCATED.
 */
enum shake_verdict shake_ack_read(const u8 *packet, u32 length, struct shake_ack_body *body)
{
	if (length < SHAKE_ACK_OCTETS)
		return SHAKE_TRUNCATED;
	body->echo = get_unaligned_be32(packet + SHAKE_HEAD);
	body->hold_us = get_unaligned_be32(packet + SHAKE_HEAD + 4);
	body->bytes = get_unaligned_be32(packet + SHAKE_HEAD + 8);
	body->packets = get_unaligned_be32(packet + SHAKE_HEAD + 12);
	body->seen = get_unaligned_be64(packet + SHAKE_HEAD + 16);
	return SHAKE_TAKEN;
}

/**
 * shake_ack_write() - write what stands behind the head of a pseudo-ACK
 * @packet: room for SHAKE_ACK_OCTETS, from the head, which is left as it is
 * @body: what to write
 *
 * Return: octets of the whole packet, without tag.
 */
u32 shake_ack_write(u8 *packet, const struct shake_ack_body *body)
{
	put_unaligned_be32(body->echo, packet + SHAKE_HEAD);
	put_unaligned_be32(body->hold_us, packet + SHAKE_HEAD + 4);
	put_unaligned_be32(body->bytes, packet + SHAKE_HEAD + 8);
	put_unaligned_be32(body->packets, packet + SHAKE_HEAD + 12);
	put_unaligned_be64(body->seen, packet + SHAKE_HEAD + 16);
	return SHAKE_ACK_OCTETS;
}

/**
 * shake_policy_read() - the policy that a PROBE tells
 * @packet: a PROBE with SHAKE_POLICY that was opened, from its head
 * @policy: written if it makes sense
 *
 * Return: whether it does.
 */
bool shake_policy_read(const u8 *packet, struct shake_policy *policy)
{
	const u8 *told = packet + SHAKE_PROBE_OCTETS;

	if (told[0] & ~3 || told[1] > SHAKE_LOSS_LIMIT_MAX || told[2] || told[3])
		return false;
	*policy = (struct shake_policy){
		.rate = get_unaligned_be32(told + 4),
		.loss_limit = told[1],
		.backup = told[0] & 1,
		.metered = told[0] & 2,
	};
	return true;
}

/**
 * shake_policy_write() - write a policy behind a PROBE's head
 * @packet: room for both, from the head, which is left as it is
 * @policy: what to write
 *
 * Return: octets of the whole packet, without tag.
 */
u32 shake_policy_write(u8 *packet, const struct shake_policy *policy)
{
	u8 *told = packet + SHAKE_PROBE_OCTETS;

	told[0] = policy->backup | policy->metered << 1;
	told[1] = policy->loss_limit;
	put_unaligned_be16(0, told + 2);
	put_unaligned_be32(policy->rate, told + 4);
	return SHAKE_PROBE_OCTETS + SHAKE_POLICY_OCTETS;
}

static u32 registration_octets(u8 type, u8 kind)
{
	switch (type) {
	case SHAKE_TYPE_HELLO:
		return shake_hello_octets(kind);
	case SHAKE_TYPE_WELCOME:
		return SHAKE_WELCOME_OCTETS;
	default:
		return SHAKE_COOKIE_OCTETS;
	}
}

static bool is_kind_good(u8 type, u8 kind)
{
	if (type == SHAKE_TYPE_COOKIE)
		return !kind;
	return kind >= SHAKE_OPEN && kind <= SHAKE_PUBLIC;
}

/**
 * shake_registration_read() - read a HELLO, WELCOME or COOKIE that is not trusted
 * @packet: octets behind the UDP header
 * @length: octets there; none beyond is read
 * @r: written
 *
 * Tags and MACs are not looked at.
 *
 * Return: SHAKE_TAKEN, SHAKE_TRUNCATED, SHAKE_BAD_TYPE, or SHAKE_STRANGER for a path that
 * cannot be.
 */
enum shake_verdict shake_registration_read(const u8 *packet, u32 length,
					   struct shake_registration *r)
{
	u8 type = shake_type_of(packet, length);
	u32 octets;

	if (!length)
		return SHAKE_TRUNCATED;
	if (!shake_type_registers(type) || packet[0] & 0xf)
		return SHAKE_BAD_TYPE;
	if (length < SHAKE_COOKIE_OCTETS)
		return SHAKE_TRUNCATED;
	if (!is_kind_good(type, packet[2]) || packet[3])
		return SHAKE_BAD_TYPE;
	octets = registration_octets(type, packet[2]);
	if (length != octets)
		return length < octets ? SHAKE_TRUNCATED : SHAKE_BAD_TYPE;
	r->type = type;
	r->path = packet[1];
	r->kind = packet[2];
	r->id = type == SHAKE_TYPE_HELLO ? get_unaligned_be32(packet + 4) : 0;
	memcpy(r->echo, packet + (type == SHAKE_TYPE_HELLO ? SHAKE_HELLO_EPHEMERAL : 4),
	       SHAKE_ECHO);
	if (r->kind == SHAKE_PUBLIC && r->id)
		return SHAKE_BAD_TYPE;
	return r->path && r->path <= SHAKE_WIRE_PATHS ? SHAKE_TAKEN : SHAKE_STRANGER;
}

/**
 * shake_registration_write() - write what stands in front of the first key or nonce
 * @packet: room for the whole packet
 * @r: what to write; a HELLO's @r->echo is of its key, and not written
 */
void shake_registration_write(u8 *packet, const struct shake_registration *r)
{
	packet[0] = r->type << 4;
	packet[1] = r->path;
	packet[2] = r->kind;
	packet[3] = 0;
	if (r->type == SHAKE_TYPE_HELLO)
		put_unaligned_be32(r->id, packet + 4);
	else
		memcpy(packet + 4, r->echo, SHAKE_ECHO);
}

/**
 * shake_reset_write() - tell the sender of a packet that its session is not known
 * @packet: room for SHAKE_RESET_OCTETS
 * @unknown: head of its DATA, ACK or PROBE; nothing else may be answered
 *
 * Return: octets written.
 */
u32 shake_reset_write(u8 *packet, const struct shake_head *unknown)
{
	struct shake_head head = {
		.type = SHAKE_TYPE_RESET,
		.index = unknown->index,
		.counter = unknown->counter,
	};

	return shake_head_write(packet, &head);
}
