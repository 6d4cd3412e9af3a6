# SPDX-License-Identifier: GPL-2.0
"""Airtime of a frame on an IEEE 802.11a or 802.11g channel, and what contention adds to it.

Times are microseconds. 802.11a (clause 17 of IEEE 802.11) has a SIFS of 16 us. 802.11g without
legacy stations (clause 19, ERP-OFDM) has a SIFS of 10 us but adds a signal extension of 6 us to
every frame, so that data, SIFS, link ACK and DIFS take the same total time: one model fits both.
The paper's table (slot 9, SIFS 16, DIFS 34) is this channel, with the extension in SIFS and DIFS.
"""

from __future__ import annotations

import math

SLOT = 9
SIFS = 16
DIFS = SIFS + 2 * SLOT
CW_MIN, CW_MAX = 15, 1023  # a back-off is 0 to CW slots; CW doubles from CW_MIN to CW_MAX
PREAMBLE = 16
SIGNAL = 4  # the PLCP header's SIGNAL symbol
SYMBOL = 4
SERVICE, TAIL = 16, 6  # bits around the frame
MAC_HEADER, LLC_SNAP, FCS = 24, 8, 4  # bytes around an IP packet
LINK_ACK = 14  # bytes
MOST_IP = 2304 - LLC_SNAP  # bytes of the largest IP packet

RATES = (54, 48, 36, 24, 18, 12, 9, 6)  # Mbit/s
MANDATORY = (24, 12, 6)  # the link ACK has the fastest of these up to the frame's rate


def _burst(length: int, rate: int) -> int:
    """Airtime of a frame of ``length`` bytes with its preamble, rounded up to whole symbols."""
    symbols = math.ceil((SERVICE + 8 * length + TAIL) / (rate * SYMBOL))
    return PREAMBLE + SIGNAL + SYMBOL * symbols


def frame(ip: int, rate: int) -> int:
    """Airtime of the frame that holds an IP packet of ``ip`` bytes."""
    return _burst(MAC_HEADER + LLC_SNAP + ip + FCS, rate)


def exchange(ip: int, rate: int) -> int:
    """Airtime of an IP packet without contention: DIFS, frame, SIFS, link ACK."""
    ack_rate = next(r for r in MANDATORY if r <= rate)
    return DIFS + frame(ip, rate) + SIFS + _burst(LINK_ACK, ack_rate)


def mean_backoff() -> float:
    """The mean back-off of a sender that never collides."""
    return CW_MIN / 2 * SLOT


def attempts(senders: int, window: int, doublings: int) -> tuple[float, float]:
    """Bianchi's fixed point for ``senders`` that always have a frame to send.

    Returns tau, the probability that a sender begins to send in a slot, and p, the probability that
    its frame then collides; equations (7) and (9) of Bianchi, "Performance Analysis of the IEEE
    802.11 Distributed Coordination Function", IEEE JSAC 18(3), 2000. ``window`` is the initial
    contention window in slots, CWmin + 1; ``doublings`` is how often it may double.
    """

    def collides(tau: float) -> float:
        return 1 - (1 - tau) ** (senders - 1)

    def sends(p: float) -> float:
        # (7), with (1 - (2p)^m) / (1 - 2p) written as a sum, which is defined at p = 1/2
        series = math.fsum((2 * p) ** k for k in range(doublings))
        return 2 / (window + 1 + p * window * series)

    low, high = 0.0, 1.0  # bisection: sends(collides(tau)) falls with tau
    for _ in range(60):
        middle = (low + high) / 2
        if sends(collides(middle)) > middle:
            low = middle
        else:
            high = middle
    return low, collides(low)


def contention(senders: int, collision: float) -> float:
    """Time in idle slots and collisions per delivered frame, with all ``senders`` saturated.

    ``collision`` is the length of a collision, DIFS included. From Bianchi's (13): the mean length
    of a slot divided by the probability of success, without the time of the success itself.
    """
    doublings = round(math.log2((CW_MAX + 1) / (CW_MIN + 1)))
    tau, _ = attempts(senders, CW_MIN + 1, doublings)
    idle = (1 - tau) ** senders
    success = senders * tau * (1 - tau) ** (senders - 1)
    return (idle * SLOT + (1 - idle - success) * collision) / success
