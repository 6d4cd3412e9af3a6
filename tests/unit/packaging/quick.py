# SPDX-License-Identifier: GPL-2.0
"""shake-quick's modules for tests: they are beside the program, not in a package of Python's."""

from __future__ import annotations

import sys

from tests import ROOT

FOLDER = ROOT / "shake" / "quick"
sys.path.append(str(FOLDER))

from shake_quick import (  # noqa: E402
    commands,
    conf,
    devices,
    follow,
    main,
    metrics,
    netlink,
    show,
    tables,
    updown,
)
from shake_quick.tables import table_of  # noqa: E402

__all__ = [
    "FOLDER",
    "commands",
    "conf",
    "devices",
    "follow",
    "main",
    "metrics",
    "netlink",
    "show",
    "table_of",
    "tables",
    "updown",
]
