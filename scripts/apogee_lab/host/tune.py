# SPDX-License-Identifier: GPL-2.0
"""Host settings for a long path, sized from its rate and round trip time.

With P = rate * RTT / 8, the bandwidth-delay product in bytes:

  window  4 P     one is under way; the sender goes on for a second one while a lost segment is sent
                  again, for a third one while a repair that was lost is, and for a fourth one
                  while losses are told from reordering (a quarter round trip each) and packets
                  queue
  buffer  8 P     the kernel counts what packets occupy, headers and bookkeeping included, and takes
                  half of a buffer for data (Documentation/networking/ip-sysctl.rst,
                  tcp_adv_win_scale; from Linux 6.6 on the share is measured, and begins with about
                  a half)
  queue   P       in packets of 1500 bytes

None is less than what the kernel has by default, so that other paths do not lose by it, and no
window is larger than TCP's largest (RFC 7323).
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from fractions import Fraction

from .. import units
from ..base import UsageError

RATES = (9600, 100 * 10**9)  # bit/s
RTTS = (0.001, 10.0)  # s
WINDOWS = 4  # bandwidth-delay products in a window
OVERHEAD = 2  # bytes of a buffer for each of a window
WINDOW_MAX = 65535 << 14  # bytes; twice as much is below 2^31, what a sysctl holds
PACKET = 1500  # bytes
PAGE = 4096  # bytes
COLUMNS = 98  # of a comment

# The kernel's own, bytes: one socket's limits as Linux 6.1 and 6.12 have them.
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
        """The largest window a flow should have, in bytes."""
        return min(WINDOWS * self.product, WINDOW_MAX)

    @property
    def packets(self) -> int:
        """Packets of one bandwidth-delay product, or of TCP's largest window."""
        return -(-min(self.product, WINDOW_MAX) // PACKET)


@dataclass(frozen=True)
class Setting:
    """A sysctl, its value, why; a ``size`` that is larger already may stay."""

    key: str
    value: str
    reason: str
    size: bool = False


def path_of(rate: str, rtt: str) -> Path:
    """The path that was typed; UsageError with one line if there is no such path."""
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
            "The most a program may ask for with SO_RCVBUF: a window. The kernel doubles it.",
            size=True,
        ),
        Setting("net.core.wmem_max", str(by_hand), "The same for SO_SNDBUF.", size=True),
        Setting(
            "net.ipv4.tcp_rmem", receive,
            "Receive buffers: least, first, largest. The first has room for one product, if that "
            "is no more than any socket may come to by itself: the window need not grow from 64 kB "
            "by a step per round trip.",
            size=True,
        ),
        Setting(
            "net.ipv4.tcp_wmem", send,
            "Send buffers: least, first, largest. They follow the congestion window.",
            size=True,
        ),
        Setting(
            "net.ipv4.tcp_moderate_rcvbuf", "1",
            "Receive buffers grow to their largest while a program keeps reading.",
        ),
        Setting(
            "net.ipv4.tcp_adv_win_scale", "1",
            "Half of a receive buffer is for data. Without effect from Linux 6.6 on.",
        ),
        Setting("net.ipv4.tcp_window_scaling", "1", "Without it a window ends at 64 kB."),
        Setting(
            "net.ipv4.tcp_sack", "1",
            "A round trip repairs all that a window has lost, not one segment. As in the papers.",
        ),
        Setting(
            "net.ipv4.tcp_dsack", "1",
            "Tells that a segment came twice: star sees by it that only ACKs were lost.",
        ),
        Setting(
            "net.ipv4.tcp_timestamps", "1",
            "An RTT for every ACK, and sequence numbers may wrap. As in the papers.",
        ),
        Setting(
            "net.ipv4.tcp_no_metrics_save", "1",
            "What one connection met in the rain says nothing of the next one.",
        ),
        Setting(
            "net.core.default_qdisc", "fq",
            "Paces each flow, lets none crowd out the others; for devices that come up later.",
        ),
    ]  # fmt: skip


def _limits(path: Path) -> str:
    """What the window's end means for this path, if it does."""
    if WINDOWS * path.product <= WINDOW_MAX:
        return ""
    text = f"TCP's largest window, {WINDOW_MAX} bytes (RFC 7323), is the limit here: less than "
    if path.product <= WINDOW_MAX:
        return text + "four products."
    one = int(WINDOW_MAX * 8 / Fraction(repr(path.rtt))) // 10**6 * 10**6
    flows = -(-path.product // WINDOW_MAX)
    return (
        f"{text}one product. A flow reaches {units.format('rate', one)} at the most, "
        f"{flows} flows fill the path."
    )


def _sizes(path: Path) -> list[str]:
    """How the sizes come about, a paragraph each."""
    rate, rtt = units.format("rate", path.rate), units.format("time", path.rtt)
    buffer = OVERHEAD * path.window
    return [
        f"Bandwidth-delay product: {rate} x {rtt} / 8 = {path.product} bytes.",
        f"Window: four products, at most TCP's largest: {path.window} bytes. One is under way, "
        "the sender goes on for a second one while a lost segment is sent again, for a third one "
        "while a lost repair is, and for a fourth one until losses are told from reordering, and "
        "for queues.",
        _limits(path),
        f"Buffer: twice the window, {buffer} bytes, as the kernel counts what packets occupy, not "
        "what they carry. Where this is less than Linux 6.1 has by default, the default stands "
        "here. A newer kernel may have more: leave out what is larger there, as --apply does.",
        f"Memory: a flow with a full buffer takes {-(-buffer // PAGE)} pages of net.ipv4.tcp_mem.",
    ]


def _device(path: Path) -> list[str]:
    """What is set per device, by hand: paragraphs, and commands that are not wrapped."""
    limit, flow_limit = max(path.packets, FQ_LIMIT), max(path.packets, FQ_FLOW_LIMIT)
    return [
        "Queue of the device DEV that the path begins with, which is no sysctl: one product, "
        f"{path.packets} packets, or the kernel's default where that is more. TCP keeps its own "
        "flows from filling it; on a router it is what bursts of others need. The first line is "
        "for pfifo_fast and the like, the second for fq.",
        f"  ip link set dev DEV txqueuelen {max(path.packets, DEVICE_QUEUE)}",
        f"  tc qdisc replace dev DEV root fq limit {limit} flow_limit {flow_limit}",
        "Pacing: star paces itself, whatever the queue. For the others fq does, at the rate the "
        "kernel takes from window and RTT.",
    ]


def _comment(paragraphs: list[str]) -> list[str]:
    lines = []
    for text in filter(None, paragraphs):
        lines += [text] if text.startswith(" ") else textwrap.wrap(text, COLUMNS)
    return [f"# {line}" for line in lines]


def profile(path: Path) -> str:
    """All of it as a file for sysctl.d."""
    rate, rtt = units.format("rate", path.rate), units.format("time", path.rtt)
    head = [
        "SPDX-License-Identifier: GPL-2.0",
        f"Host settings for a path of {rate} and {rtt}, for both its ends:",
        f"  scripts/lab tune --rate {rate} --rtt {rtt}",
        "A file in /etc/sysctl.d is read at boot; `sysctl -p FILE` reads it now.",
    ]
    lines = [*_comment(head), "", *_comment(_sizes(path))]
    for one in settings(path):
        lines += ["", *_comment([one.reason]), f"{one.key} = {one.value}"]
    return "\n".join([*lines, "", *_comment(_device(path))]) + "\n"
