# SPDX-License-Identifier: GPL-2.0
"""A fault in each kind of file, planted into the last commit, is seen.

`python3 -m tests.planted` plants all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import BUILD, ROOT
from tests.planted import faults
from tests.planted.copy import Copy
from tests.planted.run import Run, read

pytestmark = pytest.mark.deep

#: A header, a part of a module that is compiled for user space, too, the lab, a shell script.
NAMES = ("idle-halving", "shake-confirm-old", "lab-variance", "bpf-prerm")


@pytest.fixture(scope="module")
def copy() -> Copy:
    """Of the last commit."""
    return Copy(ROOT, "HEAD", BUILD / "planted" / "few")


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_is_seen(copy: Copy, tmp_path: Path, name: str) -> None:
    run = Run(copy, tmp_path / "records.jsonl")
    run.plant([fault for fault in faults.read() if fault.name == name])
    assert read(run.path)[-1]["result"] == "seen"
