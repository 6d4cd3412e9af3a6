# SPDX-License-Identifier: GPL-2.0
"""A measure that a scenario brings. Needs no numpy: scenarios are listed without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .measurement import Measurement


@dataclass(frozen=True)
class Measure:
    """A measure that not all scenarios have: what adds it to the record, and the keys (a TypedDict
    of those alone) that it adds."""

    take: Callable[[Measurement], None]
    keys: type
