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
    """The figures of the page's sentences."""
    optimistic, conceal, sacks, small, late = (
        gains(records, name) for name in ("optimistic", "conceal", "sacks", "small", "late")
    )
    line = [gain for each in optimistic.values() for gain in each]
    short, long = (sorted(g for g in of if g > 1.1) for of in zip(*conceal.values(), strict=True))
    both = "{:.1f} and {:.1f}".format
    said = [
        f"{min(line):.1f} to {max(line):.1f} times an honest receiver's segments; four fifths",
        f"gets {short[0]:.1f} to {short[-1]:.1f} times an honest receiver's segments from most "
        f"algorithms on the short path, {long[0]:.1f} to {long[-1]:.1f} times on the long one. "
        "star and compound_plus stop at the delay of the queue (1.0); so does CUBIC on the long",
        f"gives most beside reno: {both(*sacks['star'])} times an honest receiver's segments",
        "(reno {:.2f} and {:.2f},".format(*sacks["reno"]),
        f"bbr {both(*sacks['bbr'])})",
        f"j gives {both(*small['j'])} times,",
        f"star {both(*small['star'])}, bbr {both(*small['bbr'])}.",
        f"(it gets {both(*late['star'])} of an honest one's segments)",
    ]
    assert [one for one in said if one not in PAGE] == []
    assert all(gain < 1 for each in late.values() for gain in each)
    assert max(late, key=lambda cc: sum(late[cc])) == "star"
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


def dearest(*of: str) -> tuple[str, str, float]:
    """The algorithm of these and the lie that cost most beside an honest receiver, and how much."""
    shares = {key: share for key, share in cost.relative(COST.read()).items() if key[0] in of}
    (cc, attack), share = max(shares.items(), key=lambda item: item[1])
    return cc, attack, share


def test_what_an_ack_costs() -> None:
    """The sentences below the page's table."""
    cc, attack, share = dearest(*OURS)
    said = f"our algorithms at most {share:.2f} times as much in the mean ({cc}, `{attack}`)"
    _, attack, share = dearest("bbr")
    said += f", bbr {share:.2f} (`{attack}`)"
    _, attack, share = dearest("cubic")
    assert f"{said}, CUBIC {share:.2f} (`{attack}`);" in PAGE
    records = COST.read().values()
    ours, cubic = (max(r["most"] for r in records if r["cc"] in of) for of in (OURS, ("cubic",)))
    assert f"takes our algorithms {ours:.0f} instructions, CUBIC {cubic:.0f}." in PAGE


def test_lines_of_the_program_are_read() -> None:
    text = "path=short attack=zero cc=j segments=9 half_ms=-1\ncounters InErrs=1 TCPTimeouts=3\n"
    [record] = read(text)
    assert (record["cc"], record["segments"], record["half_ms"]) == ("j", 9, -1)
    assert (record["TCPTimeouts"], record["TCPFullUndo"]) == (3, 0)
