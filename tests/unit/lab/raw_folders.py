# SPDX-License-Identifier: GPL-2.0
"""Hand-made raw results, a scenario and an engine that need no guest, for the lab's unit tests."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest

from apogee_lab import modules, scenarios, units
from apogee_lab.engines import registry
from apogee_lab.engines.work import GuestFailed, RunInfo
from apogee_lab.kernels.kernel import Kernel
from apogee_lab.measures.compute import compute as measure
from apogee_lab.runs import sweep
from apogee_lab.scenarios import SCENARIOS
from apogee_lab.scenarios.scenario import FlowSpec, Param, Plan, Scenario
from apogee_lab.scenarios.scenario import Path as LinkPath

SYN_US = 10_000_000
T0_US = 10_500_000
FIELDS = ["t_us", "snd_cwnd", "rtt", "total_retrans"]


def steady(
    bytes_per_bin: int, begin_us: int = T0_US, end_us: int = T0_US + 10_000_000
) -> list[list[int]]:
    """Bins of a receiver with equal counts every 10 ms from ``begin_us`` to ``end_us``."""
    times = range(begin_us + 10_000, end_us + 1, 10_000)
    return [[t, bytes_per_bin * n] for n, t in enumerate(times, 1)]


def bins(*pieces: tuple[float, float, int]) -> list[list[int]]:
    """A receiver's bins from spans: from, to (s of the guest's clock), bytes per 10 ms."""
    found, total = [], 0
    for begin, end, count in pieces:
        for t in range(round(begin * 100) + 1, round(end * 100) + 1):
            total += count
            found.append([t * 10_000, total])
    return found


def link(name: str, rx: int, tx: int) -> dict[str, Any]:
    """A device as link-NS.json shows it."""
    return {"ifname": name, "stats64": {"rx": {"packets": rx}, "tx": {"packets": tx}}}


#: A path: limit 9.6 Mbit/s (12 kB in 10 ms), 500 ms.
LINK_PATH = LinkPath(
    rate_bps=10_000_000, delay_s=0.25, limit_bps=9.6e6, queue_bytes=625_000,
    bottleneck=("bn", "to-sat"), data_links=(("sat", "to-rcv"),), ack_links=(("sat", "to-bn"),),
)  # fmt: skip
#: A plan's facts about it.
PATH: dict[str, Any] = LINK_PATH.facts()


def meta(**changes: Any) -> dict[str, Any]:
    """The facts about a run of 10 s; changes may include keys of its path."""
    base: dict[str, Any] = {
        "scenario": "satellite", "cc": "star", "seed": 1, "engine": "qemu", "kernel": "bookworm",
        "set": {"ber": 0.0, "delay": "250ms"}, "duration_s": 10.0,
        "flows": [{"name": "flow1", "cc": "star", "netns": "snd", "port": 5201}],
        "traffic": "flow", "receiver_ns": "rcv", "run": "0123456789abcdef", "wall_s": 12.345,
    }  # fmt: skip
    of_path = {key: changes.pop(key) for key in PATH.keys() & changes.keys()}
    return base | {"paths": [PATH | of_path]} | changes


def compute(raw: Path, told: dict[str, Any]) -> dict[str, Any]:
    """The record, with the measures of its scenario."""
    return measure(raw, told, SCENARIOS[told["scenario"]].measures)


def send_log(**changes: Any) -> dict[str, Any]:
    """The log of a flow's sender."""
    samples = [[T0_US + i * 100_000, 10 + i, 500_000 + 1000 * i, i // 8] for i in range(100)]
    base: dict[str, Any] = {
        "fields": FIELDS, "samples": samples, "cc": "star", "error": "", "syn_us": SYN_US,
        "info": {"min_rtt": 500_100, "total_retrans": 12, "data_segs_out": 8000},
        "t0_us": T0_US, "end_us": T0_US + 10_000_000,
    }  # fmt: skip
    return base | changes


def qdisc(dev: str, drops: int, kind: str = "netem", **more: Any) -> dict[str, Any]:
    """A queue as qdisc-NS.json shows it."""
    return {"kind": kind, "dev": dev, "drops": drops} | more


def fill(raw: Path, files: Mapping[str, Any]) -> None:
    """Write files: text as it is, anything else as JSON."""
    for name, content in files.items():
        (raw / name).write_text(content if isinstance(content, str) else json.dumps(content))


def write(raw: Path, bins: list[list[int]] | None = None, **files: Any) -> Path:
    """A complete raw folder; ``files`` replaces ``send``, ``queue`` or ``events``."""
    raw.mkdir(parents=True, exist_ok=True)
    bins = steady(12_000) if bins is None else bins
    recv = {"bins": bins, "first_us": bins[0][0] if bins else -1, "bytes": 0, "end_us": 0}
    sizes = [15_000, 30_000, 45_000]
    queue = [json.dumps([qdisc("to-sat", 0, root=True, backlog=sizes[i % 3])]) for i in range(105)]
    contents = {
        "flow1.send.json": files.get("send", send_log()),
        "flow1.recv.json": recv,
        "qdisc-bn.json": [qdisc("to-sat", 3), qdisc("to-snd", 100)],
        "qdisc-sat.json": [
            qdisc("to-rcv", 5, kind="prio", root=True),
            qdisc("to-rcv", 4, parent="1:1"),
            qdisc("to-rcv", 1, parent="1:2"),
            qdisc("to-bn", 7, parent="1:1"),
            qdisc("to-bn", 40, kind="clsact"),
            qdisc("to-rcv", 50, kind="clsact"),
        ],
        "nstat-snd.json": {"kernel": {"TcpExtTCPTimeouts": 2}},
        "nstat-rcv.json": {"kernel": {"TcpExtTCPDSACKOldSent": 3, "TcpExtTCPDSACKOfoSent": 1}},
        "queue.jsonl": files.get("queue", "\n".join(queue) + "\n"),
        "events.log": files.get("events", "queue_sampling on 10.0\n"),
        "uname": "6.1.0-99-amd64\n",
        "console.log": "first\nlast words\n",
    }
    fill(raw, contents)
    return raw


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


class Send(NamedTuple):
    """A sender's line of a script with several flows."""

    flow: str
    netns: str
    start_s: float
    cc: str
    address: str
    port: int
    seconds: float


def sends(text: str) -> list[Send]:
    """Every sender of a script, with its start before the random delay."""
    starts = dict(re.findall(r"^start_(\w+)=(?:\$\(late )?([\d.]+)\)?$", text, re.MULTILINE))
    found = [line.split()[1:-1] for line in text.splitlines() if line.startswith("send ")]
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

    def run(self, plan: Plan, *, seed: int, out: Path, **_: Any) -> RunInfo:
        name = f"{plan.flows[0].cc} {seed}"
        with self.log.open("a") as log:
            log.write(name + "\n")
        if name in self.hang:
            (self.log.parent / f"hangs-{os.getpid()}").touch()
            time.sleep(600)
        if name in self.die:
            os.kill(os.getpid(), signal.SIGKILL)
        if name in self.fail:
            raise GuestFailed("the guest panicked", ["Kernel panic - not syncing", "the end"])
        write(out, steady(10_000 + 100 * seed))
        return RunInfo(1.5, 12.0)
