# SPDX-License-Identifier: GPL-2.0
"""Engine uml in real guests: repeatability, agreement with engine qemu, clean-up.

The first test builds the engine's kernel if the cache has none.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.engines import uml
from apogee_lab.engines.work import GuestFailed
from apogee_lab.kernels import uml_kernel
from apogee_lab.kernels.kernel import DEFAULT_KERNEL, Kernel
from apogee_lab.measures.record import dumps
from apogee_lab.modules import build
from apogee_lab.scenarios import SCENARIOS
from tests.guest.conftest import shift_seeds
from tests.guest.runs import compiled, measured
from tests.patience import wait_for

pytestmark = [pytest.mark.guest, pytest.mark.uml]


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    """The engine's kernel, and the project's modules built for it."""
    found = uml_kernel.kernel()
    build(found)
    return found


def processes(kernel: Kernel, top: Path) -> list[int]:
    """Processes of UML, found by their executable (the kernel) and their working directory, a run's
    folder. Those outside ``top`` belong to others."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            program, place = (os.readlink(folder / name) for name in ("exe", "cwd"))
            if program == str(kernel.vmlinux.resolve()) and place.startswith(f"{top}/"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def none_is_left(kernel: Kernel, top: Path) -> None:
    """Whether all processes have ended. The lab kills all but waits for the first only; on a busy
    machine the others take some time."""
    wait_for(lambda: not processes(kernel, top))


def test_equal_seeds_give_equal_records(kernel: Kernel, kept: Path, tmp_path: Path) -> None:
    """The same command twice, with parallel runs: equal bytes except wall_s; seeds differ."""
    lines, traces = [], []
    for attempt in ("one", "two"):
        found = measured(
            tmp_path / attempt, "--cc", "star", "--set", "ber=1e-5", "--set", "trace=all",
            "--seed", "1,2", "--duration", "5", "--fresh",
        )  # fmt: skip
        lines.append([dumps(record | {"wall_s": 0}) for record in found])
        traces.append([(kept / str(r["run"]) / "trace.txt").read_bytes() for r in found])
    assert lines[0] == lines[1]
    assert traces[0] == traces[1], "to the last ACK"
    assert traces[0][0] != traces[0][1]
    assert all(b"star_ack:" in trace and b"tcp_probe:" in trace for trace in traces[0])
    assert found[0]["kernel"] == kernel.release
    none_is_left(kernel, tmp_path)


MAPPED = """
mount -t tmpfs -o size=900m none /tmp && cd /tmp && chmod +x /bin/mapped
/bin/mapped >$OUT/said
echo $? >$OUT/ended
"""


@pytest.mark.deep
def test_what_the_host_does_not_map_ends_the_program(
    kernel: Kernel, tmp_path: Path, root: Path
) -> None:
    """It took the same fault for ever."""
    program = compiled(root / "tests" / "guest" / "engines" / "mapped.c")
    limit = int(Path("/proc/sys/vm/max_map_count").read_text())
    uml.run_script(MAPPED, out=tmp_path / "out", files={"bin/mapped": program})
    ended = (tmp_path / "out" / "ended").read_text().strip()
    assert ended == ("137" if limit < 72_000 else "0")


def test_a_shift_is_another_seed(
    kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seeds are shifted as by APOGEE_SEED_SHIFT."""

    def drawn(seed: int) -> str:
        uml.run_script("od -An -N8 -tx1 /dev/urandom >drawn", seed=seed, out=tmp_path / "out")
        return (tmp_path / "out" / "drawn").read_text()

    plain = [drawn(1), drawn(101)]
    shift_seeds(monkeypatch, 100)
    assert plain == [drawn(-99), drawn(1)]
    assert plain[0] != plain[1]


def test_both_engines_agree(
    kernel: Kernel, stock_modules: Path, kept: Path, tmp_path: Path
) -> None:
    """Without errors nothing is random: goodput, RTT and queue of both engines are within 1 %."""
    more = ["--cc", "star", "--duration", "4", "--set", "window=625kB"]
    here, there = (measured(tmp_path / engine, *more, engine=engine) for engine in ("uml", "qemu"))
    for a, b in zip(here, there, strict=True):
        assert a["cc"] == b["cc"]
        assert a["total_goodput_bps"] == pytest.approx(b["total_goodput_bps"], rel=0.01)
        (flow, other) = (record["flows"][0] for record in (a, b))
        assert flow["rtt_ms"]["min"] == pytest.approx(other["rtt_ms"]["min"], rel=0.01)
        assert flow["retransmits"] == other["retransmits"] == 0


def test_algorithms_of_the_kernel_load(kernel: Kernel, tmp_path: Path) -> None:
    """modprobe loads each; tc, ss and module parameters work."""
    names = sorted(uml.congestion_controls() - {"reno", "cubic"})
    assert {"bbr", "hybla", "westwood", "highspeed", "scalable", "vegas"} <= set(names)
    script = f"""\
set -e
for name in {" ".join(names)} constant; do modprobe tcp_$name; done
modprobe tcp_star aen=0
cat /sys/module/tcp_star/parameters/aen
tr ' ' '\\n' </proc/sys/net/ipv4/tcp_available_congestion_control | sort >$OUT/available
sysctl -qw net.ipv4.tcp_congestion_control=star
ip link add va type veth peer name vb
ip link add ifb9 type ifb
tc qdisc add dev va root handle 1: htb default 1
tc class add dev va parent 1: classid 1:1 htb rate 1mbit
tc qdisc add dev va parent 1:1 netem delay 10ms loss 1%
tc qdisc add dev vb clsact
tc filter add dev vb ingress matchall action mirred egress redirect dev ifb9
ss -ti >$OUT/ss
"""
    own = ["tcp_star", "tcp_constant"]
    info = uml.run_script(script, out=tmp_path / "out", modules=own)
    console = (tmp_path / "out" / "console.log").read_text()
    assert info.status == 0, console
    available = (tmp_path / "out" / "available").read_text().split()
    assert {*names, "star", "constant", "reno", "cubic"} == set(available)


@pytest.mark.parametrize(
    ("script", "bounds", "reason"),
    [
        ("echo c >/proc/sysrq-trigger", {}, "Kernel panic - not syncing: sysrq triggered crash"),
        ("while :; do :; done", {}, "clock stood still for 4 s of CPU time"),
        ("modprobe faults kind=stall", {"modules": ["faults"]}, "still for 4 s of CPU time"),
        ("sleep 1000000", {"timeout_virtual_s": 60.0}, "not done after 60 s of its time"),
        ("while sleep 1; do :; done", {"timeout_virtual_s": 60.0}, "not done after 60 s of its"),
        ("exit 3", {"check": True}, "ended with status 3"),
        ("poweroff -f", {}, "stopped before its results were out"),
    ],
    ids=["panic", "busy", "stall", "sleep", "loop", "status", "off"],
)
def test_a_guest_that_fails(
    kernel: Kernel,
    tmp_path: Path,
    script: str,
    bounds: dict[str, Any],
    reason: str,
) -> None:
    """It raises GuestFailed with the console's last lines; no process and no file is left."""
    with pytest.raises(GuestFailed, match=re.escape(reason)) as failure:
        uml.run_script(f"echo hello; {script}", out=tmp_path / "out", spun_s=4.0, **bounds)
    tail = "\n".join(failure.value.console_tail)
    assert ("sysrq_handle_crash" if "sysrq" in script else "hello") in tail
    assert list(tmp_path.iterdir()) == [], "nothing half done is left"
    none_is_left(kernel, tmp_path)


def test_a_run_ends_at_its_plans_limit(kernel: Kernel, tmp_path: Path) -> None:
    plan = SCENARIOS["satellite"].compile({}, "reno", 1.0)
    plan = replace(plan, script="sleep 1000000", timeout_virtual_s=60.0)
    with pytest.raises(GuestFailed, match="not done after 60 s of its time"):
        uml.run(plan, seed=1, kernel=DEFAULT_KERNEL, modules=[], out=tmp_path / "out")


def test_the_clock_stands_still_while_the_guest_computes(kernel: Kernel, tmp_path: Path) -> None:
    """Virtual time passes only while the guest is idle."""
    script = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; cat /proc/uptime >$OUT/uptime"
    info = uml.run_script(script, out=tmp_path / "out")
    assert info.status == 0
    assert float((tmp_path / "out" / "uptime").read_text().split()[0]) < 0.5
