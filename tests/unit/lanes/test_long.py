# SPDX-License-Identifier: GPL-2.0
"""Days of virtual time, tests/long: a guest gets as many as were asked for."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from tests.long.__main__ import LONGS
from tests.played import guest

HOURS = 100


class Played(Exception):
    """Instead of a guest."""


@pytest.mark.parametrize("name", LONGS)
def test_a_guest_has_all_its_hours(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds: dict[str, float] = {}

    def play(*_: Any, **how: Any) -> None:
        bounds.update(how)
        raise Played

    monkeypatch.setattr(guest, "play", play)
    monkeypatch.setattr(guest, "verified", dict)
    given = Namespace(hours=HOURS, rate=LONGS[name].rate, **LONGS[name].options)
    with pytest.raises(Played):
        LONGS[name].measure(given, tmp_path)
    assert bounds.get("timeout_virtual_s", 36_000) > 3600 * HOURS
