# SPDX-License-Identifier: GPL-2.0
"""Garbage in every option of every command: one line and status 2, unless it is a valid value.

The options are the parser's own list and the parameters the scenarios' own, so that a new one is
covered.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from matplotlib.figure import Figure

from apogee_lab import modules, scenarios
from apogee_lab.atlas import picture
from apogee_lab.base import SHOWN, UsageError
from apogee_lab.commands import cost, device_cost, main, reproduce
from apogee_lab.host import sysctls
from apogee_lab.judge import runs as judge_runs
from apogee_lab.runs import request, sweep
from apogee_lab.scenarios.scenario import Scenario
from tests.unit.lab.stand_ins import no_guest

Capture = pytest.CaptureFixture[str]

HUGE = "1" * 5000  # more digits than Python takes for a number
NUMBERS = (
    "", " ", "-1", "+1", "0", "0.0", "1e999", "-1e999", "1e-400", "1e99999", "nan", "-nan", "inf",
    "-inf", "Infinity", "1_0", "0x10", "1.", ".", "1,", ",1", ",,", HUGE, f"0.{HUGE}", f"1e{HUGE}",
    "١٢", "½", "²", "Ⅷ", "1e5", "99999999999", f"{2**63}", "1s", f"{HUGE}s", "1e999s", "nans",
    "1mbit", f"{HUGE}mbit", "1e999B", "1B", "100%", f"{HUGE}%", "1:1", ":", "1s:", ":1s",
    f"{HUGE}s:1s", "1e999s:1e999s", "rate:1mbit@", "rate:@1s", "loss:101%@1s", "stall@1s:-1s",
)  # fmt: skip
WORDS = (
    "-", "--", "a" * 5000, "ü", "İı", "日本", "\udcff", "a\nb", "\n", "\t", "\r", "\x1b[31m",
    "\x7f", "\u2028", "a b", "'", '"', "$(reboot)", "`id`", ";", "|", "&", "*", "[", "%s", "%",
    "%(prog)s", "$\\frac$", "{}", "{0}", "\\", "+", "a+b", "+a", "a*b", "0*star",
    "99999999999*star", "1*", "*a", f"{HUGE}*star", "=", "a=", "=a", "ber=", "ber=nan",
    f"ber={HUGE}", f"queue={HUGE}B", "star.aen=²", f"star.aen={HUGE}", "none", "None", "True",
)  # fmt: skip
PATHS = (
    "..", "/", "//", "~", "a/../b", "a b", "/dev/null/x", "/proc/nowhere/x", "a" * 300, "folder",
)  # fmt: skip
GARBAGE = (*NUMBERS, *WORDS, *PATHS)

#: The positional arguments and needed options of a command when another one is garbage.
VALID = {
    "scenario": ["paper"], "records": ["records.jsonl"], "runs": ["records.jsonl"],
    "left": ["records.jsonl"], "right": ["records.jsonl"], "cc": ["star"], "device": ["256"],
    "over": ["--over", "ber"], "out": ["--out", "figure.svg"], "logs": ["ping.txt"],
    "space": ["space.toml"], "algorithms": ["star"],
}  # fmt: skip
SPACE = """
help = "garbage"
scenario = "paper"
cc = "{cc}"
measure = "goodput"
duration = "60s"
map = ["queue", "queue"]
[draw.queue]
even = ["3kB", "30kB"]
[set]
queue = "queue"
"""
#: Made once, as it takes longer than to read a command line with it.
PARSER = main.build_parser()
#: The model is computed for one network only.
QUICK = {
    "hstcp-model": ["--delay=5ms", "--access=100mbit", "--buffer=4167"],
    "atlas": ["--paths=1", "--out=atlas.svg"],
}


#: Commands that draw.
DRAWS = ("plot", "hstcp-model")


class Option(NamedTuple):
    """An argument of a command, and the words before its garbage."""

    name: str
    words: list[str]
    takes: bool  # option=garbage; else it is a positional argument

    def argv(self, garbage: str) -> list[str]:
        return [*self.words, f"{self.name}={garbage}" if self.takes else garbage]


def commands(words: list[str], parser: argparse.ArgumentParser) -> Iterator[tuple[list[str], list]]:
    """Every command's words and arguments, those of commands of commands included."""
    inner = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    if not inner:
        yield words, [each for each in parser._actions if each.dest != "help"]
    for action in inner:
        for name, below in action.choices.items():
            yield from commands([*words, name], below)


def options() -> Iterator[Option]:
    """Every argument that takes a value."""
    for words, arguments in commands([], PARSER):
        needed = [each for each in arguments if each.required]
        for tried in arguments:
            if tried.nargs != 0:
                others = [word for each in needed if each is not tried for word in VALID[each.dest]]
                name = tried.option_strings[-1] if tried.option_strings else tried.metavar
                first = [*words, *QUICK.get(words[0], [])]
                yield Option(name, [*first, *others], bool(tried.option_strings))


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A lab that starts no guest and changes no host, in a folder with records of two runs."""
    no_guest(tmp_path, monkeypatch)
    monkeypatch.setattr(main, "build_parser", lambda: PARSER)
    monkeypatch.setattr(modules, "of_control", lambda *_: {"aen": "0 or 1"})
    monkeypatch.setattr(sysctls, "PROC_SYS", tmp_path)
    for verb in (cost, device_cost):
        monkeypatch.setattr(verb, "kernel", lambda *_: SimpleNamespace(release="6.1"))
    monkeypatch.setattr(cost, "measure", lambda *_: {"instructions": 1.0, "p99": 2.0, "acks": 3})
    monkeypatch.setattr(device_cost, "counted", refuses)
    monkeypatch.setattr(judge_runs, "compiled", refuses)
    monkeypatch.setattr(picture, "draw", lambda *_: Figure())
    (tmp_path / "folder").mkdir()
    (tmp_path / "ping.txt").write_text("64 bytes from ::1: icmp_seq=1 ttl=64 time=0.1 ms\n")
    (tmp_path / "space.toml").write_text(SPACE)
    assert main.main(["run", "paper", "--cc", "star,cubic", "--json", "records.jsonl"]) == 0
    capsys.readouterr()


def refuses(*_: object, **__: object) -> None:
    raise UsageError("no guest")


def check(program: Callable[[list[str]], int], argv: list[str], capsys: Capture) -> None:
    """A refusal is one line that a terminal can show; there is no other failure."""
    try:
        status: Any = program(argv)
    except SystemExit as leaving:
        status = leaving.code
    said, short = capsys.readouterr(), [word[:60] for word in argv]
    assert status in (0, 2), (short, said)
    if status:
        line = said.err.removesuffix("\n")
        assert said.out == "", short
        assert line and line.isprintable() and len(line) <= SHOWN, (short, line)


def called(option: Option) -> str:
    return " ".join([*option.words[:2], option.name])


def marked(option: Option) -> Any:
    """Titles and files are drawn, which takes long: in `make check` those of one kind of figure."""
    drawn = option.name in ("--title", "--out", "--plot") and option.words[0] in DRAWS
    other = drawn and option.words[:2] != ["plot", "goodput"]
    return pytest.param(option, marks=pytest.mark.deep if other else ())


#: Where each value takes long: those that may matter to a figure, or to a file.
TRIED = {"--title": WORDS[:22], "--out": (*WORDS, *PATHS)}
EVERY = [marked(option) for option in options()]


@pytest.mark.parametrize("option", EVERY, ids=called)
def test_an_option(
    lab: None, option: Option, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    if option.name != "--title":  # the only one that can make a figure invalid; drawing takes long
        monkeypatch.setattr(Figure, "savefig", lambda _, out, **__: out.write(b"a figure"))
    for garbage in TRIED.get(option.name, GARBAGE):
        check(main.main, option.argv(garbage), capsys)


def test_of_make_reproduce(capsys: Capture) -> None:
    for tried in reproduce._parser()._actions:
        name = tried.option_strings[-1] if tried.option_strings else "FIGURE"
        if tried.nargs != 0 and tried.dest != "help":
            option = Option(name, ["--check"], bool(tried.option_strings))
            for garbage in GARBAGE:
                check(reproduce.main, option.argv(garbage), capsys)


@pytest.mark.parametrize("scenario", scenarios.SCENARIOS.values(), ids=lambda each: each.name)
def test_a_parameter(scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scenario compiles a value, or says in one line what is wrong with it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "ping.txt").write_text("64 bytes from ::1: icmp_seq=1 ttl=64 time=0.1 ms\n")
    mix = next(cc for cc in ("star", "star+star") if accepts(scenario, cc))
    for param in scenario.params:
        for garbage in GARBAGE:
            try:
                found = request.parse_settings([f"{param.name}={garbage}"], scenario)
                runs = list(request.product([mix], found, [1]))
                for run in sweep.compile_runs(scenario, runs, 30.0):
                    run.plan.script.encode()
            except UsageError as error:
                assert str(error), (param.name, garbage[:60])


def accepts(scenario: Scenario, mix: str) -> bool:
    try:
        return bool(request.parse_controls(mix, scenario))
    except UsageError:
        return False
