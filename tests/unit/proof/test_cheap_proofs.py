# SPDX-License-Identifier: GPL-2.0
"""Five proofs that take seconds; ``make check-deep`` makes all of tests/proof."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.proof import FOLDER, claims, contracts, unproven_contracts, unproven_interval

#: The bounds of a window: of the estimate, after a loss, after idle time, and of two windows.
CHEAP = ["prove_abe_window", "star_respond", "idle_cwnd", "hstcp_ssthresh", "compound_loss_once"]


@pytest.mark.skipif(
    not shutil.which("frama-c"), reason="frama-c is not installed: scripts/setup deep, Debian 12"
)
@pytest.mark.parametrize("name", CHEAP)
def test_proof(name: str, tmp_path: Path) -> None:
    if name in claims():
        assert unproven_interval(name, tmp_path) == []
    else:
        assert unproven_contracts([name], tmp_path) == []


def test_counts_of_proofs(root: Path) -> None:
    """What the pages say is what there is."""
    count = len(claims()) + len(contracts())
    pages = [FOLDER / "README.md", root / "docs" / "reliability.md"]
    for page in pages:
        assert re.findall(r"(\d+) proofs", page.read_text(encoding="utf-8")) == [str(count)]


def test_each_contract_is_of_a_function_that_exists(root: Path) -> None:
    headers = "".join(
        path.read_text(encoding="utf-8") for path in (root / "include" / "apogee").glob("*.h")
    )
    for name in contracts():
        assert name == "lemmas" or re.search(rf"\b{name}\([^;]*\)\n{{", headers), name
