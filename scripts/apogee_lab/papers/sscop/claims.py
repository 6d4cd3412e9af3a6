# SPDX-License-Identifier: GPL-2.0
"""Checks of one flow over a radio (scenario radio), alone and above SSCOP.

Points are settings: bit error rate, segment, and the path unless those of all paths count. Where a
claim is about many points, the verdict shows the two outermost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from ... import units
from ...results.statistics import around, mean_of
from ..claims import (
    LEAST,
    NEAR,
    QUARTER,
    Check,
    Measure,
    NotMeasured,
    Part,
    Point,
    Record,
    Results,
    Verdict,
    decide,
    gain,
    outermost,
    paired,
    percent,
    total,
)
from . import theory
from .cells import ALONE, BERS, CC, PACKET, PATHS, SIZES, SMALL_PACKET, WORST, Radio, point, points

LOW, MIDDLE, HIGH = BERS[:3], BERS[3:5], BERS[5:]
ALIVE = BERS[:6]  # where the paper's TCP alone still works, up to 2e-5
FROM = BERS[4:]  # where the paper sees retransmissions grow fast, from 1e-5
COLLAPSED = 0.5  # "collapses": at most this share of what there is at 1e-7
DEAD_BPS = 20e3  # "dies": at most 1 % of the link
DOUBLED = (1.15, 1.45)  # "about 1.3 times"
TWICE = (1.5, 2.5)  # "about twice"
FAST = 5.0  # "rise fast": from 1e-5 to 1e-4 at least so many times
FEW_AGAIN = 10.0  # "hardly any" of 10 000 packets
HALF = (0.5 - QUARTER / 2, 0.5 + QUARTER / 2)
CLOSE = 0.05  # the theory and what was measured
TCP_HEADERS = 52  # IPv4, TCP, timestamps
SIGMAS = 3.0  # where counts are small: standard deviations of counting


# --- measures of one record -------------------------------------------------------------------


def _packets(record: Record) -> float:
    """Full packets that TCP sent for the first time."""
    flow = record["flows"][0]
    return flow["segments"] - flow["retransmits"]


def tcp_again(record: Record) -> float:
    """TCP's retransmissions for 10 000 packets."""
    packets = _packets(record)
    return theory.PACKETS * record["flows"][0]["retransmits"] / packets if packets else 0.0


def tcp_unasked(record: Record) -> float:
    """The same without tail loss probes, as far as they can have been among them."""
    flow = record["flows"][0]
    packets = _packets(record)
    beyond = max(0, flow["retransmits"] - flow["probes"])
    return theory.PACKETS * beyond / packets if packets else 0.0


def _sds(record: Record) -> int:
    """SDs of a packet of the run's size."""
    return len(theory.pieces(record["set"]["mtu"], record["set"]["segment"]))


def _answers(record: Record) -> float:
    """SDs sent again because they were lost.

    Copies that nobody asked for (SSCOP repeats in idle time) are left out: those that arrived a
    second time, and of the rest as many as are lost on the way.
    """
    told = record["set"]
    per_packet = theory.of_frames(told["ber"], told["segment"], told["mtu"]) / theory.PACKETS
    sent_per_arrival = 1 + per_packet / _sds(record)
    ends = record["sscop"]
    return ends["gw"]["sd_again"] - ends["mh"]["dropped_duplicate"] * sent_per_arrival


def _for_packets(record: Record, sds: float) -> float:
    """A number of SDs for 10 000 packets, by the SDs that arrived."""
    got = record["sscop"]["mh"]["sd_received"]
    return theory.PACKETS * _sds(record) * sds / got if got else 0.0


def sds_again(record: Record) -> float:
    """SDs sent again because they were lost, for 10 000 packets."""
    return _for_packets(record, _answers(record))


def every_sd_again(record: Record) -> float:
    """All SDs sent again, for 10 000 packets."""
    return _for_packets(record, record["sscop"]["gw"]["sd_again"])


def again(record: Record) -> float:
    """Retransmissions for 10 000 packets: SSCOP's because of losses, or TCP's if it is alone."""
    return sds_again(record) if "sscop" in record else tcp_again(record)


def busy(record: Record) -> float:
    """Utilisation of the link, retransmissions included."""
    return record["link"]["utilisation"]


def of_ideal(record: Record) -> float:
    """Goodput as a share of the best that the link allows at its errors."""
    return record["total_goodput_bps"] / record["limit_bps"]


def of_headers(record: Record) -> float:
    """Goodput as a share of what headers alone leave of the link."""
    settings = record["set"]
    payload = settings["mtu"] - TCP_HEADERS
    share = theory.header_share(settings["segment"], settings["mtu"], payload)
    return record["total_goodput_bps"] / (units.parse("rate", settings["rate"]) * share)


# --- many points in a verdict -----------------------------------------------------------------


def _mean(results: Results, at: Point, measure: Measure, cc: str = CC) -> float:
    return mean_of(results.values(cc, at, measure)).value


def range_of(
    where: Mapping[str, Point],
    measure: Measure,
    low: float,
    high: float,
    scale: float = 1.0,
    unit: str = "",
    decimals: int = 1,
    cc: str = CC,
) -> Check:
    """A number lies in a range at each point."""

    def check(results: Results) -> Verdict:
        return outermost(
            [
                Part(label, mean_of(results.values(cc, at, measure)), low, high, scale,
                     unit, decimals)
                for label, at in where.items()
            ]
        )  # fmt: skip

    return check


def ratios(
    pairs: Mapping[str, tuple[Point, Point]],
    measure: Measure,
    low: float,
    high: float = math.inf,
) -> Check:
    """A number at the first point of each pair over that at the second, minus 1, in a range."""

    def check(results: Results) -> Verdict:
        return outermost(
            [
                percent(
                    label,
                    gain(results.values(CC, a, measure), results.values(CC, b, measure)),
                    low,
                    high,
                )
                for label, (a, b) in pairs.items()
            ]
        )

    return check


# --- throughput -------------------------------------------------------------------------------


def collapses(path: Radio) -> Check:
    """TCP alone, from 5e-6 on, has at most half of its throughput at 1e-7."""
    first = point(BERS[0], ALONE, path)
    return ratios(
        {ber: (point(ber, ALONE, path), first) for ber in BERS[3:]},
        total, -math.inf, COLLAPSED - 1,
    )  # fmt: skip


def dies(path: Radio) -> Check:
    """TCP alone has next to nothing above 2e-5."""
    return range_of(
        {ber: point(ber, ALONE, path) for ber in BERS[6:]}, total, 0.0, DEAD_BPS, 1e-3, " kbit/s", 1
    )


def held(path: Radio) -> Check:
    """From 5e-6 on each segment size has more than TCP alone."""
    return ratios(
        {
            f"{size} B, {ber}": (point(ber, size, path), point(ber, ALONE, path))
            for ber in BERS[3:]
            for size in SIZES
        },
        total, LEAST,
    )  # fmt: skip


def alike(path: Radio, bers: Sequence[str], measure: Measure, near: float = NEAR) -> Check:
    """At each bit error rate the largest of all segment sizes' numbers is little above the
    smallest."""

    def check(results: Results) -> Verdict:
        parts = []
        for ber in bers:
            found = {size: results.values(CC, point(ber, size, path), measure) for size in SIZES}
            means = {size: fmean(each) for size, each in found.items()}
            least, most = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
            label = f"{ber}, {most} over {least} B"
            parts.append(percent(label, gain(found[most], found[least]), -near, near))
        return outermost(parts)

    return check


def _steps(path: Radio, bers: Sequence[str]) -> dict[str, tuple[Point, Point]]:
    """Each larger size with the next smaller one."""
    return {
        f"{ber}, {large} over {small} B": (point(ber, large, path), point(ber, small, path))
        for ber in bers
        for small, large in zip(SIZES, SIZES[1:], strict=False)
    }


def larger_is_better(path: Radio) -> Check:
    """Up to 1e-6 each larger size has slightly more than the next smaller one."""
    return ratios(_steps(path, LOW), total, LEAST, NEAR)


def smaller_is_better(path: Radio) -> Check:
    """At 1e-4 each larger size has less than the next smaller one."""
    return ratios(_steps(path, [WORST]), total, -math.inf, -LEAST)


def about(path: Radio, size: int, paper_bps: float) -> Check:
    """At 1e-4 a size has the paper's throughput within a quarter."""
    return range_of(
        {"": point(WORST, size, path)}, total,
        paper_bps * (1 - QUARTER), paper_bps * (1 + QUARTER), 1e-6, " Mbit/s", 2,
    )  # fmt: skip


def loses(path: Radio, size: int, paper: float) -> Check:
    """From 1e-7 to 1e-4 a size loses the paper's share within a quarter."""
    pair = {"": (point(WORST, size, path), point(BERS[0], size, path))}
    return ratios(pair, total, -paper * (1 + QUARTER), -paper * (1 - QUARTER))


def small_packets_are_worse(path: Radio) -> Check:
    """While TCP alone works, packets of 500 B have less than those of 1500 B."""
    return ratios(
        {
            ber: (point(ber, ALONE, path, SMALL_PACKET), point(ber, ALONE, path)) for ber in ALIVE
        },
        total, -math.inf, -LEAST,
    )  # fmt: skip


def doubling_gains(path: Radio, single: Radio) -> Check:
    """All sizes and error rates together have more with the doubled window."""

    def check(results: Results) -> Verdict:
        changes = []
        for ber in BERS:
            for size in SIZES:
                two, one = (_mean(results, point(ber, size, p), total) for p in (path, single))
                changes.append(two / one - 1 if one else 0.0)
        label = f"mean of {len(changes)} points"
        return decide([percent(label, mean_of(changes), LEAST, math.inf)])

    return check


def doubling_at_worst(path: Radio, single: Radio) -> Check:
    """At 1e-4 every size has about 1.3 times as much with the doubled window."""
    low, high = DOUBLED
    return ratios(
        {f"{size} B": (point(WORST, size, path), point(WORST, size, single)) for size in SIZES},
        total, low - 1, high - 1,
    )  # fmt: skip


def at_least(
    where: Mapping[str, Point], measure: Measure, least: float, decimals: int = 1
) -> Check:
    """A share, shown in percent, is at least ``least``."""
    return range_of(where, measure, least, math.inf, 100.0, " %", decimals)


def beside_best(segment: str, path: Radio, least: float) -> Check:
    """At each bit error rate a segment has at least this share of the best fixed size's goodput."""

    def check(results: Results) -> Verdict:
        parts = []
        for ber in BERS:
            found = {size: results.values(CC, point(ber, size, path), total) for size in SIZES}
            best = max(SIZES, key=lambda size: fmean(found[size]))
            ours = results.values(CC, point(ber, segment, path), total)
            label = f"{ber} (over {best} B)"
            parts.append(percent(label, gain(ours, found[best]), least - 1, math.inf))
        return outermost(parts)

    return check


# --- sequence numbers -------------------------------------------------------------------------


def last_of(key: str) -> Measure:
    """The last sequence number of a series."""

    def measure(record: Record) -> float | None:
        numbers = record["sequence"][key]
        return numbers[-1] if numbers else None

    return measure


def sd_bytes(record: Record) -> float | None:
    """Bytes that SSCOP has sent for the first time, as far as SDs are full."""
    settings = record["set"]
    last = last_of("sd")(record)
    per_packet = len(theory.pieces(settings["mtu"], settings["segment"]))
    return None if last is None else last * settings["mtu"] / per_packet


def falls_with_size(path: Radio, measure: Measure) -> Check:
    """A number at 1e-4 is smaller with each larger size."""
    return ratios(_steps(path, [WORST]), measure, -math.inf, -LEAST)


def rises_with_size(path: Radio, measure: Measure) -> Check:
    """A number at 1e-4 is greater with each larger size."""
    return ratios(_steps(path, [WORST]), measure, LEAST)


def third(path: Radio, measure: Measure) -> Check:
    """At 1e-4 a number with 2048 B is at most a third of that with 128 B."""
    pair = {"": (point(WORST, SIZES[-1], path), point(WORST, SIZES[0], path))}
    return ratios(pair, measure, -math.inf, 1 / 3 - 1)


def share_again(record: Record) -> float:
    """SDs sent again per SD sent for the first time."""
    return record["sscop"]["again"]


def last_window(record: Record) -> float:
    """TCP's window at the end of the series, packets."""
    return record["window_at_end"]


# --- retransmissions --------------------------------------------------------------------------


def rises_fast(path: Radio) -> Check:
    """From 1e-5 to 1e-4 retransmissions grow many times, at each size."""
    pairs = {f"{size} B": (point(WORST, size, path), point("1e-5", size, path)) for size in SIZES}
    return ratios(pairs, again, FAST - 1)


def twice(path: Radio) -> Check:
    """At 1e-4 2048 B have about twice the retransmissions of 128 B."""
    low, high = TWICE
    pair = {"": (point(WORST, SIZES[-1], path), point(WORST, SIZES[0], path))}
    return ratios(pair, again, low - 1, high - 1)


def delay_hardly_matters(path: Radio, other: Radio, measure: Measure) -> Check:
    """From 1e-5 on a number is nearly the same on both paths."""
    return ratios(
        {
            f"{size} B, {ber}": (point(ber, size, path), point(ber, size, other))
            for ber in FROM
            for size in SIZES
        },
        measure, -NEAR, NEAR,
    )  # fmt: skip


def as_much_alone(path: Radio) -> Check:
    """Up to 2e-5 TCP alone retransmits as much as SSCOP does on the mean of its sizes, within a
    quarter; where both count at least ten."""

    def check(results: Results) -> Verdict:
        parts = []
        for ber in FROM[:2]:
            every = [results.values(CC, point(ber, size, path), again) for size in (ALONE, *SIZES)]
            runs = paired(*every)
            alone = [own for own, *_ in runs]
            means = [fmean(others) for _, *others in runs]
            parts.append(percent(ber, gain(alone, means), -QUARTER, QUARTER))
        return decide(parts)

    return check


def tcp_hardly_retransmits(
    path: Radio, bers: Sequence[str], most: float, measure: Measure
) -> Check:
    """TCP above SSCOP sends at most so many of 10 000 packets again, at each size."""
    return range_of(points(SIZES, bers, path), measure, 0.0, most)


# --- utilisation ------------------------------------------------------------------------------


def half_at_worst(path: Radio) -> Check:
    """At 1e-4 about half of the link is used, at each size."""
    return range_of(points(SIZES, [WORST], path), busy, *HALF, 100.0, " %", 0)


def falls_with_errors(path: Radio) -> Check:
    """At each size the link is used less at 1e-4 than at 1e-7, and at no step used more by 1 %."""
    steps = {
        f"{size} B, {a} to {b}": (point(b, size, path), point(a, size, path))
        for size in SIZES
        for a, b in zip(BERS, BERS[1:], strict=False)
    }
    whole = {
        f"{size} B, {BERS[0]} to {WORST}": (point(WORST, size, path), point(BERS[0], size, path))
        for size in SIZES
    }

    def check(results: Results) -> Verdict:
        parts = []
        for pairs, most in ((steps, 0.01), (whole, -LEAST)):
            for label, (b, a) in pairs.items():
                found = gain(results.values(CC, b, busy), results.values(CC, a, busy))
                parts.append(percent(label, found, -math.inf, most))
        return outermost(parts)

    return check


# --- theory -----------------------------------------------------------------------------------

#: Retransmissions for 10 000 packets at a bit error rate and size, by some formula.
Formula = Callable[[float, int, int], float]


def near_formula(formula: Formula, bers: Sequence[str]) -> Check:
    """Retransmissions, of the runs of all paths, are nearly those of a formula."""

    def check(results: Results) -> Verdict:
        parts = []
        for label, at in points(SIZES, bers, None).items():
            found = results.values(CC, at, sds_again)
            told = formula(at["ber"], at["segment"], PACKET)
            parts.append(percent(label, gain(found, [told] * len(found)), -NEAR, NEAR))
        return outermost(parts)

    return check


def _counted(results: Results, at: Point) -> tuple[float, float, float]:
    """Of all runs of a point: SDs that were sent again, those expected for the SDs that arrived,
    and the standard deviation of that number.

    A frame that is lost with probability p is repeated p/(1-p) times, with variance p/(1-p)^2.
    """
    seen = told = variance = 0.0
    for run in results.of(CC, at):
        got = run["sscop"]["mh"]["sd_received"]
        seen += _answers(run)
        frames = theory.pieces(run["set"]["mtu"], at["segment"])
        for payload in frames:
            again = theory.of_sd(at["ber"], payload)
            told += got / len(frames) * again
            variance += got / len(frames) * again * (1 + again)
    return seen, told, math.sqrt(variance)


def near_frames(bers: Sequence[str]) -> Check:
    """Retransmissions are within 5 % of the sum over the real frames, or where few SDs were sent
    within what counting random events allows."""

    def check(results: Results) -> Verdict:
        parts = []
        for label, at in points(SIZES, bers, None).items():
            seen, told, sigma = _counted(results, at)
            if not told:
                raise NotMeasured(f"an SD at {label}")
            near = max(CLOSE, SIGMAS * sigma / told)
            parts.append(percent(label, around(seen / told - 1, 2 * sigma / told), -near, near))
        return outermost(parts)

    return check


def within_counting(bers: Sequence[str]) -> Check:
    """Retransmissions deviate from the sum over the real frames by no more than counts of random
    events do, in standard deviations."""

    def check(results: Results) -> Verdict:
        parts = []
        for label, at in points(SIZES, bers, None).items():
            seen, told, sigma = _counted(results, at)
            off = (seen - told) / sigma
            parts.append(Part(label, around(off, 0.0), -SIGMAS, SIGMAS, 1, " σ", 1, True))
        return outermost(parts)

    return check


SINGLE = {"6": PATHS["4"], "7": PATHS["5"]}
