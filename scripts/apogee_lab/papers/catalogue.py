# SPDX-License-Identifier: GPL-2.0
"""The papers and their figures, and how a command line names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..base import LabError
from .compound.figures import COMPOUND
from .figure import Figure, Paper
from .gentle.figures import GENTLE
from .shake.figures import SHAKE
from .sscop.figures import SSCOP
from .star.figures import STAR

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (STAR, GENTLE, COMPOUND, SSCOP, SHAKE)}


class UnknownFigure(LabError):
    """No such figure; one line that lists the known ones."""


@dataclass(frozen=True)
class Choice:
    """A figure that was asked for."""

    paper: Paper
    figure: Figure

    @property
    def name(self) -> str:
        """As the command line writes it: ``star-5``."""
        return f"{self.paper.name}-{self.figure.name}"


def _known() -> str:
    """Every name: a paper's stands for all of its figures."""
    return ", ".join(
        name
        for paper in PAPERS.values()
        for name in (paper.name, *(f"{paper.name}-{number}" for number in paper.figures))
    )


def choose(texts: Sequence[str]) -> list[Choice]:
    """``["star-5,star-8"]``, ``["star"]`` -> the figures, each once, in the papers' order."""
    words = [word for text in texts for word in text.replace(",", " ").split()]
    if not words:
        raise UnknownFigure(f"a figure is needed; choose from: {_known()}")
    asked: set[str] = set()
    for word in words:
        name, _, number = word.partition("-")
        paper = PAPERS.get(name)
        if paper is None or (number and number not in paper.figures) or word.endswith("-"):
            raise UnknownFigure(f"unknown figure '{word}'; choose from: {_known()}")
        asked |= {f"{name}-{n}" for n in ([number] if number else paper.figures)}
    every = [Choice(paper, fig) for paper in PAPERS.values() for fig in paper.figures.values()]
    return [choice for choice in every if choice.name in asked]
