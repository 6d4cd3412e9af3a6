# SPDX-License-Identifier: GPL-2.0
"""A few storms over sscop and shake; tests/deep/test_devices_storm.py has them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.devices_storm import bounds, silence
from tests.devices_storm.play import play

pytestmark = [pytest.mark.guest, pytest.mark.uml]

STORMS = {"sscop": ("everything", "no-feedback", "mtus"), "shake": ("everything", "turns")}
#: The end that sends, and hears nothing more after frames were lost.
SILENCES = {"sscop": ("lossy",), "shake": ("leader",)}


@pytest.mark.parametrize("device", STORMS)
def test_data_is_whole_and_goodput_comes_back(build: Path, device: str) -> None:
    records = play(device, STORMS[device], build / "tests" / f"storms-{device}")
    assert bounds.wrong(records) == []


@pytest.mark.parametrize("device", SILENCES)
def test_what_is_not_answered_becomes_rare(build: Path, device: str) -> None:
    records = silence.play(device, SILENCES[device], build / "tests" / f"silences-{device}")
    assert bounds.wrong(records) == []
