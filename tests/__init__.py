# SPDX-License-Identifier: GPL-2.0
"""The tests, and the folder of what they generate."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: Generated files. Workers of pytest-xdist compile the same things at the same time: each has its
#: own folder. Kernels and modules are shared; who builds them holds a lock.
BUILD = ROOT / "build" / os.environ.get("PYTEST_XDIST_WORKER", "")
