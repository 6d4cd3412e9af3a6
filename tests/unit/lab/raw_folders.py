# SPDX-License-Identifier: GPL-2.0
"""Hand-made raw results of runs, for the lab's unit tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apogee_lab.measures.compute import compute as measure
from apogee_lab.scenarios import SCENARIOS
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
