# SPDX-License-Identifier: GPL-2.0
"""How long a flow of a given number of bytes takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from .measure import Measure

if TYPE_CHECKING:
    from .measurement import Measurement


class WholeKeys(TypedDict, total=False):
    """Keys with a number of bytes."""

    whole_s: Annotated[
        float | None, "s",
        "with `bytes`: from the first SYN to the arrival of the last byte; null if it did not come",
    ]  # fmt: skip


def _whole(run: Measurement) -> None:
    wanted = run.specs[0].get("bytes", 0)
    if not wanted:
        return
    (flow,) = run.flows
    times, counts = flow.arrivals.times, flow.arrivals.counts
    done = counts[-1] >= wanted
    run.record["whole_s"] = round(float(times[-1] - flow.syn_us) / 1e6, 3) if done else None


WHOLE = Measure(_whole, WholeKeys)
