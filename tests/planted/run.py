# SPDX-License-Identifier: GPL-2.0
"""Who sees a fault: tests are asked one after another, and each answer is recorded at once."""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Sequence
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
    if entry.startswith("tests/deep/") or "-m deep" in entry:
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
            for fault in wanted:
                self._ask(fault, [entry for entry in self._left(fault) if cost(entry) == each])

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

    def _ask(self, fault: Fault, entries: Sequence[str]) -> None:
        if not entries:
            return
        self.copy.mend()
        try:
            fault.plant(self.copy.folder)
            if complaint := self.copy.build(fault.file):
                self._note(fault, BUILD, "does not compile", Answer(said=complaint))
                return
            for entry in entries:
                if self._asked(fault, entry):
                    return
        finally:
            self.copy.mend()

    def _asked(self, fault: Fault, entry: str) -> bool:
        """Ask tests; whether they see it. One that fails without the fault, too, is no witness."""
        unsound: list[str] = []
        while True:
            try:
                answer = self.copy.ask(entry, unsound)
            except LabError as error:
                self._note(fault, entry, "unasked", Answer(said=str(error)))
                return False
            if not answer.failed:
                self._note(fault, entry, "passed", answer, unsound=unsound)
                return False
            self.copy.mend()
            sound = answer.failed not in unsound and self.copy.passes(answer.failed)
            if sound or answer.failed in unsound:
                result = "seen" if sound else "unasked"
                self._note(fault, entry, result, answer, unsound=unsound)
                return sound
            unsound.append(answer.failed)
            fault.plant(self.copy.folder)

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
