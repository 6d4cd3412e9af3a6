# SPDX-License-Identifier: GPL-2.0
"""shake_holes.h again: slow, number by number, with numbers that don't wrap and no lack of room."""

from __future__ import annotations

from dataclasses import dataclass, field

UNDECIDED, UNNEEDED, NEEDED = range(3)
PASS_ALL, DROP_ALL, TDAR, AUTO = range(4)
PASS, DROP, RETRANSMIT, UNSACKED = range(4)
EVENTS, MOST_DEPTH, HARM, DEEPER = 32, 200, 3, 4
BLOCKS = 3


@dataclass(eq=False)
class Hole:
    """An element of the HoleList."""

    mode: int = UNDECIDED
    dupack: int = 0
    cancel: int = 0
    seen: int = 0
    relay: int = 2
    asked: bool = False


@dataclass
class Flow:
    """One flow at the agent. ``owner`` tells for each number in a hole in which."""

    alive: int = 0
    owner: dict[int, Hole] = field(default_factory=dict)
    have: set[int] = field(default_factory=set)
    paths: dict[int, int] = field(default_factory=dict)
    base: int | None = None
    high: int = 0
    acked: int | None = None
    window: int = 0
    late: int = 0
    lost: int = 0
    depth: int = 0

    # --- what is known

    def numbers(self, hole: Hole) -> list[int]:
        return sorted(number for number, owner in self.owner.items() if owner is hole)

    def holes(self) -> list[Hole]:
        """By their lowest number."""
        return list(dict.fromkeys(self.owner[number] for number in sorted(self.owner)))

    def received(self) -> int:
        missing = [n for n, hole in self.owner.items() if hole.mode != UNNEEDED]
        return min(missing, default=self.high)

    def rows(self) -> list[tuple[int, int, int, int, int, int, int, bool]]:
        return [
            (n[0], n[-1] + 1, h.mode, h.dupack, h.cancel, h.seen, h.relay, h.asked)
            for h in self.holes()
            for n in [self.numbers(h)]
        ]

    # --- data

    def begin(self, number: int, paths: dict[int, int]) -> None:
        self.__dict__.update(Flow(alive=self.alive, base=number, high=number, paths=paths).__dict__)

    def syn(self, seq: int) -> None:
        if self.base != seq + 1:
            self.begin(seq + 1, dict.fromkeys(range(8), seq + 1))

    def arrives(self, path: int, seq: int, end: int, mal: int | None) -> None:
        if self.base is None:
            self.begin(seq, {})
        again = mal is not None and seq < mal
        beyond = seq > self.received()
        before_high = self.high
        copy = path in self.paths and end <= self.paths[path]
        self.open(seq)
        if not again:
            self.compare(path, mal)
        for number in (None if again else mal, end):
            if number is not None:
                self.paths[path] = max(self.paths.get(path, number), number)
        fresh = self.fill(seq, end, again) or end > before_high
        self.high = max(self.high, end)
        self.clear()
        if not fresh and not again and mal is not None and not copy:
            self.learn(late=True)
            self.deepen(self.depth + DEEPER)
        lowest = self.owner.get(self.received())
        if beyond and fresh and lowest and lowest.mode == UNDECIDED:
            lowest.dupack += 1

    def open(self, seq: int) -> None:
        hole = Hole()
        self.owner.update(dict.fromkeys(range(self.high, seq), hole))

    def compare(self, path: int, mal: int | None) -> None:
        if mal is not None and path in self.paths and self.paths[path] < mal:
            self.mark(mal)

    def part(self, hole: Hole, number: int) -> None:
        """What is from ``number`` on is a hole of its own."""
        rest = Hole(hole.mode)
        for n in self.numbers(hole):
            if n >= number:
                self.owner[n] = rest

    def mark(self, end: int) -> None:
        hole = self.owner.get(end - 1)
        if hole and hole.mode == UNDECIDED:
            self.part(hole, end)
            self.lose(hole)

    def clear(self) -> None:
        alive = [path for path in range(8) if self.alive >> path & 1]
        if not alive or any(path not in self.paths for path in alive):
            return
        least = min([self.high, *(self.paths[path] for path in alive)])
        for hole in self.holes():
            if hole.mode == UNDECIDED and self.numbers(hole)[0] < least:
                self.part(hole, least)
                self.lose(hole)

    def lose(self, hole: Hole) -> None:
        hole.mode = NEEDED

    def fill(self, seq: int, end: int, again: bool) -> bool:
        hit = [
            hole
            for hole in self.holes()
            if hole.mode != UNNEEDED and any(seq <= n < end for n in self.numbers(hole))
        ]
        for hole in hit:
            self.part(hole, end)
            front = [n for n in self.numbers(hole) if n < seq]
            if not front:
                self.filled(hole, again)
                continue
            for n in self.numbers(hole):
                if n >= seq:
                    del self.owner[n]
        return bool(hit)

    def filled(self, hole: Hole, again: bool) -> None:
        if hole.mode == UNDECIDED and not again:
            self.deepen(hole.dupack)
            if hole.dupack >= HARM:
                self.learn(late=True)
        if hole.mode == UNDECIDED and again and hole.seen:
            self.learn(late=False)
        hole.mode = UNNEEDED
        hole.dupack = max(hole.dupack - hole.seen, 0)

    # --- ack=auto

    def learn(self, *, late: bool) -> None:
        self.late += late
        self.lost += not late
        if self.late + self.lost >= EVENTS:
            self.late //= 2
            self.lost //= 2

    def deepen(self, depth: int) -> None:
        depth = min(depth, MOST_DEPTH)
        fall = -(-(self.depth - depth) // 8)
        self.depth = depth if depth >= self.depth else self.depth - fall

    def choice(self) -> int:
        return PASS_ALL if 3 * (self.late + 1) < self.lost else DROP_ALL

    # --- ACKs

    def acknowledged(
        self,
        ack: int,
        window: int,
        mode: int,
        threshold: int,
        *,
        plain: bool = True,
        sack: bool = False,
    ) -> int:
        if self.base is None or ack > self.high or (self.acked is not None and ack < self.acked):
            return PASS
        again, moved = ack == self.acked, window != self.window
        self.acked, self.window = ack, window
        self.owner = {
            n: hole
            for n, hole in self.owner.items()
            if n >= ack
        }  # fmt: skip
        hole = self.owner.get(ack)
        if not plain or not hole:
            return PASS
        if again and (not moved or (sack and self.explains(hole))):
            return self.judge(hole, mode, threshold)
        return UNSACKED if sack and not again and self.hides(hole, mode) else PASS

    @staticmethod
    def explains(hole: Hole) -> bool:
        return bool(hole.dupack) if hole.mode == UNNEEDED else hole.seen < hole.dupack

    def hides(self, hole: Hole, mode: int) -> bool:
        if len({id(h) for h in self.owner.values() if h.mode != UNNEEDED}) >= BLOCKS:
            return False
        drops = mode == DROP_ALL or (mode == AUTO and self.choice() == DROP_ALL)
        return (hole.mode == UNNEEDED and mode in (DROP_ALL, AUTO)) or (
            hole.mode == UNDECIDED and drops and not hole.asked
        )

    def judge(self, hole: Hole, mode: int, threshold: int) -> int:
        if hole.mode == UNNEEDED:
            return self.of_unneeded(hole, DROP_ALL if mode == AUTO else mode)
        hole.seen += 1
        if hole.mode == NEEDED:
            ask = (mode == AUTO or bool(hole.cancel)) and not hole.asked
            hole.asked |= ask
            return RETRANSMIT if ask else PASS
        if mode == AUTO:
            mode = self.choice()
            threshold += 2 * self.depth
        return self.of_undecided(hole, mode, threshold)

    @staticmethod
    def of_unneeded(hole: Hole, mode: int) -> int:
        if mode == PASS_ALL or not hole.dupack:
            return PASS
        hole.dupack -= 1
        if mode == TDAR and hole.relay:
            hole.relay -= 1
            return PASS
        return DROP

    @staticmethod
    def of_undecided(hole: Hole, mode: int, threshold: int) -> int:
        if mode == PASS_ALL or hole.asked:
            return PASS
        if mode == TDAR and hole.relay:
            hole.relay -= 1
            return PASS
        if hole.cancel >= threshold:
            hole.asked = True
            return RETRANSMIT
        hole.cancel += 1
        return DROP
