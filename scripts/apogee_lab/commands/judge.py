# SPDX-License-Identifier: GPL-2.0
"""`lab judge`: a report card of congestion controls by RFC 9743."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from .. import algorithms, modules
from ..base import UsageError, read_regular, repo_root, write_whole
from ..engines import registry
from ..judge import board, criteria, grounds, page, text
from ..judge import card as cards
from ..judge.criteria import LEVELS
from ..units import CONTROL
from .options import (
    Arguments,
    Parser,
    add_patch,
    chosen_from,
    kernel_of,
    modules_for,
    runs_at_once,
    seconds,
)

OUT = repo_root() / "build" / "judge"
BESIDE = "bbr,cubic,reno"
INTERRUPTED = 130
GEO, GROUNDS = "geo", "grounds"  # names of the scoreboard and of the grounds among sections


def do_judge(args: Arguments) -> int:
    """Make the runs, write the card as a page, as Markdown and as JSON, print its matrix."""
    out = _folder(args.out)
    script = page.library()
    if args.merge:
        if args.algorithms:
            raise UsageError("--merge takes cards only, no algorithms")
        card, status = cards.merged([cards.read(Path(name)) for name in args.merge]), 0
    else:
        card, status = _judged(args)
    if card is None:
        return status
    _write(card, out, script)
    _tell(card, out, args.json)
    failed = cards.failed(card, args.fail_on) if args.fail_on else []
    for cc, section in failed:
        print(f"{cc}: {section} is not met", file=sys.stderr)
    return 1 if failed else status


def _judged(args: Arguments) -> tuple[cards.Card | None, int]:
    """The card of the algorithms that the command line names, and the exit status."""
    from ..judge import runs

    if not args.algorithms:
        raise UsageError("name an algorithm, a .ko, the folder of a module's source or a .bpf.o")
    sections = args.only.split(",") if args.only else []
    numbers = [one for one in sections if one not in (GEO, GROUNDS)]
    every = criteria.chosen(criteria.read(), numbers, sections)
    whole = not (sections or args.quick)
    geo = board.read(args.quick) if GEO in sections or whole else None
    ground = grounds.read(args.quick) if GROUNDS in sections or whole else None
    texts = _texts(args.text, every)
    engine_name = _engine(args)
    args.engine = engine_name
    engine = registry.engine_of(engine_name)
    kernel = kernel_of(engine, args.kernel, args.patch)
    names, on = _given(args, engine, kernel)
    peers = _peers(args.beside)
    for name in peers:
        if algorithms.find(name).file:
            raise UsageError(f"--beside {args.beside}: {name} is the given one; leave it out")
    asked = runs.questions(every, names, peers, args.quick)
    tables = [table for table in (geo, ground) if table]
    wanted = [*runs.runs_of(asked), *(one for table in tables for one in table.runs(names))]
    of_patch = {*names} - {*peers} if args.patch else {}
    strangers = [name for name in names if algorithms.find(name).file or name in of_patch]
    played = _played(args, engine, kernel, wanted, strangers)
    if played.interrupted:
        print(played.interrupted, file=sys.stderr)
        return None, INTERRUPTED
    for why in dict.fromkeys(played.reasons.values()):
        (run, seed), *more = [one for one, of in played.reasons.items() if of == why]
        others = f" and {len(more)} others" if more else ""
        print(f"failed: {run.scenario} {run.mix} seed {seed}{others}: {why}", file=sys.stderr)
    answers = {one: one.answered(played.records, played.reasons) for one in asked}
    about = {
        "made": date.today().isoformat(),
        "command": _command(args, peers),
        "engine": engine_name,
        "kernel": next((one["kernel"] for one in played.records.values() if one), kernel),
        "beside": peers,
        "quick": args.quick,
        "left_out": _left_out(every, peers, geo, ground) if args.quick else {},
        "board": board.filled(geo, names, played.records, on) if geo else None,
        "grounds": grounds.filled(ground, names, played.records, on) if ground else None,
    }
    card = cards.made(every, names, asked, answers, lambda one: one.commands(on), about)
    for one in card["criteria"]:
        one["texts"] = texts.get(one["section"], [])
    return card, 1 if played.reasons else 0


def _played(
    args: Arguments, engine: Any, kernel: str, wanted: Sequence[Any], strangers: Sequence[str]
) -> Any:
    """The runs, made; modules are built before."""
    from ..judge import played, runs
    from ..runs import sweep

    at_once = runs_at_once(args)
    bound_s = math.inf if args.timeout is None else seconds("--timeout", args.timeout)
    plans = runs.compiled(wanted)
    _build(args, engine, kernel, wanted, plans)
    jobs = runs.jobs(wanted, plans, engine, args.engine, kernel)

    def swept(some: list[sweep.Job]) -> sweep.Sweep:
        how = {"at_once": at_once, "fresh": args.fresh, "bound_s": bound_s}
        return sweep.Sweep(some, engine, **how, more_bounds=bounds)

    bounds = {"spun_s": played.SPUN_S} if args.engine == "uml" else {}
    return played.play(wanted, jobs, strangers, swept)


def _left_out(
    every: Sequence[criteria.Criterion], peers: Sequence[str], geo: Any, ground: Any
) -> dict[str, list[str]]:
    from ..judge import runs

    tables = {GEO: geo, GROUNDS: ground}
    return runs.left_out(every, peers) | {
        name: ["the whole table"] for name, table in tables.items() if not table
    }


def _engine(args: Arguments) -> str:
    """uml, or qemu for a kernel that uml has not."""
    if args.engine:
        return str(args.engine)
    if any(given.endswith(".o") for given in args.algorithms):
        return "qemu"  # uml's kernels have no BTF
    known = registry.engine_of("uml").kernels()
    return "uml" if args.kernel is None or args.kernel in known else "qemu"


def _given(args: Arguments, engine: Any, kernel: str) -> tuple[list[str], list[str]]:
    """The algorithms' names, and the words of `lab run` by which engine, kernel and modules are
    asked for."""
    names, on = [], ["--engine", args.engine, *(["--kernel", args.kernel] if args.kernel else [])]
    on += [word for file in args.patch for word in ("--patch", file)]
    for given in args.algorithms:
        if "/" in given or "=" in given or given.endswith((".ko", ".ko.xz", ".o")):
            names.append(modules.give(given, engine.kernel(kernel)).name)
            on += ["--module", given]
        elif CONTROL.fullmatch(given):
            names.append(given)
        else:
            raise UsageError(f"{given}: neither an algorithm's name nor the path of a module")
    if len(set(names)) < len(names):
        raise UsageError("an algorithm is named twice")
    return names, on


def _peers(listed: str) -> list[str]:
    peers = listed.split(",")
    for name in peers:
        if not CONTROL.fullmatch(name):
            raise UsageError(f"--beside {listed}: '{name}' is not a congestion control's name")
    if len(set(peers)) < len(peers):
        raise UsageError(f"--beside {listed}: a name is given twice")
    return peers


def _texts(given: Sequence[str], every: Sequence[criteria.Criterion]) -> dict[str, list[str]]:
    """Texts of the author by section."""
    found: dict[str, list[str]] = {}
    for words in given:
        section, equals, name = words.partition("=")
        if not equals:
            raise UsageError(f"--text {words}: SECTION=FILE is needed")
        chosen_from("section", section, [one.section for one in every])
        try:
            content = read_regular(Path(name)).decode("utf-8")
            found.setdefault(section, []).append(content.strip())
        except OSError as error:
            raise UsageError(f"--text {words}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise UsageError(f"--text {words}: not text in UTF-8") from None
    return found


def _build(
    args: Arguments, engine: Any, kernel: str, wanted: Sequence[Any], plans: Sequence[Any]
) -> None:
    """Build the modules that the runs bring, once, and see that the kernel has the others."""
    from ..scenarios import SCENARIOS

    build = args.build
    for name in dict.fromkeys(run.scenario for run, _ in wanted):
        mine = [p.plan for (run, _), p in zip(wanted, plans, strict=True) if run.scenario == name]
        if modules_for(engine, kernel, SCENARIOS[name], mine, {}, build=build):
            build = False


def _command(args: Arguments, peers: Sequence[str]) -> str:
    words = ["scripts/lab judge", *args.algorithms]
    words += ["--beside", ",".join(peers)] if ",".join(peers) != BESIDE else []
    words += ["--quick"] if args.quick else []
    words += ["--only", args.only] if args.only else []
    words += ["--kernel", args.kernel] if args.kernel else []
    words += [word for file in args.patch for word in ("--patch", file)]
    return " ".join(words)


# --- what is written --------------------------------------------------------------------------


def _folder(given: str) -> Path:
    """The folder of the card, made; UsageError before the first run if it cannot be."""
    folder = Path(given) if given else OUT
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / "card.json.new"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UsageError(f"--out {folder}: {error.strerror}") from None
    return folder


def _write(card: cards.Card, out: Path, script: str) -> None:
    from ..judge import picture

    if card["criteria"]:
        picture.save(card, out / "card.svg")
    write_whole(out / "card.json", cards.as_json(card))
    write_whole(out / "card.md", text.markdown(card, ["card.svg"] if card["criteria"] else []))
    write_whole(out / "card.html", page.html(card, script))


def _tell(card: cards.Card, out: Path, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(cards.as_json(card))
    to = sys.stderr if as_json else sys.stdout
    print(text.summary(card), file=to)
    print("\n".join(text.lost(card)), file=to)
    if card["left_out"]:
        count = sum(map(len, card["left_out"].values()))
        print(f"--quick left out {count} cases and all seeds but one: see the card", file=to)
    for name in ("card.html", "card.md", "card.json"):
        print(out / name, file=to)


def judge_parser(parser: Parser) -> None:
    parser.add_argument(
        "algorithms", nargs="*", metavar="NAME|PATH",
        help="algorithms: names, a .ko, the folder of a module's source; NAME=PATH",
    )  # fmt: skip
    parser.add_argument(
        "--beside", default=BESIDE, metavar="A,B", help=f"algorithms to be judged beside ({BESIDE})"
    )
    parser.add_argument("--quick", action="store_true", help="fewer cases, one seed each: minutes")
    parser.add_argument(
        "--only", metavar="N,N", help="only these sections, as in 5.2,7.1,geo,grounds"
    )
    parser.add_argument("--kernel", metavar="NAME", help="the guest's kernel: a suite or a release")
    add_patch(parser)
    parser.add_argument("--engine", metavar="NAME", help="uml, or qemu for kernels that uml lacks")
    parser.add_argument(
        "--text", action="append", default=[], metavar="SECTION=FILE",
        help="what the author says about a section, as 5.3.1 and 3 ask for",
    )  # fmt: skip
    parser.add_argument("--out", default="", metavar="DIR", help="folder of the card (build/judge)")
    parser.add_argument("--json", action="store_true", help="print the card as JSON")
    parser.add_argument(
        "--fail-on", choices=LEVELS[:2], help="exit 1 if a criterion of this level is not met"
    )
    parser.add_argument(
        "--merge", nargs="+", metavar="CARD", help="make one card of these card.json, without runs"
    )
    parser.add_argument("--jobs", metavar="N", help="parallel runs (the number of CPUs)")
    parser.add_argument("--fresh", action="store_true", help="repeat finished runs")
    parser.add_argument("--timeout", metavar="S", help="wall-clock limit of one run")
    parser.add_argument(
        "--no-build", dest="build", action="store_false", help="do not rebuild the modules"
    )
