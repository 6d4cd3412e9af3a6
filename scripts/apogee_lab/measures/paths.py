# SPDX-License-Identifier: GPL-2.0
"""The paths of a run: their queues, and the frames dropped on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .losses import LOSSY
from .raw import RawFolder

#: Qdiscs that can be a bottleneck's queue. A parent's drops include those of its children.
QUEUES = {"netem", "pfifo", "bfifo", "tbf", "fq_codel", "cake", "pfifo_fast", "prio"}
FILTERS = {"clsact", "ingress"}


class MeasuredPath:
    """One path of a run; ``facts`` are the plan's. Counts are of the whole run."""

    def __init__(self, raw: RawFolder, facts: Mapping[str, Any]) -> None:
        self.raw = raw
        self.facts = facts
        self.name: str = facts["name"]
        self.samples = f"queue-{self.name}.jsonl" if self.name else "queue.jsonl"

    @cached_property
    def queue_drops(self) -> int:
        """Frames that the bottleneck's queue dropped."""
        return self.raw.drops([self.facts["bottleneck"]], QUEUES, whole=True)

    @cached_property
    def link_drops(self) -> int:
        """Data frames dropped behind the bottleneck."""
        return self._dropped("data")

    @cached_property
    def ack_drops(self) -> int:
        """Frames dropped on the return path."""
        return self._dropped("ack")

    def _dropped(self, what: str) -> int:
        links = self.raw.drops(self.facts[f"{what}_links"], LOSSY)
        return links + self.raw.drops(self.facts[f"{what}_filters"], FILTERS)

    @property
    def losses(self) -> int:
        """Data frames that the path lost."""
        return self.link_drops + self.queue_drops

    def queue(self, begin_us: float, end_us: float) -> dict[str, Any]:
        """Occupancy of the queue between two times."""
        times, sizes = self._series("backlog")
        sizes = sizes[(times >= begin_us / 1e6) & (times <= end_us / 1e6)]
        mean = float(sizes.mean()) if len(sizes) else None
        return {
            "mean_bytes": None if mean is None else round(mean, 1),
            "mean_ms": mean_ms(mean, self.facts["rate_bps"]),
            "max_bytes": int(sizes.max()) if len(sizes) else None,
        }

    def drops_until(self, time_s: float) -> int:
        """Frames the queue had dropped by the first sample at or after ``time_s``."""
        times, drops = self._series("drops")
        later = np.nonzero(times >= time_s)[0]
        return int(drops[later[0]]) if len(later) else int(drops[-1]) if len(drops) else 0

    def drops_since(self, time_s: float) -> int:
        """Frames the queue dropped from then on, up to the end of the run."""
        return self.queue_drops - self.drops_until(time_s)

    def _series(self, key: str) -> tuple[np.ndarray, np.ndarray]:
        return self.raw.queue(self.facts["bottleneck"][1], key, self.samples)


def mean_ms(mean_bytes: float | None, rate_bps: float) -> float | None:
    """Queuing delay in ms of a backlog at a rate; None if either is unknown."""
    return None if mean_bytes is None or not rate_bps else round(mean_bytes * 8000 / rate_bps, 3)


def queue_of(paths: Sequence[MeasuredPath], begin_us: float, end_us: float) -> dict[str, Any]:
    """The queue of a run; with several paths the sums, and the largest of the maxima."""
    queues = [path.queue(begin_us, end_us) for path in paths]
    drops = sum(path.queue_drops for path in paths)
    if len(queues) == 1:
        return queues[0] | {"drops": drops}
    means = [queue["mean_bytes"] for queue in queues]
    mean = None if None in means else round(sum(means), 1)
    return {
        "mean_bytes": mean,
        "mean_ms": mean_ms(mean, sum(path.facts["rate_bps"] for path in paths)),
        "max_bytes": max(
            (q["max_bytes"] for q in queues if q["max_bytes"] is not None), default=None
        ),
        "drops": drops,
    }


def each_of(paths: Sequence[MeasuredPath], begin_us: float, end_us: float) -> list[dict[str, Any]]:
    """The key ``paths`` of a record."""
    told = ("name", "rate_bps", "delay_s", "limit_bps", "bdp_bytes", "queue_bytes")
    return [
        {key: path.facts[key] for key in told}
        | {
            "queue": queue_of([path], begin_us, end_us),
            "link_drops": path.link_drops,
            "ack_drops": path.ack_drops,
        }
        for path in paths
    ]
