# SPDX-License-Identifier: GPL-2.0
"""The pages have their records' tables, all is recorded once, and bounds find what is beyond them.

``python3 -m tests.played`` makes records and tables; a record beyond the bounds is a record that is
changed here.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.played import ALGORITHMS, OURS, books
from tests.played.__main__ import BOOKS, main
from tests.played.books import Book, Key
from tests.played.devices.silence import SILENCES
from tests.played.devices.storms import EACH, STREAM, WITH_EACH
from tests.played.devices.storms import STORMS as DEVICES_STORMS
from tests.played.hostile.attacks import ATTACKS, PATHS
from tests.played.storms.storms import STORMS


def _device(device: str) -> list[Key]:
    return [
        *((device, name, STREAM) for name in DEVICES_STORMS[device]),
        *((device, name, cc) for cc, name in product(EACH, WITH_EACH)),
        *((device, name) for name in SILENCES[device]),
    ]


#: The keys of all records, in the order of their file.
RECORDED = {
    "storms": [(storm, cc) for cc, storm in product(ALGORITHMS, STORMS)],
    "storms-devices": [key for device in DEVICES_STORMS for key in _device(device)],
    "hostile": [(path, lie, cc) for path, cc, lie in product(PATHS, ALGORITHMS, ATTACKS)],
    "hostile-cost": [*product((*OURS, "cubic", "bbr"), ATTACKS)],
}
each_book = pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)


@each_book
def test_all_is_recorded_once(book: Book) -> None:
    assert [*map(book.key, books.read(book.name))] == RECORDED[book.name]


@each_book
def test_the_page_has_the_records_tables(book: Book) -> None:
    page = book.page.read_text()
    assert book.written(page) == page


@each_book
def test_all_tables_are_printed(book: Book, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([book.name, "--tables"]) == 0
    said = capsys.readouterr().out
    assert all(f"{name}:\n\n| " in said for name in book.whole(book.read()))


@each_book
def test_the_records_are_within_the_bounds(book: Book) -> None:
    assert book.wrong(book.read()) == []


@each_book
def test_a_part_is_replaced(book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others' records stay, all in their order; what a part has lost is gone."""
    before = books.records_of(book.name).read_text()
    monkeypatch.setattr(books, "DOCS", tmp_path)
    kept = books.records_of(book.name)
    kept.parent.mkdir(parents=True)
    kept.write_text(before)
    part = book.parts[len(book.parts) // 2]
    theirs = [record for record in books.read(book.name) if book.part(record) == part]
    book.keep(part, theirs[1:])
    assert len(books.read(book.name)) == len(RECORDED[book.name]) - 1
    book.keep(part, theirs)
    assert kept.read_text() == before


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["storms", "nobody"]])
def test_what_cannot_be_played_is_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


#: The interval from 40 to 60 s of a silence.
LATE = 5
#: What is wrong, by book: the record, what it says then, what is found.
WRONG: dict[str, dict[str, tuple[Key, dict[str, Any], str]]] = {
    "storms": {
        "a stream that is cut": (("loss-90", "star"), {"octets": 1, "status": 1}, "octets, status"),
        "a damaged octet": (("corrupt", "star"), {"damaged": 1}, "damaged"),
        "a lost stream of many": (("crowd", "star"), {"crowd": 39}, "the crowd"),
        "a window of 0": (("marks", "star"), {"cwnd_least": 0}, "a window of 0"),
        "a window without a limit":
            (("reorder", "star"), {"cwnd_most": 1048576}, "segments, more than"),
        "a flow that stands": (("zero-20s", "star"), {"resumed_ms": -1}, "after the storm"),
        "a flow that comes late": (("data-20s", "star"), {"resumed_ms": 60000}, "after the storm"),
        "a flow that stays slow":
            (("data-2s", "star"), {"back_ms": -1, "after_ms": 60000}, "ms to recover"),
        "a flow that is slow for long": (("data-2s", "star"), {"back_ms": 60000}, "ms to recover"),
        "a stream that takes too long":
            (("no-sack", "star"), {"total_ms": 600000}, "ms to recover"),
        "a sender that goes on": (("void", "star"), {"new": 10000}, "new segments"),
        "a burst": (("void", "star"), {"burst": 1000}, "segments at once"),
        "a sender without a pause":
            (("dead", "star"), {"again": [500, *range(3000, 9000, 500)]}, "without feedback"),
        "a sender that does not back off":
            (("deaf", "star"), {"again": [500, 3000, 7000, 11000]}, "do not double"),
        "a sender that is too fast":
            (("deaf", "star"), {"again": [3000, 6000, 8000]}, "between late"),
    },
    "storms-devices": {
        "an octet": (("sscop", "loss-10", "cubic"), {"damaged": 1}, "1 damaged"),
        "an end that is missing": (("shake", "flap", "cubic"), {"received": 1}, "1 of "),
        "a packet twice": (("shake", "duplicate", "cubic"), {"datagrams": {"twice": 2}}, "2 twice"),
        "a packet late":
            (("sscop", "reorder", "cubic"), {"datagrams": {"late": 3}}, "3 datagrams out of order"),
        "a packet lost":
            (("sscop", "loss-90", "cubic"), {"datagrams": {"came": 1}}, "datagrams lost"),
        "more than the resets lost":
            (("sscop", "mtus", "cubic"), {"datagrams": {"came": 9}}, "by resets"),
        "a reset": (("sscop", "jitter", "cubic"), {"near": {"reset_error": 1}}, "1 resets: error"),
        "a link that rests": (("sscop", "no-way", "cubic"), {"first_s": 3.1}, "nothing for 3.1 s"),
        "a flow that rests": (("shake", "turns", "cubic"), {"back_s": None}, "back after None"),
        "a slow return": (("shake", "one-30", "cubic"), {"back_s": 31.0}, "back after 31.0 s"),
        "memory": (("shake", "no-feedback", "cubic"), {"memory_kb": 30000}, "30000 kB"),
        "too many probes":
            (("shake", "leader"), {"counted": {LATE: {"probe_sent": 60}}}, "60 probe_sent from 40"),
        "too many HELLOs":
            (("shake", "alone"), {"counted": {LATE: {"hello_sent": 40}}}, "40 hello_sent from 40"),
        "too many SDs":
            (("sscop", "lossy"), {"counted": {LATE: {"sd_repeated": 900}}}, "900 sd_repeated"),
        "too many POLLs":
            (("sscop", "clean"), {"counted": {LATE: {"poll_sent": 400}}}, "400 poll_sent from 40"),
        "too many BGNs":
            (("sscop", "alone"), {"counted": {LATE: {"control_sent": 50}}}, "50 control_sent"),
    },
    "hostile": {
        "a sender that stands": (("short", "zero", "star"), {"resumed_ms": -1}, "nothing arrived"),
        "more than the receive window":
            (("short", "copies", "star"), {"flight": 2898}, "beyond the ACKs"),
        "a window that grows on": (("short", "first", "star"), {"cwnd": 1048576}, "a window of"),
        "a gain by pieces":
            (("short", "division", "star"), {"segments": 1048576}, "times the segments"),
        "more than any peer gives":
            (("short", "conceal", "star"), {"segments": 40000}, "6.02 at most"),
        "a gain beside its own honest receiver":
            (("short", "marked", "star"), {"segments": 1048576}, "times"),
    },
    "hostile-cost": {
        "a lie that costs": (("star", "sacks"), {"mean": 9000.0}, "as expensive"),
    },
}  # fmt: skip


def changed(value: Any, change: dict[Any, Any]) -> Any:
    """A value with others in it, at these keys or places."""
    made = value.copy()
    for key, to in change.items():
        made[key] = changed(made[key], to) if isinstance(to, dict) else to
    return made


@pytest.mark.parametrize(("of", "name"), [(of, name) for of in WRONG for name in WRONG[of]])
def test_what_is_beyond_the_bounds_is_found(of: str, name: str) -> None:
    key, change, said = WRONG[of][name]
    book, records = BOOKS[of], BOOKS[of].read()
    found = list(book.judge(records | {key: changed(records[key], change)}, key))
    assert any(said in text for text in found), found
