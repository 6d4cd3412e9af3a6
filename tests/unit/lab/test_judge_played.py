# SPDX-License-Identifier: GPL-2.0
"""lab judge makes one run of each stranger first; one that fails costs no other run, and one that
hangs its guest few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from apogee_lab.judge.played import HANGS, Played, play
from apogee_lab.judge.run import Run
from apogee_lab.runs.sweep import Failure, Interrupted

WANTED = [
    (Run("satellite", mix, (), 10), seed)
    for seed in (1, 2)
    for mix in ("reno", "mine", "9*mine+cubic", "minenot", "cubic+other", "other")
]


class Swept:
    """A sweep whose runs of these mixes fail; its jobs are the wanted runs themselves. Each is
    asked for before it is made."""

    bad: tuple[str, ...] = ()
    hung = False
    made: list[list[str]]
    interrupted = "so far"

    def __init__(self, jobs: list[Any]) -> None:
        Swept.made.append([run.mix for run, _ in jobs])
        self.jobs = jobs
        self.records: list[Any] = [None if run.mix in self.bad else run.mix for run, _ in jobs]
        self.failures: dict[int, Failure] = {}
        self.unwanted: Callable[[int], str] = lambda _: ""

    def run(self) -> None:
        if "stop" in self.bad:
            raise Interrupted
        for at, (run, _) in enumerate(self.jobs):
            if why := self.unwanted(at):
                self.records[at], self.failures[at] = None, Failure(why, [])
            elif run.mix in self.bad:
                self.failures[at] = Failure(f"{run.mix} crashed", [], self.hung)


@pytest.fixture(autouse=True)
def none_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Swept, "hung", False)


def played(strangers: list[str], *bad: str, wanted: Any = WANTED) -> Played:
    Swept.bad, Swept.made = bad, []
    return play(wanted, wanted, strangers, Swept)  # type: ignore[arg-type]


def test_known_algorithms_are_not_tried() -> None:
    found = played([])
    assert Swept.made == [[run.mix for run, _ in WANTED]]
    assert found.records == {one: one[0].mix for one in WANTED} and not found.reasons


def test_the_first_run_of_each_given_one_is_the_trial() -> None:
    found = played(["mine", "other"])
    assert Swept.made[0] == ["mine", "cubic+other"]
    assert sorted(Swept.made[0] + Swept.made[1]) == sorted(run.mix for run, _ in WANTED)
    assert found.records == {one: one[0].mix for one in WANTED} and not found.reasons


def test_what_fails_at_first_is_left_out_with_its_reason() -> None:
    found = played(["mine", "other"], "mine")
    assert Swept.made[1] == [
        "reno", "minenot", "other", "reno", "minenot", "cubic+other", "other",
    ]  # fmt: skip
    assert {one[0].mix for one in found.reasons} == {"mine", "9*mine+cubic"}
    assert {*found.reasons.values()} == {"mine crashed"}
    assert found.records[WANTED[0]] == "reno" and found.records[WANTED[1]] is None


def test_a_later_failure_is_its_own() -> None:
    found = played(["mine"], "minenot")
    assert {one[0].mix for one in found.reasons} == {"minenot"}


def test_nothing_is_left_to_make() -> None:
    found = played(["mine"], "mine", wanted=WANTED[1:3])
    assert Swept.made == [["mine"]] and len(found.reasons) == 2


def test_of_what_hangs_few_runs_are_made() -> None:
    """Of a stranger beside CUBIC the first run is good, the others hang; CUBIC does not count."""
    wanted = [
        (Run("satellite", mix, (), 10), seed)
        for seed in range(1, 8)
        for mix in ("mine", "mine+cubic", "cubic")
    ]
    Swept.hung = True
    found = played(["mine"], "mine+cubic", wanted=wanted)
    reasons = [found.reasons.get(one, "") for one in wanted if "mine" in one[0].mix]
    assert [reason[:8] for reason in reasons[:6]] == ["", "mine+cub"] * HANGS
    assert {*reasons[6:]} == {f"mine hung the guest in {HANGS} other runs"}
    assert all(found.records[one] for one in wanted if one[0].mix == "cubic")


def test_what_crashes_may_go_on() -> None:
    """It costs a moment, and each run may show something."""
    wanted = [(Run("satellite", mix, (), 10), seed) for seed in range(9) for mix in ("a", "a+b")]
    found = played(["a"], "a+b", wanted=wanted)
    assert {*found.reasons.values()} == {"a+b crashed"}


def test_an_interruption_is_told() -> None:
    assert played(["mine"], "stop").interrupted == "so far"
