# SPDX-License-Identifier: GPL-2.0
"""The lab in real guests: failing and interrupted sweeps, repeatability, behaviour of links."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from apogee_lab.commands import main
from apogee_lab.engines import pulse, qemu
from apogee_lab.engines.work import GuestFailed
from apogee_lab.measures.record import comparable, dumps, read_records
from apogee_lab.scenarios import SCENARIOS
from apogee_lab.scenarios.scenario import Param, Plan
from tests.guest.runs import Case, Run, compiled, run_cases
from tests.patience import wait_for

pytestmark = pytest.mark.guest


def lab_run(*arguments: str) -> int:
    return main.main(["run", *arguments])


# --- repeatability ----------------------------------------------------------------------------


def test_equal_seeds_give_equal_records(modules: Path, kept: Path, tmp_path: Path) -> None:
    """The same command twice, with parallel runs: equal bytes except wall_s; seeds differ."""
    lines = []
    for attempt in ("one", "two"):
        target = tmp_path / attempt
        status = lab_run(
            "satellite", "--cc", "star", "--set", "ber=1e-5", "--set", "trace=module",
            "--seed", "1,2", "--duration", "5", "--fresh", "--json", str(target),
        )  # fmt: skip
        assert status == 0
        found = read_records(target)
        lines.append([dumps(comparable(record)) for record in found])
        traces = {run: (kept / run / "trace.txt").read_bytes() for run in names(found)}
        if attempt == "one":
            first = traces
    assert lines[0] == lines[1]
    assert first == traces, "to the last ACK"
    one, two = (json.loads(line) for line in lines[0])
    assert one["link_drops"] != two["link_drops"]
    assert one["total_goodput_bps"] != two["total_goodput_bps"]
    assert len(set(traces.values())) == 2


def names(found: list[dict[str, Any]]) -> list[str]:
    return [record["run"] for record in found]


# --- runs that fail, sweeps that stop ---------------------------------------------------------


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scenario `faulty`: satellite with a guest that may panic or never end."""
    satellite = SCENARIOS["satellite"]
    faults = {
        "none": "",
        "panic": "echo c >/proc/sysrq-trigger\n",
        "sleep": "echo about to sleep\nsleep 1000000\n",
    }

    def build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
        plan = satellite.build(values, ccs, duration_s)
        head, traffic, rest = plan.script.partition("# traffic\n")
        assert traffic
        return replace(plan, script=head + faults[values["fault"]] + traffic + rest)

    fault = Param("fault", "none", "choice:none,panic,sleep", "what goes wrong")
    scenario = replace(satellite, name="faulty", params=(*satellite.params, fault), build=build)
    monkeypatch.setitem(SCENARIOS, "faulty", scenario)


def test_guests_that_fail_do_not_stop_the_sweep(
    faulty: None, kept: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A panic and a guest that never ends: killed, the console's last lines shown, status 1."""
    target = tmp_path / "records"
    arguments = ["faulty", "--cc", "reno", "--duration", "1", "--json", str(target)]
    status = lab_run(*arguments, "--set", "fault=panic,sleep,none", "--jobs", "1")
    shown = capfd.readouterr()
    assert status == 1
    assert "Kernel panic - not syncing: sysrq triggered crash" in shown.err
    assert shown.err.count("    | ") > 5, "the last lines of both consoles"
    assert "was not done after" in shown.err
    assert "about to sleep" in shown.err
    assert "2 of 3 runs failed" in shown.err
    (record,) = read_records(target)
    assert record["set"]["fault"] == "none"
    assert "reno" in shown.out, "the table of the run that was good"
    failed = sorted(kept.glob("*.failed"))
    assert len(failed) == 2
    assert all((folder / "console.log").exists() for folder in failed)
    assert (kept / record["run"] / "record.json").exists()

    # Finished runs are kept.
    written = (kept / record["run"] / "flow1.recv.json").stat().st_mtime_ns
    assert lab_run(*arguments, "--set", "fault=none") == 0
    assert (kept / record["run"] / "flow1.recv.json").stat().st_mtime_ns == written


def test_a_busy_guest_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guest in an endless loop is killed when it has used its CPU time."""
    monkeypatch.setattr(pulse, "SPUN_S", 8.0)
    with pytest.raises(GuestFailed, match="clock stood still for 8 s of CPU time"):
        qemu.run_script("while :; do :; done", out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == [], "nothing half done is left"


def test_an_interrupted_sweep_goes_on(kept: Path, tmp_path: Path, root: Path) -> None:
    """Ctrl-C: status 130, no guest left running, finished runs are not repeated."""
    program = (
        "import sys, pathlib; from apogee_lab.commands import main; "
        "from apogee_lab.runs import sweep; "
        "sweep.RUNS = pathlib.Path(sys.argv[1]); sys.exit(main.main(sys.argv[2:]))"
    )
    command = [
        sys.executable, "-c", program, str(kept), "run", "satellite", "--cc", "reno",
        "--duration", "1", "--seed", "1,2,3", "--jobs", "1", "--json", str(tmp_path / "records"),
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(root / "scripts")}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: list(kept.glob("*/record.json")) or process.poll() is not None)
        wait_for(lambda: list(kept.glob("*.part-*")) or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    finally:
        if process.poll() is None:
            process.kill()
    assert process.returncode == 130
    assert "interrupted: 1 of 3 runs are finished and kept" in error
    assert not [pid for pid in processes() if str(kept) in pid], "a guest is left"
    (finished,) = kept.glob("*/record.json")
    written = finished.parent.joinpath("flow1.recv.json").stat().st_mtime_ns
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert finished.parent.joinpath("flow1.recv.json").stat().st_mtime_ns == written
    assert len(read_records(tmp_path / "records")) == 3
    assert not list(kept.glob("*.part-*"))


def processes() -> list[str]:
    """Command lines of all processes but our own."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
        except OSError:
            continue
        if folder.name != str(os.getpid()):
            found.append(line.decode(errors="replace"))
    return found


# --- links ------------------------------------------------------------------------------------

BER = 1e-5
FRAMES = 20000
#: Direction and frame length in bytes: a full frame, a middling one, ACKs without and with SACK.
LENGTHS = [("data", 1514), ("data", 700), ("ack", 66), ("ack", 94)]


@pytest.fixture(scope="module")
def blasted(modules: Path, build: Path, root: Path) -> Path:
    """Datagrams of each length through the satellite scenario's links."""
    satellite = SCENARIOS["satellite"]
    values = {"ber": BER, "rate": 10_000_000_000, "queue": 100_000_000}
    links = satellite.compile(values, "reno", 1.0).script
    lines = ["chmod +x /bin/peer", "APOGEE_SHELL=1 sh /lab/links.sh"]
    for direction, length in LENGTHS:
        sender, receiver, to = ("snd", "rcv", "10.0.3.2")
        if direction == "ack":
            sender, receiver, to = ("rcv", "snd", "10.0.1.1")
        lines += [
            f"ip netns exec {receiver} peer count 9 $OUT/{direction}-{length} &",
            "counter=$!",
            "sleep 0.2",
            f"ip netns exec {sender} peer blast {to} 9 {length} {FRAMES} || exit 1",
            "sleep 2",
            "kill $counter",
            "wait $counter",
        ]
    lines += ["for ns in bn sat; do tc -n $ns -s -j qdisc show >$OUT/qdisc-$ns.json; done"]
    out = build / "tests" / "loss-model"
    files = {"bin/peer": compiled(root / "tests" / "guest" / "modules" / "peer.c")}
    files["lab/links.sh"] = links.encode()
    info = qemu.run_script("\n".join(lines), out=out, files=files)
    assert info.status == 0, (out / "console.log").read_text()
    return out


@pytest.mark.parametrize(("direction", "length"), LENGTHS)
def test_frame_loss_follows_the_frames_length(blasted: Path, direction: str, length: int) -> None:
    """1 - (1 - BER)^(8 L), within the 99.9 % interval of the binomial distribution."""
    counted = dict(
        map(int, line.split())
        for line in (blasted / f"{direction}-{length}").read_text().splitlines()
    )
    assert set(counted) == {length}
    loss = -math.expm1(8 * length * math.log1p(-BER))
    low, high = stats.binom.interval(0.999, FRAMES, loss)
    assert low <= FRAMES - counted[length] <= high


def test_only_the_satellite_hop_loses(blasted: Path) -> None:
    """The frames that receivers miss equal netem's count; the queue drops nothing."""
    received = sum(
        int(line.split()[1])
        for direction, length in LENGTHS
        for line in (blasted / f"{direction}-{length}").read_text().splitlines()
    )
    bn, sat = (json.loads((blasted / f"qdisc-{ns}.json").read_text()) for ns in ("bn", "sat"))
    assert sum(q["drops"] for q in bn) == 0
    dropped = sum(q["drops"] for q in sat if q["kind"] == "netem")
    assert dropped == len(LENGTHS) * FRAMES - received


CASES = {
    "window": Case({"window": 625_000, "trace": "probe"}, "reno", duration_s=6),
    "slots": Case({"ack_slot": 0.02, "trace": "probe"}, "reno", duration_s=4),
    "rate": Case({"ack_rate": 100_000, "trace": "probe"}, "reno", duration_s=5),
    "flow": Case({}, "cubic", duration_s=10),
    "iperf3": Case({"traffic": "iperf3"}, "cubic", duration_s=10),
}


@pytest.fixture(scope="module")
def runs(build: Path) -> dict[str, Run]:
    return run_cases(build, "satellite-links", CASES)


def arrivals_of_acks(run: Run) -> list[float]:
    """Times at which the sender's stack saw a segment, in s."""
    return [event["t"] for event in run.traced("tcp_probe")]


def test_receive_window_on_the_wire(runs: dict[str, Run]) -> None:
    """The receiver advertises `window`, rounded up to the window scale, and no more."""
    run = runs["window"]
    granularity = 1 << run.sent["info"]["snd_wscale"]
    seen = [event["snd_wnd"] for event in run.traced("tcp_probe")]
    assert max(seen) - CASES["window"].values["window"] in range(granularity)
    assert seen[-1] == max(seen), "it opens and stays open"


def test_ack_slots_release_acks_in_batches(runs: dict[str, Run]) -> None:
    """20 ms: gaps within a batch are well below 1 ms, gaps between batches 20 ms or more."""
    gaps = [after - before for before, after in pairwise(arrivals_of_acks(runs["slots"]))]
    assert len(gaps) > 300
    between = [gap for gap in gaps if gap >= 1e-3]
    assert min(between) > 0.0195
    assert len(between) < len(gaps) / 4
    steady = sorted(between)[len(between) // 2]
    assert steady == pytest.approx(0.02, abs=0.0015)


def test_ack_rate_spaces_acks(runs: dict[str, Run]) -> None:
    """100 kbit/s carry a 66 B frame in 5.28 ms; a full path (10 Mbit/s) brings 413 ACKs/s."""
    times = arrivals_of_acks(runs["rate"])
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps[1:]) > 0.99 * 66 * 8 / 100e3
    busy = [gap for gap in gaps if gap < 0.02]
    assert sorted(busy)[len(busy) // 2] == pytest.approx(66 * 8 / 100e3, rel=0.01)
    full = [q for q in runs["rate"].json("qdisc-bn.json") if q["dev"] == "to-snd"]
    assert sum(q["drops"] for q in full) > 0, "its queue is bounded"


def test_iperf3_and_flow_agree(runs: dict[str, Run]) -> None:
    """Cubic's goodput at the receiver from 5 s to 9 s: within 2 %.

    Their clocks start at different times, so start-up is left out.
    """
    intervals = runs["iperf3"].json("iperf3-server.json")["intervals"]
    received = sum(i["sum"]["bytes"] for i in intervals if 4.9 < i["sum"]["start"] < 8.9)
    assert received * 8 / 4 == pytest.approx(runs["flow"].goodput(5, 9), rel=0.02)
