# SPDX-License-Identifier: GPL-2.0
"""Subflows of MPTCP: each has the algorithm's own state and fills its own path, as reno's does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.guest.runs import deep_ones, measured
from tests.played import OURS

pytestmark = [pytest.mark.guest, pytest.mark.uml]

#: Octets on a path without loss beside reno's: .97 (compound_plus) to 1.003 with seeds 1 to 4.
FULL = 0.95
#: On the path that loses 2 %. Reno's own octets differ by 17 % between those seeds, and an
#: algorithm loses other packets than reno with the same seed: .88 to 1.30, so this must be wide.
#: What takes no loss for congestion has 2.04 to 2.40 times reno's.
LOSSY = {"star": 1.6, "j": 1.6}
LOSSY_ELSE = 0.7


@pytest.mark.parametrize("loss", [pytest.param("0%", marks=pytest.mark.deep), "2%"])
@pytest.mark.parametrize("cc", deep_ones(OURS, set(OURS) - {"star"}))
def test_both_subflows_carry_data(tmp_path: Path, cc: str, loss: str) -> None:
    """The one that loses data, too; what it loses does not cost the other one. Over two paths of
    2 Mbit/s with RTTs of 100 and 200 ms."""
    found = measured(
        tmp_path / "records", "--cc", f"{cc},reno", "--duration", "30",
        "--set", "via=mptcp", "--set", "rate=2mbit", "--set", "delay1=50ms",
        "--set", "delay2=100ms", "--set", f"loss1={loss}", scenario="multipath",
    )  # fmt: skip
    ours, renos = ([link["bytes"] for link in record["long_links"]] for record in found)
    shares = [own / reno for own, reno in zip(ours, renos, strict=True)]
    assert shares[0] > (FULL if loss == "0%" else LOSSY.get(cc, LOSSY_ELSE))
    assert shares[1] > FULL
