# SPDX-License-Identifier: GPL-2.0
"""A run being measured: its raw folder, the plan's facts about it, its record so far."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .channel import ChannelPath
from .flows import MeasuredFlow, flow_tool, iperf3
from .losses import duplicates_of
from .paths import MeasuredPath
from .raw import RawFolder
from .record import RecordError


@dataclass(frozen=True)
class Interval:
    """The measured interval, µs of the guest's clock. RTTs and queues count from ``from_us``, the
    last flow's SYN; with a warm-up both begin when it is over."""

    syn_us: float
    from_us: float
    begin_us: float
    end_us: float

    @property
    def over_s(self) -> float:
        """Its length (s)."""
        return (self.end_us - self.begin_us) / 1e6


class Measurement:
    """A run being measured. Measures add their keys to ``record``."""

    def __init__(self, raw: RawFolder, meta: dict[str, Any]) -> None:
        self.raw = raw
        self.meta = meta
        self.record: dict[str, Any] = {}
        self.specs: list[dict[str, Any]] = meta["flows"]

    @cached_property
    def flows(self) -> list[MeasuredFlow]:
        """The flows, from the logs of their ends."""
        if self.meta["traffic"] == "iperf3":
            rtt_us = 2e6 * min(path.facts["delay_s"] for path in self.paths)
            return [iperf3(self.raw, spec, rtt_us) for spec in self.specs]
        spaces = [spec["netns"] for spec in self.specs]
        return [flow_tool(self.raw, spec, spaces.count(spec["netns"]) > 1) for spec in self.specs]

    @cached_property
    def paths(self) -> list[MeasuredPath]:
        """The paths, in the plan's order."""
        return [
            (ChannelPath if "channel" in facts else MeasuredPath)(self.raw, facts)
            for facts in self.meta["paths"]
        ]

    @property
    def in_time(self) -> bool:
        """Whether the arrivals of all flows are known in steps of 10 ms."""
        return all(flow.fine for flow in self.flows)

    @property
    def warm_s(self) -> float | None:
        """End of the warm-up, if there was one."""
        return self.raw.times.get(("warmup", "off"))

    @cached_property
    def interval(self) -> Interval:
        """The interval that all flows have in common."""
        from_us = max(flow.syn_us for flow in self.flows)
        begin_us = max(flow.begin_us for flow in self.flows)
        if self.warm_s is not None:
            begin_us = from_us = max(begin_us, self.warm_s * 1e6)
        end_us = begin_us + self.meta["duration_s"] * 1e6
        if len(self.flows) > 1 or self.specs[0].get("bytes"):
            end_us = min(end_us, *(flow.stop_us for flow in self.flows))
        if end_us <= begin_us:
            raise RecordError("the flows did not run at the same time")
        return Interval(min(flow.syn_us for flow in self.flows), from_us, begin_us, end_us)

    @property
    def receivers(self) -> list[str]:
        """The namespace of each flow's receiver."""
        return [spec.get("receiver_ns", self.meta["receiver_ns"]) for spec in self.specs]

    @cached_property
    def duplicates(self) -> dict[str, int | None]:
        """Duplicate segments by receiver's namespace; None where they were not counted."""
        dsack = str(self.meta["set"].get("tcp_dsack", 1)) != "0"
        return {ns: duplicates_of(self.raw, ns) if dsack else None for ns in self.receivers}

    def total(self, fact: str) -> Any:
        """Sum of a plan's fact over all paths."""
        return sum(path.facts[fact] for path in self.paths)
