# SPDX-License-Identifier: GPL-2.0
"""The headers hold up under the compiler's sanitizers."""

from __future__ import annotations

import pytest

from tests.asked import kept


@pytest.mark.parametrize("name", kept.FILES)
def test_under_sanitizers(name: str) -> None:
    """All unit tests of a file again, with fewer examples."""
    kept.run(name)
