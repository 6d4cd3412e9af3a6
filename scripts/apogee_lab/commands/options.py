# SPDX-License-Identifier: GPL-2.0
"""What the verbs share: the parser with errors on one line, values of options."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from .. import modules, units
from ..base import UsageError, one_line, write_whole
from ..engines.registry import ALONE, ENGINES
from ..runs import request

DEFAULT_CC = "star"
DEFAULT_DURATION_S = 60.0
MOST_SEEDS = 10_000

Arguments = argparse.Namespace

#: argparse's own message on a word that is none of an argument's choices.
_INVALID_CHOICE = re.compile(r"argument ([^:]+): invalid choice: '(.*)' \(choose from (.*)\)", re.S)


class Parser(argparse.ArgumentParser):
    """argparse with its errors on one line, unknown words as :func:`chosen_from` reports them."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and exit with status 2."""
        invalid = _INVALID_CHOICE.fullmatch(message)
        if invalid:
            kind, word, known = invalid.groups()
            message = _unknown(kind.lower(), word, known.replace("'", ""))
        print(one_line(f"{self.prog}: {message} (see {self.prog} --help)"), file=sys.stderr)
        sys.exit(2)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """The values of an argument; argparse takes the -- of --option=-- for no value at all."""
        if action.option_strings and "--" in arg_strings:
            self.error(f"{action.option_strings[-1]}: '--' is not a value")
        for text in arg_strings:
            if text.encode(errors="replace").decode() != text:
                self.error(f"'{text}' is not text in UTF-8")
        return super()._get_values(action, arg_strings)  # type: ignore[misc]


def _unknown(kind: str, word: str, known: str) -> str:
    return f"unknown {kind} '{word}'; choose from: {known}"


def chosen_from(kind: str, word: str, known: Iterable[str]) -> str:
    """The word; UsageError that lists the known ones if it is none of them."""
    known = list(known)
    if word not in known:
        raise UsageError(_unknown(kind, word, ", ".join(known)))
    return word


def scenario_of(name: str) -> Any:
    from ..scenarios import SCENARIOS

    return SCENARIOS[chosen_from("scenario", name, SCENARIOS)]


def whole_number(option: str, text: str, least: int, most: int) -> int:
    digits = text.strip()
    if not re.fullmatch("[0-9]{1,18}", digits) or not least <= int(digits) <= most:
        raise UsageError(f"{option} {text}: a whole number from {least} to {most} is needed")
    return int(digits)


def seeds_of(args: Arguments) -> list[int]:
    if args.seed is not None:
        seeds = [whole_number("--seed", text, 0, 2**32 - 1) for text in args.seed.split(",")]
        if len(set(seeds)) != len(seeds):
            raise UsageError(f"--seed {args.seed}: the same seed is given twice")
        return seeds
    if args.repeat is not None:
        return list(range(1, whole_number("--repeat", args.repeat, 1, MOST_SEEDS) + 1))
    return [1]


def seconds(option: str, text: str) -> float:
    plain = text.replace(".", "", 1).isdigit() and text.isascii()
    try:
        value = units.parse("time", f"{text}s" if plain else text)
    except units.UnitError:
        raise UsageError(f"{option} {text}: a time is needed, such as 60 or 60s") from None
    if not 0 < value <= 86400:  # type: ignore[operator]
        raise UsageError(f"{option} {text}: more than 0 and at most 86400 seconds are needed")
    return float(value)  # type: ignore[arg-type]


def runs_at_once(args: Arguments) -> int:
    """How many runs are made in parallel."""
    alone = args.engine in ALONE
    if args.jobs is None:
        return 1 if alone else len(os.sched_getaffinity(0))
    at_once = whole_number("--jobs", args.jobs, 1, 1024)
    if alone and at_once > 1:
        raise UsageError(f"--jobs {at_once}: engine {args.engine} makes one run at a time")
    return at_once


def duration_of(args: Arguments) -> float:
    return DEFAULT_DURATION_S if args.duration is None else seconds("--duration", args.duration)


def kernel_of(engine: Any, name: str | None, patches: Sequence[str] = ()) -> str:
    kernel = engine.DEFAULT_KERNEL if name is None else name
    if name is not None:
        chosen_from("kernel", name, engine.kernels())
    if not patches:
        return kernel
    if not hasattr(engine, "patched"):
        raise UsageError("--patch: this engine's kernels are built elsewhere: use --engine uml")
    return engine.patched(patches, kernel)


def kernel_with_given(engine: Any, args: Arguments) -> str:
    """The name of the kernel asked for; modules passed with ``--module`` are listed from now on."""
    kernel = kernel_of(engine, args.kernel, args.patch)
    for text in args.module:
        modules.give(text, engine.kernel(kernel))
    return kernel


def modules_for(
    engine: Any, kernel: str, scenario: Any, plans: Sequence[Any], settings: Any, build: bool = True
) -> list[str]:
    """Modules that these plans bring into a guest, built and their parameters checked."""
    controls = request.controls_of(plans)
    request.check_controls(engine.congestion_controls(kernel), kernel, controls)
    brought = request.brought_modules(scenario, plans)
    if build and brought:
        modules.build(engine.kernel(kernel))
    modules.check(engine.kernel(kernel), settings)
    return brought


def one_plan(args: Arguments, defaults: Sequence[str] = ()) -> tuple[Any, str, dict[str, Any]]:
    """Scenario, mix and values of the verbs that take no lists (script, shell)."""
    scenario = scenario_of(args.scenario)
    mixes = request.parse_controls(args.cc, scenario)
    given = [text.partition("=")[0] for text in args.set]
    names = {param.name for param in scenario.params}
    more = [
        t for t in defaults if t.partition("=")[0] not in given and t.partition("=")[0] in names
    ]
    settings = request.parse_settings([*args.set, *more], scenario)
    found = list(request.product(mixes, settings, [1], scenario.devices))
    if len(found) != 1:
        raise UsageError("give one algorithm and one value per parameter, no lists")
    mix, values, _ = found[0]
    return scenario, mix, values


def compiled_plan(scenario: Any, mix: str, values: dict[str, Any], duration_s: float) -> Any:
    try:
        return scenario.compile(request.all_values(scenario, values), mix, duration_s)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _add_choice(parser: Parser, cc: str | None) -> None:
    parser.add_argument(
        "--cc", default=cc, metavar="A,B", help="congestion controls; a+b: a mix; N*a: N flows of a"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE",
        help="a parameter, or MODULE.PARAM; of lists (ber=0,1e-8) every combination is run",
    )  # fmt: skip


def _add_filter(parser: Parser, records: str = "") -> None:
    """Which records, and which of them."""
    if records:
        parser.add_argument("records", nargs="+", metavar="RECORDS", help=f"records of {records}")
    parser.add_argument("--cc", metavar="A,B", help="only these algorithms")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="only records with this"
    )
    parser.add_argument("--seed", metavar="N,N", help="only these seeds")


def _add_engine(parser: Parser) -> None:
    parser.add_argument("--engine", default=ENGINES[0], help=", ".join(ENGINES))
    parser.add_argument("--kernel", metavar="NAME", help="the guest's kernel: a suite or a release")
    parser.add_argument(
        "--module", action="append", default=[], metavar="[NAME=]PATH",
        help="another module: a .ko, or the folder of its source; NAME: the name it registers",
    )  # fmt: skip
    add_patch(parser)


def add_patch(parser: Parser) -> None:
    """The option --patch."""
    parser.add_argument(
        "--patch", action="append", default=[], metavar="FILE",
        help="build engine uml's kernel with this patch; FILE.config: lines of its configuration",
    )  # fmt: skip


def add_json(parser: Parser) -> None:
    """The option --json; see json_target()."""
    parser.add_argument("--json", metavar="FILE", help="one record per line and run; - is stdout")


def json_target(text: str | None) -> Path | None:
    """The file for the records; UsageError before the first run if it cannot be written."""
    if text in (None, "-"):
        return None
    path = Path(text)
    if path.is_dir():
        raise UsageError(f"--json {text}: is a folder")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"--json {text}: no such folder: {path.parent}")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise UsageError(f"--json {text}: not writable")
    return path


def show_results(text: str | None, records: Sequence[dict[str, Any]], table: str) -> None:
    """Write the records where --json says, and print the table; to stderr if they are on stdout."""
    from ..measures.record import dumps

    write_json(text, "".join(dumps(record) + "\n" for record in records))
    if records:
        print(table, file=sys.stderr if text == "-" else sys.stdout)


def write_json(text: str | None, lines: str) -> None:
    """Write lines where --json says, if it is given."""
    target = json_target(text)
    if target is not None:
        _write(target, lines)
    elif text == "-":
        sys.stdout.write(lines)


def _write(path: Path, lines: str) -> None:
    try:
        if path.exists() and not path.is_file():
            path.write_text(lines, encoding="utf-8")
        else:
            write_whole(path, lines)
    except OSError as error:
        raise UsageError(f"--json {path}: {error.strerror}") from None
