# SPDX-License-Identifier: GPL-2.0
"""What the lab's unit tests read in scripts, and a scenario and an engine that need no guest."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections import namedtuple
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from apogee_lab import modules, scenarios, units
from apogee_lab.engines import registry
from apogee_lab.engines.work import GuestFailed, RunInfo
from apogee_lab.kernels.kernel import Kernel
from apogee_lab.runs import sweep
from apogee_lab.scenarios import SCENARIOS
from apogee_lab.scenarios.scenario import FlowSpec, Param, Plan, Scenario
from tests.unit.lab.raw_folders import LINK_PATH, steady, write

# --- scripts ----------------------------------------------------------------------------------


def planned(
    scenario: str = "satellite",
    cc: str = "cubic",
    duration_s: float = 60.0,
    seed: int = 1,
    **texts: str,
) -> Plan:
    """The plan for parameters as text, as on the command line."""
    kinds = {param.name: param.kind for param in SCENARIOS[scenario].params}
    values = {name: units.parse(kinds[name], text) for name, text in texts.items()}
    return SCENARIOS[scenario].compile(values, cc, duration_s, seed)


#: A sender's line of a script with several flows.
Send = namedtuple("Send", "flow netns start_s cc address port seconds")


def sends(text: str) -> list[Send]:
    """Every sender of a script, with its start before the random delay."""
    starts = dict(re.findall(r"^start_(\w+)=(?:\$\(late )?([\d.]+)\)?$", text, re.MULTILINE))
    found = [line.split()[1:8] for line in text.splitlines() if line.startswith("send ")]
    return [
        Send(flow, netns, float(starts[flow]), cc, address, int(port), float(seconds))
        for flow, netns, _, cc, address, port, seconds in found
    ]


def delays(text: str) -> dict[tuple[str, str], int]:
    """(namespace, device) -> microseconds of its delay line, also of those in a batch."""
    found, batch = {}, ""
    for line in text.splitlines():
        own = re.match(r"tc -n (\w+) (.*)", line)
        if own:
            batch = own[1]
        delay = re.search(r"qdisc add dev (\S+) root netem .*\bdelay (\d+)us", line)
        if delay:
            found[own[1] if own else batch, delay[1]] = int(delay[2])
    return found


def shell_errors(text: str) -> str:
    """Syntax errors that sh finds in a script, which is not run."""
    done = subprocess.run(["sh", "-n"], input=text, text=True, capture_output=True, check=False)
    return done.stderr or f"status {done.returncode}" * (done.returncode != 0)


# --- a scenario and an engine without a guest -------------------------------------------------


def _build(values: Mapping[str, Any], ccs: tuple[str, ...], duration_s: float) -> Plan:
    if values["queue"] < 1500:
        raise ValueError("queue: at least 1500B are needed")
    own = " ".join(f"{key}={values[key]}" for key in sorted(values) if key != "seed")
    return Plan(
        script=f"#!/bin/sh\n# {'+'.join(ccs)} {duration_s:g} {own}\n",
        flows=(FlowSpec("flow1", ccs[0], "snd", 5201),),
        paths=(replace(LINK_PATH, queue_bytes=values["queue"]),),
        duration_s=duration_s,
        timeout_virtual_s=duration_s + 60,
        sender_ns="snd",
        receiver_ns="rcv",
    )


def _one(cc: str) -> tuple[str, ...]:
    if "+" in cc:
        raise ValueError(f"paper has one flow: name one congestion control, not '{cc}'")
    return (cc,)


SCENARIO = Scenario(
    name="paper",
    help="a scenario that needs no guest",
    params=(
        Param("ber", 0.0, "ber", "bit error rate"),
        Param("queue", 625_000, "size", "bottleneck queue", high=10**9),
        Param("ack_blackout", None, "event", "all ACKs lost", low=0.1, high=3600.0),
        Param("traffic", "flow", "choice:flow,iperf3", "traffic tool"),
    ),
    parse_cc=_one,
    build=_build,
)


def no_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """A lab with this scenario and an engine that need no guest, in a temporary directory."""
    found, real = FakeEngine(tmp_path / "log"), registry.engine_of
    monkeypatch.setattr(sweep, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(scenarios, "SCENARIOS", {"paper": SCENARIO})
    monkeypatch.setattr(registry, "engine_of", lambda name: found if name == "qemu" else real(name))
    monkeypatch.setattr(modules, "build", lambda _: None)
    monkeypatch.chdir(tmp_path)
    return found


class FakeEngine:
    """Writes a raw folder per run and notes each run in ``log``; some runs misbehave on request."""

    DEFAULT_KERNEL = "bookworm"
    RELEASES: ClassVar = {"bookworm": "6.1.0-99-amd64", "trixie": "6.12.0-99-amd64"}

    def __init__(self, log: Path) -> None:
        self.log = log
        self.fail: set[str] = set()
        self.hang: set[str] = set()
        self.spin: set[str] = set()
        self.die: set[str] = set()
        self.image = "image"

    def kernels(self) -> list[str]:
        return list(self.RELEASES)

    def kernel(self, name: str) -> Kernel:
        return Kernel(self.RELEASES[name], self.log.parent)

    def congestion_controls(self, kernel: str) -> set[str]:
        return {"reno", "cubic", "bbr"}

    def image_key(self, kernel: str, modules: list[str], extras: Any = ()) -> str:
        return f"{self.image} {kernel} {modules} {extras}"

    def shell(self, plan: Plan, **how: Any) -> int:
        return 0

    def runs(self) -> list[str]:
        """``cc seed`` of every executed run, in order."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def run(self, plan: Plan, *, seed: int, out: Path, **how: Any) -> RunInfo:
        assert how.keys() - {"spun_s"} == {"kernel", "modules", "timeout_wall_s"}
        name = f"{plan.flows[0].cc} {seed}"
        with self.log.open("a") as log:
            log.write(name + "\n")
        if name in self.hang:
            (self.log.parent / f"hangs-{os.getpid()}").touch()
            time.sleep(600)
        if name in self.die:
            os.kill(os.getpid(), signal.SIGKILL)
        if name in self.spin:
            raise GuestFailed(f"spun for {how['spun_s']:g} s", [], hung=True)
        if name in self.fail:
            raise GuestFailed("the guest panicked", ["Kernel panic - not syncing", "the end"])
        write(out, steady(10_000 + 100 * (seed % 20)))
        return RunInfo(1.5, 12.0)
