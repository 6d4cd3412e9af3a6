# SPDX-License-Identifier: GPL-2.0
"""docs/hostile.md has its records' tables; the bounds find what is beyond them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import pytest

from tests.hostile import bounds, cost, table
from tests.hostile.attacks import ALGORITHMS, ATTACKS, BESIDE, OURS, PATHS
from tests.hostile.play import HERE, read


@pytest.fixture(scope="module")
def records() -> dict[table.Key, table.Record]:
    """Those of the page."""
    return table.by_key(json.loads(line) for line in table.RECORDS.read_text().splitlines())


def test_all_attacks_are_told_and_recorded(records: table.Records) -> None:
    names = re.findall(r'\{ \.name = "([a-z-]+)"', (HERE / "attacks.c").read_text())
    assert set(names) == set(ATTACKS)
    assert len(names) == len(ATTACKS)
    assert set(records) == set(product(PATHS, ATTACKS, ALGORITHMS))


def test_the_page_has_the_records_tables(records: table.Records) -> None:
    page = table.PAGE.read_text()
    assert table.written(page, records) == page


def test_the_records_are_within_the_bounds(records: table.Records) -> None:
    assert bounds.wrong(records) == []


def gains(records: table.Records, attack: str) -> dict[str, list[float]]:
    """Segments beside an honest receiver's on the short and the long path, by algorithm."""
    return {cc: [table.gain(records, (p, attack, cc)) for p in PATHS] for cc in ALGORITHMS}


def test_what_stands_out(records: table.Records) -> None:
    """The figures of the page's sentences."""
    page = " ".join(table.PAGE.read_text().split())
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
    assert [one for one in said if one not in page] == []
    assert all(gain < 1 for each in late.values() for gain in each)
    assert max(late, key=lambda cc: sum(late[cc])) == "star"
    dropped = [table.lost(r) for (_, attack, _), r in records.items() if attack == "optimistic"]
    assert {round(5 * share) for share in dropped} == {4}


def test_the_bounds_that_the_page_tells() -> None:
    page = " ".join(table.PAGE.read_text().split())
    most = f"{2 * bounds.WINDOW + bounds.LINE * bounds.RTT:,.0f}".replace(",", " ")
    nothing = ", ".join(f"`{name}`" for name in bounds.NOTHING[:-1])
    assert f"{nothing} and `{bounds.NOTHING[-1]}` get at most {bounds.MOST} times" in page
    assert f"carries in {bounds.RTT} s ({most} segments)" in page
    assert f"at most {bounds.BESIDE_PEERS} times what they get" in page
    (j, small), (gentle, unmarked) = bounds.MORE.items()
    assert (j, gentle) == (("small", "j"), ("unmarked", "hstcp_gentle"))
    assert f"j with `small` ({small} times) and hstcp_gentle with `unmarked` ({unmarked}:" in page


def dearest(records: Iterable[Mapping[str, Any]], *of: str) -> tuple[str, str, float]:
    """The algorithm of these and the lie that cost most beside an honest receiver, and how much."""
    shares = cost.relative(record for record in records if record["cc"] in of)
    (cc, attack), share = max(shares.items(), key=lambda item: item[1])
    return cc, attack, share


def test_what_an_ack_costs() -> None:
    """The page's table and the sentences below it."""
    page, records = table.PAGE.read_text(), cost.read()
    assert cost.put(page, "cost", cost.table(records)) == page
    asked = {(record["cc"], record["attack"]) for record in records}
    assert asked == set(product((*OURS, "cubic", "bbr"), ATTACKS))
    cc, attack, share = dearest(records, *OURS)
    said = f"our algorithms at most {share:.2f} times as much in the mean ({cc}, `{attack}`)"
    _, attack, share = dearest(records, "bbr")
    said += f", bbr {share:.2f} (`{attack}`)"
    _, attack, share = dearest(records, "cubic")
    assert f"{said}, CUBIC {share:.2f} (`{attack}`);" in page
    ours, cubic = (max(r["most"] for r in records if r["cc"] in of) for of in (OURS, ("cubic",)))
    assert f"takes our algorithms {ours:.0f} instructions, CUBIC {cubic:.0f}." in page


WRONG = {
    "a flow that stands": ("zero", {"resumed_ms": -1}, "nothing arrived"),
    "more than the receive window": ("copies", {"flight": 2898}, "beyond the ACKs"),
    "a window without a limit": ("first", {"cwnd": 1 << 20}, "a window of"),
    "a gain by pieces": ("division", {"segments": 1 << 20}, "times the segments"),
    "more than any peer gives": ("conceal", {"segments": 40_000}, "6.02 at most"),
    "a gain beside its own honest receiver": ("marked", {"segments": 1 << 20}, "times"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_beyond_the_bounds_is_found(records: table.Records, name: str) -> None:
    attack, changed, said = WRONG[name]
    key = ("short", attack, "star")
    honest = ("short", BESIDE.get(attack, "honest"), "star")
    found = bounds.wrong({honest: records[honest], key: records[key] | changed})
    assert len(found) == 1
    assert said in found[0]


def test_lines_of_the_program_are_read() -> None:
    text = "path=short attack=zero cc=j segments=9 half_ms=-1\ncounters InErrs=1 TCPTimeouts=3\n"
    [record] = read(text)
    assert (record["cc"], record["segments"], record["half_ms"]) == ("j", 9, -1)
    assert (record["TCPTimeouts"], record["TCPFullUndo"]) == (3, 0)
