#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Check the words of pages: `scripts/lint prose`.

    build/venv/bin/python scripts/prose.py PAGE.md... MAN-PAGE...

The rules are in prose.toml beside this file. Tables, code, comments and the targets of links are
no prose. Of man pages it is only asked whether another page says the same. A report is a line,
`PAGE:LINE: what`, and makes the exit status 1.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

RULES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())

#: What is no prose; it is blanked, so that what is left keeps its place.
NO_PROSE = re.compile(
    r"^```.*?^```$|<!--.*?-->|^[ ]*\|.*?$|`[^`\n]*(?:\n[^`\n]+)?`|(?<=\])\([^)\s]+\)",
    re.MULTILINE | re.DOTALL,
)
#: Where a sentence ends: at a stop, a heading, an item of a list, an empty line.
END = re.compile(r"[.!?](?=[\s*)]|$)|\n\s*\n|^#.*$|^\s*(?:[-*]|\d+\.) ", re.MULTILINE)


def prose(text: str) -> str:
    """The text with blanks for what is no prose; code in a sentence stays a word."""

    def blank(match: re.Match[str]) -> str:
        kept = re.sub(r"[^\n]", " ", match[0])
        return "x" + kept[1:] if match[0].startswith("`") and match[0][1:2] != "`" else kept

    return NO_PROSE.sub(blank, text)


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def long_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines of the page that are too long."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        code ^= line.startswith("```")
        if not code and not line.lstrip().startswith("|") and len(line.encode()) > RULES["line"]:
            yield number, f"{len(line.encode())} octets in a line, {RULES['line']} at most"


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Line and words of each sentence of prose."""
    begin = 0
    for end in [*(match.end() for match in END.finditer(text)), len(text)]:
        words = re.findall(r"\S*\w\S*", text[begin:end])
        if words:
            yield (
                line_of(text, begin + len(text[begin:end]) - len(text[begin:end].lstrip())),
                len(words),
            )
        begin = end


def long_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Sentences above what is allowed, and all that are long if they are not few."""
    found = list(sentences(text))
    long = [(line, words) for line, words in found if words > RULES["sentence"]]
    many = len(long) > max(1, RULES["few"] * len(found))
    for line, words in long:
        if many or words > RULES["longest"]:
            yield line, f"a sentence of {words} words, {RULES['sentence']} but rarely"


def words(text: str) -> Iterator[tuple[int, str]]:
    """Words that pages do not use."""
    for pattern, instead in RULES["words"].items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            yield line_of(text, match.start()), f"{match[0]!r}: write {instead}"


def proselint(text: str) -> Iterator[tuple[int, str]]:
    """What the linter says of the prose."""
    from proselint.checks import __register__
    from proselint.config import DEFAULT
    from proselint.registry import CheckRegistry

    registry = CheckRegistry()
    if not registry.checks:
        registry.register_many(__register__)
    enabled = DEFAULT["checks"] | dict.fromkeys(RULES["off"], False)
    for check in registry.get_all_enabled(enabled):
        for result in check.check_with_flags(text):
            yield line_of(text, result.span[0]), f"{result.check_path}: {result.message}"


#: What no page says itself: what a command printed, code, titles of papers, markup of roff.
NOT_SAID = re.compile(
    r"<!-- \$ .*?<!-- end -->|<!-- ([\w-]+): begin -->.*?<!-- \1: end -->|<!--.*?-->"
    r"|^```.*?^```$|(?<=\])\([^)\s]+\)|(?<![*\w])\*(?=\w)[^*]+\*(?!\*)"
    r'|^\.EX$.*?^\.EE$|^\.\\".*?$|^\.[A-Z]{1,2} |\\f.',
    re.MULTILINE | re.DOTALL,
)
#: A word, or what ends a passage: an empty line, a cell, bold words, an item, a heading, roff's.
WORD = re.compile(
    r"(\d+(?:[.:/-]\d+)*|\w+)|\n\s*\n|\||\*\*|^\s*(?:[-*]|\d+\.) |^#.*?$|^\.[A-Z]{2}.*?$",
    re.MULTILINE,
)


def said(text: str) -> str:
    """The text with blanks for what the page does not say itself."""
    return NOT_SAID.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def passages(text: str) -> Iterator[list[tuple[str, int]]]:
    """The words of each passage of a page, with their lines."""
    text = said(text)
    words: list[tuple[str, int]] = []
    for match in WORD.finditer(text):
        if match[1]:
            words.append((match[1].lower(), line_of(text, match.start())))
        else:
            yield words
            words = []
    yield words


def twice(pages: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    """Where a page says what another one says. Man pages may say the same: each stands alone."""
    most = RULES["alike"]
    first: dict[tuple[str, ...], tuple[str, int]] = {}
    for page, text in pages.items():
        for words in passages(text):
            goes_on = False
            for at in range(len(words) - most):
                key = tuple(word for word, _ in words[at : at + most + 1])
                other, line = first.setdefault(key, (page, words[at][1]))
                again = other != page and (page.endswith(".md") or other.endswith(".md"))
                if again and not goes_on:
                    yield page, words[at][1], f"as {other}:{line} says: {' '.join(key)}"
                goes_on = again


#: A number that is all of a cell, but for its interval and unit.
CELL = re.compile(r"(?<=\|) *[+-]?(\d*\.?\d+)(?: (?:%|±[^|]*))? *(?=\|)")
NUMBER = re.compile(r"(?<![\w.])\d*\.?\d+(?![\w/]|\.\d)")


def retold(text: str) -> Iterator[tuple[int, str]]:
    """Numbers of three significant figures in prose that stand in a table of the page."""
    cells = {number for number in CELL.findall(text) if len(number.replace(".", "").strip("0")) > 2}
    for match in NUMBER.finditer(prose(said(text))):
        if match[0] in cells:
            yield line_of(text, match.start()), f"{match[0]}: a table of this page has it"


def own(text: str) -> list[tuple[int, str]]:
    """What our rules say of a page."""
    told = prose(text)
    return [*long_lines(text), *long_sentences(told), *words(told), *retold(text)]


def main(pages: list[str]) -> int:
    if find_spec("proselint") is None:
        print("prose: proselint is not installed: run scripts/setup lint", file=sys.stderr)
        return 1
    texts = {
        page: Path(page).read_text(encoding="utf-8")
        for page in pages
        if not page.startswith(tuple(RULES["exclude"]))
    }
    found = [
        (page, line, what)
        for page, text in texts.items()
        if page.endswith(".md")
        for line, what in sorted({*own(text), *proselint(prose(text))})
    ]
    found += twice(texts)
    for page, line, what in found:
        print(f"{page}:{line}: {what}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
