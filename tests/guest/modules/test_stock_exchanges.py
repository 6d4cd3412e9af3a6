# SPDX-License-Identifier: GPL-2.0
"""Marks of AccECN and signed segments on a stock kernel: some of the exchanges of tests/deep."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.exchange import expected, table
from tests.exchange.compare import differences
from tests.exchange.log import Log
from tests.exchange.play import STOCK, play
from tests.storm.storms import OURS

pytestmark = pytest.mark.guest

SCRIPTS = ("accecn-rounds", "accecn-many", "md5-signed", "ao-signed")


@pytest.fixture(scope="module")
def logs(build: Path) -> dict[tuple[str, str], Log]:
    """The exchanges of all algorithms, played in one guest."""
    return play(build, build / "tests" / "some-stock-exchanges", SCRIPTS, ("reno", *OURS), STOCK)


@pytest.mark.parametrize("script", SCRIPTS)
def test_reno_is_as_the_script_says(logs: dict[tuple[str, str], Log], script: str) -> None:
    assert expected.wrong(STOCK.path(script), logs[script, "reno"], STOCK.exact_s) == []


@pytest.mark.parametrize("cc", OURS)
@pytest.mark.parametrize("script", SCRIPTS)
def test_differences_are_listed(logs: dict[tuple[str, str], Log], script: str, cc: str) -> None:
    listed = table.read(table.TABLE.read_text()).listed.get((script, cc), {})
    found = differences(logs[script, "reno"], logs[script, cc], STOCK.equal_s)
    assert table.wrong(found, listed) == []


def test_signatures_are_right(logs: dict[tuple[str, str], Log]) -> None:
    """And each octet."""
    assert [(key, log.damaged) for key, log in logs.items() if log.damaged] == []
