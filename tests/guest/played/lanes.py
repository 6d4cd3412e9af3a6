# SPDX-License-Identifier: GPL-2.0
"""Which of many cases are cheap enough for `make check`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest


def lanes(cases: Iterable[tuple[str, ...]], few: Collection[tuple[str, ...]]) -> list[object]:
    """Cases as parameters; all but a few are left to `make check-deep`."""
    return [pytest.param(*c, marks=() if c in few else pytest.mark.deep) for c in cases]
