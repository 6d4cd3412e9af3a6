# SPDX-License-Identifier: GPL-2.0
"""Scenario liar: what a lie gets is what the same lie gets in the records of docs/hostile.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.runs import close, measured
from tests.played.books import read

pytestmark = [pytest.mark.guest, pytest.mark.uml]


def test_what_a_lie_gets(modules: Path, kept: Path, tmp_path: Path) -> None:
    words = ("--cc", "reno", "--set", "lie=honest,small", "--duration", "1")
    kept_records = {(r["path"], r["attack"], r["cc"]): r for r in read("hostile")}
    for record in measured(tmp_path / "lies.jsonl", *words, scenario="liar"):
        known = kept_records["short", record["set"]["lie"], "reno"]
        assert close(record["liar"]["segments"], known["segments"], 0.1)
        assert record["liar"]["half_s"] is not None
        assert record["flows"][0]["goodput_bps"] > 0
