// SPDX-License-Identifier: GPL-2.0
/*
 * Contracts of shake_holes.h, proven by WP as those of contracts.c: the list of holes, of any
 * length that fits into its room, stays in it, whatever numbers come.
 */
#include "proof.h"

/* What was learned is within its limits, the list in the caller's room. loops.txt uses these. */
#define HOLES_PATIENT(h)	(\forall integer p; 0 <= p < 8 ==> (h)->patience[p] <= 4000000)
#define HOLES_LEARNED(h)	((h)->late + (h)->lost < 32 && (h)->depth <= 200 && \
	(h)->lateness <= 4000000 && HOLES_PATIENT(h))
#define HOLES_ROOM(h)		((h)->hole + (0 .. (h)->room - 1))
#define HOLES_SANE(h)		((h)->count <= (h)->room <= 256 && HOLES_LEARNED(h))
#define HOLES(h)		(\valid(h) && \valid(HOLES_ROOM(h)) && HOLES_SANE(h) && \
	\separated(h, HOLES_ROOM(h)))
#define HOLES_READ(h)		(\valid_read(h) && \valid_read(HOLES_ROOM(h)) && HOLES_SANE(h))
#define HOLES_COUNTS(h)		(HOLES(h) && \valid(counts) && \separated(h, counts) && \
	\separated(HOLES_ROOM(h), counts))
/* The room is the same. */
#define HOLES_STAY(h)		((h)->hole == \old((h)->hole) && (h)->room == \old((h)->room))
#define HOLES_KEPT(h)		(HOLES_STAY(h) && HOLES_SANE(h))

/* The same in a loop. */
#define HOLES_WERE(h)		\at(h->hole, Pre)[0 .. \at(h->room, Pre) - 1]
#define HOLES_SAME(h)		((h)->hole == \at(h->hole, Pre) && (h)->room == \at(h->room, Pre))
#define HOLES_APART(h)		(\forall integer k; 0 <= k < \at(h->room, Pre) ==> \
	\separated(h, \at(h->hole, Pre) + k))
#include <shake/core/shake_holes.h>

/* --- proven in intervals.c --- */
/*@ requires \valid(h);
  @ assigns *h;
  @ ensures h->hole == hole && h->room <= 256 && h->count == 0;
  @ ensures room <= 256 ==> h->room == room;
  @ ensures HOLES_LEARNED(h) && !h->started;
  @*/
static inline void shake_holes_init(struct shake_holes *h, struct shake_hole *hole, u32 room);

/* --- times wrap --- */

/*@ assigns \nothing;
  @ ensures \result ==> a != b;
  @*/
static inline bool shake_before(u32 a, u32 b);

/*@ assigns \nothing;
  @ ensures \result ==> a != b;
  @*/
static inline bool shake_is_far(u32 a, u32 b);

/*@ requires \valid(number);
  @ assigns *number;
  @ ensures *number == \old(*number) || *number == to;
  @*/
static inline void shake_raise(u32 *number, u32 to);

/*@ requires \valid(count);
  @ assigns *count;
  @ ensures *count == \old(*count) + 1 || *count == \old(*count) == 0xffff;
  @*/
static inline void shake_count_up(u16 *count);

/*@ requires \valid(e);
  @ assigns e->known;
  @*/
static inline void shake_ends_forget(struct shake_ends *e, u32 high);

/*@ requires \valid(e);
  @ assigns e->end[0 .. 7], e->known;
  @ ensures e->known == 255;
  @ ensures \forall integer i; 0 <= i < 8 ==> e->end[i] == number;
  @*/
static inline void shake_ends_begin(struct shake_ends *e, u32 number);

/*@ requires \valid_read(e) && path < 8;
  @ assigns \nothing;
  @*/
static inline bool shake_ends_knows(const struct shake_ends *e, u8 path);

/*@ requires \valid(e) && path < 8;
  @ assigns e->end[path], e->known;
  @ ensures e->end[path] == to || e->end[path] == \old(e->end[path]);
  @*/
static inline void shake_ends_raise(struct shake_ends *e, u8 path, u32 to);

/*@ requires \valid(s) && \valid(m_al) && \separated(s, m_al) && path < 8;
  @ assigns *s, *m_al;
  @ ensures s->started && (syn ==> \result == SHAKE_NO_MAL);
  @*/
static inline enum shake_mal shake_sends_next(struct shake_sends *s, u8 path, u32 seq, u32 end,
					      bool syn, u32 *m_al);

/*@ requires \valid_read(h);
  @ assigns \nothing;
  @ ensures h->room < 256 && h->count <= h->room ==> (\result <==> h->room < h->count + 6);
  @*/
static inline bool shake_holes_wants_room(const struct shake_holes *h);

/*@ requires HOLES(h) && h->count <= room <= 256 && \valid(hole + (0 .. room - 1));
  @ requires \separated(h, hole + (0 .. room - 1));
  @ requires \separated(HOLES_ROOM(h), hole + (0 .. room - 1));
  @ assigns h->hole, h->room, hole[0 .. room - 1];
  @ ensures h->hole == hole && h->room == room && HOLES_SANE(h);
  @*/
static inline void shake_holes_move(struct shake_holes *h, struct shake_hole *hole, u32 room);

/*@ requires HOLES(h);
  @ assigns *h;
  @ ensures HOLES_KEPT(h) && h->count == 0 && h->started;
  @*/
static inline void shake_holes_start(struct shake_holes *h, u32 number, u32 now);

/*@ requires \valid_read(hole);
  @ assigns \nothing;
  @ ensures \result <==> hole->mode != SHAKE_HOLE_UNNEEDED;
  @*/
static inline bool shake_hole_is_open(const struct shake_hole *hole);

/*@ requires HOLES_READ(h);
  @ assigns \nothing;
  @ ensures \result <= h->count;
  @*/
static inline u32 shake_holes_find(const struct shake_holes *h, u32 number);

/*@ requires HOLES_READ(h);
  @ assigns \nothing;
  @ ensures \result <= h->count;
  @ ensures \result < h->count ==> h->hole[\result].mode != SHAKE_HOLE_UNNEEDED;
  @*/
static inline u32 shake_holes_lowest(const struct shake_holes *h);

/*@ requires HOLES(h);
  @ assigns h->received;
  @*/
static inline void shake_holes_set_received(struct shake_holes *h);

/*@ requires HOLES_COUNTS(h) && at <= h->count;
  @ assigns h->count, h->hole[0 .. h->room - 1], counts->holes_refused;
  @ ensures h->count == \old(h->count) + (\result ? 1 : 0) && h->count <= h->room;
  @ ensures \result <==> \old(h->count) < h->room;
  @*/
static inline bool shake_holes_insert(struct shake_holes *h, u32 at, u32 first, u32 end,
				      u8 mode, struct shake_flow_counts *counts);

/*@ requires HOLES_COUNTS(h) && at < h->count;
  @ assigns h->count, h->hole[0 .. h->room - 1], counts->holes_refused;
  @ ensures h->count == \old(h->count) + (\result ? 1 : 0) && h->count <= h->room;
  @*/
static inline bool shake_holes_cut(struct shake_holes *h, u32 at, u32 number,
				   struct shake_flow_counts *counts);

/*@ requires \valid(h) && HOLES_LEARNED(h) && (which == &h->late || which == &h->lost);
  @ assigns h->late, h->lost;
  @ ensures HOLES_LEARNED(h);
  @*/
static inline void shake_holes_learn(struct shake_holes *h, u16 *which);

/*@ requires \valid_read(h) && \valid(hole) && \valid(counts) && \separated(h, hole, counts);
  @ assigns hole->mode, hole->mending, hole->since, counts->holes_lost;
  @ ensures hole->mode == SHAKE_HOLE_NEEDED;
  @*/
static inline void shake_hole_lose(const struct shake_holes *h, struct shake_hole *hole,
				   struct shake_flow_counts *counts);

/*@ requires HOLES_COUNTS(h);
  @ assigns h->count, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h) && h->count >= \old(h->count);
  @*/
static inline void shake_holes_mark(struct shake_holes *h, u32 end,
				    struct shake_flow_counts *counts);

/*@ requires HOLES_COUNTS(h);
  @ assigns h->count, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h) && h->count >= \old(h->count);
  @*/
static inline void shake_holes_clear(struct shake_holes *h, u8 alive,
				     struct shake_flow_counts *counts);

/*@ requires HOLES_COUNTS(h) && path < 8;
  @ assigns h->kept, h->count, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h);
  @*/
static inline void shake_holes_lose_path(struct shake_holes *h, u8 path, u8 alive,
					 struct shake_flow_counts *counts);

/*@ requires \valid(h) && HOLES_LEARNED(h);
  @ assigns h->depth;
  @ ensures HOLES_LEARNED(h);
  @ ensures depth <= \old(h->depth) ==> depth <= h->depth;
  @*/
static inline void shake_holes_learn_depth(struct shake_holes *h, u32 depth);

/*@ requires \valid(h) && HOLES_LEARNED(h);
  @ assigns h->lateness;
  @ ensures HOLES_LEARNED(h) && h->lateness >= 1;
  @*/
static inline void shake_holes_learn_lateness(struct shake_holes *h, u32 us);

/*@ requires \valid_read(h) && h->lateness <= 4000000;
  @ assigns \nothing;
  @ ensures 100000 <= \result <= 8100000;
  @*/
static inline u32 shake_holes_waits(const struct shake_holes *h);

/*@ requires \valid_read(h) && \valid_read(hole) && h->lateness <= 4000000;
  @ assigns \nothing;
  @*/
static inline bool shake_hole_is_overdue(const struct shake_holes *h,
					 const struct shake_hole *hole);

/*@ requires \valid_read(h) && path < 8 && HOLES_PATIENT(h);
  @ assigns \nothing;
  @ ensures 1 <= \result <= 4000000;
  @*/
static inline u32 shake_holes_patience(const struct shake_holes *h, u8 path);

/*@ requires \valid_read(h) && HOLES_PATIENT(h);
  @ assigns \nothing;
  @ ensures \result <= 4000000;
  @*/
static inline u32 shake_holes_patience_of(const struct shake_holes *h, u8 paths);

/*@ requires \valid_read(hole);
  @ assigns \nothing;
  @ ensures hole->asked ==> \result;
  @*/
static inline bool shake_hole_is_told(const struct shake_hole *hole);

/*@ requires \valid_read(h) && \valid_read(hole) && HOLES_PATIENT(h);
  @ assigns \nothing;
  @ ensures \result ==> hole->mending && hole->mode == SHAKE_HOLE_NEEDED && !hole->asked;
  @*/
static inline bool shake_hole_mends(const struct shake_holes *h, const struct shake_hole *hole);

/*@ requires \valid(h) && HOLES_LEARNED(h);
  @ assigns h->patience[0 .. 7];
  @ ensures HOLES_LEARNED(h);
  @*/
static inline void shake_holes_learn_patience(struct shake_holes *h, u8 paths, u32 us);

/*@ requires \valid(h) && \valid(hole) && \valid(counts) && \separated(h, hole, counts);
  @ requires HOLES_LEARNED(h);
  @ assigns h->patience[0 .. 7], h->depth, h->lateness, h->late, h->lost, hole->mode, hole->dupack,
  @	    *counts;
  @ ensures HOLES_LEARNED(h) && hole->mode == SHAKE_HOLE_UNNEEDED;
  @ ensures hole->dupack <= \old(hole->dupack);
  @*/
static inline void shake_holes_filled(struct shake_holes *h, struct shake_hole *hole,
				      enum shake_come come, struct shake_flow_counts *counts);

/*@ requires HOLES_COUNTS(h) && at < h->count;
  @ assigns *h, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h) && \old(h->count) <= h->count <= \old(h->count) + 1;
  @*/
static inline void shake_holes_fill_one(struct shake_holes *h, u32 at, u32 seq, u32 end,
					enum shake_come come,
					struct shake_flow_counts *counts);

/*@ requires HOLES_COUNTS(h);
  @ assigns *h, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h) && h->count >= \old(h->count);
  @*/
static inline bool shake_holes_fill(struct shake_holes *h, u32 seq, u32 end,
				    enum shake_come come, struct shake_flow_counts *counts);

/*@ requires HOLES_COUNTS(h);
  @ assigns h->count, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h);
  @*/
static inline void shake_holes_open(struct shake_holes *h, u32 seq,
				    struct shake_flow_counts *counts);

/*@ requires HOLES(h) && \valid_read(a) && a->path < 8;
  @ requires \separated(a, h) && \separated(a, HOLES_ROOM(h));
  @ assigns h->hole[0 .. h->room - 1];
  @*/
static inline void shake_holes_show(struct shake_holes *h, const struct shake_arrival *a,
				    u32 from);

/*@ requires HOLES_COUNTS(h);
  @ assigns h->count, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h);
  @*/
static inline void shake_holes_miss(struct shake_holes *h, u32 first, u32 end,
				    struct shake_flow_counts *counts);

/*@ requires HOLES_COUNTS(h) && \valid_read(a) && a->path < 8;
  @ requires \separated(a, h) && \separated(a, counts) && \separated(a, HOLES_ROOM(h));
  @ assigns *h, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h);
  @*/
static inline void shake_holes_take_path(struct shake_holes *h, const struct shake_arrival *a,
					 struct shake_flow_counts *counts);

/*@ requires HOLES(h);
  @ assigns h->count, h->received, h->hole[0 .. h->room - 1];
  @ ensures HOLES_KEPT(h) && h->count <= \old(h->count);
  @ ensures \old(h->count) > 0 && ack == \old(h->hole[0].end) ==> h->count < \old(h->count);
  @*/
static inline void shake_holes_delete(struct shake_holes *h, u32 ack);

/*@ requires HOLES(h);
  @ assigns *h, h->hole[0 .. h->room - 1];
  @ ensures HOLES_KEPT(h) && h->count <= \old(h->count);
  @*/
static inline void shake_holes_forget(struct shake_holes *h, u32 end);

/*@ requires HOLES(h);
  @ assigns h->count, h->hole[0 .. h->room - 1];
  @ ensures HOLES_KEPT(h) && h->count <= \old(h->count);
  @*/
static inline void shake_holes_compact(struct shake_holes *h, bool all);

/*@ requires HOLES(h);
  @ assigns h->count, h->hole[0 .. h->room - 1];
  @ ensures HOLES_KEPT(h) && h->count <= \old(h->count);
  @*/
static inline void shake_holes_make_room(struct shake_holes *h);

/*@ requires \valid(h) && HOLES_LEARNED(h);
  @ assigns h->late, h->lost, h->depth, h->lateness;
  @ ensures HOLES_LEARNED(h);
  @*/
static inline void shake_holes_learn_needless(struct shake_holes *h);

/*@ requires \valid_read(h);
  @ assigns \nothing;
  @ ensures \result == SHAKE_HOLES_PASS || \result == SHAKE_HOLES_DROP;
  @*/
static inline u8 shake_holes_choose(const struct shake_holes *h);

/*@ requires \valid_read(h) && HOLES_LEARNED(h);
  @ assigns \nothing;
  @ ensures threshold <= 65535 ==> threshold <= \result <= threshold + 400;
  @*/
static inline u32 shake_holes_threshold(const struct shake_holes *h, u32 threshold);

/*@ requires \valid(hole) && \valid(counts) && \separated(hole, counts);
  @ assigns *hole, *counts;
  @ ensures \result == SHAKE_PASS || \result == SHAKE_DROP || \result == SHAKE_PASS_RETRANSMIT;
  @ ensures \result == SHAKE_PASS_RETRANSMIT ==> !\old(hole->asked) && hole->asked;
  @ ensures \result == SHAKE_DROP ==> mode != SHAKE_HOLES_PASS && \old(hole->cancel) < threshold;
  @*/
static inline enum shake_fate shake_hole_undecided(struct shake_hole *hole, u8 mode,
						   u32 threshold,
						   struct shake_flow_counts *counts);

/*@ requires \valid(hole) && \valid(counts) && \separated(hole, counts);
  @ assigns hole->dupack, hole->relay, *counts;
  @ ensures \result == SHAKE_PASS || \result == SHAKE_DROP;
  @ ensures \result == SHAKE_DROP ==> mode != SHAKE_HOLES_PASS &&
  @	    hole->dupack == \old(hole->dupack) - 1;
  @*/
static inline enum shake_fate shake_hole_unneeded(struct shake_hole *hole, u8 mode,
						  struct shake_flow_counts *counts);

/*@ requires \valid(hole) && \valid(counts) && \separated(hole, counts);
  @ assigns hole->asked, counts->repaired;
  @ ensures \result == SHAKE_PASS || \result == SHAKE_PASS_RETRANSMIT;
  @ ensures \result == SHAKE_PASS_RETRANSMIT ==> !\old(hole->asked) && hole->asked;
  @*/
static inline enum shake_fate shake_hole_needed(struct shake_hole *hole, u8 mode,
						struct shake_flow_counts *counts);

/*@ requires \valid_read(h) && \valid(hole) && \valid(counts) && \separated(h, hole, counts);
  @ requires HOLES_LEARNED(h);
  @ assigns *hole, *counts;
  @ ensures \result == SHAKE_PASS || \result == SHAKE_DROP || \result == SHAKE_PASS_RETRANSMIT;
  @ ensures \result == SHAKE_PASS_RETRANSMIT ==> !\old(hole->asked) && hole->asked;
  @ ensures mode == SHAKE_HOLES_PASS ==> \result != SHAKE_DROP;
  @*/
static inline enum shake_fate shake_holes_judge(const struct shake_holes *h,
						struct shake_hole *hole, u8 mode,
						u32 threshold,
						struct shake_flow_counts *counts);

/*@ requires \valid_read(hole) && \valid_read(a);
  @ assigns \nothing;
  @ ensures \result ==> a->sack;
  @*/
static inline bool shake_hole_explains(const struct shake_hole *hole,
				       const struct shake_dupack *a);

/*@ requires HOLES_READ(h);
  @ assigns \nothing;
  @ ensures \result ==> h->count >= 3;
  @*/
static inline bool shake_holes_are_many(const struct shake_holes *h);

/*@ requires HOLES_READ(h) && \valid_read(hole);
  @ assigns \nothing;
  @ ensures \result ==> mode == SHAKE_HOLES_DROP || mode == SHAKE_HOLES_AUTO;
  @*/
static inline bool shake_hole_hides(const struct shake_holes *h, const struct shake_hole *hole,
				    u8 mode);

/*@ requires HOLES(h) && \valid_read(a) && \separated(a, h) && \separated(a, HOLES_ROOM(h));
  @ assigns *h, h->hole[0 .. h->room - 1];
  @ ensures HOLES_KEPT(h) && h->count <= \old(h->count) && h->has_acked;
  @*/
static inline void shake_holes_take_ack(struct shake_holes *h, const struct shake_dupack *a);

/*@ requires HOLES_COUNTS(h) && \valid_read(a) && \separated(a, h) && \separated(a, counts);
  @ requires \separated(a, HOLES_ROOM(h));
  @ assigns *h, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h) && h->count <= \old(h->count);
  @ ensures mode == SHAKE_HOLES_PASS ==> \result != SHAKE_DROP;
  @ ensures \result == SHAKE_DROP || \result == SHAKE_PASS_UNSACKED ==> a->pure && !a->dsack;
  @*/
static inline enum shake_fate shake_holes_ack(struct shake_holes *h,
					      const struct shake_dupack *a, u8 mode,
					      u32 threshold,
					      struct shake_flow_counts *counts);

/* --- times wrap, goals are split --- */

/*@ requires HOLES_COUNTS(h) && \valid_read(a) && a->path < 8;
  @ requires \separated(a, h) && \separated(a, counts) && \separated(a, HOLES_ROOM(h));
  @ assigns h->count, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h);
  @*/
static inline void shake_holes_compare(struct shake_holes *h, const struct shake_arrival *a,
				       struct shake_flow_counts *counts);

/*@ requires HOLES(h);
  @ assigns h->hole[0 .. h->room - 1];
  @ ensures HOLES_KEPT(h) && h->count == \old(h->count);
  @*/
static inline void shake_holes_expect_dupack(struct shake_holes *h);

/*@ requires HOLES_COUNTS(h) && \valid_read(a) && a->path < 8;
  @ requires \separated(a, h) && \separated(a, counts) && \separated(a, HOLES_ROOM(h));
  @ assigns *h, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h);
  @*/
static inline bool shake_holes_enter(struct shake_holes *h, const struct shake_arrival *a,
				     enum shake_come come, struct shake_flow_counts *counts);

/*@ requires \valid_read(h) && \valid_read(a) && a->path < 8;
  @ assigns \nothing;
  @*/
static inline enum shake_come shake_holes_come(const struct shake_holes *h,
					       const struct shake_arrival *a);

/*@ requires HOLES_COUNTS(h) && \valid_read(a) && a->path < 8;
  @ requires \separated(a, h) && \separated(a, counts) && \separated(a, HOLES_ROOM(h));
  @ assigns *h, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h);
  @*/
static inline void shake_holes_data(struct shake_holes *h, const struct shake_arrival *a,
				    struct shake_flow_counts *counts);

/*@ requires HOLES_COUNTS(h) && \valid_read(segment) && \separated(segment, h);
  @ requires \separated(segment, counts) && \separated(segment, HOLES_ROOM(h));
  @ assigns *h, h->hole[0 .. h->room - 1], *counts;
  @ ensures HOLES_KEPT(h);
  @*/
static inline void shake_holes_arrived(struct shake_holes *h,
				       const struct shake_arrival *segment,
				       struct shake_flow_counts *counts);
