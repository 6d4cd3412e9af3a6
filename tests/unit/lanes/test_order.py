# SPDX-License-Identifier: GPL-2.0
"""Workers get the longest first, and what shares a fixture together."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lanes.order import long_units
from tests.unit.lanes.inner import folder, run

CONFTEST = """
from pathlib import Path
from tests.lanes import order

order.LONGEST = Path("longest.json")

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(order, "order")

def pytest_runtest_setup(item):
    with open("order", "a") as order:
        order.write(item.name + " ")
"""
FILES = {
    "test_a": "def test_a(): pass",
    "test_b": "def test_b1(): pass\ndef test_b2(): pass",
    "test_c": "def test_c1(): pass\ndef test_c2(): pass\ndef test_c3(): pass",
}


@pytest.mark.parametrize(
    ("known", "order"),
    [
        ("{}", "c1 c2 c3 b1 b2 a"),
        ('{"test_a.py": 30, "test_gone.py": 90}', "a c1 c2 c3 b1 b2"),
        ('{"test_b.py": 30, "test_c.py::test_c3": 20}', "b1 b2 c3 c1 c2 a"),
    ],
)
def test_the_longest_comes_first(tmp_path: Path, known: str, order: str) -> None:
    """What is not known comes after, the most tests first."""
    folder(tmp_path, CONFTEST, **FILES)
    (tmp_path / "longest.json").write_text(known)
    assert "6 passed" in run(tmp_path, "-n", "1", "--dist", "loadfile")
    assert (tmp_path / "order").read_text().replace("test_", "").strip() == order


@pytest.mark.parametrize("kind", ["loadfile", "loadgroup"])
def test_a_test_that_ends_its_worker_runs_once(tmp_path: Path, kind: str) -> None:
    """All others run, too."""
    folder(tmp_path, CONFTEST, **FILES, test_d="import os\ndef test_d(): os._exit(1)")
    (tmp_path / "longest.json").write_text('{"test_d.py": 30}')
    told = run(tmp_path, "-n", "2", "--dist", kind)
    assert "1 failed, 6 passed" in told and told.count("replacing crashed worker") == 1


@pytest.mark.parametrize("options", [["-p", "no:xdist"], ["-n", "1", "--dist", "load"]])
def test_another_distribution_is_left_alone(tmp_path: Path, options: list[str]) -> None:
    folder(tmp_path, CONFTEST, **FILES)
    assert "6 passed" in run(tmp_path, *options)


def test_only_a_long_test_that_shares_nothing_is_alone() -> None:
    tests = {
        "f.py::test_alone": {"wall_s": 30.2, "shares": False},
        "f.py::test_short": {"wall_s": 4.0, "shares": False},
        "g.py::test_shares": {"wall_s": 15.0, "shares": True},
        "g.py::test_too": {"wall_s": 20.0, "shares": True},
    }
    assert long_units(tests) == {"g.py": 35, "f.py::test_alone": 30}
