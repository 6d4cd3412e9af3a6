# SPDX-License-Identifier: GPL-2.0
"""Every key of a record is declared with unit and meaning; the table in the docs is generated from
the declarations."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict, get_args, get_origin

import pytest
from jsonschema import Draft202012Validator

import record_table
from apogee_lab.measures.compute import compute as measure
from apogee_lab.measures.record import Common, Record
from apogee_lab.measures.schema import Key, keys_of
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


PLAIN = {float: "number", int: "integer", str: "string", bool: "boolean", type(None): "null"}


def form(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a key's type."""
    if isinstance(kind, types.UnionType):
        return {"anyOf": [form(one) for one in get_args(kind)]}
    if get_origin(kind) is list:
        return {"type": "array", "items": form(get_args(kind)[0])}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": form(get_args(kind)[1])}
    return {} if kind is Any else {"type": PLAIN[kind]}


def schema(keys: list[Key], needed: set[str]) -> dict[str, Any]:
    """The JSON Schema of a record with these keys and no others."""
    whole: dict[str, Any] = {}
    for key in keys:
        at = whole
        for part in key.path.replace("[]", ".[]").split("."):
            if part == "[]":
                at = at.setdefault("items", {"type": "object"})
            elif part == "NAME":
                at = at.setdefault("additionalProperties", {})
            else:
                if key.path in needed:
                    at["required"] = [*{*at.get("required", []), part}]
                at = at.setdefault("properties", {}).setdefault(part, {})
        at |= form(key.type) if key.unit else {"type": ["object", "null"]}
    return closed(whole)


def closed(part: Any) -> Any:
    """The schema, which allows no other keys than its own."""
    if not isinstance(part, dict):
        return part
    found = {key: closed(inner) for key, inner in part.items()}
    return {"additionalProperties": False} | found if "properties" in found else found


def found(record: dict[str, Any]) -> list[str]:
    """Where a record is not as declared, and the word of the schema that it does not keep."""
    needed = {key.path for key in keys_of(Common)}
    checked = Draft202012Validator(schema(declared(record["scenario"]), needed))
    return [f"{error.json_path} {error.validator}" for error in checked.iter_errors(record)]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_records_have_the_keys_that_are_declared(scenario: str, tmp_path: Path) -> None:
    assert scenario in FOLDERS, f"FOLDERS needs raw results of {scenario}"
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
        ("satellite", lambda r: r.update(extra=1), "$ additionalProperties"),
        ("satellite", lambda r: r["queue"].update(extra=1), "$.queue additionalProperties"),
        (
            "satellite", lambda r: r["flows"][0]["rtt_ms"].update(p50=1.0),
            "$.flows[0].rtt_ms additionalProperties",
        ),
        ("satellite", lambda r: r.update(groups={"a": {"jain": 1.0}}), "$ additionalProperties"),
        ("satellite", lambda r: r.pop("jain"), "$ required"),
        ("satellite", lambda r: r["blackout"].update(recovered=1), "$.blackout.recovered type"),
        ("satellite", lambda r: r.update(losses=1.5), "$.losses type"),
        (
            "lfn", lambda r: r["groups"]["fast"].update(extra=1),
            "$.groups.fast additionalProperties",
        ),
        (
            "requests", lambda r: r["requests"]["sizes"][0].update(times_s=["1"]),
            "$.requests.sizes[0].times_s[0] type",
        ),
    ],
)  # fmt: skip
def test_what_is_not_declared_is_found(
    scenario: str, change: Callable[[dict[str, Any]], object], problem: str, tmp_path: Path
) -> None:
    record = copy.deepcopy(compute(tmp_path, FOLDERS[scenario](tmp_path)))
    change(record)
    assert found(record) == [problem]


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
