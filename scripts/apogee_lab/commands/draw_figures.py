# SPDX-License-Identifier: GPL-2.0
"""What Snakemake's rules call: ``python3 -m apogee_lab.commands.draw_figures STEP SCHEDULE``.

``draw SCHEDULE FIGURE`` writes FIGURE.svg, FIGURE.png, FIGURE.json (the rows of the table) and
FIGURE.jsonl (the records behind them) to the schedule's folder; ``table SCHEDULE`` makes the page
from those rows, and puts all records beside it; ``kept FILE`` prints the page again from records,
``short FILE`` what a page of docs/results shows of it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base import LabError, write_whole
from ..papers import kept, report
from ..papers.catalogue import Choice, choose
from ..papers.claims import Results

NOT_DRAWN = "not measured: a run of this figure failed"


def read_schedule(path: Path) -> dict[str, Any]:
    """The schedule that ``schedule.as_json`` made."""
    return json.loads(path.read_text(encoding="utf-8"))


def made_of(schedule: dict[str, Any], name: str) -> list[str]:
    """What a figure was drawn from: the sources' version, the runs' keys."""
    return [schedule["version"], *(member["key"] for member in schedule["figures"][name])]


def _drawn(schedule: dict[str, Any], name: str) -> dict[str, Any] | None:
    """The rows of a figure drawn from this schedule, or None."""
    try:
        path = Path(schedule["out"]) / f"{name}.json"
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if found["of"] == made_of(schedule, name) else None


def draw(schedule: dict[str, Any], choice: Choice) -> None:
    """Draw one figure and check its claims."""
    from ..papers import series
    from ..papers.drawings import DRAWN
    from ..results.finished import FinishedRun
    from ..results.style import save

    runs: dict[str, list[FinishedRun]] = {}
    records: dict[str, list[dict[str, Any]]] = {}
    for member in schedule["figures"][choice.name]:
        run = FinishedRun.load(Path(schedule["runs_dir"]) / member["key"])
        more = {}
        if choice.figure.over_time:
            more = {"series": series.summary(run.raw, run.meta, choice.figure.traced)}
        if choice.figure.counted:
            more = {"event_rate": series.event_rate(run.raw, run.meta, *choice.figure.counted)}
        if choice.figure.extra:
            more = choice.figure.extra(run)
        runs.setdefault(member["variant"], []).append(run)
        records.setdefault(member["variant"], []).append(run.record | more)
    out = Path(schedule["out"]) / choice.name
    save(DRAWN[choice.figure.draw](choice.figure, runs), out)
    results = {variant: Results(found) for variant, found in records.items()}
    kernels = {record["kernel"] for found in records.values() for record in found}
    rows = {
        "of": made_of(schedule, choice.name),
        "kernels": sorted(kernels),
        "rows": report.rows(choice, results),
        "tables": report.tables(choice, results),
    }
    write_whole(out.with_name(f"{choice.name}.jsonl"), kept.as_lines(choice.name, records))
    write_whole(out.with_name(f"{choice.name}.json"), json.dumps(rows, indent=1) + "\n")


def page(schedule: dict[str, Any]) -> str:
    """The table of the schedule's figures, also of those that could not be drawn."""
    choices = choose(list(schedule["figures"]))
    found, more, kernels = {}, {}, set()
    for choice in choices:
        drawn = _drawn(schedule, choice.name)
        if drawn is None:
            found[choice.name] = report.missing(choice, NOT_DRAWN)
            continue
        found[choice.name], more[choice.name] = drawn["rows"], drawn["tables"]
        kernels |= set(drawn["kernels"])
    return report.markdown(choices, found, schedule, kernels, more)


def records_path(table: Path) -> Path:
    """The file for the records behind a table."""
    return table.with_name(table.name.replace("table-", "records-", 1)).with_suffix(".jsonl.xz")


def keep(schedule: dict[str, Any]) -> bytes:
    """The records of the schedule's figures, compressed."""
    return kept.compressed(
        (Path(schedule["out"]) / f"{name}.jsonl").read_text(encoding="utf-8")
        for name in schedule["figures"]
        if _drawn(schedule, name) is not None
    )


def main(argv: Sequence[str]) -> int:
    """Run one step; the exit status."""
    steps = {"draw": 3, "table": 2, "kept": 2, "short": 2}
    printed = {"kept": kept.page, "short": kept.short}
    if not argv or len(argv) != steps.get(argv[0]):
        print(
            "usage: draw_figures draw SCHEDULE FIGURE | table SCHEDULE | kept FILE | short FILE",
            file=sys.stderr,
        )
        return 2
    try:
        if argv[0] in printed:
            print(printed[argv[0]](kept.read(Path(argv[1]))))
            return 0
        schedule = read_schedule(Path(argv[1]))
        if argv[0] == "draw":
            draw(schedule, choose([argv[2]])[0])
        else:
            table = Path(schedule["table"])
            write_whole(records_path(table), keep(schedule))
            write_whole(table, page(schedule))
    except LabError as error:
        print(f"draw_figures: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
