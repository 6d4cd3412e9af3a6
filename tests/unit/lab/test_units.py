# SPDX-License-Identifier: GPL-2.0
"""Values with units: valid and invalid input, and that formatting and parsing are inverse."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apogee_lab import units
from apogee_lab.units import Event


def pairs(table: dict[str, Any]) -> list[tuple[str, Any]]:
    """A table's entries by kind."""
    return [(kind, one) for kind, of in table.items() for one in of]


READ: dict[str, list[tuple[str, Any]]] = {
    "rate": [("10mbit", 10_000_000), ("10Mbit", 10_000_000), ("9600bit", 9600), ("0", 0),
             ("1.5gbit", 1_500_000_000)],
    "time": [("250ms", 0.25), ("1.5s", 1.5), ("0.1us", 1e-7), ("2min", 120.0), ("0", 0.0)],
    "size": [("625kB", 625_000), ("16MB", 16_000_000), ("64KiB", 65_536), ("16MiB", 16_777_216),
             ("0.5GiB", 536_870_912), ("1.5kB", 1500)],
    "ber": [("1e-7", 1e-7), ("0", 0.0)],
    "ber|same": [("same", "same")],
    "float": [("-0.5", -0.5)],
    "int": [("-3", -3)],
    "bool": [("1", 1)],
    "choice:flow,iperf3": [("iperf3", "iperf3")],
    "control": [("hstcp_gentle", "hstcp_gentle")],
    "event": [("45s:1s", (45.0, 1.0)), ("0:500ms", (0.0, 0.5))],
    "event|none": [("none", None)],
    "share": [("0.5%", 0.005), ("100%", 1.0)],
    "burst|none": [("1%:30%", (0.01, 0.3))],
    "every|none": [("2s:50ms", (2.0, 0.05)), ("51ms:50ms", (0.051, 0.05)), ("none", None)],
    "events": [
        ("rate:2mbit@30s", (Event("rate", 2_000_000, 30.0, None),)),
        ("delay:300ms@1s:5s+loss:1%@0:1s",
         (Event("delay", 0.3, 1.0, 5.0), Event("loss", 0.01, 0.0, 1.0))),
    ],
    "events|none": [
        ("stall@30s:100ms+outage@40s:2s",
         (Event("stall", None, 30.0, 0.1), Event("outage", None, 40.0, 2.0))),
        ("none", None),
    ],
    "file|none": [("a/b.txt", "a/b.txt")],
    "list:time": [("0s+10s", (0.0, 10.0)), ("0", (0.0,))],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "read"), pairs(READ))
def test_what_is_read(kind: str, read: tuple[str, Any]) -> None:
    text, value = read
    assert units.parse(kind, text) == value


REFUSED = {
    "rate": ["10", "10mb", "-1mbit", "", "1.0000001kbit", "1e30mbit"],
    "time": ["5", "1e400s", "5 weeks", "s"],
    "size": ["625kb", "625", "0.5B"],
    "ber": ["1", "-1e-7", "nan", "1_0e-7", "same"],
    "float": ["inf"],
    "int": ["1.5", "٣"],
    "bool": ["2", "yes"],
    "share": ["1", "101%"],
    "burst": ["1%", "1%:0%"],
    "event": ["1s:1e400s", "45s", "45:1s", "45s:0s", ""],
    "events": ["rate:2mbit", "rate@3s", "rate:2@3s", "stall@3s", "stall:1s@3s:1s", "outage@3s:0s",
               "fire@3s:1s"],
    "file": [""],
    "choice:flow,iperf3": ["netperf"],
    "control": ["no.such", "sixteen_letters_"],
    "list:time": ["", "0s+", "0s,10s", "0s+1e+1s"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), pairs(REFUSED))
def test_what_is_refused(kind: str, text: str) -> None:
    with pytest.raises(units.UnitError) as error:
        units.parse(kind, text)
    assert "\n" not in str(error.value)
    assert repr(text) in str(error.value)


WRITTEN: dict[str, list[tuple[Any, str]]] = {
    "rate": [(10_000_000, "10mbit"), (9_600, "9.6kbit"), (1, "1bit"), (0, "0")],
    "time": [(0.25, "250ms"), (60.0, "60s"), (1e-6, "1us")],
    "size": [(625_000, "625kB"), (16_000_000, "16MB")],
    "ber": [(1e-7, "1e-07"), (0.0, "0")],
    "ber|same": [("same", "same")],
    "event": [((45.0, 1.0), "45s:1s")],
    "event|none": [(None, "none")],
    "share": [(0.0001, "0.01%"), (1.0, "100%")],
    "burst|none": [((0.01, 0.3), "1%:30%")],
    "events": [
        ((Event("rate", 2_000_000, 0.5, None),), "rate:2mbit@500ms"),
        ((Event("loss", 0.01, 3.0, 1.0),), "loss:1%@3s:1s"),
        ((Event("stall", None, 3.0, 0.1),), "stall@3s:100ms"),
    ],
    "list:time": [((0.0, 0.05), "0s+50ms")],
    "bool": [(1, "1")],
}


@pytest.mark.parametrize(("kind", "written"), pairs(WRITTEN))
def test_what_is_written(kind: str, written: tuple[Any, str]) -> None:
    value, text = written
    assert units.format(kind, value) == text


@given(st.integers(0, 10**14))
def test_rates_and_sizes_come_back(value: int) -> None:
    for kind in ("rate", "size"):
        assert units.parse(kind, units.format(kind, value)) == value


@example(1.0000000000000095e-12)
@given(st.floats(1e-12, 1e6))
def test_times_come_back(value: float) -> None:
    assert units.parse("time", units.format("time", value)) == value
    event: tuple[float, float] = (value, value)
    assert units.parse("event", units.format("event", event)) == event
    assert units.parse("list:time", units.format("list:time", event)) == event


@given(st.floats(0, 1, exclude_max=True))
def test_error_rates_come_back(value: float) -> None:
    assert units.parse("ber", units.format("ber", value)) == value


@given(st.floats(0, 1), st.floats(1e-12, 1e6))
def test_shares_and_events_come_back(share: float, time: float) -> None:
    events = (Event("loss", share, time, time), Event("delay", time, time, None))
    assert units.parse("share", units.format("share", share)) == share
    assert units.parse("events", units.format("events", events)) == events


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    plain = ("rate", "time", "size", "ber", "float", "int", "bool", "event", "choice:a,b")
    for kind in (*plain, "list:time", "share", "burst", "every", "events"):
        try:
            value = units.parse(kind, text)
        except units.UnitError:
            continue
        assert units.parse(kind, units.format(kind, value)) == value


def test_records_keep_numbers_as_numbers() -> None:
    assert units.for_record("ber", 1e-7) == 1e-7
    assert units.for_record("ber|same", "same") == "same"
    assert units.for_record("bool", 0) == 0
    assert units.for_record("rate", 10_000_000) == "10mbit"
    assert units.for_record("event|none", None) == "none"
    assert units.for_record("list:time", (0.0, 10.0)) == "0s+10s"
