# SPDX-License-Identifier: GPL-2.0
"""Whose frames were dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .raw import RawFolder

#: Qdiscs that lose frames as a link does.
LOSSY = {"netem"}


def switch_drops(raw: RawFolder, specs: list[dict[str, Any]]) -> int:
    """Frames that the senders' own links' queues dropped."""
    return raw.drops([spec["switch"] for spec in specs if "switch" in spec], LOSSY)


def hop_drops(raw: RawFolder, spec: dict[str, Any]) -> dict[str, int]:
    """A flow's own frames that were dropped behind the bottleneck, and by its own switch."""
    found = {"link_drops": raw.drops([spec["exit"]], LOSSY)}
    if "switch" in spec:
        found["switch_drops"] = switch_drops(raw, [spec])
    return found


def duplicates_of(raw: RawFolder, netns: str) -> int | None:
    """Duplicate segments that a receiver reported by D-SACK; None if it did not count them."""
    counters = raw.nstat(netns)
    found = [counters.get(f"TcpExtTCPDSACK{kind}Sent") for kind in ("Old", "Ofo")]
    return None if None in found else sum(found)


def shares_of_queue(raw: RawFolder, specs: list[dict[str, Any]], total: int) -> list[int | None]:
    """Frames of each flow that the queue dropped: those that came and did not enter the hop.

    None for all if the shares do not add up to ``total``.
    """
    shares: list[int | None] = []
    for spec in specs:
        entered = raw.packets(spec["exit"], "tx") + raw.drops([spec["exit"]], LOSSY)
        shares.append(raw.packets(spec["entry"], "rx") - entered)
    return shares if sum(share or 0 for share in shares) == total else [None] * len(shares)
