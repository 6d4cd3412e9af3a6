# SPDX-License-Identifier: GPL-2.0
"""Compute all measures of one run and put them into its record (see record.py)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import ceiling
from .arrivals import time_to_90
from .blackout import BLACKOUTS, blackout
from .fairness import jain
from .losses import switch_drops
from .measure import Measure
from .measurement import Measurement
from .paths import each_of, queue_of
from .raw import RawFolder
from .record import RecordError


def compute(path: Path, meta: dict[str, Any], own: Iterable[Measure] = ()) -> dict[str, Any]:
    """The record of the run whose raw results are in a folder; RecordError if they are incomplete,
    if TCP ran out of memory in the guest, or if more arrived than the path can carry.

    ``meta`` is known before the run: scenario, cc, seed, engine, set, run, and the plan's facts;
    wall_s comes from the engine. ``own`` are the scenario's own measures.
    """
    run = Measurement(RawFolder(path), meta)
    try:
        _check_memory(run.raw)
        for take in (*_COMMON, *(measure.take for measure in own)):
            take(run)
        ceiling.check(run)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise RecordError(f"raw results not understood: {type(error).__name__} {error}") from error
    return run.record | {"run": meta["run"], "wall_s": round(meta["wall_s"], 2)}


def _check_memory(raw: RawFolder) -> None:
    """RecordError if TCP was under memory pressure in any namespace."""
    for name in raw.nstat_files():
        if raw.json(name).get("kernel", {}).get("TcpExtTCPMemoryPressures", 0):
            raise RecordError(
                f"TCP ran out of memory in the guest ({name}: TCPMemoryPressures): "
                "what was measured is not the network"
            )


def _asked(run: Measurement) -> None:
    """Keys that say what was run: scenario, settings, engine, kernel."""
    for key in ("scenario", "cc", "seed", "engine", "kernel", "set", "duration_s"):
        run.record[key] = run.meta[key]
    run.record["kernel"] = run.raw.uname or run.meta["kernel"]
    if "given" in run.meta:
        run.record["given"] = run.meta["given"]
    run.record["limit_bps"] = round(sum(ceiling.limits(run)), 1)
    run.record["bdp_bytes"] = run.total("bdp_bytes")


def _goodput(run: Measurement) -> None:
    """Goodput and RTT of each flow, and total goodput."""
    span = run.interval
    run.record["flows"] = [
        flow.record
        | {
            "goodput_bps": flow.goodput(span.begin_us, span.end_us, span.over_s),
            "rtt_ms": flow.rtt_ms(span.from_us),
        }
        for flow in run.flows
    ]
    rates = [flow["goodput_bps"] for flow in run.record["flows"]]
    run.record["total_goodput_bps"] = round(math.fsum(rates), 1)
    run.record["jain"] = jain(rates)


def _paths(run: Measurement) -> None:
    """Queues and drops; with several paths also those of each path."""
    span = run.interval
    run.record["queue"] = queue_of(run.paths, span.from_us, span.end_us)
    run.record["link_drops"] = sum(path.link_drops for path in run.paths)
    run.record["ack_drops"] = sum(path.ack_drops for path in run.paths)
    if len(run.paths) > 1:
        paths = each_of(run.paths, span.from_us, span.end_us)
        run.record["paths"] = [
            path | {"limit_bps": limit}
            for path, limit in zip(paths, ceiling.limits(run), strict=True)
        ]


def _losses(run: Measurement) -> None:
    """Data frames lost, and retransmissions beyond these."""
    losses = sum(path.losses for path in run.paths) + switch_drops(run.raw, run.specs)
    retransmits = sum(flow["retransmits"] for flow in run.record["flows"])
    duplicates = run.duplicates.values()
    run.record["losses"] = losses
    run.record["needless_retransmits"] = max(0, retransmits - losses)
    run.record["duplicates"] = None if None in duplicates else sum(duplicates)


def _start_up(run: Measurement) -> None:
    """Time to 90 % of the limit."""
    rtt_s = 2 * max(path.facts["delay_s"] for path in run.paths)
    arrivals = [flow.arrivals for flow in run.flows]
    span, limit = run.interval, sum(ceiling.limits(run))
    run.record["t90_s"] = (
        time_to_90(arrivals, span.syn_us, span.end_us, limit, rtt_s)
        if run.in_time and limit
        else None
    )


def _blackout(run: Measurement) -> None:
    """Recovery from the first blackout, if there was one and the path loses not all without it."""
    times = run.raw.times
    starts = [
        (at, name) for (name, what), at in times.items() if name in BLACKOUTS and what == "on"
    ]
    limit = sum(ceiling.limits(run))
    if not starts or not run.in_time or not limit:
        return
    start, name = min(starts)
    end_us = run.interval.end_us
    length = times.get((name, "off"), end_us / 1e6) - start
    arrivals = [flow.arrivals for flow in run.flows]
    cost = blackout(arrivals, start * 1e6, length, end_us, limit)
    run.record["blackout"] = {"direction": name.partition("_")[0], **cost}


_COMMON = (_asked, _goodput, _paths, _losses, _start_up, _blackout)
