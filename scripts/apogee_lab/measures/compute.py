# SPDX-License-Identifier: GPL-2.0
"""All measures of one run -> its record, see record.py."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from . import transfers
from .arrivals import time_to_90
from .blackout import BLACKOUTS, blackout
from .channel import Series
from .flows import by_group, fair_shares, flow_tool, iperf3, jain, own, steady
from .losses import Dropped, drops_until, duplicates_of, hop_drops, shares_of_queue
from .raw import queue_samples, read_events, read_json, read_queue
from .record import RecordError

EARLY_S = 5.0  # the first slow start and what it has overshot


def _queue(raw: Path, meta: dict[str, Any], begin_us: float, end_us: float) -> dict[str, Any]:
    """Occupancy of the bottleneck's queue between two times."""
    times, sizes = read_queue(raw, meta["bottleneck"][1])
    sizes = sizes[(times >= begin_us / 1e6) & (times <= end_us / 1e6)]
    mean = float(sizes.mean()) if len(sizes) else None
    rate = meta["rate_bps"]
    return {
        "mean_bytes": None if mean is None else round(mean, 1),
        "mean_ms": None if mean is None or not rate else round(mean * 8000 / rate, 3),
        "max_bytes": int(sizes.max()) if len(sizes) else None,
    }


def _check_memory(raw: Path) -> None:
    """RecordError if TCP's memory was short anywhere."""
    for path in sorted(raw.glob("nstat-*.json")):
        if read_json(path).get("kernel", {}).get("TcpExtTCPMemoryPressures", 0):
            raise RecordError(
                f"TCP ran out of memory in the guest ({path.name}: TCPMemoryPressures): "
                "what was measured is not the network"
            )


def compute(raw: Path, meta: dict[str, Any]) -> dict[str, Any]:
    """The record of the run whose raw results are in ``raw``; RecordError if they are not whole,
    or tell of TCP's memory instead of the network.

    ``meta`` is what the lab knew beforehand: scenario, cc, seed, engine, set, duration_s,
    limit_bps, rate_bps, bdp_bytes, flows, traffic, receiver_ns, bottleneck, data_links, ack_links,
    data_filters, ack_filters, run; wall_s comes from the engine.
    """
    try:
        _check_memory(raw)
        return _compute(raw, meta)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise RecordError(f"raw results not understood: {type(error).__name__} {error}") from error


def _requests(raw: Path, specs: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The transfers of the flow that is made of them, if there is one."""
    names = [spec["name"] for spec in specs if "sizes" in spec]
    if not names:
        return None
    sides = [read_json(raw / f"{names[0]}.{side}.json")["transfers"] for side in ("send", "recv")]
    try:
        return transfers.summary(transfers.completions(*sides))
    except ValueError as error:
        raise RecordError(str(error)) from None


def _compute(raw: Path, meta: dict[str, Any]) -> dict[str, Any]:
    duration = meta["duration_s"]
    specs = meta["flows"]
    spaces = [spec["netns"] for spec in specs]
    if meta["traffic"] == "iperf3":
        measured = [iperf3(raw, spec) for spec in specs]
    else:
        measured = [flow_tool(raw, spec, spaces.count(spec["netns"]) > 1) for spec in specs]
    arrivals = [flow.arrivals for flow in measured]
    in_time = all(flow.fine for flow in measured)  # whether what arrived is a fine series
    syn_us = min(flow.syn_us for flow in measured)
    last_syn_us = max(flow.syn_us for flow in measured)
    begin_us = max(flow.begin_us for flow in measured)
    events = {(name, what): at for name, what, at in read_events(raw)}
    warm_s = events.get(("warmup", "off"))
    if warm_s is not None:
        begin_us = last_syn_us = max(begin_us, warm_s * 1e6)
    end_us = begin_us + duration * 1e6
    if len(measured) > 1:
        end_us = min(end_us, *(flow.stop_us for flow in measured))
    over_s = (end_us - begin_us) / 1e6
    if over_s <= 0:
        raise RecordError("the flows did not run at the same time")
    flows = []
    for flow in measured:
        goodput = flow.goodput(begin_us, end_us, over_s)
        flows.append(flow.record | {"goodput_bps": goodput, "rtt_ms": flow.rtt_ms(last_syn_us)})
    rates = [flow["goodput_bps"] for flow in flows]

    dropped = Dropped.count(raw, meta)
    series = medium = None
    if meta.get("medium"):
        series = Series.read(queue_samples(raw), meta["medium"])
        medium = series.between(last_syn_us, end_us)
        if len(medium.times) < 2:
            raise RecordError("queue.jsonl has no samples of the interval")
    dsack_on = str(meta["set"].get("tcp_dsack", 1)) != "0"
    receivers = [spec.get("receiver_ns", meta["receiver_ns"]) for spec in specs]
    duplicates = {ns: duplicates_of(raw, ns) if dsack_on else None for ns in receivers}
    several = all("receiver_ns" in spec for spec in specs)  # flows that share a path
    if several:
        for record, flow in zip(flows, measured, strict=True):
            record |= own(flow, syn_us, begin_us, end_us)
    if all("exit" in spec for spec in specs):  # counters of each flow's own frames
        queue_shares = shares_of_queue(raw, specs, dropped.queue)
        for record, spec, ns, queued in zip(flows, specs, receivers, queue_shares, strict=True):
            record |= {"queue_drops": queued, **hop_drops(raw, spec), "duplicates": duplicates[ns]}
    if medium:
        leaves = zip(flows, medium.stations, dropped.stations, strict=True)
        for record, leaf, drops in leaves:
            record |= {"frames": medium.count(leaf, "packets"), "station_drops": drops}
    if several and warm_s is not None:
        for record, flow, spec in zip(flows, measured, specs, strict=True):
            record["steady"] = steady(raw, spec, flow, begin_us)
    queue = medium.queue() if medium else _queue(raw, meta, last_syn_us, end_us)
    queue["drops"] = dropped.queue
    groups = by_group(specs, flows)
    requests = _requests(raw, specs)
    if len(flows) > 1 and not groups and not requests:
        for record, share in zip(flows, fair_shares(rates), strict=True):
            record["fair_share"] = share
    if groups:
        queue["early_drops"] = drops_until(raw, meta["bottleneck"][1], syn_us / 1e6 + EARLY_S)
    if warm_s is not None and series:
        late = series.between(warm_s * 1e6, math.inf)
        queue["steady_drops"] = late.count(late.ap, "drops")
    elif warm_s is not None:
        queue["steady_drops"] = dropped.queue - drops_until(raw, meta["bottleneck"][1], warm_s)

    rtt_s = meta["bdp_bytes"] * 8 / meta["rate_bps"] if meta["rate_bps"] else 0.0
    retransmits = sum(flow["retransmits"] for flow in flows)
    uname = raw / "uname"
    kernel = uname.read_text(encoding="utf-8").strip() if uname.exists() else meta["kernel"]
    record = {
        "scenario": meta["scenario"],
        "cc": meta["cc"],
        "seed": meta["seed"],
        "engine": meta["engine"],
        "kernel": kernel,
        "set": meta["set"],
        "duration_s": duration,
        "limit_bps": round(meta["limit_bps"], 1),
        "flows": flows,
        "total_goodput_bps": round(math.fsum(rates), 1),
        "jain": jain(rates),
        "queue": queue,
        "bdp_bytes": meta["bdp_bytes"],
        "link_drops": dropped.links,
        "ack_drops": dropped.acks,
        "losses": dropped.losses,
        "needless_retransmits": max(0, retransmits - dropped.losses),
        "duplicates": None if None in duplicates.values() else sum(duplicates.values()),
        "t90_s": time_to_90(arrivals, syn_us, end_us, meta["limit_bps"], rtt_s)
        if in_time and not requests
        else None,
    }
    if requests:
        record["requests"] = requests
    if groups:
        record["groups"] = groups
    if medium:
        record["medium"] = medium.shares()
    if several:
        interval = {"from_s": (begin_us - syn_us) / 1e6, "over_s": over_s}
        record["interval"] = {key: round(value, 3) for key, value in interval.items()}
    starts = [(events[key], key[0]) for key in events if key[0] in BLACKOUTS and key[1] == "on"]
    if starts and in_time:
        start, name = min(starts)
        length = events.get((name, "off"), end_us / 1e6) - start
        cost = blackout(arrivals, start * 1e6, length, end_us, meta["limit_bps"])
        record["blackout"] = {"direction": name.partition("_")[0], **cost}
    record["run"] = meta["run"]
    record["wall_s"] = round(meta["wall_s"], 2)
    return record
