# SPDX-License-Identifier: GPL-2.0
"""docs/storms-devices.md has its records' tables; the bounds find what is beyond them."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.devices_storm import bounds, table
from tests.devices_storm.play import Record, Sips
from tests.devices_storm.silence import SILENCES
from tests.devices_storm.storms import EACH, STORMS, STREAM, WITH_EACH


@pytest.fixture(scope="module")
def records() -> list[Record]:
    """Those of the page."""
    return [json.loads(line) for line in table.RECORDS.read_text().splitlines()]


def test_all_are_recorded_once(records: list[Record]) -> None:
    for kind, cases in (("storm", STORMS), ("silence", SILENCES)):
        found = [
            (r["device"], r[kind]) for r in records if kind in r and r.get("cc", STREAM) == STREAM
        ]
        assert found == [(device, name) for device in cases for name in cases[device]]
    each = [(r["device"], r["cc"], r["storm"]) for r in records if r.get("cc", STREAM) != STREAM]
    assert each == list(product(STORMS, EACH, WITH_EACH))


def test_the_page_has_the_records_tables(records: list[Record]) -> None:
    page = table.PAGE.read_text()
    assert table.written(page, records) == page


def test_the_records_are_within_the_bounds(records: list[Record]) -> None:
    assert bounds.wrong(records) == []


def test_what_stands_out(records: list[Record]) -> None:
    """The figures of the page's sentences."""
    page = " ".join(table.PAGE.read_text().split())
    known = {(r["device"], r["storm"], r["cc"]): r for r in records if "storm" in r}
    sscop, shake = (
        {name: r for (of, name, cc), r in known.items() if (of, cc) == (device, STREAM)}
        for device in STORMS
    )
    calm = [r["calm_bps"] / 1000 for r in known.values()]
    kept = [sscop[name]["first_s"] for name, storm in STORMS["sscop"].items() if storm.kept]
    third, hundredth = (sscop[name]["storm_bps"] for name in ("loss-60", "loss-90"))
    one = [shake[f"one-{name}"] for name in ("no-way", "no-data", "no-feedback")]
    half = [200 * r["storm_bps"] / r["calm_bps"] for r in one]
    alone = [round(r["storm_bps"] / 1000, -1) for r in one]
    cut = [shake[name]["first_s"] for name in ("no-way", "no-data", "no-feedback")]
    for said in (
        f"in the last 5 s of the calm it is {min(calm):.0f} to {max(calm):.0f} |",
        f"TCP goes on within {max(first for first in kept if first is not None):.1f} s after",
        f"it has {min(half):.0f} to {max(half):.0f} % of half the calm's goodput",
        f"(`one-30`: {shake['one-30']['storm_bps'] / 1000:.0f} kbit/s,",
        f"other path alone carries {min(alone):.0f} to {max(alone):.0f})",
        f"here {min(cut):.0f} to {max(cut):.0f} s after the storm",
    ):
        assert said in page
    assert None not in kept
    assert 0.3 < third / sscop["loss-60"]["calm_bps"] < 0.36
    assert round(100 * hundredth / sscop["loss-90"]["calm_bps"]) == 1
    assert [bounds.lost(shake[name]) for name in ("no-way", "no-data")] == [1001, 1001]
    star = known["shake", "reorder", "star"]
    assert star["back_s"] is None and star["after_bps"] < star["calm_bps"] / 2


#: What is wrong: device, storm or silence, what the record says then, what is found.
WRONG: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "an octet": ("sscop", "loss-10", {"damaged": 1}, "1 damaged"),
    "an end that is missing": ("shake", "flap", {"received": 1}, "1 of "),
    "a packet twice": ("shake", "duplicate", {"datagrams": {"twice": 2}}, "2 twice"),
    "a packet late": ("sscop", "reorder", {"datagrams": {"late": 3}}, "3 datagrams out of order"),
    "a packet lost": ("sscop", "loss-90", {"datagrams": {"came": 1}}, "datagrams lost"),
    "more than the resets lost": ("sscop", "mtus", {"datagrams": {"came": 9}}, "by resets"),
    "a reset": ("sscop", "jitter", {"near": {"reset_error": 1}}, "1 resets: error"),
    "a link that rests": ("sscop", "no-way", {"first_s": 3.1}, "nothing for 3.1 s"),
    "a flow that stands": ("shake", "turns", {"back_s": None}, "back after None"),
    "a slow return": ("shake", "one-30", {"back_s": 31.0}, "back after 31.0 s"),
    "memory": ("shake", "no-feedback", {"memory_kb": 30_000}, "30000 kB"),
    "too many probes": ("shake", "leader", {"probe_sent": 60}, "60 probe_sent from 40"),
    "too many HELLOs": ("shake", "alone", {"hello_sent": 40}, "40 hello_sent from 40"),
    "too many SDs": ("sscop", "lossy", {"sd_repeated": 900}, "900 sd_repeated from 40"),
    "too many POLLs": ("sscop", "clean", {"poll_sent": 400}, "400 poll_sent from 40"),
    "too many BGNs": ("sscop", "alone", {"control_sent": 50}, "50 control_sent from 40"),
}  # fmt: skip


def changed(record: Record, change: dict[str, Any]) -> Record:
    """A record with other values; counts of a silence are those of 40 to 60 s."""
    made: Record = json.loads(json.dumps(record))
    if "silence" in made:
        made["counted"][made["edges"].index(60)] |= change
        return made
    for key, value in change.items():
        made[key] = made[key] | value if isinstance(value, dict) else value
    return made


@pytest.mark.parametrize("name", WRONG)
def test_what_is_beyond_the_bounds_is_found(records: list[Record], name: str) -> None:
    device, case, change, said = WRONG[name]
    told = [r for r in records if r.get("cc", STREAM) == STREAM]
    known = {(r["device"], r.get("storm") or r["silence"]): r for r in told}
    [found] = bounds.wrong([changed(known[device, case], change)])
    assert said in found


def test_when_goodput_is_back(tmp_path: Path) -> None:
    """100 octets in a second, nothing from 10 to 17 s, then a drop, then 100 octets again."""
    at = [(t, 100 * t) for t in range(11)] + [(17, 1001)]
    at += [(t, 1001 + 100 * (t - 20)) for t in range(21, 40)]
    lines = [f"{1000 * t} {octets} 0" for t, octets in at]
    (tmp_path / "sip").write_text("\n".join([*lines, "end 2901 7\n"]))
    sips = Sips(tmp_path / "sip")
    assert sips.by(5.5) == 500
    assert sips.first(11.0) == 6.0
    assert sips.back(11.0, 100.0) == 10.0
    assert sips.back(11.0, 1000.0) is None
    assert sips.end == [2901, 7]
