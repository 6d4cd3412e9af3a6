# SPDX-License-Identifier: GPL-2.0
"""The tables of README.md and docs/results/planted.md, from the records of before and after; and
that of all faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from apogee_lab.results.text import as_markdown
from tests import ROOT
from tests.planted import faults
from tests.planted.faults import Fault
from tests.planted.run import Record, cost, read

FOLDER = ROOT / "docs" / "results" / "planted"
BEFORE, AFTER = FOLDER / "before.jsonl", FOLDER / "after.jsonl"
PAGE = Path(__file__).with_name("README.md")
WHOLE = ROOT / "docs" / "results" / "planted.md"

LANES = ("check", "deep", "not check", "nobody", "open")
PLACES = {
    "include/apogee/": "headers",
    "shake/": "SHAKE",
    "sscop/": "SSCOP",
    "bpf/": "BPF loader",
    "scripts/apogee_lab/": "lab",
    "tcp_": "congestion controls",
}


def place(fault: Fault) -> str:
    """The part of the product that it is in."""
    return next((name for at, name in PLACES.items() if fault.file.startswith(at)), "packaging")


def verdict(fault: Fault, records: Sequence[Record]) -> tuple[str, Record | None]:
    """The lane that sees a fault, and the record of it. If none does: nobody, not check (deep was
    not asked), or open. Of several commits the last counts."""
    mine = [r for r in records if (r["fault"], r["version"]) == (fault.name, fault.version)]
    mine = [r for r in mine if r["commit"] == mine[-1]["commit"]]
    seen = next((r for r in mine if r["result"] == "seen"), None)
    if seen:
        return seen["lane"], seen
    left = {cost(entry) for entry in mine[-1]["left"]} if mine else {"units"}
    if left - {"deep"} or any(r["result"] != "passed" for r in mine):
        return "open", None
    return "not check" if left else "nobody", None


def _witness(lane: str, record: Record | None) -> str:
    if record is None:
        return lane
    test = record["by"].removeprefix("tests/").partition("[")[0]
    return f"{lane}: `{test}`, {record['seconds']:.0f} s"


def whole(known: Sequence[Fault], before: Sequence[Record], after: Sequence[Record]) -> str:
    """A row for each fault."""
    rows = [["fault", "in", "kind", "what a user would see", "before", "now"]]
    for fault in known:
        told = [_witness(*verdict(fault, records)) for records in (before, after)]
        rows.append([f"`{fault.name}`", f"`{fault.file}`", fault.kind, fault.seen, *told])
    return as_markdown(rows, left=6) + "\n"


def unseen(known: Sequence[Fault], after: Sequence[Record]) -> str:
    """A row for each fault that `check` does not see."""
    rows = [["fault", "in", "what a user would see", "now"]]
    for fault in known:
        lane, _ = verdict(fault, after)
        if lane != "check":
            rows.append([f"`{fault.name}`", f"`{fault.file}`", fault.seen, lane])
    return as_markdown(rows, left=4) + "\n"


def sums(known: Sequence[Fault], before: Sequence[Record], after: Sequence[Record]) -> str:
    """A row for each part of the product: how many faults each lane sees, before / now."""
    places = [*PLACES.values(), "packaging"]
    rows = [["in", "faults", *LANES]]
    for name in (*places, "all"):
        mine = [fault for fault in known if name in (place(fault), "all")]
        counts = [Counter(verdict(f, records)[0] for f in mine) for records in (before, after)]
        rows.append([name, str(len(mine)), *(" / ".join(str(c[lane]) for c in counts)
                                             for lane in LANES)])  # fmt: skip
    return as_markdown(rows, left=1) + "\n"


def _put(page: str, name: str, text: str) -> str:
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    ahead, rest = page.split(begin)
    return ahead + begin + text + end + rest.split(end)[1]


def written(pages: dict[Path, str]) -> dict[Path, str]:
    """The pages with their tables anew."""
    told = faults.read(), read(BEFORE), read(AFTER)
    return {
        PAGE: _put(pages[PAGE], "sums", sums(*told)),
        WHOLE: _put(pages[WHOLE], "faults", unseen(told[0], told[2])),
    }


def write() -> None:
    """Put the tables into the pages."""
    for page, text in written({page: page.read_text() for page in (PAGE, WHOLE)}).items():
        page.write_text(text)
