# SPDX-License-Identifier: GPL-2.0
"""From values of runs to an answer: met, not met, not shown, not applicable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from ..results.statistics import Estimate, mean_of, ratio_of
from .criteria import Test

MET, UNMET, UNSHOWN, NONE = "met", "not met", "not shown", "not applicable"
#: The worst first: a test is as good as its worst case, a section as its worst test.
WORST = (UNMET, UNSHOWN, MET, NONE)
NOT_JUDGED = "not judged"  # of --quick, or of --only


@dataclass(frozen=True)
class Answer:
    """What a case shows: the answer, the value with its interval if there is one, the measure's
    means, the mix that it was compared with, and why there is no value."""

    verdict: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    measured: float | None = None
    reference: float | None = None
    than: str = ""
    why: str = ""


def worst(verdicts: Iterable[str]) -> str:
    """The worst of these; not applicable if there are none."""
    return min(verdicts, key=WORST.index, default=NONE)


def answer(
    test: Test, own: Sequence[float | None], than: Mapping[str, Sequence[float | None]]
) -> Answer:
    """What the values of a case, seed by seed, show beside those of the mixes it is compared with.

    The answer is *met* if the whole interval is on the side of ``met``, *not met* if the whole
    interval is on the side of ``unmet``, else *not shown*. One seed has no interval: its value
    decides.
    """
    if not own or None in own:
        return Answer(UNSHOWN, why="a run of it failed, or has no such figure")
    values = [value + test.slack for value in own if value is not None]
    if not test.than:
        return _of(test, mean_of(values), values, None, "")
    whole = {
        mix: [value + test.slack for value in each if value is not None]
        for mix, each in than.items()
        if each and None not in each
    }
    if len(whole) < len(than):
        return Answer(UNSHOWN, why="a run that it is compared with failed")
    best = min if test.met.more else max
    mix = best(whole, key=lambda name: math.fsum(whole[name]))
    return _of(test, ratio_of(values, whole[mix]), values, whole[mix], mix)


def _of(
    test: Test,
    found: Estimate,
    values: Sequence[float],
    reference: Sequence[float] | None,
    mix: str,
) -> Answer:
    low, high = found.bounds or (found.value, found.value)
    verdict = UNSHOWN
    if all(map(test.met.holds, (low, high))):
        verdict = MET
    elif all(map(test.unmet.holds, (low, high))):
        verdict = UNMET
    bounds = (low, high) if found.bounds else (None, None)
    return Answer(
        verdict,
        found.value,
        *bounds,
        measured=fmean(values) - test.slack,
        reference=fmean(reference) - test.slack if reference else None,
        than=mix,
        why="" if math.isfinite(high - low) else "the interval has no bounds",
    )
