# SPDX-License-Identifier: GPL-2.0
"""The planter of tests/planted, on a small tree: what it says of each kind of fault."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from apogee_lab.base import LabError
from tests import ROOT
from tests.kernel import pure
from tests.planted import faults, table
from tests.planted.copy import Copy
from tests.planted.faults import Fault
from tests.planted.run import Record, Run, read

pytestmark = pytest.mark.deep

TREE = {
    "sum.py": "def add(a, b):\n    return a + b\n\n\ndef unused():\n    return 1\n",
    "greet": "#!/bin/sh\necho good\n",
    "tests/__init__.py": "",
    "tests/unit/test_sum.py": "from sum import add\n\n\n"
    "def test_add():\n    assert add(2, 3) == 5\n",
    "tests/unit/test_broken.py": "def test_broken():\n    assert False\n\n\n"
    "def test_greeting():\n    assert 'good' in open('greet').read()\n",
    "tests/guest/test_slow.py": "import time\n\n\ndef test_slow():\n    time.sleep(60)\n",
}
SUM, BROKEN = "tests/unit/test_sum.py", "tests/unit/test_broken.py"
SLOW = "tests/guest/test_slow.py"


def fault(name: str, old: str, new: str, *asked: str, file: str = "sum.py") -> Fault:
    return Fault(name, file, "sign", "nothing", old, new, "check", asked)


WRONG = fault("wrong", "a + b", "a - b", SUM)
SURVIVOR = fault("survivor", "return 1", "return 2", SUM)
#: What is recorded of a fault, words that are said of it, and who sees it.
TOLD = [
    (WRONG, {"result": "seen", "by": f"{SUM}::test_add", "lane": "check", "entry": SUM},
     "assert -1 == 5", "check"),
    (fault("killed", "return a + b", "__import__('os').abort()", SUM),
     {"result": "seen", "by": SUM, "said": "ended by SIGABRT"}, "", "check"),
    (SURVIVOR, {"result": "passed"}, "", "nobody"),
    (fault("python", "a + b", "a +", SUM), {"result": "does not compile"}, "", "open"),
    (fault("shell", "echo", "if", SUM, file="greet"), {"result": "does not compile"}, "", "open"),
    (fault("gone", "a + b", "a - b", "tests/unit/test_gone.py"), {"result": "unasked"}, "", "open"),
]  # fmt: skip


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A repository with one commit."""
    folder = tmp_path / "source"
    for name, text in TREE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], check=True)
    return folder


@pytest.fixture
def copy(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copy:
    """Its copy."""
    monkeypatch.setattr(Copy, "kernel", "6.1")  # asking the lab for it fetches one
    return Copy(source, "HEAD", tmp_path / "copy")


@pytest.fixture
def plant(copy: Copy, tmp_path: Path) -> Callable[..., list[Record]]:
    """Plant faults; the records."""

    def planted(*wanted: Fault, most: str = "guests") -> list[Record]:
        run = Run(copy, tmp_path / "records.jsonl")
        run.plant(wanted, most)
        assert (copy.folder / "sum.py").read_text() == TREE["sum.py"]
        return read(tmp_path / "records.jsonl")

    return planted


@pytest.mark.parametrize(("old", "count"), [("a * b", 0), ("return", 2)])
def test_a_text_that_is_not_there_once_is_refused(copy: Copy, old: str, count: int) -> None:
    with pytest.raises(LabError, match=rf"odd: sum\.py has the text {count} times, not once"):
        fault("odd", old, "").plant(copy.folder)
    with pytest.raises(LabError, match=r"odd: none\.py has the text 0 times"):
        fault("odd", old, "", file="none.py").plant(copy.folder)
    assert (copy.folder / "sum.py").read_text() == TREE["sum.py"]


@pytest.mark.parametrize(("planted", "told", "words", "verdict"), TOLD)
def test_who_sees_a_fault_is_told(
    plant: Callable[..., list[Record]], planted: Fault, told: Record, words: str, verdict: str
) -> None:
    (record,) = plant(planted)
    assert record == record | told | {"fault": planted.name}
    assert words in record.get("said", "")
    assert table.verdict(planted, [record]) == (verdict, record if verdict == "check" else None)
    if told["result"] == "does not compile":
        assert record["said"] and plant(planted) == [record], "it is asked once"


def test_a_test_that_fails_without_the_fault_is_no_witness(
    plant: Callable[..., list[Record]],
) -> None:
    """Others of its file still are."""
    survivor = replace(SURVIVOR, asked=(BROKEN,))
    bad = fault("bad", "good", "bad", BROKEN, file="greet")
    one, two = plant(survivor, bad)
    assert (one["result"], one["unsound"]) == ("passed", [f"{BROKEN}::test_broken"])
    assert (two["result"], two["by"]) == ("seen", f"{BROKEN}::test_greeting")


def test_guests_are_asked_about_what_units_have_not_seen(
    plant: Callable[..., list[Record]],
) -> None:
    seen = fault("seen", "a + b", "a - b", SUM, SLOW)
    survivor = replace(SURVIVOR, asked=(SUM, SLOW))
    records = plant(seen, survivor, most="units")
    assert [(r["fault"], r["left"]) for r in records] == [("seen", [SLOW]), ("survivor", [SLOW])]
    assert [table.verdict(each, records)[0] for each in (seen, survivor)] == ["check", "open"]
    assert plant(seen) == records


def test_what_check_has_not_seen_may_be_seen_by_deep(plant: Callable[..., list[Record]]) -> None:
    survivor = replace(SURVIVOR, asked=(SUM, f"{SUM} -m deep"))
    records = plant(survivor)
    assert [record["entry"] for record in records] == [SUM]
    assert table.verdict(survivor, records) == ("not check", None)


def test_faults_are_planted_together(plant: Callable[..., list[Record]]) -> None:
    """If nobody sees any, one call was enough; if not, each is planted alone."""
    ones = fault("ones", "return 1", "return 2", SUM), fault("more", "unused", "idle", SUM)
    records = plant(*ones)
    assert [(r["result"], r["beside"]) for r in records] == [
        ("passed", ["more"]), ("passed", ["ones"]),
    ]  # fmt: skip
    two = fault("two", "return 1", "return 3", SUM)
    records = plant(WRONG, two)[2:]
    assert [(r["fault"], r["result"]) for r in records] == [("wrong", "seen"), ("two", "passed")]


PROGRAM = """
import sys
from pathlib import Path
from tests.planted.copy import Copy
from tests.planted.faults import Fault
from tests.planted.run import Run
Copy.kernel = "6.1"
folder = Path(sys.argv[1])
asked = sys.argv[2:]
fault = Fault("wrong", "sum.py", "sign", "nothing", "return 1", "return 2", "check", tuple(asked))
Run(Copy(folder / "source", "HEAD", folder / "copy"), folder / "records.jsonl").plant([fault])
"""


def test_an_interrupt_loses_nothing(source: Path, tmp_path: Path) -> None:
    """What was asked is recorded, the copy is mended, and nothing goes on running."""
    records, program = tmp_path / "records.jsonl", [sys.executable, "-c", PROGRAM, str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'scripts'}"}
    process = subprocess.Popen([*program, SUM, SLOW], env=env, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not (tmp_path / "copy.log").exists() or len(read(records)) < 1:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    time.sleep(1)  # it is asking the slow test now, or about to
    process.send_signal(signal.SIGINT)
    assert process.wait(30)
    assert [record["entry"] for record in read(records)] == [SUM]
    assert (tmp_path / "copy" / "sum.py").read_text() == TREE["sum.py"]
    with records.open("a") as out:
        out.write('{"fault": "half a l')  # as when the machine went off
    subprocess.run([*program, SUM], env=env, check=True, stderr=subprocess.DEVNULL)
    assert [json.loads(line)["entry"] for line in records.read_text().splitlines()] == [SUM]


# --- the list ---------------------------------------------------------------------------------


def test_the_faults_are_those_of_the_tree() -> None:
    """Each has its text once, and another in its place, and asks tests that are there; names are
    those of one fault."""
    known = faults.read()
    assert len({fault.name for fault in known}) == len(known) >= 60
    for one in known:
        assert (ROOT / one.file).read_text().count(one.old) == 1, one.name
        assert one.new != one.old and one.lane in ("check", "deep", "nobody"), one.name
        assert one.asked, one.name
        for entry in one.asked:
            assert (ROOT / entry.split()[0].partition("::")[0]).exists(), (one.name, entry)


def test_every_header_and_part_has_one() -> None:
    files = {fault.file for fault in faults.read()}
    assert {str(path.relative_to(ROOT)) for path in pure(ROOT)} <= files
    assert {path.name for path in ROOT.glob("tcp_*.c")} <= files
    assert {table.place(fault) for fault in faults.read()} == {*table.PLACES.values(), "packaging"}


def test_the_pages_have_the_records_tables() -> None:
    pages = {page: page.read_text() for page in (table.PAGE, table.WHOLE)}
    assert table.written(pages) == pages
