# SPDX-License-Identifier: GPL-2.0
"""The commands of scripts/lab that pages show are taken, and those that run can be compiled."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from apogee_lab.commands import main
from apogee_lab.commands.options import duration_of, scenario_of, seeds_of
from apogee_lab.runs import request, sweep
from tests import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands(page: Path) -> Iterator[list[str]]:
    """Those of code blocks, without comments and what is redirected."""
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```\w*[^\n]*\n(.*?)^```$", text, re.M | re.S):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True) if "scripts/lab " in line else []
            while words and words[0] != "scripts/lab":
                words.pop(0)
            if words and not any(mark in line for mark in ("…", "...", "RECORDS", "FILE", "|")):
                yield words[1:]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_command_of_a_page(page: Path) -> None:
    for words in commands(page):
        args = main.build_parser().parse_args(words)
        if words[0] != "run" or "_trace=" in " ".join(words) or args.module:
            continue
        scenario = scenario_of(args.scenario)
        settings = request.parse_settings(args.set, scenario)
        mixes = request.parse_controls(args.cc, scenario)
        runs = list(request.product(mixes, settings, seeds_of(args), scenario.devices))
        assert sweep.compile_runs(scenario, runs, duration_of(args)), words


def test_pages_have_commands() -> None:
    assert sum(words[0] == "run" for page in PAGES for words in commands(page)) > 20
