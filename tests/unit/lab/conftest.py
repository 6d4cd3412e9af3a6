# SPDX-License-Identifier: GPL-2.0
"""What the tests of the command line share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from apogee_lab.commands import main

#: Calls ``lab`` with arguments that it must refuse: with status 2 and one line with these words.
Refused = Callable[..., None]


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Refused:
    def refuse(words: str, *argv: str) -> None:
        assert main.main(argv) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert words in said.err

    return refuse
