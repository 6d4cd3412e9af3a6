# SPDX-License-Identifier: GPL-2.0
"""The Gentle HighSpeed TCP paper's model (section 4.2): one HighSpeed and one Reno flow.

Both flows share a tail-drop queue of B packets before a link of mu packets/s; Reno comes through
an access link of mu_Reno <= mu. The windows are followed round trip by round trip to the next loss,
and from loss to loss until the state after a loss has occurred before. Windows and
thresholds are real numbers of packets, windows never below one. Numbers in brackets are the
paper's; its other equations have none.

Without options ``lab hstcp-model`` computes figure 6: 1 Gbit/s, packets of 1500 B, hosts 5 ms from
their routers, access links of 100, 12, 1.5 Mbit/s. docs/history/gentle.md has its results,
docs/algorithms.md the errors of the paper that are corrected here (mu_Reno < mu, the denominator of
D_HS); the reasons for these decisions are in the former:

- D, Q and rho_Reno use the whole W_Reno, as written, though only W_lim of it can be under way.
  rho_Reno is given twice: as written, and with no round trip above mu_Reno.
- (2) and (3) double while W < S, up to almost 2 S. ``--capped`` stops at S, as senders do.
- Three losses in a window are a timeout. ``--sack``: one reduction, however many, as with SACK.
- The sums are over round trips 1 to L. Retransmissions and the wait for the timeout take no time.
- A part of a packet that doesn't fit counts as a lost packet; the shares are rounded to whole
  packets, a half upwards. A flow whose share is 0 continues to grow.
- B is a number of packets (4.3: 4167) or ``2bdp``, twice the product of the shared link's rate and
  one-way delay, which is how section 3 explains that number.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import hstcp_table
from hstcp_table import Response

from ... import units

Windows = np.ndarray[Any, np.dtype[np.float64]]

#: States are the same if no window and no threshold differs by more than this part of itself.
SAME = 1e-9
#: The model stops after this many losses if no state has repeated.
MOST_CYCLES = 1000

#: The path of figure 6.
RATE_BPS, PACKET_BITS, HOST_DELAY_S = 1_000_000_000, 12_000, 0.005
# Below it no window is large enough for three losses; above it windows are ten times those that the
# response function was made for.
LEAST_PIPE, MOST_PACKETS = 8, 1_000_000


# --- the model --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Network:
    """Figure 4: mu and mu_Reno in packets/s, tau (one way, host to host) in s, B in packets.

    ``capped``: slow start ends at ssthresh, not where the doubled window exceeds it. ``sack``: a
    window is reduced once for all packets that are lost of it.
    """

    rate: float
    access: float
    tau: float
    buffer: float
    capped: bool = False
    sack: bool = False

    @property
    def pipe(self) -> float:
        """2 tau mu: packets under way without a queue."""
        return 2 * self.tau * self.rate

    @property
    def limit(self) -> float:
        """W_lim = 2 tau mu_Reno: the most packets that Reno sends in a round trip."""
        return 2 * self.tau * self.access

    def rtt(self, reno: Windows, hs: Windows) -> Windows:
        """2 tau + Q in s, Q = max(W_Reno + W_HS - 2 tau mu, 0) / mu."""
        return 2 * self.tau + np.maximum(reno + hs - self.pipe, 0) / self.rate

    def overflows(self, reno: float, hs: float) -> bool:
        """Whether packets are lost: min(W_Reno, W_lim) + W_HS > 2 tau mu + B."""
        return min(reno, self.limit) + hs > self.pipe + self.buffer

    def losses(self, reno: float, hs: float) -> tuple[int, int]:
        """D_Reno and D_HS: D = W_Reno + W_HS - (2 tau mu + B), shared as the windows are.

        D is rounded upwards, so it is at least 1, and the larger window loses at least one.
        """
        lost = math.ceil(reno + hs - (self.pipe + self.buffer))
        share = lost / (reno + hs)
        return math.floor(share * reno + 0.5), math.floor(share * hs + 0.5)


@dataclass(frozen=True)
class Flow:
    """Window W and threshold S (ssthresh) in packets."""

    window: float = 1.0
    ssthresh: float = math.inf

    def grown(self, sent: float, increase: float, capped: bool) -> Flow:
        """One round trip later: W + sent in slow start, W + increase after it."""
        if self.window >= self.ssthresh:
            return Flow(self.window + increase, self.ssthresh)
        window = self.window + sent
        return Flow(min(window, self.ssthresh) if capped else window, self.ssthresh)


@dataclass(frozen=True)
class Cycle:
    """From one loss to the next.

    ``reno`` and ``hs``: windows of round trips 1 to L, packets being lost in the L-th; ``lost``:
    D_Reno and D_HS; ``left``: both flows as the next cycle begins, Reno first.
    """

    reno: Windows
    hs: Windows
    lost: tuple[int, int]
    left: tuple[Flow, Flow]


@dataclass(frozen=True)
class Steady:
    """The steady state: the cycles that repeat, and mean throughputs over them in packets/s.

    ``reno`` is as written, ``clipped`` has no round trip above mu_Reno. ``repeats``: False if no
    state occurred again within MOST_CYCLES losses; the means are then over their second half.
    """

    repeats: bool
    cycles: Sequence[Cycle]
    hs: float
    reno: float
    clipped: float


def hs_increase(response: Response, w: float) -> float:
    """a(w) in packets per round trip (1). Reno's 1 up to W_low; from 100000 packets on it stays."""
    return 1.0 if w <= response.low_window else response.a(min(w, hstcp_table.TOP))


def hs_decrease(response: Response, w: float) -> float:
    """b(w), the part of w given up at a loss (1). A half up to W_low; from 100000 on it stays."""
    return 0.5 if w <= response.low_window else response.b(min(w, hstcp_table.TOP))


def grown_hs(flow: Flow, network: Network, response: Response) -> Flow:
    """The HighSpeed flow one round trip later (2)."""
    return flow.grown(flow.window, hs_increase(response, flow.window), network.capped)


def grown_reno(flow: Flow, network: Network) -> Flow:
    """The Reno flow one round trip later (3): min(W, W_lim) packets are acknowledged."""
    sent = min(flow.window, network.limit)
    return flow.grown(sent, sent / flow.window, network.capped)


def cut(window: float, response: Response | None) -> float:
    """The window after one retransmission: W (1 - b(W)), or W / 2 without a response function."""
    part = 0.5 if response is None else hs_decrease(response, window)
    return max(window * (1 - part), 1.0)


def repaired(window: float, lost: int, response: Response | None) -> Flow:
    """The flow after ``lost`` >= 1 packets of round trip L's window are lost: W' and the next S.

    One: W(L+1), cut once. Two: W(L+2), cut twice. More: a timeout after two cuts, so one packet,
    and S = W(L+2) / 2.
    """
    once = cut(window, response)
    if lost == 1:
        return Flow(once, once)
    twice = cut(once, response)
    return Flow(twice, twice) if lost == 2 else Flow(1.0, twice / 2)


def cycle(network: Network, response: Response, reno: Flow, hs: Flow) -> Cycle:
    """The round trips up to the next loss, and the state after it."""
    passed = [(reno.window, hs.window)]
    after = grown_reno(reno, network), grown_hs(hs, network, response)
    while not network.overflows(*passed[-1]):
        reno, hs = after
        passed.append((reno.window, hs.window))
        after = grown_reno(reno, network), grown_hs(hs, network, response)
    lost = network.losses(*passed[-1])
    counted = [min(each, 1) for each in lost] if network.sack else lost
    left = (
        repaired(reno.window, counted[0], None) if lost[0] else after[0],
        repaired(hs.window, counted[1], response) if lost[1] else after[1],
    )
    return Cycle(*np.array(passed).T, lost, left)


def _same(one: Cycle, other: Cycle) -> bool:
    return all(
        math.isclose(a.window, b.window, rel_tol=SAME)
        and math.isclose(a.ssthresh, b.ssthresh, rel_tol=SAME)
        for a, b in zip(one.left, other.left, strict=True)
    )


def steady(network: Network, response: Response) -> Steady:
    """Both flows from one packet on, until the state after a loss equals that after an earlier one.

    The recursion depends on that state alone, so it repeats from there. rho_HS and rho_Reno, which
    the paper sums over all cycles, are those of the cycles between the two losses.
    """
    found: list[Cycle] = []
    left = Flow(), Flow()
    while len(found) < MOST_CYCLES:
        found.append(cycle(network, response, *left))
        left = found[-1].left
        for n in range(len(found) - 2, -1, -1):
            if _same(found[n], found[-1]):
                return _means(network, True, found[n + 1 :])
    return _means(network, False, found[MOST_CYCLES // 2 :])


def _means(network: Network, repeats: bool, cycles: Sequence[Cycle]) -> Steady:
    """rho_HS and rho_Reno: packets over seconds."""
    reno = np.concatenate([one.reno for one in cycles])
    hs = np.concatenate([one.hs for one in cycles])
    rtt = network.rtt(reno, hs)
    clipped = np.minimum(reno, network.access * rtt)
    return Steady(repeats, cycles, *(float(x.sum() / rtt.sum()) for x in (hs, reno, clipped)))


# --- figure 6 ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prediction:
    """The model's result for one buffer, access rate (bit/s) and delay (s).

    ``buffer`` is as it was asked for: packets, or ``2bdp``. ``packet`` is a packet's size in bits.
    """

    buffer: int | str
    access: int
    delay: float
    packet: int
    network: Network
    found: Steady

    def mbit(self, packets: float) -> float:
        """Packets/s in Mbit/s."""
        return packets * self.packet / 1e6

    @property
    def rates(self) -> tuple[float, float, float]:
        """Mbit/s of HighSpeed, of Reno, and of Reno as written."""
        rates = self.found.hs, self.found.clipped, self.found.reno
        return tuple(map(self.mbit, rates))  # type: ignore[return-value]

    def timeouts(self, flow: int) -> list[bool]:
        """Whether the flow, 0: Reno, 1: HighSpeed, times out, for each loss of the steady state."""
        return [not self.network.sack and each.lost[flow] > 2 for each in self.found.cycles]


@functools.cache
def predict(access: str, delay: str, buffer: int, sack: bool = False) -> tuple[float, float, float]:
    """One point of figure 6 as ``lab hstcp-model`` prints it, Mbit/s: ``Prediction.rates``."""
    link, one_way = units.parse("rate", access), units.parse("time", delay)
    rtt = 2 * HOST_DELAY_S + one_way
    network = Network(RATE_BPS / PACKET_BITS, link / PACKET_BITS, rtt, buffer, sack=sack)
    found = steady(network, hstcp_table.PAPER)
    return Prediction(buffer, link, one_way, PACKET_BITS, network, found).rates
