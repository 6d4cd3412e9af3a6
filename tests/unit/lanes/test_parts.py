# SPDX-License-Identifier: GPL-2.0
"""Parts of `make check-deep`, and what the page says of their last runs."""

from __future__ import annotations

import pytest

from tests.lanes import deep, records


def test_parts_are_listed_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert deep.main(["list"]) == 0
    assert capsys.readouterr().out.split() == list(deep.parts())


def test_an_unknown_part_is_refused_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert deep.main(["fuzz", "fizz"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "no part 'fizz'; there are: " in said.err and " fuzz " in said.err


def test_what_is_installed_is_for_parts_that_are_there() -> None:
    assert deep.SETUP.keys() <= deep.parts().keys()


def test_the_page_has_the_records() -> None:
    page = (records.DOCS / "reliability.md").read_text(encoding="utf-8")
    assert f"{records.BEGIN}{records.table()}{records.END}" in page
    assert {one["part"] for one in records.read()} <= deep.parts().keys()
