// SPDX-License-Identifier: GPL-2.0
/*
 * Octets as a script of what happens to two peers.
 */
#include "input.h"
#include "world.h"

#define EVENTS_MAX 512

static u32 next24(struct input *script)
{
	u32 value = next8(script) << 16;

	value |= next8(script) << 8;
	return value | next8(script);
}

/* us: from 16 us to 2 s, or 61 s */
static u64 next_time(struct input *script)
{
	u8 octet = next8(script);

	if (octet == 255)
		return SSCOP_NO_RESPONSE_US + 1000000;
	return (u64)(16 + octet % 16) << octet / 16 * 17 / 16;
}

static struct sscop_config next_config(struct input *script)
{
	static const u32 windows[] = { 1, 2, 3, 5, 8, 33, 100, 300 };
	static const u32 times[] = { 20000, 100000, 1000000, SSCOP_POLL_TIME_MAX };
	u8 octet = next8(script), rules = next8(script);

	return (struct sscop_config) {
		.window = windows[octet % 8],
		.poll_time = times[octet / 8 % 4],
		.poll_idle = octet & 0x20 ? 10000 : 0,
		.ustat = octet & 0x40,
		.poll_sds = rules & 1 ? 1 + rules / 16 : 0,
		.poll_bytes = rules & 2 ? (rules & 4 ? 3000 : 300) : 0,
		.clock = rules & 8,
		.persist = rules & 16 ? 200000 : 0,
	};
}

/* A frame with the PDU reaches @side next. */
void world_inject(struct world *world, u32 side, const struct sscop_pdu *pdu,
		  const u8 *payload, u32 seal)
{
	u8 octets[SSCOP_CONTROL_MAX];
	u32 length;

	if (pdu->type == SSCOP_SD) {
		u32 header = sscop_sd_header(pdu->length);

		if (!pdu->length || header + pdu->length > sizeof(octets))
			return;
		memcpy(octets + header, payload, pdu->length);
		sscop_encode_sd(octets, pdu->length, pdu->seq, pdu->first, pdu->last,
				seal);
		length = header + pdu->length;
	} else if (pdu->type == SSCOP_UD) {
		u32 header = sscop_ud_header(pdu->length);

		if (!pdu->length || header + pdu->length > sizeof(octets))
			return;
		memcpy(octets + header, payload, pdu->length);
		sscop_encode_ud(octets, pdu->length, pdu, seal);
		length = header + pdu->length;
	} else {
		length = sscop_encode(octets, pdu, seal);
	}
	peer_receive(&world->peers[side], octets, max(length, FRAME_MIN));
}

/* a sequence number, most often near those in use */
static u32 next_seq(struct input *script, const struct sscop *s)
{
	const u32 bases[] = { s->tx.acked, s->tx.next, s->tx.limit, s->rx.next,
			      s->rx.high, s->tx.poll, s->rx.poll, 0 };
	u8 octet = next8(script);

	if (octet & 0x80)
		return next24(script);
	return sscop_add(bases[octet % 8], (octet >> 3) - 8);
}

static u32 next_number(struct input *script, const struct sscop *s)
{
	const u32 numbers[] = { s->mine, s->theirs, s->offer, 0, 1 };

	return numbers[next8(script) % ARRAY_SIZE(numbers)];
}

/* Does the forged PDU change a connection as only the peer can? END is reported. */
static bool knows(const struct sscop_pdu *pdu, const struct sscop *s)
{
	return pdu->type != SSCOP_BGN && pdu->type != SSCOP_END &&
	       (pdu->to == s->mine || pdu->to == s->offer);
}

/* The fields of a UD or UDSTAT, most often near those in use. */
static void forge_class(struct input *script, const struct sscop *s, struct sscop_pdu *pdu)
{
	u8 octet = next8(script);
	const struct sscop_class *c;

	pdu->class = octet & 1;
	pdu->back = next8(script);
	pdu->wait = next8(script) << (octet & 8);
	pdu->received = next24(script) * 0x1000001ULL;
	pdu->packet = next8(script);
	if (!s->classes)
		return;
	c = &s->classes[pdu->class];
	pdu->packet += c->rx.next - 100;
	if (octet & 2)
		pdu->seq = sscop_add(pdu->type == SSCOP_UD ? c->rx.newest : c->tx.serial,
				     next8(script) - 64);
}

static void forge(struct input *script, struct world *world, u32 side, bool sealed)
{
	static const u8 types[] = { SSCOP_BGN, SSCOP_BGAK, SSCOP_END, SSCOP_ENDAK,
				    SSCOP_RS, SSCOP_RSAK, SSCOP_BGREJ, SSCOP_SD,
				    SSCOP_ER, SSCOP_POLL, SSCOP_STAT, SSCOP_USTAT,
				    SSCOP_ERAK, SSCOP_UD, SSCOP_UDSTAT };
	const struct sscop *s = &world->peers[side].s;
	struct sscop_pdu pdu = { .type = types[next8(script) % ARRAY_SIZE(types)] };
	u8 payload[40] = { 1 }, of;
	u32 i;

	pdu.seq = next_seq(script, s);
	pdu.mr = next_seq(script, s);
	pdu.ps = next_seq(script, s);
	pdu.length = 1 + next8(script) % sizeof(payload);
	of = next8(script);
	pdu.version = SSCOP_VERSION + (of == 255);
	pdu.link_id = of == 254 ? of : s->config.link_id;
	pdu.from = next_number(script, s);
	pdu.to = next_number(script, s);
	pdu.sq = s->epoch + next8(script) % 4 - 1;
	if (pdu.type == SSCOP_STAT || pdu.type == SSCOP_USTAT) {
		pdu.elements = next8(script) % (SSCOP_LIST_MAX + 1);
		for (i = 0; i < pdu.elements; i++)
			pdu.list[i] = next_seq(script, s);
	}
	if (pdu.type == SSCOP_UD || pdu.type == SSCOP_UDSTAT)
		forge_class(script, s, &pdu);
	pdu.classes = pdu.type == SSCOP_BGAK && s->classes;
	if (pdu.type != SSCOP_SD && (pdu.type < SSCOP_POLL || pdu.type == SSCOP_ERAK))
		sealed = knows(&pdu, s);
	world->lied |= sealed;
	world_inject(world, side, &pdu, payload, sealed ? s->seal_in : ~s->seal_in);
}

static void junk(struct input *script, struct world *world, u32 side)
{
	u8 octets[96];
	u32 i, length = next8(script) % sizeof(octets);

	for (i = 0; i < length; i++)
		octets[i] = next8(script);
	peer_receive(&world->peers[side], octets, length);
}

static void impair(struct input *script, struct world *world, u32 side)
{
	static const u32 rates[] = { 0, 0, 2000000, 64000 };
	struct wire *wire = &world->peers[side].out;
	u8 octet = next8(script);

	wire->loss = octet & 1 ? next8(script) / 2 : 0;
	wire->twice = octet & 2 ? next8(script) / 2 : 0;
	wire->damage = octet & 4 ? next8(script) / 2 : 0;
	wire->jitter = octet & 8 ? next8(script) * 1000 : 0;
	wire->delay = octet & 16 ? next8(script) * 1000 : 0;
	wire->cut = (octet & 0xe0) == 0xe0;
	wire->rate = rates[octet >> 5 & 3];
}

static void act_once(struct input *script, struct world *world)
{
	u8 code = next8(script);
	u32 side = code & 1;
	u8 index;

	switch (code >> 1 & 15) {
	case 1:
		if (code & 0x20) {
			world_offer(world, side, code >> 6 & 1, 1 + next8(script));
			break;
		}
		world_give(world, side, 1 + next8(script));
		break;
	case 0:
		world_give(world, side, 1 + next8(script));
		break;
	case 2:
	case 3:
		world_run(world, next_time(script));
		break;
	case 4:
		world_drop(world, side, next8(script));
		break;
	case 5:
		index = next8(script);
		world_repeat(world, side, index, next_time(script));
		break;
	case 6:
		index = next8(script);
		world_damage(world, side, index, code >> 5, next8(script));
		break;
	case 7:
		world_hurry(world, side, next8(script));
		break;
	case 8:
		impair(script, world, side);
		break;
	case 9:
		world_stop(world, side, code & 0x20);
		if (code & 0x40)
			world_start(world, side);
		break;
	case 10:
		world_start(world, side);
		break;
	case 11:
		if (code & 0x20)
			world_resume(world, side);
		else
			world_resync(world, side);
		break;
	case 12:
		forge(script, world, side, code & 0x20);
		break;
	case 13:
		junk(script, world, side);
		break;
	case 14:
		world_shift(world, SSCOP_SEQ_MASK - next8(script),
			    SSCOP_SEQ_MASK - next8(script));
		break;
	default:
		world_settle(world);
	}
}

/* The world after the script has come to its end and the channel works again. */
struct world *script_run(const u8 *octets, u32 length)
{
	struct input script = { octets, length };
	struct sscop_config a = next_config(&script), b = next_config(&script);
	u8 start = next8(&script);
	struct world *world;
	u32 events;

	a.link_id = start >> 7;
	b.link_id = a.link_id;
	world = world_new(&a, &b, 8 + (start & 0x7c) * 3 / 2, start);

	if (start & 1)
		world_start(world, 0);
	if (start & 2)
		world_start(world, 1);
	for (events = 0; script.length && events < EVENTS_MAX; events++) {
		if (world->failure[0])
			break;
		act_once(&script, world);
	}
	if (!world->failure[0])
		world_settle(world);
	return world;
}
