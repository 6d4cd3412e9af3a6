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
        ("It has 9.39 Mbit/s.\n\n| star | 9.39 ± 0.02 |\n", "1: 9.39: a table of this page"),
        ("Of 1385\nruns\n\n| 12 | 1385 |\n", "1: 1385: a table of this page"),
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
        "Of 100, 6.12.3, 9.391, 1385/2 and 417\n\n| 100 | 6.12 | 9.39 | 1385 | a 417 |\n",
        "<!-- $ x -->\n\nlimit 9.39\n\n| 9.39 |\n\n<!-- end -->\n",
    ],
)
def test_what_is_no_prose_is_left_out(text: str) -> None:
    assert prose.own(text) == []


def pages(*patterns: str) -> dict[str, str]:
    """The pages of the repository that are not left out, by name."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {
        page: (ROOT / page).read_text(encoding="utf-8")
        for page in found.split()
        if (ROOT / page).exists() and not page.startswith(tuple(prose.RULES["exclude"]))
    }


def test_pages_keep_the_rules() -> None:
    found = pages("*.md")
    assert found
    for page, text in found.items():
        assert prose.own(text) == [], page


EIGHT = "what is said here has eight words exactly"
NINE = f"{EIGHT} now"


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (f"Here:\n\n- {NINE}.", f"It is said: *twice*, {NINE}, or more."),
        (f"| {NINE} |", f"In a cell or not,\n{NINE.replace(' ', chr(10))}"),
        (f"`{NINE}`", f'.\\" SPDX\n.SH NAME\n{NINE.replace(" words", chr(10) + ".BR words")}'),
    ],
)
def test_what_is_said_twice_is_found(text: str, other: str) -> None:
    ((page, _, said),) = prose.twice({"a.md": text, "b.md": other})
    assert page == "b.md" and said.startswith("as a.md:") and said.endswith(NINE)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("b.md", EIGHT),
        ("b.md", f"```\n{NINE}\n```"),
        ("b.md", f"<!-- $ lab -->\n\n{NINE}\n\n<!-- end -->"),
        ("b.md", f"The paper is *{NINE}*."),
        ("b.md", NINE.replace(" has", "\n\nhas")),
        ("b.md", NINE.replace("has ", "| ")),
        ("a.md", NINE),
    ],
)
def test_what_is_not_said_twice(page: str, text: str) -> None:
    assert not [*prose.twice({"a.md": NINE, page: text})]


def test_man_pages_stand_alone() -> None:
    assert not [*prose.twice({"a.8": NINE, "b.8": NINE})]
    assert [page for page, *_ in prose.twice({"a.8": NINE, "b.8": NINE, "c.md": NINE})] == ["c.md"]


def test_nothing_is_said_on_two_pages() -> None:
    assert [*prose.twice(pages("*.md", "man/*.[1-8]"))] == []


def test_what_is_left_out_exists() -> None:
    assert all((ROOT / name).exists() for name in prose.RULES["exclude"])


def test_without_the_linter_there_is_one_line() -> None:
    command = ["/usr/bin/python3", "-IS", ROOT / "scripts" / "prose.py", "README.md"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "prose: proselint is not installed: run scripts/setup lint\n"
