# SPDX-License-Identifier: GPL-2.0
"""Every storm and silence over sscop and shake (tests/played/devices) stays within the bounds."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.played.devices import silence
from tests.played.devices.book import BOOK
from tests.played.devices.play import play
from tests.played.devices.silence import SILENCES
from tests.played.devices.storms import EACH, STORMS, WITH_EACH

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: All that happens to frames at once; paths that die in turn.
FEW = {("sscop", "everything"), ("shake", "turns")}
#: The end that sends, and hears nothing more after frames were lost.
FEW_SILENCES = {("sscop", "lossy")}


def _cases(of: dict[str, dict[str, Any]], few: set[tuple[str, str]]) -> list[Any]:
    """Of each device; all but a few are deep."""
    cases = [(device, name) for device in of for name in of[device]]
    return [pytest.param(*c, marks=() if c in few else pytest.mark.deep) for c in cases]


@pytest.mark.parametrize(("device", "storm"), _cases(STORMS, FEW))
def test_data_is_whole_and_goodput_comes_back(build: Path, device: str, storm: str) -> None:
    records = play(device, [storm], build / "tests" / f"storm-{device}-{storm}")
    assert BOOK.wrong(BOOK.by_key(records)) == []


@pytest.mark.deep
@pytest.mark.parametrize(("device", "cc"), product(STORMS, EACH))
def test_storms_with_each_algorithm(build: Path, device: str, cc: str) -> None:
    records = play(device, WITH_EACH, build / "tests" / f"storm-{device}-{cc}", cc)
    assert BOOK.wrong(BOOK.by_key(records)) == []


@pytest.mark.parametrize(("device", "name"), _cases(SILENCES, FEW_SILENCES))
def test_what_is_not_answered_becomes_rare(build: Path, device: str, name: str) -> None:
    records = silence.play(device, [name], build / "tests" / f"silence-{device}-{name}")
    assert BOOK.wrong(BOOK.by_key(records)) == []
