# SPDX-License-Identifier: GPL-2.0
"""The records that claims and tables were computed from, kept in one compressed file.

A line is the record of a run and what a figure adds to it, with the names of figure and variant.
``docs/results/records`` has such files; files can be joined by ``cat``.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..base import LabError
from ..runs import request
from . import report, summary
from .catalogue import Choice, choose
from .claims import Results

FIGURE, VARIANT = "figure", "variant"

Record = dict[str, Any]
#: The records of each figure by variant.
Kept = dict[str, dict[str, list[Record]]]


def as_lines(figure: str, records: Mapping[str, Iterable[Record]]) -> str:
    """The lines of one figure."""
    return "".join(
        json.dumps({FIGURE: figure, VARIANT: variant, **record}, separators=(",", ":")) + "\n"
        for variant, found in records.items()
        for record in found
    )


def compressed(lines: Iterable[str]) -> bytes:
    """The octets of a file of these lines."""
    return lzma.compress("".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)


def read(path: Path) -> Kept:
    """What a file holds; LabError if it is no such file."""
    kept: Kept = {}
    runs: set[tuple[str, str, str]] = set()
    try:
        for line in lzma.decompress(path.read_bytes()).decode().splitlines():
            record = json.loads(line)
            place = record.pop(FIGURE), record.pop(VARIANT)
            run = (*place, record["run"])
            if run in runs:
                raise LabError(f"{path} holds run {record['run']} of {place[0]} twice")
            runs.add(run)
            if "set" in record:
                record["set"] = request.completed(record)
            kept.setdefault(place[0], {}).setdefault(place[1], []).append(record)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}") from None
    except (lzma.LZMAError, ValueError, KeyError, TypeError, AttributeError):
        raise LabError(f"{path} is no file of records") from None
    return kept


def _lengths(records: Iterable[Record]) -> dict[str, list[float]]:
    seeds: dict[str, set[int]] = {}
    durations = set()
    for record in records:
        durations.add(record["duration_s"])
        point = json.dumps([record["cc"], record["set"]], sort_keys=True)
        seeds.setdefault(point, set()).add(record["seed"])
    return {"durations_s": sorted(durations), "seeds": sorted({len(s) for s in seeds.values()})}


def _results(kept: Kept, choice: Choice) -> dict[str, Results]:
    return {variant: Results(found) for variant, found in kept[choice.name].items()}


def _runs(kept: Kept, choices: Iterable[Choice]) -> tuple[dict[str, Any], set[str]]:
    """Of figures the lengths of their runs, as a schedule has them, and all kernels."""
    records = {
        choice.name: [record for found in kept[choice.name].values() for record in found]
        for choice in choices
    }
    kernels = {record["kernel"] for found in records.values() for record in found}
    return {"lengths": {name: _lengths(found) for name, found in records.items()}}, kernels


def page(kept: Kept) -> str:
    """Rows and tables, computed again."""
    choices = choose(list(kept))
    results = {choice.name: _results(kept, choice) for choice in choices}
    rows = {choice.name: report.rows(choice, results[choice.name]) for choice in choices}
    tables = {choice.name: report.tables(choice, results[choice.name]) for choice in choices}
    return report.markdown(choices, rows, *_runs(kept, choices), tables)


def short(kept: Kept) -> str:
    """What the page of a paper shows of them."""
    choices = choose(list(kept))
    schedule, kernels = _runs(kept, choices)
    found = [(choice, report.rows(choice, _results(kept, choice))) for choice in choices]
    told = report.runs(schedule, [choice.name for choice in choices], kernels)
    return summary.markdown(choices[0].paper, found, told)
