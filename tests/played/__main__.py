# SPDX-License-Identifier: GPL-2.0
"""``python3 -m tests.played NAME [PART...]``: make records and the tables of their page anew.

With parts only theirs; the others' records stay. Records are kept after each part.
``python3 -m tests.played NAME --tables`` prints all that the records have, and plays nothing.
"""

from __future__ import annotations

import sys

from tests import BUILD
from tests.played.devices.book import BOOK as DEVICES
from tests.played.hostile.book import COST, LIES
from tests.played.storms.book import BOOK as STORMS

BOOKS = {book.name: book for book in (STORMS, DEVICES, LIES, COST)}


def usage() -> int:
    """One line, and the status of it."""
    print(f"usage: python3 -m tests.played {'|'.join(BOOKS)} [PART...|--tables]", file=sys.stderr)
    return 2


def main(arguments: list[str]) -> int:
    """Play, keep, and tell what is beyond the bounds."""
    name, *parts = arguments or [""]
    if name not in BOOKS:
        return usage()
    book = BOOKS[name]
    if parts == ["--tables"]:
        print(book.printed(), end="")
        return 0
    if unknown := set(parts) - set(book.parts):
        print(f"{name} has no part {min(unknown)}: {', '.join(book.parts)}", file=sys.stderr)
        return 2
    for part in parts or book.parts:
        print(part, file=sys.stderr)
        book.keep(part, book.play(part, BUILD / "played" / name / part))
    book.page.write_text(book.written(book.page.read_text()))
    wrong = book.wrong(book.read())
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
