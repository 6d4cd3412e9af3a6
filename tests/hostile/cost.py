# SPDX-License-Identifier: GPL-2.0
"""``python3 -m tests.hostile.cost``: what an ACK costs the sender when the receiver lies.

The receivers play with the stock kernel in engine qemu, where an instruction takes a nanosecond;
the kernel's tracer times the algorithm's functions as for `lab cost`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from apogee_lab import modules
from apogee_lab.algorithms import find
from apogee_lab.commands.cost import LINE
from apogee_lab.engines import qemu
from apogee_lab.kernels.debian import kernel
from apogee_lab.results.text import as_markdown
from tests import BUILD, ROOT
from tests.hostile.attacks import ATTACKS, BESIDE, HOSTILE, OURS
from tests.hostile.play import program
from tests.hostile.table import PAGE, put

RECORDS = ROOT / "docs" / "results" / "records" / "hostile-cost.jsonl"
SCRIPT = """\
chmod +x /bin/hostile
modprobe tun
modprobe {module} || true
tracing=/sys/kernel/tracing
echo '{functions}' >$tracing/set_ftrace_filter
echo 65536 >$tracing/buffer_size_kb
for attack in {attacks}; do
	echo >$tracing/trace
	echo function_graph >$tracing/current_tracer
	hostile $OUT/runs short {cc} $attack 2>>$OUT/err
	cat $tracing/trace >$OUT/$attack
	echo nop >$tracing/current_tracer
done
"""


def play(build: Path, out: Path, cc: str, attacks: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Records of one algorithm: mean, 99.9th percentile and maximum over the calls of each
    function, summed as each is called for an ACK."""
    guest, functions = kernel(), find(cc).counted
    modules.build(guest)
    script = SCRIPT.format(
        module=find(cc).module, functions=" ".join(functions), cc=cc,
        attacks=" ".join(attacks),
    )  # fmt: skip
    info = qemu.run_script(
        script, out=out, modules=modules.brought([cc]),
        files={"bin/hostile": program(build)},
    )  # fmt: skip
    assert info.status == 0, (out / "err").read_text()
    for attack in attacks:
        calls = LINE.findall((out / attack).read_text())
        each = {name: [float(us) * 1e3 for us, hook in calls if hook == name] for name in functions}
        acks = max(map(len, each.values()))
        yield {
            "cc": cc, "attack": attack, "path": "short", "engine": "qemu", "kernel": guest.release,
            "functions": list(functions), "acks": acks,
            "mean": round(sum(map(sum, each.values())) / acks, 1),
            "p999": round(sum(float(np.percentile(v, 99.9)) for v in each.values() if v), 1),
            "most": round(sum(max(v) for v in each.values() if v), 1),
        }  # fmt: skip


def relative(records: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], float]:
    """By algorithm and lie: the mean over that with an honest receiver of the same options."""
    means = {(r["cc"], r["attack"]): r["mean"] for r in records}
    return {
        (cc, attack): mean / means[cc, BESIDE.get(attack, "honest")]
        for (cc, attack), mean in means.items()
        if not attack.startswith("honest")
    }


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """A row for each lie: the mean beside an honest receiver's. The first: instructions with an
    honest one. The last two: the most that a lie's 99.9th percentile and dearest call cost."""
    shares, algorithms = relative(records), list(dict.fromkeys(r["cc"] for r in records))
    honest = [r["mean"] for r in records if r["attack"] == "honest"]
    rows = [["receiver", *algorithms], ["`honest`, instructions", *(f"{m:.0f}" for m in honest)]]
    rows += [[f"`{lie}`", *(f"{shares[cc, lie]:.2f}" for cc in algorithms)] for lie in HOSTILE]
    for key, name in (("p999", "99.9th percentile"), ("most", "dearest call")):
        most = (max(r[key] for r in records if r["cc"] == cc) for cc in algorithms)
        rows.append([f"all: {name}, instructions", *(f"{m:.0f}" for m in most)])
    return as_markdown(rows) + "\n"


def read() -> list[dict[str, Any]]:
    """The committed records."""
    return [json.loads(line) for line in RECORDS.read_text().splitlines()]


def main() -> int:
    lines = []
    for cc in (*OURS, "cubic", "bbr"):
        print(cc, file=sys.stderr)
        out = BUILD / "hostile-cost" / cc
        lines += [json.dumps(record) + "\n" for record in play(BUILD, out, cc, ATTACKS)]
    RECORDS.write_text("".join(lines))
    PAGE.write_text(put(PAGE.read_text(), "cost", table(read())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
