# SPDX-License-Identifier: GPL-2.0
"""Our rules for the words of pages; proselint's own run in `scripts/lint prose`."""

from __future__ import annotations

import subprocess

import pytest

import prose
from tests import ROOT

LONG = "A sentence\n" + "of many words\n" * 10 + "ends here."
ONE_LINE = " ".join(LONG.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x" * 121, "1: 121 octets in a line, 120 at most"),
        ("It is here.\n\n" + f"{LONG} " * 2, "3: a sentence of 34 words, 30 but rarely"),
        ("Beside it, half a product is left.", "1: 'half a product': write bandwidth-delay"),
        ("Two\nproducts of queue wait.", "2: 'products of queue': write bandwidth-delay"),
        ("It is 5% of all.", "1: '5%': write a space before %"),
        ("Only who asks gets it.", "1: 'Only who': write a noun"),
    ],
)
def test_what_is_wrong_is_found(text: str, said: str) -> None:
    assert [f"{line}: {what}" for line, what in prose.own(text)][0].startswith(said)


@pytest.mark.parametrize(
    "text",
    [
        f"| {ONE_LINE} half a product 5% |",
        f"```\n{LONG} half a product 5%\n{'x' * 121}\n```",
        "Write `--set loss=5%`, [as here](https://example.org/5%).",
        f"<!-- {LONG}\n{LONG} -->",
        "- An item of a list has words\n- and so has\n- another one\n" * 5,
        "A bandwidth-delay product of queue, and a product of numbers.",
        f"One may be long. {LONG}",
    ],
)
def test_what_is_no_prose_is_left_out(text: str) -> None:
    assert prose.own(text) == []


def test_pages_keep_the_rules() -> None:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    pages = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    kept = [page for page in pages.split() if not page.startswith(tuple(prose.RULES["exclude"]))]
    assert kept
    for page in kept:
        assert prose.own((ROOT / page).read_text(encoding="utf-8")) == [], page


def test_what_is_left_out_exists() -> None:
    assert all((ROOT / name).exists() for name in prose.RULES["exclude"])


def test_without_the_linter_there_is_one_line() -> None:
    command = ["/usr/bin/python3", "-IS", ROOT / "scripts" / "prose.py", "README.md"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "prose: proselint is not installed: run scripts/setup lint\n"
