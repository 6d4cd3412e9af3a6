# SPDX-License-Identifier: GPL-2.0
"""Proofs about headers of pure code by Frama-C: see README.md beside this file.

``python3 -m tests.proof [NAME...]`` proves claims of intervals.c and the contracts, all by
default, and prints the CPU time that each takes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.kernel import ROOT, pure

FOLDER = Path(__file__).parent
#: Contracts, and how WP is run for them. With its assertions about each access the provers do not
#: find that a list is all that a loop of holes.c assigns: that is proven without them.
SOURCES = {
    "contracts.c": [["-wp-rte"]],
    "holes.c": [["-wp-rte", "-wp-prop=-@assigns"], ["-wp-prop=@assigns"]],
}
OVERFLOWS = "-warn-unsigned-overflow -warn-unsigned-downcast -warn-signed-downcast".split()
INTERVALS = (
    "-eva -eva-precision 7 -eva-domains symbolic-locations,octagon,equality -lib-entry"
    " -eva-context-valid-pointers"
).split()
#: A goal is given up after so many steps of a prover, however fast the machine is. The time (s)
#: ends what counts no steps.
LIMITS = "-wp-steps 5000000 -wp-timeout 1500".split()
CONTRACTS = ["-wp", "-wp-prover", "z3,cvc4", "-wp-par", "2", *LIMITS]


class ProofError(Exception):
    """Frama-C could not be run to its end."""


def claims() -> list[str]:
    """Functions of intervals.c that begin with prove_ or wrap_."""
    text = (FOLDER / "intervals.c").read_text(encoding="utf-8")
    return re.findall(r"^void ((?:prove|wrap)_\w+)\(", text, re.M)


def _functions(text: str) -> list[str]:
    """Functions with a contract."""
    return re.findall(r"\*/\nstatic inline [\w \*]*?\b(\w+)\(", text)


def _section(source: str, title: str) -> str:
    text = (FOLDER / source).read_text(encoding="utf-8")
    return text.partition(f"/* --- {title} --- */")[2].partition("/* ---")[0]


def _contracts_of(source: str) -> list[str]:
    text = (FOLDER / source).read_text(encoding="utf-8")
    elsewhere = _section(source, "proven in intervals.c") + _section(source, "not proven")
    assumed = _functions(elsewhere)
    lemmas = ["lemmas"] if "/*@ lemma" in text else []
    return [*lemmas, *(name for name in _functions(text) if name not in assumed)]


def contracts() -> list[str]:
    """Functions with a contract that is to be proven here, and the lemmas."""
    return [name for source in SOURCES for name in _contracts_of(source)]


def _frama_c(source: str, tree: Path, options: list[str], folder: Path) -> str:
    flags = [f"-cpp-extra-args=-I{path}" for path in (tree / "include", tree, FOLDER)]
    command = ["frama-c", str(FOLDER / source), *flags, "-machdep", "gcc_x86_64"]
    command += ["-no-warn-invalid-bool", *options]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | {"HOME": str(folder)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise ProofError(done.stdout[-2000:] + done.stderr[-2000:])
    return done.stdout


def _assertions(claim: str) -> int:
    text = (FOLDER / "intervals.c").read_text(encoding="utf-8")
    return text.split(f"void {claim}(")[1].split("\n}")[0].count("//@ assert")


def unproven_interval(claim: str, folder: Path, tree: Path = ROOT) -> list[str]:
    """What Eva could not prove about a claim of intervals.c."""
    wraps = [] if claim.startswith("wrap_") else OVERFLOWS
    text = _frama_c("intervals.c", tree, [*wraps, *INTERVALS, "-main", claim], folder)
    if "done for function" not in text:
        raise ProofError(text[-2000:])
    left = re.findall(
        r"^(?:\[eva:alarm\].*|.*assertion got status (?:unknown|invalid).*)$", text, re.M
    )
    if (written := _assertions(claim)) and not left:
        reached = re.search(r"^ +Assertions +(\d+) valid .* (\d+) total$", text, re.M)
        if not reached or int(reached[1]) < written:
            left = [f"not all of the {written} assertions are reached"]
    return left


def unproven_contracts(names: list[str], folder: Path, tree: Path = ROOT) -> list[str]:
    """Goals about these functions that no prover of WP proved."""
    prepare(folder)
    tree = annotated(tree, folder)
    source = next(source for source in SOURCES if set(names) <= set(_contracts_of(source)))
    split = set(names) <= set(_functions(_section(source, "times wrap, goals are split")))
    wrap = split or set(names) <= set(_functions(_section(source, "times wrap")))
    options = [*([] if wrap else OVERFLOWS), *CONTRACTS, *(["-wp-split"] if split else [])]
    what = ["-wp-prop", "@lemma"] if names == ["lemmas"] else ["-wp-fct", ",".join(names)]
    told = [_frama_c(source, tree, [*options, *run, *what], folder) for run in SOURCES[source]]
    with_goals = [text for text in told if "No goal generated" not in text]
    if not with_goals:
        raise ProofError(told[0][-2000:])
    return [goal for text in with_goals for goal in _failed(text)]


def _failed(text: str) -> list[str]:
    """Goals that no prover proved, in what WP tells."""
    proved = re.search(r"Proved goals:\s+(\d+) / (\d+)", text)
    if not proved:
        raise ProofError(text[-2000:])
    failed = re.findall(r"\[(?:Failed|Timeout|Stepout|Unknown)\] Goal (\S+)", text)
    failed += re.findall(r"guaranteed RTE:.*", text)
    if proved[1] != proved[2] and not failed:
        failed = [proved[0]]
    return failed


def copied(tree: Path, to: Path) -> dict[str, Path]:
    """A copy of a source tree's headers of pure code; by their names."""
    copy = {}
    for header in pure(tree):
        copy[header.name] = to / header.relative_to(tree)
        copy[header.name].parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(header, copy[header.name])
    return copy


def annotated(tree: Path, folder: Path) -> Path:
    """A copy of the headers with what loops.txt says of their loops."""
    shutil.rmtree(folder / "annotated", ignore_errors=True)
    copy = copied(tree, folder / "annotated")
    for block in (FOLDER / "loops.txt").read_text(encoding="utf-8").split("\n\n")[1:]:
        name, *lines = block.strip().split("\n")
        header, function, *which = name.split()
        path = copy[header]
        text = path.read_text(encoding="utf-8")
        body = re.search(rf"\b{function}\([^;{{}}]*\)\n{{.*?\n}}\n", text, re.S)
        loops = body and list(re.finditer(r"^\t+(?:while|for) \(", body[0], re.M))
        place = int(which[0]) - 1 if which else 0
        if not loops or place >= len(loops):
            raise ProofError(f"loops.txt: {header} has no such loop in {function}()")
        at = body.start() + loops[place].start()
        annotation = " ".join(line.strip() for line in lines)
        path.write_text(f"{text[:at]}/*@ {annotation} */\n{text[at:]}", encoding="utf-8")
    return folder / "annotated"


def prepare(folder: Path) -> None:
    """Let Why3, which WP calls, look for the provers: ``folder`` is their HOME."""
    if not (folder / ".why3.conf").exists():
        subprocess.run(
            ["why3", "config", "detect"], env=os.environ | {"HOME": str(folder)},
            capture_output=True, check=True,
        )  # fmt: skip
