# SPDX-License-Identifier: GPL-2.0
"""The command line: options, exit status, and one-line errors for bad input."""

from __future__ import annotations

import errno
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from apogee_lab import modules
from apogee_lab.base import LabError
from apogee_lab.commands import main, table, testbed
from apogee_lab.engines import registry
from apogee_lab.modules import of_file
from apogee_lab.runs import sweep
from apogee_lab.scenarios.scenario import Plan
from tests.unit.lab.stand_ins import FakeEngine, no_guest

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: Patch) -> FakeEngine:
    """A lab whose algorithms but cubic have two parameters."""
    own = {"aen": "restore, 0 or 1 (default 1)", "gain": ""}
    found = no_guest(tmp_path, monkeypatch)
    monkeypatch.setattr(modules, "of_control", lambda _, cc: None if cc == "cubic" else own)
    return found


def status_of(*argv: str) -> int:
    try:
        return main.main(argv)
    except SystemExit as leaving:
        return int(leaving.code or 0)


def test_run_prints_the_table_and_nothing_else(engine: FakeEngine, capsys: Capture) -> None:
    words = "run paper --cc star,cubic --set ber=0,1e-7 --seed 3"
    assert status_of(*words.split()) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[0].startswith("paper, 60 s, ")
    assert [" ".join(line.split()[:3]) for line in lines[2:]] == [
        "star 0 1.373", "cubic 0 1.373", "star 1e-7 1.373", "cubic 1e-7 1.373",
    ]  # fmt: skip
    assert "[4/4]" in said.err
    assert "Mbit/s (" not in said.out


def test_json_to_a_file(engine: FakeEngine, capsys: Capture, tmp_path: Path) -> None:
    assert status_of("run", "paper", "--cc", "star,bbr", "--repeat", "3", "--json", "r.jsonl") == 0
    found = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    wanted = [(cc, seed) for cc in ("star", "bbr") for seed in (1, 2, 3)]
    assert [(r["cc"], r["seed"]) for r in found] == wanted
    contract = {"scenario", "cc", "seed", "engine", "kernel", "set", "duration_s", "limit_bps",
                "flows", "total_goodput_bps", "jain", "queue", "link_drops", "wall_s"}  # fmt: skip
    flow = {"name", "cc", "goodput_bps", "retransmits", "timeouts", "rtt_ms"}
    for record in found:
        assert contract <= record.keys()
        assert flow <= record["flows"][0].keys()
        assert {"min", "mean", "p99"} == record["flows"][0]["rtt_ms"].keys()
        assert {"mean_bytes", "drops"} <= record["queue"].keys()
    assert "±" in capsys.readouterr().out


def test_json_to_standard_output(engine: FakeEngine, capsys: Capture) -> None:
    assert status_of("run", "paper", "--cc", "star", "--duration", "10s", "--json", "-") == 0
    said = capsys.readouterr()
    assert [json.loads(line)["duration_s"] for line in said.out.splitlines()] == [10.0]
    assert "goodput Mbit/s" in said.err


def test_a_failed_run_is_status_1(engine: FakeEngine, capsys: Capture, tmp_path: Path) -> None:
    engine.fail = {"bbr 1"}
    assert status_of("run", "paper", "--cc", "star,bbr", "--json", "r.jsonl") == 1
    said = capsys.readouterr()
    assert [line.split()[0] for line in said.out.splitlines()[2:]] == ["star"]
    assert "1 of 2 runs failed:\n  bbr seed 1: the guest panicked" in said.err
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 1
    engine.fail = {"cubic 1"}
    assert status_of("run", "paper", "--cc", "cubic") == 1
    assert capsys.readouterr().out == ""


def test_an_interrupted_sweep_says_how_to_go_on(
    engine: FakeEngine, capsys: Capture, monkeypatch: Patch
) -> None:
    def interrupted(self: sweep.Sweep) -> None:
        raise sweep.Interrupted

    monkeypatch.setattr(sweep.Sweep, "run", interrupted)
    assert status_of("run", "paper", "--cc", "star") == 130
    assert (
        "0 of 1 runs are finished and kept; the same command continues" in capsys.readouterr().err
    )


def test_a_link_that_is_too_fast_for_the_engine(
    engine: FakeEngine, capsys: Capture, monkeypatch: Patch
) -> None:
    """The paths of paper have 10 Mbit/s."""
    monkeypatch.setitem(registry.CARRIES_BPS, "qemu", 10_000_000)
    assert status_of("run", "paper", "--cc", "cubic") == 0
    assert "may not fill" not in capsys.readouterr().err
    monkeypatch.setitem(registry.CARRIES_BPS, "qemu", 9_000_000)
    assert status_of("run", "paper", "--cc", "cubic,bbr") == 0
    assert capsys.readouterr().err.splitlines()[0] == (
        "lab run: engine qemu may not fill a link of 10mbit, as its CPU carries 9mbit: "
        "--engine uml does"
    )


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["run", "nosuch"], "unknown scenario 'nosuch'; choose from: paper"),
        (["run", "paper", "--cc", "nosuch"], "choose from: star, hstcp_gentle, compound_plus"),
        (["run", "paper", "--cc", "vegas"], "compound, j, constant, reno3, bbr, cubic, reno"),
        (["run", "paper", "--set", "queue=1kB"], "at least 1500B"),
        (["run", "paper", "--set", "star.nosuch=1"], "'nosuch' of star; choose from: aen"),
        (["run", "paper", "--set", "star.aen=0,2"], "'2' is out of range, allowed: 0 or 1"),
        (["run", "paper", "--set", "star.aen=yes"], "'yes' is out of range, allowed: 0 or 1"),
        (
            ["run", "paper", "--cc", "cubic", "--set", "cubic.beta=1"],
            "built into kernel 6.1.0-99-amd64",
        ),
        (["run", "paper", "--engine", "kvm"], "unknown engine 'kvm'; choose from: qemu, uml, host"),
        (["run", "paper", "--engine", "host", "--jobs", "2"], "host makes one run at a time"),
        (["run", "paper", "--kernel", "6.1"], "unknown kernel '6.1'; choose from: bookworm"),
        (["run", "paper", "--jobs", "0"], "from 1 to 1024"),
        (["run", "paper", "--jobs", "-1"], "from 1 to 1024"),
        (["run", "paper", "--repeat", "0"], "from 1 to 10000"),
        (["run", "paper", "--repeat", "x"], "whole number"),
        (["run", "paper", "--seed", "1,1"], "twice"),
        (["run", "paper", "--seed", "-1"], "from 0 to 4294967295"),
        (["run", "paper", "--seed", "1,"], "whole number"),
        (["run", "paper", "--repeat", "2", "--seed", "1"], "not allowed with"),
        (["run", "paper", "--duration", "0"], "more than 0"),
        (["run", "paper", "--duration", "soon"], "such as 60 or 60s"),
        (["run", "paper", "--timeout", "1parsec"], "such as 60 or 60s"),
        (["run", "paper", "--json", "none/r.jsonl"], "no such folder: none"),
        (["run", "paper", "--json", "."], "is a folder"),
        (["run", "paper", "--format", "html"], "unknown --format 'html'; choose from: text, md"),
        (["run", "paper", "--rep", "2"], "unrecognized arguments"),
        (["run"], "SCENARIO"),
        ([], "VERB"),
        (["nosuch"], "unknown verb 'nosuch'; choose from: list, run, "),
        (["script", "paper", "--set", "ber=0,1e-7"], "no lists"),
        (["script", "paper", "--cc", "star,bbr"], "no lists"),
        (["shell", "paper", "--engine", "kvm"], "choose from: qemu, uml, host"),
        (["table", "none.jsonl"], "No such file"),
        (["plot"], "FIGURE"),
        (["plot", "nosuch"], "unknown figure 'nosuch'; choose from: goodput, "),
        (["plot", "goodput", "none.jsonl", "--over", "ber", "-o", "x"], "No such file"),
        (["plot", "window", "none", "-o", "x"], "'none' is no folder"),
        # an absolute one is no pattern for keys
        (["plot", "window", "/nowhere/run", "-o", "x"], "'/nowhere/run' is no folder"),
        (["plot", "window", "runs", "-o", "x"], "not the folder of a finished run"),
        (["compare-engines", "none.jsonl"], "required: RECORDS"),
        (["compare-engines", "none.jsonl", "none.jsonl"], "No such file"),
        (["beside"], "required: RECORDS"),
        (["beside", "/dev/null"], "no records in /dev/null"),
        (["paths", "/dev/null"], "no records in /dev/null"),
        (["cost", "nosuch"], "no functions to count are listed for 'nosuch'; choose from: bbr, "),
        (["cost", "star", "--ber", "0,x"], "--ber: 'x' is not a bit error rate"),
        (["cost", "star", "--duration", "0"], "more than 0"),
        (["cost", "star", "--seed", "x"], "whole number"),
        (["device-cost", "60"], "DEVICE 60: a whole number from 64 to 2048 is needed"),
        (["device-cost", "eth0"], "whole number"),
        (["device-cost", "256", "256"], "a device is named twice"),
        (["device-cost", "shake-2", "shake-2"], "a device is named twice"),
        (["device-cost", "shake-3"], "or one of veth, vlan, gre, shake-noauth, "),
        (["device-cost", "--packets", "1"], "--packets 1: a whole number from 1000"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(
    engine: FakeEngine, capsys: Capture, tmp_path: Path, argv: list[str], word: str
) -> None:
    (tmp_path / "runs").mkdir()
    assert status_of(*argv) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert word in said.err
    assert said.err.count("\n") == 1
    assert engine.runs() == []


def test_what_an_engine_cannot_do_is_one_line(
    engine: FakeEngine, capsys: Capture, monkeypatch: Patch
) -> None:
    def fails(*_: object) -> str:
        raise LabError("qemu-system-x86_64 is not installed: apt-get install it")

    monkeypatch.setattr(engine, "image_key", fails)
    assert status_of("run", "paper") == 2
    assert capsys.readouterr().err == (
        "lab run: qemu-system-x86_64 is not installed: apt-get install it\n"
    )


def test_list(engine: FakeEngine, capsys: Capture) -> None:
    assert status_of("list") == 0
    out = capsys.readouterr().out
    assert "paper: a scenario that needs no guest" in out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "queue 625kB bytes to 1GB bottleneck queue" in lines
    assert "ber 0 errors/bit bit error rate" in lines
    assert "traffic flow flow | iperf3 traffic tool" in lines
    assert out.splitlines()[-1] == "engines: qemu uml host"


def test_script(engine: FakeEngine, capsys: Capture) -> None:
    assert status_of("script", "paper", "--cc", "bbr", "--set", "ber=1e-7") == 0
    out = capsys.readouterr().out
    assert out.startswith("#!/bin/sh\n# bbr 60 ")
    assert "ber=1e-07" in out
    assert "traffic=iperf3" in out  # what a person runs by hand
    assert status_of("script", "paper", "--set", "traffic=flow", "--duration", "5") == 0
    out = capsys.readouterr().out
    assert "traffic=flow" in out
    assert "# star 5 " in out


def test_shell_gets_the_plan(engine: FakeEngine, monkeypatch: Patch, capsys: Capture) -> None:
    seen = {}

    def shell(plan: Plan, *, kernel: str, modules: list[str]) -> int:
        seen.update(kernel=kernel, modules=modules, extras=plan.extras)
        return 0

    monkeypatch.setattr(engine, "shell", shell)
    monkeypatch.setattr(testbed, "find_program", lambda *names: Path("/bin/true"))
    assert status_of("shell", "paper", "--cc", "star", "--kernel", "trixie") == 0
    assert seen == {"kernel": "trixie", "modules": ["tcp_star"], "extras": ("iperf3",)}


def test_shell_without_iperf3(engine: FakeEngine, monkeypatch: Patch, capsys: Capture) -> None:
    def missing(name: str, package: str) -> Path:
        raise LabError(f"{name} is not installed: apt-get install {package}")

    monkeypatch.setattr(testbed, "find_program", missing)
    assert status_of("shell", "paper", "--cc", "star") == 0
    assert capsys.readouterr().err == (
        "lab shell: iperf3 is not installed: apt-get install iperf3\n"
    )


def test_table_of_records_with_filters(engine: FakeEngine, capsys: Capture) -> None:
    status_of("run", "paper", "--cc", "star,bbr,cubic", "--set", "ber=0,1e-7", "--repeat", "2",
              "--json", "r.jsonl")  # fmt: skip
    capsys.readouterr()
    assert status_of("table", "r.jsonl", "--cc", "star,bbr", "--set", "ber=1e-07") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["star", "bbr"]
    assert status_of("table", "r.jsonl", "--compare", "star", "--format", "md") == 0
    out = capsys.readouterr().out
    assert "| ber | star over bbr | star over cubic |" in out
    assert "| 1e-7 | +0.0 % | +0.0 % |" in out
    assert status_of("table", "r.jsonl", "--across", "ber", "--format", "md") == 0
    assert "\n| cc | 0 | 1e-7 |\n" in capsys.readouterr().out
    for argv in (["--set", "ber=5"], ["--cc", "reno"], ["--seed", "9"], ["--set", "nosuch=1"],
                 ["--set", "ber"], ["--compare", "reno"], ["--across", "nosuch"],
                 ["--of", "nosuch"], ["--compare", "star", "--across", "ber"]):  # fmt: skip
        assert status_of("table", "r.jsonl", *argv) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_doctor_says_what_is_missing(capsys: Capture, monkeypatch: Patch, tmp_path: Path) -> None:
    from apogee_lab.host import doctor

    assert status_of("doctor") in (0, 1)
    capsys.readouterr()
    real = doctor._has_program
    gone = {"qemu-system-x86_64", "tc", "sparse"}
    monkeypatch.setattr(doctor, "_has_program", lambda n, p: n not in gone and real(n, p))
    assert status_of("doctor") == 1
    said = capsys.readouterr()
    assert "qemu-system-x86_64: MISSING" in said.out
    assert "sparse: missing, for tests only" in said.out
    needs, tests = [line for line in said.err.splitlines() if "apt-get install" in line][:2]
    assert {"qemu-system-x86", "iproute2"} <= set(needs.split())
    assert "sparse" not in needs.split()
    assert "sparse" in tests.split()


def test_parameters_of_a_module_file(tmp_path: Path) -> None:
    strings = b"license=GPL\0parm=aen:on timeouts\0parmtype=first_us:uint\0"
    (tmp_path / "a.ko").write_bytes(b"\x7fELF\1\0" + strings)
    (tmp_path / "a.ko.xz").write_bytes(lzma.compress(strings))
    for path in tmp_path.glob("a.*"):
        assert of_file(path) == {"aen": "on timeouts", "first_us": ""}


def test_modules_are_built_before_they_are_measured(
    engine: FakeEngine, monkeypatch: Patch, capsys: Capture
) -> None:
    built = []
    monkeypatch.setattr(modules, "build", built.append)
    assert status_of("run", "paper", "--cc", "cubic,bbr") == 0
    assert built == []
    assert status_of("run", "paper", "--cc", "cubic,star", "--kernel", "trixie") == 0
    assert [kernel.release for kernel in built] == ["6.12.0-99-amd64"]


def lab(root: Path, *argv: str, **how: object) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own."""
    return subprocess.run(
        [str(root / "scripts" / "lab"), *argv], capture_output=True, text=True, check=False, **how
    )  # type: ignore[call-overload]


def test_the_command_itself(root: Path, tmp_path: Path) -> None:
    listed = lab(root, "list", cwd=tmp_path)
    assert listed.returncode == 0
    assert "satellite: " in listed.stdout
    assert lab(root, "--help").returncode == 0
    wrong = lab(root, "run", "satellite", "--cc", "no.such")
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)


def test_help_needs_only_the_standard_library(root: Path) -> None:
    """The help of every verb; running the verb may need more."""
    code = (
        "import sys; sys.path.insert(0, 'scripts')\n"
        "sys.modules.update(dict.fromkeys(('numpy', 'matplotlib', 'tqdm', 'scipy')))\n"
        "from apogee_lab.commands.main import main\n"
        "for verb in ([], *([name] for name in sys.argv[1:])):\n"
        "    try: main([*verb, '--help'])\n"
        "    except SystemExit as leaving: assert not leaving.code\n"
    )
    verbs = main.build_parser()._subparsers._group_actions[0].choices
    assert {"run", "compare-engines", "beside", "paths", "cost", "hstcp-model"} <= {*verbs}
    done = subprocess.run(
        [sys.executable, "-c", code, *verbs], capture_output=True, text=True, cwd=root
    )
    assert (done.returncode, done.stderr) == (0, "")
    usages = [line for line in done.stdout.splitlines() if line.startswith("usage: ")]
    for usage, verb in zip(usages, ([], *([name] for name in verbs)), strict=True):
        assert usage.startswith(f"usage: {' '.join(['scripts/lab', *verb])} ")


def test_a_missing_library_is_one_line(root: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, 'scripts'); sys.modules['numpy'] = None\n"
        "from apogee_lab.commands.main import main; sys.exit(main(['run', 'satellite']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=root
    )
    assert done.returncode == 2
    assert done.stderr == "lab run: Python's numpy is not installed; see scripts/lab doctor\n"


def test_a_machine_without_utf_8(root: Path) -> None:
    """Python would take its locale's encoding for what it prints."""
    env = os.environ | {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = lab(root, "list", env=env, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert "…" in done.stdout
    done = lab(root, "run", "ü", env=env, encoding="utf-8")
    assert done.stderr.startswith("lab run: unknown scenario 'ü'; ")


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_closed_standard_streams(root: Path, closed: str) -> None:
    for words, status in (("list", 0), ("run nosuch", 2), ("tune --restore", 2), ("nosuch", 2)):
        command = f"APOGEE_STATE=/proc/none exec scripts/lab {words} {closed}"
        done = subprocess.run(
            ["sh", "-c", command], cwd=root, capture_output=True, text=True, check=False
        )
        assert (done.returncode, "Traceback" in done.stderr) == (status, False)


def listed_to(root: Path, out: IO[str]) -> subprocess.CompletedProcess[str]:
    command = [root / "scripts" / "lab", "list"]
    return subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)


def test_a_full_disk_is_one_line_and_a_reader_that_leaves_early_none(root: Path) -> None:
    """Tested with /dev/full."""
    with Path("/dev/full").open("w") as full:
        done = listed_to(root, full)
    assert (done.returncode, done.stderr) == (1, "lab list: No space left on device\n")
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as out:
        assert listed_to(root, out).stderr == ""


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_cannot_be_written_is_one_line(
    number: int, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number), "/somewhere")

    monkeypatch.setattr(table.table, "render", refused)
    record = '{"cc":"star","set":{},"flows":[]}\n'
    monkeypatch.setattr(table, "records_of", lambda _: [json.loads(record)])
    assert main.main(["table", "any"]) == 2
    assert capsys.readouterr().err == f"lab table: /somewhere: {os.strerror(number)}\n"
