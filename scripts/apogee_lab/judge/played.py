# SPDX-License-Identifier: GPL-2.0
"""The runs of a card are made, first one of each algorithm that somebody gave: what crashes the
guest or cannot be loaded does so in each run, and a guest that hangs takes half an hour."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..runs import sweep
from .run import Run


@dataclass
class Played:
    """Records, and reasons of runs without one, by run and seed; ``interrupted`` says how far it
    came."""

    records: dict[tuple[Run, int], Any] = field(default_factory=dict)
    reasons: dict[tuple[Run, int], str] = field(default_factory=dict)
    interrupted: str = ""


def play(
    wanted: Sequence[tuple[Run, int]],
    jobs: Sequence[sweep.Job],
    given: Sequence[str],
    swept: Callable[[list[sweep.Job]], sweep.Sweep],
) -> Played:
    """Make these runs by sweeps of ``swept``. Of a given algorithm whose first run fails no other
    run is made."""
    found = Played()
    for part in _parts(wanted, given, found):
        work = swept([jobs[index] for index in part])
        try:
            work.run()
        except sweep.Interrupted:
            found.interrupted = work.interrupted
            return found
        for index, record in zip(part, work.records, strict=True):
            found.records[wanted[index]] = record
        for at, failure in work.failures.items():
            found.reasons[wanted[part[at]]] = failure.reason
    return found


def _parts(
    wanted: Sequence[tuple[Run, int]], given: Sequence[str], found: Played
) -> Iterator[list[int]]:
    """Indices of the first run of each given algorithm, then of all others but of those that
    failed."""
    names = [{*re.findall(r"[a-z][a-z0-9_-]*", run.mix)} for run, _ in wanted]
    first = {name: next((i for i, n in enumerate(names) if name in n), None) for name in given}
    tried = sorted({index for index in first.values() if index is not None})
    if tried:
        yield tried
    broken = {}
    for name, index in first.items():
        if index is not None and wanted[index] in found.reasons:
            broken[name] = found.reasons[wanted[index]]
    rest = []
    for index, mix in enumerate(names):
        reason = next((broken[name] for name in broken if name in mix), None)
        if index in tried:
            continue
        if reason is None:
            rest.append(index)
        else:
            found.reasons[wanted[index]] = reason
    if rest:
        yield rest
