# SPDX-License-Identifier: GPL-2.0
"""`lab hstcp-model`: throughput over delay by the model of papers/gentle/model.py.

Prints a table, draws the paper's figure 6.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import hstcp_table

from .. import units
from ..base import UsageError
from ..results.text import as_markdown, as_text
from .options import Arguments, Parser
from .plot import save_figure

if TYPE_CHECKING:
    from ..papers.gentle.model import Network, Prediction

RESPONSES = {"paper": hstcp_table.PAPER, "rfc3649": hstcp_table.RFC3649}
TWICE_BDP = "2bdp"


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
            raise UsageError(f"--{option} {text}: {item} is given twice")
        found.append(value)
    return found


def _value(option: str, kind: str, text: str, least: float) -> Any:
    found = _values(option, kind, text, least)
    if len(found) > 1:
        raise UsageError(f"--{option} {text}: one value is needed, no list")
    return found[0]


def _check(network: Network, what: str) -> None:
    """UsageError outside the model's range."""
    from ..papers.gentle.model import LEAST_PIPE, MOST_PACKETS

    if network.access > network.rate:
        raise UsageError(f"{what}: --access must not be above --rate")
    if not LEAST_PIPE <= network.pipe <= MOST_PACKETS - network.buffer:
        raise UsageError(
            f"{what}: the path holds {network.pipe:.4g} packets and its buffer {network.buffer}; "
            f"at least {LEAST_PIPE} without and at most {MOST_PACKETS} with the buffer are needed"
        )


def _networks(args: Arguments) -> Iterator[tuple[int | str, int, float, int, Network]]:
    """Buffer, access rate, delay, packet size and network of every combination of the lists."""
    from ..papers.gentle.model import Network

    rate = _value("rate", "rate", args.rate, 1000)
    packet = 8 * _value("packet", "size", args.packet, 40)
    hosts = 2 * _value("host-delay", "time", args.host_delay, 0)
    asked = itertools.product(
        _values("buffer", f"int|{TWICE_BDP}", args.buffer, 0),
        _values("access", "rate", args.access, 1000),
        _values("delay", "time", args.delay, 0),
    )
    for buffer, access, delay in asked:
        size = round(2 * delay * rate / packet) if isinstance(buffer, str) else buffer
        network = Network(
            rate / packet, access / packet, hosts + delay, size, args.capped, args.sack
        )
        _check(network, f"access {units.format('rate', access)}, delay {delay:g}s")
        yield buffer, access, delay, packet, network


def predictions(args: Arguments) -> list[Prediction]:
    """The model's predictions; all networks are checked before the first one is computed."""
    from ..papers.gentle.model import Prediction, steady

    found = list(_networks(args))
    return [Prediction(*each, steady(each[-1], RESPONSES[args.table])) for each in found]


def rows(found: Sequence[Prediction]) -> list[list[str]]:
    """Heading and body of the table."""
    heading = "buffer,access,delay,HSTCP,Reno,as written,link %,repeats,L,HSTCP's,Reno's".split(",")
    body = []
    for one in found:
        cycles = one.found.cycles
        share = (one.found.hs + one.found.reno) / one.network.rate
        body.append(
            [
                str(one.network.buffer),
                units.format("rate", one.access),
                units.format("time", one.delay),
                *(f"{rate:.2f}" for rate in one.rates),
                f"{100 * share:.1f}",
                str(len(cycles)) if one.found.repeats else "never",
                f"{fmean(len(cycle.hs) for cycle in cycles):.0f}",
                *(f"{fmean(one.timeouts(flow)):.2f}" for flow in (1, 0)),
            ]
        )
    return [heading, *body]


def caption(args: Arguments) -> str:
    """What was computed, and what the columns hold."""
    capped = ", slow start capped" if args.capped else ""
    sack = ", one reduction for all losses of a window" if args.sack else ""
    return (
        f"{args.rate}, packets of {args.packet}, hosts {args.host_delay} from routers, "
        f"response function: {args.table}{capped}{sack}\n"
        "Throughput in Mbit/s. Reno: no round trip above its access rate. link %: HSTCP and Reno "
        "as written.\nrepeats: number of losses in the repeated cycle. L: round trips from loss to "
        "loss. HSTCP's, Reno's: timeouts per loss."
    )


def draw(found: Sequence[Prediction]) -> Any:
    """Figure 6: throughput over the link's delay, HighSpeed above Reno, a column per buffer."""
    from ..results import plots
    from ..results.style import STYLE

    buffers = list(dict.fromkeys(one.buffer for one in found))
    with plots.plt.rc_context(STYLE):
        canvas, grid = plots.plt.subplots(
            2, len(buffers), figsize=(4.6 * len(buffers) + 1, 6.4), squeeze=False, sharex=True,
            sharey="row",
        )  # fmt: skip
        for buffer, (above, below) in zip(buffers, grid.T, strict=True):
            _lines([one for one in found if one.buffer == buffer], above, below)
            name = f"{buffer} packets" if isinstance(buffer, int) else "twice rate × delay"
            above.set_title(f"buffer: {name}", loc="left", fontsize=10)
        above.set_ylim(bottom=0)
        below.set_yscale("log")
        grid[0, 0].set_ylabel("HighSpeed TCP, Mbit/s")
        grid[1, 0].set_ylabel("Reno, Mbit/s (dotted: as written)")
        grid[0, 0].legend(fontsize=8)
        return canvas


def _lines(found: Sequence[Prediction], above: Any, below: Any) -> None:
    """The lines of one buffer, one per access rate."""
    from ..results.style import FLOW_COLOURS, MARKERS

    accesses = list(dict.fromkeys(one.access for one in found))
    for access, tint, marker in zip(
        accesses, itertools.cycle(FLOW_COLOURS), itertools.cycle(MARKERS), strict=False
    ):
        line = sorted((one for one in found if one.access == access), key=lambda one: one.delay)
        delays = [1e3 * one.delay for one in line]
        hs, reno, written = zip(*(one.rates for one in line), strict=True)
        name = f"access {units.format('rate', access)}"
        above.plot(delays, hs, color=tint, marker=marker, ms=4, label=name)
        below.plot(delays, reno, color=tint, marker=marker, ms=4)
        below.plot(delays, written, color=tint, ls=":")
    below.set_xlabel("one-way delay of the shared link, ms")


def do_hstcp_model(args: Arguments) -> int:
    """Print the table; with --plot write the figure."""
    found = predictions(args)
    drawn = [] if args.plot is None else save_figure(draw(found), "--plot", args.plot)
    lines = rows(found)
    text = as_markdown(lines) if args.format == "md" else as_text(lines)
    print("\n".join([caption(args), "", text, *map(str, drawn)]))
    return 0


def hstcp_model_parser(parser: Parser) -> None:
    parser.add_argument("--rate", default="1gbit", help="rate of the shared link (%(default)s)")
    parser.add_argument(
        "--access", default="100mbit,12mbit,1.5mbit", metavar="RATE,RATE",
        help="rate of Reno's access link (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--delay", default="1ms,5ms,10ms,15ms,25ms,50ms,75ms,100ms", metavar="TIME,TIME",
        help="one-way delay of the shared link (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--host-delay",
        default="5ms",
        metavar="TIME",
        help="delay of each host's link (%(default)s)",
    )
    parser.add_argument(
        "--buffer", default=f"4167,{TWICE_BDP}", metavar="PACKETS,PACKETS",
        help=f"buffer of the shared link; {TWICE_BDP}: 2 x rate x delay (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--packet", default="1500B", metavar="SIZE", help="packet size (%(default)s)"
    )
    parser.add_argument(
        "--table", default="paper", choices=RESPONSES, help="response function (%(default)s)"
    )
    parser.add_argument(
        "--capped", action="store_true", help="slow start ends at ssthresh, not after passing it"
    )
    parser.add_argument(
        "--sack",
        action="store_true",
        help="one reduction for all losses of a window, no timeout",
    )
    parser.add_argument(
        "--format", choices=("text", "md"), default="text", help="form of the table (%(default)s)"
    )
    parser.add_argument(
        "--plot", metavar="FILE", help="draw figure 6; without .svg or .png at the end, both"
    )
