# SPDX-License-Identifier: GPL-2.0
"""What the algorithms cost as BPF programs."""

from __future__ import annotations

import re
from pathlib import Path

from tests import ROOT

FOLDER = Path(__file__).parent


def flags() -> list[str]:
    """Those that the algorithms' programs are compiled with; paths are from the folder bpf."""
    makefile = (ROOT / "bpf/Makefile").read_text(encoding="utf-8").replace("\\\n", "")
    match = re.search(r"^BPF_FLAGS := (.*)$", makefile, re.M)
    assert match, "bpf/Makefile has no BPF_FLAGS"
    return match[1].split()
