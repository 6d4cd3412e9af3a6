# SPDX-License-Identifier: GPL-2.0
"""The rooms of the lab: imports point down the list of docs/extending.md, and never in a circle."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from apogee_lab.base import LAB


def rooms(page: str) -> list[list[str]]:
    """The rooms from the top floor down, as the page lists them."""
    (listed,) = re.findall(r"<!-- rooms: begin -->\n```\n(.*?)```\n<!-- rooms: end -->", page, re.S)
    return [line.split("  ")[0].split() for line in listed.splitlines()]


@pytest.fixture(scope="module")
def floors(root: Path) -> dict[str, int]:
    """Of each room its floor; the ground is 0."""
    listed = rooms((root / "docs" / "extending.md").read_text())
    return {name: len(listed) - 1 - at for at, names in enumerate(listed) for name in names}


#: measures/raw.py is measures.raw, measures/__init__.py is measures; each is in the room measures.
MODULES = {
    ".".join(path.relative_to(LAB).with_suffix("").parts).removesuffix("__init__").strip("."): path
    for path in LAB.rglob("*.py")
}


def room_of(module: str) -> str:
    return module.partition(".")[0]


def imported(module: str) -> Iterator[str]:
    """Modules of the lab that a module takes something from, wherever in it."""
    path = MODULES[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = package[: len(package) - node.level + 1]
            base = ".".join([*above, *filter(None, [node.module])])
            for alias in node.names:
                whole = f"{base}.{alias.name}".strip(".")
                found = whole if whole in MODULES else base
                if found != module:
                    yield found


def test_the_page_lists_every_room(floors: dict[str, int]) -> None:
    assert set(floors) == {room_of(module) for module in MODULES if module}


def test_imports_point_down(floors: dict[str, int]) -> None:
    up = [
        f"{module} -> {other}"
        for module in MODULES
        for other in imported(module)
        if module and room_of(module) != room_of(other)
        and floors[room_of(module)] <= floors[room_of(other)]
    ]  # fmt: skip
    assert up == []


def test_no_circle() -> None:
    """Not inside a room either; imports for the type checker only count, too."""
    graph = {module: set(imported(module)) - {room_of(module)} for module in MODULES}
    TopologicalSorter(graph).prepare()


def test_an_import_upwards_is_found(floors: dict[str, int]) -> None:
    assert floors["commands"] > floors["papers"] > floors["measures"] > floors["base"]
    assert "measures.raw" in set(imported("measures.flows"))
