# SPDX-License-Identifier: GPL-2.0
"""Trace files without a guest: what a script has of them, offsets, limits, messages."""

from __future__ import annotations

import itertools
import os
import random
import re
from functools import partial
from pathlib import Path

import pytest

from apogee_lab.commands import main
from apogee_lab.scenarios import moving, opportunities, tracefiles
from apogee_lab.scenarios.opportunities import Opportunities
from tests.unit.lab.stand_ins import planned

plan = partial(planned, cc="reno", delay="20ms")
BITS = 8 * 1514  # of a full frame


def file_of(folder: Path, *lines: object) -> str:
    path = folder / "t"
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def table(script: str, name: str = "data") -> tuple[list[str], list[str]]:
    """Arguments of the program's command: limits, period, offset; and the lines of its times."""
    block = rf"^flow opportunities \S+/{name} \S+ ([^\n]*) <<'END'\n(.*?)\nEND$"
    ((words, lines),) = re.findall(block, script, re.MULTILINE | re.DOTALL)
    return words.split(), lines.splitlines()


# --- opportunities ----------------------------------------------------------------------------


def unrolled(times: list[int], offset: float, end: float) -> list[float]:
    """The opportunities until a time, turn by turn."""
    turns = itertools.takewhile(lambda turn: turn * times[-1] <= offset + end, itertools.count())
    every = [turn * times[-1] + ms - offset for turn in turns for ms in times]
    return [at for at in every if 0 <= at <= end]


@pytest.mark.parametrize("seed", range(20))
def test_opportunities_are_those_of_the_file_again_and_again(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    gaps = [dice.choice([0, 0, 1, 2, 30, 400]) for _ in range(dice.randint(1, 60))]
    times = list(itertools.accumulate([*gaps, 1]))
    offset, until = dice.randint(0, 5 * times[-1]), dice.randint(times[-1], 4 * times[-1])
    text = f"{file_of(tmp_path, *times)}@{offset}ms"
    found = opportunities.read("rate_trace", text, until / 1e3)
    wanted = unrolled(times, offset % times[-1], until)
    assert found.until(until) == pytest.approx(wanted)
    for at in (0, until / 3, until):
        assert found.count(at) == sum(ms <= at for ms in wanted)
    steps = found.steps(until, BITS)
    for end_s in (0.01 * int(until / 20), 0.01 * int(until / 10)):
        passed = sum(
            rate * (min(stop, end_s) - begin)
            for (begin, rate), stop in zip(steps, [*(s for s, _ in steps[1:]), 1e9], strict=True)
            if begin < end_s
        )
        assert passed / BITS == pytest.approx(sum(ms <= 1e3 * end_s + 1e-6 for ms in wanted))


def test_the_longest_wait_for_two() -> None:
    """Of 1, 2, 3 ms and 103 ms: one that comes right after 2 ms waits for the one at 103 ms, and
    right after 3 ms for the one at 104 ms."""
    found = Opportunities([1, 2, 3, 103], 103)
    assert found.wait_ms(1000, 1) == 100
    assert found.wait_ms(1000, 2) == 101
    assert found.wait_ms(1.5, 2) == 2, "at the beginning nobody waits long"
    assert found.wait_ms(1000, 8) == 206


def test_what_the_run_does_not_reach_is_not_in_the_script(tmp_path: Path) -> None:
    """A gap behind its end is accepted, whatever its length; equal times share a line."""
    path = file_of(tmp_path, *range(1, 30001), 200_000, *range(200_001, 230_001))
    script = plan(duration_s=5, rate_trace=path).script
    assert table(script) == (["417", "65000", "0"], [str(ms) for ms in range(1, 30001)])
    path = file_of(tmp_path, *[100] * 4, *[600] * 4)
    assert table(plan(rate_trace=path).script)[1] == ["100 4", "600 4"]


def test_a_run_in_a_gap_is_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, 1, 100_000)
    with pytest.raises(ValueError, match="no opportunity within the 65 s of the run"):
        plan(duration_s=5, rate_trace=f"{path}@20s")
    plan(duration_s=5, rate_trace=path)


@pytest.mark.parametrize("ms", [2007, 2011, 131_068])
def test_what_is_due_at_an_offset_is_not_skipped(tmp_path: Path, ms: int) -> None:
    """As a product of the seconds these are more than the times in ms, by a bit."""
    path = file_of(tmp_path, ms - 5, ms, ms, ms, ms + 7)
    assert ms / 1e3 * 1e3 > ms
    found = opportunities.read("rate_trace", f"{path}@{ms}ms", 10)
    assert [found.at(n) for n in range(4)] == pytest.approx([0, 0, 0, 7])
    assert opportunities.read("rate_trace", f"{path}@{ms + 7}ms", 200).offset == 0


def test_an_offset(tmp_path: Path) -> None:
    """Of a file that repeats it is a setting; of a longer one the script has the part."""
    path = file_of(tmp_path, 100, 200, 1000)
    assert table(plan(rate_trace=f"{path}@2150ms").script)[0] == ["417", "1000", "150"]
    path = file_of(tmp_path, *range(1, 200_000))
    assert table(plan(duration_s=5, rate_trace=f"{path}@70s").script)[1][:2] == ["0", "1"]
    assert tracefiles.split("a@b.txt") == ("a@b.txt", 0)
    assert tracefiles.split("a@b.txt@1.5s") == ("a@b.txt", 1.5)


@pytest.mark.parametrize(
    ("lines", "mbit"),
    [
        # The SYN leaves at 100 ms, the handshake takes 40 ms, data leaves from 600 ms on: nine
        # times at 600 ms + 600 n, nine times at 700 ms + 600 n until 5590 ms.
        ([100] * 4 + [600] * 4, 4 * 18 * BITS / 5 / 1e6),
        ([1], BITS / 1e3),
        # 33 to 2000 ms, one, 4001 to 5032 ms.
        ([*range(1, 2001), 4000], (1968 + 1 + 1032) * BITS / 5 / 1e6),
    ],
)
def test_the_limit_counts_the_opportunities(tmp_path: Path, lines: list[int], mbit: float) -> None:
    found = plan(duration_s=5, rate_trace=file_of(tmp_path, *lines))
    assert found.rate_bps == pytest.approx(1e6 * mbit, rel=0.005)
    assert found.limit_bps == pytest.approx(found.rate_bps * 1448 / 1514)


def test_small_packets_share_an_opportunity(tmp_path: Path) -> None:
    """Packets of 600 B: two and a half, with as many Ethernet headers."""
    found = plan(duration_s=5, rate_trace=file_of(tmp_path, 1), mtu="600")
    assert found.rate_bps == pytest.approx(8e3 * 1500 * 614 / 600)
    assert found.limit_bps == pytest.approx(8e3 * 1500 * (600 - 52) / 600)


def test_events_over_a_trace(tmp_path: Path) -> None:
    """During a rate event opportunities are even; behind it the trace has gone on. A queue event is
    a step of the program's limit."""
    path = file_of(tmp_path, 1000)
    found = plan(
        duration_s=5, rate_trace=path, event="rate:12112bit@2500ms:2200ms+queue:15kB@3s:1s"
    )
    words, lines = table(found.script)
    assert words == ["417+3:10+4:417", "65000", "0"]
    even = [2500 + 1e3 * n for n in (1, 2)]
    assert [float(line) for line in lines] == [1000, 2000, *even, *range(5000, 65001, 1000)]
    assert "class change" not in found.script
    assert "pfifo" not in found.script


def test_what_the_programs_table_cannot_hold_is_one_line(tmp_path: Path) -> None:
    path = file_of(tmp_path, 1)
    many = "+".join(f"queue:{15 + n % 2}kB@{n + 1}s" for n in range(64))
    for events, words in (
        ("rate:50gbit@1s", "event: more than 16777216 opportunities"),
        (many, "event: the queue may change 63 times"),
    ):
        with pytest.raises(ValueError, match=words):
            plan(duration_s=90, rate_trace=path, event=events)
    burst = file_of(tmp_path, *[1] * 5000)
    with pytest.raises(ValueError, match="more than 16777216 opportunities in one run"):
        plan(duration_s=5, rate_trace=burst, event="rate:1mbit@1s")


def test_the_sender_waits_for_opportunities(tmp_path: Path) -> None:
    """SYN and first data may each wait for a gap; the measured interval begins with the data."""
    (still,) = re.findall(r"--duration (\S+)", plan(duration_s=5).script)
    path = file_of(tmp_path, 1, 2, 3000)
    (moved,) = re.findall(r"--duration (\S+)", plan(duration_s=5, rate_trace=path).script)
    assert float(moved) - float(still) == pytest.approx(2.999)


def test_a_trace_of_the_way_back(tmp_path: Path) -> None:
    """It has the time of the first frame forward, which a program without times notes."""
    path = file_of(tmp_path, 50)
    script = plan(ack_rate_trace=path, ack_queue="7").script
    assert table(script, "acks") == (["7", "50", "0"], ["50"])
    assert "flow opportunities /run/apogee-opportunities/data /run/apogee-opportunities/zero\n" in (
        script
    )
    assert "filter add dev to-sat egress bpf da object-pinned" in script
    both = plan(ack_rate_trace=path, rate_trace=path, ack_slot="5ms").script
    assert "egress bpf" not in both
    assert "dev to-snd parent 1:1 handle 2: prio" in both
    with pytest.raises(ValueError, match="leave out ack_rate"):
        plan(ack_rate_trace=path, ack_rate="1mbit")


def test_a_policer_needs_a_rate(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="policer: rate and queue must be constant"):
        plan(rate_trace=file_of(tmp_path, 1), policer="100kB")


# --- delays and losses ------------------------------------------------------------------------


def test_steps_of_a_delay_trace(tmp_path: Path) -> None:
    """A line every 10 ms; one that is in force at the offset holds for what is left of it."""
    path = file_of(tmp_path, 20, 20, 25.5)
    steps = tracefiles.delay_steps(path, 0.06)
    assert steps == [(0.0, 0.02), (0.02, 0.0255), (0.03, 0.02), (0.05, 0.0255)]
    steps = tracefiles.delay_steps(f"{path}@47ms", 0.03)
    assert steps == [(0.0, 0.02), (0.003, 0.0255), (0.013, 0.02)]


def test_a_loss_trace(tmp_path: Path) -> None:
    """The limit counts it, events override it, and bursts have no place beside it."""
    path = file_of(tmp_path, *[0] * 100, *[50] * 100)
    assert tracefiles.loss_steps(path, 2.5) == [(0, 0), (1, 0.5), (2, 0)]
    found = plan(duration_s=10, loss_trace=path)
    assert found.rate_bps == pytest.approx(7.5e6)
    assert "1 loss 50%\n2 loss 0%\n" in found.script
    assert (
        "1.5 loss 100%\n1.8 loss 50%\n" in plan(loss_trace=path, event="outage@1500ms:300ms").script
    )
    with pytest.raises(ValueError, match="loss_trace requires burst=none"):
        plan(loss_trace=path, burst="1%:50%")
    with pytest.raises(ValueError, match=":1: '101' is not a number of percent"):
        plan(loss_trace=file_of(tmp_path, 101))


def test_numbers_of_other_notations_are_one_line_and_a_mark_of_utf_8_is_none(
    tmp_path: Path,
) -> None:
    """Python's float takes 1_0 and other scripts' digits."""
    for number in ("1_0", "\u0663"):
        with pytest.raises(ValueError, match=f":1: '{number}' is not a time from 0"):
            tracefiles.delay_steps(file_of(tmp_path, number), 1)
    path = file_of(tmp_path, "\ufeff10", 20)
    assert tracefiles.delay_steps(path, 0.02) == [(0, 0.01), (0.01, 0.02)]
    assert tracefiles.times("rate_trace", path) == [10, 20]


def test_a_transfer_that_is_completed_after_the_run_finds_what_moves(tmp_path: Path) -> None:
    """It may take 600 s; before, all traces stood still 10 s behind the run's end."""
    script = planned(
        "requests",
        cc="reno",
        duration_s=5,
        delay_trace=file_of(tmp_path, *[20] * 100, *[30] * 100),
        burst_time="1s:50ms",
    ).script
    for words in (r"\d+us", "loss 100%"):
        times = [float(at) for at in re.findall(rf"^([\d.]+) {words}$", script, re.MULTILINE)]
        assert times[-1] > 600


def test_value_at_is_the_step_in_force() -> None:
    steps = [(0.0, 1.0), (1.0, 2.0), (3.0, 0.0)]
    assert [moving.value_at(steps, at) for at in (0, 0.5, 1, 2.9, 3, 9)] == [1, 1, 2, 2, 0, 0]


@pytest.mark.parametrize("scenario", ["satellite", "satellite-shared", "requests", "leo", "lfn"])
def test_every_scenario_that_moves_has_opportunities(tmp_path: Path, scenario: str) -> None:
    """Loaded before its filter is, and nothing else shapes the bottleneck; a file's part for
    transfers that are completed after the run is there, too."""
    path = file_of(tmp_path, *range(1, 1_000_000))
    script = planned(scenario, cc="reno", duration_s=5, rate_trace=path).script
    loaded = script.index("flow opportunities")
    assert loaded < script.index("bpf da object-pinned") < script.index("umount")
    assert "class change" not in script
    last = float(table(script)[1][-1])
    assert last == pytest.approx(
        {"requests": 665_000, "lfn": 65_500}.get(scenario, 65_000), abs=600
    )


# --- files that have no end -------------------------------------------------------------------


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["rate_trace", "ack_rate_trace", "delay_trace", "loss_trace"])
def test_pipes_and_devices_are_refused(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One would block, the other would fill the memory; so would they as logs."""
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), "/dev/zero"):
        told = f"{path}: neither pipes nor devices are read, only files"
        with pytest.raises(ValueError) as refused:
            plan("satellite", **{name: path})
        assert str(refused.value) == f"{name}: {told}"
        assert main.main(["trace", "convert", path]) == 2
        assert capsys.readouterr().err == f"lab trace: {told}\n"
