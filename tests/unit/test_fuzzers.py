# SPDX-License-Identifier: GPL-2.0
"""libFuzzer's targets for some seconds; fuzz/test_fuzz.py runs all of them for longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import kept_fuzzer, run_fuzzer


@pytest.mark.parametrize(
    ("target", "runs", "longest"),
    [
        ("decode", 200_000, 200),
        ("peers", 500, 200),
        ("shake_flows", 50_000, 300),
        ("shake_wire", 100_000, 120),
    ],
)
def test_under_libfuzzer(tmp_path: Path, target: str, runs: int, longest: int) -> None:
    program = kept_fuzzer(target, tmp_path / target)
    run_fuzzer(program, f"-runs={runs}", f"-max_len={longest}", "-seed=1")
