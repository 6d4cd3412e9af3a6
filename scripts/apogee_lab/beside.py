# SPDX-License-Identifier: GPL-2.0
"""What a second flow gets beside a first one on the satellite testbed.

    cd scripts && /usr/bin/python3 -m apogee_lab.beside star+cubic cubic+cubic

Both start at the same time and share the bottleneck's queue. The scenario's script is run with a
second pair of traffic lines.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
from pathlib import Path

import numpy as np

from . import units
from .engines import qemu
from .images import own_modules
from .scenarios import SCENARIOS
from .scenarios.testbed import PORT

RECEIVE = "ip netns exec rcv flow recv {port} "
SEND = "ip netns exec snd flow send "
STOP = """\
kill $receiver $receiver2 || :
wait $receiver $receiver2 || :
"""


def two_flows(script: str, second: str, duration_s: float) -> str:
    """The script of one flow, with a second flow from t = 0 on, which ends a little sooner."""
    port = PORT + 1
    receiver = f'ip netns exec rcv flow recv {port} "$OUT/flow2.recv.json" &\nreceiver2=$!\n'
    destination = script.split(SEND)[1].split()[0]
    sender = (
        f"{SEND}{destination} {port} --cc {second} --duration {duration_s + 0.3:g} "
        '"$OUT/flow2.send.json" &\n'
    )
    script = script.replace("kill $receiver\nwait $receiver\n", STOP)
    script = script.replace(RECEIVE.format(port=PORT), receiver + RECEIVE.format(port=PORT))
    return script.replace(SEND, sender + SEND, 1)


def goodput(out: Path, name: str, first_us: float, seconds: float) -> float:
    """Mbit/s that the receiver of a flow got within a time from ``first_us`` on."""
    bins = np.array(json.loads((out / f"{name}.recv.json").read_text())["bins"])
    ends = np.interp([first_us, first_us + seconds * 1e6], bins[:, 0], bins[:, 1], left=0)
    return float(ends[1] - ends[0]) * 8 / seconds / 1e6


def measure(
    first: str, second: str, queue: int, ber: float, seconds: float, seed: int
) -> tuple[float, float]:
    """Goodput of both flows in Mbit/s."""
    satellite = SCENARIOS["satellite"]
    values = {"queue": queue, "ber": ber, "window": 16_000_000}
    plan = satellite.compile(values, first, seconds)
    plan = dataclasses.replace(plan, script=two_flows(plan.script, second, seconds))
    own = sorted({*own_modules([first]), *own_modules([second])})
    extra = [name for name in own if name not in own_modules([first])]
    plan = dataclasses.replace(
        plan,
        script=plan.script.replace(
            "# namespaces", "".join(f"modprobe {name}\n" for name in extra) + "# namespaces", 1
        ),
    )
    with tempfile.TemporaryDirectory(prefix="apogee-") as folder:
        out = Path(folder) / "raw"
        qemu.run(plan, seed=seed, modules=own, out=out, timeout_wall_s=900)
        begin = float(json.loads((out / "flow1.recv.json").read_text())["bins"][0][0])
        return goodput(out, "flow1", begin, seconds), goodput(out, "flow2", begin, seconds)


def main() -> None:
    """Print a table, a line per pair and queue."""
    parser = argparse.ArgumentParser(description="what a second flow gets beside a first one")
    parser.add_argument("pairs", nargs="+", help="FIRST+SECOND, names of algorithms")
    parser.add_argument("--queue", default="625kB", help="queues, default 625kB")
    parser.add_argument("--ber", type=float, default=0.0)
    parser.add_argument("--duration", type=float, default=120.0, help="seconds (default 120)")
    parser.add_argument("--seeds", default="1,2")
    options = parser.parse_args()
    print("| pair | queue | first, Mbit/s | second, Mbit/s |\n|---|---|---|---|")
    for pair in options.pairs:
        first, second = pair.split("+")
        for queue in options.queue.split(","):
            size = units.parse("size", queue)
            results = [
                measure(first, second, size, options.ber, options.duration, int(seed))
                for seed in options.seeds.split(",")
            ]
            mean = np.mean(results, axis=0)
            print(f"| {pair} | {queue} | {mean[0]:.2f} | {mean[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
