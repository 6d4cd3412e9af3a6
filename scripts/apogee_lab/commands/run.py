# SPDX-License-Identifier: GPL-2.0
"""`lab run`: makes runs, prints the table of their records."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..base import UsageError
from ..engines import registry
from ..results import table
from ..runs import request
from ..scenarios.scenario import Plan
from ..units import format as format_value
from .options import (
    Arguments,
    duration_of,
    kernel_with_given,
    modules_for,
    runs_at_once,
    scenario_of,
    seconds,
    seeds_of,
)


def do_run(args: Arguments) -> int:
    """Run the product of algorithms, settings and seeds; print the table."""
    from ..measures.record import dumps
    from ..runs import sweep

    scenario = scenario_of(args.scenario)
    engine = registry.engine_of(args.engine)
    mixes = request.parse_controls(args.cc, scenario)
    settings = request.parse_settings(args.set, scenario)
    runs = list(request.product(mixes, settings, seeds_of(args), scenario.devices))
    duration_s = duration_of(args)
    at_once = runs_at_once(args)
    bound_s = None if args.timeout is None else seconds("--timeout", args.timeout)
    target = _json_target(args.json)
    kernel = kernel_with_given(engine, args)
    compiled = sweep.compile_runs(scenario, runs, duration_s)
    plans = [run.plan for run in compiled]
    _warn_of_rates(args.engine, plans)
    own = modules_for(engine, kernel, scenario, plans, settings, build=args.build)
    if args.engine == "host":
        print(engine.notice(own), file=sys.stderr)
    jobs = sweep.make_jobs(scenario, engine, args.engine, kernel, compiled)
    work = sweep.Sweep(jobs, engine, at_once=at_once, fresh=args.fresh, bound_s=bound_s)
    try:
        work.run()
    except sweep.Interrupted:
        done = sum(record is not None for record in work.records)
        print(
            f"interrupted: {done} of {len(jobs)} runs are finished and kept; "
            "the same command continues",
            file=sys.stderr,
        )
        return 130
    found = [record for record in work.records if record is not None]
    lines = "".join(dumps(record) + "\n" for record in found)
    if args.json == "-":
        sys.stdout.write(lines)
    elif target is not None:
        _write_records(target, lines)
    if found:
        out = sys.stderr if args.json == "-" else sys.stdout
        print(table.render(found, args.format), file=out)
    if work.failures:
        count = len(work.failures)
        print(f"{count} of {len(jobs)} runs failed:", file=sys.stderr)
        for index, failure in work.failures.items():
            print(f"  {jobs[index].label}: {failure.reason}", file=sys.stderr)
    return 1 if work.failures else 0


def _warn_of_rates(engine: str, plans: Sequence[Plan]) -> None:
    """Say that the engine, not the link, may limit what these runs measure."""
    carries = registry.CARRIES_BPS.get(engine, math.inf)
    fastest = max(plan.rate_bps for plan in plans)
    if fastest > carries:
        print(
            f"lab run: engine {engine} may not fill a link of {format_value('rate', fastest)}, as "
            f"its CPU carries {format_value('rate', carries)}: --engine uml does",
            file=sys.stderr,
        )


def _json_target(text: str | None) -> Path | None:
    """The file for the records; UsageError before the first run if it cannot be written."""
    if text in (None, "-"):
        return None
    path = Path(text)
    if path.is_dir():
        raise UsageError(f"--json {text}: is a folder")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"--json {text}: no such folder: {path.parent}")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise UsageError(f"--json {text}: not writable")
    return path


def _write_records(path: Path, lines: str) -> None:
    from ..base import write_whole

    try:
        if path.exists() and not path.is_file():
            path.write_text(lines, encoding="utf-8")
        else:
            write_whole(path, lines)
    except OSError as error:
        raise UsageError(f"--json {path}: {error.strerror}") from None
