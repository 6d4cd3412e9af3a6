# SPDX-License-Identifier: GPL-2.0
"""Figures -> the lab's runs, each under the key that the lab itself will give it.

The plan is written as JSON for Snakemake, which knows nothing but commands and files: a run's file
is ``build/runs/KEY/record.json``. A module or a scenario that has changed gives other keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import request, scenarios, sweep
from .catalogue import Choice
from .model import Cell

LAB = ("/usr/bin/python3", str(sweep.ROOT / "scripts" / "lab"))
#: Sources that decide what a finished run looks like in figures and table.
_PACKAGE = Path(__file__).parent
_DRAWN_BY = (
    *sorted(_PACKAGE.glob("*.py")),
    *(_PACKAGE.parent / name for name in ("plots.py", "records.py", "table.py", "traces.py")),
)


@dataclass(frozen=True)
class Run:
    """One run of the lab: where it goes, how it is made, which cell it belongs to."""

    job: sweep.Job
    cell: Cell
    command: tuple[str, ...]


def command(cell: Cell, seed: int, duration_s: float, engine: str) -> tuple[str, ...]:
    """What makes the run. The modules are built once, before the first run."""
    sets = [word for option in cell.options(duration_s) for word in ("--set", option)]
    return (
        *LAB, "run", cell.scenario, "--cc", cell.cc, *sets, "--seed", str(seed),
        "--duration", f"{duration_s:g}", "--engine", engine, "--jobs", "1", "--no-build",
    )  # fmt: skip


def _identity(cell: Cell) -> tuple[Any, ...]:
    return cell.scenario, cell.cc, tuple(sorted(cell.settings.items()))


def runs(
    choices: Iterable[Choice],
    seeds: Sequence[int],
    duration_s: float,
    engine: Any,
    engine_name: str = "qemu",
) -> dict[str, list[Run]]:
    """The runs of each figure; equal cells of several figures are one set of runs."""
    choices = list(choices)
    cells = {_identity(cell): cell for choice in choices for cell in choice.figure.cells}
    made: dict[tuple[Any, ...], list[Run]] = {}
    for name in dict.fromkeys(cell.scenario for cell in cells.values()):
        scenario = scenarios.SCENARIOS[name]
        mine = [cell for cell in cells.values() if cell.scenario == name]
        asked = []
        for cell in mine:
            request.parse_controls(cell.cc, scenario)
            settings = request.parse_settings(cell.options(duration_s), scenario)
            asked += list(request.product([cell.cc], settings, list(seeds)))
        jobs = iter(
            sweep.make_jobs(scenario, engine, engine_name, engine.DEFAULT_KERNEL, asked, duration_s)
        )
        for cell in mine:
            made[_identity(cell)] = [
                Run(next(jobs), cell, command(cell, seed, duration_s, engine_name))
                for seed in seeds
            ]
    found = {}
    for choice in choices:
        every = [run for cell in choice.figure.cells for run in made[_identity(cell)]]
        found[choice.name] = list({run.job.key: run for run in every}.values())
    return found


def finished(run: Run) -> bool:
    """Whether the run is there and whole; its record is brought up to date with the measures.

    A record without a whole run behind it is removed, so that Snakemake makes it again.
    """
    if sweep.finished(run.job) is not None:
        return True
    (run.job.folder / "record.json").unlink(missing_ok=True)
    return False


def version(seeds: Sequence[int], duration_s: float) -> str:
    """Changes when figures or table may come out differently from the same records."""
    digest = hashlib.sha256(f"{list(seeds)} {duration_s:g}".encode())
    for path in _DRAWN_BY:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def as_json(
    found: dict[str, list[Run]], seeds: Sequence[int], duration_s: float, out: Path, table: Path
) -> dict[str, Any]:
    """The plan as Snakemake and the drawing read it."""
    every = {run.job.key: run for figure in found.values() for run in figure}
    return {
        "seeds": list(seeds),
        "duration_s": duration_s,
        "version": version(seeds, duration_s),
        "runs_dir": str(sweep.RUNS),
        "out": str(out),
        "table": str(table),
        "runs": {
            key: {
                "label": run.job.label,
                "command": list(run.command),
                "cost_s": round(run.cell.cost_s(duration_s, run.job.meta["engine"]), 1),
            }
            for key, run in every.items()
        },
        "figures": {
            name: [{"key": run.job.key, "variant": run.cell.variant} for run in figure]
            for name, figure in found.items()
        },
    }
