# SPDX-License-Identifier: GPL-2.0
"""What the runs of many hours must see, shortened: ``python3 -m tests.long_tcp`` is one itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import long_run, long_tcp

pytestmark = [pytest.mark.guest, pytest.mark.uml]


def test_a_leak_of_eight_octets_per_connection_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one algorithm among six, in four hours: 120 objects an hour."""
    monkeypatch.setattr(long_tcp, "ALGORITHMS", (*long_tcp.ALGORITHMS[:-1], "leaky"))
    monkeypatch.setattr(long_tcp, "MODULES", (*long_tcp.MODULES, "tcp_leaky"))
    out = tmp_path / "out"
    long_tcp.measure(4, "500kbit", out)
    (found,) = long_run.leaks((out / "objects").read_text())
    assert found.startswith("kmalloc-8: ")
