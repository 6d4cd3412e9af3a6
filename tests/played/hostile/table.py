# SPDX-License-Identifier: GPL-2.0
"""The table of docs/hostile.md, and all that the records have."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from apogee_lab.results.text import as_markdown
from tests.played import ALGORITHMS
from tests.played.books import Key, Record, Records, grid
from tests.played.hostile.attacks import BESIDE, HOSTILE, PATHS


def gain(records: Records, key: Key) -> float:
    """Segments sent, beside those for an honest receiver of the same options."""
    path, attack, cc = key
    honest = records[path, BESIDE.get(attack, "honest"), cc]
    return records[key]["segments"] / honest["segments"]


def lost(record: Record) -> float:
    """Share of the segments sent that the bottleneck's queue dropped."""
    return record["dropped"] / record["segments"]


def _sent(records: Records, key: Key) -> str:
    share = lost(records[key])
    return f"{gain(records, key):.2f}" + (f" ({share:.0%})" if share >= 0.005 else "")


def _beside_reno(records: Records, key: Key) -> str:
    return f"{gain(records, key) / gain(records, (*key[:2], 'reno')):.2f}"


def _windows(records: Records, key: Key) -> str:
    r = records[key]
    return f"{r['cwnd']} / {r['flight']} / " + (
        "–" if r["half_ms"] < 0 else f"{r['half_ms'] / 1000:.1f}"
    )


KINDS: dict[str, Callable[[Records, Key], str]] = {
    "sent": _sent, "reno": _beside_reno, "windows": _windows,
}  # fmt: skip


#: A lie that gets somebody more than so many times an honest receiver's segments is in the page.
TOLD = 1.1


def summary(records: Records) -> dict[str, str]:
    """The lies that gain: of each algorithm the larger gain of both paths."""

    def most(lie: str, cc: str) -> float:
        return max(gain(records, (path, lie, cc)) for path in PATHS)

    rows = [["the receiver", *ALGORITHMS]]
    for lie, said in HOSTILE.items():
        gains = [most(lie, cc) for cc in ALGORITHMS]
        if max(gains) > TOLD:
            rows.append([f"`{lie}`: {said}", *(f"{gain:.1f}" for gain in gains)])
    return {"gains": as_markdown(rows) + "\n"}


def whole(records: Records) -> dict[str, str]:
    """What each attack is; of each path a row for each attack, a column for each algorithm."""
    said = [["attack", "the receiver"], *([f"`{k}`", v] for k, v in HOSTILE.items())]
    found = {"attacks": as_markdown(said, left=2) + "\n"}
    for path, kind in product(PATHS, KINDS):
        found[f"{path}-{kind}"] = grid(
            "attack", [*(["honest"] if kind == "windows" else []), *HOSTILE],
            [cc for cc in ALGORITHMS if cc != kind],
            lambda attack, cc, path=path, kind=kind: KINDS[kind](records, (path, attack, cc)),
        )  # fmt: skip
    return found
