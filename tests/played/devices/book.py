# SPDX-License-Identifier: GPL-2.0
"""The records of storms over the devices, and of silences: each part is a device's."""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from pathlib import Path

from tests.played.books import DOCS, Book
from tests.played.devices import bounds, silence, table
from tests.played.devices.play import Record, play
from tests.played.devices.storms import EACH, STORMS, WITH_EACH


def _play(device: str, out: Path) -> list[Record]:
    return [
        *play(device, tuple(STORMS[device]), out / "storms"),
        *chain.from_iterable(play(device, WITH_EACH, out / cc, cc) for cc in EACH),
        *silence.play(device, tuple(silence.SILENCES[device]), out / "silences"),
    ]


BOOK = Book(
    "storms-devices", DOCS / "storms-devices.md", ("device", "storm", "silence", "cc"),
    tuple(STORMS), itemgetter("device"), _play, table.summary, table.whole, bounds.judge,
)  # fmt: skip
