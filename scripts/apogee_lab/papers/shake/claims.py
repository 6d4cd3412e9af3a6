# SPDX-License-Identifier: GPL-2.0
"""Checks of flows over several paths (scenario multipath).

A subject is an algorithm and a point. Two subjects are compared run by run, since runs of a seed
have the same loss and pauses. Where a claim is about many points, the verdict shows the two
outermost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from ...results.statistics import Estimate, mean_of, ratio_of, share_of, wider
from ..claims import (
    Check,
    Measure,
    Part,
    Point,
    Record,
    Results,
    Verdict,
    difference,
    gain,
    outermost,
    paired,
    percent,
    ratio,
    total,
)

#: An algorithm at a point.
Subject = tuple[str, Point]
Pairs = Mapping[str, tuple[Subject, Subject]]
#: By label a subject and those whose goodputs are added up.
Sums = Mapping[str, tuple[Subject, Sequence[Subject]]]


# --- measures of one record -------------------------------------------------------------------


def segments(record: Record) -> int:
    """Segments that TCP sent."""
    return sum(flow["segments"] for flow in record["flows"])


def again(record: Record) -> float:
    """Segments that TCP sent again."""
    return float(sum(flow["retransmits"] for flow in record["flows"]))


def needless(record: Record) -> float:
    """Segments that arrived although the receiver had their data."""
    return float(record["needless_retransmits"])


def needless_share(record: Record) -> float:
    """The same for 1000 segments sent."""
    sent = segments(record)
    return 1000 * needless(record) / sent if sent else 0.0


def of_limit(record: Record) -> float:
    """Goodput as a share of what the paths have left for full packets."""
    return record["total_goodput_bps"] / record["limit_bps"]


def mean_window(record: Record) -> float:
    """Mean of the first flow's congestion window, bytes."""
    return float(record["flows"][0]["window_bytes"]["mean"])


# --- comparisons ------------------------------------------------------------------------------


def _values(results: Results, subject: Subject, measure: Measure) -> list[float]:
    return results.values(*subject, measure)


def gains(pairs: Pairs, low: float, high: float = math.inf, measure: Measure = total) -> Check:
    """A number of the first of each pair over the second's, minus 1, in a range."""

    def check(results: Results) -> Verdict:
        parts = []
        for label, (a, b) in pairs.items():
            found = gain(_values(results, a, measure), _values(results, b, measure))
            parts.append(percent(label, found, low, high))
        return outermost(parts)

    return check


def differences(
    pairs: Pairs, low: float, high: float, measure: Measure = total, scale: float = 1.0,
    unit: str = "", decimals: int = 1,
) -> Check:  # fmt: skip
    """A number of the first of each pair less the second's, run by run, in a range."""

    def check(results: Results) -> Verdict:
        parts = []
        for label, (a, b) in pairs.items():
            found = difference(_values(results, a, measure), _values(results, b, measure))
            parts.append(Part(label, found, low, high, scale, unit, decimals, True))
        return outermost(parts)

    return check


def within(
    where: Mapping[str, Subject], measure: Measure, low: float, high: float, scale: float = 1.0,
    unit: str = "", decimals: int = 1,
) -> Check:  # fmt: skip
    """A number lies in a range for each subject."""

    def check(results: Results) -> Verdict:
        return outermost(
            [
                Part(label, mean_of(_values(results, subject, measure)), low, high, scale,
                     unit, decimals)
                for label, subject in where.items()
            ]
        )  # fmt: skip

    return check


def over_best(
    groups: Mapping[str, tuple[Subject, Mapping[str, Subject]]],
    low: float,
    high: float = math.inf,
) -> Check:
    """Of each group the goodput of its subject over that of the best rival, minus 1."""

    def check(results: Results) -> Verdict:
        parts = []
        for label, (subject, rivals) in groups.items():
            found = {name: _values(results, each, total) for name, each in rivals.items()}
            best = max(found, key=lambda name: fmean(found[name]))
            gained = gain(_values(results, subject, total), found[best])
            parts.append(percent(f"{label} (over {best})".lstrip(), gained, low, high))
        return outermost(parts)

    return check


def of_sum(groups: Sums, low: float) -> Check:
    """Goodput as a share of the sum of what others have, in per cent."""

    def check(results: Results) -> Verdict:
        parts = []
        for label, (subject, others) in groups.items():
            runs = paired(*(_values(results, each, total) for each in (subject, *others)))
            own, *rest = zip(*runs, strict=True)
            sums = [math.fsum(values) for values in zip(*rest, strict=True)]
            found = ratio_of(own, sums)
            parts.append(Part(label, found, low, math.inf, 100.0, " %"))
        return outermost(parts)

    return check


def ratios_apart(
    a: Sequence[float], b: Sequence[float], c: Sequence[float], d: Sequence[float]
) -> Estimate:
    """Mean a / mean b less mean c / mean d, run by run with the same seeds.

    The interval is that of the difference's linear form about the four means.
    """
    runs = paired(a, b, c, d)
    mean_a, mean_b, mean_c, mean_d = (
        math.fsum(values) / len(runs) for values in zip(*runs, strict=True)
    )
    one, other = mean_a / mean_b, mean_c / mean_d
    return mean_of(
        one - other + (x - one * y) / mean_b - (u - other * v) / mean_d for x, y, u, v in runs
    )


def suffers_more(first: tuple[Subject, Subject], second: tuple[Subject, Subject]) -> Check:
    """The first pair's change, in per cent of its second member, is below the second pair's."""

    def check(results: Results) -> Verdict:
        found = ratios_apart(*(_values(results, each, total) for each in (*first, *second)))
        return outermost([percent("difference of the changes", found, -math.inf, -1e-6)])

    return check


def share_needless(where: Mapping[str, Subject], low: float, high: float) -> Check:
    """Of all that was sent again the share that was there, over all runs of a subject.

    Its interval is Fieller's over the runs, but at least Wilson's of so many segments: the former
    has no width where all runs agree.
    """

    def check(results: Results) -> Verdict:
        parts = []
        for label, subject in where.items():
            there, sent = (_values(results, subject, measure) for measure in (needless, again))
            of_all = share_of(math.fsum(there), math.fsum(sent))
            found = wider(of_all, ratio(there, sent)).as_share()
            text = f"{label}: {fmean(sent):.1f} sent again, needless".lstrip(": ")
            parts.append(Part(text, found, low, high, 100.0, " %", 0))
        return outermost(parts)

    return check
