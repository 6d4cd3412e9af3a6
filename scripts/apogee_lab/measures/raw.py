# SPDX-License-Identifier: GPL-2.0
"""The raw files that a run leaves behind, read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .arrivals import Arrivals
from .record import RecordError

# --- reading the raw files --------------------------------------------------------------------


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RecordError(f"the run left no {path.name}") from None
    except ValueError:
        raise RecordError(f"{path.name} is not whole") from None


def nstat(raw: Path, netns: str) -> dict[str, int]:
    path = raw / f"nstat-{netns}.json"
    return read_json(path).get("kernel", {}) if path.exists() else {}


def drops(raw: Path, places: Iterable[Iterable[str]], kinds: set[str]) -> int:
    """Drops of the qdiscs of these kinds at the given (namespace, device) places."""
    total = 0
    for netns, dev in places:
        for qdisc in read_json(raw / f"qdisc-{netns}.json"):
            if qdisc.get("dev") == dev and qdisc.get("kind") in kinds:
                total += int(qdisc.get("drops", 0))
    return total


def read_events(raw: Path) -> list[tuple[str, str, float]]:
    """The lines of events.log: (name, what happened, time in s of the guest's clock)."""
    path = raw / "events.log"
    events = []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if len(words) == 3:
                try:
                    events.append((words[0], words[1], float(words[2])))
                except ValueError:
                    raise RecordError(f"events.log: '{line}' has no time") from None
    return events


_SAMPLE = re.compile(r"\s*(?:(\d+(?:\.\d+)?)\s+)?(\[.*\])\s*")


def queue_samples(raw: Path) -> list[tuple[float, list[dict[str, Any]]]]:
    """Samples of the bottleneck's device: times in s of the guest's clock, its qdiscs.

    A line is ``TIME [json]``; where lines carry no time they are taken to be 0.1 s apart from
    the event ``queue_sampling on``.
    """
    path = raw / "queue.jsonl"
    samples: list[tuple[float, list[dict[str, Any]]]] = []
    if not path.exists():
        return samples
    start = next((at for name, _, at in read_events(raw) if name == "queue_sampling"), 0.0)
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        match = _SAMPLE.fullmatch(line)
        try:
            qdiscs = json.loads(match.group(2)) if match else None
        except ValueError:
            qdiscs = None
        if qdiscs is None:
            if number == len(lines) - 1:
                break  # the sampler was stopped in the middle of its last line
            raise RecordError(f"queue.jsonl:{number + 1} is not a sample")
        time = float(match.group(1)) if match.group(1) else start + 0.1 * number
        samples.append((time, qdiscs))
    return samples


def read_queue(raw: Path, dev: str, key: str = "backlog") -> tuple[np.ndarray, np.ndarray]:
    """Samples of the bottleneck's queue: times in s of the guest's clock, backlog in bytes, or
    another of its numbers, such as ``drops`` since the beginning."""
    times: list[float] = []
    sizes: list[float] = []
    for time, qdiscs in queue_samples(raw):
        times.append(time)
        sizes.append(sum(q.get(key, 0) for q in qdiscs if q.get("dev", dev) == dev and "root" in q))
    return np.array(times), np.array(sizes)


def samples_of(send: dict[str, Any], field: str) -> np.ndarray:
    column = send["fields"].index(field)
    return np.array([row[column] for row in send["samples"]], dtype=np.float64)


def read_arrivals(raw: Path, flow: str) -> Arrivals:
    """The receiver's bins of one flow."""
    return Arrivals(read_json(raw / f"{flow}.recv.json")["bins"])


def packets(raw: Path, place: Sequence[str], side: str) -> int:
    """Frames that a device took in (rx) or gave to the other end of its link (tx)."""
    netns, dev = place
    for link in read_json(raw / f"link-{netns}.json"):
        if link.get("ifname") == dev:
            return int(link["stats64"][side]["packets"])
    raise RecordError(f"link-{netns}.json has no {dev}")
