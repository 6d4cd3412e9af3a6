# SPDX-License-Identifier: GPL-2.0
"""The attacks of attacks.c, in words."""

from __future__ import annotations

#: Attack -> what the receiver does; those of honest ones are what the others are compared with.
HONEST = {
    "honest": "acknowledges each segment at once, its window never limits",
    "honest-nosack": "the same without SACK",
    "honest-ecn": "the same with ECN; the bottleneck marks when its queue is half full",
}
HOSTILE = {
    "conceal": "acknowledges over what was lost: no loss is told",
    "optimistic": "acknowledges all when it is sent, what is lost, too: half the RTT, no loss",
    "small": "acknowledges when it is sent what will arrive: half the RTT, no queue to be seen",
    "beyond": "acknowledges 30 segments more than have arrived, sent or not",
    "sacks": "reports by SACK all that was sent, and lets no loss be seen",
    "division": "acknowledges each segment in 8 pieces",
    "copies": "sends each ACK 11 times; no SACK",
    "dsack": "reports by D-SACK that each retransmission was needless",
    "older": "echoes timestamps that are 1 s older: each retransmission seems needless (Eifel)",
    "newer": "echoes timestamps that are newer by a round trip",
    "stall": "holds the ACKs of 2 s of each 3 s, then sends them all",
    "gather": "likewise, then sends the last of them",
    "bunch": "holds ACKs to the end of each round trip, then sends them all",
    "first": "holds the ACKs of the first window for 150 ms, then sends them all",
    "late": "sends everything 0.9 s later: the RTT seems large",
    "waves": "sends the ACKs of every other second 0.5 s later",
    "late-syn": "answers the SYN 0.9 s later: only the first RTT seems large",
    "zero": "shuts its window in every other second, and does not tell when it opens",
    "tiny": "offers 256 octets",
    "flap": "shuts its window with every other ACK",
    "unmarked": "echoes no ECN mark",
    "marked": "echoes ECN marks that are none",
}  # fmt: skip

#: What an attack is compared with, if not with "honest".
BESIDE = {"copies": "honest-nosack", "unmarked": "honest-ecn", "marked": "honest-ecn"}

ATTACKS = (*HONEST, *HOSTILE)
PATHS = ("short", "long")
