# SPDX-License-Identifier: GPL-2.0
"""docs/storms-devices.md tells what stands out in its records; files of a run are read."""

from __future__ import annotations

from pathlib import Path

from tests.played.devices import bounds
from tests.played.devices.book import BOOK
from tests.played.devices.play import sips
from tests.played.devices.storms import STORMS, STREAM


def test_what_stands_out() -> None:
    """The figures of the page's sentences."""
    page = " ".join(BOOK.page.read_text().split())
    known = {key: record for key, record in BOOK.read().items() if "storm" in record}
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
        f"In the last 5 s of the calm goodput is {min(calm):.0f} to {max(calm):.0f} kbit/s.",
        f"TCP goes on within {max(first for first in kept if first is not None):.1f} s after",
        f"it has {min(half):.0f} to {max(half):.0f} % of half the calm's goodput",
        f"(`one-30`; the other path alone carries {min(alone):.0f} to {max(alone):.0f} kbit/s)",
        f"here {min(cut):.0f} to {max(cut):.0f} s after the storm",
    ):
        assert said in page
    assert shake["one-30"]["storm_bps"] / 1000 < min(alone)
    assert None not in kept
    assert 0.3 < third / sscop["loss-60"]["calm_bps"] < 0.36
    assert round(100 * hundredth / sscop["loss-90"]["calm_bps"]) == 1
    assert [bounds.lost(shake[name]) for name in ("no-way", "no-data")] == [1001, 1001]
    star = known["shake", "reorder", "star"]
    assert star["back_s"] is None and star["after_bps"] < star["calm_bps"] / 2


def test_when_goodput_is_back(tmp_path: Path) -> None:
    """100 octets in a second, nothing from 10 to 17 s, then a drop, then 100 octets again."""
    at = [(t, 100 * t) for t in range(11)] + [(17, 1001)]
    at += [(t, 1001 + 100 * (t - 20)) for t in range(21, 40)]
    lines = [f"{1000 * t} {octets} 0" for t, octets in at]
    (tmp_path / "sip").write_text("\n".join([*lines, "end 2901 7\n"]))
    got, end = sips(tmp_path / "sip")
    starts = [11.0, *(t for t in got.times if t > 11.0)]
    assert got.until(5.5) == 500
    assert got.more(11.0) == 17.0
    assert got.back(starts, 2.0, 100.0) == 21.0
    assert got.back(starts, 2.0, 1000.0) is None
    assert end == [2901, 7]
