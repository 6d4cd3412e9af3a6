# SPDX-License-Identifier: GPL-2.0
"""What an ACK costs the sender when the receiver lies.

The receivers play with the stock kernel in engine qemu, where an instruction takes a nanosecond;
the kernel's tracer times the algorithm's functions as for `lab cost`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from apogee_lab.algorithms import find
from apogee_lab.commands.cost import LINE
from apogee_lab.engines import qemu
from apogee_lab.results.text import as_markdown
from tests.played import OURS, guest
from tests.played.books import Key, Records
from tests.played.hostile.attacks import ATTACKS, BESIDE, HOSTILE
from tests.played.hostile.play import Record, program

#: Instructions per ACK beside an honest receiver's; docs/hostile.md has those measured.
DEARER = 1.25
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
	hostile $OUT/runs short {cc} $attack
	cat $tracing/trace >$OUT/$attack
	echo nop >$tracing/current_tracer
done
"""


def play(cc: str, out: Path, attacks: Sequence[str] = ATTACKS) -> list[Record]:
    """Records of one algorithm: mean, 99.9th percentile and maximum over the calls of each
    function, summed as each is called for an ACK."""
    functions = find(cc).counted
    script = SCRIPT.format(
        module=find(cc).module, functions=" ".join(functions), cc=cc,
        attacks=" ".join(attacks),
    )  # fmt: skip
    release = guest.play(script, out, [cc], files=program(), engine=qemu)
    found = []
    for attack in attacks:
        calls = LINE.findall((out / attack).read_text())
        each = {name: [float(us) * 1e3 for us, hook in calls if hook == name] for name in functions}
        acks = max(map(len, each.values()))
        found.append({
            "cc": cc, "attack": attack, "path": "short", "engine": "qemu", "kernel": release,
            "functions": list(functions), "acks": acks,
            "mean": round(sum(map(sum, each.values())) / acks, 1),
            "p999": round(sum(float(np.percentile(v, 99.9)) for v in each.values() if v), 1),
            "most": round(sum(max(v) for v in each.values() if v), 1),
        })  # fmt: skip
    return found


def relative(records: Records) -> dict[Key, float]:
    """By algorithm and lie: the mean over that with an honest receiver of the same options."""
    return {
        (cc, lie): record["mean"] / records[cc, BESIDE.get(lie, "honest")]["mean"]
        for (cc, lie), record in records.items()
        if lie in HOSTILE
    }


def summary(records: Records) -> dict[str, str]:
    """Instructions with an honest receiver, the dearest lie beside it, and the dearest call."""
    rows = [["", "instructions per ACK, honest", "times as many, dearest lie", "dearest call"]]
    for cc in dict.fromkeys(of for of, _ in records):
        shares = [share for (of, _), share in relative(records).items() if of == cc]
        most = max(r["most"] for (of, _), r in records.items() if of == cc)
        honest = records[cc, "honest"]["mean"]
        rows.append([cc, f"{honest:.0f}", f"{max(shares):.2f}", f"{most:.0f}"])
    return {"cost": as_markdown(rows) + "\n"}


def whole(records: Records) -> dict[str, str]:
    """A row for each lie: the mean beside an honest receiver's. The first: instructions with an
    honest one. The last two: the most that a lie's 99.9th percentile and dearest call cost."""
    shares, algorithms = relative(records), list(dict.fromkeys(cc for cc, _ in records))
    honest = (records[cc, "honest"]["mean"] for cc in algorithms)
    rows = [["receiver", *algorithms], ["`honest`, instructions", *(f"{m:.0f}" for m in honest)]]
    rows += [[f"`{lie}`", *(f"{shares[cc, lie]:.2f}" for cc in algorithms)] for lie in HOSTILE]
    for key, name in (("p999", "99.9th percentile"), ("most", "dearest call")):
        most = (max(r[key] for (of, _), r in records.items() if of == cc) for cc in algorithms)
        rows.append([f"all: {name}, instructions", *(f"{m:.0f}" for m in most)])
    return {"cost": as_markdown(rows) + "\n"}


def judge(records: Records, key: Key) -> Iterator[str]:
    """What is beyond the bounds in a record: a lie that makes ACKs dear for our algorithms."""
    share = relative(records).get(key, 1.0) if key[0] in OURS else 1.0
    if share > DEARER:
        yield f"{share:.2f} times as expensive, {DEARER} at most"
