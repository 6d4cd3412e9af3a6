# SPDX-License-Identifier: GPL-2.0
"""Kernels that look for faults on two CPUs see those that are planted, and none in the devices.

The kernels are engine qemu's ``bookworm-debug`` (the tools of test_debug_kernel.py) and
``bookworm-kcsan`` (scripts/apogee_lab/kernels/checked_kernel.py), in the host's time.
test_tcp_smp.py runs the algorithms on them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from apogee_lab import algorithms, modules
from apogee_lab.engines import log, qemu
from apogee_lab.engines.work import GuestFailed
from apogee_lab.kernels import checked_kernel
from tests.guest.modules import test_shake_smp, test_sscop_smp
from tests.guest.modules.socket_life import LINK
from tests.guest.modules.test_debug_kernel import FAULTS
from tests.guest.runs import compiled

pytestmark = [pytest.mark.deep, pytest.mark.guest, pytest.mark.xdist_group("two-cpus")]

#: In the words of x86, with KASAN.
SEEN = FAULTS | {
    "refcount": r"refcount_t: decrement hit 0; .*WARNING: .* at lib/refcount\.c:\d+ ",
    "null": r"KASAN: null-ptr-deref in range \[.*\] at read_nowhere\S* \[faults\]",
}
RACE = r"BUG: KCSAN: data-race in count\S* \[faults\] / count\S* \[faults\]"

#: What runs together: KASAN and lockdep report one fault, then they are quiet. What KASAN or the
#: slab allocator reports ends lockdep, too.
TOGETHER = [["order", *(kind for kind in SEEN if kind not in ("order", "null"))], ["null"]]


@pytest.fixture
def whole_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure has the kernel's log from the first report to the end."""
    monkeypatch.setattr(log, "SHOWN_LINES", sys.maxsize)


def prepare() -> None:
    """Build the kernels and the project's modules for them."""
    for kernel in (checked_kernel.DEBUG, checked_kernel.KCSAN):
        modules.build(checked_kernel.kernel(kernel))


def reports(kernel: str, kinds: Sequence[str], out: Path) -> list[str]:
    """What a kernel reports while faults are caused; the script goes on, and ends well."""
    modules.build(checked_kernel.kernel(kernel))
    causes = "; ".join(f"modprobe faults kind={kind}" for kind in kinds)
    with pytest.raises(GuestFailed) as failure:
        qemu.run_script(
            f"{causes}; true",
            out=out, kernel=kernel, modules=["faults"], realtime=True,
        )  # fmt: skip
    assert failure.value.reason.startswith("the kernel reported: ")
    rest, lines = log.logged("\n".join(failure.value.console_tail)), []
    while report := log.verdict(rest):
        lines.append(report.line)
        rest = rest[rest.index(report.log[0]) + 1 :]
    return lines


@pytest.mark.usefixtures("whole_log")
@pytest.mark.parametrize("kinds", TOGETHER)
def test_planted_faults_are_seen(tmp_path: Path, kinds: list[str]) -> None:
    lines = reports(checked_kernel.DEBUG, kinds, tmp_path / "out")
    unseen = [kind for kind in kinds if not any(re.match(SEEN[kind], line) for line in lines)]
    assert unseen == [], lines


@pytest.mark.usefixtures("whole_log")
def test_a_planted_data_race_is_seen(tmp_path: Path) -> None:
    lines = reports(checked_kernel.KCSAN, ["race"], tmp_path / "out")
    assert any(re.match(RACE, line) for line in lines), lines


CONTROLS = algorithms.listed(own=True)
#: A flow of each algorithm, and meanwhile a program that asks for its state without a pause.
INFO = f"""
tc qdisc change dev near root netem delay 5ms rate 20mbit loss 1% limit 200
tc -n far qdisc del dev far root
sinks() {{ ip netns exec far ss -ltnH "sport = :5202" | grep -q .; }}
for cc in {" ".join(CONTROLS)}; do
	ip netns exec far peer sink 5202 & sink=$!
	until sinks; do sleep 0.05; done
	modprobe -q tcp_$cc
	sysctl -qw net.ipv4.tcp_congestion_control=$cc
	peer watched 10.9.0.2 5202 10 >$OUT/$cc
	kill $sink
done
"""


def test_state_is_read_while_it_changes(build: Path, root: Path) -> None:
    """The kernel asks an algorithm for its state without the socket's lock."""
    modules.build(checked_kernel.kernel(checked_kernel.KCSAN))
    out = build / "tests" / "two-cpus-info"
    qemu.run_script(
        LINK + INFO,
        out=out, kernel=checked_kernel.KCSAN, modules=modules.brought(CONTROLS), realtime=True,
        files={"bin/peer": compiled(root / "tests" / "guest" / "modules" / "peer.c")},
    )  # fmt: skip
    for name in CONTROLS:
        assert int((out / name).read_text()) > 1000, name


@pytest.mark.parametrize("kernel", [checked_kernel.DEBUG, checked_kernel.KCSAN])
@pytest.mark.parametrize("device", [test_sscop_smp, test_shake_smp])
def test_nothing_breaks_a_device(
    device: ModuleType, kernel: str, build: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on stock kernels, four times as long: they are slower."""
    monkeypatch.setattr(device, "SECONDS", 4 * device.SECONDS)
    device.test_nothing_breaks_whatever_comes_together(kernel, build, root)
