# SPDX-License-Identifier: GPL-2.0
"""The comparisons of exchanges find what is wrong, each kind of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.played import OURS
from tests.played.exchanges import expected, table
from tests.played.exchanges.compare import differences
from tests.played.exchanges.log import read
from tests.played.exchanges.play import STOCK, UML

SCRIPT = """\
// SPDX-License-Identifier: GPL-2.0
// Two segments.
0 listen
+.1 send 2920 = 2920
+0 > [noecn] P. 1:2921(2920) ack 1 win 502 <>
+0 info label { cwnd == 10, ssthresh == INFINITE, state == OPEN }
+.3~+.4 > . 1:1461(1460) ack 1
"""
LOG = """\
0.100001 4 send = 2920
0.100001 0 > . 1:1461(1460) ack 1 win 502
0.100002 0 > P. 1461:2921(1460) ack 1 win 502
0.100005 6 info label cwnd=10 ssthresh=2147483647 state=0
0.450000 0 > . 1:1461(1460) ack 1 win 502
counters TCPTimeouts=1
"""

#: What is changed in the log, and a word of what is said about it.
WRONG = {
    "a segment more": ("counters", "0.5 0 > . 9:10(1) ack 1 win 502\ncounters", "more"),
    "a segment less": ("0.450000 0 > . 1:1461(1460) ack 1 win 502\n", "", "nothing"),
    "another segment": ("P. 1461:2921(1460)", "P. 1461:2920(1459)", "not P. 1:2921"),
    "no PSH": ("> P. 1461", "> . 1461", "not P. 1:2921"),
    "another flag": ("0 > P. 1461", "0 > FP. 1461", "not P. 1:2921"),
    "capable of ECN": ("> P. 1461", "> [ect0] P. 1461", "not P. 1:2921"),
    "another ACK": ("(1460) ack 1 win 502\n0.100002", "(1460) ack 2 win 502\n0.100002", "ack 2"),
    "another window": ("ack 1 win 502\n0.100005", "ack 1 win 500\n0.100005", "not P. 1:2921"),
    "an option": ("502\n0.100005", "502 <TS val 1 ecr 1>\n0.100005", "not P. 1:2921"),
    "too late": ("0.450000", "0.510000", "at 0.51"),
    "too early": ("0.450000", "0.390000", "at 0.39"),
    "tcp_info": ("cwnd=10", "cwnd=9", "cwnd is 9"),
    "a result": ("send = 2920", "send = -EAGAIN", "-EAGAIN, not 2920"),
}  # fmt: skip


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A short script."""
    path = tmp_path / "script.pkt"
    path.write_text(SCRIPT)
    return path


def test_what_is_right_is_right(script: Path) -> None:
    """Damage is noted: octets that are not those that were written."""
    assert expected.wrong(script, read(LOG)) == []
    assert differences(read(LOG), read(LOG)) == []
    assert read(LOG + "0.5 0 wrong payload at 7\n").damaged == ["0.5 0 wrong payload at 7"]


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(script: Path, name: str) -> None:
    """In reno's exchange, and between two exchanges, which need not push at the same places."""
    old, new, said = WRONG[name]
    assert LOG.count(old) == 1
    other = read(LOG.replace(old, new))
    assert said in "\n".join(expected.wrong(script, other))
    assert differences(read(LOG), other) or name == "no PSH"


def test_differences_are_told() -> None:
    """As they are in the table."""
    other = LOG.replace("0.100002", "0.140002").replace("cwnd=10", "cwnd=12")
    other = other.replace("TCPTimeouts=1", "TCPTimeouts=2").replace("0.45", "0.44")
    assert differences(read(LOG), read(other)) == [
        "of 3 segments 1 later, by 40 ms at most; 1 earlier, by 10 ms at most",
        "info label: cwnd 10->12",
        "counters: TCPTimeouts 1->2",
    ]


def test_the_table_is_exact() -> None:
    """What is not listed is told, and what is listed and does not occur."""
    text = "[reasons]\npaced | star paces\n[one]\nstar,j | paced | info a: ssthresh INF->2\n"
    read_table = table.read(text)
    listed = read_table.listed["one", "j"]
    assert read_table.used() == {"paced"}
    assert table.wrong(["info a: ssthresh 2147483647->2"], listed) == []
    assert table.wrong(["info a: ssthresh 2147483647->3"], listed) == [
        "not listed: info a: ssthresh INF->3",
        "does not occur: info a: ssthresh INF->2",
    ]


def test_the_table_is_in_order() -> None:
    """Each reason is explained and used; scripts and algorithms of all lines exist."""
    listed = table.read(table.TABLE.read_text())
    assert listed.used() == set(listed.reasons)
    scripts = {*UML.names(), *STOCK.names()}
    assert all(script in scripts and cc in OURS for script, cc in listed.listed)


@pytest.mark.parametrize(
    "path", [g.path(name) for g in (UML, STOCK) for name in g.names()], ids=lambda path: path.stem
)
def test_scripts_say_what_they_show(path: Path) -> None:
    """A licence, a title, and at least one segment of the stack."""
    assert path.read_text().startswith("// SPDX-License-Identifier: GPL-2.0\n// ")
    assert len(expected.title(path)) > 20
    assert any(line.text.startswith(">") for line in expected.lines(path))
