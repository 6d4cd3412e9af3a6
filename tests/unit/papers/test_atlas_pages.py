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

from apogee_lab.atlas import page, space, traces
from apogee_lab.atlas.results import Result
from apogee_lab.commands.atlas import compared
from tests import ROOT

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
