# SPDX-License-Identifier: GPL-2.0
"""Bursts of losses by time: what is drawn, and what of it is in the script and in the limit."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest

from apogee_lab.scenarios import SCENARIOS, bursts
from tests.unit.lab.stand_ins import planned
from tests.unit.lab.test_moving import moves_of

SHARE = 1448 / 1514  # of payload in a full frame


def drawn(every_s: float, length_s: float, seed: int, ends_s: float) -> list[tuple[float, float]]:
    values = {"burst_time": (every_s, length_s), "seed": seed}
    return bursts.bad_times(values, ends_s - bursts.BEYOND_S)


@pytest.mark.parametrize(("every_s", "length_s"), [(0.2, 0.05), (2.0, 0.05), (0.002, 0.001)])
def test_bad_times_have_their_means(every_s: float, length_s: float) -> None:
    """20 000 of them. A geometric distribution's deviation is sqrt(m (m - 1)) steps. Within 4
    deviations; and as many as there are of one step: 1 / m."""
    spans = drawn(every_s, length_s, 1, 20_000 * every_s)
    lengths = [round(1e3 * (end - begin)) for begin, end in spans]
    gaps = [round(1e3 * (later - end)) for (_, end), (later, _) in pairwise(spans)]
    for found, mean in ((lengths, 1e3 * length_s), (gaps, 1e3 * (every_s - length_s))):
        count = len(found)
        assert count == pytest.approx(20_000, rel=0.05)
        deviation = math.sqrt(mean * (mean - 1))
        assert sum(found) / count == pytest.approx(mean, abs=4 * deviation / math.sqrt(count) + 0.1)
        assert min(found) == 1
        short = 1 / mean
        tolerance = 4 * math.sqrt(short * (1 - short) / count)
        assert found.count(1) / count == pytest.approx(short, abs=tolerance + 1e-9)


def test_a_run_begins_in_a_bad_time_as_often_as_in_any_other() -> None:
    """A quarter of 2000 seeds; the time that is left is as long as a whole one's: it has no
    memory."""
    first = [drawn(0.2, 0.05, seed, 20.0)[0] for seed in range(2000)]
    begun = [end for begin, end in first if begin == 0]
    assert len(begun) / 2000 == pytest.approx(0.25, abs=4 * math.sqrt(0.25 * 0.75 / 2000))
    assert 1e3 * sum(begun) / len(begun) == pytest.approx(50, abs=4 * 50 / math.sqrt(len(begun)))


def test_losses_in_spans() -> None:
    steps = [(0.0, 0.0), (1.0, 0.01), (3.0, 0.0)]
    assert bursts.lost_in(steps, [(0.5, 1.5), (2.0, 2.1), (3.0, 3.5)]) == [
        (0.0, 0.0), (0.5, 1.0), (1.5, 0.01), (2.0, 1.0), (2.1, 0.01), (3.0, 1.0), (3.5, 0.0),
    ]  # fmt: skip
    assert bursts.lost_in(steps, []) == steps
    assert bursts.lost_in([(0.0, 0.0)], [(0.0, 1.0)]) == [(0.0, 1.0), (1.0, 0.0)]


@pytest.mark.parametrize("name", ["satellite", "satellite-shared", "requests", "lfn", "leo"])
def test_bad_times_are_in_the_script_and_in_the_limit(name: str) -> None:
    """All data is lost from the begin of each to its end, as in an outage, and no ACK; the same
    times for each algorithm and others for each seed."""
    plan = planned(name, burst_time="1s:100ms", cc="reno", seed=3)
    spans = bursts.bad_times({"burst_time": (1.0, 0.1), "seed": 3}, 60.0)
    (key,) = (key for key in moves_of(plan.script) if key.endswith("data-hop 1:"))
    steps = [line.split() for line in moves_of(plan.script)[key]]
    switched = [float(at) for at, *_ in steps if float(at) < 60]
    assert switched == [edge for span in spans for edge in span if 0 < edge < 60]
    assert {" ".join(words) for _, *words in steps} == {"loss 100%", "loss 0%"}
    assert not any(key.endswith("ack-hop 1:") for key in moves_of(plan.script))
    assert moves_of(planned(name, burst_time="1s:100ms", cc="cubic", seed=3).script) == moves_of(
        plan.script
    )
    assert planned(name, burst_time="1s:100ms", cc="reno", seed=4).script != plan.script


def test_the_limit_is_less_what_passes_in_bad_times() -> None:
    """Over 60 s from a round trip on."""
    plan = planned(burst_time="1s:100ms", seed=3)
    spans = bursts.bad_times({"burst_time": (1.0, 0.1), "seed": 3}, 60.0)
    bad_s = sum(max(0.0, min(end, 60.5) - max(begin, 0.5)) for begin, end in spans)
    assert bad_s > 1
    assert plan.limit_bps == pytest.approx(10e6 * (1 - bad_s / 60) * SHARE)


def test_each_long_link_has_bad_times_of_its_own() -> None:
    """Of the data, not of the way back."""
    plan = planned("multipath", burst_time="1s:100ms", duration_s=30.0)
    blocks = re.findall(r"tc -n (net\d) -batch - &\n(.*?)\nEND", plan.script, re.DOTALL)
    assert [net for net, _ in blocks] == ["net1", "net2"]
    for number, (_, text) in enumerate(blocks, 1):
        spans = bursts.bad_times({"burst_time": (1.0, 0.1), "seed": 1}, 30.0, number)
        times = [float(line.split()[0]) for line in text.splitlines() if " dev to-ha " in line]
        assert times == [edge for span in spans for edge in span if edge > 0]
        assert "to-modem" not in text and "to-am2" not in text


def test_a_radio_has_bad_times() -> None:
    plan = planned("radio", burst_time="1s:100ms", duration_s=30.0)
    spans = bursts.bad_times({"burst_time": (1.0, 0.1), "seed": 1}, 30.0)
    (text,) = re.findall(r"tc -n air -batch - &\n(.*?)\nEND", plan.script, re.DOTALL)
    times = [float(line.split()[0]) for line in text.splitlines()]
    assert times == [edge for span in spans for edge in span if edge > 0]
    assert "dev to-gw" in text and "dev to-mh" not in text


def test_what_has_data_losses_has_bad_times() -> None:
    """All but wlan, whose medium loses none."""
    there = {name for name, s in SCENARIOS.items() if "burst_time" in s.defaults()}
    assert there == SCENARIOS.keys() - {"wlan"}


@pytest.mark.parametrize("text", ["1s", "1s:", "50ms:50ms", "1s:500us", "2s:1", "none:1s"])
def test_what_is_no_burst(text: str) -> None:
    with pytest.raises(ValueError, match="LENGTH"):
        planned(burst_time=text)
