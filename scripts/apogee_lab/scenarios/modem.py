# SPDX-License-Identifier: GPL-2.0
"""What sends onto a radio: the host's own device, or a box behind Ethernet with a queue of its own;
late completion, a slower way back, half duplex."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any

from . import testbed
from .moving import ORDER
from .scenario import Param
from .testbed import time_text

LOWER = "to-air"
ROOM = 1_000_000  # bytes: the lower device's queue under SSCOP, which keeps it short itself
WIRE_BPS, WIRE_S = 1e9, 1e-5  # the Ethernet between a host and its box
BEYOND_S = 5.0  # turns go on so much longer than the run

PARAMS = (
    Param("back", "same", "rate|same", "rate of the way back, or same", 150, 100e9,
          "rate of the way back"),
    Param("box", 0, "bool",
          "the radio is a box behind Ethernet of 1 Gbit/s, with `queue` of its own"),
    Param("completion", 0.0, "time", "the hosts' devices free a frame so much later", 0, 1,
          "late completion"),
    Param("turn", 0.0, "time", "half duplex: each way has its turn for so long; 0: full duplex",
          0, 60, "turn"),
)  # fmt: skip


def back_rate(values: Mapping[str, Any], rate: float) -> float:
    """The rate of the way back while that of the way there is ``rate``."""
    if values["back"] == "same":
        return rate
    return rate * values["back"] / values["rate"]


@dataclass(frozen=True)
class Sender:
    """One end's sender onto the radio.

    It is the device ``dev`` in ``ns``. Its frames enter the radio by ``enters`` of air, where some
    are lost, and leave it by ``leaves``. ``scale`` is its rate over that of the way there.
    """

    ns: str
    dev: str
    host: str
    enters: str
    leaves: str
    scale: float
    frame: int
    turn: float
    late: bool

    def _bucket(self, rate: float, limit: int) -> str:
        """A bucket of one frame never sends faster, and frames keep their socket's account."""
        return f"handle 1: tbf rate {round(rate)}bit burst {self.frame}b limit {limit}b"

    @property
    def boxed(self) -> bool:
        """Whether it is a box of its own."""
        return self.ns != self.host

    def _rate(self, rate: float) -> float:
        """What the bucket lets through: with turns too short to be told apart, half of it."""
        return rate * self.scale * (0.5 if self.turn and not self.turns(rate) else 1.0)

    def turns(self, rate: float) -> bool:
        """Whether a turn holds four frames; shorter ones only halve the rate."""
        return bool(self.turn) and self.turn * rate * self.scale >= 4 * 8 * self.frame

    def lines(self, rate: float, limit: int) -> list[str]:
        """Shell lines of its queue, and of the host's device in front of a box."""
        found = []
        if self.boxed:
            wire = self._bucket(WIRE_BPS, ROOM)
            found = [
                f"tc -n {self.host} qdisc add dev {LOWER} root {wire}",
                f"tc -n {self.ns} qdisc add dev {self.dev} root handle 9: netem "
                f"delay {time_text(WIRE_S)} {ORDER} limit {testbed.DELAY_LINE}",
            ]
        tc = f"tc -n {self.ns} qdisc"
        found.append(
            f"{tc} add dev {self.dev} {self._place} {self._bucket(self._rate(rate), limit)}"
        )
        if self.turns(rate):
            found += [
                f"{tc} add dev {self.dev} {_PLUG} limit {limit}",
                f"{tc} change dev {self.dev} {_PLUG} release_indefinite",
            ]
        return found

    @property
    def _place(self) -> str:
        return "parent 9:1" if self.boxed else "root"

    def change(self, rate: float, limit: int) -> str:
        """A tc command for another rate and queue."""
        return f"qdisc change dev {self.dev} {self._place} {self._bucket(self._rate(rate), limit)}"

    def gates(self, rate: float, ends_s: float) -> list[tuple[float, str]]:
        """The turns: tc commands with their times.

        A frame that the bucket has taken out still leaves, and the bucket fills while the other end
        has its turn, so that another leaves at once: the end is delayed by these frames' time.
        """
        if not self.turns(rate):
            return []
        frame_s = 8 * self.frame / (rate * self.scale)
        starts = takewhile(
            lambda at: at < ends_s + BEYOND_S,
            (self.turn * (2 * n + self.late) for n in count()),
        )
        change = f"qdisc change dev {self.dev} {_PLUG}"
        return [
            step
            for at in starts
            for step in (
                (round(at, 6), f"{change} block"),
                (round(at + self.turn + 2 * frame_s, 6), f"{change} release_indefinite"),
            )
        ]


_PLUG = "parent 1:1 handle 2: plug"


def senders(values: Mapping[str, Any], frame: int) -> tuple[Sender, Sender]:
    """Those of the data and of the ACKs; frames have ``frame`` bytes at most."""
    scale = back_rate(values, 1.0)

    def one(host: str, other: str, scale: float, late: bool) -> Sender:
        boxed = bool(values["box"])
        entry = f"wire-{host}" if values["completion"] else f"to-{host}"
        return Sender(
            ns="air" if boxed else host,
            dev=f"box-{host}" if boxed else LOWER,
            host=host,
            enters=f"from-{host}" if boxed else entry,
            leaves=f"to-{other}",
            scale=scale,
            frame=frame,
            turn=values["turn"],
            late=late,
        )

    return one("gw", "mh", 1.0, False), one("mh", "gw", scale, True)


def _stages(values: Mapping[str, Any], host: str) -> list[tuple[str, str]]:
    """Pairs of devices of air that frames of a host go through: out by the first, in again by the
    other."""
    late = [(f"nic-{host}", f"wire-{host}")] if values["completion"] else []
    return late + ([(f"box-{host}", f"from-{host}")] if values["box"] else [])


def links(values: Mapping[str, Any], mtu: int) -> list[str]:
    """Shell lines that make what is between the hosts' devices and the radio.

    A batch of frames stays on its sender's account in netem's slots, and is sent by then: the
    device has completed late. What has a delay is on nobody's account, as in a box.
    """
    found = []
    for host in ("gw", "mh"):
        last = f"to-{host}"
        for out, into in _stages(values, host):
            found += [
                f"ip link add {out} netns air mtu {mtu} type veth "
                f"peer name {into} netns air mtu {mtu}",
                f"tc -n air qdisc add dev {last} clsact",
                f"tc -n air filter add dev {last} ingress matchall "
                f"action mirred egress redirect dev {out}",
            ]
            last = into
        if values["completion"]:
            slot = time_text(values["completion"])
            found.append(
                f"tc -n air qdisc add dev nic-{host} root netem slot {slot} {slot} "
                f"limit {testbed.DELAY_LINE}"
            )
    return ["# between the hosts and the radio", *found] if found else []


def ends(values: Mapping[str, Any]) -> list[str]:
    """Their devices, NAMESPACE:DEVICE."""
    return [
        f"air:{dev}" for host in ("gw", "mh") for stage in _stages(values, host) for dev in stage
    ]


def share(values: Mapping[str, Any]) -> float:
    """The data's share of the radio's time."""
    return 0.5 if values["turn"] else 1.0


def told(values: Mapping[str, Any]) -> str:
    """Where the rate is."""
    if values["box"]:
        return "on box-gw and box-mh of air, where frames of a host go first"
    return "on to-air of both hosts, each way"


def check(values: Mapping[str, Any]) -> None:
    """ValueError for what does not go together."""
    if not values["turn"]:
        return
    if any(event.what in ("rate", "queue") for event in values["event"] or ()):
        raise ValueError("turn does not go with changes of rate or queue")
    if values["qdisc"] == "fq_codel" and not values["segment"]:
        raise ValueError("turn: TCP alone has no qdisc=fq_codel there")
