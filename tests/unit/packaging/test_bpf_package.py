# SPDX-License-Identifier: GPL-2.0
"""apogee-bpf's file, man page, unit and maintainer script fit the program.

Nothing is loaded here: what a machine does with it is scripts/prove-package's matter.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from apogee_lab import bpf


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
    ("name", "why"), [("/none", "No such file or directory"), ("", "Is a directory")]
)
def test_a_file_that_is_none(program: Path, tmp_path: Path, name: str, why: str) -> None:
    done = run(program, "load", "--file", f"{tmp_path}{name}")
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
    assert unit["ExecStart"] == "/usr/sbin/apogee-bpf load --file /etc/apogee-bpf.conf"
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
