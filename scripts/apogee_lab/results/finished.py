# SPDX-License-Identifier: GPL-2.0
"""Finished runs, loaded from their folders."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..measures import traces
from ..measures.arrivals import Arrivals
from ..measures.raw import RawFolder
from ..measures.record import RecordError


@dataclass(frozen=True)
class FinishedRun:
    """A run's record and raw folder, the input of figures over time."""

    raw: Path
    meta: dict[str, Any]
    record: dict[str, Any]

    @classmethod
    def load(cls, raw: Path) -> FinishedRun:
        """The finished run in this folder; RecordError if there is none."""
        try:
            meta = json.loads((raw / "run.json").read_text(encoding="utf-8"))["meta"]
            record = json.loads((raw / "record.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError):
            raise RecordError(f"{raw} is not the folder of a finished run") from None
        return cls(raw, meta, record)

    @cached_property
    def folder(self) -> RawFolder:
        """The raw results; each file is read at most once."""
        return RawFolder(self.raw)

    @property
    def start_us(self) -> int:
        """Time of the first SYN."""
        return min(self.folder.sender(flow["name"])["syn_us"] for flow in self.meta["flows"])

    @property
    def end_s(self) -> float:
        """Seconds from the first SYN to the end of the measured interval."""
        interval = self.record.get("interval", {"from_s": 0.0, "over_s": self.record["duration_s"]})
        return interval["from_s"] + interval["over_s"]

    def arrivals(self) -> list[Arrivals]:
        """Arrivals over time at each flow's receiver."""
        return [self.folder.arrivals(flow["name"]) for flow in self.meta["flows"]]

    def trace(self, flow: int = 0) -> dict[str, traces.Series]:
        """The trace's time series of one flow; RecordError if nothing was traced."""
        ports = [spec["port"] for spec in self.meta["flows"]]
        series = self.folder.series(ports).get(ports[flow])
        if not series:
            raise RecordError(
                f"run {self.record['run']} ({self.record['cc']}) has no trace: run it with "
                "--set trace=probe or --set trace=all"
            )
        if not traces.whole(self.raw):
            raise RecordError(
                f"the trace of run {self.record['run']} has lost events: trace a shorter run"
            )
        return series
