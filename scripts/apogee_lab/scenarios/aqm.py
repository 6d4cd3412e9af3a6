# SPDX-License-Identifier: GPL-2.0
"""A bottleneck with active queue management: a token bucket, and in it the queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import testbed
from .scenario import Param

BURST = 2  # packets of the token bucket
#: Bytes of queue that tc can express.
MOST = {"fq_codel": 2**31, "cake": 2**31, "red": 128_000_000, "pie": 2**31}
LEAST_RED = 3  # packets: with fewer its minimum is its maximum
IDLE_MOST = 34_000_000_000  # bit/s that tc can express for the time in which red's queue is empty
LEAST_RTT_S = 0.001
TARGETS = 20  # targets in an interval, tc-fq_codel(8), tc-cake(8)

PARAMS = (
    Param("aqm", "none", "choice:none,fq_codel,cake,red,pie",
          "AQM of the bottleneck's queue, which marks flows that have tcp_ecn=1; none: tail drop"),
    Param("aqm_rtt", 0.0, "time",
          "round trip that fq_codel and cake reckon with; 0: their default, 100 ms", 0, 10),
)  # fmt: skip


def check(values: Mapping[str, Any], packets: int, shaped: bool) -> None:
    """ValueError for values that are valid on their own but not in combination."""
    aqm = values["aqm"]
    if values["aqm_rtt"] and aqm not in ("fq_codel", "cake"):
        raise ValueError("aqm_rtt is fq_codel's and cake's: add aqm=fq_codel or aqm=cake")
    if 0 < values["aqm_rtt"] < LEAST_RTT_S:
        raise ValueError("aqm_rtt: use at least 1ms, or 0")
    if aqm == "none":
        return
    if aqm == "red" and packets < LEAST_RED:
        raise ValueError(f"queue: aqm=red needs at least {LEAST_RED} packets of this mtu")
    if shaped:
        raise ValueError(
            f"aqm={aqm}: rate and queue must be constant: leave out event, trace, policer"
        )
    most = MOST[aqm] // _frame(values)
    if packets > most:
        raise ValueError(f"queue: aqm={aqm} allows at most {most} packets of this mtu")


def lines(values: Mapping[str, Any], dev: str, packets: int) -> list[str]:
    """tc lines for rate and queue of a device."""
    rate, frame = values["rate"], _frame(values)
    queue = {"fq_codel": _fq_codel, "cake": _cake, "red": _red, "pie": _pie}[values["aqm"]]
    return [
        f"qdisc add dev {dev} root handle 1: tbf rate {rate}bit "
        f"burst {BURST * frame}b limit {packets * frame}b",
        f"qdisc add dev {dev} parent 1:1 handle 2: {queue(values, packets)}",
    ]


def _frame(values: Mapping[str, Any]) -> int:
    return values["mtu"] + testbed.ETHERNET


def _fq_codel(values: Mapping[str, Any], packets: int) -> str:
    rtt = values["aqm_rtt"]
    times = (testbed.time_text(each) for each in (rtt / TARGETS, rtt))
    told = " target {} interval {}".format(*times) if rtt else ""
    return (
        f"fq_codel limit {packets} memory_limit {min(packets * _memory(values), 2**32 - 1)}{told}"
    )


def _cake(values: Mapping[str, Any], packets: int) -> str:
    rtt = values["aqm_rtt"]
    told = f" rtt {testbed.time_text(rtt)}" if rtt else ""
    memory = min(packets * _memory(values), 2**32 - 1)
    return f"cake unlimited besteffort memlimit {memory}b{told}"


def _pie(_values: Mapping[str, Any], packets: int) -> str:
    return f"pie limit {packets} ecn"


def _memory(values: Mapping[str, Any]) -> int:
    """Room for a frame with what the kernel stores around it, of which both queues keep count."""
    return 2 * _frame(values) + 2048


def _red(values: Mapping[str, Any], packets: int) -> str:
    """RED configured as tc-red(8) recommends: maximum at half of the queue, minimum at a third of
    that, both at least one frame.

    The kernel stores the average in 32 bits, scaled by the weight. tc derives the weight from the
    burst, so the burst is reduced until the maximum fits.
    """
    frame = _frame(values)
    most = max(packets * frame // 2, frame)
    least = max(most // 3, frame)
    weight = 0.5 ** (31 - most.bit_length())
    burst = (2 * least + most) // (3 * frame) + 1
    while burst + 1 - least / frame > (1 - (1 - weight) ** burst) / weight:
        burst -= 1
    return (
        f"red limit {packets * frame} min {least} max {most} avpkt {frame} burst {burst} "
        f"bandwidth {min(values['rate'], IDLE_MOST)}bit adaptive ecn"
    )
