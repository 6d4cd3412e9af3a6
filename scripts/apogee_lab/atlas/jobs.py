# SPDX-License-Identifier: GPL-2.0
"""The runs of an atlas, for a sweep: each algorithm or way on each path, with the path's seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import scenarios
from ..base import UsageError, one_line
from ..runs import request, sweep
from ..scenarios.scenario import Scenario
from .space import RandomPath, Space


@dataclass(frozen=True)
class Asked:
    """A path with the compiled run of each algorithm or way that it has."""

    path: RandomPath
    names: tuple[str, ...]
    compiled: tuple[sweep.Compiled, ...]

    @property
    def scenario(self) -> Scenario:
        """Its scenario."""
        return scenarios.SCENARIOS[self.path.scenario]


def asked(
    space: Space, paths: Sequence[RandomPath], names: Sequence[str], more: Sequence[str]
) -> list[Asked]:
    """The runs of these algorithms or ways on these paths; ``more`` are --set of the user's own.

    UsageError for a path that its scenario does not take.
    """
    found = []
    for path in paths:
        try:
            here = tuple(name for name in names if path.has(name))
            runs = _runs(path, here, more)
            compiled = sweep.compile_runs(
                scenarios.SCENARIOS[path.scenario], runs, space.duration_s
            )
        except UsageError as error:
            message = f"space {space.name}: path {path.number}: {error}"
            raise UsageError(one_line(message)) from None
        found.append(Asked(path, here, tuple(compiled)))
    return found


def _runs(
    path: RandomPath, names: Sequence[str], more: Sequence[str]
) -> list[tuple[str, dict[str, Any], int]]:
    scenario = scenarios.SCENARIOS[path.scenario]
    found: list[tuple[str, dict[str, Any], int]] = []
    for alike in [list(names)] if path.ways is None else [[name] for name in names]:
        settings = request.parse_settings(settings_of(path, alike[0], more), scenario)
        for key, values in settings.items():
            if len(values) > 1:
                raise UsageError(f"--set {key}: one value is needed, no list")
        mixes = [path.cc(name) for name in alike]
        request.parse_controls(",".join(mixes), scenario)
        found += request.product(mixes, settings, [path.seed], scenario.devices)
    return found


def settings_of(path: RandomPath, name: str, more: Sequence[str]) -> list[str]:
    """The settings of an algorithm's or way's run, those of the user's own over the path's."""
    given = [text.partition("=")[0] for text in more]
    own = [text for text in path.options(name) if text.partition("=")[0] not in given]
    return [*own, *more]


def jobs(
    found: Sequence[Asked], engine: sweep.Engine, engine_name: str, kernel: str
) -> list[sweep.Job]:
    """Their jobs, path by path."""
    made: dict[tuple[int, str], sweep.Job] = {}
    for scenario in {one.scenario.name: one.scenario for one in found}.values():
        mine = [one for one in found if one.scenario is scenario]
        runs = [run for one in mine for run in one.compiled]
        every = iter(sweep.make_jobs(scenario, engine, engine_name, kernel, runs))
        for one in mine:
            for name in one.names:
                said = name if one.path.ways else one.path.cc(name)
                label = f"path {one.path.number} {said}"
                made[one.path.number, name] = replace(next(every), label=label)
    return [made[one.path.number, name] for one in found for name in one.names]
