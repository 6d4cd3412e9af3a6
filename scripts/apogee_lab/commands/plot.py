# SPDX-License-Identifier: GPL-2.0
"""`lab plot`: figures of records and of runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..base import UsageError
from .chosen import filtered, records_of
from .options import Arguments, Parser, _add_filter, seconds


def _runs(args: Arguments) -> list[Any]:
    """The runs that are named by a folder, by the start of their key, or by a file of records."""
    from ..results.finished import FinishedRun
    from ..runs import sweep

    found: list[tuple[Path, dict[str, Any] | None]] = []
    for text in args.runs:
        path = Path(text)
        if path.is_dir():
            found.append((path, None))
        elif path.is_file():
            for record in filtered(records_of([text]), args):
                found.append((sweep.RUNS / record.get("run", "?"), record))
        else:
            named = len(text) >= 4 and text.isalnum()
            there = sweep.RUNS.glob(f"{text}*") if named else ()
            keys = [p for p in there if (p / "record.json").exists()]
            if len(keys) != 1:
                raise UsageError(f"'{text}' is no folder, no file of records and not one run's key")
            found.append((keys[0], None))
    runs = []
    for path, record in found:
        if record is not None and not path.is_dir():
            raise UsageError(
                f"the raw results of run {path.name} ({record['cc']} seed {record['seed']}) are "
                f"not in {sweep.RUNS}: run the sweep on this machine first"
            )
        runs.append(FinishedRun.load(path))
    return runs


def _file_of(option: str, text: str) -> Path:
    """The file that an option names."""
    path = Path(text)
    if path.name in ("", ".."):
        raise UsageError(f"{option} {text}: the name of a file is needed")
    return path


def save_figure(figure: Any, option: str, out: str) -> list[Path]:
    """Write a figure to the file that an option names; the files' names."""
    from ..results.style import save

    try:
        return save(figure, _file_of(option, out))
    except OSError as error:
        raise UsageError(f"{option} {out}: {error.strerror}") from None


def _save(figure: Any, args: Arguments) -> int:
    for path in save_figure(figure, "-o", args.out):
        print(path)
    return 0


def do_plot_goodput(args: Arguments) -> int:
    """Goodput over a parameter."""
    from ..results import plots

    found = filtered(records_of(args.records), args)
    return _save(plots.goodput_over(found, args.over, args.title), args)


def _span(args: Arguments) -> tuple[float | None, float | None]:
    begin = None if args.begin in (None, "0") else seconds("--from", args.begin)
    return begin, None if args.end is None else seconds("--to", args.end)


def do_plot_window(args: Arguments) -> int:
    """Congestion window over time."""
    from ..results import over_time

    return _save(over_time.window(_runs(args), args.title, _span(args)), args)


def do_plot_abe(args: Arguments) -> int:
    """Bandwidth estimate over time."""
    from ..results import over_time

    return _save(over_time.abe(_runs(args), args.title, _span(args)), args)


def do_plot_goodput_time(args: Arguments) -> int:
    """Goodput over time."""
    from ..results import over_time

    window_s = seconds("--over-last", args.over_last)
    figure = over_time.goodput_time(_runs(args), args.title, _span(args), window_s)
    return _save(figure, args)


def plot_parser(plot: Parser) -> None:
    kinds = plot.add_subparsers(dest="kind", required=True, metavar="FIGURE", parser_class=Parser)

    def figure(name: str, verb: Callable[[Arguments], int], text: str) -> Parser:
        parser = kinds.add_parser(name, help=text, description=text, allow_abbrev=False)
        parser.set_defaults(verb=verb)
        parser.add_argument(
            "-o", "--out", required=True, metavar="FILE",
            help="ending .svg or .png; without one, both are written",
        )  # fmt: skip
        parser.add_argument("--title", default="")
        _add_filter(parser)
        return parser

    over = figure("goodput", do_plot_goodput, "goodput over a parameter, from records")
    over.add_argument("--over", required=True, metavar="KEY")
    over.add_argument("records", nargs="+", metavar="RECORDS")
    for name, verb, text in (
        ("window", do_plot_window, "congestion window over time, from the trace of runs"),
        ("abe", do_plot_abe, "bandwidth estimate ABE over time, from the trace of runs"),
        ("goodput-time", do_plot_goodput_time, "goodput over time, from the receivers' counts"),
    ):
        parser = figure(name, verb, text)
        parser.add_argument(
            "runs", nargs="+", metavar="RUN", help="a run's folder, its key, or a file of records"
        )
        parser.add_argument("--from", dest="begin", metavar="S", help="first second shown")
        parser.add_argument("--to", dest="end", metavar="S", help="last second shown")
        if name == "goodput-time":
            parser.add_argument(
                "--over-last", default="0.5", metavar="S", help="averaging window (0.5)"
            )
