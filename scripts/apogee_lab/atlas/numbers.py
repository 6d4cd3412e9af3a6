# SPDX-License-Identifier: GPL-2.0
"""An atlas in numbers: quantiles, and what the bad paths share.

A path is bad if the algorithm has less than 90 % of the better peer; if there is none, the worst
tenth of the paths is taken. A group of paths (those with jitter, the third with the least rate)
is ranked by how improbable it is that so many of the bad paths are in it by chance, which is the
upper tail of the hypergeometric distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .. import units
from ..results.text import show
from .expressions import kind_in
from .results import Compared, Result, quotient
from .space import Space

BAD = 0.9
QUANTILES = {"least": 0, "5 %": 5, "25 %": 25, "median": 50, "75 %": 75, "95 %": 95, "most": 100}


def quantiles(values: Sequence[float]) -> list[float]:
    """The QUANTILES of these values, each the nearest one of them."""
    ordered = sorted(values)
    return [ordered[round(q / 100 * (len(ordered) - 1))] for q in QUANTILES.values()]


def peers(found: Sequence[Compared]) -> list[str]:
    """All peers; a path may lack one of them."""
    return list(dict.fromkeys(name for one in found for name in one.peers))


def rows(found: Sequence[Compared]) -> Iterator[tuple[str, list[float], int]]:
    """What has quantiles: its name, a value per path that has one, decimals."""
    every = peers(found)
    if len(every) > 1:
        yield "ratio to the better peer", [one.ratio for one in found], 2
    for peer in every:
        yield f"ratio to {peer}", [one.over(peer) for one in found if peer in one.peers], 2
    yield "own drops, %", [one.own.drops_percent for one in found], 2
    yield "better peer's drops, %", [one.peers[one.better].drops_percent for one in found], 2
    yield "own RTT, ms", _known([one.own for one in found], lambda result: result.rtt_ms), 0
    yield "RTT over better peer's", _rtt_ratios(found), 2
    if any(one.own.jain < 1 for one in found):
        yield "Jain", [one.own.jain for one in found], 3
    if found[0].own.others_bps is not None:
        yield "others' goodput over that beside a peer", _others(found), 2


def _known(results: Sequence[Result], pick: Callable[[Result], float | None]) -> list[float]:
    return [value for value in map(pick, results) if value is not None]


def _rtt_ratios(found: Sequence[Compared]) -> list[float]:
    pairs = [(one.own.rtt_ms, one.peers[one.better].rtt_ms) for one in found]
    return [own / other for own, other in pairs if own is not None and other]


def _others(found: Sequence[Compared]) -> list[float]:
    """What the others have beside the algorithm over what they have beside the gentler peer."""
    return [
        quotient(one.own.others_bps or 0, max(peer.others_bps or 0 for peer in one.peers.values()))
        for one in found
    ]


def bad(found: Sequence[Compared]) -> list[bool]:
    """Which paths are bad."""
    ratios = [one.ratio for one in found]
    edge = sorted(ratios)[max(0, math.ceil(len(ratios) / 10) - 1)]
    if min(ratios) < BAD:
        return [ratio < BAD for ratio in ratios]
    return [ratio <= edge for ratio in ratios]


@dataclass(frozen=True)
class Group:
    """Paths that share something: how many, how many of them are bad, how many are bad elsewhere
    and of how many; the probability that at least so many of the bad ones are in it by chance."""

    name: str
    paths: int
    bad: int
    elsewhere: int
    others: int
    chance: float


def groups(space: Space, found: Sequence[Compared]) -> list[Group]:
    """Groups that have more than their share of the bad paths, the least probable first."""
    which = bad(found)
    every: dict[tuple[bool, ...], Group] = {}  # the same paths have one name
    for name in space.own:
        values = [one.path.drawn[name] for one in found]
        for text, inside in _parts(space, name, values):
            every.setdefault(tuple(inside), _group(text, inside, which))
    return sorted(
        (
            g
            for g in every.values()
            if g.others and g.paths and g.bad * g.others > g.elsewhere * g.paths
        ),
        key=lambda group: group.chance,
    )


def _group(name: str, inside: Sequence[bool], which: Sequence[bool]) -> Group:
    paths, both = sum(inside), sum(a and b for a, b in zip(inside, which, strict=True))
    count, bads = len(which), sum(which)
    ways = sum(
        math.comb(paths, k) * math.comb(count - paths, bads - k)
        for k in range(both, min(paths, bads) + 1)
    )
    chance = ways / math.comb(count, bads)
    return Group(name, paths, both, bads - both, count - paths, chance)


def _parts(space: Space, name: str, values: Sequence[Any]) -> Iterator[tuple[str, list[bool]]]:
    """Groups by one quantity: with it; with each word; its least and its largest third."""
    there = [value for value in values if value is not None]
    if there and len(there) < len(values):
        yield f"with {name}", [value is not None for value in values]
    for word in sorted({value for value in there if isinstance(value, str)}):
        yield f"{name} = {word}", [value == word for value in values]
    numbers = sorted(value for value in there if isinstance(value, int | float))
    if len(numbers) < 3 or numbers[0] == numbers[-1]:
        return
    low, high = numbers[len(numbers) // 3 - 1], numbers[-(len(numbers) // 3)]
    yield (
        f"{name} up to {written(space, name, low)}",
        [value is not None and value <= low for value in values],
    )
    yield (
        f"{name} from {written(space, name, high)}",
        [value is not None and value >= high for value in values],
    )


def written(space: Space, name: str, value: float) -> str:
    """A quantity's number with the unit that its range has."""
    kind = kind_in(space.table["draw"][name])
    if kind in ("rate", "size"):
        return units.format(kind, round(value))
    return units.format(kind, float(show(value))) if kind else show(value)
