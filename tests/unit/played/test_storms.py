# SPDX-License-Identifier: GPL-2.0
"""docs/storms.md tells what stands out in its records; files of a run are read."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path

import pytest

from tests.played import ALGORITHMS
from tests.played.books import Key, Record, Records
from tests.played.guest import Arrived
from tests.played.storms import bounds
from tests.played.storms.backoff import backoff
from tests.played.storms.book import BOOK
from tests.played.storms.play import record, script
from tests.played.storms.storms import GROUPS, STORMS
from tests.played.storms.table import back_ms


@pytest.fixture(scope="module")
def records() -> dict[Key, Record]:
    """Those of the page."""
    return BOOK.read()


def test_each_storm_is_in_one_group() -> None:
    assert len(STORMS) == sum(map(len, GROUPS.values()))


def shares(records: Records, storm: str) -> dict[str, int]:
    """Goodput in a storm, per cent of that before it, by algorithm."""
    found = (records[storm, cc] for cc in ALGORITHMS)
    return {r["cc"]: round(100 * r["storm_kbps"] / r["before_kbps"]) for r in found}


def spread(values: list[int]) -> str:
    """The smallest and the largest."""
    return f"{min(values)} to {max(values)}"


def what_stands_out(records: Records) -> list[str]:
    """The parts of the page's sentences that are figures of the records."""
    marks, flaps = shares(records, "marks"), records["mtu-flaps", "j"]
    took = {
        cc: [round(records[name, cc]["total_ms"] / 1000) for name in ("no-sack", "neither")]
        for cc in ALGORITHMS
    }
    bbr = took.pop("bbr")
    assert 0.4 < flaps["retransmissions"] / flaps["segments"] < 0.5
    return [
        f"not back at once, but after {round(back_ms(records['rate-up', 'j']) / 1000)} s",
        f"takes {spread(sum(took.values(), []))} s, bbr's {spread(bbr)}.",
        f"({marks.pop('bbr')} %); all others keep {spread([*marks.values()])} %",
    ]


#: Those that pace.
PACED = ("star", "bbr")


def test_what_stands_out(records: Records) -> None:
    page = " ".join(BOOK.page.read_text().split())
    assert [said for said in what_stands_out(records) if said not in page] == []
    slower = [back_ms(records["rate-up", cc]) for cc in ALGORITHMS if cc != "j"]
    assert max(slower) == 0
    for storm, more in ("loss-10", ("j", "bbr", "star")), ("loss-30", ("j", "bbr")):
        kept = shares(records, storm)
        assert min(kept[cc] for cc in more) > 2 * max(kept["cubic"], kept["reno"])
    *others, most = sorted(shares(records, "loss-60").items(), key=itemgetter(1))
    assert most[0] == "j" and others[-1][1] < most[1] / 4
    assert max(shares(records, "loss-90").values()) <= 2
    silent = [r["resumed_ms"] for (name, _), r in records.items() if name in GROUPS["feedback"]]
    assert 90_000 < max(silent) < 120_000
    bursts = {cc: records["deaf", cc]["burst"] for cc in ALGORITHMS}
    assert 2 * max(bursts.pop(cc) for cc in PACED) < min(bursts.values())


def test_timeouts_of_a_timer_that_doubles() -> None:
    """At 0.2, 0.6, 1.4, 3.0, 6.2 s."""
    assert [bounds.timeouts(s) for s in (0.19, 0.2, 0.61, 3.0, 6.1)] == [0, 1, 2, 4, 4]


def test_octets_are_those_of_a_time() -> None:
    """A tenth of an octet each ms until 1600 ms, then one."""
    got = Arrived((ms, ms // 10 if ms <= 1600 else ms - 1440) for ms in range(0, 4001, 100))
    assert [got.until(ms) for ms in (-1, 0, 1000, 1099, 1500)] == [0, 0, 100, 100, 150]
    assert got.more(1000) == 1100
    assert got.back(range(1000, 2001, 100), 2000, 1.0) == 1200  # 40 + 1600 of 2000
    assert got.back(range(1000, 2001, 100), 2000, 2.0) is None


TAP = """
1000000 out 4294967000 100
1001000 out 4294967100 100
1050000 in 4294967100
1060000 out 4294967200 200
1100000 in 4294967200
1110000 in 4294967200
1300000 out 104 100
1700000 out 4294967200 200
2500000 out 4294967200 200
3100000 in 204
3100001 out 204 100
3100002 out 304 100
3200000 out 404 100
"""


def test_what_is_sent_without_feedback() -> None:
    """From the last ACK of something new on, over the wrap of the sequence numbers."""
    found = backoff(TAP.strip().splitlines(), 1020, 3000)
    assert found == {
        "alone_ms": 80, "new": 1, "again": [600, 1400], "back_after_ms": 100,
        "burst": 2, "first_second": 3,
    }  # fmt: skip


def test_files_of_a_run_are_read(tmp_path: Path) -> None:
    storm, cc = "acks-2s", "star"
    wanted = STORMS[storm].octets
    files = {
        "marks": "begin 6000\nend 8000\n",
        "drunk": f"0 0\n3000 300\n6000 600\n7900 610\n9900 615\n10500 1500\n"
        f"octets {wanted} damaged 0\n",
        "sent": "0 0 10 10 10 1 0 200 100 10 1448\n7990 600 5 1 9 8 3 800 120 40 1448\n"
        "8090 800 5 2 5 4 4 1600 120 42 1448\n",
        "status": "0\n",
        "before": "TcpExt: TCPTimeouts TCPLossUndo\nTcpExt: 5 1\n",
        "after": "TcpExt: TCPTimeouts TCPLossUndo\nTcpExt: 8 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = record(tmp_path, storm, cc)
    assert (found["octets"], found["damaged"], found["status"]) == (wanted, 0, 0)
    assert (found["before_kbps"], found["storm_kbps"]) == (1, 0)
    assert found["after_ms"] == 2500
    assert found["after_kbps"] == round(8 * (wanted - 610) / 2500)
    assert (found["resumed_ms"], found["back_ms"], found["total_ms"]) == (1900, 500, 10500)
    assert (found["cwnd_least"], found["cwnd_most"], found["retransmissions"]) == (1, 10, 4)
    assert (found["TCPTimeouts"], found["TCPLossUndo"]) == (3, 0)


def test_the_script_has_every_run() -> None:
    text = script([("zero", "star"), ("mss-88", "reno")])
    assert f"begin zero.star star {STORMS['zero'].octets} 0\n" in text
    assert f"begin mss-88.reno reno {STORMS['mss-88'].octets} 88\n" in text
    assert text.count("\nfinish\n") == 2
