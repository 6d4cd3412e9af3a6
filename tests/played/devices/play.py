# SPDX-License-Identifier: GPL-2.0
"""Runs storms in a guest of engine uml, and reads what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from apogee_lab import modules
from apogee_lab.guest import plugins
from tests.guest.modules.scripted import counts, ticks
from tests.played import guest
from tests.played.devices import shake, sscop
from tests.played.devices.storms import CALM_S, STORMS, STREAM

Record = dict[str, Any]

SHELLS = {"sscop": sscop.SHELL, "shake": shake.SHELL}
#: Between two datagrams, and between two samples of the stream; ms.
TICK_MS, SIP_MS = 20, 50
#: What the stream's end may take, s: TCP asks again after as long as it was cut off, at most.
DRAIN_S = 300
#: Goodput is back when most of the calm's arrives in so many seconds.
BACK_S = 2.0

#: A mark: what there is at a time. `least` follows the free memory.
COMMON = """
sysctl -qw net.ipv4.tcp_no_metrics_save=1; $to_ns sysctl -qw net.ipv4.tcp_no_metrics_save=1
uptime() { cut -d' ' -f1 /proc/uptime; }
left() { sed -n 's/^MemAvailable: *\\([0-9]*\\).*/\\1/p' /proc/meminfo; }
mark() { echo "$(uptime) $(wires) $(returns)" >>$OUT/$storm.marks
	near_counts >$OUT/$storm.near.$1; far_counts >$OUT/$storm.far.$1; }
watched() { while :; do left >>$OUT/$storm.left; sleep 1; done; }
options() { for option; do
	sysctl -qw net.ipv4.$option; $to_ns sysctl -qw net.ipv4.$option; done; }
begun() { storm=$1; calm; made; options tcp_sack=1 tcp_timestamps=1 tcp_ecn=2; before
	left >$OUT/$storm.left
	$to_ns verified sip 5201 $OUT/$storm.sip SIP & sip=$!
	$to_ns verified tock 5301 $OUT/$storm.tock & tock=$!
	sleep 0.1; watched & watch=$!
	verified tick $to 5301 TICK $2 & tick=$!
	verified pour $to 5201 1000000000000 $2 >$OUT/$storm.poured & pour=$!
	sleep CALM; mark calm; }
ended() { wait $pour; wait $tick
	for n in $(seq DRAIN); do grep -q end $OUT/$storm.sip && break; sleep 1; done
	mark end; tc -s qdisc show dev $device >$OUT/$storm.queue
	kill $watch $sip 2>/dev/null; sleep 1; kill $tock; wait $tock 2>/dev/null; unmade; }
"""

#: One storm.
STORM = """
before() { :; BEFORE
}
begun NAME SECONDS
DOES
mark storm; calm
sleep AFTER; mark after
ended
"""


def script(device: str, storms: Sequence[str], cc: str) -> str:
    """Shell lines that play storms one after the other; the stream has this algorithm."""
    chosen = "".join(f"modprobe -a {name}; " for name in modules.brought([cc]))
    chosen += f"$from_ns sysctl -qw net.ipv4.tcp_congestion_control={cc}"
    parts = [SHELLS[device], shared(), chosen]
    for name in storms:
        storm = STORMS[device][name]
        words = {"NAME": name, "SECONDS": storm.whole_s, "BEFORE": storm.before,
                 "DOES": storm.does, "AFTER": storm.after_s}  # fmt: skip
        parts.append(filled(STORM, words))
    return "\n".join(parts)


def shared() -> str:
    """Shell lines for both devices."""
    return filled(COMMON, {"SIP": SIP_MS, "TICK": TICK_MS, "CALM": CALM_S})


def filled(text: str, words: dict[str, Any]) -> str:
    """A text with its words in capitals filled in."""
    for word, by in {**words, "DRAIN": DRAIN_S}.items():
        text = text.replace(word, str(by))
    return text


# --- what is read ---------------------------------------------------------------------------------


def sips(path: Path) -> tuple[guest.Arrived, list[int]]:
    """How much of the stream had come by when, s; octets and damaged ones at its end, [] if there
    was none."""
    *told, last = [line.split() for line in path.read_text().splitlines()]
    end = [int(n) for n in last[1:]] if last[0] == "end" else []
    told += [] if end else [last]
    return guest.Arrived((int(ms) / 1e3, int(octets)) for ms, octets, *_ in told), end


def _grown(out: Path, name: str, end: str, *marks: str) -> dict[str, int]:
    """What a device counted between two marks, without zeros."""
    first, last = (counts(out / f"{name}.{end}.{when}") for when in marks)
    return {k: n - first[k] for k, n in last.items() if n != first[k] and k not in MOMENTARY}


#: These are no counts.
MOMENTARY = {"segment_now", "srtt_us"} | {
    f"path{n}_{what}"
    for n in range(1, 9)
    for what in ("srtt_us", "min_rtt_us", "throughput", "queue")
}


def _datagrams(path: Path, seconds: int) -> dict[str, int]:
    lines = path.read_text().splitlines()
    damaged = [line for line in lines if "damaged" in line]
    whole = path.with_suffix(".whole")
    whole.write_text("".join(f"{line}\n" for line in lines if "damaged" not in line))
    numbers = [number for _, number in ticks(whole)]
    late = sum(b < a for a, b in pairwise(numbers))
    sent = max(seconds * 1000 // TICK_MS, *(number + 1 for number in numbers))
    return {
        "sent": sent, "came": len(set(numbers)), "damaged": len(damaged),
        "twice": len(numbers) - len(set(numbers)), "late": late,
    }  # fmt: skip


def _queue_drops(text: str) -> int:
    return int(text.split("dropped ")[1].split(",")[0])


def _after(time: float | None, at: float) -> float | None:
    return None if time is None else round(time - at, 2)


def record(device: str, name: str, cc: str, out: Path, kernel: str) -> Record:
    """What came of a storm."""
    storm = STORMS[device][name]
    marks = [line.split() for line in (out / f"{name}.marks").read_text().splitlines()]
    at = [float(words[0]) for words in marks]
    got, end = sips(out / f"{name}.sip")
    calm = (got.until(at[0]) - got.until(at[0] - CALM_S / 2)) / (CALM_S / 2)
    octets = [got.until(t) for t in at[:3]]
    left = [int(n) for n in (out / f"{name}.left").read_text().split()]
    received, damaged = end or (got.octets[-1], -1)
    starts = [at[1], *(t for t in got.times if t > at[1])]
    return {
        "device": device, "storm": name, "cc": cc, "kernel": kernel, "seed": 1,
        "sent": int((out / f"{name}.poured").read_text() or 0),
        "received": received, "damaged": damaged,
        "calm_bps": round(8 * calm),
        "storm_bps": round(8 * (octets[1] - octets[0]) / (at[1] - at[0])),
        "after_bps": round(8 * (octets[2] - octets[1]) / (at[2] - at[1])),
        "first_s": _after(got.more(at[1]), at[1]),
        "back_s": _after(got.back(starts, BACK_S, calm), at[1]),
        "frames": [int(b[1]) - int(a[1]) for a, b in pairwise(marks)],
        "returned": [int(b[2]) - int(a[2]) for a, b in pairwise(marks)],
        "datagrams": _datagrams(out / f"{name}.tock", storm.whole_s),
        "queue_drops": _queue_drops((out / f"{name}.queue").read_text()),
        "memory_kb": left[0] - min(left),
        "near": _grown(out, name, "near", "calm", "storm"),
        "far": _grown(out, name, "far", "calm", "storm"),
        "near_later": _grown(out, name, "near", "storm", "end"),
        "far_later": _grown(out, name, "far", "storm", "end"),
    }  # fmt: skip


def ran(text: str, device: str, out: Path, cc: str = STREAM) -> str:
    """Run a script in a guest; its kernel."""
    files = guest.verified() | {"bin/forge": b""} | plugins.guest_files()
    return guest.play(text, out, devices=[device, *modules.brought([cc])], files=files)


def play(device: str, storms: Sequence[str], out: Path, cc: str = STREAM) -> list[Record]:
    """Play storms in one guest: a record of each."""
    kernel = ran(script(device, storms, cc), device, out, cc)
    return [record(device, name, cc, out, kernel) for name in storms]
