# SPDX-License-Identifier: GPL-2.0
"""A lossy link that sscop_segment.h cuts packets for, and what the best pieces would cost.

Frames are sent one after the other; what became of one is known some time later, and what was
lost is sent again as it was, nine times in ten: else frames that are too long for a link would
block it. A packet's cost is the octets on the link until all of its pieces
have arrived, as expected by the true loss rates.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from tests.unit.headers.cheaders import Library

#: Probability that a frame of this many octets is lost.
Loss = Callable[[int], float]
#: Whether a frame of so many octets whose last bit is sent at this time is lost.
Fate = Callable[[int, float, random.Random], bool]

OVERHEAD = 22
LEAST = 64


@dataclass(frozen=True)
class Cut:
    """A packet, the time it was cut at and the length of its pieces."""

    time: float
    packet: int
    piece: int


def bit_errors(rate: float) -> Loss:
    return lambda frame: 1 - (1 - rate) ** (8 * frame)


def whatever_the_length(share: float, errors: float = 0) -> Loss:
    """Frames are lost at random, and of the others those with bit errors."""
    loss = bit_errors(errors)
    return lambda frame: 1 - (1 - share) * (1 - loss(frame))


def by(loss: Loss) -> Fate:
    return lambda frame, _time, dice: dice.random() < loss(frame)


def pieces(packet: int, piece: int) -> list[int]:
    whole, rest = divmod(packet, piece)
    return [piece] * whole + [rest] * (rest > 0)


@dataclass
class Link:
    """@rate in bit/s, times in s; @packets are as frequent as each other."""

    packets: tuple[int, ...] = (1500,)
    rate: float = 2e6
    delay: float = 0.15
    overhead: int = OVERHEAD
    limit: int = 9000

    def run(self, apogee: Library, fate: Fate, duration: float, seed: int) -> list[Cut]:
        """The packets cut in this time, with a sender that always has one."""
        dice = random.Random(seed)
        state = apogee.new("sscop_segment")
        apogee.sscop_segment_init(state)
        now, done = 0.0, []
        known: deque[tuple[float, int, bool]] = deque()
        queue: deque[int] = deque()
        while now < duration:
            while known and known[0][0] <= now:
                _, frame, lost = known.popleft()
                apogee.sscop_segment_outcome(state, frame, lost)
                if lost and dice.random() < 0.9:
                    queue.appendleft(frame)
            if not queue:
                packet = dice.choice(self.packets)
                piece = apogee.sscop_segment_choose(state, packet, self.overhead, self.limit)
                done.append(Cut(now, packet, piece))
                queue.extend(part + self.overhead for part in pieces(packet, piece))
            frame = queue.popleft()
            now += frame * 8 / self.rate
            known.append((now + self.delay, frame, fate(frame, now, dice)))
        return done

    def cost(self, packet: int, piece: int, loss: Loss) -> float:
        frames = [part + self.overhead for part in pieces(packet, piece)]
        return sum(frame / max(1 - loss(frame), 1e-12) for frame in frames)

    def best(self, packet: int, loss: Loss) -> float:
        """The cost of the best pieces: of equal length, or of one of the usual ones."""
        most = min(packet, self.limit)
        usual = [size for size in (64, 128, 256, 512, 1024, 1500, 2048) if size <= most]
        equal = {-(-packet // n) for n in range(1, max(packet // LEAST, 1) + 1)}
        sizes = [size for size in {*equal, *usual, most} if size <= most]
        return min(self.cost(packet, size, loss) for size in sizes)

    def excess(self, cuts: list[Cut], loss: Loss, begin: float, end: float) -> float:
        """What the packets of this time cost more than the best pieces, as a share of that."""
        cost = lru_cache(None)(lambda packet, piece: self.cost(packet, piece, loss))
        best = lru_cache(None)(lambda packet: self.best(packet, loss))
        chosen = [cut for cut in cuts if begin <= cut.time < end]
        assert chosen, f"nothing was cut from {begin} to {end}"
        spent = sum(cost(cut.packet, cut.piece) for cut in chosen)
        return spent / sum(best(cut.packet) for cut in chosen) - 1


class Bursts:
    """A link of two states (Gilbert and Elliott), of mean times and bit error rates."""

    def __init__(self, good: tuple[float, float], bad: tuple[float, float], seed: int) -> None:
        self._states = (good, bad)
        self._bad = False
        self._dice = random.Random(seed)
        self._until = self._dice.expovariate(1 / good[0])

    def __call__(self, frame: int, time: float, dice: random.Random, rate: float = 2e6) -> bool:
        begin, arrives = time - frame * 8 / rate, 1.0
        while begin < time:
            end = min(time, self._until)
            errors = self._states[self._bad][1]
            arrives *= (1 - errors) ** (max(end - begin, 0) * rate)
            begin = end
            if end == self._until:
                self._bad = not self._bad
                self._until += self._dice.expovariate(1 / self._states[self._bad][0])
        return dice.random() >= arrives
