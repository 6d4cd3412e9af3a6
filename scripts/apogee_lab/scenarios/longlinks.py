# SPDX-License-Identifier: GPL-2.0
"""Long links of scenario multipath: rate, delay, loss and pauses of each, and their tc lines.

A pause holds what is sent on a link, both ways, and loses nothing but what its queue cannot hold.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import units
from ..units import Event
from . import bursts, ceiling, testbed
from .moving import DELAYS, ORDER, RATES, overlaid, value_at
from .testbed import ETHERNET, time_text
from .tracefiles import Steps

MOST = 4
GAP_S = 5.0  # mean time between random pauses
SHORTEST_S = 1e-3
EVENTS = ("rate", "delay", "loss", "outage")
AGENT = "ha"
UP, DOWN = "up", "down"  # from the leader to the correspondent, or to it

#: A pause: begin and end (s).
Span = tuple[float, float]


@dataclass(frozen=True)
class LongLink:
    """A long link over time: rates (bit/s), one-way delays (s), shares lost, pauses; ``queue``
    (bytes) in front of it and its longest frame (bytes), each way, and its own ``mtu`` (bytes, 0:
    all have the same). Data goes to the agent, or ``down`` from there."""

    number: int
    rates: Steps
    delays: Steps
    losses: Steps
    ack_losses: Steps
    pauses: tuple[Span, ...]
    queue: int
    frame: int
    down: bool = False
    mtu: int = 0

    @property
    def name(self) -> str:
        """Its path's name."""
        return f"path{self.number}"

    @property
    def router(self) -> str:
        """Namespace at the leader's end: its own modem, or another member."""
        return "modem" if self.number == 1 else f"am{self.number}"

    @property
    def net(self) -> str:
        """Namespace in the middle, which delays and loses."""
        return f"net{self.number}"

    @property
    def senders(self) -> tuple[tuple[str, str], ...]:
        """The devices that hold to the rate: the data's way, and back."""
        ends = (self.router, f"to-{self.net}"), (AGENT, f"to-{self.net}")
        return ends[::-1] if self.down else ends

    @property
    def ways(self) -> tuple[tuple[str, Steps], ...]:
        """The middle's devices with the losses of their direction: the data's way, and back."""
        to_agent, to_leader = "to-ha", f"to-{self.router}"
        data, back = (to_leader, to_agent) if self.down else (to_agent, to_leader)
        return (data, self.losses), (back, self.ack_losses)

    @property
    def delay_s(self) -> float:
        """Its shortest one-way delay."""
        return min(delay for _, delay in self.delays)

    @property
    def longest_s(self) -> float:
        """Its longest one-way delay and pause."""
        return max(d for _, d in self.delays) + max((b - a for a, b in self.pauses), default=0.0)

    def mean_rate(self, from_s: float, over_s: float) -> float:
        """Mean of the rate (bit/s) while it does not pause, and of what it sends in pauses."""
        steps = [(at, value_at(self.rates, at) * is_open) for at, is_open in self._open()]
        return ceiling.mean(steps, from_s, over_s) + self.begun(from_s + over_s) / over_s

    def carried(self, other_bps: float = 0.0, most_bps: float = math.inf) -> Steps:
        """What it carries (bit/s) by time, beside a flow that takes so much of its rate, and less
        what it loses; no more than ``most_bps`` comes to it."""
        return [
            (at, min(max(0.0, value_at(self.rates, at) - other_bps), most_bps)
             * (1 - value_at(self.losses, at)) * is_open)
            for at, is_open in self._open()
        ]  # fmt: skip

    def begun(self, until_s: float) -> float:
        """Bits that are sent in pauses that begin before a time: a frame whose sending has begun is
        sent to its end."""
        return sum(
            min(8 * self.frame, value_at(self.rates, begin) * (end - begin))
            for begin, end in self.pauses
            if begin < until_s
        )

    def _open(self) -> list[tuple[float, bool]]:
        """All times at which something changes, and whether it sends from there on."""
        cuts = {at for steps in (self.rates, self.losses) for at, _ in steps}
        closed = [(begin, 0.0) for begin, _ in self.pauses] + [(end, 1.0) for _, end in self.pauses]
        steps = [(-1.0, 1.0), *sorted(closed)]
        return [(at, bool(value_at(steps, at))) for at in sorted(cuts | {at for at, _ in closed})]


# --- from the parameters ----------------------------------------------------------------------


def of(values: Mapping[str, Any], ends_s: float) -> list[LongLink]:
    """The links of a run that ends at ``ends_s``; ValueError (one line) for what they cannot be."""
    count = values["paths"]
    rates = values["rate"] * count if len(values["rate"]) == 1 else values["rate"]
    if len(rates) != count:
        raise ValueError(
            f"rate: {len(rates)} given, but there are {count} paths (paths={count}): give one for "
            f"all, or {count} joined by +"
        )
    return [_one(values, n, rate, ends_s) for n, rate in enumerate(rates, 1)]


def _one(values: Mapping[str, Any], number: int, rate: int, ends_s: float) -> LongLink:
    events = [*(values["event"] or ()), *(values[f"event{number}"] or ())]
    for event in events:
        _check(event, ends_s)
    kinds = {what: [e for e in events if e.what == what] for what in EVENTS}
    loss = values[f"loss{number}"]
    loss = values["loss"] if loss == "same" else loss
    ack_loss = loss if values["ack_loss"] == "same" else values["ack_loss"]
    frame = values["mtu"] + ETHERNET
    pauses = [(e.start_s, e.start_s + (e.length_s or 0.0)) for e in kinds["outage"]]
    pauses += random_pauses(values["seed"], number, values["outage"], ends_s)
    return LongLink(
        number=number,
        rates=overlaid([(0.0, rate)], kinds["rate"]),
        delays=overlaid([(0.0, values[f"delay{number}"])], kinds["delay"]),
        losses=bursts.lost_in(
            overlaid([(0.0, loss)], kinds["loss"]), bursts.bad_times(values, ends_s, number)
        ),
        ack_losses=overlaid(
            [(0.0, ack_loss)], kinds["loss"] if values["ack_loss"] == "same" else []
        ),
        pauses=joined(pauses),
        queue=values["queue"] * frame,
        frame=frame,
        down=values["direction"] == DOWN,
        mtu=values[f"mtu{number}"],
    )


def _check(event: Event, ends_s: float) -> None:
    text = units.format("events", (event,))
    bounds = {"rate": RATES, "delay": DELAYS}.get(event.what)
    if event.what not in EVENTS:
        raise ValueError(f"event: {text}: scenario multipath has no {event.what}")
    if bounds and not bounds[0] <= (event.value or 0) <= bounds[1]:
        kind = "rate" if event.what == "rate" else "time"
        low, high = (units.format(kind, bound) for bound in bounds)
        raise ValueError(f"event: {text} is out of range, allowed: from {low} to {high}")
    if event.start_s + (event.length_s or 0) > ends_s or event.start_s >= ends_s:
        raise ValueError(f"event: {text} ends after the run, which lasts {ends_s:g} s")


def random_pauses(seed: int, number: int, mean_s: float, ends_s: float) -> list[Span]:
    """Pauses of exponential length, the time between them exponential, too; each link has its
    own."""
    found: list[Span] = []
    if not mean_s:
        return found
    dice = random.Random(f"{seed} {number}")
    at = dice.expovariate(1 / GAP_S)
    while at < ends_s:
        length = round(dice.expovariate(1 / mean_s), 3)
        if length >= SHORTEST_S:
            found.append((round(at, 3), round(at + length, 3)))
        at += length + dice.expovariate(1 / GAP_S)
    return found


def joined(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The spans in order, those that overlap made one."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return tuple(found)


# --- tc lines ---------------------------------------------------------------------------------

_PLUG = "parent 1:1 handle 2: plug"


def _bucket(link: LongLink, rate: float) -> str:
    """A token bucket of one frame, with its queue."""
    return f"root handle 1: tbf rate {round(rate)}bit burst {link.frame}b limit {link.queue}b"


def _middle(delay: float, loss: float) -> str:
    loses = f"loss {100 * loss:.9g}%"
    return f"root netem delay {time_text(delay)} {loses} {ORDER} limit {testbed.DELAY_LINE}"


def lines(link: LongLink) -> list[str]:
    """Shell lines of a link: rate and queue at both ends, delay and loss in the middle; what holds
    at 0 s, except what would keep a tunnel from coming up."""
    found = []
    for ns, dev in link.senders:
        found.append(f"tc -n {ns} qdisc add dev {dev} {_bucket(link, link.rates[0][1])}")
        if link.pauses:
            found += [
                f"tc -n {ns} qdisc add dev {dev} {_PLUG} limit {link.queue}",
                f"tc -n {ns} qdisc change dev {dev} {_PLUG} release_indefinite",
            ]
    for dev, losses in link.ways:
        words = _middle(link.delays[0][1], losses[0][1] % 1)
        found.append(f"tc -n {link.net} qdisc add dev {dev} {words}")
    return found


def closed(links: Sequence[LongLink]) -> str:
    """Shell lines that hold or lose all from the first SYN on, where that is so."""
    found = []
    for link in links:
        if link.pauses and link.pauses[0][0] == 0:
            found += [f"tc -n {ns} qdisc change dev {dev} {_PLUG} block"
                      for ns, dev in link.senders]  # fmt: skip
        found += [
            f"tc -n {link.net} qdisc change dev {dev} {_middle(link.delays[0][1], 1.0)}"
            for dev, losses in link.ways
            if losses[0][1] == 1
        ]
    return "".join(f"{line}\n" for line in found)


def streams(links: Sequence[LongLink]) -> list[tuple[str, list[tuple[float, str]]]]:
    """The changes while flows run: namespace, tc commands with their times (s)."""
    found: dict[str, list[tuple[float, str]]] = {}
    for link in links:
        for ns, dev in link.senders:
            found.setdefault(ns, []).extend(_sender_steps(link, dev))
        for dev, losses in link.ways:
            times = sorted({at for steps in (link.delays, losses) for at, _ in steps} - {0.0})
            found.setdefault(link.net, []).extend(
                (at, f"qdisc change dev {dev} "
                 + _middle(value_at(link.delays, at), value_at(losses, at)))
                for at in times
            )  # fmt: skip
    return [(ns, sorted(steps)) for ns, steps in found.items() if steps]


def _sender_steps(link: LongLink, dev: str) -> list[tuple[float, str]]:
    """Changes of the rate and pauses. The bucket fills in a pause, so that a frame leaves at once
    when it ends: the end is delayed by this frame's time."""
    steps = [(at, f"qdisc change dev {dev} {_bucket(link, rate)}") for at, rate in link.rates[1:]]
    held = [(a, b + 8 * link.frame / value_at(link.rates, b)) for a, b in link.pauses]
    for begin, end in joined(held):
        steps += [
            (begin, f"qdisc change dev {dev} {_PLUG} block"),
            (round(end, 6), f"qdisc change dev {dev} {_PLUG} release_indefinite"),
        ]
    return [step for step in steps if step[0]]


def opened(links: Sequence[LongLink]) -> list[str]:
    """Shell lines that let the queues drain at the end of a run."""
    found = []
    for link in links:
        fastest = max(rate for _, rate in link.rates)
        for ns, dev in link.senders:
            if link.pauses:
                found.append(f"tc -n {ns} qdisc change dev {dev} {_PLUG} release_indefinite")
            if len(link.rates) > 1:
                found.append(f"tc -n {ns} qdisc change dev {dev} {_bucket(link, fastest)}")
    return found
