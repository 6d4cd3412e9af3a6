# SPDX-License-Identifier: GPL-2.0
"""What Snakemake's rules call: ``python3 -m apogee_lab.figures draw PLAN FIGURE``, ``table PLAN``.

``draw`` leaves FIGURE.svg, FIGURE.png and FIGURE.json (the rows of the table) in the plan's folder;
``table`` makes the page from those rows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..images import LabError
from ..sweep import write_whole
from . import report
from .catalogue import Choice, choose


def read_plan(path: Path) -> dict[str, Any]:
    """The plan that ``plan.as_json`` made."""
    return json.loads(path.read_text(encoding="utf-8"))


def draw(plan: dict[str, Any], choice: Choice) -> None:
    """Draw one figure and judge its claims."""
    from .. import plots
    from . import draw as drawing
    from . import series

    runs: dict[str, list[plots.Run]] = {}
    judged: dict[str, list[dict[str, Any]]] = {}
    for member in plan["figures"][choice.name]:
        run = plots.Run.load(Path(plan["runs_dir"]) / member["key"])
        more = {"series": series.summary(run.raw, run.meta)} if choice.figure.over_time else {}
        runs.setdefault(member["variant"], []).append(run)
        judged.setdefault(member["variant"], []).append(run.record | more)
    out = Path(plan["out"]) / choice.name
    plots.save(drawing.DRAWN[choice.figure.draw](choice.figure, runs), out)
    kernels = {record["kernel"] for found in judged.values() for record in found}
    rows = {"rows": report.rows(choice, judged), "kernels": sorted(kernels)}
    write_whole(out.with_name(f"{choice.name}.json"), json.dumps(rows, indent=1) + "\n")


def page(plan: dict[str, Any], without: str = "") -> str:
    """The table of the plan's figures; ``without``: what to say of those that are not drawn."""
    choices = choose(list(plan["figures"]))
    found, kernels = {}, set()
    for choice in choices:
        path = Path(plan["out"]) / f"{choice.name}.json"
        if without and not path.exists():
            found[choice.name] = report.missing(choice, without)
            continue
        drawn = json.loads(path.read_text(encoding="utf-8"))
        found[choice.name] = drawn["rows"]
        kernels |= set(drawn["kernels"])
    return report.markdown(choices, found, plan, kernels)


def main(argv: Sequence[str]) -> int:
    """Run one step; the exit status."""
    if len(argv) not in (2, 3) or argv[0] != ("draw" if len(argv) == 3 else "table"):
        print("usage: figures draw PLAN FIGURE | figures table PLAN", file=sys.stderr)
        return 2
    try:
        plan = read_plan(Path(argv[1]))
        if argv[0] == "draw":
            draw(plan, choose([argv[2]])[0])
        else:
            write_whole(Path(plan["table"]), page(plan))
    except LabError as error:
        print(f"figures: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
