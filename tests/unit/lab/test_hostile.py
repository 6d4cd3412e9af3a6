# SPDX-License-Identifier: GPL-2.0
"""docs/hostile.md has its records' tables; the bounds find what is beyond them."""

from __future__ import annotations

import json
import re
from itertools import product

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


def test_what_an_ack_costs() -> None:
    """The page's table and the sentence below it."""
    page, records = table.PAGE.read_text(), cost.read()
    assert cost.put(page, "cost", cost.table(records)) == page
    shares = cost.relative(records)
    ours = max(share for (cc, _), share in shares.items() if cc in OURS)
    bbr = max(share for (cc, _), share in shares.items() if cc == "bbr")
    assert ours < bbr == max(shares.values())
    assert f"our algorithms at most {ours:.2f} times as much, bbr {bbr:.2f};" in page
    high = cost.relative(
        {**record, "mean": record["p999"]} for record in records if record["cc"] in OURS
    )
    (cc, attack), most = max(high.items(), key=lambda item: item[1])
    said = f"is at most {most:.1f} times an\nhonest receiver's ({cc}, `{attack}`)."
    assert said in page


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
