# SPDX-License-Identifier: GPL-2.0
"""Records -> a table: one row per algorithm and settings, means with their 95 % interval.

The interval is Student's t over the seeds: mean ± t(0.975, n − 1) · s / √n, s being the sample's
standard deviation. One seed has no interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .. import units
from .statistics import mean_interval
from .text import NONE, Record, as_markdown, as_text, cell, show


@dataclass(frozen=True)
class Group:
    """The runs of one row: one algorithm, one choice of settings, several seeds."""

    cc: str
    settings: dict[str, Any]
    records: tuple[Record, ...]

    def values(self, measure: Callable[[Record], float | None]) -> list[float]:
        """The measure of every run that has it."""
        found = (measure(record) for record in self.records)
        return [value for value in found if value is not None]


def _settings(record: Record) -> dict[str, Any]:
    """All that may distinguish runs beside cc and seed."""
    extra = {key: record[key] for key in ("scenario", "duration_s", "kernel", "engine")}
    return extra | record["set"]


def varying(records: Iterable[Record]) -> list[str]:
    """Names of the settings in which the records differ, in the order of the records' keys."""
    every = [_settings(record) for record in records]
    names = dict.fromkeys(name for settings in every for name in settings)
    return [n for n in names if len({repr(settings.get(n)) for settings in every}) > 1]


def groups(records: Iterable[Record]) -> list[Group]:
    """The records by algorithm and varying settings, in order of appearance."""
    records = list(records)
    names = varying(records)
    rows: dict[str, list[Record]] = {}
    keys: dict[str, tuple[str, dict[str, Any]]] = {}
    for record in records:
        settings = {name: _settings(record).get(name) for name in names}
        identity = f"{record['cc']} {settings!r}"
        rows.setdefault(identity, []).append(record)
        keys[identity] = (record["cc"], settings)
    return [Group(*keys[identity], tuple(found)) for identity, found in rows.items()]


# --- measures shown ---------------------------------------------------------------------------


def share_of_limit(record: Record) -> float:
    """Goodput as a share of what the path can carry, in percent."""
    return 100 * record["total_goodput_bps"] / record["limit_bps"]


def needless_percent(record: Record) -> float | None:
    """Needless retransmissions in percent of the segments sent."""
    segments = sum(flow["segments"] for flow in record["flows"])
    return 100 * record["needless_retransmits"] / segments if segments else None


def queue_share(record: Record) -> float | None:
    """Mean standing queue in percent of the bandwidth-delay product."""
    mean = None if "medium" in record else record["queue"]["mean_bytes"]
    return None if mean is None or not record["bdp_bytes"] else 100 * mean / record["bdp_bytes"]


def _sum_of_flows(key: str) -> Callable[[Record], float | None]:
    def total(record: Record) -> float | None:
        found = [flow[key] for flow in record["flows"]]
        return None if None in found else sum(found)

    return total


def _flow_goodput(index: int) -> Callable[[Record], float | None]:
    """Goodput of one of two flows in Mbit/s; more flows have :func:`_over_flows`."""

    def goodput(record: Record) -> float | None:
        flows = record["flows"]
        bulk = len(flows) == 2 and "requests" not in record
        return flows[index]["goodput_bps"] / 1e6 if bulk else None

    return goodput


def _over_flows(pick: Callable[[list[float]], float]) -> Callable[[Record], float | None]:
    """Something about the goodputs in Mbit/s of more than two flows of one kind."""

    def over(record: Record) -> float | None:
        rates = [flow["goodput_bps"] / 1e6 for flow in record["flows"]]
        return pick(rates) if len(rates) > 2 and not {"groups", "requests"} & set(record) else None

    return over


def _shares(pick: Callable[[list[float]], float]) -> Callable[[Record], float | None]:
    """Something about the flows' shares of a fair one."""

    def over(record: Record) -> float | None:
        found = [flow["fair_share"] for flow in record["flows"] if "fair_share" in flow]
        return pick(found) if found else None

    return over


def _odd_one(record: Record) -> float | None:
    """The share of the first flow where all others are of another kind."""
    first, *others = record["flows"]
    alone = len(others) > 1 and first["cc"] not in {flow["cc"] for flow in others}
    return first.get("fair_share") if alone else None


def _several(measure: Callable[[Record], float | None]) -> Callable[[Record], float | None]:
    """A measure that only tells something where flows share the path."""
    return lambda record: measure(record) if len(record["flows"]) > 1 else None


def _bulk(record: Record) -> float | None:
    """Goodput in Mbit/s of the bulk flows beside transfers."""
    rates = [flow["goodput_bps"] for flow in record["flows"][1:]]
    return sum(rates) / 1e6 if rates and "requests" in record else None


def _rtt(record: Record) -> float | None:
    found = [f["rtt_ms"]["mean"] for f in record["flows"] if f["rtt_ms"]["mean"] is not None]
    return sum(found) / len(found) if found else None


def _group(name: str) -> Callable[[Record], float | None]:
    """Goodput in Mbit/s of a group of flows."""

    def goodput(record: Record) -> float | None:
        found = record.get("groups", {}).get(name)
        return found["goodput_bps"] / 1e6 if found else None

    return goodput


def _after_warmup(key: str) -> Callable[[Record], float | None]:
    """The sum of a count over the flows since the beginning was left behind."""

    def total(record: Record) -> float | None:
        found = [flow["steady"][key] for flow in record["flows"] if "steady" in flow]
        return sum(found) if found else None

    return total


def _acks_lost(record: Record) -> float | None:
    """ACKs that the access point's queue dropped, in percent of those that came in the interval."""
    lost = record.get("medium", {}).get("ap_drops")
    return None if lost is None else 100 * lost / max(1, lost + record["medium"]["ap_frames"])


def _in_blackout(key: str) -> Callable[[Record], float | None]:
    return lambda record: record.get("blackout", {}).get(key)


# Heading, decimals, measure. A column without any value is left out.
COLUMNS: list[tuple[str, int, Callable[[Record], float | None]]] = [
    ("goodput Mbit/s", 3, lambda record: record["total_goodput_bps"] / 1e6),
    ("% of limit", 1, share_of_limit),
    ("flow 1", 3, _flow_goodput(0)),
    ("flow 2", 3, _flow_goodput(1)),
    ("mean flow", 3, _over_flows(lambda rates: sum(rates) / len(rates))),
    ("least flow", 3, _over_flows(min)),
    ("fast flows", 1, _group("fast")),
    ("Reno flows", 1, _group("reno")),
    ("bulk Mbit/s", 3, _bulk),
    ("transfers", 0, lambda record: record.get("requests", {}).get("transfers")),
    ("least share", 2, _shares(min)),
    ("largest share", 2, _shares(max)),
    ("flow 1's share", 2, _odd_one),
    ("Jain", 3, _several(lambda record: None if "requests" in record else record["jain"])),
    ("queue drops", 0, _several(lambda record: record["queue"]["drops"])),
    ("in first 5 s", 0, lambda record: record["queue"].get("early_drops")),
    ("after warm-up", 0, lambda record: record["queue"].get("steady_drops")),
    ("link drops", 0, _several(lambda record: record["link_drops"])),
    ("retransmits", 0, _sum_of_flows("retransmits")),
    ("needless %", 2, needless_percent),
    ("timeouts", 1, _sum_of_flows("timeouts")),
    ("timeouts after warm-up", 1, _after_warmup("timeouts")),
    ("queue % of BDP", 1, queue_share),
    ("AP queue, packets", 1, lambda record: record["queue"].get("mean_packets")),
    ("ACKs lost %", 1, _acks_lost),
    ("RTT ms", 0, _rtt),
    ("to 90 % s", 2, lambda record: record["t90_s"]),
    ("below 90 % s", 2, _in_blackout("below90_s")),
    ("lost s", 2, _in_blackout("lost_s")),
]


def _of_size(size: int, key: str) -> Callable[[Record], float | None]:
    """A number of the transfers of one size."""

    def found(record: Record) -> float | None:
        sizes = record.get("requests", {}).get("sizes", [])
        return next((one[key] for one in sizes if one["bytes"] == size), None)

    return found


def _columns(records: Iterable[Record]) -> list[tuple[str, int, Callable[[Record], float | None]]]:
    """All columns: those of the transfers' sizes come first."""
    every = [one["bytes"] for r in records for one in r.get("requests", {}).get("sizes", [])]
    sizes = [
        (f"{units.format('size', size)} {name}", 2, _of_size(size, key))
        for size in sorted(set(every))
        for name, key in (("median s", "median_s"), ("95 % s", "p95_s"))
    ]
    return [*sizes, *COLUMNS]


def rows(records: Iterable[Record]) -> list[list[str]]:
    """Heading and body of the table, as text."""
    records = list(records)
    found = groups(records)
    names = varying(records)
    columns = [c for c in _columns(records) if any(group.values(c[2]) for group in found)]
    counts = {len(group.records) for group in found}
    uneven = len(counts) > 1
    heading = ["cc", *names, *(["runs"] if uneven else []), *(column[0] for column in columns)]
    body = []
    for group in found:
        row = [group.cc, *(show(group.settings[name]) for name in names)]
        if uneven:
            row.append(str(len(group.records)))
        for _, decimals, measure in columns:
            values = group.values(measure)
            text = cell(values, decimals)
            if values and len(values) < len(group.records):
                text += f" ({len(values)} of {len(group.records)})"
            row.append(text)
        body.append(row)
    return [heading, *body]


def caption(records: Iterable[Record]) -> str:
    """One line that says what the table holds."""
    records = list(records)
    first = records[0]
    vary = set(varying(records))
    words = []
    if "scenario" not in vary:
        words.append(first["scenario"])
    if "duration_s" not in vary:
        words.append(f"{first['duration_s']:g} s")
    if "kernel" not in vary:
        words.append(f"Linux {first['kernel']}")
    limits = sorted({record["limit_bps"] for record in records})
    limit = f"{limits[0] / 1e6:.3f}"
    if len(limits) > 1:
        limit += f" … {limits[-1] / 1e6:.3f}"
    words.append(f"limit {limit} Mbit/s")
    seeds = len({record["seed"] for record in records})
    words.append("one seed" if seeds == 1 else f"mean ± 95 % interval of {seeds} seeds")
    return ", ".join(words)


def ratios(records: Iterable[Record], base: str) -> list[list[str]]:
    """Goodput of ``base`` over each other algorithm: ``+41.6 %``, one row per settings.

    Settings of modules (``star.aen``) are left out of the comparison's key: a peer has none.
    """
    records = list(records)
    names = [name for name in varying(records) if "." not in name]
    means: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for record in records:
        key = tuple(show(_settings(record).get(name)) for name in names)
        means.setdefault(key, {}).setdefault(record["cc"], []).append(record["total_goodput_bps"])
    peers = list(dict.fromkeys(record["cc"] for record in records if record["cc"] != base))
    body = []
    for key, by_cc in means.items():
        row = list(key)
        for peer in peers:
            if base in by_cc and peer in by_cc and sum(by_cc[peer]) > 0:
                ratio = mean_interval(by_cc[base])[0] / mean_interval(by_cc[peer])[0]
                row.append(f"{100 * (ratio - 1):+.1f} %")
            else:
                row.append(NONE)
        body.append(row)
    return [[*names, *(f"{base} over {peer}" for peer in peers)], *body]


def render(records: Iterable[Record], form: str = "text", base: str | None = None) -> str:
    """Caption and table; ``base`` asks for the table of ratios over the other algorithms."""
    records = list(records)
    table = ratios(records, base) if base else rows(records)
    text = as_markdown(table) if form == "md" else as_text(table)
    return f"{caption(records)}\n\n{text}" if form == "md" else f"{caption(records)}\n{text}"
