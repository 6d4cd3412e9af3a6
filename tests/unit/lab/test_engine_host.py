# SPDX-License-Identifier: GPL-2.0
"""Parts of engine host that need no root: checks of the machine, refusals, clocks."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from apogee_lab import modules
from apogee_lab.base import LabError
from apogee_lab.commands import reproduce
from apogee_lab.engines import host, supervise
from tests.patience import wait_for

Capture = pytest.CaptureFixture[str]
RELEASE = "6.1.0-99-amd64"


@pytest.fixture
def machine(tmp_path: Path) -> host.HostKernel:
    """A kernel with netem as a module, veth built in, and star installed by DKMS."""
    top = tmp_path / "lib" / "modules" / RELEASE
    (top / "updates" / "dkms").mkdir(parents=True)
    (top / "updates" / "dkms" / "tcp_star.ko.xz").touch()
    (top / "modules.builtin").write_text("kernel/drivers/net/veth.ko\n")
    (top / "modules.dep").write_text("kernel/net/sched/sch_netem.ko.xz:\nkernel/net/a-b.ko: x.ko\n")
    return host.HostKernel(RELEASE, tmp_path)


def test_modules_that_are_built_in_or_can_be_loaded(machine: host.HostKernel) -> None:
    assert host._indexed(machine) == {"veth", "sch_netem", "a_b"}
    assert host._indexed(host.HostKernel("0", Path("/nowhere"))) == set()


def test_what_is_installed_stands_in_for_what_cannot_be_built(machine: host.HostKernel) -> None:
    assert not machine.buildable
    assert modules.module_file("tcp_star", machine) == machine.installed("tcp_star")
    with pytest.raises(LabError, match=f"apt-get install linux-headers-{RELEASE}, or use"):
        modules.module_file("tcp_j", machine)
    headers = machine.modules / "build" / "include" / "config"
    headers.mkdir(parents=True)
    (headers / "kernel.release").touch()
    with pytest.raises(LabError, match="make modules KDIR="):
        modules.module_file("tcp_j", machine)


def test_without_root_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert host.unfit().endswith("run it as root")


def test_no_figures_in_real_time(capsys: Capture) -> None:
    assert reproduce.main(["star-5", "--engine", "host"]) == 2
    assert "one run at a time: use qemu or uml" in capsys.readouterr().err


def test_events_are_brought_to_the_monotonic_clock(tmp_path: Path) -> None:
    events = tmp_path / "events.log"
    host._by_monotonic_clock(events, 5.0)  # there need not be any
    events.write_text("flow1 start 1007.50\nack_blackout on 1009.00\n")
    host._by_monotonic_clock(events, 1e-5)
    assert events.read_text() == "flow1 start 1007.50\nack_blackout on 1009.00\n"
    host._by_monotonic_clock(events, 1000.004)
    assert events.read_text() == "flow1 start 7.50\nack_blackout on 9.00\n"


def left_of(group: int) -> bool:
    """Whether a process group has members; init takes those that have ended."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("script", "tidy_s", "status"),
    [
        ("sleep 60", 0.0, -signal.SIGKILL),
        ("sleep 60", 60.0, -signal.SIGTERM),
        ("trap 'exit 3' TERM; while :; do sleep 0.1; done", 60.0, 3),
        ("trap 'exit 3' TERM; (trap '' TERM; sleep 100000)", 60.0, 3),
        ("trap '' TERM; while :; do sleep 0.1; done", 0.5, -signal.SIGKILL),
    ],
    ids=["at once", "in time", "tidied", "left behind", "too late"],
)
def test_a_guest_is_ended_wherever_a_signal_came(script: str, tidy_s: float, status: int) -> None:
    """Even if the signal came when Popen.wait() had just taken its lock, which stays locked."""
    with subprocess.Popen(["sh", "-c", f"{script} & echo; wait"], stdout=-1, process_group=0) as it:
        assert it.stdout is not None
        assert it.stdout.readline() == b"\n"
        it._waitpid_lock.acquire()  # type: ignore[attr-defined]
        supervise._end_group(it, tidy_s)
        it._waitpid_lock.release()  # type: ignore[attr-defined]
        assert it.returncode == status
    wait_for(lambda: not left_of(it.pid))
