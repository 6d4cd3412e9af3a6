# SPDX-License-Identifier: GPL-2.0
"""A run that carried more than its path can carry fails; what it may rightly carry does not."""

from __future__ import annotations

import itertools
import json
import re
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from apogee_lab import units
from apogee_lab.measures import ceiling
from apogee_lab.measures.arrivals import Arrivals
from apogee_lab.measures.measurement import Interval
from apogee_lab.measures.record import RecordError
from apogee_lab.scenarios import SCENARIOS
from tests.unit.lab.raw_folders import SYN_US, bins, compute, meta, send_log, steady, write
from tests.unit.lab.stand_ins import planned

BIN = 12_000  # bytes in 10 ms: 9.6 Mbit/s, the limit of raw_folders


def carried(raw: Path, share: float, **best: Any) -> dict[str, Any]:
    """The record of a run of 10 s that carried a share of 9.6 Mbit/s, with a path's ceiling."""
    write(raw, steady(round(share * BIN)))
    facts = meta()
    facts["paths"][0] |= {"ceiling": best} if best else {}
    return compute(raw, facts)


def test_two_per_cent_more_than_the_limit_fail(tmp_path: Path) -> None:
    assert carried(tmp_path, 1.019)["total_goodput_bps"] == pytest.approx(1.019 * 9.6e6, rel=1e-3)
    with pytest.raises(RecordError) as error:
        carried(tmp_path, 1.021)
    assert str(error.value) == (
        "goodput 9.802 Mbit/s is more than the path can carry, 9.600 Mbit/s"
    )


def test_a_loss_that_was_not_set_up_is_seen(tmp_path: Path) -> None:
    """The limit is a twentieth less than what arrives."""
    with pytest.raises(RecordError, match="more than the path can carry"):
        carried(tmp_path, 1.0, steps=[(0.0, 0.95 * 9.6e6)], way_s=(0.25, 0.25))


def test_what_a_run_may_carry_beyond_it(tmp_path: Path) -> None:
    """The interval is from .5 to 10.5 s. A rate that falls later than that of the mean, a path that
    becomes shorter, a bucket, luck with losses."""
    high, low = 9.6e6, 0.9 * 9.6e6
    fall = [(0.0, high), (10.0, low)]
    most = ceiling.carried({"steps": fall, "way_s": (0.25, 0.25), "late_s": 0.005}, 0.5, 10.5)
    assert most == pytest.approx(9.75 * high + 0.25 * low + 0.005 * (high - low))
    shorter = ceiling.carried({"steps": [(0.0, high)], "way_s": (0.1, 0.25)}, 0.5, 10.5)
    assert shorter == pytest.approx(10.15 * high)
    assert ceiling.carried({"steps": [(0.0, high)], "at_once": 8e5}, 0.5, 10.5) == 10 * high + 8e5
    less = 0.97 * 9.6e6
    with pytest.raises(RecordError):
        carried(tmp_path, 1.0, steps=[(0.0, less)])
    # 5 sqrt(luck x 97 Mbit) of 96 Mbit are 5 %: luck is (.01 x 96e6)² / 93e6
    carried(tmp_path, 1.0, steps=[(0.0, less)], luck=(0.01 * 96e6) ** 2 / 93e6)


def shared(
    rates: list[list[tuple[float, float, float]]], seconds: float, begin_s: float, **of: Any
) -> Any:
    """A run of flows over a path of 9.6 Mbit/s, .25 s long, from ``begin_s`` on; each has spans:
    from, to (s after the first SYN), Mbit/s. ``waiting``: bytes not acknowledged at the beginning.
    """
    flows = []
    for spans, start_s in zip(rates, of.get("starts", [0.0] * len(rates)), strict=True):
        found = Arrivals(bins(*((10 + a, 10 + b, round(1250 * rate)) for a, b, rate in spans)))
        flows.append(SimpleNamespace(
            arrivals=found, syn_us=SYN_US + 1e6 * start_s, begin_us=float(found.times[0]),
            open_us=SYN_US + 1e6 * start_s + 5e5 if of.get("in_time", True) else None,
            min_rtt_us=500_000, unacknowledged=lambda _: of.get("waiting", 0) / len(rates),
        ))  # fmt: skip
    begin_us, end_us = (SYN_US + 1e6 * at for at in (begin_s, begin_s + seconds))
    got = sum(float(f.arrivals.until(end_us) - f.arrivals.until(begin_us)) for f in flows)
    facts = {"ceiling": {"steps": [(0.0, 9.6e6)], "way_s": (0.25, 0.25)}, "limit_bps": 9.6e6}
    sizes = {"bdp_bytes": 630_000, "queue_bytes": 625_000}
    return SimpleNamespace(
        flows=flows, interval=Interval(SYN_US, SYN_US, begin_us, end_us), warm_s=None,
        paths=[SimpleNamespace(facts=facts, link_drops=0, ack_drops=0)],
        record={"total_goodput_bps": 8 * got / seconds}, in_time=of.get("in_time", True),
        meta={"set": {}}, total=sizes.get,
    )  # fmt: skip


def test_flows_from_the_first_data_on_have_nothing_under_way() -> None:
    """What waits for lost segments has passed since then. 3 x 3.2 Mbit/s are the limit."""
    for more, waiting in itertools.product((1.01, 1.03), (0, 10**9)):
        run = shared([[(0.75, 6, 3.2 * more)]] * 3, 5.0, 0.75, waiting=waiting)
        with pytest.raises(RecordError) if more > 1.02 else nullcontext():
            ceiling.check(run)


def test_three_flows_of_iperf3() -> None:
    """Their servers' clocks are apart by .2 s at most, which is 4 % of 5 s, and two first windows:
    it was two products and queues, 42 %."""
    for more in (1.0, 1.1):
        rates = [[(0.5 + at, 6, 3.2 * more)] for at in (0, 0.1, 0.2)]
        run = shared(rates, 5.0, 0.7, in_time=False, starts=[0, 0.1, 0.2])
        with pytest.raises(RecordError) if more > 1.08 else nullcontext():
            ceiling.check(run)


def test_what_was_under_way_may_be_held() -> None:
    """A receiver that has waited for a segment since 2.25 s hands on all behind it at 3.3 s, when
    the interval has begun: its sender had sent 1.26 MB."""
    kept = (0.75, 2.25, 9.6), (3.29, 3.3, 1.05 * 960), (3.3, 9, 4.8)
    other = [(3.25, 9, 4.8)]
    ceiling.check(shared([list(kept), other], 5.0, 3.25, waiting=1_260_000))
    with pytest.raises(RecordError):
        ceiling.check(shared([list(kept), other], 5.0, 3.25, waiting=500_000))


def began(raw: Path, begin_s: float, over_s: float = 10.0) -> float:
    """The limit of a run whose first data came then. A path of 2.4 Mbit/s, and of 9.6 from 1 s on;
    .5 to 10.5 s was planned, .25 s away from the receiver."""
    end_us = SYN_US + round(1e6 * (begin_s + over_s))
    write(raw, steady(1, SYN_US + round(1e6 * begin_s), end_us), send=send_log(end_us=end_us))
    best = {"steps": [(0.0, 2.4e6), (1.0, 9.6e6)], "first_s": (0.5, 0.75)}
    facts = meta(limit_bps=9.24e6)
    facts["paths"][0] |= {"ceiling": best}
    facts["flows"][0]["bytes"] = 1_000_000
    return float(compute(raw, facts)["limit_bps"])


def test_the_limit_is_of_the_interval_that_was_measured(tmp_path: Path) -> None:
    """As planned to the digit, unless the first data was sent again, or the flow ended before."""
    for begin_s in (0.7, 0.75, 0.94):
        assert began(tmp_path, begin_s) == 9.24e6
    assert began(tmp_path, 1.0) == pytest.approx((0.25 * 2.4e6 + 9.75 * 9.6e6) / 10)
    assert began(tmp_path, 1.75) == pytest.approx(9.6e6)
    assert began(tmp_path, 0.75, 2.0) == pytest.approx((0.5 * 2.4e6 + 1.5 * 9.6e6) / 2)


def test_the_ceiling_is_what_the_limit_is_the_mean_of() -> None:
    """Whatever moves, from a round trip after the first SYN on."""
    texts = {"event": "rate:2mbit@30s:5s+loss:10%@20s:20s+outage@50s:1s", "burst_time": "1s:50ms"}
    for name, begin_s in (("satellite", 0.5), ("satellite-shared", 0.5), ("radio", 0.1),
                          ("lfn", 1 + 0.07)):  # fmt: skip
        plan = planned(name, cc="reno", **texts)
        (path,) = plan.paths
        assert path.ceiling
        best = path.ceiling.facts() | {"way_s": (0, 0), "at_once": 0}
        falls = sum(max(0, a - b) for (_, a), (_, b) in zip(best["steps"], best["steps"][1:],
                                                            strict=False))  # fmt: skip
        most = ceiling.carried(best, begin_s, begin_s + 60) - best["late_s"] * falls
        assert most / 60 == pytest.approx(plan.limit_bps, rel=1e-5), name


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_plans_ceilings_are_told_as_json_has_them(name: str) -> None:
    """A finished run is known by these facts, read from a file."""
    for path in planned(name, cc="reno").paths:
        told = path.facts()["ceiling"]
        assert json.loads(json.dumps(told)) == told


def test_acks_that_are_dropped_take_no_airtime() -> None:
    """A full frame takes 393.5 us and an ACK 181.5: without ACKs 484.25 / 393.5 of the limit."""
    plan = planned("wlan", cc="reno")
    ((_, most),) = plan.paths[0].ceiling.steps
    assert most == pytest.approx(plan.limit_bps * (393.5 + 181.5 / 2) / 393.5)


def test_a_blackout_from_the_first_syn_on_is_set_up() -> None:
    """Else the SYN passes before it begins."""
    for name in ("satellite", "satellite-shared"):
        for what, dev in (("data_blackout", "to-bn"), ("ack_blackout", "to-rcv")):
            script = planned(name, cc="reno", **{what: "0s:1s"}).script
            drops = rf"^tc -n sat filter add dev {dev}\d* ingress matchall action drop$"
            first = re.search(drops, script, re.M)
            assert first and first.start() < script.index("# traffic")
            assert "\tsleep 0\n\tnote" in script


@pytest.mark.deep
def test_no_committed_record_is_above_its_ceiling(root: Path) -> None:
    """A record has no times of arrival; the interval begins with its first data."""
    seen = 0
    for file in sorted((root / "docs/results").glob("**/*.jsonl")):
        for record in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            if (
                "total_goodput_bps" not in record
                or record["set"].get("rate_trace", "none") != "none"
            ):
                continue
            seen += 1
            assert record["total_goodput_bps"] <= _allowed(record), f"{file.name}: {record['cc']}"
    assert seen > 6000


def _allowed(record: dict[str, Any]) -> float:
    """Bit/s that a committed record may have, as by the check but without luck with losses."""
    scenario = SCENARIOS[record["scenario"]]
    kinds = {param.name: param.kind for param in scenario.params}
    values = {
        key: units.parse(kinds[key], "none" if value is None else str(value))
        if key in kinds else str(value)
        for key, value in record["set"].items()
    }  # fmt: skip
    plan = scenario.compile(values, record["cc"], record["duration_s"], record["seed"])
    span = record.get("interval", {})
    over_s = span.get("over_s", record["duration_s"])
    begin_s = span.get("from_s", 3 * plan.paths[0].delay_s)
    bits = sum(
        ceiling.carried(path.ceiling.facts(), begin_s, begin_s + over_s)
        for path in plan.paths
        if path.ceiling
    )
    return (1 + ceiling.MARGIN) * bits / over_s
