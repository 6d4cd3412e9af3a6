# SPDX-License-Identifier: GPL-2.0
"""Faults planted in real kernels: what the kernel reports fails a run whose script says done."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.engines import qemu, uml
from apogee_lab.engines.work import GuestFailed
from tests.guest.runs import deep_ones
from tests.unit.lab.kernel_logs import LOGS

pytestmark = pytest.mark.guest

#: A script that goes on whatever happens, and ends well.
PLANT = "modprobe faults kind={}; echo hello; true"

#: Findings that take a debug kernel, or a minute: genuine text, written to the kernel's log.
TEXTS = ("kasan", "ubsan", "lockdep", "rcu usage", "hung task", "kmemleak", "slab", "device kept")


def failed(run_script: Callable[..., Any], script: str, out: Path, **how: Any) -> GuestFailed:
    """The failure of a run; nothing of it is left."""
    with pytest.raises(GuestFailed) as failure:
        run_script(script, out=out / "out", modules=["faults"], **how)
    assert list(out.iterdir()) == []
    return failure.value


def assert_told(error: GuestFailed, line: str, shown: str) -> None:
    assert re.search(f"^the kernel reported: {line}", error.reason), error.reason
    assert shown in "\n".join(error.console_tail)


#: What the kernel reports, and what is shown of its log.
QEMU = {
    "warning": (
        r"WARNING: CPU: 0 PID: \d+ at \S*/faults\.c:\d+ \S+ \[faults\]: a fault that a test",
        "Call Trace:",
    ),
    "refcount": (r"refcount_t: .*: WARNING: .* at lib/refcount\.c:\d+", "faults_init"),
    "atomic": (r"BUG: scheduling while atomic: modprobe/\d+/0x\w+", "msleep"),
    "null": (r"BUG: kernel NULL pointer dereference, address: 0+8 at \w*.*\[faults\]", "Oops"),
}
UML = {
    "warning": (r"WARNING: CPU: 0 PID: \d+ at \S*/faults\.c:\d+ .*: a fault that", "Call Trace"),
    "null": (r"Kernel panic - not syncing: ", "hello"),
}


@pytest.mark.parametrize("kind", deep_ones(QEMU, set(QEMU) - {"warning"}))
def test_a_fault_on_engine_qemu(stock_modules: Path, tmp_path: Path, kind: str) -> None:
    """All but the last leave the guest running, and its script ends with status 0."""
    assert_told(failed(qemu.run_script, PLANT.format(kind), tmp_path), *QEMU[kind])


@pytest.mark.uml
@pytest.mark.parametrize("kind", UML)
def test_a_fault_on_engine_uml(modules: Path, tmp_path: Path, kind: str) -> None:
    error = failed(uml.run_script, f"echo hello; {PLANT.format(kind)}", tmp_path)
    assert_told(error, *UML[kind])


@pytest.mark.uml
@pytest.mark.parametrize("name", TEXTS)
def test_a_finding_in_the_log(modules: Path, tmp_path: Path, name: str) -> None:
    """What a stock kernel cannot find is written to the log of one."""
    found = LOGS[name]
    script = 'while read -r line; do echo "$line" >/dev/kmsg; done </lab/log; true'
    text = "".join(f"{line}\n" for line in found.messages)
    error = failed(uml.run_script, script, tmp_path, files={"lab/log": text.encode()})
    assert error.reason == f"the kernel reported: {found.line}"


@pytest.mark.deep
def test_a_stall_ends_a_run_at_once(stock_modules: Path, tmp_path: Path) -> None:
    """The kernel is told to notice after 3 s instead of 21 s.

    In real time: a stall is noticed only while another CPU waits for the end of a grace period.
    """
    script = """
        while sleep 0.1; do :; done &
        echo 3 >/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout
        modprobe faults kind=stall
    """
    error = failed(qemu.run_script, script, tmp_path, realtime=True)
    print(error.reason, *error.console_tail, sep="\n")
    begin = "a CPU of the guest makes no progress; the kernel reported: rcu: INFO: rcu_"
    assert error.reason.startswith(begin)
    assert "stall" in error.reason
