# SPDX-License-Identifier: GPL-2.0
"""Host settings for a long path, sized from its rate and round trip time.

With P = rate * RTT / 8, the bandwidth-delay product in bytes:

  window  4 P     one P is in flight; the sender continues for a second P while a lost segment is
                  retransmitted, for a third if that retransmission is lost, and for a fourth while
                  the stack tells losses from reordering (a quarter round trip each) and packets
                  queue
  buffer  8 P     the kernel counts the memory of packets, headers and bookkeeping included, and
                  gives half of a buffer to data (Documentation/networking/ip-sysctl.rst,
                  tcp_adv_win_scale; from Linux 6.6 on the share is measured, and starts with about
                  a half)
  queue   P       in packets of 1500 bytes

No value is below the kernel's default, so that other paths do not get slower, and no window is
larger than TCP's largest (RFC 7323).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .. import units
from ..base import UsageError

RATES = (9600, 100 * 10**9)  # bit/s
RTTS = (0.001, 10.0)  # s
WINDOWS = 4  # bandwidth-delay products in a window
OVERHEAD = 2  # bytes of buffer per byte of window
WINDOW_MAX = 65535 << 14  # bytes; twice as much is below 2^31, what a sysctl holds
PACKET = 1500  # bytes
PAGE = 4096  # bytes
COLUMNS = 98  # of a comment

# Defaults of Linux 6.1 and 6.12 for one socket, bytes.
SET_BY_HAND = 212_992
RECEIVE_BEGIN, RECEIVE_MAX = 131_072, 6_291_456
SEND_BEGIN, SEND_MAX = 16_384, 4_194_304
# Packets: txqueuelen, fq's limit and its flow_limit.
DEVICE_QUEUE, FQ_LIMIT, FQ_FLOW_LIMIT = 1000, 10_000, 100


@dataclass(frozen=True)
class Path:
    """A path: rate in bit/s, round trip time in s."""

    rate: int
    rtt: float

    @property
    def product(self) -> int:
        """Bandwidth-delay product in bytes, rounded up."""
        return -(-Fraction(repr(self.rtt)) * self.rate // 8)

    @property
    def window(self) -> int:
        """Maximum window of a flow, in bytes."""
        return min(WINDOWS * self.product, WINDOW_MAX)

    @property
    def packets(self) -> int:
        """Packets of one bandwidth-delay product, at most those of TCP's largest window."""
        return -(-min(self.product, WINDOW_MAX) // PACKET)


@dataclass(frozen=True)
class Setting:
    """A sysctl, its value, the reason; a larger ``size`` on the host is kept."""

    key: str
    value: str
    reason: str
    size: bool = False


def path_of(rate: str, rtt: str) -> Path:
    """The path of two option values; UsageError if one is invalid or out of range."""
    try:
        found = Path(units.parse("rate", rate), units.parse("time", rtt))  # type: ignore[arg-type]
    except units.UnitError as error:
        raise UsageError(str(error)) from None
    if not RATES[0] <= found.rate <= RATES[1]:
        raise UsageError(f"--rate {rate}: out of range, allowed: 9.6kbit to 100gbit")
    if not RTTS[0] <= found.rtt <= RTTS[1]:
        raise UsageError(f"--rtt {rtt}: out of range, allowed: 1ms to 10s")
    return found


def settings(path: Path) -> list[Setting]:
    """The sysctls of both ends."""
    by_hand = max(path.window, SET_BY_HAND)
    buffer = OVERHEAD * path.window
    first = min(max(OVERHEAD * path.product, RECEIVE_BEGIN), RECEIVE_MAX)
    receive = f"4096 {first} {max(buffer, RECEIVE_MAX)}"
    send = f"4096 {SEND_BEGIN} {max(buffer, SEND_MAX)}"
    return [
        Setting(
            "net.core.rmem_max", str(by_hand),
            "The maximum for SO_RCVBUF: a window. The kernel doubles what a program asks for.",
            size=True,
        ),
        Setting("net.core.wmem_max", str(by_hand), "The same for SO_SNDBUF.", size=True),
        Setting(
            "net.ipv4.tcp_rmem", receive,
            "Receive buffers: minimum, initial, maximum. The initial one holds P, up to the "
            "kernel's default maximum, so that the window does not have to grow from 64 kB one "
            "step per round trip.",
            size=True,
        ),
        Setting(
            "net.ipv4.tcp_wmem", send,
            "Send buffers: minimum, initial, maximum. They grow with the congestion window.",
            size=True,
        ),
        Setting(
            "net.ipv4.tcp_moderate_rcvbuf", "1",
            "Receive buffers grow up to the maximum while the program keeps reading.",
        ),
        Setting(
            "net.ipv4.tcp_adv_win_scale", "1",
            "Half of a receive buffer is for data. No effect from Linux 6.6 on.",
        ),
        Setting("net.ipv4.tcp_window_scaling", "1", "Without it windows are at most 64 kB."),
        Setting(
            "net.ipv4.tcp_sack", "1",
            "Repairs all losses of a window in one round trip, not one segment. As in the papers.",
        ),
        Setting(
            "net.ipv4.tcp_dsack", "1",
            "Reports duplicate segments, from which star concludes that only ACKs were lost.",
        ),
        Setting(
            "net.ipv4.tcp_timestamps", "1",
            "An RTT sample for every ACK, and wrapped sequence numbers. As in the papers.",
        ),
        Setting(
            "net.ipv4.tcp_no_metrics_save", "1",
            "A new connection does not start with the metrics of one during bad weather.",
        ),
        Setting(
            "net.core.default_qdisc", "fq",
            "Paces each flow and shares the link between flows; for devices that come up later.",
        ),
    ]  # fmt: skip


def _limits(path: Path) -> str:
    """What TCP's largest window means for this path; empty if it is no limit."""
    if WINDOWS * path.product <= WINDOW_MAX:
        return ""
    text = f"TCP's largest window, {WINDOW_MAX} bytes (RFC 7323), is the limit here: less than "
    if path.product <= WINDOW_MAX:
        return f"{text}{WINDOWS} P."
    one = int(WINDOW_MAX * 8 / Fraction(repr(path.rtt))) // 10**6 * 10**6
    flows = -(-path.product // WINDOW_MAX)
    return (
        f"{text}P. A flow reaches {units.format('rate', one)} at the most, "
        f"{flows} flows fill the path."
    )


def _sizes(path: Path) -> list[str]:
    """How the sizes are computed, a paragraph each."""
    rate, rtt = units.format("rate", path.rate), units.format("time", path.rtt)
    buffer = OVERHEAD * path.window
    return [
        f"Bandwidth-delay product P: {rate} x {rtt} / 8 = {path.product} bytes.",
        f"Window: {WINDOWS} P, at most TCP's largest: {path.window} bytes. One P is in flight; the "
        "sender continues for a second one while a lost segment is retransmitted, for a third one "
        "if that retransmission is lost, and for a fourth one until losses are told from "
        "reordering, and for queues.",
        _limits(path),
        f"Buffer: twice the window, {buffer} bytes, because the kernel counts the memory of "
        "packets, not their payload. Where this is less than the default of Linux 6.1, this file "
        "has that default. A newer kernel may have a larger one: then leave the line out, as "
        "--apply does.",
        f"Memory: a flow with a full buffer takes {-(-buffer // PAGE)} pages of net.ipv4.tcp_mem.",
    ]


def _device(path: Path) -> list[str]:
    """The settings of the device: paragraphs, and commands that are not wrapped."""
    limit, flow_limit = max(path.packets, FQ_LIMIT), max(path.packets, FQ_FLOW_LIMIT)
    return [
        "Queue of the path's first device DEV, which is not a sysctl: P, "
        f"{path.packets} packets, or the kernel's default if that is larger. TCP small queues keep "
        "this host's own flows from filling it; on a router it absorbs bursts. The first command "
        "is for pfifo_fast and similar queues, the second for fq.",
        f"  ip link set dev DEV txqueuelen {max(path.packets, DEVICE_QUEUE)}",
        f"  tc qdisc replace dev DEV root fq limit {limit} flow_limit {flow_limit}",
        "Pacing: star paces itself with any queue. The other algorithms are paced by fq, at the "
        "rate that the kernel computes from window and RTT.",
    ]


def _comment(paragraphs: list[str]) -> list[str]:
    lines = []
    for text in filter(None, paragraphs):
        lines += [text] if text.startswith(" ") else textwrap.wrap(text, COLUMNS)
    return [f"# {line}" for line in lines]


def profile(path: Path, words: str = "", proposed: Sequence[str] = ()) -> str:
    """The settings with their reasons as a file for sysctl.d; ``proposed`` are paragraphs on the
    algorithm, which are there because of ``words``."""
    rate, rtt = units.format("rate", path.rate), units.format("time", path.rtt)
    head = [
        "SPDX-License-Identifier: GPL-2.0",
        f"Host settings for a path of {rate} and {rtt}, for both its ends:",
        f"  scripts/lab tune --rate {rate} --rtt {rtt}{words}",
        "A file in /etc/sysctl.d is read at boot; `sysctl -p FILE` reads it now.",
    ]
    lines = [*_comment(head), "", *_comment(_sizes(path))]
    if proposed:
        lines += ["", *_comment([*proposed])]
    for one in settings(path):
        lines += ["", *_comment([one.reason]), f"{one.key} = {one.value}"]
    return "\n".join([*lines, "", *_comment(_device(path))]) + "\n"
