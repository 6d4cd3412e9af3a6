# SPDX-License-Identifier: GPL-2.0
"""Attribution of dropped frames to flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .raw import RawFolder

#: Qdiscs that emulate losses on a link.
LOSSY = {"netem"}


def switch_drops(raw: RawFolder, specs: list[dict[str, Any]]) -> int:
    """Frames dropped by the queues of the senders' own links."""
    return raw.drops([spec["switch"] for spec in specs if "switch" in spec], LOSSY)


def hop_drops(raw: RawFolder, spec: dict[str, Any]) -> dict[str, int]:
    """A flow's frames dropped behind the bottleneck, and by its own switch."""
    found = {"link_drops": raw.drops([spec["exit"]], LOSSY)}
    if "switch" in spec:
        found["switch_drops"] = switch_drops(raw, [spec])
    return found


def duplicates_of(raw: RawFolder, netns: str) -> int | None:
    """Duplicate segments that a receiver reported by D-SACK; None if it has no such counter."""
    counters = raw.nstat(netns)
    found = [counters.get(f"TcpExtTCPDSACK{kind}Sent") for kind in ("Old", "Ofo")]
    return None if None in found else sum(found)


def shares_of_queue(raw: RawFolder, specs: list[dict[str, Any]], total: int) -> list[int | None]:
    """Frames of each flow dropped by the queue: those that came in but did not enter the hop.

    None for each if they do not add up to ``total``.
    """
    shares: list[int | None] = []
    for spec in specs:
        entered = raw.packets(spec["exit"], "tx") + raw.drops([spec["exit"]], LOSSY)
        shares.append(raw.packets(spec["entry"], "rx") - entered)
    return shares if sum(share or 0 for share in shares) == total else [None] * len(shares)
