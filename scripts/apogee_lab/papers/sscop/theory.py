# SPDX-License-Identifier: GPL-2.0
"""How many frames SSCOP sends again: the paper's formula, its correction, and the real frames.

A frame is sent until it arrives. If a transmission is lost with probability p, that takes 1/(1-p)
transmissions on average, of which p/(1-p) are repetitions. The paper has N bits of data in frames
of n bits, and p = 1 - (1-e)^n at the bit error rate e; its last step leaves out the factor p, so
that its result is the number of all transmissions. Real packets do not fill their last frame, and
real frames carry headers.
"""

from __future__ import annotations

from ...scenarios.sscop import sd_frame
from ...scenarios.testbed import frame_loss

PACKETS = 10_000  # that the paper sends


def pieces(packet: int, segment: int) -> list[int]:
    """Payloads of the SDs that carry a packet."""
    whole, rest = divmod(packet, segment)
    return [segment] * whole + ([rest] if rest else [])


def repetitions(lost: float) -> float:
    """Repetitions of a frame of which each transmission is lost with this probability."""
    return lost / (1 - lost)


def of_sd(ber: float, payload: int) -> float:
    """Repetitions of an SD."""
    return repetitions(frame_loss(ber, sd_frame(payload)))


def of_frames(ber: float, segment: int, packet: int) -> float:
    """Repetitions for 10 000 packets, summed over the frames that are really sent."""
    return PACKETS * sum(of_sd(ber, payload) for payload in pieces(packet, segment))


def _frames_of_the_paper(segment: int, packet: int) -> float:
    """N/n: frames if all were full and had no headers."""
    return PACKETS * packet / segment


def of_the_paper(ber: float, segment: int, packet: int) -> float:
    """N / (n (1-e)^n), as the paper has it."""
    arrive = (1 - ber) ** (8 * segment)
    return _frames_of_the_paper(segment, packet) / arrive


def corrected(ber: float, segment: int, packet: int) -> float:
    """N/n (1 - (1-e)^n) / (1-e)^n."""
    return of_the_paper(ber, segment, packet) * frame_loss(ber, segment)


def header_share(segment: int, packet: int, payload: int) -> float:
    """Share of the link that TCP's payload has if nothing is lost and no POLL is sent."""
    return payload / sum(map(sd_frame, pieces(packet, segment)))
