# SPDX-License-Identifier: GPL-2.0
"""``make reproduce``: the papers' figures, with everything they need, by one command.

Works out which runs the figures need, says how many are finished and what the others will take,
lets Snakemake make them (here or on a cluster), and prints the table of claims. Exit status: 0
done, 1 a run or a figure failed (the rest is kept and shown), 2 bad usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

from ..base import LabError, UsageError, repo_root
from ..engines import registry
from ..engines.registry import ALONE, ENGINES
from ..papers.catalogue import Choice, choose
from ..papers.report import lengths
from .options import Parser

ROOT = repo_root()
OUT = ROOT / "build" / "reproduce"
TOOLS = ROOT / "scripts" / "reproduce"
SNAKEMAKE = ROOT / "build" / "reproduce-venv" / "bin" / "snakemake"
POLL_S = 2.0
END_S = 30.0  # what an interrupted Snakemake gets to stop its runs
TOLD = 5  # failed runs that are named
SHORTEST_S = 5.0  # a blackout of a second must fit behind three quarters of a run


def _parser() -> Parser:
    parser = Parser(prog="reproduce", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help="star, star-5, gentle, ...")
    parser.add_argument("--seeds", metavar="N", help="seeds 1 to N of every point (its own)")
    parser.add_argument("--duration", metavar="S", help="of each run (its own)")
    parser.add_argument("--engine", default=ENGINES[0], help=", ".join(ENGINES))
    parser.add_argument("--jobs", metavar="N", help="runs at once (the number of CPUs)")
    parser.add_argument("--executor", metavar="slurm|DIR", help="a profile of Snakemake's")
    parser.add_argument("--dry-run", action="store_true", help="say what would be run")
    parser.add_argument("--check", action="store_true", help="only check the names")
    return parser


def _whole(name: str, text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= most):
        raise UsageError(f"{name} {text}: a whole number from 1 to {most} is needed")
    return int(text)


def _duration(text: str) -> float:
    try:
        value = float(text.removesuffix("s"))
    except ValueError:
        value = 0.0
    if not SHORTEST_S <= value <= 3600:
        raise UsageError(f"duration {text}: {SHORTEST_S:g} to 3600 seconds are needed")
    return value


def _profile(text: str | None) -> Path | None:
    """The profile's folder; None for this machine."""
    if text is None:
        return None
    for path in (TOOLS / text, Path(text)):
        if (path / "config.yaml").is_file():
            return path.resolve()
    raise UsageError(f"executor {text}: neither 'slurm' nor a folder with a config.yaml")


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def announce(plan: Mapping[str, Any], done: set[str], at_once: int | None) -> str:
    """What there is to do, in a line or two; ``at_once`` None: as many as a profile says."""
    runs = plan["runs"]
    left = sum(run["cost_s"] for key, run in runs.items() if key not in done)
    length, seeds = lengths(plan, plan["figures"])
    lines = [
        f"{', '.join(plan['figures'])}: {len(runs)} runs of {length} ({seeds}), "
        f"{len(done)} of them finished"
    ]
    if left:
        share = f": {_span(left / at_once)} with {at_once} at once" if at_once else ""
        lines.append(f"the others need about {_span(left)} of CPU time{share}")
    return "\n".join(lines)


def table_path(choices: Sequence[Choice]) -> Path:
    """Where the table of these figures goes; a whole paper's by its name."""
    papers = list(dict.fromkeys(choice.paper.name for choice in choices))
    whole = sum(len(choice.paper.figures) for choice in {c.paper.name: c for c in choices}.values())
    names = papers if len(choices) == whole else [choice.name for choice in choices]
    return OUT / f"table-{'+'.join(names)}.md"


# --- running ----------------------------------------------------------------------------------


def _command(plan_path: Path, at_once: int | None, profile: Path | None) -> list[str]:
    command = [
        str(SNAKEMAKE), "--snakefile", str(TOOLS / "Snakefile"), "--directory", str(OUT),
        "--config", f"plan={plan_path}", "--keep-going", "--rerun-incomplete",
        "--rerun-triggers", "input", "--nolock", "--scheduler", "greedy",
    ]  # fmt: skip
    if profile is not None:
        command += ["--profile", str(profile)]
    if at_once is not None:
        command += ["--jobs" if profile else "--cores", str(at_once)]
    return command


class Watch:
    """Tells each run as its record appears, whoever makes it."""

    def __init__(self, plan: Mapping[str, Any], done: set[str], out: TextIO) -> None:
        from ..runs.progress import Report

        self._plan = plan
        self.done = set(done)
        self._report = Report(len(plan["runs"]), len(done), out)

    def _record(self, key: str) -> dict[str, Any] | None:
        path = Path(self._plan["runs_dir"]) / key / "record.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def look(self) -> None:
        """Tell what is new."""
        for key, run in self._plan["runs"].items():
            if key not in self.done:
                record = self._record(key)
                if record is not None:
                    self.done.add(key)
                    self._report.done(run["label"], record)

    def close(self) -> None:
        """End the bar."""
        self._report.close()


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop Snakemake with its runs; on a cluster it cancels them."""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, signum)
            process.wait(END_S)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return


def _run(command: Sequence[str], watch: Watch, log: Path) -> int:
    """Run Snakemake to its end; what it says goes to ``log``.

    Our own handlers also see to it that Snakemake and the runs heed Ctrl-C: a shell may have
    started us, and so them, deaf to it.
    """
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {signum: signal.signal(signum, _interrupt) for signum in signals}
    # Snakemake's cache of sources goes where a cluster's nodes, too, find it.
    env = {**os.environ, "XDG_CACHE_HOME": str(log.parent / "cache")}
    with log.open("w", encoding="utf-8") as handle:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=handle, stderr=subprocess.STDOUT,
            start_new_session=True, env=env,
        )  # fmt: skip
        try:
            while True:
                try:
                    return process.wait(POLL_S)
                except subprocess.TimeoutExpired:
                    watch.look()
        except KeyboardInterrupt:
            _end(process)
            raise
        finally:
            for signum, handler in before.items():
                signal.signal(signum, handler)
            watch.look()
            watch.close()


def _last_line(path: Path, since: float) -> str | None:
    """What a step said last, if it said anything since then; the lab names the run itself."""
    if not path.exists() or path.stat().st_mtime < since:
        return None
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no message")


def _failures(plan: Mapping[str, Any], done: set[str], since: float) -> list[str]:
    """What went wrong: runs without a record, or else figures whose drawing said something."""
    logs = Path(plan["out"]) / "logs"
    missing = [key for key in plan["runs"] if key not in done]
    if not missing:
        said = {name: _last_line(logs / f"{name}.log", since) for name in plan["figures"]}
        return [
            f"{name}: {line}" for name, line in said.items() if line not in (None, "no message")
        ]
    lines = [line for key in missing if (line := _last_line(logs / f"{key}.log", since))]
    told = lines[:TOLD]
    if len(lines) > TOLD:
        told.append(f"and {len(lines) - TOLD} more")
    if len(lines) < len(missing):
        told.append(f"{len(missing) - len(lines)} were not begun")
    return [f"{len(missing)} of {len(plan['runs'])} runs failed: {'; '.join(told)}"]


def _make(plan: dict[str, Any], done: set[str], args: argparse.Namespace) -> int:
    """Let Snakemake make what is missing, then show the table."""
    from ..base import write_whole
    from .draw_figures import page

    for folder in ("logs", "versions"):
        (OUT / folder).mkdir(parents=True, exist_ok=True)
    (OUT / "versions" / plan["version"]).touch()
    plan_path = OUT / "plan.json"
    write_whole(plan_path, json.dumps(plan, indent=1) + "\n")
    log = OUT / "snakemake.log"
    watch = Watch(plan, done, sys.stderr)
    began = time.time()
    status = _run(_command(plan_path, args.at_once, args.profile), watch, log)
    sys.stdout.write(page(plan))  # Snakemake has made the file if nothing failed
    print(f"figures and table: {Path(plan['out']).relative_to(ROOT)}", file=sys.stderr)
    if status:
        reasons = _failures(plan, watch.done, began) or [f"Snakemake ended with {status}"]
        print(f"reproduce: {'; '.join(reasons)} (see {log.relative_to(ROOT)})", file=sys.stderr)
        return 1
    return 0


def _reproduce(args: argparse.Namespace, choices: list[Choice]) -> int:
    from .. import modules
    from ..papers import schedule

    seeds = args.seeds and range(1, args.seeds + 1)
    engine = registry.engine_of(args.engine)
    modules.build(engine.kernel(engine.DEFAULT_KERNEL))
    found = schedule.runs(choices, seeds, args.duration, engine, args.engine)
    every = {run.job.key: run for figure in found.values() for run in figure}
    done = {key for key, run in every.items() if schedule.finished(run)}
    plan = schedule.as_json(found, seeds, args.duration, OUT, table_path(choices))
    plan["scripts"] = str(ROOT / "scripts")
    if args.profile is None:
        args.at_once = args.at_once or len(os.sched_getaffinity(0))
    print(announce(plan, done, args.at_once), file=sys.stderr)
    if args.dry_run:
        return 0
    return _make(plan, done, args)


def _locked(args: argparse.Namespace, choices: list[Choice]) -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    with (OUT / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LabError("another 'make reproduce' is at work in this folder") from None
        return _reproduce(args, choices)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    args = _parser().parse_args(argv)
    try:
        choices = choose(args.figures)
        args.seeds = args.seeds and _whole("seeds", args.seeds, 1000)
        args.duration = args.duration and _duration(args.duration)
        args.at_once = None if args.jobs is None else _whole("jobs", args.jobs, 10_000)
        args.profile = _profile(args.executor)
        registry.engine_of(args.engine)
        if args.engine in ALONE:
            raise UsageError(f"engine {args.engine} makes one run at a time: use qemu or uml")
        if args.check:
            return 0
        return _locked(args, choices)
    except LabError as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "interrupted; finished runs are kept, the same command goes on from there",
            file=sys.stderr,
        )
        return 130


if __name__ == "__main__":
    sys.exit(main())
