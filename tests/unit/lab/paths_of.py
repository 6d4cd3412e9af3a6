# SPDX-License-Identifier: GPL-2.0
"""The paths that scripts emulate: rate, queue, delays and losses of each scenario at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from apogee_lab.scenarios.scenario import Path, Plan
from tests.unit.lab.emulated import Emulated, lost, number

FRAME, ACK = 1514, 66  # bytes


@dataclass(frozen=True)
class State:
    """A path at a time: bit/s, queue in packets, one-way delays of data and ACKs in s, shares of
    both that are lost, whether ACKs are held, and whether all is."""

    rate: float
    queue: float
    delay: float
    ack_delay: float
    loss: float
    ack_loss: float
    stall: bool = False
    closed: bool = False


def _netem(emulated: Emulated, ns: str, dev: str, at: float) -> tuple[float, float]:
    """Delay and loss of a device's netem; with bit errors those of the longest frames."""
    words = emulated.words(ns, dev, "root", at)
    return number(words, "delay") or 0.0, number(words, "loss") or 0.0


def _hop(plan: Plan, emulated: Emulated, at: float) -> State:
    """satellite and what is like it: a bottleneck, and a hop behind it."""
    (path,) = plan.paths
    near, dev = path.bottleneck
    far = path.ack_links[0][0]
    child, root = (emulated.words(near, dev, place, at) for place in ("2:", "root"))
    rate = next(
        found
        for place in ("1:1", "1:", "root")
        if (found := number(emulated.words(near, dev, place, at), "rate"))
    )
    hops = []
    for ifb, out in (("data-hop", path.data_links[0][1]), ("ack-hop", path.ack_links[0][1])):
        delay, share = _netem(emulated, far, out, at)
        behind = number(emulated.words(far, ifb, "2:", at), "delay") or 0.0
        gone = number(emulated.words(far, ifb, "1:", at), "loss") or 0.0
        hops.append((delay + behind, 1 - (1 - share) * (1 - gone)))
    queue = number(child, "limit") or number(root, "limit") or 0.0
    stall = emulated.slotted(far, "ack-hop", "2:", at)
    return State(rate, queue, hops[0][0], hops[1][0], hops[0][1], hops[1][1], stall)


def _radio(plan: Plan, emulated: Emulated, at: float) -> State:
    words = emulated.words("gw", "to-air", "1:", at)
    back = emulated.words("mh", "to-air", "1:", at)
    rate, limit = number(words, "rate"), number(words, "limit")
    assert (rate, limit) == (number(back, "rate"), number(back, "limit")), "both ways"
    return State(
        rate or 0.0,
        (limit or 0.0) / FRAME,
        _netem(emulated, "air", "to-mh", at)[0],
        _netem(emulated, "air", "to-gw", at)[0],
        lost(emulated.words("air", "to-gw", "lost", at), FRAME),
        lost(emulated.words("air", "to-mh", "lost", at), FRAME),
    )


def _long_link(plan: Plan, emulated: Emulated, at: float, path: Path | None = None) -> State:
    """One of multipath's links; its two ends hold to the same rate, and pause together."""
    path = path or plan.paths[0]
    near, dev = path.bottleneck
    router = path.data_links[0][1].removeprefix("to-")  # whom data comes to from the agent
    ends = (path.bottleneck, (router if near == "ha" else "ha", dev))
    ways = (path.data_links[0], path.ack_links[0])
    words = [emulated.words(*end, "1:", at) for end in ends]
    shut = ["block" in emulated.words(*end, "2:", at) for end in ends]
    rates = [number(each, "rate") for each in words]
    assert rates[0] == rates[1] and shut[0] == shut[1], "both ways"
    (delay, loss), (ack_delay, ack_loss) = (_netem(emulated, *way, at) for way in ways)
    queue = (number(words[0], "limit") or 0.0) / FRAME
    return State(rates[0] or 0.0, queue, delay, ack_delay, loss, ack_loss, closed=shut[0])


#: How a scenario's path is read.
READERS: dict[str, Callable[[Plan, Emulated, float], State]] = {
    **dict.fromkeys(("satellite", "satellite-shared", "requests", "lfn", "leo"), _hop),
    "radio": _radio,
    "multipath": _long_link,
}
