# SPDX-License-Identifier: GPL-2.0
"""Engine host, tested inside a guest: records, and clean-up however a run ends."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from apogee_lab.commands import main
from apogee_lab.engines import host, log, qemu
from apogee_lab.kernels import debian
from apogee_lab.measures.record import read_records
from apogee_lab.modules import module_file
from tests.guest.engines import user_machine
from tests.guest.engines.host_trials import LASTING, LASTING_BRIDGE, LASTING_IFB, LINK, WAYS
from tests.guest.runs import close, measured

pytestmark = [pytest.mark.guest, pytest.mark.deep]

#: Number of random times, the same in every check. More with APOGEE_KILLS.
SEED = 6
KILLS = int(os.environ.get("APOGEE_KILLS", len(WAYS)))

#: How a run that was ended may end, by WAYS: interrupted, killed, or one of one runs failed.
STATUSES = dict(zip(WAYS, [{130}, {130, -15}, {-9}, {1}, {1}, {1}], strict=True))


@pytest.fixture(scope="module")
def out(stock_modules: Path, build: Path, root: Path) -> Path:
    """The results of all trials, which run in one guest: the machine's time is virtual, so that
    nothing depends on how busy the host is."""
    trials = root / "tests" / "guest" / "engines" / "host_trials.py"
    files = user_machine.files(root, debian.kernel())
    files[f"{user_machine.HOME}/trials.py"] = trials.read_bytes()
    files[f"{user_machine.HOME}/faults.ko"] = module_file("faults", debian.kernel()).read_bytes()
    script = f"{user_machine.PREPARE}python3 trials.py {SEED} {KILLS}\n"
    found = build / "tests" / "host"
    info = qemu.run_script(script, out=found, files=files)
    assert info.status == 0, (found / "console.log").read_text()
    return found


@pytest.fixture(scope="module")
def trials(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "trials.jsonl").read_text().splitlines()]


def named(trials: list[dict[str, Any]], name: str) -> dict[str, Any]:
    (found,) = (trial for trial in trials if trial["trial"] == name)
    return found


# --- a run that comes to its end --------------------------------------------------------------


def test_what_is_touched_is_said_first(trials: list[dict[str, Any]]) -> None:
    said = named(trials, "whole")["said"].splitlines()
    release = debian.kernel().release
    assert said[0].startswith(
        f"engine host: runs on this machine's kernel {release}, in namespaces"
    )
    assert f"/{user_machine.HOME}/build/modules/{release}/tcp_star.ko" in said[1]
    assert said[2].startswith("[1/2] star")


def test_records_are_those_of_the_contract(
    out: Path, trials: list[dict[str, Any]], kept: Path, tmp_path: Path
) -> None:
    """Keys as of engine qemu, and the goodput: the same link, with other programs beside it."""
    found = read_records(out / "records.jsonl")
    virtual = measured(
        tmp_path / "records", *LINK, "--cc", "star,cubic", "--duration", "5",
        "--set", "star.aen=0", "--set", "trace=probe", engine="qemu",
    )  # fmt: skip
    assert [record["cc"] for record in found] == ["star", "cubic"]
    for real, wanted in zip(found, virtual, strict=True):
        print(real["cc"], real["total_goodput_bps"], wanted["total_goodput_bps"])
        assert real.keys() == wanted.keys()
        assert real["set"] == wanted["set"]
        assert real["limit_bps"] == wanted["limit_bps"]
        assert (real["engine"], real["kernel"]) == ("host", debian.kernel().release)
        # star was 3 % apart when measured, cubic equal; a wrong unit or link is a factor
        assert close(real["total_goodput_bps"], wanted["total_goodput_bps"], 0.2)
        assert real["flows"][0]["rtt_ms"]["min"] == pytest.approx(100, abs=2)
        assert real["queue"]["max_bytes"] > 0


@pytest.mark.parametrize(
    ("trial", "status", "left"),
    [
        # But for `veth`, which stays loaded, and the kernel's mark that it had our module.
        ("whole", 0, LASTING),
        # If `ifb` is loaded by its first link, it creates `ifb0` and `ifb1` on the machine.
        ("shared", 0, LASTING_IFB),
        ("bridged", 0, LASTING_BRIDGE),
        ("shell", 0, {}),
        ("late", 1, {}),  # a run that exceeds its time limit
        ("broken", 1, {}),  # a program that does not work
        # The socket is reset; else the kernel retransmits to a dead peer for minutes.
        ("cut", 130, {}),
        # The guard keeps its list of loaded modules in memory, as the lab removes the folder.
        ("bare", 1, {}),
    ],
)
def test_the_machine_is_as_before(
    trials: list[dict[str, Any]], trial: str, status: int, left: dict[str, Any]
) -> None:
    """Links, addresses, routes, queues, settings, mounts, processes, namespaces, modules, tracers;
    and a run that was to be ended did not end before."""
    found = named(trials, trial)
    assert (found["status"], found["left"]) == (status, left)
    assert found.get("hit", True)


def test_shell_is_a_prompt_inside(trials: list[dict[str, Any]]) -> None:
    """The shell has a standard input, and programs in it can be interrupted with Ctrl-C."""
    found = named(trials, "shell")
    print(found["said"])
    assert "exit ends it" in found["said"]
    assert found["said"].count("slept") == 1, "as it was typed"
    assert "\nup 42" in found["said"]
    assert {"snd", "bn", "sat", "rcv"} <= set(found["said"].split())
    assert "Cannot set" not in found["said"]


# --- runs that fail or are ended --------------------------------------------------------------


@pytest.mark.parametrize(
    ("trial", "reason"),
    [("late", "was not done after 1 s"), ("broken", "script ended with status 1")],
)
def test_a_failed_run_says_why(out: Path, trials: None, trial: str, reason: str) -> None:
    assert reason in (out / f"{trial}.err").read_text()


def test_a_run_that_is_ended_leaves_nothing(trials: list[dict[str, Any]]) -> None:
    """Ctrl-C, SIGTERM, SIGKILL for one of its processes; nothing is left after 30 s."""
    found = [trial for trial in trials if trial["trial"] == "killed"]
    print(f"seed {SEED}", *found, sep="\n")
    assert len(found) == KILLS
    assert [trial for trial in found if trial["left"]] == []
    assert all(trial["hit"] for trial in found)
    for trial in found:
        assert trial["status"] in STATUSES[trial["how"], trial["whom"]], trial


def test_a_warning_during_a_run_fails_it(out: Path, trials: list[dict[str, Any]]) -> None:
    """Whoever caused it; one from before the run does not, and no other trial brought any."""
    assert log.verdict(log.logged((out / "dmesg.before").read_text())) is None
    found = named(trials, "planted")
    assert (found["good"], found["status"], found["left"]) == (0, 1, {})
    told = (out / "planted.err").read_text()
    assert re.search(r"the kernel reported: WARNING: .* at .*: a fault that a test has pla", told)
    assert "Modules linked in: " in told, "the log from there on"


# --- machines that cannot ---------------------------------------------------------------------


def test_what_a_kernel_lacks_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tested on this machine with a module that no kernel has."""
    monkeypatch.setattr(host, "PROGRAMS", {})
    monkeypatch.setitem(host.FEATURES, "sch_nosuch", "false")
    host.kernel.cache_clear()
    assert main.main(["run", "satellite", "--engine", "host"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    if os.geteuid() == 0:
        assert "nosuch: use engine qemu" in said
    else:
        assert "run it as root" in said
