# SPDX-License-Identifier: GPL-2.0
"""The command line of ``scripts/lab``.

Exit status: 0 done, 1 a run failed (the others are kept and printed), 2 bad usage, told in one
line, 130 interrupted.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from . import modules, request, table, units
from .images import LabError
from .request import UsageError

ENGINES = ("qemu", "uml", "host")
ALONE = ("host",)  # engines in real time: runs side by side would disturb each other
DEFAULT_CC = "star"
DEFAULT_DURATION_S = 60.0
MOST_SEEDS = 10_000

Arguments = argparse.Namespace


class Parser(argparse.ArgumentParser):
    """argparse with its errors on one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and leave with status 2."""
        print(f"{self.prog}: {message} (see {self.prog} --help)", file=sys.stderr)
        sys.exit(2)


# --- values of options ------------------------------------------------------------------------


def _scenario(name: str) -> Any:
    from .scenarios import SCENARIOS

    if name not in SCENARIOS:
        raise UsageError(f"no scenario '{name}'; there is: {', '.join(SCENARIOS)}")
    return SCENARIOS[name]


def engine_of(name: str) -> Any:
    """The engine's module; UsageError for a name that isn't one."""
    if name not in ENGINES:
        raise UsageError(f"engine '{name}' is not there; there is: {', '.join(ENGINES)}")
    return importlib.import_module(f"apogee_lab.engines.{name}")


def _whole(option: str, text: str, least: int, most: int) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and least <= int(digits) <= most):
        raise UsageError(f"{option} {text}: a whole number from {least} to {most} is needed")
    return int(digits)


def _seeds(args: Arguments) -> list[int]:
    if args.seed is not None:
        seeds = [_whole("--seed", text, 0, 2**32 - 1) for text in args.seed.split(",")]
        if len(set(seeds)) != len(seeds):
            raise UsageError(f"--seed {args.seed}: a seed stands there twice")
        return seeds
    if args.repeat is not None:
        return list(range(1, _whole("--repeat", args.repeat, 1, MOST_SEEDS) + 1))
    return [1]


def _seconds(option: str, text: str) -> float:
    plain = text.replace(".", "", 1).isdigit() and text.isascii()
    try:
        value = units.parse("time", f"{text}s" if plain else text)
    except units.UnitError:
        raise UsageError(f"{option} {text}: a time is needed, such as 60 or 60s") from None
    if not 0 < value <= 86400:  # type: ignore[operator]
        raise UsageError(f"{option} {text}: more than 0 and at most 86400 seconds are needed")
    return float(value)  # type: ignore[arg-type]


def _at_once(args: Arguments) -> int:
    """How many runs are made side by side."""
    alone = args.engine in ALONE
    if args.jobs is None:
        return 1 if alone else len(os.sched_getaffinity(0))
    at_once = _whole("--jobs", args.jobs, 1, 1024)
    if alone and at_once > 1:
        raise UsageError(f"--jobs {at_once}: engine {args.engine} makes one run at a time")
    return at_once


def _duration(args: Arguments) -> float:
    return DEFAULT_DURATION_S if args.duration is None else _seconds("--duration", args.duration)


def _kernel(engine: Any, name: str | None) -> str:
    if name is None:
        return engine.DEFAULT_KERNEL
    if name not in engine.kernels():
        raise UsageError(f"no kernel '{name}'; there is: {', '.join(engine.kernels())}")
    return name


def _one_plan(args: Arguments, defaults: Sequence[str] = ()) -> tuple[Any, str, dict[str, Any]]:
    """Scenario, mix and values where lists make no sense (script, shell)."""
    scenario = _scenario(args.scenario)
    mixes = request.parse_controls(args.cc, scenario)
    given = [text.partition("=")[0] for text in args.set]
    names = {param.name for param in scenario.params}
    more = [
        t for t in defaults if t.partition("=")[0] not in given and t.partition("=")[0] in names
    ]
    settings = request.parse_settings([*args.set, *more], scenario)
    found = list(request.product(mixes, settings, [1]))
    if len(found) != 1:
        raise UsageError("one algorithm and one value per parameter are needed here, no lists")
    mix, values, _ = found[0]
    return scenario, mix, values


def _compile(scenario: Any, mix: str, values: dict[str, Any], duration_s: float) -> Any:
    try:
        return scenario.compile(request.all_values(scenario, values), mix, duration_s)
    except ValueError as error:
        raise UsageError(str(error)) from None


# --- verbs ------------------------------------------------------------------------------------


def do_list(_args: Arguments) -> int:
    """Scenarios with their parameters, algorithms, engines."""
    from .scenarios import SCENARIOS

    for scenario in SCENARIOS.values():
        print(f"{scenario.name}: {scenario.help}")
        lines = [["parameter", "default", "unit or values", "range", ""]]
        for param in scenario.params:
            base, words = units.split_kind(param.kind)
            kind = units.unit_name(param.kind)
            if base.startswith("choice:"):
                kind = base.removeprefix("choice:").replace(",", " | ")
            kind = " | ".join([kind, *words] if kind else words)
            default = units.format(param.kind, param.default)
            lines.append([param.name, default, kind, request.bounds(param), param.help])
        widths = [max(len(line[i]) for line in lines) for i in range(4)]
        for line in lines:
            cells = [text.ljust(width) for text, width in zip(line, widths, strict=False)]
            print("  " + "  ".join([*cells, line[4]]).rstrip())
        print()
    print("MODULE.PARAM=VALUE sets a parameter of a module, as in --set star.aen=0")
    print(
        f"congestion controls (as far as the kernel has them): {' '.join(request.known_controls())}"
    )
    print(f"engines: {' '.join(ENGINES)}")
    return 0


def do_run(args: Arguments) -> int:
    """Run the product of algorithms, settings and seeds; print the table."""
    from . import records, sweep

    scenario = _scenario(args.scenario)
    engine = engine_of(args.engine)
    mixes = request.parse_controls(args.cc, scenario)
    settings = request.parse_settings(args.set, scenario)
    runs = list(request.product(mixes, settings, _seeds(args)))
    duration_s = _duration(args)
    at_once = _at_once(args)
    bound_s = None if args.timeout is None else _seconds("--timeout", args.timeout)
    target = _json_target(args.json)
    for mix, values, _ in runs:
        _compile(scenario, mix, values, duration_s)
    kernel = _kernel(engine, args.kernel)
    request.check_controls(engine.congestion_controls(kernel), kernel, mixes)

    if args.build and any(request.own_modules(mix, values) for mix, values, _ in runs):
        modules.build(engine.kernel(kernel))
    modules.check(engine.kernel(kernel), settings)
    if args.engine == "host":
        own = {name for mix, values, _ in runs for name in request.own_modules(mix, values)}
        print(engine.notice(sorted(own)), file=sys.stderr)
    jobs = sweep.make_jobs(scenario, engine, args.engine, kernel, runs, duration_s)
    work = sweep.Sweep(jobs, engine, at_once=at_once, fresh=args.fresh, bound_s=bound_s)
    try:
        work.run()
    except sweep.Interrupted:
        done = sum(record is not None for record in work.records)
        print(
            f"interrupted: {done} of {len(jobs)} runs are finished and kept; "
            "the same command goes on from there",
            file=sys.stderr,
        )
        return 130
    found = [record for record in work.records if record is not None]
    lines = "".join(records.dumps(record) + "\n" for record in found)
    if args.json == "-":
        sys.stdout.write(lines)
    elif target is not None:
        _write_records(target, lines)
    if found:
        out = sys.stderr if args.json == "-" else sys.stdout
        print(table.render(found, args.format), file=out)
    if work.failures:
        count = len(work.failures)
        print(f"{count} of {len(jobs)} runs failed:", file=sys.stderr)
        for index, failure in work.failures.items():
            print(f"  {jobs[index].label}: {failure.reason}", file=sys.stderr)
    return 1 if work.failures else 0


def _json_target(text: str | None) -> Path | None:
    """The file to write records to, found unwritable before hours have been spent."""
    if text in (None, "-"):
        return None
    path = Path(text)
    if path.is_dir():
        raise UsageError(f"--json {text}: that is a folder")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"--json {text}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise UsageError(f"--json {text}: not writable")
    return path


def _write_records(path: Path, lines: str) -> None:
    from .files import write_whole

    try:
        if path.exists() and not path.is_file():
            path.write_text(lines, encoding="utf-8")
        else:
            write_whole(path, lines)
    except OSError as error:
        raise UsageError(f"--json {path}: {error.strerror}") from None


def do_table(args: Arguments) -> int:
    """The table of records that were written before."""
    found = _filtered(_records_of(args.records), args)
    if args.compare and args.compare not in {record["cc"] for record in found}:
        raise UsageError(f"--compare {args.compare}: no record of that algorithm")
    print(table.render(found, args.format, args.compare))
    return 0


def do_script(args: Arguments) -> int:
    """The shell script a scenario compiles to."""
    scenario, mix, values = _one_plan(args, ["traffic=iperf3"])
    sys.stdout.write(_compile(scenario, mix, values, _duration(args)).script)
    return 0


def do_shell(args: Arguments) -> int:
    """A prompt inside the testbed."""
    engine = engine_of(args.engine)
    scenario, mix, values = _one_plan(args)
    plan = _compile(scenario, mix, values, _duration(args))
    kernel = _kernel(engine, args.kernel)
    request.check_controls(engine.congestion_controls(kernel), kernel, [mix])
    own = list(request.own_modules(mix, values))
    if own:
        modules.build(engine.kernel(kernel))
    modules.check(engine.kernel(kernel), {key: [str(value)] for key, value in values.items()})
    return engine.shell(plan, kernel=kernel, modules=own)


def do_doctor(_args: Arguments) -> int:
    """What is missing and how to get it."""
    from . import doctor

    return doctor.main()


def do_tune(args: Arguments) -> int:
    """Host settings for a path: print them, write them, put the old ones back."""
    from . import sysctls, tune

    if args.yes and not (args.apply or args.restore):
        raise UsageError("--yes answers --apply or --restore")
    if args.restore:
        if args.rate or args.rtt:
            raise UsageError("--restore takes neither --rate nor --rtt")
        return sysctls.ask_to_restore(args.yes)
    if not (args.rate and args.rtt):
        raise UsageError("a path is needed, such as --rate 10mbit --rtt 500ms")
    path = tune.path_of(args.rate, args.rtt)
    if args.apply:
        return sysctls.ask_to_apply(tune.settings(path), args.yes)
    sys.stdout.write(tune.profile(path))
    return 0


# --- figures ----------------------------------------------------------------------------------


def _records_of(paths: Iterable[str]) -> list[dict[str, Any]]:
    from . import records

    found = [record for path in paths for record in records.read_records(Path(path))]
    if not found:
        raise UsageError("there are no records in " + ", ".join(paths))
    return found


def _same(value: Any, text: str) -> bool:
    if text in (str(value), table.show(value)):
        return True
    try:
        return float(text) == float(value)
    except (TypeError, ValueError):
        return False


def _filtered(found: list[dict[str, Any]], args: Arguments) -> list[dict[str, Any]]:
    """The records that --cc, --set and --seed leave."""
    if args.cc:
        found = [record for record in found if record["cc"] in args.cc.split(",")]
    if args.seed:
        found = [record for record in found if str(record["seed"]) in args.seed.split(",")]
    for text in args.set:
        key, equals, listed = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text}: KEY=VALUE is needed")
        if not any(key in record["set"] for record in found):
            raise UsageError(f"--set {text}: no record has a parameter '{key}'")
        found = [
            record
            for record in found
            if key not in record["set"]
            and "." in key
            or any(_same(record["set"].get(key), item) for item in listed.split(","))
        ]
    if not found:
        raise UsageError("no record is left by --cc, --set and --seed")
    return found


def _runs(args: Arguments) -> list[Any]:
    """The runs named: by folder, by the start of their key, or by a file of records."""
    from . import sweep
    from .plots import Run

    found: list[tuple[Path, dict[str, Any] | None]] = []
    for text in args.runs:
        path = Path(text)
        if path.is_dir():
            found.append((path, None))
        elif path.is_file():
            for record in _filtered(_records_of([text]), args):
                found.append((sweep.RUNS / record.get("run", "?"), record))
        else:
            keys = [p for p in sweep.RUNS.glob(f"{text}*") if (p / "record.json").exists()]
            if len(text) < 4 or not text.isalnum() or len(keys) != 1:
                raise UsageError(f"'{text}' names no folder, no records file and not one run's key")
            found.append((keys[0], None))
    runs = []
    for path, record in found:
        if record is not None and not path.is_dir():
            raise UsageError(
                f"the raw results of run {path.name} ({record['cc']} seed {record['seed']}) are "
                f"not in {sweep.RUNS}: run that sweep here first"
            )
        runs.append(Run.load(path))
    return runs


def _save(figure: Any, args: Arguments) -> int:
    from . import plots

    try:
        paths = plots.save(figure, Path(args.out))
    except OSError as error:
        raise UsageError(f"-o {args.out}: {error.strerror}") from None
    for path in paths:
        print(path)
    return 0


def do_plot_goodput(args: Arguments) -> int:
    """Goodput over a parameter."""
    from . import plots

    found = _filtered(_records_of(args.records), args)
    return _save(plots.goodput_over(found, args.over, args.title), args)


def _span(args: Arguments) -> tuple[float | None, float | None]:
    begin = None if args.begin in (None, "0") else _seconds("--from", args.begin)
    return begin, None if args.end is None else _seconds("--to", args.end)


def do_plot_window(args: Arguments) -> int:
    """Congestion window over time."""
    from . import plots

    return _save(plots.window(_runs(args), args.title, _span(args)), args)


def do_plot_abe(args: Arguments) -> int:
    """Bandwidth estimate over time."""
    from . import plots

    return _save(plots.abe(_runs(args), args.title, _span(args)), args)


def do_plot_goodput_time(args: Arguments) -> int:
    """Goodput over time."""
    from . import plots

    window_s = _seconds("--over-last", args.over_last)
    figure = plots.goodput_time(_runs(args), args.title, _span(args), window_s)
    return _save(figure, args)


# --- the parser -------------------------------------------------------------------------------


def _add_choice(parser: Parser, cc: str | None) -> None:
    parser.add_argument(
        "--cc", default=cc, metavar="A,B", help="congestion controls; a+b: a mix; N*a: N of them"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE",
        help="a parameter, or MODULE.PARAM; lists (ber=0,1e-8) make a product",
    )  # fmt: skip


def _add_filter(parser: Parser) -> None:
    parser.add_argument("--cc", metavar="A,B", help="only these algorithms")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="only records with this"
    )
    parser.add_argument("--seed", metavar="N,N", help="only these seeds")


def _add_engine(parser: Parser) -> None:
    parser.add_argument("--engine", default=ENGINES[0], help=", ".join(ENGINES))
    parser.add_argument("--kernel", metavar="NAME", help="the guest's kernel")


def _plot_parser(plot: Parser) -> None:
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

    verb("list", do_list, "scenarios, their parameters, units and defaults")

    run = verb("run", do_run, "run a scenario, print the table")
    run.add_argument("scenario", metavar="SCENARIO")
    _add_choice(run, DEFAULT_CC)
    seeds = run.add_mutually_exclusive_group()
    seeds.add_argument("--repeat", metavar="N", help="seeds 1 to N")
    seeds.add_argument("--seed", metavar="N,N", help="these seeds (1)")
    run.add_argument("--duration", metavar="S", help=f"seconds ({DEFAULT_DURATION_S:g})")
    _add_engine(run)
    run.add_argument("--jobs", metavar="N", help="runs side by side (the number of CPUs)")
    run.add_argument("--json", metavar="FILE", help="one record per line and run; - is stdout")
    run.add_argument("--format", choices=("text", "md"), default="text", help="of the table")
    run.add_argument("--fresh", action="store_true", help="run again what is finished")
    run.add_argument("--timeout", metavar="S", help="wall-clock bound of one run")
    run.add_argument(
        "--no-build", dest="build", action="store_false", help="take the modules as they were built"
    )

    show = verb("table", do_table, "the table of records written before")
    show.add_argument("records", nargs="+", metavar="RECORDS")
    show.add_argument("--format", choices=("text", "md"), default="text")
    show.add_argument("--compare", metavar="CC", help="goodput of CC over each other algorithm")
    _add_filter(show)

    _plot_parser(verb("plot", do_list, "figures"))

    script = verb("script", do_script, "the shell script a scenario runs, to read or run by hand")
    script.add_argument("scenario", metavar="SCENARIO")
    _add_choice(script, DEFAULT_CC)
    script.add_argument("--duration", metavar="S")

    shell = verb("shell", do_shell, "a prompt inside the testbed")
    shell.add_argument("scenario", metavar="SCENARIO", nargs="?", default="satellite")
    _add_choice(shell, DEFAULT_CC)
    shell.add_argument("--duration", metavar="S")
    _add_engine(shell)

    tune = verb("tune", do_tune, "this host's settings for a path, as a file for sysctl.d")
    tune.add_argument("--rate", metavar="RATE", help="of the bottleneck, 9.6kbit to 100gbit")
    tune.add_argument("--rtt", metavar="TIME", help="round trip time, 1ms to 10s")
    action = tune.add_mutually_exclusive_group()
    action.add_argument("--apply", action="store_true", help="write them, remember the old ones")
    action.add_argument("--restore", action="store_true", help="put the old ones back")
    tune.add_argument("--yes", action="store_true", help="do not ask")

    verb("doctor", do_doctor, "what is missing on this machine and how to get it")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    args = build_parser().parse_args(argv)
    try:
        status = args.verb(args)
        sys.stdout.flush()
        return status
    except LabError as error:
        print(f"lab {args.command}: {error}", file=sys.stderr)
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
        if error.errno != errno.ENOSPC:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"lab {args.command}: no space left on device", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
