# SPDX-License-Identifier: GPL-2.0
"""The kernel matrix: a kernel that does not come or does not run is told in its own row."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from pathlib import Path

import pytest

from apogee_lab.base import LabError
from apogee_lab.engines.work import GuestFailed
from apogee_lab.kernels import debian
from apogee_lab.kernels.apt import NotCarried
from apogee_lab.kernels.kernel import Kernel
from tests.matrix import __main__ as main
from tests.matrix import checks, equal, rows, tables


def raising(error: Exception) -> object:
    def raise_it(*_: object) -> None:
        raise error

    return raise_it


@pytest.mark.parametrize(
    "error", [GuestFailed("kernel panic", []), LabError("no room"), AssertionError("no")]
)
def test_a_check_that_breaks_is_a_failed_cell(error: Exception) -> None:
    row = rows.Row("trixie", "amd64", "8.1.2-amd64")
    assert not row.look("boots", raising(error))  # type: ignore[arg-type]
    assert row.failures == [f"8.1.2-amd64: boots: {error}"]
    assert tables.booted([row]) == [
        ["suite", "for", "kernel", "boots"],
        ["trixie", "amd64", "8.1.2-amd64", "FAILED"],
    ]


def test_a_kernel_that_cannot_be_had_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    error = LabError("no network")
    monkeypatch.setattr(debian, "kernel", raising(error))
    monkeypatch.setattr(checks.foreign_headers, "kernel", raising(error))
    native = checks.native_row("trixie", Path())
    foreign = [checks.foreign_row("trixie", arch, native) for arch in ("arm64", "armhf", "i386")]
    assert native.failures == ["trixie for amd64: W=1: no network"]
    assert [row.failures for row in foreign] == [
        [f"trixie for {arch}: W=1: no network"] for arch in ("arm64", "armhf", "i386")
    ]


LISTED = {"amd64": ["8.1.2-amd64", "8.1.2-rt-amd64", "8.1.1-amd64", "8.1.1-rt-amd64",
                    "6.1.0-9-cloud-amd64"], "arm64": []}  # fmt: skip


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """trixie with one release for amd64 and arm64, another for armhf, none for i386; all build."""

    def foreign(suite: str, arch: str) -> Kernel:
        if arch == "i386":
            raise NotCarried(f"{suite} has no linux-headers-686-pae")
        return Kernel({"arm64": "8.1.2-arm64", "armhf": "8.1.1-armmp"}[arch], Path())

    def native(suite: str, asked: Path) -> rows.Row:
        cells = dict.fromkeys(checks.COLUMNS, "")
        return rows.Row(suite, "amd64", "8.1.2-amd64", cells)

    monkeypatch.setattr(rows, "KEPT", tmp_path / "rows.jsonl")
    monkeypatch.setattr(checks.foreign_headers, "kernel", foreign)
    monkeypatch.setattr(checks, "native_row", native)
    monkeypatch.setattr(main.kept, "run", Path)
    monkeypatch.setattr(main.listed, "releases", lambda suite, arch: LISTED[arch])
    monkeypatch.setattr(main.listed, "_fetch", lambda *one: Kernel(one[2], Path()))
    monkeypatch.setattr(main.listed, "cache_dir", lambda: tmp_path)
    monkeypatch.setattr(checks, "_compiled", lambda k, out, *words, flags=(): "")
    monkeypatch.setattr(equal, "headers", lambda k: k.release)


@pytest.mark.usefixtures("kernels")
def test_what_a_suite_lacks_is_told_and_fails_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["trixie"]) == 0
    said = capsys.readouterr()
    booted, _, others = said.out.partition("\n\n")
    assert [line.split() for line in others.splitlines()] == [
        ["suite", "kernels", "ok", "FAILED"],
        ["trixie", "8.1.1,", "8.1.2", "amd64", "rt-amd64", "–"],
        ["trixie", "6.1.0-9", "cloud-amd64", "–"],
    ]
    head, *rows = [line.split() for line in booted.splitlines()]
    assert head[:3] == ["suite", "for", "kernel"]
    assert rows == [
        ["trixie", "amd64", "8.1.2-amd64", *["ok"] * 8],
        ["trixie", "arm64", "8.1.2-arm64", "ok", "ok", *["–"] * 6],
        ["trixie", "armhf", "8.1.1-armmp", "ok", "ok", *["–"] * 6, "amd64", "has", "8.1.2"],
        ["trixie", "i386", "–", *["–"] * 8, "trixie", "has", "no", "linux-headers-686-pae"],
    ]


@pytest.mark.usefixtures("kernels")
def test_a_cell_that_fails_is_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        checks, "_compiled", lambda k, *_, **flags: "x.c:1: warning" if "armmp" in k.release else ""
    )
    assert main.main(["trixie"]) == 1
    said = capsys.readouterr()
    assert "FAILED" in said.out
    assert "8.1.1-armmp: W=1: x.c:1: warning\n8.1.1-armmp: sparse: " in said.err


def test_an_unknown_suite_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["bookworm", "6.1"]) == 2
    there = "bookworm, bookworm-backports, trixie, trixie-backports, sid"
    assert capsys.readouterr().err == f"matrix: unknown suite '6.1'; choose from: {there}\n"


@pytest.mark.usefixtures("kernels")
def test_a_stopped_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is done again, and all of it for other sources; ends come first."""
    made: list[str] = []

    def compiled(k: Kernel, out: Path, *words: str, flags: tuple[str, ...] = ()) -> str:
        made.append(k.release)
        return "no" if k.release == "8.1.1-amd64" else ""

    monkeypatch.setattr(checks, "_compiled", compiled)
    assert main.main(["listed", "trixie"]) == 1
    assert made[0] == "8.1.2-amd64"
    assert sorted(made) == sorted(LISTED["amd64"])
    made.clear()
    assert main.main(["listed", "trixie"]) == 1
    assert made == ["8.1.1-amd64"]
    monkeypatch.setattr(rows, "_sources", lambda: "others")
    main.main(["listed", "trixie"])
    assert len(made) == 6


def _headers(folder: Path, release: str, **texts: str) -> Kernel:
    src = folder / release / "root/usr/src" / f"linux-headers-{release}"
    for name, text in {"include/a_h": f"#define RELEASE {release}\n", **texts}.items():
        path = src / name.replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Kernel(release, folder / release)


def test_only_a_name_a_version_and_a_date_do_not_count(tmp_path: Path) -> None:
    def of(release: str, **texts: str) -> str:
        return equal.headers(_headers(tmp_path / str(len(texts)), release, **texts))

    one = of("6.12.9+deb13-amd64", Makefile="SUBLEVEL = 9\n")
    assert of("6.12.10+deb13-amd64", Makefile="SUBLEVEL = 10\n") == one
    assert of("6.12.10+deb13-amd64", Makefile="SUBLEVEL = 10\nKBUILD_CFLAGS += -O3\n") != one
    assert of("6.12.10+deb13-rt-amd64", Makefile="SUBLEVEL = 10\n") != one
    counts = {"arch/s390/b_h": False, "include/generated/package_h": False, "arch/x86/b_h": True}
    for name, does in counts.items():
        found = {of(f"6.12.{n}+deb13-amd64", **{name: text}) for n, text in ((7, "a"), (8, "b"))}
        assert len(found) == 1 + does


@pytest.mark.usefixtures("kernels")
def test_equal_headers_are_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In one suite, whose compiler it is; one that fails is nobody's twin."""
    made: list[str] = []

    def compiled(k: Kernel, out: Path, *words: str, flags: tuple[str, ...] = ()) -> str:
        made.append(k.release)
        return "no" if k.release == "8.1.2-rt-amd64" else ""

    monkeypatch.setattr(checks, "_compiled", compiled)
    monkeypatch.setattr(equal, "headers", lambda k: "rt" if "rt" in k.release else "others")
    assert main.main(["listed", "trixie"]) == 1
    assert sorted(made) == ["8.1.1-rt-amd64", "8.1.2-amd64", "8.1.2-rt-amd64"]
    kept = rows.read(rows.KEPT).values()
    assert {row.release: row.note for row in kept if row.note} == {
        "8.1.1-amd64": "headers of 8.1.2-amd64", "6.1.0-9-cloud-amd64": "headers of 8.1.2-amd64",
    }  # fmt: skip
    assert main.main(["listed", "trixie-backports"]) == 1
    assert made.count("8.1.2-amd64") == 2


def test_why_make_stops_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Even if no line before says "error"."""
    said = "  LD x.ko\npahole: x.ko: Invalid argument\nmake: *** [x.ko] Error 1\nmake: end\n"
    done = checks.subprocess.CompletedProcess([], 1, said)
    monkeypatch.setattr(checks.subprocess, "run", lambda *_, **how: done)
    why = checks._compiled(Kernel("8.1.2-amd64", tmp_path), tmp_path)
    assert "pahole: x.ko: Invalid argument" in why
    assert "Error 1" in why


def test_the_next_is_fetched_meanwhile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One ahead and no more; what was used goes."""
    fetched = {name: threading.Event() for name in "abc"}

    def fetch(suite: str, arch: str, release: str) -> Kernel:
        (tmp_path / "listed" / release).mkdir(parents=True)
        fetched[release].set()
        return Kernel(release, tmp_path / "listed" / release)

    monkeypatch.setattr(main.listed, "_fetch", fetch)
    monkeypatch.setattr(main.listed, "cache_dir", lambda: tmp_path)
    turns = main.listed.each([("trixie", "amd64", name) for name in fetched])
    one, k = next(turns)
    assert (one[2], k.result().release) == ("a", "a")
    assert fetched["b"].wait(10)
    assert not fetched["c"].is_set()
    assert [k.result().release for _, k in turns] == ["b", "c"]
    assert not [*(tmp_path / "listed").iterdir()]


def test_all_flavours_are_two_words() -> None:
    flavours = ("amd64", "cloud-amd64", "rt-amd64", "arm64", "cloud-arm64", "rt-arm64")
    group = [rows.Row("sid", name[-5:], f"8.1.2-{name}", {"W=1": ""}) for name in flavours]
    assert tables.listed(group)[1:] == [["sid", "8.1.2", "all six", tables.NONE]]
    group[5].cells["W=1"] = "no"
    shown = "amd64 cloud-amd64 arm64 cloud-arm64"
    assert tables.listed([*group[:2], *group[3:]])[1:] == [["sid", "8.1.2", shown, "rt-arm64"]]


def test_the_page_takes_over_what_was_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of other sources, too; the newest first."""
    record, made, page = tmp_path / "record", tmp_path / "made", tmp_path / "page.md"

    def row(release: str, why: str, of: str) -> str:
        asked = ["listed", "trixie", "amd64", release]
        one = asdict(rows.Row("trixie", "amd64", release, {"W=1, sparse": why}))
        return json.dumps({"of": of, "asked": asked, "row": one}) + "\n"

    record.write_text(row("6.12.9-amd64", "no", "old") + row("6.12.10-amd64", "", "old"))
    made.write_text(row("6.12.11-amd64", "", "new") + row("6.12.9-amd64", "", "new"))
    booted = [
        rows.Row("sid", arch, f"8.1.2-{arch}", {"W=1": ""}) for arch in ("amd64", "arm64", "armhf")
    ]
    booted[1].cells["boots"] = "no"
    booted[2].note = "amd64 has 8.1.3"
    booted.append(rows.Row("sid", "i386", note="sid has no linux-headers-686-pae"))
    with made.open("a") as file:
        for one in booted:
            entry = {"of": "new", "asked": ["booted", "sid", one.arch], "row": asdict(one)}
            file.write(json.dumps(entry) + "\n")
    page.write_text(f"before\n{tables.BEGIN}{tables.END}")
    monkeypatch.setattr(rows, "KEPT", made)
    monkeypatch.setattr(tables, "RECORD", record)
    monkeypatch.setattr(tables, "PAGE", page)
    assert main.main(["page"]) == 0
    kept = [json.loads(line) for line in record.read_text().splitlines()]
    assert [one["asked"][2] for one in kept[:4]] == ["amd64", "arm64", "armhf", "i386"]
    assert [(one["asked"][3], one["of"]) for one in kept[4:]] == [
        ("6.12.11-amd64", "new"), ("6.12.10-amd64", "old"), ("6.12.9-amd64", "new"),
    ]  # fmt: skip
    assert "| trixie | 6.12.9, 6.12.10, 6.12.11 | amd64 | – |" in page.read_text()
    assert page.read_text().splitlines()[3:8] == [
        "| kernel | W=1 | boots |", "|---|---|---|", "| 8.1.2-amd64, 8.1.2-armhf | ok | – |",
        "| 8.1.2-arm64 | ok | FAILED |", "",
    ]  # fmt: skip
