# SPDX-License-Identifier: GPL-2.0
"""Claims decided from records alone.

Every claim becomes one or several numbers with their intervals over the seeds, each of which must
lie in a range. A claim holds if all 95 % intervals lie wholly inside. It does not if one interval
lies wholly outside; if it has k numbers these are intervals of 1 - 0.05 / k (Bonferroni), because
one of many lies outside by chance more often. Else nothing is shown. The constants below say which
range a word of the paper stands for.

A check decides a claim: a function from :class:`Results` to a :class:`Verdict`. The factories
below make checks.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any

from .. import units
from ..results.statistics import LEVEL, UNBOUNDED, Estimate, mean_of, ratio_of
from ..results.text import NONE, Record, show

Measure = Callable[[Record], float | None]
#: A point of a figure: a bit error rate, or settings as records hold them.
Point = float | Mapping[str, Any]

NEAR = 0.10  # "nearly equal", "about the same": the means differ by at most this
QUARTER = 0.25  # ours must be within a quarter of the paper's number
FAR = 0.50  # "far above": by at least this
ALWAYS = 0.95  # "always": in at least this share of the seconds
SWING = 0.20  # standard deviation over mean of a series: "large swings", below it "stable"
TOGETHER = 0.5  # "vary alike": correlation of two series at least this
TURNS = 0.2  # "alternating": correlation below that of unrelated series by at least this
START_UP = 6  # the first 1 / START_UP of a run is start-up and not evaluated
ENOUGH = 5  # "none": in none of at least so many runs
LEAST = 1e-6  # smallest relative change that counts as a rise or fall

BERS = (0.0, 1e-8, 1e-7, 1e-6, 1e-5)


class NotMeasured(Exception):
    """Runs that a claim needs are missing."""


def is_at(record: Record, cc: str, point: Point) -> bool:
    """Whether a record is one of this algorithm at this point."""
    if record["cc"] != cc:
        return False
    settings = point if isinstance(point, Mapping) else {"ber": point}
    had = record["set"]
    return all(had.get(key) == value for key, value in settings.items())


def point_text(point: Point) -> str:
    """A point for a message: ``1e-7``, or ``n=2 delay=5ms``."""
    if not isinstance(point, Mapping):
        return show(point)
    return " ".join(f"{key}={show(value)}" for key, value in point.items())


class Sample(list[float]):
    """A number of each run of a point, with the runs' seeds."""

    def __init__(self, numbers: Iterable[float], seeds: Sequence[int]) -> None:
        super().__init__(numbers)
        self.seeds = seeds


def _by_seed(seeds: Sequence[int], found: Sequence[Any]) -> dict[int, Any]:
    if len(set(seeds)) < len(seeds):
        raise ValueError("a point with two runs of one seed cannot be compared run by run")
    return dict(zip(seeds, found, strict=True))


def _common(found: Sequence[Mapping[int, Any]]) -> list[tuple[Any, ...]]:
    """What all have for a seed, for each such seed; NotMeasured if there is none."""
    seeds = [seed for seed in found[0] if all(seed in each for each in found)]
    if not seeds:
        raise NotMeasured("runs of the same seeds")
    return [tuple(each[seed] for each in found) for seed in seeds]


def paired(*samples: Sequence[float]) -> list[tuple[float, ...]]:
    """The numbers of the runs of each seed that all samples have; with a list without seeds, those
    that have the same place."""
    known = [sample for sample in samples if isinstance(sample, Sample)]
    if len(known) == len(samples):
        return _common([_by_seed(sample.seeds, sample) for sample in known])
    return list(zip(*samples, strict=False))


class Results:
    """The records of one variant of a figure, by algorithm and point."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._of: dict[str, list[Record]] = {}
        for record in records:
            self._of.setdefault(record["cc"], []).append(record)

    def of(self, cc: str, point: Point) -> list[Record]:
        """The runs of one point, by seed."""
        found = [record for record in self._of.get(cc, ()) if is_at(record, cc, point)]
        if not found:
            raise NotMeasured(f"{cc} at {point_text(point)}")
        return sorted(found, key=lambda record: record["seed"])

    def same_seeds(self, ccs: Sequence[str], point: Point) -> list[tuple[Record, ...]]:
        """The runs of several algorithms at one point, those of one seed together."""
        runs = [self.of(cc, point) for cc in ccs]
        return _common([_by_seed([run["seed"] for run in each], each) for each in runs])

    def values(self, cc: str, point: Point, measure: Measure) -> Sample:
        """The measure of each run of a point; NotMeasured if it is None for one of them."""
        runs = self.of(cc, point)
        found = [measure(record) for record in runs]
        if None in found:
            raise NotMeasured(f"{cc} at {point_text(point)}")
        return Sample(found, [record["seed"] for record in runs])


# --- numbers and verdicts ---------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A number with its interval, the range that it must lie in, and its format."""

    label: str
    found: Estimate
    low: float = -math.inf
    high: float = math.inf
    scale: float = 1.0
    unit: str = ""
    decimals: int = 1
    sign: bool = False

    @property
    def yes(self) -> bool:
        """Whether the number lies in the range."""
        return self.low <= self.found.value <= self.high

    @property
    def surely_inside(self) -> bool:
        """Whether the whole interval lies in the range; without an interval nothing is sure."""
        if self.found.bounds is None:
            return False
        below, above = self.found.bounds
        return self.low <= below and above <= self.high

    def surely_outside(self, level: float) -> bool:
        """Whether the whole interval of this level lies outside."""
        if self.found.at is None:
            return False
        below, above = self.found.at(level)
        return above < self.low or self.high < below

    def _text(self, value: float, sign: bool) -> str:
        return f"{self.scale * value + 0.0:{'+' if sign else ''}.{self.decimals}f}"

    def __str__(self) -> str:
        """With ± half an interval, or its bounds if it is not symmetric as shown."""
        text = self._text(self.found.value, self.sign)
        if self.found.bounds == UNBOUNDED:
            text += " (unbounded)"
        elif self.found.bounds is not None:
            below, above = (abs(bound - self.found.value) for bound in self.found.bounds)
            halves = {self._text(half, False) for half in (below, above)}
            if len(halves) == 1:
                text += f" ± {halves.pop()}"
            else:
                ends = (self._text(bound, self.sign) for bound in self.found.bounds)
                text += f" ({' to '.join(ends)})"
        return f"{self.label}: {text}{self.unit}" if self.label else text + self.unit


YES, NO, NOT_SHOWN = "yes", "no", "not shown"


@dataclass(frozen=True)
class Verdict:
    """The numbers as text, whether the claim holds (one of the three words above), and the text of
    a page if all numbers are too many for it."""

    ours: str
    holds: str
    brief: str = ""


def ends(parts: Sequence[Part]) -> str:
    """The parts with the least and the greatest mean; of more than two also how many are against
    the claim."""
    ordered = sorted(parts, key=lambda part: part.found.value)
    text = " … ".join(map(str, ordered if len(parts) < 2 else (ordered[0], ordered[-1])))
    against = sum(not part.yes for part in parts)
    return text + (f" (against: {against} of {len(parts)})" if against and len(parts) > 2 else "")


def decide(parts: Sequence[Part]) -> Verdict:
    """The verdict on a claim that holds if all its parts do: "yes" needs no correction for their
    number, "no" does."""
    if not parts:
        return Verdict(NONE, NOT_SHOWN)
    text = "; ".join(map(str, parts))
    alike = len({(part.low, part.high, part.unit) for part in parts}) == 1
    brief = ends(parts) if alike and len(parts) > 2 else ""
    level = 1 - (1 - LEVEL) / len(parts)
    if any(part.surely_outside(level) for part in parts):
        return Verdict(text, NO, brief)
    holds = all(part.surely_inside for part in parts)
    return Verdict(text, YES if holds else NOT_SHOWN, brief)


def outermost(parts: Sequence[Part]) -> Verdict:
    """The verdict on many parts, of which every table shows the :func:`ends` only."""
    return Verdict(ends(parts), decide(parts).holds)


def percent(label: str, gain: Estimate, low: float, high: float) -> Part:
    """A ratio minus 1 as a part that is shown in percent."""
    return Part(label, gain, low, high, 100.0, " %", 1, True)


def ratio(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """Mean of ``a`` over mean of ``b``, with the interval of runs of the same seeds."""
    return ratio_of(*zip(*paired(a, b), strict=True))


def gain(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """The same, minus 1."""
    return ratio(a, b).plus(-1)


def difference(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """Mean of ``a`` less mean of ``b``, with the interval of runs of the same seeds."""
    return mean_of(x - y for x, y in paired(a, b))


def apart(a: Sequence[float], b: Sequence[float]) -> Estimate:
    """Difference of two means of the same runs over their mean, with its interval."""
    pairs = paired(a, b)
    middles = [(x + y) / 2 for x, y in pairs]
    if not any(middles):
        return Estimate(0.0)
    return ratio_of([x - y for x, y in pairs], middles)


def settled(series: Sequence[float]) -> list[float]:
    """A series (values by second) without its start-up."""
    return list(series[len(series) // START_UP :])


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def swing(series: Sequence[float]) -> float | None:
    """Standard deviation over mean, without the start-up."""
    found = settled(series)
    mean = _mean(found)
    return pstdev(found) / mean if mean else None


def correlation(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Pearson's r of two series without their start-up; None if one is constant."""
    pairs = list(zip(settled(a), settled(b), strict=False))
    try:
        return statistics.correlation(*zip(*pairs, strict=True)) if pairs else None
    except statistics.StatisticsError:
        return None


#: The series of a record: what is under way in bytes, the bandwidth estimate in bit/s.
UNDER_WAY, ABE = "under_way", "abe"

# --- measures of one record -------------------------------------------------------------------


def total(record: Record) -> float:
    """Goodput of all flows."""
    return record["total_goodput_bps"]


def goodput(flow: int) -> Measure:
    """Goodput of one flow."""
    return lambda record: record["flows"][flow]["goodput_bps"]


def timeouts(record: Record) -> int:
    """Retransmission timeouts of all flows."""
    return sum(flow["timeouts"] for flow in record["flows"])


def mean_goodput(record: Record) -> float:
    """Mean goodput of the flows."""
    return record["total_goodput_bps"] / len(record["flows"])


def back_at(record: Record) -> float | None:
    """Second at which goodput has recovered from a blackout, as if that had begun at 45 s."""
    cost = record.get("blackout")
    return None if cost is None else 45.0 + cost["below90_s"]


def full_at(record: Record) -> float:
    """Seconds from the end of the handshake, a round trip after the SYN, until the link is used to
    90 % (the run's length if it never is)."""
    at = record["t90_s"]
    handshake_s = 2 * units.parse("time", record["set"]["delay"])
    return record["duration_s"] if at is None else at - handshake_s


def of_series(key: str, flow: int, of: Callable[[Sequence[float]], float | None]) -> Measure:
    """A number computed from one flow's series."""

    def measure(record: Record) -> float | None:
        series = record["series"][flow].get(key)
        return of(series) if series else None

    return measure


def under_way(flow: int) -> Measure:
    """Mean of what one flow has under way, without its start-up, bytes."""
    return of_series(UNDER_WAY, flow, lambda series: _mean(settled(series)))


def estimate(flow: int) -> Measure:
    """Mean bandwidth estimate of one flow without its start-up, bit/s."""
    return of_series(ABE, flow, lambda series: _mean(settled(series)))


# --- factories of checks ----------------------------------------------------------------------

Check = Callable[[Results], Verdict]
#: Parts of a claim: label, algorithm, point, measure.
Parts = Sequence[tuple[str, str, Point, Measure]]


def above(
    cc: str, rivals: Sequence[str], bers: Sequence[float] = BERS, least: float = LEAST
) -> Check:
    """The total goodput of ``cc`` is above that of the best rival, by a share of at least
    ``least``, at each bit error rate."""

    def check(results: Results) -> Verdict:
        parts = []
        for ber in bers:
            found = {rival: results.values(rival, ber, total) for rival in rivals}
            best = max(rivals, key=lambda rival: fmean(found[rival]))
            label = show(ber) + (f" (over {best.partition('+')[0]})" if len(rivals) > 1 else "")
            found_gain = gain(results.values(cc, ber, total), found[best])
            parts.append(percent(label, found_gain, least, math.inf))
        return decide(parts)

    return check


def beyond(cc: str, rival: str, paper: float, ber: float) -> Check:
    """The goodput of ``cc`` is above the rival's by the paper's share, within a quarter of it."""

    def check(results: Results) -> Verdict:
        found = gain(results.values(cc, ber, total), results.values(rival, ber, total))
        return decide([percent("", found, paper * (1 - QUARTER), paper * (1 + QUARTER))])

    return check


def slightly_below(cc: str, rival: str, bers: Sequence[float], slightly: float = NEAR) -> Check:
    """The total of ``cc`` is below the rival's, but by no more than ``slightly``."""

    def check(results: Results) -> Verdict:
        parts = []
        for ber in bers:
            found = gain(results.values(cc, ber, total), results.values(rival, ber, total))
            parts.append(percent(show(ber), found, -slightly, -LEAST))
        return decide(parts)

    return check


def same(ccs: Sequence[str], *points: Mapping[str, Any]) -> Check:
    """The total goodputs of all are nearly equal at each point: each over the first."""

    def check(results: Results) -> Verdict:
        parts = []
        for point in points:
            first = results.values(ccs[0], point, total)
            for cc in ccs[1:]:
                over_first = gain(results.values(cc, point, total), first)
                label = show(point["ber"]) if len(points) > 1 else f"{cc} over {ccs[0]}"
                parts.append(percent(label, over_first, -NEAR, NEAR))
        return decide(parts)

    return check


def flows_equal(mix: str, points: Sequence[Mapping[str, Any]]) -> Check:
    """The two flows of a pair get nearly the same, at the bit error rate of each point."""

    def check(results: Results) -> Verdict:
        parts = []
        for point in points:
            pair = [results.values(mix, point, goodput(flow)) for flow in (0, 1)]
            parts.append(percent(show(point["ber"]), apart(*pair), -NEAR, NEAR))
        return decide(parts)

    return check


def less(mix: str, pairs: Iterable[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Check:
    """The total goodput at the first point of each pair is below that at the second."""
    pairs = list(pairs)

    def check(results: Results) -> Verdict:
        parts = []
        for point, base in pairs:
            found = gain(results.values(mix, point, total), results.values(mix, base, total))
            parts.append(percent(show(point["ber"]), found, -math.inf, -LEAST))
        return decide(parts)

    return check


def flow_above(mix: str, bers: Sequence[float], low: float, high: float = math.inf) -> Check:
    """The first flow of a pair is above the second by a share from ``low`` to ``high``."""

    def check(results: Results) -> Verdict:
        parts = []
        for ber in bers:
            pair = [results.values(mix, ber, goodput(flow)) for flow in (0, 1)]
            parts.append(percent(show(ber), gain(*pair), low, high))
        return decide(parts)

    return check


def keeps(mix: str, own: str, bers: Sequence[float] = BERS) -> Check:
    """The second flow of ``mix`` gets nearly as much as a flow of ``own``, an equal pair."""

    def check(results: Results) -> Verdict:
        parts = []
        for ber in bers:
            beside = results.values(mix, ber, goodput(1))
            alone = results.values(own, ber, mean_goodput)
            parts.append(percent(show(ber), gain(beside, alone), -NEAR, NEAR))
        return decide(parts)

    return check


def between(
    measures: Parts,
    low: float,
    high: float,
    scale: float = 1.0,
    unit: str = "",
    decimals: int = 1,
) -> Check:
    """Numbers lie in a range; each is a label, an algorithm, a point, a measure. A range that only
    has 0 says that no run has one."""
    if low == high == 0:
        return _never(measures)

    def check(results: Results) -> Verdict:
        return decide(
            [
                Part(
                    label,
                    mean_of(results.values(cc, point, measure)),
                    low, high, scale, unit, decimals,
                )
                for label, cc, point, measure in measures
            ]
        )  # fmt: skip

    return check


def rarely(runs: int) -> str:
    """Of something that none of so many runs has: were it in a larger share of all runs, one of
    these would have it with 95 %."""
    most = 1 - (1 - LEVEL) ** (1 / runs)
    return f"95 %: in at most {100 * most:.0f} % of all"


def _in_runs(results: Results, measures: Parts) -> tuple[int, int, str]:
    """In how many runs something that is counted happens, of how many, and that as text."""
    counts = {label: results.values(cc, point, measure) for label, cc, point, measure in measures}
    having = {label: sum(n > 0 for n in found) for label, found in counts.items()}
    have, runs = sum(having.values()), sum(map(len, counts.values()))
    text = f"in {have} of {runs} runs"
    if have:
        where = ", ".join(f"{label}: {count}" for label, count in having.items() if count)
        return have, runs, f"{text} ({where})"
    return have, runs, f"{text} ({rarely(runs)})"


def _never(measures: Parts) -> Check:
    """Something that is counted happens in no run.

    A mean of zeros has an interval without width, so runs are counted, those of all points
    together: the claim holds if none of ``ENOUGH`` runs or more has one, and does not if two have.
    """

    def check(results: Results) -> Verdict:
        have, runs, text = _in_runs(results, measures)
        if have:
            return Verdict(text, NO if have > 1 else NOT_SHOWN)
        return Verdict(text, YES if runs >= ENOUGH else NOT_SHOWN)

    return check


def happens(measures: Parts) -> Check:
    """Something that is counted happens: the opposite of never."""
    opposite = {YES: NO, NO: YES, NOT_SHOWN: NOT_SHOWN}
    never = _never(measures)

    def check(results: Results) -> Verdict:
        verdict = never(results)
        return Verdict(verdict.ours, opposite[verdict.holds])

    return check


def later(cc: str, rivals: Sequence[str], ber: float, measure: Measure) -> Check:
    """Each rival's time is later than that of ``cc``, run by run."""

    def check(results: Results) -> Verdict:
        base = results.values(cc, ber, measure)
        parts = []
        for rival in rivals:
            gap = difference(results.values(rival, ber, measure), base)
            tiny = 0.005  # the receiver's bins are 10 ms
            parts.append(Part(rival, gap, tiny, math.inf, 1, " s", 2, True))
        return decide(parts)

    return check


def always_highest(cc: str, rivals: Sequence[str], ber: float) -> Check:
    """In nearly every second of each run no flow has more under way than ``cc``."""

    def shares(results: Results) -> list[float]:
        found = []
        for same_seed in results.same_seeds((cc, *rivals), ber):
            columns = zip(*(record["series"][0][UNDER_WAY] for record in same_seed), strict=False)
            seconds = [own >= max(others) for own, *others in columns]
            found.append(fmean(seconds))
        return found

    def check(results: Results) -> Verdict:
        label = "share of the seconds"
        return decide([Part(label, mean_of(shares(results)), ALWAYS, 1.0, 100, " %", 0)])

    return check


def windows_alike(mix: str, ber: float, near: float = NEAR) -> Check:
    """A pair's two flows have nearly the same under way."""

    def check(results: Results) -> Verdict:
        pair = [results.values(mix, ber, under_way(flow)) for flow in (0, 1)]
        means = " and ".join(f"{mean_of(found).value / 1e3:.0f}" for found in pair)
        return decide([percent(f"{means} kB", apart(*pair), -near, near)])

    return check


def larger_and_smaller(mix: str, ber: float, larger: float, smaller: float) -> Check:
    """What a pair's flows have under way, bytes: of each run the larger and the smaller mean is
    within a quarter of the paper's."""

    def check(results: Results) -> Verdict:
        pairs = paired(*(results.values(mix, ber, under_way(flow)) for flow in (0, 1)))
        parts = [
            Part(
                label,
                mean_of(map(which, pairs)),
                paper * (1 - QUARTER),
                paper * (1 + QUARTER),
                1e-3,
                " kB",
                0,
            )
            for label, which, paper in (("larger", max, larger), ("smaller", min, smaller))
        ]
        return decide(parts)

    return check


def vary_alike(mix: str, ber: float) -> Check:
    """What a pair's two flows have under way varies together, by their correlation."""

    def check(results: Results) -> Verdict:
        found = []
        for run in results.of(mix, ber):
            r = correlation(*(flow[UNDER_WAY] for flow in run["series"]))
            if r is None:
                raise NotMeasured(f"{mix} at {show(ber)}: one of the flows never changes")
            found.append(r)
        return decide([Part("r", mean_of(found), TOGETHER, math.inf, 1, "", 2, True)])

    return check


def swings(mix: str, ber: float, large: bool, key: str = UNDER_WAY) -> Check:
    """A series of both flows of a pair has large swings, or none."""
    low, high = (SWING, math.inf) if large else (-math.inf, SWING)
    return between(
        [(f"flow {n + 1}", mix, ber, of_series(key, n, swing)) for n in (0, 1)],
        low, high, 100.0, " %", 0,
    )  # fmt: skip


def alternating(mix: str, ber: float) -> Check:
    """The estimates of a pair alternate: their correlation lies below that of two series which
    have nothing to do with each other, flow 1 of a run and flow 2 of the next seed's."""

    def check(results: Results) -> Verdict:
        runs = results.of(mix, ber)
        pairs = [[flow.get(ABE) for flow in run["series"]] for run in runs]
        if not all(first and second for first, second in pairs):
            raise NotMeasured(f"{mix} at {show(ber)}")
        beside = pairs[1:] + pairs[:1]
        own = [correlation(first, second) for first, second in pairs]
        others = [correlation(p[0], q[1]) for p, q in zip(pairs, beside, strict=True)]
        if None in own or None in others:
            raise NotMeasured(f"{mix} at {show(ber)}: an estimate never changes")
        below = mean_of(r - other for r, other in zip(own, others, strict=True))
        label = f"r = {mean_of(own).value:.2f}, of unrelated {mean_of(others).value:.2f}"
        return decide([Part(label, below, -2.0, -TURNS, 1, "", 2, True)])

    return check
