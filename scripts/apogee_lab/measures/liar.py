# SPDX-License-Identifier: GPL-2.0
"""What a receiver that lies has got, and how soon data flows again when it is honest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from .measure import Measure

if TYPE_CHECKING:
    from .measurement import Measurement


class Lie(TypedDict):
    """Counted while the receiver lies: 8 s, with `lie_rtt=long` 15 s."""

    segments: Annotated[int, "segments", "sent while the receiver lies"]
    again: Annotated[int, "segments", "of these sent before"]
    dropped: Annotated[int, "segments", "of these dropped at the queue"]
    flight: Annotated[int, "segments", "most that was sent and not acknowledged"]
    cwnd: Annotated[int, "segments", "largest window"]
    resumed_s: Annotated[float | None, "s", "from the lie's end to the next new data; null: never"]
    half_s: Annotated[float | None, "s", "to a second with half of the rate; null: never"]


class LiarKeys(TypedDict, total=False):
    """Keys with a receiver that lies."""

    liar: Lie


def _liar(run: Measurement) -> None:
    if not run.raw.has("liar"):
        return
    line = (run.raw.path / "liar").read_text(encoding="utf-8").partition("\n")[0]
    said = dict(word.split("=", 1) for word in line.split())
    counts = {key: int(said[key]) for key in ("segments", "again", "dropped", "flight", "cwnd")}
    times = {key: int(said[f"{key}_ms"]) for key in ("resumed", "half")}
    run.record["liar"] = counts | {
        f"{key}_s": None if ms < 0 else ms / 1000 for key, ms in times.items()
    }


LIAR = Measure(_liar, LiarKeys)
