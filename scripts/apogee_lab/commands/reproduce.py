# SPDX-License-Identifier: GPL-2.0
"""``make reproduce``: the papers' figures and the table of their claims, by one command.

Computes which runs the figures need, prints how many are finished and how long the others take,
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
from typing import Any, TextIO

from ..base import LabError, UsageError, cache_dir, one_line, repo_root
from ..engines import registry
from ..engines.registry import ALONE, ENGINES
from ..papers.catalogue import Choice, choose
from ..papers.report import lengths
from ..runs.interrupt import interrupted_by
from ..runs.progress import Report, span
from .options import Parser, seconds, whole_number

ROOT = repo_root()
OUT = ROOT / "build" / "reproduce"
TOOLS = ROOT / "scripts" / "reproduce"
SNAKEMAKE = ROOT / "build" / "reproduce-venv" / "bin" / "snakemake"
POLL_S = 2.0
END_S = 30.0  # for an interrupted Snakemake to stop its runs
TOLD = 5  # at most so many failed runs are named
SHORTEST_S = 5.0  # the blackout of one second is at three quarters of a run and must end in it
LONGEST_S = 3600.0


def _parser() -> Parser:
    parser = Parser(prog="reproduce", description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help="star, star-5, gentle, ...")
    parser.add_argument(
        "--seeds", metavar="N", help="seeds 1 to N of every point (each point's own)"
    )
    parser.add_argument("--duration", metavar="S", help="of each run (each point's own)")
    parser.add_argument("--engine", default=ENGINES[0], help=", ".join(ENGINES))
    parser.add_argument("--jobs", metavar="N", help="parallel runs (the number of CPUs)")
    parser.add_argument(
        "--executor", metavar="slurm|DIR", help="slurm, or a Snakemake profile's folder"
    )
    parser.add_argument("--dry-run", action="store_true", help="print what would be run")
    parser.add_argument("--check", action="store_true", help="only check the names")
    return parser


def _duration(text: str) -> float:
    value = seconds("--duration", text)
    if not SHORTEST_S <= value <= LONGEST_S:
        raise UsageError(f"--duration {text}: {SHORTEST_S:g} to {LONGEST_S:g} seconds are needed")
    return value


def _profile(text: str | None) -> Path | None:
    """The profile's folder; None for this machine."""
    if text is None:
        return None
    for path in (TOOLS / text, Path(text)):
        if (path / "config.yaml").is_file():
            return path.resolve()
    raise UsageError(f"--executor {text}: neither 'slurm' nor a folder with a config.yaml")


def announce(schedule: Mapping[str, Any], done: set[str], at_once: int | None) -> str:
    """What remains to be done, in a line or two; ``at_once`` None: as a profile says."""
    runs = schedule["runs"]
    left = sum(run["cost_s"] for key, run in runs.items() if key not in done)
    length, seeds = lengths(schedule, schedule["figures"])
    lines = [
        f"{', '.join(schedule['figures'])}: {len(runs)} runs of {length} ({seeds}), "
        f"{len(done)} of them finished"
    ]
    if left:
        share = f": {span(left / at_once)} with {at_once} in parallel" if at_once else ""
        lines.append(f"the others need about {span(left)} of CPU time{share}")
    return "\n".join(lines)


def table_path(choices: Sequence[Choice]) -> Path:
    """The file for the table of these figures; that of a whole paper has its name."""
    papers = list(dict.fromkeys(choice.paper.name for choice in choices))
    whole = sum(len(choice.paper.figures) for choice in {c.paper.name: c for c in choices}.values())
    names = papers if len(choices) == whole else [choice.name for choice in choices]
    return OUT / f"table-{'+'.join(names)}.md"


# --- running ----------------------------------------------------------------------------------


def _command(schedule_path: Path, at_once: int | None, profile: Path | None) -> list[str]:
    command = [
        str(SNAKEMAKE), "--snakefile", str(TOOLS / "Snakefile"), "--directory", str(OUT),
        "--config", f"schedule={schedule_path}", "--keep-going", "--rerun-incomplete",
        "--rerun-triggers", "input", "--nolock", "--scheduler", "greedy",
    ]  # fmt: skip
    if profile is not None:
        command += ["--profile", str(profile)]
    if at_once is not None:
        command += ["--jobs" if profile else "--cores", str(at_once)]
    return command


class Watch:
    """Reports each run when its record appears, whichever process makes it."""

    def __init__(self, schedule: Mapping[str, Any], done: set[str], out: TextIO) -> None:
        self._schedule = schedule
        self.done = set(done)
        self._report = Report(len(schedule["runs"]), len(done), out)

    def _record(self, key: str) -> dict[str, Any] | None:
        path = Path(self._schedule["runs_dir"]) / key / "record.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def look(self) -> None:
        """Report what is new."""
        for key, run in self._schedule["runs"].items():
            if key not in self.done:
                record = self._record(key)
                if record is not None:
                    self.done.add(key)
                    self._report.done(run["label"], record)

    def close(self) -> None:
        """Close the progress bar."""
        self._report.close()


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
    """Run Snakemake to its end; its output goes to ``log``. Returns its exit status.

    SIGINT gets a handler although Python has one: a shell may have started this process with SIGINT
    ignored, and Snakemake and the runs would inherit that.
    """
    # A cluster's nodes find Snakemake's cache of sources there, too. The lab's stays where it is.
    env = {**os.environ, "XDG_CACHE_HOME": str(log.parent / "cache")}
    env["APOGEE_CACHE"] = str(cache_dir().absolute())
    with log.open("w", encoding="utf-8") as handle, interrupted_by(signal.SIGINT, signal.SIGTERM):
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
            watch.look()
            watch.close()


def _last_line(path: Path, since: float) -> str | None:
    """The last line that a step has printed since then, or None; the lab names the run in it."""
    if not path.exists() or path.stat().st_mtime < since:
        return None
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "no message")


def _failures(schedule: Mapping[str, Any], done: set[str], since: float) -> list[str]:
    """What failed: runs without a record, or else figures whose drawing printed something."""
    logs = Path(schedule["out"]) / "logs"
    missing = [key for key in schedule["runs"] if key not in done]
    if not missing:
        said = {name: _last_line(logs / f"{name}.log", since) for name in schedule["figures"]}
        return [
            f"{name}: {line}" for name, line in said.items() if line not in (None, "no message")
        ]
    lines = [line for key in missing if (line := _last_line(logs / f"{key}.log", since))]
    told = lines[:TOLD]
    if len(lines) > TOLD:
        told.append(f"and {len(lines) - TOLD} more")
    if len(lines) < len(missing):
        told.append(f"{len(missing) - len(lines)} were not started")
    return [f"{len(missing)} of {len(schedule['runs'])} runs failed: {'; '.join(told)}"]


def _make(schedule: dict[str, Any], done: set[str], args: argparse.Namespace) -> int:
    """Let Snakemake make what is missing, then print the table."""
    from ..base import write_whole
    from .draw_figures import page

    for folder in ("logs", "versions"):
        (OUT / folder).mkdir(parents=True, exist_ok=True)
    (OUT / "versions" / schedule["version"]).touch()
    schedule_path = OUT / "schedule.json"
    write_whole(schedule_path, json.dumps(schedule, indent=1) + "\n")
    log = OUT / "snakemake.log"
    watch = Watch(schedule, done, sys.stderr)
    began = time.time()
    status = _run(_command(schedule_path, args.at_once, args.profile), watch, log)
    sys.stdout.write(page(schedule))  # Snakemake writes it to the file only if nothing failed
    print(f"figures and table: {Path(schedule['out']).relative_to(ROOT)}", file=sys.stderr)
    if status:
        reasons = _failures(schedule, watch.done, began) or [f"Snakemake ended with {status}"]
        print(f"reproduce: {'; '.join(reasons)} (see {log.relative_to(ROOT)})", file=sys.stderr)
        return 1
    return 0


def _reproduce(args: argparse.Namespace, choices: list[Choice]) -> int:
    from .. import modules
    from ..papers.schedule import as_json, finished, planned_runs

    seeds = args.seeds and range(1, args.seeds + 1)
    engine = registry.engine_of(args.engine)
    modules.build(engine.kernel(engine.DEFAULT_KERNEL))
    found = planned_runs(choices, seeds, args.duration, engine, args.engine)
    every = {run.job.key: run for figure in found.values() for run in figure}
    done = {key for key, run in every.items() if finished(run)}
    schedule = as_json(found, seeds, args.duration, OUT, table_path(choices))
    schedule["scripts"] = str(ROOT / "scripts")
    if args.profile is None:
        args.at_once = args.at_once or len(os.sched_getaffinity(0))
    print(announce(schedule, done, args.at_once), file=sys.stderr)
    if args.dry_run:
        return 0
    return _make(schedule, done, args)


def _locked(args: argparse.Namespace, choices: list[Choice]) -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    with (OUT / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LabError("another 'make reproduce' is running in this folder") from None
        return _reproduce(args, choices)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    args = _parser().parse_args(argv)
    try:
        choices = choose(args.figures)
        args.seeds = args.seeds and whole_number("--seeds", args.seeds, 1, 1000)
        args.duration = args.duration and _duration(args.duration)
        jobs = args.jobs
        args.at_once = None if jobs is None else whole_number("--jobs", jobs, 1, 10_000)
        args.profile = _profile(args.executor)
        registry.engine_of(args.engine)
        if args.engine in ALONE:
            raise UsageError(f"engine {args.engine} makes one run at a time: use qemu or uml")
        if args.check:
            return 0
        return _locked(args, choices)
    except LabError as error:
        print(one_line(f"reproduce: {error}"), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "interrupted; finished runs are kept, the same command continues",
            file=sys.stderr,
        )
        return 130


if __name__ == "__main__":
    sys.exit(main())
