# SPDX-License-Identifier: GPL-2.0
"""`lab atlas`: algorithms, or ways to use a path, on random paths, compared with their peers."""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..atlas import kept, page, space
from ..atlas.results import Compared, Result, of_record
from ..atlas.space import RandomPath, Space
from ..base import UsageError, repo_root
from ..engines import registry
from ..units import CONTROL
from .options import (
    DEFAULT_CC,
    Arguments,
    Parser,
    _add_engine,
    add_json,
    duration_of,
    json_target,
    kernel_with_given,
    modules_for,
    runs_at_once,
    seconds,
    whole_number,
    write_json,
)
from .plot import save_figure

if TYPE_CHECKING:
    from ..atlas.jobs import Asked

DEFAULT = (DEFAULT_CC, "bbr", "cubic")  # looked at, and its peers, if the space has no ways
MOST_PATHS = 100_000
PLOTS = repo_root() / "build" / "plots"

INTERRUPTED = 130

#: Of each path's number the results of the algorithms or ways that have one.
Results = dict[int, dict[str, Result]]


def do_atlas(args: Arguments) -> int:
    """Run the paths, print the pages, draw the pictures; or print those of kept lines again."""
    if args.kept:
        return _do_kept(args)
    found = _space(args)
    own, peers = _compared(args, found)
    names = list(dict.fromkeys([*own, *peers]))
    seed = whole_number("--seed", args.seed, 0, 2**32 - 1)
    paths = [found.path(seed, number) for number in _numbers(args)]
    json_target(args.json)
    pictures = {cc: _picture(args.out, found, cc) for cc in own}
    run = _run_model if args.model else _run
    results, status = run(args, found, paths, names)
    if status == INTERRUPTED:
        return status
    command = partial(_model_command if args.model else _command, args, found, names)
    engine = "model" if args.model else args.engine
    lines = [
        page.as_json(found, seed, path, results[path.number], command, engine, args.set)
        for path in paths
    ]
    write_json(args.json, "".join(f"{line}\n" for line in lines))
    out = sys.stderr if args.json == "-" else sys.stdout
    for cc in own:
        others = [name for name in peers if name != cc]
        every = compared(paths, results, cc, others)
        _show(found, cc, every, _again(args, found, "PATH"), pictures[cc], out)
    return status


def _space(args: Arguments) -> Space:
    length_s = None if args.duration is None else duration_of(args)
    given = tuple(text.partition("=")[0] for text in args.set)
    return replace(space.read(args.space, length_s), given=given)


def _do_kept(args: Arguments) -> int:
    """Print the pages of an atlas that was run before."""
    told = kept.read(Path(args.kept))
    found = _space(args)
    if found.name != told.space:
        raise UsageError(f"--kept {args.kept}: that is an atlas of {told.space}")
    args.seed, args.model = str(told.seed), told.engine == "model"
    args.engine = args.engine if args.model else told.engine
    own, peers = _compared(args, found)
    paths = [found.path(told.seed, number) for number in told.results]
    for cc in own:
        every = compared(paths, told.results, cc, [name for name in peers if name != cc])
        if not every:
            raise UsageError(f"--kept {args.kept}: it has no path with {cc} and its peers")
        print(page.text(found, cc, every, _again(args, found, "PATH")))
    return 0


def _compared(args: Arguments, found: Space) -> tuple[list[str], list[str]]:
    """What is looked at, and its peers: algorithms, or the ways that the space has."""
    cc = (found.ways or DEFAULT)[0] if args.cc is None else args.cc
    beside = ",".join(found.ways or DEFAULT[1:]) if args.beside is None else args.beside
    own, peers = _names("--cc", cc, found.ways), _names("--beside", beside, found.ways)
    for name in own:
        if {*peers} <= {name}:
            raise UsageError(f"--beside: {name} needs a peer other than itself")
    return own, peers


def _names(option: str, text: str, ways: Sequence[str]) -> list[str]:
    names = text.split(",")
    for name in names:
        if ways and name not in ways:
            listed = ", ".join(ways)
            raise UsageError(f"{option} {text}: the space has no '{name}'; choose from: {listed}")
        if not CONTROL.fullmatch(name):
            raise UsageError(f"{option} {text}: '{name}' is not a congestion control's name")
    if len(set(names)) < len(names):
        raise UsageError(f"{option} {text}: a name is given twice")
    return names


def _numbers(args: Arguments) -> list[int]:
    """The numbers of the paths: the first so many, or those of --only."""
    if args.only is None:
        return list(range(1, whole_number("--paths", args.paths, 1, MOST_PATHS) + 1))
    numbers = [whole_number("--only", text, 1, MOST_PATHS) for text in args.only.split(",")]
    return list(dict.fromkeys(numbers))


def _run(
    args: Arguments, found: Space, paths: Sequence[RandomPath], names: Sequence[str]
) -> tuple[Results, int]:
    """The results of all paths, by an engine, and the exit status."""
    from ..atlas import jobs
    from ..runs import sweep

    engine = registry.engine_of(args.engine)
    at_once = runs_at_once(args)
    bound_s = math.inf if args.timeout is None else seconds("--timeout", args.timeout)
    kernel = kernel_with_given(engine, args)
    asked = jobs.asked(found, paths, names, args.set)
    _build(args, engine, kernel, asked)
    made = jobs.jobs(asked, engine, args.engine, kernel)
    work = sweep.Sweep(made, engine, at_once=at_once, fresh=args.fresh, bound_s=bound_s)
    try:
        work.run()
    except sweep.Interrupted:
        print(work.interrupted, file=sys.stderr)
        return {}, INTERRUPTED
    records = iter(work.records)
    results: Results = {path.number: {} for path in paths}
    for path in paths:
        for name in filter(path.has, names):
            record = next(records)
            if record is not None:
                results[path.number][name] = of_record(record, found.measure)
    for index, failure in work.failures.items():
        print(f"failed: {made[index].label}: {failure.reason}", file=sys.stderr)
    return results, 1 if work.failures else 0


def _run_model(
    args: Arguments, found: Space, paths: Sequence[RandomPath], names: Sequence[str]
) -> tuple[Results, int]:
    """The same in the model."""
    from ..atlas import jobs, modelled

    if args.kernel or args.module or args.timeout:
        raise UsageError("--model takes neither --kernel, --module nor --timeout")
    modelled.known(names)
    asked = jobs.asked(found, paths, names, args.set)
    every = modelled.runs(found, asked, runs_at_once(args), args.fresh)
    results: Results = {path.number: {} for path in paths}
    status = 0
    for one in modelled.progress(every, len(paths) * len(names)):
        if one.result is None:
            print(f"failed: path {one.number} {one.name}: {one.why}", file=sys.stderr)
            status = 1
        else:
            results[one.number][one.name] = one.result
    return results, status


def _build(args: Arguments, engine: Any, kernel: str, asked: Sequence[Asked]) -> None:
    """Build the modules that the runs need, once, and check what --set says of them."""
    from ..runs import request

    for scenario in {one.scenario.name: one.scenario for one in asked}.values():
        plans = [run.plan for one in asked if one.scenario is scenario for run in one.compiled]
        settings = request.parse_settings([t for t in args.set if "." in t.split("=")[0]], scenario)
        modules_for(engine, kernel, scenario, plans, settings, build=args.build)


def compared(
    paths: Sequence[RandomPath], results: Results, cc: str, peers: Sequence[str]
) -> list[Compared]:
    """An algorithm or way beside its peers on the paths on which all were measured that it has."""
    found = []
    for path in paths:
        here, results_here = [*filter(path.has, peers)], results[path.number]
        if here and {cc, *here} <= results_here.keys():
            found.append(Compared(path, results_here[cc], {p: results_here[p] for p in here}))
    return found


def _picture(out: str, found: Space, cc: str) -> str:
    """The file of an algorithm's picture; UsageError before the first run if it cannot be one."""
    target = Path(out) if out else PLOTS / f"atlas-{found.name}"
    if target.name in ("", ".."):
        raise UsageError(f"--out {out}: the name of a file is needed")
    file = target.with_name(f"{target.stem}-{cc}{target.suffix}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        os.stat(file.parent / f"{file.name}.svg")
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}") from None
    if not os.access(file.parent, os.W_OK):
        raise UsageError(f"--out {out}: not writable")
    return str(file)


def _show(
    found: Space, cc: str, every: Sequence[Compared], again: str, file: str, to: TextIO
) -> None:
    from ..atlas import picture

    if not every:
        print(f"{cc}: no path on which it and its peers were measured", file=sys.stderr)
        return
    drawn = save_figure(picture.draw(found, cc, every), "--out", file)
    print(page.text(found, cc, every, again), file=to)
    for path in drawn:
        print(f"\n{path}", file=to)


def _command(
    args: Arguments, found: Space, names: Sequence[str], path: RandomPath, ways: Sequence[str]
) -> str:
    """The command that repeats a path with all algorithms; for ways one each, a line each."""
    each = [names] if path.ways is None else [[way] for way in ways]
    return "\n".join(_run_command(args, found, one, path) for one in each)


def _run_command(args: Arguments, found: Space, names: Sequence[str], path: RandomPath) -> str:
    from ..atlas.jobs import settings_of

    words = ["scripts/lab", "run", path.scenario, *_on(args)]
    words += ["--cc", ",".join(path.cc(name) for name in names), "--seed", str(path.seed)]
    words += ["--duration", f"{found.duration_s:g}"]
    words += [word for text in settings_of(path, names[0], args.set) for word in ("--set", text)]
    return shlex.join(words)


def _model_command(
    args: Arguments, found: Space, _names: Sequence[str], path: RandomPath, _ways: Sequence[str]
) -> str:
    """The same in the model."""
    return _again(args, found, str(path.number))


def _again(args: Arguments, found: Space, number: str) -> str:
    """The command that compares all on the path of this number, as this one does."""
    own, peers = (",".join(part) for part in _compared(args, found))
    words = ["scripts/lab", "atlas", args.space]
    words += ["--model"] if args.model else _on(args)
    words += ["--cc", own, "--beside", peers, "--seed", args.seed]
    words += ["--duration", args.duration] if args.duration else []
    words += [word for text in args.set for word in ("--set", text)]
    return shlex.join([*words, "--only", number])


def _on(args: Arguments) -> list[str]:
    """The engine, kernel and modules as on the command line."""
    words = ["--engine", args.engine, *(["--kernel", args.kernel] if args.kernel else [])]
    words += [word for file in args.patch for word in ("--patch", file)]
    return [*words, *(word for text in args.module for word in ("--module", text))]


def atlas_parser(parser: Parser) -> None:
    parser.add_argument("space", metavar="SPACE", help=f"{', '.join(space.listed())}, or a .toml")
    parser.add_argument(
        "--cc", metavar="A,B",
        help="what is looked at: algorithms (star), or ways to use a path (the space's first)",
    )  # fmt: skip
    parser.add_argument(
        "--beside", metavar="A,B", help="peers: algorithms (bbr,cubic), or ways (all others)"
    )
    parser.add_argument("--paths", default="200", metavar="N", help="paths 1 to N (200)")
    parser.add_argument("--only", metavar="N,N", help="only these paths")
    parser.add_argument("--seed", default="1", metavar="N", help="seed of the paths (1)")
    parser.add_argument("--duration", metavar="S", help="seconds of a run (the space's)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE",
        help="a parameter of the scenario on all paths, or MODULE.PARAM",
    )  # fmt: skip
    _add_engine(parser)
    parser.add_argument(
        "--model", action="store_true", help="in the model instead of an engine: seconds"
    )
    parser.add_argument("--jobs", metavar="N", help="parallel runs (the number of CPUs)")
    add_json(parser)
    parser.add_argument("--kept", metavar="FILE", help="run nothing: the page of lines of --json")
    parser.add_argument(
        "-o", "--out", default="", metavar="FILE",
        help="pictures, -CC before the suffix (build/plots/atlas-SPACE)",
    )  # fmt: skip
    parser.add_argument("--fresh", action="store_true", help="repeat finished runs")
    parser.add_argument("--timeout", metavar="S", help="wall-clock limit of one run")
    parser.add_argument(
        "--no-build", dest="build", action="store_false", help="do not rebuild the modules"
    )
