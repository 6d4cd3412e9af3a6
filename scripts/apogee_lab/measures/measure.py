# SPDX-License-Identifier: GPL-2.0
"""A scenario's own measure. Needs no numpy, as scenarios are listed without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .measurement import Measurement


@dataclass(frozen=True)
class Measure:
    """A measure that not all scenarios have: the function that adds it to the record, and the keys
    that it adds (a TypedDict of these alone)."""

    take: Callable[[Measurement], None]
    keys: type
