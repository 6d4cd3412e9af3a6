# SPDX-License-Identifier: GPL-2.0
"""Paths that cost TCP more than they bring, shake_worth.h: against the formula in floats."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.headers.cheaders import Library
from tests.unit.headers.shake_link import Link

ALL = 1 << 24
QUEUE = 80_000


def known(apogee: Library, mbits: float, delay_ms: float, loss: float = 0) -> Link:
    """A path whose rate, round trip and losses are known, and which has a queue."""
    link = Link(apogee, mbits * 1e6 / 8, delay_ms * 1000)
    est = link.est
    est.rate, est.intervals, est.loss.told = round(mbits * 1e6 / 8), 4, 256
    for part in range(4):
        est.least[part] = round(2 * delay_ms * 1000)
    est.srtt = est.rtt = round(2 * delay_ms * 1000) + QUEUE
    for name in ("share", "stays", "empty", "brief"):
        setattr(est.loss, name, round(loss * ALL))
    return link


def poor(
    apogee: Library, *links: Link, flows: int = 1, repaired: bool = True, tries: bool = False
) -> bool:
    """Of the last path."""
    choices = (apogee.headers.structs["shake_choice"] * len(links))()
    for choice, link in zip(choices, links, strict=True):
        choice.est.contents, choice.weight = link.est, 100
    last = len(links) - 1
    return bool(
        apogee.shake_worth_is_poor(choices, len(links), last, flows, QUEUE, repaired, tries)
    )


@given(st.integers(0, 2**32 - 1))
def test_root(apogee: Library, x: int) -> None:
    assert apogee.shake_worth_root(x) == math.isqrt(x)


@pytest.mark.parametrize("share", [0, 0.01, 0.05, 0.1, 0.2, 0.3, 1])
def test_what_repair_leaves(apogee: Library, share: float) -> None:
    rest = apogee.shake_worth_rest(round(share * ALL), True) / ALL
    assert rest == pytest.approx(share**3 + max(0, share - 0.2), abs=1e-6)
    assert apogee.shake_worth_rest(round(share * ALL), False) == round(share * ALL)


@pytest.mark.parametrize("share", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("flows", [1, 10])
def test_limit(apogee: Library, share: float, flows: int) -> None:
    """Three quarters of what Mathis et al. say."""
    worth = apogee.new("shake_worth", rate=10**6, lost=round(10**6 * share * ALL), trip=200_000)
    wanted = flows * 0.75 * 1448 * math.sqrt(1.5) / (0.2 * math.sqrt(share))
    assert apogee.shake_worth_limit(worth, flows) == pytest.approx(wanted, rel=0.01)


def test_much_loss_on_a_long_way_is_not_worth_it(apogee: Library) -> None:
    """Pairs that were measured: what the better path had alone, and both together."""
    assert poor(apogee, known(apogee, 9.76, 102), known(apogee, 5.84, 57, 0.0733))
    assert poor(apogee, known(apogee, 0.485, 195), known(apogee, 5.67, 18.5, 0.23))
    assert not poor(apogee, known(apogee, 4, 29), known(apogee, 3.2, 29, 0.082))
    assert not poor(apogee, known(apogee, 2, 10), known(apogee, 2, 10, 0.1))


def test_without_repair_less_is_enough(apogee: Library) -> None:
    paths = [known(apogee, 4, 29), known(apogee, 3.2, 29, 0.02)]
    assert poor(apogee, *paths, repaired=False) and not poor(apogee, *paths)


def test_more_under_way_than_copies(apogee: Library) -> None:
    """Nothing is repaired of 700 packets, and all of 350."""
    others = known(apogee, 36.2, 101)
    assert poor(apogee, others, known(apogee, 23.2, 152, 0.0173))
    assert not poor(apogee, known(apogee, 11.6, 101), known(apogee, 11.6, 152, 0.0173))


def test_many_flows_suffer_less(apogee: Library) -> None:
    paths = [known(apogee, 9.76, 102), known(apogee, 5.84, 57, 0.0733)]
    assert poor(apogee, *paths) and not poor(apogee, *paths, flows=10)


@pytest.mark.parametrize(("mbits", "worse"), [(0.24, False), (2.4, False), (6, True)])
def test_nothing_is_left_out_for_a_trickle(apogee: Library, mbits: float, worse: bool) -> None:
    """A hardly used far path loses nothing, a near short queue does. Twice its rate counts."""
    far = known(apogee, mbits, 237)
    far.est.intervals = 0
    assert poor(apogee, far, known(apogee, 25.7, 14, 0.055), tries=True) == worse


@pytest.mark.parametrize(("mbits", "ms", "loss"), [(5, 30, 0.18), (20, 15, 0.06)])
def test_a_lossy_path_that_nothing_repairs_gives_way_to_one_hardly_used(
    apogee: Library, mbits: float, ms: float, loss: float
) -> None:
    """TCP has little of it, and RAH prefers the near one: the far one would stay hardly used."""
    far = known(apogee, 0.29, 100)
    far.est.intervals = 0
    bad = known(apogee, mbits, ms, loss)
    assert poor(apogee, far, bad, repaired=False, tries=True)


def test_nothing_is_left_out_for_a_path_that_is_no_better(apogee: Library) -> None:
    assert not poor(apogee, known(apogee, 9.76, 102, 0.06), known(apogee, 5.84, 57, 0.0733))
    assert not poor(apogee, known(apogee, 5.84, 57, 0.0733))
