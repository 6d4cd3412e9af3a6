# SPDX-License-Identifier: GPL-2.0
"""The pages' links lead somewhere, and README names what a user needs first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ROOT

PAGES = [
    *(ROOT / name for name in ("README.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "tests").rglob("*.md")),
]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def broken(page: Path, text: str) -> list[str]:
    """Links of ``text``, a page's contents, whose file or heading does not exist."""
    found = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        if path.startswith(("http:", "https:")):
            continue
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page, page.read_text(encoding="utf-8")) == []


def test_a_broken_link_is_found() -> None:
    text = "[a](docs/lab.md) [b](docs/lab.md#nowhere) [c](nowhere.md) [d](docs/lab.md#first-run)"
    assert broken(ROOT / "README.md", text) == ["docs/lab.md#nowhere", "nowhere.md"]


def test_readme_is_short_and_names_the_two_commands() -> None:
    """README is to be read in half a minute or so; what is longer belongs in docs."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"^make demo\b", text, re.M) and re.search(r"^make check\b", text, re.M)
    assert len(text.split()) <= 400


def test_the_types_of_sscops_pdus() -> None:
    """The page of the protocol and its header have the same numbers."""
    header = (ROOT / "sscop/core/pdu.h").read_text(encoding="utf-8")
    body = re.search(r"enum sscop_type \{(.*?)\}", header, re.S)
    assert body
    wanted = {name: int(number) for name, number in re.findall(r"SSCOP_(\w+) = (\d+)", body[1])}
    page = (ROOT / "docs" / "sscop-design.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z]+(?:, [A-Z]+)*) \| (\d+(?:, \d+)*) \|", page, re.M)
    told = {
        name: int(number)
        for names, numbers in rows
        for name, number in zip(names.split(", "), numbers.split(", "), strict=True)
    }
    assert told == wanted


@pytest.mark.parametrize("prefix", ["JUDGE", "STAR"])
def test_the_constants_of_stars_judgement(prefix: str) -> None:
    """The page says where each constant comes from, with the value that the header has.

    Not units, bounds of the arithmetic, nor what the published rules have.
    """
    other = {
        "JUDGE_AGE_SHIFT",
        "JUDGE_AGE_MOST_US",
        "JUDGE_MARK_SHIFT",
        "JUDGE_BACK_SHIFT",
        "JUDGE_CLOCK_SHIFT",
        "JUDGE_SEGMENT",
        "STAR_QUEUE_SHIFT",
        "STAR_STEPS_MAX",
        "STAR_CWND_MIN",
        "STAR_PACE_START",
        "STAR_PACE_CRUISE",
    }
    headers = sorted((ROOT / "include" / "apogee").glob(f"{prefix.lower()}*.h"))
    header = "".join(path.read_text(encoding="utf-8") for path in headers)
    wanted = dict(re.findall(rf"^#define ({prefix}_\w+)\s+(\d+)U?$", header, re.M))
    page = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    told = dict(re.findall(rf"^\| `({prefix}_\w+)` \| (\d+) \| ", page, re.M))
    assert told == {name: value for name, value in wanted.items() if name not in other}
