# SPDX-License-Identifier: GPL-2.0
"""The runs of a card are made, first one of each stranger among the algorithms: what crashes the
guest or cannot be loaded does so in each run. Of one that hangs its guest few more are made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..runs import sweep
from .run import Run

#: CPU seconds in which a guest's clock advances by ten seconds at least: the longest of all runs
#: takes four on a server's CPU.
SPUN_S = 60.0
#: Runs in which a stranger may hang the guest; then no other is made.
HANGS = 3


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
    strangers: Sequence[str],
    swept: Callable[[list[sweep.Job]], sweep.Sweep],
) -> Played:
    """Make these runs by sweeps of ``swept``. Of a stranger whose first run fails, or which has
    hung its guest some times, no other run is made."""
    found = Played()
    mixes = [names_in(run) & {*strangers} for run, _ in wanted]
    for part in _parts(wanted, mixes, found):
        work = swept([jobs[index] for index in part])
        work.unwanted = _unwanted(work, [mixes[index] for index in part])
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


def names_in(run: Run) -> set[str]:
    """The algorithms of a run."""
    return {*re.findall(r"[a-z][a-z0-9_-]*", run.mix)}


def _unwanted(work: sweep.Sweep, mixes: Sequence[set[str]]) -> Callable[[int], str]:
    """Why a run of a sweep is not to be made any more; the strangers in each are given."""

    def why(index: int) -> str:
        for name in sorted(mixes[index]):
            hung = [at for at, one in work.failures.items() if one.hung and name in mixes[at]]
            if len(hung) >= HANGS:
                return f"{name} hung the guest in {HANGS} other runs"
        return ""

    return why


def _parts(
    wanted: Sequence[tuple[Run, int]], mixes: Sequence[set[str]], found: Played
) -> Iterator[list[int]]:
    """Indices of the first run of each stranger, then of all others but of those whose stranger's
    first one failed."""
    first: dict[str, int] = {}
    for index, names in enumerate(mixes):
        for name in names:
            first.setdefault(name, index)
    tried = sorted({*first.values()})
    if tried:
        yield tried
    rest = []
    for index, names in enumerate(mixes):
        if index in tried:
            continue
        reasons = (found.reasons.get(wanted[first[name]]) for name in sorted(names))
        if reason := next(filter(None, reasons), None):
            found.reasons[wanted[index]] = reason
        else:
            rest.append(index)
    if rest:
        yield rest
