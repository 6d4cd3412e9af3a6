# SPDX-License-Identifier: GPL-2.0
"""Files of C take functions and variables from each other in no circle, in no folder, and folders
include each other in one direction."""

from __future__ import annotations

import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests import ROOT

FOLDERS = ("bpf", "shake", "sscop", "scripts/apogee_lab/guest/flow", "scripts/apogee_lab/model")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
#: At the begin of a line: ``u64 name(...)`` with a body, ``struct type name =``, not static.
DEFINED = re.compile(
    r"^(?!static\b|extern\b|typedef\b)[a-z][\w ]*[ *]+(\w+)"
    r"(?:\([^;{}]*\)\n\{|(?:\[[^\]]*\])? ?[=;])",
    re.M,
)
#: Called, or given as a value; not a type's name, nor a member's.
TAKEN = re.compile(r"(?<!struct )(?<!\.)(?<!->)\b(\w+)(?=\()|[=&(,]\s*(\w+)(?=[,;).\[])")


def taken(files: dict[str, str]) -> dict[str, dict[str, set[str]]]:
    """Of each file those that it takes something from, and what, of their texts by name. What two
    files define is in neither's name."""
    texts = {name: COMMENT.sub("", text) for name, text in files.items()}
    owners = defaultdict(set)
    for name, text in texts.items():
        for thing in DEFINED.findall(text):
            owners[thing].add(name)
    found: dict[str, dict[str, set[str]]] = {name: defaultdict(set) for name in texts}
    for name, text in texts.items():
        for thing in {one or other for one, other in TAKEN.findall(text)} & set(owners):
            if owners[thing] != {name} and len(owners[thing]) == 1:
                found[name][min(owners[thing])].add(thing)
    return found


def circle(files: dict[str, str]) -> list[str]:
    """One that there is: what each takes from the next."""
    graph = taken(files)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        names = error.args[1][::-1]
        pairs = zip(names, names[1:], strict=False)
        return [f"{one} -> {other}: {sorted(graph[one][other])}" for one, other in pairs]
    return []


def read(folder: str) -> dict[str, str]:
    paths = (ROOT / folder).rglob("*.c")
    return {str(path.relative_to(ROOT / folder)): path.read_text() for path in paths}


#: Of each folder those whose files it may include; tcp is the modules at the top.
BELOW = {
    "include": set(),
    "tcp": {"include"},
    "shake": {"include"},
    "sscop": {"include"},
    "bpf": {"include", "tcp"},
    "scripts": {"include", "tcp"},
}
INCLUDED = re.compile(r"^\s*#\s*include\s+(?:\"([^\"]+)\"|<([^>]+)>)", re.M)


def owner(path: Path) -> str:
    folder = path.relative_to(ROOT).parts[0]
    return "tcp" if folder.startswith("tcp_") else folder


def included(path: Path) -> set[str]:
    """Folders of the project that a file includes something of, but its own."""
    found = set()
    for quoted, angled in INCLUDED.findall(path.read_text()):
        places = [path.parent / quoted] if quoted else []
        places += [top / (quoted or angled) for top in (ROOT / "include", ROOT / owner(path))]
        there = next((place.resolve() for place in places if place.is_file()), None)
        found |= {owner(there)} if there else set()
    return found - {owner(path)}


@pytest.mark.parametrize("folder", BELOW)
def test_folders_include_downwards(folder: str) -> None:
    paths = ROOT.glob("tcp_*.c") if folder == "tcp" else (ROOT / folder).rglob("*.[ch]")
    found = {str(path.relative_to(ROOT)): included(path) - BELOW[folder] for path in paths}
    assert found and {name: others for name, others in found.items() if others} == {}


def test_an_inclusion_is_seen() -> None:
    assert included(ROOT / "bpf/star.bpf.c") == {"tcp"}
    assert included(ROOT / "tcp_star.c") == {"include"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_circle(folder: str) -> None:
    assert circle(read(folder)) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_they_take_is_seen(folder: str) -> None:
    """Each file has an arrow to or from another."""
    graph = taken(read(folder))
    tied = {name for name, others in graph.items() if others}
    tied |= {other for others in graph.values() for other in others}
    assert len(tied) > len(graph) / 2


def test_a_circle_is_found() -> None:
    files = {
        "path.c": "static void f(void)\n{\n\tevent_add(1);\n}\n\nu64 path_scaled(u64 at)\n{\n}\n",
        "events.c": "/* event_add(2) */\nvoid event_add(u64 at)\n{\n\tqueue(path_scaled(at));\n}\n",
        "main.c": "int main(void)\n{\n\tevent_add(path_scaled(3));\n}\n",
    }
    assert sorted(circle(files)) == [
        "events.c -> path.c: ['path_scaled']",
        "path.c -> events.c: ['event_add']",
    ]
    files["events.c"] = "void event_add(u64 at)\n{\n\tqueue(at);\n}\n"
    assert circle(files) == []
