# SPDX-License-Identifier: GPL-2.0
"""Guest instructions per ACK that a congestion control spends in its own functions.

    cd scripts && /usr/bin/python3 -m apogee_lab.cost star cubic bbr

In the lab's guest one instruction takes one nanosecond of its time, so the duration that the
kernel's function graph tracer reports for a function is its count of instructions with its callees.
The tracer itself adds the same few instructions to every call. Only functions that the stack calls
for each ACK are counted: what it does for an algorithm without cong_control (PRR, pacing rate) is
left out, in favour of those algorithms. --whole counts all that the stack does for an ACK instead,
the algorithm among it.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

from .. import modules
from ..algorithms import ALGORITHMS, find
from ..base import LabError
from ..engines import qemu
from ..kernels.debian import kernel
from ..modules import brought
from ..scenarios import SCENARIOS

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


def main() -> None:
    """Print a table; what is missing is one line and status 1."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "cc", nargs="+", choices=sorted(a.name for a in ALGORITHMS.values() if a.counted)
    )
    parser.add_argument("--ber", default="0,1e-6", help="bit error rates (default 0,1e-6)")
    parser.add_argument("--duration", type=float, default=20.0, help="seconds (default 20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--whole", action="store_true", help="all that the stack does for an ACK")
    options = parser.parse_args()
    try:
        _tell(options)
    except LabError as error:
        sys.exit(f"cost: {error}")


def _tell(options: argparse.Namespace) -> None:
    """A line per algorithm and bit error rate."""
    modules.build(kernel())
    print(
        "| algorithm | BER | instructions per ACK | 99th percentile | ACKs |\n|---|---|---|---|---|"
    )
    for cc in options.cc:
        for ber in options.ber.split(","):
            hooks = WHOLE if options.whole else find(cc).counted
            mean, p99, acks = measure(cc, hooks, float(ber), options.duration, options.seed)
            print(f"| {cc} | {ber} | {mean:.0f} | {p99:.0f} | {acks} |", flush=True)


if __name__ == "__main__":
    main()
