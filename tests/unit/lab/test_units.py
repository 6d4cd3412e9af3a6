# SPDX-License-Identifier: GPL-2.0
"""Values with units: valid and invalid input, and that formatting and parsing are inverse."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apogee_lab import units
from apogee_lab.units import Event


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("rate", "10mbit", 10_000_000),
        ("rate", "10Mbit", 10_000_000),
        ("rate", "9600bit", 9600),
        ("rate", "1.5gbit", 1_500_000_000),
        ("rate", "0", 0),
        ("time", "250ms", 0.25),
        ("time", "1.5s", 1.5),
        ("time", "0.1us", 1e-7),
        ("time", "2min", 120.0),
        ("time", "0", 0.0),
        ("size", "625kB", 625_000),
        ("size", "16MB", 16_000_000),
        ("size", "64KiB", 65_536),
        ("size", "16MiB", 16_777_216),
        ("size", "0.5GiB", 536_870_912),
        ("size", "1.5kB", 1500),
        ("ber", "1e-7", 1e-7),
        ("ber", "0", 0.0),
        ("ber|same", "same", "same"),
        ("float", "-0.5", -0.5),
        ("int", "-3", -3),
        ("bool", "1", 1),
        ("choice:flow,iperf3", "iperf3", "iperf3"),
        ("control", "hstcp_gentle", "hstcp_gentle"),
        ("event", "45s:1s", (45.0, 1.0)),
        ("event", "0:500ms", (0.0, 0.5)),
        ("event|none", "none", None),
        ("share", "0.5%", 0.005),
        ("share", "100%", 1.0),
        ("burst|none", "1%:30%", (0.01, 0.3)),
        ("events", "rate:2mbit@30s", (Event("rate", 2_000_000, 30.0, None),)),
        (
            "events",
            "delay:300ms@1s:5s+loss:1%@0:1s",
            (Event("delay", 0.3, 1.0, 5.0), Event("loss", 0.01, 0.0, 1.0)),
        ),
        (
            "events|none",
            "stall@30s:100ms+outage@40s:2s",
            (Event("stall", None, 30.0, 0.1), Event("outage", None, 40.0, 2.0)),
        ),
        ("events|none", "none", None),
        ("file|none", "a/b.txt", "a/b.txt"),
        ("list:time", "0s+10s", (0.0, 10.0)),
        ("list:time", "0", (0.0,)),
    ],
)
def test_what_is_read(kind: str, text: str, value: Any) -> None:
    assert units.parse(kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("rate", "10"),
        ("rate", "10mb"),
        ("rate", "-1mbit"),
        ("rate", ""),
        ("rate", "1.0000001kbit"),
        ("rate", "1e30mbit"),
        ("time", "5"),
        ("time", "1e400s"),
        ("event", "1s:1e400s"),
        ("time", "5 weeks"),
        ("time", "s"),
        ("size", "625kb"),
        ("size", "625"),
        ("size", "0.5B"),
        ("ber", "1"),
        ("ber", "-1e-7"),
        ("ber", "nan"),
        ("ber", "1_0e-7"),
        ("ber", "same"),
        ("float", "inf"),
        ("int", "1.5"),
        ("int", "٣"),
        ("bool", "2"),
        ("share", "1"),
        ("share", "101%"),
        ("burst", "1%"),
        ("burst", "1%:0%"),
        ("events", "rate:2mbit"),
        ("events", "rate@3s"),
        ("events", "rate:2@3s"),
        ("events", "stall@3s"),
        ("events", "stall:1s@3s:1s"),
        ("events", "outage@3s:0s"),
        ("events", "fire@3s:1s"),
        ("file", ""),
        ("bool", "yes"),
        ("choice:flow,iperf3", "netperf"),
        ("control", "no-such"),
        ("control", "sixteen_letters_"),
        ("event", "45s"),
        ("event", "45:1s"),
        ("event", "45s:0s"),
        ("event", ""),
        ("list:time", ""),
        ("list:time", "0s+"),
        ("list:time", "0s,10s"),
        ("list:time", "0s+1e+1s"),
    ],
)
def test_what_is_refused(kind: str, text: str) -> None:
    with pytest.raises(units.UnitError) as error:
        units.parse(kind, text)
    assert "\n" not in str(error.value)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("rate", 10_000_000, "10mbit"),
        ("rate", 9_600, "9.6kbit"),
        ("rate", 1, "1bit"),
        ("rate", 0, "0"),
        ("time", 0.25, "250ms"),
        ("time", 60.0, "60s"),
        ("time", 1e-6, "1us"),
        ("size", 625_000, "625kB"),
        ("size", 16_000_000, "16MB"),
        ("ber", 1e-7, "1e-07"),
        ("ber", 0.0, "0"),
        ("ber|same", "same", "same"),
        ("event", (45.0, 1.0), "45s:1s"),
        ("event|none", None, "none"),
        ("share", 0.0001, "0.01%"),
        ("share", 1.0, "100%"),
        ("burst|none", (0.01, 0.3), "1%:30%"),
        ("events", (Event("rate", 2_000_000, 0.5, None),), "rate:2mbit@500ms"),
        ("events", (Event("loss", 0.01, 3.0, 1.0),), "loss:1%@3s:1s"),
        ("events", (Event("stall", None, 3.0, 0.1),), "stall@3s:100ms"),
        ("list:time", (0.0, 0.05), "0s+50ms"),
        ("bool", 1, "1"),
    ],
)
def test_what_is_written(kind: str, value: Any, text: str) -> None:
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
    for kind in (*plain, "list:time", "share", "burst", "events"):
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
