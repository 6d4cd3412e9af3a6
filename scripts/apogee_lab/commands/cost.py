# SPDX-License-Identifier: GPL-2.0
"""`lab cost`: guest instructions per ACK that a congestion control spends in its own functions.

In the lab's guest one instruction takes one nanosecond of its time, so the duration that the
kernel's function graph tracer reports for a function is its count of instructions with its callees.
The tracer itself adds the same few instructions to every call. Only functions that the stack calls
for each ACK are counted. What the stack does in place of an algorithm without cong_control (PRR,
pacing rate) is left out, which favours those algorithms. --whole counts everything that the stack
does for an ACK instead, the algorithm included.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import tempfile
from pathlib import Path

from .. import modules, units
from ..algorithms import ALGORITHMS, find
from ..base import LabError, UsageError
from ..engines import qemu
from ..kernels.debian import kernel
from ..modules import brought
from ..results.text import as_markdown, show
from ..scenarios import SCENARIOS
from .options import Arguments, Parser, seconds, whole_number

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


def measure(
    cc: str, hooks: tuple[str, ...], ber: float, seconds: float, seed: int
) -> tuple[float, float, int]:
    """Mean and 99th percentile of instructions per ACK in the hooks, and the number of ACKs."""
    import numpy as np

    satellite = SCENARIOS["satellite"]
    plan = satellite.compile({"ber": ber, "window": OPEN_WINDOW}, cc, seconds)
    plan = dataclasses.replace(plan, script=instrument(plan.script, hooks))
    with tempfile.TemporaryDirectory(prefix="apogee-") as folder:
        out = Path(folder) / "raw"
        qemu.run(plan, seed=seed, modules=brought([cc]), out=out, timeout_wall_s=600)
        calls = LINE.findall((out / "cost.txt").read_text())
    first = hooks[0]
    per_hook = {name: [float(us) * 1e3 for us, hook in calls if hook == name] for name in hooks}
    acks = len(per_hook[first])
    if not acks:
        raise LabError(f"no call of {first} was traced")
    mean = sum(sum(durations) for durations in per_hook.values()) / acks
    p99 = sum(float(np.percentile(durations, 99)) for durations in per_hook.values() if durations)
    return mean, p99, acks


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
    modules.build(kernel())
    rows = [["algorithm", "BER", "instructions per ACK", "99th percentile", "ACKs"]]
    for cc in args.cc:
        for ber in bers:
            hooks = WHOLE if args.whole else find(cc).counted
            mean, p99, acks = measure(cc, hooks, ber, duration_s, seed)
            rows.append([cc, show(ber), f"{mean:.0f}", f"{p99:.0f}", str(acks)])
            print(f"{cc} at {rows[-1][1]}: {mean:.0f} instructions per ACK", file=sys.stderr)
    print(as_markdown(rows))
    return 0


def cost_parser(parser: Parser) -> None:
    parser.add_argument("cc", nargs="+", metavar="CC", help=", ".join(_counted()))
    parser.add_argument(
        "--ber", default="0,1e-6", metavar="BER,BER", help="bit error rates (%(default)s)"
    )
    parser.add_argument(
        "--duration", default="20", metavar="S", help="seconds of a run (%(default)s)"
    )
    parser.add_argument("--seed", default="1", metavar="N", help="seed of the runs (%(default)s)")
    parser.add_argument("--whole", action="store_true", help="count all that the stack does")
