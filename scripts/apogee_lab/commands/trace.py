# SPDX-License-Identifier: GPL-2.0
"""`lab trace convert`: logs of ping and irtt to delay and loss traces."""

from __future__ import annotations

from pathlib import Path

from .. import units
from ..base import UsageError, reason, write_whole
from .options import Arguments, Parser


def do_trace(args: Arguments) -> int:
    """Convert the logs; say what they hold and what was assumed."""
    interval_s = _interval(args.interval)
    names = [Path(name).name for name in args.logs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"several logs are named {twice[0]}: their traces would have one name")
    for name in args.logs:
        _convert(Path(name), interval_s, Path(args.to))
    return 0


def _interval(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(units.parse("time", text))  # type: ignore[arg-type]
    except units.UnitError as error:
        raise UsageError(f"--interval: {error}") from None
    if not seconds:
        raise UsageError("--interval: must be longer than 0s")
    return seconds


def _convert(path: Path, interval_s: float | None, folder: Path) -> None:
    import numpy as np

    from ..host import rttlogs

    try:
        log = rttlogs.read(path, interval_s)
    except ValueError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{path}: {reason(error)}") from None
    delays, losses = rttlogs.traces(log)
    files = {"delay": (delays, "%.3f"), "loss": (losses, "%.4g")}
    for kind, (values, form) in files.items():
        target = folder / f"{path.name}.{kind}"
        write_whole(target, "".join(f"{form % value}\n" for value in values.tolist()).encode())
    lost = int(np.isnan(log.rtt_ms).sum())
    least, median, most = np.nanpercentile(log.rtt_ms, [0, 50, 100])
    name = folder / path.name
    print(
        f"{path}: {len(log.sent_s)} probes, {lost} lost; RTT {least:.3g} ms at least, "
        f"{median:.3g} in the median, {most:.3g} at most; {len(delays) / 100:g} s\n"
        f"  assumed: {'; '.join(log.assumed)}\n"
        "  assumed: half of the RTT is each way's delay, until the next answered probe was sent\n"
        "  assumed: what lost a probe loses all data until the next probe was sent, and no ACK\n"
        f"  use: --set delay_trace={name}.delay --set loss_trace={name}.loss"
    )


def trace_parser(parser: Parser) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="ACTION", parser_class=Parser)
    text = "convert logs of ping or irtt to delay and loss traces"
    convert = kinds.add_parser("convert", help=text, description=text, allow_abbrev=False)
    convert.add_argument(
        "logs", nargs="+", metavar="FILE", help="output of ping, output or JSON of irtt's client"
    )
    convert.add_argument("--interval", metavar="TIME", help="between probes, if a log has no times")
    convert.add_argument(
        "--to", metavar="FOLDER", default=".", help="where FILE.delay and FILE.loss go (here)"
    )
