# SPDX-License-Identifier: GPL-2.0
"""lab judge makes one run of each given algorithm first; one that fails costs no other run."""

from __future__ import annotations

from typing import Any

from apogee_lab.judge.played import Played, play
from apogee_lab.judge.run import Run
from apogee_lab.runs.sweep import Failure, Interrupted

WANTED = [
    (Run("satellite", mix, (), 10), seed)
    for seed in (1, 2)
    for mix in ("reno", "mine", "9*mine+cubic", "minenot", "cubic+other", "other")
]


class Swept:
    """A sweep whose runs of these mixes fail; its jobs are the wanted runs themselves."""

    bad: tuple[str, ...] = ()
    made: list[list[str]]
    interrupted = "so far"

    def __init__(self, jobs: list[Any]) -> None:
        Swept.made.append([run.mix for run, _ in jobs])
        self.jobs = jobs
        self.records: list[Any] = [None if run.mix in self.bad else run.mix for run, _ in jobs]
        self.failures: dict[int, Failure] = {}

    def run(self) -> None:
        if "stop" in self.bad:
            raise Interrupted
        self.failures = {
            at: Failure(f"{run.mix} crashed", [])
            for at, (run, _) in enumerate(self.jobs)
            if run.mix in self.bad
        }


def played(given: list[str], *bad: str) -> Played:
    Swept.bad, Swept.made = bad, []
    return play(WANTED, WANTED, given, Swept)  # type: ignore[arg-type]


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
    Swept.bad, Swept.made = ("mine",), []
    found = play(WANTED[1:3], WANTED[1:3], ["mine"], Swept)  # type: ignore[arg-type]
    assert Swept.made == [["mine"]] and len(found.reasons) == 2


def test_an_interruption_is_told() -> None:
    assert played(["mine"], "stop").interrupted == "so far"
