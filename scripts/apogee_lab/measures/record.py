# SPDX-License-Identifier: GPL-2.0
"""The record of a run: a JSON object, the only input of tables and of figures over a parameter.

This file declares the keys that every record may have; a scenario's own measures declare theirs
(measure.py). Each key has a unit and a meaning. The table in ``docs/records.md`` is generated from
these declarations by ``scripts/record_table.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, TypedDict

from ..base import LabError

# --- keys -------------------------------------------------------------------------------------


class Rtt(TypedDict):
    """RTT of a flow."""

    min: Annotated[float, "ms", "smallest RTT of the connection"]
    mean: Annotated[float | None, "ms", "smoothed RTT, mean of its samples every 100 ms"]
    p99: Annotated[float | None, "ms", "smoothed RTT, 99th percentile of its samples"]


class Flow(TypedDict):
    """One flow."""

    name: Annotated[str, "text", "the flow's name, also in the names of its raw files"]
    cc: Annotated[str, "text", "the flow's congestion control"]
    goodput_bps: Annotated[
        float, "bit/s",
        "payload the receiver got in `duration_s` seconds from its first data segment (the last "
        "flow's, if there are several)",
    ]  # fmt: skip
    retransmits: Annotated[int, "segments", "data segments sent again"]
    segments: Annotated[int, "segments", "data segments sent in all, those sent again included"]
    timeouts: Annotated[
        int | None, "number", "retransmission timeouts (null if flows share a namespace)"
    ]
    rtt_ms: Rtt


class Queue(TypedDict):
    """A bottleneck's queue."""

    mean_bytes: Annotated[
        float | None, "bytes",
        "bottleneck's backlog from the (last flow's) SYN to the end, sampled every 100 ms",
    ]  # fmt: skip
    mean_ms: Annotated[
        float | None, "ms",
        "mean backlog over the rate; on a shared channel: mean number of packets over those sent "
        "per second",
    ]  # fmt: skip
    max_bytes: Annotated[
        int | None, "bytes", "largest backlog sampled (several paths: in any one queue)"
    ]
    drops: Annotated[int, "frames", "frames the queue dropped in the whole run"]


class PathKeys(TypedDict):
    """One of several paths."""

    name: Annotated[str, "text", "several paths: the path's name"]
    rate_bps: Annotated[int, "bit/s", "rate of the path's bottleneck"]
    delay_s: Annotated[float, "s", "one-way delay: half a round trip of the empty path"]
    limit_bps: Annotated[float, "bit/s", "goodput this path can carry at best"]
    bdp_bytes: Annotated[int, "bytes", "the path's bandwidth-delay product"]
    queue_bytes: Annotated[int, "bytes", "size of the bottleneck's queue"]
    queue: Queue
    link_drops: Annotated[int, "frames", "frames lost behind the path's bottleneck"]
    ack_drops: Annotated[int, "frames", "frames lost on the path's way back"]


class Blackout(TypedDict):
    """Recovery from a blackout, see blackout.py."""

    direction: Annotated[str, "text", "what the blackout dropped: `ack` or `data`"]
    below90_s: Annotated[
        float, "s",
        "seconds from the start of the blackout until goodput over a sliding 0.2 s is back at 90 % "
        "of the limit and stays there for 1 s; 0 if it does not fall within 2 s of the blackout's "
        "end",
    ]  # fmt: skip
    recovered: Annotated[
        bool, "true or false",
        "false: not back by the end of the run, and `below90_s` is the time to the end",
    ]  # fmt: skip
    lost_s: Annotated[
        float, "s",
        "(limit × time − received) / limit over the 15 s from the blackout's start: seconds worth "
        "of goodput lost",
    ]  # fmt: skip
    over_s: Annotated[float, "s", "the span of `lost_s`: 15 s, or less to the end of the run"]


class Common(TypedDict):
    """Keys that every record has."""

    scenario: Annotated[str, "text", "what was run"]
    cc: Annotated[str, "text", "congestion controls as given to `--cc`"]
    seed: Annotated[int, "number", "seed of all that is random"]
    engine: Annotated[str, "text", "what ran it"]
    kernel: Annotated[str, "text", "the kernel's release as `uname -r` says it"]
    set: Annotated[
        dict[str, Any], "object",
        "every parameter, defaults included: plain numbers as numbers, quantities as text with "
        "unit",
    ]  # fmt: skip
    duration_s: Annotated[float, "s", "length of the measured interval"]
    limit_bps: Annotated[
        float, "bit/s", "goodput the path can carry at best (several paths: their sum)"
    ]
    flows: list[Flow]
    total_goodput_bps: Annotated[float, "bit/s", "sum over the flows"]
    jain: Annotated[float, "index", "fairness index (Σx)² / (n Σx²)"]
    queue: Queue
    bdp_bytes: Annotated[
        int, "bytes", "bandwidth-delay product of the empty path (several paths: their sum)"
    ]
    link_drops: Annotated[
        int, "frames", "frames lost behind the bottleneck towards the receiver, blackouts included"
    ]
    ack_drops: Annotated[int, "frames", "frames lost on the way back, blackouts included"]
    losses: Annotated[
        int, "frames",
        "data frames lost: `link_drops` + `queue.drops` + all `switch_drops`; on a shared channel, "
        "whose queue holds ACKs: `link_drops` + all `station_drops`; above SSCOP, which repairs "
        "what the link loses: `queue.drops`; with SHAKE also what the queue above it drops",
    ]  # fmt: skip
    needless_retransmits: Annotated[
        int, "segments", "`flows[].retransmits` beyond `losses`, at least 0"
    ]
    duplicates: Annotated[
        int | None, "segments",
        "duplicate segments the receiver reported by D-SACK: a second, independent count of "
        "needless retransmits (null without D-SACK)",
    ]  # fmt: skip
    t90_s: Annotated[
        float | None, "s",
        "start-up: seconds from the first SYN to the beginning of the first interval of one RTT of "
        "the empty path (at least 0.2 s) whose goodput is 90 % of the limit; null if there is "
        "none, with iperf3 and for transfers",
    ]  # fmt: skip
    run: Annotated[str, "text", "KEY below `build/runs`"]
    wall_s: Annotated[float, "s", "seconds of the host's clock"]


class Record(Common, total=False):
    """Keys that records of any scenario may have."""

    given: Annotated[str, "text", "modules given by `--module`: names and hashes of their files"]
    paths: list[PathKeys]
    blackout: Blackout


# --- records as text --------------------------------------------------------------------------


class RecordError(LabError):
    """The raw results are incomplete or inconsistent; one line."""


def dumps(record: dict[str, Any]) -> str:
    """The record as one line of JSON, as ``--json`` writes it."""
    return json.dumps(record, separators=(",", ":"), allow_nan=False)


def _is_record(found: Any) -> bool:
    """Whether it has what every verb reads."""
    keys = "scenario cc seed engine kernel set duration_s limit_bps total_goodput_bps flows".split()
    return (
        isinstance(found, dict)
        and found.keys() >= set(keys)
        and isinstance(found["set"], dict)
        and isinstance(found["flows"], list)
        and all(isinstance(flow, dict) and "goodput_bps" in flow for flow in found["flows"])
        and bool(found["flows"])
    )


def read_records(path: Path) -> list[dict[str, Any]]:
    """All records of a file with one JSON object per line; RecordError names a bad line."""
    records = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise RecordError(f"{path}: {reason}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            raise RecordError(f"{path}:{number}: not a JSON object") from None
        if not _is_record(record):
            raise RecordError(f"{path}:{number}: not a record of 'lab run --json'")
        records.append(record)
    return records
