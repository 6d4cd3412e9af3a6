# SPDX-License-Identifier: GPL-2.0
"""Sweeps whose guests fail, and that are interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.commands import main
from apogee_lab.measures.record import read_records
from apogee_lab.scenarios import SCENARIOS
from apogee_lab.scenarios.scenario import Param, Plan
from tests.guest.runs import finished
from tests.patience import wait_for

pytestmark = [pytest.mark.guest, pytest.mark.uml]


def lab_run(*arguments: str) -> int:
    return main.main(["run", *arguments, "--engine", "uml"])


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


def test_an_interrupted_sweep_goes_on(kept: Path, tmp_path: Path, root: Path) -> None:
    """Ctrl-C: status 130, no guest left running, finished runs are not repeated."""
    program = (
        "import sys, pathlib; from apogee_lab.commands import main; "
        "from apogee_lab.runs import sweep; "
        "sweep.RUNS = pathlib.Path(sys.argv[1]); sys.exit(main.main(sys.argv[2:]))"
    )
    command = [
        sys.executable, "-c", program, str(kept), "run", "satellite", "--cc", "reno",
        "--engine", "uml", "--duration", "60", "--seed", "1,2,3", "--jobs", "1",
        "--json", str(tmp_path / "records"),
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(root / "scripts")}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: finished(kept) or process.poll() is not None)
        wait_for(lambda: list(kept.glob("*.part-*")) or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    finally:
        if process.poll() is None:
            process.kill()
    assert process.returncode == 130
    assert "interrupted: 1 of 3 runs are finished and kept" in error
    assert not [pid for pid in processes() if str(kept) in pid], "a guest is left"
    (first,) = finished(kept)
    written = first.parent.joinpath("flow1.recv.json").stat().st_mtime_ns
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert first.parent.joinpath("flow1.recv.json").stat().st_mtime_ns == written
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
