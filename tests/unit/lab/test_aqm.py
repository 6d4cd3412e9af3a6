# SPDX-License-Identifier: GPL-2.0
"""Active queue management: the commands for tc, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from apogee_lab.scenarios import SCENARIOS, aqm

VALUES = {"aqm": "none", "aqm_rtt": 0.0, "rate": 10**7, "mtu": 1500}


def lines(**values: Any) -> list[str]:
    return aqm.lines(VALUES | values, "to-sat", 100)


def test_the_queue_is_in_a_token_bucket_of_two_frames() -> None:
    root, child = lines(aqm="fq_codel")
    assert root == (
        "qdisc add dev to-sat root handle 1: tbf rate 10000000bit burst 3028b limit 151400b"
    )
    assert child == (
        "qdisc add dev to-sat parent 1:1 handle 2: fq_codel limit 100 memory_limit 507600"
    )


def test_what_round_trip_they_reckon_with() -> None:
    _, codel = lines(aqm="fq_codel", aqm_rtt=0.5)
    _, cake = lines(aqm="cake", aqm_rtt=0.5)
    assert codel.endswith(" target 25000us interval 500000us")
    assert cake.endswith("cake unlimited besteffort memlimit 507600b rtt 500000us")
    assert lines(aqm="cake")[1].endswith("memlimit 507600b")


def test_red_marks_between_a_third_and_the_whole_of_half_the_queue() -> None:
    _, red = lines(aqm="red")
    assert red.endswith(" bandwidth 10000000bit adaptive ecn")
    assert " red limit 151400 min 25233 max 75700 avpkt 1514 " in red
    _, fast = lines(aqm="red", rate=10**11)
    assert " bandwidth 34000000000bit " in fast


@pytest.mark.parametrize(
    ("values", "packets", "shaped", "words"),
    [
        ({"aqm": "red"}, 2, False, "at least 3 packets"),
        ({"aqm": "red"}, 84_545, False, "at most 84544 packets"),
        ({"aqm": "cake"}, 100, True, "must be constant"),
        ({"aqm_rtt": 0.5}, 100, False, "add aqm="),
        ({"aqm": "fq_codel", "aqm_rtt": 9e-6}, 100, False, "at least 1ms"),
    ],
)
def test_what_is_refused(values: dict[str, Any], packets: int, shaped: bool, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        aqm.check(VALUES | values, packets, shaped)


@pytest.mark.parametrize("kind", ["fq_codel", "cake", "red"])
@pytest.mark.parametrize("name", ["satellite", "satellite-shared", "requests", "lfn"])
def test_it_changes_the_bottlenecks_queue_only(name: str, kind: str) -> None:
    plain, managed = (
        SCENARIOS[name].compile({"aqm": how, "tcp_ecn": 1}, "cubic", 10.0).script.splitlines()
        for how in ("none", kind)
    )
    assert len([line for line in plain if line not in managed]) == 1
    root, child = (line for line in managed if line not in plain)
    assert " root handle 1: tbf rate 10" in root
    assert f" parent 1:1 handle 2: {kind} " in child
