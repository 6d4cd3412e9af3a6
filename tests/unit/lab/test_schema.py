# SPDX-License-Identifier: GPL-2.0
"""Every key of a record is declared with unit and meaning; the table in the docs is generated from
the declarations."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

import record_table
from apogee_lab.measures.compute import compute as measure
from apogee_lab.measures.record import Common, Record
from apogee_lab.measures.schema import Key, keys_of, problems
from apogee_lab.scenarios import SCENARIOS
from tests.unit.lab import (
    test_lfn,
    test_multipath,
    test_paths,
    test_radio,
    test_requests,
    test_shared,
    test_wlan,
)
from tests.unit.lab.raw_folders import compute, meta, steady, write
from tests.unit.lab.two_paths import TWO_PATHS

BLACKOUT = "queue_sampling on 10.0\nack_blackout on 15.5\nack_blackout off 16.5\n"


def satellite(raw: Path) -> dict[str, Any]:
    write(raw, steady(12_000), events=BLACKOUT)
    return meta()


LIE = "path=short attack=small cc=reno segments=90 again=7 dropped=6 flight=5 cwnd=4"


def liar(raw: Path) -> dict[str, Any]:
    (raw / "liar").write_text(f"{LIE} resumed_ms=200 half_ms=-1\nTCPTimeouts=1\n")
    return satellite(raw) | {"scenario": "liar"}


#: Functions that write a raw folder of each scenario and return the plan's facts.
FOLDERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "satellite": satellite,
    "satellite-shared": test_shared.two,
    "requests": test_requests.raw,
    "leo": lambda raw: test_shared.two(raw) | {"scenario": "leo"},
    "lfn": test_lfn.three,
    "wlan": test_wlan.two,
    "radio": test_radio.radio,
    "multipath": test_multipath.folder,
    "liar": liar,
}


def declared(scenario: str) -> list[Key]:
    """The keys that records of a scenario may have."""
    own = (SCENARIOS | {"two-paths": TWO_PATHS})[scenario].measures
    return keys_of(Record) + [key for measure in own for key in keys_of(measure.keys)]


def found(record: dict[str, Any]) -> list[str]:
    return problems(record, declared(record["scenario"]), keys_of(Common))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_records_have_the_keys_that_are_declared(scenario: str, tmp_path: Path) -> None:
    assert found(compute(tmp_path, FOLDERS[scenario](tmp_path))) == []


def test_what_a_liar_got(tmp_path: Path) -> None:
    assert compute(tmp_path, liar(tmp_path))["liar"] == {
        "segments": 90, "again": 7, "dropped": 6, "flight": 5, "cwnd": 4, "resumed_s": 0.2,
        "half_s": None,
    }  # fmt: skip


def test_several_paths_are_declared_too(tmp_path: Path) -> None:
    record = measure(tmp_path, test_paths.two(tmp_path), TWO_PATHS.measures)
    assert len(record["paths"]) == 2 and found(record) == []


@pytest.mark.parametrize(
    ("scenario", "change", "problem"),
    [
        ("satellite", lambda r: r.update(extra=1), "extra: no such key is declared"),
        ("satellite", lambda r: r["queue"].update(extra=1), "queue.extra: no such key"),
        ("satellite", lambda r: r["flows"][0]["rtt_ms"].update(p50=1.0), "flows[].rtt_ms.p50: no"),
        ("satellite", lambda r: r.update(groups={"fast": {"jain": 1.0}}), "groups.fast.jain: no"),
        ("satellite", lambda r: r.pop("jain"), "jain: missing"),
        ("satellite", lambda r: r["blackout"].update(recovered=1), "blackout.recovered: 1 is no"),
        ("satellite", lambda r: r.update(losses=1.5), "losses: 1.5 is no"),
        ("lfn", lambda r: r["groups"]["fast"].update(extra=1), "groups.NAME.extra: no such key"),
        ("requests", lambda r: r["requests"]["sizes"][0].update(times_s=["1"]), "times_s: ['1']"),
    ],
)
def test_what_is_not_declared_is_found(
    scenario: str, change: Callable[[dict[str, Any]], object], problem: str, tmp_path: Path
) -> None:
    record = copy.deepcopy(compute(tmp_path, FOLDERS[scenario](tmp_path)))
    change(record)
    (said,) = found(record)
    assert problem in said


def test_a_key_needs_unit_and_meaning() -> None:
    class Bare(TypedDict):
        value: int

    class Told(TypedDict):
        value: Annotated[int, "frames", "how many"]

    with pytest.raises(TypeError, match="value: .* has no unit and no meaning"):
        keys_of(Bare)
    assert keys_of(Told) == [Key("value", int, "frames", "how many")]


def test_the_table_in_the_docs_is_up_to_date() -> None:
    page = record_table.PAGE.read_text(encoding="utf-8")
    assert record_table.written(page) == page, "run scripts/record_table.py"


def test_no_key_is_declared_twice_for_a_scenario() -> None:
    for scenario in SCENARIOS:
        paths = [key.path for key in declared(scenario)]
        assert len(set(paths)) == len(paths)
