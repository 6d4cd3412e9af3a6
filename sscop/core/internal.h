/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of SSCOP's machines share among each other.
 */
#ifndef _SSCOP_INTERNAL_H
#define _SSCOP_INTERNAL_H

#include <linux/string.h>

#include "sscop.h"

#define SSCOP_UDSTAT_BITS 64U	/* UDs that a UDSTAT tells of */

/* how many packets of a class there are from one to before another; their numbers wrap */
static inline u16 sscop_packets_between(u16 first, u16 next)
{
	return (u16)(next - first);
}

static inline u16 sscop_packet_after(u16 number)
{
	return (u16)(number + 1);
}

/* transmitter.c */
void sscop_tx_reset(struct sscop *s, u32 limit, u64 now);
void sscop_tx_renumber(struct sscop *s, u32 poll);
void sscop_tx_clear(struct sscop *s);
enum sscop_verdict sscop_tx_stat(struct sscop *s, const struct sscop_pdu *pdu, u64 now);
enum sscop_verdict sscop_tx_ustat(struct sscop *s, const struct sscop_pdu *pdu);
bool sscop_tx_poll_due(const struct sscop *s, u64 now, bool idle);
u64 sscop_tx_deadline(const struct sscop *s, bool idle);
u32 sscop_tx_poll(struct sscop *s, u8 *octets, u64 now);
bool sscop_tx_resend(struct sscop *s, struct sscop_output *output, u64 now);
bool sscop_tx_repeat(struct sscop *s, struct sscop_output *output, u64 now);
void sscop_tx_withhold(struct sscop *s);
bool sscop_tx_may_send(struct sscop *s);
bool sscop_tx_is_full(const struct sscop *s);
u64 sscop_tx_due(const struct sscop *s);
void sscop_tx_resumes(struct sscop *s, u64 now);

/* receiver.c */
void sscop_rx_reset(struct sscop *s);
void sscop_rx_clear(struct sscop *s);
enum sscop_verdict sscop_rx_sd(struct sscop *s, const struct sscop_pdu *pdu,
			       void *segment);
enum sscop_verdict sscop_rx_poll(struct sscop *s, const struct sscop_pdu *pdu);
u32 sscop_rx_report(struct sscop *s, u8 *octets, bool sds);

/* classes.c */
void sscop_classes_reset(struct sscop *s);
enum sscop_verdict sscop_class_told(struct sscop *s, const struct sscop_pdu *pdu);
bool sscop_class_next(struct sscop *s, u64 now, bool sds, struct sscop_output *output);
bool sscop_class_wants(const struct sscop *s);
u64 sscop_class_deadline(const struct sscop *s, bool sds);

/* class_receiver.c */
enum sscop_verdict sscop_class_ud(struct sscop *s, const struct sscop_pdu *pdu, void *segment,
				  u64 now);
u64 sscop_class_held(const struct sscop *s);
u32 sscop_class_report(struct sscop *s, u8 *octets, u64 now);

#endif /* _SSCOP_INTERNAL_H */
