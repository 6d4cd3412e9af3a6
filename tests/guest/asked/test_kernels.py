# SPDX-License-Identifier: GPL-2.0
"""A kernel and its BPF programs answer as user space does; `make matrix` asks the other kernels."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from apogee_lab.engines import uml
from apogee_lab.kernels import debian, uml_kernel
from tests.asked import bpf, guests, kept
from tests.asked.recorder import Recorder
from tests.matrix import checks
from tests.unit.headers.cheaders import compile_library

pytestmark = pytest.mark.guest


@pytest.fixture(scope="module")
def asked() -> Path:
    return kept.run()


@pytest.mark.uml
def test_a_kernel_answers_alike(modules: Path, asked: Path) -> None:
    assert guests.answered(uml_kernel.kernel(), asked, uml) == ""


def test_bpf_programs_answer_alike(asked: Path) -> None:
    assert guests.answered_in_bpf(debian.kernel(), asked) == ""


@pytest.mark.deep
@pytest.mark.parametrize("suite", ["bookworm", "bookworm-backports"])
def test_rows_of_the_matrix(suite: str, asked: Path) -> None:
    row = checks.native_row(suite, asked)
    assert row.failures == []
    assert list(row.cells) == list(checks.COLUMNS)


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


@pytest.mark.deep
@pytest.mark.parametrize("fault", PLANTED)
def test_a_fault_in_bpf_only_is_told(
    fault: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (right, wrong), told = PLANTED[fault]
    library = compile_library(root, root / "build" / "unit", sanitized=False)
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
    assert guests.answered_in_bpf(debian.kernel(), tmp_path).startswith(told)
