# SPDX-License-Identifier: GPL-2.0
"""Records -> a table: one row per algorithm and settings, means with their 95 % interval.

The interval is Student's t over the seeds: mean ± t(0.975, n − 1) · s / √n, s being the sample's
standard deviation. One seed has no interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..scenarios import SCENARIOS
from ..scenarios.scenario import Column
from .statistics import mean_interval
from .text import NONE, Record, as_markdown, as_text, cell, show


@dataclass(frozen=True)
class Group:
    """The runs of one row: one algorithm, one choice of settings, several seeds."""

    cc: str
    settings: dict[str, Any]
    records: tuple[Record, ...]

    def values(self, column: Column) -> list[float]:
        """The column's value of every run that has it."""
        found = (column.value(record) for record in self.records)
        return [value for value in found if value is not None]


def _settings(record: Record) -> dict[str, Any]:
    """Everything that may distinguish runs apart from cc and seed."""
    keys = ("scenario", "duration_s", "kernel", "engine", "given")
    extra = {key: record[key] for key in keys if key in record}
    return extra | record["set"]


def varying(records: Iterable[Record]) -> list[str]:
    """Names of the settings that differ between the records, in the order of their keys."""
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


# --- values of columns ------------------------------------------------------------------------


def share_of_limit(record: Record) -> float | None:
    """Goodput in percent of the path's limit; None if the path loses all."""
    limit = record["limit_bps"]
    return 100 * record["total_goodput_bps"] / limit if limit else None


def needless_percent(record: Record) -> float | None:
    """Needless retransmissions in percent of the segments sent."""
    segments = sum(flow["segments"] for flow in record["flows"])
    return 100 * record["needless_retransmits"] / segments if segments else None


def queue_share(record: Record) -> float | None:
    """Mean standing queue in percent of the bandwidth-delay product."""
    mean = record["queue"]["mean_bytes"]
    return None if mean is None or not record["bdp_bytes"] else 100 * mean / record["bdp_bytes"]


def _sum_of_flows(key: str) -> Callable[[Record], float | None]:
    def total(record: Record) -> float | None:
        found = [flow[key] for flow in record["flows"]]
        return None if None in found else sum(found)

    return total


def _flow_goodput(index: int) -> Callable[[Record], float | None]:
    """Goodput of one of two flows in Mbit/s; for more flows see :func:`_over_flows`."""

    def goodput(record: Record) -> float | None:
        flows = record["flows"]
        return flows[index]["goodput_bps"] / 1e6 if len(flows) == 2 else None

    return goodput


def _over_flows(pick: Callable[[list[float]], float]) -> Callable[[Record], float | None]:
    """A statistic of the goodputs in Mbit/s of more than two flows."""

    def over(record: Record) -> float | None:
        rates = [flow["goodput_bps"] / 1e6 for flow in record["flows"]]
        return pick(rates) if len(rates) > 2 else None

    return over


def _shares(pick: Callable[[list[float]], float]) -> Callable[[Record], float | None]:
    """A statistic of the flows' fair shares."""

    def over(record: Record) -> float | None:
        found = [flow["fair_share"] for flow in record["flows"] if "fair_share" in flow]
        return pick(found) if found else None

    return over


def _odd_one(record: Record) -> float | None:
    """The first flow's share if no other flow has its algorithm."""
    first, *others = record["flows"]
    alone = len(others) > 1 and first["cc"] not in {flow["cc"] for flow in others}
    return first.get("fair_share") if alone else None


def _several(measure: Callable[[Record], float | None]) -> Callable[[Record], float | None]:
    """A measure that is only meaningful if flows share the path."""
    return lambda record: measure(record) if len(record["flows"]) > 1 else None


def _rtt(record: Record) -> float | None:
    found = [f["rtt_ms"]["mean"] for f in record["flows"] if f["rtt_ms"]["mean"] is not None]
    return sum(found) / len(found) if found else None


def _after_warmup(key: str) -> Callable[[Record], float | None]:
    """Sum over the flows of a count since the end of the warm-up."""

    def total(record: Record) -> float | None:
        found = [flow["steady"][key] for flow in record["flows"] if "steady" in flow]
        return sum(found) if found else None

    return total


def _in_blackout(key: str) -> Callable[[Record], float | None]:
    return lambda record: record.get("blackout", {}).get(key)


#: Columns of all scenarios. A column without any value is left out.
COLUMNS = (
    Column("goodput Mbit/s", 3, lambda record: record["total_goodput_bps"] / 1e6),
    Column("% of limit", 1, share_of_limit),
    Column("flow 1", 3, _flow_goodput(0)),
    Column("flow 2", 3, _flow_goodput(1)),
    Column("mean flow", 3, _over_flows(lambda rates: sum(rates) / len(rates))),
    Column("least flow", 3, _over_flows(min)),
    Column("least share", 2, _shares(min)),
    Column("largest share", 2, _shares(max)),
    Column("flow 1's share", 2, _odd_one),
    Column("Jain", 3, _several(lambda record: record["jain"])),
    Column("queue drops", 0, _several(lambda record: record["queue"]["drops"])),
    Column("after warm-up", 0, lambda record: record["queue"].get("steady_drops")),
    Column("link drops", 0, _several(lambda record: record["link_drops"])),
    Column("retransmits", 0, _sum_of_flows("retransmits")),
    Column("needless %", 2, needless_percent),
    Column("timeouts", 1, _sum_of_flows("timeouts")),
    Column("timeouts after warm-up", 1, _after_warmup("timeouts")),
    Column("queue % of BDP", 1, queue_share),
    Column("RTT ms", 0, _rtt),
    Column("to 90 % s", 2, lambda record: record["t90_s"]),
    Column("below 90 % s", 2, _in_blackout("below90_s")),
    Column("lost s", 2, _in_blackout("lost_s")),
)


def columns(records: Iterable[Record]) -> list[Column]:
    """All columns for these records: the common ones and those of their scenarios."""
    by_scenario: dict[str, list[Record]] = {}
    for record in records:
        by_scenario.setdefault(record["scenario"], []).append(record)
    found = [replace(column, value=partial(_common, column)) for column in COLUMNS]
    for name, scenario in SCENARIOS.items():
        own = scenario.columns(by_scenario[name]) if name in by_scenario else ()
        at = 0
        for column in own:
            if column.after:
                at = [other.heading for other in found].index(column.after) + 1
            found.insert(at, replace(column, value=partial(_own, column, name)))
            at += 1
    return found


def _common(column: Column, record: Record) -> float | None:
    """A common column's value; None if it does not apply to the record's scenario."""
    scenario = SCENARIOS.get(record["scenario"])
    useless = scenario is not None and column.heading in scenario.without
    return None if useless else column.value(record)


def _own(column: Column, scenario: str, record: Record) -> float | None:
    """The value of a scenario's own column; None for records of other scenarios."""
    return column.value(record) if record["scenario"] == scenario else None


def rows(records: Iterable[Record], wanted: Sequence[Column] | None = None) -> list[list[str]]:
    """Heading and body of the table, as text, with all columns or those that are wanted. With the
    latter the parameters of modules stand beside the algorithm's name."""
    records = list(records)
    found = groups(records)
    if wanted is not None:
        found = [_named(group) for group in found]
    names = list(found[0].settings)
    every = columns(records) if wanted is None else wanted
    shown = [c for c in every if any(group.values(c) for group in found)]
    counts = {len(group.records) for group in found}
    uneven = len(counts) > 1
    heading = ["cc", *names, *(["runs"] if uneven else []), *(c.heading for c in shown)]
    body = []
    for group in found:
        row = [group.cc, *(show(group.settings[name]) for name in names)]
        if uneven:
            row.append(str(len(group.records)))
        body.append(row + [_text(group, column) for column in shown])
    return [heading, *body]


def _named(group: Group) -> Group:
    """The group with those of its settings in its name that are parameters of modules."""
    own = {name: value for name, value in group.settings.items() if "." in name}
    words = [f"{key.partition('.')[2]}={show(own[key])}" for key in own if own[key] is not None]
    rest = {name: value for name, value in group.settings.items() if name not in own}
    return replace(group, cc=" ".join([group.cc, *words]), settings=rest)


def _text(group: Group, column: Column) -> str:
    """A cell; how many of the runs have a value if not all have."""
    values = group.values(column)
    text = cell(values, column.decimals)
    if values and len(values) < len(group.records):
        text += f" ({len(values)} of {len(group.records)})"
    return text


def across(records: Iterable[Record], name: str, wanted: Sequence[Column]) -> list[list[str]]:
    """The wanted columns with a column for each value of a setting, or of ``cc``, and a row for
    each choice of the others."""
    found = [group if "." in name else _named(group) for group in groups(records)]
    others = [setting for setting in ("cc", *found[0].settings) if setting != name]
    heads: dict[str, None] = {}
    body: dict[tuple[str, ...], dict[str, str]] = {}
    for group in found:
        settings = {"cc": group.cc} | group.settings
        head, place = show(settings[name]), tuple(show(settings[other]) for other in others)
        heads[head] = None
        body.setdefault(place, {})[head] = " / ".join(_text(group, column) for column in wanted)
    lines = [[*place, *(row.get(head, NONE) for head in heads)] for place, row in body.items()]
    return [[*others, *heads], *lines]


def caption(records: Iterable[Record]) -> str:
    """One line that describes the table."""
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
    """Goodput gain of ``base`` over each other algorithm, such as ``+41.6 %``; a row per settings.

    Module settings (``star.aen``) are not part of the comparison's key, as peers lack them.
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
    """Caption and table; with ``base``, the table of its gains over the other algorithms."""
    records = list(records)
    return captioned(records, ratios(records, base) if base else rows(records), form)


def captioned(records: Iterable[Record], table: list[list[str]], form: str = "text") -> str:
    """A table of records with their caption."""
    text = as_markdown(table) if form == "md" else as_text(table)
    return f"{caption(records)}\n\n{text}" if form == "md" else f"{caption(records)}\n{text}"
