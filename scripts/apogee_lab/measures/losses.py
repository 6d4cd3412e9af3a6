# SPDX-License-Identifier: GPL-2.0
"""Frames that were dropped: where, and whose."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .raw import drops, nstat, packets, read_json, read_queue
from .record import RecordError


@dataclass(frozen=True)
class Dropped:
    """Frames that were dropped in the whole run: by the bottleneck's queue, behind it, by the
    senders' own links' queues, on a shared channel by each station's, and on the ACKs' way."""

    queue: int
    links: int
    switches: int
    stations: tuple[int, ...]
    acks: int
    losses: int

    @classmethod
    def count(cls, raw: Path, meta: dict[str, Any]) -> Dropped:
        """From the counters at the end."""
        medium = meta.get("medium")
        stations: tuple[int, ...] = ()
        if medium:
            queue = _leaf_drops(raw, meta, medium["ap"])
            stations = tuple(_leaf_drops(raw, meta, leaf) for leaf in medium["stations"])
        else:
            queue = drops(raw, [meta["bottleneck"]], {"netem", "pfifo", "bfifo", "tbf"})
        links = drops(raw, meta["data_links"], {"netem"})
        links += drops(raw, meta["data_filters"], {"clsact", "ingress"})
        acks = drops(raw, meta["ack_links"], {"netem"})
        acks += drops(raw, meta["ack_filters"], {"clsact", "ingress"})
        places = [spec["switch"] for spec in meta["flows"] if "switch" in spec]
        switches = drops(raw, places, {"netem"})
        # The access point's queue holds ACKs.
        held = sum(stations) if medium else queue
        acks += queue if medium else 0
        return cls(queue, links, switches, stations, acks, links + switches + held)


def _leaf_drops(raw: Path, meta: dict[str, Any], handle: str) -> int:
    """What a leaf of the shared channel dropped in the whole run."""
    netns, dev = meta["bottleneck"]
    for qdisc in read_json(raw / f"qdisc-{netns}.json"):
        if (qdisc.get("dev"), qdisc.get("handle")) == (dev, handle):
            return int(qdisc["drops"])
    raise RecordError(f"qdisc-{netns}.json has no {handle} of {dev}")


def drops_until(raw: Path, dev: str, time_s: float) -> int:
    """What the bottleneck's queue had dropped by the first sample from ``time_s`` on."""
    times, drops = read_queue(raw, dev, "drops")
    later = np.nonzero(times >= time_s)[0]
    return int(drops[later[0]]) if len(later) else int(drops[-1]) if len(drops) else 0


def hop_drops(raw: Path, spec: dict[str, Any]) -> dict[str, int]:
    """A flow's own frames that were dropped behind the bottleneck, and by its own switch."""
    found = {"link_drops": drops(raw, [spec["exit"]], {"netem"})}
    if "switch" in spec:
        found["switch_drops"] = drops(raw, [spec["switch"]], {"netem"})
    return found


def duplicates_of(raw: Path, netns: str) -> int | None:
    """Duplicate segments that a receiver reported by D-SACK; None if it did not count them."""
    counters = nstat(raw, netns)
    found = [counters.get(f"TcpExtTCPDSACK{kind}Sent") for kind in ("Old", "Ofo")]
    return None if None in found else sum(found)


def shares_of_queue(raw: Path, specs: list[dict[str, Any]], total: int) -> list[int | None]:
    """Frames of each flow that the queue dropped: those that came and did not enter the hop.

    None for all if the shares do not add up to ``total``.
    """
    shares: list[int | None] = []
    for spec in specs:
        entered = packets(raw, spec["exit"], "tx") + drops(raw, [spec["exit"]], {"netem"})
        shares.append(packets(raw, spec["entry"], "rx") - entered)
    return shares if sum(share or 0 for share in shares) == total else [None] * len(shares)
