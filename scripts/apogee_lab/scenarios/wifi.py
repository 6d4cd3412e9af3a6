# SPDX-License-Identifier: GPL-2.0
"""How long a frame holds an IEEE 802.11a or 802.11g channel, and what contention adds to it.

Times are microseconds. 802.11a (clause 17 of IEEE 802.11) has a SIFS of 16 us. 802.11g without
older stations near (clause 19, ERP-OFDM) has one of 10 us but adds a signal extension of 6 us to
every frame, so that data, SIFS, link ACK and DIFS together take as long: both are one channel here.
The paper's table, slot 9, SIFS 16, DIFS 34, is this channel, with the extension in SIFS and DIFS.
"""

from __future__ import annotations

import math

SLOT = 9
SIFS = 16
DIFS = SIFS + 2 * SLOT
CW_MIN, CW_MAX = 15, 1023  # a back-off is 0 to CW slots, CW grows from one to the other
PREAMBLE = 16
SIGNAL = 4  # the PLCP header's own symbol
SYMBOL = 4
SERVICE, TAIL = 16, 6  # bits around the frame
MAC_HEADER, LLC_SNAP, FCS = 24, 8, 4  # bytes around an IP packet
LINK_ACK = 14  # bytes
MOST_IP = 2304 - LLC_SNAP  # bytes of the largest IP packet

RATES = (54, 48, 36, 24, 18, 12, 9, 6)  # Mbit/s
MANDATORY = (24, 12, 6)  # of these the link ACK has the fastest that the frame reaches


def _burst(length: int, rate: int) -> int:
    """A frame of ``length`` bytes with its preamble; it fills whole symbols."""
    symbols = math.ceil((SERVICE + 8 * length + TAIL) / (rate * SYMBOL))
    return PREAMBLE + SIGNAL + SYMBOL * symbols


def frame(ip: int, rate: int) -> int:
    """The frame that holds an IP packet of ``ip`` bytes."""
    return _burst(MAC_HEADER + LLC_SNAP + ip + FCS, rate)


def exchange(ip: int, rate: int) -> int:
    """What an IP packet takes but for contention: DIFS, frame, SIFS, link ACK."""
    ack_rate = next(r for r in MANDATORY if r <= rate)
    return DIFS + frame(ip, rate) + SIFS + _burst(LINK_ACK, ack_rate)


def mean_backoff() -> float:
    """The mean back-off of a sender that never collides."""
    return CW_MIN / 2 * SLOT


def attempts(senders: int, window: int, doublings: int) -> tuple[float, float]:
    """Bianchi's fixed point for ``senders`` that always have a frame to send.

    tau, the probability that one of them begins to send in a slot, and p, the probability that its
    frame then collides; equations (7) and (9) of Bianchi, "Performance Analysis of the IEEE 802.11
    Distributed Coordination Function", IEEE JSAC 18(3), 2000. ``window`` is the first contention
    window in slots, CWmin + 1, ``doublings`` how often it doubles.
    """

    def collides(tau: float) -> float:
        return 1 - (1 - tau) ** (senders - 1)

    def sends(p: float) -> float:
        # (7), with (1 - (2p)^m) / (1 - 2p) as a sum, which has no hole at p = 1/2
        series = math.fsum((2 * p) ** k for k in range(doublings))
        return 2 / (window + 1 + p * window * series)

    low, high = 0.0, 1.0  # sends(collides(tau)) falls with tau
    for _ in range(60):
        middle = (low + high) / 2
        if sends(collides(middle)) > middle:
            low = middle
        else:
            high = middle
    return low, collides(low)


def contention(senders: int, collision: float) -> float:
    """Idle slots and collisions per frame that gets through, all ``senders`` being saturated.

    ``collision`` is how long a collision takes, DIFS included. From Bianchi's (13): the time of a
    slot's three outcomes over the probability of success, less the success itself.
    """
    doublings = round(math.log2((CW_MAX + 1) / (CW_MIN + 1)))
    tau, _ = attempts(senders, CW_MIN + 1, doublings)
    idle = (1 - tau) ** senders
    success = senders * tau * (1 - tau) ** (senders - 1)
    return (idle * SLOT + (1 - idle - success) * collision) / success
