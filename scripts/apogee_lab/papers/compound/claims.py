# SPDX-License-Identifier: GPL-2.0
"""Checks of stations behind one access point (scenario wlan).

Points are settings: the number of stations, ``{"n": 10}``, and for late starts the time within
which they start. Points of ``compound_plus`` include its rule. Numbers and ranges are those of
papers/claims.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from ...results.statistics import mean_of
from ..claims import (
    ENOUGH,
    LEAST,
    NO,
    NOT_SHOWN,
    YES,
    Check,
    Measure,
    Part,
    Point,
    Record,
    Results,
    Verdict,
    between,
    decide,
    difference,
    gain,
    percent,
    rarely,
    ratio,
)

PLUS, PLAIN = "compound_plus", "compound"
RULE = f"{PLUS}.rule"

#: Settings by their label in the table.
Points = Mapping[str, Mapping[str, object]]


# --- measures of one record -------------------------------------------------------------------


def index(record: Record) -> float:
    """Fairness index (Jain's) of the stations."""
    return record["jain"]


def mean_rtt(record: Record) -> float | None:
    """Mean over time of the stations' smoothed RTTs, ms; stations without an RTT do not count."""
    found = [flow["rtt_ms"]["mean"] for flow in record["flows"]]
    found = [mean for mean in found if mean is not None]
    return fmean(found) if found else None


def ack_wait(record: Record) -> float | None:
    """Mean wait of an ACK in the access point's queue, ms."""
    return record["queue"]["mean_ms"]


def queue_length(record: Record) -> float:
    """Mean number of packets in the access point's queue."""
    return record["queue"]["mean_packets"]


# --- points -----------------------------------------------------------------------------------


def stations(ns: Sequence[int]) -> Points:
    """A point for each number of stations."""
    return {f"n = {n}": {"n": n} for n in ns}


def plus(rule: int, point: Point) -> Point:
    """The point of compound_plus with a rule."""
    return {**point, RULE: rule}


def place(rule: int | None, point: Point) -> Point:
    """The point of any algorithm; ``rule`` is None for those without rules."""
    return point if rule is None else plus(rule, point)


# --- factories of checks ----------------------------------------------------------------------


def _index(results: Results, cc: str, point: Point) -> list[float]:
    return results.values(cc, point, index)


def _index_part(label: str, found: Sequence[float], low: float, high: float) -> Part:
    return Part(label, mean_of(found), low, high, 1.0, "", 3)


def fair(rule: int, least: Mapping[str, float], points: Points) -> Check:
    """The index of compound_plus is at least ``least`` at each point, by its label."""

    def check(results: Results) -> Verdict:
        return decide(
            [
                _index_part(label, _index(results, PLUS, plus(rule, points[label])), low, math.inf)
                for label, low in least.items()
            ]
        )

    return check


def fair_few(ns: Sequence[int], rules: Sequence[int], least: float) -> Check:
    """The index of Compound and of each rule is at least ``least`` with few stations."""

    def check(results: Results) -> Verdict:
        parts = []
        for n in ns:
            parts.append(_index_part(f"n = {n}", _index(results, PLAIN, {"n": n}), least, math.inf))
            for rule in rules:
                found = _index(results, PLUS, plus(rule, {"n": n}))
                parts.append(_index_part(f"({rule})", found, least, math.inf))
        return decide(parts)

    return check


def falls(cc: str, ns: Sequence[int], by: float, rise: float) -> Check:
    """The index falls with the number of stations: at the last it is ``by`` below the first one,
    at the others at most ``rise`` above it."""

    def check(results: Results) -> Verdict:
        first = _index(results, cc, {"n": ns[0]})
        parts = []
        for n in ns[1:]:
            most = -by if n == ns[-1] else rise
            change = difference(_index(results, cc, {"n": n}), first)
            parts.append(Part(f"n = {ns[0]} to {n}", change, -math.inf, most, 1.0, "", 3, True))
        return decide(parts)

    return check


def drops_slightly(rule: int, n: int, low: float, high: float, others: Sequence[int]) -> Check:
    """The index lies from ``low`` to ``high``, above Compound's, below that of the other rules."""

    def check(results: Results) -> Verdict:
        ours = _index(results, PLUS, plus(rule, {"n": n}))
        over = difference(ours, _index(results, PLAIN, {"n": n}))
        parts = [
            _index_part(f"n = {n}", ours, low, high),
            Part("over Compound's", over, LEAST, math.inf, 1.0, "", 3, True),
        ]
        for other in others:
            less = difference(ours, _index(results, PLUS, plus(other, {"n": n})))
            parts.append(Part(f"over ({other})'s", less, -math.inf, -LEAST, 1.0, "", 3, True))
        return decide(parts)

    return check


def fairer(rule: int, points: Points, least: float) -> Check:
    """The index of compound_plus exceeds Compound's by at least ``least``."""

    def check(results: Results) -> Verdict:
        parts = []
        for label, point in points.items():
            found = [_index(results, PLUS, plus(rule, point)), _index(results, PLAIN, point)]
            over = difference(*found)
            parts.append(Part(label, over, least, math.inf, 1.0, "", 3, True))
        return decide(parts)

    return check


def no_run_below(rule: int, n: int, low: float) -> Check:
    """No run's index is below ``low``: it holds if none of ``ENOUGH`` runs or more is, and does not
    if two are."""

    def check(results: Results) -> Verdict:
        found = results.values(PLUS, plus(rule, {"n": n}), index)
        below, runs = sum(each < low for each in found), len(found)
        share = f"{below} below" if below else f"none below ({rarely(runs)})"
        ours = f"n = {n}: least of {runs}: {min(found):.3f}, {share}"
        if below:
            return Verdict(ours, NO if below > 1 else NOT_SHOWN)
        return Verdict(ours, YES if runs >= ENOUGH else NOT_SHOWN)

    return check


#: Ranges by number of stations.
Bounds = Mapping[int, tuple[float, float]]


def _over(
    rule: int, cc: str, other: int | None, measure: Measure, bounds: Bounds, decimals: int
) -> Check:
    def check(results: Results) -> Verdict:
        parts = []
        for n, (low, high) in bounds.items():
            ours = results.values(PLUS, plus(rule, {"n": n}), measure)
            over = ratio(ours, results.values(cc, place(other, {"n": n}), measure))
            parts.append(Part(f"n = {n}", over, low, high, 1.0, "", decimals))
        return decide(parts)

    return check


def over_compound(rule: int, measure: Measure, bounds: Bounds, decimals: int = 2) -> Check:
    """The ratio of compound_plus's number to Compound's is within bounds."""
    return _over(rule, PLAIN, None, measure, bounds, decimals)


def over_rule(rule: int, other: int, measure: Measure, bounds: Bounds) -> Check:
    """The ratio of a rule's number to another rule's is within bounds."""
    return _over(rule, PLUS, other, measure, bounds, 2)


def lowest(rule: int, others: Sequence[int], ns: Sequence[int], measure: Measure) -> Check:
    """A number is lower with this rule than with the others."""

    def check(results: Results) -> Verdict:
        parts = []
        for n in ns:
            ours = results.values(PLUS, plus(rule, {"n": n}), measure)
            for other in others:
                theirs = results.values(PLUS, plus(other, {"n": n}), measure)
                label = f"n = {n}, under ({other})"
                parts.append(percent(label, gain(ours, theirs), -math.inf, -LEAST))
        return decide(parts)

    return check


def constant(rules: Sequence[int], ns: tuple[int, int], measure: Measure, near: float) -> Check:
    """A number changes by at most ``near`` from one number of stations to the other."""

    def check(results: Results) -> Verdict:
        few, more = ns
        return decide(
            [
                percent(
                    f"n = {few} to {more}, ({rule})",
                    gain(
                        results.values(PLUS, plus(rule, {"n": more}), measure),
                        results.values(PLUS, plus(rule, {"n": few}), measure),
                    ),
                    -near,
                    near,
                )
                for rule in rules
            ]
        )

    return check


def at_least(rule: int, points: Points, measure: Measure, least: float) -> Check:
    """A share of compound_plus, shown in percent, is at least ``least``."""
    return between(
        [(label, PLUS, plus(rule, point), measure) for label, point in points.items()],
        least, math.inf, 100, " %", 1,
    )  # fmt: skip
