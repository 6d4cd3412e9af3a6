# SPDX-License-Identifier: GPL-2.0
"""An atlas as text and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import Any

from ..results.text import as_text
from . import numbers
from .results import Compared, Result
from .space import RandomPath, Space

WORST = 10
GROUPS = 10

#: The command that repeats a path; in a space of ways one for each of these ways, a line each.
Command = Callable[[RandomPath, Sequence[str]], str]


def text(space: Space, cc: str, found: Sequence[Compared], again: str) -> str:
    """The whole page of one algorithm; ``again`` is the command that repeats the path PATH."""
    return "\n\n".join(
        [
            f"{_head(space, cc, found)}\n{_quantiles(found)}",
            f"What the bad paths share:\n{_groups(space, found)}",
            f"The worst, each repeated by\n{_broken(again)}\n{_worst(found)}",
        ]
    )


def _head(space: Space, cc: str, found: Sequence[Compared]) -> str:
    ratios = [one.ratio for one in found]
    below = sum(ratio < numbers.BAD for ratio in ratios)
    ahead = sum(ratio >= 1 for ratio in ratios)
    return (
        f"{cc} on {len(found)} paths of {space.name} ({space.duration_s:g} s each): below "
        f"{numbers.BAD:g} of {_best(numbers.peers(found))} on {below}, at least equal on {ahead}"
    )


def _best(peers: Sequence[str]) -> str:
    """The better peer in words; a row of the table names each."""
    match peers:
        case [one]:
            return one
        case [one, other]:
            return f"the better of {one} and {other}"
        case _:
            return f"the best of {len(peers)} peers"


def _quantiles(found: Sequence[Compared]) -> str:
    table = [["", *numbers.QUANTILES]]
    for name, values, decimals in numbers.rows(found):
        if values:
            table.append([name, *(f"{q:.{decimals}f}" for q in numbers.quantiles(values))])
    return as_text(table)


def _groups(space: Space, found: Sequence[Compared]) -> str:
    table = [["", "paths", "bad", "elsewhere", "by chance"]]
    for group in numbers.groups(space, found)[:GROUPS]:
        shares = [_share(group.bad, group.paths), _share(group.elsewhere, group.others)]
        table.append([group.name, str(group.paths), *shares, f"{group.chance:.2g}"])
    return as_text(table) if len(table) > 1 else "  nothing"


def _share(count: int, of: int) -> str:
    return f"{count} ({100 * count / of:.0f} %)"


def _worst(found: Sequence[Compared]) -> str:
    worst = sorted(found, key=lambda one: one.ratio)[:WORST]
    rows = [[str(one.path.number), f"{one.ratio:.2f}", one.better] for one in worst]
    return as_text([["PATH", "ratio", "better peer"], *rows])


def _broken(command: str) -> str:
    """A command on lines of up to 120 characters, which a shell reads as one."""
    words = wrap(command, 116, break_long_words=False, break_on_hyphens=False)
    return "  " + " \\\n    ".join(words)


def as_json(
    space: Space,
    seed: int,
    path: RandomPath,
    results: Mapping[str, Result],
    command: Command,
    engine: str,
    more: Sequence[str],
) -> str:
    """A path with its results, as one line; ``more`` are --set of the user's own."""
    own = dict(text.split("=", 1) for text in more)
    return json.dumps(
        {
            "space": space.name,
            "seed": seed,
            "path": path.number,
            "engine": engine,
            "duration_s": space.duration_s,
            "scenario": path.scenario,
            "run_seed": path.seed,
            "set": path.settings | own
            if path.ways is None
            else {name: settings | own for name, settings in path.ways.items()},
            "drawn": {name: path.drawn[name] for name in space.own},
            "results": {name: _finite(asdict(result)) for name, result in results.items()},
            "command": command(path, list(results)),
        },
        ensure_ascii=False,
    )


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v
            for k, v in values.items()}  # fmt: skip
