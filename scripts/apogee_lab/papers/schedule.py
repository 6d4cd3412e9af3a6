# SPDX-License-Identifier: GPL-2.0
"""Figures -> planned runs of the lab, each with the key that the lab will compute for it.

The schedule is written as JSON for Snakemake, which knows only commands and files: a run's file is
``build/runs/KEY/record.json``. A changed module or scenario gives other keys.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import scenarios
from ..base import repo_root, sources_hash
from ..runs import request, sweep
from .catalogue import Choice
from .figure import Cell

LAB = ("/usr/bin/python3", "-Xutf8", str(repo_root() / "scripts" / "lab"))
#: The sources that decide what figures and table show of a finished run.
_DRAWN_BY = ("papers", "results", "measures", "scenarios", "units.py", "../hstcp_table.py")


@dataclass(frozen=True)
class PlannedRun:
    """One run of the lab that a figure needs: its job, its cell, the command that makes it."""

    job: sweep.Job
    cell: Cell
    command: tuple[str, ...]

    @property
    def cost_s(self) -> float:
        """Its approximate CPU seconds."""
        return self.cell.cost_s(self.job.plan.duration_s, self.job.meta["engine"])


def command(cell: Cell, seed: int, duration_s: float, engine: str) -> tuple[str, ...]:
    """The command that makes the run. The modules are built once, before the first run."""
    sets = [word for option in cell.options(duration_s) for word in ("--set", option)]
    return (
        *LAB, "run", cell.scenario, "--cc", cell.cc, *sets, "--seed", str(seed),
        "--duration", f"{duration_s:g}", "--engine", engine, "--jobs", "1", "--no-build",
    )  # fmt: skip


def _identity(cell: Cell) -> tuple[Any, ...]:
    settings = tuple(sorted(cell.settings.items()))
    return cell.scenario, cell.cc, cell.duration_s, cell.first_seed, settings


def planned_runs(
    choices: Iterable[Choice],
    seeds: Sequence[int] | None,
    duration_s: float | None,
    engine: Any,
    engine_name: str = "qemu",
) -> dict[str, list[PlannedRun]]:
    """The runs of each figure; equal cells of several figures share their runs.

    ``seeds`` or ``duration_s`` None: each cell's own.
    """

    def of(cell: Cell) -> list[int]:
        last = cell.first_seed + cell.seeds
        return list(range(cell.first_seed, last) if seeds is None else seeds)

    choices = list(choices)
    every = [cell for choice in choices for cell in choice.figure.cells]
    # Of equal cells the one that asks for the most seeds.
    cells = {_identity(cell): cell for cell in sorted(every, key=lambda cell: cell.seeds)}
    made: dict[tuple[Any, ...], list[PlannedRun]] = {}
    for name, own_s in dict.fromkeys((cell.scenario, cell.duration_s) for cell in cells.values()):
        scenario, length_s = scenarios.SCENARIOS[name], duration_s or own_s
        mine = [c for c in cells.values() if (c.scenario, c.duration_s) == (name, own_s)]
        asked = []
        for cell in mine:
            request.parse_controls(cell.cc, scenario)
            settings = request.parse_settings(cell.options(length_s), scenario)
            asked += list(request.product([cell.cc], settings, of(cell), scenario.devices))
        compiled = sweep.compile_runs(scenario, asked, length_s)
        jobs = iter(sweep.make_jobs(scenario, engine, engine_name, engine.DEFAULT_KERNEL, compiled))
        for cell in mine:
            made[_identity(cell)] = [
                PlannedRun(next(jobs), cell, command(cell, seed, length_s, engine_name))
                for seed in of(cell)
            ]
    found = {}
    for choice in choices:
        own = [
            replace(run, cell=cell)
            for cell in choice.figure.cells
            for run in made[_identity(cell)][: len(of(cell))]
        ]
        found[choice.name] = list({(run.job.key, run.cell.variant): run for run in own}.values())
    return found


def finished(run: PlannedRun) -> bool:
    """Whether the run is finished; its record is recomputed if the measures have changed.

    The record of an incomplete run is removed, so that Snakemake makes the run again.
    """
    if sweep.finished(run.job) is not None:
        return True
    (run.job.folder / "record.json").unlink(missing_ok=True)
    return False


def version(seeds: Sequence[int] | None, duration_s: float | None) -> str:
    """Changes when figures or table may differ for the same records."""
    digest = hashlib.sha256(f"{seeds and list(seeds)} {duration_s}".encode())
    digest.update(sources_hash(*_DRAWN_BY).encode())
    return digest.hexdigest()[:16]


def _lengths(found: Sequence[PlannedRun]) -> dict[str, list[float]]:
    """Durations of these runs and numbers of seeds of their points, each once."""
    seeds = Counter((_identity(run.cell), run.cell.variant) for run in found)
    return {
        "durations_s": sorted({run.job.plan.duration_s for run in found}),
        "seeds": sorted(set(seeds.values())),
    }


def as_json(
    found: dict[str, list[PlannedRun]],
    seeds: Sequence[int] | None,
    duration_s: float | None,
    out: Path,
    table: Path,
) -> dict[str, Any]:
    """The schedule as Snakemake and draw_figures read it."""
    every = {run.job.key: run for figure in found.values() for run in figure}
    return {
        "version": version(seeds, duration_s),
        "runs_dir": str(sweep.RUNS),
        "out": str(out),
        "table": str(table),
        "runs": {
            key: {
                "label": run.job.label,
                "command": list(run.command),
                "cost_s": round(run.cost_s, 1),
            }
            for key, run in every.items()
        },
        "figures": {
            name: [{"key": run.job.key, "variant": run.cell.variant} for run in figure]
            for name, figure in found.items()
        },
        "lengths": {name: _lengths(figure) for name, figure in found.items()},
    }
