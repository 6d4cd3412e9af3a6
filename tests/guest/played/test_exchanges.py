# SPDX-License-Identifier: GPL-2.0
"""The stack's own behaviour under every algorithm: exchanges of segments beside reno's.

The scripts (tests/played/exchanges) say what a peer sends and what reno's stack does then, by the
RFCs. Each algorithm's exchange is compared with reno's, event by event, in virtual time. A
difference has to be in differences.txt with its reasons, and what is listed there has to occur.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path

import pytest

from tests.guest.conftest import shift_seeds
from tests.played import OURS
from tests.played.exchanges import expected, table
from tests.played.exchanges.compare import differences
from tests.played.exchanges.play import STOCK, UML, Guest, Logs, play

pytestmark = [pytest.mark.guest, pytest.mark.uml]


@dataclass(frozen=True)
class Game:
    """Exchanges that are played in one guest for reno and others, by ``make check`` unless
    ``deep``; those that are repeated in another guest."""

    guest: Guest
    scripts: list[str]
    algorithms: tuple[str, ...] = OURS
    repeated: tuple[str, ...] = ()
    deep: bool = True


MD5 = [name for name in STOCK.names() if name.startswith("md5")]
#: Repeated: timers, pacing, timestamps, cookies, 2 ms.
REPEATED = ("eifel-undo", "fastopen-client", "frto", "prr", "slow-start-short", "syncookies", "tlp")
GAMES = {
    "star": Game(UML, UML.names(), ("star",), REPEATED, deep=False),
    "others": Game(UML, UML.names(), OURS[1:]),
    "stock": Game(STOCK, STOCK.names(), OURS, ("accecn-timeout", "accecn-rounds", "accecn-option")),
    # Older kernels have MD5, too: the same exchanges, and the same differences.
    "bookworm": Game(replace(STOCK, kernel="bookworm"), MD5),
    "backports": Game(replace(STOCK, kernel="bookworm-backports"), MD5),
}
#: Within this the same exchange is repeated, s; less than is equal on engine qemu otherwise.
AGAIN_S = {UML.engine: UML.equal_s, STOCK.engine: 0.0001}


@dataclass(frozen=True)
class Played:
    """A game's logs, and the folder where they are."""

    game: Game
    logs: Logs
    out: Path


@pytest.fixture(scope="module")
def played(build: Path, request: pytest.FixtureRequest) -> Played:
    """All exchanges of a game, played in one guest."""
    game = GAMES[request.param]
    out = build / "tests" / f"exchanges-{request.param}"
    return Played(game, play(out, game.scripts, ("reno", *game.algorithms), game.guest), out)


def games(*names: str) -> pytest.MarkDecorator:
    """The games that a test looks at; one process plays each."""
    cases = []
    for name in names:
        marks = [pytest.mark.xdist_group(f"exchanges-{name}")]
        marks += [pytest.mark.deep] if GAMES[name].deep else []
        cases.append(pytest.param(name, marks=marks))
    return pytest.mark.parametrize("played", cases, indirect=True)


@pytest.fixture(scope="module")
def listed() -> table.Table:
    """The table of differences."""
    return table.read(table.TABLE.read_text())


@games(*GAMES)
def test_reno_is_as_the_script_says(played: Played) -> None:
    """Every segment of the stack, its time, tcp_info and results of calls."""
    guest, logs = played.game.guest, played.logs
    found = {
        script: expected.wrong(guest.path(script), logs[script, "reno"], guest.exact_s)
        for script in played.game.scripts
    }
    assert {script: wrong for script, wrong in found.items() if wrong} == {}


@games(*GAMES)
def test_differences_are_listed(played: Played, listed: table.Table) -> None:
    """An algorithm's exchange is reno's, but for what is in the table."""
    game, logs, found = played.game, played.logs, {}
    for script, cc in product(game.scripts, game.algorithms):
        different = differences(logs[script, "reno"], logs[script, cc], game.guest.equal_s)
        found[script, cc] = table.wrong(different, listed.listed.get((script, cc), {}))
    assert {key: wrong for key, wrong in found.items() if wrong} == {}


@games(*GAMES)
def test_no_window_is_zero(played: Played) -> None:
    """Under no algorithm, in no state, silence included, however many marks there are."""
    zero = [k for k, log in played.logs.items() if any(i.values["cwnd"] < 1 for i in log.infos)]
    assert zero == []


@games(*GAMES)
def test_the_payload_is_right(played: Played) -> None:
    """Each octet that the stack sends, retransmissions included, is the one of its position; and
    so are the signatures."""
    assert [(key, log.damaged) for key, log in played.logs.items() if log.damaged] == []


@games("star", "others")
def test_one_segment_at_a_time_in_silence(played: Played) -> None:
    """RFC 6298 5.5, RFC 8085: each timeout is at least as long as the one before, and ends with one
    segment, whatever window an algorithm keeps."""
    for algorithm in ("reno", *played.game.algorithms):
        sent = [s for s in played.logs["silence", algorithm].sent if 0.3 < s.at < 320.0]
        assert [(s.seq, s.end) for s in sent] == [(1, 1461)] * 10, algorithm
        gaps = [b - a for a, b in pairwise([0.1, *(s.at for s in sent)])]
        assert all(b >= min(1.8 * a, 119.0) for a, b in pairwise(gaps)), algorithm


@games("star", "stock")
def test_exchanges_are_exact(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """In another guest, with other random numbers, and after other exchanges: the same."""
    shift_seeds(monkeypatch, 1)
    guest, out = played.game.guest, played.out.with_suffix(".again")
    again = play(out, played.game.repeated, ("star", "reno"), guest)
    assert again
    for key, log in again.items():
        assert differences(played.logs[key], log, AGAIN_S[guest.engine]) == [], key


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


@games("stock")
def test_marks_are_answered_once_in_a_round_trip(played: Played) -> None:
    infos = {cc: played.logs["accecn-many", cc].infos for cc in MARKED}
    assert {cc: [info.values["cwnd"] for info in of] for cc, of in infos.items()} == MARKED


@games("stock")
def test_wrong_signatures_are_counted(played: Played) -> None:
    """Segments by another key, and without a signature: none is dropped for another reason."""
    for cc in ("reno", *OURS):
        md5, ao = (played.logs[f"{kind}-wrong", cc].counters for kind in ("md5", "ao"))
        assert (md5["TCPMD5Failure"], md5["TCPMD5NotFound"]) == (1, 2), cc
        assert (ao["TCPAOBad"], ao["TCPAORequired"]) == (1, 2), cc


@games("stock")
def test_compound_is_reno_here(played: Played) -> None:
    """Within a tenth of what is equal in other comparisons."""
    for script in played.game.scripts:
        reno, compound = (played.logs[script, cc] for cc in ("reno", "compound"))
        assert differences(reno, compound, AGAIN_S[STOCK.engine]) == [], script
