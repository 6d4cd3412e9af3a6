# SPDX-License-Identifier: GPL-2.0
"""The stack's own behaviour under every algorithm: exchanges of segments beside reno's.

The scripts (tests/exchange/scripts) say what a peer sends and what reno's stack does then, by the
RFCs. Each algorithm's exchange is compared with reno's, event by event, in virtual time. A
difference has to be in the table (tests/exchange/differences.txt) with its reasons, and what is in
the table has to occur.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from apogee_lab.engines import uml
from tests.exchange import expected, table
from tests.exchange.compare import differences
from tests.exchange.log import Log
from tests.exchange.play import SCRIPTS, STOCK, names, play

pytestmark = [pytest.mark.guest, pytest.mark.uml, pytest.mark.xdist_group("exchanges")]

ALGORITHMS = ("star", "j", "hstcp_gentle", "compound_plus", "compound")
#: Exchanges that are repeated in another guest: timers, pacing, timestamps, cookies, 2 ms.
REPEATED = ("eifel-undo", "fastopen-client", "frto", "prr", "slow-start-short", "syncookies", "tlp")

Logs = dict[tuple[str, str], Log]


@pytest.fixture(scope="module")
def logs(build: Path) -> Logs:
    """All exchanges of all algorithms, played in one guest."""
    return play(build, build / "tests" / "exchanges", names(), ("reno", *ALGORITHMS))


@pytest.fixture(scope="module")
def listed() -> table.Table:
    """The table of differences."""
    return table.read(table.TABLE.read_text())


@pytest.mark.parametrize("script", names())
def test_reno_is_as_the_script_says(logs: Logs, script: str) -> None:
    """Every segment of the stack, its time, tcp_info and results of calls."""
    assert expected.wrong(SCRIPTS / f"{script}.pkt", logs[script, "reno"]) == []


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("script", names())
def test_differences_are_listed(
    logs: Logs, listed: table.Table, script: str, algorithm: str
) -> None:
    """An algorithm's exchange is reno's, but for what is in the table."""
    found = differences(logs[script, "reno"], logs[script, algorithm])
    assert table.wrong(found, listed.listed.get((script, algorithm), {})) == []


def test_the_table_is_in_order(listed: table.Table) -> None:
    """Each reason is explained and used; scripts and algorithms of all lines exist."""
    assert listed.used() == set(listed.reasons)
    scripts = {*names(), *STOCK.names()}
    assert all(script in scripts and cc in ALGORITHMS for script, cc in listed.listed)


def test_no_window_is_zero(logs: Logs) -> None:
    """Under no algorithm, in no state, silence included."""
    assert [key for key, log in logs.items() if any(i.values["cwnd"] < 1 for i in log.infos)] == []


def test_the_payload_is_right(logs: Logs) -> None:
    """Each octet that the stack sends, retransmissions included, is the one of its position."""
    assert [(key, log.damaged) for key, log in logs.items() if log.damaged] == []


def test_one_segment_at_a_time_in_silence(logs: Logs) -> None:
    """RFC 6298 5.5, RFC 8085: each timeout is at least as long as the one before, and ends with one
    segment, whatever window an algorithm keeps."""
    for algorithm in ("reno", *ALGORITHMS):
        sent = [s for s in logs["silence", algorithm].sent if 0.3 < s.at < 320.0]
        assert [(s.seq, s.end) for s in sent] == [(1, 1461)] * 10, algorithm
        gaps = [b - a for a, b in pairwise([0.1, *(s.at for s in sent)])]
        assert all(b >= min(1.8 * a, 119.0) for a, b in pairwise(gaps)), algorithm


def test_exchanges_are_exact(logs: Logs, build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In another guest, with other random numbers, and after other exchanges: the same."""
    start = uml._start
    monkeypatch.setattr(uml, "_start", lambda k, seed, *more: start(k, seed + 1, *more))
    again = play(build, build / "tests" / "exchanges-again", REPEATED, ("star", "reno"))
    for key, log in again.items():
        assert differences(logs[key], log) == [], key
