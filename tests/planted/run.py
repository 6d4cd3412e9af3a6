# SPDX-License-Identifier: GPL-2.0
"""Who sees a fault: tests are asked one after another, and each answer is recorded at once."""

from __future__ import annotations

import contextlib
import datetime
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from apogee_lab.base import LabError
from tests.planted.copy import Answer, Copy
from tests.planted.faults import Fault

#: An answer as it is kept: ``result`` is seen, passed, unasked, or does not compile; ``left`` are
#: those who were not asked yet.
Record = dict[str, Any]
BUILD = "build"


#: What tests cost, the cheapest first.
COSTS = ("units", "guests", "deep")


def cost(entry: str) -> str:
    """What it costs to ask these tests: of ``deep``, hours."""
    if entry.startswith("tests/deep/") or "-m deep" in entry:  # the folder, at older commits
        return "deep"
    return "units" if entry.startswith("tests/unit/") else "guests"


def read(path: Path) -> list[Record]:
    """The records of a file; none if there is no file. A line that was cut short is left out."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


class Run:
    """Plants faults into a copy, and appends records to a file."""

    def __init__(self, copy: Copy, path: Path) -> None:
        self.copy = copy
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text() if path.exists() else ""
        if text and not text.endswith("\n"):
            path.write_text("".join(f"{line}\n" for line in text.splitlines()[:-1]))
        self.records = read(path)

    def plant(self, wanted: Sequence[Fault], most: str = "guests") -> None:
        """Ask about all faults, the cheapest tests first, and no dearer ones than ``most``."""
        for each in COSTS[: COSTS.index(most) + 1]:
            while groups := self._next(wanted, each):
                for entry, faults in groups.items():
                    self._ask_together(faults, entry)

    def _next(self, wanted: Sequence[Fault], each: str) -> dict[str, list[Fault]]:
        """Of each fault the next tests of this cost, with all faults that they are next for."""
        groups: dict[str, list[Fault]] = {}
        for fault in wanted:
            entries = [entry for entry in self._left(fault) if cost(entry) == each]
            if entries:
                groups.setdefault(entries[0], []).append(fault)
        return groups

    def _known(self, fault: Fault) -> list[Record]:
        mine = (fault.name, fault.version, self.copy.commit)
        return [r for r in self.records if (r["fault"], r["version"], r["commit"]) == mine]

    def _left(self, fault: Fault) -> list[str]:
        """Who may still be asked about a fault."""
        known = self._known(fault)
        if any(r["entry"] == BUILD or r["result"] == "seen" for r in known):
            return []
        answered = {r["entry"] for r in known}
        return [entry for entry in fault.asked if entry not in answered]

    def _ask_together(self, wanted: Sequence[Fault], entry: str) -> None:
        """Ask about faults that are all there at once: if none is seen, that was all. If tests
        fail, they are asked about each fault alone."""
        tests = shlex.split(entry) + ([] if cost(entry) == "deep" else ["-m", "not deep"])
        if len(wanted) > 1:
            with self._planted(wanted) as complaint:
                if not complaint:
                    # Those that cannot be asked are asked about each, which notes why.
                    with contextlib.suppress(LabError):
                        tests = self.copy.failing(tests)
        for fault in wanted:
            if tests:
                self._ask(fault, entry, tests)
            else:
                names = [other.name for other in wanted if other is not fault]
                self._note(fault, entry, "passed", Answer(), beside=names)

    @contextlib.contextmanager
    def _planted(self, wanted: Sequence[Fault]) -> Iterator[str]:
        """The copy has these faults; what the compilers complain of, if they do."""
        self.copy.mend()
        try:
            for fault in wanted:
                fault.plant(self.copy.folder)
            yield next(filter(None, (self.copy.build(fault.file) for fault in wanted)), "")
        finally:
            self.copy.mend()

    def _ask(self, fault: Fault, entry: str, tests: Sequence[str]) -> None:
        """Ask tests. One that fails without the fault, too, is no witness: the others are asked."""
        unsound: list[str] = []
        while True:
            with self._planted([fault]) as complaint:
                if complaint:
                    self._note(fault, BUILD, "does not compile", Answer(said=complaint))
                    return
                try:
                    answer = self.copy.ask(tests, unsound)
                except LabError as error:
                    self._note(fault, entry, "unasked", Answer(said=str(error)))
                    return
            if not answer.failed:
                self._note(fault, entry, "passed", answer, unsound=unsound)
            elif answer.failed in unsound:
                self._note(fault, entry, "unasked", answer, unsound=unsound)
            elif self.copy.passes(answer.failed):
                self._note(fault, entry, "seen", answer, unsound=unsound)
            else:
                unsound.append(answer.failed)
                continue
            return

    def _note(self, fault: Fault, entry: str, result: str, answer: Answer, **more: Any) -> None:
        record: Record = {
            "fault": fault.name,
            "version": fault.version,
            "commit": self.copy.commit,
            "date": datetime.datetime.now(datetime.UTC).strftime("%F %R"),
            "kernel": self.copy.kernel,
            "entry": entry,
            "result": result,
            "left": [e for e in self._left(fault) if e != entry],
            "seconds": answer.seconds,
        }
        if answer.failed:
            record |= {"by": answer.failed, "lane": self.copy.lane(answer.failed)}
        record |= {"said": answer.said} if answer.said else {}
        record |= {key: value for key, value in more.items() if value}
        with self.path.open("a") as out:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
        self.records.append(record)
        words = [f"{fault.name}: {result}", entry, answer.failed, f"{answer.seconds} s"]
        print(", ".join(filter(None, words)), file=sys.stderr, flush=True)
