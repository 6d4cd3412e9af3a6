#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What star's chosen constants trade: goodput alone against drops of many and what others keep.

    PYTHONPATH=scripts python3 scripts/star_front.py docs/results/star/front

runs star in the model on random paths, each constant changed in turn, and writes front.jsonl and
the picture front.svg.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean, mean, median, quantiles
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from apogee_lab.base import repo_root
from apogee_lab.results.style import STYLE, colour, save

#: Of each space: the seed, the number of paths, the peers.
SPACES = {
    "single": (71001, 150, "bbr,cubic"),
    "shared": (71002, 60, "bbr,cubic"),
    "mixed": (71003, 80, "bbr,cubic,reno"),
}
#: The constants of algorithms.md that are chosen and decide how much star takes, and their values.
CHANGED = {
    "STAR_TRY_SHIFT": (2, 4),
    "STAR_WAIT": (4, 16),
    "STAR_QUEUED": (4, 64),
    "STAR_CLEAR_LOSS": (2, 8),
    "JUDGE_LINK_BEGIN": (4, 20),
    "JUDGE_LINK_FEW": (12, 48),
    "JUDGE_LINK_MOST": (48, 192),
    "JUDGE_EXCESS_BASE": (4, 16),
    "JUDGE_EXCESS": (3, 10),
    "JUDGE_EXCESS_WINDOW": (6, 24),
}
LABELS = ("2 to 50 flows: packets dropped, %", "what others keep, over beside their own kind")
#: The records of each space by the number of their path.
Results = dict[str, dict[int, dict[str, Any]]]


def change(tree: Path, constant: str, value: int) -> None:
    """Give a constant of include/apogee another value."""
    for path in (tree / "include/apogee").glob("*.h"):
        text = path.read_text()
        text, found = re.subn(rf"(?m)^(#define {constant}\s+)\d+(U?)$", rf"\g<1>{value}\2", text)
        if found:
            path.write_text(text)
            return
    raise SystemExit(f"star_front: no constant {constant} in include/apogee")


def atlas(tree: Path, *more: str, peer: str = "cubic") -> Results:
    """The results of all spaces in the model of this tree, beside one peer or the spaces' own."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for space, (seed, paths, peers) in SPACES.items():
            file = Path(folder) / f"{space}.jsonl"
            words = [f"--seed={seed}", f"--paths={paths}", f"--beside={peer or peers}", *more]
            # Status 1: a path failed, and is left out.
            subprocess.run(
                [tree / "scripts/lab", "atlas", space, "--model", "--cc=star", *words,
                 f"--json={file}", f"--out={file}.svg"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
            )  # fmt: skip
            lines = map(json.loads, file.read_text().splitlines())
            found[space] = {line["path"]: line for line in lines if "star" in line["results"]}
    return found


def figures(found: Results, peers: Results, cc: str) -> dict[str, float]:
    """What the picture shows of one algorithm: shares, and drops in %."""
    alone, kept, many = [], [], []
    for path, line in found["single"].items():
        others = peers["single"][path]["results"]
        best = max(others[peer]["value"] for peer in ("bbr", "cubic"))
        alone.append(line["results"][cc]["value"] / best)
    for path, line in found["mixed"].items():
        own = peers["mixed"][path]["results"][line["drawn"]["other"]]["others_bps"]
        kept.append(line["results"][cc]["others_bps"] / own)
    for line in found["shared"].values():
        many.append(line["results"][cc])
    return {
        "alone": geometric_mean(alone),
        "alone_tenth": quantiles(alone, n=10)[0],
        "drops_percent": median(one["drops_percent"] for one in many),
        "jain": mean(one["jain"] for one in many),
        "others_keep": median(kept),
    }


def changed(constant: str, value: int) -> Results:
    """The results of star with one constant changed, in a copy of the committed tree."""
    with tempfile.TemporaryDirectory() as folder:
        tree = ["git", "-C", repo_root(), "archive", "HEAD", ":!docs"]
        archive = subprocess.run(tree, stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        change(Path(folder), constant, value)
        return atlas(Path(folder))


def measure() -> Iterator[dict[str, Any]]:
    """A line for each peer, for star, and for star with each constant changed."""
    peers = atlas(repo_root(), peer="")
    for cc in ("star", "bbr", "cubic"):
        yield {"name": cc, **figures(peers, peers, cc)}
    letter = atlas(repo_root(), "--set", "star.coexist=0")
    yield {"name": "coexist=0", **figures(letter, peers, "star")}
    for constant, values in CHANGED.items():
        for value in values:
            found = figures(changed(constant, value), peers, "star")
            yield {"name": f"{constant}={value}", **found}


def draw(lines: list[dict[str, Any]]) -> Figure:
    """Goodput alone over the drops of many, and over what others keep; below, star's alone."""
    ours = [line for line in lines if line["name"] == "star" or line["name"].isupper()]
    with plt.rc_context(STYLE):
        figure, rows = plt.subplots(2, 2, figsize=(11, 9), sharey="row")
        for row, shown in zip(rows, (lines, ours), strict=True):
            for axes, key, label in zip(row, ("drops_percent", "others_keep"), LABELS, strict=True):
                _points(axes, shown, key, shown is ours)
                axes.set_xlabel(label)
            row[0].set_ylabel("one flow: goodput over the better of bbr and cubic")
        figure.tight_layout()
    return figure


def _points(axes: Axes, lines: list[dict[str, Any]], key: str, all_named: bool) -> None:
    """A point for each line; beside all of them only what is not a constant has its name."""
    for line in lines:
        name = line["name"]
        own = colour(name if name in ("bbr", "cubic") else "star")
        axes.plot(line[key], line["alone"], "o", color=own, ms=9 if name == "star" else 4)
        if all_named or not name.isupper():
            axes.annotate(name, (line[key], line["alone"]), fontsize=6 if all_named else 9)


def main(out: str) -> None:
    """Measure, write the figures, draw."""
    lines = []
    for line in measure():
        print(json.dumps(line), flush=True)
        lines.append(line)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    Path(f"{out}.jsonl").write_text(text, encoding="utf-8")
    save(draw(lines), Path(f"{out}.svg"))


if __name__ == "__main__":
    main(*sys.argv[1:])
