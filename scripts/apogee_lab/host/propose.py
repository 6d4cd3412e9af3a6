# SPDX-License-Identifier: GPL-2.0
"""An algorithm and a qdisc for a described path, with the reason and the report card's figures.

Whether CUBIC fills the path although packets are lost at random is computed by RFC 9438, which has
its mean window for a loss probability p and a round trip time R, in packets: the larger of
1.054 (R / p)^(3/4) (section 5.1, C = 0.4, beta = 0.7) and of Reno's sqrt(3 / (2 p)). If that is at
least the bandwidth-delay product, loss is no reason to choose another.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from .. import units
from ..base import UsageError, repo_root
from .tune import PACKET, WINDOW_MAX, Path, settings

LONG_S = 0.1  # a round trip from which a flow's start decides what a transfer takes
FAT = 1000  # packets in a bandwidth-delay product from which Reno takes minutes for a window
CARDS = "docs/results/judge"


@dataclass(frozen=True)
class Proposal:
    """An algorithm, its module, the reason, and what it needs besides."""

    algorithm: str
    module: str
    reason: str
    beware: str = ""


def loss_of(text: str) -> float:
    """The share of packets lost at random; UsageError if it is none."""
    try:
        share = float(units.parse("share", text))  # type: ignore[arg-type]
    except units.UnitError as error:
        raise UsageError(str(error)) from None
    if share >= 0.5:
        raise UsageError(f"--loss {text}: out of range, allowed: 0 to less than 50%")
    return share


def cubic_window(loss: float, rtt: float) -> float:
    """CUBIC's mean window in packets under random loss; infinite without."""
    if not loss:
        return math.inf
    return max(1.054 * (rtt / loss) ** 0.75, math.sqrt(1.5 / loss))


def propose(path: Path, loss: float, shared: bool) -> Proposal:
    """What suits the path, if anything but the kernel's default does."""
    product = max(1, -(-path.product // PACKET))
    share = min(1.0, cubic_window(loss, path.rtt) / product)
    if share < 1:
        reason = (
            f"With {100 * loss:.2g} % of all packets lost at random CUBIC's mean window (RFC 9438) "
            f"is {share * 100:.0f} % of the path's {product} packets; star tells such losses from "
            "congestion."
        )
        beware = (
            "Others share the queue: in one of less than a bandwidth-delay product, "
            f"{product} packets, star takes too much from Reno, in a tenth of it from CUBIC, too."
            if shared else ""
        )  # fmt: skip
        return Proposal("star", "tcp_star", reason, beware)
    if shared and product >= FAT:
        reason = (
            f"{product} packets are in flight: Reno would take {product // 2} round trips to "
            "regain a halved window; hstcp_gentle does not, and yields to loss-based flows."
        )
        return Proposal("hstcp_gentle", "tcp_hstcp_gentle", reason)
    if not shared and path.rtt >= LONG_S:
        reason = (
            "Nobody else is on the path, and its round trip is long: star fills it within a few, "
            "and keeps the queue short."
        )
        return Proposal("star", "tcp_star", reason)
    reason = "CUBIC's mean window fills the path: nothing is gained by another algorithm."
    return Proposal("cubic", "tcp_cubic", reason)


def _figure(criterion: dict[str, Any], algorithm: str) -> str:
    """The first measure of a criterion that is not met."""
    for test in criterion["tests"]:
        for case in test["cells"].get(algorithm, {"cases": []})["cases"]:
            if case["verdict"] == "not met" and case["value"] is not None:
                name = f", {case['case']}" if case["case"] else ""
                return f"{test['title']}{name}: {case['value']:.2g}, met {test['met']}"
    return ""


def card_of(algorithm: str) -> tuple[str, list[dict[str, str]]]:
    """The report card's file, a whole one if there is one, and what it says: section, title, level,
    verdict, and the figure of what is not met. Nothing without a card."""
    for name in (f"{algorithm}/card.json", "card.json"):
        path = repo_root() / CARDS / name
        card = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        if card and algorithm in card["algorithms"]:
            return f"{CARDS}/{name}", [
                {
                    **{key: one[key] for key in ("section", "title", "level")},
                    "verdict": one["verdicts"][algorithm],
                    "figure": _figure(one, algorithm),
                }
                for one in card["criteria"]
                if one["verdicts"].get(algorithm, "text") != "text"
            ]
    return "", []


def as_text(path: Path, found: Proposal) -> list[str]:
    """The proposal as paragraphs of a comment."""
    card, verdicts = card_of(found.algorithm)
    told = ""
    for verdict in ("not met", "not shown"):
        which = [
            one["section"] + (f" ({one['figure']})" if one["figure"] else "")
            for one in verdicts
            if one["verdict"] == verdict
        ]
        told += f"{verdict}: {', '.join(which)}; " if which else ""
    return [
        f"Proposed: {found.algorithm}. {found.reason}",
        found.beware,
        f"Its report card ({card}): {told}all else met." if verdicts else "",
        f"  modprobe {found.module}; sysctl -w net.ipv4.tcp_congestion_control={found.algorithm}",
    ]


def as_json(path: Path, loss: float, shared: bool) -> str:
    """All of it as one object."""
    found = propose(path, loss, shared)
    window = cubic_window(loss, path.rtt)
    packets = -(-path.product // PACKET)
    return json.dumps(
        {
            "path": {"rate_bps": path.rate, "rtt_s": path.rtt, "loss": loss, "shared": shared},
            "product_bytes": path.product,
            "window_bytes": path.window,
            "window_limited": path.window == WINDOW_MAX,
            "cubic_share": round(min(1.0, window / max(1, packets)), 4),
            "algorithm": found.algorithm,
            "module": found.module,
            "reason": found.reason,
            "beware": found.beware,
            "qdisc": "fq",
            "sysctl": {one.key: one.value for one in settings(path)},
            "card": card_of(found.algorithm)[1],
        },
        indent=1,
    )
