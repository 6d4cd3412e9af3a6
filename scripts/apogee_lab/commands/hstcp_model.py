# SPDX-License-Identifier: GPL-2.0
"""`lab hstcp-model`: the model's throughput over delay, a table and figure 6."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import units
from ..base import LabError, UsageError
from ..papers.gentle.model import (
    LEAST_PIPE,
    MOST_PACKETS,
    RESPONSES,
    TWICE_BDP,
    Network,
    Point,
    steady,
)
from ..results.text import as_markdown, as_text
from .options import Parser


def _values(option: str, kind: str, text: str, least: float) -> list[Any]:
    """The values of a list, each ``least`` or more, none twice."""
    found = []
    for item in text.split(","):
        try:
            value = units.parse(kind, item)
        except units.UnitError as error:
            raise UsageError(f"--{option}: {error}") from None
        if not isinstance(value, str) and value < least:
            raise UsageError(f"--{option} {item}: {units.format(kind, least)} or more is needed")
        if value in found:
            raise UsageError(f"--{option} {text}: {item} stands there twice")
        found.append(value)
    return found


def _value(option: str, kind: str, text: str, least: float) -> Any:
    found = _values(option, kind, text, least)
    if len(found) > 1:
        raise UsageError(f"--{option} {text}: one value is needed, no list")
    return found[0]


def _check(network: Network, what: str) -> None:
    """UsageError where the model doesn't hold."""
    if network.access > network.rate:
        raise UsageError(f"{what}: --access must not be above --rate")
    if not LEAST_PIPE <= network.pipe <= MOST_PACKETS - network.buffer:
        raise UsageError(
            f"{what}: the path holds {network.pipe:.4g} packets and its buffer {network.buffer}; "
            f"at least {LEAST_PIPE} without and at most {MOST_PACKETS} with the buffer are needed"
        )


def points(options: argparse.Namespace) -> list[Point]:
    """Every combination of the listed values; all are checked before the first is computed."""
    rate = _value("rate", "rate", options.rate, 1000)
    packet = 8 * _value("packet", "size", options.packet, 40)
    hosts = 2 * _value("host-delay", "time", options.host_delay, 0)
    asked = itertools.product(
        _values("buffer", f"int|{TWICE_BDP}", options.buffer, 0),
        _values("access", "rate", options.access, 1000),
        _values("delay", "time", options.delay, 0),
    )
    found = []
    for buffer, access, delay in asked:
        size = round(2 * delay * rate / packet) if isinstance(buffer, str) else buffer
        network = Network(rate / packet, access / packet, hosts + delay, size, options.capped)
        _check(network, f"access {units.format('rate', access)}, delay {delay:g}s")
        found.append((buffer, access, delay, packet, network))
    return [Point(*each, steady(each[-1], RESPONSES[options.table])) for each in found]


def rows(found: Sequence[Point]) -> list[list[str]]:
    """Heading and body of the table."""
    heading = "buffer,access,delay,HSTCP,Reno,as written,link %,repeats,L,HSTCP's,Reno's".split(",")
    body = []
    for point in found:
        cycles = point.found.cycles
        share = (point.found.hs + point.found.reno) / point.network.rate
        body.append(
            [
                str(point.network.buffer),
                units.format("rate", point.access),
                units.format("time", point.delay),
                *(f"{rate:.2f}" for rate in point.rates),
                f"{100 * share:.1f}",
                str(len(cycles)) if point.found.repeats else "never",
                f"{np.mean([len(one.hs) for one in cycles]):.0f}",
                *(f"{np.mean([one.lost[flow] > 2 for one in cycles]):.2f}" for flow in (1, 0)),
            ]
        )
    return [heading, *body]


def caption(options: argparse.Namespace) -> str:
    """What was computed and what the columns are."""
    capped = ", slow start capped" if options.capped else ""
    return (
        f"{options.rate}, packets of {options.packet}, hosts {options.host_delay} from routers, "
        f"response function: {options.table}{capped}\n"
        "Throughput in Mbit/s; Reno: no round trip above its access rate; link %: HSTCP and Reno "
        "as written;\nrepeats: after so many losses; L: round trips from loss to loss; HSTCP's, "
        "Reno's: timeouts per loss"
    )


def draw(found: Sequence[Point], out: Path) -> list[Path]:
    """Figure 6: throughput over the link's delay, HighSpeed above Reno, a column per buffer."""
    from ..results import plots
    from ..results.style import STYLE, save

    buffers = list(dict.fromkeys(point.buffer for point in found))
    with plots.plt.rc_context(STYLE):
        canvas, grid = plots.plt.subplots(
            2, len(buffers), figsize=(4.6 * len(buffers) + 1, 6.4), squeeze=False, sharex=True,
            sharey="row",
        )  # fmt: skip
        for buffer, (above, below) in zip(buffers, grid.T, strict=True):
            _lines([point for point in found if point.buffer == buffer], above, below)
            name = f"{buffer} packets" if isinstance(buffer, int) else "twice rate × delay"
            above.set_title(f"buffer: {name}", loc="left", fontsize=10)
        above.set_ylim(bottom=0)
        below.set_yscale("log")
        grid[0, 0].set_ylabel("HighSpeed TCP, Mbit/s")
        grid[1, 0].set_ylabel("Reno, Mbit/s (dotted: as written)")
        grid[0, 0].legend(fontsize=8)
        return save(canvas, out)


def _lines(found: Sequence[Point], above: Any, below: Any) -> None:
    """The lines of one buffer, one per access rate."""
    from ..results.style import FLOW_COLOURS, MARKERS

    accesses = list(dict.fromkeys(point.access for point in found))
    for access, tint, marker in zip(
        accesses, itertools.cycle(FLOW_COLOURS), itertools.cycle(MARKERS), strict=False
    ):
        line = sorted((p for p in found if p.access == access), key=lambda point: point.delay)
        delays = [1e3 * point.delay for point in line]
        hs, reno, written = zip(*(point.rates for point in line), strict=True)
        name = f"access {units.format('rate', access)}"
        above.plot(delays, hs, color=tint, marker=marker, ms=4, label=name)
        below.plot(delays, reno, color=tint, marker=marker, ms=4)
        below.plot(delays, written, color=tint, ls=":")
    below.set_xlabel("one-way delay of the shared link, ms")


def _parser() -> Parser:
    parser = Parser(
        prog="hstcp_model", description=(__doc__ or "").splitlines()[0], allow_abbrev=False
    )
    parser.add_argument("--rate", default="1gbit", help="of the shared link (%(default)s)")
    parser.add_argument(
        "--access", default="100mbit,12mbit,1.5mbit", metavar="RATE,…", help="Reno's (%(default)s)"
    )
    parser.add_argument(
        "--delay", default="1ms,5ms,10ms,15ms,25ms,50ms,75ms,100ms", metavar="TIME,…",
        help="of the shared link, one way (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--host-delay", default="5ms", metavar="TIME", help="of each host's link (%(default)s)"
    )
    parser.add_argument(
        "--buffer", default=f"4167,{TWICE_BDP}", metavar="PACKETS,…",
        help=f"{TWICE_BDP}: twice the product of --rate and --delay (%(default)s)",
    )  # fmt: skip
    parser.add_argument("--packet", default="1500B", metavar="SIZE", help="(%(default)s)")
    parser.add_argument("--table", default="paper", choices=RESPONSES, help="response function")
    parser.add_argument("--capped", action="store_true", help="slow start ends at ssthresh")
    parser.add_argument("--format", choices=("text", "md"), default="text", help="of the table")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="figure 6: .svg, .png, or both")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    options = _parser().parse_args(arguments)
    try:
        found = points(options)
        lines = rows(found)
        text = as_markdown(lines) if options.format == "md" else as_text(lines)
        print(f"{caption(options)}\n\n{text}")
        for path in draw(found, options.plot) if options.plot else ():
            print(path)
    except (LabError, OSError) as error:
        print(f"hstcp_model: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
