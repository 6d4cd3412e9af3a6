# SPDX-License-Identifier: GPL-2.0
"""Exchanges that need a stock kernel: AccECN, segments with signatures of MD5 and TCP-AO.

As in test_exchanges.py: reno's is as the script says (tests/exchange/stock), and another
algorithm's differs from it where the table says so.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from apogee_lab.engines import qemu
from tests.deep.test_exchanges import ALGORITHMS, Logs
from tests.exchange import expected, table
from tests.exchange.compare import differences
from tests.exchange.play import STOCK, play

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("stock-exchanges")]

#: Exchanges that are repeated in another guest.
REPEATED = ("accecn-timeout", "accecn-rounds", "accecn-option")


@pytest.fixture(scope="module")
def logs(build: Path) -> Logs:
    """All exchanges of all algorithms, played in one guest."""
    out = build / "tests" / "stock-exchanges"
    return play(build, out, STOCK.names(), ("reno", *ALGORITHMS), STOCK)


@pytest.mark.parametrize("script", STOCK.names())
def test_reno_is_as_the_script_says(logs: Logs, script: str) -> None:
    assert expected.wrong(STOCK.path(script), logs[script, "reno"], STOCK.exact_s) == []


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("script", STOCK.names())
def test_differences_are_listed(logs: Logs, script: str, algorithm: str) -> None:
    listed = table.read(table.TABLE.read_text()).listed
    found = differences(logs[script, "reno"], logs[script, algorithm], STOCK.equal_s)
    assert table.wrong(found, listed.get((script, algorithm), {})) == []


#: The same exchange again, or under another algorithm that does the same: times that differ less.
AGAIN_S = 0.0001
#: Windows of five round trips in each of which all segments are marked, from 10: half, 0.8 of it,
#: or a quarter at first; never below two.
MARKED = {
    "reno": [5, 2, 2, 2, 2],
    "star": [8, 6, 4, 3, 2],
    "j": [8, 6, 4, 3, 2],
    "hstcp_gentle": [2, 2, 2, 2, 2],
    "compound_plus": [5, 2, 2, 2, 2],
    "compound": [5, 2, 2, 2, 2],
}


@pytest.mark.parametrize("algorithm", MARKED)
def test_marks_are_answered_once_in_a_round_trip(logs: Logs, algorithm: str) -> None:
    windows = [info.values["cwnd"] for info in logs["accecn-many", algorithm].infos]
    assert windows == MARKED[algorithm]


def test_no_window_is_zero(logs: Logs) -> None:
    """However many marks there are."""
    assert [key for key, log in logs.items() if any(i.values["cwnd"] < 1 for i in log.infos)] == []


def test_the_payload_is_right(logs: Logs) -> None:
    """And so are the signatures."""
    assert [(key, log.damaged) for key, log in logs.items() if log.damaged] == []


@pytest.mark.parametrize("algorithm", ("reno", *ALGORITHMS))
def test_wrong_signatures_are_counted(logs: Logs, algorithm: str) -> None:
    """Segments by another key, and without a signature: none is dropped for another reason."""
    md5, ao = (logs[f"{kind}-wrong", algorithm].counters for kind in ("md5", "ao"))
    assert (md5["TCPMD5Failure"], md5["TCPMD5NotFound"]) == (1, 2)
    assert (ao["TCPAOBad"], ao["TCPAORequired"]) == (1, 2)


@pytest.mark.parametrize("kernel", ["bookworm", "bookworm-backports"])
def test_md5_on_older_kernels(build: Path, kernel: str) -> None:
    """They have MD5, too: the same exchanges, and the same differences."""
    guest = replace(STOCK, kernel=kernel)
    scripts = [name for name in STOCK.names() if name.startswith("md5")]
    out = build / "tests" / f"md5-exchanges-{kernel}"
    logs = play(build, out, scripts, ("reno", *ALGORITHMS), guest)
    for script in scripts:
        test_reno_is_as_the_script_says(logs, script)
        for algorithm in ALGORITHMS:
            test_differences_are_listed(logs, script, algorithm)
    test_the_payload_is_right(logs)


def test_exchanges_repeat(logs: Logs, build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In another guest, with other random numbers, and after other exchanges: the same."""
    start = qemu._start
    monkeypatch.setattr(qemu, "_start", lambda k, seed, *more: start(k, seed + 1, *more))
    out = build / "tests" / "stock-exchanges-again"
    for key, log in play(build, out, REPEATED, ("star", "reno"), STOCK).items():
        assert differences(logs[key], log, AGAIN_S) == [], key


@pytest.mark.parametrize("script", STOCK.names())
def test_compound_is_reno_here(logs: Logs, script: str) -> None:
    """Within a tenth of what is equal in other comparisons."""
    assert differences(logs[script, "reno"], logs[script, "compound"], AGAIN_S) == []
