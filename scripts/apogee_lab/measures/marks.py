# SPDX-License-Identifier: GPL-2.0
"""What active queue management marked, and what it dropped for want of room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from .measure import Measure

if TYPE_CHECKING:
    from .measurement import Measurement


class Marked(TypedDict):
    """A queue with active management."""

    marks: Annotated[int, "packets", "with `aqm`: packets that it marked (ECN)"]
    overflows: Annotated[
        int, "packets", "`aqm=fq_codel`: those of `queue.drops` that were for want of room"
    ]


class MarksKeys(TypedDict):
    """Keys that the measure adds."""

    queue: Marked


def _of(qdisc: dict[str, Any]) -> dict[str, int]:
    """The counts of a qdisc as tc prints them, none if it is none of these."""
    if qdisc["kind"] == "fq_codel":
        return {"marks": qdisc["ecn_mark"], "overflows": qdisc["drop_overlimit"]}
    if qdisc["kind"] == "cake":
        return {"marks": sum(tin["ecn_mark"] for tin in qdisc["tins"])}
    if qdisc["kind"] == "pie":
        return {"marks": qdisc["ecn_mark"]}
    return {"marks": qdisc["marked"]} if qdisc["kind"] == "red" else {}


def _marks(run: Measurement) -> None:
    """The counts of the bottleneck, whole run; no keys without an AQM."""
    queue = run.record["queue"]
    for path in run.paths:
        netns, dev = path.facts["bottleneck"]
        for qdisc in run.raw.json(f"qdisc-{netns}.json"):
            if qdisc.get("dev") == dev:
                for key, count in _of(qdisc).items():
                    queue[key] = queue.get(key, 0) + int(count)


MARKS = Measure(_marks, MarksKeys)
