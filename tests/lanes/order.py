# SPDX-License-Identifier: GPL-2.0
"""The longest first, so that no worker is at work long after the others.

What a worker gets at a time is a file, for its tests may share what a fixture has made, or what
pytest-xdist's options and marks say. longest.json has what took long in an earlier run, in seconds:
files, and tests that share nothing, each of which goes to a worker by itself. What is not listed
comes after, the largest number of tests first.

``python3 -m tests.lanes.order`` makes longest.json from what `make check` has kept.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests import BUILD

LONGEST = Path(__file__).with_name("longest.json")
#: What is shorter need not be listed.
LONG_S = 10.0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """pytest-xdist's own scheduler with another order, and long tests by themselves."""
    from xdist import scheduler  # only where pytest-xdist is used

    kinds = {"loadfile": "LoadFileScheduling", "loadgroup": "LoadGroupScheduling"}
    if config.getoption("dist") not in kinds:
        return None
    known = json.loads(LONGEST.read_text())
    return longest_first(getattr(scheduler, kinds[config.getoption("dist")]), known)(config, log)


def longest_first(kind: type, known: dict[str, float]) -> type:
    """A scheduler of a kind that knows how many seconds some units take."""

    class LongestFirst(kind):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if nodeid in known else super()._split_scope(nodeid)

        def _assign_work_unit(self, node: Any) -> None:
            units = self.workqueue
            longest = max(units, key=lambda unit: (known.get(unit, 0.0), len(units[unit])))
            units.move_to_end(longest, last=False)
            super()._assign_work_unit(node)

        def _reschedule(self, node: Any) -> None:
            """A worker runs a test when it knows the next, or that there is none: it gets more
            than one. pytest-xdist forgets that for a worker that replaces another."""
            if node not in self.registered_collections:
                return
            super()._reschedule(node)
            while not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
                super()._reschedule(node)

        def remove_node(self, node: Any) -> str | None:
            """A test that ended its worker has failed; pytest-xdist 3.1 would run it for ever."""
            work = self.assigned_work[node]
            left = [test for unit in work.values() for test, done in unit.items() if not done]
            for name, unit in list(work.items()):
                unit.update({test: True for test in left[:1] if test in unit})
                if all(unit.values()):
                    del work[name]
            super().remove_node(node)
            return left[0] if left else None

    return LongestFirst


def long_units(tests: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Of the tests of a run: what takes long, the longest first."""
    units: dict[str, float] = defaultdict(float)
    for name, spent in tests.items():
        alone = spent["wall_s"] >= LONG_S and not spent.get("shares", True)
        units[name if alone else name.partition("::")[0]] += spent["wall_s"]
    listed = sorted(units.items(), key=lambda unit: -unit[1])
    return {name: round(wall_s) for name, wall_s in listed if wall_s >= LONG_S}


if __name__ == "__main__":
    run = json.loads((BUILD / "tests" / "times.json").read_text())
    if run["exit_status"] not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        sys.exit("order: the last run was stopped: run make check to its end")
    LONGEST.write_text(json.dumps(long_units(run["tests"]), indent=1) + "\n")
