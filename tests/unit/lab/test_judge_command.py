# SPDX-License-Identifier: GPL-2.0
"""The command line of lab judge: bad input is refused in one line before the first run; objects of
BPF programs are told by their names; a card is written and --fail-on decides the exit status."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from apogee_lab import algorithms, modules
from apogee_lab.base import UsageError
from apogee_lab.commands.main import main
from apogee_lab.judge import card as cards
from apogee_lab.scenarios import SCENARIOS
from tests.judge.cards import a_card

Capture = pytest.CaptureFixture[str]


def an_object(*names: str, machine: int = 247, section: bytes = b".struct_ops.link") -> bytes:
    """An ELF file with these names in a section of structures of functions."""
    body = b"".join(b"\0" * 40 + name.encode().ljust(16, b"\0") for name in names)
    strings = b"\0" + section + b"\0.strtab\0"
    at = 64 + len(body)
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HHI", 1, machine, 1)
    head += struct.pack("<QQQIHHHHHH", 0, 0, at + len(strings), 0, 64, 0, 0, 64, 3, 2)
    heads = bytes(64)
    heads += struct.pack("<IIQQQQIIQQ", 1, 1, 0, 0, 64, len(body), 0, 0, 0, 0)
    word = 2 + len(section)
    heads += struct.pack("<IIQQQQIIQQ", word, 3, 0, 0, at, len(strings), 0, 0, 0, 0)
    return head + body + strings + heads


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten."""
    monkeypatch.setattr(algorithms, "ALGORITHMS", dict(algorithms.ALGORITHMS))


def refused(capsys: Capture, *words: str) -> str:
    assert main(["judge", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("lab judge: ")
    return line.removeprefix("lab judge: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name an algorithm, a .ko, the folder of a module's source or a .bpf.o"),
        (["Reno!"], "Reno!: neither an algorithm's name nor the path of a module"),
        (["no/such.ko"], "--module no/such.ko: no such file or folder"),
        (["cubic", "cubic"], "an algorithm is named twice"),
        (["cubic", "--beside", "reno,reno"], "--beside reno,reno: a name is given twice"),
        (["cubic", "--beside", "Reno"], "--beside Reno: 'Reno' is not a congestion control's"),
        (["cubic", "--only", "4"], "--only 4: no criterion; choose from: 3, 5.1.1"),
        (["cubic", "--text", "5.3.1"], "--text 5.3.1: SECTION=FILE is needed"),
        (["cubic", "--text", "1=x"], "unknown section '1'; choose from: 3"),
        (["cubic", "--text", "3=/dev/zero"], "--text 3=/dev/zero: neither pipes nor devices are"),
        (["cubic", "--text", "3=none"], "--text 3=none: No such file or directory"),
        (["--merge", "/dev/zero"], "/dev/zero: not a card of this version of the lab"),
        (["cubic", "--jobs", "0"], "--jobs 0: a whole number from 1 to 1024 is needed"),
        (["cubic", "--patch", "none"], "--patch none: no such file"),
        (["cubic", "--engine", "qemu", "--patch", __file__], "--patch: this engine's kernels"),
        (["cubic", "--merge", "x"], "--merge takes cards only, no algorithms"),
        (["--merge", "none"], "none: not a card of this version of the lab"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], message: str, tmp_path: Path, capsys: Capture
) -> None:
    assert refused(capsys, "--out", str(tmp_path), *words).startswith(message)


def test_a_folder_that_cannot_be(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "file").touch()
    message = refused(capsys, "cubic", "--out", str(tmp_path / "file" / "x"))
    assert message.endswith("Not a directory")


# --- objects ----------------------------------------------------------------------------------


def test_an_object_is_registered(tmp_path: Path) -> None:
    file = tmp_path / "mine.bpf.o"
    file.write_bytes(an_object("bpf_mine"))
    given = modules.give(str(file), None)  # type: ignore[arg-type]
    assert (given.name, given.file) == ("bpf_mine", file)
    assert algorithms.is_bpf("bpf_mine") and not algorithms.is_brought("bpf_mine")
    plan = SCENARIOS["satellite"].compile({}, "bpf_mine", 5)
    assert plan.extras == ("bpftool",)
    assert "base64 -d >/tmp/bpf_mine.bpf.o <<'END'\n" in plan.script
    assert "bpftool struct_ops register /tmp/bpf_mine.bpf.o" in plan.script
    with pytest.raises(ValueError, match="cannot be set"):
        SCENARIOS["satellite"].compile({"bpf_mine.x": "1"}, "bpf_mine", 5)


@pytest.mark.parametrize(
    ("content", "word", "message"),
    [
        (an_object("a_one", "b_two"), "", "say NAME=.*, one of a_one, b_two"),
        (an_object("a_one"), "other=", "is called a_one, not other"),
        (an_object("a_one", machine=62), "", "no object of BPF programs"),
        (an_object("a_one", section=b".text"), "", "no object of BPF programs"),
        (an_object("a_one")[:70], "", "no object of BPF programs"),
        (b"", "", "no object of BPF programs"),
    ],
)
def test_a_bad_object(content: bytes, word: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "x.bpf.o"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        modules.give(f"{word}{file}", None)  # type: ignore[arg-type]


def test_what_is_given_is_no_peer(tmp_path: Path, capsys: Capture) -> None:
    """Its name is that of the kernel's own, which the runs would not have."""
    file = tmp_path / "x.bpf.o"
    file.write_bytes(an_object("bbr"))
    message = refused(capsys, str(file), "--beside", "reno,bbr", "--out", str(tmp_path))
    assert message == "--beside reno,bbr: bbr is the given one; leave it out"


def test_one_of_several_in_an_object(tmp_path: Path) -> None:
    file = tmp_path / "x.bpf.o"
    file.write_bytes(an_object("a_one", "b_two"))
    assert modules.give(f"b_two={file}", None).name == "b_two"  # type: ignore[arg-type]


# --- what is written --------------------------------------------------------------------------


def test_cards_become_one(tmp_path: Path, capsys: Capture) -> None:
    for name in ("vegas", "star"):
        (tmp_path / f"{name}.json").write_text(cards.as_json(a_card([name])))
    merged = ["--merge", str(tmp_path / "vegas.json"), str(tmp_path / "star.json")]
    assert main(["judge", *merged, "--out", str(tmp_path / "out")]) == 0
    assert "vegas: not met 5.9" in capsys.readouterr().out
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert sorted(written) == ["card.html", "card.json", "card.md", "card.svg"]
    again = ["judge", *merged, "--out", str(tmp_path / "again"), "--fail-on", "must", "--json"]
    assert main(again) == 1
    told = capsys.readouterr()
    assert told.out.encode() == written["card.json"]
    assert "vegas: 5.9 is not met" in told.err
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == written
