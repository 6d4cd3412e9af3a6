# SPDX-License-Identifier: GPL-2.0
"""The runs of an atlas in the model, kept by what they depend on, as an engine's are."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base import LabError, UsageError, key_of, one_line
from ..measures import transfers
from ..model import options, program
from ..runs import request
from ..runs.sweep import Compiled
from ..scenarios.scenario import members
from . import traces
from .jobs import Asked
from .results import Result, of_record
from .space import Space

FOLDER = traces.FOLDER / "model"


@dataclass(frozen=True)
class Modelled:
    """One run of the model, or why it failed."""

    number: int
    name: str
    result: Result | None
    why: str = ""


def runs(space: Space, found: Sequence[Asked], at_once: int, fresh: bool) -> Iterator[Modelled]:
    """The runs of all paths, in their order, as they are done."""
    todo = [
        (one.path.number, name, _options(space, one, index), one.compiled[index])
        for one in found
        for index, name in enumerate(one.names)
    ]
    program.program()
    FOLDER.mkdir(parents=True, exist_ok=True)
    pool = ThreadPoolExecutor(at_once)
    try:
        yield from pool.map(lambda job: _run(space, *job, fresh), todo)
    finally:
        pool.shutdown(cancel_futures=True)


def _options(space: Space, one: Asked, index: int) -> list[str]:
    run = one.compiled[index]
    values: dict[str, Any] = {**request.all_values(one.scenario, run.chosen), "seed": run.seed}
    try:
        return options.of(one.scenario.name, values, run.mix, space.duration_s)
    except UsageError as error:
        text = f"space {space.name}: path {one.path.number}: {error}"
        raise UsageError(one_line(text)) from None


def _run(
    space: Space, number: int, name: str, words: list[str], asked: Compiled, fresh: bool
) -> Modelled:
    key = key_of(program.program().name, *words)
    kept = FOLDER / f"{key}.json"
    try:
        done = None if fresh else _kept(kept)
        if done is None:
            done = program.run(words)
            _keep(kept, done)
    except LabError as error:
        return Modelled(number, name, None, str(error))
    return Modelled(number, name, of_record(_record(done, key, asked), space.measure))


def _keep(path: Path, done: dict[str, Any]) -> None:
    """Write a result, not waiting for the disk: what a power cut leaves is run again. Another atlas
    may keep the same run at the same time."""
    handle, part = tempfile.mkstemp(suffix=".new", dir=path.parent)
    with open(handle, "w", encoding="utf-8") as file:
        json.dump(done, file)
    Path(part).replace(path)


def _kept(path: Path) -> dict[str, Any] | None:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _record(done: dict[str, Any], key: str, asked: Compiled) -> dict[str, Any]:
    """What the model says in the form of a record, as far as an atlas needs it."""
    found = {
        "flows": [
            {
                "goodput_bps": flow["goodput"],
                "segments": flow["sent"],
                "queue_drops": flow["dropped"],
                "rtt_ms": {"mean": flow["srtt_mean"] or None},
            }
            for flow in done["flows"]
        ],
        "total_goodput_bps": done["goodput"],
        "queue": {"drops": done["drops"]},
        "jain": done["jain"],
        "run": key,
    }
    if "transfers" in done:
        found |= {
            "set": {"persistent": 1},
            "bdp_bytes": sum(path.bdp_bytes for path in asked.plan.paths),
            "limit_bps": asked.plan.limit_bps,
            "requests": transfers.summary(done["transfers"]),
        }
    return found


def progress(every: Iterator[Modelled], total: int) -> Iterator[Modelled]:
    """The runs, with a line on standard error for each tenth of them."""
    for count, one in enumerate(every, 1):
        if count * 10 // total > (count - 1) * 10 // total:
            print(f"[{count}/{total}] model", file=sys.stderr, flush=True)
        yield one


def known(names: Sequence[str]) -> None:
    """UsageError if the model lacks one of these algorithms."""
    for name in names:
        for one in members(name):
            if one not in program.CONTROLS:
                listed = ", ".join(program.CONTROLS)
                raise UsageError(f"--model: there is no {one} in it; choose from: {listed}")
