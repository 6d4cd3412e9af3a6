# SPDX-License-Identifier: GPL-2.0
"""A space: a distribution of random paths, read from a file in ``spaces`` or the user's own.

Each quantity of a path has dice of its own, made of the space's name, the seed, the path's number
and the quantity's name. So a path does not depend on how many there are, and a quantity that is
added to a space leaves the others as they were.
"""

from __future__ import annotations

import keyword
import os
import random
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import scenarios, units
from ..base import UsageError, one_line
from ..scenarios.scenario import Param
from . import draws
from .expressions import evaluated

FOLDER = Path(__file__).with_name("spaces")
MEASURES = ("goodput", "first", "speed")
KEYS = ("help", "scenario", "cc", "measure", "duration", "map", "draw", "set", "as")
CC = "{cc}"
TAKEN = ("none", "duration", "cc")  # names that mean something else
MOST_S = 86_400  # of a run
WHEN = "when"  # of a table [as.NAME]
MOST_SEED = 999_999  # of a run


@dataclass(frozen=True)
class RandomPath:
    """A path: its number, the seed of its runs, the scenario with its settings as text, and what
    was drawn (None: the path does not have it). ``mix`` is --cc with ``{cc}`` for the algorithm.

    ``ways`` are the settings of each way to use the path, if the space compares ways and not
    algorithms; it has no way that this path does not have."""

    number: int
    seed: int
    scenario: str
    settings: dict[str, str]
    mix: str
    drawn: dict[str, Any]
    ways: dict[str, dict[str, str]] | None = None

    def has(self, name: str) -> bool:
        """Whether it can be measured: any algorithm, and the ways that the path has."""
        return self.ways is None or name in self.ways

    def cc(self, name: str) -> str:
        """What --cc has to be for this algorithm or way."""
        return self.mix.replace(CC, name)

    def options(self, name: str) -> list[str]:
        """The settings for this algorithm or way, as --set takes them."""
        settings = self.settings if self.ways is None else self.ways[name]
        return [f"{key}={value}" for key, value in settings.items()]


@dataclass(frozen=True)
class Space:
    """A distribution of paths. ``table`` is the whole file, ``duration_s`` the length of a run,
    ``given`` the parameters that the user sets on all paths."""

    name: str
    table: Mapping[str, Any]
    duration_s: float
    given: tuple[str, ...] = ()

    @property
    def measure(self) -> str:
        """What is compared: one of MEASURES."""
        return self.table["measure"]

    @property
    def ways(self) -> list[str]:
        """The ways to use a path that it compares, empty if it compares algorithms."""
        return list(self.table.get("as", {}))

    @property
    def axes(self) -> tuple[str, str]:
        """The two quantities that the picture has as axes."""
        across, up = self.table["map"]
        return across, up

    @cached_property
    def own(self) -> list[str]:
        """Quantities that are drawn, not computed from others, and that the paths have."""
        free = ("log", "even", "whole", "one_of")
        return [
            name
            for name, table in self.table["draw"].items()
            if "chance" in table or ("each" not in table and any(key in table for key in free))
            if not self._settled(name)
        ]

    def _settled(self, name: str) -> bool:
        """Whether a quantity is there for nothing but parameters that the user sets."""
        word = re.compile(rf"\b{name}\b")
        others = [self.table["cc"], self.table["scenario"]]
        others += [table for other, table in self.table["draw"].items() if other != name]
        sets = [self.table.get("set", {}), *self.table.get("as", {}).values()]
        uses = {key for one in sets for key, text in one.items() if word.search(str(text))}
        elsewhere = any(word.search(str(text)) for text in others)
        return bool(uses) and uses <= set(self.given) and not elsewhere

    def path(self, seed: int, number: int) -> RandomPath:
        """The path with this number; UsageError if the file does not give a valid one."""
        names: dict[str, Any] = {"duration": self.duration_s}
        place = f"space {self.name}: path {number}"
        try:
            for name, table in self.table["draw"].items():
                place = f"space {self.name}: draw.{name}"
                dice = random.Random(f"{self.name} {seed} {number} {name}")
                names[name] = draws.drawn(table, names, dice)
            place = f"space {self.name}: scenario"
            scenario = _scenario(self.table["scenario"], names)
            if self.measure == "speed" and scenario != "requests":
                raise ValueError(f"measure: {scenario} has no transfers whose speed is measured")
            place = f"space {self.name}: set"
            settings = _settings(self.table.get("set", {}), names, scenario)
            place = f"space {self.name}: as"
            ways = _ways(self.table.get("as"), names, scenario, settings)
            place = f"space {self.name}: cc"
            mix = draws.filled(self.table["cc"], {**names, "cc": CC})
            if mix is None:
                raise ValueError("a quantity in it is none")
        except ValueError as error:
            raise UsageError(one_line(f"{place}: {error}")) from None
        dice = random.Random(f"{self.name} {seed} {number}")
        return RandomPath(number, dice.randint(1, MOST_SEED), scenario, settings, mix, names, ways)


def _scenario(given: str, names: Mapping[str, Any]) -> str:
    found = given if given in scenarios.SCENARIOS else evaluated(given, names)
    if found not in scenarios.SCENARIOS:
        raise ValueError(
            f"unknown scenario '{found}'; choose from: {', '.join(scenarios.SCENARIOS)}"
        )
    return found


def _settings(sets: Mapping[str, Any], names: Mapping[str, Any], scenario: str) -> dict[str, str]:
    """The parameters that the path has, as text."""
    params = {param.name: param for param in scenarios.SCENARIOS[scenario].params}
    known = {param.name for every in scenarios.SCENARIOS.values() for param in every.params}
    found = {}
    for name, given in sets.items():
        if name not in known:
            raise ValueError(f"no scenario has a parameter '{name}'")
        text = _setting(params.get(name), given, names)
        if text is not None:
            if name not in params:
                raise ValueError(f"scenario {scenario} has no parameter '{name}'")
            found[name] = text
    return found


def _ways(
    tables: Mapping[str, Any] | None,
    names: Mapping[str, Any],
    scenario: str,
    common: Mapping[str, str],
) -> dict[str, dict[str, str]] | None:
    """The settings of each way that the path has: its own instead of the ``common`` ones."""
    if tables is None:
        return None
    found = {}
    for name, table in tables.items():
        if draws.number(table.get(WHEN, 1), names):
            own = {key: given for key, given in table.items() if key != WHEN}
            kept = {key: text for key, text in common.items() if key not in own}
            found[name] = kept | _settings(own, names, scenario)
    return found


def _setting(param: Param | None, given: Any, names: Mapping[str, Any]) -> str | None:
    """A parameter's text, None if the path does not set it. A list is joined by +."""
    if isinstance(given, list):
        texts = [evaluated(str(item), names) for item in given]
        if not all(isinstance(text, str | None) for text in texts):
            raise ValueError("a list is of texts")
        return "+".join(text for text in texts if text is not None) or None
    if isinstance(given, str) and "{" in given:
        return draws.filled(given, names)
    value = draws.number(given, names)
    if value is None:
        return None
    return draws.written(param.kind if param else "float", value)


# --- files ------------------------------------------------------------------------------------


def listed() -> list[str]:
    """The names of the project's spaces."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read(name: str, duration_s: float | None = None) -> Space:
    """The space of this name, or in this file (.toml); UsageError if it is not valid."""
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if os.sep in name and not name.endswith(".toml") or not path.is_file():
        raise UsageError(f"unknown space '{name}'; choose from: {', '.join(listed())}, or a .toml")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        _check(table)
        own_s = float(units.parse("time", table["duration"]))  # type: ignore[arg-type]
        if not 0 < own_s <= MOST_S:
            raise ValueError(f"duration: more than 0 and at most {MOST_S} seconds are needed")
    except ValueError as error:  # TOML's and Unicode's are
        raise UsageError(one_line(f"{path}: {error}")) from None
    return Space(path.stem, table, duration_s or own_s)


def _check(table: Mapping[str, Any]) -> None:
    """ValueError for what can be seen without a path."""
    for key in table:
        if key not in KEYS:
            raise ValueError(f"unknown key {key}; choose from: {', '.join(KEYS)}")
    for key in ("help", "scenario", "cc", "measure", "duration"):
        if not isinstance(table.get(key), str):
            raise ValueError(f"{key} = TEXT is needed")
    if table["measure"] not in MEASURES:
        raise ValueError(f"measure: '{table['measure']}' is none of {', '.join(MEASURES)}")
    _check_ways(table.get("as"), table["cc"])
    quantities = table.get("draw")
    if not isinstance(quantities, dict) or not isinstance(table.get("set", {}), dict):
        raise ValueError("tables [draw.NAME] and [set] are needed")
    for name, one in quantities.items():
        try:
            _check_name(name)
            draws.check(one)
        except ValueError as error:
            raise ValueError(f"draw.{name}: {error}") from None
    _check_axes(table.get("map"), quantities)


def _check_ways(ways: Any, cc: str) -> None:
    if ways is None:
        if CC not in cc:
            raise ValueError(f"cc: {CC} is needed in it")
        return
    if not isinstance(ways, dict) or not all(isinstance(one, dict) for one in ways.values()):
        raise ValueError("as: tables [as.NAME] are needed")
    if len(ways) < 2:
        raise ValueError("as: two tables [as.NAME] are needed")
    if CC in cc:
        raise ValueError(f"cc: {CC} has no meaning beside [as.NAME]")
    for name in ways:
        if not units.CONTROL.fullmatch(name):
            raise ValueError(f"as.{name}: a name has at most 15 of a-z, 0-9 and _")


def _check_name(name: str) -> None:
    """An expression must be able to say it."""
    if not name.isidentifier() or keyword.iskeyword(name) or name in TAKEN:
        raise ValueError("this cannot be a quantity's name")


def _check_axes(axes: Any, quantities: Mapping[str, Any]) -> None:
    if not isinstance(axes, list) or len(axes) != 2:
        raise ValueError("map = [ACROSS, UP] is needed")
    for name in axes:
        one = quantities.get(name, {}) if isinstance(name, str) else {}
        if not any(key in one for key in ("log", "even", "whole")) or {"chance", "when"} & set(one):
            raise ValueError(f"map: {name} is not a number that every path has")
