# SPDX-License-Identifier: GPL-2.0
"""lab judge with guests: a planted fault shows under its section, Reno fails nothing, equal
commands give equal cards; what the criteria measure beside flows is as calculated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apogee_lab import algorithms
from apogee_lab.commands.main import main
from apogee_lab.judge import played
from tests.guest.runs import Run, close, runs_of
from tests.guest.scenarios.test_shared import shared
from tests.judge import FAULTS, PATCHES, SHOWN_BY

pytestmark = [pytest.mark.guest, pytest.mark.uml]

CASES = {
    "voice": shared(
        "constant", 6, cwnd=100, flows=1, rate=10_000_000, delay=0.02, queue=300_000, rtp=80_000
    ),
    "lost": shared(
        "constant", 6, cwnd=10, flows=1, rate=10_000_000, delay=0.02, rtp=80_000,
        data_blackout=(2.0, 2.0),
    ),
}  # fmt: skip

runs = runs_of("satellite-shared", CASES)


@pytest.fixture(autouse=True)
def same_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten."""
    monkeypatch.setattr(algorithms, "ALGORITHMS", dict(algorithms.ALGORITHMS))


def card(out: Path, *words: str, status: int = 0) -> dict[str, Any]:
    assert main(["judge", *words, "--out", str(out)]) == status
    return json.loads((out / "card.json").read_text())


def answers(found: dict[str, Any], cc: str) -> dict[str, str]:
    return {one["section"]: one["verdicts"][cc] for one in found["criteria"]}


# --- the real-time sender -----------------------------------------------------------------------


def test_voice_waits_in_the_queue(runs: dict[str, Run]) -> None:
    """A window of 100 frames on a path that holds 44 ms of them: the rest, less a packet that is
    being sent, waits in front of each packet. It is sent every 20 ms and none is lost."""
    rtp = runs["voice"].record["rtp"]
    frame_ms = 1e3 * 8 * 1514 / 10e6
    assert rtp["lost"] == 0
    assert 6 / 0.02 <= rtp["sent"] <= 8 / 0.02
    expected = 22 + 100 * frame_ms - 44
    assert close(rtp["p99_ms"], expected, 0.05) and rtp["mean_ms"] <= rtp["p99_ms"]


def test_voice_that_is_lost(runs: dict[str, Run]) -> None:
    """What is sent in 2 s of a blackout, to a packet at either end."""
    assert abs(runs["lost"].record["rtp"]["lost"] - 2 / 0.02) <= 3


# --- judged -------------------------------------------------------------------------------------


def test_a_fault_shows(modules: Path, kept: Path, tmp_path: Path) -> None:
    """Without back-off too much is sent while nothing comes back; Reno is judged beside it."""
    words = (str(FAULTS / "noback"), "reno", "--quick", "--only", "5.1.1", "--beside", "reno")
    found = card(tmp_path, *words)
    assert answers(found, "noback") == {"5.1.1": "not met"}
    assert answers(found, "reno") == {"5.1.1": "met"}


@pytest.mark.deep
def test_of_what_hangs_the_guest_few_runs_are_made(
    modules: Path, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run is good; of the others as many hang as are made, one after the other."""
    monkeypatch.setattr(played, "SPUN_S", 4.0)
    words = (str(FAULTS / "hangs"), "reno", "--quick", "--only", "5.1.1,6.1,6.3", "--jobs", "1")
    found = card(tmp_path, *words, status=1)
    assert {*answers(found, "reno").values()} == {"met"}
    whys = [
        case["why"]
        for one in found["criteria"]
        for test in one["tests"]
        for case in test["cells"]["hangs"]["cases"]
    ]
    hung = [why for why in whys if "clock stood still for 4 s of CPU time" in why]
    left = [why for why in whys if f"hangs hung the guest in {played.HANGS} other runs" in why]
    assert whys[0] == "" and len(hung) == played.HANGS
    assert left and len(hung) + len(left) + whys.count("") == len(whys)


@pytest.mark.deep
def test_each_fault_shows_under_its_section(modules: Path, kept: Path, tmp_path: Path) -> None:
    faults = [str(FAULTS / name) for name in SHOWN_BY]
    found = card(tmp_path, *faults, "reno", "cubic", "--quick")
    for name, sections in SHOWN_BY.items():
        given = answers(found, name)
        assert {given[section] for section in sections} == {"not met"}, (name, given)
    for name in ("reno", "cubic"):
        assert "not met" not in answers(found, name).values()


@pytest.mark.deep
def test_equal_commands_give_equal_cards(modules: Path, kept: Path, tmp_path: Path) -> None:
    """The second run repeats all runs; all files are equal but for the date."""
    words = ("star", "--quick", "--only", "5.1.2,5.2.2,7.1,7.9")
    one = card(tmp_path / "one", *words)
    two = card(tmp_path / "two", *words, "--fresh")
    for name in ("card.json", "card.md", "card.html", "card.svg"):
        first, second = ((tmp_path / place / name).read_bytes() for place in ("one", "two"))
        dates = [found["made"].encode() for found in (one, two)]
        assert first.replace(dates[0], b"") == second.replace(dates[1], b"")


@pytest.mark.deep
def test_an_algorithm_of_a_patch(kept: Path, tmp_path: Path) -> None:
    """The kernel is built with it: minutes. Calm grows at half of Reno's pace, and takes less; what
    is beside it is judged, too."""
    patches = [w for n in ("calm.patch", "calm.config") for w in ("--patch", str(PATCHES / n))]
    words = ("calm", "--quick", "--only", "5.2.1,6.3", "--beside", "reno")
    found = card(tmp_path / "candidate", *words, *patches)
    assert answers(found, "calm") == {"5.2.1": "met", "6.3": "met"}
    assert "--patch" in found["criteria"][0]["tests"][0]["cells"]["calm"]["cases"][0]["commands"][0]
    words = ("reno", "--quick", "--only", "5.2.1", "--beside", "calm")
    (one,) = card(tmp_path / "peer", *words, *patches)["criteria"]
    (case,) = one["tests"][0]["cells"]["reno"]["cases"]
    assert (case["case"], case["verdict"]) == ("1 BDP, beside calm", "met")
    assert "--cc reno+calm,cubic+calm" in case["commands"][0]
