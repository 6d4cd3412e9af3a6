# SPDX-License-Identifier: GPL-2.0
"""The command line of ``scripts/lab``.

Exit status: 0 done, 1 a run failed (the others are kept and printed), 2 bad usage, reported in one
line, 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence

from ..base import LabError, UsageError, one_line, reason
from .atlas import atlas_parser, do_atlas
from .beside import beside_parser, do_beside
from .compare_engines import compare_engines_parser, do_compare_engines
from .cost import cost_parser, do_cost
from .device_cost import device_cost_parser, do_device_cost
from .hstcp_model import do_hstcp_model, hstcp_model_parser
from .judge import do_judge, judge_parser
from .options import (
    DEFAULT_CC,
    DEFAULT_DURATION_S,
    Arguments,
    Parser,
    _add_choice,
    _add_engine,
    add_json,
)
from .paths import do_paths, paths_parser
from .plot import plot_parser
from .run import do_run
from .table import do_table, table_parser
from .testbed import do_list, do_script, do_shell
from .trace import do_trace, trace_parser


def do_doctor(_args: Arguments) -> int:
    """What is missing and the command that installs it."""
    from ..host import doctor

    return doctor.main()


def do_tune(args: Arguments) -> int:
    """Host settings for a path: print them, apply them, restore the old ones."""
    from .. import units
    from ..host import propose, sysctls
    from ..host.tune import path_of, profile, settings

    if args.yes and not (args.apply or args.restore):
        raise UsageError("--yes needs --apply or --restore")
    if args.restore:
        if args.rate or args.rtt or args.loss or args.shared or args.json:
            raise UsageError("--restore takes neither --rate nor --rtt: it needs no path")
        return sysctls.ask_to_restore(args.yes)
    if not (args.rate and args.rtt):
        raise UsageError("--rate and --rtt of the path are needed, as in --rate 10mbit --rtt 500ms")
    path = path_of(args.rate, args.rtt)
    if args.apply:
        if args.loss or args.shared or args.json:
            raise UsageError("--apply sets buffers only: no --loss, --shared, --json")
        return sysctls.ask_to_apply(settings(path), args.yes)
    loss = propose.loss_of(args.loss or "0%")
    if args.json:
        print(propose.as_json(path, loss, args.shared))
        return 0
    words = f" --loss {units.format('share', loss)}" if args.loss is not None else ""
    words += " --shared" * args.shared
    found = propose.propose(path, loss, args.shared)
    sys.stdout.write(profile(path, words, propose.as_text(path, found) if words else ()))
    return 0


def build_parser() -> Parser:
    """The parser of the whole command line."""
    parser = Parser(
        prog="scripts/lab",
        description="Runs TCP congestion controls on emulated networks and measures them.",
        allow_abbrev=False,
    )
    verbs = parser.add_subparsers(dest="command", required=True, metavar="VERB")

    def verb(name: str, action: Callable[[Arguments], int], text: str) -> Parser:
        found = verbs.add_parser(name, help=text, description=text, allow_abbrev=False)
        found.set_defaults(verb=action)
        return found

    verb("list", do_list, "list scenarios, their parameters, units and defaults")

    run = verb("run", do_run, "run a scenario and print the table")
    run.add_argument("scenario", metavar="SCENARIO")
    _add_choice(run, DEFAULT_CC)
    seeds = run.add_mutually_exclusive_group()
    seeds.add_argument("--repeat", metavar="N", help="seeds 1 to N")
    seeds.add_argument("--seed", metavar="N,N", help="these seeds (1)")
    run.add_argument("--duration", metavar="S", help=f"seconds ({DEFAULT_DURATION_S:g})")
    _add_engine(run)
    run.add_argument("--jobs", metavar="N", help="parallel runs (the number of CPUs)")
    add_json(run)
    run.add_argument("--format", choices=("text", "md"), default="text", help="form of the table")
    run.add_argument("--fresh", action="store_true", help="repeat finished runs")
    run.add_argument("--timeout", metavar="S", help="wall-clock limit of one run")
    run.add_argument(
        "--no-build", dest="build", action="store_false", help="do not rebuild the modules"
    )

    atlas_parser(verb("atlas", do_atlas, "compare algorithms with peers on random paths"))

    judge_parser(verb("judge", do_judge, "judge congestion controls by RFC 9743: a report card"))

    table_parser(verb("table", do_table, "print the table of existing records"))

    plot_parser(verb("plot", do_list, "draw figures"))

    script = verb("script", do_script, "print the shell script that a scenario runs")
    script.add_argument("scenario", metavar="SCENARIO")
    _add_choice(script, DEFAULT_CC)
    script.add_argument("--duration", metavar="S")

    shell = verb("shell", do_shell, "open a shell inside the testbed")
    shell.add_argument("scenario", metavar="SCENARIO", nargs="?", default="satellite")
    _add_choice(shell, DEFAULT_CC)
    shell.add_argument("--duration", metavar="S")
    _add_engine(shell)

    tune = verb("tune", do_tune, "print or apply this host's settings for a path")
    tune.add_argument("--rate", metavar="RATE", help="rate of the bottleneck, 9.6kbit to 100gbit")
    tune.add_argument("--rtt", metavar="TIME", help="round trip time, 1ms to 10s")
    tune.add_argument("--loss", metavar="SHARE", help="packets lost at random, as 0.5%%: propose")
    tune.add_argument("--shared", action="store_true", help="others use its queue, too: propose")
    tune.add_argument("--json", action="store_true", help="proposal and settings as JSON")
    action = tune.add_mutually_exclusive_group()
    action.add_argument(
        "--apply", action="store_true", help="apply the settings, remember the old ones"
    )
    action.add_argument("--restore", action="store_true", help="restore the old settings")
    tune.add_argument("--yes", action="store_true", help="do not ask")

    verb("doctor", do_doctor, "show what is missing on this machine and how to install it")

    compare_engines_parser(
        verb("compare-engines", do_compare_engines, "compare the records of two engines")
    )
    beside_parser(
        verb("beside", do_beside, "compare goodput beside other algorithms and beside its own")
    )
    paths_parser(verb("paths", do_paths, "print goodput and drops per path and algorithm"))
    trace_parser(verb("trace", do_trace, "convert logs to traces of paths"))
    cost_parser(verb("cost", do_cost, "count an algorithm's instructions per ACK (qemu)"))
    device_cost_parser(
        verb("device-cost", do_device_cost, "count a device's instructions per packet (qemu)")
    )
    hstcp_model_parser(
        verb(
            "hstcp-model",
            do_hstcp_model,
            "compute the Gentle HighSpeed TCP paper's model (figure 6)",
        )
    )
    return parser


def _open_streams() -> None:
    """Standard streams that were closed lead nowhere, and no other file takes their numbers, here
    or in a program that is started."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - to the end
            os.set_inheritable(getattr(sys, name).fileno(), True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    _open_streams()
    args = build_parser().parse_args(argv)
    try:
        status = args.verb(args)
        sys.stdout.flush()
        return status
    except LabError as error:
        print(one_line(f"lab {args.command}: {error}"), file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if (error.name or __package__).startswith(__package__):
            raise
        print(
            f"lab {args.command}: Python's {error.name} is not installed; see scripts/lab doctor",
            file=sys.stderr,
        )
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        where = "" if error.filename is None else f"{os.fspath(error.filename)}: "
        print(one_line(f"lab {args.command}: {where}{reason(error)}"), file=sys.stderr)
        if error.errno != errno.ENOSPC:
            return 2
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
