# SPDX-License-Identifier: GPL-2.0
"""What tests of lab judge share: planted faults, a patch, a browser, a card."""

from __future__ import annotations

from pathlib import Path

FAULTS = Path(__file__).parent / "faults"
PATCHES = Path(__file__).parent / "patches"

#: Of each planted fault the sections under which it has to show, with --quick.
SHOWN_BY = {
    "noback": ("5.1.1", "5.2"),
    "noloss": ("5.1.3", "5.2.1"),
    "noecn": ("7.1",),
    "starver": ("5.2.1", "5.3.2"),
    "window30": ("5.1.2", "5.1.3", "5.2.1"),
}
