# SPDX-License-Identifier: GPL-2.0
"""Kernels that look for faults on two CPUs see those that are planted, and none in the devices.

The kernels are engine qemu's ``bookworm-debug`` (the tools of test_debug_kernel.py) and
``bookworm-kcsan`` (scripts/apogee_lab/kernels/checked_kernel.py), in the host's time.
test_tcp_smp.py runs the algorithms on them.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from apogee_lab import modules
from apogee_lab.engines import qemu
from apogee_lab.engines.work import GuestFailed
from apogee_lab.kernels import checked_kernel
from tests.deep.test_debug_kernel import FAULTS
from tests.guest.modules import test_shake_smp, test_sscop_smp
from tests.guest.runs import compiled

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("two-cpus")]

WALL_S = 900.0
#: In the words of x86, with KASAN.
SEEN = FAULTS | {"null": r"BUG: KASAN: null-ptr-deref in read_nowhere\S* \[faults\]"}
RACE = r"BUG: KCSAN: data-race in count\S* \[faults\] / count\S* \[faults\]"


def reason(kernel: str, kind: str, out: Path) -> str:
    """Why a guest fails in which a fault is caused; the script goes on, and ends well."""
    modules.build(checked_kernel.kernel(kernel))
    with pytest.raises(GuestFailed) as failure:
        qemu.run_script(
            f"modprobe faults kind={kind}; true",
            out=out, kernel=kernel, modules=["faults"], realtime=True, timeout_wall_s=WALL_S,
        )  # fmt: skip
    return failure.value.reason


@pytest.mark.parametrize("kind", SEEN)
def test_a_planted_fault_is_seen(tmp_path: Path, kind: str) -> None:
    found = reason(checked_kernel.DEBUG, kind, tmp_path / "out")
    assert re.match(f"the kernel reported: {SEEN[kind]}", found), found


def test_a_planted_data_race_is_seen(tmp_path: Path) -> None:
    found = reason(checked_kernel.KCSAN, "race", tmp_path / "out")
    assert re.match(f"the kernel reported: {RACE}", found), found


#: A flow of each algorithm, and meanwhile a program that asks for its state without a pause.
INFO = """
chmod +x /bin/peer
ip netns add far; ip link add near type veth peer name far netns far
ip addr add 10.9.0.1/24 dev near; ip link set near up
ip -n far addr add 10.9.0.2/24 dev far; ip -n far link set far up
tc qdisc add dev near root netem delay 5ms rate 20mbit loss 1% limit 200
sinks() { ip netns exec far ss -ltnH "sport = :5202" | grep -q .; }
for cc in star j hstcp_gentle compound compound_plus; do
	ip netns exec far peer sink 5202 & sink=$!
	until sinks; do sleep 0.05; done
	modprobe tcp_$cc 2>/dev/null || modprobe tcp_compound_plus
	sysctl -qw net.ipv4.tcp_congestion_control=$cc
	peer watched 10.9.0.2 5202 SECONDS >$OUT/$cc
	kill $sink
done
"""
ALGORITHMS = {
    "star": "tcp_star", "j": "tcp_j", "hstcp_gentle": "tcp_hstcp_gentle",
    "compound": "tcp_compound_plus", "compound_plus": "tcp_compound_plus",
}  # fmt: skip


def test_state_is_read_while_it_changes(build: Path, root: Path) -> None:
    """The kernel asks an algorithm for its state without the socket's lock."""
    modules.build(checked_kernel.kernel(checked_kernel.KCSAN))
    out = build / "tests" / "two-cpus-info"
    qemu.run_script(
        INFO.replace("SECONDS", "10"),
        out=out, kernel=checked_kernel.KCSAN, modules=sorted({*ALGORITHMS.values()}), realtime=True,
        files={"bin/peer": compiled(root / "tests" / "guest" / "modules" / "peer.c")},
        timeout_wall_s=WALL_S,
    )  # fmt: skip
    for name in ALGORITHMS:
        assert int((out / name).read_text()) > 1000, name


@pytest.mark.parametrize("kernel", [checked_kernel.DEBUG, checked_kernel.KCSAN])
@pytest.mark.parametrize("device", [test_sscop_smp, test_shake_smp])
def test_nothing_breaks_a_device(
    device: ModuleType, kernel: str, build: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on stock kernels, four times as long: they are slower."""
    monkeypatch.setattr(device, "SECONDS", 4 * device.SECONDS)
    device.test_nothing_breaks_whatever_comes_together(kernel, build, root)
