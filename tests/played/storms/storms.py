# SPDX-License-Identifier: GPL-2.0
"""The storms: what goes wrong on the path, in words and in calls of storm.sh."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Path:
    """Bottleneck in kbit/s, delay one way in ms, queue in packets, MTU in octets."""

    kbps: int
    delay_ms: int
    queue: int
    mtu: int = 1500

    def rtt_ms(self) -> float:
        """With a full queue."""
        return 2 * self.delay_ms + (self.queue + 1) * 8 * self.mtu / self.kbps

    def call(self) -> str:
        """As a call of storm.sh."""
        return f"path {self.kbps}kbit {self.delay_ms}ms {self.queue} {self.mtu}"


#: One bandwidth-delay product in the queue, if not said otherwise.
USUAL = Path(5_000, 50, 42)


@dataclass(frozen=True)
class Storm:
    """``during`` begins after ``calm_s`` of a calm path and ends ``seconds`` later: then the path
    is calm again and ``after`` is called. ``before`` is called before the stream begins, which has
    what the path carries in ``flow_s``. ``mss`` is what the receiver offers to take.
    """

    words: str
    during: str
    seconds: float = 5
    before: str = ""
    after: str = ""
    path: Path = USUAL
    calm_s: float = 6
    flow_s: float = 26
    mss: int = 0
    tap: bool = False
    window: int = 8 << 20  # octets: of the receiver's buffer, and of the sender's
    by_total: bool = False  # recovery is judged by the time of the whole stream
    crowd: tuple[int, int, int] | None = None  # streams, octets of all, damaged ones

    @property
    def octets(self) -> int:
        """Length of the stream."""
        return int(self.path.kbps * 1000 / 8 * self.flow_s)


MIXED = "data loss 1% duplicate 5% corrupt 1% reorder 5% 50%"
FLAP = "flap '{}' '{}' &"
ZERO, READ = "kill -STOP $drinker", "kill -CONT $drinker"
SMALL = 500_000  # octets: a window of about four bandwidth-delay products
SECONDS_OF_SILENCE = 100

LOSS = {
    "loss-1": Storm("1 % of the data lost", "data loss 1%"),
    "loss-10": Storm("10 %", "data loss 10%"),
    "loss-30": Storm("30 %", "data loss 30%"),
    "loss-60": Storm("60 %", "data loss 60%"),
    "loss-90": Storm("90 %", "data loss 90%"),
    "bursts": Storm(
        "data lost in bursts, 10 packets each on average, after each 200 (Gilbert–Elliott)",
        "data loss gemodel 0.5% 10%",
    ),
    "long-bursts": Storm(
        "likewise, 100 after each 1000", "data loss gemodel 0.1% 1%", seconds=8
    ),
    "acks-50": Storm("half of the ACKs lost", "acks loss 50%"),
    "acks-90": Storm("90 % of the ACKs lost", "acks loss 90%"),
    "both-30": Storm("30 % lost in both directions", "data loss 30%; acks loss 30%"),
}  # fmt: skip
ORDER = {
    "reorder": Storm("a quarter of the data arrives 50 ms earlier", "data reorder 25% 50%"),
    "shuffle": Storm("each packet is delayed by 20 to 80 ms, whichever were sent before",
                     "data delay 50ms 30ms"),
    "duplicate": Storm("half of the data arrives twice", "data duplicate 50%"),
    "corrupt": Storm("a bit of 10 % of the packets flipped, in both directions",
                     "data corrupt 10%; acks corrupt 10%"),
    "jitter": Storm("data delayed by 50 to 150 ms, order kept",
                    "data delay 100ms 50ms rate 10gbit"),
    "ack-jitter": Storm("ACKs delayed by 50 to 150 ms, order kept",
                        "acks delay 100ms 50ms rate 10gbit"),
    "mixed": Storm("loss, bits flipped, duplicates, reordering", MIXED),
}  # fmt: skip
SILENCE = {
    "data-2s": Storm("no data arrives for 2 s", "data loss 100%", seconds=2),
    "acks-2s": Storm("no ACK arrives for 2 s", "acks loss 100%", seconds=2),
    "both-2s": Storm("neither", "data loss 100%; acks loss 100%", seconds=2),
    "data-20s": Storm("no data for 20 s", "data loss 100%", seconds=20),
    "acks-20s": Storm("no ACK for 20 s", "acks loss 100%", seconds=20),
    "both-20s": Storm("neither", "data loss 100%; acks loss 100%", seconds=20),
    "flapping": Storm("the path is silent in every other half second",
                      FLAP.format("data loss 100%; acks loss 100%", "data; acks")),
    "zero": Storm("the receiver reads nothing for 5 s: its window shuts", ZERO,
                  after=READ, window=SMALL),
    "zero-20s": Storm("for 20 s", ZERO, after=READ, window=SMALL, seconds=20),
    "zero-deaf": Storm("for 5 s, and the ACK that opens the window is lost",
                       f"{ZERO}; {{ sleep 4; acks loss 100%; sleep 0.5; {READ}; }} &",
                       window=SMALL),
}  # fmt: skip
PATHS = {
    "mtu-down": Storm("the MTU falls from 1500 to 600, ICMP says so", "mtu 600"),
    "mtu-up": Storm("the MTU rises from 600 to 1500 and falls again", "mtu 1500",
                    path=Path(5_000, 50, 42, 600), seconds=10),
    "mtu-flaps": Storm("the MTU falls to 600 and rises each second",
                       FLAP.format("mtu 600", "mtu 1500"),
                       before="sysctl -qw net.ipv4.route.mtu_expires=1"),
    "black-hole": Storm("the MTU falls to 600, nothing says so (tcp_mtu_probing=1)", "hole 600",
                        before="both net.ipv4.tcp_mtu_probing=1", seconds=20),
    "probing": Storm("the MTU rises from 1500 to 9000 and falls, nothing says so, the sender "
                     "probes (tcp_mtu_probing=2)", "hole 9000",
                     path=Path(5_000, 50, 42, 9000), seconds=10,
                     before="both net.ipv4.tcp_mtu_probing=2 net.ipv4.tcp_probe_interval=2; "
                     "hole 1500", after="hole 1500"),
    "rate-down": Storm("the bottleneck has a tenth of its rate", "neck 500kbit"),
    "rate-up": Storm("ten times its rate (1 to 10 Mbit/s)", "neck 10mbit",
                     path=Path(1_000, 50, 42), flow_s=80),
    "rtt-up": Storm("the RTT rises from 20 to 800 ms and falls again",
                    "data delay 400ms; acks delay 400ms", path=Path(5_000, 10, 42), seconds=8),
    "rtt-flaps": Storm("the RTT is 20 and 200 ms, each for half a second",
                       FLAP.format("data delay 100ms; acks delay 100ms", "data; acks"),
                       path=Path(5_000, 10, 42)),
    "crowd": Storm("40 more streams of 50 kB of the same algorithm begin at once",
                   "crowd 40 50000", crowd=(40, 2_000_000, 0)),
    "marks": Storm("all packets carry CE (tcp_ecn=1)", "marks", before="both net.ipv4.tcp_ecn=1"),
}  # fmt: skip
#: Without SACK holes are filled one by one, and each hands over at once what had come behind it:
#: goodput within seconds says nothing.
HOLES = {"calm_s": 16, "flow_s": 36, "by_total": True}
OPTIONS = {
    "mss-88": Storm("`mixed`, the receiver takes 88 octets in a segment (its 12 of options too)",
                    MIXED, mss=88, path=Path(500, 50, 45)),
    "mss-536": Storm("536 octets", MIXED, mss=536, path=Path(2_000, 50, 42)),
    "mss-8948": Storm("8948 octets (MTU 9000)", MIXED, path=Path(25_000, 50, 35, 9000)),
    "mss-65483": Storm("65 483 octets (MTU 65 535)", MIXED, path=Path(50_000, 50, 10, 65535)),
    "no-stamps": Storm("without timestamps", MIXED, before="both net.ipv4.tcp_timestamps=0"),
    "no-sack": Storm("without SACK", MIXED, before="both net.ipv4.tcp_sack=0", **HOLES),
    "neither": Storm("without both", MIXED,
                     before="both net.ipv4.tcp_timestamps=0 net.ipv4.tcp_sack=0",
                     **HOLES),
    "window": Storm("100 Mbit/s, RTT 1.2 s, window of 11 000 segments; no data arrives for 1 s",
                    "data loss 100%", path=Path(100_000, 600, 10_000), seconds=1, calm_s=18,
                    flow_s=14, window=32_000_000),
}  # fmt: skip
FEEDBACK = {
    "deaf": Storm("no ACK arrives for 100 s", "taps; acks loss 100%",
                  seconds=SECONDS_OF_SILENCE, tap=True),
    "void": Storm("no data arrives for 100 s", "taps; data loss 100%",
                  seconds=SECONDS_OF_SILENCE, tap=True),
    "dead": Storm("neither", "taps; data loss 100%; acks loss 100%",
                  seconds=SECONDS_OF_SILENCE, tap=True),
}  # fmt: skip

GROUPS = {
    "loss": LOSS, "order": ORDER, "silence": SILENCE, "paths": PATHS, "options": OPTIONS,
    "feedback": FEEDBACK,
}  # fmt: skip
STORMS = {name: storm for group in GROUPS.values() for name, storm in group.items()}
