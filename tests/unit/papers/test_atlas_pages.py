# SPDX-License-Identifier: GPL-2.0
"""The pages of the first atlases say what `lab atlas` makes of the records beside them."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.atlas import jobs, numbers, page, space, traces
from apogee_lab.atlas.results import Result
from apogee_lab.commands.atlas import compared
from tests import ROOT
from tests.unit.papers.found import Read, TextOf

FOLDER = ROOT / "docs" / "results" / "atlas"
#: A command and what it prints.
ATLAS = re.compile(r"```\n(scripts/lab atlas .*?)\n```\n\n```\n(.*?)\n```\n", re.S)


def printed(command: str, records: list[dict[str, Any]]) -> str:
    """What this command prints of runs that are there."""
    words = shlex.split(command.replace("\\\n", ""))
    cc, beside = (words[words.index(option) + 1] for option in ("--cc", "--beside"))
    given = [text for option, text in pairwise(words) if option == "--set"]
    names = tuple(text.partition("=")[0] for text in given)
    found = replace(space.read(words[2]), given=names)
    paths = [found.path(line["seed"], line["path"]) for line in records]
    results = {
        line["path"]: {name: Result(**one) for name, one in line["results"].items()}
        for line in records
    }
    every = compared(paths, results, cc, beside.split(","))
    for option in ("--json", "--paths"):
        if option in words:
            at = words.index(option)
            del words[at : at + 2]
    return page.text(found, cc, every, shlex.join([*words, "--only", "PATH"]))


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.md")))
def test_an_atlas(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "FOLDER", tmp_path)
    text, file = (FOLDER / name).read_text(encoding="utf-8"), "nothing"
    atlases = ATLAS.findall(text)
    assert len(atlases) == text.count("What the bad paths share:")
    for command, told in atlases:
        (file,) = re.findall(r"--json \\?\s*docs/results/atlas/(\S+)", command) or [file]
        lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
        assert f"--paths {len(lines)} " in command
        assert told == printed(command, [json.loads(line) for line in lines])


def measured(read: Read, name: str, what: str = "value") -> dict[int, dict[str, float]]:
    """A number of each algorithm or way, by path."""
    return {
        line["path"]: {way: one[what] for way, one in line["results"].items()}
        for line in read(f"atlas/{name}.jsonl")
    }


def best(values: dict[str, float], *but: str) -> float:
    """The most that another way has than these."""
    return max(value for way, value in values.items() if way not in but)


def test_stations_at_an_access_point(read: Read, text_of: TextOf) -> None:
    text, name, own = text_of("results/atlas/compound_plus.md"), "crowded-compound_plus", "rtt_ms"
    rtts = [one for one in measured(read, name, own).values() if len(one) == 3]
    assert all(one["compound_plus"] < one["cubic"] for one in rtts)
    less = sum(one["compound_plus"] < one["bbr"] for one in rtts)
    assert f"less than cubic's on all paths and less than bbr's on {less} of {len(rtts)}." in text
    jain = [one for one in measured(read, name, "jain").values() if len(one) == 3]
    bbr, cubic = (sum(j["compound_plus"] > j[peer] for j in jain) for peer in ("bbr", "cubic"))
    assert f"Jain's index is above bbr's on {bbr} and above cubic's on {cubic}." in text
    assert [path for path, one in measured(read, name).items() if len(one) < 3] == [16]


def test_links_alone_and_downloads(read: Read, text_of: TextOf) -> None:
    text = text_of("results/atlas/links.md")
    parts = [v["shake"] / best(v, "shake", "mptcp") for v in measured(read, "links").values()]
    least, bad = (sum(part < bound for part in parts) for bound in (1, numbers.BAD))
    middle = numbers.quantiles(parts)[3]
    said = f"SHAKE has {middle:.2f} times as much in the median, less on {least} paths, and less"
    assert f"{said} than 0.9 on {bad}." in text
    down = measured(read, "links-down")
    ahead = {path for path, values in down.items() if best(values, "shake") > values["shake"]}
    drawn = {line["path"]: line["drawn"] for line in read("atlas/links-down.jsonl")}
    lossy = {path for path in drawn if drawn[path]["loss2"]}
    said = f"MPTCP or one link alone has more on {len(ahead)} paths, on {len(ahead & lossy)} of the"
    assert f"{said} {len(lossy)} with losses on the second link." in text


def test_what_the_radio_allows(read: Read, text_of: TextOf) -> None:
    """Goodput over SSCOP in parts of the limit."""
    text, found = text_of("results/atlas/radios.md"), space.read("radios")
    values = measured(read, "radios")
    asked = jobs.asked(found, [found.path(1001, path) for path in values], ["sscop"], [])
    parts = {
        one.path.number: values[one.path.number]["sscop"] / one.compiled[0].plan.limit_bps
        for one in asked
    }
    quantiles = numbers.quantiles(list(parts.values()))[:5]
    assert f"| {' | '.join(f'{q:.2f}' for q in quantiles)} |" in text
    for path in sorted(parts, key=lambda path: parts[path])[:5]:
        assert re.search(rf"\| {path} \| [^|]*\| [^|]*\| {parts[path]:.2f} \|", text)
