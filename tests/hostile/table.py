# SPDX-License-Identifier: GPL-2.0
"""The tables of docs/hostile.md from its records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from apogee_lab.results.text import as_markdown
from tests import ROOT
from tests.hostile.attacks import ALGORITHMS, BESIDE, HOSTILE, PATHS
from tests.hostile.play import Record

RECORDS = ROOT / "docs" / "results" / "records" / "hostile.jsonl"
PAGE = ROOT / "docs" / "hostile.md"

Key = tuple[str, str, str]  # path, attack, algorithm
Records = Mapping[Key, Record]


def by_key(records: Iterable[Record]) -> dict[Key, Record]:
    """Records by path, attack, algorithm."""
    return {(str(r["path"]), str(r["attack"]), str(r["cc"])): r for r in records}


def gain(records: Records, key: Key) -> float:
    """Segments sent, beside those for an honest receiver of the same options."""
    path, attack, cc = key
    honest = records[path, BESIDE.get(attack, "honest"), cc]
    return int(records[key]["segments"]) / int(honest["segments"])


def lost(record: Record) -> float:
    """Share of the segments sent that the bottleneck's queue dropped."""
    return int(record["dropped"]) / int(record["segments"])


def _sent(records: Records, key: Key) -> str:
    share = lost(records[key])
    return f"{gain(records, key):.2f}" + (f" ({share:.0%})" if share >= 0.005 else "")


def _beside_reno(records: Records, key: Key) -> str:
    return f"{gain(records, key) / gain(records, (*key[:2], 'reno')):.2f}"


def _windows(records: Records, key: Key) -> str:
    r = records[key]
    back = int(r["half_ms"])
    return f"{r['cwnd']} / {r['flight']} / {'–' if back < 0 else f'{back / 1000:.1f}'}"


TABLES: dict[str, Callable[[Records, Key], str]] = {
    "sent": _sent, "reno": _beside_reno, "windows": _windows,
}  # fmt: skip


def table(records: Records, path: str, kind: str) -> str:
    """A row for each attack, a column for each algorithm."""
    names = [name for name in ALGORITHMS if name != "reno" or kind != "reno"]
    attacks = (*(["honest"] if kind == "windows" else []), *HOSTILE)
    rows = [["attack", *names]]
    for attack in attacks:
        cells = (TABLES[kind](records, (path, attack, cc)) for cc in names)
        rows.append([f"`{attack}`", *cells])
    return as_markdown(rows, left=1) + "\n"


def said() -> str:
    """What each attack is."""
    rows = [["attack", "the receiver"], *([f"`{k}`", v] for k, v in HOSTILE.items())]
    return as_markdown(rows, left=2) + "\n"


def put(page: str, name: str, text: str) -> str:
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, rest = page.split(begin)
    return before + begin + text + end + rest.split(end)[1]


def written(page: str, records: Records) -> str:
    """The page with its tables anew."""
    page = put(page, "attacks", said())
    for path in PATHS:
        for kind in TABLES:
            page = put(page, f"{path}-{kind}", table(records, path, kind))
    return page


def write(page: Path, records: Records) -> None:
    """Put the tables into the page."""
    page.write_text(written(page.read_text(), records))
