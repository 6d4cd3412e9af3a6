# SPDX-License-Identifier: GPL-2.0
"""What the runs of many hours must see, shortened: ``python3 -m tests.long tcp`` is one itself."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from tests.long import run, tcp

pytestmark = [pytest.mark.guest, pytest.mark.uml, pytest.mark.deep]


def test_a_leak_of_eight_octets_per_connection_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one algorithm among six, in four hours: 120 objects an hour."""
    monkeypatch.setattr(tcp, "ALGORITHMS", (*tcp.ALGORITHMS[:-1], "leaky"))
    monkeypatch.setattr(tcp, "FAULTY", ("tcp_leaky",))
    out = tmp_path / "out"
    tcp.measure(Namespace(hours=4, rate="500kbit"), out)
    (found,) = run.leaks((out / "objects").read_text())
    assert found.startswith("kmalloc-8: ")
