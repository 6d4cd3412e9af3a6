# SPDX-License-Identifier: GPL-2.0
"""apogee-bpf's file, man page, unit and maintainer script fit the program.

Nothing is loaded here: what a machine does with it is scripts/prove-package's matter.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from apogee_lab import bpf
from tests.bpf import minimum


@pytest.fixture(scope="module")
def program() -> Path:
    return bpf.loader()


@pytest.fixture(scope="module")
def unit(root: Path) -> dict[str, str]:
    """The settings of the unit."""
    text = (root / "debian" / "apogee-bpf.service").read_text()
    return dict(re.findall(r"^(\w+)=(.*)$", text, re.M))


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "man" / "apogee-bpf.8").read_text()


def run(program: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *words], capture_output=True, text=True, check=False)


def listed(program: Path) -> dict[str, tuple[str, list[str]]]:
    """What can be loaded: name -> name in the kernel, parameters."""
    parts = re.split(r"^(\w+), as (\w+).*\n", run(program, "list").stdout, flags=re.M)
    return {
        name: (kernel_name, re.findall(r"^  (\w+) ", text, re.M))
        for name, kernel_name, text in zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    }


# --- the file ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("nonsense\n", ":1: unknown algorithm nonsense; see apogee-bpf list"),
        ("# star\n\n \t# star\nnonsense", ":4: unknown algorithm nonsense; see apogee-bpf list"),
        ("star aen # = 0\n", ":1: aen: want NAME=VALUE"),
        ("# star\nstar\0 aen=0\n", ":2: a NUL character"),
        ("star" + " aen=0" * 32 + "\n", ":1: more than 32 words"),
        ("\ufeff# star\nnonsense\n", ":2: unknown algorithm nonsense; see apogee-bpf list"),
    ],
)
def test_a_bad_line_is_told_by_file_and_number(
    program: Path, tmp_path: Path, text: str, complaint: str
) -> None:
    """However long the path is."""
    path = tmp_path / ("a" * 200) / ("b" * 200)
    path.parent.mkdir()
    path.write_text(text)
    done = run(program, "load", "--file", path)
    assert (done.returncode, done.stderr) == (1, f"apogee-bpf: {path}{complaint}\n")


@pytest.mark.parametrize(
    ("name", "why"), [("/none", "No such file or directory"), ("/a/b.conf", "Is a directory")]
)
def test_a_file_that_is_none(program: Path, tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "a" / "b.conf").mkdir(parents=True)
    file = tmp_path / "a" if name.startswith("/a") else f"{tmp_path}{name}"
    done = run(program, "load", "--file", file)
    assert (done.returncode, done.stderr) == (1, f"apogee-bpf: {tmp_path}{name}: {why}\n")


def test_a_line_beyond_memory_is_not_the_end_of_the_file(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "list.conf"
    path.write_text("#" + 100_000_000 * "x" + "\n")
    limit = f"ulimit -v 120000; exec {program} load --file {path}"
    done = run(Path("/bin/sh"), "-c", limit)
    assert (done.returncode, done.stderr) == (1, f"apogee-bpf: {path}: Cannot allocate memory\n")


def test_wrong_arguments(program: Path) -> None:
    for words in ("load", "load --file /dev/null star", "load --file /dev/null aen=0", "load --all",
                  "unload", "unload --all star", "unload --file /dev/null",
                  "status --all"):  # fmt: skip
        assert run(program, *words.split()).returncode == 64, words


def test_the_file_as_installed_lists_nothing_and_its_examples_are_right(
    root: Path, program: Path
) -> None:
    path = root / "bpf" / "apogee-bpf.conf"
    done = run(program, "load", "--file", path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    there = listed(program)
    examples = re.findall(r"^# (\w+)((?: \w+=\d+)*)$", path.read_text(), re.M)
    assert len(examples) == 2
    for name, settings in examples:
        assert set(re.findall(r"(\w+)=", settings)) <= set(there[name][1])


def test_files_of_a_folder_come_in_order(program: Path, tmp_path: Path) -> None:
    """Hidden ones and other suffixes are no part of it."""
    for name, text in {
        "b.conf": "two\n",
        "a.conf": "# one\n",
        ".c.conf": "x\n",
        "0.old": "y\n",
    }.items():
        (tmp_path / name).write_text(text)
    done = run(program, "load", "--file", tmp_path)
    assert (
        done.stderr
        == f"apogee-bpf: {tmp_path}/b.conf:1: unknown algorithm two; see apogee-bpf list\n"
    )


# --- objects ----------------------------------------------------------------------------------


def test_words_that_tell(program: Path) -> None:
    version = (bpf.repo_root() / "debian" / "changelog").read_text().split()[1].strip("()")
    assert run(program, "--version").stdout == f"apogee-bpf {version}\n"
    assert run(program, "status").stdout == "nothing is loaded; see apogee-bpf list\n"
    assert run(program, "status", "--json").stdout == "[]\n"
    names = [one["name"] for one in json.loads(run(program, "list", "--json").stdout)]
    assert names == [*listed(program)]
    shown = run(program, "show", "star").stdout
    assert re.search("^  aen +restore the window after timeouts", shown, re.M)
    assert "  for a lossy satellite" in shown
    assert run(program, "list", "--metrics").returncode == 64


def test_an_object_is_shown_by_its_algorithms(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.bpf.o"
    path.write_bytes(minimum.build())
    assert run(program, "show", path).stdout == "bpf_minimum, as bpf_minimum\n"
    done = run(program, "show", f"{path}:other")
    assert done.stderr == f"apogee-bpf: {path}:other: say {path}:NAME, one of bpf_minimum\n"
    for other in (program, tmp_path, "/dev/zero"):
        done = run(program, "show", f"{other}" if "/" in f"{other}" else f"./{other}")
        assert (done.returncode, len(done.stderr.splitlines())) == (64, 1)


def test_a_broken_object_is_one_line(program: Path, tmp_path: Path) -> None:
    """Octets and words are changed, or the end is missing: it never crashes, or says more."""
    whole, chance = minimum.build(), random.Random(48)
    path = tmp_path / "mine.bpf.o"
    refused = 0
    for _ in range(150):
        data = bytearray(whole[: chance.choice([len(whole)] * 4 + [chance.randrange(len(whole))])])
        for _ in range(chance.choice([1, 4, 32])):
            at = chance.randrange(len(data)) if data else 0
            data[at : at + 4] = chance.choice([b"\xff" * 4, b"\0" * 4, chance.randbytes(4)])
        path.write_bytes(data)
        done = run(program, "show", path)
        assert done.returncode in (0, 64), done
        assert done.stderr.count("\n") == (1 if done.returncode else 0)
        refused += done.returncode != 0
    assert 0 < refused < 150


# --- the man page -----------------------------------------------------------------------------


def test_verbs_of_the_page(program: Path, page: str) -> None:
    usage = re.findall(r"apogee-bpf \[OPTION\.\.\.\] (.+)", run(program, "--help").stdout)
    text = page.partition(".SH VERBS")[2].partition(".SH ")[0]
    headings = re.findall(r"^\.TP\n\.BI? (.+)$", text, re.M)
    bare = [re.sub(r'\\f.|"', "", one).replace("\\-", "-") for one in headings]
    assert [re.findall(r"^\w+|--\w+", one) for one in bare] == [
        re.findall(r"^\w+|--\w+", one) for one in usage
    ]


def test_names_of_the_page(program: Path, page: str) -> None:
    told = re.findall(r'^\.BR (\w+) ", selected as " (\w+)$', page, re.M)
    assert told == [(name, kernel_name) for name, (kernel_name, _) in listed(program).items()]


# --- the package ------------------------------------------------------------------------------


def test_the_unit_has_the_capabilities_that_load_asks_for(
    root: Path, unit: dict[str, str], page: str
) -> None:
    source = (root / "bpf" / "system.c").read_text()
    asked = set(re.findall(r"\{ (CAP_\w+), ", source))
    assert asked and set(unit["CapabilityBoundingSet"].split()) == asked
    told = page.partition(".SH CAPABILITIES")[2].partition("\n.SH")[0]
    assert set(re.findall(r"CAP_\w+", told.partition("which the unit has")[0])) == asked


def test_the_unit_loads_the_file_that_is_installed(root: Path, unit: dict[str, str]) -> None:
    rules = (root / "debian" / "rules").read_text()
    files = "--file -/etc/apogee-bpf.conf --file -/etc/apogee-bpf.d"
    assert unit["ExecStart"] == f"/usr/sbin/apogee-bpf load {files}"
    assert "$(bpf)/etc/apogee-bpf.d" in rules
    assert "$(bpf)/usr/sbin/apogee-bpf" in rules and "$(bpf)/etc/apogee-bpf.conf" in rules
    assert unit["ExecStopPost"] == "/usr/sbin/apogee-bpf unload --all"


@pytest.mark.parametrize(("why", "called"), [("remove", "unload --all\n"), ("upgrade", "")])
def test_removal_unloads_and_an_upgrade_does_not(
    root: Path, tmp_path: Path, why: str, called: str
) -> None:
    log = tmp_path / "log"
    log.touch()
    (tmp_path / "apogee-bpf").write_text(f'#!/bin/sh\necho "$@" >>{log}\n')
    (tmp_path / "apogee-bpf").chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["sh", root / "debian" / "apogee-bpf.prerm", why], env=env, check=True)
    assert log.read_text() == called
