# SPDX-License-Identifier: GPL-2.0
"""What a device sends when nothing comes back to it, second by second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.guest.modules.scripted import counts
from tests.played.devices.play import SHELLS, Record, filled, ran, shared

#: Ends of the intervals in which frames are counted, s from the last frame that was heard.
EDGES = (1, 5, 10, 20, 40, 60, 120)


@dataclass(frozen=True)
class Silence:
    """``end``: whose frames are counted, near or far; ``before``: up to when nothing comes back."""

    said: str
    before: str
    end: str = "near"
    stream: bool = True


#: A stream from the near end to the far one, or back.
_UP = "made; pours $to; sleep 10; "
_DOWN = "made; swap; pours 10.7.0.1; sleep 10; "

SSCOP = {
    "clean": Silence("a TCP stream; no frame was lost before", _UP + "back loss 100%"),
    "lossy": Silence("a TCP stream; 10 % were lost before, and are lost on",
                     "made; both loss 10%; pours $to; sleep 10; back loss 100%"),
    "receiver": Silence("the end that receives the stream; it hears nothing, 10 % were lost before",
                        "made; both loss 10%; pours $to; sleep 10; there loss 100%", "far"),
    "alone": Silence("no peer was ever there", "near_up near", stream=False),
}  # fmt: skip

SHAKE = {
    "leader": Silence("a TCP stream from the leader, nothing comes back by either path",
                      _UP + "back loss 100%"),
    "one": Silence("the same, the second path works; the first one's packets",
                   _UP + "wan=1; back_on 1 loss 100%"),
    "agent": Silence("a TCP stream to the leader; the agent hears nothing, its packets",
                     _DOWN + "there loss 100%", "far"),
    "idle": Silence("no traffic", "made; sleep 20; back loss 100%", stream=False),
    "stranger": Silence("the agent has restarted without the key, and answers probes by RESET",
                        "made; stranger_up", stream=False),
    "alone": Silence("no agent was ever there", "leader_up; paths", stream=False),
}  # fmt: skip

SILENCES = {"sscop": SSCOP, "shake": SHAKE}

#: `edge` keeps the counts. What the stream has left to send arrives afterwards.
SHELL = """
edge() { near_counts >$OUT/$storm.near.$1 2>/dev/null; far_counts >$OUT/$storm.far.$1 2>/dev/null; }
swap() { from_ns=$to_ns to_ns=; }
pours() { $to_ns verified sip 5201 $OUT/$storm.sip 50 & sip=$!; sleep 0.1
	$from_ns verified pour $1 5201 1000000000000 30 >$OUT/$storm.poured & pour=$!; }
seconds() { for t in $(seq 120); do
	sleep 1; echo "$(wires) $(returns)" >>$OUT/$storm.seconds
	case " EDGES " in *" $t "*) edge $t;; esac; done; }
"""

SCRIPT = """
storm=NAME wan=; calm; BEFORE
echo "$(wires) $(returns)" >$OUT/$storm.seconds; edge 0
seconds
calm; if [ STREAM = yes ]; then wait $pour
	for n in $(seq DRAIN); do grep -q end $OUT/$storm.sip && break; sleep 1; done
	kill $sip 2>/dev/null; fi
unmade 2>/dev/null; :
"""


def script(device: str, names: Sequence[str]) -> str:
    """Shell lines that play silences one after the other."""
    edges = " ".join(map(str, EDGES))
    parts = [SHELLS[device], shared(), SHELL.replace("EDGES", edges)]
    for name in names:
        case = SILENCES[device][name]
        words = {"NAME": name, "BEFORE": case.before, "STREAM": "yes" if case.stream else "no"}
        parts.append(f"( {filled(SCRIPT, words)} )")
    return "\n".join(parts)


def _counted(out: Path, name: str, end: str) -> list[dict[str, int]]:
    """What the device counted in each interval, without zeros."""
    edges = [counts(out / f"{name}.{end}.{t}") for t in (0, *EDGES)]
    return [{k: b[k] - a[k] for k in b if b[k] != a[k]} for a, b in pairwise(edges)]


def record(device: str, name: str, case: Silence, out: Path, kernel: str) -> Record:
    """What was sent in a silence."""
    column = ("near", "far").index(case.end)
    lines = (out / f"{name}.seconds").read_text().splitlines()
    sent = [int(line.split()[column]) for line in lines]
    made: Record = {
        "device": device, "silence": name, "kernel": kernel, "seed": 1, "edges": list(EDGES),
        "frames": [sent[b] - sent[a] for a, b in pairwise((0, *EDGES))],
        "most": [max(sent[t + 1] - sent[t] for t in range(a, b)) for a, b in pairwise((0, *EDGES))],
        "counted": _counted(out, name, case.end),
    }  # fmt: skip
    if case.stream:
        end = (out / f"{name}.sip").read_text().splitlines()[-1].split()
        poured = (out / f"{name}.poured").read_text()
        made |= {"sent": int(poured or 0), "received": int(end[1]), "damaged": int(end[2])}
    return made


def play(device: str, names: Sequence[str], out: Path) -> list[Record]:
    """Play silences in one guest: a record of each."""
    kernel = ran(script(device, names), device, out)
    return [record(device, name, SILENCES[device][name], out, kernel) for name in names]
