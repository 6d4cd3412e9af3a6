# SPDX-License-Identifier: GPL-2.0
"""See tests.matrix."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from apogee_lab.base import LabError
from apogee_lab.kernels import foreign_headers, listed
from apogee_lab.kernels.kernel import SUITES
from tests.asked import kept
from tests.matrix import checks, rows, tables
from tests.matrix.rows import UNSTABLE, Record

PARTS = ("booted", "listed")


def booted(record: Record, suites: Sequence[str]) -> None:
    """This machine's rows and those of other architectures."""
    asked = kept.run()
    for suite in (suite for suite in suites if suite != UNSTABLE):
        native = record.row(
            "booted",
            suite,
            "amd64",
            make=lambda: checks.native_row(suite, asked),  # noqa: B023
        )
        for arch in foreign_headers.FLAVOURS:
            record.row(
                "booted",
                suite,
                arch,
                make=lambda: checks.foreign_row(suite, arch, native),  # noqa: B023
            )


def _releases(suite: str, arch: str) -> list[str]:
    try:
        return listed.releases(suite, arch)
    except LabError as error:
        print(f"matrix: {error}", file=sys.stderr)
        return []


def every_release(record: Record, suites: Sequence[str]) -> None:
    """All that the suites list, in the order of the table once they are there."""
    todo = [
        (suite, arch, release)
        for suite in suites
        for arch in listed.FLAVOURS
        for release in _releases(suite, arch)
    ]
    newest = {(suite, listed.flavour(release)): release for suite, _, release in reversed(todo)}
    oldest = {(suite, listed.flavour(release)): release for suite, _, release in todo}

    before = rows.read(tables.RECORD)

    def turn(one: listed.Asked) -> tuple[bool, bool, bool, bool]:
        suite, arch, release = one
        flavour = listed.flavour(release)
        new, old = (kinds[suite, flavour] == release for kinds in (newest, oldest))
        return ("listed", *one) in before, not (new or old), flavour != arch, not new

    wanted = [one for one in sorted(todo, key=turn) if not record.good("listed", *one)]
    for one, fetched in listed.each(wanted):
        record.row("listed", *one, make=lambda: checks.listed_row(one, fetched, record.twin))  # noqa: B023
    for key in [("listed", *one) for one in todo]:
        record.rows[key] = record.rows.pop(key, None) or record.good(*key)


def main(argv: Sequence[str]) -> int:
    """Print the tables of these suites, or of all."""
    if argv == ["page"]:
        rows.merge(tables.RECORD, rows.KEPT)
        tables.PAGE.write_text(tables.page(), encoding="utf-8")
        return 0
    parts = [name for name in argv if name in PARTS] or PARTS
    suites = [name for name in argv if name not in PARTS]
    unknown = [name for name in suites if name not in (*SUITES, UNSTABLE)]
    if unknown:
        there = ", ".join((*SUITES, UNSTABLE))
        print(f"matrix: unknown suite '{unknown[0]}'; choose from: {there}", file=sys.stderr)
        return 2
    record = Record(rows.KEPT)
    try:
        for part in parts:
            {"booted": booted, "listed": every_release}[part](record, suites or [*SUITES, UNSTABLE])
    except (LabError, AssertionError) as error:
        print(f"matrix: {error}", file=sys.stderr)
        return 1
    print(tables.printed(record.rows))
    failures = [line for row in record.rows.values() for line in row.failures]
    print("\n".join(failures), end="\n" if failures else "", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
