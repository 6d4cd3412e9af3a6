# SPDX-License-Identifier: GPL-2.0
"""The headers hold up under the compiler's sanitizers, and what is tried at random ten times as
often."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import kept


def test_under_sanitizers() -> None:
    """All of their unit tests again, with fewer examples."""
    kept.run()


@pytest.mark.deep
@pytest.mark.parametrize("folder", ["headers", "shake", "sscop"])
def test_with_ten_times_as_many_examples(folder: str, root: Path, build: Path) -> None:
    environment = {"APOGEE_HYPOTHESIS": "thorough", "PYTEST_XDIST_WORKER": f"thorough-{folder}"}
    log = build / "tests" / f"thorough-{folder}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    given = ["-m", "not repeats and not deep", root / "tests" / "unit" / folder]
    kept.pass_again(given, log, environment)
