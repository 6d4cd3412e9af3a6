/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SSCOP, ITU-T Q.2110's assured data transfer with segmentation, after A. Hara,
 * A. Idoue, T. Kato and K. Suzuki, "A Study on High Speed TCP Communication using SSCOP
 * over Radio Link with Packet Losses": the protocol as machines that know no packet
 * buffer, no timer and no lock.
 *
 * The owner of a connection (struct sscop) tells it what happens, with the time, and
 * asks it what to do:
 *
 *   sscop_receive()   a PDU came in
 *   sscop_deliver()   the next segment in order, until there is none
 *   sscop_deliver_datagram()   the next packet of a class, until there is none
 *   sscop_next()      what to send next, until there is nothing
 *   sscop_deadline()  when to ask again if nothing happens before
 *
 * The owner serializes the calls. Times are microseconds of a clock that never goes
 * back. Segments are opaque: the transmitter's are complete PDUs, kept until they are
 * acknowledged; the receiver's are whatever the owner keeps of an SD.
 */
#ifndef _SSCOP_H
#define _SSCOP_H

#include <apogee/int.h>

#include "classes.h"
#include "clock.h"
#include "pdu.h"

#define SSCOP_WINDOW_MAX 65536U		/* SDs */
#define SSCOP_LINK_ID_MAX 65535
#define SSCOP_KEEPALIVE_US 1000000U	/* an idle link is polled this often */
#define SSCOP_POLL_TIME_MAX 10000000U
#define SSCOP_NO_RESPONSE_US 60000000U	/* no STAT: the connection is given up */
#define SSCOP_BEGIN_US 100000U		/* BGN is sent again after this time, then twice... */
#define SSCOP_BEGIN_MAX_US 1000000U	/* ... as long, up to this, and in silence ... */
#define SSCOP_BEGIN_LATER_US 2000000U	/* ... up to this: 300 bit/s take 1.6 s for a frame */
#define SSCOP_ANSWER_US 10000U		/* control PDUs are answered at most this often */
#define SSCOP_CONTRADICTIONS 8		/* in a row lead to error recovery (ER) */
#define SSCOP_GAPS 8			/* that one USTAT reports at most */

/**
 * struct sscop_config - what a user sets; may change at any time but for @window
 * @window: SDs that the receiver stores and the transmitter keeps, 1 to SSCOP_WINDOW_MAX
 * @poll_bytes: a POLL after so many octets of SDs, but not more than 16 in a round trip of
 *	the link's time, and not more than one in a millisecond until an eighth of the window was
 *	sent; 0: no such rule
 * @poll_sds: a POLL after so many SDs; 0: no such rule
 * @poll_time: us without a POLL while SDs are unacknowledged after which one is sent,
 *	1 to SSCOP_POLL_TIME_MAX; at least a quarter of the round-trip time is waited
 * @poll_idle: us after the last POLL at which one is sent if SDs are unacknowledged and
 *	there is nothing else to send; when the link is quiet, SDs that were lost before
 *	are then repeated once per POLL. 0: neither
 * @ustat: whether the receiver sends USTATs
 * @clock: whether SDs are clocked by what STATs tell of the link; only with @poll_bytes
 * @persist: us after which a packet of the bounded class is given up
 * @link_id: BGN and BGAK of links with another are not heard, 0 to SSCOP_LINK_ID_MAX; only changed
 *	in SSCOP_IDLE
 */
struct sscop_config {
	u32 window;
	u32 poll_bytes;
	u32 poll_sds;
	u32 poll_time;
	u32 poll_idle;
	bool ustat;
	bool clock;
	u32 persist;
	u32 link_id;
};

/**
 * struct sscop_owner - what the owner of a connection provides
 * @free: a segment given to the machines is no longer needed
 * @outcome: an SD of @frame octets (PDU) was found to be lost or to have arrived; may
 *	be NULL
 * @random: a number that an outsider cannot guess
 */
struct sscop_owner {
	void (*free)(void *owner, void *segment);
	void (*outcome)(void *owner, u32 frame, bool lost);
	u32 (*random)(void *owner);
};

/* counts since sscop_init() */
struct sscop_counts {
	u64 sd_sent;		/* first transmissions */
	u64 sd_again;		/* retransmissions ... */
	u64 sd_repeated;	/* ... of which in idle time, not known to be needed */
	u64 sd_bytes;		/* octets of the PDUs of both */
	u64 sd_received;	/* SDs taken, each once */
	u64 poll_sent;
	u64 poll_received;
	u64 stat_sent;
	u64 stat_received;
	u64 ustat_sent;
	u64 ustat_received;
	u64 control_sent;	/* BGN, END, RS, ER and their answers */
	u64 control_received;
	u64 window_closed;	/* times the peer's window kept a new SD back */
	u64 began;		/* connections established */
	u64 resets;		/* times that data may have been lost, all causes ... */
	u64 reset_restart;	/* ... the peer began anew */
	u64 reset_end;		/* ... the peer ended the connection */
	u64 reset_silence;	/* ... no STAT for SSCOP_NO_RESPONSE_US */
	u64 reset_asked;	/* ... RS, from here or from the peer */
	u64 reset_error;	/* ... ER, from here or from the peer */
	struct sscop_class_counts classes[SSCOP_CLASSES];
	u64 udstat_sent;
	u64 udstat_received;
	u64 dropped[SSCOP_VERDICTS];	/* PDUs, by cause; [SSCOP_TAKEN] counts none */
};

/* What sscop_events() returns, or'ed */
#define SSCOP_EVENT_UP 1	/* the connection is established */
#define SSCOP_EVENT_DOWN 2	/* it is no longer; a new one is being sought */
#define SSCOP_EVENT_RESET 4	/* data under way may be lost: drop partial packets */
#define SSCOP_EVENT_REJECTED 8	/* the peer speaks another version */

enum sscop_state {
	SSCOP_IDLE,		/* not started */
	SSCOP_BEGINNING,	/* BGN sent, nothing agreed */
	SSCOP_CONFIRMING,	/* numbers agreed; the peer's use of them not yet seen */
	SSCOP_READY,		/* data transfer */
	SSCOP_RESYNCING,	/* RS or ER sent, not yet answered */
};

/* an SD that was sent */
struct sscop_tx_slot {
	void *segment;		/* NULL: acknowledged */
	u32 poll;		/* VT(PS) when it was last sent */
	u16 length;		/* octets of the PDU */
	u8 again;		/* times it was resent, up to 255 */
	u8 lost;		/* times it was reported missing, as far as that counts */
	u8 due;			/* of @missing: times it is to be resent */
	bool missing;		/* reported, and not yet resent */
	bool repeated;		/* sent more than once since it was reported */
	bool pushed;		/* sent when a queue may have dropped it */
};

/**
 * struct sscop_tx - the transmitter
 * @slots: SDs from @acked to @next, at sequence number modulo @size
 * @size: number of slots, a power of two, at least the window
 * @acked: VT(A), the oldest SD not acknowledged
 * @next: VT(S), the next new SD's number
 * @limit: VT(MS), the first number that the peer does not accept
 * @poll: VT(PS), the last POLL's number
 * @poll_acked: VT(PA), the newest POLL's number that a STAT answered
 * @stat_poll: the POLL of the last STAT taken
 * @stat_end: where that one's list ended
 * @ustat_end: where those of USTATs ended
 * @missing: SDs reported missing and not yet resent
 * @missing_from: none of them is earlier than this one
 * @again_end: those sent again are earlier
 * @repeat_from: those before were repeated since the last POLL, or need not be
 * @pushed_end: what becomes of those before says nothing of the radio
 * @bytes_since: octets of SDs sent since the last POLL, but for those repeated
 * @sds_since: SDs sent since the last POLL, but for those repeated
 * @repeated: SDs were repeated in idle time since the last POLL
 * @withheld: they would have been, but for the silence
 * @may_repeat: SDs may be repeated in idle time, until the next POLL
 * @repeat_at: us, when the last POLL behind which they may was sent
 * @polled_at: us, when the last POLL was sent
 * @timed_poll: the POLL whose round trip is measured
 * @timed_at: us, when it was sent; 0: none
 * @paused: the device below has paused since the last STAT
 * @srtt: us, smoothed round-trip time from POLL to STAT; 0: not known
 * @spacing: us between POLLs at least, where the clock is used
 * @poll_now: a POLL is due whatever the rules say
 * @closed: a new SD had to wait for the window, or for memory; counted once per closing
 */
struct sscop_tx {
	struct sscop_tx_slot *slots;
	u32 size;
	u32 acked;
	u32 next;
	u32 limit;
	u32 poll;
	u32 poll_acked;
	u32 stat_poll;
	u32 stat_end;
	u32 ustat_end;
	u32 missing;
	u32 missing_from;
	u32 again_end;
	u32 pushed_end;
	u32 repeat_from;
	u32 bytes_since;
	u32 sds_since;
	bool repeated;
	bool withheld;
	bool may_repeat;
	u64 repeat_at;
	u64 polled_at;
	u32 timed_poll;
	u64 timed_at;
	bool paused;
	u32 srtt;
	u32 spacing;
	bool poll_now;
	bool closed;
};

/**
 * struct sscop_rx - the receiver
 * @slots: SDs received from @next on, at sequence number modulo @size; NULL: missing
 * @size: number of slots, a power of two, at least the window
 * @window: SDs accepted from @next on
 * @next: VR(R), the next SD to be delivered
 * @high: VR(H), the first number not known to have been sent
 * @poll: N(PS) of the newest POLL taken
 * @stat_due: a STAT is to be sent for @poll
 * @stat_from: the SD at which the STAT, or its next part, begins
 * @gaps: number of gaps found since the last USTAT
 * @gap: their first missing SD and the first behind
 * @debt: octets of SDs that go before the next STAT or USTAT, if there are any
 */
struct sscop_rx {
	void **slots;
	u32 size;
	u32 window;
	u32 next;
	u32 high;
	u32 poll;
	bool stat_due;
	u32 stat_from;
	u32 gaps;
	u32 gap[SSCOP_GAPS][2];
	u32 debt;
};

/**
 * struct sscop - a connection
 * @config: what the user set
 * @owner: the owner's functions
 * @context: the owner's, their first argument
 * @state: an enum sscop_state
 * @events: SSCOP_EVENT_* not yet fetched
 * @mine: this end's connection number
 * @theirs: the peer's
 * @offer: the number under which a peer that begins anew is answered
 * @epoch: N(SQ) of the connection
 * @resync: SSCOP_RS or SSCOP_ER in SSCOP_RESYNCING
 * @seal_out: seal of PDUs sent
 * @seal_in: seal of PDUs received
 * @answer: control PDU that is to be sent, 0: none
 * @answer_from: its connection numbers
 * @answer_to: see @answer_from
 * @answer_sq: its N(SQ)
 * @answered_at: us, when a control PDU was last answered; 0: never
 * @credit: window of the peer's receiver
 * @retry_at: us, when the state's control PDU is sent (again)
 * @retry_wait: us, what follows that
 * @soon: the owner may have more to send in a moment: this is no time of idleness
 * @seek: BGN is to be sent behind a repeated BGAK
 * @confirmed: BGAK was sent, in SSCOP_CONFIRMING
 * @came: frames that came in until the connection was used, as far as these are counted
 * @came_at: us, when the last of these came
 * @apart: us, least time between two of them
 * @heard_at: us, when a STAT was last taken: the peer hears and is heard
 * @contradictions: PDUs in a row that contradicted the state: of SDs and POLLs, of STATs
 *	and USTATs
 * @clock: the link's; what is known is kept when the numbering begins anew
 * @classes: SSCOP_CLASSES of the owner's, all zero when they are set, in SSCOP_IDLE; NULL: all is
 *	assured
 * @classed: the peer knows classes, too
 * @class_debt: octets of UDs that were sent before SDs that wait
 * @tx: the transmitter
 * @rx: the receiver
 * @counts: counters
 */
struct sscop {
	struct sscop_config config;
	const struct sscop_owner *owner;
	void *context;
	enum sscop_state state;
	u32 events;
	u32 mine;
	u32 theirs;
	u32 offer;
	u8 epoch;
	u8 resync;
	u32 seal_out;
	u32 seal_in;
	u8 answer;
	u8 answer_sq;
	u32 answer_from;
	u32 answer_to;
	u64 answered_at;
	u32 credit;
	u64 retry_at;
	u32 retry_wait;
	bool soon;
	bool seek;
	bool confirmed;
	u32 came;
	u64 came_at;
	u32 apart;
	u64 heard_at;
	u32 contradictions[2];
	struct sscop_clock clock;
	struct sscop_class *classes;
	bool classed;
	u32 class_debt;
	struct sscop_tx tx;
	struct sscop_rx rx;
	struct sscop_counts counts;
};

/* What the link below takes */
enum sscop_room {
	SSCOP_FULL,		/* nothing */
	SSCOP_ROOM,		/* SDs, behind others that it has not sent yet */
	SSCOP_QUIET,		/* SDs, at once: it has nothing else to send */
};

/* What sscop_next() asks for */
enum sscop_action {
	SSCOP_NOTHING,		/* nothing to send before sscop_deadline() */
	SSCOP_CONTROL,		/* send the octets */
	SSCOP_RESEND,		/* send the segment again, unchanged */
	SSCOP_NEW,		/* cut the next segment: sscop_encode_sd(), sscop_sent() */
	SSCOP_DATAGRAM,		/* send a packet of a class: sscop_encode_ud() */
};

/**
 * struct sscop_output - what is to be sent
 * @length: SSCOP_CONTROL: octets of the PDU; SSCOP_RESEND: of the segment's
 * @octets: SSCOP_CONTROL: the PDU
 * @segment: SSCOP_RESEND: the segment; SSCOP_DATAGRAM: the packet, or NULL for a new one, of
 *	which sscop_datagram_sent() is then told
 * @seq: SSCOP_RESEND, SSCOP_NEW: its N(S)
 * @ud: SSCOP_DATAGRAM: what stands in front of the packet
 */
struct sscop_output {
	u32 length;
	u8 octets[SSCOP_CONTROL_MAX];
	void *segment;
	u32 seq;
	struct sscop_pdu ud;
};

/* connection.c */
u32 sscop_slots(u32 window);
void sscop_init(struct sscop *s, const struct sscop_config *config,
		const struct sscop_owner *owner, void *context,
		struct sscop_tx_slot *tx_slots, void **rx_slots);
void sscop_start(struct sscop *s, u64 now);
bool sscop_stop(struct sscop *s, struct sscop_output *output);
void sscop_resync(struct sscop *s, u64 now);
void sscop_resume(struct sscop *s, u64 now);
u32 sscop_events(struct sscop *s);
enum sscop_verdict sscop_receive(struct sscop *s, const struct sscop_pdu *pdu,
				 void *segment, u64 now);
enum sscop_action sscop_next(struct sscop *s, u64 now, enum sscop_room room, bool more,
			     struct sscop_output *output);
bool sscop_waits(const struct sscop *s, bool more);
u64 sscop_deadline(const struct sscop *s, enum sscop_room room, bool more);
u64 sscop_keepalive(const struct sscop *s);

/* transmitter.c */
void sscop_sent(struct sscop *s, void *segment, u32 length, u64 now);
u32 sscop_outstanding(const struct sscop *s);
void sscop_tx_close(struct sscop *s);
void sscop_tx_refused(struct sscop *s);
bool sscop_tx_is_clocked(const struct sscop *s);

/* receiver.c */
void *sscop_deliver(struct sscop *s);

/* classes.c */
u32 sscop_class_copies(const struct sscop_class_losses *losses);
void sscop_datagram_sent(struct sscop *s, u32 class, void *segment, u32 length, u64 now);

/* class_receiver.c */
void *sscop_deliver_datagram(struct sscop *s, u64 now);

#endif /* _SSCOP_H */
