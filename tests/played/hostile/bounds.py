# SPDX-License-Identifier: GPL-2.0
"""What no receiver may get from any algorithm, on any machine, with any seed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from tests.played import PEERS
from tests.played.books import Key, Records, read
from tests.played.hostile.attacks import HOSTILE
from tests.played.hostile.table import gain

#: The receive window in segments, and its sender's line in segments per second (hostile.c).
WINDOW = (4 << 20) // 1448 + 1
LINE = 50e6 / 8 / 1500
#: About the RTT that `late` forges on the long path; s.
RTT = 1.5

#: Attacks that gain nothing: segments beside those for an honest receiver, at most.
NOTHING = ("beyond", "division", "newer", "late", "zero", "tiny", "flap", "marked")
MOST = 1.1
#: The others, beside the peer that gives most for the same lie in the records of docs/hostile.md.
#: The worst of the project's algorithms has 1.08 there but for these, whose reasons the page says.
BESIDE_PEERS = 1.25
MORE = {("small", "j"): 2.8, ("unmarked", "hstcp_gentle"): 1.8}


@lru_cache
def peers() -> Records:
    """What the page's records say."""
    return {(r["path"], r["attack"], r["cc"]): r for r in read("hostile")}


def most(path: str, attack: str, cc: str) -> float:
    """Segments that a receiver may get beside an honest one."""
    if attack in NOTHING:
        return MOST
    peer = max(gain(peers(), (path, attack, name)) for name in PEERS)
    return max(peer, 1.0) * MORE.get((attack, cc), BESIDE_PEERS)


def judge(records: Records, key: Key) -> Iterator[str]:
    """What is beyond the bounds in a record."""
    record = records[key]
    if record["resumed_ms"] < 0:
        yield "nothing arrived after the attack"
    if record["flight"] > WINDOW:
        yield f"{record['flight']} segments were sent beyond the ACKs, the window is {WINDOW}"
    if record["cwnd"] > 2 * WINDOW + LINE * RTT:
        yield f"a window of {record['cwnd']} segments"
    if key[1] in HOSTILE and gain(records, key) > most(*key):
        yield f"{gain(records, key):.2f} times the segments, {most(*key):.2f} at most"
