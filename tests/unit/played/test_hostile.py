# SPDX-License-Identifier: GPL-2.0
"""docs/hostile.md tells what stands out in its records; what the program writes is read."""

from __future__ import annotations

import re

import pytest

from tests.played import ALGORITHMS, OURS
from tests.played.books import Key, Record, Records
from tests.played.hostile import bounds, cost
from tests.played.hostile.attacks import ATTACKS, PATHS
from tests.played.hostile.book import COST, LIES
from tests.played.hostile.play import HERE, read
from tests.played.hostile.table import gain, lost

PAGE = " ".join(LIES.page.read_text().split())


@pytest.fixture(scope="module")
def records() -> dict[Key, Record]:
    """Those of the page."""
    return LIES.read()


def test_all_attacks_are_told() -> None:
    names = re.findall(r'\{ \.name = "([a-z-]+)"', (HERE / "attacks.c").read_text())
    assert sorted(names) == sorted(ATTACKS)


def gains(records: Records, attack: str) -> dict[str, list[float]]:
    """Segments beside an honest receiver's on the short and the long path, by algorithm."""
    return {cc: [gain(records, (p, attack, cc)) for p in PATHS] for cc in ALGORITHMS}


def test_what_stands_out(records: Records) -> None:
    """The page's sentences below the table."""
    optimistic, conceal, sacks, late = (
        gains(records, name) for name in ("optimistic", "conceal", "sacks", "late")
    )
    assert min(gain for each in optimistic.values() for gain in each) > 4
    stopped = [cc for cc, of in conceal.items() if max(of) <= 1.0]
    assert stopped == ["star", "compound_plus"]
    assert max(OURS, key=lambda cc: max(sacks[cc])) == "star"
    assert all(gain < 1 for each in late.values() for gain in each)
    dropped = [lost(r) for (_, attack, _), r in records.items() if attack == "optimistic"]
    assert {round(5 * share) for share in dropped} == {4}


def test_the_bounds_that_the_page_tells() -> None:
    most = f"{2 * bounds.WINDOW + bounds.LINE * bounds.RTT:,.0f}".replace(",", " ")
    nothing = ", ".join(f"`{name}`" for name in bounds.NOTHING[:-1])
    assert f"{nothing} and `{bounds.NOTHING[-1]}` get at most {bounds.MOST} times" in PAGE
    assert f"carries in {bounds.RTT} s ({most} segments)" in PAGE
    assert f"at most {bounds.BESIDE_PEERS} times what they get" in PAGE
    (j, small), (gentle, unmarked) = bounds.MORE.items()
    assert (j, gentle) == (("small", "j"), ("unmarked", "hstcp_gentle"))
    assert f"j with `small` ({small} times) and hstcp_gentle with `unmarked` ({unmarked}:" in PAGE


def test_no_lie_makes_acks_of_ours_much_dearer() -> None:
    shares = cost.relative(COST.read())
    assert max(share for (cc, _), share in shares.items() if cc in OURS) < 1.12


def test_lines_of_the_program_are_read() -> None:
    text = "path=short attack=zero cc=j segments=9 half_ms=-1\ncounters InErrs=1 TCPTimeouts=3\n"
    [record] = read(text)
    assert (record["cc"], record["segments"], record["half_ms"]) == ("j", 9, -1)
    assert (record["TCPTimeouts"], record["TCPFullUndo"]) == (3, 0)
