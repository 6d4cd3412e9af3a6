# SPDX-License-Identifier: GPL-2.0
"""What no receiver may get from any algorithm, on any machine, with any seed."""

from __future__ import annotations

from collections.abc import Iterator

from tests.hostile.table import Key, Records, gain

#: The receive window in segments, and its sender's line in segments per second (hostile.c).
WINDOW = (4 << 20) // 1448 + 1
LINE = 50e6 / 8 / 1500
#: The largest RTT that an attack forges, on the long path; s.
RTT = 1.5

#: Attacks that gain nothing: segments beside those for an honest receiver, at most.
NOTHING = ("beyond", "division", "newer", "late", "zero", "tiny", "flap", "marked")
MOST = 1.1


def _wrong(records: Records, key: Key) -> Iterator[str]:
    record = records[key]
    if int(record["resumed_ms"]) < 0:
        yield "nothing arrived after the attack"
    if int(record["flight"]) > WINDOW:
        yield f"{record['flight']} segments were sent beyond the ACKs, the window is {WINDOW}"
    if int(record["cwnd"]) > 2 * WINDOW + LINE * RTT:
        yield f"a window of {record['cwnd']} segments"
    if key[1] in NOTHING and gain(records, key) > MOST:
        yield f"{gain(records, key):.2f} times the segments"


def wrong(records: Records) -> list[str]:
    """What is beyond the bounds."""
    return [f"{' '.join(key)}: {text}" for key in records for text in _wrong(records, key)]
