# SPDX-License-Identifier: GPL-2.0
"""Every storm and silence over sscop and shake (tests/devices_storm) stays within the bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.devices_storm import bounds, silence
from tests.devices_storm.play import play
from tests.devices_storm.storms import EACH, STORMS, WITH_EACH

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: A guest each: two workers share the work.
PARTS = 2


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("device", STORMS)
def test_storms(build: Path, device: str, part: int) -> None:
    names = tuple(STORMS[device])[part::PARTS]
    records = play(device, names, build / "tests" / f"storm-{device}-{part}")
    assert bounds.wrong(records) == []


@pytest.mark.parametrize("cc", EACH)
@pytest.mark.parametrize("device", STORMS)
def test_storms_with_each_algorithm(build: Path, device: str, cc: str) -> None:
    records = play(device, WITH_EACH, build / "tests" / f"storm-{device}-{cc}", cc)
    assert bounds.wrong(records) == []


@pytest.mark.parametrize("device", STORMS)
def test_silences(build: Path, device: str) -> None:
    names = tuple(silence.SILENCES[device])
    records = silence.play(device, names, build / "tests" / f"silence-{device}")
    assert bounds.wrong(records) == []
