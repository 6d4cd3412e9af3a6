// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: a leader and its agent with three paths, shake/control.c, path.c and what
 * they call, in virtual time. The octets say what the network, the users and somebody without
 * the key do. What must be so after each step is in check(); when all links are well, all paths
 * are alive within 40 s, without a key, too.
 */
#include <string.h>

#include <linux/random.h>

#include <shake/path.h>
#include <shake/peer.h>
#include <shake/settings.h>
#include <shake/sockets.h>
#include <shake/wake.h>

#include "shake_world.h"

#define MOST_STEPS 150
#define MOST_EVENTS 1500
#define TICK_US (2 * FUZZ_JIFFY)	/* timers are not more exact */
#define WELL_US (40 * USEC_PER_SEC)
#define HELLO_LEAST_US (500 * USEC_PER_MSEC)
#define HELLO_MOST_US (5 * USEC_PER_SEC)
#define DEAD_LEAST_US (1 * USEC_PER_SEC)
#define DEAD_MOST_US (10 * USEC_PER_SEC)
#define ROUND_US (20 * USEC_PER_MSEC)	/* answers are counted in such times */
#define WELCOMES 40			/* in two of them */
#define RESETS 4
#define WELCOME_LEAST_US (2 * USEC_PER_MSEC)
#define SNAPSHOT 1048576
#define STRANGER_ID 6
#define STRANGERS 42		/* more than WELCOMES at once, if nothing holds them up */
#define ANSWER_LEAST_US (400 * USEC_PER_MSEC)	/* between answers to the same HELLO */
#define ASKED 64
#define TALK_US (200 * USEC_PER_MSEC)	/* between packets of who talks */
#define LIFE_US (180 * USEC_PER_SEC + 2 * TICK_US)	/* of a session */
#define CONFIRM_US (10 * USEC_PER_SEC + 2 * TICK_US)	/* before it is confirmed; a HELLO's key */
#define MAKING_US (5 * USEC_PER_SEC)	/* a session is made, when all is well */
#define STOLEN 0xff		/* how a frame is forged by who has a key */
#define BELIEVED 1024		/* places where frames are remembered */

/* What a path has sent. */
struct paced {
	/* us, the last HELLO or repeated CONFIRM; 0: none, or another may follow at once */
	u64 hello_at;
	u32 unanswered;		/* HELLOs since something was heard */
	u64 probe_at;		/* us, the last probe; 0: the same */
	u64 welcome_at;		/* us, the last WELCOME that was made */
	u8 welcome[SHAKE_WELCOME_OCTETS];	/* it */
	u64 ack_at;		/* us, the last pseudo-ACK; 0: as hello_at */
	u64 received;		/* packets of data, by then */
};

/* The target's own memory. */
struct run {
	struct paced paced[2][SHAKE_PATHS_MAX];	/* by end and path */
	u64 welcomes[WELCOMES];	/* us, when the last ones were sent */
	u64 resets[RESETS];	/* the same */
	u32 welcome;		/* how many */
	u32 reset;		/* how many */
	const struct frame *delivering;	/* the frame that is coming in, or NULL */
	struct frame recorded;	/* what somebody keeps */
	u8 asked[ASKED][SHAKE_KEY];	/* keys of HELLOs answered, by place_of() */
	union shake_addr asked_from[ASKED];	/* where they came from */
	u64 asked_at[ASKED];	/* us, when */
	/* marks of frames that have changed something, by their remainder */
	u64 believed[BELIEVED];
	struct input *in;	/* what a user does between a packet's look-up and the lock */
	bool auth;		/* there is a key */
	bool public;		/* there are public keys */
	bool forged;		/* a forged frame came */
	bool talks[2];		/* by end, it sends data by all paths when all is well */
	u8 key[2];		/* which one each end has */
	/* a session's counter is at its end, which takes longer than there is time */
	bool exhausted;
	u32 events;		/* left to do */
};

static struct run run;

static struct shake_peer *peer_of(u8 who)
{
	return shake_peer_find(world_dev(who), LEADER_ID);
}

/* --- what is sent -------------------------------------------------------------------------- */

static u8 type_of(const struct frame *f)
{
	return shake_type_of(f->octets, f->length);
}

/* There are no more than @most in two rounds, and no more than half at the same time. */
static void check_budget(u64 *sent, u32 most, u32 *count)
{
	u64 *at = &sent[*count % most], half = sent[(*count + most / 2) % most];

	expect(!*at || fuzz_now - *at >= ROUND_US - TICK_US);
	expect(!half || half != fuzz_now);
	*at = fuzz_now;
	(*count)++;
}

static u64 dead_for(const struct shake_path *path, u64 at)
{
	return at > path->dead_at ? at - path->dead_at : 0;
}

/* HELLOs that nobody asked for. */
static void check_hello(const struct shake_path *path, struct paced *paced)
{
	u64 least = HELLO_LEAST_US;

	if (path->state == SHAKE_PATH_JOINING)
		least = min_t(u64, HELLO_LEAST_US << min(paced->unanswered / 4, 20),
			      HELLO_MOST_US);
	else if (path->state == SHAKE_PATH_DEAD && !path->renew && !path->rejoin_at)
		least = clamp_t(u64, dead_for(path, paced->hello_at) / 8, DEAD_LEAST_US,
				DEAD_MOST_US);
	else if (path->rejoin_at && !path->renew)
		least = DEAD_LEAST_US;
	expect(path->sock);
	expect(path->state != SHAKE_PATH_ABSENT);
	expect(!paced->hello_at || fuzz_now - paced->hello_at + TICK_US >= least);
	paced->hello_at = fuzz_now;
	paced->unanswered++;
}

static void check_probe(const struct shake_path *path, struct paced *paced)
{
	u64 least = SHAKE_PROBE_LEAST;

	if (path->state == SHAKE_PATH_DEAD)
		least = clamp_t(u64, dead_for(path, paced->probe_at) / SHAKE_PROBE_PART,
				SHAKE_PROBE_LEAST, SHAKE_PROBE_MOST);
	expect(path->state == SHAKE_PATH_ALIVE || path->state == SHAKE_PATH_DEAD);
	expect(!paced->probe_at || fuzz_now - paced->probe_at + TICK_US >= least);
	paced->probe_at = fuzz_now;
}

/* What answers data is not more often than it should be. */
static void check_ack(const struct shake_path *path, struct paced *paced)
{
	if (run.delivering && type_of(run.delivering) == SHAKE_TYPE_DATA)
		expect(!paced->ack_at || fuzz_now - paced->ack_at >= SHAKE_ACK_US ||
		       path->received - paced->received >= SHAKE_ACK_PACKETS);
	paced->ack_at = fuzz_now;
	paced->received = path->received;
}

/* An answer is of the right type, and not longer than what it answers. */
static void check_answer(const struct frame *f)
{
	static const u8 answers[16] = {
		[SHAKE_TYPE_HELLO] = SHAKE_TYPE_WELCOME,	/* or COOKIE */
		[SHAKE_TYPE_WELCOME] = SHAKE_TYPE_CONFIRM,
		[SHAKE_TYPE_CONFIRM] = SHAKE_TYPE_READY,
		[SHAKE_TYPE_DATA] = SHAKE_TYPE_ACK,
		[SHAKE_TYPE_PROBE] = SHAKE_TYPE_ACK,
	};
	u8 asked = type_of(run.delivering), type = type_of(f);

	if (type == SHAKE_TYPE_RESET) {
		expect(asked >= SHAKE_TYPE_DATA && asked <= SHAKE_TYPE_PROBE && !f->to_agent);
	} else if (asked == SHAKE_TYPE_ACK) {
		expect(type == SHAKE_TYPE_ACK);	/* one that was due, and is late */
	} else if (type == SHAKE_TYPE_COOKIE) {
		expect(asked == SHAKE_TYPE_HELLO && run.auth);
	} else {
		expect(type == answers[asked] || (type == asked && type == SHAKE_TYPE_PROBE));
		expect(!run.auth || !run.delivering->forged || asked == SHAKE_TYPE_HELLO);
	}
	if (type != SHAKE_TYPE_ACK)
		expect(f->length <= run.delivering->length);
}

/* Where a HELLO that was answered is remembered. */
static u8 place_of(const struct frame *hello)
{
	return (hello->octets[SHAKE_HELLO_EPHEMERAL + SHAKE_KEY / 2] ^
		ntohs(hello->from.v4.sin_port)) % ASKED;
}

/* Whether a HELLO has had an answer a short time ago, at the same address. */
static bool was_asked(const struct frame *hello)
{
	u8 place = place_of(hello);

	return run.asked_at[place] && fuzz_now - run.asked_at[place] < ANSWER_LEAST_US &&
	       shake_addr_equal(&run.asked_from[place], &hello->from) &&
	       !memcmp(run.asked[place], hello->octets + SHAKE_HELLO_EPHEMERAL, SHAKE_KEY);
}

/* The same HELLO has no two answers in short time. */
static void check_asked(const struct frame *hello)
{
	u8 place = place_of(hello);

	expect(!was_asked(hello));
	memcpy(run.asked[place], hello->octets + SHAKE_HELLO_EPHEMERAL, SHAKE_KEY);
	run.asked_from[place] = hello->from;
	run.asked_at[place] = fuzz_now;
}

static void check_welcome(const struct frame *f)
{
	struct paced *paced = &run.paced[AGENT][f->octets[1] - 1];

	check_budget(run.welcomes, WELCOMES, &run.welcome);
	if (!run.public && run.delivering->octets[7] != LEADER_ID)
		return;
	check_asked(run.delivering);
	if (!memcmp(paced->welcome, f->octets, SHAKE_WELCOME_OCTETS))
		return;		/* the same answer costs nothing */
	expect(!paced->welcome_at || fuzz_now - paced->welcome_at >= WELCOME_LEAST_US);
	paced->welcome_at = fuzz_now;
	memcpy(paced->welcome, f->octets, SHAKE_WELCOME_OCTETS);
}

void world_sent(struct shake_dev *d, const struct shake_way *way, const struct frame *f)
{
	u8 who = shake_is_leader(d) ? LEADER : AGENT, type = type_of(f);
	struct paced *paced = way->path ? &run.paced[who][way->path->settings.id - 1] : NULL;

	expect(d->dev->running);
	if (run.delivering)
		check_answer(f);
	if (type == SHAKE_TYPE_RESET)
		check_budget(run.resets, RESETS, &run.reset);
	else if (type == SHAKE_TYPE_WELCOME)
		check_welcome(f);
	else if (type == SHAKE_TYPE_HELLO || (type == SHAKE_TYPE_CONFIRM && !run.delivering))
		check_hello(way->path, paced);
	else if (type == SHAKE_TYPE_PROBE && f->octets[1] & SHAKE_COUNTED)
		check_probe(way->path, paced);
	else if (type == SHAKE_TYPE_ACK)
		check_ack(way->path, paced);
}

/* Users have done something: what was sent before does not count. */
static void forget_paces(u8 who)
{
	for (u8 i = 0; i < SHAKE_PATHS_MAX; i++) {
		struct paced *paced = &run.paced[who][i];

		paced->hello_at = 0;
		paced->unanswered = 0;
		paced->probe_at = 0;
		paced->ack_at = 0;
	}
}

/* --- what must be so ----------------------------------------------------------------------- */

static u32 check_link(struct shake_dev *d, const struct shake_path *path,
		      const struct shake_link *link)
{
	if (!link)
		return 0;
	expect(link->path == path);
	expect(link->s.index);
	expect(xa_load(&d->sessions, link->s.index) == link);
	return 1;
}

static void check_timer(const struct shake_path *path)
{
	const struct shake_peer *peer = path->peer;
	bool wanted = path->state == SHAKE_PATH_DEAD || path->ack_due;

	if (shake_is_leader(peer->d) && path->sock && peer->keys.trust != SHAKE_NO_KEY &&
	    !shake_is_asleep())
		wanted = true;
	if (path->state == SHAKE_PATH_ALIVE && shake_path_outstanding(&path->estimate))
		wanted = true;
	if (!wanted)
		return;
	expect(peer->timer.pending);
	expect(!time_after(peer->timer.expires, jiffies + 60 * HZ + 1));
	if (path->ack_due)
		expect(peer->timer.expires <=
		       max(usecs_to_jiffies(path->ack_due), jiffies) + 1);
}

/* A leader's path has a socket as long as it can have one. */
static void check_socket(const struct shake_dev *d, const struct shake_path *path)
{
	const char *name = path->settings.dev;
	const struct net_device *dev = d->net && *name ? __dev_get_by_name(d->net, name) : NULL;
	bool can = d->net && (*name ? dev && dev->flags & IFF_UP : true);

	if (path->sock)
		expect(can && path->ifindex == (dev ? dev->ifindex : 0));
	else
		expect(!can || world.refused);
}

static u32 check_path(struct shake_dev *d, struct shake_path *path)
{
	struct shake_link *link = shake_link(path);
	u32 sessions = check_link(d, path, link);

	sessions += check_link(d, path, path->old);
	sessions += check_link(d, path, path->next);
	expect(!path->old || (link && link != path->old));
	expect(!path->next || link != path->next);
	expect(path->told == shake_path_shown(path));	/* no change is left untold */
	expect(!link || fuzz_now - link->made_at <= LIFE_US);
	expect(!path->old || fuzz_now - path->old->made_at <= LIFE_US);
	expect(!path->next || fuzz_now - path->next->made_at <= CONFIRM_US);
	if (path->state == SHAKE_PATH_ALIVE || path->state == SHAKE_PATH_DEAD)
		expect(link);
	expect(!path->join.asked || fuzz_now - path->asked_at <= CONFIRM_US);
	expect(!shake_is_asleep() || !(sessions || path->join.asked));
	/* who asked for encryption is on the way to it */
	expect(!link || !d->settings.encrypt || link->s.encrypt || path->renew);
	if (shake_is_leader(d)) {
		expect(!path->sock == (path->state == SHAKE_PATH_ABSENT));
		expect(path->sock || !path->next);
	} else {
		expect(!path->sock && !path->join.asked);
		expect(!path->next || !path->next->s.taking);
	}
	expect(!link || link->s.ready);
	if (d->dev->running && shake_is_leader(d))
		check_socket(d, path);
	if (d->dev->running)
		check_timer(path);
	else
		expect(path->state == SHAKE_PATH_ABSENT && !sessions);
	return sessions;
}

static void check_host(u8 who)
{
	struct shake_dev *d = world_dev(who);
	struct shake_peer *peer;
	struct shake_path *path;
	bool registered = false;
	unsigned long i;
	u32 count = 0;

	expect(!d->guard_lock.taken);
	xa_for_each(&d->peers, i, peer) {
		expect(!peer->lock.taken);
		shake_for_each_path(peer, path) {
			count += check_path(d, path);
			registered |= path->state == SHAKE_PATH_ALIVE ||
				      path->state == SHAKE_PATH_DEAD;
		}
	}
	expect(d->sessions.count == count);
	if (who == AGENT)
		return;
	expect(!d->dev->running || d->dev->carrier == registered);
	peer = world_peer(d);
	path = shake_path(peer, peer->ack_path);
	expect(!peer->ack_path || (path && path->state == SHAKE_PATH_ALIVE));
}

static void check(void)
{
	fuzz_grace_period();
	check_host(LEADER);
	check_host(AGENT);
}

/* --- frames -------------------------------------------------------------------------------- */

static u8 *copy_link(u8 *to, const struct shake_link *link)
{
	if (!link)
		return to;
	memcpy(to, link, sizeof(*link));
	return to + sizeof(*link);
}

/* All that a frame may change at an end; not what RESET may, if there @is_hint. */
static size_t copy_state(u8 who, bool is_hint, u8 *to)
{
	struct shake_dev *d = world_dev(who);
	struct shake_peer *peer;
	struct shake_path *path;
	const u8 *begin = to;
	unsigned long i;

	xa_for_each(&d->peers, i, peer) {
		memcpy(to, &peer->data_at, sizeof(peer->data_at));
		to += sizeof(peer->data_at);
		*to++ = peer->ack_path;
		shake_for_each_path(peer, path) {
			struct shake_path copy;

			memcpy(&copy, path, sizeof(copy));
			if (is_hint) {
				copy.rejoin_at = 0;
				copy.tries = 0;
			}
			memcpy(to, &copy, sizeof(copy));
			to = copy_link(to + sizeof(copy), shake_link(path));
			to = copy_link(copy_link(to, path->old), path->next);
		}
	}
	expect(to <= begin + SNAPSHOT);
	return to - begin;
}

/* A RESET is a hint if it is from where a path sends to. */
static bool is_hint(const struct frame *f)
{
	struct shake_path *path;

	if (f->to_agent || type_of(f) != SHAKE_TYPE_RESET)
		return false;
	shake_for_each_path(world_peer(world_dev(LEADER)), path)
		if (shake_addr_equal(&path->to, &f->from))
			return true;
	return false;
}

/* FNV-1a of what a frame says, and to whom. */
static u64 mark_of(const struct frame *f)
{
	u64 mark = 0xcbf29ce484222325ULL + f->to_agent;

	for (u32 i = 0; i < f->length; i++)
		mark = (mark ^ f->octets[i]) * 0x100000001b3ULL;
	return mark;
}

/*
 * Who has no key changes nothing, and nothing changes anything twice; but a HELLO whose session was
 * not confirmed may ask again.
 */
static void check_changed(const struct frame *f)
{
	u64 mark = mark_of(f), *believed = &run.believed[mark % BELIEVED];

	if (type_of(f) == SHAKE_TYPE_HELLO && !f->forged)
		return;

	expect(!run.auth || !(f->forged || *believed == mark));
	*believed = mark;
}

/* A copy that was faster, from elsewhere, has had the answer of this HELLO. */
static bool is_overtaken(const struct frame *f)
{
	struct shake_dev *d = world_dev(AGENT);
	struct shake_path *path;

	if (!f->to_agent || f->forged || type_of(f) != SHAKE_TYPE_HELLO || fuzz_before_lock ||
	    slab_refuses || was_asked(f) || !peer_of(AGENT) || d->guard.slot_count >= SHAKE_LOAD ||
	    d->guard.loaded_until > fuzz_now || d->registrations.value < 1)
		return false;
	path = shake_path(peer_of(AGENT), f->octets[1]);
	return path && path->next &&
	       !memcmp(path->echo, f->octets + SHAKE_HELLO_EPHEMERAL, SHAKE_KEY) &&
	       (f->to.any.sa_family == AF_INET ? d->sock4 : d->sock6);
}

/* Let a frame come in. A hint may change when to register. */
static void deliver(const struct frame *f)
{
	static u8 before[SNAPSHOT], after[SNAPSHOT];
	u64 registered = world_dev(f->to_agent)->counts[SHAKE_REGISTERED].value;
	u64 reset_at[SHAKE_PATHS_MAX] = { 0 };
	bool hint = is_hint(f), alone = !fuzz_before_lock, overtaken = is_overtaken(f);
	struct shake_path *path;
	size_t length;

	shake_for_each_path(world_peer(world_dev(LEADER)), path)
		reset_at[path->settings.id - 1] = path->rejoin_at;
	length = copy_state(f->to_agent, hint, before);
	world.sent = 0;
	run.forged |= f->forged;
	run.delivering = f;
	world_deliver(f);
	run.delivering = NULL;
	fuzz_before_lock = NULL;
	expect(world.sent <= 1);
	expect(world.sent || !overtaken);
	if (alone && (copy_state(f->to_agent, hint, after) != length ||
		      memcmp(before, after, length)))
		check_changed(f);
	if (world_dev(f->to_agent)->counts[SHAKE_REGISTERED].value != registered)
		for (u8 i = 0; i < SHAKE_PATHS_MAX; i++)
			run.paced[f->to_agent][i].probe_at = 0;
	/* an answer, or a hint that is taken up */
	shake_for_each_path(world_peer(world_dev(LEADER)), path)
		if (!path->tries || path->rejoin_at != reset_at[path->settings.id - 1])
			run.paced[LEADER][path->settings.id - 1].unanswered = 0;
}

static struct frame take_frame(u32 number)
{
	struct frame f = world.frames[number];

	world.frames[number] = world.frames[--world.flying];
	return f;
}

static u32 next_frame(void)
{
	u32 first = 0;

	for (u32 i = 1; i < world.flying; i++)
		if (world.frames[i].at < world.frames[first].at)
			first = i;
	return first;
}

static struct frame *any_frame(struct input *in)
{
	u8 which = next8(in);

	return world.flying ? &world.frames[which % world.flying] : NULL;
}

/* --- time ---------------------------------------------------------------------------------- */

/* The peer whose timer is next, until @at. */
static struct shake_peer *next_timer(u64 *at)
{
	struct shake_peer *peer, *first = NULL;
	unsigned long i;

	for (u8 who = LEADER; who <= AGENT; who++)
		xa_for_each(&world_dev(who)->peers, i, peer)
			if (peer->timer.pending && peer->timer.expires * FUZZ_JIFFY < *at) {
				*at = peer->timer.expires * FUZZ_JIFFY;
				first = peer;
			}
	return first;
}

/* The next thing that happens by itself until then. Returns whether there is one. */
static bool happen(u64 until)
{
	u64 at = until + 1;
	struct shake_peer *peer = next_timer(&at);
	u32 number = next_frame();
	struct frame f;

	if (world.flying && world.frames[number].at < at) {
		f = take_frame(number);
		fuzz_now = max(fuzz_now, f.at);
		deliver(&f);
	} else if (peer) {
		fuzz_now = max(fuzz_now, at);
		peer->timer.pending = false;
		world.sent = 0;
		peer->timer.function(&peer->timer);
		expect(world.sent <= 3 * SHAKE_PATHS_MAX);
	} else {
		return false;
	}
	check();
	return true;
}

static void advance(u64 us)
{
	u64 until = fuzz_now + us;

	while (run.events && happen(until))
		run.events--;
	if (run.events)
		fuzz_now = until;
}

/* --- users --------------------------------------------------------------------------------- */

/* With public keys another number is another secret of the leader's. */
static void set_pair(u8 who, u8 number)
{
	u8 leaders[SHAKE_KEY] = { 8, number }, agents[SHAKE_KEY] = { 16 }, key[SHAKE_KEY];

	shake_private_key(world_dev(who), who == LEADER ? leaders : agents, NULL);
	shake_secret_make(key, who == LEADER ? agents : leaders);
	expect(shake_public_of(key, key));
	shake_peer_public(world_dev(who), LEADER_ID, key, NULL);
}

static void set_key(u8 who, u8 number)
{
	u8 key[SHAKE_KEY] = { 1, number };	/* zero is none */

	run.key[who] = number;
	forget_paces(who);
	if (run.public)
		set_pair(who, number);
	else
		shake_peer_key(world_dev(who), LEADER_ID, key, NULL);
}

static void set_path(u8 number, u8 how)
{
	struct shake_path_settings settings = {
		.id = number,
		.weight = 100,
		.policy = { .backup = how & 16, .metered = how & 32, .rate = how & 64 ? 100 : 0 },
	};

	strcpy(settings.dev, how & 1 ? "" : world.links[(number - 1 + how / 2) % LINKS].dev.name);
	if (number == LINKS) {
		settings.remote.v6.sin6_family = AF_INET6;
		memset(&settings.remote.v6.sin6_addr, 0xfd, 16);
	}
	forget_paces(LEADER);
	shake_path_set(world_dev(LEADER), &settings, NULL);
}

static void add_peer(void)
{
	if (!peer_of(AGENT)) {
		for (u8 i = 0; i < SHAKE_PATHS_MAX; i++)
			run.paced[AGENT][i].welcome_at = 0;
		memset(run.asked_at, 0, sizeof(run.asked_at));
	}
	if (!shake_peer_add(world_dev(AGENT), LEADER_ID, NULL))
		set_key(AGENT, run.key[AGENT]);
}

static void boot(u8 who)
{
	bool refuses = slab_refuses;

	slab_refuses = false;
	if (world.hosts[who])
		world_remove(who);
	world_boot(who, run.auth);
	forget_paces(who);
	memset(run.resets, 0, sizeof(run.resets));
	memset(run.welcomes, 0, sizeof(run.welcomes));
	if (who == AGENT) {
		add_peer();
		shake_peer_add(world_dev(AGENT), STRANGER_ID, NULL);
	} else {
		set_key(LEADER, run.key[LEADER]);
		for (u8 i = 1; i <= LINKS; i++)
			set_path(i, 0);
	}
	slab_refuses = refuses;
	world_open(who);
}

/* A path that may just have got a socket: not alive until it is heard; HELLO is due at once. */
static void check_opened(const struct shake_path *path)
{
	if (!path->sock)
		return;
	expect(path->state == (shake_link(path) ? SHAKE_PATH_DEAD : SHAKE_PATH_JOINING));
	expect(!path->hello_at && !path->tries);
}

/* A device gets another name: paths by another one do not follow it. */
static void rename_device(struct net_device *dev, const char *name)
{
	char before[LINKS][IFNAMSIZ] = { 0 }, from[IFNAMSIZ];
	struct shake_path *path;

	strcpy(from, dev->name);
	strcpy(dev->name, name);
	shake_for_each_path(peer_of(LEADER), path)
		strcpy(before[path->settings.id - 1], path->settings.dev);
	shake_notifier.notifier_call(&shake_notifier, NETDEV_CHANGENAME, dev);
	shake_for_each_path(peer_of(LEADER), path) {
		const char *was = before[path->settings.id - 1];

		expect(!strcmp(path->settings.dev, was) || !strcmp(was, from));
	}
}

/* Another device gets the number of one that is gone. */
static void reuse_number(const struct net_device *gone)
{
	struct net_device other = {
		.name = "wlan0", .ifindex = gone->ifindex, .net = &world.nets[LEADER],
	};

	rename_device(&other, "wlan1");
}

/* A link's device goes or comes, or has another name. */
static void change_device(struct net_device *dev, u8 what)
{
	unsigned long event = NETDEV_UP + what % 4;
	char other[IFNAMSIZ];
	struct shake_path *path;
	bool closed[LINKS];

	if (event != NETDEV_CHANGENAME)
		dev->flags = event == NETDEV_UP ? IFF_UP : 0;
	if (event == NETDEV_UP && !dev->net)
		dev->net = &world.nets[LEADER];
	forget_paces(LEADER);
	for (u8 i = 1; i <= LINKS; i++) {
		path = shake_path(peer_of(LEADER), i);
		closed[i - 1] = path && !path->sock;
	}
	if (event == NETDEV_CHANGENAME) {
		strcpy(other, dev->name);
		other[3] ^= 4;
		rename_device(dev, other);
	} else {
		shake_notifier.notifier_call(&shake_notifier, event, dev);
	}
	/* what is behind a hole does not wait for a path that has gone */
	for (u8 i = 1; i <= LINKS; i++) {
		path = shake_path(peer_of(LEADER), i);
		expect(!path || path->sock || !(peer_of(LEADER)->flows.alive & 1 << (i - 1)));
	}
	for (u8 i = 1; i <= LINKS; i++)
		if (closed[i - 1])
			check_opened(shake_path(peer_of(LEADER), i));
	if (event != NETDEV_UNREGISTER)
		return;
	dev->net = NULL;
	reuse_number(dev);
}

static void change_settings(u8 who, u8 what)
{
	struct shake_settings settings = shake_dev(world_dev(who)->dev)->settings;

	settings.keepalive = (what & 3) * USEC_PER_SEC;
	settings.encrypt = run.auth && what & 4;
	settings.ack = what & 8 ? SHAKE_ACK_PASS : SHAKE_ACK_AUTO;
	if (who == LEADER && what & 16) {
		settings.remote.v4.sin_family = AF_INET;
		memcpy(&settings.remote.v4.sin_addr, (u8[]){ 10, 9, 9, what & 32 ? 8 : 9 }, 4);
	}
	forget_paces(who);
	shake_settings_change(world_dev(who), &settings, NULL);
}

static void switch_device(u8 who)
{
	forget_paces(who);
	if (world_dev(who)->dev->running)
		world_stop(who);
	else
		world_open(who);
}

static void send_data_by(u8 who, u8 number, struct input *in)
{
	struct shake_peer *peer = peer_of(who);
	struct shake_path *path = peer ? shake_path(peer, number) : NULL;

	if (!path || !world_dev(who)->dev->running || !shake_link(path) ||
	    (path->state != SHAKE_PATH_ALIVE && path->state != SHAKE_PATH_DEAD))
		return;
	world_send_data(path, in);
}

static void send_data(u8 who, struct input *in)
{
	send_data_by(who, 1 + next8(in) % LINKS, in);
}

static void exhaust(u8 who, u8 number)
{
	struct shake_path *path = peer_of(who) ? shake_path(peer_of(who), number) : NULL;

	if (path && shake_link(path))
		shake_link(path)->s.counter = SHAKE_COUNTER_LIMIT - 1;
	run.exhausted = true;
}

/* What users do, and another CPU may do at any time. */
enum { SET_KEY = 0, DELETE_PATH = 4, CHANGE_DEVICE = 13, FORGET_ALL = 14 };

static void use(u8 what, struct input *in)
{
	u8 who = next_bool(in), how = next8(in), number = 1 + how % LINKS;

	switch (what) {
	case SET_KEY:
		set_key(who, how & 1);
		break;
	case 1:
		change_settings(who, how);
		break;
	case 2:
		switch_device(who);
		break;
	case 3:
		boot(who);
		break;
	case DELETE_PATH:
		shake_path_delete(world_dev(LEADER), number, NULL);
		break;
	case 5:
		set_path(number, next8(in));
		break;
	case 6:
		if (!shake_peer_delete(world_dev(AGENT), LEADER_ID, NULL) && how & 1)
			add_peer();
		break;
	case 7:
		add_peer();
		for (u8 i = 1; how == U8_MAX && i < STRANGERS; i++)
			shake_peer_add(world_dev(AGENT), STRANGER_ID + i, NULL);
		break;
	case 8:
		shake_net_ops.pre_exit(&world.nets[who]);
		break;
	case 9:
		exhaust(who, number);
		break;
	case 10:
		world_dev(who)->next_session = U16_MAX - (how & 1);
		break;
	case 11:
		slab_refuses = how & 1;
		break;
	case 12:
		world.no_sockets = how % 3;
		break;
	case FORGET_ALL:
		forget_paces(LEADER);
		shake_forget_all(how & 1);
		break;
	case 15:
		fuzz_clock = (u64)how << 56;	/* and time may have an end */
		break;
	case CHANGE_DEVICE:
	default:
		change_device(&world.links[number - 1].dev, next8(in));
	}
}

/* --- the network, and somebody without the key --------------------------------------------- */

static void damage(struct frame *f, struct input *in)
{
	u8 at = next8(in), by = next8(in);

	if (at < f->length && by)
		f->octets[at] ^= by;
	else if (f->length)
		f->length -= 1 + by % f->length;
	f->forged = true;
}

/* A RESET for a session whose packet was seen, from where it went, or from somewhere else. */
static void forge_reset(struct frame *f, u8 how)
{
	union shake_addr from = f->from;

	f->from = f->to;
	f->to = from;
	f->to_agent = !f->to_agent;
	f->octets[0] = SHAKE_TYPE_RESET << 4;
	f->octets[1] = 0;
	f->length = SHAKE_RESET_OCTETS;
	f->forged = true;
	if (how & 1)
		f->from.v4.sin_port ^= htons(1);
}

/* Any octets to any of the two. */
static void forge(struct frame *f, struct input *in)
{
	f->length = next8(in) % FRAME_ROOM;
	for (u32 i = 0; i < f->length && (i < 12 || in->length); i++)
		f->octets[i] = next8(in);
	f->forged = true;
}

/*
 * The latest HELLO that there can be, by somebody who has the agent's private key and knows the
 * leader's public one: what both have in common is the same.
 */
static void steal(struct frame *f)
{
	struct shake_peer *peer = world_peer(world_dev(LEADER));
	struct shake_join join = { .id = LEADER_ID, .path = f->link };
	struct shake_keys keys = peer->keys;
	u8 random[SHAKE_KEY];

	get_random_bytes(random, sizeof(random));
	if (!run.public || !f->to_agent ||
	    !shake_hello_make(&join, &keys, &world_dev(LEADER)->identity, random, U64_MAX))
		return;
	f->length = shake_hello_write(f->octets, &join, fuzz_now);
	f->from.v4.sin_port ^= htons(4);
}

/* Many of the same at once. */
static void flood(struct frame f, struct input *in)
{
	u8 step = next8(in) & 3;

	for (u32 i = 0; i < 50; i++) {
		f.octets[SHAKE_HEAD - 1] += step;
		f.forged |= step;
		deliver(&f);
		check();
	}
}

/* A frame to another path's socket. */
static void misdirect(struct frame *f, u8 number)
{
	struct shake_path *path = shake_path(world_peer(world_dev(LEADER)), number);

	if (f->to_agent || !path || !path->sock || path->sock->sk.family != AF_INET)
		return;
	f->link = number;
	f->to.v4.sin_family = AF_INET;
	f->to.v4.sin_port = htons(ntohs(path->sock->sk.port) + world.links[number - 1].nat);
}

/* Another CPU: what it does is under RCU or the peer's lock, as what comes in. */
static void use_between(void)
{
	static const u8 what[] = { SET_KEY, DELETE_PATH, CHANGE_DEVICE, FORGET_ALL };

	use(what[next8(run.in) % sizeof(what)], run.in);
}

static void meddle(u8 what, struct input *in)
{
	struct frame copy, *f = any_frame(in);
	u8 how = next8(in);

	if (what == 0 || !f)
		f = &run.recorded;
	if (!f->link)
		return;
	copy = *f;
	switch (what) {
	case 0:		/* what was recorded, from its own or another address */
		if (how & 1)
			copy.from.v4.sin_port ^= htons(2);
		break;
	case 1:
		run.recorded = copy;
		return;
	case 2:
		damage(&copy, in);
		break;
	case 3:
		forge_reset(&copy, how);
		break;
	case 4:
		if (how == STOLEN)
			steal(&copy);
		else
			forge(&copy, in);
		break;
	case 5:
		flood(copy, in);
		return;
	case 6:
		misdirect(f, 1 + how % LINKS);
		return;
	case 7:
		run.in = in;
		fuzz_before_lock = use_between;
		break;
	}
	deliver(&copy);
}

static void network(u8 what, struct input *in)
{
	u8 how = next8(in);
	struct link *link = &world.links[how % LINKS];
	struct frame *f = any_frame(in);

	switch (what) {
	case 0:
		link->cut[how >> 4 & 1] = how & 0x80;
		break;
	case 1:
		link->cut[0] = how & 0x80;
		link->cut[1] = how & 0x80;
		break;
	case 2:
		link->delay = next_to(in, 3 * USEC_PER_SEC);
		break;
	case 3:
		link->nat = how >> 4;
		break;
	case 4:
		if (f)
			*f = world.frames[--world.flying];
		break;
	case 5:
		if (f && world.flying < FLYING)
			world.frames[world.flying++] = *f;
		break;
	default:
		if (f)
			f->at = fuzz_now + next_to(in, USEC_PER_SEC);
	}
}

/* --- a run --------------------------------------------------------------------------------- */

static void step(struct input *in)
{
	u8 what = next8(in);

	switch (what & 7) {
	case 0:
	case 1:
		happen(U64_MAX - 1);
		break;
	case 2:
		advance((u64)next_to(in, USEC_PER_SEC) << (what >> 3 & 15));
		break;
	case 3:
		send_data(what >> 3 & 1, in);
		break;
	case 4:
	case 5:
		use((what >> 3) % 16, in);
		break;
	case 6:
		meddle((what >> 3) % 8, in);
		break;
	default:
		network((what >> 3) % 7, in);
	}
	check();
}

/* Time goes by in which who has something to say says it. */
static void talk(u64 us)
{
	static const u8 plain[2];

	for (u64 until = fuzz_now + us; run.events && fuzz_now < until;) {
		for (u8 who = LEADER; who <= AGENT; who++)
			for (u8 i = 0; run.talks[who] && i < LINKS; i++)
				send_data_by(who, 1 + i, &(struct input){ plain, sizeof(plain) });
		advance(TALK_US);
	}
}

/* The agent's end of a leader's path. Who has no key may have given it another number there. */
static const struct shake_path *far_end(const struct shake_path *here)
{
	const struct shake_link *link;

	if (run.auth || !run.forged)
		return shake_path(peer_of(AGENT), here->settings.id);
	link = xa_load(&world_dev(AGENT)->sessions, shake_link(here)->s.peer_index);
	return link ? link->path : NULL;
}

/* Both ends of a path are alive in the same session, or in one that is just being made. */
static void check_well(const struct shake_path *here)
{
	const struct shake_session *ours, *theirs;
	const struct shake_path *there;

	expect(here && here->state == SHAKE_PATH_ALIVE);
	there = far_end(here);
	expect(there && there->state == SHAKE_PATH_ALIVE);
	if (here->next && fuzz_now - here->next->made_at < MAKING_US)
		return;
	ours = &shake_link(here)->s;
	theirs = &shake_link(there)->s;
	expect(ours->peer_index == theirs->index && theirs->peer_index == ours->index);
	expect(!memcmp(ours->send, theirs->receive, SHAKE_KEY));
	expect(!memcmp(ours->receive, theirs->send, SHAKE_KEY));
}

/* All is well from now on: within 40 s all paths are alive at both ends. */
static void all_is_well(void)
{
	struct shake_path *here;

	slab_refuses = false;
	world.no_sockets = GRANTED;
	shake_forget_all(false);
	forget_paces(LEADER);
	if (run.exhausted && run.auth)
		set_key(LEADER, run.key[LEADER]);
	else if (run.exhausted)
		boot(LEADER);	/* no key can end its sessions */
	if (run.exhausted || run.key[AGENT] != run.key[LEADER])
		set_key(AGENT, run.key[LEADER]);
	for (u8 i = 0; i < LINKS; i++) {
		struct link *link = &world.links[i];

		link->cut[0] = false;
		link->cut[1] = false;
		link->delay = 20 * USEC_PER_MSEC;
		if (!(link->dev.flags & IFF_UP) || !link->dev.net)
			change_device(&link->dev, 0);
	}
	for (u8 who = LEADER; who <= AGENT; who++) {
		if (!world_dev(who)->net)
			boot(who);
		if (who == AGENT && !world_dev(AGENT)->sock6)
			world_stop(AGENT);
		world_open(who);
	}
	if (!peer_of(AGENT) || !run.auth)
		add_peer();
	change_settings(LEADER, 1 | 16);
	for (u8 i = 1; i <= LINKS; i++) {
		set_path(i, 0);
		here = shake_path(peer_of(LEADER), i);
		if (!here->sock)
			shake_path_open(here);
	}
	check();
	run.events = 20 * MOST_EVENTS;
	talk(WELL_US);
	expect(run.events);
	for (u8 i = 1; i <= LINKS; i++)
		check_well(shake_path(peer_of(LEADER), i));
}

int fuzz(const u8 *octets, size_t length)
{
	struct input in = { octets, length };
	u8 kind;

	memset(&run, 0, sizeof(run));
	shake_asleep = false;
	world_begin();
	kind = next8(&in);
	run.auth = kind & 7;
	run.public = run.auth && (kind & 7) >= 6;
	/* not often: it takes time */
	run.talks[LEADER] = kind >> 3 == 2 || kind >> 3 == 3;
	run.talks[AGENT] = kind >> 3 == 1 || kind >> 3 == 3;
	run.events = MOST_EVENTS;
	boot(AGENT);
	boot(LEADER);
	check();
	for (u32 steps = 0; in.length && steps < MOST_STEPS; steps++)
		step(&in);
	all_is_well();
	world_end();
	return 0;
}
