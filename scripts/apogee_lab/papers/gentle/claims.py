# SPDX-License-Identifier: GPL-2.0
"""Checks of groups of flows on the long fat pipe (scenario lfn): fast senders and Reno senders.

Points are settings: the number of fast senders, ``{"n": 2}``, or what figure 6 varies. Numbers and
ranges are those of papers/claims.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ... import units
from ...results.statistics import Estimate, ratio_of
from ..claims import (
    LEAST,
    NEAR,
    Check,
    Measure,
    Part,
    Point,
    Record,
    Results,
    Verdict,
    decide,
    gain,
    paired,
    percent,
    ratio,
    total,
)

FAST, RENO = "fast", "reno"
ALONE = "reno"  # the algorithm of runs without fast senders


# --- measures of one record -------------------------------------------------------------------


def group(name: str) -> Measure:
    """Goodput of all flows of a group, bit/s; 0 for a group without flows."""
    return lambda record: record["groups"].get(name, {"goodput_bps": 0.0})["goodput_bps"]


def group_share(name: str) -> Measure:
    """Goodput of a group of one Reno sender as a share of what its own link can carry."""

    def measure(record: Record) -> float:
        settings = record["set"]
        own, shared = (units.parse("rate", settings[key]) for key in ("reno_rate", "rate"))
        return group(name)(record) / (own * record["limit_bps"] / shared)

    return measure


def used(record: Record) -> float:
    """Goodput as a share of what the shared link can carry."""
    return record["total_goodput_bps"] / record["limit_bps"]


def unused(record: Record) -> float:
    """The share of the link that is not used."""
    return 1 - used(record)


def timeouts(record: Record) -> int:
    """Retransmission timeouts of the fast senders after their start-up."""
    return sum(flow["steady"]["timeouts"] for flow in record["flows"][: record["set"]["n"]])


def timeouts_of(flow: int) -> Measure:
    """Retransmission timeouts of one flow after its start-up."""
    return lambda record: record["flows"][flow]["steady"]["timeouts"]


def drops(record: Record) -> int:
    """Drops at the shared queue, in all of the run."""
    return record["queue"]["drops"]


def down_to(size: int) -> Measure:
    """1 if a fast sender's window falls to this size, bytes, after its start-up, else 0."""

    def measure(record: Record) -> int | None:
        found = [flow["window_bytes"] for flow in record["flows"][: record["set"]["n"]]]
        return None if None in found else int(min(each["min"] for each in found) <= size)

    return measure


def early_drops(record: Record) -> int:
    """Drops at the shared queue in the first 5 s."""
    return record["queue"]["early_drops"]


def mode_changes(seconds: float) -> Measure:
    """Mode changes of a flow in this many seconds."""

    def measure(record: Record) -> float | None:
        per_second = record.get("event_rate")
        return None if per_second is None else per_second * seconds

    return measure


# --- groups over the number of fast senders ---------------------------------------------------


def place(cc: str, n: int) -> tuple[str, Point]:
    """Algorithm and point of the runs with n fast senders; with none all algorithms share them."""
    return cc if n else ALONE, {"n": n}


def falls(cc: str, ns: Sequence[int]) -> Check:
    """The Reno group gets less with each larger number of fast senders."""

    def check(results: Results) -> Verdict:
        found = [results.values(*place(cc, n), group(RENO)) for n in ns]
        return decide(
            [
                percent(f"N = {a} to {b}", gain(more, fewer), -math.inf, -LEAST)
                for a, b, fewer, more in zip(ns, ns[1:], found, found[1:], strict=False)
            ]
        )

    return check


def total_above(cc: str, rival: str, ns: Sequence[int]) -> Check:
    """All flows together get more beside ``cc`` than beside the rival."""

    def check(results: Results) -> Verdict:
        return decide(
            [
                percent(
                    f"N = {n}",
                    gain(*(results.values(name, {"n": n}, total) for name in (cc, rival))),
                    LEAST,
                    math.inf,
                )
                for n in ns
            ]
        )

    return check


def _reno(results: Results, cc: str, n: int) -> list[float]:
    """The Reno group's goodput beside n fast senders."""
    return results.values(*place(cc, n), group(RENO))


def share(results: Results, cc: str, n: int) -> Estimate:
    """The Reno group's goodput beside n fast senders over that beside n fast Reno senders."""
    return ratio(_reno(results, cc, n), _reno(results, "reno", n))


def keeps_share(cc: str, least: Mapping[int, float]) -> Check:
    """The Reno group keeps at least this share, by the number of fast senders."""

    def check(results: Results) -> Verdict:
        return decide(
            [
                Part(f"N = {n}", share(results, cc, n), low, math.inf, 100, " %", 0)
                for n, low in least.items()
            ]
        )

    return check


def share_above(cc: str, rival: str, ns: Sequence[int], least: float) -> Check:
    """The Reno group's share beside ``cc`` exceeds that beside the rival by at least ``least``."""

    def part(results: Results, n: int) -> Part:
        ours, theirs = (share(results, name, n).value for name in (cc, rival))
        label = f"N = {n} ({100 * ours:.0f} % over {100 * theirs:.0f} %)"
        runs = paired(*(_reno(results, name, n) for name in (cc, rival, "reno")))
        over = ratio_of([x - y for x, y, _ in runs], [base for _, _, base in runs])
        return Part(label, over, least, math.inf, 100, " points", 0, True)

    return lambda results: decide([part(results, n) for n in ns])


# --- the model and the lab --------------------------------------------------------------------


def predicted(record: Record, name: str, sack: bool = False) -> tuple[float, float]:
    """The model's throughput of a group's one flow as its command prints it, and as goodput; bit/s.

    ``sack``: with one reduction for all losses of a window (``--sack``).

    The model's packets have no headers: its goodput is the share of the throughput that the lab's
    link can carry as payload.
    """
    from .model import predict

    settings = record["set"]
    hs, reno, _ = predict(settings["reno_rate"], settings["delay"], settings["queue"], sack)
    throughput = 1e6 * (hs if name == FAST else reno)
    return throughput, throughput * record["limit_bps"] / units.parse("rate", settings["rate"])


def deviation(results: Results, cc: str, point: Point, name: str, sack: bool = False) -> Estimate:
    """The lab's goodput over the model's, minus 1, with its interval."""
    lab = results.values(cc, point, group(name))
    _, model = predicted(results.of(cc, point)[0], name, sack)
    return gain(lab, [model] * len(lab))


def near_model(cc: str, points: Mapping[str, Point], name: str, sack: bool = False) -> Check:
    """The model, or the model with SACK, predicts the group's goodput at each named point."""

    def check(results: Results) -> Verdict:
        return decide(
            [
                percent(label, deviation(results, cc, point, name, sack), -NEAR, NEAR)
                for label, point in points.items()
            ]
        )

    return check


def over_delay(
    cc: str, lines: Mapping[str, Sequence[tuple[str, Point]]], name: str, gains: bool
) -> Check:
    """The group's goodput rises, or falls, from each delay to the next, on every line.

    ``lines`` are named points in the order of their delays.
    """
    low, high = (LEAST, math.inf) if gains else (-math.inf, -LEAST)

    def check(results: Results) -> Verdict:
        parts = []
        for label, line in lines.items():
            for (a, near), (b, far) in zip(line, line[1:], strict=False):
                found = gain(
                    results.values(cc, far, group(name)), results.values(cc, near, group(name))
                )
                parts.append(percent(f"{label}, {a} to {b}", found, low, high))
        return decide(parts)

    return check
