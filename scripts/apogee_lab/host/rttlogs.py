# SPDX-License-Identifier: GPL-2.0
"""Logs of ping and irtt as a delay trace and a loss trace.

Read are the output of ping (iputils, BSD, busybox; with iputils' -D its time stamps), the text of
irtt's client and its JSON (also compressed), and the tables of both in the data set LENS. A probe
without an answer is lost.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..base import read_regular
from ..scenarios.tracefiles import MOST_DELAY_MS, STEP_MS

PING_S = 1.0  # ping's own interval
WRAP = 1 << 16  # ping's numbers
MOST_S = 7 * 24 * 3600  # a week has 60 million lines
MOST = 100 * MOST_S  # probes

# ping speaks the user's language: the words around the numbers are any.
_PING = re.compile(
    r"(?:\[(?P<at>\d+\.\d+)\] )?(?<!\d)\d+ \S+ .*?seq=(?P<n>\d+) "
    r".*=(?P<ms>\d+(?:\.\d+)?) [^\s=(]+(?!\S)"
)
_PING_TOLD = re.compile(r"icmp_seq[ =](\d+)")
_PING_FROM_0 = re.compile(r"^PING(?:6\(|.*: \d+ data bytes)", re.MULTILINE)  # BSD, busybox
_PING_SENT = re.compile(r"^(\d+) [^,\n]+, .*%", re.MULTILINE)
_PING_TIME = re.compile(r"%.*, \S+ (\d+) ?ms")
_IRTT = re.compile(r"\bseq=(\d+) rtt=(\S+)")
_IRTT_SENT = re.compile(r"packets sent/received: (\d+)/")
_IRTT_TIME = re.compile(r"^\s*duration: (\S+)(?: \(wait (\S+)\))?", re.MULTILINE)
_GO = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s|µs|us|ns)")
_GO_S = {"h": 3600, "m": 60, "s": 1, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class Log:
    """Probes: when each was sent (s, the first one at 0 if it has been read), its RTT
    (ms, nan: lost); and what was assumed."""

    sent_s: np.ndarray
    rtt_ms: np.ndarray
    assumed: tuple[str, ...]


def read(path: Path, interval_s: float | None) -> Log:
    """The probes of a log; ``interval_s`` is between two of them if the log has no times.

    ValueError (one line) if there are none, or none was answered.
    """
    data = read_regular(path)
    try:
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        text = data.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        raise ValueError(f"{path}: neither text nor compressed text") from None
    try:
        found = _probes(text, interval_s)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not len(found.sent_s):
        raise ValueError(f"{path}: no probes of ping or irtt")
    if not np.isfinite(found.sent_s).all():
        raise ValueError(f"{path}: a time stamp is not a number")
    found = replace(found, sent_s=found.sent_s - found.sent_s.min())
    if np.isnan(found.rtt_ms).all():
        raise ValueError(f"{path}: no probe was answered, or answers are not listed (ping -q)")
    if found.sent_s.max() > MOST_S:
        raise ValueError(f"{path}: lasts {found.sent_s.max():.0f} s, at most {MOST_S} are allowed")
    if np.nanmax(found.rtt_ms) > 2 * MOST_DELAY_MS:
        raise ValueError(f"{path}: an RTT of more than {2 * MOST_DELAY_MS} ms")
    if np.nanmin(found.rtt_ms) < 0:
        raise ValueError(f"{path}: a negative RTT")
    return found


def _probes(text: str, interval_s: float | None) -> Log:
    """The probes, by the kind of log."""
    if text.lstrip().startswith("{"):
        return _irtt_json(text)
    if text.startswith("timestamp,rtt"):
        return _table(text)
    if _IRTT.search(text):
        return _irtt_text(text, interval_s)
    return _ping(text, interval_s)


def traces(log: Log) -> tuple[np.ndarray, np.ndarray]:
    """The lines of the delay trace (ms one way) and of the loss trace (percent)."""
    order = np.argsort(log.sent_s, kind="stable")
    sent, rtt = log.sent_s[order], log.rtt_ms[order]
    lost = np.isnan(rtt)
    gap = float(np.median(np.diff(sent))) if len(sent) > 1 else PING_S
    count = max(1, round((sent[-1] + gap) * 1e3 / STEP_MS))
    line = np.minimum((sent * 1e3 / STEP_MS + 1e-6).astype(int), count - 1)
    first = np.searchsorted(line, np.arange(count), "left")
    after = np.searchsorted(line, np.arange(count), "right")
    sums = np.concatenate(([0], np.cumsum(lost)))
    begin = np.where(after > first, first, after - 1)  # the last one before, if none is in the line
    losses = 100 * (sums[after] - sums[begin]) / (after - begin)
    answered = np.flatnonzero(~lost)
    last = np.maximum(np.searchsorted(answered, after, "left") - 1, 0)
    return rtt[answered[last]] / 2, losses


# --- ping -------------------------------------------------------------------------------------


def _ping(text: str, interval_s: float | None) -> Log:
    rtts: dict[int, float] = {}
    stamps: dict[int, float] = {}
    latest, first = 0, 1
    for line in text.splitlines():
        found, told = _PING.search(line), _PING_TOLD.search(line)
        if not (found or told):
            continue
        number = int(found["n"] if found else told[1]) % WRAP  # type: ignore[index]
        number += round((latest - number) / WRAP) * WRAP
        latest, first = max(latest, number), min(first, number)
        if found and number not in rtts:  # else a duplicate
            rtts[number] = float(found["ms"])
            if found["at"]:
                stamps[number] = float(found["at"]) - rtts[number] / 1e3
    begin = 0 if _PING_FROM_0.search(text) or "icmp_seq" not in text else first
    sent = _PING_SENT.search(text)
    end = max(begin + int(sent[1]) if sent else begin, latest + 1 if rtts else begin)
    if rtts and len(stamps) == len(rtts):
        return _stamped(begin, end, rtts, stamps)
    time = _PING_TIME.search(text)
    total_s = float(time[1]) / 1e3 if time and sent else None
    return _even(begin, end, rtts, interval_s, total_s, "ping")


def _stamped(begin: int, end: int, rtts: dict[int, float], stamps: dict[int, float]) -> Log:
    """Probes whose answers have time stamps; the lost ones lie evenly between their neighbours."""
    known = np.array(sorted(stamps))
    at = np.array([stamps[n] for n in known])
    gap = (at[-1] - at[0]) / (known[-1] - known[0]) if len(known) > 1 else PING_S
    numbers = _numbers(begin, end)
    sent = np.interp(numbers, known, at)
    sent += gap * (np.minimum(numbers - known[0], 0) + np.maximum(numbers - known[-1], 0))
    when = "sent at its answer's time stamp less its RTT, lost ones evenly between their neighbours"
    return _log(sent, numbers, rtts, when)


def _even(
    begin: int,
    end: int,
    rtts: dict[int, float],
    interval_s: float | None,
    total_s: float | None,
    tool: str,
) -> Log:
    """Probes without times, at even distances."""
    if interval_s is not None:
        gap, why = interval_s, "as given"
    elif total_s and end - begin > 1:
        gap, why = total_s / (end - begin - 1), "the log's duration over its number of probes"
    else:
        gap, why = PING_S, f"{tool}'s default, as the log does not say"
    numbers = _numbers(begin, end)
    return _log((numbers - begin) * gap, numbers, rtts, f"sent every {1e3 * gap:.6g} ms ({why})")


def _numbers(begin: int, end: int) -> np.ndarray:
    if end - begin > MOST:
        raise ValueError(f"{end - begin} probes, at most {MOST} are allowed")
    return np.arange(begin, end)


def _log(sent: np.ndarray, numbers: np.ndarray, rtts: dict[int, float], when: str) -> Log:
    values = np.full(len(numbers), np.nan)
    if rtts:
        values[np.array([*rtts]) - numbers[0]] = [*rtts.values()]
    return Log(sent, values, (f"each probe was {when}",))


# --- irtt -------------------------------------------------------------------------------------


def _go_s(text: str) -> float:
    """Seconds of a duration as Go prints it: ``1m0.5s``, ``812ms``."""
    return sum(float(number) * _GO_S[unit] for number, unit in _GO.findall(text))


def _irtt_text(text: str, interval_s: float | None) -> Log:
    rtts: dict[int, float] = {}
    for number, rtt in _IRTT.findall(text):
        rtts.setdefault(int(number), 1e3 * _go_s(rtt))
    sent, time = _IRTT_SENT.search(text), _IRTT_TIME.search(text)
    end = max(int(sent[1]) if sent else 0, *(n + 1 for n in rtts))
    # It ends when the last answer is there, or after a wait for those that are missing.
    total_s = _go_s(time[1]) - _go_s(time[2] or "") if time else None
    return _even(0, end, rtts, interval_s, total_s, "irtt")


def _irtt_json(text: str) -> Log:
    """Its probes have the times at which they were sent."""
    try:
        trips: list[dict[str, Any]] = json.loads(text)["round_trips"]
        stamps = [trip["timestamps"]["client"]["send"] for trip in trips]
        clock = "monotonic" if all("monotonic" in stamp for stamp in stamps) else "wall"
        sent = np.array([stamp[clock] for stamp in stamps], dtype=np.float64) / 1e9
        rtts = np.array([trip["delay"].get("rtt", np.nan) for trip in trips], dtype=np.float64)
        where = [trip["lost"] for trip in trips]
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        raise ValueError("not irtt's JSON") from None
    counts = {way: where.count(f"true_{way}") for way in ("up", "down")}
    assumed = "each probe was sent at its own time stamp"
    if any(counts.values()):
        assumed += f"; irtt saw {counts['up']} lost on the way to its server, {counts['down']} back"
    return Log(sent, rtts / 1e6, (assumed,))


# --- tables -----------------------------------------------------------------------------------

_PING_TABLE, _IRTT_TABLE = "timestamp,rtt", "timestamp,rtt,uplink,downlink"


def _table(text: str) -> Log:
    """Tables of LENS: ping's has s and ms and no lost probes; irtt's has ns, and instead of the RTT
    of a lost probe a number that is not positive."""
    head, *lines = text.split()
    try:
        rows = np.array([line.split(",") for line in lines], dtype=np.float64)
        rows = rows.reshape(len(lines), head.count(",") + 1)
    except ValueError:
        raise ValueError(f"not a table of {head[:80]}") from None
    if head == _IRTT_TABLE:
        sent, rtts = rows[:, 0] / 1e9, np.where(rows[:, 1] > 0, rows[:, 1], np.nan)
        assumed = "each probe was sent at its time stamp"
    elif head == _PING_TABLE:
        sent, rtts = rows[:, 0] - rows[:, 1] / 1e3, rows[:, 1]
        assumed = (
            "each probe was sent at its answer's time stamp less its RTT; lost ones are not told"
        )
    else:
        raise ValueError(f"columns {head[:80]}, not {_PING_TABLE} or {_IRTT_TABLE}")
    return Log(sent, rtts, (assumed,))
