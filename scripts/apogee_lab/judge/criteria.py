# SPDX-License-Identifier: GPL-2.0
"""The criteria: a file of the folder ``criteria`` for each section of the RFC, read and checked.

docs/judge.md describes the format.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..base import UsageError
from . import measures

FOLDER = Path(__file__).with_name("criteria")

MUST, SHOULD, TEXT = "must", "should", "text"
LEVELS = (MUST, SHOULD, TEXT)
SEEDS = 4

BOUND = re.compile(r"(>=|<=|>|<) (-?[0-9.]+)")


@dataclass(frozen=True)
class Bound:
    """A comparison with a number, as ``>= 0.9``."""

    sign: str
    number: float

    @property
    def more(self) -> bool:
        """Whether it asks for much."""
        return self.sign.startswith(">")

    def holds(self, value: float) -> bool:
        """Whether a value is on this side of the number."""
        if self.sign.endswith("="):
            return value >= self.number if self.more else value <= self.number
        return value > self.number if self.more else value < self.number

    def __str__(self) -> str:
        return f"{self.sign} {self.number:g}"


@dataclass(frozen=True)
class Case:
    """One setting of a test: its name, parameters of the scenario, and those of the runs that it
    is compared with if these differ. ``quick``: part of ``--quick``."""

    name: str
    set: Mapping[str, str]
    than_set: Mapping[str, str]
    quick: bool


@dataclass(frozen=True)
class Test:
    """Runs of a candidate, runs that they are compared with, what is measured, and what that shows.

    ``cc`` and each of ``than`` are mixes in which ``{cc}`` stands for the candidate and ``{peer}``
    for each algorithm that it is judged beside. The value is the measure's mean over the seeds;
    with ``than`` it is divided by that of the mix that lets the candidate look best. ``slack`` is
    added to both, so that small numbers do not count.
    """

    name: str
    title: str
    scenario: str
    duration_s: float
    seeds: int
    cc: str
    than: tuple[str, ...]
    measure: str
    slack: float
    met: Bound
    unmet: Bound
    source: str
    cases: tuple[Case, ...]
    quick_peers: tuple[str, ...]

    @property
    def per_peer(self) -> bool:
        """Whether it is made beside each peer."""
        return "{peer}" in self.cc

    @cached_property
    def unit(self) -> str:
        """The unit of its value; empty for a ratio."""
        return "" if self.than else measures.MEASURES[self.measure].unit


@dataclass(frozen=True)
class Criterion:
    """A section of the RFC: number, title, the RFC's word, what it asks in our words, its tests.

    ``level`` is what ``--fail-on`` goes by. ``note`` says what the tests leave open. Criteria of
    level ``text`` have no tests; ``asks`` is then what the author's text should answer.
    """

    section: str
    title: str
    word: str
    level: str
    asks: str
    note: str
    tests: tuple[Test, ...]


def _bound(text: str) -> Bound:
    match = BOUND.fullmatch(text)
    if not match:
        raise ValueError(f"'{text}' is no bound, such as '>= 0.9'")
    return Bound(match[1], float(match[2]))


def _texts(table: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in table.items()}


def _cases(table: Mapping[str, Any]) -> tuple[Case, ...]:
    common, than = _texts(table.get("set", {})), _texts(table.get("than_set", {}))
    found = [
        Case(
            case.get("name", ""),
            common | _texts(case.get("set", {})),
            common | _texts(case.get("set", {})) | than if than else {},
            bool(case.get("quick", False)),
        )
        for case in table.get("case", [{"quick": table.get("quick", False)}])
    ]
    if len({case.name for case in found}) < len(found):
        raise ValueError("two cases have one name")
    return tuple(found)


_KEYS = {
    "name", "title", "scenario", "duration", "seeds", "cc", "than", "measure", "slack", "met",
    "unmet", "source", "set", "than_set", "case", "quick", "quick_peers",
}  # fmt: skip


def _test(table: Mapping[str, Any]) -> Test:
    if unknown := sorted(table.keys() - _KEYS):
        raise ValueError(f"unknown key '{unknown[0]}'")
    found = Test(
        name=table["name"],
        title=table["title"],
        scenario=table["scenario"],
        duration_s=float(table["duration"]),
        seeds=int(table.get("seeds", SEEDS)),
        cc=table.get("cc", "{cc}"),
        than=tuple(table.get("than", ())),
        measure=table["measure"],
        slack=float(table.get("slack", 0)),
        met=_bound(table["met"]),
        unmet=_bound(table["unmet"]),
        source=table["source"],
        cases=_cases(table),
        quick_peers=tuple(table.get("quick_peers", ())),
    )
    if found.measure not in measures.MEASURES:
        raise ValueError(f"test {found.name}: unknown measure '{found.measure}'")
    if found.met.more == found.unmet.more:
        raise ValueError(f"test {found.name}: met and unmet are on the same side")
    return found


def criterion(table: Mapping[str, Any]) -> Criterion:
    """A criterion of the content of its file; ValueError or KeyError if it is not one."""
    found = Criterion(
        section=table["section"],
        title=table["title"],
        word=table["word"],
        level=table["level"],
        asks=" ".join(table["asks"].split()),
        note=" ".join(table.get("note", "").split()),
        tests=tuple(map(_test, table.get("test", []))),
    )
    if found.level not in LEVELS:
        raise ValueError(f"level '{found.level}': choose from: {', '.join(LEVELS)}")
    if len({test.name for test in found.tests}) < len(found.tests):
        raise ValueError("two tests have one name")
    return found


def _numbers(section: str) -> list[int]:
    return [int(part) for part in section.split(".")]


def read(folder: Path = FOLDER) -> list[Criterion]:
    """All criteria in the order of the RFC; UsageError that names the file that is not one."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        try:
            found.append(criterion(tomllib.loads(path.read_text(encoding="utf-8"))))
        except KeyError as error:
            raise UsageError(f"{path.name}: {error} is missing") from None
        except (ValueError, TypeError) as error:
            raise UsageError(f"{path.name}: {error}") from None
    return sorted(found, key=lambda one: _numbers(one.section))


def chosen(
    every: Sequence[Criterion], sections: Sequence[str], asked: Sequence[str] | None = None
) -> list[Criterion]:
    """Those of these sections and below them, all if nothing was ``asked`` for; UsageError for a
    section that has none."""
    for section in sections:
        if not any(_below(one.section, section) for one in every):
            listed = ", ".join(one.section for one in every)
            raise UsageError(f"--only {section}: no criterion; choose from: {listed}")
    if not (sections if asked is None else asked):
        return list(every)
    return [one for one in every if any(_below(one.section, s) for s in sections)]


def _below(section: str, above: str) -> bool:
    return section == above or section.startswith(f"{above}.")
