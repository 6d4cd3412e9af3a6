# SPDX-License-Identifier: GPL-2.0
"""The rows of the kernel matrix that every change has to pass; `make matrix` has the others."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from apogee_lab.kernels import debian
from tests import bpf, matrix
from tests.unit.headers.answers import Recorder
from tests.unit.headers.cheaders import compile_library

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module")
def asked() -> Path:
    return matrix.record_calls()


@pytest.mark.parametrize("suite", ["bookworm", "bookworm-backports"])
def test_builds_boots_loads_moves_data_and_answers_alike(suite: str, asked: Path) -> None:
    row = matrix.native_row(suite, asked)
    assert row.failures == []
    assert list(row.cells) == list(matrix.COLUMNS)


PLANTED = {
    "a sign is lost": (
        ("-(s64)(n / d);", "(s64)(n / d);"),
        "div_s64: {'result': 3, 'dividend': -7, 'divisor': 2} instead of {'result': -3, ",
    ),
    "a loop has no end": (
        ("x |= x >> 32;", 'for (;;) asm volatile("");'),
        "refused by the verifier: call_3_fls64: ",
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_fault_in_bpf_only_is_told(
    fault: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (right, wrong), told = PLANTED[fault]
    library = compile_library(root / "include", tmp_path, sanitized=False)
    recorder = Recorder(library)
    library.div_s64(-7, 2)
    library.fls64(7)
    recorder.write(tmp_path)

    shutil.copytree(root / "include" / "apogee", tmp_path / "include" / "apogee")
    planted = tmp_path / "include" / "apogee" / "int.h"
    text = planted.read_text()
    assert text.count(right) == 1
    planted.write_text(text.replace(right, wrong))
    flags = bpf.flags()
    monkeypatch.setattr(bpf, "flags", lambda: ["-I", str(tmp_path / "include"), *flags])
    monkeypatch.setattr(bpf, "RANDOM", 10)
    assert matrix.answered_in_bpf(debian.kernel("bookworm"), tmp_path).startswith(told)
