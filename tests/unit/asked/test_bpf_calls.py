# SPDX-License-Identifier: GPL-2.0
"""The calls that are asked in BPF: no function is left out, the random ones are worth asking."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.asked import bpf, calls, random_calls
from tests.asked.recorder import Recorder
from tests.unit.headers.cheaders import Library, compile_library


@pytest.fixture(scope="module")
def plain(root: Path) -> Library:
    return compile_library(root, root / "build" / "unit", sanitized=False)


@pytest.fixture(scope="module")
def prepared(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is asked after unit tests with these calls, the last of a device's function."""
    folder = tmp_path_factory.mktemp("prepared")
    asked = compile_library(root, root / "build" / "unit", sanitized=False)
    recorder = Recorder(asked)
    asked.div_u64(7, 2)
    asked.star_set_cwnd(asked.new("star_window", cwnd_reno=10), 7)
    asked.shake_before(1, 2)
    recorder.write(folder)
    bpf.prepare(asked.headers, folder, folder / "bpf")
    return folder / "bpf"


def test_only_functions_of_the_devices_are_left_out(plain: Library) -> None:
    left = set(plain.headers.functions) - set(bpf.functions(plain.headers).values())
    assert {name.split("_")[0] for name in left} == {"shake", "sscop"}


def test_the_sources_of_the_programs_include_no_header_of_a_device(root: Path) -> None:
    programs = " ".join(path.read_text() for path in (root / "bpf").glob("*.bpf.c"))
    sources = set(re.findall(r'#include "\.\./(tcp_\w+\.c)"', programs))
    assert sources == {"tcp_star.c", "tcp_hstcp_gentle.c", "tcp_compound_plus.c"}
    for source in sources:
        included = re.findall(r"#include <(\w+)/(?:.*/)?\w+\.h>", (root / source).read_text())
        assert "apogee" in included and not {"shake", "sscop"} & {*included}


def test_kept_calls_come_first(plain: Library, prepared: Path) -> None:
    made = list(calls.read(plain.headers, prepared / "answers"))
    assert [name for name, _ in made[:2]] == ["div_u64", "star_set_cwnd"]
    assert (made[0][1].result, made[1][1].w.cwnd_reno) == (3, 7)


def test_most_random_calls_of_each_function_are_defined(plain: Library, prepared: Path) -> None:
    """Those that are not are left out of the answers, too."""
    asked, answered = (list(calls.read(plain.headers, prepared / f)) for f in ("calls", "answers"))
    assert [name for name, _ in asked] == [name for name, _ in answered]
    counts = Counter(name for name, _ in asked)
    assert set(counts) == set(bpf.functions(plain.headers).values())
    assert min(counts.values()) > bpf.RANDOM // 3
    assert max(counts.values()) <= bpf.RANDOM + 1
    divisors = [call.divisor for name, call in asked if name == "div_u64"]
    assert counts["div_u64"] < bpf.RANDOM and 0 not in divisors


def test_the_wanted_answers_are_those_of_the_library(prepared: Path, plain: Library) -> None:
    files = [prepared / "calls", prepared / "answers"]
    pairs = zip(*(calls.read(plain.headers, file) for file in files), strict=True)
    for (name, call), (_, answered) in random.Random(0).sample(list(pairs), 3000):
        # in the call's own memory, where what is passed by reference is changed
        places = random_calls.arguments(type(call))
        result = getattr(plain, name)(*(kind.from_buffer(call, at) for _, kind, at in places))
        if result is not None:
            call.result = getattr(result, "contents", result)
        assert calls.values(call) == calls.values(answered), name
