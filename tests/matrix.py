# SPDX-License-Identifier: GPL-2.0
"""The kernel matrix: ``make matrix``, or ``python3 -m tests.matrix [SUITE...]``.

Each suite of ``kernel.SUITES`` has a row of its own and one per foreign architecture. For this
machine's architecture the modules are built with W=1, checked by sparse, and loaded by that very
kernel in a guest, where each algorithm and a link of type sscop move data and ``answers`` computes
what the unit tests computed in user space. Another guest has the algorithms as BPF programs (bpf),
and those of ``tests/asked`` compute the same (bpf answers). For other architectures the modules are
compiled and checked; one that a suite does not carry today has a row that says so. A second table
has all releases that the suites and sid list, with each flavour, compiled with W=1; ``listed`` in
the arguments asks for it alone. Exit status 1 if a cell fails.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apogee_lab import modules
from apogee_lab.algorithms import module_of
from apogee_lab.base import LabError
from apogee_lab.engines import qemu
from apogee_lab.engines.work import GuestFailed
from apogee_lab.kernels import debian, foreign_headers, listed
from apogee_lab.kernels.apt import NotCarried
from apogee_lab.kernels.kernel import SUITES, Kernel
from apogee_lab.results.text import NONE, as_text
from tests import BUILD, ROOT
from tests.asked import guests, kept
from tests.guest.runs import Case, Run, run_cases

COLUMNS = ("W=1", "sparse", "boots", "loads", "smoke", "answers", "bpf", "bpf answers")
ALGORITHMS = ("star", "j", "hstcp_gentle", "compound_plus", "compound")
PROGRAMS = ("bpf_star", "bpf_gentle", "bpf_comp_plus", "bpf_compound")
UNSTABLE = "sid"  # compiled for, not booted
LEAST_BPS = 1e6  # of 10 Mbit/s, in the first seconds of a connection

_COMPLAINT = re.compile(r"\b(warning|error)\b", re.IGNORECASE)


@dataclass
class Row:
    """One kernel: for each column that applies, what is wrong, empty if nothing is.

    ``release`` is empty if there is no kernel; ``note`` is no failure.
    """

    suite: str
    arch: str
    release: str = ""
    cells: dict[str, str] = field(default_factory=dict)
    note: str = ""

    def look(self, column: str, check: Callable[[], str]) -> bool:
        """Fill a cell; whether nothing is wrong."""
        print(f"{self.name}: {column}", file=sys.stderr, flush=True)
        try:
            self.cells[column] = check()
        except (LabError, GuestFailed, AssertionError) as error:
            self.cells[column] = str(error) or "failed"
        return not self.cells[column]

    @property
    def name(self) -> str:
        """The kernel's release, or what was to have one."""
        return self.release or f"{self.suite} for {self.arch}"

    @property
    def failures(self) -> list[str]:
        """What is wrong, a line per cell."""
        return [f"{self.name}: {column}: {why}" for column, why in self.cells.items() if why]

    def texts(self) -> list[str]:
        """The row of the table."""
        found = [self.cells.get(column) for column in COLUMNS]
        return [self.suite, self.arch, self.release or NONE, *map(_cell, found)]


def _cell(why: str | None) -> str:
    if why is None:
        return NONE
    return "FAILED" if why else "ok"


def _compiled(k: Kernel, out: Path, *words: str, flags: Sequence[str] = ()) -> str:
    """Build; the complaints of compiler, checker and kernel's tools."""
    command = [str(ROOT / "scripts" / "build-modules"), *words, str(k.headers), str(out), *flags]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    lines = [line for line in done.stdout.splitlines() if _COMPLAINT.search(line)]
    if done.returncode and not lines:
        lines = done.stdout.splitlines()[-3:]
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


def suite_rows(suite: str, asked: Path) -> list[Row]:
    """This machine's row and those of the other architectures."""
    native = native_row(suite, asked)
    return [native, *(foreign_row(suite, arch, native) for arch in foreign_headers.FLAVOURS)]


def listed_rows(suite: str) -> Iterator[Row]:
    """All releases that a suite lists, with their flavours."""
    for arch in listed.FLAVOURS:
        try:
            releases = listed.releases(suite, arch)
        except LabError as error:
            yield Row(suite, arch, note=str(error))
            continue
        for release in releases:
            row = Row(suite, arch, release)
            row.look("W=1", lambda: _listed(suite, arch, release))  # noqa: B023 # called here
            yield row


def _listed(suite: str, arch: str, release: str) -> str:
    out = BUILD / "matrix" / release
    try:
        with listed.headers(suite, arch, release) as k:
            return _compiled(k, out, "--product", flags=("W=1",))
    finally:
        shutil.rmtree(out, ignore_errors=True)


def listed_table(rows: Sequence[Row]) -> str:
    """A row per release: its flavours, and whether all compile."""
    lines: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        base = re.match(r"[^-]*(-\d+)?", row.release)
        lines.setdefault((row.suite, base[0] if base else ""), []).append(row)
    cells = [
        [suite, base or NONE, *(" ".join(_flavours(group, bad)) or NONE for bad in (False, True))]
        for (suite, base), group in lines.items()
    ]
    return as_text([["suite", "kernel", "W=1", "FAILED"], *cells])


def _flavours(group: Sequence[Row], bad: bool) -> list[str]:
    return [
        row.release.split("-", 2 if row.release.startswith("6.1.0-") else 1)[-1]
        for row in group
        if row.release and bool(row.failures) == bad
    ]


def table(rows: Sequence[Row]) -> str:
    """The rows as text, notes at their ends."""
    lines = as_text([["suite", "for", "kernel", *COLUMNS], *(row.texts() for row in rows)])
    notes = ["", *(row.note for row in rows)]
    pairs = zip(lines.split("\n"), notes, strict=True)
    return "\n".join(f"{line}  {note}".rstrip() for line, note in pairs)


def main(argv: Sequence[str]) -> int:
    """Print the tables of these suites, or of all."""
    only = "listed" in argv
    suites = [name for name in argv if name != "listed"]
    unknown = [name for name in suites if name not in (*SUITES, UNSTABLE)]
    if unknown:
        there = ", ".join((*SUITES, UNSTABLE))
        print(f"matrix: unknown suite '{unknown[0]}'; choose from: {there}", file=sys.stderr)
        return 2
    suites = suites or [*SUITES, UNSTABLE]
    try:
        asked = ROOT if only else kept.run()
        booted = [] if only else [s for s in suites if s != UNSTABLE]
        rows = [row for suite in booted for row in suite_rows(suite, asked)]
        others = [row for suite in suites for row in listed_rows(suite)]
    except (LabError, AssertionError) as error:
        print(f"matrix: {error}", file=sys.stderr)
        return 1
    print("\n\n".join([*([table(rows)] if rows else []), listed_table(others)]))
    failures = [line for row in [*rows, *others] for line in row.failures]
    print("\n".join(failures), end="\n" if failures else "", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
