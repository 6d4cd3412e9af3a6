# SPDX-License-Identifier: GPL-2.0
"""Logs of exchanges: what the stack has sent, what calls returned, tcp_info."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

_SEGMENT = re.compile(
    r"(?:\[(?P<ecn>\w+)\] )?(?P<flags>[SFRPEWAU.-]+) (?P<seq>\d+):(?P<end>\d+)\((?P<length>\d+)\)"
    r"(?: ack (?P<ack>\d+))?(?: win (?P<win>\d+))?(?: urg (?P<urg>\d+))?(?: <(?P<options>[^>]*)>)?"
)


@dataclass(frozen=True)
class Segment:
    """A segment; ``at`` in s. What a script does not say is None, and not compared."""

    at: float
    flags: str
    seq: int
    end: int
    ack: int | None = None
    win: int | None = None
    urg: int | None = None
    options: str | None = None
    ecn: str | None = None

    @property
    def length(self) -> int:
        """Octets of payload."""
        return self.end - self.seq

    def __str__(self) -> str:
        ack = "" if self.ack is None else f" ack {self.ack}"
        urg = "" if self.urg is None else f" urg {self.urg}"
        return f"{self.flags} {self.seq}:{self.end}({self.length}){ack}{urg}"


@dataclass(frozen=True)
class Info:
    """tcp_info at a time."""

    at: float
    line: int
    label: str
    values: dict[str, int]


@dataclass
class Log:
    """The log of one exchange."""

    sent: list[Segment] = field(default_factory=list)
    heard: list[Segment] = field(default_factory=list)
    infos: list[Info] = field(default_factory=list)
    calls: dict[int, str] = field(default_factory=dict)  # line of the script -> result
    counters: dict[str, int] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)  # segments with other octets than were written

    def info(self, label: str) -> Info:
        """The first tcp_info of a label."""
        return next(info for info in self.infos if info.label == label)

    def __getitem__(self, label: str) -> dict[str, int]:
        """Its values."""
        return self.info(label).values

    def payload(self) -> list[Segment]:
        """Segments of data that the stack has sent."""
        return [s for s in self.sent if s.length]

    def data(self, begin: str, end: str) -> list[Segment]:
        """Those of them between two infos."""
        first, last = self.info(begin).at, self.info(end).at
        return [s for s in self.payload() if first <= s.at <= last]

    def acked(self, label: str) -> int:
        """What the peer had acknowledged at an info."""
        return max((s.ack or 0 for s in self.heard if s.at <= self.info(label).at), default=0)


def segment(at: float, text: str) -> Segment:
    """Parse what is behind < or >. A segment that is not capable of ECN may say so: [noecn]."""
    match = _SEGMENT.fullmatch(text.strip())
    assert match, text
    numbers = {
        key: None if match[key] is None else int(match[key])
        for key in ("seq", "end", "ack", "win", "urg")
    }
    assert int(match["end"]) == int(match["seq"]) + int(match["length"]), text
    ecn = "" if match["ecn"] == "noecn" else match["ecn"]
    return Segment(at, match["flags"], ecn=ecn, options=match["options"], **numbers)


def _whole(found: Segment) -> Segment:
    """A log says all: no options are options, too."""
    return replace(found, options=found.options or "", ecn=found.ecn or "")


def _pairs(words: list[str]) -> dict[str, int]:
    return {key: int(value) for key, value in (word.split("=") for word in words)}


def read(text: str) -> Log:
    """Parse a log of exchange.c."""
    log = Log()
    for line in text.splitlines():
        if line.startswith("counters"):
            log.counters = _pairs(line.split()[1:])
            continue
        at, number, kind, rest = line.split(" ", 3)
        if kind == ">":
            log.sent.append(_whole(segment(float(at), rest)))
        elif kind == "<" and not rest.startswith("icmp"):
            log.heard.append(segment(float(at), rest))
        elif kind == "info":
            label, *words = rest.split()
            log.infos.append(Info(float(at), int(number), label, _pairs(words)))
        elif kind == "wrong":
            log.damaged.append(line)
        elif kind != "<":
            log.calls[int(number)] = rest.removeprefix("= ")
    return log
