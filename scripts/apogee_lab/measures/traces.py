# SPDX-License-Identifier: GPL-2.0
"""Time series from a run's trace.txt, tracefs text with monotonic timestamps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

_EVENT = re.compile(r"\s(\d+\.\d+): (\w+): (.*)")
_FIELD = re.compile(r"(\w+)=(\[[^\]]*\]:\d+|\S+)")

Series = dict[str, np.ndarray]


def events(path: Path) -> Iterator[tuple[float, str, dict[str, str]]]:
    """(time in s, event, fields) of each line with an event."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            match = _EVENT.search(line)
            if match:
                yield float(match.group(1)), match.group(2), dict(_FIELD.findall(match.group(3)))


def _port(address: str) -> int:
    port = address.rpartition(":")[2]
    return int(port) if port.isdigit() else -1


def whole(raw: Path) -> bool:
    """Whether a run's trace is complete: no event was lost."""
    stats = raw / "trace.stats"
    lost = r"(overrun|dropped events): [1-9]"
    return not (stats.exists() and re.search(lost, stats.read_text(encoding="utf-8")))


def by_port(path: Path, ports: Sequence[int]) -> dict[int, dict[str, Series]]:
    """Time series of all events of the flows to these ``ports``, by port and event name.

    Each series has the array ``t`` (s) and one array per numeric field. Events with a destination
    belong to the flow with that port (the receiver's socket traces, too), as do events with only a
    port (``dport``); others belong to every flow.
    """
    columns: dict[int, dict[str, dict[str, list[float]]]] = {port: {} for port in ports}
    for time, name, fields in events(path):
        numbers = {key: _number(text) for key, text in fields.items()}
        numeric = {key: value for key, value in numbers.items() if value is not None}
        numeric["t"] = time
        for port in _flows_of(fields, ports):
            series = columns[port].setdefault(name, {key: [] for key in numeric})
            for key, values in series.items():
                values.append(numeric.get(key, np.nan))
    return {
        port: {
            name: {key: np.array(values) for key, values in series.items()}
            for name, series in found.items()
        }
        for port, found in columns.items()
    }


def _flows_of(fields: dict[str, str], ports: Sequence[int]) -> Sequence[int]:
    """The flows, by their ports, that an event belongs to."""
    if "dest" in fields:
        port = _port(fields["dest"])
        return [port] if port in ports else []
    if "dport" in fields:
        return [port for port in ports if fields["dport"] == str(port)]
    return ports


def _number(text: str) -> float | None:
    try:
        return float(int(text, 0))
    except ValueError:
        return None


def thin(times: np.ndarray, values: np.ndarray, step_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Reduce a series to at most four points per step (first, lowest, highest, last), which leaves
    the drawing unchanged."""
    if len(times) == 0:
        return times, values
    slots = np.floor(times / step_s).astype(np.int64)
    edges = np.flatnonzero(np.diff(slots)) + 1
    keep: list[int] = []
    for begin, end in zip([0, *edges], [*edges, len(times)], strict=True):
        part = values[begin:end]
        keep += sorted({begin, begin + int(part.argmin()), begin + int(part.argmax()), end - 1})
    return times[keep], values[keep]
