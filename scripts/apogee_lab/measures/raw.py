# SPDX-License-Identifier: GPL-2.0
"""The raw files that a run leaves behind, each read and parsed at most once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from . import traces
from .arrivals import Arrivals
from .record import RecordError

#: A sample of a device: time in s of the guest's clock, its qdiscs in tc's JSON.
Sample = tuple[float, list[dict[str, Any]]]

_SAMPLE = re.compile(r"\s*(?:(\d+(?:\.\d+)?)\s+)?(\[.*\])\s*")


class RawFolder:
    """A run's folder. Missing or incomplete files raise a RecordError that names the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._parsed: dict[str, Any] = {}

    def _once(self, key: str, parse: Callable[[], Any]) -> Any:
        if key not in self._parsed:
            self._parsed[key] = parse()
        return self._parsed[key]

    def has(self, name: str) -> bool:
        """Whether the run left this file."""
        return (self.path / name).exists()

    def json(self, name: str) -> Any:
        """A file of one JSON value."""
        return self._once(name, lambda: self._read_json(name))

    def _read_json(self, name: str) -> Any:
        try:
            return json.loads((self.path / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise RecordError(f"{name} is missing") from None
        except ValueError:
            raise RecordError(f"{name} is not whole") from None

    # --- flows ----------------------------------------------------------------------------------

    def sender(self, flow: str) -> dict[str, Any]:
        """The log of a flow's sender."""
        return self.json(f"{flow}.send.json")

    def receiver(self, flow: str) -> dict[str, Any]:
        """The log of a flow's receiver."""
        return self.json(f"{flow}.recv.json")

    def arrivals(self, flow: str) -> Arrivals:
        """A flow's arrivals, from the receiver's bins."""
        return self._once(f"{flow} arrivals", lambda: Arrivals(self.receiver(flow)["bins"]))

    def series(self, ports: Sequence[int]) -> dict[int, dict[str, traces.Series]]:
        """The trace's time series by receiver's port; empty without a trace."""
        if not self.has("trace.txt"):
            return {}
        path = self.path / "trace.txt"
        return self._once(f"series {sorted(ports)}", lambda: traces.by_port(path, ports))

    # --- counters -------------------------------------------------------------------------------

    def nstat(self, netns: str) -> dict[str, int]:
        """Counters of a namespace's stack; empty if the run left none."""
        name = f"nstat-{netns}.json"
        return self.json(name).get("kernel", {}) if self.has(name) else {}

    def nstat_files(self) -> list[str]:
        """Names of the files with the namespaces' counters."""
        return sorted(path.name for path in self.path.glob("nstat-*.json"))

    def drops(self, places: Iterable[Iterable[str]], kinds: set[str], whole: bool = False) -> int:
        """Drops of the qdiscs of these kinds at the given (namespace, device) places; ``whole``: a
        root of these kinds counts for its children, too."""
        total = 0
        for netns, dev in places:
            found = [
                qdisc
                for qdisc in self.json(f"qdisc-{netns}.json")
                if qdisc.get("dev") == dev and qdisc.get("kind") in kinds
            ]
            roots = [qdisc for qdisc in found if whole and "root" in qdisc]
            total += sum(int(qdisc.get("drops", 0)) for qdisc in roots or found)
        return total

    def leaf_drops(self, place: Sequence[str], handle: str) -> int:
        """Drops of one qdisc of a device, by its handle."""
        netns, dev = place
        for qdisc in self.json(f"qdisc-{netns}.json"):
            if (qdisc.get("dev"), qdisc.get("handle")) == (dev, handle):
                return int(qdisc["drops"])
        raise RecordError(f"qdisc-{netns}.json has no {handle} of {dev}")

    def packets(self, place: Sequence[str], side: str) -> int:
        """Frames that a device received (rx) or sent (tx)."""
        netns, dev = place
        for link in self.json(f"link-{netns}.json"):
            if link.get("ifname") == dev:
                return int(link["stats64"][side]["packets"])
        raise RecordError(f"link-{netns}.json has no {dev}")

    # --- events and samples ---------------------------------------------------------------------

    @cached_property
    def uname(self) -> str | None:
        """The kernel's release as ``uname -r`` prints it."""
        return (self.path / "uname").read_text("utf-8").strip() if self.has("uname") else None

    @cached_property
    def events(self) -> list[tuple[str, str, float]]:
        """The lines of events.log: (name, what happened, time in s of the guest's clock)."""
        if not self.has("events.log"):
            return []
        events = []
        for line in (self.path / "events.log").read_text(encoding="utf-8").splitlines():
            words = line.split()
            if len(words) == 3:
                try:
                    events.append((words[0], words[1], float(words[2])))
                except ValueError:
                    raise RecordError(f"events.log: '{line}' has no time") from None
        return events

    @cached_property
    def times(self) -> dict[tuple[str, str], float]:
        """Time of each event; if an event occurs several times, the last one."""
        return {(name, what): at for name, what, at in self.events}

    def samples(self, name: str = "queue.jsonl") -> list[Sample]:
        """The samples of a bottleneck's device; none if the file is missing.

        A line is ``TIME [json]``. Lines without a time are assumed to be 0.1 s apart, starting at
        the event ``queue_sampling on``.
        """
        return self._once(name, lambda: self._read_samples(name))

    def _read_samples(self, name: str) -> list[Sample]:
        if not self.has(name):
            return []
        start = next((at for event, _, at in self.events if event == "queue_sampling"), 0.0)
        lines = (self.path / name).read_text(encoding="utf-8").splitlines()
        samples: list[Sample] = []
        for number, line in enumerate(lines):
            sample = _sample(line, start + 0.1 * number)
            if sample is None:
                if number == len(lines) - 1:
                    break  # the sampler was stopped while writing its last line
                raise RecordError(f"{name}:{number + 1} is not a sample")
            samples.append(sample)
        return samples

    def queue(
        self, dev: str, key: str = "backlog", name: str = "queue.jsonl"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Samples of a device's queue: times in s of the guest's clock, and its backlog in bytes
        or another field, such as ``drops`` since the beginning."""
        samples = self.samples(name)
        sizes = [
            sum(q.get(key, 0) for q in qdiscs if q.get("dev", dev) == dev and "root" in q)
            for _, qdiscs in samples
        ]
        times = [time for time, _ in samples]
        return np.array(times, dtype=np.float64), np.array(sizes, dtype=np.float64)

    def counted(self, dev: str, key: str, time_s: float) -> float:
        """A counter of a device's root qdisc at a time, interpolated between samples; RecordError
        without any."""
        times, counts = self.queue(dev, key)
        if not len(times):
            raise RecordError("queue.jsonl has no samples")
        return float(np.interp(time_s, times, counts))


def _sample(line: str, time_s: float) -> Sample | None:
    """Parse a line's sample; ``time_s`` is its time if the line has none; None without a sample."""
    match = _SAMPLE.fullmatch(line)
    try:
        return (float(match[1] or time_s), json.loads(match[2])) if match else None
    except ValueError:
        return None


def samples_of(send: dict[str, Any], field: str) -> np.ndarray:
    """One column of a sender's samples of TCP_INFO."""
    column = send["fields"].index(field)
    return np.array([row[column] for row in send["samples"]], dtype=np.float64)
