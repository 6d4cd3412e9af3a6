# SPDX-License-Identifier: GPL-2.0
"""The headers hold up under the compiler's sanitizers."""

from __future__ import annotations

from tests.asked import kept


def test_under_sanitizers() -> None:
    """All of their unit tests again, with fewer examples."""
    kept.run()
