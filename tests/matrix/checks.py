# SPDX-License-Identifier: GPL-2.0
"""What is done with the kernels of the suites."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from apogee_lab import modules
from apogee_lab.algorithms import module_of
from apogee_lab.base import LabError
from apogee_lab.engines import qemu
from apogee_lab.kernels import debian, foreign_headers, listed
from apogee_lab.kernels.apt import NotCarried
from apogee_lab.kernels.kernel import Kernel
from tests import BUILD, ROOT
from tests.asked import guests
from tests.guest.runs import Case, Run, run_cases
from tests.matrix import equal
from tests.matrix.rows import Row

COLUMNS = ("W=1", "sparse", "boots", "loads", "smoke", "answers", "bpf", "bpf answers")
ALGORITHMS = ("star", "j", "hstcp_gentle", "compound_plus", "compound")
PROGRAMS = ("bpf_star", "bpf_gentle", "bpf_comp_plus", "bpf_compound")
LEAST_BPS = 1e6  # of 10 Mbit/s, in the first seconds of a connection

_COMPLAINT = re.compile(r"\b(warning|error)\b", re.IGNORECASE)


def _compiled(k: Kernel, out: Path, *words: str, flags: Sequence[str] = ()) -> str:
    """Build; the complaints of compiler, checker and kernel's tools."""
    command = [str(ROOT / "scripts" / "build-modules"), *words, str(k.headers), str(out), *flags]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    said = done.stdout.splitlines()
    lines = [line for line in said if _COMPLAINT.search(line)]
    if done.returncode:  # why make stops need not say "error"
        stop = next((n for n, line in enumerate(said) if "***" in line), len(said))
        lines = [*said[max(stop - 3, 0) : stop], *lines]
    return "\n    ".join(lines)


def compile_row(suite: str, arch: str, k: Kernel) -> Row:
    """W=1 and sparse, from nothing."""
    row = Row(suite, arch, k.release)
    out = BUILD / "matrix" / k.release
    shutil.rmtree(out, ignore_errors=True)
    row.look("W=1", lambda: _compiled(k, out, flags=["W=1"]))
    # What is up to date is checked, not compiled again.
    row.look("sparse", lambda: _compiled(k, out, flags=["C=2"]))
    return row


def _case(cc: str, unload: str, file: str, **how: Any) -> Case:
    """A flow that ss looks at; afterwards what carried it is removed, and its file is gone."""
    return Case(
        **{"values": {"ber": 0}, **how},  # one early loss, and six seconds say nothing
        cc=cc,
        duration_s=6,
        beside="sleep 3\nip netns exec snd ss -tin 'dport = :5201' >$OUT/ss\n",
        after=f"{unload} && [ ! -e {file} ] && echo gone >$OUT/unloaded",
    )


def _module_case(cc: str) -> Case:
    module = module_of(cc)
    return _case(cc, f"rmmod {module}", f"/sys/module/{module}")


def _bpf_case(cc: str) -> Case:
    return _case(cc, f"apogee-bpf unload {cc}", "/sys/fs/bpf/apogee")


def _link_case() -> Case:
    """A flow over links of type sscop."""
    values = {"ber": 1e-5, "segment": 256, "window": 72}
    unload = "sleep 1; rmmod sscop"
    return _case("cubic", unload, "/sys/module/sscop", values=values, scenario="radio")


def _cases() -> dict[str, Case]:
    return {cc: _module_case(cc) for cc in ALGORITHMS} | {"sscop": _link_case()}


def _smoked(run: Run) -> str:
    """What is wrong with a run: too little arrived, or ss does not show the algorithm."""
    goodput = run.record["total_goodput_bps"]
    if goodput < LEAST_BPS:
        return f"{run.case.cc}: {goodput:.0f} bit/s"
    if not re.search(rf"\b{run.case.cc} wscale:", run.text("ss")):
        return f"{run.case.cc}: ss shows {run.text('ss')!r}"
    return ""


def native_row(suite: str, asked: Path) -> Row:
    """All columns, for the kernel that the lab boots; without it, why it is missing."""
    try:
        k = debian.kernel(suite)
    except LabError as error:
        return Row(suite, "amd64", cells={"W=1": str(error)})
    row = compile_row(suite, "amd64", k)
    if row.failures:
        return row
    modules.build(k)
    runs: dict[str, Run] = {}
    name = f"matrix-{k.release}"
    out = BUILD / "tests" / name

    def boots() -> str:
        runs.update(run_cases(BUILD, name, _cases(), engine=qemu, kernel=suite))
        release = (out / "uname").read_text().strip()
        return "" if release == k.release else f"{release} has booted"

    def bpf() -> str:
        name = f"matrix-bpf-{k.release}"
        cases = {cc: _bpf_case(cc) for cc in PROGRAMS}
        runs = run_cases(BUILD, name, cases, engine=qemu, kernel=suite)
        left = [
            f"still loaded: {cc}" for cc, r in runs.items() if not (r.raw / "unloaded").exists()
        ]
        wrong = [*map(_smoked, runs.values()), *left, guests.trouble(BUILD / "tests" / name)]
        return "; ".join(filter(None, wrong))

    if row.look("boots", boots):
        left = [cc for cc, run in runs.items() if not (run.raw / "unloaded").exists()]
        row.look("loads", lambda: f"still loaded: {', '.join(left)}" if left else "")
        wrong = [*map(_smoked, runs.values()), guests.trouble(out)]
        row.look("smoke", lambda: "; ".join(filter(None, wrong)))
        row.look("answers", lambda: guests.answered(k, asked))
        row.look("bpf", bpf)
        row.look("bpf answers", lambda: guests.answered_in_bpf(k, asked))
    return row


def foreign_row(suite: str, arch: str, native: Row) -> Row:
    """What can be seen of another machine's kernel; without its headers, why they are missing."""
    try:
        k = foreign_headers.kernel(suite, arch)
    except NotCarried as error:
        return Row(suite, arch, note=str(error))
    except LabError as error:
        return Row(suite, arch, cells={"W=1": str(error)})
    row = compile_row(suite, arch, k)
    ours = native.release.removesuffix("-amd64")
    if ours and ours != k.release.removesuffix(f"-{foreign_headers.FLAVOURS[arch]}"):
        row.note = f"amd64 has {ours}"
    return row


def listed_row(
    asked: listed.Asked, fetched: Future[Kernel], twin: Callable[[Row], Row | None]
) -> Row:
    """A release that a suite lists, compiled and checked in one go, unless its headers and tools
    are those of a row that was."""
    row = Row(*asked)
    out = BUILD / "matrix" / row.release

    def compiled() -> str:
        k = fetched.result()
        row.headers = equal.headers(k)
        if other := twin(row):
            row.note = f"headers of {other.release}"
            return ""
        return _compiled(k, out, "--product", flags=("W=1", "C=1"))

    try:
        row.look("W=1, sparse", compiled)
    finally:
        shutil.rmtree(out, ignore_errors=True)
    return row
