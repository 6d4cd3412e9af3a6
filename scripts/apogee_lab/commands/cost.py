# SPDX-License-Identifier: GPL-2.0
"""`lab cost`: guest instructions per ACK that a congestion control spends in its own functions.

In the lab's guest one instruction takes one nanosecond of its time, so the duration that the
kernel's function graph tracer reports for a function is its count of instructions with its callees.
The tracer itself adds the same few instructions to every call. Only functions that the stack calls
for each ACK are counted. What the stack does in place of an algorithm without cong_control (PRR,
pacing rate) is left out, which favours those algorithms. --whole counts tcp_ack() with all that it
calls instead, the algorithm included.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import modules, units
from ..algorithms import ALGORITHMS, find
from ..base import LabError, UsageError
from ..engines import qemu
from ..kernels.debian import kernel
from ..modules import brought
from ..results.text import as_markdown, show
from ..scenarios import SCENARIOS
from ..scenarios.scenario import Plan
from .options import (
    Arguments,
    Parser,
    add_json,
    json_target,
    seconds,
    show_results,
    whole_number,
)

WHOLE = ("tcp_ack",)
OPEN_WINDOW = 16_000_000
TRAFFIC = "# traffic\n"
COUNTED = "# what was counted\n"
LINE = re.compile(r"([0-9.]+) us +\| +(\w+)(?: \[\w+\])?\(\);")


def instrument(script: str, functions: tuple[str, ...]) -> str:
    """The scenario's script, with the duration of every call of the functions in $OUT/cost.txt."""
    start = f"""\
tracing=/sys/kernel/tracing
echo '{" ".join(functions)}' >$tracing/set_ftrace_filter
echo 65536 >$tracing/buffer_size_kb
echo function_graph >$tracing/current_tracer
"""
    stop = 'echo 0 >$tracing/tracing_on\ncat $tracing/trace >"$OUT/cost.txt"\n'
    return script.replace(TRAFFIC, start + TRAFFIC).replace(COUNTED, stop + COUNTED)


def plan_of(cc: str, ber: float, seconds: float) -> Plan:
    """The satellite link with open windows."""
    return SCENARIOS["satellite"].compile({"ber": ber, "window": OPEN_WINDOW}, cc, seconds)


def measure(
    plan: Plan,
    hooks: tuple[str, ...],
    seed: int,
    modules: Sequence[str] = (),
    files: Mapping[str, bytes] | None = None,
) -> dict[str, float]:
    """Mean and 99th percentile of instructions per ACK in the hooks, and the number of ACKs."""
    import numpy as np

    plan = dataclasses.replace(plan, script=instrument(plan.script, hooks))
    with tempfile.TemporaryDirectory(prefix="apogee-") as folder:
        out = Path(folder) / "raw"
        qemu.run(plan, seed=seed, modules=modules, files=files, out=out)
        calls = LINE.findall((out / "cost.txt").read_text())
    first = hooks[0]
    per_hook = {name: [float(us) * 1e3 for us, hook in calls if hook == name] for name in hooks}
    acks = len(per_hook[first])
    if not acks:
        raise LabError(f"no call of {first} was traced")
    mean = sum(sum(durations) for durations in per_hook.values()) / acks
    p99 = sum(float(np.percentile(durations, 99)) for durations in per_hook.values() if durations)
    return {"instructions": round(mean, 1), "p99": round(p99, 1), "acks": acks}


def _counted() -> list[str]:
    """Names of the algorithms whose functions are listed."""
    return sorted(a.name for a in ALGORITHMS.values() if a.counted)


def _bers(text: str) -> list[float]:
    try:
        return [units.parse("ber", item) for item in text.split(",")]  # type: ignore[misc]
    except units.UnitError as error:
        raise UsageError(f"--ber: {error}") from None


def do_cost(args: Arguments) -> int:
    """Print a row per algorithm and bit error rate; progress goes to standard error."""
    for cc in args.cc:
        if not args.whole and not find(cc).counted:
            raise UsageError(
                f"no functions to count are listed for '{cc}'; choose from: "
                f"{', '.join(_counted())}, or count all with --whole"
            )
    bers, duration_s = _bers(args.ber), seconds("--duration", args.duration)
    seed = whole_number("--seed", args.seed, 0, 2**32 - 1)
    json_target(args.json)
    guest = kernel()
    modules.build(guest)
    records = []
    for cc in args.cc:
        for ber in bers:
            hooks = WHOLE if args.whole else find(cc).counted
            found = {
                "cc": cc, "ber": ber, "seed": seed, "duration_s": duration_s, "engine": "qemu",
                "kernel": guest.release, "functions": list(hooks),
                **measure(plan_of(cc, ber, duration_s), hooks, seed, brought([cc])),
            }  # fmt: skip
            records.append(found)
            said = f"{found['instructions']:.0f} instructions per ACK"
            print(f"{cc} at {show(ber)}: {said}", file=sys.stderr)
    show_results(args.json, records, as_markdown(rows_of(records)))
    return 0


def rows_of(records: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The table of the records of this command."""
    return [
        ["algorithm", "BER", "instructions per ACK", "99th percentile", "ACKs"],
        *(
            [
                found["cc"], show(found["ber"]), f"{found['instructions']:.0f}",
                f"{found['p99']:.0f}", str(found["acks"]),
            ]
            for found in records
        ),
    ]  # fmt: skip


def cost_parser(parser: Parser) -> None:
    parser.add_argument("cc", nargs="+", metavar="CC", help=", ".join(_counted()))
    parser.add_argument(
        "--ber", default="0,1e-6", metavar="BER,BER", help="bit error rates (%(default)s)"
    )
    parser.add_argument(
        "--duration", default="20", metavar="S", help="seconds of a run (%(default)s)"
    )
    parser.add_argument("--seed", default="1", metavar="N", help="seed of the runs (%(default)s)")
    parser.add_argument(
        "--whole", action="store_true", help="count tcp_ack() with all that it calls"
    )
    add_json(parser)
