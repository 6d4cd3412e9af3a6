# SPDX-License-Identifier: GPL-2.0
"""SHAKE on a host whose memory is in pieces (tests/modules/fragments.c), in a real guest."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.guest.modules.scripted import Told, drunk, numbers, reported, rows
from tests.guest.modules.shake_pair import run

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: An upload and a download, over paths that lose some of both. What is taken three times has none
#: left that a CPU kept for itself.
PIECES = """
lines; agent_up; modprobe fragments
for again in 1 2 3; do echo 4 >/sys/module/fragments/parameters/order; done
cat /proc/buddyinfo >$OUT/blocks
leader_up; paths; ready first; for n in 1 2; do slow $n 4mbit 10ms loss 2%; done
$cn verified drinkers 5201 $OUT/up & verified drinkers 5202 $OUT/down & sleep 0.1
verified pour 10.3.0.2 5201 2000000 60 >$OUT/sent
$cn verified pour 10.7.0.1 5202 2000000 60 >$OUT/sent
n=0; until [ -s $OUT/down ] || [ $n -ge 600 ]; do sleep 0.1; n=$((n + 1)); done
counts all "repair_sent repair_refused"
"""

pieces = reported(partial(run, beside="fragments"), "shake-pieces", PIECES)


def blocks(path: Path, order: int) -> int:
    """Free blocks of so many pages and more."""
    return sum(int(count) for words in rows(path) for count in words[4 + order :])


def test_what_is_lost_is_sent_again(pieces: Told) -> None:
    """Both ways: of 1400 packets some 28 are lost. The table of a path's copies needs 13 pages, and
    an agent makes its paths where it may not sleep."""
    assert blocks(pieces.out / "blocks", 4) == 0 < blocks(pieces.out / "blocks", 3)
    assert min(numbers(pieces, "all repair_sent")) > 5
    assert numbers(pieces, "all repair_refused") == [0, 0]
    for way in ("up", "down"):
        assert drunk(pieces.out, way) == [(2_000_000, 0)]
