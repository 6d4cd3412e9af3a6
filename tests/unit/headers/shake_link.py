# SPDX-License-Identifier: GPL-2.0
"""A path of SHAKE by hand: a link with a queue without end, and pseudo-ACKs."""

from __future__ import annotations

from collections import deque
from typing import Any

from tests.unit.headers.cheaders import Library

SECOND = 1_000_000


class Link:
    """Times in us, rate in bytes/s; ``delay`` is both ways. Packets listed as lost use the link."""

    def __init__(self, apogee: Library, rate: float, delay: int, **config: int) -> None:
        self.apogee = apogee
        self.rate, self.delay = rate, delay
        self.ring = (apogee.headers.structs["shake_sent"] * apogee.SHAKE_RING)()
        self.est = apogee.new("shake_path_est")
        windows = {"interval": SECOND, "rtt_window": 10 * SECOND} | config
        self.config = apogee.new("shake_path_config", **windows)
        self.now = SECOND
        apogee.shake_path_init(self.est, self.ring, self.now)
        self.free = 0.0
        self.counter = 0
        self.received = self.packets = 0
        self.back: deque[tuple[float, Any]] = deque()
        self.real: list[tuple[int, float]] = []

    def send(self, size: int = 1500, *, lost: bool = False, gap: int = 1) -> int:
        """Send a packet; returns the predicted round trip, and notes the real one."""
        apogee = self.apogee
        predicted = apogee.shake_path_trip(self.est, size, self.now)
        self.counter += gap
        apogee.shake_path_sent(self.est, self.counter, size, self.now)
        self.free = max(self.free, self.now) + size / self.rate * SECOND
        arrives = self.free + self.delay
        self.real.append((predicted, arrives - self.now))
        if not lost:
            self.received += size
            self.packets += 1
            self.back.append((arrives, self.ack(self.counter)))
        return predicted

    def ack(self, echo: int, **fields: int) -> Any:
        totals = {"bytes": self.received % 2**32, "packets": self.packets} | fields
        return self.apogee.new("shake_path_ack", echo=echo, **totals)

    def accept(self, ack: Any) -> bool:
        return self.apogee.shake_path_acked(self.est, self.config, ack, self.now)

    def wait(self, us: float) -> None:
        """Let time pass, with the ACKs that come in it."""
        until = self.now + us
        while self.back and self.back[0][0] <= until:
            due, ack = self.back.popleft()
            self.now = max(self.now, round(due))
            assert self.accept(ack)
        self.now = max(self.now, round(until))

    def fill(self, seconds: float, window: int, size: int = 1500) -> None:
        """Keep ``window`` packets under way."""
        until = self.now + seconds * SECOND
        while self.now < until:
            while len(self.back) < window:
                self.send(size)
            self.wait(max(self.back[0][0] - self.now, 1))
