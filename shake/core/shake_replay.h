/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which packets of a SHAKE session were received: a sliding window of counters, after
 * RFC 6479. A packet carries the low 32 of a counter's 64 bits.
 *
 * Counter 0 is never taken: the session's READY has it, and is checked otherwise.
 */
#ifndef _APOGEE_SHAKE_REPLAY_H
#define _APOGEE_SHAKE_REPLAY_H

#include <apogee/int.h>

#define SHAKE_REPLAY_WORDS	128U
/* Counters this far behind the newest, or farther, are refused: a word is being cleared. */
#define SHAKE_REPLAY_WINDOW	8128U
/* No packet is sent with this counter or a higher one. */
#define SHAKE_COUNTER_LIMIT	(1ULL << 62)

/**
 * struct shake_replay - counters received; all zero at the start
 * @newest: the highest
 * @seen: a bit for each counter, by its low bits
 */
struct shake_replay {
	u64 newest;
	u64 seen[SHAKE_REPLAY_WORDS];
};

/**
 * shake_replay_full() - the counter of a packet
 * @r: counters received
 * @low: its low 32 bits
 *
 * Return: of the counters with these low bits the one nearest to the newest received,
 * never below 0.
 */
static inline u64 shake_replay_full(const struct shake_replay *r, u32 low)
{
	u32 ahead = low - (u32)r->newest;
	u32 behind = (u32)r->newest - low;

	if (ahead <= behind || behind > r->newest)
		return r->newest + ahead;
	return r->newest - behind;
}

/**
 * shake_replay_check() - whether a packet may be taken
 * @r: counters received
 * @counter: of the packet
 *
 * Return: false if it was received before, or if it is too old to know.
 */
static inline bool shake_replay_check(const struct shake_replay *r, u64 counter)
{
	if (!counter || counter >= SHAKE_COUNTER_LIMIT)
		return false;
	if (counter > r->newest)
		return true;
	if (r->newest - counter >= SHAKE_REPLAY_WINDOW)
		return false;
	return !(r->seen[counter / 64 % SHAKE_REPLAY_WORDS] >> (counter % 64) & 1);
}

/**
 * shake_replay_update() - a packet was received, and its tag was right
 * @r: counters received
 * @counter: of the packet; shake_replay_check() said true
 */
static inline void shake_replay_update(struct shake_replay *r, u64 counter)
{
	u64 word = counter / 64, at = r->newest / 64;
	u32 i, clear;

	if (counter > r->newest) {
		clear = min_t(u64, word - at, SHAKE_REPLAY_WORDS);
		for (i = 1; i <= clear; i++)
			r->seen[(at + i) % SHAKE_REPLAY_WORDS] = 0;
		r->newest = counter;
	}
	r->seen[word % SHAKE_REPLAY_WORDS] |= 1ULL << (counter % 64);
}

/**
 * shake_replay_behind() - which packets before one were received
 * @r: counters received
 * @counter: of a packet that was received
 *
 * Return: bit i: the packet @counter - 64 + i was received, or it is not known, or none has
 * that number.
 */
static inline u64 shake_replay_behind(const struct shake_replay *r, u64 counter)
{
	u64 first = counter - 64, low, high;

	if (!counter || counter > r->newest || r->newest - counter + 64 >= SHAKE_REPLAY_WINDOW)
		return U64_MAX;
	if (counter <= 64)	/* 0 is never taken, and nothing comes before it */
		return r->seen[0] << (64 - counter) | ((2ULL << (64 - counter)) - 1);
	low = r->seen[first / 64 % SHAKE_REPLAY_WORDS];
	high = r->seen[counter / 64 % SHAKE_REPLAY_WORDS];
	return first % 64 ? low >> (first % 64) | high << (64 - first % 64) : low;
}

#endif /* _APOGEE_SHAKE_REPLAY_H */
