# SPDX-License-Identifier: GPL-2.0
"""`lab run`: makes runs, prints the table of their records."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from ..engines import registry
from ..results import table
from ..runs import request
from ..scenarios.scenario import Plan
from ..units import format as format_value
from .options import (
    Arguments,
    duration_of,
    json_target,
    kernel_with_given,
    modules_for,
    runs_at_once,
    scenario_of,
    seconds,
    seeds_of,
    show_results,
)


def do_run(args: Arguments) -> int:
    """Run the product of algorithms, settings and seeds; print the table."""
    from ..runs import sweep

    scenario = scenario_of(args.scenario)
    engine = registry.engine_of(args.engine)
    mixes = request.parse_controls(args.cc, scenario)
    settings = request.parse_settings(args.set, scenario)
    runs = list(request.product(mixes, settings, seeds_of(args), scenario.devices))
    duration_s = duration_of(args)
    at_once = runs_at_once(args)
    bound_s = math.inf if args.timeout is None else seconds("--timeout", args.timeout)
    json_target(args.json)
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
        print(work.interrupted, file=sys.stderr)
        return 130
    found = [record for record in work.records if record is not None]
    show_results(args.json, found, table.render(found, args.format) if found else "")
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
