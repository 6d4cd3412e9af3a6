# SPDX-License-Identifier: GPL-2.0
"""A path that begins with a channel shared by hosts: the access point's queue, which holds ACKs,
and the frames that each host sent.

The counters of its HTB's leaves are sampled with the queue, every 100 ms. A count over an interval
is the difference between its last and first sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from .paths import MeasuredPath
from .raw import Sample
from .record import RecordError

FIELDS = ("packets", "bytes", "drops", "qlen", "backlog")


class Counters:
    """Samples of the leaves at ``times`` (s); ``told`` has the plan's facts about the channel."""

    def __init__(
        self, told: Mapping[str, Any], times: np.ndarray, leaves: dict[str, np.ndarray]
    ) -> None:
        self.told = told
        self.times = times
        self._leaves = leaves
        self.ap: str = told["ap"]
        self.stations: list[str] = list(told["stations"])

    @classmethod
    def read(cls, samples: Iterable[Sample], told: Mapping[str, Any]) -> Counters:
        """From samples of all qdiscs of the channel."""
        times, rows = [], []
        for time, qdiscs in samples:
            times.append(time)
            rows.append({q["handle"]: [q[key] for key in FIELDS] for q in qdiscs})
        every = [told["ap"], *told["stations"]]
        leaves = {handle: np.array([row[handle] for row in rows]) for handle in every}
        return cls(told, np.array(times), leaves)

    def between(self, begin_us: float, end_us: float) -> Counters:
        """The samples of an interval; RecordError if there are fewer than two."""
        inside = (self.times >= begin_us / 1e6) & (self.times <= end_us / 1e6)
        if inside.sum() < 2:
            raise RecordError("queue.jsonl has no samples of the interval")
        leaves = {handle: rows[inside] for handle, rows in self._leaves.items()}
        return Counters(self.told, self.times[inside], leaves)

    def values(self, handle: str, field: str) -> np.ndarray:
        """A field of a leaf in every sample."""
        return self._leaves[handle][:, FIELDS.index(field)]

    def count(self, handle: str, field: str) -> int:
        """Increase of a leaf's counter over all samples."""
        column = self.values(handle, field)
        return int(column[-1] - column[0])

    @property
    def over_s(self) -> float:
        """Time from the first sample to the last (s)."""
        return float(self.times[-1] - self.times[0])

    def queue(self) -> dict[str, Any]:
        """The access point's queue. ``mean_ms``, the mean waiting time, is the mean length divided
        by the frames sent per second (Little's law)."""
        packets = self.values(self.ap, "qlen")
        size = self.values(self.ap, "backlog") - self.told["overhead"] * packets
        sent = self.count(self.ap, "packets")
        mean = float(packets.mean())
        return {
            "mean_bytes": round(float(size.mean()), 1),
            "mean_ms": round(1000 * mean * self.over_s / sent, 3) if sent else None,
            "max_bytes": int(size.max()),
            "mean_packets": round(mean, 2),
            "max_packets": int(packets.max()),
        }

    def shares(self) -> dict[str, Any]:
        """Frames that the access point sent and dropped, frames that the stations sent, and the
        airtime charged for all of them as a share of the time."""
        every = [self.ap, *self.stations]
        charged = sum(self.count(handle, "bytes") for handle in every)
        return {
            "airtime": round(charged * 8 / self.told["rate_bps"] / self.over_s, 5),
            "ap_frames": self.count(self.ap, "packets"),
            "ap_drops": self.count(self.ap, "drops"),
            "station_frames": sum(self.count(handle, "packets") for handle in self.stations),
        }


class ChannelPath(MeasuredPath):
    """A path whose bottleneck is the access point's queue of ACKs; data waits at the stations, that
    of downloads in the access point's queue, too."""

    @cached_property
    def series(self) -> Counters:
        """All samples of the channel."""
        return Counters.read(self.raw.samples(self.samples), self.facts["channel"])

    @cached_property
    def queue_drops(self) -> int:
        """Frames that the access point's queue dropped: ACKs, and data of downloads."""
        return self._leaf_drops(self.facts["channel"]["ap"])

    @cached_property
    def station_drops(self) -> list[int]:
        """Frames that each station's own queue dropped: data, or ACKs of a download."""
        return [self._leaf_drops(leaf) for leaf in self.facts["channel"]["stations"]]

    @cached_property
    def download_drops(self) -> list[int]:
        """Data frames of each download that the access point's queue dropped: those that came to
        the access point and did not leave it."""
        return [
            self.raw.packets(comes, "rx") - self.raw.packets(goes, "tx")
            for comes, goes in self._downloads
        ]

    @property
    def _downloads(self) -> list[Any]:
        return list(self.facts["channel"]["downloads"])

    @property
    def _uploads(self) -> int:
        return len(self.facts["channel"]["stations"]) - len(self._downloads)

    def _leaf_drops(self, handle: str) -> int:
        return self.raw.leaf_drops(self.facts["bottleneck"], handle)

    @cached_property
    def ack_drops(self) -> int:
        """ACKs dropped on the return path, by the access point's queue, and by stations."""
        queued = self.queue_drops - sum(self.download_drops)
        return self._dropped("ack") + queued + sum(self.station_drops[self._uploads :])

    @property
    def losses(self) -> int:
        """Data frames that the path lost."""
        uploads = sum(self.station_drops[: self._uploads])
        return self.link_drops + uploads + sum(self.download_drops)

    def queue(self, begin_us: float, end_us: float) -> dict[str, Any]:
        """Occupancy of the access point's queue between two times."""
        return self.series.between(begin_us, end_us).queue()

    def drops_since(self, time_s: float) -> int:
        """Frames that the access point's queue dropped from then on, up to the last sample."""
        late = self.series.between(time_s * 1e6, math.inf)
        return late.count(late.ap, "drops")
