# SPDX-License-Identifier: GPL-2.0
"""Moving paths without a guest: scripts, limits, trace files, the generator of scenario leo."""

from __future__ import annotations

import math
import random
import re
import subprocess
from functools import partial
from pathlib import Path

import pytest

from apogee_lab.commands import main
from apogee_lab.runs import sweep
from apogee_lab.scenarios import SCENARIOS, leo, moving
from tests.unit.lab.stand_ins import FakeEngine, planned

SHARE = 1448 / 1514  # of payload in a full frame
plan = partial(planned, cc="reno")
EVENTS = (
    "rate:2mbit@30s+stall@10s:100ms+delay:300ms@20s:5s+outage@40s:1s+loss:1%@50s+rate:5mbit@32s:4s"
)


def moves_of(script: str) -> dict[str, list[str]]:
    """The lines that are replayed, by namespace, device and handle."""
    found = {}
    block = r"^move (\S+) '([^']*)' <<'END' &\n(.*?)\nEND"
    for ns, command, lines in re.findall(block, script, re.MULTILINE | re.DOTALL):
        words = command.split()
        handle = words[words.index("handle") + 1] if "handle" in words else "class"
        found[f"{ns} {words[words.index('dev') + 1]} {handle}"] = lines.splitlines()
    return found


# --- scripts ----------------------------------------------------------------------------------


def test_what_stands_still_is_not_touched() -> None:
    """A static path has neither an HTB nor the hop's ifbs."""
    for scenario in ("satellite", "satellite-shared", "lfn"):
        script = plan(scenario).script
        assert not re.search(r"htb|data-hop|ack-hop|move|mirred", script)
    assert "data-hop" not in plan(policer="100kB").script
    assert "htb" not in plan(jitter="5ms").script


def test_each_event_is_a_line_at_its_time() -> None:
    """An event ends with the value before it; of overlapping events the later one applies. A queue
    moves in packets of the mtu, as for the parameter queue."""
    stall = ["10 250000us slot 100000us 100000us", "10.1 250000us slot 0us 0us"]
    assert moves_of(plan(event=EVENTS).script) == {
        "bn to-sat class": ["30 2000000bit", "32 5000000bit", "36 2000000bit"],
        "sat data-hop 1:": ["40 loss 100%", "41 loss 0%", "50 loss 1%"],
        "sat data-hop 2:": ["20 300000us", "25 250000us"],
        "sat ack-hop 1:": ["40 loss 100%", "41 loss 0%"],
        "sat ack-hop 2:": [*stall, "20 300000us", "25 250000us"],
    }
    found = moves_of(plan(event="queue:30kB@30s:5s").script)
    assert found == {"bn to-sat 2:": ["30 20", "35 417"]}
    assert moves_of(plan("lfn", event="queue:30kB@30s").script) == {"ra to-rb 2:": ["30 20"]}


def test_events_count_from_the_first_start() -> None:
    script = plan("satellite-shared", event="rate:2mbit@10s", start="5s+8s").script
    assert moves_of(script) == {"bn to-sat class": ["10 2000000bit"]}
    assert script.index("sleep $first\n") < script.index("10 2000000bit")


def test_an_outage_ends_in_the_burst_loss() -> None:
    script = plan(event="outage@3s:1s", burst="1%:30%").script
    assert moves_of(script)["sat data-hop 1:"] == ["3 loss 100%", "4 loss gemodel 1% 30%"]
    assert "handle 1: netem limit 1000000 loss gemodel 1% 30%" in script


def test_a_policer_has_two_packets_of_queue() -> None:
    script = plan(policer="100kB").script
    assert "htb burst 100000b cburst 100000b quantum 1514 rate 10000000bit" in script
    assert "pfifo limit 2\n" in script


def test_jitter_is_a_standard_deviation() -> None:
    """Even between mean ± w the deviation is w / sqrt(3)."""
    script = plan(jitter="10ms", jitter_mean="20ms").script
    line = "parent 1:1 handle 2: netem rate 100gbit limit 1000000 delay"
    assert f"dev ack-hop {line} 270000us 17321us\n" in script
    assert f"dev data-hop {line} 250000us\n" in script


def test_what_loses_is_counted() -> None:
    still, moved = plan(), plan(event="outage@3s:1s")
    assert moved.paths[0].data_links == (*still.paths[0].data_links, ("sat", "data-hop"))
    assert moved.paths[0].ack_links == (*still.paths[0].ack_links, ("sat", "ack-hop"))


def test_a_blackout_leaves_the_hop_in_place() -> None:
    """Its filter has its own priority; deleting all filters would remove the hop's redirections."""
    script = plan(event="stall@3s:1s", ack_blackout="5s:1s").script
    assert "filter add dev to-rcv ingress pref 1 matchall action drop" in script
    assert "filter del dev to-rcv ingress pref 1\n" in script
    assert script.count("qdisc add dev to-rcv clsact") == 1


def test_senders_outlast_a_longer_path() -> None:
    """The receiver counts from its first segment, two one-way delays after the handshake."""
    (seconds,) = re.findall(r"--duration (\S+)", plan(event="delay:2s@1s").script)
    assert float(seconds) == 60 + 2 * 2 + 0.1


# --- limits -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "mbit"),
    [
        # From 0.5 s on, a round trip after the first SYN, for 60 s.
        ({"event": "rate:2mbit@30s"}, (29.5 * 10 + 30.5 * 2) / 60),
        ({"event": "rate:2mbit@30s:10s"}, (50 * 10 + 10 * 2) / 60),
        ({"event": "outage@30s:6s"}, 9.0),
        ({"event": "loss:50%@30s:6s"}, 9.5),
        ({"event": "rate:2mbit@30s+outage@30s:6s"}, (29.5 * 10 + 24.5 * 2) / 60),
        ({"event": "delay:300ms@30s+stall@9s:1s"}, 10.0),
        ({"policer": "750kB"}, 10.1),
        ({"burst": "1%:19%"}, 9.5),
    ],
)
def test_the_limit_is_what_the_path_can_carry(texts: dict[str, str], mbit: float) -> None:
    found = plan(**texts)
    assert found.limit_bps == pytest.approx(1e6 * mbit * SHARE)
    assert found.rate_bps == pytest.approx(1e6 * mbit)
    assert found.paths[0].bdp_bytes == pytest.approx(1e6 * mbit / 16, abs=1)


# --- traces -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("rate_trace", "", "file is empty"),
        ("rate_trace", "1\n2.5\n", ":2: '2.5' is not a whole number of ms"),
        ("rate_trace", "5\n\n4\n", "4 is less than"),
        ("rate_trace", "0\n0\n", "all its times are 0"),
        ("rate_trace", "190000\n", "no opportunity within the 120 s"),
        ("delay_trace", "20\n-1\n", ":2: '-1' is not a time"),
        ("delay_trace", "nan\n", ":1: 'nan' is not a time"),
        ("delay_trace", None, "No such file"),
    ],
)
def test_a_bad_trace_is_one_line(tmp_path: Path, name: str, text: str | None, words: str) -> None:
    path = tmp_path / "t"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(words)) as error:
        plan(**{name: str(path)})
    assert "\n" not in str(error.value)
    assert main.main(["script", "satellite", "--set", f"{name}={path}"]) == 2


def test_a_run_is_what_its_traces_hold(tmp_path: Path) -> None:
    """A trace's contents are part of the script, so they determine the run; no file is needed."""
    path = tmp_path / "t"
    scripts = set()
    for line in ("20\n", "30\n"):
        path.write_text(line * 2 + "40\n")
        script = plan(rate_trace=str(path), delay_trace=str(path)).script
        assert "tmp" not in script
        scripts.add(script)
    assert len(scripts) == 2


# --- leo --------------------------------------------------------------------------------------


LEO = {**SCENARIOS["leo"].defaults(), "seed": 1}


def test_leo_rates_have_the_stated_statistics() -> None:
    """40 000 s of them. The mean's standard error: draws of the 15 s have less than half the range
    of deviation and count a quarter."""
    until_s = 40_000.0
    steps = leo.rates(LEO, random.Random(7), 3.0, until_s)
    values = [rate for _, rate in steps]
    assert [at for at, _ in steps[:3]] == [0.0, 0.05, 0.1]
    error = (68e6 - 32e6) / 8 / math.sqrt(until_s / 15)
    assert sum(values) / len(values) == pytest.approx(49e6, abs=4 * error)
    assert 32e6 <= min(values) < 34e6
    assert 66e6 < max(values) <= 68e6


def test_leo_changes_its_satellite_every_15_s() -> None:
    steps = leo.delays(LEO, 4.0, 60.0)
    spikes = [at for at, delay in steps if delay == 0.045]
    assert spikes == [4.0, 19.0, 34.0, 49.0]
    after = dict(steps)
    assert after[4.1] == pytest.approx((0.045 + 0.01) / 2)
    assert after[4.2] == min(after.values()) == 0.01


def test_a_step_that_is_due_is_not_waited_for_in_tiny_numbers(tmp_path: Path) -> None:
    """With iperf3 the shell waits: .2 + 100.01 - 100.21 s are 1.4e-14, which busybox's sleep
    refuses, and nothing moved from there on."""
    script = plan(traffic="iperf3", event="rate:2mbit@200ms").script
    (function,) = re.findall(r"^replay\(\) \{\n.*?^\}\n", script, re.MULTILINE | re.DOTALL)
    stand_ins = """
now() { if [ -e begun ]; then echo 100.21; else echo 100.01; : >begun; fi; }
sleep() { case $1 in *[!0-9.]*|"") exit 1; esac; }
"""
    done = subprocess.run(
        ["sh", "-ec", f'{stand_ins}{function}sender=$$; printf "0.2 a\\n0.5 b\\n" | replay set'],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "set a\nset b\n"


def test_leo_is_the_seeds() -> None:
    """The path is the same for all algorithms and different for each seed."""
    scripts = {seed: plan("leo", seed=seed).script for seed in (1, 2)}
    assert scripts[1] == plan("leo", seed=1).script
    assert scripts[1] != scripts[2]
    other = SCENARIOS["leo"].compile({}, "cubic", 60.0, 1).script
    assert moves_of(other) == moves_of(scripts[1])


def test_leo_takes_a_users_traces(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text("12\n")
    found = plan("leo", rate_trace=str(path), delay_trace=str(path), loss="1%")
    assert found.rate_bps == pytest.approx(0.99e6 * 1514 / 1500)
    assert moves_of(found.script) == {}
    assert "netem delay 0us loss 1% limit" in found.script


def test_a_leo_runs_seed_is_its_plans(tmp_path: Path) -> None:
    """The sweep compiles a plan for each seed."""
    runs = [("reno", {}, seed) for seed in (1, 2)]
    compiled = sweep.compile_runs(SCENARIOS["leo"], runs, 60.0)
    jobs = sweep.make_jobs(SCENARIOS["leo"], FakeEngine(tmp_path), "uml", "bookworm", compiled)
    assert jobs[0].plan.limit_bps != jobs[1].plan.limit_bps


def test_loss_and_bit_errors_add_up() -> None:
    """A frame is lost by either."""
    both = plan("leo", ber="1e-6", loss="1%").script
    lost = 1 - (1 - 0.01) * (1 - 1e-6) ** (8 * 1514)
    assert f"parent 1:1 netem delay 0us loss {100 * lost:.9g}% " in both


def test_parameters_stand_in_every_scenario_but_those_with_events_of_their_own() -> None:
    names = {param.name for param in moving.PARAMS}
    for name, scenario in SCENARIOS.items():
        there = names & {param.name for param in scenario.params}
        some = {"event", "burst_time"}
        own: dict[str, set[str]] = {"wlan": set(), "radio": some, "multipath": some}
        assert there == own.get(name, names)
