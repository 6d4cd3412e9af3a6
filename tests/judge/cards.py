# SPDX-License-Identifier: GPL-2.0
"""Criteria and a card that tests make up."""

from __future__ import annotations

from collections.abc import Sequence

from apogee_lab.judge import card as cards
from apogee_lab.judge import criteria, runs
from apogee_lab.judge.criteria import criterion
from apogee_lab.judge.verdict import MET, UNMET, Answer

TEST = {
    "name": "t", "title": "T", "scenario": "satellite", "duration": 10, "than": ["reno", "cubic"],
    "measure": "goodput", "met": ">= 0.9", "unmet": "< 0.7", "source": "ours",
}  # fmt: skip
CRITERION = {
    "section": "5.9", "title": "C", "word": "MUST", "level": "must", "asks": "a  \n b", "test": [],
}  # fmt: skip


def small() -> list[criteria.Criterion]:
    beside = TEST | {
        "name": "beside", "cc": "{cc}+{peer}", "than": ["reno+{peer}"], "quick_peers": ["bbr"],
        "scenario": "satellite-shared", "seeds": 2, "set": {"delay": "20ms"},
        "case": [
            {"name": "short", "set": {"queue": "30kB"}, "quick": True},
            {"name": "long", "set": {"queue": "90kB"}},
        ],
    }  # fmt: skip
    words = {"section": "9", "level": "text", "test": []}
    return [criterion(CRITERION | {"test": [beside]}), criterion(CRITERION | words)]


def a_card(ccs: Sequence[str] = ("vegas", "star"), value: float = 0.5) -> cards.Card:
    every = small()
    asked = runs.questions(every, ccs, ["bbr", "reno"], quick=False)
    answers = {
        one: Answer(MET, 1.0, 0.95, 1.05, 4.0, 4.0, "reno+bbr")
        if one.cc != "vegas"
        else Answer(UNMET, value, 0.4, 0.6, 2.0, 4.0, "reno+bbr")
        for one in asked
    }
    about = {
        "made": "2026-01-01", "command": "c", "engine": "uml", "kernel": "6.1", "beside": ["bbr"],
        "quick": False, "left_out": {}, "board": None, "grounds": None,
    }  # fmt: skip
    return cards.made(every, ccs, asked, answers, lambda one: one.commands([]), about)
